"""Tasks: items that are pure functions of their keys, and how to evaluate and store them."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import inf
from mmap import mmap
from typing import TYPE_CHECKING, Any, ClassVar

from bestofk._base.errors import BestOfKError, RunError
from bestofk.run.cells import Failure

if TYPE_CHECKING:
    from bestofk.run.store.store import Store


BLOCK_SECONDS = 0.5
"""Seconds of work that a block of quick items should contain."""
_ALIGNMENT = 64
"""Bytes at a multiple of which the arrays of a packed task begin."""
GROUPS_PER_WORKER = 256
"""Number of groups of items per worker that are read ahead."""
MIN_SECONDS = 0.02
"""Least work of a block of quick items, when little is left."""
ITEM_SECONDS = 2e-4
"""Seconds of an item that are not part of its time."""
SURE_SECONDS = 1.0
"""A single item says how long the others take only if it takes longer."""


class Times:
    """How many items wait, and how long those of the same kind (`Task.timed_as`) took.

    The sizes of blocks, the choice of workers and the progress display use the same estimates.

    - `waiting`: The number of waiting items by kind.
    - `workers`: The number of workers.

    Examples
    --------
    >>> times = Times({"quick": 10, "slow": 10})
    >>> times.done("quick", 0.1); times.left(elapsed=5.0) is None
    True
    >>> times.done("slow", 9.9); round(times.left(elapsed=10.0))
    90
    """

    def __init__(self, waiting: Mapping[Any, int], *, workers: int = 1) -> None:
        self.waiting: dict[Any, int] = dict(waiting)
        self.workers = workers
        self._total = 0.0
        self._done: dict[Any, tuple[float | None, int, float]] = {}
        """The seconds of the first item of a kind; the number and the seconds of the others."""

    def done(self, kind: Hashable, seconds: float | None) -> None:
        """Count a finished item; `seconds` is None if others cannot be estimated by it."""
        self.waiting[kind] = self.waiting.get(kind, 0) - 1
        first, others, rest = self._done.get(kind, (None, 0, 0.0))
        if seconds is not None:
            self._total += seconds
            if first is None:
                first = seconds
            else:
                others, rest = others + 1, rest + seconds
        self._done[kind] = first, others, rest

    def estimate(self, kind: Hashable, *, sure: bool = False) -> float | None:
        """Return the seconds of an item; None if unknown.

        If `sure`, a single item says nothing unless it took long, because it may include imports.
        """
        first, others, rest = self._done.get(kind, (None, 0, 0.0))
        if others:
            return rest / others
        return None if sure and (first or 0.0) <= SURE_SECONDS else first

    def known_work(self) -> float:
        """Return the seconds of the waiting items that are surely needed."""
        kinds = self._done
        return sum(self.waiting[kind] * (self.estimate(kind, sure=True) or 0.0) for kind in kinds)

    def left(self, *, elapsed: float) -> float | None:
        """Return the remaining time after `elapsed` seconds; None if there is too little data.

        Learners differ a thousandfold in speed, so the overall rate says little before the slow
        ones start. There is no estimate until an item of each kind is done.
        """
        remaining = {kind: count for kind, count in self.waiting.items() if count > 0}
        if self._total <= 0 or not remaining.keys() <= self._done.keys():
            return None
        work = sum(count * (self.estimate(kind) or 0.0) for kind, count in remaining.items())
        # accounts for parallel workers and for the time between items
        return work * elapsed / self._total


class UnpicklableError(RunError):
    """A task cannot be pickled."""

    def __init__(self, part: str) -> None:
        super().__init__(
            f"{part} cannot be pickled, so no worker process can load it: define it in a module, "
            "or use the engine 'serial' without a timeout and a budget."
        )


Block = tuple[Any, ...]
"""Items that a worker evaluates in order."""
Piece = bytes | memoryview


class Task(ABC):
    """A set of items, each a pure function of its key.

    An item is a small value that can be pickled and hashed, such as a `Cell`. Evaluating it gives
    an equal item that holds the results or a `failure`, and the `seconds` that it took (None if
    other items cannot be estimated by it).
    """

    unit: ClassVar[str] = "fits"
    """Noun for counted items."""
    threads: int = 1
    """Threads of the numerical libraries per item. It changes the last bits of results, so it is
    part of every key."""

    @property
    @abstractmethod
    def trusted(self) -> bool:
        """True if items cannot crash a process, so that this process may evaluate them."""

    @abstractmethod
    def evaluate(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the result of each item in order; raise no error."""

    @abstractmethod
    def lost(self, item: Any, failure: Failure) -> Any:
        """Return the result of an item whose worker hung, died or exceeded the timeout."""

    @abstractmethod
    def key(self, item: Any) -> str:
        """Return the digest of everything that the result of the item depends on."""

    @abstractmethod
    def find(self, store: Store, items: Mapping[str, Any]) -> dict[str, Any]:
        """Return the stored results of `items`; both are by key."""

    @abstractmethod
    def keep(self, store: Store, result: Any) -> None:
        """Write a result to a store, if it is worth storing."""

    @abstractmethod
    def label(self, item: Any) -> str:
        """Return a description of the item for the progress display."""

    def timed_as(self, item: Any) -> Hashable:  # noqa: ARG002
        """Return what the items have in common that take about the same time."""
        return None

    def isolated_as(self, item: Any) -> int | None:  # noqa: ARG002
        """Return the number of the items that may share a worker process with this item.

        None if the item leaves a worker as it was, so that any item may follow.
        """
        return None

    def prepare(self) -> None:  # noqa: B027
        """Create or load what is needed once in a process, before the first item."""

    def together(self, items: Iterable[Any]) -> Iterator[Block]:
        """Yield the items in groups that share work and should be evaluated together."""
        return ((item,) for item in items)

    def in_rounds(self, items: Sequence[Any]) -> Sequence[Any]:
        """Return the items in the order of a run with a deadline."""
        return items

    def ship(self) -> list[Piece]:
        """Pickle the task for other processes (see `pack`); may raise an `UnpicklableError`."""
        try:
            return pack(self)
        except (Exception, SystemExit):
            # user classes may raise anything when they are pickled
            raise UnpicklableError("the task") from None


# Divide the items between workers: half a second of work at a time, long items first


class Blocks:
    """Join the items of a task to blocks by the time that items of the same kind took.

    Items whose time is unknown are blocks of their own. A block contains only items that are
    `isolated_as` the same value.
    """

    def __init__(self, task: Task, items: Iterable[Any], times: Times) -> None:
        self.task, self.times, self.groups = task, times, task.together(items)
        self.started: set[Hashable] = set()
        """Kinds of which some worker has received an item."""

    def estimate(self, group: Block) -> float:
        """Return the seconds of a group; infinity if unknown."""
        seconds = self.times.estimate(self.task.timed_as(group[0]))
        return inf if seconds is None else ITEM_SECONDS + seconds

    def __iter__(self) -> Iterator[Block]:
        waiting: deque[Block] = deque()
        while True:
            # read ahead, to start the long ones first
            size = GROUPS_PER_WORKER * self.times.workers
            waiting.extend(islice(self.groups, max(0, size - len(waiting))))
            if not waiting:
                return
            if len(waiting) == size:
                yield self._next(waiting, BLOCK_SECONDS)
            else:
                yield from self._last(waiting)

    def _last(self, waiting: deque[Block]) -> Iterator[Block]:
        """Yield some of the last blocks: items that are long or unknown first, the others small."""
        workers = self.times.workers
        seconds = {group: self.estimate(group) for group in waiting}
        known = sum(each for each in seconds.values() if each < inf)
        limit = min(BLOCK_SECONDS, max(MIN_SECONDS, known / (2 * workers)))

        def turn(group: Block) -> tuple[bool, float, bool]:
            """Long groups first; among unknown ones, the first of each kind."""
            long = seconds[group] > limit
            return not long, -seconds[group] * long, self.task.timed_as(group[0]) in self.started

        ordered = sorted(waiting, key=turn)
        waiting.clear()
        waiting.extend(ordered)
        # estimates improve meanwhile, so look again after a part of them
        for _ in range(max(1, min(len(seconds) // 8, workers))):
            if waiting:
                yield self._next(waiting, limit)

    def _next(self, waiting: deque[Block], limit: float) -> Block:
        """Remove the next group, and those after it that together take at most `limit` seconds."""
        first = waiting.popleft()
        block, spent = list(first), self.estimate(first)
        others: list[Block] = []
        while waiting and spent <= limit:
            group = waiting.popleft()
            if self.task.isolated_as(group[0]) != self.task.isolated_as(first[0]):
                others.append(group)
            elif (spent := spent + self.estimate(group)) <= limit:
                block += group
            else:
                others.append(group)
        waiting.extendleft(reversed(others))
        self.started.update(map(self.task.timed_as, block))
        return tuple(block)


def one_line(text: str) -> str:
    """Return a text as one line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."


def describe_error(error: BaseException) -> str:
    """Return the class and message of an error on one line; of our own errors, the message."""
    try:
        text = one_line(str(error))
    except Exception:  # the `__str__` of an error may raise
        text = ""
    if isinstance(error, BestOfKError):
        return text
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."


def pack(task: object) -> list[Piece]:
    """Pickle a task; its pieces are to be joined for `load_task`, and some are its own arrays."""
    import cloudpickle

    buffers: list[pickle.PickleBuffer] = []
    body = cloudpickle.dumps(task, buffer_callback=buffers.append)
    parts = [memoryview(body), *(buffer.raw() for buffer in buffers)]
    index = pickle.dumps([(part.nbytes, part.readonly) for part in parts])
    start = len(index).to_bytes(_ALIGNMENT, "little")
    pieces: list[Piece] = []
    sections: list[Piece] = [start, index, *parts]
    for part in sections:
        pieces += [part, bytes(-len(part) % _ALIGNMENT)]
    return pieces


def load_task(packed: bytes | bytearray | mmap) -> Task:
    """Return the task that `pack` pickled; its arrays are views of `packed`, not copies."""
    import cloudpickle

    whole, offset = memoryview(packed), 0

    def part(size: int) -> memoryview:
        nonlocal offset
        begin, offset = offset, offset + size + -size % _ALIGNMENT
        return whole[begin : begin + size]

    index = part(int.from_bytes(part(_ALIGNMENT), "little"))
    body, *buffers = (
        part(size).toreadonly() if readonly else part(size)
        for size, readonly in pickle.loads(index)
    )
    task: Task = cloudpickle.loads(body, buffers=buffers)
    return task
