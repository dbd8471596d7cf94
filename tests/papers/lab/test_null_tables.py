"""Small forms of the studies of false claims and of coverage; the pages have the full tables."""

import numpy as np
import pytest

import bestofk as bk
import interval_coverage
import null_tables
from bestofk.run.inputs import default_plan
from bestofk.splits.plans import plan as make_plan


@pytest.mark.parametrize(
    ("only", "command", "test"),
    [
        ("training runs, normal", "order", "skew-corrected-welch-t"),
        ("c4.5, 5x2, 5x2cv-t", "compare", "5x2cv-t"),
        ("least squares, lognormal", "compare", "nested-cv-t"),
        ("right or wrong, clusters", "evals", "cluster-t"),
    ],
)
def test_false_claims(only, command, test):
    rows = null_tables.measure(2, 2, only)
    assert [row["learners"] for row in rows[:3]] == ["2", "5", "10"]
    assert {(row["command"], row["test"]) for row in rows} == {(command, test)}
    page = null_tables.page(rows)
    assert page[0] == f"**`{command}`** (2 studies each, or more)"


def test_learners_of_the_study_are_those_of_compare():
    """The losses that `compare` finds by its default plan, with one block of columns for each."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    study = bk.compare(["ridge", "mean-baseline"], X, y, progress=False)
    assert study.scores.design.describe() == (
        make_plan(default_plan(rows=40)).materialise(40).design.describe()
    )
    assert study.decision.test_choice.arguments["widened"] == 1 + 2.4 / 40**0.5
    # `compare_scores` decides on the losses as `compare` does
    again = bk.compare_scores(study.scores).decision
    for name in ("recommended", "claims", "test", "caution", "ranking"):
        assert getattr(again, name) == getattr(study.decision, name), name
    # a tenth of the rows belong to the second class
    rare = null_tables.RareClass(learners=2, rows=200).encoded(rng)
    assert rare.values.shape == (200, 10)
    assert 5 <= rare.y.sum() <= 40


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        ("right or wrong, clusters", {"statement"}),
        ("data sets, lognormal", {"statement"}),
        ("naive-bayes", {"statement"}),
    ],
)
def test_coverage(only, kinds):
    rows = list(interval_coverage.measure(2, 1, only))
    assert {row["interval"] for row in rows} == kinds
    assert all(0.0 <= float(row["covered"]) <= 100.0 for row in rows)
    assert "**statement**" in interval_coverage.page(rows)


def test_a_bound_that_does_not_hold_is_counted():
    null = next(one for one in null_tables.NULLS if one.name == "data sets, normal" and one.n == 12)
    table = null.draw(np.random.default_rng(1), 2, 12)
    decision = interval_coverage.decided(null, table)
    assert interval_coverage.holds(decision, np.array([0.0, 0.1])) == 1.0
    assert interval_coverage.holds(decision, np.array([0.0, 50.0])) == 0.0
