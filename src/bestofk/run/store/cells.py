"""Convert cells to rows and back, and write and read them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bestofk.run.cells import CellBatch, CellKey, CellResult, Failure
from bestofk.run.store.buffer import MAX_WAITING_BYTES
from bestofk.run.store.checksums import CHECKED, NAMED, checksums, damaged, of_bytes
from bestofk.run.store.schema import cells, escaped, unescaped
from bestofk.run.store.stored_study import CellGroup, StudySpec, now

MAX_QUERIED_CELLS = 2_000
"""Cells read in one query."""

MAX_SCAN_RATIO = 3
"""Read the whole table unless it has more than this many times the requested cells."""

_ROW = tuple(column.name for column in cells.c)
"""The columns of `rows_of`, in order."""
Row = tuple[Any, ...]
"""The columns of `CHECKED` or `NAMED`, as the driver returns them."""


def rows_of(results: Sequence[CellResult], written: str) -> list[Row]:
    """Return results as rows with all columns of the table, for the driver."""
    # column by column, which is twice as fast as row by row
    keys = [result.key for result in results]
    losses = [key.loss for key in keys]
    stored = {loss: escaped(loss) for loss in set(losses)}
    failures = [result.failure for result in results]
    columns: list[list[Any]] = [
        [key.digest for key in keys],
        _cast(float, [result.loss for result in results]),
        _cast(float, [result.fit_time for result in results]),
        _cast(float, [result.predict_time for result in results]),
        _cast(int, [result.size for result in results]),
        _cast(int, [result.n_train for result in results]),
        _cast(int, [result.n_test for result in results]),
        [None if failure is None else failure.code for failure in failures],
        [None if failure is None else escaped(failure.reason) for failure in failures],
        [json.dumps(result.warnings) if result.warnings else None for result in results],
    ]
    predictions = [result.predictions for result in results]
    named = dict(zip(CHECKED, columns, strict=False))
    named |= {
        "dataset": [key.dataset for key in keys],
        "learner": [key.learner for key in keys],
        "splits": [key.splits for key in keys],
        "loss_name": [stored[loss] for loss in losses],
        "run": [key.run for key in keys],
        "fold": [key.fold for key in keys],
        "repetition": [key.repetition for key in keys],
        "written": [written] * len(keys),
        "predictions": predictions,
        "checksum": checksums(columns).tolist(),
        "predictions_checksum": [None if each is None else of_bytes(each) for each in predictions],
    }
    return list(zip(*(named[name] for name in _ROW), strict=True))


def _cast(kind: type, values: list[Any]) -> list[Any]:
    """Convert values of other types, such as those of NumPy."""
    if set(map(type, values)) <= {kind, type(None)}:
        return values
    return [None if value is None else kind(value) for value in values]


def result_of(key: CellKey, row: Row) -> CellResult:
    """Return a row as the result of `key`."""
    _, loss, fit_time, predict_time, size, n_train, n_test, kind, reason, warned, predicted = row[
        :11
    ]
    return CellResult(
        key=key,
        loss=loss,
        failure=None if kind is None else Failure.from_code(kind, unescaped(reason or "")),
        fit_time=fit_time,
        predict_time=predict_time,
        size=size,
        n_train=n_train,
        n_test=n_test,
        warnings=() if warned is None else _load_warnings(warned),
        predictions=predicted,
    )


def batch_of(rows: Iterable[Row]) -> CellBatch:
    """Return rows with the columns of `NAMED` as a batch."""
    columns = list(zip(*rows, strict=True)) or [()] * len(NAMED)
    named = dict(zip(NAMED, columns, strict=True))
    reasons = named["failure_reason"]
    plain = ("digest", "loss", "fit_time", "predict_time", "size", "n_train", "n_test", "dataset",
             "learner", "splits", "run", "fold", "repetition")  # fmt: skip
    return CellBatch(
        **{name: named[name] for name in plain},
        failures={
            index: Failure.from_code(kind, unescaped(reasons[index] or ""))
            for index, kind in _present(named["failure_kind"])
        },
        warnings={index: _load_warnings(text) for index, text in _present(named["warnings"])},
        predictions=dict(_present(named["predictions"])),
    )


def _present(column: Sequence[Any]) -> Iterable[tuple[int, Any]]:
    """Return the values that are not null, with their indices."""
    if column.count(None) == len(column):
        return ()
    return ((index, value) for index, value in enumerate(column) if value is not None)


@lru_cache(maxsize=1024)
def _load_warnings(text: str) -> tuple[str, ...]:
    """Parse warnings; cached, because many cells have the same ones."""
    return tuple(json.loads(text))


@lru_cache(maxsize=4)
def _insertion(dialect: sa.Dialect) -> str:
    """Return the statement of `write`: for one row in SQLite, for all rows in PostgreSQL."""
    statement: Any
    if dialect.name == "postgresql":
        # one statement with all rows as one JSON text: one round trip, and one value to adapt
        text = sa.cast(sa.bindparam("rows", type_=sa.Text), postgresql.JSON)
        rows = sa.func.json_to_recordset(text).table_valued(
            *(sa.column(name, cells.c[name].type) for name in _ROW)
        )
        source = sa.select(rows.render_derived(name="new_rows", with_types=True))
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
    """Insert results, or replace stored ones (see `bestofk.run.cells.supersedes`)."""
    # sorted, so that two writers never wait for each other
    ordered = sorted(results, key=lambda result: result.key.digest)
    rows = rows_of(ordered, now())
    statement = _insertion(connection.dialect)
    if connection.dialect.name == "postgresql":
        for portion in _portions(rows):
            objects = [dict(zip(_ROW, map(_json_value, row), strict=True)) for row in portion]
            connection.exec_driver_sql(statement, {"rows": json.dumps(objects)})
    else:
        connection.exec_driver_sql(statement, rows)


def _portions(rows: list[Row]) -> Iterator[list[Row]]:
    """Split rows into statements of limited size; a server refuses a text of a gigabyte."""
    start, size = 0, 0
    for end, row in enumerate(rows):
        size += len(row[_ROW.index("predictions")] or b"")
        if size > MAX_WAITING_BYTES:
            yield rows[start : end + 1]
            start, size = end + 1, 0
    if start < len(rows):
        yield rows[start:]


def _json_value(value: Any) -> Any:
    """Return bytes and infinities as text that PostgreSQL parses."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value


def rows_with(
    connection: sa.Connection,
    digests: Sequence[str],
    *,
    predictions: bool,
    names: bool = True,
) -> Iterator[tuple[list[Row], list[int]]]:
    """Yield batches of the stored rows of `digests`, with the indices of damaged rows."""
    statement = _selection(NAMED if names else CHECKED, predictions).where(
        cells.c.digest.in_(digest_selection(connection.dialect))
    )
    text = str(statement.compile(dialect=connection.dialect))
    for parameters in digest_parameters(connection.dialect, digests):
        result = connection.exec_driver_sql(text, parameters)
        assert result.cursor is not None
        rows = list(result.cursor.fetchall())
        result.close()
        yield rows, damaged(rows, predictions=predictions)


def digest_selection(dialect: sa.Dialect) -> Any:
    """Return a selection of the digests in the parameter `digests`."""
    if dialect.name == "postgresql":
        listed: Any = sa.func.unnest(sa.bindparam("digests", type_=postgresql.ARRAY(sa.Text)))
        return sa.select(listed)
    each = sa.func.json_each(sa.bindparam("digests")).table_valued("value")
    return sa.select(each.c.value)


def digest_parameters(
    dialect: sa.Dialect, digests: Sequence[str], chunk: int = MAX_QUERIED_CELLS
) -> Iterator[Any]:
    """Yield the parameters of statements with `digest_selection`, `chunk` digests at a time."""
    for start in range(0, len(digests), chunk):
        part = list(digests[start : start + chunk])
        yield {"digests": part} if dialect.name == "postgresql" else (json.dumps(part),)


def _selection(columns: Sequence[str], predictions: bool) -> sa.Select[Any]:
    """Select the columns of `CHECKED` or `NAMED`, with nulls for predictions unless requested."""
    absent = set() if predictions else {"predictions", "predictions_checksum"}
    return sa.select(
        *(sa.null().label(name) if name in absent else cells.c[name] for name in columns)
    )


def find(
    connection: sa.Connection, keys: Mapping[str, CellKey], *, predictions: bool
) -> tuple[dict[str, CellResult], list[str]]:
    """Return the stored results of `keys` by digest, and the digests of damaged cells."""
    results: dict[str, CellResult] = {}
    damaged_digests: list[str] = []
    for rows, wrong in rows_with(connection, list(keys), predictions=predictions, names=False):
        for row in without(rows, wrong):
            results[row[0]] = result_of(keys[row[0]], row)
        damaged_digests += [rows[index][0] for index in wrong]
    return results, damaged_digests


def batch_with(
    connection: sa.Connection, digests: Sequence[str], *, predictions: bool
) -> tuple[CellBatch, list[str]]:
    """Return the stored results of `digests` as a batch, and the digests of damaged cells."""
    intact: list[Row] = []
    damaged_digests: list[str] = []
    for rows, wrong in rows_with(connection, digests, predictions=predictions):
        intact += without(rows, wrong)
        damaged_digests += [rows[index][0] for index in wrong]
    return batch_of(intact), damaged_digests


def without(rows: list[Row], wrong: Sequence[int]) -> Iterable[Row]:
    """Return the rows without those at the indices `wrong`."""
    if not wrong:
        return rows
    excluded = set(wrong)
    return [row for index, row in enumerate(rows) if index not in excluded]


def drop_damaged(connection: sa.Connection, digests: Sequence[str]) -> None:
    """Delete the cells that are damaged now."""
    damaged_digests = [
        rows[index][0]
        for rows, wrong in rows_with(connection, digests, predictions=True)
        for index in wrong
    ]
    if damaged_digests:
        connection.execute(sa.delete(cells).where(cells.c.digest.in_(damaged_digests)))


def of_study(connection: sa.Connection, spec: StudySpec) -> Iterator[tuple[list[Row], list[int]]]:
    """Yield batches of the rows of a study's learners and data sets, for all splits."""
    statement = _selection(NAMED, False).where(*_of_names(connection, spec))
    compiled = statement.compile(
        dialect=connection.dialect, compile_kwargs={"render_postcompile": True}
    )
    parameters: Any = compiled.params
    if compiled.positiontup is not None:
        parameters = tuple(compiled.params[name] for name in compiled.positiontup)
    for rows in _streamed(connection, str(compiled), parameters):
        yield rows, damaged(rows, predictions=False)


def _streamed(connection: sa.Connection, text: str, parameters: Any) -> Iterator[list[Row]]:
    """Yield rows in batches, leaving unread rows on the server."""
    if connection.dialect.name == "postgresql":
        streaming = connection.execution_options(yield_per=MAX_QUERIED_CELLS)
        for part in streaming.exec_driver_sql(text, parameters).partitions():
            yield [tuple(row) for row in part]
        return
    result = connection.exec_driver_sql(text, parameters)
    assert result.cursor is not None
    while rows := result.cursor.fetchmany(MAX_QUERIED_CELLS):
        yield list(rows)
    result.close()


def groups(connection: sa.Connection, spec: StudySpec) -> list[CellGroup]:
    """Count the same cells by learner, data set, splits and outcome."""
    # the run first: SQLite sorts the cells, and compares numbers faster than names
    by: list[Any] = [cells.c.run, cells.c.splits, cells.c.learner, cells.c.dataset]
    if any(fold is not None for data in spec.datasets for _, fold, _ in data.splits):
        by.append(cells.c.fold)
    by += [cells.c.failure_kind, cells.c.failure_reason]
    spent = sa.func.coalesce(cells.c.fit_time, 0.0) + sa.func.coalesce(cells.c.predict_time, 0.0)
    statement = (
        sa.select(*by, sa.func.count().label("n"), sa.func.sum(spent).label("seconds"))
        .where(*_of_names(connection, spec))
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


def _of_names(connection: sa.Connection, spec: StudySpec) -> tuple[Any, ...]:
    learner: Any = cells.c.learner
    if connection.dialect.name == "sqlite":
        n = connection.execute(sa.select(sa.func.count()).select_from(cells)).scalar_one()
        if n <= MAX_SCAN_RATIO * spec.n_cells:
            # read the whole table instead of using the index by learner
            learner = sa.literal_column("+bestofk_cells.learner", sa.Text)
    return (
        cells.c.dataset.in_(sorted({data.fingerprint for data in spec.datasets})),
        learner.in_(sorted({learner.fingerprint for learner in spec.learners})),
        sa.type_coerce(cells.c.loss_name, sa.Text) == escaped(spec.loss),
        cells.c.repetition < spec.repetitions,
    )
