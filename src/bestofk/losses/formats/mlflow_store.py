"""Where MLflow keeps its runs: a folder ``mlruns``, or the SQLite data base of MLflow 3."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bestofk.errors import TableError
from bestofk.losses.formats.mlflow_runs import METRIC, PARAM, TAG
from bestofk.losses.formats.sqlite_tables import is_sqlite, sqlite_tables, unfinished_journal
from bestofk.losses.formats.tool_columns import noted
from bestofk.tables.table import Table
from bestofk.wording import shortened

_STATES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_META = "meta.yaml"
_STEPPED = "metrics with several steps"
_MOST_FILES = 500_000
_LONGEST = 1 << 16
Run = dict[str, Any]


def open_mlflow(source: Any) -> Table | None:
    """The runs of a folder ``mlruns`` (or the folder that holds one), or of ``mlflow.db``."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = Path(source)
    try:
        folder = path.is_dir()
    except (OSError, ValueError):
        return None
    if folder:
        for inner in (path, path / "mlruns"):
            if _is_store(inner):
                return _table(list(_folder_runs(inner)), f"{inner.resolve().name}")
        base = path / "mlflow.db"
        return open_mlflow(base) if base.is_file() else None
    if not path.is_file() or not is_sqlite(path):
        return None
    with sqlite_tables(path) as tables:
        if not {"runs", "latest_metrics", "params", "tags"} <= tables.names:
            return None
        found = _table(_sqlite_runs(tables), path.name)
    unread = unfinished_journal(path)
    return noted(found, unread) if unread else found


def _table(runs: list[Run], source: str) -> Table:
    if not runs:
        raise TableError(f"{source}: there are no runs of MLflow.")
    runs.sort(key=lambda run: str(run["start_time"]))
    stepped = sorted({name for run in runs for name in run.pop(_STEPPED, ())})
    names = list(dict.fromkeys(name for run in runs for name in run))
    table = Table.from_columns(
        {name: [run.get(name) for run in runs] for name in names}, source=source
    )
    if stepped:
        table = noted(
            table,
            f"Of the steps of {shortened([repr(name) for name in stepped], 4)} the last was taken, "
            "as MLflow shows it: steps may be epochs of training, so they are not read as folds; "
            "log every fold as a child run.",
        )
    return table


def _is_store(folder: Path) -> bool:
    """A folder of experiments, one experiment, or one that only holds its description."""
    try:
        return any(folder.glob(f"*/{_META}")) and any(folder.glob(f"*/*/{_META}"))
    except OSError:
        return False


def _folder_runs(folder: Path) -> Iterator[Run]:
    count = 0
    for experiment in sorted(folder.iterdir()):
        if experiment.name.startswith(".") or not (experiment / _META).is_file():
            continue
        told = _meta(experiment / _META)
        for place in sorted(experiment.iterdir()):
            if not (place / _META).is_file():
                continue
            meta = _meta(place / _META)
            if "run_id" not in meta and "run_uuid" not in meta:
                continue
            if meta.get("lifecycle_stage") == "deleted":
                continue
            run: Run = {
                "run_id": meta.get("run_id") or meta.get("run_uuid"),
                "experiment_id": meta.get("experiment_id") or experiment.name,
                "experiment_name": told.get("name"),
                "status": _STATES.get(meta.get("status", ""), meta.get("status")),
                "start_time": meta.get("start_time"),
                "end_time": meta.get("end_time"),
            }
            for part, prefix in (("params", PARAM), ("tags", TAG), ("metrics", METRIC)):
                for name, path in _files(place / part):
                    count += 1
                    if count > _MOST_FILES:
                        raise TableError(f"{folder.name}: more than {_MOST_FILES} files of runs.")
                    if part == "metrics":
                        run[prefix + name], several = _latest(path)
                        run.setdefault(_STEPPED, []).extend([name] if several else [])
                    else:
                        run[prefix + name] = _text(path).strip()
            if meta.get("run_name"):
                run.setdefault(f"{TAG}mlflow.runName", meta["run_name"])
            yield run


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names, which may hold slashes, and their files; links lead nowhere."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(place, name)
            if not path.is_symlink() and path.is_file():
                yield path.relative_to(folder).as_posix(), path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", errors="replace")
    except OSError as error:
        raise TableError(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _meta(path: Path) -> Mapping[str, str]:
    """The plain entries ``key: value`` of a description, which is all that is needed of it."""
    found = {}
    for line in _text(path).splitlines():
        key, colon, value = line.partition(": ")
        if colon and key.isidentifier():
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1].replace("''", "'")
            found[key] = value
    return found


def _latest(path: Path) -> tuple[float | None, bool]:
    """The last value of a metric, which is what MLflow itself shows, and whether it has steps.

    Lines hold a time, a value and a step.
    """
    steps = set()
    best: tuple[int, int, float] | None = None
    for number, line in enumerate(_text(path).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        try:
            time, value = int(words[0]), float(words[1])
            step = int(words[2]) if len(words) > 2 else 0
        except (IndexError, ValueError):
            raise TableError(
                f"metric {path.name!r}: line {number} must be a time, a value and a step; got "
                f"{line[:60]!r}."
            ) from None
        steps.add(step)
        if best is None or (step, time, value) >= best:
            best = (step, time, value)
    return (None if best is None or best[2] != best[2] else best[2]), len(steps) > 1


def _sqlite_runs(tables: Any) -> list[Run]:
    names = {}
    if "experiments" in tables.names:
        names = dict(tables.rows("experiments", "experiment_id", "name"))
    runs: dict[str, Run] = {}
    for run, name, experiment, status, start, end, stage in tables.rows(
        "runs", "run_uuid", "name", "experiment_id", "status", "start_time", "end_time",
        "lifecycle_stage",
    ):  # fmt: skip
        if stage == "deleted":
            continue
        runs[run] = {
            "run_id": str(run), "experiment_id": str(experiment),
            "experiment_name": names.get(experiment), "status": status,
            "start_time": None if start is None else str(start),
            "end_time": None if end is None else str(end),
            f"{TAG}mlflow.runName": name or None,
        }  # fmt: skip
    for key, value, is_nan, run in tables.rows(
        "latest_metrics", "key", "value", "is_nan", "run_uuid"
    ):
        if run in runs:
            number = isinstance(value, int | float) and not is_nan
            runs[run][f"{METRIC}{key}"] = float(value) if number else None
    for key, step, run in tables.rows("latest_metrics", "key", "step", "run_uuid"):
        if run in runs and step:
            runs[run].setdefault(_STEPPED, []).append(key)
    for table, prefix in (("params", PARAM), ("tags", TAG)):
        for key, value, run in tables.rows(table, "key", "value", "run_uuid"):
            if run in runs:
                runs[run][f"{prefix}{key}"] = None if value is None else str(value)
    return list(runs.values())
