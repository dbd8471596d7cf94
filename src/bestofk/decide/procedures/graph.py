"""From edges that override a preference to an order: the graph part of MultiTest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints
from bestofk._base.errors import ArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the ordering: the candidates, and the choice."""

    candidates: tuple[int | str, ...]
    """Learners that no remaining learner is shown to beat, most preferred first."""
    chosen: int | str
    """The most preferred candidate that was not passed over."""
    passed_over: tuple[int | str, ...] = ()
    """Candidates before the chosen one whose mean is worse than that of a learner preferred to
    them that was struck out."""


def sort_by_overrides(overrides: Bools, means: Floats | None = None) -> Ints:
    """Repeatedly take the most preferred learner that no remaining one overrides.

    Parameters
    ----------
    overrides : (..., K, K) array of bool
        Learners in the order of preference. ``overrides[i, j]`` with i < j is an edge i -> j: the
        data say that j has the smaller loss although i is preferred. Nothing on or below the
        diagonal. Leading axes are separate tables.
    means : (..., K) array, optional
        Mean losses, for the guard: a candidate is passed over while a learner preferred to it
        that is struck out has the smaller mean. None: as published.

    Returns
    -------
    (..., K) array of int
        The order, best first.

    Examples
    --------
    Fig. 2 of Yildiz and Alpaydin (2006), with learners counted from 0:

    >>> edges = np.zeros((4, 4), dtype=bool)
    >>> edges[[0, 0, 0, 1], [1, 2, 3, 2]] = True
    >>> sort_by_overrides(edges).tolist()
    [2, 1, 3, 0]

    The first is struck out by the last; the second, never compared well, has the worst mean:

    >>> edges = np.zeros((3, 3), dtype=bool)
    >>> edges[0, 2] = True
    >>> sort_by_overrides(edges).tolist()
    [1, 2, 0]
    >>> sort_by_overrides(edges, np.array([0.27, 0.40, 0.25])).tolist()
    [2, 0, 1]
    """
    overrides = _upper(overrides)
    lead, K = overrides.shape[:-2], overrides.shape[-1]
    tables = overrides.reshape(-1, K, K)
    order = np.tile(np.arange(K, dtype=np.int64), (len(tables), 1))
    # where nothing overrides the preference, it is the order
    moved = np.flatnonzero(tables.any(axis=(1, 2)))
    if moved.size:
        guarded = None
        if means is not None:
            guarded = np.broadcast_to(means, (*lead, K)).reshape(-1, K)[moved]
        order[moved] = _sorted(tables[moved], guarded)
    return order.reshape(*lead, K)


def _sorted(overrides: Bools, means: Floats | None) -> Ints:
    """The orders of tables (B, K, K)."""
    B, K = overrides.shape[:2]
    every = np.arange(B)
    # int32 column sums: who loses an outgoing edge when column `taken` goes.
    outgoing = overrides.sum(axis=2, dtype=np.int32)
    columns = np.ascontiguousarray(overrides.transpose(0, 2, 1))
    order = np.empty((B, K), dtype=np.int64)
    for step in range(K):
        # An edge leads from a lower to a higher index, so a node without edges always remains.
        taken = _take(outgoing, means)
        order[:, step] = taken
        outgoing -= columns[every, taken]
        outgoing[every, taken] = -1
    return order


def _take(outgoing: npt.NDArray[np.int32], means: Floats | None) -> npt.NDArray[np.intp]:
    """The place of the learner to take in each table; `outgoing` is -1 for those that are gone."""
    free = outgoing == 0
    taken: npt.NDArray[np.intp]
    if means is None:
        taken = np.argmax(free, axis=1)
        return taken
    struck = np.minimum.accumulate(np.where(outgoing > 0, means, np.inf), axis=1)
    allowed = free & (means <= struck)
    taken = np.argmax(allowed, axis=1)
    lost = ~allowed[np.arange(len(taken)), taken]
    if lost.any():
        # only where a test by ranks contradicts the means
        taken[lost] = np.argmin(np.where(free[lost], means[lost], np.inf), axis=1)
    return taken


def steps_of(overrides: Bools, means: Floats | None = None) -> list[tuple[Ints, int, Ints]]:
    """For every step of one table the candidates, the one taken, and those passed over."""
    overrides = _upper(overrides)
    outgoing = overrides.sum(axis=1, dtype=np.int32)
    found = []
    for taken in sort_by_overrides(overrides, means).tolist():
        free = np.flatnonzero(outgoing == 0)
        found.append((free, taken, free[free < taken]))
        outgoing -= overrides[:, taken]
        outgoing[taken] = -1
    return found


def _upper(overrides: Bools) -> Bools:
    overrides = np.asarray(overrides, dtype=bool)
    if overrides.ndim < 2 or overrides.shape[-2] != overrides.shape[-1]:
        raise ArgumentError(f"overrides must be a square matrix; got shape {overrides.shape}.")
    if np.tril(overrides).any():
        i, j = np.argwhere(np.tril(overrides))[0][-2:]
        raise ArgumentError(
            "overrides must lead from a preferred to a less preferred learner; "
            f"got an edge from {int(i)} to {int(j)}."
        )
    return overrides
