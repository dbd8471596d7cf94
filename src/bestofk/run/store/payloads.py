"""Payloads: named bytes under the digest of what they are a pure function of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlalchemy as sa

CHUNK = 500
"""Payloads asked for in one query: they may be large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a store keeps for work that is not a cell of a comparison.

    Attributes
    ----------
    digest : str
        Of everything that the data depend on.
    name : str
        Which of the things that the work gave.
    kind : str
        What work it was, for somebody who looks into the store.
    data : bytes
        The thing itself.
    """

    digest: str
    name: str
    kind: str
    data: bytes

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.digest, self.name


def write(connection: sa.Connection, waiting: Sequence[Payload]) -> None:
    """Insert what is not there yet; a payload never changes."""
    from sqlalchemy.dialects import postgresql, sqlite

    from bestofk.run.store.checksums import of_bytes
    from bestofk.run.store.schema import payloads
    from bestofk.run.store.stored_study import now

    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    written = now()
    # In one order for all, so that two writers never wait for each other.
    rows = [
        {"digest": one.digest, "name": one.name, "kind": one.kind, "data": one.data,
         "written": written, "checksum": of_bytes(one.data)}
        for one in sorted(waiting, key=lambda payload: payload.key)
    ]  # fmt: skip
    statement = dialect.insert(payloads).on_conflict_do_nothing(index_elements=["digest", "name"])
    connection.execute(statement, rows)


def find(
    connection: sa.Connection, digests: Sequence[str], name: str, *, version: int
) -> tuple[dict[str, bytes], list[str]]:
    """The data of that name under those digests; the digests of those that are damaged."""
    import sqlalchemy as sa

    from bestofk.run.store.cells import among, asked
    from bestofk.run.store.checksums import of_bytes
    from bestofk.run.store.schema import CHECKSUMS_SINCE, payloads

    checksum: Any = payloads.c.checksum if version >= CHECKSUMS_SINCE else sa.null()
    data_column = sa.type_coerce(payloads.c.data, sa.types.NullType())
    statement = sa.select(payloads.c.digest, data_column, checksum).where(
        payloads.c.digest.in_(among(connection.dialect)), payloads.c.name == name
    )
    found: dict[str, bytes] = {}
    spoilt: list[str] = []
    for wanted in asked(connection.dialect, digests, CHUNK):
        given = wanted if isinstance(wanted, dict) else {"wanted": wanted[0]}
        for digest, data, kept in connection.execute(statement, given).all():
            whole = isinstance(data, bytes | memoryview) and type(kept) in (int, type(None))
            if whole and kept in (None, of_bytes(bytes(data))):
                found[digest] = bytes(data)
            else:
                spoilt.append(digest)
    return found, spoilt


def drop_damaged(connection: sa.Connection, digests: Sequence[str], name: str) -> None:
    """Delete those of the payloads that are damaged, as they are now."""
    import sqlalchemy as sa

    from bestofk.run.store.schema import SCHEMA_VERSION, payloads

    _, spoilt = find(connection, digests, name, version=SCHEMA_VERSION)
    if spoilt:
        connection.execute(
            sa.delete(payloads).where(payloads.c.digest.in_(spoilt), payloads.c.name == name)
        )
