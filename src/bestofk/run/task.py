"""Warnings caught cell by cell, also where several threads evaluate cells at once.

`warnings.catch_warnings` changes what the whole process does with warnings, and two threads in it
at once leave that changed. Within `warnings_by_thread` every thread has lists of its own.
"""

from __future__ import annotations

import math
import pickle
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import (
    Callable,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Generic, TextIO, TypeVar

from bestofk._base.errors import RunError
from bestofk.run.cells import Failure

if TYPE_CHECKING:
    from bestofk.run.store.store import Store

Caught = list[warnings.WarningMessage]


class _Lists(threading.local):
    """The lists that a thread is filling, the innermost last."""

    stack: tuple[Caught, ...] = ()


class _Threads:
    """How many runs in threads are under way, and what was done with warnings before."""

    runs: int = 0
    before: warnings.catch_warnings[None] | None = None
    lock = threading.Lock()


_LISTS = _Lists()


@contextmanager
def caught_warnings() -> Iterator[Caught]:
    """All warnings that this thread gives, in a list, and shown to nobody.

    Examples
    --------
    >>> with caught_warnings() as caught:
    ...     warnings.warn("mind the gap", stacklevel=1)
    >>> [str(each.message) for each in caught]
    ['mind the gap']
    """
    if not _Threads.runs:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
        return
    found: Caught = []
    outer = _LISTS.stack
    _LISTS.stack = (*outer, found)
    try:
        yield found
    finally:
        _LISTS.stack = outer


@contextmanager
def warnings_by_thread() -> Iterator[None]:
    """Let several threads catch warnings at once; entered by the thread that starts them.

    A warning of a thread that catches none is shown as before.
    """
    with _Threads.lock:
        _Threads.runs += 1
        if _Threads.runs == 1:
            _Threads.before = warnings.catch_warnings()
            _Threads.before.__enter__()
            warnings.simplefilter("always")
            warnings.showwarning = _shown_by(warnings.showwarning)
    try:
        yield
    finally:
        with _Threads.lock:
            _Threads.runs -= 1
            if _Threads.runs == 0 and _Threads.before is not None:
                _Threads.before.__exit__(None, None, None)


def _shown_by(others: Callable[..., None]) -> Callable[..., None]:
    """Where warnings go: to the list of the thread that gave them, else to `others`."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if _LISTS.stack:
            said = warnings.WarningMessage(message, category, filename, lineno, file, line)
            _LISTS.stack[-1].append(said)
        else:
            others(message, category, filename, lineno, file, line)

    return show


# A task: items that are pure functions of their names, and how they are evaluated and kept.


ItemT = TypeVar("ItemT", bound=Hashable)
ResultT = TypeVar("ResultT")

BLOCK_SECONDS = 0.5
"""Seconds of work that a block of quick items should hold."""
MOST_AT_ONCE = 50
"""Items that a block of quick items holds at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Generic[ItemT]):
    """Items that one worker evaluates in this order before it gets more."""

    items: tuple[ItemT, ...]
    as_one: bool = False
    """They are one piece of work: a limit on the time of an item counts for all together."""
    apart: bool = False
    """Each is a piece of work of its own, though the task could evaluate several at once."""

    def __len__(self) -> int:
        return len(self.items)

    def parted(self, stays: Callable[[ItemT], bool]) -> tuple[Block[ItemT], Block[ItemT]]:
        """The items that can travel, and those that stay."""
        travelling = tuple(item for item in self.items if not stays(item))
        if len(travelling) == len(self.items):
            return self, replace(self, items=())
        staying = tuple(item for item in self.items if stays(item))
        return replace(self, items=travelling), replace(self, items=staying)


class Pace:
    """How many items make a block of about half a second, as far as results tell.

    Parameters
    ----------
    workers : int
        Processes or threads that the blocks are for.
    """

    def __init__(self, *, workers: int = 1) -> None:
        self.workers = workers
        self._done = 0
        self._first = 0.0
        self._at_once = 1

    def at_once(self) -> int:
        """Items of the next block; at most twice as many as the last time."""
        passed = time.perf_counter() - self._first
        rate = (self._done - 1) / max(passed, 1e-6) if self._done > 1 else 0.0
        wanted = max(1, math.floor(BLOCK_SECONDS * rate))
        self._at_once = min(MOST_AT_ONCE, 2 * self._at_once, wanted)
        return self._at_once

    def counting(self, results: Generator[ResultT, None, None]) -> Generator[ResultT, None, None]:
        """The same results, counted as they come."""
        try:
            for result in results:
                if not self._done:
                    # what came before the first was the start of workers
                    self._first = time.perf_counter()
                self._done += 1
                yield result
        finally:
            results.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment(Generic[ItemT]):
    """A task on its way to other processes; see `load_task` for the other end."""

    packed: bytes | None
    """None: it cannot be pickled, and everything is evaluated here."""
    stays: Callable[[ItemT], bool] | None = None
    """Items that must be evaluated here, if some must."""
    staying: str = "the task"
    """What cannot be pickled, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun(Generic[ItemT, ResultT]):
    """A task at its beginning."""

    results: MutableMapping[ItemT, ResultT]
    """What is known already; the rest comes to it."""
    missing: dict[str, list[ItemT]]
    """What is to be done, by its digest; items with the same digest share their result."""
    known: int
    """Number of digests of which the result is known."""


class ItemEvaluator(ABC, Generic[ItemT, ResultT]):
    """Evaluates the items of a task; made once in every process, and keeps what it prepared."""

    send_every: float = 0.0
    """Seconds between two messages of a worker.

    0 sends every result at once, so that a death is blamed on the right item; quick items that
    crash no process may be sent several at a time.
    """

    def prepare(self) -> None:
        """Make or load what is needed once, before any item."""

    @abstractmethod
    def evaluate(self, items: Iterable[ItemT]) -> Iterator[ResultT]:
        """The result of every item; for the items of a block in their order."""

    def evaluate_apart(self, items: Iterable[ItemT]) -> Iterator[ResultT]:
        """The same results, with no piece of work for more than one item."""
        return self.evaluate(items)

    def evaluate_block(self, block: Block[ItemT]) -> Iterator[ResultT]:
        """The results of a block, as it asks."""
        return (self.evaluate_apart if block.apart else self.evaluate)(block.items)


class Task(ABC, Generic[ItemT, ResultT]):
    """What the items are a pure function of.

    An item is a small value that can be pickled and hashed: where it stands in the task. What is
    wrong with an item is part of its result; `evaluate` does not raise.
    """

    unit: ClassVar[str] = "fits"
    """What the items are called when they are counted."""
    threads: int = 1
    """Threads that the libraries beneath one item may use, in whichever process: bits depend on
    it, so that it is part of every key."""

    @property
    @abstractmethod
    def trusted(self) -> bool:
        """Items crash no process, so that they may be evaluated in this one."""

    @property
    def in_threads(self) -> bool:
        """Items may be evaluated by several threads at once, each with an evaluator of its own,
        and it pays: nearly all of their work lets go of the interpreter.
        """
        return False

    @abstractmethod
    def key(self, item: ItemT) -> str:
        """The digest of everything that the result of the item depends on."""

    @abstractmethod
    def key_of(self, result: ResultT) -> str:
        """The digest of the item that a result belongs to."""

    @abstractmethod
    def evaluator(self) -> ItemEvaluator[ItemT, ResultT]:
        """What evaluates items, in this process or in a worker."""

    @abstractmethod
    def lost(self, item: ItemT, failure: Failure) -> ResultT:
        """The result of an item whose worker hung, died or went over time."""

    @abstractmethod
    def find(self, store: Store, items: Mapping[str, ItemT]) -> dict[str, ResultT]:
        """The results that a store holds of `items`, both by their digests."""

    def begin(
        self,
        store: Store | None,
        items: Sequence[ItemT],
        *,
        again: Callable[[ResultT], bool] | None = None,
    ) -> Begun[ItemT, ResultT]:
        """What a store holds of the items, and what is left to be done.

        Where ``again(result)`` is true of a result, it is left to be done again.
        """
        missing: dict[str, list[ItemT]] = {}
        for item in items:
            missing.setdefault(self.key(item), []).append(item)
        n = len(missing)
        results: dict[ItemT, ResultT] = {}
        if store is not None:
            firsts = {key: group[0] for key, group in missing.items()}
            for key, result in self.find(store, firsts).items():
                if again is None or not again(result):
                    results.update(dict.fromkeys(missing.pop(key), result))
        return Begun(results=results, missing=missing, known=n - len(missing))

    @abstractmethod
    def keep(self, store: Store, result: ResultT) -> None:
        """Write a result to a store, if it is worth finding again."""

    @abstractmethod
    def label(self, item: ItemT) -> str:
        """What is being worked on, for somebody who watches."""

    @abstractmethod
    def failed(self, result: ResultT) -> bool:
        """Whether the item failed."""

    @abstractmethod
    def seconds(self, result: ResultT) -> float | None:
        """Seconds that it took; None if they say nothing about other items."""

    def may_pass_now(
        self,
        result: ResultT,  # noqa: ARG002
        *,
        timeout: float | None,  # noqa: ARG002
    ) -> bool:
        """Whether a stored failure is worth another try, with `timeout` seconds for an item."""
        return False

    def blocks(
        self,
        items: Iterable[ItemT],
        pace: Pace,
        *,
        hurried: bool = False,  # noqa: ARG002  (for tasks whose blocks are large)
    ) -> Iterator[Block[ItemT]]:
        """The items in blocks, taken lazily; small ones if `hurried` by a deadline."""
        waiting = iter(items)
        while group := tuple(islice(waiting, pace.at_once())):
            yield Block(items=group)

    def rounds(self, items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
        """The items in rounds: with a deadline, the first ones are done first."""
        return ([item] for item in items)

    def ship(self) -> Shipment[ItemT]:
        """The task as bytes for other processes."""
        import cloudpickle

        try:
            return Shipment(packed=cloudpickle.dumps(self))
        except Exception:
            # any class may raise anything while it is pickled: then the work stays here
            return Shipment(packed=None)


def said(raised: BaseException) -> str:
    """What was raised, on one line; there are errors that cannot be told."""
    kind = type(raised).__name__
    try:
        text = " ".join(str(raised).split())[:300]
    except Exception:  # whatever a stranger's class raises
        text = ""
    return f"{kind}: {text}" if text else f"{kind}."


def sendable_error(raised: Exception) -> Exception:
    """An error that another process can raise: itself, or one that says the same."""
    try:
        pickle.loads(pickle.dumps(raised))
    except Exception:
        # any class may raise anything while it is pickled or loaded
        return RunError(said(raised))
    return raised


def load_task(packed: bytes) -> Task[Hashable, object]:
    """The task that `Task.ship` packed."""
    import cloudpickle

    task: Task[Hashable, object] = cloudpickle.loads(packed)
    return task
