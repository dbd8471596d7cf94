"""The table of losses with its design; readers and writers of such tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.losses.examples import example_losses
    from bestofk.losses.losses import Losses
    from bestofk.losses.readers import read_losses

_HOMES = {"Losses": "losses", "example_losses": "examples", "read_losses": "readers"}

__all__ = ["Losses", "example_losses", "read_losses"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"bestofk.losses.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bestofk.losses' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
