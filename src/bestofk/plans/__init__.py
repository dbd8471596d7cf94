"""Plans: which rows train and which test, and the Design that is left when rows are forgotten."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"bestofk.plans.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestofk.plans' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
