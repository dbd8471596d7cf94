"""Small forms of the studies of false claims and of coverage; the pages have the full tables."""

import numpy as np
import pytest

import interval_coverage
import null_tables


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
