"""Worker processes that may hang, crash or be killed: every item is still accounted for.

The parent gives a worker one block at a time and gets the results item by item, so it knows which
item a worker was at when it died or went over time. An item at which a worker died is tried again
in another worker and then recorded as a failure; the rest of the block goes on.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any, Generic

from bestofk._base.errors import RunError
from bestofk.run.cells import Failure
from bestofk.run.engines.forked_workers import (
    START_LIMIT,
    Forked,
    Started,
    WorkerSource,
    can_fork,
)
from bestofk.run.engines.process_family import is_stopped
from bestofk.run.engines.worker_process import Broken
from bestofk.run.task import Block, ItemEvaluator, ItemT, ResultT, Task, said

TRIES = 2
"""Times that an item is tried at which a worker died by itself."""
TRIES_IF_KILLED = 4
"""Times that it is tried if somebody else may have killed the worker."""
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
"""Signals that a process seldom sends itself."""
CLEARLY = 0.5
"""A fit that takes less than this share of the limit is clearly within it."""


@dataclass(slots=True, eq=False)
class _Worker(Generic[ItemT]):
    process: Started | Forked
    pipe: Connection
    ready: bool
    block: Block[ItemT]
    """What is left of the block that it has, in its order."""
    then: Block[ItemT] | None = None
    """What it gets next if its item is done quickly."""
    since: float = 0.0

    @property
    def busy(self) -> bool:
        return bool(self.block.items)


def run_in_workers(
    task: Task[ItemT, ResultT],
    blocks: Iterable[Block[ItemT]],
    *,
    jobs: int,
    timeout: float | None = None,
    deadline: float | None = None,
    here: bool = False,
    cut: dict[ItemT, float] | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks in `jobs` worker processes; results come as they are ready.

    A task of which something cannot be pickled is evaluated in forks of this process.

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
    here : bool
        Workers are forks of this process where that is possible: they start in no time.
    cut : dict, optional
        Gets the items that the deadline cut, and the seconds that each had taken.
    """
    packed, staying = None, "the task"
    if not (here and can_fork()):
        shipment = task.ship()
        packed = None if shipment.stays is not None else shipment.packed
        staying = shipment.staying
    if packed is None and not can_fork():
        if timeout is not None or deadline is not None:
            raise RunError(
                f"{staying} cannot be pickled, and this system has no other way to watch "
                "over its time: define it in a module, or leave out the timeout and the budget."
            )
        evaluator = task.evaluator()
        for block in blocks:
            yield from evaluator.evaluate_block(block)
        return
    pool = Pool(task, packed, jobs=jobs, timeout=timeout, deadline=deadline)
    try:
        yield from pool.run(iter(blocks))
    finally:
        if cut is not None:
            cut.update(pool.cut)
        pool.close()


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

    A task that is not `packed` is evaluated in forks of this process. The marks of the processes
    (see `process_family.end_marked`) begin with `mark`.
    """

    def __init__(
        self,
        task: Task[ItemT, ResultT],
        packed: bytes | None,
        *,
        jobs: int,
        timeout: float | None,
        deadline: float | None = None,
        mark: str = "",
    ) -> None:
        self.task, self.jobs = task, jobs
        self.timeout, self.deadline = timeout, deadline
        self.workers: list[_Worker[ItemT]] = []
        self.again: deque[Block[ItemT]] = deque()
        self.tried: Counter[ItemT] = Counter()
        self.cut: dict[ItemT, float] = {}
        self.closed = False
        self._idle = threading.Event()
        self._idle.set()
        if packed is None:
            # it need not know which items it evaluates
            loaded: ItemEvaluator[Any, Any] = task.evaluator()
            self.source = WorkerSource(evaluator=loaded, threads=task.threads, mark=mark)
        else:
            self.source = WorkerSource(packed, threads=task.threads, mark=mark)

    def run(self, blocks: Iterator[Block[ItemT]]) -> Generator[ResultT, None, None]:
        """Evaluate blocks, which are taken one for every idle worker."""
        self._idle.clear()
        try:
            yield from self._run(blocks)
        finally:
            self._idle.set()

    def _run(self, blocks: Iterator[Block[ItemT]]) -> Generator[ResultT, None, None]:
        exhausted = False
        while True:
            while not self._is_over() and (not exhausted or self.again):
                idle = next((w for w in self.workers if not w.busy), None)
                if idle is None and len(self.workers) >= self.jobs:
                    break
                block = self.again.popleft() if self.again else next(blocks, None)
                if block is None:
                    exhausted = True
                    break
                if not block.items:
                    continue
                worker = idle or self._start()
                if worker is None:
                    self.again.appendleft(block)
                    break
                self._give(worker, block)
            busy = [worker for worker in self.workers if worker.busy]
            if self._is_over():
                now = time.monotonic()
                self.cut = {worker.block.items[0]: now - worker.since for worker in busy}
                return
            if not busy:
                return
            yield from self._collect(busy)

    def _is_over(self) -> bool:
        late = self.deadline is not None and time.monotonic() >= self.deadline
        return late or self.closed

    def _start(self) -> _Worker[ItemT] | None:
        """A new worker; None if the system has no room for another one."""
        left = START_LIMIT if self.deadline is None else self.deadline - time.monotonic()
        try:
            process, pipe, ready = self.source.worker(max(left, 0.0))
        except OSError as failed:
            if not self.workers:
                reason = failed.strerror or said(failed)
                raise RunError(f"No worker process could be started ({reason}).") from None
            self.jobs = len(self.workers)
            return None
        nothing: Block[ItemT] = Block(items=())
        worker = _Worker(process=process, pipe=pipe, ready=ready, block=nothing)
        self.workers.append(worker)
        return worker

    def _give(self, worker: _Worker[ItemT], block: Block[ItemT]) -> None:
        if block.as_one and self.timeout is not None and len(block) > 1:
            # the limit is that of one fit: one is made first, to see how long they take
            first, *rest = block.items
            worker.then = replace(block, items=tuple(rest))
            block = Block(items=(first,), apart=True)
        self._send(worker, block)

    def _send(self, worker: _Worker[ItemT], block: Block[ItemT]) -> None:
        worker.block = block
        worker.since = time.monotonic()
        with contextlib.suppress(OSError):
            # a worker that died while it was idle is noticed when it is waited for
            worker.pipe.send(block)

    def _collect(self, busy: list[_Worker[ItemT]]) -> Generator[ResultT, None, None]:
        watched: dict[Any, _Worker[ItemT]] = {}
        for worker in busy:
            watched[worker.pipe] = worker
            watched[worker.process.sentinel] = worker
        patience, begin = self._patience(busy), time.monotonic()
        ready = wait(list(watched), timeout=patience)
        if patience is not None:
            # this process was stopped meanwhile, and they perhaps with it
            stopped = time.monotonic() - begin - patience
            for worker in busy:
                worker.since += stopped if stopped > 1.0 else 0.0
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
                if is_stopped(worker.process.pid):
                    worker.since = now
                    continue
                yield from self._lost(worker, self._too_long(worker), tries=1)

    def _too_long(self, worker: _Worker[ItemT]) -> Failure:
        if not worker.ready or self.timeout is None:
            return Failure(kind="killed", reason="its worker did not start.")
        return Failure(
            kind="timeout",
            reason=f"took longer than {self.timeout:g} s and was stopped.",
            detail=repr(float(self.timeout)),
        )

    def _receive(self, worker: _Worker[ItemT]) -> Generator[ResultT, None, None]:
        """Everything that a worker has sent, and its death if that is what happened."""
        try:
            while worker.pipe.poll():
                message = _loaded(worker.pipe.recv_bytes())
                worker.since = time.monotonic()
                if message is None:
                    worker.ready = True
                elif isinstance(message, _Unreadable):
                    yield from self._unreadable(worker, message)
                    return
                elif isinstance(message, Broken):
                    culprit, *rest = worker.block.items
                    self._put_back(worker, rest)
                    yield self.task.lost(culprit, Failure(kind="raised", reason=message.reason))
                else:
                    yield from self._results(worker, message)
        except (EOFError, OSError):
            worker.process.join(timeout=10)
        if not worker.process.is_alive() and worker.busy:
            failure, tries = _death(worker.process.exitcode)
            yield from self._lost(worker, failure, tries=tries)

    def _results(
        self, worker: _Worker[ItemT], results: list[ResultT]
    ) -> Generator[ResultT, None, None]:
        for result in results:
            worker.block = replace(worker.block, items=worker.block.items[1:])
            if not worker.busy and worker.then is not None:
                rest, worker.then = worker.then, None
                seconds, limit = self.task.seconds(result), self.timeout
                quick = seconds is not None and limit is not None and seconds < CLEARLY * limit
                if quick and not self.task.failed(result):
                    self._send(worker, rest)
                else:
                    self.again.append(replace(rest, as_one=False, apart=True))
            yield result

    def _unreadable(
        self, worker: _Worker[ItemT], message: _Unreadable
    ) -> Generator[ResultT, None, None]:
        """Nobody knows whose results those were: each item comes alone, or this one has failed."""
        items = worker.block.items
        if len(items) > 1 or worker.then is not None:
            self._end(worker)
            then = () if worker.then is None else worker.then.items
            self.again.extend(Block(items=(item,), apart=True) for item in (*items, *then))
            return
        worker.block = Block(items=())
        yield self.task.lost(items[0], Failure(kind="raised", reason=message.reason))

    def _end(self, worker: _Worker[ItemT]) -> None:
        _kill(worker)
        self.workers.remove(worker)
        worker.process.close()

    def _lost(
        self, worker: _Worker[ItemT], failure: Failure, *, tries: int
    ) -> Generator[ResultT, None, None]:
        """The worker is gone at its first unanswered item: try that again, or record it."""
        self._end(worker)
        if worker.block.as_one:
            # one by one it will be seen which of them it was
            self._put_back(worker, worker.block.items)
            return
        culprit, *rest = worker.block.items
        self._put_back(worker, rest)
        self.tried[culprit] += 1
        if self.tried[culprit] >= tries:
            yield self.task.lost(culprit, failure)
        else:
            self.again.append(Block(items=(culprit,), apart=True))

    def _put_back(self, worker: _Worker[ItemT], items: Iterable[ItemT]) -> None:
        """Items that the worker has not evaluated, which another one does one by one."""
        then = () if worker.then is None else worker.then.items
        left = (*items, *then)
        worker.block, worker.then = Block(items=()), None
        if left:
            self.again.append(Block(items=left, apart=True))

    def _limit(self, worker: _Worker[ItemT]) -> float:
        if not worker.ready:
            return START_LIMIT
        if self.timeout is None:
            return float("inf")
        # a whole plan, say, is one piece of work for all its cells
        return self.timeout * (len(worker.block) if worker.block.as_one else 1)

    def _patience(self, busy: list[_Worker[ItemT]]) -> float | None:
        now = time.monotonic()
        left = min(self._limit(worker) - (now - worker.since) for worker in busy)
        if self.deadline is not None:
            left = min(left, self.deadline - now)
        return None if left == float("inf") else max(left, 0.0) + 0.01

    def close(self) -> None:
        """End all workers, and what they started; also if another thread is waiting for them."""
        self.closed = True
        for worker in list(self.workers):
            worker.process.kill()
        self._idle.wait(timeout=10)
        for worker in self.workers:
            _kill(worker)
            worker.process.close()
        self.workers.clear()
        self.source.close()


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A message that could be sent, but not received."""

    reason: str


def _loaded(data: bytes) -> Any:
    """A message of a worker."""
    try:
        return pickle.loads(data)
    except Exception as raised:  # any class may raise anything while it is loaded
        return _Unreadable(f"its result cannot be read in another process: {said(raised)}")


def _kill(worker: _Worker[ItemT]) -> None:
    with contextlib.suppress(OSError, ValueError):
        worker.pipe.close()
    worker.process.kill()
    worker.process.join(timeout=10)


def _death(code: int | None) -> tuple[Failure, int]:
    """Why an item has no result if its worker ended so, and how often to try it."""
    if code is None:
        # with the process that it was forked from
        return Failure(kind="killed", reason="its process ended."), TRIES_IF_KILLED
    if code >= 0:
        return Failure(kind="killed", reason=f"its process ended with exit code {code}."), TRIES
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    often = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
    failure = Failure(kind="killed", reason=f"its process was killed by {name}{often}.")
    return failure, TRIES_IF_KILLED if name in _FROM_OUTSIDE else TRIES
