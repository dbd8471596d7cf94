"""Create the tables of a store, or bring those of an older version up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlalchemy as sa

from bestofk._base.errors import StoreError
from bestofk.run.store import schema

UNKNOWN = -1
"""The version of tables that do not say it."""

Step = Callable[[sa.Connection], None]


def add_warnings_and_predictions(connection: sa.Connection) -> None:
    """Version 0 kept neither the warnings of a cell nor its predictions."""
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    connection.execute(sa.text("ALTER TABLE bestofk_cells ADD COLUMN warnings TEXT"))
    connection.execute(sa.text(f"ALTER TABLE bestofk_cells ADD COLUMN predictions {blob}"))


def add_payloads(connection: sa.Connection) -> None:
    """Version 1 kept cells alone."""
    blob = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
    connection.execute(
        sa.text(
            "CREATE TABLE bestofk_payloads (digest TEXT NOT NULL, name TEXT NOT NULL, "
            f"kind TEXT NOT NULL, data {blob} NOT NULL, written TEXT NOT NULL, "
            "PRIMARY KEY (digest, name))"
        )
    )


def add_checksums_and_claims(connection: sa.Connection) -> None:
    """Version 2 had no checksums: its cells and payloads stay, and cannot be verified."""
    for column in ("checksum", "predictions_checksum"):
        connection.execute(sa.text(f"ALTER TABLE bestofk_cells ADD COLUMN {column} BIGINT"))
    connection.execute(sa.text("ALTER TABLE bestofk_payloads ADD COLUMN checksum BIGINT"))
    without = " WITHOUT ROWID" if connection.dialect.name == "sqlite" else ""
    connection.execute(
        sa.text(
            "CREATE TABLE bestofk_claims (digest TEXT NOT NULL, claimer TEXT NOT NULL, "
            f"PRIMARY KEY (digest)){without}"
        )
    )
    connection.execute(
        sa.text(
            "CREATE TABLE bestofk_claimers (name TEXT NOT NULL, process TEXT NOT NULL, "
            "beat BIGINT NOT NULL, PRIMARY KEY (name))"
        )
    )


STEPS: Mapping[int, Step] = {
    0: add_warnings_and_predictions,
    1: add_payloads,
    2: add_checksums_and_claims,
}
"""From version: how to reach the next one."""


def version_of(connection: sa.Connection) -> int | None:
    """The version of the tables; None where there are none."""
    if not sa.inspect(connection).has_table(schema.meta.name):
        return None
    if connection.dialect.name == "sqlite":
        return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    value = sa.select(schema.meta.c.value).where(schema.meta.c.name == "schema_version")
    found = connection.execute(value).scalar_one_or_none()
    # no number: as of a version that nobody knows
    return int(found) if found is not None and found.isdecimal() else UNKNOWN


def refuse_newer(version: int, shown: str) -> None:
    """A store that a later bestofk wrote is left alone."""
    if version == UNKNOWN:
        raise StoreError(f"{shown}: the store does not say its version; it was left as it is.")
    if version > schema.SCHEMA_VERSION:
        raise StoreError(
            f"{shown}: the store has schema version {version}, and this bestofk knows versions up "
            f"to {schema.SCHEMA_VERSION}: update bestofk; the store was left as it is."
        )


def prepare(
    connection: sa.Connection, shown: str, *, create: bool = True, steps: Mapping[int, Step] = STEPS
) -> None:
    """Create or migrate the tables inside the open transaction of `connection`.

    Either all of it is committed or nothing; of two processes that come at the same time, the
    second waits and finds the work done.
    """
    if connection.dialect.name == "postgresql":
        lock = sa.text("SELECT pg_advisory_xact_lock(:id)")
        connection.execute(lock, {"id": schema.APPLICATION_ID})
    version = version_of(connection)
    if version is None:
        if not create:
            raise StoreError(f"{shown}: there is no bestofk store here.")
        schema.metadata.create_all(connection, checkfirst=False)
        connection.execute(
            sa.insert(schema.meta),
            [{"name": "application_id", "value": str(schema.APPLICATION_ID)},
             {"name": "schema_version", "value": str(schema.SCHEMA_VERSION)}],
        )  # fmt: skip
        _mark(connection, schema.SCHEMA_VERSION)
        return
    refuse_newer(version, shown)
    while version < schema.SCHEMA_VERSION:
        steps[version](connection)
        version += 1
        where = schema.meta.c.name == "schema_version"
        connection.execute(sa.update(schema.meta).where(where).values(value=str(version)))
        _mark(connection, version)


def _mark(connection: sa.Connection, version: int) -> None:
    """The same facts in the header of an SQLite file, where they can be read without opening it."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {version}")
