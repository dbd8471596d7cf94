"""The transcribed tables of the interval paper: sums, averages and relations between tables."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.papers.intervals.experiments import BEST_ERROR, DATASETS, STEPS, problem_of
from bestofk.papers.printed_figures import printed_table

LAST = {"2": "Bootstrap-A", "3": "Bootstrap-A", "4": "Bootstrap-B", "5": "Bootstrap-B"}


def counts(table):
    """Return the printed ok, no, err and inc (0 if absent) by row and test."""
    parts = [printed_table("intervals", table, name).values for name in ("ok", "no", "err")]
    open_ = np.zeros_like(parts[0])
    if LAST[table] == "Bootstrap-B":
        open_[:, 2:] = printed_table("intervals", table, "inc").values
    return np.stack([*parts, open_], axis=-1)


@pytest.mark.parametrize(("table", "total"), [("2", 1000), ("4", 1000), ("3", 100), ("5", 100)])
def test_every_comparison_was_counted_once(table, total):
    assert np.allclose(counts(table).sum(axis=-1), total)


@pytest.mark.parametrize("table", ["2", "4"])
def test_averages_are_over_the_rows_with_a_difference(table):
    means = counts(table)[1:].mean(axis=0) / 1000
    for quantity, column in (("power", 0), ("type1", 2)):
        printed = printed_table("intervals", table, quantity)
        # 0.7664 stands as 0.76 and 0.01165 as 0.011: some averages are cut off, not rounded
        assert (np.abs(means[:, column] - printed.values[0]) <= 2 * printed.rounding[0]).all()
    if table == "4":
        inconclusive = printed_table("intervals", "4", "inconclusive")
        assert abs(means[2, 3] - inconclusive.values[0, 0]) <= 2 * inconclusive.rounding[0, 0]


@pytest.mark.parametrize(("detail", "whole"), [("3", "2"), ("5", "4")])
def test_details_add_up_to_their_row(detail, whole):
    parts = counts(detail)
    row = STEPS.index(0.03)
    assert np.array_equal(parts[:-1].sum(axis=0), counts(whole)[row])
    assert np.allclose(parts[-1], parts[:-1].mean(axis=0))


@pytest.mark.parametrize("table", ["3", "5"])
def test_not_significant_is_constant_along_the_rows_of_the_pairs(table):
    # the evidence that pair (A_i, A_j) was judged with the p-value of (A_1, A_{i+1})
    no = counts(table)[:-1, :, 1]
    for test in range(2):
        for rows in (slice(0, 4), slice(4, 7), slice(7, 9)):
            assert len(set(no[rows, test])) == 1


def test_some_t_columns_hold_more_than_their_anova_allows_and_wilcoxon_columns_do_not():
    # the evidence that the columns of t and Wilcoxon are exchanged in Table 2
    multiple = printed_table("intervals", "2", "multiple").values
    significant = 1000 - counts("2")[:, :, 1]
    most = 10 * multiple[:, :2]
    assert (significant[:, 0] > most[:, 0]).sum() == 2
    assert (significant[:, [1, 0]] <= most).all()


def test_theoretical_errors_follow_from_the_winners():
    theoretical = printed_table("intervals", "1", "theoretical")
    sizes = printed_table("intervals", "1", "n_t")
    winners = (theoretical.values[:-1] == BEST_ERROR).argmax(axis=1)
    assert ((theoretical.values[:-1] == BEST_ERROR).sum(axis=1) == 1).all()
    problem = problem_of(0.03, winners, sizes.values[:-1, 0].astype(int))
    assert np.abs(problem.errors.T - theoretical.values[:-1]).max() <= 0.005
    assert len(winners) == DATASETS
    assert abs(sizes.values[:-1].mean() - sizes.values[-1, 0]) <= 0.05
    samples = printed_table("intervals", "1", "sample").values
    assert np.abs(samples[:-1].mean(axis=0) - samples[-1]).max() <= 0.005 + 0.005
