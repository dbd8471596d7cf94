"""Random rearrangements against the exact distribution of their sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bestofk.papers.stats.bootstrap import drawn_tails
from bestofk.stats.null_distributions.sums import StepGrid, step_grid, sum_tails


def exact_tails(values: np.ndarray) -> tuple[StepGrid, object]:
    rows = np.arange(values.shape[0])
    grid = step_grid(values, choices=rows.size, queries=rows.size)
    return grid, sum_tails(grid, rows, rows)


@pytest.mark.parametrize("shape", [(2, 1), (2, 9), (7, 3), (300, 4)])
def test_groups_of_blocks_of_any_size_are_drawn_evenly(shape):
    values = np.random.default_rng(2).integers(0, 9, size=shape).astype(float)
    rows = np.arange(shape[0])
    _, exact = exact_tails(values)
    (drawn,) = drawn_tails(
        values, rows[None], rows[None], resamples=40_000, generator=np.random.default_rng(4)
    )
    for got, truth in ((drawn.lower, exact.lower), (drawn.upper, exact.upper)):
        hits = np.rint(got * 40_001 - 1)
        assert (hits >= stats.binom.ppf(1e-7, 40_000, truth)).all()
        assert (hits <= stats.binom.isf(1e-7, 40_000, truth)).all()


def test_many_tables_in_batches_see_the_same_rearrangements():
    """60 tables of 5^6 sums in 20 groups do not fit at once; each equals the one alone."""
    values = np.random.default_rng(2).random((5, 120))
    rows = np.arange(5)
    rng = np.random.default_rng(0)
    many = drawn_tails(
        values, np.tile(rows, (60, 1)), np.tile(rows, (60, 1)), resamples=99, generator=rng
    )
    once = np.random.default_rng(0)
    (alone,) = drawn_tails(values, rows[None], rows[None], resamples=99, generator=once)
    for tails in many:
        np.testing.assert_array_equal(tails.lower, alone.lower)
    # and the generator is left where one table leaves it
    assert rng.random() == once.random()
