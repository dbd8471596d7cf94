"""Your own splits: from a splitter, pairs of rows or a column to the design that they have."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, Part, UnknownNameError, use
from bestofk._base.formatting import shortened
from bestofk.splits.folds import FoldOf, Indices
from bestofk.splits.plans import YOUR_SPLITS
from bestofk.splits.splits import TESTED, Labelling, Splits, column_of, distinct_rows

Pair = tuple[Indices, Indices]
MAX_SIZE_RATIO = 2.0
"""Maximum ratio of the sizes of splits that are recognised as random splits."""
MAX_DEVIATIONS = 4.0
"""Standard deviations by which the overlap of test parts may exceed that of random splits."""
_TRAINS = ("train", "training")
_TESTS = ("test", "testing")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitSource:
    """A scikit-learn splitter, pairs of rows, or the name of a column: exactly one of them."""

    splitter: Any = None
    pairs: tuple[Any, ...] = ()
    column: str = ""

    @property
    def spec(self) -> str:
        """The specification before the rows are known."""
        return f"predefined:{self.column}" if self.column else YOUR_SPLITS

    def splits(
        self, n: int, y: Any, groups: Labelling | None, given_groups: Any, *, seed: int, X: Any
    ) -> Splits:
        """Make the splits for `n` rows."""
        if self.column:
            return self._by_column(n, groups, X)
        if self.splitter is None:
            notes = [f"The {len(self.pairs)} splits are your own."]
            return splits_of_pairs(self.pairs, n, groups, notes=notes)
        splitter, note = _seeded(self.splitter, seed)
        shown = _shown(self.splitter)
        rows = np.zeros((n, 1)) if X is None else X
        target = None if y is None else np.asarray(y)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                pairs = list(splitter.split(rows, target, given_groups))
        except Exception as raised:
            # a splitter may raise any exception
            reason = " ".join(str(raised).split())[:200]
            hint: tuple[Part, ...] = ()
            if given_groups is None and "groups" in reason:
                hint = (" Pass ", use(groups=...))
            raise ArgumentError(
                f"plan {shown} cannot split these rows: {reason.rstrip('.')}.", *hint
            ) from raised
        # ignored groups do not matter: splits that divide a group raise an error
        messages = {
            " ".join(str(message.message).split())
            for message in caught
            if message.category is UserWarning
        }
        note += sorted(
            message for message in messages if "groups parameter is ignored" not in message
        )
        return splits_of_pairs(pairs, n, groups, notes=[f"The splits are those of {shown}.", *note])

    def _by_column(self, n: int, groups: Labelling | None, X: Any) -> Splits:
        """Make folds from the values of a column; rows with -1 only train."""
        names = [] if X is None else list(getattr(X, "columns", []))
        if self.column not in names:
            if not names:
                raise ArgumentError(
                    f"plan {self.spec!r} needs the column {self.column!r}: pass the rows as a data "
                    "frame or a file that contains it."
                )
            raise UnknownNameError("column of folds", self.column, names)
        values = column_of(X[self.column], f"column {self.column!r}", n)
        folds = Labelling.of(values, f"column {self.column!r}")
        names_lower = [str(name).strip().lower() for name in folds.names]
        order = sorted(range(folds.count), key=lambda code: _sortable(folds.names[code]))
        if any(word in _TRAINS for word in names_lower):
            tests = [code for code in order if names_lower[code] in _TESTS]
            fits = folds.count == 2
        else:
            tests = [code for code in order if names_lower[code] not in ("-1", "-1.0")]
            fits = folds.count > 1
        if not (fits and tests):
            raise ArgumentError(
                f"column {self.column!r} must hold train and test, or at least 2 numbers of the "
                "fold that tests the row, with -1 for rows that only train; got "
                f"{shortened([repr(name) for name in folds.names], 5)}."
            )
        every = np.arange(n)
        pairs = [(every[folds.codes != code], every[folds.codes == code]) for code in tests]
        shown = shortened([repr(folds.names[code]) for code in tests], 8)
        subject = "The test rows come" if len(tests) == 1 else "The folds come"
        notes = [f"{subject} from column {self.column!r}: {shown}."]
        return splits_of_pairs(pairs, n, groups, spec=self.spec, notes=notes)


def split_source(spec: Any) -> SplitSource:
    """Return a splitter, or an iterable of (train, test), as the source of a plan."""
    if isinstance(spec, type) and hasattr(spec, "split"):
        raise ArgumentError(
            f"plan must be a splitter, not its class: write {spec.__name__}() instead of "
            f"{spec.__name__}."
        )
    if callable(getattr(spec, "split", None)):
        return SplitSource(splitter=spec)
    if isinstance(spec, int | np.integer) and not isinstance(spec, bool):
        raise ArgumentError(
            f"plan must be a text, a splitter or pairs of rows; got {spec}: for that many folds "
            f"write 'kfold:{max(2, int(spec))}'."
        )
    if isinstance(spec, Iterable) and not isinstance(spec, str | bytes | dict):
        return SplitSource(pairs=tuple(spec))
    raise refuse(
        "plan",
        "a text such as '10x10', a scikit-learn splitter, or pairs of training and test rows",
        spec,
    )


def _shown(splitter: Any) -> str:
    """Show the splitter in a line; only its class if the repr is long or a memory address."""
    text = " ".join(repr(splitter).split())
    return type(splitter).__name__ if " at 0x" in text or len(text) > 160 else text


def _draws(splitter: Any) -> bool:
    """Return whether the splitter is random: it has a seed, and shuffling is not off."""
    return hasattr(splitter, "random_state") and getattr(splitter, "shuffle", True) is not False


def _seeded(splitter: Any, seed: int) -> tuple[Any, list[str]]:
    """Return a copy with reproducible splits, and a note if it needed a seed."""
    copied = deepcopy(splitter)
    if not _draws(splitter) or getattr(splitter, "random_state", None) is not None:
        return copied, []
    copied.random_state = seed
    return copied, [f"It has no seed; bestofk used {seed}."]


def _sortable(value: Any) -> tuple[int, float, str]:
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0.0, str(value)


def splits_of_pairs(
    pairs: Sequence[Any],
    n: int,
    groups: Labelling | None,
    *,
    spec: str = YOUR_SPLITS,
    notes: Sequence[str],
) -> Splits:
    """Make splits of `n` rows from (train, test) pairs and detect their design."""
    clean = checked_pairs(pairs, n)
    if groups is not None:
        refuse_divided_groups(clean, groups)
    kind, marks, found = _structure(clean, n, groups)
    return Splits.of(
        spec=spec, seed=0, kind=kind, marks=marks, notes=(*notes, *found), groups=groups
    )


def checked_pairs(pairs: Sequence[Any], n: int) -> list[Pair]:
    """Check the pairs and return the ascending training and test rows of every split."""
    if not len(pairs):
        raise ArgumentError("plan must hold at least one split into training and test rows.")
    clean: list[Pair] = []
    seen: dict[bytes, int] = {}
    for number, pair in enumerate(pairs, start=1):
        try:
            given_train, given_test = pair
        except (TypeError, ValueError):
            raise ArgumentError(
                f"plan must hold pairs of training and test rows; split {number} is not a pair."
            ) from None
        train = _rows(given_train, n, f"the training rows of split {number}")
        test = _rows(given_test, n, f"the test rows of split {number}")
        if distinct_rows(test) < len(test):
            twice = int(test[1:][test[1:] == test[:-1]][0])
            raise ArgumentError(f"The test rows of split {number} must differ; row {twice} "
                                "appears twice.")  # fmt: skip
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
                f"Split {number} repeats split {seen[content]} and adds no information: remove it."
            )
        seen[content] = number
        clean.append((train, test))
    return clean


def _rows(rows_or_mask: Any, n: int, where: str) -> Indices:
    """Return row numbers, or one boolean per row, as ascending row numbers."""
    rows = np.asarray(rows_or_mask)
    if rows.dtype == bool and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    numbers = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
    if not numbers or rows.min() < 0 or rows.max() >= n:
        must = f"row numbers from 0 to {n - 1}, at least one, or a boolean for each of the {n} rows"
        raise refuse(where, must, rows_or_mask)
    return np.sort(rows.astype(np.int64))


def refuse_divided_groups(pairs: Sequence[Pair], groups: Labelling) -> None:
    """Raise if a split has a group on both sides."""
    inside = np.zeros(groups.count, dtype=bool)
    for number, (train, test) in enumerate(pairs, start=1):
        inside[:] = False
        inside[groups.codes[train]] = True
        divided = groups.codes[test][inside[groups.codes[test]]]
        if len(divided):
            raise ArgumentError(
                f"No group may train and test in one split; in split {number} group "
                f"{groups.names[int(divided[0])]!r} does. Use a plan that keeps groups together, "
                f"such as 'group-kfold:{min(5, groups.count)}' or scikit-learn's GroupKFold, or "
                "omit groups."
            )


def _structure(
    pairs: Sequence[Pair], n: int, groups: Labelling | None
) -> tuple[str, npt.NDArray[Any], list[str]]:
    """Return the kind of design of a list of splits, the most specific first; marks and notes."""
    fold_of = _runs_of_folds(pairs, n)
    if fold_of is not None:
        return "loo" if fold_of.shape == (1, len(pairs)) else "cv", fold_of, []
    notes = _left_out(pairs, n)
    marks = _plain_or_signed(pairs, n)
    if len(pairs) == 1:
        return "holdout", marks, notes
    if _in_time(pairs):
        return "time", signed(pairs, n), []
    drawn = _drawn(pairs, n)
    if drawn is not None:
        return "bootstrap", drawn, []
    times = np.bincount(np.concatenate([test for _, test in pairs]), minlength=n)
    if not _like_random_splits(pairs, times, groups):
        return "splits", marks, notes
    if times.max() == 1:
        notes.append("No row is tested twice; the splits are analysed as random splits.")
    return "resample", marks, notes


def _runs_of_folds(pairs: Sequence[Pair], n: int) -> FoldOf | None:
    """Return (runs, n) the fold of every row, or None if the splits are not runs of folds."""
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
    """Return whether all training rows precede the test rows, window after window."""
    last = -1
    for train, test in pairs:
        if train[-1] >= test[0] or test[0] <= last:
            return False
        last = int(test[-1])
    return True


def _drawn(pairs: Sequence[Pair], n: int) -> npt.NDArray[np.int32] | None:
    """Return (samples, n) how often each row trains, or None if these are no bootstrap samples."""
    if not any(distinct_rows(train) < len(train) for train, _ in pairs):
        return None
    if any(len(train) != n or distinct_rows(train) != n - len(test) for train, test in pairs):
        return None
    return np.stack([np.bincount(train, minlength=n).astype(np.int32) for train, _ in pairs])


def signed(pairs: Sequence[Pair], n: int) -> npt.NDArray[Any]:
    """Return (splits, n): `TESTED` for test rows, else how often the row trains."""
    often = max(int(np.bincount(train).max()) for train, _ in pairs)
    marks = np.zeros((len(pairs), n), dtype=np.int8 if often < 128 else np.int32)
    for row, (train, test) in zip(marks, pairs, strict=True):
        row[:] = np.bincount(train, minlength=n)
        row[test] = TESTED
    return marks


def _plain_or_signed(pairs: Sequence[Pair], n: int) -> npt.NDArray[Any]:
    """Return boolean marks if every other row trains once, else signed marks."""
    if any(len(train) != n - len(test) or distinct_rows(train) < len(train)
           for train, test in pairs):  # fmt: skip
        return signed(pairs, n)
    marks = np.zeros((len(pairs), n), dtype=bool)
    for row, (_, test) in zip(marks, pairs, strict=True):
        row[test] = True
    return marks


def _like_random_splits(pairs: Sequence[Pair], times: Indices, groups: Labelling | None) -> bool:
    """Return whether sizes are similar and test parts overlap no more than random ones do.

    The correction for random splits assumes that two test parts share n_test / (n_train + n_test)
    of their rows. Less overlap makes it conservative, never too liberal.
    """
    n_train = np.array([distinct_rows(train) for train, _ in pairs], dtype=np.float64)
    n_test = np.array([len(test) for _, test in pairs], dtype=np.float64)
    if (
        n_train.max() > MAX_SIZE_RATIO * n_train.min()
        or n_test.max() > MAX_SIZE_RATIO * n_test.min()
    ):
        return False
    n = len(times)
    many = len(pairs) * (len(pairs) - 1) / 2
    shared = float((times * (times - 1)).sum()) / 2 / many / n_test.mean()
    expected = float(n_test.mean() / (n_train.mean() + n_test.mean()))
    # groups are drawn as a whole: use the effective number of equal groups as units
    alike = n if groups is None else float(n**2 / np.square(groups.sizes).sum())
    tested = max(1.0, alike * float(n_test.mean()) / n)
    spread = np.sqrt(expected / tested) * (1 - expected) / np.sqrt(many)
    return bool(shared <= expected + MAX_DEVIATIONS * spread)


def _left_out(pairs: Sequence[Pair], n: int) -> list[str]:
    """Note rows that no split uses, that no split tests, and that train several times."""
    used, tested = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for train, test in pairs:
        used[train] = used[test] = tested[test] = True
    notes = [
        f"{rows} of the {n} rows {'is' if rows == 1 else 'are'} {how}."
        for rows, how in (
            (int((~used).sum()), "in no split"),
            (int((used & ~tested).sum()) if len(pairs) > 1 else 0, "never tested"),
        )
        if rows
    ]
    if any(distinct_rows(train) < len(train) for train, _ in pairs):
        notes.append("Rows that are listed more than once train that often.")
    return notes
