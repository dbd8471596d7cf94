"""The default plan of a comparison, and its guarantees."""

import numpy as np
import pytest

import bestofk as bk
from bestofk.decide.registry import RULES
from bestofk.run.inputs import default_plan
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def test_one_data_set_has_nested_runs():
    study = bk.compare(["max", "nmc"], data="iris", progress=False)
    assert "plan 10x5+nested" in study.explain()
    assert study.scores.design.nested_runs > 0
    assert "nested-cv-t" in study.explain()


def test_several_data_sets_and_budgets_have_none():
    assert default_plan(rows=150, datasets=2) == "10x10"
    assert default_plan(rows=150, budget=60.0) == "10x10"
    assert [default_plan(rows=rows) for rows in (9, 7, 4)] == ["10x4", "10x3", "10x2"]
    assert default_plan(rows=10) == "10x5+nested"


@pytest.mark.parametrize(
    ("rows", "runs"), [(10, 10), (2_000, 10), (2_001, 5), (20_000, 5), (20_001, 3), (10**6, 3)]
)
def test_more_rows_have_fewer_runs(rows, runs):
    assert default_plan(rows=rows) == f"{runs}x5+nested"
    # the rows make a fit expensive, not the groups
    assert default_plan(rows=rows, groups=10) == f"group-{runs}x5+nested"
    assert default_plan(rows=rows, stops=True) == f"{runs}x5+nested"


@pytest.mark.parametrize("name", PAIRWISE_TESTS)
def test_a_test_that_makes_no_use_of_nested_runs_pays_for_none(name):
    wanted = "10x5+nested" if "nested" in PAIRWISE_TESTS[name].covers else "10x10"
    assert default_plan(rows=100, test=name) == wanted


@pytest.mark.parametrize("name", RULES)
def test_a_rule_without_pairwise_tests_pays_for_none(name):
    wanted = "10x5+nested" if RULES[name].takes_test else "10x10"
    assert default_plan(rows=100, rule=name) == wanted


@pytest.mark.parametrize("rows", [4, 7, 11])
def test_the_plan_can_be_made_however_few_the_rows(rows):
    X, y = np.arange(2.0 * rows).reshape(rows, 2), np.arange(rows) % 2
    study = bk.compare(["max", "nmc"], X, y, progress=False)
    assert study.outcome.record.plan == default_plan(rows=rows)
