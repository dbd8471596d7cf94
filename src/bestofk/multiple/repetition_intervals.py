"""Repetitions of a fold, and missing ones, as one interval per learner, data set and fold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk.checks import Floats, probability, refuse
from bestofk.errors import ArgumentError
from bestofk.multiple.bootstrap_a import check_shape, mean_of

QUANTILES = {"central": (0.45, 0.55), "interquartile": (0.25, 0.75)}
WORDS = (
    "'central', 'interquartile', a pair of quantiles, ('median-radius', share) or a function of "
    "the losses that returns lower and upper ends"
)

Ends = Callable[[Floats], tuple[Floats, Floats]]


def interval_cells(
    losses: Any,
    intervals: Any,
    interval: Any,
    missing: str,
    loss_range: tuple[float, float],
) -> Floats:
    """Lower and upper ends by learner and data set, shape (2, A, D)."""
    if (losses is None) == (intervals is None):
        raise ArgumentError("bootstrap_b must be given either losses or intervals, one of the two.")
    if losses is not None:
        table = _numbers(losses, "losses")
        check_shape(table, "losses", (2, 3, 4))
        table = table.reshape(table.shape + (1,) * (4 - table.ndim))
        ends = repetition_intervals(table, interval, missing=missing, loss_range=loss_range)
    else:
        ends = _numbers(intervals, "intervals")
        if ends.ndim not in (3, 4) or ends.shape[0] != 2 or ends.shape[1] < 2 or ends.size == 0:
            raise ArgumentError(
                "intervals must have the axes (2, learners, data sets) or (2, learners, data "
                f"sets, folds), and at least 2 learners; got an array of shape {ends.shape}."
            )
        ends = spanned(ends, missing=missing, loss_range=loss_range)
    return mean_of(ends.reshape(*ends.shape[:3], -1), 3)


def _numbers(value: Any, where: str) -> Floats:
    """`value` as an array in which NaN stands for what is missing."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(where, "an array of numbers", value) from None
    if np.isinf(array).any():
        raise refuse(where, "finite", float(array[np.isinf(array)][0]))
    return array


def repetition_intervals(
    losses: Floats,
    interval: Any = "central",
    *,
    missing: str = "refuse",
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> Floats:
    """Lower and upper ends, shape (2, A, D, F), from losses of shape (A, D, F, R).

    A missing repetition (NaN) may have been anything in `loss_range`: between quantiles the
    lower end is taken with the smallest loss in its place and the upper one with the largest;
    any other interval becomes the whole range. So a cell without any repetition spans the range.
    """
    quantiles, ends = _rule(interval)
    holes = np.isnan(losses)
    if not holes.any():
        return _ordered(*_pair(ends(losses), losses.shape[:-1]))
    low, high = _range(losses, missing, loss_range)
    if quantiles is not None:
        q = np.asarray(quantiles)
        lower = np.quantile(np.where(holes, low, losses), q[0], axis=-1)
        upper = np.quantile(np.where(holes, high, losses), q[1], axis=-1)
        return _ordered(lower, upper)
    incomplete = holes.any(axis=-1)
    lower, upper = _pair(ends(np.where(holes, low, losses)), losses.shape[:-1])
    return _ordered(np.where(incomplete, low, lower), np.where(incomplete, high, upper))


def spanned(intervals: Floats, *, missing: str, loss_range: tuple[float, float]) -> Floats:
    """Given intervals of shape (2, ...), a missing end replaced by that end of the range."""
    holes = np.isnan(intervals)
    if holes.any():
        low, high = _range(intervals, missing, loss_range)
        intervals = np.stack(
            [np.where(holes[0], low, intervals[0]), np.where(holes[1], high, intervals[1])]
        )
    if (intervals[0] > intervals[1]).any():
        at = tuple(int(i) for i in np.argwhere(intervals[0] > intervals[1])[0])
        raise ArgumentError(
            "intervals must have lower ends at most as large as the upper ones; got "
            f"[{intervals[0][at]}, {intervals[1][at]}] at position {at}."
        )
    return intervals


def _rule(interval: Any) -> tuple[tuple[float, float] | None, Ends]:
    if callable(interval):
        return None, interval
    if isinstance(interval, str) and interval in QUANTILES:
        interval = QUANTILES[interval]
    if isinstance(interval, tuple | list) and len(interval) == 2:
        first, second = interval
        if first == "median-radius":
            share = probability(second, "the share of interval=('median-radius', share)")
            return None, lambda losses: _median_radius(losses, share)
        try:
            q = (float(first), float(second))
        except (TypeError, ValueError):
            raise refuse("interval", WORDS, interval) from None
        if 0.0 <= q[0] <= q[1] <= 1.0:
            return q, lambda losses: tuple(np.quantile(losses, q, axis=-1))
    raise refuse("interval", WORDS, interval)


def _median_radius(losses: Floats, share: float) -> tuple[Floats, Floats]:
    """The median and around it the smallest radius that covers that share of the repetitions."""
    median = np.median(losses, axis=-1)
    distances = np.sort(np.abs(losses - median[..., None]), axis=-1)
    # a share such as 0.1 of 30 is 3, whatever the last bit of the product says
    covered = max(int(np.ceil(share * losses.shape[-1] - 1e-9)), 1)
    radius = distances[..., covered - 1]
    return median - radius, median + radius


def _pair(ends: Any, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    try:
        lower, upper = (np.asarray(end, dtype=np.float64) for end in ends)
    except (TypeError, ValueError):
        raise refuse("the result of interval", "a pair of arrays", ends) from None
    for end in (lower, upper):
        if end.shape != shape or not np.isfinite(end).all():
            raise ArgumentError(
                f"interval must return two arrays of finite numbers of shape {shape} (the losses "
                f"without their last axis); got shape {end.shape}."
            )
    return lower, upper


def _ordered(lower: Floats, upper: Floats) -> Floats:
    return np.stack([np.minimum(lower, upper), np.maximum(lower, upper)])


def _range(values: Floats, missing: str, loss_range: tuple[float, float]) -> tuple[float, float]:
    if missing == "refuse":
        at = tuple(int(i) for i in np.argwhere(np.isnan(values))[0])
        raise ArgumentError(
            f"losses must be complete; got a missing one at position {at}: missing='allow' with "
            "loss_range=(lowest, highest) puts the range of the loss in its place."
        )
    try:
        low, high = (float(end) for end in loss_range)
    except (TypeError, ValueError):
        raise refuse("loss_range", "a pair (lowest, highest)", loss_range) from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise refuse("loss_range", "a finite pair (lowest, highest)", loss_range)
    if np.nanmin(values, initial=low) < low or np.nanmax(values, initial=high) > high:
        raise ArgumentError(
            f"loss_range must hold all losses; got ({low:g}, {high:g}) for losses from "
            f"{np.nanmin(values):g} to {np.nanmax(values):g}."
        )
    return low, high
