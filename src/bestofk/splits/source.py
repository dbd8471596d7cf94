"""Where splits of your own come from: a splitter, a list of pairs, or a column."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.splits.folds import Labelling, column_of
from bestofk.splits.splits import Splits
from bestofk.splits.user_splits import splits_of_pairs

_TRAINS = ("train", "training")
_TESTS = ("test", "testing")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitSource:
    """A splitter as scikit-learn has them, pairs of rows, or the name of a column.

    Exactly one of them is there.
    """

    splitter: Any = None
    pairs: tuple[Any, ...] = ()
    column: str = ""

    @property
    def spec(self) -> str:
        """What stands for the specification until the rows are known."""
        return f"predefined:{self.column}" if self.column else "own"

    @property
    def is_random(self) -> bool:
        """Whether another seed gives other splits."""
        return self.splitter is not None and _draws(self.splitter)

    def splits(
        self, n: int, y: Any, groups: Labelling | None, given_groups: Any, *, seed: int, X: Any
    ) -> Splits:
        """The splits for `n` rows."""
        if self.column:
            return self._by_column(n, groups, X)
        if self.splitter is None:
            notes = [f"The {len(self.pairs)} splits were given as rows."]
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
            # any splitter may raise anything about rows that it does not like
            reason = " ".join(str(raised).split())[:200]
            hint = ""
            if given_groups is None and "groups" in reason:
                hint = " Give groups= (on the command line --groups COL)."
            raise ArgumentError(
                f"plan {shown} cannot split these rows: {reason.rstrip('.')}.{hint}"
            ) from raised
        # that groups are ignored is no matter: divided groups are refused
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
        """Folds by the values of a column; -1 only trains."""
        names = [] if X is None else list(getattr(X, "columns", []))
        if self.column not in names:
            if not names:
                raise ArgumentError(
                    f"plan {self.spec!r} needs the column {self.column!r}: give the rows as a data "
                    "frame or a file that holds it."
                )
            raise UnknownNameError("column of folds", self.column, names)
        values = column_of(X[self.column], f"column {self.column!r}", n)
        folds = Labelling.of(values, f"column {self.column!r}")
        names_lower = [str(name).strip().lower() for name in folds.names]
        order = sorted(range(folds.count), key=lambda code: _sortable(folds.names[code]))
        if any(word in _TRAINS for word in names_lower):
            tests = [code for code in order if names_lower[code] in _TESTS]
            if not tests or folds.count > 2:
                raise ArgumentError(
                    f"column {self.column!r} must hold train and test alone, or the number of the "
                    f"fold that tests the row; got {', '.join(map(repr, folds.names[:5]))}."
                )
        else:
            tests = [code for code in order if names_lower[code] not in ("-1", "-1.0")]
        if folds.count < 2 and tests:
            raise ArgumentError(
                f"column {self.column!r} must name at least 2 folds, or -1 for rows that only "
                f"train; got only {folds.names[0]!r}."
            )
        if not tests:
            raise ArgumentError(f"column {self.column!r} must name a fold to test; all are -1.")
        every = np.arange(n)
        pairs = [(every[folds.codes != code], every[folds.codes == code]) for code in tests]
        shown = ", ".join(repr(folds.names[code]) for code in tests[:8])
        more = f" and {len(tests) - 8} more" if len(tests) > 8 else ""
        many = "The test rows are" if len(tests) == 1 else "The folds are"
        notes = [f"{many} those of column {self.column!r}: {shown}{more}."]
        return splits_of_pairs(pairs, n, groups, spec=self.spec, notes=notes)


def split_source(spec: Any) -> SplitSource:
    """A splitter, or an iterable of (train, test), as the source of a plan."""
    if isinstance(spec, type) and hasattr(spec, "split"):
        raise ArgumentError(
            f"plan must be a splitter, not its class: write {spec.__name__}() instead of "
            f"{spec.__name__}."
        )
    if callable(getattr(spec, "split", None)):
        return SplitSource(splitter=spec)
    if isinstance(spec, int | np.integer) and not isinstance(spec, bool):
        raise ArgumentError(
            f"plan must be a text, a splitter or pairs of rows; got {spec}: for so many folds "
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
    """The splitter in a line; its class where the repr is long or an address in memory."""
    text = " ".join(repr(splitter).split())
    return type(splitter).__name__ if " at 0x" in text or len(text) > 160 else text


def _draws(splitter: Any) -> bool:
    """Whether the splitter draws at random: it has a seed, and is not told not to shuffle."""
    has_seed = hasattr(splitter, "random_state") or "random_state" in getattr(
        splitter, "cvargs", {}
    )
    return has_seed and getattr(splitter, "shuffle", True) is not False


def _seeded(splitter: Any, seed: int) -> tuple[Any, list[str]]:
    """A copy that gives the same splits whenever it is asked; said where that took a seed."""
    copied = deepcopy(splitter)
    if not _draws(splitter) or getattr(splitter, "random_state", None) is not None:
        return copied, []
    copied.random_state = seed
    return copied, [f"It has no seed of its own: {seed} was used."]


def reseeded_source(source: SplitSource, seed: int) -> SplitSource:
    """The source with other random splits."""
    if source.splitter is None or not _draws(source.splitter):
        return source
    copied = deepcopy(source.splitter)
    copied.random_state = seed
    return SplitSource(splitter=copied)


def _sortable(value: Any) -> tuple[int, float, str]:
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0.0, str(value)
