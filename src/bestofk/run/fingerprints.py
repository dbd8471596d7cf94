"""Digests of what determines a cell: splits, scoring, preparation, and the settings of learners."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bestofk._base.code_identity import OWN, Identity, identify, package_of, text_digest
from bestofk.data.dataset import DataSet
from bestofk.learners.base import seeds_of
from bestofk.splits.splits import Splits


def split_names(
    splits: Splits, random_state: int, evaluation: str
) -> tuple[tuple[int, int | None, str], ...]:
    """Return the name of each split; one name serves all folds of a run of cross-validation."""

    def name(run: int, fold: int) -> str:
        return f"{random_state}:{split_fingerprint(splits, run, fold)}:{evaluation}"

    if splits.fold_of is not None:
        runs = range(splits.runs + splits.subset_runs)
        return tuple((run, None, name(run, 0)) for run in runs)
    return tuple((run, fold, name(run, fold)) for run, fold in splits.run_folds())


def split_fingerprint(splits: Splits, run: int, fold: int) -> str:
    """Return the digest of the rows of one split.

    Longer plans begin with the same runs, so cells of ten runs are reused for twenty.
    """
    kind = splits.design.kind
    # a row of marks is a run of cross-validation, but a single split of other kinds of plan
    row, folds = (run, splits.folds_in(run)) if kind in ("cv", "loo") else (fold, 1)
    lines = splits.marks
    if row >= splits.runs and splits.subset_marks is not None:
        row, lines = row - splits.runs, splits.subset_marks
    marks = np.ascontiguousarray(lines[row], dtype="<i4").tobytes()
    return text_digest(f"{kind} {folds} ", marks)


def evaluation_identity(data: DataSet, threads: int) -> str:
    """Return the digest of how predictions on a data set are computed.

    It covers the types of columns and labels, the preparation of columns for learners that need
    numbers without gaps, and the threads of a fit.
    """
    from bestofk.learners.preparation import ready_learner
    from bestofk.run.fit import checked_predictions

    kinds = [type(data.X).__name__] if data.whole else [str(kind) for kind in data.X.dtypes]
    labels = [str(data.y.dtype)]
    if data.task == "classification":
        labels = sorted({type(label).__name__ for label in data.labels()[1].tolist()})
    plain = not data.whole and set(data.kinds.values()) == {"numeric"} and not data.n_missing
    prepared = () if plain else (ready_learner,)
    identity = identify(kinds, labels, checked_predictions, *prepared)
    return text_digest(f"{identity.digest} {threads}")


def learner_fingerprint(estimator: Any) -> Identity:
    """Return the identity of a learner: its class, its settings, and the code of both."""
    code = identify(estimator)
    return Identity(digest=f"{settings_digest(estimator)}-{code.digest}", unknown=code.unknown)


def settings_digest(estimator: Any) -> str:
    """Return the digest of the class and the plain settings of a learner.

    Exclude a `random_state` that the user did not set, because the runner sets it in every cell.
    """
    return text_digest(repr(_settings(estimator)))


PLAIN = (type(None), bool, int, float, str, bytes)
"""Types of settings whose copies are the values themselves."""


def _settings(value: Any) -> Any:
    """Return a value whose repr is the same on every machine and in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        try:
            params = value.get_params(deep=False)
        except Exception:
            # user classes may raise anything; the fits report it
            params = {}
        seeds = seeds_of(value)
        settings = {
            name: _settings(param)
            for name, param in params.items()
            if seeds.get(name) is not None or name not in ("random_state", "random_seed")
        }
        kind = type(value)
        return (_qualified_name(kind), _version(kind), sorted(settings.items()))
    if isinstance(value, np.ndarray):
        return ("array", value.shape, str(value.dtype), text_digest("", value.tobytes()))
    if isinstance(value, list | tuple):
        return tuple(_settings(item) for item in value)
    if isinstance(value, dict):
        return sorted((_key(key), _settings(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(_key(item) for item in value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.random.RandomState):
        return ("random state", _settings(value.get_state(legacy=False)))
    if isinstance(value, np.random.Generator):
        return ("generator", _settings(value.bit_generator.state))
    if isinstance(value, PLAIN):
        return repr(value)
    has_name = isinstance(value, type) or hasattr(value, "__qualname__")
    return _qualified_name(value if has_name else type(value))


def _qualified_name(value: Any) -> str:
    """Return the qualified name, without the module unless it belongs to a package."""
    module = str(value.__module__)
    return f"{module}.{value.__qualname__}" if _is_packaged(module) else str(value.__qualname__)


def _is_packaged(module: str) -> bool:
    return module.partition(".")[0] == OWN or package_of(module) is not None


def _key(value: Any) -> str:
    return repr(value) if isinstance(value, PLAIN) else repr(_settings(value))


def _version(kind: type) -> str:
    """Return the major and minor version of the package of a class."""
    if not _is_packaged(kind.__module__):
        return ""
    package = sys.modules.get(kind.__module__.partition(".")[0])
    version = str(getattr(package, "__version__", ""))
    return ".".join(version.split(".")[:2])
