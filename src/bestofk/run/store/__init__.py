"""Stores: where fits are kept."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestofk.run.store.store import Store


def opened(store: str | os.PathLike[str] | None) -> AbstractContextManager[Store | None]:
    """Open a store; give None, without importing SQLAlchemy, if there is none to open."""
    if store is None:
        return nullcontext()
    from bestofk.run.store.store import open_store

    return open_store(store)
