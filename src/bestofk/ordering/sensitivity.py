"""What an order would be at another level, or with another preference, without new tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk.adjust import adjust
from bestofk.checks import Floats, probability
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.ordering.graph import Bools, sort_by_overrides
from bestofk.ordering.problem import Name
from bestofk.ordering.result import Order
from bestofk.wording import counted, number, shortened

__all__ = ["AlphaPath", "PriorPath", "orders_by_alpha", "orders_by_prior"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaPath:
    """The order of MultiTest for every level between two.

    Attributes
    ----------
    breaks : tuple of float
        Levels at which the order changes, rising; at a break the later order holds.
    orders : tuple of tuple of names
        One more than `breaks`: the order before, between and after them, best first.
    low, high : float
        The levels between which was looked.
    alpha : float
        The level of the decision.
    """

    breaks: tuple[float, ...]
    orders: tuple[tuple[Name, ...], ...]
    low: float
    high: float
    alpha: float

    def at(self, alpha: float) -> tuple[Name, ...]:
        """The order at a level."""
        return self.orders[int(np.searchsorted(self.breaks, alpha, side="right"))]

    def explain(self) -> str:
        """What depends on the level, in sentences."""
        between = f"between {self.low:g} and {self.high:g}"
        if not self.breaks:
            return f"The order is the same for every alpha {between}."
        best: list[Name] = [self.orders[0][0]]
        told = []
        for level, order in zip(self.breaks, self.orders[1:], strict=True):
            if order[0] != best[-1]:
                best.append(order[0])
                told.append(f"{order[0]} from {number(level)}")
        changes = f"For alpha {between} the order changes {counted(len(self.breaks), 'time')}"
        if not told:
            return f"{changes}; the best is always {best[0]}."
        return f"{changes}; the best is {best[0]} below {number(self._first())}, {shortened(told)}."

    def _first(self) -> float:
        first = self.orders[0][0]
        return next(
            level
            for level, order in zip(self.breaks, self.orders[1:], strict=True)
            if order[0] != first
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorPath:
    """The order of MultiTest as one learner moves through the prior.

    Attributes
    ----------
    learner : name
        The one that moves; all others keep their order of preference.
    positions : tuple of int
        Its place in the prior, 1 the most preferred.
    orders : tuple of tuple of names
        The order found for each, best first.
    position : int
        Its place in the prior of the decision.
    """

    learner: Name
    positions: tuple[int, ...]
    orders: tuple[tuple[Name, ...], ...]
    position: int

    def explain(self) -> str:
        """What depends on the preference for this learner, in sentences."""
        best = [
            p
            for p, order in zip(self.positions, self.orders, strict=True)
            if order[0] == self.learner
        ]
        if len(best) == len(self.positions):
            return f"{self.learner} is the best wherever it stands in the prior."
        if not best:
            return f"{self.learner} is not the best wherever it stands in the prior."
        return (
            f"{self.learner} is the best when it stands in the prior at "
            f"{shortened([str(p) for p in best])} of {len(self.positions)}; it stands at "
            f"{self.position}."
        )


def orders_by_alpha(order: Order, *, low: float = 0.001, high: float = 0.5) -> AlphaPath:
    """Every order that MultiTest finds for a level between `low` and `high`, exactly.

    Parameters
    ----------
    order : Order
        A decision of MultiTest.
    low, high : float
        The levels to look between.

    Returns
    -------
    AlphaPath

    Notes
    -----
    An edge appears at its adjusted p-value and stays: only there can the order change.

    Examples
    --------
    >>> from bestofk.ordering import multitest
    >>> losses = [[0.30, 0.28, 0.33, 0.31], [0.28, 0.28, 0.30, 0.27], [0.10, 0.12, 0.11, 0.09]]
    >>> path = orders_by_alpha(multitest(losses, test="kfold-t"))
    >>> [round(level, 4) for level in path.breaks], path.orders
    ([0.039], ((2, 0, 1), (2, 1, 0)))
    """
    _must_be_multitest(order, "orders_by_alpha")
    low, high = probability(low, "low"), probability(high, "high")
    if not low < high:
        raise ArgumentError(f"low must be below high; got {low:g} and {high:g}.")
    evidence = order.evidence
    p = evidence.adjusted_pvalue
    levels = np.unique(p[(p > low) & (p <= high)])
    names, first, second = order.prior, evidence.first, evidence.second
    overrides = np.zeros((len(names),) * 2, dtype=bool)
    breaks: list[float] = []
    orders: list[tuple[Name, ...]] = []
    for level in (low, *levels.tolist()):
        reached = p <= level
        overrides[first[reached], second[reached]] = True
        found = tuple(names[i] for i in sort_by_overrides(overrides).tolist())
        if not orders:
            orders.append(found)
        elif found != orders[-1]:
            breaks.append(level)
            orders.append(found)
    return AlphaPath(
        breaks=tuple(breaks), orders=tuple(orders), low=low, high=high, alpha=order.alpha
    )


def orders_by_prior(order: Order, learner: Name | None = None) -> PriorPath:
    """The order that MultiTest finds as one learner moves from last to first in the prior.

    Parameters
    ----------
    order : Order
        A decision of MultiTest.
    learner : name, optional
        Who moves; by default the least preferred one.

    Returns
    -------
    PriorPath

    Notes
    -----
    Every pair is tested once in either direction; each prior then takes the half that it needs
    and adjusts it.

    Examples
    --------
    >>> from bestofk.ordering import multitest
    >>> losses = [[0.30, 0.28, 0.33, 0.31], [0.28, 0.28, 0.30, 0.27], [0.10, 0.12, 0.11, 0.09]]
    >>> path = orders_by_prior(multitest(losses, test="kfold-t"), 1)
    >>> path.orders
    ((2, 1, 0), (2, 1, 0), (2, 0, 1))
    """
    _must_be_multitest(order, "orders_by_prior")
    names = order.prior
    learner = names[-1] if learner is None else learner
    if learner not in names:
        raise UnknownNameError("learner", learner, [str(name) for name in names])
    pvalues = _both_directions(order)
    K = len(names)
    at = names.index(learner)
    others = [k for k in range(K) if k != at]
    i, j = np.triu_indices(K, 1)
    orders = []
    for place in range(K):
        prior = np.array([*others[:place], at, *others[place:]])
        adjusted = adjust(pvalues[prior[i], prior[j]], order.correction)
        overrides: Bools = np.zeros((K, K), dtype=bool)
        overrides[i, j] = adjusted <= order.alpha
        orders.append(tuple(names[k] for k in prior[sort_by_overrides(overrides)].tolist()))
    return PriorPath(
        learner=learner,
        positions=tuple(range(1, K + 1)),
        orders=tuple(orders),
        position=at + 1,
    )


def _both_directions(order: Order) -> Floats:
    """(K, K): p-value of H0 that the row has at most the loss of the column."""
    from bestofk.pairwise.pairs import all_pairs

    if order.problem is None or order.choice is None:
        raise ArgumentError("orders_by_prior: the order does not say what it was decided from.")
    evidence = order.evidence
    square = np.ones((len(order.prior),) * 2)
    square[evidence.first, evidence.second] = evidence.pvalue
    values = order.problem.sample(order.choice.axes)
    pairs = all_pairs(order.choice, values, alternative="less")
    square[pairs.j, pairs.i] = pairs.pvalue
    return square


def _must_be_multitest(order: Order, where: str) -> None:
    if order.procedure != "multitest":
        raise ArgumentError(
            f"{where}: the order must come from 'multitest'; got one from {order.procedure!r}."
        )
