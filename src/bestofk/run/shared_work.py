"""Share the work of a task between processes: each claims blocks before it evaluates them.

A process leaves to others what they have claimed. It reads their results from the store as they
appear, and takes over what they release or leave behind when they die.
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

MAX_CLAIMED_BLOCKS = 200
"""Maximum number of blocks claimed at once."""
READ_EVERY_SECONDS = 2.0
"""Time between two reads of other processes' results during own work."""
POLL_SECONDS = 0.25
"""Time between two reads while waiting for other processes."""


def _next_count(count: int, seconds: float) -> int:
    """Return how many blocks to claim after `count` blocks took `seconds`."""
    if seconds < BLOCK_SECONDS / 2:
        return min(2 * count, MAX_CLAIMED_BLOCKS)
    return max(1, count // 2) if seconds > BLOCK_SECONDS else count


class SharedWork(Generic[ItemT, ResultT]):
    """The items that this process has claimed, and those that others have.

    - `task`: The task of the items.
    - `store`: The store that all processes write to.
    - `claims`: The claims of this process.
    - `keys`: All items to evaluate, with their keys.
    - `settle`: ``settle(key, result)`` accepts a result of another process.
    - `is_stale`: ``is_stale(key, result)`` tells whether the store had the result before the run
      and it must be evaluated again.
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
        self.poll_seconds = POLL_SECONDS
        self.task, self.store, self.claims = task, store, claims
        self.keys, self.settle, self.is_stale = keys, settle, is_stale
        self.elsewhere: dict[str, ItemT] = {}
        """Items that other processes have claimed, by key."""
        self._last_read = time.monotonic()

    def claim_blocks(
        self, blocks: Iterator[Block[ItemT]], *, hurried: bool
    ) -> Iterator[Block[ItemT]]:
        """Claim and yield the free parts of blocks, about half a second of work at a time.

        If `hurried` by a deadline, claim one block at a time, because others may not be reached.
        """
        count = inspected = 1
        waiting = deque[Block[ItemT]]()
        while True:
            waiting.extend(islice(blocks, max(0, inspected - len(waiting))))
            if not waiting:
                return
            group = [waiting.popleft() for _ in range(min(inspected, len(waiting)))]
            free = self._claim_free(group)
            # if others have claimed much, many blocks are inspected but few are kept
            self._release(free[count:])
            waiting.extendleft(reversed(free[count:]))
            begin = time.monotonic()
            yield from free[:count]
            now = time.monotonic()
            if free and not hurried:
                count = _next_count(count, now - begin)
            inspected = count if free else min(2 * inspected, MAX_CLAIMED_BLOCKS)
            if now - self._last_read > READ_EVERY_SECONDS:
                self.read_results()

    def _claim_free(self, group: list[Block[ItemT]]) -> list[Block[ItemT]]:
        """Claim the free items of some blocks and return the blocks that are not empty."""
        claimed = self._claim({self.keys[item]: item for block in group for item in block.items})
        reduced = (
            replace(block, items=tuple(item for item in block.items if self.keys[item] in claimed))
            for block in group
        )
        return [block for block in reduced if block.items]

    def _release(self, blocks: list[Block[ItemT]]) -> None:
        self.claims.release(self.keys[item] for block in blocks for item in block.items)

    def read_results(self) -> None:
        """Accept the results that other processes have stored."""
        self._last_read = time.monotonic()
        if self.elsewhere:
            for key, result in self._valid_results(self.elsewhere).items():
                del self.elsewhere[key]
                self.settle(key, result)

    def take_over(self) -> list[ItemT]:
        """Claim and return the items that other processes had claimed and left undone."""
        self.read_results()
        items, self.elsewhere = self.elsewhere, {}
        claimed = self._claim(items)
        return [item for key, item in items.items() if key in claimed]

    def _claim(self, items: Mapping[str, ItemT]) -> set[str]:
        """Claim the free items and return the keys of those that must be evaluated."""
        claimed, stored = self.claims.claim(list(items))
        self.elsewhere.update((key, item) for key, item in items.items() if key not in claimed)
        if not stored:
            return claimed
        results = self._valid_results({key: items[key] for key in stored})
        for key, result in results.items():
            self.settle(key, result)
        self.claims.release(results)
        return claimed - set(results)

    def _valid_results(self, items: Mapping[str, ItemT]) -> dict[str, ResultT]:
        """Return the stored results that are not stale."""
        results = self.task.find(self.store, items)
        return {key: result for key, result in results.items() if not self.is_stale(key, result)}
