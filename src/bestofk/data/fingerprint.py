"""The fingerprint of a data set: what a stored fit must agree with to be used again."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.data.whole_rows import digest_rows

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.data.dataset import DataSet

ROWS_AT_ONCE = 4096


def fingerprint_of(data: DataSet) -> str:
    """SHA-256 over columns, kinds, declared values, cells, target and weights, not the name."""
    digest = sha256(b"bestofk data set 1\n")
    if data.whole:
        digest.update(digest_rows(data.X))
        return _with_target(digest, data)
    if any(dtype == np.float32 for dtype in data.X.dtypes):  # learners compute otherwise
        digest.update(repr([str(dtype) for dtype in data.X.dtypes]).encode())
    if data.given is not None:
        digest.update(_of_given(data.given, data.X))
    for name, declared in zip(data.schema.columns, data.schema.categories, strict=True):
        shown = None if declared is None else [str(value) for value in declared]
        digest.update(repr((str(name), shown)).encode())
    for start in range(0, data.n, ROWS_AT_ONCE):
        values = data.schema.encode(data.X.iloc[start : start + ROWS_AT_ONCE])
        values += 0.0  # one zero, not two
        values[np.isnan(values)] = np.nan
        digest.update(values.astype("<f8", copy=False).tobytes())
    return _with_target(digest, data)


def _of_given(given: pd.DataFrame, settled: pd.DataFrame) -> bytes:
    """What learners that choose their columns themselves see and others do not.

    Nothing for text that became categories, so that files and frames of the same cells agree.
    """
    import pandas as pd

    usual = ("object", "str", "string", "category", "float64", "int64")
    kinds = [(str(name), str(dtype)) for name, dtype in given.dtypes.items()]
    unseen = [name for name in given.columns if name not in settled.columns]
    if not unseen and all(kind in usual for _, kind in kinds):
        return b""
    cells = pd.util.hash_pandas_object(given[unseen].astype(str), index=False) if unseen else None
    return repr(kinds).encode() + (b"" if cells is None else cells.to_numpy().tobytes())


def _with_target(digest: Any, data: DataSet) -> str:
    if data.task == "classification":
        codes, classes = data.labels()
        digest.update(repr([str(label) for label in classes]).encode())
        digest.update(codes.astype("<i8").tobytes())
    else:
        digest.update(data.y.to_numpy(dtype="<f8").tobytes())
        if data.y.dtype == np.float32:
            digest.update(b"float32")
    if data.sample_weight is not None:
        digest.update(b"weights" + data.sample_weight.to_numpy(dtype="<f8").tobytes())
    found: str = digest.hexdigest()
    return found
