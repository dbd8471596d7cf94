"""Worker processes that may hang, crash or be killed: every cell is still accounted for.

The parent gives a worker one block at a time and gets the results cell by cell, so it knows which
cell a worker was at when it died or went over time. That cell is tried once more in another
worker and then recorded as a failure; the rest of the block goes on.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from bestofk.run.cells import CellResult, Failure
from bestofk.run.engines.blocks import Block
from bestofk.run.engines.forked_workers import START_LIMIT, Nursery
from bestofk.run.engines.shipment import pack_experiment
from bestofk.run.experiment import Experiment, Place


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Connection
    ready: bool = False
    todo: deque[Place] = field(default_factory=deque)
    whole_plan: bool = False
    since: float = 0.0

    @property
    def busy(self) -> bool:
        return bool(self.todo)


def run_in_workers(
    experiment: Experiment,
    blocks: Iterable[Block],
    *,
    jobs: int,
    timeout: float | None = None,
    deadline: float | None = None,
) -> Generator[CellResult, None, None]:
    """Evaluate blocks in `jobs` worker processes; results come as they are ready.

    Parameters
    ----------
    experiment : Experiment
        What the cells are a function of.
    blocks : iterable of Block
        Taken lazily, one for every idle worker.
    jobs : int
        Number of workers.
    timeout : float, optional
        Seconds that one fit (with its prediction) may take; then its worker is killed.
    deadline : float, optional
        On the clock of `time.monotonic`: then all workers are stopped, and what they were at is
        left undone.
    """
    from bestofk.run.evaluation.evaluate import Evaluator

    packed, staying = pack_experiment(experiment)
    here, evaluator = deque[Place](), Evaluator(experiment)
    travelling = _sorted_out(blocks, staying, here)
    if packed is None or len(staying) == len(experiment.contenders):
        for _ in travelling:
            yield from evaluator.evaluate(_taken(here))
        return
    pool = Pool(experiment, packed, jobs=jobs, timeout=timeout, deadline=deadline)
    try:
        for result in pool.run(travelling):
            yield result
            yield from evaluator.evaluate(_taken(here))
    finally:
        pool.close()
    if deadline is None or time.monotonic() < deadline:
        yield from evaluator.evaluate(_taken(here))


def _sorted_out(
    blocks: Iterable[Block], staying: frozenset[int], here: deque[Place]
) -> Iterator[Block]:
    """The blocks without the learners that cannot travel, whose places are put `here`."""
    for block in blocks:
        here.extend(place for place in block.places if place.learner in staying)
        yield block.without(staying) if staying else block


def _taken(here: deque[Place]) -> list[Place]:
    places = list(here)
    here.clear()
    return places


class Pool:
    """Workers that stay between two calls of `run`, for the cells of one experiment.

    What they load lies in `folder`, by default that of the system for such files.
    """

    def __init__(
        self,
        experiment: Experiment,
        packed: bytes,
        *,
        jobs: int,
        timeout: float | None,
        deadline: float | None = None,
        folder: str | None = None,
    ) -> None:
        self.experiment, self.jobs = experiment, jobs
        self.timeout, self.deadline = timeout, deadline
        self.workers: list[_Worker] = []
        self.again: deque[Block] = deque()
        self.tried: set[Place] = set()
        # learners that lost a cell for good: their other cells are tried once
        self.deadly: set[tuple[int, int]] = set()
        self.folder = tempfile.TemporaryDirectory(
            prefix="bestofk-", dir=folder, ignore_cleanup_errors=True
        )
        self.payload = str(Path(self.folder.name) / "experiment.pickle")
        Path(self.payload).write_bytes(packed)
        self.nursery = Nursery(self.payload)

    def run(self, blocks: Iterator[Block]) -> Generator[CellResult, None, None]:
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
                if block.places:
                    self._give(idle or self._start(), block)
            busy = [worker for worker in self.workers if worker.busy]
            if not busy or (self.deadline is not None and time.monotonic() >= self.deadline):
                return
            yield from self._collect(busy)

    def _start(self) -> _Worker:
        left = START_LIMIT if self.deadline is None else self.deadline - time.monotonic()
        process, pipe, ready = self.nursery.worker(max(left, 0.0))
        worker = _Worker(process=process, pipe=pipe, ready=ready)
        self.workers.append(worker)
        return worker

    def _give(self, worker: _Worker, block: Block) -> None:
        worker.todo = deque(block.places)
        worker.whole_plan = block.whole_plan
        worker.since = time.monotonic()
        with contextlib.suppress(OSError):
            # a worker that died while it was idle is noticed when it is waited for
            worker.pipe.send(block.places)

    def _collect(self, busy: list[_Worker]) -> Generator[CellResult, None, None]:
        watched: dict[Any, _Worker] = {}
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

    def _receive(self, worker: _Worker) -> Generator[CellResult, None, None]:
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
        self, worker: _Worker, failure: Failure, *, final: bool
    ) -> Generator[CellResult, None, None]:
        """The worker is gone at its first unanswered cell: try that once more, or record it."""
        _kill(worker)
        self.workers.remove(worker)
        worker.process.close()
        culprit, *rest = worker.todo
        worker.todo.clear()
        learner = (culprit.dataset, culprit.learner)
        if final or culprit in self.tried or learner in self.deadly:
            self.deadly.add(learner)
            yield CellResult(key=self.experiment.key(culprit), loss=None, failure=failure)
        else:
            self.tried.add(culprit)
            self.again.append(Block(places=(culprit,), whole_plan=worker.whole_plan))
        if rest:
            self.again.append(Block(places=tuple(rest), whole_plan=worker.whole_plan))

    def _limit(self, worker: _Worker) -> float:
        if not worker.ready:
            return START_LIMIT
        if self.timeout is None:
            return float("inf")
        # a whole plan is one piece of work for all its cells
        return self.timeout * (len(worker.todo) if worker.whole_plan else 1)

    def _patience(self, busy: list[_Worker]) -> float | None:
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
        self.nursery.close()
        self.folder.cleanup()


def _kill(worker: _Worker) -> None:
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
