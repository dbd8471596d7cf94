"""Which fold tests which row: runs of k-fold cross-validation, and windows in order of time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.plans.labels import Labelling
from bestofk.plans.random_bits import FOLDS, Indices, blocks_of_keys, ranks, shuffled_within

FoldOf = npt.NDArray[np.int32]
Signed = npt.NDArray[np.int8]


def deal(classes: Labelling, *, runs: int, folds: int, seed: int) -> FoldOf:
    """The fold of every row in every run, class counts and fold sizes within one of each other.

    In every run the classes stand one after the other, in random order, the rows of each in
    random order, and the row at position p goes to fold p mod k. The rows of a class are
    neighbours, so their counts per fold differ by at most one; so do the fold sizes: with
    m = floor(n / k) and p = n mod k, the first p folds have m + 1 rows and the others m.
    """
    n = len(classes.codes)
    # One class needs no order of classes, hence no keys for it.
    n_class_keys = classes.count if classes.count > 1 else 0
    fold_of = np.empty((runs, n), dtype=np.int32)
    dealt = (np.arange(n) % folds).astype(np.int32)[None, :]
    for rows, keys in blocks_of_keys(seed, FOLDS, runs, n + n_class_keys):
        place = ranks(keys[:, n:])[:, classes.codes] if n_class_keys else classes.codes[None, :]
        order = shuffled_within(keys[:, :n], place, classes.count)
        np.put_along_axis(fold_of[rows], order, dealt, axis=1)
    return fold_of


def deal_groups(
    groups: Labelling, classes: Labelling | None, *, runs: int, folds: int, seed: int
) -> FoldOf:
    """The fold of every row in every run, every group whole in one fold.

    Groups go one by one to the fold that has the fewest rows so far: those of about the same
    size (the same number of binary digits) in random order, the large ones first. No two folds
    then differ by more rows than the largest group has. With `classes`, a group goes to the fold
    that has least of what the group holds (rare classes weigh more), and to the smaller one of
    several such.
    """
    sizes = groups.sizes
    octave = np.array([int(size).bit_length() for size in sizes])
    largest_first = octave.max() - octave
    table = _class_table(groups, classes)
    weights = table.sum(axis=0).max() // table.sum(axis=0)
    fold_of_group = np.empty((runs, groups.count), dtype=np.int32)
    for rows, keys in blocks_of_keys(seed, FOLDS, runs, groups.count):
        order = shuffled_within(keys, largest_first[None, :], int(octave.max()) + 1)
        fold_of_group[rows] = _greedy(order, table, weights, sizes, folds)
    return fold_of_group[:, groups.codes]


def _class_table(groups: Labelling, classes: Labelling | None) -> Indices:
    """Rows of each class in each group, shape (groups, classes)."""
    codes, count = (classes.codes, classes.count) if classes else (0 * groups.codes, 1)
    flat = np.bincount(groups.codes * count + codes, minlength=groups.count * count)
    return flat.reshape(groups.count, count).astype(np.int64)


def _greedy(order: Indices, table: Indices, weights: Indices, sizes: Indices, folds: int) -> FoldOf:
    """Group by group, all runs at once; in whole numbers, so that ties are ties everywhere."""
    runs = np.arange(len(order))
    held = np.zeros((len(order), folds, table.shape[1]), dtype=np.int64)
    loads = np.zeros((len(order), folds), dtype=np.int64)
    chosen = np.empty(order.shape, dtype=np.int32)
    out_of_question = np.int64(sizes.sum() + 1)
    for group in order.T:
        # Adding m to a class count c costs (c + m)^2 - c^2 = m (2 c + m): only m c varies.
        cost = (held * (weights * table[group])[:, None, :]).sum(axis=2)
        cheapest = cost == cost.min(axis=1, keepdims=True)
        fold = np.where(cheapest, loads, out_of_question).argmin(axis=1)
        held[runs, fold] += table[group]
        loads[runs, fold] += sizes[group]
        chosen[runs, group] = fold
    return chosen


def distinct_partitions(fold_of: FoldOf) -> int:
    """How many of the runs differ in more than the numbering of their folds."""
    seen = set()
    for row in fold_of:
        _, first, inverse = np.unique(row, return_index=True, return_inverse=True)
        seen.add(np.argsort(np.argsort(first))[inverse.reshape(-1)].astype(np.int32).tobytes())
    return len(seen)


def expanding_windows(n: int, windows: int) -> Signed:
    """(windows, n): -1 where the row is tested, 1 where it trains, 0 where it comes later.

    The rows make windows + 1 parts of n // (windows + 1) rows, the first of which takes what is
    left over; part p + 1 is tested by the parts up to p. These are the splits of scikit-learn's
    ``TimeSeriesSplit(windows)``.
    """
    size = n // (windows + 1)
    if size < 1:
        raise ArgumentError(
            f"The windows of plan 'time:{windows}' must be fewer than the {n} rows; got {windows}."
        )
    first = n - windows * size
    row = np.arange(n)
    begins = first + size * np.arange(windows)[:, None]
    marks: Signed = (row < begins).astype(np.int8)
    marks[(row >= begins) & (row < begins + size)] = -1
    return marks
