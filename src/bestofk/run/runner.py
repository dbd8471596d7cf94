"""Run a task: claim, evaluate and store its items, and take over what others leave.

Several processes can work on one store. A process leaves to others what they have claimed. It reads
their results from the store as they appear, and takes over what they release or leave behind when
they die.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import Interrupted, StoreError
from bestofk.run.engine import Engine
from bestofk.run.progress import Progress
from bestofk.run.task import Block, Task, Times

if TYPE_CHECKING:
    from bestofk.run.store.claims import Claims
    from bestofk.run.store.store import Store

READ_EVERY_SECONDS = 2.0
"""Time between two reads of other processes' results during own work."""
POLL_SECONDS = 0.25
"""Time between two reads while waiting for other processes."""
MAX_ITEMS = 200_000
"""Most items that a run without a deadline has in hand; a million with keys take a gigabyte."""


def opened(store: str | os.PathLike[str] | None) -> AbstractContextManager[Store | None]:
    """Open a store; give None, without importing SQLAlchemy, if there is none to open."""
    if store is None:
        return nullcontext()
    from bestofk.run.store.store import open_store

    return open_store(store)


def run(
    task: Task,
    items: Sequence[Any],
    *,
    results: Any,
    engine: Engine,
    store: Store | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    stop: Callable[[Any], Exception | None] | None = None,
    stale: Container[str] = (),
    times: Times | None = None,
) -> None:
    """Evaluate the items that have no result yet, and store their results.

    - `task`: The task of the items.
    - `results`: The known results by item, such as a dictionary or a `CellTable`. It receives the
      others; with a deadline, some may be missing at the end.
    - `engine`: Evaluates the items; results do not depend on it.
    - `store`: An open store; it receives each result as it arrives. Items with the same key share
      their result.
    - `progress`: Receives the progress of the run.
    - `deadline`: End of the run, on the clock of `time.monotonic`.
    - `stop`: ``stop(result)`` returns the error that ends the run, or None to continue.
    - `stale`: Keys of stored failures that are evaluated again.
    - `times`: The waiting items of several runs of one task, whose `progress` has started.

    Raises
    ------
    Interrupted
        The user interrupted the run; the message says what is stored.
    """
    progress, known = progress or Progress(), len(results)
    # rounds over all items are made of all of them
    size = MAX_ITEMS if deadline is None else max(1, len(items))
    with engine, nullcontext() if times is not None else progress:
        if times is None:
            times = Times(Counter(map(task.timed_as, items)))
            progress.start(total=known + len(items), done=known, unit=task.unit, times=times)
        try:
            for start in range(0, len(items), size):
                _Run(
                    task=task, engine=engine, store=store, progress=progress, deadline=deadline,
                    stop=stop, stale=stale, times=times, results=results,
                ).run(items[start : start + size])  # fmt: skip
        except KeyboardInterrupt:
            stored = store is not None
            message = interruption_message(
                len(results), known + len(items), task.unit, stored=stored
            )
            raise Interrupted(message) from None


@dataclass(slots=True, kw_only=True)
class _Run:
    """A run of some items of a task; see `run`.

    - `same`: The items by key; without a store, by themselves.
    - `keys`: The keys of these items.
    - `elsewhere`: Items that other processes have claimed, by key.
    """

    task: Task
    engine: Engine
    store: Store | None
    progress: Progress
    deadline: float | None
    stop: Callable[[Any], Exception | None] | None
    stale: Container[str]
    times: Times
    results: Any
    claims: Claims | None = None
    same: dict[Any, list[Any]] = field(default_factory=dict)
    keys: dict[Any, Any] = field(default_factory=dict)
    elsewhere: dict[str, Any] = field(default_factory=dict)
    last_read: float = field(default_factory=time.monotonic)

    def run(self, items: Sequence[Any]) -> None:
        task, store = self.task, self.store
        for item in items:
            self.keys[item] = item if store is None else task.key(item)
            self.same.setdefault(self.keys[item], []).append(item)
        missing = [group[0] for group in self.same.values()]
        self.claims = None if store is None else store.claims()
        if store is None or self.claims is None:
            self.evaluate(missing)
        else:
            # results are stored before their claims are released
            with self.claims, _flushed(store):
                self.evaluate(missing)
                self.share_the_rest()

    def evaluate(self, items: Sequence[Any]) -> None:
        """Evaluate items, in rounds if there is a deadline, and store their results."""
        task, store = self.task, self.store
        if self.deadline is not None:
            items = task.in_rounds(items)
        claim = None if self.claims is None else self.claim_blocks
        results = self.engine.run(
            task, items, times=self.times, deadline=self.deadline, claim=claim
        )
        try:
            for result in results:
                if store is not None:
                    task.keep(store, result)
                self.settle(self.keys[result], result)
                error = None if self.stop is None else self.stop(result)
                if error is not None:
                    raise error
        finally:
            # end the workers now, not when the last reference to a traceback is gone
            results.close()

    def settle(self, key: Any, result: Any) -> None:
        """Accept a result for all items with this key."""
        group = self.same[key]
        for item in group:
            self.results[item] = result
            self.progress.item(label=self.task.label(item), failed=result.failure is not None)

    def accept(self, results: Mapping[str, Any]) -> None:
        """Accept results that other processes have stored."""
        for key, result in results.items():
            self.elsewhere.pop(key, None)
            self.times.done(self.task.timed_as(result), result.seconds)
            self.settle(key, result)

    def find(self, items: Mapping[str, Any]) -> dict[str, Any]:
        """Return stored results, except failures that no process has replaced yet."""
        assert self.store is not None
        return {
            key: result
            for key, result in self.task.find(self.store, items).items()
            if key not in self.stale or result.failure is None
        }

    # work that processes share

    def claim_blocks(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Claim and yield the free parts of blocks, which have about half a second of work."""
        for block in blocks:
            claimed = self.claim({self.keys[item]: item for item in block})
            free = tuple(item for item in block if self.keys[item] in claimed)
            if free:
                yield free
            if time.monotonic() - self.last_read > READ_EVERY_SECONDS:
                self.read_results()

    def claim(self, items: Mapping[str, Any]) -> set[str]:
        """Claim the free items and return the keys of those that must be evaluated."""
        assert self.claims is not None
        claimed, stored = self.claims.claim(list(items))
        self.elsewhere.update((key, item) for key, item in items.items() if key not in claimed)
        if not stored:
            return claimed
        results = self.find({key: items[key] for key in stored})
        self.accept(results)
        self.claims.release(results)
        return claimed - set(results)

    def read_results(self) -> None:
        """Accept the results that other processes have stored."""
        self.last_read = time.monotonic()
        if self.elsewhere:
            self.accept(self.find(self.elsewhere))

    def share_the_rest(self) -> None:
        """Wait for the results of other processes, and take over what they leave undone."""
        while self.elsewhere:
            self.read_results()
            if self.deadline is not None and time.monotonic() >= self.deadline:
                return
            items, self.elsewhere = self.elsewhere, {}
            claimed = self.claim(items)
            abandoned = [item for key, item in items.items() if key in claimed]
            if abandoned:
                self.evaluate(abandoned)
            elif self.elsewhere:
                others = f"{len(self.elsewhere)} {self.task.unit}"
                self.progress.standing(text=f"waiting for another process that works on {others}")
                time.sleep(POLL_SECONDS)


@contextmanager
def _flushed(store: Store) -> Iterator[None]:
    """Commit waiting results at the end, also after an error."""
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            store.flush()
        raise
    store.flush()


def interruption_message(done: int, total: int, unit: str, *, stored: bool) -> str:
    """Say what an interrupted run has stored."""
    if not stored:
        return (
            f"interrupted after {done} of {total} {unit}; nothing is kept without a store: add one "
            "(--store study.db) to be able to resume."
        )
    return (
        f"interrupted; {done} of {total} {unit} are safe in the store: the same call resumes from "
        "there."
    )
