"""Evaluate cells: make a model, fit it, predict the test rows and compute the losses."""

from __future__ import annotations

import contextlib
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import FunctionType
from typing import Any
from warnings import WarningMessage

import numpy as np

from bestofk._base.errors import Interrupted
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import predict_subsets, seed_names
from bestofk.learners.preparation import copy_of, is_trusted, ready_learner
from bestofk.run.cells import Cell, Failure, pack
from bestofk.run.judge import (
    Fold,
    Judge,
    Rows,
    UnscoredError,
    checked_predictions,
    prepared_argument,
)
from bestofk.run.live import ALL_FOLDS, Live, UnavailableEstimator
from bestofk.run.metrics import codes_in
from bestofk.run.process_state import caught_warnings, restored_process_state
from bestofk.run.task import describe_error, one_line
from bestofk.splits.splits import Splits, distinct_rows

WHOLE_PLAN_FROM = 10_000
"""Minimum of rows times splits for evaluating whole plans at once.

Below it, single fits are as fast, and each is timed."""


def takes_whole_plans(live: Live, dataset: int, learner: int) -> bool:
    """Return whether the learner can evaluate all splits of the data set at once, and should.

    The predictions are the same either way.
    """
    estimator = live.estimators[learner]
    splits = live.splits[dataset]
    return (
        hasattr(estimator, "_predict_plan")
        and splits.n * len(splits) >= WHOLE_PLAN_FROM
        and not splits.leaves_out
        and not seed_names(estimator)
        and all(loss.needs == "labels" for loss in live.metrics)
        and live.datasets[dataset].task == "classification"
    )


def predicted_in_plan(
    estimator: Any, encoded: Encoded, splits: Splits, group: Sequence[Cell]
) -> dict[tuple[int, int], Codes]:
    """Return the predicted codes by (run, fold) for all folds of the runs in `group`."""
    predicted: dict[tuple[int, int], Codes] = {}
    on_all_rows = [cell for cell in group if cell.run < splits.runs]
    if on_all_rows:
        part, position = _only(splits.main, on_all_rows)
        codes = estimator._predict_plan(encoded, part)
        predicted = {at: codes[number] for at, number in position.items()}
    subsets = sorted({cell.run for cell in group} - {cell.run for cell in on_all_rows})
    pairs = ((run, fold) for run in subsets for fold in range(splits.folds_in(run)))
    predicted |= zip(pairs, predict_subsets(estimator, encoded, splits, subsets), strict=True)
    return predicted


def _only(splits: Splits, group: Sequence[Cell]) -> tuple[Splits, dict[tuple[int, int], int]]:
    """Return the splits that hold the runs of `group`, and where each (run, fold) is among them."""
    if splits.fold_of is None:
        numbers = sorted({cell.fold for cell in group})
        part = _part(splits, numbers)
        return part, {(0, fold): index for index, fold in enumerate(numbers)}
    numbers = sorted({cell.run for cell in group})
    if len(numbers) == splits.runs:
        part = splits
    else:
        part = _part(splits, numbers)
    return part, {
        (run, fold): index * splits.folds + fold
        for index, run in enumerate(numbers)
        for fold in range(splits.folds)
    }


def _part(splits: Splits, numbers: list[int]) -> Splits:
    return Splits.of(
        spec=splits.spec,
        seed=splits.seed,
        kind=splits.design.kind,
        marks=np.array(splits.marks[numbers]),
        notes=(),
    )


WARNINGS_KEPT = 3
_OF_FAILURES = ("n_train", "n_test", "warnings")
"""Fields of a cell without any score."""
FIRST = (0, 0, 0)
"""The run, fold and repetition whose model size is measured."""
_NOTHING = contextlib.nullcontext()


def _turn(cell: Cell) -> tuple[int, int, int]:
    return cell.run, cell.fold, cell.repetition


@dataclass(slots=True)
class _Runner:
    """One learner on one data set: how to make models."""

    fresh: Callable[[int], Any]
    form: str
    writes: bool
    seeded: bool
    weights: str | None
    """The argument of `fit` that takes the weights of the rows."""


@dataclass(slots=True)
class _Shared:
    """A model that serves the two folds of a nested run."""

    model: Any = None
    fit_time: float = 0.0


class Evaluator:
    """Evaluate the cells of a study; cache prepared rows and model factories.

    A result depends only on the study and the cell, not on earlier calls.
    """

    def __init__(self, live: Live) -> None:
        self.live = live
        self._rows: dict[int, Rows] = {}
        self._runners: dict[tuple[int, int], _Runner] = {}
        self._trusts: dict[int, bool] = {}
        self._whole: dict[tuple[int, int], bool] = {}
        self._sizes: dict[tuple[int, int, int], int] = {}

    def prepare(self) -> None:
        """Make everything that is made once, so that no cell pays for it."""
        for dataset in range(len(self.live.datasets)):
            for learner in range(len(self.live.learners)):
                # a learner that cannot be prepared fails in its cells, with a reason
                with contextlib.suppress(Exception, SystemExit):
                    self._runner(dataset, learner)

    def evaluate(self, cells: Iterable[Cell], *, apart: bool = False) -> Iterator[Cell]:
        """Yield each cell evaluated, in groups that share work; if `apart`, by ordinary fits."""
        whole: dict[tuple[int, int], list[Cell]] = {}
        folds: list[Cell] = []
        for cell in cells:
            at = cell.dataset, cell.learner
            if at not in self._whole:
                self._whole[at] = takes_whole_plans(self.live, *at)
            if self._whole[at] and not apart:
                whole.setdefault(at, []).append(cell)
            else:
                folds.append(cell)
        for (dataset, learner), group in whole.items():
            yield from self._whole_plan(dataset, learner, group)
        yield from self._apart(folds)

    def _apart(self, cells: Iterable[Cell]) -> Iterator[Cell]:
        """Yield the same results by ordinary fits only."""
        # join only neighbours: the order shows which cell ended a worker
        for (dataset, run, fold), group in groupby(cells, key=self.live.sharing):
            if fold == ALL_FOLDS:
                yield from self._nested(dataset, run, list(group))
                continue
            parts = self._fold(dataset, run, fold)
            for cell in group:
                yield self._evaluate_cell(cell, parts)

    def _fold(self, dataset: int, run: int, fold: int) -> Fold:
        splits = self.live.splits[dataset]
        return Fold(self.rows(dataset), splits.train(run, fold), splits.test(run, fold))

    def _nested(self, dataset: int, run: int, group: Sequence[Cell]) -> Iterator[Cell]:
        """Yield the cells of a run whose folds share one fitted model, fold by fold."""
        splits = self.live.splits[dataset]
        first = self._fold(dataset, run, 0)
        others = (splits.test(run, fold) for fold in range(1, splits.folds_in(run)))
        parts = [first, *map(first.also_testing, others)]
        cells_of_model: dict[tuple[int, int], dict[int, Cell]] = {}
        for cell in group:
            cells_of_model.setdefault((cell.learner, cell.repetition), {})[cell.fold] = cell
        for by_fold in cells_of_model.values():
            shared = _Shared()
            known = next(iter(by_fold.values()))
            for fold in range(max(by_fold) + 1):
                # a fold before it is predicted too, since a model may change as it predicts
                cell = by_fold.get(fold) or replace(known, fold=fold)
                result = self._evaluate_cell(cell, parts[fold], shared)
                if fold in by_fold:
                    yield result

    def rows(self, dataset: int) -> Rows:
        """Return the prepared rows of a data set."""
        if dataset not in self._rows:
            self._rows[dataset] = Rows(self.live.datasets[dataset])
        return self._rows[dataset]

    def _runner(self, dataset: int, learner: int) -> _Runner:
        at = (dataset, learner)
        if at not in self._runners:
            estimator, rows = self.live.estimators[learner], self.rows(dataset)
            if isinstance(estimator, UnavailableEstimator):
                raise UnscoredError("missing", estimator.reason)
            ready = ready_learner(estimator, rows.data)
            if ready.form == "encoded":
                with caught_warnings():
                    ready.estimator.load(rows.encoded)
            weighted = rows.weights is not None
            self._runners[at] = _Runner(
                fresh=model_factory(ready.estimator),
                form=ready.form,
                writes=ready.form != "encoded" and may_write(ready.estimator),
                seeded=bool(seed_names(ready.estimator)),
                weights=prepared_argument(ready.estimator, estimator) if weighted else None,
            )
        return self._runners[at]

    def _whole_plan(self, dataset: int, learner: int, group: Sequence[Cell]) -> Iterator[Cell]:
        live, rows = self.live, self.rows(dataset)
        splits = live.splits[dataset]
        first = min(group, key=_turn)
        parts = self._fold(dataset, first.run, first.fold)
        # one ordinary fit: its time and size stand for all cells of this learner
        model = self._evaluate_cell(first, parts)
        predicted: dict[tuple[int, int], Codes] | None = None
        if model.failure is None:
            # fit fold by fold if the whole plan fails
            with caught_warnings(), contextlib.suppress(Exception):
                predicted = predicted_in_plan(live.estimators[learner], rows.encoded, splits, group)
        if predicted is None:
            yield from self._apart(group)
            return
        for cell in group:
            test = splits.test(cell.run, cell.fold)
            codes = predicted[cell.run, cell.fold]
            labels = rows.classes[codes]
            yield self._result(
                cell,
                [
                    loss.value(rows.y[test], labels, weights=parts.weights(test))
                    for loss in live.metrics
                ],
                fit_time=model.fit_time,
                predict_time=model.predict_time,
                size=model.size if _turn(cell) == FIRST else None,
                n_train=self._n_train(dataset, cell),
                n_test=len(test),
                warnings=model.warnings,
                predictions=pack(codes, None) if live.keeps_predictions(cell) else None,
            )

    def _n_train(self, dataset: int, cell: Cell) -> int:
        """Return rows that train, counted once for all learners."""
        at = dataset, cell.run, cell.fold
        if at not in self._sizes:
            train = self.live.splits[dataset].train(cell.run, cell.fold)
            self._sizes[at] = distinct_rows(train)
        return self._sizes[at]

    def _evaluate_cell(self, cell: Cell, fold: Fold, shared: _Shared | None = None) -> Cell:
        live = self.live
        known: dict[str, Any] = fold.sizes
        with caught_warnings() as caught:
            try:
                trusted = self._trusted(cell.learner)
                with _NOTHING if trusted else restored_process_state():
                    runner = self._runner(cell.dataset, cell.learner)
                    verdicts, spent = self._fit(runner, cell, fold, shared)
                return self._result(cell, verdicts, **known, **spent, warnings=_said(caught))
            except UnscoredError as unscored:
                failure = unscored.failure
            except MemoryError as raised:
                failure = Failure(kind="memory", reason=describe_error(raised))
            except ImportError as raised:
                failure = Failure(
                    kind="missing",
                    reason=describe_error(raised),
                    detail=(raised.name or "").partition(".")[0],
                )
            except BaseException as raised:  # a stranger's class may raise anything
                if isinstance(raised, Interrupted) or (
                    isinstance(raised, KeyboardInterrupt) and _hears_the_user()
                ):
                    raise
                failure = Failure(kind="raised", reason=describe_error(raised))
        failures = [failure] * len(live.metrics)
        return self._result(cell, failures, **known, warnings=_said(caught))

    def _result(self, cell: Cell, verdicts: Sequence[float | Failure], **known: Any) -> Cell:
        """Return the result of a cell."""
        if all(isinstance(verdict, Failure) for verdict in verdicts):
            known = {name: value for name, value in known.items() if name in _OF_FAILURES}
        return replace(cell, scores=tuple(verdicts), **known)

    def _trusted(self, learner: int) -> bool:
        if learner not in self._trusts:
            try:
                self._trusts[learner] = is_trusted(self.live.estimators[learner])
            except Exception:  # a user's class may raise anything
                self._trusts[learner] = False
        return self._trusts[learner]

    def _fit(
        self, runner: _Runner, cell: Cell, fold: Fold, shared: _Shared | None
    ) -> tuple[list[float | Failure], dict[str, Any]]:
        live, rows = self.live, fold.rows
        if runner.writes:
            X_train, X_test, y_train = fold.own_form(runner.form)
        else:
            (X_train, X_test), y_train = fold.form(runner.form), fold.y_train
        model = None if shared is None else shared.model
        begin = time.perf_counter()
        if model is None:
            model = runner.fresh(self._seed(cell, shared) if runner.seeded else 0)
            begin = time.perf_counter()
            if runner.form == "encoded":
                model.fit_encoded(X_train)
            elif runner.weights is not None:
                model.fit(X_train, y_train, **{runner.weights: fold.weights(fold.train)})
            else:
                model.fit(X_train, y_train)
            if shared is not None:
                shared.model = model
                shared.fit_time = time.perf_counter() - begin
        fitted = time.perf_counter()
        if runner.form == "encoded":
            predicted = rows.classes[model.predict_encoded(X_test)]
        else:
            predicted = model.predict(X_test)
        done = time.perf_counter()
        predicted = checked_predictions(predicted, len(fold.test), rows)
        fit_time = fitted - begin
        # a model that serves two folds was fitted in the first, and as slowly for the second
        seconds = (fit_time if shared is None else shared.fit_time, done - fitted)
        judge = Judge(model, X_test, fold, runner.form, predicted, seconds)
        verdicts = [judge.loss(loss) for loss in live.metrics]
        spent: dict[str, Any] = {
            "fit_time": fit_time,
            "predict_time": done - fitted,
            # of one fold alone, whatever the clock says and whatever was resumed
            "size": model_size(model) if _turn(cell) == FIRST else None,
        }
        if live.keeps_predictions(cell) and not isinstance(verdicts[0], Failure):
            has_probabilities = hasattr(model, "predict_proba")
            probabilities = judge.probabilities(live.loss) if has_probabilities else None
            if rows.classification:
                predicted = codes_in(predicted, rows.classes).astype(np.int32)
            spent["predictions"] = pack(predicted, probabilities, judge.decision_values())
        return verdicts, spent

    def _seed(self, cell: Cell, shared: _Shared | None) -> int:
        """Return the seed of a cell's model; a shared model has the seed of the first fold."""
        return self.live.record.seed(cell if shared is None else replace(cell, fold=0))


def _said(caught: Sequence[WarningMessage]) -> tuple[str, ...]:
    if not caught:
        return ()
    lines = (f"{w.category.__name__}: {one_line(str(w.message))}" for w in caught)
    return tuple(dict.fromkeys(lines))[:WARNINGS_KEPT]


def _hears_the_user() -> bool:
    """Return whether an interruption may come from the keyboard instead of the learner."""
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


_PLAIN = (bool, int, float, str, bytes, type(None))


def model_factory(estimator: Any) -> Callable[[int], Any]:
    """Return a function of a seed that gives an unfitted copy of `estimator`.

    Every setting called `random_state`, also of nested estimators, gets the seed. Copies of
    estimators whose settings are plain values are made by their constructor, which is what
    scikit-learn's `clone` comes to but many times faster.
    """
    kind = type(estimator)
    seeds = seed_names(estimator)
    if not hasattr(estimator, "get_params"):
        from copy import deepcopy

        return lambda _: deepcopy(estimator)
    settings = estimator.get_params(deep=False)
    flat = all(isinstance(value, _PLAIN) for value in settings.values())
    if flat and type(copy_of(estimator)) is kind and not _cloned_by_itself(estimator):
        if seeds == ["random_state"] and "random_state" in settings:
            return lambda seed: kind(**{**settings, "random_state": seed})
        return lambda _: kind(**settings)

    def fresh(seed: int) -> Any:
        model = copy_of(estimator)
        if seeds:
            model.set_params(**dict.fromkeys(seeds, seed))
        return model

    return fresh


def _cloned_by_itself(estimator: Any) -> bool:
    """Return whether copying needs more than the constructor: own clone method or metadata."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    from sklearn.base import BaseEstimator

    inherited = getattr(BaseEstimator, "__sklearn_clone__", None)
    return own is not inherited or hasattr(estimator, "_metadata_request")


def may_write(estimator: Any) -> bool:
    """Return whether it may overwrite its rows and therefore needs a copy."""
    if not is_trusted(estimator):
        return True
    settings = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return any(
        name.rpartition("__")[2].startswith("copy") and value is False
        for name, value in settings.items()
    )


def model_size(model: Any) -> int | None:
    """Return the bytes of the pickled model without copying its arrays; None if that fails.

    The same in whichever process it was fitted: what a process happens to hold once or twice, or
    under which name it can import a class, does not count.
    """
    counter = _Counter()
    try:
        _Weigher(counter, protocol=5, buffer_callback=counter.buffer).dump(model)
    except (Exception, SystemExit):
        # any class may raise anything while it is pickled; then its size is not known
        return None
    return counter.total


class _Weigher(pickle.Pickler):
    """A pickler for which it does not matter where a part of the model came from.

    Texts, and NumPy's types of arrays, are one object each until they have been sent to another
    process; what is one object there and two here would be written once or twice. So equal ones
    are written once. Classes and functions weigh as much as their names: a class that was sent to
    a worker may not be importable there.
    """

    def __init__(self, counter: _Counter, **options: Any) -> None:
        super().__init__(counter, **options)
        self.counter, self.seen = counter, set[Any]()

    def persistent_id(self, held: Any) -> int | None:
        """Return a mark for what is weighed by its value; everything else is pickled."""
        kind = type(held)
        if kind in (str, bytes):
            weight = self._text(held)
        elif isinstance(held, type | FunctionType):
            weight = self._text(str(held.__module__)) + self._text(held.__qualname__) + 2
        elif kind.__module__ == "numpy.dtypes":
            weight = 0 if held in self.seen else len(pickle.dumps(held, protocol=5))
            self.seen.add(held)
        else:
            return None
        self.counter.total += weight
        return 0

    def _text(self, held: str | bytes) -> int:
        """Return what pickle takes for a text, less the mark that stands for it."""
        if (type(held), held) in self.seen:
            return 0
        self.seen.add((type(held), held))
        size = len(held if isinstance(held, bytes) else held.encode("utf-8", "surrogatepass"))
        return size + (3 if size < 256 else 6) - _MARK


_MARK = 3
"""Bytes of the mark."""


class _Counter:
    def __init__(self) -> None:
        self.total = 0

    def write(self, data: bytes) -> int:
        self.total += len(data)
        return len(data)

    def buffer(self, view: pickle.PickleBuffer) -> None:
        self.total += view.raw().nbytes
