"""Fit a compared learner on all rows, as a scikit-learn pipeline for new rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from bestofk._base.errors import ArgumentError, BestOfKError, RunError, UnknownNameError, use
from bestofk.data.dataset import DataSet
from bestofk.learners.preparation import ReadyLearner, ready_learner
from bestofk.learners.raw_columns import RawColumns
from bestofk.run.cells import Cell
from bestofk.run.fit import Rows, model_factory, weight_argument
from bestofk.run.live import Live, settings_digest
from bestofk.run.task import describe_error

if TYPE_CHECKING:
    from bestofk.run.study import Study


def refit(
    study: Study,
    name: str,
    data: Any = None,
    target: Any = None,
    *,
    estimator: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    columns: Mapping[str, str] | None = None,
    task: str = "auto",
) -> Pipeline:
    """Fit the learner `name` of a study on all rows; see `Result.fit_recommended`."""
    names = study.record.names
    if name not in names:
        raise UnknownNameError("learner", name, list(names))
    if study.live is not None:
        if estimator is not None:
            raise ArgumentError("estimator is known from the comparison: omit it.")
        live, index = study.live, names.index(name)
        dataset = _dataset_of(live, data, target)
        seed = live.record.seed(Cell(learner=index, dataset=dataset, run=0, fold=0))
        return fitted_pipeline(name, live.estimators[index], live.datasets[dataset], seed)
    options = {
        "groups": groups, "sample_weight": sample_weight, "columns": columns, "task": task
    }  # fmt: skip
    return _refit_stored(study, name, data, target, estimator, options)


def _dataset_of(live: Live, data: Any, target: Any) -> int:
    """Return the position of the data set to fit on."""
    names = [one.name for one in live.datasets]
    if target is not None or not (data is None or isinstance(data, str)):
        raise ArgumentError("data are known from the comparison: omit data and target.")
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


def _refit_stored(
    study: Study,
    name: str,
    data: Any,
    target: Any,
    learner: Any,
    options: dict[str, Any],
) -> Pipeline:
    """Fit a learner of a study from a store, which keeps neither rows nor learners."""
    from bestofk.data.embedded import DATASETS
    from bestofk.learners.registry import LEARNERS
    from bestofk.run.inputs import as_datasets, named_estimators

    record = study.record
    stored = record.datasets[0]
    if data is None and len(record.datasets) == 1 and stored.name in DATASETS:
        data = stored.name
    if data is None:
        raise ArgumentError(
            "A store keeps no rows: pass the data of the comparison again, as in "
            f"fit_recommended({name!r}, data, target)."
        )
    (rows, *_) = as_datasets(data, target, **options)
    fingerprints = [one.fingerprint for one in record.datasets]
    if rows.fingerprint not in fingerprints:
        raise ArgumentError(
            f"{rows.name!r} does not hold the rows of this study ({stored.rows} rows of "
            f"{stored.columns} columns): pass the same data, target, columns, task, groups and "
            "weights."
        )
    index = record.names.index(name)
    entry = record.learners[index]
    if learner is None and name in LEARNERS:
        learner = name
    if learner is None:
        raise ArgumentError(
            "A store keeps no learners: pass the estimator again with ", use(estimator=...), "."
        )  # fmt: skip
    estimator = named_estimators({name: learner})[name]
    if settings_digest(estimator) != entry.fingerprint.partition("-")[0]:
        raise ArgumentError(
            f"learner is not the {name!r} of this study, which was {entry.settings}."
        )
    cell = Cell(learner=index, dataset=fingerprints.index(rows.fingerprint), run=0, fold=0)
    return fitted_pipeline(name, estimator, rows, record.seed(cell))


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
