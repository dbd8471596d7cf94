"""Three layouts of a file of losses: one row per loss, one column per learner or per split."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import TableError
from bestofk.losses.cells import Cells, in_number_order, some_levels
from bestofk.losses.roles import Direction, direction_of, normal, role_of
from bestofk.tables.table import MISSING_MARKERS, Levels, Table

_NUMBERED = ("run", "fold", "repetition")
_TRUTH = {"true": 1.0, "false": 0.0}
_NO_NAME = re.compile(r"column_1|unnamed_0")
_SUMMARIES = {
    "average", "avg", "mean", "means", "median", "average_rank", "avg_rank", "mean_rank", "rank",
    "ranks", "average_ranks", "mean_ranks", "std", "sd", "overall", "total", "win_tie_loss",
}  # fmt: skip
_SPLIT = re.compile(r"^split(\d+)_test_(.+)$")
_ASIDE = re.compile(
    r"(?:^|_)(?:time|std|stddev|stdev|rank|train|training|size|seconds|memory|ram|count|start|end)"
    r"(?:_|$)"
)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def choose_layout(table: Table, roles: dict[str, str]) -> str:
    """``"long"``, ``"wide"`` or ``"cv-results"``, from the names of the columns."""
    if any(_SPLIT.match(column) for column in table.columns):
        return "cv-results"
    if "algorithm" not in roles:
        return "wide"
    return "long"


def _axis_levels(table: Table, roles: dict[str, str], axes: Iterable[str]) -> dict[str, Levels]:
    """The levels of the axes that have a column; instances stand for folds."""
    found: dict[str, Levels] = {}
    for axis in axes:
        column = roles.get(axis)
        if axis == "fold" and column is None:
            column = roles.get("instance")
        if column is None:
            continue
        levels = table.levels(column)
        if (levels.codes < 0).any():
            row = int((levels.codes < 0).argmax())
            raise TableError(f"{table.place(row, column)} must name the {axis}; the cell is empty.")
        if axis in _NUMBERED:
            levels = in_number_order(levels)
        found[axis] = levels
    return found


def _titles(roles: dict[str, str]) -> dict[str, str]:
    titles = {axis: roles[axis] for axis in _NUMBERED if axis in roles}
    if "fold" not in titles and "instance" in roles:
        titles["fold"] = roles["instance"]
    return titles


def loss_numbers(table: Table, column: str) -> Floats:
    """The losses of a column; true and false count as 1 and 0."""
    present = np.flatnonzero(~table.missing(column))
    if len(present) and not table.is_typed_number(column):
        first = table.raw(column)[int(present[0])].as_py().strip().lower()
        if first in _TRUTH:
            levels = table.levels(column)
            words = [name.lower() for name in levels.names]
            if set(words) <= {*_TRUTH, *MISSING_MARKERS}:
                found = np.array([*(_TRUTH.get(word, np.nan) for word in words), np.nan])
                return found[levels.codes]
    return table.numbers(column)


def _sizes(table: Table, roles: dict[str, str]) -> dict[str, Floats]:
    return {role: table.numbers(roles[role]) for role in ("n_train", "n_test") if role in roles}


def long_cells(
    table: Table, roles: dict[str, str], *, metric: str | None, guessed_instance: bool
) -> tuple[Cells, str, Direction]:
    """One row per loss; gives the cells, what the numbers are called, and their direction."""
    keep: np.ndarray | None = None
    name = None
    if "metric" in roles and roles["metric"] != roles.get("loss"):
        if metric is None and table.is_numeric(roles["metric"]) and "loss" not in roles:
            roles["loss"] = roles.pop("metric")
        else:
            keep, name = _one_metric(table, roles["metric"], metric)
    elif metric is not None:
        raise TableError(
            f"{table.source}: metric={metric!r} was asked for, but no column names metrics."
        )
    column = roles.get("loss") or _value_column(table, roles)
    roles["loss"] = column
    values = loss_numbers(table, column)
    levels = _axis_levels(table, roles, ("algorithm", "dataset", *_NUMBERED))
    several = len(levels["algorithm"].names) > 1
    if guessed_instance and several and len(levels["fold"].names) == table.n_rows:
        roles.pop("instance")  # it numbers the rows, not the instances
        levels.pop("fold")
    sizes = _sizes(table, roles)
    rows = np.arange(table.n_rows)
    if keep is not None:
        values, rows = values[keep], rows[keep]
        levels = {axis: some_levels(found, keep) for axis, found in levels.items()}
        sizes = {role: size[keep] for role, size in sizes.items()}
    cells = Cells(
        source=table.source,
        values=values,
        levels=levels,
        place=lambda i: table.place(int(rows[i]), column),
        titles=_titles(roles),
        sizes=sizes,
    )
    named = name if name is not None else column
    direction = direction_of(named)
    if direction is None and name is not None:
        direction = direction_of(column)
    return cells, named, direction or "unknown"


def _one_metric(table: Table, column: str, metric: str | None) -> tuple[np.ndarray | None, str]:
    levels = table.levels(column)
    if metric is not None:
        if metric not in levels.names:
            raise TableError(
                f"{table.source}: metric must be one of {_listed(levels.names)} (column "
                f"{column!r}); got {metric!r}."
            )
        return levels.codes == levels.names.index(metric), metric
    if len(levels.names) > 1:
        row = int((levels.codes == 1).argmax())
        raise TableError(
            f"{table.place(row, column)} is another metric than the rows before: the column holds "
            f"{_listed(levels.names[:6])}{', ...' if len(levels.names) > 6 else ''}; choose one "
            f"with metric={levels.names[0]!r}."
        )
    return None, levels.names[0] if levels.names else column


def _value_column(table: Table, roles: dict[str, str]) -> str:
    """The column of the losses in a long table."""
    free = [column for column in table.columns if column not in roles.values()]
    named = [column for column in free if direction_of(column) is not None]
    tested = [column for column in named if not _ASIDE.search(normal(column))]
    candidates = tested or named
    exact = [column for column in candidates if normal(column) == "loss"]
    if len(exact) == 1:
        return exact[0]
    if not candidates:
        candidates = [
            column
            for column in free
            if table.is_numeric(column) and not _ASIDE.search(normal(column))
        ]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise TableError(
            f"{table.source}: no column holds the losses (columns: {_listed(table.columns[:12])}): "
            "name it with loss=..."
        )
    raise TableError(
        f"{table.source}: the columns {_listed(candidates)} could each hold the losses: name one "
        "with loss=..."
    )


def wide_cells(
    table: Table, roles: dict[str, str], *, learners: Sequence[str] | None, guessed: bool
) -> tuple[Cells, tuple[str, ...]]:
    """One column per learner; the first column of text names the data sets where none is known."""
    notes: list[str] = []
    ours = "design" in roles and "loss_name" in roles
    for role in ("algorithm", "loss", "metric"):
        roles.pop(role, None)
    if learners is not None:
        roles_left = {r: c for r, c in roles.items() if c not in learners}
        roles.clear()
        roles.update(roles_left)
    free = [column for column in table.columns if column not in roles.values()]
    if "dataset" not in roles and free and free[0] not in (learners or ()):
        if _NO_NAME.fullmatch(normal(free[0])) and table.is_numeric(free[0]):
            roles["index"] = free[0]
            notes.append("The first column has no name and holds numbers: it was left out.")
        elif not table.missing(free[0]).all() and table.numeric_share(free[0]) < 0.5:
            roles["dataset"] = free[0]
            notes.append(f"The column {free[0]!r} was read as the names of the data sets.")
    if learners is None:
        learners = [column for column in table.columns if column not in roles.values()]
        empty = [c for c in learners if not ours and table.missing(c).all()]
        if empty and len(empty) < len(learners):
            learners = [c for c in learners if c not in empty]
            notes.append(f"Left out as empty: {_listed(empty)}.")
    if not learners:
        raise TableError(
            f"{table.source}: no column holds the losses of a learner (columns: "
            f"{_listed(table.columns[:12])})."
        )
    if guessed and not ours and all(direction_of(column) is not None for column in learners):
        raise TableError(
            f"{table.source}: no column names the learners, and {_listed(learners[:6])} look like "
            "metrics: name the column of the learners with algorithm=..., or pass layout='wide' "
            "where each column is a learner."
        )
    k = len(learners)
    values = np.stack([loss_numbers(table, column) for column in learners], axis=1)
    levels = _axis_levels(table, roles, ("dataset", *_NUMBERED))
    sizes = _sizes(table, roles)
    rows = np.arange(table.n_rows)
    keep = None if ours else _not_summaries(levels.get("dataset"))
    if keep is not None:
        left = [levels["dataset"].names[code] for code in levels["dataset"].codes[~keep]]
        notes.append(f"Left out as summaries, not data sets: {_listed(left)}.")
        values, rows = values[keep], rows[keep]
        levels = {axis: some_levels(found, keep) for axis, found in levels.items()}
        sizes = {role: size[keep] for role, size in sizes.items()}
    n = len(rows)
    columns = tuple(learners)
    cells = Cells(
        source=table.source,
        values=values.ravel(),
        levels={
            "algorithm": Levels(np.tile(np.arange(k), n), columns),
            **{a: Levels(np.repeat(found.codes, k), found.names) for a, found in levels.items()},
        },
        place=lambda i: table.place(int(rows[i // k]), columns[i % k]),
        titles=_titles(roles),
        sizes={role: np.repeat(size, k) for role, size in sizes.items()},
    )
    return cells, tuple(notes)


def _not_summaries(levels: Levels | None) -> np.ndarray | None:
    """The rows that are data sets, where some are the means or ranks below a printed table."""
    if levels is None:
        return None
    summary = np.array([normal(name) in _SUMMARIES for name in levels.names], dtype=np.bool_)
    if not summary.any() or summary.all():
        return None
    keep: np.ndarray = ~summary[levels.codes]
    return keep


def cv_results_cells(
    table: Table, roles: dict[str, str], *, metric: str | None
) -> tuple[Cells, str, Direction]:
    """scikit-learn's ``cv_results_``: one row per learner, one column per split; scorers rise."""
    splits: dict[str, list[tuple[int, str]]] = {}
    for column in table.columns:
        match = _SPLIT.match(column)
        if match:
            splits.setdefault(match[2], []).append((int(match[1]), column))
    names = list(splits)
    if metric is None and len(names) > 1:
        raise TableError(
            f"{table.source}: the splits were scored by {_listed(names)}: choose one with "
            f"metric={names[0]!r}."
        )
    chosen = names[0] if metric is None else metric
    if chosen not in splits:
        raise TableError(f"{table.source}: metric must be one of {_listed(names)}; got {metric!r}.")
    columns = [column for _, column in sorted(splits[chosen])]
    numbers = tuple(str(number) for number, _ in sorted(splits[chosen]))
    rows, width = table.n_rows, len(columns)
    by = roles.get("algorithm") or ("params" if "params" in table else None)
    settings = [c for c in table.columns if c.startswith("param_")]
    if by is not None:
        levels = table.levels(by)
        if (levels.codes < 0).any():
            row = int((levels.codes < 0).argmax())
            raise TableError(f"{table.place(row, by)} must name the algorithm; the cell is empty.")
    elif settings:
        words = [
            ", ".join(f"{c[6:]}={cell}" for c, cell in zip(settings, row, strict=True) if cell)
            for row in zip(*(table.text(c).tolist() for c in settings), strict=True)
        ]
        names_once = tuple(dict.fromkeys(words))
        levels = Levels(np.array([names_once.index(word) for word in words]), names_once)
    else:
        levels = Levels(np.arange(rows), tuple(str(i) for i in range(rows)))
    found = {
        "algorithm": Levels(np.repeat(levels.codes, width), levels.names),
        "fold": Levels(np.tile(np.arange(width), rows), numbers),
    }
    if "dataset" in roles:
        sets = _axis_levels(table, roles, ("dataset",))["dataset"]
        found["dataset"] = Levels(np.repeat(sets.codes, width), sets.names)
    values = np.stack([loss_numbers(table, column) for column in columns], axis=1)
    cells = Cells(
        source=table.source,
        values=values.ravel(),
        levels=found,
        place=lambda i: table.place(i // width, columns[i % width]),
        titles={"fold": "split"},
    )
    return cells, chosen, "score"


def unused_columns(table: Table, roles: dict[str, str], layout: str) -> tuple[str, ...]:
    """The columns of a long table that nothing was read from."""
    if layout != "long":
        return ()
    return tuple(column for column in table.columns if column not in roles.values())


def looks_like_role(name: str) -> bool:
    """Whether a learner's column would be taken for something else in a wide file."""
    return (
        role_of(name) is not None
        or bool(_SPLIT.match(name))
        or bool(_NO_NAME.fullmatch(normal(name)))
    )
