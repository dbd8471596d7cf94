"""Run blocks in worker processes that may hang, crash or be killed.

The parent sends a worker one block at a time and receives the results item by item. It therefore
knows the current item of a worker that died or exceeded the timeout. Another worker retries that
item. If it fails again, it is recorded as a failure. The rest of the block continues.
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
from math import inf
from multiprocessing.connection import Connection, wait
from typing import Any, Generic

from bestofk._base.errors import RunError
from bestofk.run.cells import Failure
from bestofk.run.engines.forked_workers import (
    START_SECONDS,
    ForkedProcess,
    StartedProcess,
    WorkerSource,
    can_fork,
    forks_safely,
)
from bestofk.run.engines.process_cleanup import is_stopped
from bestofk.run.engines.worker_process import BrokenBlock
from bestofk.run.task import Block, ItemEvaluator, ItemT, ResultT, Task, describe_error

MAX_ATTEMPTS = 2
"""Attempts for an item whose worker crashed."""
MAX_ATTEMPTS_IF_KILLED = 4
"""Attempts for an item whose worker may have been killed from outside."""
_OUTSIDE_SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
"""Signals that a process rarely sends itself."""
MAX_STOPPED_SHARE = 3
"""How often its limit an item may be stopped (as by SIGSTOP) before the time counts.

The bound matters if the learner itself stops its process.
"""
TICK_SECONDS = 0.25
"""Longest wait before the clocks of the items are read; a longer gap means a stopped process."""
QUICK_SHARE = 0.5
"""A fit is quick if it takes less than this share of the timeout."""


@dataclass(slots=True, eq=False)
class _Worker(Generic[ItemT]):
    process: StartedProcess | ForkedProcess
    pipe: Connection
    ready: bool
    block: Block[ItemT]
    """The unfinished items of its block, in order."""
    next_block: Block[ItemT] | None = None
    """The block to send next if the current item is quick."""
    since: float = 0.0
    """Start of the current item, on the clock of `time.monotonic`."""
    stopped: float = 0.0
    """Seconds of the current item that do not count because its worker was stopped."""

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
    pools: list[Any] | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks in `jobs` worker processes and yield results as they arrive.

    If part of the task cannot be pickled, the workers are forks of this process.

    - `task`: The task of the items.
    - `blocks`: Consumed lazily, one for each idle worker.
    - `jobs`: Number of workers.
    - `timeout`: Time limit of one item, in seconds. Its worker is killed after that.
    - `deadline`: End of the run, on the clock of `time.monotonic`. Unfinished items get no result.
    - `here`: Fork the workers from this process if the system can; they start immediately.
    - `cut`: Receives the items that the deadline cut off, with the seconds that each had taken.
    - `pools`: Holds the pool between two calls for the same task; the caller closes it.
    """
    pool = pools.pop() if pools else _new_pool(task, jobs, timeout, deadline, here=here)
    if pool is None:
        evaluator = task.evaluator()
        for block in blocks:
            yield from evaluator.evaluate_block(block)
        return
    finished = False
    try:
        yield from pool.run(iter(blocks))
        finished = True
    finally:
        if cut is not None:
            cut.update(pool.cut)
        if finished and pools is not None:
            pools.append(pool)
        else:
            pool.close()


def _new_pool(
    task: Task[ItemT, ResultT],
    jobs: int,
    timeout: float | None,
    deadline: float | None,
    *,
    here: bool,
) -> Pool[ItemT, ResultT] | None:
    """Return a pool for the task; None if this process must evaluate it."""
    packed, unpicklable = None, "the task"
    if not (here and forks_safely()):
        shipment = task.ship()
        packed = None if shipment.is_local is not None else shipment.packed
        unpicklable = shipment.unpicklable
    if packed is None and not can_fork():
        if timeout is not None or deadline is not None:
            raise RunError(
                f"{unpicklable} cannot be pickled, so this system cannot limit its time: define "
                "it in a module, or omit the timeout and the budget."
            )
        return None
    return Pool(task, packed, jobs=jobs, timeout=timeout, deadline=deadline)


def without_local_items(
    blocks: Iterable[Block[ItemT]], is_local: Callable[[ItemT], bool], local: deque[Block[ItemT]]
) -> Iterator[Block[ItemT]]:
    """Yield the blocks without local items, which are appended to `local`."""
    for block in blocks:
        remote_part, local_part = block.split(is_local)
        if local_part.items:
            local.append(local_part)
        if remote_part.items:
            yield remote_part


class Pool(Generic[ItemT, ResultT]):
    """Workers for the items of one task, which stay alive between two calls of `run`.

    If `packed` is None, the workers are forks of this process. Pools of one task can share the
    `source` of their workers, and end together.
    """

    def __init__(
        self,
        task: Task[ItemT, ResultT],
        packed: bytes | None,
        *,
        jobs: int,
        timeout: float | None,
        deadline: float | None = None,
        source: WorkerSource | None = None,
    ) -> None:
        self.task, self.jobs = task, jobs
        self.timeout, self.deadline = timeout, deadline
        self.workers: list[_Worker[ItemT]] = []
        self.retries: deque[Block[ItemT]] = deque()
        self.attempts: Counter[ItemT] = Counter()
        self.cut: dict[ItemT, float] = {}
        self.closed = False
        self.tick = time.monotonic()
        self._idle = threading.Event()
        self._idle.set()
        if source is not None:
            self.source = source
        elif packed is None:
            evaluator: ItemEvaluator[Any, Any] = task.evaluator()
            self.source = WorkerSource(evaluator=evaluator, threads=task.threads)
        else:
            self.source = WorkerSource(packed, threads=task.threads)

    def run(self, blocks: Iterator[Block[ItemT]]) -> Generator[ResultT, None, None]:
        """Evaluate blocks, consumed one for each idle worker."""
        self._idle.clear()
        try:
            yield from self._run(blocks)
        finally:
            self._idle.set()

    def _run(self, blocks: Iterator[Block[ItemT]]) -> Generator[ResultT, None, None]:
        exhausted = False
        while True:
            while not self._is_over() and (not exhausted or self.retries):
                idle = next((w for w in self.workers if not w.busy), None)
                if idle is None and len(self.workers) >= self.jobs:
                    break
                block = self.retries.popleft() if self.retries else next(blocks, None)
                if block is None:
                    exhausted = True
                    break
                if not block.items:
                    continue
                worker = idle or self._start()
                if worker is None:
                    self.retries.appendleft(block)
                    break
                self._assign(worker, block)
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
        """Return a new worker; None if the system cannot start another one."""
        left = START_SECONDS if self.deadline is None else self.deadline - time.monotonic()
        try:
            process, pipe, ready = self.source.worker(max(left, 0.0))
        except OSError as error:
            if not self.workers:
                reason = error.strerror or describe_error(error)
                raise RunError(f"No worker process could be started ({reason}).") from None
            self.jobs = len(self.workers)
            return None
        nothing: Block[ItemT] = Block(items=())
        worker = _Worker(process=process, pipe=pipe, ready=ready, block=nothing)
        self.workers.append(worker)
        return worker

    def _assign(self, worker: _Worker[ItemT], block: Block[ItemT]) -> None:
        if block.as_one and self.timeout is not None and len(block) > 1:
            # the timeout is that of one fit: evaluate one first to see how long fits take
            first, *rest = block.items
            worker.next_block = replace(block, items=tuple(rest))
            block = Block(items=(first,), apart=True)
        self._send(worker, block)

    def _send(self, worker: _Worker[ItemT], block: Block[ItemT]) -> None:
        worker.block = block
        worker.since, worker.stopped = time.monotonic(), 0.0
        with contextlib.suppress(OSError):
            # a worker that died while idle is noticed when it is waited for
            worker.pipe.send(block)

    def _collect(self, busy: list[_Worker[ItemT]]) -> Generator[ResultT, None, None]:
        watched: dict[Any, _Worker[ItemT]] = {}
        for worker in busy:
            watched[worker.pipe] = worker
            watched[worker.process.sentinel] = worker
        self._do_not_count_stops(busy)
        ready = wait(list(watched), timeout=self._seconds_to_wait(busy))
        seen: set[int] = set()
        for source in ready:
            worker = watched[source]
            if id(worker) in seen:
                continue
            seen.add(id(worker))
            yield from self._receive(worker)
        # this process may also have been stopped while its results were consumed
        self._do_not_count_stops(busy)
        now = time.monotonic()
        for worker in busy:
            if worker.busy and now - worker.since > self._limit(worker):
                # the consumer of the results may have been slow; the worker may be done by now
                yield from self._receive(worker)
                if not worker.busy or now - worker.since <= self._limit(worker):
                    continue
                yield from self._lost(worker, self._overdue(worker), max_attempts=1)

    def _do_not_count_stops(self, busy: list[_Worker[ItemT]]) -> None:
        """Move the clocks of the items over the time in which this process or theirs stopped."""
        now = time.monotonic()
        passed = now - self.tick
        if passed < TICK_SECONDS / 2:
            return
        self.tick = now
        for worker in busy:
            limit = self._limit(worker)
            if limit == inf:
                continue
            gap = passed - TICK_SECONDS if passed > 2 * TICK_SECONDS else 0.0
            if worker.stopped < MAX_STOPPED_SHARE * limit and is_stopped(worker.process.pid):
                worker.stopped += passed
                gap = passed
            worker.since = min(worker.since + gap, now)

    def _overdue(self, worker: _Worker[ItemT]) -> Failure:
        if not worker.ready or self.timeout is None:
            return Failure(kind="killed", reason="its worker did not start.")
        return Failure(
            kind="timeout",
            reason=f"took longer than {self.timeout:g} s and was stopped.",
            detail=repr(float(self.timeout)),
        )

    def _receive(self, worker: _Worker[ItemT]) -> Generator[ResultT, None, None]:
        """Yield the results that a worker has sent, and handle its death."""
        try:
            while worker.pipe.poll():
                message = _unpickled(worker.pipe.recv_bytes())
                worker.since, worker.stopped = time.monotonic(), 0.0
                if message is None:
                    worker.ready = True
                elif isinstance(message, _Unreadable):
                    yield from self._unreadable(worker, message)
                    return
                elif isinstance(message, BrokenBlock):
                    culprit, *rest = worker.block.items
                    self._put_back(worker, rest)
                    yield self.task.lost(culprit, Failure(kind="raised", reason=message.reason))
                else:
                    yield from self._results(worker, message)
        except (EOFError, OSError):
            worker.process.join(timeout=10)
            if worker.process.is_alive() and worker.busy:
                # a fit closed the pipe, and a thread keeps the process alive
                failure = Failure(kind="killed", reason="its process closed its connection.")
                yield from self._lost(worker, failure, max_attempts=MAX_ATTEMPTS)
                return
        if not worker.process.is_alive() and worker.busy:
            failure, max_attempts = _failure_of(worker.process.exitcode)
            yield from self._lost(worker, failure, max_attempts=max_attempts)

    def _results(
        self, worker: _Worker[ItemT], results: list[ResultT]
    ) -> Generator[ResultT, None, None]:
        for result in results:
            worker.block = replace(worker.block, items=worker.block.items[1:])
            if not worker.busy and worker.next_block is not None:
                rest, worker.next_block = worker.next_block, None
                seconds, limit = self.task.seconds(result), self.timeout
                quick = seconds is not None and limit is not None and seconds < QUICK_SHARE * limit
                if quick and not self.task.failed(result):
                    self._send(worker, rest)
                else:
                    self.retries.append(replace(rest, as_one=False, apart=True))
            yield result

    def _unreadable(
        self, worker: _Worker[ItemT], message: _Unreadable
    ) -> Generator[ResultT, None, None]:
        """Retry each item of the block alone, or record the failure of a single item."""
        items = worker.block.items
        if len(items) > 1 or worker.next_block is not None:
            self._end(worker)
            following = () if worker.next_block is None else worker.next_block.items
            self.retries.extend(Block(items=(item,), apart=True) for item in (*items, *following))
            return
        worker.block = Block(items=())
        yield self.task.lost(items[0], Failure(kind="raised", reason=message.reason))

    def _end(self, worker: _Worker[ItemT]) -> None:
        _kill(worker)
        self.workers.remove(worker)
        worker.process.close()

    def _lost(
        self, worker: _Worker[ItemT], failure: Failure, *, max_attempts: int
    ) -> Generator[ResultT, None, None]:
        """Retry the item that ended its worker, or record its failure."""
        self._end(worker)
        if worker.block.as_one:
            # evaluated one by one, the culprit will show
            self._put_back(worker, worker.block.items)
            return
        culprit, *rest = worker.block.items
        self._put_back(worker, rest)
        self.attempts[culprit] += 1
        if self.attempts[culprit] >= max_attempts:
            yield self.task.lost(culprit, failure)
        else:
            # first, in the new worker: an earlier fit may have damaged the old one
            self.retries.appendleft(Block(items=(culprit,), apart=True))

    def _put_back(self, worker: _Worker[ItemT], items: Iterable[ItemT]) -> None:
        """Queue the items that the worker has not evaluated, one by one."""
        following = () if worker.next_block is None else worker.next_block.items
        left = (*items, *following)
        worker.block, worker.next_block = Block(items=()), None
        if left:
            self.retries.append(Block(items=left, apart=True))

    def _limit(self, worker: _Worker[ItemT]) -> float:
        if not worker.ready:
            return START_SECONDS
        if self.timeout is None:
            return inf
        # for example, one evaluation computes all cells of a plan
        return self.timeout * (len(worker.block) if worker.block.as_one else 1)

    def _seconds_to_wait(self, busy: list[_Worker[ItemT]]) -> float | None:
        now = time.monotonic()
        left = min(self._limit(worker) - (now - worker.since) for worker in busy)
        if left < inf:
            left = min(left, TICK_SECONDS)
        if self.deadline is not None:
            left = min(left, self.deadline - now)
        return None if left == inf else max(left, 0.0) + 0.01

    def close(self) -> None:
        """End all workers and what they started, also if another thread waits for them."""
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
    """A message that could be pickled but not unpickled."""

    reason: str


def _unpickled(data: bytes) -> Any:
    try:
        return pickle.loads(data)
    except Exception as error:  # user classes may raise anything when they are unpickled
        reason = f"its result cannot be read in another process: {describe_error(error)}"
        return _Unreadable(reason)


def _kill(worker: _Worker[ItemT]) -> None:
    with contextlib.suppress(OSError, ValueError):
        worker.pipe.close()
    worker.process.kill()
    worker.process.join(timeout=10)


def _failure_of(code: int | None) -> tuple[Failure, int]:
    """Return the failure of an item whose worker exited with `code`, and its attempts."""
    if code is None:
        # it ended with its fork server
        return Failure(kind="killed", reason="its process ended."), MAX_ATTEMPTS_IF_KILLED
    if code >= 0:
        reason = f"its process ended with exit code {code}."
        return Failure(kind="killed", reason=reason), MAX_ATTEMPTS
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    failure = Failure(kind="killed", reason=f"its process was killed by {name}{hint}.")
    return failure, MAX_ATTEMPTS_IF_KILLED if name in _OUTSIDE_SIGNALS else MAX_ATTEMPTS
