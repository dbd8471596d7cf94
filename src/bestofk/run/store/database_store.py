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
from bestofk.run.store.schema import cells, payloads, studies
from bestofk.run.store.store import Store, check_results
from bestofk.run.store.stored_study import CellGroup, StoredStudy, StudySpec, now
from bestofk.run.store.url import Address


class _Writer:
    """Commits the batches of a store and releases their claims."""

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
        def write_and_release(connection: sa.Connection) -> None:
            write(connection, batch)
            if self.claiming:
                drop_claims(connection, digests)

        self._database.commit(write_and_release)


class DatabaseStore(Store):
    """A store in database tables, written in batches."""

    def __init__(self, database: Database) -> None:
        self._database = database
        writer = _Writer(database)
        self._writer = writer
        self._buffer = Buffer(writer.write_cells)
        self._payloads = Buffer(writer.write_payloads)
        buffers = (self._buffer, self._payloads)
        self._finalizer = weakref.finalize(self, _finalize, buffers, database)

    @property
    def shown_url(self) -> str:
        return self._database.address.shown

    def get(self, keys: Sequence[CellKey], *, predictions: bool = True) -> dict[str, CellResult]:
        self.flush()
        by_digest = {key.digest: key for key in keys}
        results, damaged = self._database.read(
            lambda connection: store_cells.find(connection, by_digest, predictions=predictions)
        )
        self._drop_damaged_cells(damaged)
        return results

    def batches(self, digests: Sequence[str], *, predictions: bool) -> Iterator[CellBatch]:
        self.flush()
        damaged: list[str] = []

        def query(connection: sa.Connection) -> tuple[CellBatch, list[str]]:
            return store_cells.batch_with(connection, part, predictions=predictions)

        for start in range(0, len(digests), store_cells.MAX_QUERIED_CELLS):
            part = digests[start : start + store_cells.MAX_QUERIED_CELLS]
            batch, damaged_part = self._database.read(query)
            damaged += damaged_part
            yield batch
        self._drop_damaged_cells(damaged)

    def put(self, results: Iterable[CellResult]) -> None:
        self._database.check_writable()
        self._buffer.add(check_results(results))

    def get_payloads(self, digests: Sequence[str], *, name: str) -> dict[str, bytes]:
        self.flush()
        data, damaged = self._database.read(
            lambda connection: store_payloads.find(connection, digests, name)
        )
        if damaged:
            self._drop_damaged(
                damaged, lambda connection: store_payloads.drop_damaged(connection, damaged, name)
            )
        return data

    def put_payloads(self, payloads: Iterable[Payload]) -> None:
        self._database.check_writable()
        self._payloads.add(payloads)

    def n_payloads(self) -> int:
        self.flush()
        return self._count(payloads)

    def flush(self) -> None:
        self._buffer.flush()
        self._payloads.flush()

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
            self._finalizer.detach()
            self._database.dispose()

    def _drop_damaged_cells(self, damaged: Sequence[str]) -> None:
        if damaged:
            self._drop_damaged(
                damaged, lambda connection: store_cells.drop_damaged(connection, damaged)
            )

    def _drop_damaged(self, damaged: Sequence[str], drop: Callable[[sa.Connection], None]) -> None:
        """Warn of damaged results, and delete them unless the store is read-only."""
        if len(damaged) == 1:
            count, was, it = "1 stored result is damaged", "was", "it"
        else:
            count, was, it = f"{len(damaged)} stored results are damaged", "were", "them"
        action = f"{was} ignored: the command that computed {it} computes {it} again"
        if not self._database.read_only:
            self._database.commit(drop)
            action = f"{was} deleted, to be computed again"
        warnings.warn(f"{self.shown_url}: {count} and {action}.", BestOfKWarning, stacklevel=4)

    def register(self, spec: StudySpec) -> int:
        def write(connection: sa.Connection) -> int:
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
            stored = self._read_spec(row.id, row.specification)
            merged = spec.merged_into(stored)
            if merged != stored:
                connection.execute(
                    sa.update(studies)
                    .where(studies.c.id == row.id)
                    .values(specification=merged.as_json())
                )
            return int(row.id)

        return self._database.commit(write)

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
                f"{self.shown_url}: the specification of study {number} is damaged; its fits are "
                "safe, and the command that computed them finds them."
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

    def _batches_of(self, spec: StudySpec) -> Iterator[CellBatch]:
        self.flush()
        damaged: list[str] = []
        with self._database.reading() as connection:
            for rows, wrong in store_cells.of_study(connection, spec):
                damaged += [rows[index][0] for index in wrong]
                yield store_cells.batch_of(store_cells.without(rows, wrong))
        self._drop_damaged_cells(damaged)


def open_database(
    address: Address, *, create: bool, read_only: bool, busy_timeout: float, patience: float
) -> DatabaseStore:
    """Open the store at `address`."""
    if address.path is not None:
        check_file(address.path, address.shown, create=create)
    database = Database(address, read_only=read_only, busy_timeout=busy_timeout, patience=patience)
    try:
        database.prepare(create=create)
    except BaseException:
        database.dispose()
        raise
    return DatabaseStore(database)


def _finalize(buffers: tuple[Buffer[CellResult], Buffer[Payload]], database: Database) -> None:
    """Write the waiting results of a store that was not closed."""
    for buffer in buffers:
        with suppress(StoreError):
            buffer.close()
    database.dispose()
