"""What runs on a worker of a cluster: blocks of cells, each in a process that may be lost.

A cluster's worker has threads, and work of other users beside ours. So cells are evaluated in a
process of their own, one for every thread of the worker, by the same code as on one machine: a
learner that crashes or hangs is recorded the same way and takes no worker of the cluster with it.
"""

from __future__ import annotations

import threading

from bestofk.run.cells import CellResult
from bestofk.run.engines.blocks import Block
from bestofk.run.engines.shipment import unpack_experiment
from bestofk.run.engines.workers import Pool

_POOLS: dict[tuple[str, int], Pool] = {}
_LOCK = threading.Lock()


def work(
    token: str, packed: bytes, block: Block, timeout: float | None, folder: str | None = None
) -> list[CellResult]:
    """The results of a block of the experiment that `token` names and `packed` holds.

    Files go to `folder`, if somebody removes that behind workers that are killed.
    """
    return list(_pool(token, packed, timeout, folder).run(iter([block])))


def forget(token: str) -> None:
    """End the processes of an experiment."""
    with _LOCK:
        over = [_POOLS.pop(at) for at in list(_POOLS) if at[0] == token]
    for pool in over:
        pool.close()


def _pool(token: str, packed: bytes, timeout: float | None, folder: str | None) -> Pool:
    at = (token, threading.get_ident())
    with _LOCK:
        found = _POOLS.get(at)
    if found is None:
        experiment = unpack_experiment(packed)
        found = Pool(experiment, packed, jobs=1, timeout=timeout, folder=folder)
        with _LOCK:
            _POOLS[at] = found
    return found
