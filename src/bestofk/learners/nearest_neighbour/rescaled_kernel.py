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

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour.bits_kernel import serves, write_code
from bestofk.learners.nearest_neighbour.class_kernel import (
    FRIENDS,
    RIVALS,
    Parted,
    part,
    settle_by_class,
)
from bestofk.learners.nearest_neighbour.distance_kernel import pair_distance
from bestofk.learners.nearest_neighbour.filter_kernel import (
    EIGHT,
    PARTS,
    fill_blocks,
    not_above,
)
from bestofk.learners.nearest_neighbour.list_kernel import (
    BINS,
    SLACK,
    TINY,
    Neighbours,
    fill_terms,
    list_first,
    list_others,
    lower_keys,
)
from bestofk.learners.nearest_neighbour.order_kernel import first_bit
from bestofk.learners.nearest_neighbour.split_kernel import (
    constant_terms,
    estimate,
    fill_first_masks,
    fill_masks,
    fill_weights,
    split_of,
    start_list,
)

# So many neighbours are put in order at once; the others only where these do not do.
_SHORT = 64
# Terms up to here times ratios up to 1e12 can be summed in single precision.
_LARGE = 1e20
_ALL = np.uint64(255)


@njit(cache=True, nogil=True)
def _lowest(count):  # type: ignore[no-untyped-def]
    """The lowest `count` bits, at most eight."""
    return np.uint64(255) >> np.uint64(max(0, 8 - count))


@njit(cache=True, nogil=True, error_model="numpy")
def _decide(values, i, w, b, s, count, limit, bound, near, scales):  # type: ignore[no-untyped-def]
    """The nearest of the neighbours that train in run `b` and are estimated up to `bound`.

    Bounds from a few columns are held against `limit`.
    """
    best, winner = np.inf, -1
    for block in range((count + 7) >> 3):
        tile = block >> 3
        # Where nothing was made ready, all bounds were above the limit.
        if not near.ready[tile]:
            continue
        mask = near.masks[tile, b] if tile else near.first_masks[w, b]
        hits = (mask >> np.uint64(8 * (block & 7))) & np.uint64(255)
        if hits != 0:
            hits &= not_above(near.blocks, block, near.weights, limit)
        while hits != 0:
            t = 8 * block + first_bit(hits)
            hits &= hits - np.uint64(1)
            if estimate(scales.ratio, s, near.terms, t) > bound:
                continue
            k = near.rows[t]
            d_k = pair_distance(
                values, i, k, scales.cardinality, scales.low, scales.high, scales.divisors, s
            )
            if d_k < best or (d_k == best and k < winner):
                best = d_k
                winner = k
    return winner


@njit(cache=True, nogil=True, error_model="numpy")
def _search(  # type: ignore[no-untyped-def]
    values, i, left, count, tail, near, scales, weight, quick, y, planes, by_fold, folds, predicted
):
    """Predict for row `i` in the splits `left`; keep those not settled, return whether any are.

    `tail` bounds from below the reference distances of rows that are not in the list.
    """
    rows, distance, floor = near.rows, near.distance, near.floor
    twin, terms, filled = near.twin, near.terms, near.filled
    chosen, weights, ready = near.chosen, near.weights, near.ready
    first_masks, masks = near.first_masks, near.masks
    blocks, tiles, groups = near.blocks, near.tiles, near.groups
    cardinality, divisor, low, high, divisors, ratio, least_ratio, estimable = scales[:8]
    constant_first, constant_columns, copies = scales[8], scales[9], scales.copies
    parts = min(EIGHT, cardinality.size)
    wide = 1.0 + (cardinality.size + 16) * 2.0**-22
    any_left = False
    fill_first_masks(first_masks, i, rows, count, planes, by_fold)
    ready[0] = True
    for w in range(left.size):
        waiting, unsettled = left[w], np.uint64(0)
        t = 0
        while quick and waiting != 0 and t < min(count, 64) and twin[t]:
            hit = waiting & serves(planes, by_fold, i, rows[t], w)
            write_code(predicted, w, i, hit, y[rows[t]])
            waiting ^= hit
            t += 1
        for tile in range(1, (count + 63) >> 6):
            ready[tile] = False
        while waiting != 0:
            b = first_bit(waiting)
            bit = waiting & (~waiting + np.uint64(1))
            waiting ^= bit
            s = split_of(planes, by_fold, folds, i, w, b)
            least, single = least_ratio[s], quick and estimable[s]
            margin = wide if single else 1.0 + SLACK
            if single:
                fill_weights(weights, least, ratio, s, chosen, parts)
            # Bounds include columns that are constant in this split: so does the limit.
            shift = 0.0
            first, stop = constant_first[s], constant_first[s + 1]
            if first < stop:
                shift = least * constant_terms(
                    values, i, low, divisor, s, constant_columns, first, stop
                )

            best, second, limit = np.inf, np.inf, np.inf
            winner, group = -1, 0
            while 512 * group < count and least * floor[64 * group] <= limit:
                bounded = single and winner >= 0
                some = not_above(groups, group, weights, limit) if bounded else _ALL
                some &= _lowest(((count + 63) >> 6) - 8 * group)
                while some != 0:
                    tile = 8 * group + first_bit(some)
                    some &= some - np.uint64(1)
                    if least * floor[8 * tile] > limit:
                        break
                    bounded = single and winner >= 0
                    few = not_above(tiles, tile, weights, limit) if bounded else _ALL
                    if few != 0 and not ready[tile]:
                        if quick and not filled[tile]:
                            fill_terms(
                                values, i, 64 * tile, min(64 * tile + 64, count), weight,
                                cardinality, rows, distance, terms, twin,
                            )  # fmt: skip
                            filled[tile] = True
                        fill_masks(masks, tile, i, w, rows, count, planes, by_fold)
                        ready[tile] = True
                    mask = masks[tile, b] if tile else first_masks[w, b]
                    while few != 0:
                        block = 8 * tile + first_bit(few)
                        few &= few - np.uint64(1)
                        hits = (mask >> np.uint64(8 * (block & 7))) & np.uint64(255)
                        if hits == 0:
                            continue
                        if least * floor[block] > limit:
                            break
                        if single and winner >= 0:
                            hits &= not_above(blocks, block, weights, limit)
                        while hits != 0:
                            t = 8 * block + first_bit(hits)
                            hits &= hits - np.uint64(1)
                            if single:
                                d_t = np.float64(estimate(ratio, s, terms, t))
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
                                if hits != 0 and single:
                                    hits &= not_above(blocks, block, weights, limit)
                            elif d_t < second and copies[rows[t]] != copies[winner]:
                                second = d_t
                group += 1

            if winner < 0 or least * tail <= limit:
                unsettled |= bit
                continue
            bound = best * margin + TINY
            if single and second <= bound:
                winner = _decide(values, i, w, b, s, count, limit, bound, near, scales)
            write_code(predicted, w, i, bit, y[winner])
        left[w] = unsettled
        any_left |= unsettled != 0
    return any_left


@njit(cache=True, nogil=True)
def _neighbours(n, d, room, padded, words):  # type: ignore[no-untyped-def]
    """Room for a list of neighbours, `room` of them with terms."""
    tiles = (n >> 6) + 1
    return Neighbours(
        np.empty(2 * n + 64, dtype=np.int64),
        np.empty(2 * n + 64),
        np.empty(8 * tiles),
        np.zeros(n, dtype=np.bool_),
        np.zeros((room, padded), dtype=np.float32),
        np.empty(d),
        np.zeros(EIGHT, dtype=np.int64),
        np.zeros((8 * tiles if room else 0, PARTS, EIGHT), dtype=np.float32),
        np.zeros((tiles if room else 0, PARTS, EIGHT), dtype=np.float32),
        np.zeros(((tiles >> 3) + 1 if room else 0, PARTS, EIGHT), dtype=np.float32),
        np.zeros(PARTS, dtype=np.float32),
        np.zeros((words, 64), dtype=np.uint64),
        np.zeros((tiles, 64), dtype=np.uint64),
        np.zeros(tiles, dtype=np.bool_),
        np.zeros(tiles, dtype=np.bool_),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def scan_rescaled(  # type: ignore[no-untyped-def]
    values, columns, scales, one_floor, both_floor, many_runs, y, planes, by_fold, folds, wanted,
    predicted,
):  # fmt: skip
    """Fill `predicted` (see the module on bits).

    `values` has the shape (n, d), `columns` is its transpose; `one_floor` and `both_floor` are
    the least terms of one and of two unknown numbers in any split; `many_runs` says that it pays to
    part the neighbours by class.
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
    size, room, padded = 2 * n + 64, n if known else 0, scales.ratio.shape[1]
    spare_keys, spare_rows = np.empty(size), np.empty(size, dtype=np.int64)
    words = wanted.shape[1]
    near = _neighbours(n, d, room, padded, words)
    by_class = many_runs and known and scales.estimable.all()
    part_room = room if by_class else 0
    parted = Parted(
        np.empty(FRIENDS, dtype=np.int64),
        _neighbours(n, d, min(part_room, RIVALS), padded, words),
        np.empty(n if by_class else 0),
        np.empty((FRIENDS, RIVALS), dtype=np.int64),
        np.empty(FRIENDS, dtype=np.int64),
        np.zeros((words, 64), dtype=np.int64),
        np.zeros(words, dtype=np.uint64),
        np.zeros(2, dtype=np.int64),
    )
    left = np.empty(words, dtype=np.uint64)
    for i in range(n):
        for w in range(words):
            left[w] = wanted[i, w]
        lower_keys(columns, i, cardinality, plain, weight, one_floor, both_floor, keys)
        quick = known and keys.max() < _LARGE
        count = list_first(keys, _SHORT, near, spare_keys, spare_rows)
        tail = np.inf if count == n else near.distance[count - 1]
        if quick:
            start_list(values, columns, i, count, weight, scales, near)
        if by_class and quick:
            friendly = part(
                values, columns, i, count, near, keys, y, weight, scales, parted, spare_keys,
                spare_rows,
            )  # fmt: skip
            settle_by_class(
                values, i, left, friendly, near, parted, scales, weight, planes, by_fold, folds,
                predicted,
            )  # fmt: skip
            if left.max() == 0:
                continue
        while (
            _search(
                values, i, left, count, tail, near, scales, weight, quick, y, planes, by_fold,
                folds, predicted,
            )
            and count < n
        ):  # fmt: skip
            list_others(keys, count, near, single, bins)
            if quick:
                fill_blocks(columns, i, count, n, weight, cardinality, near)
            count, tail = n, np.inf
