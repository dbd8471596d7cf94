"""Whole plans where the columns are scaled by the training rows of each split.

The neighbours of each row are put in order once, under reference scales: for each column the
largest divisor that any split has. The distance of two rows in a split is the sum of r_j c_j over
the columns, where c_j is the term of column j under the reference and r_j >= 1 the squared ratio
of the divisors. So it is at least min r_j times the reference distance, and neighbours need
looking at only as long as this bound is not above the best distance so far. Columns that are
constant in the training rows do not count (r_j = 0); their c_j are the same for all training rows
and are taken off before the bound is applied.

The distances of the split are first estimated in single precision from stored c_j. Only when
two neighbours come closer than the rounding of that estimate are they computed by the
arithmetic of `pair_distance`, which decides.

Inside the search arrays are indexed, never sliced: counting references to slices would cost more
than the search itself.
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
    transpose_bits,
)

_BLOCK = 1024
# Relative slack for bounds in double precision: far above rounding, far below any gap.
_SLACK = 1e-9
# Below this, products of small terms may have lost digits: always decide by `pair_distance`.
_TINY = 1e-20
# After so many estimates two columns of the best neighbour help to pass over others.
_PATIENCE = 6
# The list of neighbours starts with this length.
_SHORT = 64


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
    unchanged: Any
    """(splits,): the divisors are those of the reference."""
    estimable: Any
    """(splits,): single precision has the range for r_j."""
    constant_first: Any
    """(splits + 1,): where the columns start that are constant there but not in the reference."""
    constant_columns: Any


class Neighbours(NamedTuple):
    """The first neighbours of one row, by distance under the reference scales."""

    rows: Any
    distance: Any
    """A lower bound, but for rounding the distance itself where no number is unknown."""
    exact: Any
    """The distance by `pair_distance`."""
    twin: Any
    """Whether all values are equal to those of the row."""
    terms: Any
    """(length, padded d), single precision: c_j."""
    estimates: Any
    """Room for the distances in a split."""
    masks: Any
    """(length / 64, 64): which of 64 neighbours train, for the 64 splits of a word."""
    ready: Any
    """(length / 64,): whether the masks are filled in for the present word."""


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _add_four(total, first, second, third, fourth, a, b, c, d, p, q, r, s):  # type: ignore[no-untyped-def]
    """Add the terms of four numeric columns without unknown values, weights p, q, r, s."""
    for k in range(total.size):
        u, v, w, x = first[k] - a, second[k] - b, third[k] - c, fourth[k] - d
        total[k] += (p * (u * u) + q * (v * v)) + (r * (w * w) + s * (x * x))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _lower_keys(columns, i, cardinality, plain, weight, one_floor, both_floor, keys):  # type: ignore[no-untyped-def]
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
def _fill_terms(values, i, start, count, weight, cardinality, near):  # type: ignore[no-untyped-def]
    """The terms c_j of the neighbours from `start` on, where no number is unknown."""
    rows, distance, terms, twin = near.rows, near.distance, near.terms, near.twin
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
        if distance[t] < _TINY:
            equal = True
            for j in range(weight.size):
                equal &= values[k, j] == values[i, j]
            twin[t] = equal


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _estimate(ratio, s, terms, t):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for j in range(ratio.shape[1]):
        total += ratio[s, j] * terms[t, j]
    return total


@njit(cache=True, nogil=True)
def _heaviest(ratio, s, terms, t):  # type: ignore[no-untyped-def]
    """The two columns that lengthen the distance of neighbour `t` most in split `s`."""
    first, second = 0, 1
    most, more = np.float32(-2.0), np.float32(-3.0)
    for j in range(ratio.shape[1]):
        excess = max((ratio[s, j] - np.float32(1.0)) * terms[t, j], np.float32(-1.0))
        if excess > more:
            if excess > most:
                second, more = first, most
                first, most = j, excess
            else:
                second, more = j, excess
    return first, second


@njit(cache=True, nogil=True)
def _fill_masks(masks, tile, i, w, rows, count, planes, by_fold):  # type: ignore[no-untyped-def]
    """Which of the 64 neighbours of a tile train, for the 64 splits of word `w`."""
    first = 64 * tile
    for t in range(64):
        masks[tile, t] = np.uint64(0)
        if first + t < count:
            masks[tile, t] = serves(planes, by_fold, i, rows[first + t], w)
    transpose_bits(masks, tile)


@njit(cache=True, nogil=True)
def _fold(planes, i, w, b):  # type: ignore[no-untyped-def]
    """The fold that tests row `i` in run `b` of word `w`."""
    fold = np.int64(0)
    for p in range(planes.shape[2]):
        fold |= np.int64((planes[i, w, p] >> np.uint64(b)) & np.uint64(1)) << p
    return fold


@njit(cache=True, nogil=True, error_model="numpy")
def _search_word(  # type: ignore[no-untyped-def]
    values, i, w, left, count, tail, near, scales, known, y, planes, by_fold, folds, predicted
):
    """Predict for row `i` in the splits `left` of word `w`; return those not settled.

    `tail` bounds from below the reference distances of rows that are not in the list.
    """
    rows, distance, exact, twin, terms, estimates, masks, ready = near
    cardinality, divisor, low, high, divisors, ratio, least_ratio, unchanged = scales[:8]
    estimable, constant_first, constant_columns = scales[8:]
    tolerance = 1.0 + (cardinality.size + 16) * 2.0**-22
    n_tiles = (count + 63) // 64
    for tile in range(n_tiles):
        ready[tile] = False
    unsettled = np.uint64(0)
    while left != 0:
        b = first_bit(left)
        bit = left & (~left + np.uint64(1))
        left ^= bit
        s = 64 * w + b
        if by_fold:
            s = s * folds + _fold(planes, i, w, b)
        same = known and unchanged[s]
        quick = known and estimable[s] and not same
        least = least_ratio[s]
        margin = tolerance if quick else 1.0 + _SLACK
        shift = 0.0
        if constant_first[s + 1] > constant_first[s]:
            for c in range(constant_first[s], constant_first[s + 1]):
                j = constant_columns[c]
                if not np.isnan(values[i, j]):
                    difference = (values[i, j] - low[s, j]) / divisor[0, j]
                    shift += difference * difference
            shift = shift * (1.0 + _SLACK) + _TINY

        best, second = np.inf, np.inf
        winner, looked, estimated = -1, 0, 0
        nearest, heavy_0, heavy_1 = 0, 0, 0
        excess_0, excess_1 = 0.0, 0.0
        enough = False
        for tile in range(n_tiles):
            if not ready[tile]:
                _fill_masks(masks, tile, i, w, rows, count, planes, by_fold)
                ready[tile] = True
            mask = masks[tile, b]
            while mask != 0:
                t = 64 * tile + first_bit(mask)
                mask &= mask - np.uint64(1)
                k = rows[t]
                if (distance[t] - shift) * least > best * margin + _TINY:
                    enough = True
                    break
                if quick:
                    if looked == 0 and twin[t]:
                        winner = k
                        best = 0.0
                        enough = True
                        break
                    if estimated >= _PATIENCE:
                        if estimated == _PATIENCE:
                            heavy_0, heavy_1 = _heaviest(ratio, s, terms, nearest)
                            excess_0 = max(np.float64(ratio[s, heavy_0]) - 1.0, 0.0)
                            excess_1 = max(np.float64(ratio[s, heavy_1]) - 1.0, 0.0)
                            estimated += 1
                        more = excess_0 * terms[t, heavy_0] + excess_1 * terms[t, heavy_1]
                        if distance[t] - shift + more > best * margin + _TINY:
                            estimates[t] = np.inf
                            continue
                    else:
                        estimated += 1
                    d_k = np.float64(_estimate(ratio, s, terms, t))
                    estimates[t] = d_k
                elif same:
                    d_k = exact[t]
                else:
                    d_k = pair_distance(values, i, k, cardinality, low, high, divisors, s)
                looked = t + 1
                if d_k < best or (d_k == best and k < winner):
                    second = best
                    best = d_k
                    winner = k
                    nearest = t
                elif d_k < second:
                    second = d_k
            if enough:
                break

        bound = best * margin + _TINY
        if winner < 0 or not (enough or (tail - shift) * least > bound):
            unsettled |= bit
            continue
        if quick and second <= bound:
            # Too close to call in single precision.
            best = np.inf
            for tile in range((looked + 63) // 64):
                mask = masks[tile, b]
                while mask != 0:
                    t = 64 * tile + first_bit(mask)
                    mask &= mask - np.uint64(1)
                    if t < looked and estimates[t] <= bound:
                        k = rows[t]
                        d_k = pair_distance(values, i, k, cardinality, low, high, divisors, s)
                        if d_k < best or (d_k == best and k < winner):
                            best = d_k
                            winner = k
        write_code(predicted, w, i, bit, y[winner])
    return unsettled


@njit(cache=True, nogil=True, error_model="numpy")
def scan_rescaled(  # type: ignore[no-untyped-def]
    values, columns, scales, one_floor, both_floor, y, planes, by_fold, folds, wanted, predicted
):
    """Fill `predicted` (see the module on bits).

    `values` has the shape (n, d), `columns` is its transpose; `one_floor` and `both_floor` are
    the least terms of one and of two unknown numbers in any split.
    """
    d, n = columns.shape
    cardinality = scales.cardinality
    weight = np.zeros(d)
    plain = np.zeros(d, dtype=np.bool_)
    known = True
    for j in range(d):
        if scales.divisor[0, j] != 0.0:
            weight[j] = 1.0 / (scales.divisor[0, j] * scales.divisor[0, j])
        if cardinality[j] == 0:
            plain[j] = not np.isnan(columns[j]).any()
            known &= plain[j]
    any_unchanged = scales.unchanged.any()
    keys = np.empty(n)
    size, room = 2 * n + 64, n if known else 0
    n_tiles = n // 64 + 1
    spare_keys, spare_rows = np.empty(size), np.empty(size, dtype=np.int64)
    near = Neighbours(
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(n),
        np.zeros(n, dtype=np.bool_),
        np.zeros((room, scales.ratio.shape[1]), dtype=np.float32),
        np.empty(n),
        np.zeros((n_tiles, 64), dtype=np.uint64),
        np.zeros(n_tiles, dtype=np.bool_),
    )
    for i in range(n):
        _lower_keys(columns, i, cardinality, plain, weight, one_floor, both_floor, keys)
        count, reach = 0, _SHORT
        tail = 0.0
        for w in range(wanted.shape[1]):
            left = wanted[i, w]
            while left != 0:
                if count > 0:
                    left = _search_word(
                        values, i, w, left, count, tail, near, scales, known, y, planes,
                        by_fold, folds, predicted,
                    )  # fmt: skip
                if left == 0 or count == n:
                    break
                start = count
                count = first_rows(keys, reach, near.distance, near.rows, spare_keys, spare_rows)
                for t in range(count):
                    near.distance[t] *= 1.0 - _SLACK
                tail = np.inf if count == n else near.distance[count - 1]
                if known:
                    _fill_terms(values, i, start, count, weight, cardinality, near)
                    if any_unchanged:
                        for t in range(start, count):
                            near.exact[t] = pair_distance(
                                values, i, near.rows[t], cardinality, scales.divisor,
                                scales.divisor, scales.divisor, 0,
                            )  # fmt: skip
                reach *= 8
