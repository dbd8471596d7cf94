"""The list of the neighbours of a row, in the order of their distances under reference scales.

The first of them are in order. The others, which few rows need, are put into bins of about one
percent of their distance: bounds are then taken bin by bin, in time proportional to their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour.order_kernel import first_rows

_BLOCK = 1024
# Below this, products of small terms may have lost digits: always decide by `pair_distance`.
TINY = 1e-20
# Relative slack for bounds in double precision: far above rounding, far below any gap.
SLACK = 1e-9
# Bins are numbers of single precision without their last bits.
_DROPPED = np.uint32(15)
BINS = 1 << 16
# Not above the largest number of single precision.
_MOST = 3e38


class Neighbours(NamedTuple):
    """The first neighbours of one row, by distance under the reference scales."""

    rows: Any
    distance: Any
    """A lower bound, but for rounding the distance itself where no number is unknown."""
    floor: Any
    """(length / 8,): a lower bound for each eight neighbours and all those after them."""
    twin: Any
    """Whether all values are equal to those of the row."""
    terms: Any
    """(length, padded d), single precision: c_j."""
    score: Any
    """(d,): room for what columns add to the distances."""
    chosen: Any
    """(EIGHT,): the columns that bounds are made of."""
    blocks: Any
    """(length / 8, PARTS, EIGHT), single precision: eight neighbours at a time, for bounds."""
    tiles: Any
    """(length / 64, PARTS, EIGHT): the least of each block, eight blocks at a time."""
    groups: Any
    """(length / 512, PARTS, EIGHT): the least of each 64 neighbours, eight of these at a time."""
    weights: Any
    """(PARTS,), single precision: what the parts of a bound are multiplied by."""
    first_masks: Any
    """(words, 64): which of the first 64 neighbours train, for the 64 splits of each word."""
    masks: Any
    """(length / 64, 64): the same for all neighbours, in the present word."""
    ready: Any
    """(length / 64,): whether the masks are filled in for the present word."""
    filled: Any
    """(length / 64,): whether the terms of 64 neighbours are filled in."""


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _add_four(total, first, second, third, fourth, a, b, c, d, p, q, r, s):  # type: ignore[no-untyped-def]
    """Add the terms of four numeric columns without unknown values, weights p, q, r, s."""
    for k in range(total.size):
        u, v, w, x = first[k] - a, second[k] - b, third[k] - c, fourth[k] - d
        total[k] += (p * (u * u) + q * (v * v)) + (r * (w * w) + s * (x * x))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def lower_keys(columns, i, cardinality, plain, weight, one_floor, both_floor, keys):  # type: ignore[no-untyped-def]
    """Distances of row `i` under the reference scales; unknown numbers at their least.

    `plain` says which columns are numeric without unknown values.
    """
    d, n = columns.shape
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        part = keys[start:stop]
        part[:] = 0.0
        j = 0
        while j < d:
            if j + 4 <= d and plain[j : j + 4].all():
                _add_four(
                    part,
                    columns[j, start:stop],
                    columns[j + 1, start:stop],
                    columns[j + 2, start:stop],
                    columns[j + 3, start:stop],
                    columns[j, i],
                    columns[j + 1, i],
                    columns[j + 2, i],
                    columns[j + 3, i],
                    weight[j],
                    weight[j + 1],
                    weight[j + 2],
                    weight[j + 3],
                )
                j += 4
                continue
            column, x, weight_j = columns[j, start:stop], columns[j, i], weight[j]
            if cardinality[j] > 0:
                for k in range(part.size):
                    part[k] += 0.0 if column[k] == x else 1.0
            elif np.isnan(x):
                for k in range(part.size):
                    part[k] += both_floor if np.isnan(column[k]) else one_floor
            else:
                for k in range(part.size):
                    difference = column[k] - x
                    square = weight_j * (difference * difference)
                    part[k] += one_floor if np.isnan(column[k]) else square
            j += 1


@njit(cache=True, nogil=True)
def fill_terms(  # type: ignore[no-untyped-def]
    values, i, start, count, weight, cardinality, rows, distance, terms, twin
):
    """The terms c_j of the neighbours from `start` on, where no number is unknown."""
    some_nominal = cardinality.max() > 0
    for t in range(start, count):
        k = rows[t]
        for j in range(weight.size):
            difference = values[k, j] - values[i, j]
            terms[t, j] = np.float32(weight[j] * (difference * difference))
        if some_nominal:
            for j in range(weight.size):
                if cardinality[j] > 0:
                    terms[t, j] = np.float32(0.0 if values[k, j] == values[i, j] else 1.0)
        twin[t] = False
        if distance[t] < TINY:
            equal = True
            for j in range(weight.size):
                equal &= values[k, j] == values[i, j]
            twin[t] = equal


@njit(cache=True, nogil=True)
def list_first(keys, length, near, spare_keys, spare_rows):  # type: ignore[no-untyped-def]
    """List the first neighbours in order; return their number."""
    distance, floor = near.distance, near.floor
    count = first_rows(keys, length, distance, near.rows, spare_keys, spare_rows)
    for t in range(count):
        distance[t] *= 1.0 - SLACK
        if t & 7 == 0:
            floor[t >> 3] = distance[t]
    return count


@njit(cache=True, nogil=True)
def list_others(keys, count, near, single, bins):  # type: ignore[no-untyped-def]
    """List all the others after the first `count`, a multiple of 8, bin by bin.

    `single` has room for n numbers of single precision; `bins` is 0 everywhere, also afterwards.
    """
    n = keys.size
    rows, distance, floor = near.rows, near.distance, near.floor
    low, high = np.int64(BINS), np.int64(0)
    number = single.view(np.uint32)
    listed = np.zeros(n, dtype=np.bool_)
    for t in range(count):
        listed[rows[t]] = True
    for k in range(n):
        single[k] = keys[k]
        number[k] >>= _DROPPED
        if not listed[k]:
            at = np.int64(number[k])
            bins[at] += 1
            low = at if at < low else low
            high = at if at > high else high
    start = count
    for place in range(low, high + 1):
        start, bins[place] = start + bins[place], start
    for k in range(n):
        if not listed[k]:
            t = bins[number[k]]
            bins[number[k]] = t + 1
            rows[t] = k
            distance[t] = keys[k] * (1.0 - SLACK)
    for place in range(low, high + 1):
        bins[place] = 0
    # The least of the bin in which a block starts is not above what follows.
    for block in range(count >> 3, (n + 7) >> 3):
        single[0] = distance[8 * block]
        number[0] = (number[0] >> _DROPPED) << _DROPPED
        floor[block] = min(np.float64(single[0]), _MOST) * (1.0 - 2.0**-20)
