"""Work that several processes share: blocks are claimed before they are evaluated.

What another process has claimed is left to it. Its results are taken from the store as they
appear; what it gives up or leaves behind when it dies is taken over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Generic

from bestofk.run.task import BLOCK_SECONDS, Block, ItemT, ResultT, Task

if TYPE_CHECKING:
    from bestofk.run.store.claims import Claims
    from bestofk.run.store.store import Store

MOST_AT_ONCE = 200
"""Blocks that are claimed at once at the most."""
LOOK_EVERY = 2.0
"""Seconds between two looks at what others have done, while there is work."""
PAUSE = 0.25
"""The same when there is none."""


def _next(at_once: int, seconds: float) -> int:
    """How many blocks to claim after so many took so long."""
    if seconds < BLOCK_SECONDS / 2:
        return min(2 * at_once, MOST_AT_ONCE)
    return max(1, at_once // 2) if seconds > BLOCK_SECONDS else at_once


class SharedWork(Generic[ItemT, ResultT]):
    """What this process has claimed of the work, and what others have.

    Parameters
    ----------
    task : Task
        What the items are a function of.
    store : Store
        Where results come to.
    claims : Claims
        Those of this process.
    keys : mapping of item to str
        All that is to be done, with its digests.
    settle : callable
        ``settle(key, result)`` takes what another process has done.
    is_stale : callable
        ``is_stale(key, result)`` is true of a result that the store held before and that is to be
        made anew.
    """

    def __init__(
        self,
        task: Task[ItemT, ResultT],
        store: Store,
        claims: Claims,
        keys: Mapping[ItemT, str],
        settle: Callable[[str, ResultT], None],
        is_stale: Callable[[str, ResultT], bool],
    ) -> None:
        self.task, self.store, self.claims = task, store, claims
        self.keys, self.settle, self.is_stale = keys, settle, is_stale
        self.elsewhere: dict[str, ItemT] = {}
        """What others have claimed, by its digest."""
        self._looked = time.monotonic()

    def claimed(self, blocks: Iterator[Block[ItemT]], *, hurried: bool) -> Iterator[Block[ItemT]]:
        """Of the blocks what is free, claimed; about half a second of work at a time.

        If `hurried` by a deadline, one block at a time: more might not be begun.
        """
        at_once = looked_at = 1
        waiting = deque[Block[ItemT]]()
        while True:
            waiting.extend(islice(blocks, max(0, looked_at - len(waiting))))
            if not waiting:
                return
            group = [waiting.popleft() for _ in range(min(looked_at, len(waiting)))]
            free = self._free(group)
            # of what others have done or are doing many blocks are looked at, few are claimed
            self._leave(free[at_once:])
            waiting.extendleft(reversed(free[at_once:]))
            begin = time.monotonic()
            yield from free[:at_once]
            now = time.monotonic()
            if free and not hurried:
                at_once = _next(at_once, now - begin)
            looked_at = at_once if free else min(2 * looked_at, MOST_AT_ONCE)
            if now - self._looked > LOOK_EVERY:
                self.look()

    def _free(self, group: list[Block[ItemT]]) -> list[Block[ItemT]]:
        """Claim what is free of some blocks; those of which something is left."""
        mine = self._take({self.keys[item]: item for block in group for item in block.items})
        left = (
            replace(block, items=tuple(item for item in block.items if self.keys[item] in mine))
            for block in group
        )
        return [block for block in left if block.items]

    def _leave(self, blocks: list[Block[ItemT]]) -> None:
        self.claims.give_back(self.keys[item] for block in blocks for item in block.items)

    def look(self) -> None:
        """Take the results that others have put into the store."""
        self._looked = time.monotonic()
        if self.elsewhere:
            for key, result in self._made(self.elsewhere).items():
                del self.elsewhere[key]
                self.settle(key, result)

    def given_up(self) -> list[ItemT]:
        """What others had claimed and have left undone: it is this process's now."""
        self.look()
        wanted, self.elsewhere = self.elsewhere, {}
        mine = self._take(wanted)
        return [item for key, item in wanted.items() if key in mine]

    def _take(self, wanted: Mapping[str, ItemT]) -> set[str]:
        """Claim what is free of it, and is still to be done."""
        taken = self.claims.take(list(wanted))
        self.elsewhere.update((key, item) for key, item in wanted.items() if key not in taken.mine)
        if not taken.there:
            return set(taken.mine)
        found = self._made({key: wanted[key] for key in taken.there})
        for key, result in found.items():
            self.settle(key, result)
        self.claims.give_back(found)
        return set(taken.mine) - set(found)

    def _made(self, wanted: Mapping[str, ItemT]) -> dict[str, ResultT]:
        """What the store holds of it that counts."""
        found = self.task.find(self.store, wanted)
        return {key: one for key, one in found.items() if not self.is_stale(key, one)}
