"""Whole plans where the columns are scaled by the training rows of each split.

The distance of two rows in a split is the sum of r_j c_j over the columns, where c_j is the term
of column j under the scales of ALL rows, r_j the squared ratio of the scales. So it is at least
min r_j times the distance under the scales of all rows, and neighbours need looking at only as
long as this bound is not above the best distance so far. Columns that are constant in the
training rows do not count (r_j = 0); their c_j are the same for all training rows and are taken
off before the bound is applied.

The distances of the split are first estimated in single precision from stored c_j. Only when
two neighbours come closer than the rounding of that estimate are they computed by the
arithmetic of `pair_distance`, which decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour_bits_kernel import serves, write_code
from bestofk.learners.nearest_neighbour_kernel import pair_distance
from bestofk.learners.nearest_neighbour_order_kernel import (
    first_bit,
    first_rows,
    sort_pairs,
    transpose_bits,
)

_BLOCK = 1024
# Relative slack for bounds in double precision: far above rounding, far below any gap.
_SLACK = 1e-9
# Below this, products of small terms may have lost digits: always decide by `pair_distance`.
_TINY = 1e-20


class SplitScales(NamedTuple):
    """The scales of every split, beside those of all rows."""

    cardinality: Any
    """(d,): 0 for a numeric column."""
    divisor: Any
    """(d,), under all rows."""
    low: Any
    """(splits, d), from `column_scales`, as the next two."""
    high: Any
    divisors: Any
    ratio: Any
    """(splits, padded d), single precision: r_j."""
    least_ratio: Any
    """(splits,): a lower bound of r_j over the columns that are not constant there."""
    unchanged: Any
    """(splits,): the scales are those of all rows."""
    estimable: Any
    """(splits,): single precision has the range for r_j."""
    has_constant: Any
    """(splits,): a column that is not constant in all rows is so there."""


class Neighbours(NamedTuple):
    """The first neighbours of one row, by distance under the scales of all rows."""

    rows: Any
    distance: Any
    terms: Any
    """(length, padded d), single precision: c_j."""
    estimates: Any
    """Room for the distances in a split."""
    masks: Any
    """(length / 64, 64): which of 64 neighbours train, for 64 splits of a word."""
    ready: Any
    """Which masks are filled in for the present word."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _lower_keys(columns, i, cardinality, weight, one_floor, both_floor, keys):  # type: ignore[no-untyped-def]
    """Distances of row `i` under the scales of all rows; unknown cells at their least."""
    d, n = columns.shape
    for start in range(0, n, _BLOCK):
        part = keys[start : start + _BLOCK]
        part[:] = 0.0
        for j in range(d):
            column, x, weight_j = columns[j, start : start + _BLOCK], columns[j, i], weight[j]
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


@njit(cache=True, nogil=True, error_model="numpy")
def _terms_under_all(values, i, k, cardinality, divisor, terms):  # type: ignore[no-untyped-def]
    """The terms c_j of a pair without unknown numbers; returns their sum in column order."""
    total = 0.0
    for j in range(cardinality.size):
        term = 0.0
        x, z = values[i, j], values[k, j]
        if cardinality[j] > 0:
            if not x == z:
                term = 1.0
        elif divisor[j] != 0.0:
            difference = (z - x) / divisor[j]
            term = difference * difference
        terms[j] = term
        total += term
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _estimate(ratio, terms):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for j in range(ratio.size):
        total += ratio[j] * terms[j]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _off_constant_columns(values, i, s, scales):  # type: ignore[no-untyped-def]
    """What the columns that are constant in split `s` add to all distances under all rows."""
    shift = 0.0
    for j in range(scales.cardinality.size):
        x = values[i, j]
        if (
            scales.cardinality[j] == 0
            and scales.divisors[s, j] == 0.0
            and scales.divisor[j] != 0.0
            and not np.isnan(x)
        ):
            difference = (x - scales.low[s, j]) / scales.divisor[j]
            shift += difference * difference
    return shift


@njit(cache=True, nogil=True)
def _training_mask(tile, w, b, i, count, near, planes, by_fold):  # type: ignore[no-untyped-def]
    """Which of the 64 neighbours of a tile train in split `b` of word `w`."""
    mask = near.masks[tile]
    if not near.ready[tile]:
        first = 64 * tile
        for t in range(64):
            mask[t] = np.uint64(0)
            if first + t < count:
                mask[t] = serves(planes, by_fold, i, near.rows[first + t], w)
        transpose_bits(mask)
        near.ready[tile] = True
    return mask[b]


@njit(cache=True, nogil=True, error_model="numpy")
def _search(values, i, s, w, b, count, tail, near, scales, tolerance, known, planes, by_fold):  # type: ignore[no-untyped-def]
    """The nearest training row of row `i` in split `s`, or -1 where the list is too short.

    `tail` bounds from below the distances under all rows of rows that are not in the list.
    """
    tiles = (count + 63) // 64
    if known and scales.unchanged[s]:
        for tile in range(tiles):
            mask = _training_mask(tile, w, b, i, count, near, planes, by_fold)
            if mask != 0:
                t = 64 * tile + first_bit(mask)
                return near.rows[t] if near.distance[t] < tail else -1
        return -1
    shift = 0.0
    if scales.has_constant[s]:
        shift = _off_constant_columns(values, i, s, scales) * (1.0 + _SLACK) + _TINY
    least = scales.least_ratio[s]
    estimable = known and scales.estimable[s]
    margin = tolerance if estimable else 1.0 + _SLACK
    best, second = np.inf, np.inf
    winner, looked = -1, 0
    enough = False
    for tile in range(tiles):
        mask = _training_mask(tile, w, b, i, count, near, planes, by_fold)
        while mask != 0:
            t = 64 * tile + first_bit(mask)
            mask &= mask - np.uint64(1)
            if (near.distance[t] - shift) * least > best * margin + _TINY:
                enough = True
                break
            if estimable:
                estimate = np.float64(_estimate(scales.ratio[s], near.terms[t]))
            else:
                estimate = pair_distance(
                    values[i],
                    values[near.rows[t]],
                    scales.cardinality,
                    scales.low[s],
                    scales.high[s],
                    scales.divisors[s],
                )
            near.estimates[t] = estimate
            looked = t + 1
            if estimate < best:
                second = best
                best = estimate
                winner = near.rows[t]
            elif estimate < second:
                second = estimate
        if enough:
            break
    if winner < 0 or not (enough or (tail - shift) * least > best * margin + _TINY):
        return -1
    if second > best * margin + _TINY:
        return winner
    bound = best * margin + _TINY
    best = np.inf
    for tile in range(tiles):
        mask = _training_mask(tile, w, b, i, count, near, planes, by_fold)
        while mask != 0:
            t = 64 * tile + first_bit(mask)
            mask &= mask - np.uint64(1)
            if t >= looked:
                return winner
            if near.estimates[t] <= bound:
                k = near.rows[t]
                exact = near.estimates[t]
                if estimable:
                    exact = pair_distance(
                        values[i],
                        values[k],
                        scales.cardinality,
                        scales.low[s],
                        scales.high[s],
                        scales.divisors[s],
                    )
                if exact < best or (exact == best and k < winner):
                    best = exact
                    winner = k
    return winner


@njit(cache=True, nogil=True, error_model="numpy")
def _order_exactly(values, i, count, near, scales, spare_keys, spare_rows):  # type: ignore[no-untyped-def]
    """Order the list by (distance under all rows, row), to the last bit, and fill in the terms."""
    for t in range(count):
        near.distance[t] = near.rows[t]
    sort_pairs(near.distance, near.rows, count, spare_keys, spare_rows)
    for t in range(count):
        near.distance[t] = _terms_under_all(
            values, i, near.rows[t], scales.cardinality, scales.divisor, near.terms[t]
        )
    sort_pairs(near.distance, near.rows, count, spare_keys, spare_rows)
    for t in range(count):
        _terms_under_all(
            values, i, near.rows[t], scales.cardinality, scales.divisor, near.terms[t]
        )


@njit(cache=True, nogil=True, error_model="numpy")
def scan_rescaled(  # type: ignore[no-untyped-def]
    values, columns, scales, one_floor, both_floor, y, planes, by_fold, folds, wanted, predicted
):
    """Fill `predicted` (see the module on bits).

    `values` has the shape (n, d), `columns` is its transpose; `one_floor` and `both_floor` are
    the least terms of one and of two unknown numbers in any split.
    """
    d, n = columns.shape
    padded = scales.ratio.shape[1]
    weight = np.zeros(d)
    known = True
    for j in range(d):
        if scales.divisor[j] != 0.0:
            weight[j] = 1.0 / (scales.divisor[j] * scales.divisor[j])
        if scales.cardinality[j] == 0 and np.isnan(columns[j]).any():
            known = False
    tolerance = 1.0 + (d + 16) * 2.0**-22
    keys = np.empty(n)
    size = 2 * n + 64
    spare_keys, spare_rows = np.empty(size), np.empty(size, dtype=np.int64)
    near = Neighbours(
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.zeros((n if known else 1, padded), dtype=np.float32),
        np.empty(n),
        np.empty((n // 64 + 1, 64), dtype=np.uint64),
        np.zeros(n // 64 + 1, dtype=np.bool_),
    )
    for i in range(n):
        _lower_keys(columns, i, scales.cardinality, weight, one_floor, both_floor, keys)
        count, reach = 0, 64
        tail = 0.0
        for w in range(wanted.shape[1]):
            left = wanted[i, w]
            near.ready[:] = False
            while left != 0:
                b = first_bit(left)
                s = 64 * w + b
                if by_fold:
                    s = s * folds + _fold(planes, i, w, b)
                winner = -1
                if count > 0:
                    winner = _search(
                        values, i, s, w, b, count, tail, near, scales, tolerance, known,
                        planes, by_fold,
                    )  # fmt: skip
                if winner >= 0:
                    write_code(predicted, w, i, np.uint64(1) << np.uint64(b), y[winner])
                elif count < n:
                    count = first_rows(
                        keys, reach, near.distance, near.rows, spare_keys, spare_rows
                    )
                    tail = np.inf if count == n else near.distance[count - 1] * (1.0 - _SLACK)
                    if known:
                        _order_exactly(values, i, count, near, scales, spare_keys, spare_rows)
                    else:
                        for t in range(count):
                            near.distance[t] *= 1.0 - _SLACK
                    near.ready[:] = False
                    reach *= 4
                    continue
                left &= left - np.uint64(1)


@njit(cache=True, nogil=True)
def _fold(planes, i, w, b):  # type: ignore[no-untyped-def]
    """The fold that tests row `i` in run `b` of word `w`."""
    fold = 0
    for p in range(planes.shape[2]):
        fold |= np.int64((planes[i, w, p] >> np.uint64(b)) & np.uint64(1)) << p
    return fold
