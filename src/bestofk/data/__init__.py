"""Data sets: named columns of kind numeric or nominal, missing values kept, and their readers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.data.dataset import DataSet, as_dataset
    from bestofk.data.embedded import DATASETS, load
    from bestofk.data.encoded import Encoded
    from bestofk.data.reader import read_dataset
    from bestofk.data.schema import Schema

_HOMES = {
    "DATASETS": "embedded",
    "DataSet": "dataset",
    "Encoded": "encoded",
    "Schema": "schema",
    "as_dataset": "dataset",
    "load": "embedded",
    "read_dataset": "reader",
}

__all__ = ["DATASETS", "DataSet", "Encoded", "Schema", "as_dataset", "load", "read_dataset"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"bestofk.data.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestofk.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
