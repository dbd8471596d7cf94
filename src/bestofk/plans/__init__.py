"""Plans: which rows train and which test, and the Design that is left when rows are forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.plans.counting import number_of_kfold_splits
    from bestofk.plans.design import Design
    from bestofk.plans.making import Plan, plan
    from bestofk.plans.registry import PLANS
    from bestofk.plans.splits import Splits

_HOMES = {
    "PLANS": "registry",
    "Design": "design",
    "Plan": "making",
    "Splits": "splits",
    "number_of_kfold_splits": "counting",
    "plan": "making",
}

__all__ = ["PLANS", "Design", "Plan", "Splits", "number_of_kfold_splits", "plan"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
