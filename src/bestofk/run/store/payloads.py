"""Payloads: named bytes under the digest of what they are a pure function of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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

    from bestofk.run.store.schema import payloads
    from bestofk.run.store.stored_study import now

    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    written = now()
    # In one order for all, so that two writers never wait for each other.
    rows = [
        {"digest": one.digest, "name": one.name, "kind": one.kind, "data": one.data,
         "written": written}
        for one in sorted(waiting, key=lambda payload: payload.key)
    ]  # fmt: skip
    statement = dialect.insert(payloads).on_conflict_do_nothing(index_elements=["digest", "name"])
    connection.execute(statement, rows)


def find(
    connection: sa.Connection, digests: Sequence[str], name: str
) -> Iterator[tuple[str, bytes]]:
    """The data of that name under those digests that the table holds."""
    import sqlalchemy as sa
    from sqlalchemy.dialects import postgresql

    from bestofk.run.store.schema import payloads

    among: Any
    if connection.dialect.name == "postgresql":
        listed: Any = sa.func.unnest(sa.bindparam("wanted", type_=postgresql.ARRAY(sa.Text)))
        among = sa.select(listed)
    else:
        each = sa.func.json_each(sa.bindparam("wanted")).table_valued("value")
        among = sa.select(each.c.value)
    statement = sa.select(payloads.c.digest, payloads.c.data).where(
        payloads.c.digest.in_(among), payloads.c.name == name
    )
    for start in range(0, len(digests), CHUNK):
        chunk = list(digests[start : start + CHUNK])
        given: Any = chunk if connection.dialect.name == "postgresql" else json.dumps(chunk)
        for digest, data in connection.execute(statement, {"wanted": given}).all():
            yield digest, bytes(data)
