"""The definition of an experiment: learners, data sets, splits, losses and fingerprints."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.code_identity import OWN, Identity, identify, package_of, text_digest
from bestofk.data.dataset import DataSet
from bestofk.learners.base import seeds_of
from bestofk.run.cells import CellKey, CellResult
from bestofk.run.metrics import Loss
from bestofk.splits.splits import Splits

if TYPE_CHECKING:
    from bestofk.run.store.stored_study import StudySpec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NamedLearner:
    """A learner under its name."""

    name: str
    estimator: Any
    fingerprint: str
    unknown: str = ""
    """Why its code cannot be fingerprinted; empty if it can."""

    @classmethod
    def of(cls, name: str, estimator: Any) -> NamedLearner:
        """Return a named learner with its fingerprint."""
        identity = learner_fingerprint(estimator)
        return cls(
            name=name, estimator=estimator, fingerprint=identity.digest, unknown=identity.unknown
        )


@dataclass(frozen=True, slots=True)
class UnavailableEstimator:
    """An estimator that a worker could not load; its cells fail with the reason."""

    reason: str


ALL_FOLDS = -1
"""Fold number of runs in which one model predicts all folds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellIndex:
    """Identify a cell by the positions of its learner and data set, run, fold and repetition."""

    learner: int
    dataset: int
    run: int
    fold: int
    repetition: int


class AllCells(Sequence[CellIndex]):
    """The cells of an experiment as a sequence that generates them."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment

    def __iter__(self) -> Iterator[CellIndex]:
        return self._experiment.cells()

    def __len__(self) -> int:
        return self._experiment.n_cells

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """Everything that determines the results of the cells; picklable."""

    learners: tuple[NamedLearner, ...]
    datasets: tuple[DataSet, ...]
    splits: tuple[Splits, ...]
    """One for each data set."""
    loss: Loss
    """The loss that decides."""
    repetitions: int
    random_state: int
    keep_predictions: bool = False
    threads: int = 1
    """Threads that libraries may use in one fit."""
    keep_first: bool = False
    """Keep the predictions of the first fold, in case the run stops before the second."""
    also: tuple[Loss, ...] = ()
    """Other losses that score the same models."""
    notes: tuple[str, ...] = ()
    """Notes about the learners for the reader."""

    @cached_property
    def spec(self) -> StudySpec:
        """What a store keeps of the experiment; it names the cells."""
        from bestofk.run.store.stored_study import study_of

        return study_of(self)

    def with_estimators(self, estimators: Sequence[Any]) -> Experiment:
        """Return the experiment with other objects for the same learners."""
        learners = zip(self.learners, estimators, strict=True)
        other = replace(
            self, learners=tuple(replace(learner, estimator=one) for learner, one in learners)
        )
        vars(other)["spec"] = self.spec
        return other

    def key(self, cell: CellIndex) -> CellKey:
        """Return the key of a cell."""
        return self.spec.key(cell)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses, the one that decides first."""
        return (self.loss, *self.also)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Learners and losses that cannot be fingerprinted, with the reason."""
        reasons = [
            f"{learner.name}: {learner.unknown}" for learner in self.learners if learner.unknown
        ]
        judged = [metric_identity(loss).unknown for loss in self.losses]
        return (*reasons, *(f"the loss: {reason}" for reason in judged if reason))

    def sharing(self, cell: CellIndex) -> tuple[int, int, int]:
        """Return the data set, run and fold of the cells that share rows, or models, with this."""
        shares = self.splits[cell.dataset].shares_models(cell.run)
        return cell.dataset, cell.run, ALL_FOLDS if shares else cell.fold

    def keeps_predictions(self, at: CellIndex | CellKey) -> bool:
        """Return whether the predictions of a cell are kept."""
        return self.keep_predictions or (self.keep_first and at.run == at.fold == 0)

    def serves(self, result: CellResult) -> bool:
        """Return whether a stored result has the predictions that are needed."""
        return (
            not self.keep_predictions
            or result.failure is not None
            or result.predictions is not None
        )

    def cells(self) -> Iterator[CellIndex]:
        """Yield every cell, round by round: all learners of a fold before the next fold."""
        for dataset, splits in enumerate(self.splits):
            for run, fold in splits.run_folds():
                for repetition in range(self.repetitions):
                    for learner in range(len(self.learners)):
                        yield CellIndex(
                            learner=learner,
                            dataset=dataset,
                            run=run,
                            fold=fold,
                            repetition=repetition,
                        )

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes about the splits for the reader."""
        several = len(self.datasets) > 1
        return tuple(
            f"{data.name}: {note}" if several else note
            for data, splits in zip(self.datasets, self.splits, strict=True)
            for note in splits.notes
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        per_learner = sum(len(splits) for splits in self.splits)
        return len(self.learners) * per_learner * self.repetitions


_PLAIN = (type(None), bool, int, float, str, bytes)


def learner_fingerprint(estimator: Any) -> Identity:
    """Return the identity of a learner: its class, its settings, and the code of both.

    The digest has two parts, separated by a dash. The first covers the class and its plain
    settings; seeds are derived from it, so that editing the code does not change them. The second
    covers everything that runs. A `random_state` that the user did not set is excluded, because
    the runner sets it in every cell.
    """
    settings = text_digest(repr(_settings(estimator)))
    code = identify(estimator)
    return Identity(digest=f"{settings}-{code.digest}", unknown=code.unknown)


def metric_identity(loss: Loss) -> Identity:
    """Return the identity of how predictions are scored: the code of the loss and the scorer."""
    from bestofk.run.judge import Judge

    return identify(loss.each, loss.of, loss.needs, Judge)


def way_of_evaluation(data: DataSet, threads: int) -> Identity:
    """Return the identity of how predictions on a data set are computed.

    It covers the types of columns and labels, the preparation of columns for learners that need
    numbers without gaps, and the threads of a fit.
    """
    from bestofk.learners.preparation import ready_learner
    from bestofk.run.judge import checked_predictions

    kinds = [type(data.X).__name__] if data.whole else [str(kind) for kind in data.X.dtypes]
    labels = [str(data.y.dtype)]
    if data.task == "classification":
        labels = sorted({type(label).__name__ for label in data.labels()[1].tolist()})
    plain = not data.whole and set(data.kinds.values()) == {"numeric"} and not data.n_missing
    prepared = () if plain else (ready_learner,)
    identity = identify(kinds, labels, checked_predictions, *prepared)
    return Identity(digest=text_digest(f"{identity.digest} {threads}"), unknown=identity.unknown)


def split_fingerprint(splits: Splits, run: int, fold: int) -> str:
    """Return the digest of the rows of one split.

    Longer plans begin with the same runs, so cells of ten runs are reused for twenty.
    """
    kind = splits.design.kind
    # a row of marks is a run of cross-validation, but a single split of other kinds of plan
    row, folds = (run, splits.folds_in(run)) if kind in ("cv", "loo") else (fold, 1)
    lines = splits.marks
    if row >= splits.runs and splits.subset_marks is not None:
        row, lines = row - splits.runs, splits.subset_marks
    marks = np.ascontiguousarray(lines[row], dtype="<i4").tobytes()
    return text_digest(f"{kind} {folds} ", marks)


def _settings(value: Any) -> Any:
    """Return a value whose repr is the same on every machine and in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        try:
            params = value.get_params(deep=False)
        except Exception:
            # user classes may raise anything; the fits report it
            params = {}
        seeds = seeds_of(value)
        settings = {
            name: _settings(param)
            for name, param in params.items()
            if seeds.get(name) is not None or name not in ("random_state", "random_seed")
        }
        kind = type(value)
        return (_qualified_name(kind), _version(kind), sorted(settings.items()))
    if isinstance(value, np.ndarray):
        return ("array", value.shape, str(value.dtype), text_digest("", value.tobytes()))
    if isinstance(value, list | tuple):
        return tuple(_settings(item) for item in value)
    if isinstance(value, dict):
        return sorted((_key(key), _settings(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(_key(item) for item in value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.random.RandomState):
        return ("random state", _settings(value.get_state(legacy=False)))
    if isinstance(value, np.random.Generator):
        return ("generator", _settings(value.bit_generator.state))
    if isinstance(value, _PLAIN):
        return repr(value)
    has_name = isinstance(value, type) or hasattr(value, "__qualname__")
    return _qualified_name(value if has_name else type(value))


def _qualified_name(value: Any) -> str:
    """Return the qualified name, without the module unless it belongs to a package."""
    module = str(value.__module__)
    return f"{module}.{value.__qualname__}" if _is_packaged(module) else str(value.__qualname__)


def _is_packaged(module: str) -> bool:
    return module.partition(".")[0] == OWN or package_of(module) is not None


def _key(value: Any) -> str:
    return repr(value) if isinstance(value, _PLAIN) else repr(_settings(value))


def _version(kind: type) -> str:
    """Return the major and minor version of the package of a class."""
    if not _is_packaged(kind.__module__):
        return ""
    package = sys.modules.get(kind.__module__.partition(".")[0])
    version = str(getattr(package, "__version__", ""))
    return ".".join(version.split(".")[:2])
