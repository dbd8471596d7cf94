"""The order of a part of the rows, from columns that were sorted once."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def keep_rows(order, n_known, position, cardinality, n_kept):
    """The order of a part of the rows; `position` is a row's place in the part, -1 outside."""
    d = order.shape[0]
    kept = np.empty((d, n_kept), dtype=np.int64)
    n_kept_known = np.zeros(d, dtype=np.int64)
    for a in range(d):
        if cardinality[a] == 0:
            to = 0
            for at in range(n_known[a]):
                # written over unless it stays: no branch to guess
                place = position[order[a, at]]
                if to < n_kept:
                    kept[a, to] = place
                to += place >= 0
            n_kept_known[a] = to
    return kept, n_kept_known
