"""Claims, which let several processes share the work of one store without doing anything twice.

A process claims what it is about to evaluate, one or more blocks at a time, in one transaction.
While it lives, it increments a heartbeat count in its own row. Other processes presume it dead if
the count has not changed for the length of a lease on their own monotonic clock, or if it ran on
the same machine and is gone. Clocks of different machines are never compared. The claims of dead
processes are free.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa

from bestofk._base.errors import StoreError
from bestofk.run.engines.process_cleanup import stat_fields
from bestofk.run.store.cells import digest_parameters, digest_selection
from bestofk.run.store.schema import APPLICATION_ID, cells, claimers, claims, payloads

if TYPE_CHECKING:
    from bestofk.run.store.database import Database

HEARTBEAT_SECONDS = 3.0
"""Time between two heartbeats."""
LEASE_SECONDS = 12.0
"""A process without a heartbeat for this long is presumed dead."""
RUNNING_LEASE_SECONDS = 60.0
"""The same for a running process of this machine, whose heartbeat a fit may block."""
_START = 19
"""Field of a process that holds its start, in clock ticks since the boot."""
MAX_CLAIMS = 5000
"""Maximum number of claims in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """Outcome of an attempt to claim keys."""

    claimed: frozenset[str]
    """Keys that this process has claimed."""
    stored: frozenset[str]
    """The claims for which the store has a result."""


class Claims:
    """The claims of one run; a context that keeps the heartbeat going."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._name = token_hex(8)
        self._seen: dict[str, tuple[int, float]] = {}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._database.commit(self._register, lightly=True)
        self._thread = threading.Thread(
            target=self._send_heartbeats, name="bestofk-claims", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release all claims."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=HEARTBEAT_SECONDS)
        with suppress(StoreError):
            # if the store cannot be reached, the lease expires
            self._database.commit(self._release_all, lightly=True)

    def claim(self, digests: Sequence[str]) -> ClaimOutcome:
        """Claim the keys that no other process works on."""
        parts = [
            self._database.commit(
                partial(self._claim_part, digests=sorted(digests[start : start + MAX_CLAIMS])),
                lightly=True,
            )
            for start in range(0, len(digests), MAX_CLAIMS)
        ]
        return ClaimOutcome(
            claimed=frozenset().union(*(part.claimed for part in parts)),
            stored=frozenset().union(*(part.stored for part in parts)),
        )

    def release(self, digests: Iterable[str]) -> None:
        """Release claims, so that other processes can claim them."""
        released = sorted(digests)
        if released:
            self._database.commit(
                lambda connection: drop_claims(connection, released), lightly=True
            )

    def _register(self, connection: sa.Connection) -> None:
        _lock(connection)
        self._remove_dead(connection)
        connection.execute(
            sa.insert(claimers), {"name": self._name, "process": this_process(), "beat": 0}
        )

    def _remove_dead(self, connection: sa.Connection) -> None:
        """Delete dead processes and their claims."""
        names = set(connection.execute(sa.select(claimers.c.name)).scalars())
        self._delete_dead(connection, names)
        living = sa.select(claimers.c.name)
        connection.execute(sa.delete(claims).where(claims.c.claimer.not_in(living)))

    def _claim_part(self, connection: sa.Connection, digests: list[str]) -> ClaimOutcome:
        _lock(connection)
        self._insert(connection, digests)
        claimed, others = self._owners(connection, digests)
        if others and self._delete_dead(connection, set(others.values())):
            self._insert(connection, sorted(others))
            claimed, _ = self._owners(connection, digests)
        stored = frozenset(
            digest
            for table in (cells, payloads)
            for (digest,) in _rows(connection, sa.select(table.c.digest), sorted(claimed))
        )
        return ClaimOutcome(claimed=frozenset(claimed), stored=stored)

    def _insert(self, connection: sa.Connection, digests: list[str]) -> None:
        """Claim the keys that are unclaimed, or claimed by a process that was deleted."""
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(
                _CLAIM.format(source="SELECT unnest(%(digests)s::TEXT[]), %(name)s"),
                {"digests": digests, "name": self._name},
            )
        else:
            connection.exec_driver_sql(
                _CLAIM.format(source="SELECT ?, ? WHERE true"),
                [(digest, self._name) for digest in digests],
            )

    def _owners(
        self, connection: sa.Connection, digests: list[str]
    ) -> tuple[set[str], dict[str, str]]:
        """Return the keys that this process has claimed, and the owners of the others."""
        claimed: set[str] = set()
        others: dict[str, str] = {}
        for digest, name in _rows(
            connection, sa.select(claims.c.digest, claims.c.claimer), digests
        ):
            if name == self._name:
                claimed.add(digest)
            else:
                others[digest] = name
        return claimed, others

    def _delete_dead(self, connection: sa.Connection, names: set[str]) -> bool:
        """Delete the dead among the named processes; return whether any is gone now."""
        query = sa.select(claimers).where(claimers.c.name.in_(sorted(names)))
        known = connection.execute(query).all()
        dead = [row for row in known if self._is_dead(*row)]
        for name, _, beat in dead:
            connection.execute(
                sa.delete(claimers).where(claimers.c.name == name, claimers.c.beat == beat)
            )
        return bool(dead) or len(known) < len(names)

    def _is_dead(self, name: str, process: str, beat: int) -> bool:
        alive = is_running(process)
        if alive is False:
            return True
        now = time.monotonic()
        known = self._seen.get(name)
        if known is None or known[0] != beat:
            self._seen[name] = (beat, now)
            return False
        return now - known[1] > (LEASE_SECONDS if alive is None else RUNNING_LEASE_SECONDS)

    def _send_heartbeats(self) -> None:
        while not self._ended.wait(HEARTBEAT_SECONDS):
            with suppress(StoreError):
                self._database.commit(self._send_heartbeat, lightly=True)

    def _send_heartbeat(self, connection: sa.Connection) -> None:
        update = sa.update(claimers).where(claimers.c.name == self._name)
        updated = connection.execute(update.values(beat=claimers.c.beat + 1))
        if not updated.rowcount:
            # another process presumed this one dead, as after a long sleep, and may have its claims
            connection.execute(
                sa.insert(claimers), {"name": self._name, "process": this_process(), "beat": 1}
            )

    def _release_all(self, connection: sa.Connection) -> None:
        _lock(connection)
        connection.execute(sa.delete(claims).where(claims.c.claimer == self._name))
        connection.execute(sa.delete(claimers).where(claimers.c.name == self._name))


_CLAIM = """
INSERT INTO bestofk_claims (digest, claimer) {source}
ON CONFLICT (digest) DO UPDATE SET claimer = excluded.claimer
WHERE NOT EXISTS (SELECT 1 FROM bestofk_claimers WHERE name = bestofk_claims.claimer)
"""


def drop_claims(connection: sa.Connection, digests: Sequence[str]) -> None:
    """Delete the claims on `digests`."""
    ordered = sorted(digests)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "DELETE FROM bestofk_claims WHERE digest = ANY(%(digests)s)", {"digests": ordered}
        )
    else:
        connection.exec_driver_sql(
            "DELETE FROM bestofk_claims WHERE digest = ?", [(digest,) for digest in ordered]
        )


def _rows(connection: sa.Connection, statement: Any, digests: list[str]) -> Iterable[Any]:
    """Yield the rows of a statement whose first column is one of `digests`."""
    column = next(iter(statement.selected_columns))
    text = str(
        statement.where(column.in_(digest_selection(connection.dialect))).compile(connection)
    )
    for parameters in digest_parameters(connection.dialect, digests):
        yield from connection.exec_driver_sql(text, parameters).all()


def _lock(connection: sa.Connection) -> None:
    """Let the claiming processes of a server take turns; SQLite transactions do so anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID + 1})")


def this_process() -> str:
    """Return a unique identifier of this process on all machines; empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # process ids belong to a namespace; containers have their own
        space = Path("/proc/self/ns/pid").readlink()
        return f"{boot} {space} {os.getpid()} {stat_fields(os.getpid())[_START]}"
    except (OSError, ValueError, IndexError):
        return ""


def is_running(process: str) -> bool | None:
    """Return whether a process runs and is not stopped; None if that is unknown."""
    here, there = this_process().split(), process.split()
    if len(there) != 4 or here[:2] != there[:2]:
        return None
    try:
        os.kill(int(there[2]), 0)
        fields = stat_fields(int(there[2]))
        state, start = fields[0], fields[_START]
    except ProcessLookupError:
        return False
    except (OSError, ValueError, IndexError):
        return None  # a process of another user
    if start != there[3] or state in "ZX":
        return False
    return None if state in "Tt" else True
