"""The papers' learners as scikit-learn estimators, and their evaluation over whole plans."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.learners.foreign import for_data
    from bestofk.learners.registry import LEARNERS, Learner, learner
    from bestofk.learners.specification import named_learners, parse_learner
    from bestofk.learners.whole_plan import predict_plan, predict_split_by_split

_HOMES = {
    "LEARNERS": "registry",
    "Learner": "registry",
    "for_data": "foreign",
    "learner": "registry",
    "named_learners": "specification",
    "parse_learner": "specification",
    "predict_plan": "whole_plan",
    "predict_split_by_split": "whole_plan",
}

__all__ = [
    "LEARNERS",
    "Learner",
    "for_data",
    "learner",
    "named_learners",
    "parse_learner",
    "predict_plan",
    "predict_split_by_split",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"bestofk.learners.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestofk.learners' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
