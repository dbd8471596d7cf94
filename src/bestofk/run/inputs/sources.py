"""What a caller may give as data, and the data sets that it stands for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.data.as_dataset import as_dataset
from bestofk.data.dataset import DataSet
from bestofk.data.row_columns import ROLES, with_row_columns
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.plans.known_rows import QUANTILES
from bestofk.plans.plan import Plan
from bestofk.plans.splits import Splits

_KINDS = {"classification": "labels", "regression": "numbers"}


def as_datasets(
    X: Any,
    y: Any,
    data: Any,
    *,
    task: str = "auto",
    columns: Mapping[str, Any] | None = None,
) -> tuple[DataSet, ...]:
    """Data sets from arrays, data frames, files, names of embedded sets, or a list of them.

    `columns` are groups, weights and folds of their rows (see `with_row_columns`).
    """
    columns = {role: given for role, given in (columns or {}).items() if given is not None}
    if data is not None and X is not None:
        raise ArgumentError("Give either X and y or data, not both.")
    if data is None:
        if X is None or y is None:
            raise ArgumentError("X and y (or data) must be given.")
        # used for the length of a call, and every learner gets slices
        return (as_dataset(X, y, task=task, copy=False, **columns),)
    listed = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    if not listed:
        raise ArgumentError("data must hold at least one data set; got none.")
    for role, given in columns.items():
        if len(listed) > 1 and not isinstance(given, str):
            raise ArgumentError(
                f"{role} of {len(listed)} data sets must be the name of a column that they have; "
                f"got {type(given).__name__}."
            )
    datasets = tuple(_dataset(one, task, columns) for one in listed)
    names = [one.name for one in datasets]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"data sets must have names of their own; got {name!r} twice.")
    if len({one.task for one in datasets}) > 1:
        kinds = ", ".join(f"{one.name!r} {_KINDS[one.task]}" for one in datasets)
        raise ArgumentError(
            f"data sets must all have labels, or all numbers to predict; got {kinds}: say "
            "task='classification' or task='regression' where the numbers allow both."
        )
    return datasets


def _dataset(given: Any, task: str, columns: Mapping[str, Any]) -> DataSet:
    if isinstance(given, DataSet):
        if task not in ("auto", given.task):
            raise ArgumentError(
                f"{given.name!r} is a data set for {given.task}; got task={task!r}: leave task out."
            )
        return with_row_columns(given, **columns)
    if isinstance(given, str | os.PathLike):
        named = {role: one for role, one in columns.items() if isinstance(one, str)}
        others = {role: one for role, one in columns.items() if role not in named}
        asked = {} if task == "auto" else {"task": task}
        return with_row_columns(dataset_of(given, **asked, **named), **others)
    raise ArgumentError(
        f"data must be data sets, files or names of embedded sets; got {given!r:.80}."
    )


def dataset_of(source: str | os.PathLike[str], **options: Any) -> DataSet:
    """A file, or the name of an embedded data set when no such file exists."""
    from bestofk.data.load import DATASETS, load
    from bestofk.data.read_dataset import read_dataset

    text = os.fspath(source)
    if text in DATASETS and not Path(text).exists():
        columns = {role: options.pop(role, None) for role in ROLES}
        if options.get("task") in (None, "auto", DATASETS[text].task):
            options.pop("task", None)
        for option, value in options.items():
            if value:
                raise ArgumentError(
                    f"{option} does not apply to {text!r}, an embedded data set whose columns and "
                    "target are known."
                )
        return with_row_columns(load(text), **columns)
    if Path(text).name == text and not Path(text).suffix and not Path(text).exists():
        # a bare word is a slip in the name of an embedded set rather than of a file
        raise UnknownNameError("file or embedded data set", text, DATASETS)
    return read_dataset(text, **options)


def splits_for(plan: Plan, datasets: Sequence[DataSet]) -> tuple[Splits, ...]:
    """The splits of every data set; as many on each, so that their losses make one table."""
    made = tuple(_splits(plan, one) for one in datasets)
    for one, splits in zip(datasets[1:], made[1:], strict=True):
        first = made[0]
        if (splits.runs, splits.folds, splits.design.kind) != (
            first.runs, first.folds, first.design.kind,
        ):  # fmt: skip
            raise ArgumentError(
                f"plan must give the same number of splits on all data sets; got "
                f"{first.design.describe()} on {datasets[0].name!r} and {splits.design.describe()} "
                f"on {one.name!r}: '10x10' does."
            )
    return made


def _splits(plan: Plan, one: DataSet) -> Splits:
    """The splits of a data set: numbers to predict are no classes to stratify by."""
    numbers = one.task == "regression"
    if numbers and plan.stratified is True:
        raise ArgumentError(
            f"stratified=True is for class labels, and {one.name!r} has numbers to predict: "
            f"stratified={QUANTILES!r} (on the command line --stratify {QUANTILES}) gives every "
            "fold its share of small and large ones."
        )
    keep_y = not numbers or plan.source is not None or plan.stratified == QUANTILES
    made = plan.materialise(
        one.n,
        one.y if keep_y else None,
        None if one.groups is None else one.groups.to_numpy(),
        X=one.X if one.folds is None else one.folds.to_frame(),
    )
    if one.sample_weight is not None and (one.sample_weight == 0).any():
        _refuse_weightless(made, one.sample_weight.to_numpy(dtype=np.float64))
    return made


def _refuse_weightless(splits: Splits, weights: Floats) -> None:
    """Refuse splits of which one side counts for nothing."""
    for run, fold, train, test in splits:
        for rows, side in ((train, "training"), (test, "test")):
            if not weights[rows].any():
                raise ArgumentError(
                    f"sample_weight: all {side} rows of run {run + 1}, fold {fold + 1} have the "
                    "weight 0; leave such rows out of the data."
                )
