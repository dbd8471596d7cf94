"""Divide folds between workers: about half a second of work at a time, long fits first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from bestofk.run.cells import Cell
from bestofk.run.live import Live
from bestofk.run.task import BLOCK_SECONDS, Block, BlockSizer

UNITS_PER_WORKER = 256
"""Number of fits per worker that are read ahead, to start the long ones first."""
MIN_SECONDS = 0.02
"""Least work of a block of quick fits, when little is left."""
CELL_SECONDS = 2e-4
"""Seconds of a cell that are neither fit nor prediction."""

_Unit = tuple[Cell, ...]
"""Cells that share a model."""


class Pace:
    """Estimate the time of fits from earlier ones, and divide or join folds accordingly.

    A fit whose time is unknown is a block of its own. A block contains only cells of the same
    `Task.company`.
    """

    def __init__(
        self,
        live: Live,
        sizer: BlockSizer,
        company: Callable[[Cell], int | None],
    ) -> None:
        self.live, self.sizer, self.company = live, sizer, company
        self.seconds = sizer.seconds
        self.longest: dict[int, tuple[int, float]] = {}
        """Rows and seconds of the largest data set on which a learner was timed."""
        self.started: set[tuple[int, int]] = set()
        """Data sets and learners with a fit that some worker has received."""
        sizer.observe = self.observe

    def observe(self, cell: Cell) -> None:
        """Learn the time of a fit; a failure says nothing about the others."""
        if cell.failure is None:
            spent = CELL_SECONDS + (cell.fit_time or 0.0) + (cell.predict_time or 0.0)
            # the first fit of a process may include imports, so forget quickly
            mean = (self.seconds.get((cell.dataset, cell.learner), spent) + spent) / 2
            self.seconds[cell.dataset, cell.learner] = mean
            rows = self.live.datasets[cell.dataset].n
            if rows >= self.longest.get(cell.learner, (0, 0.0))[0]:
                self.longest[cell.learner] = rows, mean

    def estimate(self, unit: _Unit) -> float:
        """Return the seconds of a fit, or of one on more rows; infinity if unknown."""
        dataset, learner = unit[0].dataset, unit[0].learner
        seconds = self.seconds.get((dataset, learner))
        if seconds is None:
            rows, seconds = self.longest.get(learner, (0, 0.0))
            if rows < self.live.datasets[dataset].n:
                return float("inf")
        return seconds

    def blocks(self, source: Iterable[Block[Cell]]) -> Iterator[Block[Cell]]:
        """Yield the same cells in other blocks; blocks of whole plans stay as they are."""
        folds = iter(source)
        waiting: deque[_Unit] = deque()
        exhausted = False
        while True:
            while not exhausted and len(waiting) < UNITS_PER_WORKER * self.sizer.workers:
                block = next(folds, None)
                if block is None:
                    exhausted = True
                elif block.as_one:
                    yield block
                else:
                    waiting.extend(tuple(unit) for _, unit in groupby(block.items, _model))
            if not waiting:
                return
            if not exhausted:
                yield self._next(waiting, BLOCK_SECONDS)
            else:
                yield from self._last(waiting)

    def _last(self, waiting: deque[_Unit]) -> Iterator[Block[Cell]]:
        """Yield some of the last blocks: fits that are long or unknown first, the others small."""
        seconds = {unit: self.estimate(unit) for unit in waiting}
        known = sum(each for each in seconds.values() if each < float("inf"))
        share = known / (2 * self.sizer.workers)
        limit = min(BLOCK_SECONDS, max(MIN_SECONDS, share))
        long = sorted(
            (unit for unit in waiting if seconds[unit] > limit),
            key=lambda unit: (-seconds[unit], *self._turn(unit[0])),
        )
        short = [unit for unit in waiting if seconds[unit] <= limit]
        waiting.clear()
        waiting.extend((*long, *short))
        # estimates improve meanwhile, so look again after a part of them
        for _ in range(max(1, min(len(seconds) // 8, self.sizer.workers))):
            if waiting:
                yield self._next(waiting, limit)

    def _turn(self, cell: Cell) -> tuple[int, ...]:
        """Order fits of unknown time: one of every learner, then those known last first."""
        new = (cell.dataset, cell.learner) not in self.started
        learner = cell.learner if new else -cell.learner
        return (not new, cell.dataset, cell.run, cell.fold, learner)

    def _next(self, waiting: deque[_Unit], limit: float) -> Block[Cell]:
        """Remove the next fit, and those after it that together take at most `limit` seconds."""
        first = waiting.popleft()
        cells, spent = list(first), self.estimate(first)
        others: list[_Unit] = []
        while waiting:
            unit = waiting.popleft()
            if self.company(unit[0]) != self.company(first[0]):
                others.append(unit)
            elif (spent := spent + self.estimate(unit)) <= limit:
                cells += unit
            else:
                others.append(unit)
                break
        waiting.extendleft(reversed(others))
        self.started.update((cell.dataset, cell.learner) for cell in cells)
        return Block(items=tuple(cells))


def _model(cell: Cell) -> tuple[int, int, int, int]:
    return cell.dataset, cell.run, cell.repetition, cell.learner
