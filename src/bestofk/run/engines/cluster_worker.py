"""What runs on a worker of a cluster: blocks of items, each in a process that may be lost.

A cluster's worker has threads, and work of other users next to ours. So items are evaluated in a
process of their own, one for every thread of the worker, by the same code as on one machine: a
learner that crashes or hangs is recorded the same way and takes no worker of the cluster with it.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable

from bestofk.run.engines.workers import Pool
from bestofk.run.task import Block, load_task

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
