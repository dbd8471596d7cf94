"""Runs of OpenML: ``description.xml`` with evaluations by fold, and ``predictions.arff``."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestofk.errors import TableError
from bestofk.losses.formats.tool_columns import noted, texts
from bestofk.tables.table import Table
from bestofk.wording import counted

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_SPACE = "{http://openml.org/openml}"
_PREDICTIONS = {"repeat", "fold", "prediction"}
_MOST_FILES = 20_000
Row = dict[str, Any]


def open_openml(source: Any) -> Table | None:
    """The evaluations by fold of a run, or of all runs below a folder; None where there is none."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = Path(source)
    try:
        if path.is_dir():
            folders = sorted({file.parent for file in _files(path) if _is_of_run(file)})
            if not folders:
                return None
            rows = [row for folder in folders for row in _run(folder)]
            return _table(rows, path.resolve().name, f"{counted(len(folders), 'run')} of OpenML.")
        is_json = path.is_file() and _is_json_of_run(path)
        if not is_json and (not path.is_file() or not _is_of_run(path)):
            return None
    except (OSError, ValueError):
        return None
    if is_json:
        raise TableError(
            f"{path.name} is a run of OpenML as JSON, which states no evaluations by fold: "
            "download its XML (https://www.openml.org/api/v1/run/ID) or its predictions.arff."
        )
    if path.suffix.lower() == ".arff":
        return _table(list(_from_predictions(path, _Described())), path.name, "A run of OpenML.")
    return _table(list(_from_xml(path)), path.name, "A run of OpenML.")


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            count += 1
            if count > _MOST_FILES:
                return
            if name.lower().endswith((".xml", ".arff")):
                yield Path(place, name)


def _is_of_run(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4096)
    if path.suffix.lower() == ".arff":
        return b"openml_task_" in head.lower() and b"prediction" in head.lower()
    return b"<oml:run" in head and b"http://openml.org/openml" in head


def _is_json_of_run(path: Path) -> bool:
    """The JSON of a run holds its means over all folds, and nothing to test."""
    if path.suffix.lower() != ".json":
        return False
    with path.open("rb") as file:
        return b"".join(file.read(4096).split()).startswith(b'{"run":{"run_id"')


def _table(rows: list[Row], source: str, said: str) -> Table:
    if not rows:
        raise TableError(f"{source}: the runs of OpenML hold no evaluations by fold.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table.from_columns(
        {name: [row.get(name) for row in rows] for name in names}, source=source
    )
    return noted(table, said)


def _run(folder: Path) -> list[Row]:
    """The evaluations in the description; where it has none, those of the predictions."""
    described = _Described(run_id=folder.name, flow_name=folder.name)
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


class _Described:
    """What a description says of its run."""

    def __init__(self, **known: str | None) -> None:
        self.row: Row = {
            "run_id": known.get("run_id") or "1",
            "task_id": known.get("task_id"),
            "setup_id": known.get("setup_id"),
            "flow_name": known.get("flow_name"),
            "data_name": known.get("data_name"),
        }


def _parsed(path: Path) -> Element:
    """The root of an XML file without entities or document types of its own."""
    from xml.etree.ElementTree import ParseError, fromstring

    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise TableError(f"{path.name}: XML with a document type is not read.")
    try:
        return fromstring(data)
    except (ParseError, ValueError, LookupError) as error:
        raise TableError(f"{path.name} is not XML that can be read ({error}).") from None


def _text(element: Element, name: str) -> str | None:
    found = element.find(f"{_SPACE}{name}")
    text = (found.text or "").strip() if found is not None else ""
    return text or None


def _described(root: Element, path: Path) -> _Described:
    if root.tag != f"{_SPACE}run":
        raise TableError(f"{path.name} must be the description of a run of OpenML.")
    data = root.find(f"{_SPACE}input_data/{_SPACE}dataset")
    run, flow = _text(root, "run_id"), _text(root, "flow_name")
    if flow is None:
        number = _text(root, "flow_id")
        flow = f"flow {number}" if number else path.resolve().parent.name
    return _Described(
        run_id=run, task_id=_text(root, "task_id"), setup_id=_text(root, "setup_id"),
        flow_name=flow, data_name=None if data is None else _text(data, "name"),
    )  # fmt: skip


def _from_xml(path: Path) -> Iterator[Row]:
    root = _parsed(path)
    described = _described(root, path)
    for one in root.iterfind(f"{_SPACE}output_data/{_SPACE}evaluation"):
        repeat, fold = one.get("repeat"), one.get("fold")
        # those of samples are points of a learning curve
        if repeat is None or fold is None or one.get("sample") is not None:
            continue
        value, name = _text(one, "value"), _text(one, "name")
        if name is not None and value is not None:
            yield {
                **described.row, "function": name, "repeat": repeat, "fold": fold, "value": value,
            }  # fmt: skip


def _from_predictions(path: Path, described: _Described) -> Iterator[Row]:
    """The share of right predictions in every fold; of numbers the mean absolute error."""
    from bestofk.tables.read_table import read_table

    table = read_table(path, format="arff")
    truth = next((name for name in ("correct", "truth") if name in table), None)
    if truth is None or not set(table.columns) >= _PREDICTIONS:
        raise TableError(
            f"{path.name}: predictions must have the columns repeat, fold, prediction and correct."
        )
    if "sample" in table and len(table.levels("sample").names) > 1:
        raise TableError(
            f"{path.name}: the predictions are of a learning curve (several samples per fold), "
            "which is not read."
        )
    row = dict(described.row)
    row["flow_name"] = row["flow_name"] or path.resolve().parent.name
    row["task_id"] = row["task_id"] or path.name
    numeric = "prediction" not in table.declared and table.is_numeric("prediction")
    total: dict[tuple[str, str], list[float]] = defaultdict(list)
    cells = zip(
        *(texts(table, name) for name in ("repeat", "fold", "prediction", truth)), strict=True
    )
    for number, (repeat, fold, predicted, right) in enumerate(cells):
        if repeat is None or fold is None or predicted is None or right is None:
            raise TableError(f"{table.place(number)}: a prediction must be complete.")
        loss = abs(float(predicted) - float(right)) if numeric else float(predicted == right)
        total[_whole(repeat), _whole(fold)].append(loss)
    for (repeat, fold), losses in total.items():
        yield {
            **row, "function": "mean_absolute_error" if numeric else "predictive_accuracy",
            "repeat": repeat, "fold": fold, "value": str(sum(losses) / len(losses)),
        }  # fmt: skip


def _whole(text: str) -> str:
    return text.removesuffix(".0")
