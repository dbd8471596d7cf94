"""Random splits and bootstrap samples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bestofk.plans.labels import Labelling
from bestofk.plans.random_bits import (
    BOOTSTRAP,
    RANDOM_SPLITS,
    Indices,
    Keys,
    blocks_of_keys,
    raw_keys,
    shuffled_within,
)

Tested = npt.NDArray[np.bool_]
Drawn = npt.NDArray[np.int32]

_CANDIDATES = 16
"""Random orders of groups from which the one with the best class shares is taken."""


def rows_to_test(n: int, fraction: float) -> int:
    """The whole number nearest to `fraction` of `n`, halves up, from the decimals as written."""
    return int(Fraction(repr(fraction)) * n + Fraction(1, 2))


def split_at_random(classes: Labelling, *, n_test: int, splits: int, seed: int) -> Tested:
    """Which rows each split tests: `n_test` of them, each class by its share.

    A class of m rows is due m n_test / n of the places; what is left after the whole ones goes
    to the largest remainders, equal remainders in random order.
    """
    n, count = len(classes.codes), classes.count
    due = classes.sizes * n_test
    whole, remainder = due // n, due % n
    left = n_test - int(whole.sum())
    by_class = np.argsort(classes.codes, kind="stable")
    class_at = classes.codes[by_class]
    first_of_class = np.cumsum(classes.sizes) - classes.sizes
    rank_in_class = np.arange(n) - first_of_class[class_at]
    tested = np.zeros((splits, n), dtype=bool)
    for rows, keys in blocks_of_keys(seed, RANDOM_SPLITS, splits, n + count):
        quota = whole + _largest(remainder, keys[:, n:], left)
        order = shuffled_within(keys[:, :n], classes.codes[None, :], count)
        np.put_along_axis(tested[rows], order, rank_in_class < quota[:, class_at], axis=1)
    return tested


def _largest(remainder: Indices, keys: Keys, left: int) -> Indices:
    """1 for the `left` largest remainders of every row, equal ones by their random keys."""
    shuffled = np.argsort(keys, axis=1, kind="stable")
    descending = np.argsort(-remainder[shuffled], axis=1, kind="stable")
    winners = np.take_along_axis(shuffled, descending, axis=1)[:, :left]
    out = np.zeros(keys.shape, dtype=np.int64)
    np.put_along_axis(out, winners, 1, axis=1)
    return out


def split_groups_at_random(
    groups: Labelling, classes: Labelling | None, *, n_test: int, splits: int, seed: int
) -> Tested:
    """Which rows each split tests, every group whole on one side.

    The groups stand in random order and the test part is the first of them, as many as come
    nearest to `n_test` rows (fewer where two are as near), at least one and not all. With
    `classes`, that is done for several random orders and the one whose class shares in the test
    part are nearest to those of all rows is taken.
    """
    n, count = len(groups.codes), groups.count
    tries = _CANDIDATES if classes is not None else 1
    tested_groups = np.zeros((splits, count), dtype=bool)
    for rows, keys in blocks_of_keys(seed, RANDOM_SPLITS, splits, tries * count):
        candidates = keys.reshape(-1, count)
        order = np.argsort(candidates, axis=1, kind="stable")
        away = np.abs(np.cumsum(groups.sizes[order], axis=1)[:, :-1] - n_test)
        taken = away.argmin(axis=1) + 1
        inside = np.zeros(candidates.shape, dtype=bool)
        np.put_along_axis(inside, order, np.arange(count) < taken[:, None], axis=1)
        by_split = inside.reshape(-1, tries, count)
        best = _nearest_shares(by_split, groups, classes, n)
        tested_groups[rows] = by_split[np.arange(len(by_split)), best]
    return tested_groups[:, groups.codes]


def _nearest_shares(
    inside: Tested, groups: Labelling, classes: Labelling | None, n: int
) -> Indices:
    if classes is None:
        return np.zeros(len(inside), dtype=np.int64)
    flat = groups.codes * classes.count + classes.codes
    table = np.bincount(flat, minlength=groups.count * classes.count)
    held = inside.astype(np.int64) @ table.reshape(groups.count, classes.count)
    rows_inside = held.sum(axis=2, keepdims=True)
    off = np.abs(held * n - rows_inside * classes.sizes).sum(axis=2)
    return np.asarray(off.argmin(axis=1), dtype=np.int64)


def draw_with_replacement(classes: Labelling, *, samples: int, seed: int) -> tuple[Drawn, int]:
    """How often each sample holds each row, and how many samples had to be drawn again.

    As many rows as there are, with replacement, each class from its own rows. A sample that
    holds every row has nothing to test and is drawn again from the same stream.
    """
    n = len(classes.codes)
    by_class = np.argsort(classes.codes, kind="stable")
    class_at = classes.codes[by_class]
    first = (np.cumsum(classes.sizes) - classes.sizes)[class_at]
    size = classes.sizes[class_at].astype(np.uint64)

    def count(keys: Keys) -> Drawn:
        # The remainder favours no row by more than n / 2^64.
        rows = by_class[first + (keys % size).astype(np.int64)]
        rows += n * np.arange(len(keys))[:, None]
        return np.bincount(rows.ravel(), minlength=keys.size).reshape(keys.shape).astype(np.int32)

    drawn = np.empty((samples, n), dtype=np.int32)
    again = 0
    for rows, keys in blocks_of_keys(seed, BOOTSTRAP, samples, n):
        drawn[rows] = count(keys)
    for number in np.flatnonzero(drawn.min(axis=1) > 0):
        skip = n
        while drawn[number].min() > 0:
            keys = raw_keys(seed, BOOTSTRAP, int(number), n, skip=skip)
            drawn[number] = count(keys[None, :])[0]
            skip += n
            again += 1
    return drawn, again
