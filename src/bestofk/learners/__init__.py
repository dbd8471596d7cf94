"""The papers' learners as scikit-learn estimators, and their evaluation over whole plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
