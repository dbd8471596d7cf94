"""The report as a reader has it: in a real browser, with and without scripts."""

import base64
import json
import random

import numpy as np
import pytest

import bestofk as bk
from bestofk.adjust import CORRECTIONS, adjust
from bestofk.ordering import multitest, sort_by_overrides
from bestofk.ordering.graph import candidates_of_steps
from bestofk.report.live import live_data
from bestofk.report.writing import render_report

NAMES = ["dummy", "nearest mean", "naive bayes", "tree", "1-nn", "logistic"]
HOSTILE = [
    "<script>window.hacked = 1</script>", '"><img src=x onerror="window.hacked=2">',
    "</script><script>window.hacked=3</script>", "{{ 7 * 7 }} {% raw %}", "שלום עולם (אחת)",
    "🙂🙃", "two\nlines\tand a tab", "n" * 200, "\u202eabc", "'; alert(1); '", "<!--", "]]>",
    "javascript:alert(1)", "${window.hacked=4}",
]  # fmt: skip


def decision(names=NAMES, seed=3, gap=0.02, **options):
    rng = np.random.default_rng(seed)
    worse = gap * rng.permutation(len(names))[:, None, None]
    values = 0.2 + worse + 0.05 * rng.standard_normal((len(names), 5, 10))
    losses = bk.Losses(values, dims=("algorithm", "run", "fold"), algorithms=names,
                       datasets=["wine"], loss_name="zero-one")  # fmt: skip
    return bk.order(losses, **options)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    order = decision()
    return order, order.report(tmp_path_factory.mktemp("page") / "report.html")


def live_order(browser):
    return [item.text for item in browser.all(".live-order li bdi")]


def test_opens_quietly_and_asks_for_nothing(browser, page):
    order, path = page
    browser.open(path)
    assert order.best in browser.find("#verdict .lead").text
    assert [item.text for item in browser.all("#verdict .order bdi")] == list(order.order)
    assert browser.find("#what-if").is_displayed()
    assert live_order(browser) == list(order.order)
    assert len(browser.all(".arcs .arc")) == len(order.edges)
    assert browser.requests() == [path.as_uri()]
    assert browser.complaints() == []
    assert path.read_text("utf-8") == render_report(order)  # the same page for the same value


def test_reads_without_scripts(browser, page):
    order, path = page
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(path)
    assert not browser.find("#what-if").is_displayed()
    assert not browser.find("[data-copy]").is_displayed()
    assert len(browser.all("figure svg")) >= 4
    text = browser.find("body").text
    for words in (order.explain().split("\n")[0], "Holm", "by design", "For a paper", "wine"):
        assert words in text
    assert browser.all(".source summary")[0].is_displayed()


def test_alpha_correction_and_reset_are_followed(browser, page):
    order, path = page
    browser.open(path)
    problem = order.problem.losses
    seen = set()
    for alpha in (0.001, 0.05, 0.2, 0.5):
        for correction in CORRECTIONS:
            browser.run(
                """const [alpha, correction] = arguments;
                const number = document.getElementById("alpha-number");
                number.value = alpha; number.dispatchEvent(new Event("input"));
                const select = document.getElementById("correction");
                select.value = correction; select.dispatchEvent(new Event("change"));""",
                alpha, correction,
            )  # fmt: skip
            expected = bk.order(problem, alpha=alpha, correction=correction)
            assert live_order(browser) == list(expected.order)
            paragraphs = [p.text for p in browser.all(".live-words p")]
            told = expected.explain().split("\n")
            assert paragraphs == [told[0], *told[2:]]
            assert len(browser.all(".arcs .arc")) == len(expected.edges)
            seen.add(expected.order)
    assert len(seen) > 1
    browser.find("#reset").click()
    assert live_order(browser) == list(order.order)
    assert browser.find(".state").text == "As it was decided."


def test_the_slider_is_moved_by_keys(browser, page):
    from selenium.webdriver.common.keys import Keys

    _, path = page
    browser.open(path)
    slider = browser.find("#alpha")
    slider.send_keys(Keys.HOME)
    assert browser.find("#alpha-number").get_attribute("value") == "0.001"
    slider.send_keys(Keys.END)
    assert browser.find("#alpha-number").get_attribute("value") == "0.5"
    expected = bk.order(page[0].problem.losses, alpha=0.5)
    assert live_order(browser) == list(expected.order)


def test_the_prior_is_dragged_and_moved_by_buttons(browser, page):
    from selenium.webdriver import ActionChains

    order, path = page
    browser.open(path)

    def prior():
        return [item.text for item in browser.all(".prior .learner")]

    rows = browser.all(".prior li")
    browser.run("arguments[0].scrollIntoView({block: 'center'})", rows[2])
    target = rows[0].location["y"] - rows[4].location["y"]
    handle = rows[4].find_element("css selector", ".handle")
    ActionChains(browser.driver).click_and_hold(handle).move_by_offset(
        0, target // 2
    ).move_by_offset(0, target - target // 2).release().perform()
    moved = [NAMES[4], *NAMES[:4], NAMES[5]]
    assert prior() == moved
    expected = bk.order(order.problem.losses, prior=moved)
    assert live_order(browser) == list(expected.order)
    assert browser.find(".live-words").text.split("\n") == [
        line for place, line in enumerate(expected.explain().split("\n")) if place != 1
    ]
    down = browser.find(f'[aria-label="Move {NAMES[4]} down"]')
    down.click()
    assert prior() == [NAMES[0], NAMES[4], *NAMES[1:4], NAMES[5]]
    assert browser.run("return document.activeElement.ariaLabel") == f"Move {NAMES[4]} down"
    expected = bk.order(order.problem.losses, prior=prior())
    assert live_order(browser) == list(expected.order)


def test_tables_are_copied(browser, page):
    order, path = page
    browser.open(path)
    browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    button = browser.find('[data-copy="learners-latex"]')
    browser.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    copied = browser.driver.execute_async_script(
        "const [done] = arguments; setTimeout(() => navigator.clipboard.readText().then(done), 99)"
    )
    assert copied == order.to_latex()
    assert button.text == "Copied"
    forms = {node.get_attribute("data-copy") for node in browser.all("[data-copy]")}
    assert {"learners-csv", "pairs-markdown", "bibtex", "methods-latex", "repeat"} <= forms


def test_prints_to_paper(browser, page):
    _, path = page
    browser.open(path)
    pdf = base64.b64decode(browser.devtools("Page.printToPDF", printBackground=True)["data"])
    assert pdf[:5] == b"%PDF-"
    assert 1 < pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 12
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    assert not browser.find("#what-if").is_displayed()
    assert not browser.find("nav").is_displayed()


@pytest.mark.parametrize("names", [HOSTILE, ["n" * 200, "m" * 200], [str(i) for i in range(30)]])
def test_a_phone_never_scrolls_sideways(browser, names, tmp_path):
    path = decision(names).report(tmp_path / "phone.html")
    browser.devtools(
        "Emulation.setDeviceMetricsOverride",
        width=360,
        height=740,
        deviceScaleFactor=2,
        mobile=True,
    )
    browser.open(path)
    assert browser.run("return document.documentElement.scrollWidth") <= 360


def test_dark_pages_are_dark_with_their_figures(browser, page):
    _, path = page
    browser.open(path)
    look = """const style = (node) => getComputedStyle(node);
        const word = document.querySelector("#figure-losses svg text");
        const page = style(document.body);
        return [page.backgroundColor, page.color, style(word).fill]"""
    light = browser.run(look)
    browser.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    dark = browser.run(look)

    def brightness(colour):
        return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 765

    assert [brightness(colour) > 0.5 for colour in light] == [True, False, False]
    assert [brightness(colour) > 0.5 for colour in dark] == [False, True, True]


def test_names_are_data(browser, tmp_path):
    order = decision(HOSTILE)
    path = order.report(tmp_path / "hostile.html", title=HOSTILE[0])
    browser.open(path)
    assert browser.run("return [window.hacked ?? null, document.images.length]") == [None, 0]
    scripts = browser.run(
        "return [...document.querySelectorAll('script')].map((node) => node.type)"
    )
    assert scripts == ["application/json", ""]
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]
    held = browser.run(
        "return JSON.parse(document.getElementById('evidence-data').textContent).names"
    )
    assert held == list(order.prior)
    shown = browser.run(
        "return [...document.querySelectorAll('.prior .learner')].map((node) => node.textContent)"
    )
    assert shown[4] == "שלום עולם (אחת)"
    assert shown[6] == "two lines and a tab"
    assert len(shown[7]) == 60
    assert "49" not in browser.run("return document.querySelector('.prior').textContent")
    # the page still works
    browser.run("document.querySelector('.prior .down').click()")
    prior = [HOSTILE[1], HOSTILE[0], *HOSTILE[2:]]
    expected = bk.order(order.problem.losses, prior=prior)
    found = browser.run(
        "const all = document.querySelectorAll('.live-order bdi');"
        "return [...all].map((node) => node.title || node.textContent)"
    )
    assert found == [" ".join(name.split()) for name in expected.order]


def test_a_policy_stops_scripts_that_are_not_ours(browser, page, tmp_path):
    _, path = page
    injected = path.read_text("utf-8").replace(
        "</main>", "<script>window.hacked = 1</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    (tmp_path / "injected.html").write_text(injected, encoding="utf-8")
    browser.open(tmp_path / "injected.html")
    assert browser.run("return window.hacked ?? null") is None
    assert [url for url in browser.requests() if url.startswith("http")] == []


def random_table(rng):
    """P-values with ties, zeros, ones and grid points, as discrete tests give them."""
    K = int(rng.integers(2, 13))
    kind = rng.integers(4)
    p = rng.random((K, K)) ** rng.integers(1, 6)
    if kind == 1:
        p = rng.integers(0, 9, (K, K)) / 2.0 ** rng.integers(3, 8)
    elif kind == 2:
        p = np.where(rng.random((K, K)) < 0.3, rng.choice([0.0, 1.0, 0.05, 1e-300]), p)
    p = np.clip(p, 0, 1)
    np.fill_diagonal(p, 1.0)
    return p


def python_says(p, prior, alpha, correction):
    K = len(prior)
    i, j = np.triu_indices(K, 1)
    adjusted = adjust(p[prior[i], prior[j]], correction)
    overrides = np.zeros((K, K), dtype=bool)
    overrides[i, j] = adjusted <= alpha
    order = sort_by_overrides(overrides)
    return {
        "adjusted": adjusted.tolist(),
        "order": prior[order].tolist(),
        "edges": [[int(prior[a]), int(prior[b])] for a, b in np.argwhere(overrides)],
        "candidates": [prior[found].tolist() for found in candidates_of_steps(overrides, order)],
    }


def test_the_page_computes_what_python_computes(browser, page):
    rng = np.random.default_rng(20)
    browser.open(page[1])
    cases, expected = [], []
    for _ in range(600):
        p = random_table(rng)
        prior = rng.permutation(len(p))
        alpha = float(rng.choice([0.001, 0.01, 0.05, 0.1, 0.25, 0.5, rng.random()]))
        correction = str(rng.choice(list(CORRECTIONS)))
        data = {"p": p.tolist(), "means": [0.0] * len(p), "names": [""] * len(p)}
        cases.append([data, {"prior": prior.tolist(), "alpha": alpha, "correction": correction}])
        expected.append(python_says(p, prior, alpha, correction))
    found = json.loads(
        browser.run(
            """return JSON.stringify(JSON.parse(arguments[0]).map(([data, how]) => {
                const { adjusted, order, edges, candidates } = bestofk.multitest(data, how);
                return { adjusted, order, edges, candidates };
            }))""",
            json.dumps(cases),
        )
    )
    assert found == expected  # to the last bit


TESTS = ("corrected-repeated-kfold-t", "use-all-data", "5x2cv-t", "permutation", "wilcoxon", "sign")


def test_the_page_says_what_python_says(browser, page):
    """Losses again from the start with another prior, alpha and correction; and the sentences."""
    random.seed(4)
    rng = np.random.default_rng(21)
    browser.open(page[1])
    cases, expected = [], []
    for case in range(240):
        test = TESTS[case % len(TESTS)]
        K = int(rng.integers(2, 10))
        shape = {"5x2cv-t": (5, 2)}.get(test, (4, 5))
        dims = ("algorithm", "run", "fold")
        if test in ("permutation", "wilcoxon", "sign"):
            shape, dims = (12,), ("algorithm", "dataset")
        values = rng.integers(5, 40, (K, *shape)) / 100 + rng.random((K, *[1] * len(shape))) / 4
        names = [f"learner {i}" for i in range(K)]
        losses = bk.Losses(values, dims=dims, algorithms=names)
        first = multitest(losses, test=test)
        alpha = float(rng.choice([0.01, 0.05, 0.2]))
        correction = random.choice(list(CORRECTIONS))
        prior = rng.permutation(K).tolist()
        again = multitest(losses, test=test, alpha=alpha, correction=correction,
                          prior=[names[i] for i in prior])  # fmt: skip
        cases.append([live_data(first), {"prior": prior, "alpha": alpha, "correction": correction}])
        expected.append([list(again.order), again.explain().split("\n")])
    found = json.loads(
        browser.run(
            """return JSON.stringify(JSON.parse(arguments[0]).map(([data, how]) => {
                const name = (part) => typeof part === "string" ? part : data.names[part.learner];
                const result = bestofk.multitest(data, how);
                return [result.order.map((learner) => data.names[learner]),
                        bestofk.sentences(data, result).map((said) => said.map(name).join(""))];
            }))""",
            json.dumps(cases),
        )
    )
    assert found == expected


def test_numbers_are_printed_as_python_prints_them(browser, page):
    rng = np.random.default_rng(22)
    numbers = [0.015625, 0.5, 1234.5, 0.99995, 123456.0, 1e-300, 5e-324, 0.0001, 0.00001, 0.0,
               9.9995, 0.00099995, 1e22, -0.03125,
               *(k / 2**n for n in range(4, 14) for k in (1, 3, 5)),
               *(10 ** rng.uniform(-12, 5, 500)).tolist()]  # fmt: skip
    browser.open(page[1])
    found = browser.run("return arguments[0].map((x) => bestofk.number(x))", numbers)
    assert found == [f"{x:.4g}" for x in numbers]


def test_sixty_learners_stay_usable(browser, tmp_path):
    order = decision([f"learner {i}" for i in range(60)], gap=0.004)
    path = order.report(tmp_path / "sixty.html")
    browser.open(path)
    took = browser.run(
        """const begin = performance.now();
        document.querySelectorAll(".prior .down")[0].click();
        document.body.getBoundingClientRect();
        return performance.now() - begin"""
    )
    assert took < 500  # milliseconds; about a tenth of it is usual
    assert len(live_order(browser)) == 60
