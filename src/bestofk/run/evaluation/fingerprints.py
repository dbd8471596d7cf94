"""Fingerprints of learners and splits: what a stored cell must agree with to be used again."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from bestofk.plans.splits import Splits


def learner_fingerprint(estimator: Any) -> str:
    """The class of an estimator, its version and all its settings, as 16 hexadecimal digits.

    `random_state` is left out: the runner sets it in every cell.
    """
    return _digest(repr(_settings(estimator)))


def split_fingerprint(splits: Splits, run: int, fold: int) -> str:
    """The rows of one split.

    Longer plans begin with the same runs, so what was computed for ten runs serves for twenty.
    """
    kind = splits.design.kind
    # a row of marks is a run of cross-validation, but one split of the other kinds
    row, folds = (run, splits.folds_in(run)) if kind in ("cv", "loo") else (fold, 1)
    lines = splits.marks
    if row >= splits.runs and splits.subset_marks is not None:
        row, lines = row - splits.runs, splits.subset_marks
    marks = np.ascontiguousarray(lines[row], dtype="<i4").tobytes()
    return _digest(f"{kind} {folds} ", marks)


def _settings(value: Any) -> Any:
    """A value whose repr is the same on every machine and in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = value.get_params(deep=False)
        shown = {name: _settings(param) for name, param in params.items() if name != "random_state"}
        kind = type(value)
        return (f"{kind.__module__}.{kind.__qualname__}", _version(kind), sorted(shown.items()))
    if isinstance(value, np.ndarray):
        return ("array", value.shape, str(value.dtype), _digest("", value.tobytes()))
    if isinstance(value, list | tuple):
        return tuple(_settings(item) for item in value)
    if isinstance(value, dict):
        return sorted((repr(key), _settings(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(repr(item) for item in value)
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return repr(value)
    if hasattr(value, "__code__"):
        code = value.__code__
        return (value.__module__, value.__qualname__, _digest(repr(code.co_consts), code.co_code))
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    from joblib import hash as content_hash

    return (f"{type(value).__module__}.{type(value).__qualname__}", content_hash(value))


def _version(kind: type) -> str:
    """Major and minor version of the package of a class: other versions may fit otherwise."""
    import sys

    package = sys.modules.get(kind.__module__.partition(".")[0])
    version = str(getattr(package, "__version__", ""))
    return ".".join(version.split(".")[:2])


def _digest(text: str, content: bytes = b"") -> str:
    return hashlib.sha256(text.encode() + content).hexdigest()[:16]
