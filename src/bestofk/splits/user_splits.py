"""Splits of your own: rows that train and test, checked, and the structure that they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import ArgumentError
from bestofk.splits.design import Design
from bestofk.splits.folds import FoldOf, Indices, Labelling
from bestofk.splits.splits import TESTED, Splits, distinct_rows

Pair = tuple[Indices, Indices]
MAX_SIZE_RATIO = 2.0
"""Random splits whose sizes differ by more are not taken for such."""
MAX_DEVIATIONS = 4.0
"""Standard deviations by which test parts may overlap more than random ones do on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a list of splits is: the kind of its design, its marks and what is to be said."""

    kind: str
    runs: int
    marks: npt.NDArray[Any]
    notes: tuple[str, ...] = ()


def splits_of_pairs(
    pairs: Sequence[Any], n: int, groups: Labelling | None, *, spec: str = "", notes: Sequence[str]
) -> Splits:
    """The splits of (train, test) rows for `n` rows, as the design that they have.

    Without `spec` they are named by what they are: ``own:`` and the beginning of a fingerprint.
    """
    clean = checked_pairs(pairs, n)
    if groups is not None:
        refuse_divided_groups(clean, groups)
    detected = structure(clean, n, groups)
    marks = detected.marks
    if not spec:
        content = sha256(f"{detected.kind} {detected.runs} {marks.shape} ".encode())
        content.update(np.ascontiguousarray(marks, dtype="<i4").tobytes())
        spec = f"own:{content.hexdigest()[:12]}"
    design = Design(
        kind=detected.kind,
        runs=detected.runs,
        folds=len(clean) // detected.runs,
        n_train=tuple(distinct_rows(train) for train, _ in clean),
        n_test=tuple(len(test) for _, test in clean),
        groups=None if groups is None else groups.count,
    )
    notes_ = (*notes, *detected.notes)
    return Splits.of(spec=spec, seed=0, design=design, marks=marks, notes=notes_)


def checked_pairs(pairs: Sequence[Any], n: int) -> list[Pair]:
    """Ascending rows that train and that test, of every split; refuses what is no split."""
    if not len(pairs):
        raise ArgumentError("plan must hold at least one split into training and test rows.")
    clean: list[Pair] = []
    seen: dict[bytes, int] = {}
    for number, pair in enumerate(pairs, start=1):
        try:
            given_train, given_test = pair
        except (TypeError, ValueError):
            raise ArgumentError(
                f"plan must hold pairs of training and test rows; split {number} is no pair."
            ) from None
        train = _rows(given_train, n, f"the training rows of split {number}")
        test = _rows(given_test, n, f"the test rows of split {number}")
        if distinct_rows(test) < len(test):
            twice = int(test[1:][test[1:] == test[:-1]][0])
            raise ArgumentError(f"The test rows of split {number} must differ; row {twice} is "
                                "there twice.")  # fmt: skip
        trains = np.zeros(n, dtype=bool)
        trains[train] = True
        both = int(trains[test].sum())
        if both:
            row = int(test[trains[test]][0])
            raise ArgumentError(
                f"No row may train and test in one split; in split {number} {both} "
                f"{'rows do' if both > 1 else 'row does'} (row {row})."
            )
        content = sha256(train.tobytes() + b"|" + test.tobytes()).digest()
        if content in seen:
            raise ArgumentError(
                f"Split {number} repeats split {seen[content]}, from which nothing new is learnt: "
                "leave it out."
            )
        seen[content] = number
        clean.append((train, test))
    return clean


def _rows(rows_or_mask: Any, n: int, where: str) -> Indices:
    """Row numbers, or one truth value for every row, as ascending row numbers."""
    rows = np.asarray(rows_or_mask)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise ArgumentError(
                f"{where} as truth values must be one for each of the {n} rows; got shape "
                f"{rows.shape}."
            )
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ArgumentError(
            f"{where} must be row numbers (or one truth value per row); got {rows_or_mask!r:.60}."
        )
    if not rows.size:
        raise ArgumentError(f"{where} must be at least one; got none.")
    if rows.min() < 0 or rows.max() >= n:
        strange = int(rows.min() if rows.min() < 0 else rows.max())
        raise ArgumentError(f"{where} must be from 0 to {n - 1}; got {strange}.")
    return np.sort(rows.astype(np.int64))


def refuse_divided_groups(pairs: Sequence[Pair], groups: Labelling) -> None:
    """Refuse splits that have a group on both sides."""
    inside = np.zeros(groups.count, dtype=bool)
    for number, (train, test) in enumerate(pairs, start=1):
        inside[:] = False
        inside[groups.codes[train]] = True
        divided = groups.codes[test][inside[groups.codes[test]]]
        if len(divided):
            raise ArgumentError(
                f"No group may train and test in one split; in split {number} group "
                f"{groups.names[int(divided[0])]!r} does. A plan that keeps groups whole is "
                f"'group-kfold:{min(5, groups.count)}' or scikit-learn's GroupKFold; or leave "
                "groups out."
            )


def structure(pairs: Sequence[Pair], n: int, groups: Labelling | None) -> Structure:
    """Which design a list of splits has, the most particular first."""
    if len(pairs) == 1:
        return Structure(
            kind="holdout", runs=1, marks=_plain_or_signed(pairs, n), notes=_left_out(pairs, n)
        )
    fold_of = _runs_of_folds(pairs, n)
    if fold_of is not None:
        alone = len(pairs) == n * len(fold_of)
        kind = "loo" if alone and len(fold_of) == 1 else "cv"
        return Structure(kind=kind, runs=len(fold_of), marks=fold_of)
    if _in_time(pairs):
        return Structure(kind="time", runs=1, marks=signed(pairs, n), notes=_gaps(pairs))
    drawn = _drawn(pairs, n)
    if drawn is not None:
        return Structure(kind="bootstrap", runs=1, marks=drawn)
    marks = _plain_or_signed(pairs, n)
    notes = _left_out(pairs, n)
    kind = "resample" if _like_random_splits(pairs, n, groups) else "splits"
    if kind == "resample" and sum(len(test) for _, test in pairs) <= n and _disjoint(pairs, n):
        notes = (*notes, "No row is tested twice; the test is that of random splits.")
    return Structure(kind=kind, runs=1, marks=marks, notes=notes)


def _runs_of_folds(pairs: Sequence[Pair], n: int) -> FoldOf | None:
    """(runs, n): the fold of every row, where the splits are runs of folds one after the other."""
    runs: list[FoldOf] = []
    sizes: set[int] = set()
    current: FoldOf = np.full(n, -1, dtype=np.int32)
    fold = 0
    for train, test in pairs:
        trains_on_the_others = len(train) == distinct_rows(train) == n - len(test)
        if not trains_on_the_others or (current[test] >= 0).any():
            return None
        current[test] = fold
        fold += 1
        if current.min() >= 0:
            runs.append(current)
            sizes.add(fold)
            current, fold = np.full(n, -1, dtype=np.int32), 0
    return np.stack(runs) if fold == 0 and len(sizes) == 1 else None


def _in_time(pairs: Sequence[Pair]) -> bool:
    """Whether rows train before those that they test, window after window."""
    last = -1
    for train, test in pairs:
        if train[-1] >= test[0] or test[0] <= last:
            return False
        last = int(test[-1])
    return True


def _drawn(pairs: Sequence[Pair], n: int) -> npt.NDArray[np.int32] | None:
    """(samples, n): how often each row trains, where the rows that do not train are tested."""
    if not any(distinct_rows(train) < len(train) for train, _ in pairs):
        return None
    if any(len(train) != n or distinct_rows(train) != n - len(test) for train, test in pairs):
        return None
    return np.stack([np.bincount(train, minlength=n).astype(np.int32) for train, _ in pairs])


def signed(pairs: Sequence[Pair], n: int) -> npt.NDArray[Any]:
    """(splits, n): `TESTED` where the row is tested, else how often it trains."""
    often = max(int(np.bincount(train).max()) for train, _ in pairs)
    marks = np.zeros((len(pairs), n), dtype=np.int8 if often < 128 else np.int32)
    for row, (train, test) in zip(marks, pairs, strict=True):
        row[:] = np.bincount(train, minlength=n)
        row[test] = TESTED
    return marks


def _plain_or_signed(pairs: Sequence[Pair], n: int) -> npt.NDArray[Any]:
    """Truth values where every other row trains once, else signed marks."""
    if any(len(train) != n - len(test) or distinct_rows(train) < len(train)
           for train, test in pairs):  # fmt: skip
        return signed(pairs, n)
    marks = np.zeros((len(pairs), n), dtype=bool)
    for row, (_, test) in zip(marks, pairs, strict=True):
        row[test] = True
    return marks


def _like_random_splits(pairs: Sequence[Pair], n: int, groups: Labelling | None) -> bool:
    """Sizes are alike, and test parts share no more rows than random ones of their size would.

    The correction for random splits takes two test parts to share n_test / (n_train + n_test) of
    their rows. Fewer, or none, make it too careful and not too bold.
    """
    n_train = np.array([distinct_rows(train) for train, _ in pairs], dtype=np.float64)
    n_test = np.array([len(test) for _, test in pairs], dtype=np.float64)
    if (
        n_train.max() > MAX_SIZE_RATIO * n_train.min()
        or n_test.max() > MAX_SIZE_RATIO * n_test.min()
    ):
        return False
    times = np.zeros(n, dtype=np.int64)
    for _, test in pairs:
        times[test] += 1
    many = len(pairs) * (len(pairs) - 1) / 2
    shared = float((times * (times - 1)).sum()) / 2 / many / n_test.mean()
    expected = float(n_test.mean() / (n_train.mean() + n_test.mean()))
    # whole groups are drawn, so fewer units than rows: as many as equal groups would be
    alike = n if groups is None else float(n**2 / np.square(groups.sizes).sum())
    tested = max(1.0, alike * float(n_test.mean()) / n)
    spread = np.sqrt(expected / tested) * (1 - expected) / np.sqrt(many)
    return bool(shared <= expected + MAX_DEVIATIONS * spread)


def _disjoint(pairs: Sequence[Pair], n: int) -> bool:
    return int(np.bincount(np.concatenate([test for _, test in pairs]), minlength=n).max()) == 1


def _gaps(pairs: Sequence[Pair]) -> tuple[str, ...]:
    gap = max(int(test[0] - train[-1]) - 1 for train, test in pairs)
    if not gap:
        return ()
    rows = "1 row is" if gap == 1 else f"{gap} rows are"
    return (f"Up to {rows} left out between training and test rows.",)


def _left_out(pairs: Sequence[Pair], n: int) -> tuple[str, ...]:
    """Rows that no split uses, that none tests, and that take no part in some split."""
    used, tested = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    idle = 0
    for train, test in pairs:
        used[train] = used[test] = tested[test] = True
        idle = max(idle, n - distinct_rows(train) - len(test))
    notes = []
    unused, untested = int(n - used.sum()), int((used & ~tested).sum())
    if unused:
        notes.append(f"{_count(unused, n)} in no split.")
    if idle > unused:
        notes.append(f"A split leaves out up to {idle} of the {n} rows.")
    if untested and len(pairs) > 1:
        notes.append(f"{_count(untested, n)} never tested.")
    if any(distinct_rows(train) < len(train) for train, _ in pairs):
        notes.append("Rows that are listed more than once train as often.")
    return tuple(notes)


def _count(rows: int, n: int) -> str:
    return f"{rows} of the {n} rows {'is' if rows == 1 else 'are'}"
