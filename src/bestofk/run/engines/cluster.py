"""Items on a cluster of Dask or Ray: the same results to the bit, whatever happens to workers.

Blocks are sent as futures of the cluster's own client. Dask and Ray send the block of a worker
that died to another one by themselves; a block that they give up is evaluated here, in worker
processes that record what goes wrong. (Inside `joblib.Parallel` one lost block would end them
all.)
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Generic
from uuid import uuid4

from bestofk._base.checks import one_of
from bestofk.run.engines.forked_workers import START_LIMIT
from bestofk.run.engines.workers import Pool, leaving, run_in_workers
from bestofk.run.task import Block, ItemT, ResultT, Task, load_task

BACKENDS = ("dask", "ray")
AHEAD = 2
"""Blocks in flight for every thread of the cluster, so that no worker waits for the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned(Generic[ResultT]):
    """A block that came back: with results, or lost with its workers (None)."""

    ticket: Hashable
    results: list[ResultT] | None


class Cluster(ABC, Generic[ItemT, ResultT]):
    """What `run_on_cluster` needs of a cluster."""

    threads: int
    """Blocks that it can evaluate at the same time."""

    @abstractmethod
    def send(self, block: Block[ItemT]) -> Hashable:
        """Send a block; its ticket."""

    @abstractmethod
    def returned(self, seconds: float | None) -> list[Returned[ResultT]]:
        """Blocks that came back, at least one unless `seconds` passed first."""

    @abstractmethod
    def close(self) -> None:
        """Drop what is in flight, and let go of the cluster."""


def run_on_cluster(
    task: Task[ItemT, ResultT],
    blocks: Iterable[Block[ItemT]],
    *,
    backend: str,
    jobs: int = -1,
    scheduler: str | None = None,
    timeout: float | None = None,
    deadline: float | None = None,
    cut: dict[ItemT, float] | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks on a cluster; results come block by block, as they are ready.

    Parameters
    ----------
    task : Task
        What the items are a function of; it is sent once to every worker.
    blocks : iterable of Block
        Taken lazily, as the cluster has room for them.
    backend : {"dask", "ray"}
        The kind of cluster.
    jobs : int
        Blocks at the same time; -1: as many as the cluster has threads. Workers of a local
        cluster when there is no scheduler.
    scheduler : str, optional
        Address of the cluster; a local one is started without.
    timeout : float, optional
        Seconds that one item may take.
    deadline : float, optional
        On the clock of `time.monotonic`: what is not done by then is left undone.
    cut : dict, optional
        Gets the items that the deadline cut, and the seconds since they were sent.

    Raises
    ------
    MissingExtraError
        The package of the cluster is not installed.
    RunError
        The cluster does not answer, has no workers, or cannot run bestofk.
    """
    one_of(backend, "backend", BACKENDS)
    shipment = task.ship()
    if shipment.packed is None or (shipment.stays is not None and deadline is not None):
        # what cannot travel is evaluated last, for which there may be no time
        yield from _here(task, blocks, jobs, timeout, deadline, cut)
        return
    home: deque[Block[ItemT]] = deque()
    source = iter(blocks)
    travelling = source if shipment.stays is None else leaving(source, shipment.stays, home)
    cluster: Cluster[ItemT, ResultT] = _connect(
        backend, shipment.packed, jobs=jobs, scheduler=scheduler, timeout=timeout
    )
    flying: dict[Hashable, Block[ItemT]] = {}
    sent: dict[Hashable, float] = {}
    try:
        heard = time.monotonic()
        while True:
            while len(flying) < AHEAD * cluster.threads:
                block = next(travelling, None)
                if block is None:
                    break
                ticket = cluster.send(block)
                flying[ticket], sent[ticket] = block, time.monotonic()
            if not flying:
                break
            patience = _patience(flying, timeout, heard, deadline)
            if patience is not None and patience <= 0:
                if deadline is None or time.monotonic() < deadline:
                    # workers that say nothing: what they have is evaluated here
                    home.extend(flying.values())
                elif cut is not None:
                    now = time.monotonic()
                    cut.update({flying[at].items[0]: now - sent[at] for at in flying})
                break
            for back in cluster.returned(patience):
                heard = time.monotonic()
                block = flying.pop(back.ticket)
                if back.results is None:
                    home.append(block)
                else:
                    yield from back.results
    finally:
        cluster.close()
    yield from _here(task, chain(home, source), jobs, timeout, deadline, cut)


def one_line(failed: BaseException) -> str:
    """The kind of an error and what it says, on one line."""
    text = " ".join(str(failed).split())
    return f"{type(failed).__name__}: {text[:160]}" if text else type(failed).__name__


def _here(
    task: Task[ItemT, ResultT],
    blocks: Iterable[Block[ItemT]],
    jobs: int,
    timeout: float | None,
    deadline: float | None,
    cut: dict[ItemT, float] | None,
) -> Iterator[ResultT]:
    from bestofk.run.engines.engine import Engine

    workers = Engine(name="processes", jobs=jobs).workers
    return run_in_workers(task, blocks, jobs=workers, timeout=timeout, deadline=deadline, cut=cut)


def _patience(
    flying: dict[Hashable, Block[ItemT]],
    timeout: float | None,
    heard: float,
    deadline: float | None,
) -> float | None:
    """Seconds until the deadline, or until a cluster that says nothing is given up."""
    ends = [] if deadline is None else [deadline]
    if timeout is not None:
        longest = max(len(block) for block in flying.values())
        # the workers stop fits that go over time; each may have several blocks to do
        ends.append(heard + START_LIMIT + (AHEAD + 1) * longest * timeout)
    return min(ends) - time.monotonic() if ends else None


def _connect(
    backend: str,
    packed: bytes,
    *,
    jobs: int,
    scheduler: str | None,
    timeout: float | None,
) -> Cluster[ItemT, ResultT]:
    token = uuid4().hex
    if backend == "dask":
        from bestofk.run.engines.cluster_dask import DaskCluster

        return DaskCluster(packed, token, jobs=jobs, scheduler=scheduler, timeout=timeout)
    from bestofk.run.engines.cluster_ray import RayCluster

    return RayCluster(packed, token, jobs=jobs, scheduler=scheduler, timeout=timeout)


# What runs on a worker of a cluster: blocks of items, each in a process that may be lost.


_POOLS: dict[tuple[str, int], Pool[Hashable, object]] = {}
_OVER: set[str] = set()
"""Tasks that were forgotten: nobody waits for blocks that come late."""
_LOCK = threading.Lock()


def work(
    token: str,
    packed: bytes,
    block: Block[Hashable],
    timeout: float | None,
) -> list[object]:
    """The results of a block of the task that `token` names and `packed` holds."""
    if token in _OVER:
        return []
    return list(_pool(token, packed, timeout).run(iter([block])))


def forget(token: str) -> None:
    """End the processes of a task."""
    with _LOCK:
        _OVER.add(token)
        over = [_POOLS.pop(at) for at in list(_POOLS) if at[0] == token]
    for pool in over:
        pool.close()


def _pool(token: str, packed: bytes, timeout: float | None) -> Pool[Hashable, object]:
    at = (token, threading.get_ident())
    with _LOCK:
        found = _POOLS.get(at)
    if found is None:
        found = Pool(load_task(packed), packed, jobs=1, timeout=timeout, mark=token)
        with _LOCK:
            _POOLS[at] = found
    return found
