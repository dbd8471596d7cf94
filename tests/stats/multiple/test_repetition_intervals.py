"""Repetitions as intervals: by hand, and what a missing repetition may do to them."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.stats.multiple.interval_bootstrap import repetition_intervals

# eleven repetitions 0.0, 0.1, ..., 1.0 out of order: the quantile q is q itself
LADDER = np.random.default_rng(0).permutation(11)[None, None, None] / 10


@pytest.mark.parametrize(
    ("interval", "low", "high"),
    [
        ("central", 0.45, 0.55),
        ("interquartile", 0.25, 0.75),
        ((0.1, 0.6), 0.1, 0.6),
        ([0.0, 1.0], 0.0, 1.0),
        # median 0.5; a tenth of 11 is 1.1, so two are covered: 0.5 and a neighbour
        (("median-radius", 0.10), 0.4, 0.6),
        # half of 11 is 5.5, so six: the third neighbour on one side
        (("median-radius", 0.5), 0.2, 0.8),
        (lambda x: (x.min(axis=-1), x.mean(axis=-1)), 0.0, 0.5),
    ],
)
def test_ends_by_hand(interval, low, high):
    ends = repetition_intervals(LADDER, interval)
    assert ends.shape == (2, 1, 1, 1)
    assert ends.ravel() == pytest.approx([low, high], abs=1e-12)


def test_one_repetition_has_no_width():
    losses = np.random.default_rng(0).random((3, 4, 2, 1))
    for interval in ("central", "interquartile", (0.0, 1.0), ("median-radius", 0.1)):
        ends = repetition_intervals(losses, interval)
        np.testing.assert_array_equal(ends[0], losses[..., 0])
        np.testing.assert_array_equal(ends[1], losses[..., 0])


def test_a_tenth_of_thirty_is_three():
    losses = np.arange(30.0)[None, None, None]
    ends = repetition_intervals(losses, ("median-radius", 0.1)).ravel()
    # median 14.5, distances 0.5, 0.5, 1.5
    assert ends.tolist() == [13.0, 16.0]


@pytest.mark.parametrize("interval", ["central", "interquartile", ("median-radius", 0.3)])
def test_a_missing_repetition_is_enclosed_whatever_it_was(interval):
    losses = np.random.default_rng(2).random((2, 3, 2, 7))
    holes = losses.copy()
    holes[0, 1, 0, 4] = np.nan
    holes[1, 2, 1] = np.nan
    ends = repetition_intervals(holes, interval, missing="allow")
    assert ends[:, 1, 2, 1].tolist() == [0.0, 1.0]
    for value in np.linspace(0, 1, 21):
        complete = repetition_intervals(np.where(np.isnan(holes), value, holes), interval)
        assert (ends[0] <= complete[0] + 1e-15).all()
        assert (ends[1] >= complete[1] - 1e-15).all()
    whole = ~np.isnan(holes).any(axis=-1)
    same = repetition_intervals(losses, interval)
    np.testing.assert_array_equal(ends[:, whole], same[:, whole])


@pytest.mark.parametrize(
    "interval", ["mode", (0.6, 0.4), (0.1, 2.0), (0.1,), ("median-radius", 0.0), ("x", "y"), 3]
)
def test_unknown_intervals_are_refused(interval):
    with pytest.raises(ArgumentError, match="interval"):
        repetition_intervals(LADDER, interval)


def test_a_function_must_return_two_arrays_of_the_right_shape():
    with pytest.raises(ArgumentError, match="interval must return two arrays"):
        repetition_intervals(LADDER, lambda x: (x, x))
    with pytest.raises(ArgumentError, match="a pair of arrays"):
        repetition_intervals(LADDER, lambda x: 3)


@pytest.mark.parametrize("loss_range", [(1, 0), (0, np.inf), 3, ("a", "b")])
def test_a_bad_range_is_refused(loss_range):
    losses = np.full((2, 1, 1, 1), np.nan)
    with pytest.raises(ArgumentError, match="loss_range must be"):
        repetition_intervals(losses, missing="allow", loss_range=loss_range)


def test_both_ends_may_be_one_quantile():
    assert repetition_intervals(LADDER, (0.5, 0.5)).ravel().tolist() == [0.5, 0.5]
    with pytest.raises(ArgumentError, match="finite numbers"):
        repetition_intervals(LADDER, lambda x: (x.min(axis=-1), x.max(axis=-1) * np.nan))


def test_losses_at_the_ends_of_the_range_are_inside():
    losses = np.array([0.0, 1.0, np.nan])[None, None, None]
    ends = repetition_intervals(losses, (0.0, 1.0), missing="allow")
    assert ends.ravel().tolist() == [0.0, 1.0]
    for inside in ((0.0, 0.9), (0.1, 1.0)):
        with pytest.raises(ArgumentError, match="loss_range must contain all losses"):
            repetition_intervals(losses, missing="allow", loss_range=inside)
    with pytest.raises(ArgumentError, match="loss_range must be"):
        repetition_intervals(losses, missing="allow", loss_range=(0.5, 0.5))
