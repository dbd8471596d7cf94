"""Rows that are no table of columns: sparse matrices and sequences of texts, as they came."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix or array of SciPy."""
    from scipy.sparse import issparse

    return bool(issparse(X))


def is_texts(X: Any) -> bool:
    """Whether `X` is one text per row: a list, an array of one axis, or a Series."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(one, str) for one in X)
    if getattr(X, "ndim", None) != 1 or not hasattr(X, "__len__") or len(X) == 0:
        return False
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("U", "T"):
        return True
    if kind != "O" and not hasattr(X, "iloc"):
        return False
    return all(isinstance(one, str) for one in X)


def is_whole(X: Any) -> bool:
    """Whether the rows are no table of columns."""
    return is_sparse(X) or is_texts(X)


def settled_rows(X: Any) -> Any:
    """The rows in a form that can be sliced: CSR, a Series, or an array or list of texts."""
    if is_sparse(X):
        if len(X.shape) != 2 or min(X.shape) < 1:
            raise ArgumentError(
                f"X must have rows and columns; got a sparse matrix of shape {X.shape}."
            )
        rows = X.tocsr()
        if rows.data.dtype.kind not in "iufb":
            raise ArgumentError(
                f"X must hold real numbers; got a sparse matrix of {rows.data.dtype}."
            )
        if not np.isfinite(rows.data).all():
            raise ArgumentError("X must hold finite numbers; got a sparse matrix with others.")
        return rows
    return X.reset_index(drop=True) if hasattr(X, "iloc") else X


def take_rows(X: Any, which: npt.NDArray[np.int64]) -> Any:
    """Some rows, of the type that `X` has."""
    if hasattr(X, "iloc"):
        return X.iloc[which]
    if isinstance(X, list | tuple):
        return [X[row] for row in which.tolist()]
    return X[which]


def digest_rows(X: Any) -> bytes:
    """A digest of the rows, the same however they are stored."""
    digest = sha256()
    if is_sparse(X):
        rows = X.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
        rows.sort_indices()
        digest.update(f"sparse {rows.shape} {rows.data.dtype}".encode())
        digest.update(rows.indptr.astype("<i8").tobytes())
        digest.update(rows.indices.astype("<i8").tobytes())
        digest.update(rows.data.astype("<f8").tobytes())
        return digest.digest()
    digest.update(f"texts {len(X)}".encode())
    for text in X:
        written = str(text).encode("utf-8", "surrogatepass")
        digest.update(len(written).to_bytes(8, "little"))
        digest.update(written)
    return digest.digest()
