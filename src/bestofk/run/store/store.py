"""A store of cells and studies in a database, so that nothing is computed twice.

A cell is found by its key alone, keeps all its bits, and is shared by all studies that need it.
Its row has a score by every metric that was asked for so far. A committed result survives the end
of the process, and results wait at most half a second for their commit. Several processes can fill
one store at the same time. A later score replaces a failure, but a score never changes. An array of
a simulation or a reproduction is a cell of no data set.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any
from zlib import crc32

import sqlalchemy as sa

from bestofk._base.errors import ArgumentError, StoreError, UnknownNameError, use
from bestofk._base.formatting import shortened
from bestofk.run.cells import Cell, Columns, Failure, with_results
from bestofk.run.record import StudyRecord, now
from bestofk.run.store.buffer import Buffer, Row
from bestofk.run.store.claims import Claims
from bestofk.run.store.database import (
    Database,
    cells,
    claims,
    delete_rows,
    insert_rows,
    rows_with,
    studies,
)
from bestofk.run.store.url import parse_address

if TYPE_CHECKING:
    from typing import Self

MAX_QUERIED_ROWS = 2_000
"""Rows read in one query or batch."""


def open_store(store: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> Store:
    """Open a store, or create it.

    - `store`: None means memory. A path or ``"sqlite:///x.db"`` names an SQLite file.
      ``"postgresql+psycopg://user:password@host/database"`` names a PostgreSQL database.
    - `read_only`: Open for reading only; the store must exist.
    - Returns: A context manager that writes waiting results at the end.

    Raises
    ------
    StoreError
        The file is foreign, damaged, of another schema version, or cannot be read or written. A
        foreign or damaged file is not changed.
    MissingExtraError
        The driver of the server is not installed.

    Examples
    --------
    >>> with open_store() as store:
    ...     store.put_array("a1", b"some result", kind="example")
    ...     store.get_arrays(["a1", "b2"])
    {'a1': b'some result'}
    """
    database = Database(parse_address(store), read_only=read_only)
    try:
        database.prepare()
    except BaseException:
        database.dispose()
        raise
    return Store(database)


class Store:
    """Cells and studies in a database; see the module for the promises."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # a buffer that refers to its store would keep it alive
        self._buffer = Buffer(partial(_write, database), _merged)
        self._finalizer = weakref.finalize(self, _finalize, self._buffer, database)

    @property
    def shown_url(self) -> str:
        """The address of the store without its password."""
        return self._database.address.shown

    # cells

    def put(self, record: StudyRecord, cells: Iterable[Cell]) -> None:
        """Store evaluated cells of a study; they are committed within half a second."""
        self._add([_row(record, cell) for cell in cells])

    def find(
        self, record: StudyRecord, cells: Mapping[str, Cell], *, predictions: bool = True
    ) -> dict[str, Cell]:
        """Return the stored cells that have scores by all metrics; both are by key."""
        return {
            key: with_results(cells[key], columns, row)
            for columns in self._columns(list(cells), record.metric_keys, predictions=predictions)
            for row, key in enumerate(columns["digest"])
        }

    def scan(self, record: StudyRecord, *, predictions: bool = False) -> Iterator[Columns]:
        """Yield the cells of a study's learners and data sets in columns, for all splits."""
        self.flush()
        with self._database.reading() as connection:
            names = (*_CONTENT, *_NAMES, *(("predictions",) if predictions else ()))
            statement = sa.select(*(cells.c[name] for name in names)).where(
                cells.c.dataset.in_(sorted({data.fingerprint for data in record.datasets})),
                cells.c.learner.in_(sorted({one.fingerprint for one in record.learners})),
            )
            # unread rows stay on the server
            streaming = connection.execution_options(yield_per=MAX_QUERIED_ROWS)
            for rows in streaming.execute(statement).partitions():
                yield _columns(names, rows, record.metric_keys, self.shown_url)

    def put_array(self, digest: str, data: bytes, *, kind: str) -> None:
        """Store the array of some work, which never changes, by the digest of what it depends on.

        `kind` names the kind of work for people who inspect the store.
        """
        names = dict(zip(_NAMES, (_NO_DATA, kind, "", 0, 0, 0), strict=True))
        self._add([_with_content({"digest": digest, **names}, [{}, None, None, None], data)])

    def get_arrays(self, digests: Sequence[str]) -> dict[str, bytes]:
        """Return arrays by digest."""
        return {
            digest: columns["predictions"][row]
            for columns in self._columns(digests, (), predictions=True)
            for row, digest in enumerate(columns["digest"])
        }

    def n_cells(self) -> int:
        """Return the number of cells of all studies."""
        return self._count(cells.c.dataset != _NO_DATA)

    def n_arrays(self) -> int:
        """Return the number of arrays."""
        return self._count(cells.c.dataset == _NO_DATA)

    # studies

    def register(self, record: StudyRecord) -> int:
        """Store a study, or merge it with a study of the same work, and return its number."""
        digest = record.digest

        def write(connection: sa.Connection) -> int:
            # another process may register the same work at the same time
            known = sa.select(studies).where(studies.c.digest == digest).with_for_update()
            row = connection.execute(known).one_or_none()
            if row is None:
                new = {"digest": digest, "created": now(), **_specification(record)}
                insert_rows(connection, studies, [new])
                row = connection.execute(known).one()
            stored = self._record(row)
            merged = record.merged_into(stored)
            if merged != stored:
                changed = sa.update(studies).where(studies.c.id == row.id)
                connection.execute(changed.values(_specification(merged)))
            return int(row.id)

        return self._database.commit(write)

    def studies(self) -> tuple[StudyRecord, ...]:
        """Return all studies, oldest first."""
        statement = sa.select(studies).order_by(studies.c.id)
        rows = self._database.read(lambda connection: connection.execute(statement).all())
        return tuple(map(self._record, rows))

    def study(self, number: int | None = None) -> StudyRecord:
        """Return a study by its number, or the only one."""
        known = {study.number: study for study in self.studies()}
        if not known:
            raise StoreError(f"{self.shown_url}: the store has no studies.")
        if number is None:
            number, *others = known
            if others:
                numbers = shortened(list(map(str, known)))
                raise ArgumentError(
                    f"{self.shown_url} holds {len(known)} studies: give ",
                    use(number=...),
                    f", one of {numbers}; 'bestofk show' describes them.",
                )
        if number not in known:
            raise UnknownNameError("study", str(number), list(map(str, known)))
        return known[number]

    def _record(self, row: Any) -> StudyRecord:
        """Return the record of a row of the table of studies."""
        try:
            if crc32(row.specification.encode()) != row.checksum:
                raise ValueError("checksum")
            record = StudyRecord.from_json(row.specification)
            return replace(record, number=row.id, created=_text(row.created))
        except _DAMAGED:
            raise StoreError(
                f"{self.shown_url}: the specification of study {row.id} is damaged; its fits are "
                "safe, and the command that computed them finds them."
            ) from None

    # the rest

    def flush(self) -> None:
        """Commit all waiting results."""
        self._buffer.flush()

    def claims(self) -> Claims | None:
        """Return the claims of this process; None if no other process can use the store."""
        if self._database.read_only or self._database.address.is_memory:
            return None
        return Claims(self._database)

    def close(self) -> None:
        """Commit all waiting results and close the store."""
        try:
            self._buffer.close()
        finally:
            self._finalizer.detach()
            self._database.dispose()

    def _add(self, rows: list[Row]) -> None:
        self._database.check_writable()
        self._buffer.add(rows)

    def _count(self, condition: Any) -> int:
        self.flush()
        counted = sa.select(sa.func.count()).select_from(cells).where(condition)
        return self._database.read(lambda connection: int(connection.execute(counted).scalar_one()))

    def _columns(
        self, keys: Sequence[str], metrics: Sequence[str], *, predictions: bool
    ) -> Iterator[Columns]:
        """Yield the stored rows of `keys` that have scores by all metrics, in columns."""
        self.flush()
        names = (*_CONTENT, *(("predictions",) if predictions else ()))
        for start in range(0, len(keys), MAX_QUERIED_ROWS):
            part = keys[start : start + MAX_QUERIED_ROWS]
            rows = self._database.read(
                lambda connection: rows_with(connection, cells, names, part)  # noqa: B023
            )
            yield _columns(names, rows, metrics, self.shown_url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self.close()
        except StoreError:
            # do not hide the error that ended the work
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown_url!r})"


def _finalize(buffer: Buffer, database: Database) -> None:
    """Write the waiting results of a store that was not closed."""
    with suppress(StoreError):
        buffer.close()
    database.dispose()


def _write(database: Database, rows: list[Row]) -> None:
    """Commit a batch of rows and release their claims."""

    def write(connection: sa.Connection) -> None:
        # sorted, so that two writers never wait for each other
        ordered = sorted(rows, key=lambda row: str(row["digest"]))
        if insert_rows(connection, cells, ordered) != len(ordered):
            try:
                _merge_stored(connection, {row["digest"]: row for row in ordered})
            except _DAMAGED:
                raise _damaged(database.address.shown) from None
        if database.claiming:
            delete_rows(connection, claims, [row["digest"] for row in rows])

    database.commit(write)


def _merge_stored(connection: sa.Connection, new: dict[str, Row]) -> None:
    """Add new scores to the cells that are stored already."""
    names = [column.name for column in cells.c]
    changed = []
    for values in rows_with(connection, cells, names, list(new), lock=True):
        old = dict(zip(names, values, strict=True))
        row = _merged(old, new[old["digest"]])
        if row != old:
            changed.append(row)
    if changed:
        delete_rows(connection, cells, [row["digest"] for row in changed])
        insert_rows(connection, cells, changed)


def _specification(record: StudyRecord) -> dict[str, Any]:
    text = record.as_json()
    return {"specification": text, "checksum": crc32(text.encode())}


# Cells as rows and back

_NO_DATA = ""
"""The data set of an array."""
_NAMES = ("dataset", "learner", "splits", "run", "fold", "repetition")
_CONTENT = ("digest", "payload", "checksum")
_PAYLOAD = ("scores", "fit_time", "predict_time", "size", "predictions_checksum")
"""The parts of a payload, a JSON list; the scores are by metric."""
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("digest", "dataset", "learner", "splits", "payload"), (str,)),
    **dict.fromkeys(("run", "fold", "repetition", "checksum"), (int,)),
    **dict.fromkeys(("fit_time", "predict_time"), (float, type(None))),
    **dict.fromkeys(("size", "predictions_checksum"), (int, type(None))),
    "predictions": (bytes, type(None)),
    "scores": (dict,),
}
_DAMAGED = (TypeError, ValueError, KeyError, AttributeError, RecursionError)
"""Errors of reading values that a store did not write."""


def _damaged(shown: str) -> StoreError:
    return StoreError(
        f"{shown}: a stored result is damaged: restore a copy of the store, or use a new one."
    )


def _row(record: StudyRecord, cell: Cell) -> Row:
    """Return an evaluated cell as a row of the table."""
    scores = {
        metric: [score.kind, score.reason, score.detail] if isinstance(score, Failure) else score
        for metric, score in zip(record.metric_keys, cell.scores, strict=True)
    }
    inputs = *record.inputs(cell), cell.run, cell.fold, cell.repetition
    row = {"digest": record.key(cell), **dict(zip(_NAMES, inputs, strict=True))}
    numbers = [cell.fit_time, cell.predict_time, cell.size]
    return _with_content(row, [scores, *numbers], cell.predictions)


_encode = json.JSONEncoder(check_circular=False).encode


def _with_content(row: Row, payload: Sequence[Any], predictions: bytes | None) -> Row:
    """Return a row with its payload, and with predictions (or an array).

    The checksum of the payload covers the key, so that a damaged index shows.
    """
    text = _encode([*payload, None if predictions is None else crc32(predictions)])
    checksum = _checksum(row["digest"], text)
    return {**row, "payload": text, "checksum": checksum, "predictions": predictions}


def _checksum(digest: str, payload: str) -> int:
    return crc32((digest + payload).encode())


def _merged(old: Row, new: Row) -> Row:
    """Return what to store of two results of a cell.

    A score never changes, but replaces a failure. Other scores and missing predictions are added.
    """
    (before, *rest), (after, *other) = json.loads(old["payload"]), json.loads(new["payload"])
    kept = {metric: one for metric, one in before.items() if isinstance(one, float)}
    row, numbers = (old, rest) if kept else (new, other)
    predictions = new["predictions"] if old["predictions"] is None else old["predictions"]
    return _with_content(row, [{**before, **after, **kept}, *numbers[:-1]], predictions)


def _columns(
    names: Sequence[str], rows: Sequence[Any], metrics: Sequence[str], shown: str
) -> Columns:
    """Return the rows with scores by all `metrics` as columns; refuse damaged rows.

    - `names`: The columns of the rows; others stay empty.
    """
    columns: dict[str, Any] = dict.fromkeys(_TYPES, ())
    columns |= zip(names, zip(*rows, strict=True), strict=bool(rows))
    try:
        texts = columns["payload"]
        if list(map(_checksum, columns["digest"], texts)) != list(columns["checksum"]):
            raise ValueError("checksum")
        found = json.loads(f"[{','.join(texts)}]")
        columns |= zip(_PAYLOAD, zip(*found, strict=True), strict=bool(rows))
        for name, allowed in _TYPES.items():
            if not set(map(type, columns[name])).issubset(allowed):
                raise TypeError(name)
        scores = [[one.get(metric) for one in columns["scores"]] for metric in metrics]
        if any(None in column for column in scores):
            complete = [None not in each for each in zip(*scores, strict=True)]
            return _columns(names, list(compress(rows, complete)), metrics, shown)
        columns["scores"] = [_scores(column) for column in scores]
        present = (item for item in enumerate(columns["predictions"]) if item[1] is not None)
        columns["predictions"] = dict(present)
        for row, data in columns["predictions"].items():
            if crc32(data) != columns["predictions_checksum"][row]:
                raise ValueError("checksum")
    except _DAMAGED:
        raise _damaged(shown) from None
    return columns


def _scores(column: list[Any]) -> list[float | Failure]:
    if set(map(type, column)) <= {float}:
        return column
    return [one if isinstance(one, float) else _failure(*one) for one in column]


def _failure(kind: Any, reason: Any, detail: Any) -> Failure:
    if kind == "timeout" and detail:
        float(detail)
    return Failure(kind=_text(kind), reason=_text(reason), detail=_text(detail))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
