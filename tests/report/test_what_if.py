"""The part of a page that decides at another level and preference."""

import pytest
from tests.report.page_kinds import KINDS, table

import bestofk as bk
from bestofk.report.write_report import render_report, write_report

ROWS = """return [...document.querySelectorAll("#what-if li")].map((row) =>
    [row.querySelector(".who").textContent, row.querySelector("output").textContent])"""
SET_ALPHA = """const level = document.querySelector("#what-if input");
    level.value = arguments[0]; level.dispatchEvent(new Event("input"));"""


def verdicts(result):
    return {str(row["name"]): row["verdict"] for row in result.to_dict()["table"]}


@pytest.mark.parametrize("prefer", [None, "listed"])
def test_verdicts_are_those_of_the_function(browser, tmp_path, prefer):
    losses = table(6, 10, 10, gap=0.06)
    write_report(bk.compare_scores(losses, prefer=prefer).outcome, tmp_path / "r.html")
    browser.open(tmp_path / "r.html")
    seen = set()
    for alpha in (0.05, 0.2, 0.0001):
        browser.run(SET_ALPHA, alpha)
        expected = verdicts(bk.compare_scores(losses, prefer=prefer, alpha=alpha))
        assert dict(browser.run(ROWS)) == expected
        seen.add(tuple(expected.values()))
    assert len(seen) > 1
    browser.run(SET_ALPHA, 7)  # refused: the verdicts stay
    assert dict(browser.run(ROWS)) == expected


def test_a_learner_moved_up_is_preferred(browser, tmp_path):
    losses = table(4, 10, 10, gap=0.01)
    result = bk.compare_scores(losses)
    write_report(result.outcome, tmp_path / "r.html")
    browser.open(tmp_path / "r.html")
    names = [name for name, _ in browser.run(ROWS)]
    assert names == list(result.order)
    browser.run('document.querySelectorAll("#what-if button")[2].click()')
    moved = [names[0], names[2], names[1], names[3]]
    browser.run('document.querySelectorAll("#what-if button")[1].click()')
    moved = [names[2], names[0], names[1], names[3]]
    preferred = bk.compare_scores(losses, prefer=moved)
    assert [name for name, _ in browser.run(ROWS)] == moved
    assert dict(browser.run(ROWS)) == verdicts(preferred)
    assert browser.run("return document.activeElement.closest('#what-if') !== null")


def test_only_pages_that_p_values_decide_have_the_part():
    having = {name for name, make in KINDS.items() if 'id="what-if"' in render_report(make())}
    assert having.isdisjoint(
        {"race", "margin", "control_family", "most_wins", "release", "sixty", "nothing_decided"}
    )
    assert having.issuperset({"one_data_set", "several_data_sets", "two", "twenty", "battles"})
