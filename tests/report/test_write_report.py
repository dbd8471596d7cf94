"""Reports in a real browser, with and without scripts."""

import base64
import json

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.formatting import pvalue_words
from bestofk.decide import multitest
from bestofk.report.names import one_line
from bestofk.report.write_report import live_data, render_report
from bestofk.stats.adjust import CORRECTIONS

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
    """With a stated preference."""
    order = decision(prefer="listed")
    return order, order.report(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def plain_page(tmp_path_factory):
    """Without a preference."""
    order = decision()
    return order, order.report(tmp_path_factory.mktemp("page") / "plain.html")


READ = """
    const all = (node, selector) => [...node.querySelectorAll(selector)];
    const box = document.getElementById("what-if");
    const names = (node) => all(node, "bdi").map((one) => one.title || one.textContent);
    const entry = (node) => {
        const p = node.querySelector(".p");
        const tail = p ? [Number(p.dataset.p), p.textContent] : [node.lastChild.textContent];
        return [...names(node), ...tail];
    };
    return JSON.stringify({
        changes: Object.fromEntries(all(box, ".changes li").map(
            (li) => [li.dataset.kind, all(li, ".entry").map(entry)])),
        lines: all(box, ".changes li").map((li) => li.textContent),
        prefer: all(box, ".preference-list .learner").map((one) => one.title || one.textContent),
        marked: all(box, ".preference-list .recommended .learner").map(
            (one) => one.title || one.textContent),
        words: all(box, ".live-words p").map((one) => one.textContent),
        state: box.querySelector(".state").textContent,
        none: document.getElementById("no-preference").checked,
    });"""


def read(browser):
    """All that the box says."""
    return json.loads(browser.run(READ))


def changes(decided, now):
    """What differs between two decisions of Python, as the box lists it."""
    pairs = {frozenset((row["a"], row["b"])): row for row in now.to_dict()["evidence"]}

    def with_p(*names):
        p = pairs[frozenset(names)]["adjusted_pvalue"]
        return [p, pvalue_words(p, now.alpha)]

    before = {one.name: one.verdict for one in decided.standings}
    moved = decided.recommended != now.recommended
    found = {}
    for one in now.standings:
        kinds = [{"too close to call": "adequate"}.get(one.verdict, one.verdict)] if moved else []
        if not moved and one.verdict != before[one.name]:
            kinds = [one.verdict] if one.verdict != "too close to call" else []
            kinds += [f"not-{before[one.name]}"] if before[one.name] != "too close to call" else []
        for kind in kinds:
            found.setdefault(kind, []).append([one.name, *with_p(one.name, now.recommended)])
    places = [
        [name, f" {to} (was {decided.ranking.index(name) + 1})"]
        for to, name in enumerate(now.ranking, 1)
        if decided.ranking[to - 1] != name
    ]
    found |= {"places": places} if places else {}
    for kind, claims, others in (("more", now, decided), ("fewer", decided, now)):
        only = sorted(set(claims.claims) - set(others.claims))
        found |= {kind: [[*pair, *with_p(*pair)] for pair in only]} if only else {}
    return found


def check(found, decided, now):
    """The box says what differs between the decisions of Python, and nothing else."""
    for kind in ("more", "fewer"):
        if kind in found["changes"]:
            found["changes"][kind].sort()
    expected = changes(decided, now)
    assert {kind: entries[:12] for kind, entries in expected.items()} == found["changes"]
    assert found["marked"] == [now.recommended]
    assert found["none"] == (not now.preference.stated)
    if now.recommended != decided.recommended:
        assert found["state"].endswith(f": {now.recommended} instead of {decided.recommended}.")
        assert found["words"][0].startswith(
            (f"Use {now.recommended}", f"{now.recommended},", f"{now.recommended} ")
        )
        for line in found["lines"]:
            assert (f" than {now.recommended}: " in line) == line.startswith("Significantly")
        return
    assert found["words"] == []
    asked = found["state"] != f"As it was decided: {decided.recommended}."
    still = f"the same decision, still {now.recommended}. What changes:"
    if asked:
        assert found["state"].endswith(still if expected else "the same decision.")
    else:
        assert expected == {}


def test_opens_quietly_and_asks_for_nothing(browser, page):
    order, path = page
    browser.open(path)
    assert order.recommended in browser.find("#verdict .lead").text
    assert browser.find("#verdict .lead").text == order.headline()
    assert [item.text for item in browser.all("#verdict .order bdi")] == list(order.ranking)
    assert browser.find("#what-if").is_displayed()
    assert browser.find(".state").text == f"As it was decided: {order.recommended}."
    check(read(browser), order, order)
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
    text = " ".join(browser.run("return document.body.textContent").split())
    for words in (order.headline(), "Holm", "by design", "For a paper", "wine"):
        assert words in text
    assert browser.find("#tables .source summary").is_displayed()


def test_alpha_correction_and_reset_are_followed(browser, page):
    order, path = page
    browser.open(path)
    problem = order.problem.losses
    seen = set()
    for alpha in (0.001, 0.05, 0.2, 0.5):
        for correction in CORRECTIONS:
            settle(browser, alpha, correction)
            expected = bk.order(problem, prefer="listed", alpha=alpha, correction=correction)
            check(read(browser), order, expected)
            seen.add(expected.ranking)
    assert len(seen) > 1
    browser.find("#reset").click()
    assert browser.find(".state").text == f"As it was decided: {order.recommended}."
    assert not browser.find("#reset").is_displayed()


def settle(browser, alpha, correction):
    browser.run(
        """const [alpha, correction] = arguments;
        const number = document.getElementById("alpha-number");
        number.value = alpha; number.dispatchEvent(new Event("input"));
        const select = document.getElementById("correction");
        select.value = correction; select.dispatchEvent(new Event("change"));""",
        alpha, correction,
    )  # fmt: skip


def prefer(browser, names):
    """Moves the learners with the page's own keys; None: the radio button for no preference."""
    browser.run(
        """const wanted = arguments[0];
        if (wanted === null) { document.getElementById("no-preference").click(); return; }
        document.getElementById("own-preference").click();
        const end = { key: "End", bubbles: true, cancelable: true };
        for (const name of wanted) {
            const row = [...document.querySelectorAll(".preference-list li")].find((li) => {
                const label = li.querySelector(".learner");
                return (label.title || label.textContent) === name;
            });
            row.querySelector("button").dispatchEvent(new KeyboardEvent("keydown", end));
        }""",
        names,
    )


@pytest.mark.parametrize("stated", [True, False])
def test_forty_states_are_those_of_python(browser, page, plain_page, stated):
    order, path = page if stated else plain_page
    browser.open(path)
    rng = np.random.default_rng(7)
    losses = order.problem.losses
    recommended = set()
    for turn in range(20):
        alpha = float(rng.choice([0.001, 0.01, 0.05, 0.1, 0.3, round(rng.uniform(0.001, 0.9), 4)]))
        correction = str(rng.choice(list(CORRECTIONS)))
        preference = None if turn % 4 == 3 else rng.permutation(NAMES).tolist()
        settle(browser, alpha, correction)
        prefer(browser, preference)
        expected = multitest(losses, prefer=preference, alpha=alpha, correction=correction)
        found = read(browser)
        check(found, order, expected)
        assert found["prefer"] == list(expected.by_preference)
        recommended.add(expected.recommended)
    assert len(recommended) > 2
    assert browser.complaints() == []


def test_the_box_says_what_changes_and_nothing_else(browser, plain_page):
    order, path = plain_page
    browser.open(path)
    best, second = order.ranking[:2]
    said = browser.find(".state")
    browser.find(".preferred summary").click()
    browser.find(f'[aria-label="Move {second} up"]').click()
    assert said.text == f"With this preference: {second} instead of {best}."
    assert read(browser)["none"] is False
    browser.find("#no-preference").click()
    assert said.text == f"As it was decided: {best}."
    settle(browser, 0.049, "holm")
    assert said.text == "With alpha 0.049: the same decision."
    assert read(browser)["changes"] == {}
    settle(browser, 0.5, "none")
    more = len(bk.order(order.problem.losses, alpha=0.5, correction="none").claims)
    more -= len(order.claims)
    assert more > 1
    same = f"the same decision, still {best}. What changes:"
    assert said.text == f"With alpha 0.5 and no correction: {same}"
    lines = [line.text for line in browser.all(".changes li")]
    assert any(line.startswith(f"{more} more pairs differ significantly: ") for line in lines)
    browser.find("#own-preference").click()
    assert read(browser)["prefer"] == list(order.ranking)


def test_a_wrong_alpha_is_marked_and_changes_nothing(browser, page):
    from selenium.webdriver.common.keys import Keys

    order, path = page
    browser.open(path)
    number = browser.find("#alpha-number")
    number.send_keys(Keys.CONTROL, "a")
    number.send_keys("7")
    assert number.get_attribute("aria-invalid") == "true"
    assert browser.find("#alpha-wrong").text == "Alpha must be a number between 0 and 1."
    assert browser.find(".state").text == f"As it was decided: {order.recommended}."
    browser.run("document.activeElement.blur()")
    assert number.get_attribute("aria-invalid") is None
    assert browser.find("#alpha-wrong").text == ""


def test_the_guard_is_followed_and_named(browser, tmp_path):
    """A is struck out by C; B has the worst mean and spreads too much to be shown worse."""
    n = np.arange(12)
    values = [0.27 + 0.01 * np.sin(n), 0.40 + 0.60 * np.cos(2.7 * n), 0.25 + 0.01 * np.cos(n)]
    losses = bk.Losses(values, dims=("algorithm", "dataset"), algorithms=["A", "B", "C"])
    without = bk.order(losses)
    assert without.recommended == "C"
    for guard, best in ((True, "C"), (False, "B")):
        order = bk.order(losses, prefer="listed", guard=guard)
        assert order.recommended == best
        browser.open(order.report(tmp_path / f"{best}.html"))
        prefer(browser, None)
        check(read(browser), order, without)
    # from no preference to the one that the guard is about
    browser.open(without.report(tmp_path / "none.html"))
    prefer(browser, ["A", "B", "C"])
    found = read(browser)
    check(found, without, bk.order(losses, prefer="listed"))
    assert found["state"].startswith("With this preference: the same decision")


def test_groups_stand_in_the_decision(browser, plain_page):
    order, path = plain_page
    browser.open(path)
    shown = {
        group.find_element("css selector", "h4").text.rstrip(" 0123456789"): [
            " ".join(row.text.split()) for row in group.find_elements("css selector", "li")
        ]
        for group in browser.all("#verdict .group")
    }
    assert [line.split(" mean ")[0] for line in shown["Recommended"]] == [order.recommended]
    for verdict, title in (
        ("too close to call", "Too close to call"),
        ("worse", "Significantly worse"),
    ):
        members = [one for one in order.standings if one.verdict == verdict]
        assert len(members) > 0
        for one, line in zip(members, shown[title], strict=True):
            assert line.startswith(f"{one.name} ")
            assert line.endswith(pvalue_words(one.adjusted_pvalue, order.alpha))


def test_the_slider_is_moved_by_keys(browser, page):
    from selenium.webdriver.common.keys import Keys

    _, path = page
    browser.open(path)
    slider = browser.find("#alpha")
    slider.send_keys(Keys.HOME)
    assert browser.find("#alpha-number").get_attribute("value") == "0.001"
    slider.send_keys(Keys.END)
    assert browser.find("#alpha-number").get_attribute("value") == "0.5"
    check(read(browser), page[0], bk.order(page[0].problem.losses, prefer="listed", alpha=0.5))


def test_the_preference_is_dragged_and_moved_by_buttons(browser, page):
    from selenium.webdriver import ActionChains

    order, path = page
    browser.open(path)

    def listed():
        return [item.text for item in browser.all(".preference-list .learner")]

    browser.find(".preferred summary").click()
    rows = browser.all(".preference-list li")
    browser.run("arguments[0].scrollIntoView({block: 'center'})", rows[2])
    target = rows[0].location["y"] - rows[4].location["y"]
    handle = rows[4].find_element("css selector", ".handle")
    ActionChains(browser.driver).click_and_hold(handle).move_by_offset(
        0, target // 2
    ).move_by_offset(0, target - target // 2).release().perform()
    moved = [NAMES[4], *NAMES[:4], NAMES[5]]
    assert listed() == moved
    check(read(browser), order, bk.order(order.problem.losses, prefer=moved))
    down = browser.find(f'[aria-label="Move {NAMES[4]} down"]')
    down.click()
    assert listed() == [NAMES[0], NAMES[4], *NAMES[1:4], NAMES[5]]
    assert browser.run("return document.activeElement.ariaLabel") == f"Move {NAMES[4]} down"
    check(read(browser), order, bk.order(order.problem.losses, prefer=listed()))


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
    path = decision(names, prefer="listed").report(tmp_path / "phone.html")
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
    order = decision(HOSTILE, prefer="listed")
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
    assert held == [one_line(name) for name in order.by_preference]
    assert len(set(held)) == len(order.by_preference)
    shown = browser.run(
        "return [...document.querySelectorAll('.preference-list .learner')]"
        ".map((node) => node.textContent)"
    )
    assert shown[4] == "שלום עולם (אחת)"
    assert shown[6] == "two lines and a tab"
    assert len(shown[7]) == 60
    assert "49" not in browser.run("return document.querySelector('.preference-list').textContent")
    # the page still works
    browser.run("document.querySelector('.preference-list .down').click()")
    prefer = [HOSTILE[1], HOSTILE[0], *HOSTILE[2:]]
    expected = bk.order(order.problem.losses, prefer=prefer)
    marked = read(browser)["marked"]
    assert marked == [" ".join(str(expected.recommended).split())]


def test_a_policy_stops_scripts_that_are_not_ours(browser, page, tmp_path):
    _, path = page
    injected = path.read_text("utf-8").replace(
        "</main>", "<script>window.hacked = 1</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    (tmp_path / "injected.html").write_text(injected, encoding="utf-8")
    browser.open(tmp_path / "injected.html")
    assert browser.run("return window.hacked ?? null") is None
    assert [url for url in browser.requests() if url.startswith("http")] == []


TESTS = ("corrected-repeated-kfold-t", "use-all-data", "5x2cv-f", "permutation", "wilcoxon", "sign")


def test_the_page_computes_what_python_computes(browser, page):
    """Without the page around it: learners, tests, ties and states of every kind."""
    rng = np.random.default_rng(21)
    browser.open(page[1])
    cases, expected = [], []
    for case in range(150):
        test = TESTS[case % len(TESTS)]
        K = int(rng.integers(2, 9))
        shape = {"5x2cv-f": (5, 2)}.get(test, (4, 5))
        dims = ("algorithm", "run", "fold")
        if test in ("permutation", "wilcoxon", "sign"):
            shape, dims = (12,), ("algorithm", "dataset")
        values = rng.integers(5, 40, (K, *shape)) / 100 + rng.random((K, *[1] * len(shape))) / 4
        if case % 5 == 0:
            values[-1] = values[0]
        names = [f"learner {i}" for i in range(K)]
        losses = bk.Losses(values, dims=dims, algorithms=names)
        first = multitest(losses, test=test, prefer="listed", guard=bool(case % 3))
        alpha = float(rng.choice([0.01, 0.05, 0.2]))
        correction = str(rng.choice(list(CORRECTIONS)))
        places = None if case % 7 == 0 else rng.permutation(K).tolist()
        again = multitest(losses, test=test, alpha=alpha, correction=correction,
                          prefer=None if places is None else [names[i] for i in places],
                          guard=bool(case % 3))  # fmt: skip
        state = {"preference": places, "alpha": alpha, "correction": correction}
        cases.append([live_data(first), state])
        expected.append(
            {
                "order": list(again.ranking),
                "edges": [list(edge) for edge in again.edges],
                "claims": sorted([list(claim) for claim in again.claims]),
                "passed": [list(step.passed_over) for step in again.steps],
                "verdicts": {one.name: one.verdict for one in again.standings},
                "p": {one.name: one.adjusted_pvalue for one in again.standings},
            }
        )
    found = json.loads(
        browser.run(
            """return JSON.stringify(JSON.parse(arguments[0]).map(([data, state]) => {
                const result = bestofk.decide(data, state);
                bestofk.headline(data, result);
                const name = (learner) => data.names[learner];
                const by = (key) => Object.fromEntries(
                    result.standings.map((one) => [name(one.learner), one[key]]));
                return {
                    order: result.order.map(name),
                    edges: result.edges.map((pair) => pair.map(name)),
                    claims: result.claims.map((pair) => pair.map(name)).sort(),
                    passed: result.steps.map((step) => step.passedOver.map(name)),
                    verdicts: by("verdict"),
                    p: by("p"),
                };
            }))""",
            json.dumps(cases),
        )
    )
    for one in found:
        one["claims"].sort()
    assert found == expected  # to the last bit


def test_p_values_are_printed_as_python_prints_them(browser, page):
    rng = np.random.default_rng(22)
    values = [0.015625, 0.5, 0.125, 0.375, 0.0625, 0.99, 0.9949, 0.995, 0.99995, 1e-300, 5e-324,
              0.0001, 0.00001, 0.0, 1.0, 0.001, 0.01, 0.1, 0.0503, 0.04996, 0.0500001, 0.05,
              *(k / 2**n for n in range(2, 14) for k in (1, 3, 5) if k < 2**n),
              *(10 ** rng.uniform(-6, 0, 500)).tolist()]  # fmt: skip
    browser.open(page[1])
    for alpha in (0.05, 0.1, 5e-7):
        script = "return arguments[0].map((p) => bestofk.pvalueWords(p, arguments[1]))"
        found = browser.run(script, values, alpha)
        assert found == [pvalue_words(p, alpha) for p in values]


def test_sixty_learners_stay_usable(browser, tmp_path):
    order = decision([f"learner {i}" for i in range(60)], gap=0.004, prefer="listed")
    path = order.report(tmp_path / "sixty.html")
    browser.open(path)
    took = browser.run(
        """const begin = performance.now();
        document.querySelectorAll(".preference-list .down")[0].click();
        document.body.getBoundingClientRect();
        return performance.now() - begin"""
    )
    assert took < 500  # milliseconds; about a tenth of it is usual
    listed = browser.run("return document.querySelectorAll('.preference-list li').length")
    assert listed == 60
