"""What a caller may give as data, and the data sets that it stands for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bestofk.data.dataset import DataSet, as_dataset
from bestofk.errors import ArgumentError, UnknownNameError

_KINDS = {"classification": "labels", "regression": "numbers"}


def as_datasets(X: Any, y: Any, data: Any, *, task: str = "auto") -> tuple[DataSet, ...]:
    """Data sets from arrays, data frames, files, names of embedded sets, or a list of them."""
    if data is not None and X is not None:
        raise ArgumentError("Give either X and y or data, not both.")
    if data is None:
        if X is None or y is None:
            raise ArgumentError("X and y (or data) must be given.")
        # used for the length of a call, and every learner gets slices
        return (as_dataset(X, y, task=task, copy=False),)
    listed = list(data) if isinstance(data, Sequence) and not isinstance(data, str) else [data]
    if not listed:
        raise ArgumentError("data must hold at least one data set; got none.")
    datasets = tuple(_dataset(one, task) for one in listed)
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


def _dataset(given: Any, task: str) -> DataSet:
    if isinstance(given, DataSet):
        if task not in ("auto", given.task):
            raise ArgumentError(
                f"{given.name!r} is a data set for {given.task}; got task={task!r}: leave task out."
            )
        return given
    if isinstance(given, str | os.PathLike):
        return dataset_of(given, **({} if task == "auto" else {"task": task}))
    raise ArgumentError(
        f"data must be data sets, files or names of embedded sets; got {given!r:.80}."
    )


def dataset_of(source: str | os.PathLike[str], **options: Any) -> DataSet:
    """A file, or the name of an embedded data set when no such file exists."""
    from bestofk.data.load import DATASETS, load
    from bestofk.data.read_dataset import read_dataset

    text = os.fspath(source)
    if text in DATASETS and not Path(text).exists():
        if options.get("task") in (None, "auto", DATASETS[text].task):
            options.pop("task", None)
        for option, value in options.items():
            if value:
                raise ArgumentError(
                    f"{option} does not apply to {text!r}, an embedded data set whose columns and "
                    "target are known."
                )
        return load(text)
    if Path(text).name == text and not Path(text).suffix and not Path(text).exists():
        # a bare word is a slip in the name of an embedded set rather than of a file
        raise UnknownNameError("file or embedded data set", text, DATASETS)
    return read_dataset(text, **options)
