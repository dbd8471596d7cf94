"""Which tests and plans can stop early: those in the docs, and no others."""

import re
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.decide.registry import RULES
from bestofk.decide.settings import Settings
from bestofk.decide.stopping import StopRule
from bestofk.decide.stopping.rule import as_stop_rule
from bestofk.run.race import PLAN, planned_race
from bestofk.splits.plans import plan as make_plan
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

NAMES = ("a", "b", "c")
PLANS = ("10x10", "5x2", "kfold:10", "resample:20:0.1", "bootstrap:20", "10x5+nested",
         "time:5", "loo")  # fmt: skip
PAGE = Path(__file__).parents[3] / "docs" / "use" / "stopping.md"


@cache
def design_of(plan):
    y = np.array(["yes", "no"] * 30)
    return make_plan(plan).materialise(len(y), y).design


def race_of(plan, datasets=1, **decision):
    design = design_of(plan)
    settings = Settings(prefer="listed", **decision)
    return planned_race(NAMES, design, settings, StopRule(), datasets=datasets, span=1.0)


def refusal(plan, **decision):
    """Why no race is held; empty where one is."""
    try:
        race_of(plan, **decision)
    except bk.BestOfKError as refused:
        return str(refused)
    return ""


def on_the_page():
    """Tests that the page names as ones that are settled, over runs or splits of one data set."""
    part = PAGE.read_text().split("## Which tests")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`([^`]+)`", " ".join(rows)))


def test_every_test_is_on_the_page_or_refused_with_advice_that_works():
    taken = set()
    for test, plan, df in product(["auto", *PAIRWISE_TESTS], PLANS, (None, 10)):
        asked = {"test": test, "test_options": {"df": df}}
        said = refusal(plan, **asked)
        if not said:
            taken.add(test)
        elif said.startswith("stop='settled'"):
            # what it advises: this plan, and to leave out what it names
            assert f"cv={PLAN!r}" in said
            left = {
                name: value for name, value in asked.items()
                if not re.search(rf"leave (\w+ and )?{name}\b.* out, or", said)
            }  # fmt: skip
            assert refusal(PLAN, **left) == "", (test, plan, df, said)
    assert taken - {"auto"} == {
        "corrected-repeated-kfold-t", "corrected-resampled-t", "nested-cv-t", "use-all-data",
    }  # fmt: skip
    assert taken - {"auto"} == on_the_page() - {"wilcoxon", "sign"}


@pytest.mark.parametrize("test", sorted(PAIRWISE_TESTS))
def test_over_data_sets_signed_ranks_and_signs_alone_are_settled(test):
    said = ""
    try:
        race_of("10x10", datasets=12, test=test)
    except bk.BestOfKError as refused:
        said = str(refused)
    assert bool(said) == (test not in {"wilcoxon", "sign"})
    if not said:
        assert test in on_the_page()
    if said.startswith("stop='settled'"):
        assert "test='wilcoxon'" in said


def test_every_other_rule_is_refused():
    for name in RULES:
        said = refusal("10x10", rule=name)
        assert bool(said) == (name not in ("best", "multitest"))


def test_calibrated_tests_are_the_same_statistic_times_a_constant():
    # what is predicted of M / sqrt(V) does not depend on the constant, so neither does the proof
    rng = np.random.default_rng(1)
    d = rng.normal(0.03, 0.05, (4, 3, 10))
    corrected, plain, calibrated = (
        race_of("10x10", **decision).test
        for decision in (
            {},
            {"test": "use-all-data"},
            {"test": "use-all-data", "test_options": {"df": 10}},
        )
    )
    bounds = [one.predicted(d, risk=0.001) for one in (corrected, plain, calibrated)]
    exact = [one.exact(np.concatenate([d, np.full((4, 7, 10), np.nan)], axis=1))
             for one in (corrected, plain, calibrated)]  # fmt: skip
    for found in (bounds, exact):
        for one, test in zip(found[1:], (plain, calibrated), strict=True):
            times = np.sqrt(corrected.factor / test.factor)
            assert one.t_low == pytest.approx(times * found[0].t_low)
            assert one.t_high == pytest.approx(times * found[0].t_high)


@pytest.mark.parametrize("rule", ["settled", StopRule(risk=0.05), StopRule(risk=0.0)], ids=str)
def test_over_data_sets_no_risk_is_taken(rule):
    assert as_stop_rule(rule, datasets=12).risk == 0


def test_of_runs_a_risk_is_taken_unless_there_shall_be_none():
    assert as_stop_rule(None) is None
    rules = ("settled", StopRule(risk=0.01), StopRule(risk=0))
    assert [as_stop_rule(rule).risk for rule in rules] == [0.05, 0.01, 0.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"target": "worst"}, "target must be one of 'best', 'order'"),
        ({"risk": 1.0}, "risk must be a probability"),
    ],
)
def test_a_rule_is_checked_when_it_is_made(given, words):
    with pytest.raises(ArgumentError, match=re.escape(words)):
        StopRule(**given)
