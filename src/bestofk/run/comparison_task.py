"""The cells of a comparison as a task: store lookups and pickling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice, repeat
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import joined
from bestofk.learners.preparation import is_trusted
from bestofk.run.cells import Cell, CellTable, Failure
from bestofk.run.fit import Evaluator
from bestofk.run.live import Live, UnavailableEstimator
from bestofk.run.task import Task, UnpicklableError, describe_error, pack

if TYPE_CHECKING:
    from bestofk.run.store.store import Store

LOOKUP_BATCH_SIZE = 20_000
"""Number of cells per store query."""
MIN_CELLS_FOR_SCAN = 10_000
"""Minimum number of needed cells for which the whole store is read."""
MAX_SCAN_RATIO = 3
"""Maximum number of stored cells per needed cell for which the whole store is read."""


@dataclass(frozen=True, eq=False)
class ComparisonTask(Task):
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

    def key(self, item: Cell) -> str:
        return self.live.record.key(item)

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.live)

    def prepare(self) -> None:
        self._evaluator.prepare()

    def evaluate(self, items: Sequence[Cell]) -> Iterator[Cell]:
        return self._evaluator.evaluate(items)

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

    def together(self, items: Iterable[Cell]) -> Iterator[tuple[Cell, ...]]:
        """Yield cells that share a model together."""
        for _, group in groupby(items, key=self.live.sharing):
            for _, own in groupby(sorted(group, key=_model), key=_model):
                yield tuple(own)

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


def _model(cell: Cell) -> tuple[int, int, int, int]:
    return cell.dataset, cell.run, cell.repetition, cell.learner
