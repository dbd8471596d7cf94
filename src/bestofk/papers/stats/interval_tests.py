"""P-values of paired tests for losses that are known up to intervals.

The p-value of a test on intervals is itself an interval: the smallest and the largest p-value over
all losses inside the intervals (equations 3 and 4 of Otero et al. 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, finite_array, one_of, probability, side
from bestofk._base.errors import ArgumentError
from bestofk.decide.interval_decision import TestedIntervals, judged_intervals
from bestofk.losses.losses import Metric
from bestofk.stats.pairwise.paired_tests import sign
from bestofk.stats.pairwise.permutation_tests import permutation
from bestofk.stats.pairwise.signed_ranks import wilcoxon
from bestofk.stats.tails import pvalue_of_t

MAX_VERTICES = 1 << 12
"""Try all corners of the box if there are at most this many."""
MAX_TIED = 8
"""Try ties and zeros of at most this many differences in Wilcoxon's test."""


def interval_test(
    a: Any,
    b: Any,
    *,
    test: str | Callable[..., Any] = "wilcoxon",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    names: tuple[str, str] = ("the first", "the second"),
) -> TestedIntervals:
    """Run a paired test on losses that are known up to intervals.

    Parameters
    ----------
    a, b : array_like, shape (2, n)
        Lower and upper ends of the losses on the same n data sets (or folds). Losses that are
        numbers have equal ends.
    test : {"wilcoxon", "paired-t", "kfold-t", "sign", "permutation"} or callable
        The test, or a function ``test(a, b)`` of two samples that returns a p-value or an object
        with a `pvalue`. Each tail of a function must be monotone in every difference, and a
        two-sided p-value must be 1 where the test favours neither side.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    alpha : float
        Level of the verdicts.
    names : (str, str)
        Names of both learners in sentences.

    Returns
    -------
    TestedIntervals
        Of one pair; `pvalues` are the smallest and the largest p-value, of shape (1, 2).

    Notes
    -----
    The tests depend on the differences, which lie in a box. The tails of the sign test, of
    Wilcoxon's test and of the permutation test are monotone in every difference, so they are
    extreme at the two corners with all lower and all upper ends. The two-sided p-value
    reaches 1 if the corners are on different sides. Ties and zeros inside the box change the null
    distribution of Wilcoxon's exact test, so its p-value there can lie beyond both corners. Up to
    8 differences, single ones are moved to zeros, ties and other ranks as long as that changes the
    p-value; all p-values found are attained. With more differences only the corners are tried.

    The t statistic increases with c, the sum of the differences divided by their norm. For a
    given sum, the norm is smallest if the differences are equal as far as the box permits. So the
    largest c is found on a curve, piece by piece in closed form. If all sums are positive, the
    smallest c is at a corner of the box: all corners are tried up to 12 intervals, else the
    corners with the intervals of the largest middles at the upper end, improved by moving single
    differences.

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009

    Examples
    --------
    >>> a = [[0.30, 0.25, 0.28, 0.31, 0.35, 0.27], [0.32, 0.29, 0.30, 0.31, 0.39, 0.27]]
    >>> b = [[0.20, 0.26, 0.21, 0.25, 0.22, 0.20]] * 2
    >>> r = interval_test(a, b, test="wilcoxon")
    >>> r.pvalues.tolist(), r.verdicts
    ([[0.03125, 0.0625]], ('inconclusive',))
    """
    p, estimates = interval_pvalues(a, b, test=test, alternative=alternative)
    return judged_intervals(
        test if isinstance(test, str) else getattr(test, "__name__", type(test).__name__),
        ((str(names[0]), str(names[1])),),
        p.reshape(1, 2),
        estimates.reshape(1, 2),
        correction="none",
        alpha=probability(alpha, "alpha"),
        metric=Metric(),
    )


def interval_pvalues(
    a: Any, b: Any, *, test: str | Callable[..., Any], alternative: str = "two-sided"
) -> tuple[Floats, Floats]:
    """Return [p-, p+] and the smallest and largest mean difference (..., 2) of many pairs.

    `a` and `b` have the shape (2, ..., n) and broadcast.
    """
    if callable(test):
        find: Callable[..., Floats] = partial(_corner_ends, function=_by_row(test))
    else:
        find = _ENDS[one_of(test, "test", INTERVAL_TESTS)]
    sides = side(alternative)
    (a_low, a_high), (b_low, b_high) = _ends(a, "a"), _ends(b, "b")
    low, high = np.broadcast_arrays(a_low - b_high, a_high - b_low)
    if low.shape[-1] < 2:
        raise ArgumentError(f"a must contain at least 2 intervals; got {low.shape[-1]}.")
    estimates = np.stack([low.mean(axis=-1), high.mean(axis=-1)], axis=-1)
    return find(low, high, sides), estimates


def _ends(value: Any, where: str) -> tuple[Floats, Floats]:
    array = finite_array(value, where, min_ndim=2)
    if len(array) != 2:
        raise ArgumentError(
            f"{where} must have the shape (2, ..., n): lower and upper ends; got {array.shape}."
        )
    if (array[0] > array[1]).any():
        raise ArgumentError(f"{where} must not have lower ends above the upper ones.")
    return array[0], array[1]


def _corner_ends(low: Floats, high: Floats, alternative: Any, *, function: Any) -> Floats:
    """Return [p-, p+] of a test whose tails are monotone in every difference."""
    both = np.stack([low, high])
    result = function(both, np.zeros_like(both), alternative=alternative)
    p = np.asarray(result.pvalue, dtype=np.float64)
    largest = p.max(axis=0)
    if alternative == "two-sided":
        favoured = getattr(result, "direction", None)
        direction = both.mean(axis=-1) if favoured is None else np.asarray(favoured)
        largest = np.where((direction[0] <= 0) & (direction[1] >= 0), 1.0, largest)
    return np.stack([p.min(axis=0), largest], axis=-1)


def _wilcoxon_ends(low: Floats, high: Floats, alternative: Any) -> Floats:
    """Return [p-, p+] of Wilcoxon's test, with ties and zeros inside the boxes."""
    ends = _corner_ends(low, high, alternative, function=wilcoxon)
    n = low.shape[-1]
    if n > MAX_TIED:
        return ends
    boxes = zip(ends.reshape(-1, 2), low.reshape(-1, n), high.reshape(-1, n), strict=True)
    for p, least, most in boxes:
        if (most > least).any():
            sought = (_moved(least, most, alternative, sign) for sign in (-1, 1))
            p[:] = np.minimum(p[0], -next(sought)), np.maximum(p[1], next(sought))
    return ends


def _moved(low: Floats, high: Floats, alternative: Any, sign: int) -> float:
    """Return the largest `sign` times p that moves of single differences find in one box."""
    cuts = np.unique(np.abs(np.concatenate([low, high, [0.0]])))
    sizes = np.concatenate([cuts, (cuts[1:] + cuts[:-1]) / 2])
    values = np.unique(np.concatenate([sizes, -sizes]))
    place, value = np.nonzero((values >= low[:, None]) & (values <= high[:, None]))
    best = -np.inf
    for corner in (low, high):
        d, reached = corner, -np.inf
        while True:
            moved = np.tile(d, (len(place), 1))
            moved[np.arange(len(place)), place] = values[value]
            p = sign * _signed_ranks(moved, alternative)
            if p.max() <= reached + 1e-12:
                break
            d, reached = moved[int(p.argmax())], float(p.max())
        best = max(best, reached)
    return best


def _signed_ranks(d: Floats, alternative: Any) -> Floats:
    """Return exact p-values of Wilcoxon's test over the last axis, from all 2^n signs."""
    size = np.abs(d)
    below = (size[..., None, :] < size[..., None]) & (size > 0)[..., None, :]
    tied = size[..., None, :] == size[..., None]
    ranks = np.where(size > 0, below.sum(axis=-1) + (tied.sum(axis=-1) + 1) / 2, 0.0)
    signs = (np.arange(2 ** d.shape[-1]) >> np.arange(d.shape[-1])[:, None]) & 1
    null = ranks @ signs.astype(np.float64)
    sums = (ranks * (d > 0)).sum(axis=-1)[..., None]
    tails = {"greater": (null >= sums).mean(axis=-1), "less": (null <= sums).mean(axis=-1)}
    both = np.minimum(2 * np.minimum(*tails.values()), 1.0)
    return np.asarray(tails.get(alternative, both))


def _by_row(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of samples (..., n) that calls a function of two samples for each row."""

    def by_row(a: Floats, b: Floats, alternative: str) -> Any:
        more = {} if alternative == "two-sided" else {"alternative": alternative}
        rows = np.ndindex(a.shape[:-1])
        results = (function(a[row], b[row], **more) for row in rows)
        p = [float(getattr(result, "pvalue", result)) for result in results]
        return SimpleNamespace(pvalue=np.reshape(p, a.shape[:-1]))

    return by_row


def _t_ends(low: Floats, high: Floats, alternative: Any) -> Floats:
    """Return [p-, p+] of the paired t test."""
    n = low.shape[-1]
    boxes = low.reshape(-1, n), high.reshape(-1, n)
    largest, smallest = _largest_cosine(*boxes), -_largest_cosine(-boxes[1], -boxes[0])
    cosines = np.stack([smallest, largest])
    rest = n - cosines**2
    # differences that are all equal: an infinite statistic
    t = np.where(
        rest <= 1e-12 * n,
        np.copysign(np.inf, cosines),
        cosines * np.sqrt((n - 1) / np.where(rest > 0, rest, 1.0)),
    )
    p = np.asarray(pvalue_of_t(t, float(n - 1), alternative), dtype=np.float64)
    # differences that all vanish are no evidence
    p = np.where(np.isnan(cosines), 1.0, p)
    most, least = p.max(axis=0), p.min(axis=0)
    if alternative == "two-sided":
        straddles = (boxes[0].sum(axis=1) <= 0) & (boxes[1].sum(axis=1) >= 0)
        most = np.where(straddles, 1.0, most)
    return np.stack([least, most], axis=-1).reshape(*low.shape[:-1], 2)


def _cosine(d: Floats) -> Floats:
    """Return the sum divided by the norm, over the last axis; -inf if all vanish."""
    norm = np.sqrt(np.square(d).sum(axis=-1))
    return np.where(norm > 0, d.sum(axis=-1) / np.where(norm > 0, norm, 1.0), -np.inf)


def _largest_cosine(low: Floats, high: Floats) -> Floats:
    """Return the largest sum / norm in each box (boxes, n); NaN if the box is the origin."""
    largest = np.full(len(low), np.nan)
    positive = high.sum(axis=1) > 0
    for box in np.flatnonzero(positive):
        largest[box] = _on_curve(low[box], high[box])
    # all sums are negative or 0: the cosine is quasi-convex, and largest at a corner
    for box in np.flatnonzero(~positive & (np.abs(low) + np.abs(high)).any(axis=1)):
        largest[box] = _at_corners(low[box], high[box])
    return largest


def _on_curve(low: Floats, high: Floats) -> float:
    """Return the largest cosine of ``clip(m, low, high)`` over all m."""
    cuts = np.unique(np.concatenate([low, high]))
    middles = np.concatenate([[cuts[0] - 1], (cuts[1:] + cuts[:-1]) / 2, [cuts[-1] + 1]])
    fixed = np.where(
        middles[:, None] <= low, low, np.where(middles[:, None] >= high, high, 0.0)
    )  # fmt: skip
    # between two cuts, (A + k m) / sqrt(B + k m^2) is stationary at m = B / A
    sums, squares = fixed.sum(axis=1), np.square(fixed).sum(axis=1)
    stationary = np.divide(squares, sums, out=middles.copy(), where=sums != 0)
    left, right = np.append(-np.inf, cuts), np.append(cuts, np.inf)
    candidates = np.concatenate([cuts, np.clip(stationary, left, right)])
    return float(_cosine(np.clip(candidates[:, None], low, high)).max())


def _at_corners(low: Floats, high: Floats) -> float:
    """Return the largest cosine at a corner of a box."""
    wide = np.flatnonzero(high > low)
    few = 2 ** len(wide) <= MAX_VERTICES
    if few:
        at_high = ((np.arange(2 ** len(wide))[:, None] >> np.arange(len(wide))) & 1) > 0
    else:
        rank = np.argsort(np.argsort(low[wide] + high[wide], kind="stable"))
        at_high = rank[None, :] >= np.arange(len(wide) + 1)[:, None]
        at_high = np.concatenate([at_high, ~at_high])
    corners = np.tile(low, (len(at_high), 1))
    corners[:, wide] = np.where(at_high, high[wide], low[wide])
    best = corners[int(np.argmax(_cosine(corners)))]
    if few:
        return float(_cosine(best))
    while True:
        moved = np.tile(best, (len(wide), 1))
        rows = np.arange(len(wide))
        moved[rows, wide] = np.where(best[wide] == low[wide], high[wide], low[wide])
        cosines = _cosine(moved)
        if cosines.max() <= float(_cosine(best)) + 1e-15:
            return float(_cosine(best))
        best = moved[int(np.argmax(cosines))]


_ENDS: dict[str, Callable[[Floats, Floats, Any], Floats]] = {
    "paired-t": _t_ends,
    "kfold-t": _t_ends,
    "wilcoxon": _wilcoxon_ends,
    "sign": partial(_corner_ends, function=sign),
    "permutation": partial(_corner_ends, function=permutation),
}
"""The function that finds [p-, p+] from the lower and upper ends of the differences."""
INTERVAL_TESTS = tuple(_ENDS)
