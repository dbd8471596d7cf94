"""A store in an SQLite file or a PostgreSQL database."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bestofk.errors import MissingExtraError, StoreError
from bestofk.run.cells import CellKey, CellResult
from bestofk.run.store import cells as store_cells, payloads as store_payloads
from bestofk.run.store.buffer import Buffer
from bestofk.run.store.errors import is_connection_lost, one_sentence
from bestofk.run.store.migration import prepare, refuse_newer, version_of
from bestofk.run.store.payloads import Payload
from bestofk.run.store.schema import READABLE_FROM, SCHEMA_VERSION, cells, payloads, studies
from bestofk.run.store.sqlite import check_file, sqlite_engine, use_write_ahead_log
from bestofk.run.store.store import Store, check_results
from bestofk.run.store.stored_study import CellGroup, StoredStudy, StudySpec, now
from bestofk.run.store.url import Address

PAYLOADS_SINCE = 2
"""The version of the schema that brought payloads."""


class Database:
    """An engine whose errors are sentences; what a store and its buffer share."""

    def __init__(self, address: Address, *, read_only: bool, busy_timeout: float) -> None:
        self.address = address
        self.read_only = read_only
        self._busy_timeout = busy_timeout
        self._process = os.getpid()
        self.version = SCHEMA_VERSION
        if address.path is not None:
            self._engine = sqlite_engine(
                address.path, read_only=read_only, busy_timeout=busy_timeout
            )
        else:
            self._engine = _postgresql_engine(address, busy_timeout)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one state of the store."""
        with self._sentences(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it or nothing."""
        if self.read_only:
            raise StoreError(f"{self.address.shown}: the store was opened to read only.")
        with self._sentences(), self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    def write_cells(self, results: list[CellResult]) -> None:
        """Commit a batch of cells."""
        self._commit(lambda connection: store_cells.write(connection, results))

    def write_payloads(self, waiting: list[Payload]) -> None:
        """Commit a batch of payloads."""
        self._commit(lambda connection: store_payloads.write(connection, waiting))

    def _commit(self, write: Callable[[sa.Connection], None]) -> None:
        """Commit; once more on a new connection where the server has dropped the old."""
        with self._sentences():
            writes = self._engine.execution_options(writes=True)
            try:
                with writes.begin() as connection:
                    write(connection)
            except sa.exc.DBAPIError as failed:
                if not is_connection_lost(failed):
                    raise
                with writes.begin() as connection:
                    write(connection)

    def prepare(self, *, create: bool) -> None:
        """See that the tables are there and of this version."""
        shown = self.address.shown
        with self.reading() as connection:
            version = version_of(connection)
        if version is not None:
            refuse_newer(version, shown)
        if version == SCHEMA_VERSION:
            return
        if self.read_only:
            if version is None:
                raise StoreError(f"{shown}: there is no bestofk store here.")
            if version >= READABLE_FROM:
                self.version = version
                return
            raise StoreError(
                f"{shown}: the store has the older schema version {version}: opened to write, it "
                f"is brought to version {SCHEMA_VERSION}."
            )
        with self.writing() as connection:
            prepare(connection, shown, create=create)
        if self.address.path is not None:
            with self._sentences():
                use_write_ahead_log(self._engine)

    def dispose(self) -> None:
        """Close all connections, but for those that a fork has from its parent."""
        if os.getpid() != self._process:
            return
        with suppress(sa.exc.SQLAlchemyError):
            self._engine.dispose()

    def _sentences(self) -> Any:
        return one_sentence(self.address, busy_timeout=self._busy_timeout)


class DatabaseStore(Store):
    """Cells in tables, written in batches."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._buffer = Buffer(database.write_cells)
        self._payloads = Buffer(database.write_payloads)
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
        with self._database.reading() as connection:
            return {
                digest: result
                for digest, result in store_cells.find(
                    connection, by_digest, predictions=predictions
                )
                if not (retry_failures and result.failure is not None)
            }

    def put(self, results: Iterable[CellResult]) -> None:
        self._check_writable()
        self._buffer.add(check_results(results))

    def get_payloads(self, digests: Sequence[str], *, name: str) -> dict[str, bytes]:
        self.flush()
        if self._database.version < PAYLOADS_SINCE:
            return {}
        with self._database.reading() as connection:
            return dict(store_payloads.find(connection, digests, name))

    def put_payloads(self, payloads: Iterable[Payload]) -> None:
        self._check_writable()
        self._payloads.add(payloads)

    def n_payloads(self) -> int:
        self.flush()
        if self._database.version < PAYLOADS_SINCE:
            return 0
        with self._database.reading() as connection:
            counted = sa.select(sa.func.count()).select_from(payloads)
            return int(connection.execute(counted).scalar_one())

    def _check_writable(self) -> None:
        if self._database.read_only:
            raise StoreError(f"{self.shown_url}: the store was opened to read only.")

    def flush(self) -> None:
        self._buffer.flush()
        self._payloads.flush()

    def close(self) -> None:
        try:
            try:
                self._buffer.close()
            finally:
                self._payloads.close()
        finally:
            self._last.detach()
            self._database.dispose()

    def _register(self, spec: StudySpec) -> int:
        with self._database.writing() as connection:
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
            held = StudySpec.from_json(row.specification)
            wanted = spec.registered_after(held)
            if wanted != held:
                connection.execute(
                    sa.update(studies)
                    .where(studies.c.id == row.id)
                    .values(specification=wanted.as_json())
                )
            return int(row.id)

    def studies(self) -> tuple[StoredStudy, ...]:
        with self._database.reading() as connection:
            statement = sa.select(studies.c.id, studies.c.created, studies.c.specification)
            return tuple(
                StoredStudy(
                    id=row.id, created=row.created, spec=StudySpec.from_json(row.specification)
                )
                for row in connection.execute(statement.order_by(studies.c.id))
            )

    def n_cells(self) -> int:
        self.flush()
        with self._database.reading() as connection:
            counted = sa.select(sa.func.count()).select_from(cells)
            return int(connection.execute(counted).scalar_one())

    def _groups(self, spec: StudySpec) -> list[CellGroup]:
        self.flush()
        with self._database.reading() as connection:
            return store_cells.groups(connection, spec)

    def _candidates(self, spec: StudySpec) -> Iterator[CellResult]:
        self.flush()
        with self._database.reading() as connection:
            yield from store_cells.of_study(connection, spec)


def open_database(
    address: Address, *, create: bool, read_only: bool, busy_timeout: float
) -> DatabaseStore:
    """The store at `address`, ready to use."""
    if address.path is not None:
        check_file(address.path, address.shown, create=create)
    database = Database(address, read_only=read_only, busy_timeout=busy_timeout)
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


def _postgresql_engine(address: Address, busy_timeout: float) -> sa.Engine:
    assert address.url is not None
    try:
        engine = sa.create_engine(address.url, hide_parameters=True, pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("PostgreSQL stores", "postgres") from None

    def settle(connection: Any, record: Any) -> None:  # noqa: ARG001
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_timeout * 1000)}")
        connection.commit()

    sa.event.listen(engine, "connect", settle)
    return engine
