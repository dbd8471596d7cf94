"""Payloads: named bytes under the digest of everything they depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bestofk.run.store.checksums import of_bytes

if TYPE_CHECKING:
    import sqlalchemy as sa

MAX_QUERIED_PAYLOADS = 500
"""Payloads read in one query; they may be large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A stored result of work other than a cell of a comparison.

    - `digest`: Digest of everything that the data depend on.
    - `name`: Which result of the work this is.
    - `kind`: The kind of work, for people who inspect the store.
    - `data`: The result.
    """

    digest: str
    name: str
    kind: str
    data: bytes

    @property
    def key(self) -> tuple[str, str]:
        """The key in the store."""
        return self.digest, self.name


def write(connection: sa.Connection, waiting: Sequence[Payload]) -> None:
    """Insert payloads that are not stored yet; a payload never changes."""
    from sqlalchemy.dialects import postgresql, sqlite

    from bestofk.run.store.schema import payloads
    from bestofk.run.store.stored_study import now

    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    written = now()
    # sorted, so that two writers never wait for each other
    rows = [
        {"digest": payload.digest, "name": payload.name, "kind": payload.kind,
         "data": payload.data, "written": written, "checksum": of_bytes(payload.data)}
        for payload in sorted(waiting, key=lambda payload: payload.key)
    ]  # fmt: skip
    statement = dialect.insert(payloads).on_conflict_do_nothing(index_elements=["digest", "name"])
    connection.execute(statement, rows)


def find(
    connection: sa.Connection, digests: Sequence[str], name: str
) -> tuple[dict[str, bytes], list[str]]:
    """Return the data called `name` by digest, and the digests of damaged payloads."""
    import sqlalchemy as sa

    from bestofk.run.store.cells import digest_parameters, digest_selection
    from bestofk.run.store.schema import payloads

    data_column = sa.type_coerce(payloads.c.data, sa.types.NullType())
    statement = sa.select(payloads.c.digest, data_column, payloads.c.checksum).where(
        payloads.c.digest.in_(digest_selection(connection.dialect)), payloads.c.name == name
    )
    intact: dict[str, bytes] = {}
    damaged: list[str] = []
    for chunk in digest_parameters(connection.dialect, digests, MAX_QUERIED_PAYLOADS):
        parameters = chunk if isinstance(chunk, dict) else {"digests": chunk[0]}
        for digest, data, checksum in connection.execute(statement, parameters).all():
            if isinstance(data, bytes | memoryview) and checksum == of_bytes(bytes(data)):
                intact[digest] = bytes(data)
            else:
                damaged.append(digest)
    return intact, damaged


def drop_damaged(connection: sa.Connection, digests: Sequence[str], name: str) -> None:
    """Delete the payloads that are damaged now."""
    import sqlalchemy as sa

    from bestofk.run.store.schema import payloads

    _, damaged = find(connection, digests, name)
    if damaged:
        connection.execute(
            sa.delete(payloads).where(payloads.c.digest.in_(damaged), payloads.c.name == name)
        )
