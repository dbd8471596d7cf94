"""What only a process can hold of a study: estimators, data, splits and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bestofk._base.code_identity import Identity, identify
from bestofk._base.formatting import joined
from bestofk.data.dataset import DataSet
from bestofk.learners.preparation import is_trusted
from bestofk.run.cells import Cell, CellTable, Failure
from bestofk.run.fingerprints import (
    evaluation_identity,
    learner_fingerprint,
    settings_digest,
    split_names,
)
from bestofk.run.metrics import Loss
from bestofk.run.record import DataRecord, LearnerRecord, StudyRecord
from bestofk.run.task import Piece, Task, UnpicklableError, describe_error, pack
from bestofk.splits.splits import Splits

if TYPE_CHECKING:
    from bestofk.run.fit import Evaluator
    from bestofk.run.store.store import Store

MAX_SETTINGS_LENGTH = 2000
"""Maximum length of a learner's stored text."""
ALL_FOLDS = -1
"""Fold number of runs in which one model predicts all folds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Live(Task):
    """A study in this process: its record, and everything that evaluates its cells.

    - `estimators`: In the order of the learners of the record.
    - `splits`: One for each data set.
    - `metrics`: The one that decides first.
    - `threads`: Threads that libraries may use in one fit.
    - `keep_predictions`, `keep_first`: Keep all predictions; keep those of the first fold, in case
      the run stops before the second.
    - `unknown`: Learners and metrics whose code a store cannot recognise, with the reason.
    """

    record: StudyRecord
    estimators: tuple[Any, ...]
    datasets: tuple[DataSet, ...]
    splits: tuple[Splits, ...]
    metrics: tuple[Loss, ...]
    threads: int = 1
    keep_predictions: bool = False
    keep_first: bool = False
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        learners: Mapping[str, Any],
        datasets: Sequence[DataSet],
        splits: Sequence[Splits],
        metrics: Sequence[Loss],
        *,
        repetitions: int = 1,
        random_state: int = 0,
        threads: int = 1,
        stored: bool = True,
        **options: Any,
    ) -> Live:
        """Return a study of learners by name.

        Only a store has to recognise code, so it is identified only if the cells are `stored`.
        `options` are further fields.
        """
        from bestofk.run.fit import FittedModel

        codes = [
            learner_fingerprint(one) if stored else Identity(digest=settings_digest(one))
            for one in learners.values()
        ]
        scored = [
            identify(loss.each, loss.of, loss.needs, FittedModel) if stored else Identity(digest="")
            for loss in metrics
        ]
        reasons = [(name, code.unknown) for name, code in zip(learners, codes, strict=True)]
        reasons += [("the loss", code.unknown) for code in scored]
        names = [data.name for data in datasets]
        sets = names[0] if len(names) == 1 else f"{len(names)} data sets"
        record = StudyRecord(
            title=f"{len(learners)} learner{'s' * (len(learners) != 1)} on {sets}",
            learners=tuple(
                LearnerRecord(name=name, fingerprint=code.digest, settings=_settings_text(one))
                for (name, one), code in zip(learners.items(), codes, strict=True)
            ),
            datasets=tuple(
                DataRecord(
                    name=data.name,
                    fingerprint=data.fingerprint,
                    rows=data.n,
                    columns=data.d,
                    splits=split_names(
                        of_data, random_state, evaluation_identity(data, threads) if stored else ""
                    ),
                )
                for data, of_data in zip(datasets, splits, strict=True)
            ),
            plan=splits[0].spec,
            design=splits[0].design,
            designs=tuple(one.design for one in splits) if len(splits) > 1 else (),
            metrics=tuple(loss.name for loss in metrics),
            metric_keys=tuple(
                f"{loss.name} {code.digest}" for loss, code in zip(metrics, scored, strict=True)
            ),
            repetitions=repetitions,
            random_state=random_state,
            versions=dict(_versions()),
        )
        return cls(
            record=record,
            estimators=tuple(learners.values()),
            datasets=tuple(datasets),
            splits=tuple(splits),
            metrics=tuple(metrics),
            threads=threads,
            unknown=tuple(f"{what}: {reason}" for what, reason in reasons if reason),
            **options,
        )

    def recorded(self, **facts: Any) -> Live:
        """Return the study with other facts in its record."""
        return replace(self, record=replace(self.record, **facts))

    def on(self, dataset: int) -> Live:
        """Return the part of one data set as a study of its own."""
        return replace(
            self,
            record=self.record.on(dataset),
            datasets=(self.datasets[dataset],),
            splits=(self.splits[dataset],),
        )

    @property
    def learners(self) -> dict[str, Any]:
        """The estimators by name."""
        return dict(zip(self.record.names, self.estimators, strict=True))

    @property
    def metric(self) -> Loss:
        """The metric that decides."""
        return self.metrics[0]

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes about the splits for the reader."""
        several = len(self.datasets) > 1
        return tuple(
            f"{data.name}: {note}" if several else note
            for data, splits in zip(self.datasets, self.splits, strict=True)
            for note in splits.notes
        )

    # evaluation; see `Task`

    @cached_property
    def _untrusted(self) -> frozenset[int]:
        learners = enumerate(self.estimators)
        return frozenset(index for index, each in learners if not is_trusted(each))

    @property
    def trusted(self) -> bool:
        return not self._untrusted

    @cached_property
    def _evaluator(self) -> Evaluator:
        from bestofk.run.fit import Evaluator

        return Evaluator(self)

    def prepare(self) -> None:
        self._evaluator.prepare()

    def evaluate(self, items: Iterable[Cell]) -> Iterator[Cell]:
        return self._evaluator.evaluate(items)

    def lost(self, item: Cell, failure: Failure) -> Cell:
        return replace(item, scores=(failure,) * len(self.metrics))

    def timed_as(self, item: Cell) -> tuple[int, int]:
        return item.dataset, item.learner

    def isolated_as(self, item: Cell) -> int | None:
        return item.learner if item.learner in self._untrusted else None

    def label(self, item: Cell) -> str:
        record = self.record
        return f"{record.learners[item.learner].name} on {record.datasets[item.dataset].name}"

    def sharing(self, cell: Cell) -> tuple[int, int, int]:
        """Return the data set, run and fold of the cells that share rows, or models, with this."""
        shares = self.splits[cell.dataset].shares_models(cell.run)
        return cell.dataset, cell.run, ALL_FOLDS if shares else cell.fold

    def together(self, items: Iterable[Cell]) -> Iterator[tuple[Cell, ...]]:
        """Yield cells that share a model together."""

        def model(cell: Cell) -> tuple[int, int, int, int]:
            return cell.dataset, cell.run, cell.repetition, cell.learner

        for _, group in groupby(items, key=self.sharing):
            for _, own in groupby(sorted(group, key=model), key=model):
                yield tuple(own)

    def in_rounds(self, items: Sequence[Cell]) -> Sequence[Cell]:
        """Return one fold of every data set after the other."""
        return sorted(items, key=lambda p: (p.run, p.fold, p.dataset, p.repetition, p.learner))

    def ship(self) -> list[Piece]:
        packed = [_Packed.of(estimator) for estimator in self.estimators]
        learners = zip(self.record.names, packed, strict=True)
        unpicklable = [repr(name) for name, one in learners if one is None]
        if unpicklable:
            raise UnpicklableError(joined(unpicklable))
        try:
            return pack(replace(self, estimators=tuple(packed)))
        except (Exception, SystemExit):
            # another part of the study, such as a loss that holds an open file
            raise UnpicklableError(f"the loss {self.metric.name!r}") from None

    # stored cells

    def keeps_predictions(self, cell: Cell) -> bool:
        """Return whether the predictions of a cell are kept."""
        return self.keep_predictions or (self.keep_first and cell.run == cell.fold == 0)

    @property
    def _reads_predictions(self) -> bool:
        return self.keep_predictions or self.keep_first

    def _serves(self, cell: Cell) -> bool:
        """Return whether a stored cell has the predictions that are needed."""
        kept = cell.predictions is not None or cell.failure is not None
        return kept or not self.keep_predictions

    def stored(
        self, store: Store | None, *, retry: Callable[[Failure], bool]
    ) -> tuple[CellTable, set[str]]:
        """Return the stored cells that can be used, and the keys of the failures to `retry`."""
        table, retried = CellTable(self.record), set[str]()
        if store is None:
            return table, retried
        table.read(store, predictions=self._reads_predictions)
        for cell, failure in table.failures:
            if retry(failure):
                retried.add(self.key(cell))
                table.remove(cell)
        for cell in list(table) if self.keep_predictions else ():
            if not self._serves(cell):
                table.remove(cell)
        return table, retried

    def key(self, item: Cell) -> str:
        return self.record.key(item)

    def find(self, store: Store, items: Mapping[str, Cell]) -> dict[str, Cell]:
        stored = store.find(self.record, items, predictions=self._reads_predictions)
        return {key: cell for key, cell in stored.items() if self._serves(cell)}

    def keep(self, store: Store, result: Cell) -> None:
        store.put(self.record, [result])


def _settings_text(estimator: Any) -> str:
    """Return the estimator as one line, or its class if its repr fails."""
    try:
        text = " ".join(repr(estimator).split())
        return text if len(text) <= MAX_SETTINGS_LENGTH else text[: MAX_SETTINGS_LENGTH - 3] + "..."
    except Exception:  # user classes may raise anything
        return f"{type(estimator).__module__}.{type(estimator).__qualname__}"


@cache
def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    from bestofk.version import __version__

    versions = {"bestofk": __version__, "python": platform.python_version()}
    return versions | {package: version(package) for package in ("numpy", "scikit-learn")}


# Pickled estimators: one that cannot be loaded does not keep others from being loaded


@dataclass(frozen=True, slots=True)
class UnavailableEstimator:
    """An estimator that a worker could not load; its cells fail with the reason."""

    reason: str


@dataclass(frozen=True)
class _Packed:
    """A pickled estimator."""

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
        return UnavailableEstimator(f"it cannot be loaded in a worker: {describe_error(raised)}")
