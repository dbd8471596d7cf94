"""The pure function of a cell: fit on the training rows, predict the test rows, one loss."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk.data.encoded import Codes, Encoded
from bestofk.errors import BestOfKError
from bestofk.learners.predict import predict_subsets, seed_names
from bestofk.plans.splits import Splits, distinct_rows
from bestofk.run.cells import CellKey, CellResult, Failure
from bestofk.run.engines.caught_warnings import Caught, caught_warnings
from bestofk.run.evaluation.judge import (
    UnscoredError,
    checked_predictions,
    codes_of,
    loss_of,
    probabilities_of,
)
from bestofk.run.evaluation.models import may_write, model_factory, model_size
from bestofk.run.evaluation.predictions import pack
from bestofk.run.evaluation.rows import Fold, Rows
from bestofk.run.experiment import Contender, Experiment, Place, UnavailableEstimator
from bestofk.run.task import ItemEvaluator

ALL_FOLDS = -1
"""Stands for the folds of a run that one model serves."""
WARNINGS_KEPT = 3
WHOLE_PLAN_FROM = 10_000
"""Rows times splits from which learners that can evaluate whole plans do so.

Below, fits are as quick, and each is timed for itself."""


FIRST = (0, 0, 0)
"""The run, fold and repetition whose model is weighed."""


def _turn(place: Place | CellKey) -> tuple[int, int, int]:
    return place.run, place.fold, place.repetition


@dataclass(slots=True)
class _Runner:
    """One contender on one data set: how to make models."""

    contender: Contender
    fresh: Callable[[int], Any]
    form: str
    writes: bool
    seeded: bool


@dataclass(slots=True)
class _Shared:
    """A model that serves the two folds of a nested run."""

    model: Any = None


class Evaluator(ItemEvaluator[Place, CellResult]):
    """Evaluates cells of one experiment; keeps prepared rows and models' factories between calls.

    The results depend on the experiment and the place alone, whatever was evaluated before.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._rows: dict[int, Rows] = {}
        self._runners: dict[tuple[int, int], _Runner] = {}
        self._whole: dict[tuple[int, int], bool] = {}
        self._sizes: dict[tuple[int, int, int], int] = {}

    def prepare(self) -> None:
        """Make everything that is made once, so that no cell pays for it."""
        for dataset in range(len(self.experiment.datasets)):
            for learner in range(len(self.experiment.contenders)):
                # a learner that cannot be prepared fails in its cells, with a reason
                with contextlib.suppress(Exception):
                    self._runner(dataset, learner)

    def evaluate(self, items: Iterable[Place]) -> Iterator[CellResult]:
        """The result of every place, each exactly once, in groups that share work."""
        whole: dict[tuple[int, int], list[Place]] = {}
        folds: dict[tuple[int, int, int], list[Place]] = {}
        for place in items:
            at = place.dataset, place.learner
            if at not in self._whole:
                self._whole[at] = takes_whole_plans(self.experiment, *at)
            if self._whole[at]:
                whole.setdefault(at, []).append(place)
            else:
                shares = self.experiment.splits[place.dataset].shares_models(place.run)
                fold = ALL_FOLDS if shares else place.fold
                folds.setdefault((place.dataset, place.run, fold), []).append(place)
        for (dataset, learner), group in whole.items():
            yield from self._whole_plan(dataset, learner, group)
        for (dataset, run, fold), group in folds.items():
            if fold == ALL_FOLDS:
                yield from self._nested(dataset, run, group)
                continue
            splits = self.experiment.splits[dataset]
            parts = Fold(self.rows(dataset), splits.train(run, fold), splits.test(run, fold))
            for place in group:
                yield self._cell(place, parts)

    def _nested(self, dataset: int, run: int, group: Sequence[Place]) -> Iterator[CellResult]:
        """Cells of a run whose folds one model serves: fitted once, the folds in their order."""
        splits = self.experiment.splits[dataset]
        first = Fold(self.rows(dataset), splits.train(run, 0), splits.test(run, 0))
        others = (splits.test(run, fold) for fold in range(1, splits.folds_in(run)))
        parts = [first, *map(first.also_testing, others)]
        asked: dict[tuple[int, int], dict[int, Place]] = {}
        for place in group:
            asked.setdefault((place.learner, place.repetition), {})[place.fold] = place
        for places in asked.values():
            shared = _Shared()
            known = next(iter(places.values()))
            for fold in range(max(places) + 1):
                # a fold before it is predicted too, since a model may change as it predicts
                result = self._cell(replace(known, fold=fold), parts[fold], shared)
                if fold in places:
                    yield result

    def rows(self, dataset: int) -> Rows:
        """The prepared rows of a data set."""
        if dataset not in self._rows:
            self._rows[dataset] = Rows(self.experiment.datasets[dataset])
        return self._rows[dataset]

    def _runner(self, dataset: int, learner: int) -> _Runner:
        at = (dataset, learner)
        if at not in self._runners:
            contender = self.experiment.contenders[learner]
            rows = self.rows(dataset)
            estimator, form = _prepared(contender.estimator, rows)
            if form == "encoded":
                with caught_warnings():
                    estimator.load(rows.encoded)
            self._runners[at] = _Runner(
                contender=contender,
                fresh=model_factory(estimator),
                form=form,
                writes=form != "encoded" and may_write(estimator),
                seeded=bool(seed_names(estimator)),
            )
        return self._runners[at]

    def _whole_plan(
        self, dataset: int, learner: int, group: Sequence[Place]
    ) -> Iterator[CellResult]:
        experiment, rows = self.experiment, self.rows(dataset)
        splits = experiment.splits[dataset]
        first = min(group, key=_turn)
        parts = Fold(
            rows,
            splits.train(first.run, first.fold),
            splits.test(first.run, first.fold),
        )
        # one ordinary fit: its time and weight stand for all cells of this learner
        model = self._cell(first, parts)
        if model.failure is not None:
            yield model
            for place in group:
                if place is first:
                    continue
                fold = Fold(
                    rows, splits.train(place.run, place.fold), splits.test(place.run, place.fold)
                )
                yield self._cell(place, fold)
            return
        with caught_warnings():
            predicted = _predicted(
                experiment.contenders[learner].estimator, rows.encoded, splits, group
            )
        for place in group:
            test = splits.test(place.run, place.fold)
            codes = predicted[place.run, place.fold]
            labels = rows.classes[codes]
            yield CellResult(
                key=experiment.key(place),
                loss=experiment.loss.of(rows.y[test], labels),
                fit_time=model.fit_time,
                predict_time=model.predict_time,
                size=model.size if _turn(place) == FIRST else None,
                n_train=self._n_train(dataset, place),
                n_test=len(test),
                warnings=model.warnings,
                predictions=pack(codes, None) if experiment.keep_predictions else None,
            )

    def _n_train(self, dataset: int, place: Place) -> int:
        """Rows that train, counted once for all learners."""
        at = dataset, place.run, place.fold
        if at not in self._sizes:
            train = self.experiment.splits[dataset].train(place.run, place.fold)
            self._sizes[at] = distinct_rows(train)
        return self._sizes[at]

    def _cell(self, place: Place, fold: Fold, shared: _Shared | None = None) -> CellResult:
        experiment = self.experiment
        key = experiment.key(place)
        known: dict[str, Any] = {
            "n_train": distinct_rows(fold.train),
            "n_test": len(fold.test),
        }
        with caught_warnings() as caught:
            try:
                runner = self._runner(place.dataset, place.learner)
                return CellResult(
                    key=key, **known, **self._fit(runner, key, fold, shared), warnings=_said(caught)
                )
            except UnscoredError as unscored:
                failure = unscored.failure
            except MemoryError as raised:
                failure = Failure(kind="memory", reason=_sentence(raised))
            except (Exception, SystemExit) as raised:
                failure = Failure(kind="raised", reason=_sentence(raised))
        return CellResult(key=key, loss=None, failure=failure, **known, warnings=_said(caught))

    def _fit(
        self, runner: _Runner, key: CellKey, fold: Fold, shared: _Shared | None
    ) -> dict[str, Any]:
        experiment, rows = self.experiment, fold.rows
        if runner.writes:
            X_train, X_test, y_train = fold.own_form(runner.form)
        else:
            (X_train, X_test), y_train = fold.form(runner.form), fold.y_train
        model = None if shared is None else shared.model
        begin = time.perf_counter()
        if model is None:
            model = runner.fresh(self._seed(key, shared) if runner.seeded else 0)
            begin = time.perf_counter()
            if runner.form == "encoded":
                model.fit_encoded(X_train)
            else:
                model.fit(X_train, y_train)
            if shared is not None:
                shared.model = model
        fitted = time.perf_counter()
        if runner.form == "encoded":
            predicted = rows.classes[model.predict_encoded(X_test)]
        else:
            predicted = model.predict(X_test)
        done = time.perf_counter()
        predicted = checked_predictions(predicted, len(fold.test), rows)
        fit_time = fitted - begin
        probabilities = None
        if experiment.loss.needs == "probabilities" or (
            experiment.keep_predictions and hasattr(model, "predict_proba")
        ):
            probabilities = probabilities_of(model, X_test, runner.form, rows, experiment.loss)
        loss = loss_of(experiment.loss, model, X_test, fold, predicted, probabilities, runner.form)
        if not np.isfinite(loss):
            raise UnscoredError("nan", f"the loss {experiment.loss.name!r} came out as {loss}.")
        return {
            "loss": loss,
            "fit_time": fit_time,
            "predict_time": done - fitted,
            # of one fold alone, whatever the clock says and whatever was resumed
            "size": model_size(model) if _turn(key) == FIRST else None,
            "predictions": pack(codes_of(predicted, rows), probabilities)
            if experiment.keep_predictions
            else None,
        }

    def _seed(self, key: CellKey, shared: _Shared | None) -> int:
        """The seed of a cell's model; that of the first fold where a run has but one model."""
        return (key if shared is None else replace(key, fold=0)).seed(self.experiment.random_state)


def evaluate(experiment: Experiment, places: Iterable[Place]) -> Iterator[CellResult]:
    """The result of every place of an experiment."""
    return Evaluator(experiment).evaluate(places)


def takes_whole_plans(experiment: Experiment, dataset: int, learner: int) -> bool:
    """The learner evaluates all splits of the data set at once, and it pays.

    The predictions are the same either way.
    """
    estimator = experiment.contenders[learner].estimator
    splits = experiment.splits[dataset]
    return (
        hasattr(estimator, "_predict_plan")
        and splits.n * len(splits) >= WHOLE_PLAN_FROM
        and not seed_names(estimator)
        and experiment.loss.needs == "labels"
        and experiment.datasets[dataset].task == "classification"
    )


def _prepared(estimator: Any, rows: Rows) -> tuple[Any, str]:
    """The estimator as it can take these rows, and in which form."""
    if isinstance(estimator, UnavailableEstimator):
        raise UnscoredError("raised", estimator.reason)
    if hasattr(estimator, "fit_encoded"):
        return estimator, "encoded"
    from bestofk.learners.for_data import check_estimator_like, for_data

    if rows.plain:
        # numbers without gaps: any estimator takes them, and nothing need be looked up
        check_estimator_like(estimator, "learner")
        return estimator, "array" if _takes_arrays(estimator) else "frame"
    return for_data(estimator, rows.data.X, schema=rows.data.schema), "frame"


def _takes_arrays(estimator: Any) -> bool:
    """Plain numbers go as an array unless something inside picks columns by name."""
    if not hasattr(estimator, "get_params"):
        return True
    inside = [estimator, *estimator.get_params(deep=True).values()]
    return not any(type(part).__name__ == "ColumnTransformer" for part in inside)


def _predicted(
    estimator: Any, encoded: Encoded, splits: Splits, group: Sequence[Place]
) -> dict[tuple[int, int], Codes]:
    """Predicted codes by (run, fold), all folds of the runs in `group`."""
    found: dict[tuple[int, int], Codes] = {}
    on_all_rows = [place for place in group if place.run < splits.runs]
    if on_all_rows:
        part, position = _only(splits.main, on_all_rows)
        codes = estimator._predict_plan(encoded, part)
        found = {at: codes[number] for at, number in position.items()}
    subsets = sorted({place.run for place in group} - {place.run for place in on_all_rows})
    places = ((run, fold) for run in subsets for fold in range(splits.folds_in(run)))
    found |= zip(places, predict_subsets(estimator, encoded, splits, subsets), strict=True)
    return found


def _only(splits: Splits, group: Sequence[Place]) -> tuple[Splits, dict[tuple[int, int], int]]:
    """The splits that hold the runs of `group`, and where each (run, fold) is among them."""
    if splits.fold_of is None:
        kept = sorted({place.fold for place in group})
        part = _part(splits, kept, runs=1, folds=len(kept))
        return part, {(0, fold): place for place, fold in enumerate(kept)}
    kept = sorted({place.run for place in group})
    if len(kept) == splits.runs:
        part = splits
    else:
        part = _part(splits, kept, runs=len(kept), folds=splits.folds)
    return part, {
        (run, fold): place * splits.folds + fold
        for place, run in enumerate(kept)
        for fold in range(splits.folds)
    }


def _part(splits: Splits, kept: list[int], *, runs: int, folds: int) -> Splits:
    design = splits.design.with_(runs=runs, folds=folds, n_train=None, n_test=None)
    return Splits.of(
        spec=splits.spec,
        seed=splits.seed,
        design=design,
        marks=np.array(splits.marks[kept]),
        notes=(),
    )


def _said(caught: Caught) -> tuple[str, ...]:
    if not caught:
        return ()
    lines = (f"{w.category.__name__}: {_first_line(str(w.message))}" for w in caught)
    return tuple(dict.fromkeys(lines))[:WARNINGS_KEPT]


def _sentence(raised: BaseException) -> str:
    if isinstance(raised, BestOfKError):
        return _first_line(str(raised))
    text = _first_line(str(raised))
    return f"{type(raised).__name__}: {text}" if text else f"{type(raised).__name__}."


def _first_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."
