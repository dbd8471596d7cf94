"""Results of scikit-learn: ``cross_validate`` of several learners, and ``cv_results_``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.errors import TableError
from bestofk.data.tables.limits import EXPANDED, check_json
from bestofk.data.tables.table import Table
from bestofk.losses.columns import split_of
from bestofk.losses.formats.result_tables import ReadOptions, ToolColumns, chosen_metric, noted
from bestofk.splits.design import Design
from bestofk.splits.user_splits import splits_of_pairs

_TEST, _TIMES = "test_", {"fit_time", "score_time"}
_LEARNER, _FOLD = "learner", "fold"


def is_cv_results(table: Table) -> bool:
    """Return whether there are columns such as ``split0_test_score`` and their mean."""
    scorers = [split for split in map(split_of, table.columns) if split and split.scorer]
    return bool(scorers) and f"mean_test_{scorers[0].metric}" in table


def cv_results_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Read one learner per row and one column per split, without means and ranks."""
    if options.learner is not None:
        return ToolColumns(table=table, layout=options.layout)
    noted_table = noted(
        table, "scikit-learn's cv_results_: each row is a learner, named by its parameters."
    )
    return ToolColumns(
        table=noted_table, layout=options.layout or "cv-results", metric=options.metric
    )


def is_cross_validate(table: Table) -> bool:
    """Return whether `open_cross_validate` made the table."""
    return {_LEARNER, _FOLD, "fit_time"} <= set(table.columns) and bool(_scores(table))


def _scores(table: Table) -> list[str]:
    return [column for column in table.columns if column.startswith(_TEST)]


def cross_validate_columns(table: Table, options: ReadOptions) -> ToolColumns:
    """Read learners by name, folds by position, and one of the scores."""
    loss = chosen_metric(table, _scores(table), options, _TEST, "the results of cross_validate")
    return ToolColumns(
        table=table,
        roles={"learner": _LEARNER, "fold": _FOLD, "loss": loss},
        layout="long",
        loss_name=loss.removeprefix(_TEST),
        higher_is_better=True,
        direction_source="every scikit-learn scorer",
    )


def open_cross_validate(source: Any) -> Table | None:
    """Read ``{"svm": cross_validate(...), "tree": cross_validate(...)}``, also from JSON."""
    name = "the dictionary"
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        content = _json(path)
        if content is None:
            return None
        source, name = content, path.name
    if not isinstance(source, Mapping) or not source:
        return None
    if _is_result(source):
        if not _TIMES & set(map(str, source)) or any(map(split_of, map(str, source))):
            return None
        if len({str(key) for key in source} - _TIMES) != len(_scored(source)) + _trained(source):
            return None
        raise TableError(
            f"{name}: this is the result of cross_validate for one learner: pass those of all "
            "learners by name, such as {'svm': ..., 'tree': ...}."
        )
    results = {str(key): value for key, value in source.items() if _is_result(value)}
    if len(results) < len(source):
        return None
    return _table(results, name)


def _json(path: Path) -> Any:
    try:
        if not path.is_file() or path.suffix.lower() != ".json" or path.stat().st_size > EXPANDED:
            return None
        text = path.read_text(encoding="utf-8-sig")
        check_json(text, path.name, file_size=len(text))
        return json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None  # read_table reports the problem


def _is_result(value: Any) -> bool:
    return isinstance(value, Mapping) and "fit_time" in value and bool(_scored(value))


def _scored(value: Mapping[Any, Any]) -> list[str]:
    return [str(key) for key in value if str(key).startswith(_TEST)]


def _trained(value: Mapping[Any, Any]) -> int:
    others = ("train_", "estimator", "indices")
    return sum(str(key).startswith(others) for key in value)


def _table(results: Mapping[str, Mapping[Any, Any]], source: str) -> Table:
    design = _design(results, source)
    scores = list(dict.fromkeys(key for result in results.values() for key in _scored(result)))
    columns: dict[str, list[Any]] = {name: [] for name in (_LEARNER, _FOLD, "fit_time", *scores)}
    if design is not None:
        columns |= {name: [] for name in ("run", "n_train", "n_test", "design")}
    for learner, result in results.items():
        folds = _cells(result["fit_time"], learner, "fit_time", source)
        columns[_LEARNER] += [learner] * len(folds)
        if design is None:
            columns[_FOLD] += range(1, len(folds) + 1)
        else:
            splits = range(len(folds))
            columns[_FOLD] += [split % design.folds + 1 for split in splits]
            columns["run"] += [split // design.folds + 1 for split in splits]
            columns["n_train"] += design.n_train or ()
            columns["n_test"] += design.n_test or ()
            columns["design"] += [design.kind] * len(folds)
        columns["fit_time"] += folds
        for key in scores:
            if key not in result:
                columns[key] += [None] * len(folds)
                continue
            cells = _cells(result[key], learner, key, source)
            if len(cells) != len(folds):
                raise TableError(
                    f"{source}: {key!r} of {learner!r} must have {len(folds)} folds, like "
                    f"fit_time; got {len(cells)}."
                )
            columns[key] += cells
    return Table.from_columns(columns, source=source)


def _design(results: Mapping[str, Mapping[Any, Any]], source: str) -> Design | None:
    """Return the design that the rows of the splits have; None if a learner does not list them."""
    first: tuple[str, list[tuple[Any, Any]]] | None = None
    for learner, result in results.items():
        indices = result.get("indices")
        if not isinstance(indices, Mapping) or not {"train", "test"} <= set(indices):
            return None
        pairs = [
            (np.asarray(train), np.asarray(test))
            for train, test in zip(indices["train"], indices["test"], strict=False)
        ]
        count = len(_cells(result["fit_time"], learner, "fit_time", source))
        if len(pairs) != count or len(indices["train"]) != len(indices["test"]):
            raise TableError(
                f"{source}: 'indices' of {learner!r} must list the rows of {count} splits."
            )
        if first is None:
            first = learner, pairs
        elif not _same_splits(first[1], pairs):
            raise TableError(
                f"{source}: {first[0]!r} and {learner!r} were tested on different splits, so their "
                "scores cannot be paired: pass the same cv to each cross_validate, with an integer "
                "random_state."
            )
    if first is None or not first[1]:
        return None
    pairs = first[1]
    rows = 1 + max(int(part.max(initial=0)) for pair in pairs for part in pair)
    return splits_of_pairs(pairs, rows, None, notes=()).design


def _same_splits(first: Sequence[Any], second: Sequence[Any]) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(np.sort(a), np.sort(b))
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def _cells(values: Any, learner: str, key: str, source: str) -> list[Any]:
    plain = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(plain, list | tuple):
        raise TableError(
            f"{source}: {key!r} of {learner!r} must be an array with a number per fold."
        )
    return list(plain)
