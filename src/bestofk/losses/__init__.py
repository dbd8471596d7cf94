"""The table of losses with its design; readers and writers of such tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.losses.examples import example_losses
    from bestofk.losses.losses import Losses
    from bestofk.losses.readers import read_losses

_HOMES = {"Losses": "losses", "example_losses": "examples", "read_losses": "readers"}

__all__ = ["Losses", "example_losses", "read_losses"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
