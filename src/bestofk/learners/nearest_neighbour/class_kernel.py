"""Predictions that need no nearest neighbour, because its class is known without it.

The rows are parted by class: friends have the class of the row that is nearest under the reference
scales, rivals have another. In a split the friends' class is predicted when some friend that
trains is nearer than every rival that trains. A friend may be nearer than a rival whatever the
scales: where its distance is smaller for all ratios between the smallest and the largest r_j that
any split has. Then 64 splits are settled at a time, without a distance. Where that does not do, the
distance to the first friend that trains is estimated, and rivals are looked at until their bounds
are above it. What is still open, because a rival is nearer or the two are too close for the
estimate, is left to the search for the nearest neighbour.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour.bits_kernel import serves, write_code
from bestofk.learners.nearest_neighbour.filter_kernel import EIGHT, not_above
from bestofk.learners.nearest_neighbour.list_kernel import (
    TINY,
    Neighbours,
    list_first,
)
from bestofk.learners.nearest_neighbour.order_kernel import first_bit
from bestofk.learners.nearest_neighbour.split_kernel import (
    constant_terms,
    estimate,
    fill_first_masks,
    fill_weights,
    split_of,
    start_list,
)

FRIENDS, RIVALS = 24, 64
"""The most that are listed; of the friends so many that hardly ever none of them trains."""
_NONE = np.uint64(0)


class Parted(NamedTuple):
    """The neighbours of one row by class."""

    friends: Any
    """(FRIENDS,): their places in the list of all neighbours."""
    rivals: Neighbours
    keys: Any
    """(n,): reference distances of the rivals, infinite for friends."""
    nearer: Any
    """(FRIENDS, RIVALS): rows of the rivals that are nearer than a friend in some split."""
    counts: Any
    """(FRIENDS,): how many these are; -1 where not all are known."""
    first: Any
    """(words, 64): the place of the first friend that trains, for each split."""
    doubtful: Any
    """(words,): splits in which a rival may be nearer than this friend."""
    sizes: Any
    """(2,): how many friends and rivals are listed."""


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _largest(most, terms, t):  # type: ignore[no-untyped-def]
    """The distance of neighbour `t`, with the largest ratios."""
    total = np.float32(0.0)
    for j in range(most.size):
        total += most[j] * terms[t, j]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _least_lead(least, most, friends, t, rivals, u):  # type: ignore[no-untyped-def]
    """The least that rival `u` can be farther than friend `t` in any split."""
    total = np.float32(0.0)
    for j in range(least.size):
        gap = rivals[u, j] - friends[t, j]
        total += max(gap, np.float32(0.0)) * least[j] + min(gap, np.float32(0.0)) * most[j]
    return total


@njit(cache=True, nogil=True)
def part(  # type: ignore[no-untyped-def]
    values, columns, i, count, near, keys, y, weight, scales, parted, spare_keys, spare_rows
):
    """List friends and rivals of row `i`, and which rivals may be nearer; return the class."""
    friends, rivals, rival_keys, nearer, counts, _, _, sizes = parted
    least, most, floor, copies = scales.least, scales.most, scales.floor, scales.copies
    wide = (weight.size + 16) * 2.0**-22
    friendly = -1
    sizes[0] = 0
    for t in range(count):
        k = near.rows[t]
        if friendly < 0 and k != i:
            friendly = y[k]
        if y[k] == friendly and k != i and sizes[0] < FRIENDS:
            friends[sizes[0]] = t
            sizes[0] += 1
    for k in range(keys.size):
        rival_keys[k] = np.inf if y[k] == friendly else keys[k]
    sizes[1] = list_first(rival_keys, RIVALS, rivals, spare_keys, spare_rows)
    start_list(values, columns, i, sizes[1], weight, scales, rivals)
    for f in range(sizes[0]):
        t = friends[f]
        # Like the bounds of rivals, this includes columns that are constant in some split.
        farthest = np.float64(_largest(most, near.terms, t)) * (1.0 + wide) + TINY
        found = 0
        if sizes[1] == RIVALS and floor * rivals.distance[RIVALS - 1] <= farthest:
            counts[f] = -1
            continue
        for u in range(sizes[1]):
            if floor * rivals.distance[u] > farthest:
                break
            if copies[near.rows[t]] == copies[rivals.rows[u]]:
                # Equal rows are tied, and the lower one wins.
                ahead = near.rows[t] < rivals.rows[u]
            else:
                lead = np.float64(_least_lead(least, most, near.terms, t, rivals.terms, u))
                size = farthest + np.float64(_largest(most, rivals.terms, u))
                ahead = lead > wide * size + TINY
            if not ahead:
                nearer[f, found] = rivals.rows[u]
                found += 1
        counts[f] = found
    return friendly


@njit(cache=True, nogil=True)
def _settle_at_once(i, left, friendly, near, parted, planes, by_fold, predicted):  # type: ignore[no-untyped-def]
    """Predict where no rival can be nearer than the first friend; return whether one may be."""
    rows, friends, nearer, counts = near.rows, parted.friends, parted.nearer, parted.counts
    first, doubtful = parted.first, parted.doubtful
    any_doubt = False
    for w in range(left.size):
        waiting, unsure = left[w], np.uint64(0)
        for f in range(parted.sizes[0]):
            if waiting == 0:
                break
            hit = waiting & serves(planes, by_fold, i, rows[friends[f]], w)
            waiting ^= hit
            doubt = hit if counts[f] < 0 else np.uint64(0)
            for r in range(counts[f]):
                doubt |= hit & serves(planes, by_fold, i, nearer[f, r], w)
                if doubt == hit:
                    break
            unsure |= doubt
            while doubt != 0:
                first[w, first_bit(doubt)] = friends[f]
                doubt &= doubt - np.uint64(1)
        doubtful[w] = unsure
        write_code(predicted, w, i, left[w] & ~(waiting | unsure), friendly)
        left[w] = waiting | unsure
        any_doubt |= unsure != 0
    return any_doubt


@njit(cache=True, nogil=True, error_model="numpy")
def _settle_by_distance(  # type: ignore[no-untyped-def]
    values, i, left, friendly, near, parted, scales, weight, planes, by_fold, folds, predicted
):
    """Predict where every rival is farther than the first friend, as far as the list can tell."""
    rivals, friends_terms = parted.rivals, near.terms
    floor, terms, chosen, weights = rivals.floor, rivals.terms, rivals.chosen, rivals.weights
    blocks, tiles, masks = rivals.blocks, rivals.tiles, rivals.first_masks
    first_friend, doubtful, count = parted.first, parted.doubtful, parted.sizes[1]
    ratio, least_ratio, low, divisor = (
        scales.ratio, scales.least_ratio, scales.low, scales.divisor,
    )  # fmt: skip
    constant_first, constant_columns = scales.constant_first, scales.constant_columns
    parts = min(EIGHT, weight.size)
    wide = 1.0 + (weight.size + 16) * 2.0**-22
    tail = rivals.distance[count - 1] if count == RIVALS else np.inf
    fill_first_masks(masks, i, rivals.rows, count, planes, by_fold)
    for w in range(left.size):
        waiting, settled = doubtful[w], np.uint64(0)
        while waiting != 0:
            b = first_bit(waiting)
            bit = waiting & (~waiting + np.uint64(1))
            waiting ^= bit
            s = split_of(planes, by_fold, folds, i, w, b)
            least = least_ratio[s]
            limit = np.float64(estimate(ratio, s, friends_terms, first_friend[w, b]))
            # Bounds include columns that are constant in this split: so does the limit.
            first, stop = constant_first[s], constant_first[s + 1]
            if first < stop:
                limit += least * constant_terms(
                    values, i, low, divisor, s, constant_columns, first, stop
                )
            limit = limit * wide + TINY
            if least * tail <= limit:
                continue
            if least * floor[0] <= limit:
                fill_weights(weights, least, ratio, s, chosen, parts)
                some = not_above(tiles, 0, weights, limit)
                while some != 0:
                    block = first_bit(some)
                    some &= some - np.uint64(1)
                    hits = (masks[w, b] >> np.uint64(8 * block)) & np.uint64(255)
                    if hits != 0:
                        hits &= not_above(blocks, block, weights, limit)
                    while hits != 0:
                        t = 8 * block + first_bit(hits)
                        hits &= hits - np.uint64(1)
                        if np.float64(estimate(ratio, s, terms, t)) <= limit:
                            hits, some, bit = _NONE, _NONE, _NONE
            settled |= bit
        write_code(predicted, w, i, settled, friendly)
        left[w] ^= settled


@njit(cache=True, nogil=True)
def settle_by_class(  # type: ignore[no-untyped-def]
    values, i, left, friendly, near, parted, scales, weight, planes, by_fold, folds, predicted
):
    """Predict for row `i` in those of the splits `left` where it is easy; keep the others."""
    if _settle_at_once(i, left, friendly, near, parted, planes, by_fold, predicted):
        _settle_by_distance(
            values, i, left, friendly, near, parted, scales, weight, planes, by_fold, folds,
            predicted,
        )  # fmt: skip
