"""Data sets: named columns of kind numeric or nominal, missing values kept, and their readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
