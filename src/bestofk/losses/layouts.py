"""Read a long or a wide table into cells, and arrange the cells in a grid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import Part, TableError, use
from bestofk._base.formatting import shortened
from bestofk.data.cells import Codes, Levels
from bestofk.data.tables.table import Table
from bestofk.losses.columns import direction_of, is_date, role_of, split_of
from bestofk.losses.losses import DIMS

_MAX_EMPTY_CELLS = 20_000_000
_NUMBERED = ("run", "fold", "repetition")
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The losses of a table, one per cell, in the order of the table.

    - `levels`: By axis, the codes of the cells and their names; an absent axis has no entry.
    - `columns`: The columns with losses; the cells go through them row by row.
    - `sizes`: ``n_train`` and ``n_test`` of every cell, if known.
    - `instances`: Whether the folds are the instances of one test set.
    """

    table: Table
    roles: dict[str, str]
    values: Floats
    levels: dict[str, Levels]
    columns: tuple[str, ...]
    sizes: dict[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    instances: bool = False

    def location(self, cell: int) -> str:
        """Return the location of a cell in the table."""
        row, column = divmod(cell, len(self.columns))
        return self.table.location(row, self.columns[column])

    def with_axis(self, axis: str, levels: Levels, *notes: str) -> Cells:
        """Return the cells with another axis, and notes about it."""
        return replace(self, levels={**self.levels, axis: levels}, notes=(*self.notes, *notes))

    def group(self, axes: Sequence[str]) -> tuple[Codes, int]:
        """Return the rank of each cell's combination of levels, and how many there may be."""
        shape = [len(self.levels[axis].names) for axis in axes]
        total = 1
        for size in shape:
            total *= size
        if total > max(_MAX_EMPTY_CELLS, 4 * len(self.values)):
            sizes = " x ".join(f"{n} {axis}s" for axis, n in zip(axes, shape, strict=True))
            raise TableError(
                f"{self.table.source}: the {len(self.values)} losses would fill a table of "
                f"{total} cells ({sizes}): a column was probably read in the wrong role."
            )
        group: Codes = np.zeros(len(self.values), dtype=np.int64)
        for axis, size in zip(axes, shape, strict=True):
            group = group * size + self.levels[axis].codes
        return group, total

    def describe(self, group: int, axes: Sequence[str]) -> str:
        """Describe the cells with this rank."""
        words: list[str] = []
        for axis in reversed(axes):
            names = self.levels[axis].names
            group, code = divmod(group, len(names))
            if len(names) > 1 or axis == "learner":
                noun = {"dataset": "data set"}.get(axis, axis)
                title = self.roles.get(axis, noun) if axis in _NUMBERED else noun
                words.append(f"{title} {names[code]!r}")
        return ", ".join(reversed(words))

    def telling(self, first: int, second: int) -> tuple[str, str] | None:
        """Return a column without a role that distinguishes two cells, and its first value."""
        one, two = (cell // len(self.columns) for cell in (first, second))
        for column in self.table.columns:
            if column in self.roles.values() or column in self.columns:
                continue
            levels = self.table.levels(column)
            a, b = int(levels.codes[one]), int(levels.codes[two])
            # skip measurements, which distinguish any two rows
            if a != b and min(a, b) >= 0 and 2 * len(levels.names) <= self.table.n_rows:
                return column, levels.names[a]
        return None


# Cells of a table


def loss_numbers(table: Table, column: str) -> Floats:
    """Return the losses of a column; true and false count as 1 and 0."""
    if not table.is_numeric(column):
        levels = table.levels(column)
        names = [name.lower() for name in levels.names]
        if names and set(names) <= set(_TRUTH):
            return np.array([*map(_TRUTH.__getitem__, names), np.nan])[levels.codes]
    return table.numbers(column)


def read_cells(
    table: Table,
    roles: dict[str, str],
    columns: Sequence[str],
    axis: str | None = None,
    names: Sequence[str] = (),
) -> Cells:
    """Read the columns of losses, row by row.

    `axis` and `names` say what the columns are; the columns of `roles` are the other axes.
    """
    width = len(columns)
    levels = {
        one: Levels(np.repeat(codes, width), known)
        for one, (codes, known) in _axis_levels(table, roles, axis).items()
    }
    if axis is not None:
        levels[axis] = Levels(np.tile(np.arange(width), table.n_rows), tuple(names))
    return Cells(
        table=table,
        roles=roles,
        values=np.stack([loss_numbers(table, column) for column in columns], axis=1).ravel(),
        levels={one: levels[one] for one in DIMS if one in levels},
        columns=tuple(columns),
        sizes={
            role: np.repeat(table.numbers(roles[role]), width)
            for role in ("n_train", "n_test")
            if role in roles
        },
    )


def columns_of_learners(
    table: Table, roles: dict[str, str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the columns of the learners of a wide table, those of unused texts, and sentences.

    Every column of numbers without a role is a learner. The first column of texts names the rows
    if no column has that role: data sets, folds or times. The roles are changed accordingly.
    """
    for role in ("learner", "score"):
        roles.pop(role, None)
    if "metric" in roles and table.is_numeric(roles["metric"]):
        roles.pop("metric")
    learners: list[str] = []
    texts: list[str] = []
    empty: list[str] = []
    for column in table.columns:
        if column in roles.values():
            continue
        if table.is_numeric(column):
            learners.append(column)
        elif table.missing(column).all():
            empty.append(column)
        else:
            (texts if _holds_text(table, column) else learners).append(column)
    notes = [f"The column {roles['index']!r} numbers the rows."] if "index" in roles else []
    if texts and not {"dataset", "fold", "instance", "time"} & set(roles):
        names = table.levels(texts[0]).names
        role = "fold" if all(map(split_of, names)) else "dataset"
        role = "time" if all(map(is_date, names)) else role
        roles[role] = texts.pop(0)
    if empty:
        notes.append(f"Left out, as they are empty: {shortened(list(map(repr, empty)), 12)}.")
    return learners, texts, notes


def _holds_text(table: Table, column: str) -> bool:
    """Return whether most cells of a column are neither numbers nor true and false."""
    names = table.levels(column).names
    numbers = sum(name.lower() in _TRUTH or _is_number(name) for name in names)
    return 2 * numbers < len(names)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def data_columns(table: Table, roles: dict[str, str]) -> list[str]:
    """Return the columns of a table with one row per learner: splits, else all numbers."""
    free = [
        column
        for column in table.columns
        if column not in roles.values() and table.is_numeric(column)
    ]
    return [column for column in free if split_of(column)] or free


def has_learners_in_rows(table: Table, roles: dict[str, str]) -> bool:
    """Return whether each row is a learner, and the other columns are folds or data sets."""
    columns = data_columns(table, roles)
    named = [column for column in columns if direction_of(column) or role_of(column)]
    once = len(table.levels(roles["learner"]).names) == table.n_rows
    return once and len(columns) > 1 and (not named or all(map(split_of, columns)))


def _axis_levels(table: Table, roles: dict[str, str], other: str | None) -> dict[str, Levels]:
    """Return the levels of the axes, except `other`, that have a column; instances are folds."""
    by_axis: dict[str, Levels] = {}
    for axis in (axis for axis in DIMS if axis != other):
        column = roles.get(axis)
        if axis == "fold" and column is None:
            column = roles.get("instance")
        if column is None:
            continue
        levels = table.levels(column)
        if (levels.codes < 0).any():
            row = int((levels.codes < 0).argmax())
            raise TableError(
                f"{table.location(row, column)} must name the {axis}; the cell is empty."
            )
        if axis in _NUMBERED:
            levels = in_order(levels)
        # products of codes need 64 bits
        by_axis[axis] = Levels(levels.codes.astype(np.int64), levels.names)
    return by_axis


def in_order(levels: Levels) -> Levels:
    """Sort levels that end in a number, or are dates such as 2024-01-31; else keep the order."""
    names = levels.names
    numbered = [re.fullmatch(r"(\D*)(\d{1,18})", name) for name in names]
    keys: list[Any] = list(names)
    if all(numbered) and len({match[1] for match in numbered if match}) == 1:
        keys = [int(match[2]) for match in numbered if match]
    elif not all(is_date(name) and re.match(r"\d{4}-\d\d", name) for name in names):
        return levels
    order = sorted(range(len(keys)), key=keys.__getitem__)
    rank = np.full(len(order) + 1, -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Levels(rank[levels.codes], tuple(names[i] for i in order))


# Folds without numbers, or with numbers that count through the runs


def number_unnumbered(cells: Cells) -> Cells:
    """Number the folds by order of appearance if no column distinguishes the rows."""
    if "fold" in cells.levels:
        return cells
    axes = tuple(cells.levels)
    group, size = cells.group(axes)
    counts = np.bincount(group, minlength=size)
    if counts.max() == 1:
        return cells
    order = np.argsort(group, kind="stable")
    same = np.flatnonzero(group[order[1:]] == group[order[:-1]])
    telling = cells.telling(int(order[same[0]]), int(order[same[0] + 1]))
    if telling is not None:
        raise TableError(
            f"{cells.table.source}: {cells.describe(int(group[order[same[0]]]), axes)} has several "
            f"rows, which the column {telling[0]!r} distinguishes: select one value with ",
            use(where=dict([telling])),
            ", or pass ",
            use(columns={"fold": telling[0]}),
            " if its values are folds.",
        )
    by_learner = counts.reshape([len(cells.levels[axis].names) for axis in axes])
    most = by_learner.max(axis=axes.index("learner"), keepdims=True)
    fewer = np.flatnonzero(((by_learner > 0) & (by_learner < most)).ravel())
    if len(fewer):
        less = int(fewer[0])
        raise TableError(
            f"{cells.table.source}: without a column of folds every learner must have the same "
            f"number of rows; {cells.describe(less, axes)} has {int(counts[less])}, another has "
            f"{int(np.broadcast_to(most, by_learner.shape).ravel()[less])}: add a column that "
            "numbers the folds."
        )
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = np.empty(len(group), dtype=np.int64)
    number[order] = np.arange(len(group)) - starts[group[order]]
    names = tuple(str(i + 1) for i in range(int(counts.max())))
    return cells.with_axis(
        "fold",
        Levels(number, names),
        "No column numbers the folds; the rows of each learner are numbered in the order of the "
        "file.",
    )


def renumber_within_runs(cells: Cells) -> Cells:
    """Renumber folds that count through all runs (0..99 for 10x10) within each run (0..9)."""
    if "run" not in cells.levels or "fold" not in cells.levels:
        return cells
    run, fold = cells.levels["run"], cells.levels["fold"]
    n_runs, n_folds = len(run.names), len(fold.names)
    if n_runs < 2 or n_folds % n_runs or n_runs * n_folds > 10**8:
        return cells
    pairs = np.unique(run.codes * n_folds + fold.codes)
    per_run = np.bincount(pairs // n_folds, minlength=n_runs)
    each_once = len(pairs) == len(np.unique(pairs % n_folds)) == n_folds
    if not each_once or (per_run != n_folds // n_runs).any():
        return cells
    within = np.empty(n_folds, dtype=np.int64)
    within[pairs % n_folds] = np.arange(n_folds) % (n_folds // n_runs)
    names = tuple(str(i + 1) for i in range(n_folds // n_runs))
    return cells.with_axis(
        "fold",
        Levels(within[fold.codes], names),
        f"The folds are numbered through all runs; they were renumbered within each run "
        f"({len(names)} folds in each).",
    )


def items_of_one_test_set(cells: Cells) -> Cells:
    """Read losses that are all 0 or 1 as the instances of one test set.

    A column of data sets with one such loss per learner names instances.
    """
    known = cells.values[~np.isnan(cells.values)]
    if not len(known) or not np.isin(known, (0.0, 1.0)).all() or set(cells.levels) & {*_NUMBERED}:
        return cells
    note = "Every number is 0 or 1: the rows are read as the instances of one test set."
    sets = cells.levels.get("dataset")
    if sets is None or len(sets.names) < 2:
        if len(known) <= len(cells.levels["learner"].names):
            return cells
        numbered = number_unnumbered(cells)
        return replace(numbered, notes=(*cells.notes, note), instances=True)
    group, size = cells.group(("learner", "dataset"))
    if (np.bincount(group, minlength=size) > 1).any():
        return cells
    by_item = {"learner": cells.levels["learner"], "fold": sets}
    return replace(cells, levels=by_item, notes=(*cells.notes, note), instances=True)


def unpaired_runs(cells: Cells) -> Cells:
    """Number the runs of each learner, whose seeds may differ from those of the others."""
    learners = cells.levels["learner"].codes
    number = np.zeros(len(learners), dtype=np.int64)
    for code in np.unique(learners):
        of_learner = np.flatnonzero(learners == code)
        # empty cells come last
        known_first = np.argsort(np.isnan(cells.values[of_learner]), kind="stable")
        number[of_learner[known_first]] = np.arange(len(of_learner))
    names = tuple(str(i + 1) for i in range(int(number.max(initial=0)) + 1))
    return cells.with_axis("run", Levels(number, names))


# The grid


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grid:
    """Losses on five axes (NaN if missing), and the sizes by (data set, run, fold)."""

    values: Floats
    sizes: dict[str, Floats]
    notes: tuple[str, ...] = ()


def fill_grid(cells: Cells, *, allow_missing: bool) -> Grid:
    """Arrange the cells in a grid.

    If the data sets have different splits, each data set counts by its mean. A learner that lacks
    a split that another learner has on that data set lacks the data set.

    Raise at the first duplicate, infinite or (unless allowed) missing cell.
    """
    axes = tuple(axis for axis in DIMS if axis in cells.levels)
    shape = tuple(len(cells.levels[axis].names) if axis in axes else 1 for axis in DIMS)
    empty = np.isnan(cells.values)
    if empty.all():
        raise TableError(f"{cells.table.source}: the file contains no loss: every cell is empty.")
    infinite = np.isinf(cells.values)
    if infinite.any():
        first = int(infinite.argmax())
        raise TableError(f"{cells.location(first)} must be finite; got {cells.values[first]}.")
    group, total = cells.group(axes)
    counts = np.bincount(group, minlength=total)
    if (counts > 1).any():
        _refuse_duplicate(cells, group, axes)
    values = np.full(total, np.nan)
    values[group] = cells.values
    values = values.reshape(shape)
    sizes = {name: _spread_sizes(cells, size, shape) for name, size in cells.sizes.items()}
    grid = Grid(values=values, sizes=sizes)
    lacking = np.isnan(values)
    if shape[1] > 1 and lacking.all(axis=0).any():
        grid = _by_dataset_means(values)
        axes = tuple(axis for axis in axes if axis in ("learner", "dataset"))
        lacking = np.isnan(grid.values)
    if allow_missing or not lacking.any():
        return grid
    if empty.any():
        first = int(empty.argmax())
        start = f"{cells.location(first)} has no number ({int(empty.sum())} of {len(empty)}): fill "
        end = "it"
    else:
        absent = int(lacking.ravel().argmax())
        start = (
            f"{cells.table.source}: there is no loss for {cells.describe(absent, axes)} "
            f"({int(lacking.sum())} of {lacking.size} cells are missing): add "
        )
        end = "the row"
    raise TableError(
        f"{start}{end} or pass ",
        use(missing="allow"),
        ", which keeps the gap.",
    )


def _by_dataset_means(values: Floats) -> Grid:
    """Return the mean of each learner on each data set, over the splits of the data set."""
    lacking = np.isnan(values)
    used = np.asarray(~lacking.all(axis=0))
    splits = used.sum(axis=(1, 2, 3))
    total = np.where(lacking, 0.0, values).sum(axis=(2, 3, 4))
    with np.errstate(invalid="ignore"):
        means = np.where((lacking & used).any(axis=(2, 3, 4)), np.nan, total / splits)
    few, many = int(splits.min()), int(splits.max())
    counts = f"{few} to {many} splits" if few < many else f"Different groups of {few} splits"
    note = f"{counts} per data set: each data set counts by its mean."
    return Grid(values=means[:, :, None, None, None], sizes={}, notes=(note,))


def _refuse_duplicate(cells: Cells, group: Codes, axes: Sequence[str]) -> None:
    order = np.argsort(group, kind="stable")
    again = np.zeros(len(group), dtype=np.bool_)
    again[order[1:]] = group[order[1:]] == group[order[:-1]]
    second = int(again.argmax())
    first = int((group == group[second]).argmax())
    there = re.sub(r"^.*?: (?=(?:line|row) \d)", "", cells.location(first).split(", column")[0])
    here = cells.location(second).split(", column")[0]
    telling = cells.telling(first, second)
    advice: tuple[Part, ...] = (
        "a column that distinguishes the rows is missing or not recognised.",
    )
    if telling is not None:
        advice = (
            f"the column {telling[0]!r} distinguishes them: select one value with ",
            use(where=dict([telling])),
            ".",
        )
    raise TableError(
        f"{here} repeats the cell of {there}: {cells.describe(int(group[second]), axes)} "
        f"({int(again.sum())} repeated): ",
        *advice,
    )


def _spread_sizes(cells: Cells, values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return one size for each (data set, run, fold); NaN if unknown or learners disagree."""
    at = np.zeros(len(values), dtype=np.int64)
    for axis, size in zip(DIMS[1:4], shape[1:4], strict=True):
        at = at * size + (cells.levels[axis].codes if axis in cells.levels else 0)
    count = shape[1] * shape[2] * shape[3]
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, at, values)
    np.maximum.at(high, at, values)
    return np.where(low == high, low, np.nan).reshape(shape[1:4])
