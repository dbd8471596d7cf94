"""What is to be run: learners, data sets, their splits and the loss; and blocks of its cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofk.data.dataset import DataSet
from bestofk.plans.splits import Splits
from bestofk.run.cells import CellKey, CellResult
from bestofk.run.evaluation.fingerprints import learner_fingerprint, split_fingerprint
from bestofk.run.evaluation.loss_functions import Loss


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contender:
    """A learner under its name."""

    name: str
    estimator: Any
    fingerprint: str

    @classmethod
    def of(cls, name: str, estimator: Any) -> Contender:
        """The contender with its fingerprint."""
        return cls(name=name, estimator=estimator, fingerprint=learner_fingerprint(estimator))


@dataclass(frozen=True, slots=True)
class UnavailableEstimator:
    """Stands for an estimator that could not be made or sent; its cells fail with the reason."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a cell is: positions of its learner and data set, run, fold and repetition."""

    learner: int
    dataset: int
    run: int
    fold: int
    repetition: int


class Places(Sequence[Place]):
    """All places of an experiment, none of which is held."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment

    def __iter__(self) -> Iterator[Place]:
        return self._experiment.places()

    def __len__(self) -> int:
        return self._experiment.n_cells

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """Everything that the cells are a pure function of; picklable."""

    contenders: tuple[Contender, ...]
    datasets: tuple[DataSet, ...]
    splits: tuple[Splits, ...]
    """One for each data set."""
    loss: Loss
    repetitions: int
    random_state: int
    keep_predictions: bool = False
    _splits_keys: dict[tuple[int, int, int], str] = field(default_factory=dict, repr=False)

    def key(self, place: Place) -> CellKey:
        """The names of the cell at `place`."""
        return CellKey(
            dataset=self.datasets[place.dataset].fingerprint,
            learner=self.contenders[place.learner].fingerprint,
            splits=self.splits_key(place.dataset, place.run, place.fold),
            loss=self.loss.name,
            run=place.run,
            fold=place.fold,
            repetition=place.repetition,
        )

    def splits_key(self, dataset: int, run: int, fold: int) -> str:
        """The rows of a split and the seed that learners draw from, which need not be the plan's.

        One key serves all folds of a run of cross-validation.
        """
        splits = self.splits[dataset]
        at = (dataset, run, 0 if splits.fold_of is not None else fold)
        if at not in self._splits_keys:
            rows = split_fingerprint(splits, run, at[2])
            self._splits_keys[at] = f"{self.random_state}:{rows}"
        return self._splits_keys[at]

    def serves(self, result: CellResult) -> bool:
        """A stored result is all that is needed: predictions are there where they are kept."""
        return (
            not self.keep_predictions
            or result.failure is not None
            or result.predictions is not None
        )

    def places(self) -> Iterator[Place]:
        """Every cell, round by round: all learners of a fold before the next fold."""
        for dataset, splits in enumerate(self.splits):
            for run, fold in splits.places():
                for repetition in range(self.repetitions):
                    for learner in range(len(self.contenders)):
                        yield Place(
                            learner=learner,
                            dataset=dataset,
                            run=run,
                            fold=fold,
                            repetition=repetition,
                        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        per_learner = sum(len(splits) for splits in self.splits)
        return len(self.contenders) * per_learner * self.repetitions
