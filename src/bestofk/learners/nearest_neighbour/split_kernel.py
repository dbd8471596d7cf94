"""What a search among neighbours needs of one split: estimates, bounds, and who trains.

The distance of two rows in a split is the sum of r_j c_j over the columns: c_j is the term of
column j under reference scales and r_j the squared ratio of the divisors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour.bits_kernel import serves
from bestofk.learners.nearest_neighbour.filter_kernel import choose_columns, fill_blocks
from bestofk.learners.nearest_neighbour.list_kernel import SLACK, TINY, fill_terms
from bestofk.learners.nearest_neighbour.order_kernel import transpose_bits


class SplitScales(NamedTuple):
    """The scales of every split, beside those of the reference."""

    cardinality: Any
    """(d,): 0 for a numeric column."""
    divisor: Any
    """(1, d), of the reference."""
    low: Any
    """(splits, d), from `column_scales`, as the next two."""
    high: Any
    divisors: Any
    ratio: Any
    """(splits, padded d), single precision: r_j."""
    least_ratio: Any
    """(splits,): a lower bound of r_j over the columns that are not constant there."""
    estimable: Any
    """(splits,): single precision has the range for r_j."""
    constant_first: Any
    """(splits + 1,): where the columns start that are constant there but not in the reference."""
    constant_columns: Any
    least: Any
    """(padded d,), single precision: the smallest r_j of any split."""
    most: Any
    """(padded d,), single precision: the largest r_j of any split."""
    floor: float
    """The least ratio of all splits and columns."""
    excess: Any
    """(d,): the mean over the splits of r_j less the least ratio."""
    copies: Any
    """(n,): equal for rows with equal values, which are tied wherever both train."""


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def estimate(ratio, s, terms, t):  # type: ignore[no-untyped-def]
    """The distance of neighbour `t` in split `s`, in single precision."""
    total = np.float32(0.0)
    for j in range(ratio.shape[1]):
        total += ratio[s, j] * terms[t, j]
    return total


@njit(cache=True, nogil=True)
def split_of(planes, by_fold, folds, i, w, b):  # type: ignore[no-untyped-def]
    """The split of bit `b` of word `w`; of a run, the one that tests row `i`."""
    s = 64 * w + b
    if not by_fold:
        return s
    fold = np.int64(0)
    for p in range(planes.shape[2]):
        fold |= np.int64((planes[i, w, p] >> np.uint64(b)) & np.uint64(1)) << p
    return s * folds + fold


@njit(cache=True, nogil=True)
def fill_weights(weights, least, ratio, s, chosen, parts):  # type: ignore[no-untyped-def]
    """What the parts of a bound are multiplied by in split `s`."""
    weights[0] = least
    for m in range(parts):
        weights[m + 1] = max(ratio[s, chosen[m]] - np.float32(least), np.float32(0.0))


@njit(cache=True, nogil=True, error_model="numpy")
def constant_terms(values, i, low, divisor, s, columns, first, stop):  # type: ignore[no-untyped-def]
    """The terms of the columns that are constant in split `s` but not in the reference."""
    total = 0.0
    for c in range(first, stop):
        j = columns[c]
        if not np.isnan(values[i, j]):
            difference = (values[i, j] - low[s, j]) / divisor[0, j]
            total += difference * difference
    return total * (1.0 + SLACK) + TINY


@njit(cache=True, nogil=True)
def start_list(values, columns, i, count, weight, scales, near):  # type: ignore[no-untyped-def]
    """What a search needs of the first `count` neighbours, at most 64, of row `i`."""
    cardinality = scales.cardinality
    for tile in range(near.filled.size):
        near.filled[tile] = False
    fill_terms(
        values, i, 0, count, weight, cardinality, near.rows, near.distance, near.terms, near.twin
    )
    near.filled[0] = True
    choose_columns(near.terms, count, scales.excess, near.score, near.chosen)
    fill_blocks(columns, i, 0, count, weight, cardinality, near)


@njit(cache=True, nogil=True)
def fill_first_masks(masks, i, rows, count, planes, by_fold):  # type: ignore[no-untyped-def]
    """Which of the first 64 neighbours train, for the splits of all words."""
    masks[:] = np.uint64(0)
    for t in range(min(count, 64)):
        for w in range(masks.shape[0]):
            masks[w, t] = serves(planes, by_fold, i, rows[t], w)
    for w in range(masks.shape[0]):
        transpose_bits(masks, w)


@njit(cache=True, nogil=True)
def fill_masks(masks, tile, i, w, rows, count, planes, by_fold):  # type: ignore[no-untyped-def]
    """Which of the 64 neighbours of a tile train, for the 64 splits of word `w`."""
    first = 64 * tile
    for t in range(64):
        masks[tile, t] = np.uint64(0)
        if first + t < count:
            masks[tile, t] = serves(planes, by_fold, i, rows[first + t], w)
    transpose_bits(masks, tile)
