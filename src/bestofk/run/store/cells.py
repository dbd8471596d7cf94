"""Cells to rows and back, and the statements that write and find them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bestofk.run.cells import CellBatch, CellKey, CellResult, Failure
from bestofk.run.store.buffer import MOST_BYTES
from bestofk.run.store.payloads import CHECKED, NAMED, checksums, damaged, of_bytes
from bestofk.run.store.schema import CHECKSUMS_SINCE, SCHEMA_VERSION, cells, escaped, unescaped
from bestofk.run.store.stored_study import CellGroup, StudySpec, now

CHUNK = 2_000
"""Cells asked for in one query."""

MOST_IN_VAIN = 3
"""A table is read from end to end unless it holds more than so many times what is wanted."""

_ROW = tuple(column.name for column in cells.c)
"""The columns that `rows_of` gives, in its order."""
Row = tuple[Any, ...]
"""The columns of `CHECKED` or `NAMED`, as the driver has them."""


def rows_of(results: Sequence[CellResult], written: str) -> list[Row]:
    """The rows of results with all columns of the table, as the driver takes them."""
    # column by column, which takes half as long as row by row
    keys = [result.key for result in results]
    losses = [key.loss for key in keys]
    stored = {loss: escaped(loss) for loss in set(losses)}
    failures = [result.failure for result in results]
    columns: list[list[Any]] = [
        [key.digest for key in keys],
        _all_are(float, [result.loss for result in results]),
        _all_are(float, [result.fit_time for result in results]),
        _all_are(float, [result.predict_time for result in results]),
        _all_are(int, [result.size for result in results]),
        _all_are(int, [result.n_train for result in results]),
        _all_are(int, [result.n_test for result in results]),
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


def _all_are(kind: type, values: list[Any]) -> list[Any]:
    """The values as that type and no other, such as NumPy's."""
    if set(map(type, values)) <= {kind, type(None)}:
        return values
    return [None if value is None else kind(value) for value in values]


def result_of(key: CellKey, row: Row) -> CellResult:
    """The result of a row, under its key."""
    _, loss, fit_time, predict_time, size, n_train, n_test, kind, reason, said, held = row[:11]
    return CellResult(
        key=key,
        loss=loss,
        failure=None if kind is None else Failure.from_code(kind, unescaped(reason or "")),
        fit_time=fit_time,
        predict_time=predict_time,
        size=size,
        n_train=n_train,
        n_test=n_test,
        warnings=() if said is None else _said(said),
        predictions=held,
    )


def batch_of(rows: Iterable[Row]) -> CellBatch:
    """The columns of rows with names."""
    columns = list(zip(*rows, strict=True)) or [()] * len(NAMED)
    named = dict(zip(NAMED, columns, strict=True))
    reasons = named["failure_reason"]
    plain = ("digest", "loss", "fit_time", "predict_time", "size", "n_train", "n_test", "dataset",
             "learner", "splits", "run", "fold", "repetition")  # fmt: skip
    return CellBatch(
        **{name: named[name] for name in plain},
        failures={
            place: Failure.from_code(kind, unescaped(reasons[place] or ""))
            for place, kind in enumerate(named["failure_kind"])
            if kind is not None
        },
        warnings={
            place: _said(text) for place, text in enumerate(named["warnings"]) if text is not None
        },
        predictions={
            place: data for place, data in enumerate(named["predictions"]) if data is not None
        },
    )


@lru_cache(maxsize=1024)
def _said(text: str) -> tuple[str, ...]:
    """Warnings, of which many cells have the same."""
    return tuple(json.loads(text))


def key_of(row: Row) -> CellKey:
    """The key that a row says that it has."""
    dataset, learner, splits, loss, run, fold, repetition = row[len(CHECKED) :]
    return CellKey(
        dataset=dataset,
        learner=learner,
        splits=splits,
        loss=unescaped(loss),
        run=run,
        fold=fold,
        repetition=repetition,
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
    """Insert, or replace what gives way (see `buffer.supersedes`); each cell once."""
    # In one order for all, so that two writers never wait for each other.
    ordered = sorted(results, key=lambda result: result.key.digest)
    rows = rows_of(ordered, now())
    statement = _insertion(connection.dialect)
    if connection.dialect.name == "postgresql":
        for portion in _portions(rows):
            given = [dict(zip(_ROW, map(_in_json, row), strict=True)) for row in portion]
            connection.exec_driver_sql(statement, {"rows": json.dumps(given)})
    else:
        connection.exec_driver_sql(statement, rows)


def _portions(rows: list[Row]) -> Iterator[list[Row]]:
    """Rows in statements that a server takes: it refuses a text of a gigabyte."""
    start, held = 0, 0
    for end, row in enumerate(rows):
        held += len(row[_ROW.index("predictions")] or b"")
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


def rows_with(
    connection: sa.Connection,
    digests: Sequence[str],
    *,
    predictions: bool,
    names: bool = True,
    version: int = SCHEMA_VERSION,
) -> Iterator[tuple[list[Row], list[int]]]:
    """The rows of those digests that the table holds, in batches; which of a batch are damaged."""
    columns = NAMED if names else CHECKED
    for rows in _with_digests(connection, _selection(columns, predictions, version), digests):
        yield rows, damaged(rows, predictions=predictions)


def _with_digests(
    connection: sa.Connection, statement: sa.Select[Any], digests: Sequence[str]
) -> Iterator[list[Row]]:
    narrowed = statement.where(cells.c.digest.in_(among(connection.dialect)))
    text = str(narrowed.compile(dialect=connection.dialect))
    for given in asked(connection.dialect, digests):
        yield _fetched(connection.exec_driver_sql(text, given))


def _fetched(found: sa.CursorResult[Any]) -> list[Row]:
    """All rows, as the driver has them."""
    assert found.cursor is not None
    rows = list(found.cursor.fetchall())
    found.close()
    return rows


def among(dialect: sa.Dialect) -> Any:
    """The digests of the parameter `wanted`, as a selection."""
    if dialect.name == "postgresql":
        listed: Any = sa.func.unnest(sa.bindparam("wanted", type_=postgresql.ARRAY(sa.Text)))
        return sa.select(listed)
    each = sa.func.json_each(sa.bindparam("wanted")).table_valued("value")
    return sa.select(each.c.value)


def asked(dialect: sa.Dialect, digests: Sequence[str], chunk: int = CHUNK) -> Iterator[Any]:
    """The parameters of statements with `among`, some digests at a time."""
    for start in range(0, len(digests), chunk):
        part = list(digests[start : start + chunk])
        yield {"wanted": part} if dialect.name == "postgresql" else (json.dumps(part),)


def _selection(columns: Sequence[str], predictions: bool, version: int) -> sa.Select[Any]:
    """The columns of `CHECKED` or `NAMED`; nulls in place of what is not wanted or not there."""
    absent = set() if predictions else {"predictions", "predictions_checksum"}
    if version < CHECKSUMS_SINCE:
        absent |= {"checksum", "predictions_checksum"}
    return sa.select(
        *(sa.null().label(name) if name in absent else cells.c[name] for name in columns)
    )


def find(
    connection: sa.Connection,
    keys: Mapping[str, CellKey],
    *,
    predictions: bool,
    version: int = SCHEMA_VERSION,
) -> tuple[dict[str, CellResult], list[str]]:
    """The results of those keys that the table holds; the digests of those that are damaged."""
    found: dict[str, CellResult] = {}
    spoilt: list[str] = []
    for rows, wrong in rows_with(
        connection, list(keys), predictions=predictions, names=False, version=version
    ):
        for row in without(rows, wrong):
            found[row[0]] = result_of(keys[row[0]], row)
        spoilt += [rows[place][0] for place in wrong]
    return found, spoilt


def batch_with(
    connection: sa.Connection,
    digests: Sequence[str],
    *,
    predictions: bool,
    version: int = SCHEMA_VERSION,
) -> tuple[CellBatch, list[str]]:
    """The same in columns."""
    sound: list[Row] = []
    spoilt: list[str] = []
    for rows, wrong in rows_with(connection, digests, predictions=predictions, version=version):
        sound += without(rows, wrong)
        spoilt += [rows[place][0] for place in wrong]
    return batch_of(sound), spoilt


def without(rows: list[Row], places: Sequence[int]) -> Iterable[Row]:
    """The rows that do not stand at `places`."""
    if not places:
        return rows
    wrong = set(places)
    return [row for place, row in enumerate(rows) if place not in wrong]


def drop_damaged(connection: sa.Connection, digests: Sequence[str]) -> None:
    """Delete those of the cells that are damaged, as they are now."""
    spoilt = [
        rows[place][0]
        for rows, wrong in rows_with(connection, digests, predictions=True)
        for place in wrong
    ]
    if spoilt:
        connection.execute(sa.delete(cells).where(cells.c.digest.in_(spoilt)))


def of_study(
    connection: sa.Connection, spec: StudySpec, *, version: int = SCHEMA_VERSION
) -> Iterator[tuple[list[Row], list[int]]]:
    """The rows of the learners and data sets of a study, whatever their splits, in batches."""
    statement = _selection(NAMED, False, version).where(*_of_names(connection, spec))
    compiled = statement.compile(
        dialect=connection.dialect, compile_kwargs={"render_postcompile": True}
    )
    given: Any = compiled.params
    if compiled.positiontup is not None:
        given = tuple(compiled.params[name] for name in compiled.positiontup)
    for rows in _streamed(connection, str(compiled), given):
        yield rows, damaged(rows, predictions=False)


def _streamed(connection: sa.Connection, text: str, given: Any) -> Iterator[list[Row]]:
    """Rows as the driver has them, some at a time; what is not yet read stays with the server."""
    if connection.dialect.name == "postgresql":
        found = connection.execution_options(yield_per=CHUNK).exec_driver_sql(text, given)
        for part in found.partitions():
            yield [tuple(row) for row in part]
        return
    found = connection.exec_driver_sql(text, given)
    assert found.cursor is not None
    while rows := found.cursor.fetchmany(CHUNK):
        yield list(rows)
    found.close()


def groups(connection: sa.Connection, spec: StudySpec) -> list[CellGroup]:
    """The same cells, counted."""
    by: list[Any] = [cells.c.dataset, cells.c.learner, cells.c.splits, cells.c.run]
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
        if n <= MOST_IN_VAIN * spec.n_cells:
            # most of the table is wanted: read it from end to end, not learner by learner
            learner = sa.literal_column("+bestofk_cells.learner", sa.Text)
    return (
        cells.c.dataset.in_(sorted({data.fingerprint for data in spec.datasets})),
        learner.in_(sorted({learner.fingerprint for learner in spec.learners})),
        sa.type_coerce(cells.c.loss_name, sa.Text) == escaped(spec.loss),
        cells.c.repetition < spec.repetitions,
    )
