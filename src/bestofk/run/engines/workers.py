"""Worker processes that may hang, crash or be killed: every item is still accounted for.

The parent gives a worker one block at a time and gets the results item by item, so it knows which
item a worker was at when it died or went over time. That item is tried once more in another
worker and then recorded as a failure; the rest of the block goes on.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic

from bestofk.run.cells import Failure
from bestofk.run.engines.forked_workers import START_LIMIT, Forked, Started, WorkerSource
from bestofk.run.task import Block, ItemT, ResultT, Task


@dataclass(slots=True, eq=False)
class _Worker(Generic[ItemT]):
    process: Started | Forked
    pipe: Connection
    ready: bool = False
    todo: deque[ItemT] = field(default_factory=deque)
    as_one: bool = False
    since: float = 0.0

    @property
    def busy(self) -> bool:
        return bool(self.todo)


def run_in_workers(
    task: Task[ItemT, ResultT],
    blocks: Iterable[Block[ItemT]],
    *,
    jobs: int,
    timeout: float | None = None,
    deadline: float | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks in `jobs` worker processes; results come as they are ready.

    Parameters
    ----------
    task : Task
        What the items are a function of.
    blocks : iterable of Block
        Taken lazily, one for every idle worker.
    jobs : int
        Number of workers.
    timeout : float, optional
        Seconds that one item may take; then its worker is killed.
    deadline : float, optional
        On the clock of `time.monotonic`: then all workers are stopped, and what they were at is
        left undone.
    """
    shipment, evaluator = task.ship(), task.evaluator()
    if shipment.packed is None:
        for block in blocks:
            yield from evaluator.evaluate(block.items)
        return
    home: deque[Block[ItemT]] = deque()
    travelling = iter(blocks) if shipment.stays is None else leaving(blocks, shipment.stays, home)
    pool = Pool(task, shipment.packed, jobs=jobs, timeout=timeout, deadline=deadline)
    try:
        for result in pool.run(travelling):
            yield result
            while home:
                yield from evaluator.evaluate(home.popleft().items)
    finally:
        pool.close()
    while home and (deadline is None or time.monotonic() < deadline):
        yield from evaluator.evaluate(home.popleft().items)


def leaving(
    blocks: Iterable[Block[ItemT]], stays: Callable[[ItemT], bool], home: deque[Block[ItemT]]
) -> Iterator[Block[ItemT]]:
    """The blocks without the items that cannot travel, which are put into `home`."""
    for block in blocks:
        travelling, staying = block.parted(stays)
        if staying.items:
            home.append(staying)
        if travelling.items:
            yield travelling


class Pool(Generic[ItemT, ResultT]):
    """Workers that stay between two calls of `run`, for the items of one task.

    What they load lies in `folder`, by default that of the system for such files.
    """

    def __init__(
        self,
        task: Task[ItemT, ResultT],
        packed: bytes,
        *,
        jobs: int,
        timeout: float | None,
        deadline: float | None = None,
        folder: str | None = None,
    ) -> None:
        self.task, self.jobs = task, jobs
        self.timeout, self.deadline = timeout, deadline
        self.workers: list[_Worker[ItemT]] = []
        self.again: deque[Block[ItemT]] = deque()
        self.tried: set[ItemT] = set()
        # learners that lost an item for good, say: their other items are tried once
        self.deadly: set[Hashable] = set()
        self.folder = tempfile.TemporaryDirectory(
            prefix="bestofk-", dir=folder, ignore_cleanup_errors=True
        )
        self.payload = str(Path(self.folder.name) / "task.pickle")
        Path(self.payload).write_bytes(packed)
        self.source = WorkerSource(self.payload, task.threads)

    def run(self, blocks: Iterator[Block[ItemT]]) -> Generator[ResultT, None, None]:
        """Evaluate blocks, which are taken one for every idle worker."""
        exhausted = False
        while True:
            while not exhausted or self.again:
                idle = next((w for w in self.workers if not w.busy), None)
                if idle is None and len(self.workers) >= self.jobs:
                    break
                block = self.again.popleft() if self.again else next(blocks, None)
                if block is None:
                    exhausted = True
                    break
                if block.items:
                    self._give(idle or self._start(), block)
            busy = [worker for worker in self.workers if worker.busy]
            if not busy or (self.deadline is not None and time.monotonic() >= self.deadline):
                return
            yield from self._collect(busy)

    def _start(self) -> _Worker[ItemT]:
        left = START_LIMIT if self.deadline is None else self.deadline - time.monotonic()
        process, pipe, ready = self.source.worker(max(left, 0.0))
        worker: _Worker[ItemT] = _Worker(process=process, pipe=pipe, ready=ready)
        self.workers.append(worker)
        return worker

    def _give(self, worker: _Worker[ItemT], block: Block[ItemT]) -> None:
        worker.todo = deque(block.items)
        worker.as_one = block.as_one
        worker.since = time.monotonic()
        with contextlib.suppress(OSError):
            # a worker that died while it was idle is noticed when it is waited for
            worker.pipe.send(block.items)

    def _collect(self, busy: list[_Worker[ItemT]]) -> Generator[ResultT, None, None]:
        watched: dict[Any, _Worker[ItemT]] = {}
        for worker in busy:
            watched[worker.pipe] = worker
            watched[worker.process.sentinel] = worker
        ready = wait(list(watched), timeout=self._patience(busy))
        seen: set[int] = set()
        for thing in ready:
            worker = watched[thing]
            if id(worker) in seen:
                continue
            seen.add(id(worker))
            yield from self._receive(worker)
        now = time.monotonic()
        for worker in busy:
            if worker.busy and now - worker.since > self._limit(worker):
                # who takes the results may have been slow; this one may be done since
                yield from self._receive(worker)
                if not worker.busy or now - worker.since <= self._limit(worker):
                    continue
                reason = (
                    f"took longer than {self.timeout:g} s and was stopped."
                    if worker.ready
                    else "its worker did not start."
                )
                yield from self._lost(worker, Failure(kind="timeout", reason=reason), final=True)

    def _receive(self, worker: _Worker[ItemT]) -> Generator[ResultT, None, None]:
        """Everything that a worker has sent, and its death if that is what happened."""
        try:
            while worker.pipe.poll():
                message = worker.pipe.recv()
                worker.since = time.monotonic()
                if message is None:
                    worker.ready = True
                    continue
                for result in message:
                    worker.todo.popleft()
                    yield result
        except (EOFError, OSError):
            worker.process.join(timeout=10)
        if not worker.process.is_alive() and worker.busy:
            yield from self._lost(worker, _death(worker.process.exitcode), final=False)

    def _lost(
        self, worker: _Worker[ItemT], failure: Failure, *, final: bool
    ) -> Generator[ResultT, None, None]:
        """The worker is gone at its first unanswered item: try that once more, or record it."""
        _kill(worker)
        self.workers.remove(worker)
        worker.process.close()
        culprit, *rest = worker.todo
        worker.todo.clear()
        suspect = self.task.suspect(culprit)
        if final or culprit in self.tried or suspect in self.deadly:
            self.deadly.add(suspect)
            yield self.task.lost(culprit, failure)
        else:
            self.tried.add(culprit)
            self.again.append(Block(items=(culprit,), as_one=worker.as_one))
        if rest:
            self.again.append(Block(items=tuple(rest), as_one=worker.as_one))

    def _limit(self, worker: _Worker[ItemT]) -> float:
        if not worker.ready:
            return START_LIMIT
        if self.timeout is None:
            return float("inf")
        # a whole plan, say, is one piece of work for all its cells
        return self.timeout * (len(worker.todo) if worker.as_one else 1)

    def _patience(self, busy: list[_Worker[ItemT]]) -> float | None:
        now = time.monotonic()
        left = min(self._limit(worker) - (now - worker.since) for worker in busy)
        if self.deadline is not None:
            left = min(left, self.deadline - now)
        return None if left == float("inf") else max(left, 0.0) + 0.01

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            _kill(worker)
            worker.process.close()
        self.workers.clear()
        self.source.close()
        self.folder.cleanup()


def _kill(worker: _Worker[ItemT]) -> None:
    with contextlib.suppress(OSError, ValueError):
        worker.pipe.close()
    worker.process.kill()
    worker.process.join(timeout=10)


def _death(code: int | None) -> Failure:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        often = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
        return Failure(kind="killed", reason=f"its process was killed by {name}{often}.")
    how = "" if code is None else f" with exit code {code}"
    return Failure(kind="killed", reason=f"its process ended{how}.")
