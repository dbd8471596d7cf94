"""What learners make of a data set before they see its splits: made once while the rows live."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from bestofk.data.encoded import Encoded

MOST_BYTES = 1 << 26
"""Of larger data sets nothing is kept, for the sake of memory."""

MadeT = TypeVar("MadeT")
_kept: WeakKeyDictionary[Encoded, dict[Hashable, Any]] = WeakKeyDictionary()


def made_once(
    encoded: Encoded, make: Callable[..., MadeT], *settings: float | int | str | bool
) -> MadeT:
    """``make(encoded, *settings)``, or what it gave before.

    A plan is evaluated in blocks, by several threads: what depends on the rows alone is shared by
    them. Two threads may make it at the same time; they make the same. It must not refer to
    `encoded`, which would then live for ever.

    Examples
    --------
    >>> import numpy as np
    >>> data = Encoded(values=np.eye(2), cardinality=np.zeros(2), y=np.zeros(2), classes=["a"])
    >>> float(made_once(data, lambda rows, power: rows.values.sum() ** power, 3))
    8.0
    """
    if encoded.values.nbytes > MOST_BYTES:
        return make(encoded, *settings)
    kept = _kept.setdefault(encoded, {})
    key = (make, *settings)
    if key not in kept:
        kept[key] = make(encoded, *settings)
    made: MadeT = kept[key]
    return made


def forget() -> None:
    """Keep nothing of what was made, as benchmarks do that measure the making too."""
    _kept.clear()
