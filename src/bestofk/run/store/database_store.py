"""A store in an SQLite file or a PostgreSQL database."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bestofk._base.errors import BestOfKWarning, StoreError
from bestofk.run.cells import CellBatch, CellKey, CellResult
from bestofk.run.store import cells as store_cells, payloads as store_payloads
from bestofk.run.store.buffer import Buffer
from bestofk.run.store.claims import Claims, drop_claims
from bestofk.run.store.database import Database, check_file
from bestofk.run.store.payloads import Payload
from bestofk.run.store.schema import PAYLOADS_SINCE, cells, payloads, studies
from bestofk.run.store.store import Store, check_results
from bestofk.run.store.stored_study import CellGroup, StoredStudy, StudySpec, now
from bestofk.run.store.url import Address


class _Writer:
    """Commits the batches of a store; what is done is no longer claimed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.claiming = False

    def write_cells(self, results: list[CellResult]) -> None:
        """Commit a batch of cells."""
        self._write(store_cells.write, results, [result.key.digest for result in results])

    def write_payloads(self, waiting: list[Payload]) -> None:
        """Commit a batch of payloads."""
        self._write(store_payloads.write, waiting, [payload.digest for payload in waiting])

    def _write(
        self, write: Callable[[sa.Connection, Any], None], batch: list[Any], digests: list[str]
    ) -> None:
        def both(connection: sa.Connection) -> None:
            write(connection, batch)
            if self.claiming:
                drop_claims(connection, digests)

        self._database.commit(both)


class DatabaseStore(Store):
    """Cells in tables, written in batches."""

    def __init__(self, database: Database) -> None:
        self._database = database
        writer = _Writer(database)
        self._writer = writer
        self._buffer = Buffer(writer.write_cells)
        self._payloads = Buffer(writer.write_payloads)
        buffers = (self._buffer, self._payloads)
        self._last = weakref.finalize(self, _let_go, buffers, database)

    @property
    def shown_url(self) -> str:
        return self._database.address.shown

    def get(
        self, keys: Sequence[CellKey], *, retry_failures: bool = False, predictions: bool = True
    ) -> dict[str, CellResult]:
        self.flush()
        by_digest = {key.digest: key for key in keys}
        found, spoilt = self._database.read(
            lambda connection: store_cells.find(
                connection, by_digest, predictions=predictions, version=self._database.version
            )
        )
        self._put_right_cells(spoilt)
        if not retry_failures:
            return found
        return {digest: result for digest, result in found.items() if result.failure is None}

    def batches(self, digests: Sequence[str], *, predictions: bool) -> Iterator[CellBatch]:
        self.flush()
        spoilt: list[str] = []

        def ask(connection: sa.Connection) -> tuple[CellBatch, list[str]]:
            return store_cells.batch_with(
                connection, part, predictions=predictions, version=self._database.version
            )

        for start in range(0, len(digests), store_cells.CHUNK):
            part = digests[start : start + store_cells.CHUNK]
            batch, wrong = self._database.read(ask)
            spoilt += wrong
            yield batch
        self._put_right_cells(spoilt)

    def put(self, results: Iterable[CellResult]) -> None:
        self._check_writable()
        self._buffer.add(check_results(results))

    def get_payloads(self, digests: Sequence[str], *, name: str) -> dict[str, bytes]:
        self.flush()
        if self._database.version < PAYLOADS_SINCE:
            return {}
        found, spoilt = self._database.read(
            lambda connection: store_payloads.find(
                connection, digests, name, version=self._database.version
            )
        )
        if spoilt:
            self._put_right(
                spoilt, lambda connection: store_payloads.drop_damaged(connection, spoilt, name)
            )
        return found

    def put_payloads(self, payloads: Iterable[Payload]) -> None:
        self._check_writable()
        self._payloads.add(payloads)

    def n_payloads(self) -> int:
        self.flush()
        if self._database.version < PAYLOADS_SINCE:
            return 0
        return self._count(payloads)

    def _check_writable(self) -> None:
        if self._database.read_only:
            raise StoreError(f"{self.shown_url}: the store was opened to read only.")

    def flush(self) -> None:
        self._buffer.flush()
        self._payloads.flush()
        self._database.tell()

    def claims(self) -> Claims | None:
        if self._database.read_only:
            return None
        self._writer.claiming = True
        return Claims(self._database)

    def close(self) -> None:
        try:
            try:
                self._buffer.close()
            finally:
                self._payloads.close()
        finally:
            self._last.detach()
            self._database.dispose()
        self._database.tell()

    def _put_right_cells(self, spoilt: Sequence[str]) -> None:
        if spoilt:
            self._put_right(spoilt, lambda connection: store_cells.drop_damaged(connection, spoilt))

    def _put_right(self, spoilt: Sequence[str], drop: Callable[[sa.Connection], None]) -> None:
        """Say that some of what was kept is damaged; delete it where the store may be changed."""
        one = len(spoilt) == 1
        count = "1 stored result is damaged" if one else f"{len(spoilt)} stored results are damaged"
        was, it = ("was", "it") if one else ("were", "them")
        then = f"{was} left out: the command that made {it} computes {it} again"
        if not self._database.read_only:
            self._database.commit(drop)
            then = f"{was} deleted, to be computed again"
        warnings.warn(f"{self.shown_url}: {count} and {then}.", BestOfKWarning, stacklevel=4)

    def _register(self, spec: StudySpec) -> int:
        def register(connection: sa.Connection) -> int:
            known = sa.select(studies.c.id, studies.c.specification).where(
                studies.c.digest == spec.digest
            )
            # another process may register the same work at the same time
            row = connection.execute(known.with_for_update()).one_or_none()
            if row is None:
                dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
                connection.execute(
                    dialect.insert(studies).on_conflict_do_nothing(index_elements=["digest"]),
                    {
                        "digest": spec.digest,
                        "created": now(),
                        "title": spec.title,
                        "specification": spec.as_json(),
                    },
                )
                row = connection.execute(known.with_for_update()).one()
            held = self._read_spec(row.id, row.specification)
            wanted = spec.registered_after(held)
            if wanted != held:
                connection.execute(
                    sa.update(studies)
                    .where(studies.c.id == row.id)
                    .values(specification=wanted.as_json())
                )
            return int(row.id)

        return self._database.commit(register)

    def studies(self) -> tuple[StoredStudy, ...]:
        statement = sa.select(studies.c.id, studies.c.created, studies.c.specification)
        rows = self._database.read(
            lambda connection: connection.execute(statement.order_by(studies.c.id)).all()
        )
        return tuple(
            StoredStudy(
                id=row.id,
                created=row.created,
                spec=self._read_spec(row.id, row.specification),
            )
            for row in rows
        )

    def _read_spec(self, number: int, text: Any) -> StudySpec:
        try:
            return StudySpec.from_json(text)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise StoreError(
                f"{self.shown_url}: what was asked of study {number} is damaged and cannot be "
                "read; its fits are safe, and the command that made them finds them."
            ) from None

    def n_cells(self) -> int:
        self.flush()
        return self._count(cells)

    def _count(self, table: sa.Table) -> int:
        counted = sa.select(sa.func.count()).select_from(table)
        return self._database.read(lambda connection: int(connection.execute(counted).scalar_one()))

    def _groups(self, spec: StudySpec) -> list[CellGroup]:
        self.flush()
        return self._database.read(lambda connection: store_cells.groups(connection, spec))

    def _candidates(self, spec: StudySpec) -> Iterator[CellResult]:
        for rows in self._rows(spec):
            for row in rows:
                yield store_cells.result_of(store_cells.key_of(row), row)

    def _batches_of(self, spec: StudySpec) -> Iterator[CellBatch]:
        for rows in self._rows(spec):
            yield store_cells.batch_of(rows)

    def _rows(self, spec: StudySpec) -> Iterator[Iterable[store_cells.Row]]:
        self.flush()
        spoilt: list[str] = []
        with self._database.reading() as connection:
            version = self._database.version
            for rows, wrong in store_cells.of_study(connection, spec, version=version):
                spoilt += [rows[place][0] for place in wrong]
                yield store_cells.without(rows, wrong)
        self._put_right_cells(spoilt)


def open_database(
    address: Address, *, create: bool, read_only: bool, busy_timeout: float, patience: float
) -> DatabaseStore:
    """The store at `address`, ready to use."""
    if address.path is not None:
        check_file(address.path, address.shown, create=create)
    database = Database(address, read_only=read_only, busy_timeout=busy_timeout, patience=patience)
    try:
        database.prepare(create=create)
    except BaseException:
        database.dispose()
        raise
    return DatabaseStore(database)


def _let_go(buffers: tuple[Buffer[CellResult], Buffer[Payload]], database: Database) -> None:
    """A store that nobody closed writes what waits when it goes."""
    for buffer in buffers:
        with suppress(StoreError):
            buffer.close()
    database.dispose()
