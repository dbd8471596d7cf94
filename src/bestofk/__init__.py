"""bestofk: of these K learning algorithms, which should I use, and how sure can I be?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from bestofk import estimates, intervals, multiple, ordering, pairwise
    from bestofk.errors import (
        ArgumentError,
        BestOfKError,
        BestOfKWarning,
        DesignError,
        MissingExtraError,
        RunError,
        StoreError,
        TableError,
        UnknownNameError,
    )
    from bestofk.losses.losses import Losses
    from bestofk.losses.readers import read_losses
    from bestofk.ordering.decide import order
    from bestofk.ordering.result import Order
    from bestofk.plans.design import Design
    from bestofk.plans.making import Plan, plan

_MODULES = ("estimates", "intervals", "multiple", "ordering", "pairwise")
_HOMES = {
    "ArgumentError": "errors",
    "BestOfKError": "errors",
    "BestOfKWarning": "errors",
    "DesignError": "errors",
    "MissingExtraError": "errors",
    "RunError": "errors",
    "StoreError": "errors",
    "TableError": "errors",
    "UnknownNameError": "errors",
    "Design": "plans.design",
    "Losses": "losses.losses",
    "Order": "ordering.result",
    "Plan": "plans.making",
    "order": "ordering.decide",
    "plan": "plans.making",
    "read_losses": "losses.readers",
}

__all__ = [
    "ArgumentError",
    "BestOfKError",
    "BestOfKWarning",
    "Design",
    "DesignError",
    "Losses",
    "MissingExtraError",
    "Order",
    "Plan",
    "RunError",
    "StoreError",
    "TableError",
    "UnknownNameError",
    "estimates",
    "intervals",
    "multiple",
    "order",
    "ordering",
    "pairwise",
    "plan",
    "read_losses",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"bestofk.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"bestofk.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestofk' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
