"""Claims: several processes share the work of one store, and none does what another is doing.

A process claims what it is about to evaluate, a block or some at a time, in one transaction. It
says that it lives by counting its beats in a row of its own. No clock is compared with another:
who looks at a claimer holds it for dead if its count has not changed for the length of a lease
by the looker's own steady clock, or if it is a process of the same machine that is no longer
there. The claims of the dead are free.
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
from bestofk.run.store.cells import among, asked
from bestofk.run.store.schema import APPLICATION_ID, cells, claimers, claims, payloads

if TYPE_CHECKING:
    from bestofk.run.store.database import Database

BEAT = 3.0
"""Seconds between two beats."""
LEASE = 12.0
"""A claimer that has not beaten for so many seconds is dead."""
LEASE_OF_THE_LIVING = 60.0
"""The same for a process of this machine that is running: a fit may keep it from beating."""
CHUNK = 5000
"""Claims made in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenKeys:
    """What came of asking for some pieces of work."""

    mine: frozenset[str]
    """Claimed by this process."""
    there: frozenset[str]
    """Those of them of which the store holds something."""


class Claims:
    """The claims of one run; a context in which the process says that it lives."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._name = token_hex(8)
        self._seen: dict[str, tuple[int, float]] = {}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._database.commit(self._register, lightly=True)
        self._thread = threading.Thread(target=self._live, name="bestofk-claims", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Give back what was claimed and not done."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=BEAT)
        with suppress(StoreError):
            # where the store cannot be reached, the lease runs out
            self._database.commit(self._give_back, lightly=True)

    def take(self, digests: Sequence[str]) -> TakenKeys:
        """Claim what nobody else works on."""
        parts = [
            self._database.commit(
                partial(self._take, digests=sorted(digests[start : start + CHUNK])), lightly=True
            )
            for start in range(0, len(digests), CHUNK)
        ]
        return TakenKeys(
            mine=frozenset().union(*(part.mine for part in parts)),
            there=frozenset().union(*(part.there for part in parts)),
        )

    def give_back(self, digests: Iterable[str]) -> None:
        """Let others have what was claimed."""
        given = sorted(digests)
        if given:
            self._database.commit(lambda connection: drop_claims(connection, given), lightly=True)

    def _register(self, connection: sa.Connection) -> None:
        _one_at_a_time(connection)
        self._sweep(connection)
        connection.execute(
            sa.insert(claimers), {"name": self._name, "process": this_process(), "beat": 0}
        )

    def _sweep(self, connection: sa.Connection) -> None:
        """Take away what is left of the dead."""
        self._bury(connection, set(connection.execute(sa.select(claimers.c.name)).scalars()))
        living = sa.select(claimers.c.name)
        connection.execute(sa.delete(claims).where(claims.c.claimer.not_in(living)))

    def _take(self, connection: sa.Connection, digests: list[str]) -> TakenKeys:
        _one_at_a_time(connection)
        self._claim(connection, digests)
        mine, others = self._held(connection, digests)
        if others and self._bury(connection, set(others.values())):
            self._claim(connection, sorted(others))
            mine, _ = self._held(connection, digests)
        there = frozenset(
            digest
            for table in (cells, payloads)
            for (digest,) in _rows(connection, sa.select(table.c.digest), sorted(mine))
        )
        return TakenKeys(mine=frozenset(mine), there=there)

    def _claim(self, connection: sa.Connection, digests: list[str]) -> None:
        """Claim what is free: nobody's, or of one who is no longer among the claimers."""
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(
                _CLAIM.format(source="SELECT unnest(%(wanted)s::TEXT[]), %(name)s"),
                {"wanted": digests, "name": self._name},
            )
        else:
            connection.exec_driver_sql(
                _CLAIM.format(source="SELECT ?, ? WHERE true"),
                [(digest, self._name) for digest in digests],
            )

    def _held(
        self, connection: sa.Connection, digests: list[str]
    ) -> tuple[set[str], dict[str, str]]:
        """What is this process's, and who has the rest."""
        mine: set[str] = set()
        others: dict[str, str] = {}
        for digest, name in _rows(
            connection, sa.select(claims.c.digest, claims.c.claimer), digests
        ):
            if name == self._name:
                mine.add(digest)
            else:
                others[digest] = name
        return mine, others

    def _bury(self, connection: sa.Connection, names: set[str]) -> bool:
        """Take those who have died from the claimers; whether some of them are not there."""
        found = sa.select(claimers).where(claimers.c.name.in_(sorted(names)))
        known = connection.execute(found).all()
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
        at = time.monotonic()
        known = self._seen.get(name)
        if known is None or known[0] != beat:
            self._seen[name] = (beat, at)
            return False
        return at - known[1] > (LEASE if alive is None else LEASE_OF_THE_LIVING)

    def _live(self) -> None:
        while not self._over.wait(BEAT):
            with suppress(StoreError):
                self._database.commit(self._beat, lightly=True)

    def _beat(self, connection: sa.Connection) -> None:
        beat = sa.update(claimers).where(claimers.c.name == self._name)
        done = connection.execute(beat.values(beat=claimers.c.beat + 1))
        if not done.rowcount:
            # held for dead after a long sleep: what is still claimed may be somebody else's
            connection.execute(
                sa.insert(claimers), {"name": self._name, "process": this_process(), "beat": 1}
            )

    def _give_back(self, connection: sa.Connection) -> None:
        _one_at_a_time(connection)
        connection.execute(sa.delete(claims).where(claims.c.claimer == self._name))
        connection.execute(sa.delete(claimers).where(claimers.c.name == self._name))


_CLAIM = """
INSERT INTO bestofk_claims (digest, claimer) {source}
ON CONFLICT (digest) DO UPDATE SET claimer = excluded.claimer
WHERE NOT EXISTS (SELECT 1 FROM bestofk_claimers WHERE name = bestofk_claims.claimer)
"""


def drop_claims(connection: sa.Connection, digests: Sequence[str]) -> None:
    """What is done is claimed by nobody."""
    ordered = sorted(digests)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "DELETE FROM bestofk_claims WHERE digest = ANY(%(wanted)s)", {"wanted": ordered}
        )
    else:
        connection.exec_driver_sql(
            "DELETE FROM bestofk_claims WHERE digest = ?", [(digest,) for digest in ordered]
        )


def _rows(connection: sa.Connection, statement: Any, digests: list[str]) -> Iterable[Any]:
    """The rows of a statement whose first column is one of `digests`."""
    column = next(iter(statement.selected_columns))
    text = str(statement.where(column.in_(among(connection.dialect))).compile(connection))
    for given in asked(connection.dialect, digests):
        yield from connection.exec_driver_sql(text, given).all()


def _one_at_a_time(connection: sa.Connection) -> None:
    """Claimers of a server take turns; those of a file do so anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID + 1})")


def this_process() -> str:
    """What tells this process from all others that ever ran on any machine; empty: not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # numbers of processes are those of a namespace, as containers have their own
        space = Path("/proc/self/ns/pid").readlink()
        return f"{boot} {space} {os.getpid()} {_begun(os.getpid())[1]}"
    except (OSError, ValueError, IndexError):
        return ""


def is_running(process: str) -> bool | None:
    """Whether a process is there and not stopped; None where that cannot be known."""
    here, there = this_process().split(), process.split()
    if len(there) != 4 or here[:2] != there[:2]:
        return None
    try:
        os.kill(int(there[2]), 0)
        state, begun = _begun(int(there[2]))
    except ProcessLookupError:
        return False
    except (OSError, ValueError, IndexError):
        return None  # of another user
    if begun != there[3] or state in "ZX":
        return False
    return None if state in "Tt" else True


def _begun(number: int) -> tuple[str, str]:
    """The state of a process and when it began, in ticks since the machine did."""
    words = Path(f"/proc/{number}/stat").read_text(encoding="ascii", errors="replace")
    fields = words.rpartition(")")[2].split()
    return fields[0], fields[19]
