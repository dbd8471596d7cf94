"""Fit a compared learner on all rows, as a scikit-learn pipeline for new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from bestofk._base.errors import ArgumentError, BestOfKError, RunError, UnknownNameError, use
from bestofk.data.dataset import DataSet
from bestofk.learners.preparation import ReadyLearner, ready_learner
from bestofk.learners.raw_columns import RawColumns
from bestofk.run.cells import Cell
from bestofk.run.fit import Rows, model_factory, weight_argument
from bestofk.run.live import Live
from bestofk.run.task import describe_error

if TYPE_CHECKING:
    from bestofk.run.study import Study


def refit(study: Study, name: str, data: str | None = None) -> Pipeline:
    """Fit the learner `name` of a study on all rows; see `Result.fit_recommended`."""
    names = study.record.names
    if name not in names:
        raise UnknownNameError("learner", name, list(names))
    live = study.live
    if live is None:
        raise ArgumentError(
            "A store keeps no rows and no learners: repeat the comparison with the same store, "
            "which loads its fits, and use fit_recommended of its result."
        )
    dataset, index = _dataset_of(live, data), names.index(name)
    seed = live.record.seed(Cell(learner=index, dataset=dataset, run=0, fold=0))
    return fitted_pipeline(name, live.estimators[index], live.datasets[dataset], seed)


def _dataset_of(live: Live, data: str | None) -> int:
    """Return the position of the data set to fit on."""
    names = [one.name for one in live.datasets]
    if data is not None:
        if data not in names:
            raise UnknownNameError("data set", data, names)
        return names.index(data)
    if len(names) > 1:
        raise ArgumentError(
            f"The comparison used {len(names)} data sets: say which one to fit on with ",
            use(data=names[0]),
            ".",
        )
    return 0


def fitted_pipeline(name: str, estimator: Any, data: DataSet, seed: int) -> Pipeline:
    """Return a pipeline from raw rows to predictions, fitted on all rows of a data set."""
    try:
        ready, rows = ready_learner(estimator, data, fill_always=True), Rows(data)
        argument = None if rows.weights is None else weight_argument(ready.estimator)
        weights = {} if argument is None else {f"learner__{argument}": rows.weights}
        model = model_factory(ready.estimator)(seed)
        X = data.X if data.original is None else data.original
        # built-in learners keep the declared order of the classes
        y = data.y if ready.form == "encoded" else rows.y
        steps = [("columns", _columns_as_compared(ready, rows)), ("learner", model)]
        return Pipeline(steps).fit(X, y, **weights)
    except BestOfKError:
        raise
    except Exception as raised:  # any class may raise anything
        raise RunError(
            f"{name} failed on all rows of {data.name!r}: {describe_error(raised)}"
        ) from None


def _columns_as_compared(ready: ReadyLearner, rows: Rows) -> RawColumns:
    """Return the step that turns raw rows into the form in which the learner was compared."""
    data = rows.data
    if data.whole:
        return RawColumns((), form="given")
    if ready.form == "given" and data.original is not None:
        kept = tuple((name, None) for name in data.original.columns)
        return RawColumns(kept, form="given", named=data.named)
    columns = tuple(zip(data.schema.columns, data.schema.categories, strict=True))
    if ready.form == "array":
        return RawColumns(columns, form="array", named=data.named, dtype=str(rows.array.dtype))
    return RawColumns(columns, form="frame", named=data.named)
