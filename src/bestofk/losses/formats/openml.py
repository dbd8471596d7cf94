"""OpenML evaluations from ``openml.evaluations.list_evaluations``, and OpenML runs."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.data.tables.table import Table
from bestofk.losses.columns import one_metric
from bestofk.losses.formats.result_tables import (
    ReadOptions,
    ToolColumns,
    existing_path,
    noted,
    texts,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LOWER = re.compile(r"error|cost|time|ram_hours|entropy$")
_KEYS = {"run_id", "task_id", "flow_name", "function"}


def is_openml(table: Table) -> bool:
    """Return whether the table has the columns of ``list_evaluations``."""
    return set(table.columns) >= _KEYS and ("value" in table or "values" in table)


def higher_is_better(function: str) -> bool:
    """Return the direction of an OpenML measure.

    Examples
    --------
    >>> higher_is_better("predictive_accuracy"), higher_is_better("root_mean_squared_error")
    (True, False)
    """
    return LOWER.search(function) is None


def openml_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Read flows as learners, with their setups if they differ, and tasks as data sets."""
    keep, function = one_metric(table, "function", options.metric)
    if keep is not None:
        table = table.take(keep)
    notes = ["OpenML evaluations: flows are learners, tasks are data sets."]
    table = _latest_runs(table, notes)
    learners, tasks = _learners(table), _tasks(table)
    folds = _folds(table)
    columns: dict[str, list[object]] = {"learner": [], "task": [], "fold": [], function: []}
    if "repeat" in table and "fold" in table:
        source_of = {"repeat": "repeat", "fold": "fold", function: "value"}
        columns = {"learner": list(learners), "task": list(tasks)}
        columns |= {name: list(texts(table, column)) for name, column in source_of.items()}
    else:
        for row, values in enumerate(folds):
            columns["learner"] += [learners[row]] * len(values)
            columns["task"] += [tasks[row]] * len(values)
            columns["fold"] += range(1, len(values) + 1)
            columns[function] += values
        if max(map(len, folds)) == 1:
            del columns["fold"]
    result = Table.from_columns(columns, source=table.source)
    roles = {"learner": "learner", "dataset": "task", "loss": function}
    roles |= {role: column for role, column in (("run", "repeat"), ("fold", "fold"))
              if column in columns}  # fmt: skip
    if options.learner is not None:
        raise TableError(
            f"{table.source}: learner does not apply to OpenML evaluations; got "
            f"{options.learner!r}."
        )
    return ToolColumns(
        table=noted(result, *notes), roles=roles, layout="long", loss_name=function,
        higher_is_better=higher_is_better(function), direction_source="the measure of OpenML",
    )  # fmt: skip


def _setups(table: Table) -> list[str | None]:
    return texts(table, "setup_id") if "setup_id" in table else [None] * table.n_rows


def _learners(table: Table) -> list[str]:
    """Name each learner by its flow, and by its setup if the flow has several."""
    flows, setups = texts(table, "flow_name"), _setups(table)
    if None in flows:
        row = flows.index(None)
        raise TableError(
            f"{table.location(row, 'flow_name')} must name the flow; the cell is empty."
        )
    by_flow: dict[str | None, set[str | None]] = defaultdict(set)
    for flow, setup in zip(flows, setups, strict=True):
        by_flow[flow].add(setup)
    return [
        f"{flow} (setup {setup})" if len(by_flow[flow]) > 1 else str(flow)
        for flow, setup in zip(flows, setups, strict=True)
    ]


def _tasks(table: Table) -> list[str]:
    """Name each task by its data set, and by its number if the data set has several."""
    tasks = texts(table, "task_id")
    names = texts(table, "data_name") if "data_name" in table else [None] * table.n_rows
    by_name: dict[str | None, set[str | None]] = defaultdict(set)
    for task, name in zip(tasks, names, strict=True):
        by_name[name].add(task)
    return [
        name if name is not None and len(by_name[name]) == 1
        else f"task {task}" if name is None
        else f"{name} (task {task})"
        for task, name in zip(tasks, names, strict=True)
    ]  # fmt: skip


def _latest_runs(table: Table, notes: list[str]) -> Table:
    """Keep the latest of several runs with the same flow, setup and task."""
    runs = texts(table, "run_id")
    best: dict[tuple[str | None, ...], int] = {}
    flows, tasks, setups = texts(table, "flow_name"), texts(table, "task_id"), _setups(table)
    keys = list(zip(flows, setups, tasks, strict=True))
    for run, key in zip(runs, keys, strict=True):
        best[key] = max(best.get(key, -1), _number(run))
    keep = np.array(
        [_number(run) == best[key] for run, key in zip(runs, keys, strict=True)], dtype=np.bool_
    )
    gone = len({run for run, keep_row in zip(runs, keep, strict=True) if not keep_row})
    if gone:
        notes.append(
            f"{counted(gone, 'run')} left out: a later run has the same flow, setup and task."
        )
    return table.take(keep)


def _number(text: str | None) -> int:
    match = re.fullmatch(r"(\d{1,18})(?:\.0)?", text or "")
    return int(match[1]) if match else 0


def _folds(table: Table) -> list[list[object]]:
    """Return the values of each run by fold if listed (per_fold=True), else its mean."""
    if "values" not in table or table.missing("values").all():
        if "value" not in table:
            raise TableError(f"{table.source}: there must be a column 'value' or 'values'.")
        return [[cell] for cell in texts(table, "value")]
    folds: list[list[object]] = []
    for row, cell in enumerate(texts(table, "values")):
        try:
            values = json.loads(cell or "")
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, list) or not all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in values
        ):
            raise TableError(
                f"{table.location(row, 'values')} must be an array with a number per fold; got "
                f"{str(cell)[:60]!r}."
            )
        folds.append([_float(value) for value in values])
    return folds


def _float(value: object) -> float | None:
    try:
        return float(str(value))
    except OverflowError:
        return None


# OpenML runs: ``description.xml`` with evaluations by fold, and ``predictions.arff``


_SPACE = "{http://openml.org/openml}"
_PREDICTIONS = {"repeat", "fold", "prediction"}
_MAX_FILES = 20_000
Row = dict[str, Any]


def open_openml(source: Any) -> Table | None:
    """Read the evaluations by fold of a run, or of all runs below a folder; None if none."""
    path = existing_path(source)
    if path is None:
        return None
    try:
        if path.is_dir():
            folders = sorted({file.parent for file in _files(path) if _is_of_run(file)})
            if not folders:
                return None
            rows = [row for folder in folders for row in _run(folder)]
            return _table(rows, path.resolve().name, f"{counted(len(folders), 'OpenML run')}.")
        is_json = path.is_file() and _is_json_of_run(path)
        if not is_json and (not path.is_file() or not _is_of_run(path)):
            return None
    except (OSError, ValueError):
        return None
    if is_json:
        raise TableError(
            f"{path.name} is an OpenML run as JSON, which has no evaluations by fold: download its "
            "XML (https://www.openml.org/api/v1/run/ID) or its predictions.arff."
        )
    if path.suffix.lower() == ".arff":
        return _table(list(_from_predictions(path, _description())), path.name, "An OpenML run.")
    return _table(list(_from_xml(path)), path.name, "An OpenML run.")


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            count += 1
            if count > _MAX_FILES:
                return
            if name.lower().endswith((".xml", ".arff")):
                yield Path(parent, name)


def _is_of_run(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4096)
    if path.suffix.lower() == ".arff":
        return b"openml_task_" in head.lower() and b"prediction" in head.lower()
    return b"<oml:run" in head and b"http://openml.org/openml" in head


def _is_json_of_run(path: Path) -> bool:
    """Return whether the file is a run as JSON, which has only means over all folds."""
    if path.suffix.lower() != ".json":
        return False
    with path.open("rb") as file:
        return b"".join(file.read(4096).split()).startswith(b'{"run":{"run_id"')


def _table(rows: list[Row], source: str, note: str) -> Table:
    if not rows:
        raise TableError(f"{source}: the OpenML runs have no evaluations by fold.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table.from_columns(
        {name: [row.get(name) for row in rows] for name in names}, source=source
    )
    return noted(table, note)


def _run(folder: Path) -> list[Row]:
    """Return the evaluations in the description, or else those of the predictions."""
    described = _description(run_id=folder.name, flow_name=folder.name)
    for path in sorted(folder.glob("*.xml")):
        if _is_of_run(path):
            rows = list(_from_xml(path))
            if rows:
                return rows
            described = _described(_parsed(path), path)
    for path in sorted(folder.glob("*.arff")):
        if _is_of_run(path):
            return list(_from_predictions(path, described))
    return []


def _description(**known: str | None) -> Row:
    """Return the fields of a run that are the same in all its rows."""
    names = ("task_id", "setup_id", "flow_name", "data_name")
    return {"run_id": known.get("run_id") or "1", **{name: known.get(name) for name in names}}


def _parsed(path: Path) -> Element:
    """Parse an XML file; raise if it defines entities or a document type."""
    from xml.etree.ElementTree import ParseError, fromstring

    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise TableError(f"{path.name}: XML with a document type is not supported.")
    try:
        return fromstring(data)
    except (ParseError, ValueError, LookupError) as error:
        raise TableError(f"{path.name} is not XML that can be read ({error}).") from None


def _text(element: Element, name: str) -> str | None:
    child = element.find(f"{_SPACE}{name}")
    text = (child.text or "").strip() if child is not None else ""
    return text or None


def _described(root: Element, path: Path) -> Row:
    if root.tag != f"{_SPACE}run":
        raise TableError(f"{path.name} must be the description of an OpenML run.")
    data = root.find(f"{_SPACE}input_data/{_SPACE}dataset")
    run, flow = _text(root, "run_id"), _text(root, "flow_name")
    if flow is None:
        number = _text(root, "flow_id")
        flow = f"flow {number}" if number else path.resolve().parent.name
    return _description(
        run_id=run, task_id=_text(root, "task_id"), setup_id=_text(root, "setup_id"),
        flow_name=flow, data_name=None if data is None else _text(data, "name"),
    )  # fmt: skip


def _from_xml(path: Path) -> Iterator[Row]:
    root = _parsed(path)
    described = _described(root, path)
    for evaluation in root.iterfind(f"{_SPACE}output_data/{_SPACE}evaluation"):
        repeat, fold = evaluation.get("repeat"), evaluation.get("fold")
        # evaluations of samples are points of a learning curve
        if repeat is None or fold is None or evaluation.get("sample") is not None:
            continue
        value, name = _text(evaluation, "value"), _text(evaluation, "name")
        if name is not None and value is not None:
            yield {
                **described, "function": name, "repeat": repeat, "fold": fold, "value": value,
            }  # fmt: skip


def _from_predictions(path: Path, described: Row) -> Iterator[Row]:
    """Compute the accuracy of every fold, or the mean absolute error of numbers."""
    from bestofk.data.tables.reading import read_table

    table = read_table(path, format="arff")
    truth = next((name for name in ("correct", "truth") if name in table), None)
    if truth is None or not set(table.columns) >= _PREDICTIONS:
        raise TableError(
            f"{path.name}: predictions must have the columns repeat, fold, prediction and correct."
        )
    if "sample" in table and len(table.levels("sample").names) > 1:
        raise TableError(
            f"{path.name}: the predictions are a learning curve (several samples per fold), which "
            "is not supported."
        )
    row = dict(described)
    row["flow_name"] = row["flow_name"] or path.resolve().parent.name
    row["task_id"] = row["task_id"] or path.name
    numeric = "prediction" not in table.declared and table.is_numeric("prediction")
    total: dict[tuple[str, str], list[float]] = defaultdict(list)
    cells = zip(
        *(texts(table, name) for name in ("repeat", "fold", "prediction", truth)), strict=True
    )
    for number, (repeat, fold, predicted, right) in enumerate(cells):
        if repeat is None or fold is None or predicted is None or right is None:
            raise TableError(f"{table.location(number)}: a prediction must be complete.")
        loss = abs(float(predicted) - float(right)) if numeric else float(predicted == right)
        total[_whole(repeat), _whole(fold)].append(loss)
    for (repeat, fold), losses in total.items():
        yield {
            **row, "function": "mean_absolute_error" if numeric else "predictive_accuracy",
            "repeat": repeat, "fold": fold, "value": str(sum(losses) / len(losses)),
        }  # fmt: skip


def _whole(text: str) -> str:
    return text.removesuffix(".0")
