"""Read the three layouts of a table of losses into cells, and arrange the cells in a grid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import Part, TableError, use
from bestofk._base.formatting import shortened
from bestofk.data.tables.table import MISSING_MARKERS, Codes, Levels, Table
from bestofk.data.tables.values import describe_form
from bestofk.losses.columns import (
    Direction,
    all_as_losses,
    direction_of,
    direction_within,
    listed,
    metrics_by_dataset,
    normal,
    one_metric,
    role_of,
    split_of,
    splits_among,
    value_column,
)
from bestofk.losses.doubts import refuse_column_names
from bestofk.losses.losses import DIMS
from bestofk.losses.table_shapes import are_summaries, in_time_order, without_aside_columns

_MAX_EMPTY_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The losses of a file, one per cell, in the order of the file."""

    source: str
    values: Floats
    levels: dict[str, Levels]
    """By axis: the codes of the cells and their names; an absent axis has no entry."""
    location: Callable[[int], str]
    """The location of the i-th cell in the file."""
    titles: dict[str, str]
    """By axis: the column of the file, if there is one."""
    notes: tuple[str, ...] = ()
    sizes: dict[str, Floats] = field(default_factory=dict)
    """``n_train`` and ``n_test`` of every cell, if known."""
    tells_apart: Callable[[int, int], tuple[str, str] | None] = lambda _i, _j: None
    """An unused column that distinguishes two cells, with its value in the first."""
    direction_source: str = ""
    """The source of the direction, if it is not the name of the numbers."""
    instances: bool = False
    """True if the folds are the instances of one test set."""

    def describe(self, at: dict[str, int]) -> str:
        """Describe the cell with these codes."""
        title = {"learner": "learner", "dataset": "data set"}
        return ", ".join(
            f"{self.titles.get(axis, title.get(axis, axis))} {self.levels[axis].names[code]!r}"
            for axis, code in at.items()
            if len(self.levels[axis].names) > 1 or axis == "learner"
        )


def in_number_order(levels: Levels) -> Levels:
    """Sort the levels as numbers if all are whole numbers or end in one; else keep the order."""
    keys = [re.fullmatch(r"(\D*)(\d{1,18})", name) for name in levels.names]
    if not all(keys) or len({key[1] for key in keys if key}) > 1:
        return levels
    order = sorted(range(len(keys)), key=lambda i: int(keys[i][2]))  # type: ignore[index]
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return Levels(rank[levels.codes], tuple(levels.names[i] for i in order))


def some_cells(cells: Cells, keep: npt.NDArray[np.bool_]) -> Cells:
    """Select the marked cells and the levels that they hold, in order."""
    rows = np.flatnonzero(keep)
    return replace(
        cells,
        values=cells.values[keep],
        levels={axis: some_levels(levels, keep) for axis, levels in cells.levels.items()},
        location=lambda i: cells.location(int(rows[i])),
        tells_apart=lambda i, j: cells.tells_apart(int(rows[i]), int(rows[j])),
        sizes={role: size[keep] for role, size in cells.sizes.items()},
    )


def some_levels(levels: Levels, keep: npt.NDArray[np.bool_]) -> Levels:
    """Select the levels of the marked rows, in order."""
    codes = levels.codes[keep]
    left = np.unique(codes)
    new = np.zeros(len(levels.names), dtype=np.int64)
    new[left] = np.arange(len(left))
    return Levels(new[codes], tuple(levels.names[int(i)] for i in left))


def number_unnumbered(cells: Cells) -> Cells:
    """Number the folds by order of appearance if no column distinguishes the rows."""
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
        _refuse_if_told_apart(cells, group)
        raise TableError(
            f"{cells.source}: without a column of folds every learner must have the same number "
            f"of rows; got {most} for {_describe_group(cells, more)} and {int(counts[less])} for "
            f"{_describe_group(cells, less)}: add a column that numbers the folds."
        )
    _refuse_if_told_apart(cells, group)
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    number = np.empty(len(group), dtype=np.int64)
    number[order] = np.arange(len(group)) - starts[group[order]]
    return replace(
        cells,
        levels={**cells.levels, "fold": Levels(number, tuple(str(i + 1) for i in range(most)))},
        notes=(
            *cells.notes,
            f"No column numbers the folds; the {most} rows of each learner are numbered in the "
            "order of the file.",
        ),
    )


def _refuse_if_told_apart(cells: Cells, group: Codes) -> None:
    """Raise if an unused column distinguishes the rows of a learner: they may be no folds."""
    order = np.argsort(group, kind="stable")
    same = np.flatnonzero(group[order[1:]] == group[order[:-1]])
    first, second = int(order[same[0]]), int(order[same[0] + 1])
    telling = cells.tells_apart(first, second)
    if telling is None:
        return
    raise TableError(
        f"{cells.source}: {_describe_group(cells, int(group[first]))} has several rows, which the "
        f"column {telling[0]!r} distinguishes: select one value with ",
        use(where=dict([telling])),
        ", or pass ",
        use(fold=telling[0]),
        " if its values are folds.",
    )


def renumber_within_runs(cells: Cells) -> Cells:
    """Renumber folds that count through all runs (0..99 for 10x10) within each run (0..9)."""
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
            f"The folds are numbered through all runs; they were renumbered within each run "
            f"({len(names)} folds in each).",
        ),
    )


def items_of_one_test_set(cells: Cells, dataset_stated: bool) -> Cells:
    """Read losses that are all 0 or 1 as the instances of one test set.

    A column of data sets with one such loss per learner names instances.
    """
    known = cells.values[~np.isnan(cells.values)]
    if not len(known) or not np.isin(known, (0.0, 1.0)).all() or dataset_stated:
        return cells
    if "fold" in cells.levels or "run" in cells.levels or "repetition" in cells.levels:
        return cells
    note = "Every number is 0 or 1: the rows are read as the instances of one test set."
    sets = cells.levels.get("dataset")
    if sets is None or len(sets.names) < 2:
        if len(known) <= len(cells.levels["learner"].names):
            return cells
        numbered = number_unnumbered(cells)
        return replace(numbered, notes=(*cells.notes, note), instances=True)
    group, size = _group(cells, ("learner", "dataset"))
    if (np.bincount(group, minlength=size) > 1).any():
        return cells
    levels = {axis: axis_levels for axis, axis_levels in cells.levels.items() if axis != "dataset"}
    return replace(
        cells, levels={**levels, "fold": sets}, notes=(*cells.notes, note), instances=True
    )


def _group(cells: Cells, axes: tuple[str, ...]) -> tuple[Codes, int]:
    """Return the rank of each cell's combination of levels, and the number of combinations."""
    shape = tuple(len(cells.levels[axis].names) for axis in axes)
    total = 1
    for size in shape:
        total *= size
    if total > max(_MAX_EMPTY_CELLS, 4 * len(cells.values)):
        raise TableError(
            f"{cells.source}: the {len(cells.values)} losses would fill a table of {total} cells ("
            + " x ".join(f"{size} {axis}s" for axis, size in zip(axes, shape, strict=True))
            + "): a column was probably read in the wrong role."
        )
    group: Codes = np.zeros(len(cells.values), dtype=np.int64)
    for axis, size in zip(axes, shape, strict=True):
        group = group * size + cells.levels[axis].codes
    return group, total


def _describe_group(cells: Cells, group: int) -> str:
    at: dict[str, int] = {}
    for axis in reversed(tuple(cells.levels)):
        group, at[axis] = divmod(group, len(cells.levels[axis].names))
    return cells.describe(dict(reversed(at.items())))


def fill_grid(cells: Cells, *, allow_missing: bool) -> tuple[Floats, dict[str, Floats]]:
    """Return the five-axis grid (NaN if missing), and the sizes by (data set, run, fold).

    Raise at the first duplicate, infinite or (unless allowed) missing cell.
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
        raise TableError(f"{cells.location(first)} must be finite; got {cells.values[first]}.")
    empty = np.isnan(cells.values)
    if not allow_missing:
        if empty.any():
            first = int(empty.argmax())
            raise TableError(
                f"{cells.location(first)} has no number ({int(empty.sum())} of {len(empty)}): fill "
                "it or pass ",
                use(missing="drop"),
                ", which leaves out what some learner lacks.",
            )
        if not counts.all():
            absent = int((counts == 0).argmax())
            _refuse_spellings(cells)
            raise TableError(
                f"{cells.source}: there is no loss for {_describe_group(ordered, absent)} "
                f"({int((counts == 0).sum())} of {total} cells are missing): add the row or pass ",
                use(missing="drop"),
                ", which leaves out what some learner lacks.",
            )
    if empty.all():
        raise TableError(f"{cells.source}: the file contains no loss: every cell is empty.")
    grid = np.full(total, np.nan)
    grid[group] = cells.values
    sizes = {name: _spread_sizes(cells, values, shape) for name, values in cells.sizes.items()}
    return grid.reshape(shape), sizes


def _refuse_spellings(cells: Cells) -> None:
    """Raise if two names of an incomplete table differ only in case, spaces or punctuation."""
    for axis in ("learner", "dataset"):
        spelt: dict[str, str] = {}
        for name in cells.levels[axis].names if axis in cells.levels else ():
            other = spelt.setdefault(re.sub(r"[\W_]+", "", name).lower() or name, name)
            if other != name:
                raise TableError(
                    f"{cells.source}: {other!r} and {name!r} have results for different rows and "
                    "look like two spellings of one name: use one of them."
                )


def _refuse_duplicate(cells: Cells, group: Codes) -> None:
    order = np.argsort(group, kind="stable")
    again = np.zeros(len(group), dtype=np.bool_)
    again[order[1:]] = group[order[1:]] == group[order[:-1]]
    second = int(again.argmax())
    first = int((group == group[second]).argmax())
    there = re.sub(r"^.*?: (?=(?:line|row) \d)", "", cells.location(first).split(", column")[0])
    here = cells.location(second).split(", column")[0]
    telling = cells.tells_apart(first, second)
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
        f"{here} repeats the cell of {there}: {_describe_group(cells, int(group[second]))} "
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


# Layouts: one row per loss (long), one column per learner (wide) or per split (cv-results)


_NUMBERED = ("run", "fold", "repetition")
_TRUTH = {"true": 1.0, "false": 0.0}
_NO_NAME = re.compile(r"column_1|unnamed_0")
_INDEX = re.compile(r"(?:s_)?(?:no|nr|num|number)|index|idx||level_0")


def choose_layout(table: Table, roles: dict[str, str]) -> str:
    """Return ``"long"``, ``"wide"`` or ``"cv-results"``, from the names of the columns."""
    splits = splits_among(table.columns)
    if splits:
        if "learner" not in roles and len(splits) > 1 and not any(map(direction_of, splits)):
            first = next(iter(splits.values()))[0][1]
            raise TableError(
                f"{table.source}: columns such as {first!r} combine a learner and a fold: write "
                "one row per loss, with columns for the learner, the fold and the loss."
            )
        return "cv-results"
    return "wide" if "learner" not in roles else "long"


def _axis_levels(table: Table, roles: dict[str, str], axes: Iterable[str]) -> dict[str, Levels]:
    """Return the levels of the axes that have a column; instances count as folds."""
    by_axis: dict[str, Levels] = {}
    for axis in axes:
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
        if axis == "fold" and column == roles.get("time"):
            levels = in_time_order(levels)
        elif axis in _NUMBERED:
            levels = in_number_order(levels)
        # products of codes need 64 bits
        by_axis[axis] = Levels(levels.codes.astype(np.int64), levels.names)
    return by_axis


def _titles(roles: dict[str, str]) -> dict[str, str]:
    titles = {axis: roles[axis] for axis in _NUMBERED if axis in roles}
    if "fold" not in titles and "instance" in roles:
        titles["fold"] = roles["instance"]
    return titles


def loss_numbers(table: Table, column: str) -> Floats:
    """Return the losses of a column; true and false count as 1 and 0."""
    present = np.flatnonzero(~table.missing(column))
    if len(present) and not table.is_typed_number(column):
        first = table.raw(column)[int(present[0])].as_py().strip().lower()
        if first in _TRUTH:
            levels = table.levels(column)
            names = [name.lower() for name in levels.names]
            if set(names) <= {*_TRUTH, *MISSING_MARKERS}:
                value_of = np.array([*(_TRUTH.get(word, np.nan) for word in names), np.nan])
                return value_of[levels.codes]
    return table.numbers(column)


def _sizes(table: Table, roles: dict[str, str]) -> dict[str, Floats]:
    return {role: table.numbers(roles[role]) for role in ("n_train", "n_test") if role in roles}


def long_cells(
    table: Table, roles: dict[str, str], *, metric: str | None, guessed_instance: bool
) -> tuple[Cells, str, Direction]:
    """Read one row per loss; return the cells, the name of the numbers, and their direction."""
    keep: np.ndarray | None = None
    name = None
    mixed: dict[str, Direction] = {}
    if "metric" in roles and roles["metric"] != roles.get("loss"):
        if metric is None and table.is_numeric(roles["metric"]) and "loss" not in roles:
            roles["loss"] = roles.pop("metric")
        else:
            mixed = {} if metric is not None else metrics_by_dataset(table, roles)
            if not mixed:
                keep, name = one_metric(table, roles["metric"], metric)
    elif metric is not None:
        raise TableError(
            f"{table.source}: ",
            use(metric=metric),
            " does not apply: no column names metrics.",
        )
    column = roles.get("loss") or value_column(table, roles)
    roles["loss"] = column
    values = loss_numbers(table, column)
    if len(set(mixed.values())) > 1:
        values = all_as_losses(table, roles["metric"], mixed, values)
    levels = _axis_levels(table, roles, ("learner", "dataset", *_NUMBERED))
    several = len(levels["learner"].names) > 1
    if guessed_instance and several and len(levels["fold"].names) == table.n_rows:
        roles.pop("instance")  # it numbers the rows, not the instances
        levels.pop("fold")
    sizes = _sizes(table, roles)
    rows = np.arange(table.n_rows)
    if keep is not None:
        values, rows = values[keep], rows[keep]
        levels = {axis: some_levels(axis_levels, keep) for axis, axis_levels in levels.items()}
        sizes = {role: size[keep] for role, size in sizes.items()}
    cells = Cells(
        source=table.source,
        values=values,
        levels=levels,
        location=lambda i: table.location(int(rows[i]), column),
        titles=_titles(roles),
        sizes=sizes,
        tells_apart=lambda i, j: _telling(table, roles, int(rows[i]), int(rows[j])),
    )
    if mixed:
        kinds = set(mixed.values())
        note = f"The data sets have different metrics ({listed(mixed)}), so means mix them."
        cells = replace(cells, notes=(note,), direction_source=listed(mixed))
        return cells, column if len(kinds) == 1 else "loss", "loss" if "loss" in kinds else "score"
    named = name if name is not None else column
    direction = direction_of(named)
    if direction is None and name is not None:
        direction = direction_of(column)
    return cells, named, direction or "unknown"


def _telling(
    table: Table, roles: dict[str, str], first: int, second: int
) -> tuple[str, str] | None:
    """Return a column without a role that distinguishes two rows, and its value in the first."""
    for column in table.columns:
        if column in roles.values():
            continue
        levels = table.levels(column)
        a, b = int(levels.codes[first]), int(levels.codes[second])
        # skip measurements, which distinguish any two rows
        if a != b and min(a, b) >= 0 and 2 * len(levels.names) <= table.n_rows:
            return column, levels.names[a]
    return None


def forget_seeds(table: Table, roles: dict[str, str]) -> None:
    """Ignore a column of seeds if learner, data set and fold already distinguish all rows."""
    column = roles.get("run")
    if column is None or "fold" not in roles or "seed" not in normal(column):
        return
    others = [roles[role] for role in ("learner", "dataset", "fold", "metric") if role in roles]
    rows = zip(*(table.levels(other).codes.tolist() for other in others), strict=True)
    if len(set(rows)) == table.n_rows:
        roles.pop("run")


def rows_of_splits(table: Table) -> tuple[Table, str | None, str, bool]:
    """Select the rows that are splits if the first column names splits.

    Return the table, the column (None if it names no splits), the metric, and whether the names are
    those of scikit-learn's scorers. A frame whose rows
    are ``split0_test_score``, ... or ``fold1``, ... also has rows of means, ranks and settings,
    which are left out.
    """
    column = table.columns[0] if table.columns else ""
    if not column or table.is_typed_number(column) or role_of(column) is not None:
        return table, None, "", False
    levels = table.levels(column)
    splits = splits_among(levels.names)
    if len(splits) != 1 or len(levels.names) < table.n_rows:
        return table, None, "", False
    ((metric, named),) = splits.items()
    of_splits = {name for _, name in named}
    if len(of_splits) < 2:
        return table, None, "", False
    keep = np.array([levels.names[code] in of_splits for code in levels.codes], dtype=np.bool_)
    others = [levels.names[code] for code in levels.codes[~keep]]
    first = split_of(named[0][1])
    scorer = first is not None and first.scorer
    if not others:
        return table, column, metric, scorer
    note = f"Left out, as they are no splits: {listed(others[:12])}."
    table = table.take(keep)
    return replace(table, account=(*table.account, note)), column, metric, scorer


def common_direction(learners: Sequence[str]) -> tuple[Direction, str] | None:
    """Return the direction that all columns of a wide table show, and the word; else None."""
    directions = [direction_within(name) for name in learners]
    return directions[0] if len(learners) > 1 and len(set(directions)) == 1 else None


def wide_cells(
    table: Table, roles: dict[str, str], *, learners: Sequence[str] | None, guessed: bool
) -> tuple[Cells, tuple[str, ...]]:
    """Read one column per learner; the first text column may name the data sets."""
    notes: list[str] = []
    names: dict[str, str] = {}
    ours = "design" in roles and "loss_name" in roles
    for role in ("learner", "loss", "metric"):
        roles.pop(role, None)
    if learners is not None:
        roles_left = {r: c for r, c in roles.items() if c not in learners}
        roles.clear()
        roles.update(roles_left)
    free = [column for column in table.columns if column not in roles.values()]
    if free and free[0] not in (learners or ()):
        unnamed = _NO_NAME.fullmatch(normal(free[0])) and table.is_numeric(free[0])
        if unnamed or (guessed and _is_index(table, free[0])):
            roles["index"] = free[0]
            why = "has no name and contains numbers" if unnamed else "numbers the rows"
            notes.append(f"Left out: the first column, which {why}.")
        elif (
            "dataset" not in roles
            and not table.missing(free[0]).all()
            and table.numeric_share(free[0]) < 0.5
        ):
            roles["dataset"] = free[0]
            notes.append(f"The column {free[0]!r} names the data sets.")
    if learners is None:
        learners = [column for column in table.columns if column not in roles.values()]
        empty = [c for c in learners if not ours and table.missing(c).all()]
        if empty and len(empty) < len(learners):
            learners = [c for c in learners if c not in empty]
            notes.append(f"Left out, as they are empty: {listed(empty)}.")
        if not ours:
            names, asides = without_aside_columns(table, learners)
            learners = list(names)
            notes += [
                f"Left out, as they are {reason}: {shortened(list(map(repr, aside)), 12)}."
                for reason, aside in asides.items()
            ]
    if guessed and not ours:
        refuse_column_names(table, learners)
    if not learners:
        raise TableError(
            f"{table.source}: no column holds the losses of a learner (columns: "
            f"{listed(table.columns[:12])})."
        )
    if guessed and not ours and all(direction_of(column) is not None for column in learners):
        raise TableError(
            f"{table.source}: no column names the learners, and {listed(learners[:6])} look like "
            "metrics: name the column of the learners with ",
            use(learner=...),
            ", or pass ",
            use(layout="wide"),
            " if each column is a learner.",
        )
    k = len(learners)
    values = np.stack([loss_numbers(table, column) for column in learners], axis=1)
    levels = _axis_levels(table, roles, ("dataset", *_NUMBERED))
    sizes = _sizes(table, roles)
    rows = np.arange(table.n_rows)
    for names_of_rows in () if ours else tuple(levels.values()):
        keep = _not_summaries(names_of_rows)
        if keep is None:
            continue
        left_out = [names_of_rows.names[code] for code in names_of_rows.codes[~keep]]
        notes.append(f"Left out, as they are summaries: {listed(left_out)}.")
        values, rows = values[keep], rows[keep]
        levels = {axis: some_levels(axis_levels, keep) for axis, axis_levels in levels.items()}
        sizes = {role: size[keep] for role, size in sizes.items()}
        break
    n = len(rows)
    columns = tuple(learners)
    cells = Cells(
        source=table.source,
        values=values.ravel(),
        levels={
            "learner": Levels(
                np.tile(np.arange(k), n), tuple(names.get(name, name) for name in columns)
            ),
            **{
                a: Levels(np.repeat(axis_levels.codes, k), axis_levels.names)
                for a, axis_levels in levels.items()
            },
        },
        location=lambda i: table.location(int(rows[i // k]), columns[i % k]),
        titles=_titles(roles),
        sizes={role: np.repeat(size, k) for role, size in sizes.items()},
    )
    return cells, tuple(notes)


def _is_index(table: Table, column: str) -> bool:
    """Return whether a column is called a number or an index and counts the rows."""
    if not _INDEX.fullmatch(normal(column)) or not table.is_numeric(column):
        return False
    values, n = table.numbers(column), table.n_rows
    return n > 2 and bool(((values - values[0]) == np.arange(n)).all()) and values[0] in (0, 1)


def _not_summaries(levels: Levels) -> np.ndarray | None:
    """Mark the rows that are no means or ranks of a table; return None if there are none."""
    summary = are_summaries(levels.names)
    if not summary.any() or summary.all():
        return None
    keep: np.ndarray = ~summary[levels.codes]
    return keep


def cv_results_cells(
    table: Table, roles: dict[str, str], *, metric: str | None
) -> tuple[Cells, str, Direction]:
    """Read one row per learner and one column per split, as in scikit-learn's ``cv_results_``."""
    splits = splits_among(table.columns)
    if not splits:
        raise TableError(
            f"{table.source}: no columns hold splits, such as 'split0_test_score' or 'fold1'."
        )
    names = list(splits)
    if metric is None and len(names) > 1:
        raise TableError(
            f"{table.source}: the splits have the metrics {listed(names)}: choose one with ",
            use(metric=names[0]),
            ".",
        )
    chosen = names[0] if metric is None else metric
    if chosen not in splits:
        raise TableError(f"{table.source}: metric must be one of {listed(names)}; got {metric!r}.")
    columns = [column for _, column in splits[chosen]]
    numbers = tuple(str(number) for number, _ in splits[chosen])
    first = split_of(columns[0])
    scorer = first is not None and first.scorer
    rows, width = table.n_rows, len(columns)
    by = roles.get("learner") or ("params" if "params" in table else None)
    settings = [c for c in table.columns if c.startswith("param_")]
    if by is not None:
        levels = table.levels(by)
        if (levels.codes < 0).any():
            row = int((levels.codes < 0).argmax())
            raise TableError(f"{table.location(row, by)} must name the learner; the cell is empty.")
    elif settings:
        row_names = [
            ", ".join(f"{c[6:]}={cell}" for c, cell in zip(settings, row, strict=True) if cell)
            for row in zip(*(table.text(c).tolist() for c in settings), strict=True)
        ]
        names_once = tuple(dict.fromkeys(row_names))
        levels = Levels(np.array([names_once.index(word) for word in row_names]), names_once)
    elif words_of_rows := _names_of_rows(table, roles):
        levels = table.levels(words_of_rows)
    else:
        levels = Levels(np.arange(rows), tuple(str(i) for i in range(rows)))
    by_axis = {
        "learner": Levels(np.repeat(levels.codes, width), levels.names),
        "fold": Levels(np.tile(np.arange(width), rows), numbers),
    }
    if "dataset" in roles:
        sets = _axis_levels(table, roles, ("dataset",))["dataset"]
        by_axis["dataset"] = Levels(np.repeat(sets.codes, width), sets.names)
    values = np.stack([loss_numbers(table, column) for column in columns], axis=1)
    cells = Cells(
        source=table.source,
        values=values.ravel(),
        levels=by_axis,
        location=lambda i: table.location(i // width, columns[i % width]),
        titles={"fold": "split"},
    )
    if scorer:
        return cells, chosen, "score"
    return cells, chosen or "loss", direction_of(chosen) or "unknown"


def _names_of_rows(table: Table, roles: dict[str, str]) -> str | None:
    """Return the first text column without a role and without empty cells, if any."""
    for column in table.columns:
        if column in roles.values() or split_of(column) is not None:
            continue
        if not table.missing(column).any() and not table.is_numeric(column):
            return column
    return None


def form_sentences(table: Table, cells: Cells, roles: dict[str, str]) -> list[str]:
    """Describe how cells such as ``12.3 %`` and ``0.91 ± 0.02`` were read."""
    columns = (
        [roles["loss"]]
        if "loss" in roles
        else [c for c in table.columns if c in cells.levels["learner"].names or split_of(c)]
    )
    forms = {table.number_form(column): column for column in reversed(columns)}
    if "percent" in forms and len(forms) > 1:
        other = next(column for form, column in forms.items() if form != "percent")
        raise TableError(
            f"{table.source}: the column {forms['percent']!r} contains percentages and {other!r} "
            "does not: use the same form in both."
        )
    sentences = [describe_form(form) for form in forms if form]
    return [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in sentences]


def unused_columns(table: Table, roles: dict[str, str], layout: str) -> tuple[str, ...]:
    """Return the columns of a long table that were not used."""
    if layout != "long":
        return ()
    return tuple(column for column in table.columns if column not in roles.values())


def looks_like_role(name: str) -> bool:
    """Return whether a learner's column would be read in another role in a wide file."""
    return (
        role_of(name) is not None
        or split_of(name) is not None
        or bool(_NO_NAME.fullmatch(normal(name)))
    )
