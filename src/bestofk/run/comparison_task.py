"""The cells of a comparison as a task: blocks of work, store lookups and pickling."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, groupby, islice, repeat
from math import inf
from typing import TYPE_CHECKING, Any, cast

from bestofk._base.formatting import joined
from bestofk.learners.preparation import is_trusted
from bestofk.run.cells import Cell, CellTable, Failure
from bestofk.run.fit import Evaluator, takes_whole_plans
from bestofk.run.live import ALL_FOLDS, Live, UnavailableEstimator
from bestofk.run.task import (
    BLOCK_SECONDS,
    Block,
    Task,
    Times,
    UnpicklableError,
    describe_error,
    pack,
)

if TYPE_CHECKING:
    from bestofk.data.dataset import DataSet
    from bestofk.run.store.store import Store

LOOKUP_BATCH_SIZE = 20_000
"""Number of cells per store query."""
MIN_CELLS_FOR_SCAN = 10_000
"""Minimum number of needed cells for which the whole store is read."""
PART_BYTES = 100_000_000
"""Size of the data sets that a cluster receives together."""
MAX_SCAN_RATIO = 3
"""Maximum number of stored cells per needed cell for which the whole store is read."""


@dataclass(frozen=True, eq=False)
class ComparisonTask(Task[Cell]):
    """The cells of a study; a cell is evaluated into an equal one."""

    live: Live

    @property
    def threads(self) -> int:  # type: ignore[override]
        return self.live.threads

    @cached_property
    def trusted(self) -> bool:
        return not self._untrusted

    @cached_property
    def _untrusted(self) -> frozenset[int]:
        learners = enumerate(self.live.estimators)
        return frozenset(index for index, each in learners if not is_trusted(each))

    def timed_as(self, item: Cell) -> tuple[int, int]:
        return item.dataset, item.learner

    def isolated_as(self, item: Cell) -> int | None:
        return item.learner if item.learner in self._untrusted else None

    @cached_property
    def _parts(self) -> tuple[int, ...]:
        """The part of each data set: small data sets that follow each other share one."""
        sizes = (8 * data.n * data.d for data in self.live.datasets)
        return tuple(begin // PART_BYTES for begin in accumulate(sizes, initial=0))

    def part(self, item: Cell) -> int:
        return self._parts[item.dataset]

    def of_part(self, part: int) -> ComparisonTask:
        datasets = zip(self.live.datasets, self._parts, strict=False)
        needed = [data if of == part else None for data, of in datasets]
        return ComparisonTask(replace(self.live, datasets=cast("tuple[DataSet, ...]", (*needed,))))

    def key(self, item: Cell) -> str:
        return self.live.record.key(item)

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.live)

    def prepare(self) -> None:
        self._evaluator.prepare()

    def evaluate(self, items: Sequence[Cell], *, apart: bool = False) -> Iterator[Cell]:
        return self._evaluator.evaluate(items, apart=apart)

    def lost(self, item: Cell, failure: Failure) -> Cell:
        return replace(item, scores=(failure,) * len(self.live.metrics))

    @property
    def _predictions(self) -> bool:
        return self.live.keep_predictions or self.live.keep_first

    def look_up(
        self,
        store: Store | None,
        items: Sequence[Cell] | None,
        *,
        is_stale: Callable[[Cell], bool],
    ) -> tuple[CellTable, dict[Any, list[Cell]]]:
        record = self.live.record
        table = CellTable(record)
        wanted = record.n_cells if items is None else len(items)
        scanned = (
            store is not None
            and not self._predictions
            and wanted == record.n_cells >= MIN_CELLS_FOR_SCAN
            and store.n_cells() <= MAX_SCAN_RATIO * wanted
        )
        if store is not None and scanned:
            # most of the store is needed, so read all of it
            read_cells(store, table)
            for cell, _ in table.failures:
                self._is_missing(table, cell, is_stale)
        missing: dict[Any, list[Cell]] = {}
        # in batches, so that the cells of a million are not all in memory
        rest = table.absent() if scanned or items is None else iter(items)
        while batch := list(islice(rest, LOOKUP_BATCH_SIZE)):
            keys: dict[Any, list[Cell]] = {}
            for cell in batch:
                keys.setdefault(cell if store is None else record.key(cell), []).append(cell)
            if store is not None and not scanned:
                for columns in store.columns(record, list(keys), predictions=self._predictions):
                    found = [(row, one) for row, key in enumerate(columns["digest"])
                             for one in keys[key]]  # fmt: skip
                    positions = [record.position(one) for _, one in found]
                    table.add_rows(columns, positions, [row for row, _ in found])
            for key, group in keys.items():
                left = [cell for cell in group if self._is_missing(table, cell, is_stale)]
                if left:
                    missing.setdefault(key, []).extend(left)
        return table, missing

    def _is_missing(self, table: CellTable, cell: Cell, is_stale: Callable[[Cell], bool]) -> bool:
        """Return whether to evaluate a cell; remove a stored one that cannot be used."""
        if cell not in table:
            return True
        if not (self._predictions or table.has_failed(cell)):
            return False  # without creating the stored cell, which takes time
        stored = table.get(cell)
        if stored is not None and self._serves(stored) and not is_stale(stored):
            return False
        table.remove(cell)
        return True

    def _serves(self, cell: Cell) -> bool:
        """Return whether a stored cell has the predictions that are needed."""
        kept = cell.predictions is not None or cell.failure is not None
        return kept or not self.live.keep_predictions

    def find(self, store: Store, items: Mapping[str, Cell]) -> dict[str, Cell]:
        stored = store.find(self.live.record, items, predictions=self._predictions)
        return {key: cell for key, cell in stored.items() if self._serves(cell)}

    def keep(self, store: Store, result: Cell) -> None:
        store.put(self.live.record, [result])

    def label(self, item: Cell) -> str:
        record = self.live.record
        return f"{record.learners[item.learner].name} on {record.datasets[item.dataset].name}"

    def blocks(
        self,
        items: Iterable[Cell],
        times: Times,
        *,
        has_deadline: bool = False,
    ) -> Iterator[Block[Cell]]:
        units = units_of(self.live, items, has_deadline=has_deadline, workers=times.workers)
        if has_deadline:
            return (Block(items=unit.cells, apart=not unit.whole_plan) for unit in units)
        return BlockSizer(times, lambda cell: (self.part(cell), self.isolated_as(cell))).blocks(
            units
        )

    def in_rounds(self, items: Sequence[Cell]) -> Sequence[Cell]:
        """Return one fold of every data set after the other."""
        return sorted(items, key=lambda p: (p.run, p.fold, p.dataset, p.repetition, p.learner))

    def ship(self) -> bytes:
        live = self.live
        packed = [_Packed.of(estimator) for estimator in live.estimators]
        learners = zip(live.record.names, packed, strict=True)
        unpicklable = [repr(name) for name, one in learners if one is None]
        if unpicklable:
            raise UnpicklableError(joined(unpicklable))
        try:
            return pack(ComparisonTask(replace(live, estimators=tuple(packed))))
        except (Exception, SystemExit):
            # another part of the study, such as a loss that holds an open file
            raise UnpicklableError(f"the loss {live.metric.name!r}") from None


def read_cells(store: Store, table: CellTable) -> None:
    """Read the cells of a study from a store into its table."""
    record = table.record
    datasets: dict[tuple[str, str, int, int | None], list[int]] = {}
    for index, data in enumerate(record.datasets):
        for run, fold, name in data.splits:
            datasets.setdefault((data.fingerprint, name, run, fold), []).append(index)
    learners: dict[str, list[int]] = {}
    for index, learner in enumerate(record.learners):
        learners.setdefault(learner.fingerprint, []).append(index)
    for columns in store.scan(record):
        names = columns["dataset"], columns["splits"], columns["run"]
        of_rows = [datasets.get(key, ()) for key in zip(*names, repeat(None), strict=False)]
        if () in of_rows:  # some plans name every fold
            by_fold = (datasets.get(key, ()) for key in zip(*names, columns["fold"], strict=True))
            of_rows = [either or other for either, other in zip(of_rows, by_fold, strict=True)]
        matches = [
            (row, dataset, each)
            for row, (sets, learner) in enumerate(zip(of_rows, columns["learner"], strict=True))
            for dataset in sets
            for each in learners[learner]
        ]
        table.add_matches(columns, matches)


@dataclass(frozen=True)
class _Packed:
    """A pickled estimator; one that cannot be loaded does not keep others from being loaded."""

    data: bytes

    @classmethod
    def of(cls, estimator: Any) -> _Packed | None:
        import cloudpickle

        try:
            return cls(cloudpickle.dumps(estimator))
        except (Exception, SystemExit):
            # any class may raise anything while it is pickled
            return None

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.data,)


def _loaded(data: bytes) -> Any:
    import cloudpickle

    try:
        return cloudpickle.loads(data)
    except (Exception, SystemExit) as raised:
        text = f"it cannot be loaded in a worker: {describe_error(raised)}"
        return UnavailableEstimator(text)


# Divide the cells between workers: half a second of work at a time, long fits first

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


@dataclass(frozen=True, slots=True)
class Unit:
    """Cells that are evaluated together: those that share a model, or runs of a whole plan."""

    cells: tuple[Cell, ...]
    whole_plan: bool = False


def units_of(
    live: Live, cells: Iterable[Cell], *, has_deadline: bool = False, workers: int = 1
) -> Iterator[Unit]:
    """Yield the units of these cells, which are in the order of `StudyRecord.cells`.

    A learner that evaluates whole plans does so for many runs at once. If there is a deadline, all
    learners finish a fold as early as possible: it does so for one run at a time, after the first.
    """
    whole: dict[tuple[int, int], list[Cell]] = {}

    @cache
    def whole_plan_size(dataset: int, learner: int) -> int:
        """Return the number of cells of a unit of whole plans; 0 if the learner takes none.

        Each worker gets two units at least, unless the splits share most of the work.
        """
        splits, estimator = live.splits[dataset], live.estimators[learner]
        if not takes_whole_plans(live, dataset, learner):
            return 0
        runs = 1 if has_deadline else WHOLE_PLAN_RUNS
        if not getattr(estimator, "_splits_share_most", False):
            runs = min(runs, max(1, WHOLE_PLAN_ROWS // (splits.n * splits.folds)))
            if workers > 1:
                runs = min(runs, -(-(splits.runs + splits.subset_runs) // (2 * workers)))
        return runs * splits.folds * live.record.repetitions

    for (dataset, _, which), group in groupby(cells, key=live.sharing):
        fold: list[Cell] = []
        # folds that share a model follow each other
        for cell in sorted(group, key=_model) if which == ALL_FOLDS else group:
            at = dataset, cell.learner
            if whole_plan_size(*at) and not (has_deadline and cell.run == 0):
                whole.setdefault(at, []).append(cell)
            else:
                fold.append(cell)
        for at, waiting in list(whole.items()):
            if at[0] != dataset or len(waiting) >= whole_plan_size(*at):
                yield Unit(tuple(whole.pop(at)), whole_plan=True)
        for _, own in groupby(fold, key=_model):
            yield Unit(tuple(own))
    for waiting in whole.values():
        yield Unit(tuple(waiting), whole_plan=True)


class BlockSizer:
    """Join units to blocks by the time that fits of the same learner and data set took.

    A fit whose time is unknown, and a unit of a whole plan, is a block of its own. A block contains
    only cells that are `isolated_as` the same value.
    """

    def __init__(self, times: Times, isolated_as: Callable[[Cell], object]) -> None:
        self.times, self.isolated_as = times, isolated_as
        self.started: set[tuple[int, int]] = set()
        """Data sets and learners with a fit that some worker has received."""
        self.latest: dict[int, float] = {}
        """Seconds of the last fit of each learner, on any data set."""

    def estimate(self, unit: Unit) -> float:
        """Return the seconds of a fit, or of the learner's last one; infinity if unknown."""
        learner = unit.cells[0].learner
        seconds = self.times.estimate((unit.cells[0].dataset, learner))
        if seconds is not None:
            self.latest[learner] = CELL_SECONDS + seconds
        return self.latest.get(learner, inf)

    def blocks(self, units: Iterator[Unit]) -> Iterator[Block[Cell]]:
        """Yield the cells of the units in blocks."""
        waiting: deque[Unit] = deque()
        exhausted = False
        while True:
            while not exhausted and len(waiting) < UNITS_PER_WORKER * self.times.workers:
                unit = next(units, None)
                if unit is None:
                    exhausted = True
                elif unit.whole_plan:
                    yield Block(items=unit.cells)
                else:
                    waiting.append(unit)
            if not waiting:
                return
            if not exhausted:
                yield self._next(waiting, BLOCK_SECONDS)
            else:
                yield from self._last(waiting)

    def _last(self, waiting: deque[Unit]) -> Iterator[Block[Cell]]:
        """Yield some of the last blocks: fits that are long or unknown first, the others small."""
        workers = self.times.workers
        seconds = {unit: self.estimate(unit) for unit in waiting}
        known = sum(each for each in seconds.values() if each < inf)
        limit = min(BLOCK_SECONDS, max(MIN_SECONDS, known / (2 * workers)))
        long = sorted(
            (unit for unit in waiting if seconds[unit] > limit),
            key=lambda unit: (-seconds[unit], *self._turn(unit.cells[0])),
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

    def _next(self, waiting: deque[Unit], limit: float) -> Block[Cell]:
        """Remove the next fit, and those after it that together take at most `limit` seconds."""
        first = waiting.popleft()
        cells, spent = list(first.cells), self.estimate(first)
        others: list[Unit] = []
        while waiting:
            unit = waiting.popleft()
            if self.isolated_as(unit.cells[0]) != self.isolated_as(first.cells[0]):
                others.append(unit)
            elif (spent := spent + self.estimate(unit)) <= limit:
                cells += unit.cells
            else:
                others.append(unit)
                break
        waiting.extendleft(reversed(others))
        self.started.update((cell.dataset, cell.learner) for cell in cells)
        return Block(items=tuple(cells))


def _model(cell: Cell) -> tuple[int, int, int, int]:
    return cell.dataset, cell.run, cell.repetition, cell.learner
