"""Read tables of losses: their direction, their design, and the embedded examples."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, missing_word, names_arguments, one_of, refuse
from bestofk._base.errors import BestOfKWarning, TableError, UnknownNameError, use
from bestofk._base.formatting import shortened
from bestofk._base.registry import resolve
from bestofk.data.frames import as_pandas
from bestofk.data.tables.reading import FORMATS, read_table
from bestofk.data.tables.table import Levels, Table
from bestofk.losses import layouts
from bestofk.losses.columns import (
    LOSS_ROLES,
    Direction,
    direction_of,
    direction_within,
    find,
    is_seed_name,
    refuse_battles,
)
from bestofk.losses.doubts import (
    check_scales,
    plain_cells,
    refuse_differences,
    refuse_markup,
    refuse_negative_losses,
    refuse_phases,
)
from bestofk.losses.formats.registry import LOSS_FORMATS, LossFormat, ToolColumns
from bestofk.losses.layouts import (
    Cells,
    fill_grid,
    items_of_one_test_set,
    number_unnumbered,
    renumber_within_runs,
    some_cells,
)
from bestofk.losses.losses import Losses, settle_design
from bestofk.losses.predictions import refuse_predictions
from bestofk.losses.split_design import is_certain, unclear_design
from bestofk.losses.table_shapes import learners_in_rows, refuse_learning_curve, time_column
from bestofk.splits.design import KINDS, Design


def only_value(table: Table, column: str) -> str | None:
    """Return the value of a column that must be the same in every row."""
    levels = table.levels(column)
    if len(levels.names) > 1:
        row = int((levels.codes == 1).argmax())
        raise TableError(
            f"{table.location(row, column)} must be {levels.names[0]!r} as in the rows before; got "
            f"{levels.names[1]!r}."
        )
    return levels.names[0] if levels.names else None


class UnknownDirectionError(TableError):
    """Raised if the direction of the numbers is unknown: the result would depend on a guess."""


def direction_of_file(
    higher_is_better: bool | None,
    direction: Direction,
    named: str,
    table: Table,
    account: list[str],
    *,
    scorers: bool = False,
    direction_source: str = "",
) -> tuple[bool, str]:
    """Return whether to turn scores into losses, and the name of the numbers; say why."""
    if higher_is_better is not None:
        account.append(f"{'Higher' if higher_is_better else 'Lower'} is better, as you stated.")
        return bool(higher_is_better), named
    if scorers:
        account.append("Higher is better, as for all scikit-learn scorers.")
        return True, named
    named_in = named
    if direction == "unknown":
        within = direction_within(Path(table.source).stem) if table.from_file else None
        if within is None:
            raise UnknownDirectionError(
                f"{table.source}: cannot tell whether higher or lower is better: pass ",
                use(higher_is_better=True),
                " (scores) or ",
                use(higher_is_better=False),
                " (losses).",
            )
        direction, word = within
        named_in = table.source
        named = word if named == "loss" else named
    better = "Higher" if direction == "score" else "Lower"
    says = f"names {direction_source} say" if direction_source else f"name {named_in!r} says"
    account.append(f"{better} is better, as the {says}.")
    return direction == "score", named


def warn_unnamed_rows(source: str, design: Any, rows: int, account: list[str]) -> None:
    """Say that unnamed rows are read as folds; warn or raise unless the design is stated."""
    account.append("The rows have no names and are read as the folds of one data set.")
    if design is None and not is_certain(rows):
        raise TableError(
            *unclear_design(
                source,
                rows,
                "; ",
                use(format="autorank"),
                " if each row is a data set, ",
                use(design="test-set"),
                " if each row is an instance of one test set",
            )
        )
    if design is None:
        warnings.warn(
            BestOfKWarning(
                f"{source}: the rows have no names and are read as the folds of one run of "
                "cross-validation: pass ",
                use(design="cv"),
                " if that is right, ",
                use(design=f"resample:{rows}:0.2"),
                " for random splits, ",
                use(format="autorank"),
                " for data sets or ",
                use(design="test-set"),
                " for the instances of one test set.",
            ),
            stacklevel=4,
        )


def design_of_file(
    table: Table,
    roles: dict[str, str],
    values: Floats,
    sizes: dict[str, Floats],
    design: Design | str | None,
    account: list[str],
) -> tuple[Floats, Design]:
    """Return the grid and its design: as stated, as the file says, or as its columns show."""
    if isinstance(design, Design):
        return values, design
    _, n_sets, runs, folds, repetitions = values.shape
    kind: str | None = None
    if "design" in roles:
        kind = only_value(table, roles["design"])
        if kind not in KINDS:
            raise TableError(
                f"{table.location(0, roles['design'])} must be one of {', '.join(KINDS)}; "
                f"got {kind!r}."
            )
    elif "instance" in roles and folds > 1:
        kind = "test-set"
    elif "time" in roles and folds > 1:
        kind = "time"
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
            account.append(f"Not used: the column {roles[role]!r}, which differs by data set.")
        else:
            account.append(
                f"Not used: the column {roles[role]!r}, which is incomplete or differs by learner."
            )
    if design is None and kind is None:
        kind = "cv" if folds > 1 else "scores"
        if folds == 1 and runs > 1 and n_sets == 1:
            kind = "resample" if len(known) == 2 else _kind_of_runs(roles, account)
        unclear = folds > 1 and runs == 1 and n_sets == 1 and not is_certain(folds)
        if unclear and not _tests_each_row_once(known):
            raise TableError(*unclear_design(table.source, folds))
    stratified = None
    if "stratified" in roles:
        word = (only_value(table, roles["stratified"]) or "").lower()
        if word not in ("true", "false", "yes", "no", "1", "0", ""):
            raise TableError(
                f"{table.location(0, roles['stratified'])} must be true or false; got {word!r}."
            )
        stratified = None if word == "" else word in ("true", "yes", "1")
    groups = _groups(table, roles)
    if design is not None or "design" not in roles:
        values, _, settled = settle_design(values, np.isnan(values), design or kind)
        return values, settled.with_(stratified=stratified, groups=groups, **known)
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


def _kind_of_runs(roles: dict[str, str], account: list[str]) -> str:
    """Return ``"seeds"`` if the runs are seeds, else ``"scores"``: they may be random splits."""
    if is_seed_name(roles.get("run", "")):
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


def _as_unpaired_runs(cells: Cells, roles: dict[str, str], design: Any) -> tuple[Cells, bool]:
    """Number the runs of each learner if they are seeds of one test set.

    Runs of different learners are not paired: learners may have different seeds and different
    numbers of runs. Return whether some learner has fewer runs than another.
    """
    axes = set(cells.levels) - {"learner"}
    one_set = len(cells.levels["dataset"].names) == 1 if "dataset" in axes else True
    if design != "seeds" and (design is not None or not is_seed_name(roles.get("run", ""))):
        return cells, False
    if axes - {"dataset"} != {"run"} or not one_set:
        return cells, False
    learners, runs = cells.levels["learner"].codes, cells.levels["run"].codes
    if len(set(zip(learners.tolist(), runs.tolist(), strict=True))) < len(runs):
        return cells, False  # the grid reports the repeated cell
    known = ~np.isnan(cells.values)
    cells, learners = some_cells(cells, known), learners[known]
    number = np.zeros(len(learners), dtype=np.int64)
    for code in np.unique(learners):
        of_learner = np.flatnonzero(learners == code)
        number[of_learner] = np.arange(len(of_learner))
    counts = np.bincount(learners)
    names = tuple(str(i + 1) for i in range(int(counts.max(initial=0))))
    cells = replace(cells, levels={**cells.levels, "run": Levels(number, names)})
    return cells, bool((counts != counts.max()).any())


def _tests_each_row_once(sizes: dict[str, tuple[int, ...]]) -> bool:
    """Return whether the sizes are those of one run: together the splits test all rows."""
    if len(sizes) < 2:
        return False
    tested = np.asarray(sizes["n_test"], dtype=float)
    rows = tested + np.asarray(sizes["n_train"], dtype=float)
    return bool((rows == rows[0]).all() and tested.sum() == rows[0])


def _groups(table: Table, roles: dict[str, str]) -> int | None:
    """Return the number of groups of rows, if the file says so."""
    if "n_groups" not in roles:
        return None
    word = only_value(table, roles["n_groups"]) or ""
    if not word.isdecimal() or int(word) < 1:
        raise TableError(
            f"{table.location(0, roles['n_groups'])} must be a number of groups; got {word!r}."
        )
    return int(word)


def parts_of_rows(table: Table, roles: dict[str, str], cells: Cells) -> tuple[Cells, Cells | None]:
    """Separate the cells of runs on all rows from those of runs on parts of the rows."""
    column = roles.get("part_of_rows")
    if column is None:
        return cells, None
    levels = table.levels(column)
    if set(levels.names) != {"all", "nested"}:
        raise TableError(
            f"{table.source}: column {column!r} must say 'all' and 'nested'; got "
            f"{', '.join(map(repr, levels.names))}."
        )
    each, rest = divmod(len(cells.values), max(len(levels.codes), 1))
    if rest:
        raise TableError(
            f"{table.source}: some rows were left out; column {column!r} needs all of them."
        )
    whole = np.repeat(levels.codes == levels.names.index("all"), each)
    return some_cells(cells, whole), some_cells(cells, ~whole)


# Embedded examples


EXAMPLES = {
    "breast-cancer-10x10": "error rates of six classifiers, 10 runs of stratified 10-fold "
    "cross-validation on the breast cancer data",
    "digits-5x2": "error rates of six classifiers, 5 runs of stratified 2-fold "
    "cross-validation on the digits data",
}
"""Name and description of each example."""


def example_path(name: str) -> Path:
    """Return the path of an example."""
    if name not in EXAMPLES:
        raise UnknownNameError("example table of losses", name, EXAMPLES)
    return Path(__file__).with_name("examples") / f"{name}.csv"


def example_losses(name: str) -> Losses:
    """Load an embedded table of losses.

    Parameters
    ----------
    name : str
        ``"breast-cancer-10x10"`` or ``"digits-5x2"``.

    Notes
    -----
    Made with scikit-learn's classifiers and data sets by ``studies/make_example_losses.py``.

    Examples
    --------
    >>> example_losses("digits-5x2")
    Losses(6 learners x 1 data set, 5 runs of 2-fold cross-validation, stratified)
    """
    return read_losses(example_path(name))


# Reading


LAYOUTS = ("long", "wide", "cv-results", "learners-in-rows")
READING = (
    "higher_is_better", "learner", "dataset", "run", "fold", "repetition", "instance", "loss",
    "metric", "learners", "n_train", "n_test", "design", "layout", "where", "loss_name",
    "delimiter", "encoding", "format",
)  # fmt: skip
"""Options for reading, in all functions that accept a table of losses (`missing` is separate)."""


@names_arguments()
def read_losses(
    source: str | os.PathLike[str] | Table | Mapping[str, Any] | Any,
    *,
    higher_is_better: bool | None = None,
    learner: str | None = None,
    dataset: str | None = None,
    run: str | None = None,
    fold: str | None = None,
    repetition: str | None = None,
    instance: str | None = None,
    loss: str | None = None,
    metric: str | None = None,
    learners: Sequence[str] | None = None,
    n_train: str | None = None,
    n_test: str | None = None,
    design: Design | str | None = None,
    layout: str | None = None,
    missing: str = "refuse",
    where: Mapping[str, str] | None = None,
    loss_name: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
) -> Losses:
    """Read losses (or scores) from a file, a data frame, a table or a mapping of columns.

    Parameters
    ----------
    source : path, data frame (pandas, polars, Arrow), Table, mapping or name of an example
        Any file that `bestofk.data.tables.read_table` reads: CSV, TSV, Excel, Parquet, JSON lines,
        ARFF. Also the name of an embedded example (see `example_losses`).
    higher_is_better : bool, optional
        True: the numbers are scores and become losses. None: the name of the metric, its column or
        the file decides (accuracy, auc, f1, score, ...; error, loss, mse, ...); if the names are
        not clear, an error asks for the direction.
    learner, dataset, run, fold, repetition, instance, loss, n_train, n_test : str, optional
        The column of each role; guessed from the names of the columns if None.
    metric : str, optional
        The metric to read if a column names several.
    learners : sequence of str, optional
        The columns of a wide table that are learners, if other columns are not.
    design : Design or str, optional
        How the losses were produced, as in `Losses`.
    layout : str, optional
        ``"long"`` (one row per loss), ``"wide"`` (one column per learner), ``"cv-results"``
        (one row per learner, one column per split, such as scikit-learn's ``split0_test_score``
        or ``fold1``) or ``"learners-in-rows"`` (one row per learner, one column per data set);
        guessed if None.
    missing : {"refuse", "drop", "allow"}
        What to do with empty and absent cells: raise an error, leave out what some learner lacks,
        or declare the cells missing.
    where : mapping of column to value, optional
        Read only the rows with these values, such as ``{"constraint": "1h8c"}``.
    loss_name : str, optional
        The name of the numbers; the name of their column if None.
    delimiter, encoding, format : str, optional
        As in `bestofk.data.tables.read_table`; `format` may also name one of `LOSS_FORMATS`.

    Returns
    -------
    Losses
        `Losses.account` says in sentences how the table was read.

    Raises
    ------
    TableError
        With one sentence that names the line and the column; also if the direction of the numbers
        is unknown.

    Warns
    -----
    BestOfKWarning
        If the rows of a wide table have no names.

    Examples
    --------
    >>> losses = read_losses(
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
    missing = missing_word(missing)
    if not (higher_is_better is None or isinstance(higher_is_better, bool | np.bool_)):
        raise refuse("higher_is_better", "True, False or None", higher_is_better)
    by_role = {
        "learner": learner, "dataset": dataset, "run": run, "fold": fold,
        "repetition": repetition, "instance": instance, "loss": loss,
        "n_train": n_train, "n_test": n_test,
    }  # fmt: skip
    stated = {role: column for role, column in by_role.items() if column is not None}
    table, tool = _of_tool(
        source, format, where, stated, metric, delimiter=delimiter, encoding=encoding
    )
    if tool is not None:
        table, metric, layout = tool.table, tool.metric, tool.layout
        loss_name = loss_name or tool.loss_name
        dataset = tool.roles.get("dataset")
    else:
        if learners is None and layout is None:
            refuse_battles(table)
        refuse_markup(table)
        table = plain_cells(table)
    split_metric, scorer = "", False
    if tool is not None:
        roles = dict(tool.roles)
    else:
        table, splits, split_metric, scorer = layouts.rows_of_splits(table)
        if splits is not None and (fold or dataset or instance or learner) is None:
            stated["fold"] = fold = splits
        roles = find(table.columns, LOSS_ROLES, stated, source=table.source)
    if "fold" in roles and "instance" in roles and instance is None:
        roles.pop("instance")
    if "fold" in roles and "instance" in roles:
        if fold is not None:
            raise refuse("fold and instance", "one column, not two", (fold, instance))
        roles.pop("fold")
    if layout is not None:
        one_of(layout, "layout", LAYOUTS)
    if learners is not None:
        learners = _known_columns(table, learners)
    elif layout in (None, "learners-in-rows") and tool is None and loss is None and metric is None:
        turned = learners_in_rows(table, roles, stated=layout is not None)
        if turned is not None:
            table, roles, layout = turned, {"dataset": "dataset"}, "wide"
            dataset = "dataset"
    guessed = layout is None and learners is None
    if tool is None and layout in (None, "long") and fold is None:
        refuse_phases(table, roles)
    if layout is None:
        layout = "wide" if learners is not None else layouts.choose_layout(table, roles)
    one_of(layout, "layout", LAYOUTS)
    if guessed and layout == "wide":
        refuse_predictions(table, [name for name in table.columns if name not in roles.values()])
    if layout == "long" and run is None and tool is None:
        layouts.forget_seeds(table, roles)
    if layout in ("long", "wide") and tool is None:
        _find_time(table, roles, learners, design, named=layout == "wide" and dataset is not None)
    notes: tuple[str, ...] = ()
    direction: Direction
    if layout == "long":
        if "learner" not in roles:
            raise TableError(
                f"{table.source}: no column names the learners (columns: "
                f"{', '.join(map(repr, table.columns[:12]))}): name it with ",
                use(learner=...),
            )
        cells, named, direction = layouts.long_cells(
            table,
            roles,
            metric=metric,
            guessed_instance="instance" in roles and instance is None,
        )
    elif layout == "wide":
        cells, notes = layouts.wide_cells(table, roles, learners=learners, guessed=guessed)
        named, direction = split_metric or "loss", direction_of(split_metric) or "unknown"
        direction = "score" if scorer else direction
        shared = layouts.common_direction(cells.levels["learner"].names)
        if direction == "unknown" and shared is not None:
            direction, named = shared
    else:
        cells, named, direction = layouts.cv_results_cells(table, roles, metric=metric)
    if tool is not None and tool.loss_name is not None:
        named, direction = tool.loss_name, direction_of(tool.loss_name) or direction
    if "loss_name" in roles:
        named, direction = only_value(table, roles["loss_name"]) or named, "loss"
    for note in notes:
        if note.startswith("Left out, as") and "they are empty" not in note:
            warnings.warn(BestOfKWarning(f"{table.source}: {note}"), stacklevel=2)
    account = [*table.account, _layout_sentence(roles, layout, cells), *notes]
    unused = layouts.unused_columns(table, roles, layout)
    if unused:
        account.append(f"Not used: {shortened(list(map(repr, unused)), 12)}.")
    if "loss" in roles and table.decimal_mark(roles["loss"]) == ",":
        account.append("The numbers have decimal commas.")
    account += layouts.form_sentences(table, cells, roles)
    if tool is not None and tool.higher_is_better is not None and higher_is_better is None:
        flip = tool.higher_is_better
        account.append(f"{'Higher' if flip else 'Lower'} is better, as the format says.")
    else:
        scorers = layout == "cv-results" and direction == "score"
        if higher_is_better is None and direction == "loss" and "loss_name" not in roles:
            refuse_negative_losses(cells, named, table.source)
        flip, named = direction_of_file(
            higher_is_better, direction, named, table, account, scorers=scorers,
            direction_source=cells.direction_source,
        )  # fmt: skip
    account += cells.notes
    cells, parts = parts_of_rows(table, roles, replace(cells, notes=()))
    if design is None and "time" not in roles:
        cells = items_of_one_test_set(cells, dataset_stated=dataset is not None)
    before = cells
    cells = renumber_within_runs(number_unnumbered(cells))
    if cells is not before and layout == "wide" and "dataset" not in roles:
        warn_unnamed_rows(table.source, design, len(cells.levels["fold"].names), account)
    account += cells.notes
    cells, unpaired = _as_unpaired_runs(cells, roles, design)
    values, sizes = fill_grid(cells, allow_missing=missing != "refuse" or unpaired)
    if tool is None and "loss_name" not in roles:
        refuse_differences(values, cells.levels["learner"].names, table.source)
        check_scales(values, cells.levels["learner"].names, table.source, higher=flip)
    if cells.instances:
        design = "test-set"
    values, settled = design_of_file(table, roles, values, sizes, design, account)
    subset_values = None
    if parts is not None and not isinstance(design, Design):
        subset_values, _ = fill_grid(parts, allow_missing=False)
        settled = settled.with_(nested_runs=subset_values.shape[2])
    return Losses(
        values,
        subset_values=subset_values,
        dims=("learner", "dataset", "run", "fold", "repetition"),
        learners=cells.levels["learner"].names,
        datasets=cells.levels["dataset"].names if "dataset" in cells.levels else None,
        design=settled,
        missing="allow" if unpaired else missing,
        higher_is_better=flip,
        loss_name=loss_name or named,
        account=account,
    )


def _find_time(
    table: Table,
    roles: dict[str, str],
    learners: Sequence[str] | None,
    design: Any,
    *,
    named: bool,
) -> None:
    """Read the column that orders the rows in time as the folds, if there is one."""
    column = None if named else time_column(table, roles, learners)
    if column is None:
        return
    if design is None:
        refuse_learning_curve(table, column, roles)
    if "run" in roles:
        roles["repetition"] = roles.pop("run")
    if "fold" not in roles and "instance" not in roles:
        roles["fold"] = roles["time"] = column


def _of_tool(
    source: Any,
    format: str | None,
    where: Mapping[str, str] | None,
    stated: Mapping[str, str],
    metric: str | None,
    **how: Any,
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
        source = _as_table(source, format=None if entry else format, **how)
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


def _as_table(source: Any, **how: Any) -> Table:
    if isinstance(source, str | os.PathLike):
        if isinstance(source, str) and source in EXAMPLES and not Path(source).exists():
            return read_table(example_path(source), **how)
        if Path(source).is_dir():
            raise TableError(
                f"{os.fspath(source)} is a folder: name the file; for LLM evaluation logs use "
                "'bestofk evals' (bestofk.read_evals)."
            )
        return read_table(source, **how)
    if isinstance(source, Mapping):
        return Table.from_columns(
            {
                str(name): list(map(_one_cell, values)) if isinstance(values, list) else values
                for name, values in source.items()
            }
        )
    source = as_pandas(source, "source")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return Table.from_frame(_plain_cells(_one_level(source)))
    raise refuse("source", "a path, a data frame, a Table or a mapping of columns", source)


def _plain_cells(frame: Any) -> Any:
    """Replace dictionaries and lists in cells by their text, as in a file."""
    from pandas.api.types import infer_dtype

    nested = {
        name: cells.map(_one_cell)
        for name, cells in frame.items()
        if cells.dtype == object and infer_dtype(cells, skipna=True) == "mixed"
    }
    return frame.assign(**nested) if nested and frame.columns.is_unique else frame


def _one_level(frame: Any) -> Any:
    """Join the levels of column names of a pivot table; drop levels with one value."""
    if getattr(frame.columns, "nlevels", 1) < 2:
        return frame
    levels = [frame.columns.get_level_values(i) for i in range(frame.columns.nlevels)]
    telling = [level for level in levels if len(set(level)) > 1] or levels[-1:]
    names = [
        "_".join(str(part) for part in parts if str(part)) for parts in zip(*telling, strict=True)
    ]
    return frame.set_axis(names, axis=1)


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


def _known_columns(table: Table, learners: Sequence[str]) -> tuple[str, ...]:
    names = (learners,) if isinstance(learners, str) else tuple(learners)
    for name in names:
        if name not in table:
            raise UnknownNameError("column", name, table.columns, table.source)
    if not names or len(set(names)) != len(names):
        raise refuse("learners", "columns, each once", names)
    return names


def _layout_sentence(roles: dict[str, str], layout: str, cells: Cells) -> str:
    parts = []
    nouns = {
        "dataset": "data sets", "run": "runs", "fold": "folds", "repetition": "repetitions",
        "instance": "instances", "time": "times", "n_train": "training sizes",
        "n_test": "test sizes",
    }  # fmt: skip
    if layout == "long":
        parts.append(f"learners from column {roles['learner']!r}")
    elif layout == "wide":
        names = cells.levels["learner"].names
        shown_names = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
        parts.append(f"{len(names)} learner columns ({shown_names})")
    else:
        parts.append(f"one row per learner, {len(cells.levels['fold'].names)} split columns")
    shown = {
        r: w for r, w in nouns.items() if r in roles and (layout != "cv-results" or r == "dataset")
    }
    if "time" in shown:
        shown.pop("fold", None)
    parts += [f"{word} from {roles[role]!r}" for role, word in shown.items()]
    if layout == "long":
        parts.append(f"losses from {roles['loss']!r}")
    return f"Layout {layout}: {', '.join(parts)}."
