"""One data set of a simulation as a pure function: drawn, split, learnt, and its losses."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import RunError
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Encoded
from bestofk.lab.problems.generator import dataset_of
from bestofk.lab.problems.given_rows import ColumnBlocks, Degraded
from bestofk.learners.kernels.splits import SplitMarks
from bestofk.learners.predict import (
    PlanErrors,
    errors_of,
    plan_errors,
    predict_plan,
    predict_subsets,
    seed_names,
)
from bestofk.run.caught_warnings import caught_warnings
from bestofk.run.cells import Failure
from bestofk.run.evaluate import Evaluator
from bestofk.run.experiment import Experiment, NamedLearner
from bestofk.run.task import ItemEvaluator
from bestofk.splits.splits import Splits

if TYPE_CHECKING:
    from bestofk.lab.simulation import SimulationTask

DATA, SPLITS, SPOIL = 1, 2, 3
"""Part of every seed: changing one of these numbers changes every simulation."""


SEND_EVERY = 0.05
"""Seconds between two messages of a worker whose learners are our own."""


@dataclass(frozen=True, slots=True)
class SplitSet:
    """A data set of a simulation, by its number, and one choice of its random splits."""

    number: int
    repeat: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SetLosses:
    """The losses on one data set, or why there are none."""

    key: str
    """The digest of the item."""
    losses: Floats | None
    """Shape (learners, losses)."""
    failure: Failure | None = None
    seconds: float | None = None
    """Time that it took; None for the first of a process, which also loads what is needed."""


class SetEvaluator(ItemEvaluator[SplitSet, SetLosses]):
    """Evaluates the data sets of one simulation."""

    def __init__(self, work: SimulationTask) -> None:
        self.work = work
        self.send_every = SEND_EVERY if work.trusted else 0.0
        self._begun = False
        quick = work.loss.name == "zero-one"
        self._whole = {
            learner.fingerprint: quick
            and hasattr(learner.estimator, "_predict_plan")
            and not seed_names(learner.estimator)
            for learner in work.learners
        }

    def prepare(self) -> None:
        """Load what is loaded once."""
        with contextlib.suppress(Exception), caught_warnings():
            for learner, encoded in self.work.seen(self.work.encoded(0)):
                if hasattr(learner.estimator, "fit_encoded"):
                    learner.estimator.load(encoded)

    def evaluate(self, items: Iterable[SplitSet]) -> Iterator[SetLosses]:
        """The losses of every item."""
        for item in items:
            key = self.work.key(item)
            begin = time.perf_counter()
            try:
                losses = self.losses(item.number, item.repeat)
            except RunError as failed:
                failure = Failure(kind="raised", reason=str(failed))
                yield SetLosses(key=key, losses=None, failure=failure)
                continue
            seconds = time.perf_counter() - begin
            yield SetLosses(key=key, losses=losses, seconds=seconds if self._begun else None)
            self._begun = True

    def losses(self, number: int, repeat: int) -> Floats:
        """(learners, losses) on one data set: of all runs, then of runs on parts of the rows."""
        work = self.work
        encoded = work.encoded(number)
        splits = work.splits(number, repeat, encoded)
        if isinstance(work.problem, Degraded):
            return self._degraded(number, encoded, splits)
        seen = work.seen(encoded)
        marks = SplitMarks.of(splits.main)
        if work.by_instance:
            assert marks is not None
            tested = splits.marks[0]
            tables = [self._errors(place, number, seen, splits, marks).wrong[0, tested]
                      for place in range(len(seen))]  # fmt: skip
            return np.stack(tables).astype(np.float64)
        losses = np.empty((len(seen), len(splits)))
        others = []
        for place, (learner, rows) in enumerate(seen):
            if marks is None or not self._whole[learner.fingerprint]:
                others.append(place)
                continue
            main = _plan_shares(learner, rows, splits.main, marks)
            losses[place] = np.concatenate([main, _subset_shares(learner, rows, splits)])
        if others and isinstance(work.problem, ColumnBlocks):
            for place in others:
                data = self._data(number, seen[place][1])
                losses[place] = self._fitted(number, data, splits, [seen[place][0]])[0]
        elif others:
            data = self._data(number)
            losses[others] = self._fitted(number, data, splits, [seen[i][0] for i in others])
        return losses

    def _data(self, number: int, seen: Encoded | None = None) -> DataSet:
        """Data set `number`, or what is seen of it, with its columns as learners want them."""
        name = f"data set {number + 1}"
        if seen is not None:
            return dataset_of(seen, name)
        return self.work.problem.draw(self.work.rng(DATA, number), name=name)

    def _fitted(
        self, number: int, data: DataSet, splits: Splits, learners: list[NamedLearner]
    ) -> Floats:
        """Losses of learners that are fitted split by split, as `compare` does it."""
        work = self.work
        experiment = Experiment(
            learners=tuple(learners),
            datasets=(data,),
            splits=(splits,),
            loss=work.loss,
            repetitions=1,
            random_state=work.seed,
        )
        losses = np.empty((len(learners), len(splits)))
        places = list(experiment.cells())
        at = {experiment.key(place).digest: place for place in places}
        for result in Evaluator(experiment).evaluate(places):
            place = at[result.key.digest]
            if result.loss is None:
                assert result.failure is not None
                raise RunError(
                    f"{learners[place.learner].name} failed on data set {number + 1} (run "
                    f"{place.run + 1}, fold {place.fold + 1}): {result.failure.explain()}"
                )
            # runs on parts of the rows come last, and may have another number of folds
            beyond = max(place.run - splits.runs, 0)
            runs = place.run - beyond
            at_fold = runs * splits.folds + beyond * splits.folds_in(place.run) + place.fold
            losses[place.learner, at_fold] = result.loss
        return losses

    def _errors(
        self,
        place: int,
        number: int,
        seen: list[tuple[NamedLearner, Encoded]],
        splits: Splits,
        marks: SplitMarks,
    ) -> PlanErrors:
        """Which test rows a learner gets wrong."""
        work = self.work
        learner, rows = seen[place]
        if self._whole[learner.fingerprint]:
            errors = plan_errors(learner.estimator, rows, splits, marks)
            assert errors is not None
            return errors
        blocks = isinstance(work.problem, ColumnBlocks)
        data = self._data(number, rows if blocks else None)
        numbers = (number, place) if blocks else (number,)
        seeds = work.rng(SPOIL, *numbers).integers(0, 2**31, len(splits)).tolist()
        try:
            predicted = predict_plan(learner.estimator, data, splits, seeds=seeds)
        except Exception as raised:
            # any learner may raise anything
            name = learner.name
            raise RunError(f"{name} failed on data set {number + 1}: {raised}") from None
        return errors_of(predicted, rows.y, splits, marks)

    def _degraded(self, number: int, encoded: Encoded, splits: Splits) -> Floats:
        """One learner, and the same with right answers of some rows counted as wrong."""
        work = self.work
        assert isinstance(work.problem, Degraded)
        marks = SplitMarks.of(splits)
        if marks is None:
            raise RunError("problem 'degraded' takes plans whose splits use every row once.")
        errors = self._errors(0, number, work.seen(encoded), splits, marks)
        first = _shares(errors, splits)
        share = min(1.0, work.problem.by / max(1.0 - float(first.mean()), 1e-12))
        tested = np.ones_like(errors.wrong) if splits.fold_of is not None else marks.marks == 0
        tables = [first]
        for copy in range(work.problem.copies):
            spoilt = work.rng(SPOIL, number, 1 + copy).random(encoded.n) < share
            worse = PlanErrors(marks=marks, wrong=errors.wrong | (spoilt & tested))
            tables.append(_shares(worse, splits))
        return np.stack(tables[::-1] if work.problem.best_last else tables)


def _plan_shares(learner: NamedLearner, rows: Encoded, splits: Splits, marks: SplitMarks) -> Floats:
    errors = plan_errors(learner.estimator, rows, splits, marks)
    assert errors is not None
    return _shares(errors, splits)


def _subset_shares(learner: NamedLearner, rows: Encoded, splits: Splits) -> Floats:
    """Share of wrong answers by fold of the runs on parts of the rows."""
    runs = range(splits.runs, splits.runs + splits.subset_runs)
    tested = [splits.test(run, fold) for run in runs for fold in range(splits.folds_in(run))]
    predicted = predict_subsets(learner.estimator, rows, splits, list(runs))
    return np.array(
        [
            np.count_nonzero(codes != rows.y[test]) / len(test)
            for codes, test in zip(predicted, tested, strict=True)
        ]
    )


def _shares(errors: PlanErrors, splits: Splits) -> Floats:
    """Share of wrong answers by split, in the order (run, fold)."""
    sizes: Any = splits.design.n_test
    if sizes is None:
        sizes = np.bincount(splits.marks[0], minlength=splits.folds)
    shares: Floats = errors.counts() / np.asarray(sizes, dtype=np.float64)
    return shares
