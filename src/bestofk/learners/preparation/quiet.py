"""Learners that print or write files while they fit are asked not to, where nobody asked them to.

No prediction depends on these settings.
"""

from __future__ import annotations

from typing import Any

from bestofk.learners.preparation.adapted import copy_of
from bestofk.learners.preparation.declared import package

_QUIET: dict[str, tuple[tuple[frozenset[str], dict[str, Any]], ...]] = {
    "lightgbm": ((frozenset({"verbose", "verbosity"}), {"verbose": -1}),),
    "catboost": (
        (
            frozenset({"verbose", "silent", "logging_level", "verbose_eval"}),
            {"verbose": False},
        ),
        (frozenset({"allow_writing_files", "train_dir"}), {"allow_writing_files": False}),
    ),
}
"""Package: settings any of which the user may have stated, and what is set where none is."""


def quiet(estimator: Any) -> Any:
    """The estimator, or a copy that keeps silent."""
    if not hasattr(estimator, "get_params"):
        return estimator
    wanted: dict[str, Any] = {}
    parts = {"": estimator, **{f"{name}__": part for name, part in _parts(estimator).items()}}
    for prefix, part in parts.items():
        for stated, silent in _QUIET.get(package(part), ()):
            if not stated & set(part.get_params(deep=False)):
                wanted |= {f"{prefix}{name}": value for name, value in silent.items()}
    if not wanted:
        return estimator
    return copy_of(estimator).set_params(**wanted)


def _parts(estimator: Any) -> dict[str, Any]:
    return {
        name: part
        for name, part in estimator.get_params(deep=True).items()
        if hasattr(part, "get_params") and not isinstance(part, type)
    }
