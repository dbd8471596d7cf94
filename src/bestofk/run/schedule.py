"""Divide the cells of a study between workers: half a second of work at a time, long fits first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby

from bestofk.run.cells import Cell
from bestofk.run.fit import takes_whole_plans
from bestofk.run.live import ALL_FOLDS, Live
from bestofk.run.task import BLOCK_SECONDS, Block, Schedule

WHOLE_PLAN_RUNS = 25
"""Maximum number of runs per block."""
WHOLE_PLAN_ROWS = 250_000
"""Maximum rows times splits per block."""
UNITS_PER_WORKER = 256
"""Number of fits per worker that are read ahead, to start the long ones first."""
MIN_SECONDS = 0.02
"""Least work of a block of quick fits, when little is left."""
CELL_SECONDS = 2e-4
"""Seconds of a cell that are neither fit nor prediction."""

_Unit = tuple[Cell, ...]
"""Cells that share a model."""


def blocks_of(
    live: Live, cells: Iterable[Cell], *, hurried: bool = False, workers: int = 1
) -> Iterator[Block[Cell]]:
    """Yield the blocks of these cells (in the order of `StudyRecord.cells`), round by round.

    A block is either one fold of one data set for several learners (or two folds that share a
    model), or some runs of one learner that evaluates whole plans. Cells are read one fold at a
    time, so the caller can stop early.

    If `hurried`, all learners finish a fold as early as possible: each learner of a fold gets its
    own block, and so does each run of a whole plan after the first run.
    """
    whole: dict[tuple[int, int], list[Cell]] = {}

    @cache
    def whole_plan_size(dataset: int, learner: int) -> int:
        """Return the number of cells of a block of whole plans; 0 if the learner takes none.

        Each worker gets two blocks at least, unless the splits share most of the work.
        """
        splits, estimator = live.splits[dataset], live.estimators[learner]
        if not takes_whole_plans(live, dataset, learner):
            return 0
        runs = 1 if hurried else WHOLE_PLAN_RUNS
        if not getattr(estimator, "_splits_share_most", False):
            runs = min(runs, max(1, WHOLE_PLAN_ROWS // (splits.n * splits.folds)))
            if workers > 1:
                runs = min(runs, -(-(splits.runs + splits.subset_runs) // (2 * workers)))
        return runs * splits.folds * live.record.repetitions

    def taken(full: Iterable[tuple[int, int]]) -> Iterator[Block[Cell]]:
        return (Block(items=tuple(whole.pop(at)), as_one=True) for at in list(full))

    for (dataset, _, which), group in groupby(cells, key=live.sharing):
        fold: list[Cell] = []
        # evaluate folds that share a model one after the other
        for cell in sorted(group, key=_model) if which == ALL_FOLDS else group:
            at = dataset, cell.learner
            if whole_plan_size(*at) and not (hurried and cell.run == 0):
                whole.setdefault(at, []).append(cell)
            else:
                fold.append(cell)
        yield from taken(
            at
            for at, waiting in whole.items()
            if at[0] != dataset or len(waiting) >= whole_plan_size(*at)
        )
        if fold and not hurried:
            yield Block(items=tuple(fold))
        elif fold:
            for _, own in groupby(fold, key=_model):
                yield Block(items=tuple(own), apart=True)
    yield from taken(whole)


class Pace:
    """Divide or join folds by the time that fits of the same learner and data set took.

    A fit whose time is unknown is a block of its own. A block contains only cells of the same
    `Task.company`.
    """

    def __init__(self, schedule: Schedule, company: Callable[[Cell], int | None]) -> None:
        self.schedule, self.company = schedule, company
        self.started: set[tuple[int, int]] = set()
        """Data sets and learners with a fit that some worker has received."""

    def estimate(self, unit: _Unit) -> float:
        """Return the seconds of a fit; infinity if unknown."""
        kind = unit[0].dataset, unit[0].learner
        return CELL_SECONDS + self.schedule.seconds.get(kind, float("inf"))

    def blocks(self, source: Iterable[Block[Cell]]) -> Iterator[Block[Cell]]:
        """Yield the same cells in other blocks; blocks of whole plans stay as they are."""
        folds = iter(source)
        waiting: deque[_Unit] = deque()
        exhausted = False
        while True:
            while not exhausted and len(waiting) < UNITS_PER_WORKER * self.schedule.workers:
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
        workers = self.schedule.workers
        seconds = {unit: self.estimate(unit) for unit in waiting}
        known = sum(each for each in seconds.values() if each < float("inf"))
        limit = min(BLOCK_SECONDS, max(MIN_SECONDS, known / (2 * workers)))
        long = sorted(
            (unit for unit in waiting if seconds[unit] > limit),
            key=lambda unit: (-seconds[unit], *self._turn(unit[0])),
        )
        short = [unit for unit in waiting if seconds[unit] <= limit]
        waiting.clear()
        waiting.extend((*long, *short))
        # estimates improve meanwhile, so look again after a part of them
        for _ in range(max(1, min(len(seconds) // 8, workers))):
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
