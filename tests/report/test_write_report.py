"""Reports in a real browser, with and without scripts."""

import numpy as np
import pytest

import bestofk as bk
from bestofk.report.tables import learners_table
from bestofk.report.write_report import render_report

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
    losses = bk.Scores(values, dims=("learner", "run", "fold"), learners=names,
                       datasets=["wine"], loss_name="zero-one")  # fmt: skip
    return bk.compare_scores(losses, **options).outcome


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """With a stated preference."""
    order = decision(prefer="listed")
    return order, bk.Result(order).report(tmp_path_factory.mktemp("page") / "report.html")


def test_opens_quietly_and_asks_for_nothing(browser, page):
    order, path = page
    browser.open(path)
    assert order.recommended in browser.find("#verdict .lead").text
    assert browser.find("#verdict .lead").text == order.headline
    assert browser.requests() == [path.as_uri()]
    assert browser.complaints() == []
    assert path.read_text("utf-8") == render_report(order)  # the same page for the same value


def test_reads_without_scripts(browser, page):
    order, path = page
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(path)
    assert not browser.find("[data-copy]").is_displayed()
    assert len(browser.all("figure svg")) >= 4
    text = " ".join(browser.run("return document.body.textContent").split())
    for words in (order.headline, "Bonferroni", "by design", "For a paper", "wine"):
        assert words in text
    assert browser.find("#tables .source summary").is_displayed()


def test_tables_are_copied(browser, page):
    order, path = page
    browser.open(path)
    browser.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    button = browser.find('[data-copy="learners-csv"]')
    browser.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    copied = browser.driver.execute_async_script(
        "const [done] = arguments; setTimeout(() => navigator.clipboard.readText().then(done), 99)"
    )
    assert copied == learners_table(order).to_csv()
    assert button.text == "Copied"
    forms = {node.get_attribute("data-copy") for node in browser.all("[data-copy]")}
    assert {"pairs-csv", "bibtex", "methods-text", "repeat"} <= forms


@pytest.mark.parametrize("names", [HOSTILE, ["n" * 200, "m" * 200], [str(i) for i in range(30)]])
def test_a_phone_never_scrolls_sideways(browser, names, tmp_path):
    path = bk.Result(decision(names, prefer="listed")).report(tmp_path / "phone.html")
    browser.devtools(
        "Emulation.setDeviceMetricsOverride",
        width=360,
        height=740,
        deviceScaleFactor=2,
        mobile=True,
    )
    browser.open(path)
    assert browser.run("return document.documentElement.scrollWidth") <= 360


def test_names_are_data(browser, tmp_path):
    order = decision(HOSTILE, prefer="listed")
    path = bk.Result(order).report(tmp_path / "hostile.html", title=HOSTILE[0])
    browser.open(path)
    assert browser.run("return [window.hacked ?? null, document.images.length]") == [None, 0]
    scripts = browser.run(
        "return [...document.querySelectorAll('script')].map((node) => node.type)"
    )
    assert scripts == [""]
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]
    shown = browser.run(
        "return [...document.querySelectorAll('#verdict .rows .who')].map((n) => n.textContent)"
    )
    assert len(shown) == len(HOSTILE)
    assert {"שלום עולם (אחת)", "two lines and a tab", "n" * 59 + "…", HOSTILE[3]} <= set(shown)


def test_a_policy_stops_scripts_that_are_not_ours(browser, page, tmp_path):
    _, path = page
    injected = path.read_text("utf-8").replace(
        "</main>", "<script>window.hacked = 1</script><img src='http://127.0.0.1:9/x.png'></main>"
    )
    (tmp_path / "injected.html").write_text(injected, encoding="utf-8")
    browser.open(tmp_path / "injected.html")
    assert browser.run("return window.hacked ?? null") is None
    assert [url for url in browser.requests() if url.startswith("http")] == []
