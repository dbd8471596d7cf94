"""The SQLite storage of Optuna: its trials as ``trials_dataframe`` would give them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bestofk.errors import TableError
from bestofk.losses.formats.optuna_study import ATTRIBUTE, DIRECTION, PARAM, STEP, STUDY
from bestofk.losses.formats.sqlite_tables import (
    SqliteTables,
    is_sqlite,
    sqlite_tables,
    unfinished_journal,
)
from bestofk.losses.formats.tool_columns import noted
from bestofk.tables.table import Table


def open_optuna(source: Any) -> Table | None:
    """The trials of all studies in an SQLite storage; None where it is none of Optuna's."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = Path(source)
    try:
        there = path.is_file() and is_sqlite(path)
    except (OSError, ValueError):
        return None
    if not there:
        return None
    with sqlite_tables(path) as tables:
        if not {"studies", "trials", "trial_values"} <= tables.names:
            return None
        trials = _trials(tables)
    if not trials:
        raise TableError(f"{path.name}: the storage of Optuna holds no trials.")
    names = list(dict.fromkeys(name for trial in trials for name in trial))
    table = Table.from_columns(
        {name: [trial.get(name) for trial in trials] for name in names}, source=path.name
    )
    unread = unfinished_journal(path)
    return noted(table, unread) if unread else table


def _trials(tables: SqliteTables) -> list[dict[str, Any]]:
    studies = dict(tables.rows("studies", "study_id", "study_name"))
    directions: dict[Any, dict[int, str]] = {}
    if "study_directions" in tables.names:
        for study, objective, word in tables.rows(
            "study_directions", "study_id", "objective", "direction"
        ):
            directions.setdefault(study, {})[objective] = str(word)
    trials: dict[Any, dict[str, Any]] = {}
    for trial, number, study, state in tables.rows(
        "trials", "trial_id", "number", "study_id", "state"
    ):
        told = directions.get(study, {})
        trials[trial] = {
            STUDY: _name(studies.get(study)), "number": number, "state": _name(state),
            DIRECTION: told.get(0) if len(told) == 1 else None,
        }  # fmt: skip
    single = all(len(told) < 2 for told in directions.values())
    for trial, objective, value in tables.rows("trial_values", "trial_id", "objective", "value"):
        if trial in trials:
            trials[trial]["value" if single else f"values_{objective}"] = _number(value)
    if not any("value" in trial or not single for trial in trials.values()):
        for each in trials.values():
            each["value"] = None
    _parameters(tables, trials)
    if "trial_user_attributes" in tables.names:
        for trial, key, text in tables.rows(
            "trial_user_attributes", "trial_id", "key", "value_json"
        ):
            if trial in trials:
                trials[trial][f"{ATTRIBUTE}{key}"] = _cell(text)
    if "trial_intermediate_values" in tables.names:
        for trial, step, value in tables.rows(
            "trial_intermediate_values", "trial_id", "step", "intermediate_value"
        ):
            if trial in trials:
                trials[trial][f"{STEP}{step}"] = _number(value)
    return list(trials.values())


def _parameters(tables: SqliteTables, trials: dict[Any, dict[str, Any]]) -> None:
    """Parameters are kept as numbers; of a categorical one that is the place among its choices."""
    if "trial_params" not in tables.names:
        return
    for trial, name, value, told in tables.rows(
        "trial_params", "trial_id", "param_name", "param_value", "distribution_json"
    ):
        if trial not in trials:
            continue
        known = _parsed(told)
        attributes = known.get("attributes") if isinstance(known, dict) else None
        attributes = attributes if isinstance(attributes, dict) else {}
        choices = attributes.get("choices")
        number = _number(value)
        cell: Any = number
        if isinstance(choices, list) and number is not None:
            at = int(number)
            cell = _plain(choices[at]) if 0 <= at < len(choices) else None
        elif number is not None and "Int" in str(known.get("name") if known else ""):
            cell = int(number)
        trials[trial][f"{PARAM}{name}"] = None if cell is None else str(cell)


def _name(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e308 else None


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)[:200]


def _cell(text: Any) -> Any:
    value = _parsed(text)
    return None if value in (None, {}) else _plain(value)
