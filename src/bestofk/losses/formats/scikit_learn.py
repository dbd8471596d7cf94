"""Results of scikit-learn (``cv_results_``, ``cross_validate``) and reports of skore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestofk._base.errors import TableError
from bestofk.data.tables.table import Table
from bestofk.losses.columns import find, one_metric
from bestofk.losses.formats.registry import ToolColumns
from bestofk.losses.formats.result_tables import (
    choose_metric,
    row_per_split,
    with_columns,
)

_KEYS = ("fit_time", "score_time", "test_", "train_", "estimator", "indices")
"""Beginnings of the keys that cross_validate returns."""
_OF_SPLITS = ("fold", "run", "n_train", "n_test", "design")


def cv_results_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read one learner per row, named by its parameters, and one column per split."""
    return row_per_split(
        table,
        r"split(\d+)_test_(.+)",
        metric,
        {},
        find(table.columns, ["dataset"], {"learner": "params", **stated}, source=table.source),
        "scikit-learn's cv_results_: each row is a learner, named by its parameters.",
    )


def cross_validate_columns(
    table: Table, stated: Mapping[str, str], metric: str | None
) -> ToolColumns:
    """Read learners by name, folds by position, and one of the scores."""
    scores = [name.removeprefix("test_") for name in table.columns if name.startswith("test_")]
    name = choose_metric(table, scores, metric)
    roles = {role: role for role in ("learner", *_OF_SPLITS) if role in table}
    return ToolColumns(
        table=table,
        roles={**roles, "score": f"test_{name}", **stated},
        loss_name=name,
        higher_is_better=True,
    )


def open_cross_validate(source: Any) -> Table | None:
    """Return the table of ``{"svm": cross_validate(...), "tree": cross_validate(...)}``."""
    if not isinstance(source, Mapping) or not source:
        return None
    if _is_result(source):
        raise TableError(
            "the dictionary is the result of cross_validate for one learner: pass those of all "
            "learners by name, such as {'svm': ..., 'tree': ...}."
        )
    if not all(map(_is_result, source.values())):
        return None
    results: dict[str, Mapping[Any, Any]] = {str(name): each for name, each in source.items()}
    scores = [key for key in next(iter(results.values())) if str(key).startswith("test_")]
    rows = {}
    for learner, each in results.items():
        lengths = {np.size(each.get(key, ())) for key in ("fit_time", *scores)}
        if len(lengths) > 1:
            raise TableError(
                f"the dictionary: the arrays of {learner!r} must have a number per fold, for "
                f"{', '.join(map(str, scores))} and fit_time."
            )
        rows[learner] = range(lengths.pop())
    pairs = {
        learner: list(zip(each["indices"]["train"], each["indices"]["test"], strict=True))
        for learner, each in results.items()
        if isinstance(each.get("indices"), Mapping)
    }
    splits = _split_columns(pairs, max(map(len, rows.values())))
    columns: dict[str, list[Any]] = {
        "learner": [learner for learner in results for _ in rows[learner]],
        **{key: [cells[at] for each in rows.values() for at in each]
           for key, cells in splits.items()},
        **{key: [cell for each in results.values() for cell in np.ravel(each[key]).tolist()]
           for key in scores},
    }  # fmt: skip
    return Table.from_columns(columns, source="the dictionary")


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and "fit_time" in value
        and any(str(key).startswith("test_") for key in value)
        and all(str(key).startswith(_KEYS) for key in value)
    )


def _split_columns(
    pairs: Mapping[str, Sequence[tuple[Any, Any]]], n_splits: int
) -> dict[str, list[Any]]:
    """Return the number of each split, and its run, sizes and design if its rows are known.

    Raise if two learners were tested on different splits.
    """
    learners = list(pairs)
    for other in learners[1:]:
        first, second = pairs[learners[0]], pairs[other]
        if len(first) != len(second) or not all(
            np.array_equal(np.sort(a), np.sort(b))
            for one, another in zip(first, second, strict=True)
            for a, b in zip(one, another, strict=True)
        ):
            raise TableError(
                f"{learners[0]!r} and {other!r} were tested on different splits, so their scores "
                "cannot be paired: use the same splits for all, with an integer random_state."
            )
    if not learners or len(pairs[learners[0]]) != n_splits:
        return {"fold": list(range(1, n_splits + 1))}
    from bestofk.splits.user_splits import splits_of_pairs

    known = [(np.asarray(train), np.asarray(test)) for train, test in pairs[learners[0]]]
    n_rows = 1 + max(int(part.max(initial=0)) for pair in known for part in pair)
    design = splits_of_pairs(known, n_rows, None, notes=()).design
    return {
        "fold": [split % design.folds + 1 for split in range(n_splits)],
        "run": [split // design.folds + 1 for split in range(n_splits)],
        "n_train": list(design.n_train or ()),
        "n_test": list(design.n_test or ()),
        "design": [design.kind] * n_splits,
    }


# skore


def open_skore(source: Any) -> Table | None:
    """Return the metrics of a report of cross-validations, or of a dictionary of reports."""
    named = source if isinstance(source, Mapping) else {"": source}
    if not named or not all(map(_is_report, named.values())):
        return None
    import pandas as pd

    frames, pairs = [], {}
    for name, report in named.items():
        frame = report.metrics.summarize().summary
        if "split" not in frame:
            raise TableError(
                "the report has one score per estimator, so nothing can be compared: pass a "
                "ComparisonReport of CrossValidationReports."
            )
        frames.append(frame.assign(estimator=str(name)) if name else frame)
        of_report = getattr(report, "reports_", None)
        parts = of_report if isinstance(of_report, Mapping) else {str(name): report}
        for learner, part in parts.items():
            if hasattr(part, "split_indices"):
                pairs[learner] = list(part.split_indices)
    summary = pd.concat(frames, ignore_index=True)
    parts = summary[["name", "label", "average", "output"]].astype(object)
    names = ["_".join(str(part) for part in row if not pd.isna(part)) for row in parts.to_numpy()]
    at = summary["split"].astype(int)
    splits = _split_columns(pairs, int(at.max()) + 1)
    columns = {
        "estimator": summary["estimator"].tolist(), "split": at.tolist(), "name": names,
        "score": summary["score"].tolist(),
        "greater_is_better": summary["greater_is_better"].astype(str).tolist(),
        **{key: [cells[split] for split in at] for key, cells in splits.items()},
    }  # fmt: skip
    return Table.from_columns(columns, source="the report")


def _is_report(value: Any) -> bool:
    return callable(getattr(getattr(value, "metrics", None), "summarize", None))


def skore_columns(table: Table, stated: Mapping[str, str], metric: str | None) -> ToolColumns:
    """Read estimators as learners, splits as folds, and one of the metrics."""
    if metric is None and "default_score" in table.levels("name").names:
        metric = "default_score"
    table, name = one_metric(table, "name", metric)
    note = f"A report of skore: {name!r} of each estimator and split."
    roles = {role: role for role in _OF_SPLITS if role in table}
    return ToolColumns(
        table=with_columns(table, {}, note),
        roles={"fold": "split", **roles, "learner": "estimator", "score": "score", **stated},
        loss_name=name,
        higher_is_better=table.levels("greater_is_better").names == ("True",),
    )
