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
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Self

import sqlalchemy as sa

from bestofk._base.errors import StoreError
from bestofk.run.store.database import (
    APPLICATION_ID,
    Database,
    cells,
    claimers,
    claims,
    delete_rows,
    insert_rows,
    rows_with,
)

HEARTBEAT_SECONDS = 3.0
"""Time between two heartbeats."""
LEASE_SECONDS = 30.0
"""A process without a heartbeat for this long is presumed dead; a fit may block heartbeats."""
_START = 19
"""Field of a process that holds its start, in clock ticks since the boot."""
MAX_CLAIMS = 5000
"""Maximum number of claims in one transaction."""


class Claims:
    """The claims of one run; a context that keeps the heartbeat going."""

    def __init__(self, database: Database) -> None:
        database.claiming = True
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

    def __exit__(self, *_: object) -> None:
        """Release all claims."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=HEARTBEAT_SECONDS)
        with suppress(StoreError):
            # if the store cannot be reached, the lease expires
            self._database.commit(self._release_all, lightly=True)

    def claim(self, digests: Sequence[str]) -> tuple[set[str], set[str]]:
        """Claim the keys that no other process works on.

        Return the keys that this process has claimed, and those of them that have a stored result.
        """
        claimed, stored = set[str](), set[str]()
        for start in range(0, len(digests), MAX_CLAIMS):
            part = sorted(digests[start : start + MAX_CLAIMS])
            ours, done = self._database.commit(partial(self._claim, digests=part), lightly=True)
            claimed |= ours
            stored |= done
        return claimed, stored

    def release(self, digests: Iterable[str]) -> None:
        """Release claims, so that other processes can claim them."""
        released = list(digests)
        if released:
            self._database.commit(
                partial(delete_rows, table=claims, digests=released), lightly=True
            )

    def _register(self, connection: sa.Connection) -> None:
        _lock(connection)
        self._living(connection, set(connection.execute(sa.select(claimers.c.name)).scalars()))
        living = sa.select(claimers.c.name)
        connection.execute(sa.delete(claims).where(claims.c.claimer.not_in(living)))
        connection.execute(
            sa.insert(claimers), {"name": self._name, "process": this_process(), "beat": 0}
        )

    def _claim(self, connection: sa.Connection, digests: list[str]) -> tuple[set[str], set[str]]:
        _lock(connection)
        rows = [{"digest": digest, "claimer": self._name} for digest in digests]
        insert_rows(connection, claims, rows)
        owners = dict(rows_with(connection, claims, ("digest", "claimer"), digests))
        living = self._living(connection, set(owners.values()) - {self._name})
        free = [digest for digest, owner in owners.items() if owner not in {*living, self._name}]
        if free:
            delete_rows(connection, claims, free)
            insert_rows(connection, claims, [row for row in rows if row["digest"] in set(free)])
        claimed = {digest for digest, owner in owners.items() if owner not in living}
        stored = rows_with(connection, cells, ("digest",), sorted(claimed))
        return claimed, {row.digest for row in stored}

    def _living(self, connection: sa.Connection, names: set[str]) -> set[str]:
        """Return the living among the named processes, and delete the others."""
        if not names:
            return set()
        query = sa.select(claimers).where(claimers.c.name.in_(sorted(names)))
        for name, process, beat in connection.execute(query).all():
            if self._is_dead(name, process, beat):
                # unless there was another heartbeat meanwhile
                same = (claimers.c.name == name, claimers.c.beat == beat)
                connection.execute(sa.delete(claimers).where(*same))
        return {row.name for row in connection.execute(query)}

    def _is_dead(self, name: str, process: str, beat: int) -> bool:
        if has_ended(process):
            return True
        now = time.monotonic()
        known = self._seen.get(name)
        if known is None or known[0] != beat:
            self._seen[name] = (beat, now)
            return False
        return now - known[1] > LEASE_SECONDS

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
        return f"{boot} {space} {os.getpid()} {_stat_fields(os.getpid())[_START]}"
    except (OSError, ValueError, IndexError):
        return ""


def _stat_fields(pid: int) -> list[str]:
    """Return the state of a process and the fields that follow it in its stat file (Linux)."""
    line = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    return line.rpartition(")")[2].split()


def has_ended(process: str) -> bool:
    """Return whether a process of this machine has ended; False if that is unknown."""
    here, there = this_process().split(), process.split()
    if len(there) != 4 or here[:2] != there[:2]:
        return False
    try:
        os.kill(int(there[2]), 0)
        fields = _stat_fields(int(there[2]))
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        return False  # a process of another user
    return fields[_START] != there[3] or fields[0] in "ZX"
