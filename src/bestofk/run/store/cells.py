"""Cells to rows and back, and the statements that write and find them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bestofk.run.cells import CellKey, CellResult, Failure
from bestofk.run.store.buffer import MOST_BYTES
from bestofk.run.store.schema import cells, escaped
from bestofk.run.store.stored_study import CellGroup, StudySpec, now

CHUNK = 20_000
"""Cells asked for in one query."""


_ROW = tuple(column.name for column in cells.c)
"""The columns that `row_of` gives, in its order."""


def row_of(result: CellResult, written: str) -> tuple[Any, ...]:
    """The row of a result, as the driver takes it."""
    key, failure = result.key, result.failure
    return (
        key.digest,
        key.dataset,
        key.learner,
        key.splits,
        escaped(key.loss),
        key.run,
        key.fold,
        key.repetition,
        None if result.loss is None else float(result.loss),
        None if failure is None else failure.code,
        None if failure is None else escaped(failure.reason),
        None if result.fit_time is None else float(result.fit_time),
        None if result.predict_time is None else float(result.predict_time),
        None if result.size is None else int(result.size),
        None if result.n_train is None else int(result.n_train),
        None if result.n_test is None else int(result.n_test),
        written,
        json.dumps(result.warnings) if result.warnings else None,
        result.predictions,
    )


_RESULT = (
    "loss", "failure_kind", "failure_reason", "fit_time", "predict_time", "size", "n_train",
    "n_test", "warnings", "predictions",
)  # fmt: skip
"""The columns that `result_of` takes, in its order."""


def result_of(
    key: CellKey,
    loss: float | None,
    kind: str | None,
    reason: str | None,
    fit_time: float | None,
    predict_time: float | None,
    size: int | None,
    n_train: int | None,
    n_test: int | None,
    warnings: str | None,
    predictions: bytes | None,
) -> CellResult:
    """The result of a row, under its key."""
    return CellResult(
        key=key,
        loss=loss,
        failure=None if kind is None else Failure.from_code(kind, reason or ""),
        fit_time=fit_time,
        predict_time=predict_time,
        size=size,
        n_train=n_train,
        n_test=n_test,
        warnings=() if warnings is None else tuple(json.loads(warnings)),
        predictions=predictions,
    )


@lru_cache(maxsize=4)
def _insertion(dialect: sa.Dialect) -> str:
    """The statement of `write` as text: for a row in SQLite, for all rows in PostgreSQL."""
    statement: Any
    if dialect.name == "postgresql":
        # One statement for a batch, and all its rows as one JSON text: a server far away is asked
        # once, and the driver has one value to adapt.
        given = sa.cast(sa.bindparam("rows", type_=sa.Text), postgresql.JSON)
        rows = sa.func.json_to_recordset(given).table_valued(
            *(sa.column(name, cells.c[name].type) for name in _ROW)
        )
        source = sa.select(rows.render_derived(name="given", with_types=True))
        statement = postgresql.insert(cells).from_select(list(_ROW), source)
    else:
        statement = sqlite.insert(cells)
    new = statement.excluded
    statement = statement.on_conflict_do_update(
        index_elements=[cells.c.digest],
        set_={name: new[name] for name in _ROW if name != "digest"},
        where=cells.c.failure_kind.is_not(None)
        | (
            new.failure_kind.is_(None)
            & new.predictions.is_not(None)
            & cells.c.predictions.is_(None)
        ),
    )
    compiled = statement.compile(dialect=dialect, column_keys=list(_ROW))
    assert not compiled.positional or tuple(compiled.positiontup) == _ROW
    return str(compiled)


def write(connection: sa.Connection, results: Sequence[CellResult]) -> None:
    """Insert, or replace what gives way (see `store_buffer.supersedes`); each cell once."""
    written = now()
    # In one order for all, so that two writers never wait for each other.
    ordered = sorted(results, key=lambda result: result.key.digest)
    rows = [row_of(result, written) for result in ordered]
    statement = _insertion(connection.dialect)
    if connection.dialect.name == "postgresql":
        for portion in _portions(rows):
            given = [dict(zip(_ROW, map(_in_json, row), strict=True)) for row in portion]
            connection.exec_driver_sql(statement, {"rows": json.dumps(given)})
    else:
        connection.exec_driver_sql(statement, rows)


def _portions(rows: list[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows in statements that a server takes: it refuses a text of a gigabyte."""
    start, held = 0, 0
    for end, row in enumerate(rows):
        held += len(row[-1] or b"")
        if held > MOST_BYTES:
            yield rows[start : end + 1]
            start, held = end + 1, 0
    if start < len(rows):
        yield rows[start:]


def _in_json(value: Any) -> Any:
    """What JSON has no form for, as the text that PostgreSQL reads it from."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value


def find(
    connection: sa.Connection, keys: Mapping[str, CellKey], *, predictions: bool
) -> Iterator[tuple[str, CellResult]]:
    """The results of those keys that the table holds."""
    wanted = list(keys)
    if connection.dialect.name == "postgresql":
        listed: Any = sa.func.unnest(sa.bindparam("wanted", type_=postgresql.ARRAY(sa.Text)))
        among = sa.select(listed)
    else:
        each = sa.func.json_each(sa.bindparam("wanted")).table_valued("value")
        among = sa.select(each.c.value)
    statement = sa.select(cells.c.digest, *_columns(predictions)).where(cells.c.digest.in_(among))
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        given: Any = chunk if connection.dialect.name == "postgresql" else json.dumps(chunk)
        for digest, *columns in connection.execute(statement, {"wanted": given}).all():
            yield digest, result_of(keys[digest], *columns)


def _columns(predictions: bool) -> list[Any]:
    return [
        sa.null().label(name) if name == "predictions" and not predictions else cells.c[name]
        for name in _RESULT
    ]


def of_study(connection: sa.Connection, spec: StudySpec) -> Iterator[CellResult]:
    """The cells of the learners and data sets of a study, whatever their splits."""
    names = ("dataset", "learner", "splits", "loss_name", "run", "fold", "repetition")
    statement = sa.select(*(cells.c[name] for name in names), *_columns(False))
    found = connection.execution_options(yield_per=CHUNK).execute(statement.where(*_of_names(spec)))
    for dataset, learner, splits, loss, run, fold, repetition, *columns in found:
        key = CellKey(
            dataset=dataset,
            learner=learner,
            splits=splits,
            loss=loss,
            run=run,
            fold=fold,
            repetition=repetition,
        )
        yield result_of(key, *columns)


def groups(connection: sa.Connection, spec: StudySpec) -> list[CellGroup]:
    """The same cells, counted."""
    by: list[Any] = [cells.c.dataset, cells.c.learner, cells.c.splits, cells.c.run]
    if any(fold is not None for data in spec.datasets for _, fold, _ in data.splits):
        by.append(cells.c.fold)
    by += [cells.c.failure_kind, cells.c.failure_reason]
    spent = sa.func.coalesce(cells.c.fit_time, 0.0) + sa.func.coalesce(cells.c.predict_time, 0.0)
    statement = (
        sa.select(*by, sa.func.count().label("n"), sa.func.sum(spent).label("seconds"))
        .where(*_of_names(spec))
        .group_by(*by)
    )
    return [
        CellGroup(
            dataset=row.dataset,
            learner=row.learner,
            splits=row.splits,
            run=row.run,
            fold=getattr(row, "fold", None),
            kind=row.failure_kind and row.failure_kind.partition(":")[0],
            reason=row.failure_reason,
            count=row.n,
            seconds=float(row.seconds),
        )
        for row in connection.execute(statement)
    ]


def _of_names(spec: StudySpec) -> tuple[Any, ...]:
    return (
        cells.c.dataset.in_(sorted({data.fingerprint for data in spec.datasets})),
        cells.c.learner.in_(sorted({learner.fingerprint for learner in spec.learners})),
        cells.c.loss_name == spec.loss,
        cells.c.repetition < spec.repetitions,
    )
