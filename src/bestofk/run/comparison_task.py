"""The cells of a comparison as a task: blocks of work, store lookups and pickling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import joined
from bestofk.learners.preparation import is_trusted
from bestofk.run.cells import CellResult, Failure
from bestofk.run.evaluate import Evaluator, takes_whole_plans
from bestofk.run.experiment import (
    ALL_FOLDS,
    AllCells,
    CellIndex,
    Experiment,
    UnavailableEstimator,
)
from bestofk.run.pace import Pace
from bestofk.run.results import ResultTable, read_cells
from bestofk.run.task import (
    Block,
    BlockSizer,
    StoreLookup,
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
    experiment: Experiment, cells: Iterable[CellIndex], *, hurried: bool = False, workers: int = 1
) -> Iterator[Block[CellIndex]]:
    """Yield the blocks of these cells (in the order of `Experiment.cells`), round by round.

    A block is either one fold of one data set for several learners (or two folds that share a
    model), or some runs of one learner that evaluates whole plans. Cells are read one fold at a
    time, so the caller can stop early.

    If `hurried`, all learners finish a fold as early as possible: each learner of a fold gets its
    own block, and so does each run of a whole plan after the first run.
    """
    whole: dict[tuple[int, int], list[CellIndex]] = {}
    takes_whole, size = cache(partial(takes_whole_plans, experiment)), cache(_whole_plan_size)

    def taken(full: Iterable[tuple[int, int]]) -> Iterator[Block[CellIndex]]:
        return (Block(items=tuple(whole.pop(at)), as_one=True) for at in list(full))

    for (dataset, _, which), group in groupby(cells, key=experiment.sharing):
        fold: list[CellIndex] = []
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
            if at[0] != dataset or len(waiting) >= size(experiment, *at, hurried, workers)
        )
        if fold and not hurried:
            yield Block(items=tuple(fold))
        elif fold:
            for _, own in groupby(fold, key=lambda cell: (cell.repetition, cell.learner)):
                yield Block(items=tuple(own), apart=True)
    yield from taken(whole)


def _whole_plan_size(
    experiment: Experiment, dataset: int, learner: int, hurried: bool, workers: int
) -> int:
    """Return the number of cells of a block of a learner that evaluates whole plans.

    Each worker gets two blocks at least, unless the splits share most of the work.
    """
    splits = experiment.splits[dataset]
    runs = 1 if hurried else WHOLE_PLAN_RUNS
    if not getattr(experiment.learners[learner].estimator, "_splits_share_most", False):
        runs = min(runs, max(1, WHOLE_PLAN_ROWS // (splits.n * splits.folds)))
        if workers > 1:
            runs = min(runs, -(-(splits.runs + splits.subset_runs) // (2 * workers)))
    return runs * splits.folds * experiment.repetitions


def _model(cell: CellIndex) -> tuple[int, int, int]:
    return cell.repetition, cell.learner, cell.fold


LOOKUP_BATCH_SIZE = 20_000
"""Number of cells per store query."""
MIN_CELLS_FOR_SCAN = 10_000
"""Minimum number of needed cells for which the whole store is read."""
MAX_SCAN_RATIO = 3
"""Maximum number of stored cells per needed cell for which the whole store is read."""


@dataclass(frozen=True, eq=False)
class ComparisonTask(Task[CellIndex, CellResult]):
    """The cells of an experiment; an item is a cell's index."""

    experiment: Experiment

    @property
    def threads(self) -> int:  # type: ignore[override]
        return self.experiment.threads

    @cached_property
    def trusted(self) -> bool:
        return not self._untrusted

    @cached_property
    def _untrusted(self) -> frozenset[int]:
        learners = enumerate(self.experiment.learners)
        return frozenset(index for index, each in learners if not is_trusted(each.estimator))

    def company(self, item: CellIndex) -> int | None:
        return item.learner if item.learner in self._untrusted else None

    def key(self, item: CellIndex) -> str:
        return self.experiment.key(item).digest

    def key_of(self, result: CellResult) -> str:
        return result.key.digest

    def evaluator(self) -> Evaluator:
        return Evaluator(self.experiment)

    def lost(self, item: CellIndex, failure: Failure) -> CellResult:
        scores = (failure,) * len(self.experiment.losses)
        return CellResult(key=self.experiment.key(item), scores=scores)

    def look_up(
        self,
        store: Store | None,
        items: Sequence[CellIndex],
        *,
        is_stale: Callable[[CellResult], bool] | None = None,
    ) -> StoreLookup[CellIndex, CellResult]:
        experiment = self.experiment
        # look up cells in batches and create no results, so that a million take little memory
        table = ResultTable(experiment.spec)
        rest: Iterable[CellIndex] = items
        if (
            store is not None
            and isinstance(items, AllCells)
            and not (experiment.keep_predictions or experiment.keep_first)
            and len(items) >= MIN_CELLS_FOR_SCAN
            and store.n_cells() <= MAX_SCAN_RATIO * len(items)
        ):
            # most of the store is needed, so read all of it
            read_cells(store, experiment.spec, table, is_stale)
            rest, store = table.absent(), None
        missing: dict[str, list[CellIndex]] = {}
        remaining = iter(rest)
        while batch := list(islice(remaining, LOOKUP_BATCH_SIZE)):
            keys: dict[str, list[CellIndex]] = {}
            for cell in batch:
                keys.setdefault(self.key(cell), []).append(cell)
            if store is not None:
                self._fill(table, store, keys, is_stale)
            for digest, cells in keys.items():
                missing.setdefault(digest, []).extend(cells)
        return StoreLookup(results=table, missing=missing, known=len(table))

    def _fill(
        self,
        table: ResultTable,
        store: Store,
        keys: dict[str, list[CellIndex]],
        is_stale: Callable[[CellResult], bool] | None,
    ) -> None:
        """Move the cells that the store holds from `keys` to the table."""
        experiment = self.experiment
        with_predictions = experiment.keep_predictions or experiment.keep_first
        for batch in store.batches(
            list(keys), experiment.spec.metrics, predictions=with_predictions
        ):
            rows: list[int] = []
            indices: list[int] = []
            for row, digest in enumerate(batch.digest):
                if with_predictions or isinstance(batch.scores[0][row], Failure):
                    result = batch.result(row, experiment.key(keys[digest][0]))
                    if not experiment.serves(result) or (is_stale is not None and is_stale(result)):
                        continue
                for cell in keys.pop(digest):
                    rows.append(row)
                    indices.append(table.index(cell))
            if indices:
                table.add(batch, indices, rows)

    def find(self, store: Store, items: Mapping[str, CellIndex]) -> dict[str, CellResult]:
        experiment = self.experiment
        keys = map(experiment.key, items.values())
        with_predictions = experiment.keep_predictions or experiment.keep_first
        stored = store.get(keys, experiment.spec.metrics, predictions=with_predictions)
        return {key: result for key, result in stored.items() if experiment.serves(result)}

    def keep(self, store: Store, result: CellResult) -> None:
        store.put([result], self.experiment.spec.metrics)

    def label(self, item: CellIndex) -> str:
        learner, dataset = self.names(item)
        return f"{learner} on {dataset}"

    def names(self, item: CellIndex) -> tuple[str, str]:
        """Return the names of the learner and the data set of a cell."""
        experiment = self.experiment
        return experiment.learners[item.learner].name, experiment.datasets[item.dataset].name

    def failed(self, result: CellResult) -> bool:
        return result.failure is not None

    def seconds(self, result: CellResult) -> float:
        # only the fits: the first cell also includes imports and compiling kernels
        return (result.fit_time or 0.0) + (result.predict_time or 0.0)

    def may_pass_now(self, result: CellResult, *, timeout: float | None) -> bool:
        return result.failure is not None and result.failure.may_pass_now(timeout=timeout)

    def blocks(
        self,
        items: Iterable[CellIndex],
        sizer: BlockSizer,
        *,
        hurried: bool = False,
    ) -> Iterator[Block[CellIndex]]:
        blocks = blocks_of(self.experiment, items, hurried=hurried, workers=sizer.workers)
        pace = Pace(self.experiment, sizer, self.company)
        together = self.trusted and sizer.workers == 1
        yield from blocks if hurried or together else pace.blocks(blocks)

    def rounds(self, items: Sequence[CellIndex]) -> Iterator[Sequence[CellIndex]]:
        """Yield one fold of every data set at a time."""
        ordered = sorted(items, key=lambda p: (p.run, p.fold, p.dataset, p.repetition, p.learner))
        for _, group in groupby(ordered, key=lambda p: (p.run, p.fold)):
            yield list(group)

    def ship(self) -> bytes:
        experiment = self.experiment
        packed = [_Packed.of(learner.estimator) for learner in experiment.learners]
        learners = zip(experiment.learners, packed, strict=True)
        unpicklable = [repr(learner.name) for learner, one in learners if one is None]
        if unpicklable:
            raise UnpicklableError(joined(unpicklable))
        try:
            return pack(ComparisonTask(experiment.with_estimators(packed)))
        except (Exception, SystemExit):
            # another part of the experiment, such as a loss that holds an open file
            raise UnpicklableError(f"the loss {experiment.loss.name!r}") from None


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
