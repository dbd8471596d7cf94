"""Direction and design of a file of losses: as given, as the file says, or as it shows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import BestOfKWarning, TableError
from bestofk.losses.axes import settle_design
from bestofk.losses.cells import Cells, some_cells
from bestofk.losses.roles import Direction, direction_within
from bestofk.plans.design import KINDS, SUBSETS, Design, Subsets
from bestofk.tables.table import Table


def only_value(table: Table, column: str) -> str | None:
    """The one value of a column that must be the same in every row."""
    levels = table.levels(column)
    if len(levels.names) > 1:
        row = int((levels.codes == 1).argmax())
        raise TableError(
            f"{table.place(row, column)} must be {levels.names[0]!r} as in the rows before; got "
            f"{levels.names[1]!r}."
        )
    return levels.names[0] if levels.names else None


class UnknownDirectionError(TableError):
    """Nothing tells whether larger or smaller numbers are better, and the answer hangs on it."""


def direction_of_file(
    given: bool | None,
    direction: Direction,
    named: str,
    table: Table,
    account: list[str],
    *,
    scorers: bool = False,
    told_by: str = "",
) -> tuple[bool, str]:
    """Whether to flip, what the numbers are called, and the sentence on it."""
    if given is not None:
        account.append(f"{'Higher' if given else 'Lower'} is better, as you say.")
        return bool(given), named
    if scorers:
        account.append("Higher is better, as for every scorer of scikit-learn.")
        return True, named
    told = named
    if direction == "unknown":
        within = direction_within(Path(table.source).stem) if table.from_file else None
        if within is None:
            raise UnknownDirectionError(
                f"{table.source}: nothing tells whether higher or lower numbers are better: pass "
                "higher_is_better=True (scores) or higher_is_better=False (losses)."
            )
        direction, word = within
        told = table.source
        named = word if named == "loss" else named
    better = "Higher" if direction == "score" else "Lower"
    says = f"names {told_by} say" if told_by else f"name {told!r} says"
    account.append(f"{better} is better, as the {says}.")
    return direction == "score", named


def warn_unnamed_rows(source: str, design: Any, account: list[str]) -> None:
    account.append("The rows carry no names: they were read as the folds of one data set.")
    if design is None:
        warnings.warn(
            f"{source}: the rows carry no names; they were read as the folds of one run of "
            "cross-validation: pass design='cv' if that is right, design='resample' for random "
            "splits or design='test-set' for the instances of one test set.",
            BestOfKWarning,
            stacklevel=3,
        )


def design_of_file(
    table: Table,
    roles: dict[str, str],
    values: Floats,
    sizes: dict[str, Floats],
    given: Design | str | None,
    account: list[str],
) -> tuple[Floats, Design]:
    """The grid and the design that was given, that the file holds, or that its columns show."""
    if isinstance(given, Design):
        return values, given
    _, n_sets, runs, folds, repetitions = values.shape
    kind: str | None = None
    if "design" in roles:
        kind = only_value(table, roles["design"])
        if kind not in KINDS:
            raise TableError(
                f"{table.place(0, roles['design'])} must be one of {', '.join(KINDS)}; "
                f"got {kind!r}."
            )
    elif "instance" in roles and folds > 1:
        kind = "test-set"
    known: dict[str, tuple[int, ...]] = {}
    for role, by_set in sizes.items():
        first = by_set[0].ravel()
        if (
            np.isfinite(first).all()
            and (by_set == by_set[:1]).all()
            and (first >= 1).all()
            and (first % 1 == 0).all()
        ):
            known[role] = tuple(int(n) for n in first)
        elif n_sets > 1:
            account.append(f"The column {roles[role]!r} differs between data sets: not kept.")
        else:
            account.append(
                f"The column {roles[role]!r} is incomplete or differs between learners: not kept."
            )
    if given is None and kind is None:
        kind = "cv" if folds > 1 else "scores"
        if folds == 1 and runs > 1:
            if len(known) == 2:
                kind = "resample"
            else:
                account.append(
                    "There are runs but no folds: how the data were parted is not known; "
                    "design='resample' says that each run is a random split."
                )
    stratified = None
    if "stratified" in roles:
        word = (only_value(table, roles["stratified"]) or "").lower()
        if word not in ("true", "false", "yes", "no", "1", "0", ""):
            raise TableError(
                f"{table.place(0, roles['stratified'])} must be true or false; got {word!r}."
            )
        stratified = None if word == "" else word in ("true", "yes", "1")
    groups = _groups(table, roles)
    if given is not None or "design" not in roles:
        values, _, made = settle_design(values, np.isnan(values), given or kind)
        return values, made.with_(stratified=stratified, groups=groups, **known)
    return values, Design(
        kind=kind or "scores",
        runs=runs,
        folds=folds,
        repetitions=repetitions,
        stratified=stratified,
        n_train=known.get("n_train"),
        n_test=known.get("n_test"),
        groups=groups,
    )


def _groups(table: Table, roles: dict[str, str]) -> int | None:
    """How many groups of rows stay whole, where the file says so."""
    if "n_groups" not in roles:
        return None
    word = only_value(table, roles["n_groups"]) or ""
    if not word.isdecimal() or int(word) < 1:
        raise TableError(
            f"{table.place(0, roles['n_groups'])} must be a number of groups; got {word!r}."
        )
    return int(word)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsOfRows:
    """The cells of a file that come from runs on parts of the rows."""

    kind: str
    cells: Cells

    def subsets(self, values: Floats) -> Subsets:
        """The part of the design that tells of them."""
        return Subsets(kind=self.kind, runs=values.shape[2], folds=values.shape[3])


def parts_of_rows(
    table: Table, roles: dict[str, str], cells: Cells
) -> tuple[Cells, PartsOfRows | None]:
    """The cells of runs on all rows, and those of runs on parts of them where the file has any."""
    column = roles.get("part_of_rows")
    if column is None:
        return cells, None
    levels = table.levels(column)
    kinds = [name for name in levels.names if name != "all"]
    if "all" not in levels.names or len(kinds) != 1 or kinds[0] not in SUBSETS:
        raise TableError(
            f"{table.source}: column {column!r} must say 'all' and one of {', '.join(SUBSETS)}; "
            f"got {', '.join(map(repr, levels.names))}."
        )
    each, rest = divmod(len(cells.values), max(len(levels.codes), 1))
    if rest:
        raise TableError(
            f"{table.source}: some rows were left out; column {column!r} needs all of them."
        )
    whole = np.repeat(levels.codes == levels.names.index("all"), each)
    return some_cells(cells, whole), PartsOfRows(kind=kinds[0], cells=some_cells(cells, ~whole))
