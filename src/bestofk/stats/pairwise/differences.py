"""Differences between the losses of two learners, computed in blocks of pairs.

All pairs of K learners have K * K * (trailing size) differences; only one block of them exists
at a time. Within a block the trailing axes come first, so that the pairs are contiguous. Each
block comes with the rounding error of its differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, finite_array, positive, refuse
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
    powers: tuple[int, ...],
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
        rounding error. It returns arrays of the shape of the block, one for each of `powers`.
    axes : int
        Number of trailing axes.
    powers : tuple of {0, 1}
        For each array that the kernel returns, its power of the unit of the losses: 0 for a pure
        number. If squares of the losses would over- or underflow, the kernel receives them in
        another unit; see `loss_unit`.
    each : bool
        Give `noise` for each difference, of the shape of `d`, because the losses of data sets may
        differ in scale.

    Returns
    -------
    tuple of ndarray
        Arrays of the broadcast leading shape.
    """
    shape = np.broadcast_shapes(a.shape[:-axes], b.shape[:-axes])
    unit = loss_unit(a, b)
    fa, fb = (_front(x if unit == 1.0 else x / unit, axes, len(shape)) for x in (a, b))
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
    results = tuple(np.empty(shape) for _ in powers)
    if 0 in shape:
        return results
    for index in blocks_of(shape, per_pair=int(np.prod(fa.shape[:axes]))):
        d = fa[_pick(fa, axes, index)] - fb[_pick(fb, axes, index)]
        noise = qa[_pick(qa, noise_axes, index)] + qb[_pick(qb, noise_axes, index)]
        for result, part, power in zip(results, kernel(d, noise), powers, strict=True):
            result[index] = part if unit == 1.0 else part * unit**power
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


def loss_unit(a: Floats, b: Floats) -> float:
    """Return 1, or a power of two near the largest loss if squares would over- or underflow.

    Examples
    --------
    >>> loss_unit(np.array([0.3]), np.array([0.2]))
    1.0
    >>> loss_unit(np.array([0.0]), np.array([3e-200])) == 2.0**-663
    True
    """
    largest = max(float(np.max(np.abs(x), initial=0.0)) for x in (a, b))
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return 1.0
    return float(2.0 ** int(np.floor(np.log2(largest))))


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
