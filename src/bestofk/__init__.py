"""bestofk: of these K learning algorithms, which should I use, and how sure can I be?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from bestofk import multiple, ordering, pairwise
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
    from bestofk.plans.design import Design

_MODULES = ("intervals", "multiple", "ordering", "pairwise", "estimates")
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
}

__all__ = [
    "ArgumentError",
    "BestOfKError",
    "BestOfKWarning",
    "Design",
    "DesignError",
    "MissingExtraError",
    "RunError",
    "StoreError",
    "TableError",
    "UnknownNameError",
    "intervals",
    "multiple",
    "ordering",
    "pairwise",
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
