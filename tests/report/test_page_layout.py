"""Layout of every kind of report on a desktop, on a phone, in dark mode and on paper."""

import base64
import os
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from tests.report.page_kinds import KINDS

from bestofk.report.write_report import write_report

PHONE, DESK = 390, 1280
AXE = Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
OPEN = "for (const node of document.querySelectorAll('details.fold')) node.open = true;"

SMALL_WORDS = """
    const shown = (node) => node.getClientRects().length > 0;
    return [...document.querySelectorAll("svg text")].filter(shown).map((node) => {
        const turned = node.getScreenCTM();
        const scale = Math.hypot(turned.a, turned.b);
        return [parseFloat(getComputedStyle(node).fontSize) * scale, node.textContent];
    }).filter(([size]) => size < 10.99)"""

WITHOUT_WORDS = """
    return [...document.querySelectorAll("figure svg")]
        .filter((node) => !node.querySelector("title").textContent.trim()).length"""

SMALL_TARGETS = """
    const wanted = "a, button, select, summary, label";
    return [...document.querySelectorAll(wanted)]
        .map((node) => [node, node.getBoundingClientRect()])
        .filter(([node, box]) => box.width > 0 && !node.matches(".skip"))
        .filter(([, box]) => box.height < 43.99 || box.width < 43.99)
        .map(([node, box]) => [node.outerHTML.slice(0, 90), box.width, box.height])"""

CUT_BOXES = """return [...document.querySelectorAll(".scroll:not(.only)")]
  .filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.ariaLabel);"""
CELLS_IN_A_ROW = """
    const tops = (row) => [...row.cells].filter((cell) => cell.getClientRects().length)
        .map((cell) => Math.round(cell.getBoundingClientRect().bottom));
    const most = (list) => Math.max(0, ...list.map(
        (one) => list.filter((other) => other === one).length));
    return Math.max(0, ...[...document.querySelectorAll("tr")].map((row) => most(tops(row))))"""
TOUCHING_TICKS = """
    const boxes = [...document.querySelectorAll(".ticks .track span")]
        .map((node) => node.getBoundingClientRect()).filter((box) => box.width);
    return boxes.slice(1).filter((box, k) => box.left < boxes[k].right + 3).length"""
ZERO_TICK_AWAY = """
    const zero = [...document.querySelectorAll(".ticks .track span")]
        .find((node) => Number(node.textContent) === 0)?.getBoundingClientRect();
    const bar = document.querySelector(".group.recommended .bar")?.getBoundingClientRect();
    return zero && bar ? Math.abs(zero.left + zero.width / 2 - bar.left) : 0"""
TOP = "return document.querySelector(arguments[0])?.getBoundingClientRect().top"
OVERLAPPING_CELLS = """
    const words = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        // words that only a reader of the screen hears take no space
        const heard = [...node.children].find((one) => one.getBoundingClientRect().width < 2);
        if (heard) range.setStartAfter(heard);
        return range.getBoundingClientRect();
    };
    const found = [];
    for (const row of document.querySelectorAll(".rows li, .heads")) {
        const cells = [...row.children].filter((node) => node.textContent.trim())
            .map((node) => [node.textContent.trim(), words(node)])
            .filter(([, box]) => box.width > 0);
        for (const [k, [text, box]] of cells.entries()) {
            for (const [other, beside] of cells.slice(k + 1)) {
                if (box.left < beside.right - 1 && beside.left < box.right - 1
                    && box.top < beside.bottom - 2 && beside.top < box.bottom - 2) {
                    found.push([text, other]);
                }
            }
        }
    }
    return found"""

PALE_WORDS = """
    const parsed = (text) => {
        const found = text.match(/[\\d.]+/g).map(Number);
        return [found[0], found[1], found[2], found[3] ?? 1];
    };
    const over = (top, below) => [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * below[k]);
    const light = (colour) => colour.slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, k) => sum + [0.2126, 0.7152, 0.0722][k] * part, 0);
    const contrast = (a, b) => {
        const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
        return (high + 0.05) / (low + 0.05);
    };
    const paper = parsed(getComputedStyle(document.body).backgroundColor);
    const behind = (node) => {
        for (let one = node; one; one = one.parentElement) {
            const colour = parsed(getComputedStyle(one).backgroundColor);
            if (colour[3] > 0.99) return colour;
        }
        return paper;
    };
    const inside = (x, y, box) =>
        box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
    const drawnBehind = (node, areas) => {
        const box = node.getBoundingClientRect();
        const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
        return areas.filter((area) => inside(x, y, area.box))
            .reduce((below, area) => over(area.fill, below), paper);
    };
    const pale = [];
    const look = (node, colour, back) => {
        const found = contrast(over(colour, back), back);
        if (found < 4.495) pale.push([node.textContent.trim().slice(0, 50), found]);
    };
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const node = words.currentNode.parentElement;
        if (!words.currentNode.data.trim() || !node.getClientRects().length) continue;
        if (node.closest("svg, script, style, option, :disabled")) continue;
        look(node, parsed(getComputedStyle(node).color), behind(node));
    }
    for (const figure of document.querySelectorAll("figure svg")) {
        const marks = [...figure.querySelectorAll("path, circle")];
        if (!figure.getClientRects().length || marks.length > 800) continue;
        const areas = marks.map((mark) => [mark, getComputedStyle(mark)])
            .filter(([, style]) => style.fill !== "none")
            .map(([mark, style]) => {
                const [red, green, blue, alpha] = parsed(style.fill);
                const opacity = alpha * style.fillOpacity * style.opacity;
                return { box: mark.getBoundingClientRect(), fill: [red, green, blue, opacity] };
            });
        for (const node of figure.querySelectorAll("text")) {
            look(node, parsed(getComputedStyle(node).fill), drawnBehind(node, areas));
        }
    }
    return pale"""

VIOLATIONS = """
    const done = arguments[0];
    axe.run({ resultTypes: ["violations"] }).then((found) => done(found.violations
        .map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 120))])));"""

WIDER_THAN_PAPER = """
    return [...document.querySelectorAll("main *")]
        .filter((node) => !node.closest("svg") && node.getClientRects().length)
        .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
        .map((node) => node.outerHTML.slice(0, 90)).slice(0, 5)"""


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return cache(lambda kind: write_report(KINDS[kind](), folder / f"{kind}.html"))


def show(browser, *, width, dark=False, media=""):
    """The page that is open on another screen."""
    browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=844,
                     deviceScaleFactor=1, mobile=width < 500)  # fmt: skip
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.devtools("Emulation.setEmulatedMedia", media=media, features=[scheme])


def look(browser, path, **screen):
    show(browser, **screen)
    browser.open(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_report_fits_a_phone_and_can_be_read(browser, page_of, kind):
    look(browser, page_of(kind), width=PHONE)
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE
    browser.run(OPEN)
    assert browser.run("return document.documentElement.scrollWidth") <= PHONE
    assert browser.run(CUT_BOXES) == []
    assert browser.run(CELLS_IN_A_ROW) <= 4
    assert browser.run(TOUCHING_TICKS) == 0
    if browser.all(".forest"):
        assert browser.run(TOP, ".card") < browser.run(TOP, ".forest")
    assert browser.run(SMALL_WORDS) == []
    assert browser.run(SMALL_TARGETS) == []
    assert browser.run(OVERLAPPING_CELLS) == []
    levels = browser.run("return [...document.querySelectorAll('h1, h2, h3, h4')].map("
                         "(node) => Number(node.tagName[1]))")  # fmt: skip
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert browser.run(WITHOUT_WORDS) == 0
    for dark in (False, True):
        show(browser, width=DESK, dark=dark)
        assert browser.run("return document.documentElement.scrollWidth") <= DESK
        assert browser.run(OVERLAPPING_CELLS) == []
        assert browser.run(TOUCHING_TICKS) == 0
        assert browser.run(ZERO_TICK_AWAY) < 1.5
        assert browser.run(PALE_WORDS) == []
    assert browser.complaints() == []


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_violation(browser, page_of, kind):
    axe = Path(os.environ.get("BESTOFK_AXE", AXE))
    if not axe.is_file():
        pytest.skip("axe-core is not installed (npm install --prefix .venv/axe axe-core)")
    look(browser, page_of(kind), width=PHONE)
    if kind in ("one_data_set", "failures"):
        browser.run(OPEN)
    browser.run(axe.read_text("utf-8"))
    assert browser.driver.execute_async_script(VIOLATIONS) == []


@pytest.mark.parametrize(("kind", "most"), [("sixty", 10), ("twenty", 7), ("from_a_table", 4)])
def test_reports_print_on_few_pages(browser, page_of, kind, most):
    look(browser, page_of(kind), width=DESK)
    pdf = base64.b64decode(browser.devtools("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", pdf)) <= most
    assert browser.run("return document.querySelectorAll('#how > details[open]').length") == 0


def test_paper_has_all_parts_but_the_long_tables(browser, page_of):
    look(browser, page_of("from_a_table"), width=688, media="print")
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    shown = """return [...document.querySelectorAll(arguments[0])]
        .filter((node) => node.checkVisibility()).length"""
    assert browser.run(shown, "#box-pairs td, #bibtex, .all") == 0
    for part in ("#box-learners td", "#how dd", "figure svg", "#assumptions td", "#methods-text"):
        assert browser.run(shown, part) > 0, part
    assert browser.run(TOUCHING_TICKS) == 0
    browser.run("window.dispatchEvent(new Event('afterprint'))")
    assert browser.run("return document.querySelectorAll('#how > details[open]').length") == 0


@pytest.mark.parametrize("kind", ["one_data_set", "several_data_sets", "sixty", "language_models"])
def test_nothing_is_cut_on_paper(browser, page_of, kind):
    # the width between margins of 14 mm on A4
    look(browser, page_of(kind), width=688, media="print")
    browser.run(OPEN)
    assert browser.run(WIDER_THAN_PAPER) == []
    assert not browser.find("nav").is_displayed()
    assert not browser.find(".forms").is_displayed()


def test_a_long_list_begins_with_a_few_rows(browser, page_of):
    look(browser, page_of("sixty"), width=PHONE)
    seen = """return [...document.querySelectorAll("#verdict .rows li")]
        .filter((one) => one.checkVisibility()).length"""
    assert browser.run(seen) == 5
    browser.find(".all").click()
    assert browser.run(seen) == 60
    look(browser, page_of("sixty"), width=DESK)
    assert browser.run(seen) == 20


def test_links_open_what_is_folded_and_the_bar_stays(browser, page_of):
    look(browser, page_of("one_data_set"), width=DESK)
    assert not browser.find("#how dl").is_displayed()
    browser.find('.links a[href="#how"]').click()
    browser.driver.implicitly_wait(60)
    assert browser.find("#how > details[open] dl").is_displayed()
    browser.driver.implicitly_wait(0)
    assert browser.run("return document.querySelector('nav').getBoundingClientRect().top") == 0
    button = browser.find("#open-all")
    button.click()
    assert browser.run("return document.querySelectorAll('details.fold:not([open])').length") == 0
    assert button.text == "Close all parts"


def test_a_skip_link_comes_first_and_is_seen_with_the_keyboard(browser, page_of):
    from selenium.webdriver.common.keys import Keys

    look(browser, page_of("two"), width=DESK)
    browser.find("body").send_keys(Keys.TAB)
    first = browser.run("return document.activeElement.textContent")
    assert first == "Skip to the decision"
    assert browser.run("return document.activeElement.getBoundingClientRect().top") >= 0
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
