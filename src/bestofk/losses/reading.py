"""Read tables of losses: their columns, their direction, their design, and embedded examples."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Floats, missing_word, names_arguments, one_of, refuse
from bestofk._base.errors import BestOfKWarning, TableError, UnknownNameError, use
from bestofk._base.formatting import shortened
from bestofk._base.registry import resolve
from bestofk.data.cells import as_pandas
from bestofk.data.tables.reading import FORMATS, read_table
from bestofk.data.tables.table import Table
from bestofk.losses.columns import (
    LOSS_ROLES,
    STATED_ROLES,
    Direction,
    all_as_losses,
    direction_of,
    direction_within,
    find,
    holds_battles,
    holds_intervals,
    is_seed_name,
    listed,
    metrics_by_dataset,
    one_metric,
    score_column,
    split_of,
    splits_among,
)
from bestofk.losses.formats.registry import LOSS_FORMATS, LossFormat, ToolColumns
from bestofk.losses.layouts import (
    Cells,
    Grid,
    columns_of_learners,
    data_columns,
    fill_grid,
    has_learners_in_rows,
    items_of_one_test_set,
    number_unnumbered,
    read_cells,
    renumber_within_runs,
    unpaired_runs,
)
from bestofk.losses.losses import DIMS, GAPS, Scores, settle_design
from bestofk.losses.predictions import refuse_predictions
from bestofk.splits.design import KINDS, Design, is_certain, unclear_design

LAYOUTS = ("long", "wide", "learners-in-rows")
READING = (
    "higher_is_better", "columns", "metric", "learners", "design", "layout", "where", "format",
)  # fmt: skip
"""Options for reading, in all functions that accept a table of losses (`missing` is separate)."""


@names_arguments()
def read_scores(
    source: str | os.PathLike[str] | Table | Mapping[str, Any] | Any,
    *,
    higher_is_better: bool | None = None,
    columns: Mapping[str, str] | None = None,
    metric: str | None = None,
    learners: Sequence[str] | None = None,
    design: Design | str | None = None,
    layout: str | None = None,
    missing: str = "refuse",
    where: Mapping[str, str] | None = None,
    format: str | None = None,
) -> Scores:
    """Read losses (or scores) from a file, a data frame, a table or a mapping of columns.

    A table is long (one row per loss: learner, data set, run, fold, score), wide (one column per
    learner), or of a tool that bestofk knows (`LOSS_FORMATS`).

    In a wide table every column of numbers is a learner, unless its name is that of a data set, a
    fold, a run, an instance or a time. The first column of texts names the rows.

    If the data sets of a table have different numbers of splits, each data set counts by its mean.

    Parameters
    ----------
    source : path, data frame (pandas, polars, Arrow), Table, mapping or name of an example
        Any file that `bestofk.data.tables.read_table` reads: CSV, TSV, Excel, Parquet, JSON lines,
        ARFF. Also the name of an embedded example (`EXAMPLES`).
    higher_is_better : bool, optional
        True: the numbers are scores and become losses. None: the name of the metric, its column or
        the file decides (accuracy, auc, f1, ...; error, loss, mse, ...); if the names are not
        clear, an error asks for the direction.
    columns : mapping of role to column, optional
        The columns that bestofk does not find by their names, such as ``{"learner": "who"}``. The
        roles are learner, dataset, run, fold, repetition, instance, score, metric, time, n_train
        and n_test.
    metric : str, optional
        The metric to read if the table has several: a value of the column of metrics, or the
        column of the metric.
    learners : sequence of str, optional
        The columns of a wide table that are learners, if other columns are not.
    design : Design or str, optional
        How the losses were produced, as in `Scores`.
    layout : str, optional
        ``"long"`` (one row per loss), ``"wide"`` (one column per learner) or
        ``"learners-in-rows"`` (one row per learner, one column per data set or per fold). None:
        wide if no column names the learners. With such a column long, or learners-in-rows if each
        learner has one row and no column is a metric.
    missing : {"refuse", "allow"}
        What to do with empty and absent cells: raise an error, or declare the cells missing.
        `compare_scores` with ``missing="drop"`` leaves out what some learner lacks.
    where : mapping of column to value, optional
        Read only the rows with these values, such as ``{"constraint": "1h8c"}``.
    format : str, optional
        One of ``bestofk list formats``, or the kind of file, such as ``"csv"``; detected by
        content if None.

    Returns
    -------
    Scores
        `Scores.account` says in sentences how the table was read.

    Raises
    ------
    TableError
        With one sentence that names the line and the column; also if the direction of the numbers
        is unknown.

    Warns
    -----
    BestOfKWarning
        If the rows of a wide table have no names, or if columns of texts are not used.

    Examples
    --------
    >>> losses = read_scores(
    ...     {"model": ["nn", "nn", "c4.5", "c4.5"], "fold": [1, 2, 1, 2],
    ...      "accuracy": [0.75, 0.5, 0.875, 0.75]}
    ... )
    >>> losses.means()
    {'nn': 0.375, 'c4.5': 0.1875}
    >>> for sentence in losses.account:
    ...     print(sentence)
    the table: 4 rows of 3 columns.
    Layout long: learners from column 'model', folds from 'fold', losses from 'accuracy'.
    Higher is better, as the name 'accuracy' says.
    Every score became the loss 1 - score.
    Losses of 2 learners on 1 data set: one run of 2-fold cross-validation.
    """
    missing = missing_word(missing, GAPS)
    if not (higher_is_better is None or isinstance(higher_is_better, bool | np.bool_)):
        raise refuse("higher_is_better", "True, False or None", higher_is_better)
    if layout is not None:
        one_of(layout, "layout", LAYOUTS)
    stated = dict(columns or {})
    for role in stated:
        if role not in STATED_ROLES:
            raise UnknownNameError("role of a column", role, STATED_ROLES)
    table, tool = _of_tool(source, format, where, stated, metric)
    if tool is not None:
        table, metric, layout, roles = tool.table, tool.metric, tool.layout, dict(tool.roles)
        stated = dict(roles)
    else:
        _refuse_other_kinds(table, stated, learners, layout)
        roles = find(table.columns, LOSS_ROLES, stated, source=table.source)
        if "fold" not in stated and _are_phases(table, roles.get("fold")):
            roles.pop("fold")
    if {"fold", "instance"} <= set(roles):
        if {"fold", "instance"} <= set(stated):
            both = roles["fold"], roles["instance"]
            raise refuse("fold and instance", "one column, not two", both)
        roles.pop("fold" if "instance" in stated else "instance")
    guessed = layout is None and learners is None
    if layout is None:
        named = metric is not None or "score" in stated
        layout = "wide" if learners is not None else _layout_of(table, roles, named)
    if "index" in roles and not (layout == "wide" and table.is_numeric(roles["index"])):
        roles.pop("index")  # names of rows without a title, or an ordinary column
    if layout == "long":
        numbers = _read_long(table, roles, stated, metric)
    elif layout == "wide":
        numbers = _read_wide(table, roles, stated, metric, learners, guessed=guessed)
    else:
        numbers = _read_rows(table, roles, metric)
    cells, name, direction, metrics = numbers
    table = cells.table
    if tool is not None and tool.loss_name is not None:
        name, direction = tool.loss_name, direction_of(tool.loss_name) or direction
    if "loss_name" in roles:
        name, direction = _only_value(table, roles["loss_name"]) or name, "loss"
    account = [*table.account, _layout_sentence(roles, layout, cells)]
    unused = [column for column in table.columns if column not in roles.values()]
    if layout == "long" and unused:
        account.append(f"Not used: {shortened(list(map(repr, unused)), 12)}.")
    forms = {table.number_form(column) for column in cells.columns} - {""}
    account += [f"{form[:1].upper()}{form[1:]}." for form in sorted(forms)]
    if tool is not None and tool.higher_is_better is not None and higher_is_better is None:
        flip = tool.higher_is_better
        account.append(f"{'Higher' if flip else 'Lower'} is better, as the format says.")
    elif higher_is_better is not None:
        flip = bool(higher_is_better)
        account.append(f"{'Higher' if flip else 'Lower'} is better, as you stated.")
    else:
        flip, name, why = _direction_by_name(cells, name, direction, metrics)
        account.append(why)
    if design is None and "time" not in roles and "dataset" not in stated:
        cells = items_of_one_test_set(cells)
    before = cells
    cells = renumber_within_runs(number_unnumbered(cells))
    if cells is not before and layout == "wide" and "dataset" not in roles:
        _warn_unnamed_rows(table.source, design, len(cells.levels["fold"].names))
    unpaired = _has_unpaired_runs(cells, design)
    cells = unpaired_runs(cells) if unpaired else cells
    grid = fill_grid(cells, allow_missing=missing != "refuse" or unpaired)
    _refuse_summaries(cells)
    if layout == "wide" and guessed:
        _refuse_other_scale(cells)
    account += [*cells.notes, *grid.notes]
    design = "test-set" if cells.instances else design
    values, settled = _design_of(cells, grid, design, account)
    return Scores(
        values,
        dims=DIMS,
        learners=cells.levels["learner"].names,
        datasets=cells.levels["dataset"].names if "dataset" in cells.levels else None,
        design=settled,
        missing="allow" if unpaired else missing,
        higher_is_better=flip,
        loss_name=name,
        account=account,
    )


def _refuse_summaries(cells: Cells) -> None:
    """Raise if a row of means counts as a data set."""
    names = cells.levels["dataset"].names if "dataset" in cells.levels else ()
    for name in names if len(names) > 2 else ():
        if name.strip(" .").lower() in _SUMMARIES:
            raise TableError(
                f"{cells.table.source}: {name!r} looks like a summary, not a data set: delete its "
                "row, or rename it if it is one."
            )


_SUMMARIES = {"mean", "average", "avg", "median", "overall", "total", "avg rank", "mean rank"}


def _refuse_other_scale(cells: Cells) -> None:
    """Raise if a column of a wide table is on another scale than all others, which are shares."""
    codes, names = cells.levels["learner"]
    if len(names) < 3:
        return
    above = [k for k in range(len(names)) if (cells.values[codes == k] > 1.0).all()]
    inside = np.isin(codes, above, invert=True)
    rest = cells.values[inside & np.isfinite(cells.values)]
    if len(above) == 1 and rest.size and rest.min() >= 0.0 and rest.max() <= 1.0:
        others = [name for k, name in enumerate(names) if k not in above]
        raise TableError(
            f"{cells.table.source}: {names[above[0]]!r} has numbers above 1, and the other columns "
            "have numbers from 0 to 1: name the learners with ",
            use(learners=others),
            ", or write all in the same way.",
        )


# The source


def open_source(source: Any, format: str | None = None) -> Any:
    """Return the table of a source; the source itself if a tool wrote it that is no table."""
    for each in () if format in FORMATS else LOSS_FORMATS.values():
        if each.opens and format in (None, each.name) and resolve(each.opens)(source) is not None:
            return source
    return _as_table(source, format=format if format in FORMATS else None)


def kind_of(source: Any, reading: Mapping[str, Any]) -> str:
    """Return whether a table holds "losses", "battles" or "intervals" of losses.

    `reading` has the options of `read_scores`, some of which say that the table holds losses.
    """
    if not isinstance(source, Table):
        return "losses"
    if not {"learners", "layout"} & {*reading} and holds_battles(source):
        return "battles"
    stated = {r: c for r, c in (reading.get("columns") or {}).items() if r in STATED_ROLES}
    roles = find(source.columns, LOSS_ROLES, stated, source=source.source)
    return "intervals" if holds_intervals(source, roles) else "losses"


def _refuse_other_kinds(
    table: Table, stated: Mapping[str, str], learners: Any, layout: str | None
) -> None:
    """Raise if a table holds battles or intervals, which other functions take."""
    reading = {"columns": stated, "learners": learners, "layout": layout}
    kind = kind_of(table, {name: value for name, value in reading.items() if value is not None})
    if kind != "losses":
        hint = {
            "battles": "the table holds battles between pairs of models: use bk.compare_battles",
            "intervals": "the columns 'low' and 'high' hold intervals of losses: use "
            "bestofk.papers.decide.order_intervals",
        }[kind]
        raise TableError(f"{table.source}: {hint}, or bestofk scores on the command line.")


def _of_tool(
    source: Any,
    format: str | None,
    where: Mapping[str, str] | None,
    stated: Mapping[str, str],
    metric: str | None,
) -> tuple[Table, ToolColumns | None]:
    """Return the table, and the columns to read if a known tool wrote it."""
    entry = None
    if format is not None and format not in FORMATS:
        if format not in LOSS_FORMATS:
            raise UnknownNameError("format", format, [*FORMATS, *LOSS_FORMATS])
        entry = LOSS_FORMATS[format]
    if format not in FORMATS:
        for each in LOSS_FORMATS.values() if entry is None else [entry]:
            table = resolve(each.opens)(source) if each.opens else None
            if table is not None:
                return table, resolve(each.columns)(_only_rows(table, where), stated, metric)
    if not isinstance(source, Table):
        source = _as_table(source, format=None if entry else format)
    table = _only_rows(source, where)
    if entry is None:
        matching = (each for each in LOSS_FORMATS.values() if each.requires and each.matches(table))
        entry = next(matching, None)
    elif entry.opens or not entry.matches(table):
        raise _not_of_tool(table, entry)
    return table, None if entry is None else resolve(entry.columns)(table, stated, metric)


def _not_of_tool(table: Table, entry: LossFormat) -> TableError:
    return TableError(
        f"{table.source} was not written by {entry.called}, which would be "
        f"{entry.summary.replace('`', '')}; got the columns "
        f"{shortened([repr(name) for name in table.columns], 8)}."
    )


def _as_table(source: Any, format: str | None) -> Table:
    if isinstance(source, str | os.PathLike):
        if isinstance(source, str) and source in EXAMPLES and not Path(source).exists():
            source = Path(__file__).with_name("examples") / f"{source}.csv"
        return read_table(source, format=format)
    if isinstance(source, list):
        return read_table(source)
    if isinstance(source, Mapping):
        return Table.from_columns(
            {
                str(name): list(map(_one_cell, values)) if isinstance(values, list) else values
                for name, values in source.items()
            }
        )
    source = as_pandas(source, "source")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        nested = {
            name: cells.map(_one_cell)
            for name, cells in source.items()
            if cells.dtype == object and isinstance(next(iter(cells), None), dict | list)
        }
        return Table.from_frame(source.assign(**nested) if nested else source)
    raise refuse("source", "a path, a data frame, a Table or a mapping of columns", source)


def _one_cell(value: Any) -> Any:
    """Return a dictionary of parameters or a list of fold values as text, as in a file."""
    return str(value) if isinstance(value, dict | list) else value


def _only_rows(table: Table, where: Mapping[str, str] | None) -> Table:
    """Select the rows that have these values."""
    for column, value in (where or {}).items():
        levels = table.levels(column)
        if str(value) not in levels.names:
            raise UnknownNameError(f"value of {column!r}", value, levels.names, table.source)
        table = table.take(levels.codes == levels.names.index(str(value)))
    return table


# The layouts


class _Numbers(NamedTuple):
    """The cells of a table, the name of their numbers, and the direction that it shows.

    `metrics` are the names that show the direction if there are several.
    """

    cells: Cells
    name: str
    direction: Direction
    metrics: Sequence[str] = ()


def _layout_of(table: Table, roles: dict[str, str], named: bool) -> str:
    """Return the layout by the columns; `named` says that the user named the scores."""
    if splits_among(table.columns):
        return "learners-in-rows"
    if "learner" not in roles:
        return "wide"
    return "long" if named or not has_learners_in_rows(table, roles) else "learners-in-rows"


def _read_long(
    table: Table, roles: dict[str, str], stated: dict[str, str], metric: str | None
) -> _Numbers:
    """Read one row per loss."""
    if "learner" not in roles:
        raise _no_learners(table)
    name, mixed = "", {}
    measures = roles.get("metric")
    unnamed = metric is None and "score" not in roles
    if measures is not None and unnamed and table.is_numeric(measures):
        roles["score"], measures = roles.pop("metric"), None
    if measures is not None:
        mixed = metrics_by_dataset(table, roles) if metric is None else {}
        if not mixed:
            table, name = one_metric(table, measures, metric)
    elif metric is not None:
        if metric not in table:
            known = [column for column in table.columns if direction_of(column) is not None]
            raise UnknownNameError("metric", metric, known, table.source)
        roles["score"] = metric
    if "score" not in roles:
        roles["score"] = score_column(table, roles)
    if "instance" in roles and "instance" not in stated:
        several = len(table.levels(roles["learner"]).names) > 1
        if several and len(table.levels(roles["instance"]).names) == table.n_rows:
            roles.pop("instance")  # it numbers the rows
    seeds = is_seed_name(roles.get("run", "")) and "run" not in stated and "fold" in roles
    if seeds and _identify(table, roles, ("learner", "dataset", "fold", "metric")):
        roles.pop("run")
    _use_time(table, roles, stated)
    cells = read_cells(table, roles, [roles["score"]])
    if not mixed:
        direction = direction_of(name) or direction_of(roles["score"]) or "unknown"
        return _Numbers(cells, name or roles["score"], direction)
    note = f"The data sets have different metrics ({listed(mixed)}), so means mix them."
    cells = replace(cells, notes=(note,))
    if len(set(mixed.values())) == 1:
        return _Numbers(cells, roles["score"], next(iter(mixed.values())), tuple(mixed))
    values = all_as_losses(table, roles["metric"], mixed, cells.values)
    return _Numbers(replace(cells, values=values), "loss", "loss", tuple(mixed))


def _read_wide(
    table: Table,
    roles: dict[str, str],
    stated: dict[str, str],
    metric: str | None,
    learners: Sequence[str] | None,
    *,
    guessed: bool,
) -> _Numbers:
    """Read one column per learner."""
    name = ""
    if "metric" in roles and not table.is_numeric(roles["metric"]):
        table, name = one_metric(table, roles["metric"], metric)
    elif metric is not None:
        raise _no_learners(table)
    if learners is not None:
        learners = _known_columns(table, learners)
        for role in [role for role, column in roles.items() if column in learners]:
            roles.pop(role)
    if guessed:
        free = [column for column in table.columns if column not in roles.values()]
        refuse_predictions(table, free, roles.get("fold"))
    columns, unused, notes = columns_of_learners(table, roles)
    if learners is not None:
        notes = []
    elif unused:
        notes.append(f"Not used, as they hold text: {shortened(list(map(repr, unused)), 12)}.")
        warnings.warn(BestOfKWarning(f"{table.source}: {notes[-1]}"), stacklevel=3)
    learners = columns if learners is None else learners
    if not learners:
        raise TableError(
            f"{table.source}: no column holds the scores of a learner (columns: "
            f"{listed(table.columns[:12])})."
        )
    if guessed and all(direction_of(column) is not None for column in learners):
        raise TableError(
            f"{table.source}: no column names the learners, and {listed(learners[:6])} look like "
            "metrics: name the column of the learners with ",
            use(columns={"learner": "NAME"}),
            ", or pass ",
            use(layout="wide"),
            " if each column is a learner.",
        )
    _use_time(table, roles, stated)
    cells = read_cells(table, roles, learners, "learner", learners)
    cells = replace(cells, notes=tuple(notes))
    if name:
        return _Numbers(cells, name, direction_of(name) or "unknown")
    shown = {direction_within(column) for column in learners}
    if len(learners) > 1 and len(shown) == 1 and (common := shown.pop()) is not None:
        return _Numbers(cells, common[1], common[0])
    return _Numbers(cells, "loss", "unknown")


def _read_rows(table: Table, roles: dict[str, str], metric: str | None) -> _Numbers:
    """Read one row per learner, and one column per data set or per fold."""
    if "learner" not in roles:
        free = [column for column in table.columns if column not in roles.values()]
        texts = [column for column in free if not table.is_numeric(column)]
        if not texts:
            raise _no_learners(table)
        roles["learner"] = texts[0]
    splits = splits_among(table.columns)
    name = ""
    if splits:
        if metric is None and len(splits) > 1:
            raise TableError(
                f"{table.source}: the splits have the metrics {listed(splits)}: choose one with ",
                use(metric=next(iter(splits))),
                ".",
            )
        name = next(iter(splits)) if metric is None else metric
        if name not in splits:
            raise UnknownNameError("metric", name, list(splits), table.source)
    if len(table.levels(roles["learner"]).names) < table.n_rows and "dataset" not in roles:
        raise TableError(
            f"{table.source}: with the learners in rows, column {roles['learner']!r} must name "
            "each of them once."
        )
    columns = [column for _, column in splits[name]] if splits else data_columns(table, roles)
    if not columns:
        raise TableError(f"{table.source}: no column holds the scores of a data set.")
    numbers = [split.number for split in map(split_of, columns) if split]
    axis, names = ("fold", numbers) if len(numbers) == len(columns) else ("dataset", columns)
    by_row = {role: column for role, column in roles.items() if role in ("learner", "dataset")}
    cells = read_cells(table, by_row, columns, axis, list(map(str, names)))
    return _Numbers(cells, name or "loss", direction_of(name) or "unknown")


def _no_learners(table: Table) -> TableError:
    return TableError(
        f"{table.source}: no column names the learners (columns: {listed(table.columns[:12])}): "
        "name it with ",
        use(
            columns={"learner": next((c for c in table.columns if not table.is_numeric(c)), "NAME")}
        ),
        ".",
    )


def _known_columns(table: Table, learners: Sequence[str]) -> tuple[str, ...]:
    names = (learners,) if isinstance(learners, str) else tuple(learners)
    for name in names:
        if name not in table:
            raise UnknownNameError("column", name, table.columns, table.source)
    if not names or len(set(names)) != len(names):
        raise refuse("learners", "columns, each once", names)
    return names


def _identify(table: Table, roles: dict[str, str], some: Sequence[str]) -> bool:
    """Return whether the columns of some roles together distinguish all rows."""
    codes = [table.levels(roles[role]).codes.tolist() for role in some if role in roles]
    return bool(codes) and len(set(zip(*codes, strict=True))) == table.n_rows


def _are_phases(table: Table, column: str | None) -> bool:
    """Return whether a column says which rows a result is of, such as train and test."""
    names = () if column is None else table.levels(column).names
    return len(names) > 1 and {name.lower() for name in names} <= _PHASES


_PHASES = {"train", "training", "test", "val", "valid", "validation", "dev"}


def _use_time(table: Table, roles: dict[str, str], stated: dict[str, str]) -> None:
    """Read the column of times as the folds, unless other columns distinguish the rows."""
    column = roles.pop("time", None)
    if column is None or {"fold", "instance"} & set(roles):
        return
    if "time" not in stated:
        if _identify(table, roles, ("learner", "dataset", "metric", "run", "repetition")):
            return
        # times that learners do not share only say when a result was computed
        if "learner" in roles and len(table.levels(column).names) == table.n_rows:
            return
    if "run" in roles:
        roles["repetition"] = roles.pop("run")
    roles["fold"] = roles["time"] = column


def _layout_sentence(roles: dict[str, str], layout: str, cells: Cells) -> str:
    nouns = {
        "dataset": "data sets", "run": "runs", "fold": "folds", "repetition": "repetitions",
        "instance": "instances", "time": "times", "n_train": "training sizes",
        "n_test": "test sizes",
    }  # fmt: skip
    if layout == "wide":
        names = shortened(list(map(repr, cells.columns)), 12)
        parts = [f"{len(cells.columns)} learner columns ({names})"]
    else:
        parts = [f"learners from column {roles['learner']!r}"]
    if layout == "learners-in-rows":
        what = "fold" if "fold" in cells.levels else "data set"
        parts.append(f"{len(cells.columns)} {what} columns")
    shown = {role: noun for role, noun in nouns.items() if role in roles}
    if "time" in shown:
        shown.pop("fold")
    parts += [f"{noun} from {roles[role]!r}" for role, noun in shown.items()]
    if layout == "long":
        parts.append(f"losses from {roles['score']!r}")
    return f"Layout {layout}: {', '.join(parts)}."


# The direction


def _direction_by_name(
    cells: Cells, name: str, direction: Direction, metrics: Sequence[str]
) -> tuple[bool, str, str]:
    """Return whether the numbers are scores, their name, and a sentence on it.

    The name of the metric decides, else that of the file.
    """
    table, named = cells.table, repr(name)
    if direction == "unknown":
        within = direction_within(Path(table.source).stem) if table.from_file else None
        if within is None:
            raise TableError(
                f"{table.source}: cannot tell whether higher or lower is better: pass ",
                use(higher_is_better=True),
                " (scores) or ",
                use(higher_is_better=False),
                " (losses).",
            )
        direction, word = within
        named, name = repr(table.source), word if name == "loss" else name
    known = cells.values[np.isfinite(cells.values)]
    negative = known.max(initial=-np.inf) <= 0.0 and known.min(initial=np.inf) < 0.0
    if direction == "loss" and negative and "loss_name" not in cells.roles:
        raise TableError(
            f"{table.source}: the name {name!r} says that lower is better, but its numbers are "
            "negative, as in scores that are better if higher: pass ",
            use(higher_is_better=True),
            " if they are such scores, or ",
            use(higher_is_better=False),
            ".",
        )
    better = "Higher" if direction == "score" else "Lower"
    says = f"names {listed(metrics)} say" if metrics else f"name {named} says"
    return direction == "score", name, f"{better} is better, as the {says}."


# The design


def _warn_unnamed_rows(source: str, design: Any, rows: int) -> None:
    """Warn that unnamed rows are read as folds, or raise, unless the design is stated."""
    if design is not None:
        return
    others = (
        use(format="autorank"),
        " if each row is a data set, ",
        use(design="test-set"),
        " if each row is an instance of one test set",
    )
    if not is_certain(rows):
        raise TableError(*unclear_design(source, rows, "; ", *others))
    warning = BestOfKWarning(
        f"{source}: the rows have no names and are read as the folds of one run of "
        "cross-validation: pass ",
        use(design="cv"),
        " if that is right, ",
        *others,
        ".",
    )
    warnings.warn(warning, stacklevel=4)


def _design_of(
    cells: Cells, grid: Grid, design: Design | str | None, account: list[str]
) -> tuple[Floats, Design]:
    """Return the grid and its design: as stated, as the file says, or as its columns show."""
    table, roles, values = cells.table, cells.roles, grid.values
    if isinstance(design, Design):
        return values, design
    sizes = {}
    for role, by_set in grid.sizes.items():
        first = by_set[0].ravel()
        if (by_set == by_set[:1]).all() and (first >= 1).all() and (first % 1 == 0).all():
            sizes[role] = tuple(int(n) for n in first)
        else:
            why = (
                "differs by data set" if len(by_set) > 1 else "is incomplete or differs by learner"
            )
            account.append(f"Not used: the column {roles[role]!r}, which {why}.")
    in_file = {role: _only_value(table, roles.get(role)) for role in _FACTS}
    stratified = {"true": True, "false": False}.get((in_file["stratified"] or "").lower())
    groups = in_file["n_groups"] or ""
    kind = design or in_file["design"]
    if kind is None or (design is None and kind not in KINDS):
        kind = _kind_by_columns(cells, grid, sizes, account)
    values, _, settled = settle_design(values, np.isnan(values), kind)
    return values, settled.with_(
        stratified=stratified, groups=int(groups) if groups.isdecimal() else None, **sizes
    )


_FACTS = ("design", "stratified", "n_groups")
"""Columns of exported studies that state the design."""


def _only_value(table: Table, column: str | None) -> str | None:
    """Return the value of a column that is the same in every row; else None."""
    names = () if column is None else table.levels(column).names
    return names[0] if len(names) == 1 else None


def _kind_by_columns(
    cells: Cells, grid: Grid, sizes: dict[str, tuple[int, ...]], account: list[str]
) -> str:
    """Return the kind of the design that the columns show."""
    _, n_sets, runs, folds, _ = grid.values.shape
    if folds > 1:
        for role, kind in (("instance", "test-set"), ("time", "time")):
            if role in cells.roles:
                return kind
        unclear = runs == n_sets == 1 and not is_certain(folds)
        if unclear and not _tests_each_row_once(sizes):
            raise TableError(*unclear_design(cells.table.source, folds))
        return "cv"
    if runs == 1 or n_sets > 1:
        return "scores"
    if len(sizes) == 2:
        return "resample"
    if is_seed_name(cells.roles.get("run", "")):
        account.append(
            "Each seed is read as a training run on one test set; state the design "
            "'resample:RUNS:SHARE' if each seed also made its own split."
        )
        return "seeds"
    account.append(
        "There are runs but no folds, so the design is unknown; state the design 'seeds' if they "
        "are training runs on one test set, or 'resample:RUNS:SHARE' if each run is a random split."
    )
    return "scores"


def _tests_each_row_once(sizes: dict[str, tuple[int, ...]]) -> bool:
    """Return whether the sizes are those of one run: together the splits test all rows."""
    if len(sizes) < 2:
        return False
    rows = np.array(sizes["n_test"]) + np.array(sizes["n_train"])
    return bool((rows == rows[0]).all() and sum(sizes["n_test"]) == rows[0])


def _has_unpaired_runs(cells: Cells, design: Any) -> bool:
    """Return whether the runs are seeds on one test set, which learners need not share."""
    if design != "seeds" and (design is not None or not is_seed_name(cells.roles.get("run", ""))):
        return False
    several = [axis for axis, levels in cells.levels.items() if len(levels.names) > 1]
    if "run" not in cells.levels or set(several) - {"learner", "run"}:
        return False
    group, size = cells.group(("learner", "run"))
    return not (np.bincount(group, minlength=size) > 1).any()  # the grid reports repeated cells


# Embedded examples


EXAMPLES = {
    "breast-cancer-10x10": "error rates of six classifiers, 10 runs of stratified 10-fold "
    "cross-validation on the breast cancer data",
    "digits-5x2": "error rates of six classifiers, 5 runs of stratified 2-fold "
    "cross-validation on the digits data",
}
"""Name and description of each example, made by ``studies/make_example_losses.py``."""
