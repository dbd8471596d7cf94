"""Draw folds, random splits and bootstrap samples, the same on every machine.

numpy guarantees the streams of its bit generators and of SeedSequence, but not the methods of
Generator (`permutation`, `shuffle`, `integers`). This module therefore uses only
`PCG64.random_raw` and derives everything from its bits: rows are sorted by random keys, and draws
are remainders. Every run has its own stream, so it does not depend on the number of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import RandomState, refuse, whole
from bestofk._base.errors import ArgumentError, use

Keys = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]
FoldOf = npt.NDArray[np.int32]
Signed = npt.NDArray[np.int8]
Tested = npt.NDArray[np.bool_]
Drawn = npt.NDArray[np.int32]

# Part of every seed: changing one of these numbers changes every plan of that kind.
FOLDS, RANDOM_SPLITS, BOOTSTRAP = 1, 2, 3

_MAX_KEYS = 1 << 22
"""Random keys in memory at once (32 MiB)."""
_N_CANDIDATES = 16
"""Random orders of groups, of which the one with the best class shares is used."""
TRAINS = 2
"""Mark of a training row of a nested run; all other rows are tested."""


def seed_of(random_state: RandomState) -> int:
    """Return the seed of a plan: an int as it is, drawn from a Generator, or fresh for None."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.bit_generator.random_raw())
    if random_state is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return whole(random_state, "random_state", at_least=0)
    raise refuse("random_state", "a whole number, a numpy Generator or None", random_state)


def raw_keys(seed: int, purpose: int, number: int, width: int, *, skip: int = 0) -> Keys:
    """Return `width` raw 64-bit keys of stream `number`, after the first `skip` keys."""
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(purpose, number)))
    return stream.random_raw(skip + width)[skip:]


def blocks_of_keys(seed: int, purpose: int, count: int, width: int) -> Iterator[tuple[slice, Keys]]:
    """Yield the keys of streams 0 to `count` - 1, one row per stream, in blocks of rows."""
    step = max(1, _MAX_KEYS // max(width, 1))
    for start in range(0, count, step):
        stop = min(start + step, count)
        keys = np.empty((stop - start, width), dtype=np.uint64)
        for number in range(start, stop):
            keys[number - start] = raw_keys(seed, purpose, number, width)
        yield slice(start, stop), keys


def ranks(keys: Keys) -> Indices:
    """Return the rank of every key in its row, from 0; ties (one in 2^64) by position."""
    order = np.argsort(keys, axis=1, kind="stable")
    out = np.empty_like(order)
    np.put_along_axis(out, order, np.arange(keys.shape[1])[None, :], axis=1)
    return out


def shuffled_within(keys: Keys, part: Indices, n_parts: int) -> Indices:
    """Return, for every row, the positions sorted by part and shuffled inside each part.

    `part` (broadcast against `keys`) holds numbers from 0 to `n_parts` - 1. They replace the top
    bits of the keys, so that one sort orders the parts and shuffles inside them. The sort is
    stable, so that the result is the same on every machine.
    """
    bits = (n_parts - 1).bit_length()
    if bits:
        top = part.astype(np.uint64) << np.uint64(64 - bits)
        keys = (keys >> np.uint64(bits)) | top
    return np.argsort(keys, axis=1, kind="stable")


def cross_validation(
    n: int,
    *,
    seed: int,
    classes: Indices | None,
    groups: Indices | None,
    runs: int,
    folds: int,
    **_: Any,
) -> FoldOf:
    """Return (runs, n) the fold that tests each row."""
    units, unit = (n, "rows") if groups is None else (int(groups.max()) + 1, "groups")
    if folds > units:
        raise ArgumentError(
            f"A plan must have at most as many folds as there are {unit} ({units}); got {folds}."
        )
    if groups is None:
        return _deal(_strata(n, classes), runs, folds, seed)
    return _deal_groups(groups, _strata(n, classes), runs, folds, seed)


def _strata(n: int, classes: Indices | None) -> Indices:
    """Return the classes, or one class for all `n` rows."""
    return np.zeros(n, dtype=np.int64) if classes is None else classes


def _deal(classes: Indices, runs: int, folds: int, seed: int) -> FoldOf:
    """Return the fold of every row in every run, stratified by class.

    In every run the classes are concatenated in random order, each with its rows in random order,
    and the row at position p goes to fold p mod k. The rows of a class are neighbours, so their
    counts per fold differ by at most one. So do the fold sizes: with m = floor(n / k) and
    p = n mod k, the first p folds have m + 1 rows and the others m.
    """
    n, count = len(classes), int(classes.max()) + 1
    # a single class needs no keys to order the classes
    n_class_keys = count if count > 1 else 0
    fold_of = np.empty((runs, n), dtype=np.int32)
    dealt = (np.arange(n) % folds).astype(np.int32)[None, :]
    for rows, keys in blocks_of_keys(seed, FOLDS, runs, n + n_class_keys):
        class_rank = ranks(keys[:, n:])[:, classes] if n_class_keys else classes[None, :]
        order = shuffled_within(keys[:, :n], class_rank, count)
        np.put_along_axis(fold_of[rows], order, dealt, axis=1)
    return fold_of


def _deal_groups(groups: Indices, classes: Indices, runs: int, folds: int, seed: int) -> FoldOf:
    """Return the fold of every row in every run, with every group entirely in one fold.

    Assign the groups one by one, in random order, to the fold that has the fewest rows so far. No
    two folds then differ by more rows than the largest group has. With several classes, a group
    goes to the fold that has the fewest rows of the group's classes (rare classes weigh more), and
    to the smallest of several such folds.

    The order must not depend on the sizes: with large groups first, every fold has about the same
    number of large groups, and the folds do not show how much the loss depends on that number.
    """
    table = _class_table(groups, classes)
    weights = table.sum(axis=0).max() // table.sum(axis=0)
    fold_of_group = np.empty((runs, len(table)), dtype=np.int32)
    for rows, keys in blocks_of_keys(seed, FOLDS, runs, len(table)):
        order = np.argsort(keys, axis=1, kind="stable")
        fold_of_group[rows] = _greedy(order, table, weights, folds)
    return fold_of_group[:, groups]


def _class_table(groups: Indices, classes: Indices) -> Indices:
    """Count the rows of each class in each group, shape (groups, classes)."""
    shape = int(groups.max()) + 1, int(classes.max()) + 1
    flat = np.bincount(groups * shape[1] + classes, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.int64)


def _greedy(order: Indices, table: Indices, weights: Indices, folds: int) -> FoldOf:
    """Assign group by group, all runs at once; in integers, so that ties are exact."""
    sizes = table.sum(axis=1)
    runs = np.arange(len(order))
    class_counts = np.zeros((len(order), folds, table.shape[1]), dtype=np.int64)
    loads = np.zeros((len(order), folds), dtype=np.int64)
    chosen = np.empty(order.shape, dtype=np.int32)
    out_of_question = np.int64(sizes.sum() + 1)
    for group in order.T:
        # adding m to a class count c costs (c + m)^2 - c^2 = m (2 c + m): only m c varies
        cost = (class_counts * (weights * table[group])[:, None, :]).sum(axis=2)
        cheapest = cost == cost.min(axis=1, keepdims=True)
        fold = np.where(cheapest, loads, out_of_question).argmin(axis=1)
        class_counts[runs, fold] += table[group]
        loads[runs, fold] += sizes[group]
        chosen[runs, group] = fold
    return chosen


def leave_one_out(n: int, *, groups: Indices | None, **_: Any) -> FoldOf:
    """Return (1, n) the fold that tests each row: its own, or that of its group."""
    return (np.arange(n) if groups is None else groups).astype(np.int32)[None, :]


def nested(fold_of: FoldOf, folds: int) -> FoldOf:
    """Return marks (runs * pairs of folds, n): 0 and 1 for the pair, `TRAINS` for other rows."""
    first, second = np.triu_indices(folds, 1)
    without = np.repeat(fold_of, len(first), axis=0)
    pairs = [np.tile(fold, len(fold_of))[:, np.newaxis] for fold in (first, second)]
    marks: FoldOf = np.full(without.shape, TRAINS, dtype=np.int32)
    for number, fold in enumerate(pairs):
        marks[without == fold] = number
    return marks


def time_windows(n: int, *, folds: int, **_: Any) -> Signed:
    """Return marks (folds, n): -1 for test rows, 1 for training rows, 0 for later rows.

    The rows form folds + 1 parts of n // (folds + 1) rows; the first part also takes the
    remaining rows. Part p + 1 is tested by models trained on the parts up to p. These are the
    splits of scikit-learn's ``TimeSeriesSplit(folds)``.
    """
    size = n // (folds + 1)
    if size < 1:
        raise ArgumentError(
            f"The windows of plan 'time:{folds}' must be fewer than the {n} rows; got {folds}."
        )
    first = n - folds * size
    row = np.arange(n)
    begins = first + size * np.arange(folds)[:, None]
    marks: Signed = (row < begins).astype(np.int8)
    marks[(row >= begins) & (row < begins + size)] = -1
    return marks


def random_splits(
    n: int,
    *,
    seed: int,
    classes: Indices | None,
    groups: Indices | None,
    folds: int,
    test_fraction: float,
    **_: Any,
) -> Tested:
    """Return (folds, n) whether each split tests the row."""
    # halves up, from the decimals as written
    n_test = int(Fraction(repr(test_fraction)) * n + Fraction(1, 2))
    if not 0 < n_test < n:
        side = "test" if n_test == 0 else "train on"
        raise ArgumentError(
            f"A plan must leave rows on both sides of the split; {test_fraction:g} of {n} rows "
            f"leaves none to {side}."
        )
    if groups is None:
        return _split_at_random(_strata(n, classes), n_test, folds, seed)
    return _split_groups_at_random(groups, classes, n_test, folds, seed)


def _split_at_random(classes: Indices, n_test: int, splits: int, seed: int) -> Tested:
    """Return which rows each split tests: `n_test` rows, each class by its share.

    A class of m rows has the quota m n_test / n. The rows that are left after rounding down go to
    the largest remainders, equal remainders in random order.
    """
    n, sizes = len(classes), np.bincount(classes)
    whole, remainder = np.divmod(sizes * n_test, n)
    left = n_test - int(whole.sum())
    class_at = np.sort(classes)
    rank_in_class = np.arange(n) - (np.cumsum(sizes) - sizes)[class_at]
    tested = np.zeros((splits, n), dtype=bool)
    for rows, keys in blocks_of_keys(seed, RANDOM_SPLITS, splits, n + len(sizes)):
        quota = whole + _largest(remainder, keys[:, n:], left)
        order = shuffled_within(keys[:, :n], classes[None, :], len(sizes))
        np.put_along_axis(tested[rows], order, rank_in_class < quota[:, class_at], axis=1)
    return tested


def _largest(remainder: Indices, keys: Keys, left: int) -> Indices:
    """Return 1 for the `left` largest remainders of every row, equal ones by random keys."""
    shuffled = np.argsort(keys, axis=1, kind="stable")
    descending = np.argsort(-remainder[shuffled], axis=1, kind="stable")
    winners = np.take_along_axis(shuffled, descending, axis=1)[:, :left]
    out = np.zeros(keys.shape, dtype=np.int64)
    np.put_along_axis(out, winners, 1, axis=1)
    return out


def _split_groups_at_random(
    groups: Indices, classes: Indices | None, n_test: int, splits: int, seed: int
) -> Tested:
    """Return which rows each split tests, with every group entirely on one side.

    Put the groups in random order and test the first ones: the number of groups that comes
    nearest to `n_test` rows (the smaller one of two), at least one and not all. With `classes`,
    try several random orders and use the one whose class shares in the test part are nearest to
    those of all rows.
    """
    table = _class_table(groups, _strata(len(groups), classes))
    sizes, count = table.sum(axis=1), len(table)
    tries = 1 if classes is None else _N_CANDIDATES
    tested_groups = np.zeros((splits, count), dtype=bool)
    for rows, keys in blocks_of_keys(seed, RANDOM_SPLITS, splits, tries * count):
        candidates = keys.reshape(-1, count)
        order = np.argsort(candidates, axis=1, kind="stable")
        away = np.abs(np.cumsum(sizes[order], axis=1)[:, :-1] - n_test)
        n_tested = away.argmin(axis=1) + 1
        inside = np.zeros(candidates.shape, dtype=bool)
        np.put_along_axis(inside, order, np.arange(count) < n_tested[:, None], axis=1)
        by_split = inside.reshape(-1, tries, count)
        class_counts = by_split.astype(np.int64) @ table
        rows_inside = class_counts.sum(axis=2, keepdims=True)
        off = np.abs(class_counts * len(groups) - rows_inside * table.sum(axis=0)).sum(axis=2)
        tested_groups[rows] = by_split[np.arange(len(by_split)), off.argmin(axis=1)]
    return tested_groups[:, groups]


def bootstrap(
    n: int,
    *,
    seed: int,
    classes: Indices | None,
    groups: Indices | None,
    folds: int,
    **_: Any,
) -> Drawn:
    """Return (folds, n) how often each sample holds each row, or its group.

    Each sample draws n rows with replacement, each class from its own rows, or whole groups. A
    sample that holds every row leaves nothing to test and is redrawn from the same stream.
    """
    strata = _strata(n, classes) if groups is None else _strata(int(groups.max()) + 1, None)
    n, sizes = len(strata), np.bincount(strata)
    if sizes.max() == 1:
        raise ArgumentError(
            "A stratified bootstrap needs a class of at least 2 rows; otherwise no row is ever "
            "left out. Use ",
            use(stratified=False),
            ".",
        )
    by_class = np.argsort(strata, kind="stable")
    class_at = strata[by_class]
    first = (np.cumsum(sizes) - sizes)[class_at]
    size = sizes[class_at].astype(np.uint64)

    def count(keys: Keys) -> Drawn:
        # the remainder favours no row by more than n / 2^64
        rows = by_class[first + (keys % size).astype(np.int64)]
        rows += n * np.arange(len(keys))[:, None]
        return np.bincount(rows.ravel(), minlength=keys.size).reshape(keys.shape).astype(np.int32)

    drawn = np.empty((folds, n), dtype=np.int32)
    for rows, keys in blocks_of_keys(seed, BOOTSTRAP, folds, n):
        drawn[rows] = count(keys)
    for number in np.flatnonzero(drawn.min(axis=1) > 0):
        skip = n
        while drawn[number].min() > 0:
            keys = raw_keys(seed, BOOTSTRAP, int(number), n, skip=skip)
            drawn[number] = count(keys[None, :])[0]
            skip += n
    return drawn if groups is None else drawn[:, groups]
