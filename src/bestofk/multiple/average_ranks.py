"""Average ranks along the last axis, 1 for the smallest; ties share the mean of their ranks."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats

__all__ = ["average_ranks"]


def average_ranks(values: Floats) -> Floats:
    """Ranks along the last axis, in any number of leading axes at once.

    Parameters
    ----------
    values : ndarray of shape (..., n)
        Finite values.

    Returns
    -------
    ndarray of shape (..., n)
        Whole or half numbers from 1 to n.

    Examples
    --------
    >>> import numpy as np
    >>> average_ranks(np.array([[3.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]]))
    array([[3.5, 1. , 3.5, 2. ],
           [2.5, 2.5, 2.5, 2.5]])
    """
    n = values.shape[-1]
    order = np.argsort(values, axis=-1)
    ranked = np.take_along_axis(values, order, axis=-1)
    positions = np.arange(1.0, n + 1.0)
    ranks = np.empty(values.shape)
    rises = ranked[..., 1:] != ranked[..., :-1]
    if rises.all():
        np.put_along_axis(ranks, order, np.broadcast_to(positions, values.shape), axis=-1)
        return ranks
    edge = np.ones((*values.shape[:-1], 1), dtype=bool)
    first = np.where(np.concatenate([edge, rises], axis=-1), positions, 0.0)
    last = np.where(np.concatenate([rises, edge], axis=-1), positions, np.inf)
    np.maximum.accumulate(first, axis=-1, out=first)
    backwards = last[..., ::-1]
    np.minimum.accumulate(backwards, axis=-1, out=backwards)
    first += last
    first /= 2.0
    np.put_along_axis(ranks, order, first, axis=-1)
    return ranks
