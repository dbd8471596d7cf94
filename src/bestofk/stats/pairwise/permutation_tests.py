"""Exact permutation test of two learners by sign flips of the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, side
from bestofk._base.formatting import counted
from bestofk.stats.null_distributions.sign_flips import (
    mean_difference,
    scaled_pairs,
    two_sided,
    upper_tail,
)
from bestofk.stats.pairwise.differences import agreeing_interval, paired_losses
from bestofk.stats.pairwise.result import Interval, PairwiseResult, scalar_or_array, tail_level
from bestofk.stats.pairwise.signed_ranks import least_shift

PAIRS_AT_ONCE = 2**13
LOSSES_AT_ONCE = 2**18
MAX_EXACT_INTERVAL = 16
"""Differences up to which the ends of an interval come from the exact tail."""
WIDE = 1.01
"""The note mentions bounds whose ratio exceeds this."""


def permutation(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Permutation test of the mean difference, by sign flips.

    Test the null hypothesis that the two learners are exchangeable on every data set (or instance),
    so that each difference could equally well have the opposite sign (``alternative="greater"``:
    against a greater loss of `a`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets or instances; leading axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is the mean difference; there are no degrees of freedom. The interval contains
        the shifts of `a` that the test does not reject; an end is infinite if n is too
        small for the level. `note` has bounds of the p-value if it is not exact.

    Notes
    -----
    With T = sum d_i and T* = sum e_i d_i over independent signs e_i, the one-sided p-values are
    P(T* >= T) and P(T* <= T), both with equality, and the two-sided one is
    min(1, 2 min(P(T* <= T), P(T* >= T))): never 0, and at least 2 / 2^n. Differences of 0 drop
    out. Sums that agree to within the rounding of the losses are ties.

    Up to 36 differences other than 0 are counted exactly, by looking up the sums of one half in
    those of the other. More are convolved exactly if they are multiples of one unit, such as error
    rates. For any others the transform prod_i cosh(s d_i) of T* is inverted numerically along a
    line near its saddlepoint, for up to millions of differences, in the far tail as well as in the
    middle, within 1 percent of the p-value.

    References
    ----------
    R. A. Fisher (1935). The Design of Experiments. Oliver and Boyd, Edinburgh.

    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009

    Examples
    --------
    >>> r = permutation([1, 2, 3, 4, 2, 1], [3, 4, 5, 6, 2, 4])
    >>> round(r.statistic, 4), r.pvalue
    (-1.8333, 0.0625)
    >>> permutation([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]).pvalue
    1.0
    """
    alternative = side(alternative)
    a, b = paired_losses(a, b, axes=1, shape_text="(data sets,)")
    n = a.shape[-1]
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    parts = [_of_block(x, y, alternative) for x, y in _blocks(a, b)]
    parts = parts or [(np.empty(0), np.empty(0), np.empty((0, 2)))]
    estimate, p, bounds = (np.concatenate(column) for column in zip(*parts, strict=True))
    return PairwiseResult(
        test="permutation",
        statistic=scalar_or_array(estimate.reshape(shape)),
        pvalue=scalar_or_array(p.reshape(shape)),
        df=None,
        estimate=scalar_or_array(estimate.reshape(shape)),
        alternative=alternative,
        note=_note(n, alternative, p, bounds),
        losses=(a, b),
        interval_rule=_interval,
    )


def _blocks(a: Floats, b: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield blocks of pairs as two arrays of losses of shape (pairs, n)."""
    a, b = np.broadcast_arrays(np.atleast_2d(a), np.atleast_2d(b))
    shape = a.shape[:-1]
    pairs = int(np.prod(shape))
    at_once = max(min(PAIRS_AT_ONCE, LOSSES_AT_ONCE // max(a.shape[-1], 1)), 1)
    for start in range(0, pairs, at_once):
        index = np.unravel_index(np.arange(start, min(start + at_once, pairs)), shape)
        yield a[index], b[index]


def _of_block(a: Floats, b: Floats, alternative: Alternative) -> tuple[Floats, Floats, Floats]:
    """Return mean differences, p-values and bounds."""
    estimate = mean_difference(a, b)
    if alternative == "two-sided":
        return (estimate, *two_sided(a, b))
    return (estimate, *(upper_tail(a, b) if alternative == "greater" else upper_tail(b, a)))


def _note(n: int, alternative: Alternative, p: Floats, bounds: Floats) -> str:
    sentences = []
    if n < 6:
        least = (2.0 if alternative == "two-sided" else 1.0) / 2.0**n
        sentences.append(
            f"With {counted(n, 'difference')} the {alternative} p-value cannot fall below "
            f"{min(least, 1.0):g}."
        )
    wide = bounds[:, 1] > WIDE * bounds[:, 0]
    if p.size == 1 and wide.any():
        sentences.append(f"The p-value lies between {bounds[0, 0]:.4g} and {bounds[0, 1]:.4g}.")
    elif wide.any():
        widest = float((bounds[:, 1] - bounds[:, 0]).max())
        sentences.append(f"The p-values are known to within {widest:.2g}.")
    return " ".join(sentences)


def _interval(result: PairwiseResult, level: float) -> Interval:
    """Return the shifts of `a` that the exact test does not reject."""
    alpha = tail_level(level, result.alternative)
    a, b = result.losses
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    lows, highs = [], []
    for x, y in _blocks(a, b):
        lows.append(_least_shift(x, y, alpha))
        highs.append(-_least_shift(y, x, alpha))
    low, high = (np.concatenate(ends or [np.empty(0)]).reshape(shape) for ends in (lows, highs))
    d = a - b
    return agreeing_interval(result, level, low, high, least=d.min(axis=-1), most=d.max(axis=-1))


def _least_shift(a: Floats, b: Floats, alpha: float) -> Floats:
    """Return the smallest delta at which P(T* >= T) of a - delta against b exceeds alpha.

    This tail grows with delta, from 2^-n below the smallest difference to 1 at the largest, so
    bisection finds the step.
    """
    a, b, exponent = scaled_pairs(a, b)
    d = a - b
    n = d.shape[1]
    if 0.5**n > alpha:
        return np.full(len(d), -np.inf)

    def tail(delta: Floats) -> Floats:
        return upper_tail(a - delta[:, None], b)[0]

    ends = _bisect(tail, d, alpha) if n <= MAX_EXACT_INTERVAL else least_shift(d, alpha)
    return np.asarray(np.ldexp(ends, exponent))


def _bisect(tail: Callable[[Floats], Floats], d: Floats, alpha: float) -> Floats:
    """Return where a tail that grows in steps exceeds alpha, to the last bit."""
    low, high = d.min(axis=1), d.max(axis=1)
    low = low - np.maximum(high - low, np.abs(d).max(axis=1)) - 2.0**-20
    for _ in range(64):
        middle = (low + high) / 2
        accepted = tail(middle) > alpha
        high = np.where(accepted, middle, high)
        low = np.where(accepted, low, middle)
    return np.asarray(high)
