"""Losses as single cells with their places, and from those to the full grid."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.errors import TableError
from bestofk.losses.axes import DIMS
from bestofk.tables.table import Codes, Levels

_MOST_EMPTY_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """One loss each, in the order of the file."""

    source: str
    values: Floats
    levels: dict[str, Levels]
    """By axis: the codes of the cells and the names they stand for; an absent axis has no entry."""
    place: Callable[[int], str]
    """Where the i-th cell stands in the file."""
    titles: dict[str, str]
    """By axis: the column of the file that it was read from, where there is one."""
    notes: tuple[str, ...] = ()
    sizes: dict[str, Floats] = field(default_factory=dict)
    """``n_train`` and ``n_test`` of every cell, where known."""
    tells_apart: Callable[[int, int], tuple[str, str] | None] = lambda _i, _j: None
    """A column that is not read and tells two cells apart, with its value in the first."""
    told_by: str = ""
    """What tells the direction, where that is not what the numbers are called."""
    instances: bool = False
    """The folds are the instances of one test set."""

    def words(self, at: dict[str, int]) -> str:
        """The cell with those codes, in words."""
        title = {"algorithm": "learner", "dataset": "data set"}
        return ", ".join(
            f"{self.titles.get(axis, title.get(axis, axis))} {self.levels[axis].names[code]!r}"
            for axis, code in at.items()
            if len(self.levels[axis].names) > 1 or axis == "algorithm"
        )


def in_number_order(levels: Levels) -> Levels:
    """Levels sorted as numbers where all are whole numbers (or end in one); else as they came."""
    keys = [re.fullmatch(r"(\D*)(\d{1,18})", name) for name in levels.names]
    if not all(keys) or len({key[1] for key in keys if key}) > 1:
        return levels
    order = sorted(range(len(keys)), key=lambda i: int(keys[i][2]))  # type: ignore[index]
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return Levels(rank[levels.codes], tuple(levels.names[i] for i in order))


def some_cells(cells: Cells, keep: npt.NDArray[np.bool_]) -> Cells:
    """The cells that are marked, with the levels that are left, in the order they had."""
    rows = np.flatnonzero(keep)
    return replace(
        cells,
        values=cells.values[keep],
        levels={axis: some_levels(found, keep) for axis, found in cells.levels.items()},
        place=lambda i: cells.place(int(rows[i])),
        tells_apart=lambda i, j: cells.tells_apart(int(rows[i]), int(rows[j])),
        sizes={role: size[keep] for role, size in cells.sizes.items()},
    )


def some_levels(levels: Levels, keep: npt.NDArray[np.bool_]) -> Levels:
    """The levels that are left among some of the rows, in the order they had."""
    codes = levels.codes[keep]
    left = np.unique(codes)
    new = np.zeros(len(levels.names), dtype=np.int64)
    new[left] = np.arange(len(left))
    return Levels(new[codes], tuple(levels.names[int(i)] for i in left))


def number_unnumbered(cells: Cells) -> Cells:
    """Number the folds by order of appearance where nothing else tells equal rows apart."""
    if "fold" in cells.levels:
        return cells
    group, size = _group(cells, tuple(cells.levels))
    counts = np.bincount(group, minlength=size)
    most = int(counts.max())
    if most == 1:
        return cells
    present = counts[counts > 0]
    if (present != most).any():
        less = int(np.flatnonzero((counts > 0) & (counts < most))[0])
        more = int(np.flatnonzero(counts == most)[0])
        raise TableError(
            f"{cells.source}: rows without a fold must be equally many for every learner; got "
            f"{most} for {_group_words(cells, more)} and {int(counts[less])} for "
            f"{_group_words(cells, less)}: add a column that numbers the folds."
        )
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = np.empty(len(group), dtype=np.int64)
    number[order] = np.arange(len(group)) - starts[group[order]]
    return replace(
        cells,
        levels={**cells.levels, "fold": Levels(number, tuple(str(i + 1) for i in range(most)))},
        notes=(
            *cells.notes,
            f"No column numbers the folds: the {most} rows of each learner were numbered in the "
            "order of the file.",
        ),
    )


def renumber_within_runs(cells: Cells) -> Cells:
    """Folds numbered through all runs (0..99 for 10x10) become folds of their run (0..9)."""
    if "run" not in cells.levels or "fold" not in cells.levels:
        return cells
    run, fold = cells.levels["run"], cells.levels["fold"]
    n_runs, n_folds = len(run.names), len(fold.names)
    if n_runs < 2 or n_folds % n_runs or n_folds == n_runs == 1 or n_runs * n_folds > 10**8:
        return cells
    pairs = np.unique(run.codes * n_folds + fold.codes)
    if len(pairs) != n_folds or len(np.unique(pairs % n_folds)) != n_folds:
        return cells
    per_run = np.bincount(pairs // n_folds, minlength=n_runs)
    if (per_run != n_folds // n_runs).any():
        return cells
    within = np.empty(n_folds, dtype=np.int64)
    within[pairs % n_folds] = np.arange(n_folds) % (n_folds // n_runs)
    names = tuple(str(i + 1) for i in range(n_folds // n_runs))
    return replace(
        cells,
        levels={**cells.levels, "fold": Levels(within[fold.codes], names)},
        notes=(
            *cells.notes,
            f"The folds are numbered through all runs: they were counted anew in each run "
            f"({len(names)} folds in each).",
        ),
    )


def items_of_one_test_set(cells: Cells, dataset_told: bool) -> Cells:
    """Rows of 0 and 1 alone are instances, whether they are unnumbered or named in any way.

    A data set that has one loss per learner, and that loss 0 or 1, is an instance.
    """
    known = cells.values[~np.isnan(cells.values)]
    if not len(known) or not np.isin(known, (0.0, 1.0)).all() or dataset_told:
        return cells
    if "fold" in cells.levels or "run" in cells.levels or "repetition" in cells.levels:
        return cells
    said = "Every number is 0 or 1: the rows were read as the instances of one test set."
    sets = cells.levels.get("dataset")
    if sets is None or len(sets.names) < 2:
        if len(known) <= len(cells.levels["algorithm"].names):
            return cells
        numbered = number_unnumbered(cells)
        return replace(numbered, notes=(*cells.notes, said), instances=True)
    group, size = _group(cells, ("algorithm", "dataset"))
    if (np.bincount(group, minlength=size) > 1).any():
        return cells
    levels = {axis: found for axis, found in cells.levels.items() if axis != "dataset"}
    return replace(
        cells, levels={**levels, "fold": sets}, notes=(*cells.notes, said), instances=True
    )


def _group(cells: Cells, axes: tuple[str, ...]) -> tuple[Codes, int]:
    """The rank of each cell's combination of levels, and how many combinations there are."""
    shape = tuple(len(cells.levels[axis].names) for axis in axes)
    total = 1
    for size in shape:
        total *= size
    if total > max(_MOST_EMPTY_CELLS, 4 * len(cells.values)):
        raise TableError(
            f"{cells.source}: the {len(cells.values)} losses would fill a table of {total} cells ("
            + " x ".join(f"{size} {axis}s" for axis, size in zip(axes, shape, strict=True))
            + "): one of the columns read as a role is none."
        )
    group: Codes = np.zeros(len(cells.values), dtype=np.int64)
    for axis, size in zip(axes, shape, strict=True):
        group = group * size + cells.levels[axis].codes
    return group, total


def _group_words(cells: Cells, group: int) -> str:
    at: dict[str, int] = {}
    for axis in reversed(tuple(cells.levels)):
        group, at[axis] = divmod(group, len(cells.levels[axis].names))
    return cells.words(dict(reversed(at.items())))


def fill_grid(cells: Cells, *, allow_missing: bool) -> tuple[Floats, dict[str, Floats]]:
    """The five-axis grid, NaN where a cell is missing, and the sizes by (data set, run, fold).

    Raises at the first duplicate, infinite or (unless allowed) missing cell.
    """
    known = tuple(axis for axis in DIMS if axis in cells.levels)
    shape = tuple(len(cells.levels[axis].names) if axis in known else 1 for axis in DIMS)
    ordered = replace(cells, levels={axis: cells.levels[axis] for axis in known})
    group, total = _group(ordered, known)
    counts = np.bincount(group, minlength=total)
    if (counts > 1).any():
        _refuse_duplicate(ordered, group)
    infinite = np.isinf(cells.values)
    if infinite.any():
        first = int(infinite.argmax())
        raise TableError(f"{cells.place(first)} must be finite; got {cells.values[first]}.")
    empty = np.isnan(cells.values)
    if not allow_missing:
        if empty.any():
            first = int(empty.argmax())
            raise TableError(
                f"{cells.place(first)} is empty ({int(empty.sum())} such of {len(empty)}): fill it "
                "or pass missing='drop', which leaves out what some learner lacks."
            )
        if not counts.all():
            absent = int((counts == 0).argmax())
            raise TableError(
                f"{cells.source}: there is no loss for {_group_words(ordered, absent)} "
                f"({int((counts == 0).sum())} of {total} cells are missing): add the row or pass "
                "missing='drop', which leaves out what some learner lacks."
            )
    if empty.all():
        raise TableError(f"{cells.source}: there is no loss in the file: every cell is empty.")
    grid = np.full(total, np.nan)
    grid[group] = cells.values
    sizes = {name: _spread_sizes(cells, values, shape) for name, values in cells.sizes.items()}
    return grid.reshape(shape), sizes


def _refuse_duplicate(cells: Cells, group: Codes) -> None:
    order = np.argsort(group, kind="stable")
    again = np.zeros(len(group), dtype=np.bool_)
    again[order[1:]] = group[order[1:]] == group[order[:-1]]
    second = int(again.argmax())
    first = int((group == group[second]).argmax())
    there = re.sub(r"^.*?: (?=(?:line|row) \d)", "", cells.place(first).split(", column")[0])
    here = cells.place(second).split(", column")[0]
    telling = cells.tells_apart(first, second)
    advice = "a column that tells the rows apart is missing or not recognised."
    if telling is not None:
        advice = (
            f"the column {telling[0]!r} tells them apart: keep one with where={dict([telling])!r}."
        )
    raise TableError(
        f"{here} repeats the cell of {there}: {_group_words(cells, int(group[second]))} "
        f"({int(again.sum())} such): {advice}"
    )


def _spread_sizes(cells: Cells, values: Floats, shape: tuple[int, ...]) -> Floats:
    """One size for each (data set, run, fold); NaN where learners disagree or none says."""
    at = np.zeros(len(values), dtype=np.int64)
    for axis, size in zip(DIMS[1:4], shape[1:4], strict=True):
        at = at * size + (cells.levels[axis].codes if axis in cells.levels else 0)
    count = shape[1] * shape[2] * shape[3]
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, at, values)
    np.maximum.at(high, at, values)
    return np.where(low == high, low, np.nan).reshape(shape[1:4])
