"""Random bits that mean the same on every machine and with every version of numpy.

numpy keeps the streams of its bit generators and of SeedSequence fixed, but not the methods of
Generator (`permutation`, `shuffle`, `integers`). So only `PCG64.random_raw` is used, and what is
made of the bits (sorting rows by a random key, remainders) is written out here and in the
neighbouring modules. Run r has a stream of its own, so it does not depend on how many runs
there are.
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

# Part of every seed: changing one of these numbers changes every plan of that sort.
FOLDS, RANDOM_SPLITS, BOOTSTRAP, HALVES = 1, 2, 3, 4

_MAX_KEYS = 1 << 22
"""Random keys held at once (32 MiB)."""


def seed_of(random_state: RandomState) -> int:
    """The whole number that fixes a plan: given, drawn from a Generator, or fresh for None."""
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
    """`width` raw 64-bit keys of stream `number`, after the first `skip` of them."""
    stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(purpose, number)))
    return stream.random_raw(skip + width)[skip:]


def seed_within(seed: int, purpose: int, *numbers: int) -> int:
    """The seed of one of several plans that a plan holds."""
    stream = np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))
    return int(stream.generate_state(1, np.uint64)[0])


def blocks_of_keys(seed: int, purpose: int, count: int, width: int) -> Iterator[tuple[slice, Keys]]:
    """The keys of streams 0 to `count` - 1, one row each, a block of rows at a time."""
    step = max(1, _MAX_KEYS // max(width, 1))
    for start in range(0, count, step):
        stop = min(start + step, count)
        keys = np.empty((stop - start, width), dtype=np.uint64)
        for number in range(start, stop):
            keys[number - start] = raw_keys(seed, purpose, number, width)
        yield slice(start, stop), keys


def ranks(keys: Keys) -> Indices:
    """The rank of every key in its row, from 0; ties (one in 2^64) go to the left one."""
    order = np.argsort(keys, axis=1, kind="stable")
    out = np.empty_like(order)
    np.put_along_axis(out, order, np.arange(keys.shape[1])[None, :], axis=1)
    return out


def shuffled_within(keys: Keys, part: Indices, n_parts: int) -> Indices:
    """In every row, the positions sorted by place and shuffled inside each place.

    `place` (broadcast against `keys`) holds numbers from 0 to `n_places` - 1. They take the top
    bits of the key and the random bits move down, so that one sort does both; a stable sort, so
    that the result is the same everywhere.
    """
    bits = (n_parts - 1).bit_length()
    if bits:
        top = part.astype(np.uint64) << np.uint64(64 - bits)
        keys = (keys >> np.uint64(bits)) | top
    return np.argsort(keys, axis=1, kind="stable")


# Labels and groups as small whole numbers: all that a plan may know of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Rows by kind: `codes` number the kinds by first appearance, so names never matter."""

    codes: Indices
    names: tuple[Any, ...]
    sizes: Indices

    @property
    def count(self) -> int:
        """How many kinds there are."""
        return len(self.names)

    @classmethod
    def single(cls, n: int) -> Labelling:
        """All `n` rows of one kind."""
        return cls(codes=np.zeros(n, dtype=np.int64), names=("all",), sizes=np.array([n]))

    @classmethod
    def of(cls, column: npt.NDArray[Any], where: str) -> Labelling:
        """The kinds in a column that `column_of` has cleaned."""
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
                    f"{where} must hold labels that can be told apart (text, numbers, booleans); "
                    "got values that cannot be hashed."
                ) from None
            codes = codes.astype(np.int64)
            names = tuple(seen)
        return cls(codes=codes, names=names, sizes=np.bincount(codes, minlength=len(names)))


def column_of(values: Any, where: str, n: int) -> npt.NDArray[Any]:
    """`values` as one array of `n` values without gaps."""
    try:
        column = np.asarray(values)
    except ValueError:
        raise ArgumentError(
            f"{where} must be one value per row; got rows of unlike length."
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
            f"{where} must have no missing values; row {int(np.argmax(gaps))} has none "
            f"({int(gaps.sum())} such of {n})."
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
    """Whether a target names classes: text, booleans, whole numbers, categories.

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
    """Whether a data frame library declared the values to be categories, whatever they are."""
    declared = str(getattr(values, "dtype", "")).lower()
    return declared == "category" or declared.startswith(("categorical", "enum"))


# Which fold tests which row: runs of k-fold cross-validation, and windows in order of time.


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
        class_rank = (
            ranks(keys[:, n:])[:, classes.codes] if n_class_keys else classes.codes[None, :]
        )
        order = shuffled_within(keys[:, :n], class_rank, classes.count)
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
    class_counts = np.zeros((len(order), folds, table.shape[1]), dtype=np.int64)
    loads = np.zeros((len(order), folds), dtype=np.int64)
    chosen = np.empty(order.shape, dtype=np.int32)
    out_of_question = np.int64(sizes.sum() + 1)
    for group in order.T:
        # Adding m to a class count c costs (c + m)^2 - c^2 = m (2 c + m): only m c varies.
        cost = (class_counts * (weights * table[group])[:, None, :]).sum(axis=2)
        cheapest = cost == cost.min(axis=1, keepdims=True)
        fold = np.where(cheapest, loads, out_of_question).argmin(axis=1)
        class_counts[runs, fold] += table[group]
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


# Random splits and bootstrap samples.


Tested = npt.NDArray[np.bool_]
Drawn = npt.NDArray[np.int32]

_N_CANDIDATES = 16
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


# Runs on parts of the rows: halves of them, or those that two folds leave to train on.


OUTSIDE = -1
"""The mark of a row that takes no part in a run on a half."""
TRAINS = 2
"""The mark of a row that trains in a nested run; the others test, and never train."""


def halves(
    n: int,
    classes: Labelling | None,
    groups: Labelling | None,
    *,
    halvings: int,
    folds: int,
    seed: int,
) -> FoldOf:
    """(2 halvings, n): the fold that tests each row of a half, `OUTSIDE` for the other half.

    The halves are drawn from all rows alike, whatever their class: the share of the classes is
    part of what varies from one data set to the next. The folds inside a half are stratified as
    those of the whole plan. Halving m depends on the seed and m alone.
    """
    units, unit = (n, "rows") if groups is None else (groups.count, "groups")
    if units < 2 * folds:
        raise ArgumentError(
            f"The folds of halves must be at most half of the {units} {unit}; got {folds}."
        )
    halving_seed = seed_within(seed, HALVES)
    if groups is None:
        first = split_at_random(
            Labelling.single(n), n_test=n // 2, splits=halvings, seed=halving_seed
        )
    else:
        first = split_groups_at_random(
            groups, None, n_test=n // 2, splits=halvings, seed=halving_seed
        )
    marks: FoldOf = np.full((2 * halvings, n), OUTSIDE, dtype=np.int32)
    for halving, inside in enumerate(first):
        for side, member in enumerate((inside, ~inside)):
            rows = np.flatnonzero(member)
            parts = _part(groups, rows)
            if parts is not None and parts.count < folds:
                raise ArgumentError(
                    f"The folds of halves must be at most as many as the {parts.count} groups of "
                    f"each half; got {folds}."
                )
            of = _part(classes, rows)
            fold_seed = seed_within(seed, HALVES, halving, side)
            marks[2 * halving + side, rows] = (
                deal(of or Labelling.single(len(rows)), runs=1, folds=folds, seed=fold_seed)
                if parts is None
                else deal_groups(parts, of, runs=1, folds=folds, seed=fold_seed)
            )[0]
    return marks


def nested(fold_of: npt.NDArray[np.int32], folds: int) -> FoldOf:
    """(runs * pairs of folds, n): 0 and 1 for the rows of the pair, `TRAINS` for all others."""
    first, second = np.triu_indices(folds, 1)
    without = np.repeat(fold_of, len(first), axis=0)
    pairs = [np.tile(fold, len(fold_of))[:, np.newaxis] for fold in (first, second)]
    marks: FoldOf = np.full(without.shape, TRAINS, dtype=np.int32)
    for number, fold in enumerate(pairs):
        marks[without == fold] = number
    return marks


def _part(labels: Labelling | None, rows: Indices) -> Labelling | None:
    return None if labels is None else Labelling.of(labels.codes[rows], "labels")


# The rows as the function of a registered plan marks them, checked.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarkedRows:
    """Marks as `Splits` holds them, and how many rows each split tests."""

    marks: npt.NDArray[Any]
    n_test: npt.NDArray[np.int64]


def marked_rows(
    entry: PlanEntry, n: int, *, runs: int, folds: int | None, **arguments: Any
) -> MarkedRows:
    """Call the function of `entry`, and refuse marks that are no plan of its kind."""
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
        f"plan {entry.name!r}: its function must give {what}; got an array of shape "
        f"{marks.shape} and type {marks.dtype}."
    )


# What a plan says about the rows it was made for: one sentence each.


_MAX_NAMED = 3
MAX_NUMERIC_CLASSES = 20
"""More different whole numbers than these, and than a fifth of the rows, are a quantity."""


def _of_classes(classes: Labelling, which: npt.NDArray[np.bool_]) -> str:
    """The classes in words, with their sizes: at most a few by name."""
    chosen = np.flatnonzero(which)
    named = [
        f"{classes.names[c]!r} ({int(classes.sizes[c])} row{'s' * (int(classes.sizes[c]) != 1)})"
        for c in chosen[:_MAX_NAMED]
    ]
    more = len(chosen) - len(named)
    listed = ", ".join(named) + (f" and {more} more" if more else "")
    return f"Class {listed}" if len(chosen) == 1 else f"Classes {listed}"


def one_class(classes: Labelling) -> list[str]:
    """Said when there is nothing to stratify."""
    if classes.count > 1:
        return []
    return [f"All rows are of class {classes.names[0]!r}: stratification changes nothing."]


def many_classes(classes: Labelling) -> list[str]:
    """Said of whole numbers that are taken for a quantity: nothing is stratified by them."""
    if classes.count <= max(MAX_NUMERIC_CLASSES, len(classes.codes) // 5):
        return []
    return [
        f"The {classes.count} different whole numbers in y are taken for a quantity, by which "
        "nothing is stratified; stratified=True takes them for class labels."
    ]


def fewer_than_folds(classes: Labelling, folds: int) -> list[str]:
    """Said of classes that cannot be in every fold."""
    few = classes.sizes < folds
    if not few.any():
        return []
    is_one = int(few.sum()) == 1
    each = "they are" if is_one else "the rows of each are"
    where = (
        f"{each} spread over that many folds, one per fold, and the other folds test none of them"
    )
    if classes.sizes[few].max() == 1:
        where = "one fold tests it" if is_one else "each is tested in one fold"
        where += ", and the other folds do not"
    sentence = (
        f"{_of_classes(classes, few)} {'has' if is_one else 'have'} fewer rows than the {folds} "
        f"folds: {where}."
    )
    return [sentence, *_never_trained(classes)]


def _never_trained(classes: Labelling) -> list[str]:
    single = classes.sizes == 1
    if not single.any():
        return []
    is_one = int(single.sum()) == 1
    return [
        f"{_of_classes(classes, single)} {'is' if is_one else 'are'} tested by learners that "
        f"never saw {'it' if is_one else 'them'}."
    ]


def untested_classes(classes: Labelling, tested: npt.NDArray[np.bool_]) -> list[str]:
    """Said of classes of which no split ever tests, or ever trains on, a row."""
    tested_classes = np.zeros(classes.count, dtype=bool)
    tested_classes[classes.codes[tested.any(axis=0)]] = True
    trained_classes = np.zeros(classes.count, dtype=bool)
    trained_classes[classes.codes[~tested.all(axis=0)]] = True
    notes = []
    for missing, participle in ((~tested_classes, "tested"), (~trained_classes, "trained on")):
        if missing.any():
            verb = "is" if int(missing.sum()) == 1 else "are"
            notes.append(f"{_of_classes(classes, missing)} {verb} never {participle}.")
    return notes


def best_effort(classes: Labelling, groups: Labelling) -> list[str]:
    """Said when groups stay whole and class shares are kept as far as that allows."""
    return [
        f"The {groups.count} groups stay whole, so the shares of the {classes.count} classes are "
        "kept only as far as that allows."
    ]


def same_runs(runs: int, distinct: int) -> list[str]:
    """Said when groups leave so little choice that runs repeat each other."""
    if distinct == runs:
        return []
    return [
        f"Only {distinct} of the {runs} runs differ: the groups leave no other way to fill the "
        "folds evenly."
    ]


def drawn_again(count: int) -> list[str]:
    """Said of bootstrap samples that left no row out."""
    if not count:
        return []
    times = "once" if count == 1 else f"{count} times"
    return [f"A sample that held every row, and so had none to test, was drawn again {times}."]
