"""Both tails of a sum of independent draws, one from each block, every value equally likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.rearrange.grid import Placement, Whole

Rows = npt.NDArray[np.intp]
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tails:
    """Probabilities that the sum is at most, or at least, what was asked for.

    Attributes
    ----------
    lower, upper : ndarray of shape (queries,)
        P(S* <= s) and P(S* >= s), both with equality.
    lower_bounds, upper_bounds : ndarray of shape (queries, 2)
        Between which the two lie for the values before they were rounded to the grid; both ends
        are the probability itself where nothing was rounded.
    """

    lower: Floats
    upper: Floats
    lower_bounds: Floats
    upper_bounds: Floats

    def two_sided(self) -> tuple[Floats, Floats]:
        """min(1, 2 min(lower, upper)), and its bounds of shape (queries, 2)."""
        p = np.minimum(2 * np.minimum(self.lower, self.upper), 1.0)
        bounds = np.minimum(2 * np.minimum(self.lower_bounds, self.upper_bounds), 1.0)
        return p, bounds


def sum_tails(placed: Placement, members: Rows, queries: Rows) -> Tails:
    """Tails of the sum of one draw per block from the `members`, at the sums of the `queries`.

    Both are numbers of rows of `placed`. Probabilities are counts over n^blocks where these can
    be counted out, else sums of positive numbers: the relative error stays near 1e-15 times the
    number of blocks, however small the tail. A tail that is not empty is never given as 0.
    """
    table = placed.positions[members]
    floor = table.min(axis=0)
    at = (placed.positions[queries] - floor).sum(axis=1)
    table = table - floor
    moving = table.max(axis=0) > 0
    table = table[:, moving]
    if placed.count == "meet":
        lower, upper = _meet(table, at, placed.slack)
        return Tails(
            lower=lower,
            upper=upper,
            lower_bounds=np.stack([lower, lower], axis=1),
            upper_bounds=np.stack([upper, upper], axis=1),
        )
    below, above = _cumulated(table)
    lower, upper = _at_most(below, at), _at_least(above, at)
    if placed.exact:
        low, high = at, at
    else:
        left = placed.residuals[members]
        # the sum before rounding is its steps plus a remainder within these two
        least, most = left.min(axis=0).sum(), left.max(axis=0).sum()
        own = placed.residuals[queries].sum(axis=1)
        hair = 1e-9 * (1 + placed.positions.shape[1])
        low = np.minimum(np.floor(at + own - most - hair).astype(np.int64), at)
        high = np.maximum(np.ceil(at + own - least + hair).astype(np.int64), at)
    return Tails(
        lower=lower,
        upper=upper,
        lower_bounds=np.stack([_at_most(below, low), _at_most(below, high)], axis=1),
        upper_bounds=np.stack([_at_least(above, high), _at_least(above, low)], axis=1),
    )


def _meet(table: Whole, at: Whole, slack: int) -> tuple[Floats, Floats]:
    """Counts over all arrangements: sums of one half of the blocks looked up in the other's."""
    choices, blocks = table.shape
    first, second = _all_sums(table[:, : blocks // 2]), _all_sums(table[:, blocks // 2 :])
    everything = choices**blocks
    lower, upper = np.empty(at.shape), np.empty(at.shape)
    for i, s in enumerate(at):
        lower[i] = (everything - _pairs_from(first, second, s + slack + 1)) / everything
        upper[i] = _pairs_from(first, second, s - slack) / everything
    return lower, upper


def _pairs_from(first: Whole, second: Whole, least: int) -> int:
    """How many pairs, one of each sorted array, have a sum of at least `least`.

    Thresholds and sums are merged (a stable sort of two runs is a merge), the lowest bit telling
    them apart: the place of a sum less its rank among the sums counts the thresholds it reaches.
    """
    both = np.concatenate([least - first[::-1], second]) << 1
    both[first.size :] |= 1
    both.sort(kind="stable")
    places = np.flatnonzero(both & 1)
    return int(places.sum()) - second.size * (second.size - 1) // 2


def _all_sums(table: Whole) -> Whole:
    sums = np.zeros(1, dtype=np.int64)
    for values in table.T:
        sums = np.add.outer(sums, values).ravel()
    sums.sort()
    return sums


def _cumulated(table: Whole) -> tuple[Floats, Floats]:
    """P(S* <= t) and P(S* >= t) for t = 0, 1, ..., by adding shifted copies, block by block."""
    choices, blocks = table.shape
    reach = table.max(axis=0, initial=0)
    size = int(reach.sum()) + 1
    mass, grown = np.zeros(size), np.empty(size)
    mass[0] = 1.0
    # counts are whole and exact up to 2^53; only where they could overflow are they shares
    shares = blocks * np.log2(choices) > 1000
    filled = 1
    for block in np.argsort(reach, kind="stable"):  # short blocks first, while little is filled
        shifts, repeats = np.unique(table[:, block], return_counts=True)
        wider = filled + int(reach[block])
        np.multiply(mass[:filled], float(repeats[0]), out=grown[:filled])  # the first shift is 0
        grown[filled:wider] = 0.0
        for shift, repeat in zip(shifts[1:].tolist(), repeats[1:].tolist(), strict=True):
            copy = mass[:filled] if repeat == 1 else mass[:filled] * float(repeat)
            grown[shift : shift + filled] += copy
        if shares:
            grown[:wider] /= choices
        mass, grown, filled = grown, mass, wider
    everything = 1.0 if shares else float(choices) ** blocks
    below = np.cumsum(mass) / everything
    above = np.cumsum(mass[::-1])[::-1] / everything
    return np.clip(below, SMALLEST, 1.0), np.clip(above, SMALLEST, 1.0)


def _at_most(below: Floats, at: Whole) -> Floats:
    picked = below[np.clip(at, 0, below.size - 1)]
    return np.where(at < 0, 0.0, np.where(at >= below.size, 1.0, picked))


def _at_least(above: Floats, at: Whole) -> Floats:
    picked = above[np.clip(at, 0, above.size - 1)]
    return np.where(at >= above.size, 0.0, np.where(at < 0, 1.0, picked))
