"""Whole plans where the columns are scaled by the training rows of each split.

The neighbours of each row are put in order once, under reference scales: for each column the
largest divisor that any split has. The distance of two rows in a split is the sum of r_j c_j over
the columns, where c_j is the term of column j under the reference and r_j >= 1 the squared ratio
of the divisors. So it is at least min r_j times the reference distance, and neighbours need
looking at only as long as this bound is not above the best distance so far. Columns that are
constant in the training rows do not count (r_j = 0); their c_j are the same for all training rows
and are taken off before the bound is applied.

The distances of the split are first estimated in single precision from stored c_j, for those
neighbours which a bound from a few columns does not pass over. Only when two neighbours come
closer than the rounding of that estimate are they computed by the arithmetic of `pair_distance`,
which decides.

Inside the search arrays are indexed, never sliced: counting references to slices would cost more
than the search itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour_bits_kernel import serves, write_code
from bestofk.learners.nearest_neighbour_filter_kernel import (
    EIGHT,
    PARTS,
    choose_columns,
    fill_blocks,
    not_above,
)
from bestofk.learners.nearest_neighbour_kernel import pair_distance
from bestofk.learners.nearest_neighbour_list_kernel import (
    BINS,
    SLACK,
    TINY,
    Neighbours,
    fill_terms,
    list_first,
    list_others,
    lower_keys,
)
from bestofk.learners.nearest_neighbour_order_kernel import first_bit, transpose_bits

# So many neighbours are put in order at once; the others only where these do not do.
_SHORT = 64
# Terms up to here times ratios up to 1e12 can be summed in single precision.
_LARGE = 1e20


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
    excess: Any
    """(d,): the mean over the splits of r_j less the least ratio."""
    copies: Any
    """(n,): equal for rows with equal values, which are tied wherever both train."""


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _estimate(ratio, s, terms, t):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for j in range(ratio.shape[1]):
        total += ratio[s, j] * terms[t, j]
    return total


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
def _shift(values, i, low, divisor, s, columns, first, stop):  # type: ignore[no-untyped-def]
    """The terms of the columns that are constant in split `s` but not in the reference."""
    shift = 0.0
    for c in range(first, stop):
        j = columns[c]
        if not np.isnan(values[i, j]):
            difference = (values[i, j] - low[s, j]) / divisor[0, j]
            shift += difference * difference
    return shift * (1.0 + SLACK) + TINY


@njit(cache=True, nogil=True, error_model="numpy")
def _decide(values, i, b, s, stop, bound, near, scales):  # type: ignore[no-untyped-def]
    """The nearest of the first neighbours that train in run `b` and are estimated up to `bound`."""
    best, winner = np.inf, -1
    for t in range(stop):
        if (near.masks[t >> 6, b] >> np.uint64(t & 63)) & np.uint64(1) == 0:
            continue
        if _estimate(scales.ratio, s, near.terms, t) > bound:
            continue
        k = near.rows[t]
        d_k = pair_distance(
            values, i, k, scales.cardinality, scales.low, scales.high, scales.divisors, s
        )
        if d_k < best or (d_k == best and k < winner):
            best = d_k
            winner = k
    return winner


@njit(cache=True, nogil=True)
def _fill_tile(values, i, start, count, weight, scales, near):  # type: ignore[no-untyped-def]
    """Terms and blocks of the 64 neighbours from `start` on."""
    stop = min(start + 64, count)
    fill_terms(values, i, start, stop, weight, scales.cardinality, near)
    if start == 0:
        choose_columns(near.terms, stop, scales.excess, near.score, near.chosen)
    fill_blocks(near, start, stop, weight.size)
    near.filled[0] = stop


@njit(cache=True, nogil=True, error_model="numpy")
def _search_word(  # type: ignore[no-untyped-def]
    values, i, w, left, count, tail, near, scales, weight, quick, y, planes, by_fold, folds,
    predicted,
):  # fmt: skip
    """Predict for row `i` in the splits `left` of word `w`; return those not settled.

    `tail` bounds from below the reference distances of rows that are not in the list.
    """
    rows, _, floor, twin, terms, _, chosen, blocks, weights, masks, ready, filled = near
    cardinality, divisor, low, high, divisors, ratio, least_ratio, estimable = scales[:8]
    constant_first, constant_columns, _, copies = scales[8:]
    tiles = (count + 63) >> 6
    parts = min(EIGHT, cardinality.size)
    wide = 1.0 + (cardinality.size + 16) * 2.0**-22
    t = 0
    while quick and left != 0 and t < filled[0] and twin[t]:
        hit = left & serves(planes, by_fold, i, rows[t], w)
        write_code(predicted, w, i, hit, y[rows[t]])
        left ^= hit
        t += 1
    for tile in range(tiles):
        ready[tile] = False
    unsettled = np.uint64(0)
    while left != 0:
        b = first_bit(left)
        bit = left & (~left + np.uint64(1))
        left ^= bit
        s = 64 * w + b
        if by_fold:
            s = s * folds + _fold(planes, i, w, b)
        least, estimate = least_ratio[s], quick and estimable[s]
        margin = wide if estimate else 1.0 + SLACK
        if estimate:
            weights[0] = least
            for m in range(parts):
                weights[m + 1] = max(ratio[s, chosen[m]] - np.float32(least), np.float32(0.0))
        # Bounds include columns that are constant in this split: so does the limit.
        shift = 0.0
        first, stop = constant_first[s], constant_first[s + 1]
        if first < stop:
            shift = least * _shift(values, i, low, divisor, s, constant_columns, first, stop)

        best, second, limit = np.inf, np.inf, np.inf
        winner, looked = -1, count
        enough = False
        for tile in range(tiles):
            if not ready[tile]:
                if quick and filled[0] <= 64 * tile:
                    _fill_tile(values, i, filled[0], count, weight, scales, near)
                _fill_masks(masks, tile, i, w, rows, count, planes, by_fold)
                ready[tile] = True
            mask = masks[tile, b]
            block = 8 * tile
            while mask != 0:
                hits = mask & np.uint64(255)
                if hits != 0:
                    if least * floor[block] > limit:
                        enough = True
                        looked = 8 * block
                        break
                    if winner >= 0 and estimate:
                        hits &= not_above(blocks, block, weights, limit)
                    while hits != 0:
                        t = 8 * block + first_bit(hits)
                        hits &= hits - np.uint64(1)
                        if estimate:
                            d_t = np.float64(_estimate(ratio, s, terms, t))
                        else:
                            d_t = pair_distance(
                                values, i, rows[t], cardinality, low, high, divisors, s
                            )
                        if d_t < best or (d_t == best and rows[t] < winner):
                            if winner < 0 or copies[rows[t]] != copies[winner]:
                                second = best
                            best = d_t
                            winner = rows[t]
                            limit = (best + shift) * margin + TINY
                            if hits != 0 and estimate:
                                hits &= not_above(blocks, block, weights, limit)
                        elif d_t < second and copies[rows[t]] != copies[winner]:
                            second = d_t
                mask >>= np.uint64(8)
                block += 1
            if enough:
                break

        if winner < 0 or not (enough or least * tail > limit):
            unsettled |= bit
            continue
        bound = best * margin + TINY
        if estimate and second <= bound:
            winner = _decide(values, i, b, s, looked, bound, near, scales)
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
    keys, single = np.empty(n), np.empty(n, dtype=np.float32)
    bins = np.zeros(BINS, dtype=np.int64)
    size, room = 2 * n + 64, n if known else 0
    spare_keys, spare_rows = np.empty(size), np.empty(size, dtype=np.int64)
    tiles = (n >> 6) + 1
    near = Neighbours(
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(8 * tiles),
        np.zeros(n, dtype=np.bool_),
        np.zeros((room, scales.ratio.shape[1]), dtype=np.float32),
        np.empty(d),
        np.zeros(EIGHT, dtype=np.int64),
        np.zeros((8 * tiles if known else 0, PARTS, EIGHT), dtype=np.float32),
        np.zeros(PARTS, dtype=np.float32),
        np.zeros((tiles, 64), dtype=np.uint64),
        np.zeros(tiles, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
    )
    for i in range(n):
        lower_keys(columns, i, cardinality, plain, weight, one_floor, both_floor, keys)
        count = list_first(keys, _SHORT, near, spare_keys, spare_rows)
        tail = np.inf if count == n else near.distance[count - 1]
        quick = known and keys.max() < _LARGE
        if quick:
            near.filled[0] = 0
            _fill_tile(values, i, near.filled[0], count, weight, scales, near)
        for w in range(wanted.shape[1]):
            left = wanted[i, w]
            while left != 0:
                left = _search_word(
                    values, i, w, left, count, tail, near, scales, weight, quick, y, planes,
                    by_fold, folds, predicted,
                )  # fmt: skip
                if left == 0 or count == n:
                    break
                list_others(keys, count, near, single, bins)
                count, tail = n, np.inf
