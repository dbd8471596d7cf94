"""Differences between the losses of two learners, computed in blocks of pairs.

All pairs of K learners have K * K * (trailing size) differences; only one block of them exists
at a time. Within a block the trailing axes come first, so that the pairs are contiguous. Each
block comes with the rounding error of its differences.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, at_least_zero, finite_array, positive, refuse, side, whole
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.result import Interval, PairwiseResult, one_sided

NUMBERS_PER_BLOCK = 1 << 17
"""Differences per block (or one slice of the longest leading axis, if that is more)."""
ZERO_MARGIN = 1e-9
"""Distance from 0 of an end that excludes 0, relative to the largest difference."""

_SQUARED_ROUNDING = (8.0 * np.finfo(np.float64).eps) ** 2


def paired_losses(
    a: Any,
    b: Any,
    *,
    axes: int,
    trailing: tuple[int, ...] | None = None,
    names: tuple[str, str] = ("a", "b"),
    shape_text: str = "",
    at_least: int = 1,
) -> tuple[Floats, Floats]:
    """Return both inputs as finite arrays with equal trailing axes and matching leading axes.

    The last axis has at least `at_least` losses.
    """
    first, second = (
        finite_array(value, name, min_ndim=axes) for value, name in zip((a, b), names, strict=True)
    )
    expected = first.shape[-axes:] if trailing is None else trailing
    if 0 in expected:
        raise ArgumentError(
            f"{names[0]} must hold at least one loss on its last {axes} axes; "
            f"got an array of shape {first.shape}."
        )
    shape_text = shape_text or ("(runs, folds)" if axes == 2 else "(n,)")
    for array, name in zip((first, second), names, strict=True):
        if array.shape[-axes:] != expected:
            raise ArgumentError(
                f"{name} must have the trailing axes {shape_text} = {expected}; "
                f"got an array of shape {array.shape}."
            )
    try:
        np.broadcast_shapes(first.shape[:-axes], second.shape[:-axes])
    except ValueError:
        raise ArgumentError(
            f"{names[0]} and {names[1]} must have leading axes that broadcast; "
            f"got shapes {first.shape} and {second.shape}."
        ) from None
    if expected[-1] < at_least:
        raise ArgumentError(
            f"{names[0]} must contain at least {at_least} differences; got {expected[-1]}."
        )
    refuse_extreme_losses(first, second)
    return first, second


def _front(array: Floats, axes: int, n_leading: int) -> Floats:
    """Move the trailing axes to the front, followed by exactly `n_leading` leading axes."""
    lead, trail = array.shape[:-axes], array.shape[-axes:]
    padded = array.reshape((1,) * (n_leading - len(lead)) + lead + trail)
    return np.ascontiguousarray(np.moveaxis(padded, range(-axes, 0), range(axes)))


def over_pairs(
    a: Floats,
    b: Floats,
    kernel: Callable[[Floats, Floats], Sequence[Any]],
    *,
    axes: int,
    outputs: int,
    each: bool = False,
) -> tuple[Floats, ...]:
    """Apply `kernel` to all pairs that the leading axes of `a` and `b` broadcast to.

    Parameters
    ----------
    a, b : ndarray
        Shapes (..., trailing axes).
    kernel : callable
        ``kernel(d, noise)``: `d` of shape (trailing axes, block) holds the differences;
        `noise` of shape (trailing axes without the last, block) is the mean square of their
        rounding error. It returns arrays of the shape of the block.
    axes : int
        Number of trailing axes.
    outputs : int
        Number of arrays that the kernel returns.
    each : bool
        Give `noise` for each difference, of the shape of `d`, because the losses of data sets may
        differ in scale.

    Returns
    -------
    tuple of ndarray
        Arrays of the broadcast leading shape.
    """
    shape = np.broadcast_shapes(a.shape[:-axes], b.shape[:-axes])
    fa, fb = (_front(x, axes, len(shape)) for x in (a, b))
    # the (mean) squares of the losses determine the size of the rounding error
    with np.errstate(under="ignore"):
        if each:
            qa, qb = (_SQUARED_ROUNDING * np.square(f) for f in (fa, fb))
        else:
            # sum over the last trailing axis without allocating an array of squares
            other = "a" * (axes - 1)
            sums = (np.einsum(f"{other}n...,{other}n...->{other}...", f, f) for f in (fa, fb))
            qa, qb = (_SQUARED_ROUNDING / fa.shape[axes - 1] * total for total in sums)
    noise_axes = axes if each else axes - 1
    results = tuple(np.empty(shape) for _ in range(outputs))
    if 0 in shape:
        return results
    for index in blocks_of(shape, per_pair=int(np.prod(fa.shape[:axes]))):
        d = fa[_pick(fa, axes, index)] - fb[_pick(fb, axes, index)]
        noise = qa[_pick(qa, noise_axes, index)] + qb[_pick(qb, noise_axes, index)]
        for result, part in zip(results, kernel(d, noise), strict=True):
            result[index] = part
    return results


def over_blocks(
    a: Floats, b: Floats, moments: Callable[[Floats, Floats], Sequence[Floats]]
) -> tuple[Floats, ...]:
    """Apply `moments` to the differences (..., n), some pairs at a time.

    `moments` also receives the rounding error of the differences of each pair.
    """
    rounding = (1e-12 * np.maximum(x.max(axis=-1), -x.min(axis=-1)) for x in (a, b))
    noise = np.maximum(*rounding)
    lead, n = noise.shape, a.shape[-1]
    step = max(1, NUMBERS_PER_BLOCK // n)
    if noise.size <= step:
        return tuple(moments(a - b, noise))
    a, b = (np.broadcast_to(x, (*lead, n)) for x in (a, b))
    buffer = np.empty((step, n))
    parts = []
    for start in range(0, noise.size, step):
        d = buffer[: noise.size - start]
        # a single pair needs no copies of its losses
        pairs = start if step == 1 else np.arange(start, start + len(d))
        at = np.unravel_index(pairs, lead)
        np.subtract(a[at], b[at], out=d)
        parts.append(moments(d, noise.reshape(-1)[start : start + len(d)]))
    columns = zip(*parts, strict=True)
    return tuple(np.concatenate(column).reshape(lead) for column in columns)


def refuse_extreme_losses(*losses: Floats) -> None:
    """Raise an error if squares of the losses would over- or underflow."""
    largest = max(float(np.max(np.abs(one), initial=0.0)) for one in losses)
    if largest != 0.0 and not 1e-100 < largest < 1e100:
        raise ArgumentError(
            f"losses must be between 1e-100 and 1e100 in size; the largest is {largest:.2g}: give "
            "them in another unit."
        )


def _pick(array: Floats, axes: int, index: tuple[slice, ...]) -> tuple[slice, ...]:
    """Return the block's slice of an array whose leading axes may have length 1."""
    sizes = array.shape[axes:]
    leading = (slice(None) if n == 1 else part for n, part in zip(sizes, index, strict=True))
    return (slice(None),) * axes + tuple(leading)


def blocks_of(shape: tuple[int, ...], *, per_pair: int) -> list[tuple[slice, ...]]:
    """Return slices that cut the longest axis into blocks of about `NUMBERS_PER_BLOCK` numbers."""
    if not shape:
        return [()]
    longest = int(np.argmax(shape))
    across = max(1, int(np.prod(shape)) // max(shape[longest], 1)) * per_pair
    step = max(1, NUMBERS_PER_BLOCK // across)
    whole = [slice(None)] * len(shape)
    blocks = []
    for start in range(0, shape[longest], step):
        part = list(whole)
        part[longest] = slice(start, start + step)
        blocks.append(tuple(part))
    return blocks


def ratio(numerator: Floats, denominator: Floats) -> tuple[Floats, Any]:
    """Return `numerator / denominator` and a mask of 0/0, which gives 0; x/0 gives +-inf."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        value = np.asarray(numerator / denominator)
    empty = denominator == 0
    if np.any(empty):
        empty = empty & (numerator == 0)
        value = np.where(empty, 0.0, value)
    return value, empty


def without_noise(mean: Floats, variance: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance after setting a variance that is only rounding error to 0.

    0.3 - 0.2 and 0.4 - 0.3 differ by 1e-17. A constant difference must not give a huge statistic,
    and the rounding error of equal learners must not count as a difference.
    """
    flat = variance <= noise
    if np.any(flat):
        variance = np.where(flat, 0.0, variance)
        mean = np.where(flat & (mean * mean <= noise), 0.0, mean)
    return mean, variance


def moments_of(d: Floats, noise: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean and unbiased variance along the first axis, without noise, and d - mean."""
    mean = d.mean(axis=0)
    centred = d - mean
    return *without_noise(mean, np.square(centred).sum(axis=0) / (len(d) - 1), noise), centred


def widening(factor: float) -> float:
    """Return a factor of the standard error, which must be at least 1.

    Test and interval use the same standard error, so they agree for every factor.
    """
    if not 1.0 <= positive(factor, "widened") < np.inf:
        raise refuse("widened", "a number of at least 1", factor)
    return float(factor)


def agreeing_interval(
    result: PairwiseResult, level: float, low: Any, high: Any, *, least: Any, most: Any
) -> Interval:
    """Move the ends of an interval so that it excludes 0 if and only if p is at most 1 - level.

    The null distribution of a test of signs or ranks accounts for ties and zeros; the ends of its
    interval are order statistics, which do not. If the two disagree about 0, the test decides: the
    one-sided test of "at most 0" either excludes 0 and everything below, or does not exclude 0.

    - `result`: With `pvalue`, `direction` and `alternative`.
    - `level`: Coverage.
    - `low`, `high`: The ends before the move.
    - `least`, `most`: The smallest and the largest difference.
    - Returns: A moved end is 0, or just beside 0 if 0 is excluded. If an end would pass the other
      one, only the side is known, and the other end is the furthest difference on that side.

    Examples
    --------
    The sign test drops the ten differences of 0 and rejects because of the six of 1 (p = 0.031).
    The fourth smallest and the fourth largest of all sixteen are 0 and 1:

    >>> from bestofk.stats.pairwise import sign
    >>> low, high = sign([0] * 10 + [1] * 6, [0] * 16).confidence_interval(0.95)
    >>> low, high
    (1e-09, 1.0)
    """
    direction = np.asarray(result.estimate if result.direction is None else result.direction)
    rejected = np.asarray(result.pvalue) <= 1.0 - level
    # a margin of the smallest differences must not underflow to 0
    margin = ZERO_MARGIN * np.maximum(np.abs(least), np.abs(most))
    margin = np.maximum(margin, np.nextafter(0.0, 1.0))
    sides = result.alternative
    low, high = np.asarray(low), np.asarray(high)
    if sides != "less":
        above = rejected & (True if sides == "greater" else direction > 0)
        low = np.where(above, np.maximum(low, margin), np.minimum(low, 0.0))
        high = np.where(above & (high < low), most, high)
    if sides != "greater":
        below = rejected & (True if sides == "less" else direction < 0)
        high = np.where(below, np.minimum(high, -margin), np.maximum(high, 0.0))
        low = np.where(below & (low > high), least, low)
    return one_sided(low, high, sides)


# Discrete losses: their resolution, and the smallest p-values of discrete tests
#
# The resolution is the step between two losses. An error rate on n rows is a multiple of 1/n. If
# three folds of ten rows happen to differ by the same 0.1, the variance of the differences is 0 and
# a t statistic is infinite by chance alone: this happens in 60 of 100 studies of ten equal
# learners. A test with a resolution r bounds the variance from below by what one instance of each
# of the two learners contributes in one fold; for n differences of folds that is 2 r^2 / n.

INSTANCES = 2.0
"""Instances behind the smallest variance: one of each learner, in the same fold.

Chosen by simulation (``python benchmarks/coarse_losses.py``) of the uncorrected t test on 4 or 5
folds: with one instance, equal learners differ in 6.4 percent of the studies; with two, in at most
5.5 percent.
"""
FINEST = 2.0**-24
"""Ignore steps below this share of the largest loss."""
MAX_DECIMALS = 6
MAX_DISTINCT, MAX_STEPS = 200, 5_000
_FIRST_SIZES = 1_000
SMALLEST = sys.float_info.min
"""Replaces positive probabilities that underflow."""
EXACT_BELOW = 25
"""With fewer disagreements, McNemar's test with ``exact="auto"`` is exact, and `cluster_t` rejects
only if the exact test of the signs of whole clusters rejects."""


def resolution_of(values: Any) -> float:
    """Return the step of which all losses of a table are multiples.

    Parameters
    ----------
    values : array_like
        Losses; with several axes, the learners are on the first one. Missing losses (NaN) are
        ignored.

    Returns
    -------
    float
        0.0 if there is no such step, or if all losses are equal.

    Notes
    -----
    Losses count as multiples to within floating-point rounding. Losses that were rounded to
    decimals are multiples of 0.1, 0.01, ... If they are also, to within that rounding, multiples
    of a larger number, and this can hardly be chance, that number is their step: 0.0333, 0.1333,
    0.0667, 0.2 and 0.1 are multiples of 1/30.

    The only common step of folds of 10 and 11 rows is 1/110. If the losses within every fold have
    a step more than three times that of the table, the smallest of those steps is returned.

    Examples
    --------
    >>> round(resolution_of([[0.3, 0.5, 0.1], [0.25, 0.5, 0.4]]), 12)
    0.05
    >>> round(resolution_of([[0.321, 0.5, 0.118], [0.25, 0.5, 0.407]]), 12)
    0.001
    >>> resolution_of([0.2 ** 0.5, 0.3 ** 0.5, 0.7 ** 0.5]), resolution_of([0.25, 0.25])
    (0.0, 0.0)
    """
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("values", "an array of numbers", values) from None
    known = finite_array(table[~np.isnan(table)], "values")
    if known.size == 0 or known.min() == known.max():
        return 0.0
    step = _decimal_step(known)
    if table.ndim < 2:
        return step
    smallest = np.inf
    for fold in np.moveaxis(table, 0, -1).reshape(-1, len(table)):
        losses = fold[~np.isnan(fold)]
        if losses.size and losses.min() < losses.max():
            smallest = min(smallest, _step(np.unique(np.abs(losses))))
            if smallest <= 3.0 * step:
                # no other fold can increase the minimum
                return step
    return smallest if smallest < np.inf else step


def _step(sizes: Floats) -> float:
    """Return the largest number of which all ascending sizes are multiples, or 0.0."""
    from bestofk.stats.null_distributions.sums import NOISE, common_unit

    noise = NOISE * float(sizes[-1])
    step = common_unit(sizes[sizes > 4 * noise], smallest=FINEST * float(sizes[-1]), noise=noise)
    return step or 0.0


def _decimal_step(values: Floats) -> float:
    """Return the largest step of values that may have been rounded to decimals, or 0.0."""
    from bestofk.stats.null_distributions.sums import NOISE

    sizes = np.abs(values)
    some = np.append(sizes[: _FIRST_SIZES - 1], sizes.max())
    if sizes.size > _FIRST_SIZES and not _step(np.unique(some)):
        # some of the losses have no step, so sorting all of them is not needed
        return 0.0
    sizes = np.unique(sizes)
    step = _step(sizes)
    noise = NOISE * float(sizes[-1])
    for decimals in range(1, MAX_DECIMALS + 1 if step else 0):
        rounding = 10.0**-decimals
        if np.abs(sizes - rounding * np.rint(sizes / rounding)).max() <= 4 * noise:
            return max(step, _rounded_step(sizes, rounding))
    return step


def _rounded_step(sizes: Floats, rounding: float) -> float:
    """Return the largest step that fits numbers rounded to multiples of `rounding`, or 0.0.

    The largest number is q steps for some q. A step does not count if chance alone would fit as
    many numbers in more than 1 of 1,000 searches.
    """
    sizes = sizes[:: -(-sizes.size // MAX_DISTINCT)]
    largest = float(sizes[-1])
    # every number is nearly a multiple of a step below ten times the rounding
    counts = np.arange(1.0, min(largest / (10.0 * rounding), MAX_STEPS) + 0.5)
    if counts.size == 0:
        return 0.0
    steps = largest / counts
    multiples = np.rint(sizes[:, None] / steps)
    # refine by least squares, because the largest number is rounded too
    steps = (sizes[:, None] * multiples).sum(axis=0) / np.square(multiples).sum(axis=0)
    off = np.abs(sizes[:, None] - steps * multiples).max(axis=0)
    chance = counts.size * np.minimum(1.0, 2.0 * rounding / steps) ** (sizes.size - 1)
    fits = (off <= rounding) & (chance < 1e-3)
    return float(steps[fits].max()) if fits.any() else 0.0


def resolution_step(resolution: Any) -> float:
    """Return the resolution as a finite number of at least 0; 0.0 for None."""
    if resolution is None:
        return 0.0
    return at_least_zero(resolution, "resolution", "a number of at least 0, or None")


def least_variance(step: float, n: int) -> float:
    """Return the lower bound of the variance of n differences with this resolution."""
    return INSTANCES * step * step / n


# Smallest p-values of discrete tests


def smallest_pvalue(n: int, alternative: str = "two-sided") -> float:
    """Return the smallest p-value of a test that depends only on the signs of n units.

    This applies to the sign test, Wilcoxon's signed rank test, the permutation test by sign flips
    and McNemar's exact test. Under the null hypothesis all 2^n patterns of signs are equally
    likely, and at best only the observed one is as extreme.

    Parameters
    ----------
    n : int
        Number of data sets or instances.
    alternative : {"two-sided", "greater", "less"}
        Two-sided p-values are twice the smaller tail.

    Returns
    -------
    float
        min(1, 2 / 2^n), or 1 / 2^n one-sided; never 0.

    Examples
    --------
    >>> smallest_pvalue(7), smallest_pvalue(7, "greater"), smallest_pvalue(0)
    (0.015625, 0.0078125, 1.0)
    >>> smallest_pvalue(100_000) > 0
    True
    """
    n = whole(n, "n", at_least=0)
    exponent = n - 1 if side(alternative) == "two-sided" else n
    return max(0.5 ** min(max(exponent, 0), 1100), SMALLEST)


def smallest_mcnemar_pvalue(n: int, exact: bool | str = "auto") -> float:
    """Return the smallest two-sided p-value of McNemar's test on n instances.

    Examples
    --------
    >>> smallest_mcnemar_pvalue(7) == smallest_pvalue(7)
    True
    >>> round(smallest_mcnemar_pvalue(7, exact=False), 5), smallest_mcnemar_pvalue(1, exact=False)
    (0.02334, 1.0)
    """
    from bestofk.stats.tails import chi2_sf

    n = whole(n, "n", at_least=0)
    if exact is True:
        return smallest_pvalue(n)
    chi_squared = max(float(chi2_sf((n - 1) ** 2 / n, 1.0)), SMALLEST) if n > 1 else 1.0
    if exact is False:
        return chi_squared
    of_signs = smallest_pvalue(min(n, EXACT_BELOW - 1))
    return of_signs if n < EXACT_BELOW else min(of_signs, chi_squared)


def smallest_cluster_pvalue(n: int) -> float:
    """Return the smallest two-sided p-value of `cluster_t` on n clusters.

    Examples
    --------
    >>> smallest_cluster_pvalue(6), smallest_cluster_pvalue(25)
    (0.03125, 0.0)
    """
    return smallest_pvalue(n) if n < EXACT_BELOW else 0.0


def never_zero(p: Any) -> Any:
    """Replace probabilities that underflow to 0 by the smallest positive number.

    Examples
    --------
    >>> float(never_zero(0.0)) > 0, float(never_zero(0.3))
    (True, 0.3)
    """
    return np.maximum(p, SMALLEST)
