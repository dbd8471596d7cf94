"""From edges that override a prior to an order: the graph part of MultiTest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the ordering: who could be taken, and who was."""

    candidates: tuple[int | str, ...]
    """Learners that no remaining learner beats, most preferred first."""
    chosen: int | str
    """The most preferred candidate."""


def sort_by_overrides(overrides: Bools) -> Ints:
    """Repeatedly take the most preferred learner that no remaining one overrides.

    Parameters
    ----------
    overrides : (K, K) array of bool
        Learners in prior order. ``overrides[i, j]`` with i < j is an edge i -> j: the data say
        that j has the smaller loss although i is preferred. Nothing on or below the diagonal.

    Returns
    -------
    (K,) array of int
        The order, best first.

    Examples
    --------
    Fig. 2 of Yildiz and Alpaydin (2006), with learners counted from 0:

    >>> edges = np.zeros((4, 4), dtype=bool)
    >>> edges[[0, 0, 0, 1], [1, 2, 3, 2]] = True
    >>> sort_by_overrides(edges).tolist()
    [2, 1, 3, 0]
    """
    overrides = _upper(overrides)
    n_learners = len(overrides)
    # int32 column sums: who loses an outgoing edge when column `taken` goes.
    outgoing = overrides.sum(axis=1, dtype=np.int32)
    columns = np.ascontiguousarray(overrides.T)
    order = np.empty(n_learners, dtype=np.int64)
    for step in range(n_learners):
        # An edge leads from a lower to a higher index, so a node without edges always remains.
        taken = int(np.argmax(outgoing == 0))
        order[step] = taken
        outgoing -= columns[taken]
        outgoing[taken] = -1
    return order


def candidates_of_steps(overrides: Bools, order: Ints) -> list[Ints]:
    """For every step of `order`, the learners without outgoing edges, most preferred first."""
    overrides = _upper(overrides)
    outgoing = overrides.sum(axis=1, dtype=np.int32)
    found = []
    for taken in order:
        found.append(np.flatnonzero(outgoing == 0))
        outgoing -= overrides[:, taken]
        outgoing[taken] = -1
    return found


def _upper(overrides: Bools) -> Bools:
    overrides = np.asarray(overrides, dtype=bool)
    if overrides.ndim != 2 or overrides.shape[0] != overrides.shape[1]:
        raise ArgumentError(f"overrides must be a square matrix; got shape {overrides.shape}.")
    if np.tril(overrides).any():
        i, j = np.argwhere(np.tril(overrides))[0]
        raise ArgumentError(
            "overrides must lead from a preferred to a less preferred learner; "
            f"got an edge from {int(i)} to {int(j)}."
        )
    return overrides
