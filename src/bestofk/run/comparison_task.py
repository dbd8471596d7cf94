"""The cells of a comparison as a task: blocks of work, store lookups and pickling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import groupby, islice, repeat
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import joined
from bestofk.learners.preparation import is_trusted
from bestofk.run.cells import Cell, CellTable, Failure, with_results
from bestofk.run.evaluate import Evaluator, takes_whole_plans
from bestofk.run.live import ALL_FOLDS, Live, UnavailableEstimator
from bestofk.run.pace import Pace
from bestofk.run.task import (
    Block,
    BlockSizer,
    Task,
    UnpicklableError,
    describe_error,
    pack,
)

if TYPE_CHECKING:
    from bestofk.run.store.store import Store

WHOLE_PLAN_RUNS = 25
"""Maximum number of runs per block."""
WHOLE_PLAN_ROWS = 250_000
"""Maximum rows times splits per block."""


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
    takes_whole, size = cache(partial(takes_whole_plans, live)), cache(_whole_plan_size)

    def taken(full: Iterable[tuple[int, int]]) -> Iterator[Block[Cell]]:
        return (Block(items=tuple(whole.pop(at)), as_one=True) for at in list(full))

    for (dataset, _, which), group in groupby(cells, key=live.sharing):
        fold: list[Cell] = []
        # evaluate folds that share a model one after the other
        for cell in sorted(group, key=_model) if which == ALL_FOLDS else group:
            at = dataset, cell.learner
            if takes_whole(*at) and not (hurried and cell.run == 0):
                whole.setdefault(at, []).append(cell)
            else:
                fold.append(cell)
        yield from taken(
            at
            for at, waiting in whole.items()
            if at[0] != dataset or len(waiting) >= size(live, *at, hurried, workers)
        )
        if fold and not hurried:
            yield Block(items=tuple(fold))
        elif fold:
            for _, own in groupby(fold, key=lambda cell: (cell.repetition, cell.learner)):
                yield Block(items=tuple(own), apart=True)
    yield from taken(whole)


def _whole_plan_size(live: Live, dataset: int, learner: int, hurried: bool, workers: int) -> int:
    """Return the number of cells of a block of a learner that evaluates whole plans.

    Each worker gets two blocks at least, unless the splits share most of the work.
    """
    splits = live.splits[dataset]
    runs = 1 if hurried else WHOLE_PLAN_RUNS
    if not getattr(live.estimators[learner], "_splits_share_most", False):
        runs = min(runs, max(1, WHOLE_PLAN_ROWS // (splits.n * splits.folds)))
        if workers > 1:
            runs = min(runs, -(-(splits.runs + splits.subset_runs) // (2 * workers)))
    return runs * splits.folds * live.record.repetitions


def _model(cell: Cell) -> tuple[int, int, int]:
    return cell.repetition, cell.learner, cell.fold


LOOKUP_BATCH_SIZE = 20_000
"""Number of cells per store query."""
MIN_CELLS_FOR_SCAN = 10_000
"""Minimum number of needed cells for which the whole store is read."""
MAX_SCAN_RATIO = 3
"""Maximum number of stored cells per needed cell for which the whole store is read."""


@dataclass(frozen=True, eq=False)
class ComparisonTask(Task[Cell, Cell]):
    """The cells of a study; the result of a cell is the evaluated cell."""

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

    def company(self, item: Cell) -> int | None:
        return item.learner if item.learner in self._untrusted else None

    def key(self, item: Cell) -> str:
        return self.live.record.key(item)

    def item_of(self, result: Cell) -> Cell:
        return result

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.live)

    def prepare(self) -> None:
        self._evaluator.prepare()

    def evaluate(self, items: Sequence[Cell], *, apart: bool = False) -> Iterator[Cell]:
        return self._evaluator.evaluate(items, apart=apart)

    def lost(self, item: Cell, failure: Failure) -> Cell:
        return replace(item, scores=(failure,) * len(self.live.metrics))

    def look_up(
        self,
        store: Store | None,
        items: Sequence[Cell] | None,
        *,
        is_stale: Callable[[Cell], bool],
    ) -> tuple[CellTable, dict[Any, list[Cell]]]:
        # look up cells in batches and create no results, so that a million take little memory
        live, record = self.live, self.live.record
        table = CellTable(record)
        rest: Iterable[Cell] = record.cells() if items is None else items
        scanned = False
        if (
            store is not None
            and items is None
            and not (live.keep_predictions or live.keep_first)
            and record.n_cells >= MIN_CELLS_FOR_SCAN
            and store.n_cells() <= MAX_SCAN_RATIO * record.n_cells
        ):
            # most of the store is needed, so read all of it
            read_cells(store, table, is_stale)
            rest, scanned = table.absent(), True
        missing: dict[Any, list[Cell]] = {}
        remaining = iter(rest)
        while batch := list(islice(remaining, LOOKUP_BATCH_SIZE)):
            keys: dict[Any, list[Cell]] = {}
            for cell in batch:
                keys.setdefault(cell if store is None else record.key(cell), []).append(cell)
            if store is not None and not scanned:
                self._fill(table, store, keys, is_stale)
            for key, cells in keys.items():
                missing.setdefault(key, []).extend(cells)
        return table, missing

    def _fill(
        self,
        table: CellTable,
        store: Store,
        keys: dict[str, list[Cell]],
        is_stale: Callable[[Cell], bool],
    ) -> None:
        """Move the cells that the store holds from `keys` to the table."""
        live, record = self.live, self.live.record
        predictions = live.keep_predictions or live.keep_first
        for columns in store.columns(record, list(keys), predictions=predictions):
            rows: list[int] = []
            positions: list[int] = []
            for row, key in enumerate(columns["digest"]):
                if predictions or isinstance(columns["scores"][0][row], Failure):
                    cell = with_results(keys[key][0], columns, row)
                    if not self._serves(cell) or is_stale(cell):
                        continue
                for cell in keys.pop(key):
                    rows.append(row)
                    positions.append(record.position(cell))
            if positions:
                table.add_rows(columns, positions, rows)

    def _serves(self, cell: Cell) -> bool:
        """Return whether a stored cell has the predictions that are needed."""
        kept = cell.predictions is not None or cell.failure is not None
        return kept or not self.live.keep_predictions

    def find(self, store: Store, items: Mapping[str, Cell]) -> dict[str, Cell]:
        live = self.live
        predictions = live.keep_predictions or live.keep_first
        stored = store.find(live.record, items, predictions=predictions)
        return {key: cell for key, cell in stored.items() if self._serves(cell)}

    def keep(self, store: Store, result: Cell) -> None:
        store.put(self.live.record, [result])

    def label(self, item: Cell) -> str:
        record = self.live.record
        return f"{record.learners[item.learner].name} on {record.datasets[item.dataset].name}"

    def failed(self, result: Cell) -> bool:
        return result.failure is not None

    def seconds(self, result: Cell) -> float:
        # only the fits: the first cell also includes imports and compiling kernels
        return (result.fit_time or 0.0) + (result.predict_time or 0.0)

    def may_pass_now(self, result: Cell, *, timeout: float | None) -> bool:
        return result.failure is not None and result.failure.may_pass_now(timeout=timeout)

    def blocks(
        self,
        items: Iterable[Cell],
        sizer: BlockSizer,
        *,
        hurried: bool = False,
    ) -> Iterator[Block[Cell]]:
        blocks = blocks_of(self.live, items, hurried=hurried, workers=sizer.workers)
        pace = Pace(self.live, sizer, self.company)
        together = self.trusted and sizer.workers == 1
        yield from blocks if hurried or together else pace.blocks(blocks)

    def rounds(self, items: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
        """Yield one fold of every data set at a time."""
        ordered = sorted(items, key=lambda p: (p.run, p.fold, p.dataset, p.repetition, p.learner))
        for _, group in groupby(ordered, key=lambda p: (p.run, p.fold)):
            yield list(group)

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
            raise UnpicklableError(f"the loss {live.loss.name!r}") from None


def read_cells(
    store: Store, table: CellTable, is_stale: Callable[[Cell], bool] | None = None
) -> None:
    """Read the cells of a study from a store into its table, except failures that are stale."""
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
        if is_stale is not None:
            failed = {
                row for row, score in enumerate(columns["scores"][0]) if isinstance(score, Failure)
            }
            matches = [
                (row, dataset, learner)
                for row, dataset, learner in matches
                if row not in failed
                or not is_stale(
                    with_results(
                        Cell(
                            learner=learner,
                            dataset=dataset,
                            run=columns["run"][row],
                            fold=columns["fold"][row],
                            repetition=columns["repetition"][row],
                        ),
                        columns,
                        row,
                    )
                )
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
