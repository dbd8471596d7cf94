"""Optuna trials from ``study.trials_dataframe()`` or an SQLite storage.

The table does not say what a learner is. Trials that have the score of every split as user
attributes (``split0_test_score``, as ``OptunaSearchCV`` writes them, or ``fold0``) are learners
with their folds. For other studies the user says what is a learner and what is a fold.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.errors import Part, TableError, use
from bestofk._base.formatting import counted, joined, shortened
from bestofk.data.tables.table import Table
from bestofk.losses.columns import split_of, splits_among
from bestofk.losses.formats.result_tables import (
    ReadOptions,
    ToolColumns,
    chosen_metric,
    existing_path,
    named_column,
    noted,
    only_columns,
    role_columns,
    texts,
    with_column,
)
from bestofk.losses.formats.sqlite_tables import (
    SqliteTables,
    is_sqlite,
    sqlite_tables,
    unfinished_journal,
)

PARAM, ATTRIBUTE, STEP = "params_", "user_attrs_", "intermediate_values_"
STUDY, DIRECTION = "study_name", "study_direction"
_REPORTED = STEP.rstrip("_")
_ROLES = ("dataset", "run", "fold", "repetition", "instance")
_STATES = {"COMPLETE", "PRUNED", "FAIL", "RUNNING", "WAITING"}


def is_optuna(table: Table) -> bool:
    """Return whether the table has numbered trials with a state and a value."""
    columns = set(table.columns)
    if not {"number", "state"} <= columns or not _values(table):
        return False
    states = {state for state in texts(table, "state") if state is not None}
    return bool(states) and {state.rpartition(".")[2] for state in states} <= _STATES


def _values(table: Table) -> list[str]:
    if "value" in table:
        return ["value"]
    return [column for column in table.columns if column.startswith("values_")]


def optuna_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Return the columns of Optuna trials."""
    table = _completed(table)
    if STUDY in table and options.learner is None:
        names = table.levels(STUDY).names
        if len(names) > 1:
            raise TableError(
                f"{table.source}: there are {len(names)} studies ({shortened(list(names), 6)}): "
                "select one with ",
                use(where={STUDY: names[0]}),
                ", or pass ",
                use(learner=STUDY),
                " if every study is a learner.",
            )
    if options.learner is not None:
        return _named_learners(table, options)
    if options.fold == _REPORTED:
        return _trials(table, _steps(table), options, "values that trials reported")
    splits = _splits(table)
    if splits:
        return _trials(table, splits, options, "user attributes")
    raise _no_learners(table)


def _completed(table: Table) -> Table:
    states = [(state or "").rpartition(".")[2] for state in texts(table, "state")]
    keep = np.array([state == "COMPLETE" for state in states], dtype=np.bool_)
    if not keep.any():
        raise TableError(f"{table.source}: no trial of the study is complete.")
    if keep.all():
        return table
    others = Counter(state.lower() or "without a state" for state in states if state != "COMPLETE")
    listing = joined([f"{count} {state}" for state, count in others.items()])
    return noted(
        table.take(keep),
        f"Left out, as they are not complete: {counted(int((~keep).sum()), 'trial')} ({listing}).",
    )


def _splits(table: Table) -> dict[str, str]:
    """Return the user attributes that are splits, by their name without prefix."""
    names = {
        column.removeprefix(ATTRIBUTE): column
        for column in table.columns
        if column.startswith(ATTRIBUTE) and not table.missing(column).all()
    }
    by_metric = splits_among(list(names))
    return {name: names[name] for splits in by_metric.values() for _, name in splits}


def _steps(table: Table) -> dict[str, str]:
    steps = {
        f"fold{column.removeprefix(STEP)}": column
        for column in table.columns
        if column.startswith(STEP) and column.removeprefix(STEP).isdecimal()
    }
    if not steps:
        raise TableError(
            f"{table.source}: no trial reported values; write them with "
            "study.trials_dataframe(attrs=('number', 'value', 'params', 'state', "
            "'intermediate_values'))."
        )
    return steps


def _trials(table: Table, splits: dict[str, str], options: ReadOptions, what: str) -> ToolColumns:
    """Read each trial as a learner, named by its parameters, with one column per split."""
    learners = _names(table)
    higher, direction_source = _direction(table, splits, options)
    cells = {name: table.cells[column] for name, column in splits.items()}
    if "dataset" in (roles := role_columns(table, (ATTRIBUTE,))):
        cells[roles["dataset"]] = table.cells[roles["dataset"]]
    result = replace(table, cells=cells)
    result, learner = with_column(result, "learner", learners)
    result = noted(
        result,
        f"An Optuna study: each of {counted(len(learners), 'trial')} is a learner, named by its "
        f"parameters; the folds are the {what} {shortened(list(splits.values()), 3)}.",
    )
    trial_roles = {"learner": learner}
    if "dataset" in roles:
        trial_roles["dataset"] = roles["dataset"]
    return ToolColumns(
        table=result, roles=trial_roles, metric=options.metric, layout="cv-results",
        higher_is_better=higher, direction_source=direction_source,
    )  # fmt: skip


def _names(table: Table) -> list[str]:
    """Name each trial by its parameters, and by its number if they are not unique."""
    params = sorted(column for column in table.columns if column.startswith(PARAM))
    rows = zip(*(texts(table, column) for column in params), strict=True) if params else ()
    settings = [
        ", ".join(
            f"{column.removeprefix(PARAM)}={cell}"
            for column, cell in zip(params, row, strict=True)
            if cell is not None
        )
        for row in rows
    ] or [""] * table.n_rows
    count = Counter(settings)
    return [
        name if name and count[name] == 1 else f"{name} (trial {number})".strip()
        for name, number in zip(settings, texts(table, "number"), strict=True)
    ]


def _direction(
    table: Table, splits: dict[str, str], options: ReadOptions
) -> tuple[bool | None, str]:
    """Return the direction of the study if the storage states it, and its source."""
    if DIRECTION not in table or options.higher_is_better is not None:
        return None, ""
    directions = {(cell or "").upper() for cell in texts(table, DIRECTION)}
    if directions not in ({"MAXIMIZE"}, {"MINIMIZE"}):
        return None, ""
    higher = directions == {"MAXIMIZE"}
    scorers = any(split is not None and split.scorer for split in map(split_of, splits))
    if scorers and not higher:
        raise TableError(
            f"{table.source}: the study minimises, but columns such as {next(iter(splits))!r} are "
            "scores in scikit-learn: pass ",
            use(higher_is_better=True),
            " or ",
            use(higher_is_better=False),
            ".",
        )
    return higher, "the study"


def _named_learners(table: Table, options: ReadOptions) -> ToolColumns:
    """Read learners from a column that the user named; other columns distinguish the trials."""
    prefixes = (PARAM, ATTRIBUTE)
    learner = named_column(table, str(options.learner), prefixes)
    guesses = role_columns(table, (ATTRIBUTE, PARAM))
    roles = {role: column for role, column in guesses.items() if role in _ROLES}
    for role in _ROLES:
        column = getattr(options, role)
        if column is not None:
            roles[role] = named_column(table, column, prefixes)
    loss = chosen_metric(table, _values(table), options, "values_", "the trials")
    roles |= {"learner": learner, "loss": loss}
    keys = [texts(table, column) for role, column in roles.items() if role != "loss"]
    count = Counter(zip(*keys, strict=True))
    key, most = count.most_common(1)[0]
    if most > 1:
        raise TableError(
            f"{table.source}: {most} trials have {options.learner}={key[-1]!r}"
            f"{' and the same fold' if len(keys) > 1 else ''}; trials are settings, not folds: "
            "name the column that numbers the folds with ",
            use(fold=...),
            ", or store the score "
            "of every fold in the trial (trial.set_user_attr('split0_test_score', score)).",
        )
    higher, direction_source = _direction(table, {}, options)
    table = only_columns(table, roles.values())
    table = noted(table, f"An Optuna study: the learners are named by {learner!r}.")
    return ToolColumns(
        table=table, roles=roles, layout="long", loss_name=loss, higher_is_better=higher,
        direction_source=direction_source,
    )  # fmt: skip


def _no_learners(table: Table) -> TableError:
    params = [
        column
        for column in table.columns
        if column.startswith((PARAM, ATTRIBUTE)) and not table.is_numeric(column)
    ]
    steps = any(column.startswith(STEP) for column in table.columns)
    advice: list[Part] = []
    if steps:
        advice += [", pass ", use(fold=_REPORTED), " if the values that trials reported are folds"]
    if params:
        advice += [
            f", or name the learner ({shortened(list(map(repr, params)), 6)}) and the column that "
            "numbers the folds, such as ",
            use(learner=params[0]),
            ", ",
            use(fold="user_attrs_fold"),
        ]
    return TableError(
        f"{table.source}: an Optuna study has one value per trial, so trials cannot be compared: "
        "store the score of every fold in the trial "
        "(trial.set_user_attr('split0_test_score', score))",
        *advice,
        ".",
    )


# The SQLite storage of Optuna


def open_optuna(source: Any) -> Table | None:
    """Read the trials of all studies in an SQLite storage; None if it is not Optuna's."""
    path = existing_path(source)
    if path is None or not is_sqlite(path):
        return None
    with sqlite_tables(path) as tables:
        if not {"studies", "trials", "trial_values"} <= tables.names:
            return None
        trials = _stored_trials(tables)
        names = list(dict.fromkeys(name for trial in trials for name in trial))
        tables.check_cells(len(trials), len(names))
    if not trials:
        raise TableError(f"{path.name}: the Optuna storage contains no trials.")
    table = Table.from_columns(
        {name: [trial.get(name) for trial in trials] for name in names}, source=path.name
    )
    unread = unfinished_journal(path)
    return noted(table, unread) if unread else table


def _stored_trials(tables: SqliteTables) -> list[dict[str, Any]]:
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
        study_directions = directions.get(study, {})
        trials[trial] = {
            STUDY: _name(studies.get(study)), "number": number, "state": _name(state),
            DIRECTION: study_directions.get(0) if len(study_directions) == 1 else None,
        }  # fmt: skip
    single = all(len(study_directions) < 2 for study_directions in directions.values())
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
    """Add the parameters; a categorical one is stored as the index of its choice."""
    if "trial_params" not in tables.names:
        return
    for trial, name, value, distribution in tables.rows(
        "trial_params", "trial_id", "param_name", "param_value", "distribution_json"
    ):
        if trial not in trials:
            continue
        known = _mapping(_parsed(distribution))
        attributes = _mapping(known.get("attributes"))
        choices = attributes.get("choices")
        number = _number(value)
        cell: Any = number
        if isinstance(choices, list) and number is not None:
            at = int(number)
            cell = _plain(choices[at]) if 0 <= at < len(choices) else None
        elif number is not None and "Int" in str(known.get("name", "")):
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


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)[:200]


def _cell(text: Any) -> Any:
    value = _parsed(text)
    return None if value in (None, {}) else _plain(value)
