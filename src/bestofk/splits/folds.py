"""Draw folds, random splits and bootstrap samples, the same on every machine.

numpy guarantees the streams of its bit generators and of SeedSequence, but not the methods of
Generator (`permutation`, `shuffle`, `integers`). This module therefore uses only
`PCG64.random_raw` and derives everything from its bits: rows are sorted by random keys, and draws
are remainders. Every run has its own stream, so it does not depend on the number of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import RandomState, refuse, whole
from bestofk._base.errors import ArgumentError
from bestofk._base.registry import resolve
from bestofk.splits.registry import PlanEntry

Keys = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]

# Part of every seed: changing one of these numbers changes every plan of that kind.
FOLDS, RANDOM_SPLITS, BOOTSTRAP = 1, 2, 3

_MAX_KEYS = 1 << 22
"""Random keys in memory at once (32 MiB)."""


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


def seed_within(seed: int, purpose: int, *numbers: int) -> int:
    """Return the seed of one of several plans within a plan."""
    stream = np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))
    return int(stream.generate_state(1, np.uint64)[0])


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


# Labels and groups as integer codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Rows by label: `codes` number the labels by first appearance, so names never matter."""

    codes: Indices
    names: tuple[Any, ...]
    sizes: Indices

    @property
    def count(self) -> int:
        """The number of labels."""
        return len(self.names)

    @classmethod
    def single(cls, n: int) -> Labelling:
        """Give all `n` rows the same label."""
        return cls(codes=np.zeros(n, dtype=np.int64), names=("all",), sizes=np.array([n]))

    @classmethod
    def of(cls, column: npt.NDArray[Any], where: str) -> Labelling:
        """Number the labels of a column that `column_of` has checked."""
        if column.dtype.kind in "biufSU":
            values, first, inverse = np.unique(column, return_index=True, return_inverse=True)
            by_appearance = np.argsort(first, kind="stable")
            number = np.empty(len(values), dtype=np.int64)
            number[by_appearance] = np.arange(len(values))
            codes = number[inverse.reshape(-1)]
            names = tuple(values[by_appearance].tolist())
        else:
            seen: dict[Any, int] = {}
            try:
                codes = np.array([seen.setdefault(v, len(seen)) for v in column.tolist()])
            except TypeError:
                raise ArgumentError(
                    f"{where} must hold text, numbers or booleans; got values that cannot be "
                    "hashed."
                ) from None
            codes = codes.astype(np.int64)
            names = tuple(seen)
        return cls(codes=codes, names=names, sizes=np.bincount(codes, minlength=len(names)))


def equal_groups(sizes: Any) -> int:
    """Return the number of groups of equal size that show as much as groups of these sizes.

    The mean over all rows depends mostly on the large groups, so its variance comes from few of
    them.

    Examples
    --------
    >>> equal_groups([5] * 20), equal_groups([16] * 4 + [4] * 16)
    (20, 9)
    """
    from bestofk.stats.pairwise.clustered import degrees_of_freedom

    return round(degrees_of_freedom(np.asarray(sizes, dtype=np.float64))) + 1


def column_of(values: Any, where: str, n: int) -> npt.NDArray[Any]:
    """Return `values` as one array of `n` values without missing values."""
    try:
        column = np.asarray(values)
    except ValueError:
        raise ArgumentError(
            f"{where} must be one value per row; got rows of different lengths."
        ) from None
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ArgumentError(f"{where} must be one value per row; got shape {column.shape}.")
    if len(column) != n:
        raise ArgumentError(
            f"{where} must hold one value for each of the {n} rows; got {len(column)}."
        )
    gaps = _gaps(column)
    if gaps.any():
        raise ArgumentError(
            f"{where} must have no missing values; row {int(np.argmax(gaps))} is missing "
            f"({int(gaps.sum())} of {n})."
        )
    return column


def _gaps(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if column.dtype.kind in "fc":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind in "biuSU":
        return np.zeros(len(column), dtype=bool)
    return np.array([_is_gap(value) for value in column.tolist()], dtype=bool)


def _is_gap(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def are_labels(column: npt.NDArray[Any]) -> bool:
    """Return whether a target holds class labels: text, booleans, whole numbers, categories.

    Numbers with a fractional part, times and complex numbers are quantities.
    """
    kind = column.dtype.kind
    if kind == "f":
        return bool(np.all(np.isfinite(column)) and np.all(column == np.floor(column)))
    if kind == "O":
        return all(
            not isinstance(value, float | np.floating) or float(value).is_integer()
            for value in column.tolist()
        )
    return kind not in "cmM"


def is_categorical(values: Any) -> bool:
    """Return whether a data frame library declares the values to be categories."""
    declared = str(getattr(values, "dtype", "")).lower()
    return declared == "category" or declared.startswith(("categorical", "enum"))


# Runs of k-fold cross-validation, and time windows


FoldOf = npt.NDArray[np.int32]
Signed = npt.NDArray[np.int8]


def deal(classes: Labelling, *, runs: int, folds: int, seed: int) -> FoldOf:
    """Return the fold of every row in every run, stratified by class.

    In every run the classes are concatenated in random order, each with its rows in random order,
    and the row at position p goes to fold p mod k. The rows of a class are neighbours, so their
    counts per fold differ by at most one. So do the fold sizes: with m = floor(n / k) and
    p = n mod k, the first p folds have m + 1 rows and the others m.
    """
    n = len(classes.codes)
    # a single class needs no keys to order the classes
    n_class_keys = classes.count if classes.count > 1 else 0
    fold_of = np.empty((runs, n), dtype=np.int32)
    dealt = (np.arange(n) % folds).astype(np.int32)[None, :]
    for rows, keys in blocks_of_keys(seed, FOLDS, runs, n + n_class_keys):
        class_rank = (
            ranks(keys[:, n:])[:, classes.codes] if n_class_keys else classes.codes[None, :]
        )
        order = shuffled_within(keys[:, :n], class_rank, classes.count)
        np.put_along_axis(fold_of[rows], order, dealt, axis=1)
    return fold_of


def deal_groups(
    groups: Labelling, classes: Labelling | None, *, runs: int, folds: int, seed: int
) -> FoldOf:
    """Return the fold of every row in every run, with every group entirely in one fold.

    Assign the groups one by one, in random order, to the fold that has the fewest rows so far. No
    two folds then differ by more rows than the largest group has. With `classes`, a group goes to
    the fold that has the fewest rows of the group's classes (rare classes weigh more), and to the
    smallest of several such folds.

    The order must not depend on the sizes: with large groups first, every fold has about the same
    number of large groups, and the folds do not show how much the loss depends on that number.
    """
    sizes = groups.sizes
    table = _class_table(groups, classes)
    weights = table.sum(axis=0).max() // table.sum(axis=0)
    fold_of_group = np.empty((runs, groups.count), dtype=np.int32)
    for rows, keys in blocks_of_keys(seed, FOLDS, runs, groups.count):
        order = np.argsort(keys, axis=1, kind="stable")
        fold_of_group[rows] = _greedy(order, table, weights, sizes, folds)
    return fold_of_group[:, groups.codes]


def _class_table(groups: Labelling, classes: Labelling | None) -> Indices:
    """Count the rows of each class in each group, shape (groups, classes)."""
    codes, count = (classes.codes, classes.count) if classes else (0 * groups.codes, 1)
    flat = np.bincount(groups.codes * count + codes, minlength=groups.count * count)
    return flat.reshape(groups.count, count).astype(np.int64)


def _greedy(order: Indices, table: Indices, weights: Indices, sizes: Indices, folds: int) -> FoldOf:
    """Assign group by group, all runs at once; in integers, so that ties are exact."""
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


def distinct_partitions(fold_of: FoldOf) -> int:
    """Count the runs that differ in more than the numbering of their folds."""
    seen = set()
    for row in fold_of:
        _, first, inverse = np.unique(row, return_index=True, return_inverse=True)
        seen.add(np.argsort(np.argsort(first))[inverse.reshape(-1)].astype(np.int32).tobytes())
    return len(seen)


def expanding_windows(n: int, windows: int) -> Signed:
    """Return marks (windows, n): -1 for test rows, 1 for training rows, 0 for later rows.

    The rows form windows + 1 parts of n // (windows + 1) rows; the first part also takes the
    remaining rows. Part p + 1 is tested by models trained on the parts up to p. These are the
    splits of scikit-learn's ``TimeSeriesSplit(windows)``.
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


# Random splits and bootstrap samples


Tested = npt.NDArray[np.bool_]
Drawn = npt.NDArray[np.int32]

_N_CANDIDATES = 16
"""Random orders of groups, of which the one with the best class shares is used."""


def rows_to_test(n: int, fraction: float) -> int:
    """Round `fraction` of `n` to the nearest integer, halves up, from the decimals as written."""
    return int(Fraction(repr(fraction)) * n + Fraction(1, 2))


def split_at_random(classes: Labelling, *, n_test: int, splits: int, seed: int) -> Tested:
    """Return which rows each split tests: `n_test` rows, each class by its share.

    A class of m rows has the quota m n_test / n. The rows that are left after rounding down go to
    the largest remainders, equal remainders in random order.
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
    """Return 1 for the `left` largest remainders of every row, equal ones by random keys."""
    shuffled = np.argsort(keys, axis=1, kind="stable")
    descending = np.argsort(-remainder[shuffled], axis=1, kind="stable")
    winners = np.take_along_axis(shuffled, descending, axis=1)[:, :left]
    out = np.zeros(keys.shape, dtype=np.int64)
    np.put_along_axis(out, winners, 1, axis=1)
    return out


def split_groups_at_random(
    groups: Labelling, classes: Labelling | None, *, n_test: int, splits: int, seed: int
) -> Tested:
    """Return which rows each split tests, with every group entirely on one side.

    Put the groups in random order and test the first ones: the number of groups that comes
    nearest to `n_test` rows (the smaller one of two), at least one and not all. With `classes`,
    try several random orders and use the one whose class shares in the test part are nearest to
    those of all rows.
    """
    n, count = len(groups.codes), groups.count
    tries = _N_CANDIDATES if classes is not None else 1
    tested_groups = np.zeros((splits, count), dtype=bool)
    for rows, keys in blocks_of_keys(seed, RANDOM_SPLITS, splits, tries * count):
        candidates = keys.reshape(-1, count)
        order = np.argsort(candidates, axis=1, kind="stable")
        away = np.abs(np.cumsum(groups.sizes[order], axis=1)[:, :-1] - n_test)
        n_tested = away.argmin(axis=1) + 1
        inside = np.zeros(candidates.shape, dtype=bool)
        np.put_along_axis(inside, order, np.arange(count) < n_tested[:, None], axis=1)
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
    class_counts = inside.astype(np.int64) @ table.reshape(groups.count, classes.count)
    rows_inside = class_counts.sum(axis=2, keepdims=True)
    off = np.abs(class_counts * n - rows_inside * classes.sizes).sum(axis=2)
    return np.asarray(off.argmin(axis=1), dtype=np.int64)


def draw_with_replacement(classes: Labelling, *, samples: int, seed: int) -> tuple[Drawn, int]:
    """Return how often each sample holds each row, and how often a sample was redrawn.

    Each sample draws n rows with replacement, each class from its own rows. A sample that holds
    every row leaves nothing to test and is redrawn from the same stream.
    """
    n = len(classes.codes)
    by_class = np.argsort(classes.codes, kind="stable")
    class_at = classes.codes[by_class]
    first = (np.cumsum(classes.sizes) - classes.sizes)[class_at]
    size = classes.sizes[class_at].astype(np.uint64)

    def count(keys: Keys) -> Drawn:
        # the remainder favours no row by more than n / 2^64
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


# Nested runs without two folds


TRAINS = 2
"""Mark of a training row of a nested run; all other rows are tested."""


def nested(fold_of: npt.NDArray[np.int32], folds: int) -> FoldOf:
    """Return marks (runs * pairs of folds, n): 0 and 1 for the pair, `TRAINS` for other rows."""
    first, second = np.triu_indices(folds, 1)
    without = np.repeat(fold_of, len(first), axis=0)
    pairs = [np.tile(fold, len(fold_of))[:, np.newaxis] for fold in (first, second)]
    marks: FoldOf = np.full(without.shape, TRAINS, dtype=np.int32)
    for number, fold in enumerate(pairs):
        marks[without == fold] = number
    return marks


# Plans of other packages


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarkedRows:
    """Marks in the form of `Splits`, and the number of test rows of each split."""

    marks: npt.NDArray[Any]
    n_test: npt.NDArray[np.int64]


def marked_rows(
    entry: PlanEntry, n: int, *, runs: int, folds: int | None, **arguments: Any
) -> MarkedRows:
    """Call the function of `entry` and check that its marks are valid for its kind."""
    assert folds is not None
    marks = np.asarray(resolve(entry.function)(n, runs=runs, folds=folds, **arguments))
    if entry.kind == "cv":
        shape, fits = (runs, n), marks.dtype.kind in "iu"
        what = f"({runs}, {n}) whole numbers from 0 to {folds - 1}, each of them in every run"
    else:
        shape, fits = (folds, n), marks.dtype.kind == "b"
        what = f"({folds}, {n}) booleans, some and not all of them true in every row"
    if fits and marks.shape == shape:
        if entry.kind == "cv":
            tested = np.stack([(marks == fold).sum(axis=1) for fold in range(folds)], axis=1)
            fits = bool(tested.all()) and bool((tested.sum(axis=1) == n).all())
            marks = marks.astype(np.int32)
        else:
            tested = marks.sum(axis=1)
            fits = bool(((tested > 0) & (tested < n)).all())
        if fits:
            return MarkedRows(marks=marks, n_test=tested.astype(np.int64))
    raise ArgumentError(
        f"The function of plan {entry.name!r} must return {what}; got an array of shape "
        f"{marks.shape} and type {marks.dtype}."
    )
