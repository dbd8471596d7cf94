"""Compute what MultiTest would decide at other levels or preferences, without new tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Ints, probability
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.formatting import number, shortened
from bestofk._base.results import Presented
from bestofk.decide.decision import Decision
from bestofk.decide.preference import Name
from bestofk.decide.procedures.multitest import sort_by_overrides
from bestofk.decide.registry import decides_by


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaPath(Presented):
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
        """Return the order at a level."""
        return self.orders[int(np.searchsorted(self.breaks, alpha, side="right"))]

    def _columns(self) -> dict[str, Any]:
        """One row per order: from which level on it holds, and the order."""
        return {
            "from_alpha": [self.low, *self.breaks],
            "to_alpha": [*self.breaks, self.high],
            "recommended": [order[0] for order in self.orders],
            "order": [", ".join(map(str, order)) for order in self.orders],
        }

    def explain(self) -> str:
        """Return what depends on the level, in sentences."""
        between = f"between {self.low:g} and {self.high:g}"
        if not self.breaks:
            return f"The order is the same for every alpha {between}."
        best: list[Name] = [self.orders[0][0]]
        changes_of_best = []
        for level, order in zip(self.breaks, self.orders[1:], strict=True):
            if order[0] != best[-1]:
                best.append(order[0])
                changes_of_best.append(f"{order[0]} from {number(level)}")
        times = {1: "once", 2: "twice"}.get(len(self.breaks), f"{len(self.breaks)} times")
        changes = f"For alpha {between} the order changes {times}"
        if not changes_of_best:
            return f"{changes}; {best[0]} is always recommended."
        return (
            f"{changes}; {best[0]} is recommended below {number(self._first())}, "
            f"{shortened(changes_of_best)} on."
        )

    def _first(self) -> float:
        first = self.orders[0][0]
        return next(
            level
            for level, order in zip(self.breaks, self.orders[1:], strict=True)
            if order[0] != first
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencePath(Presented):
    """The order of MultiTest as one learner moves through the preference.

    Attributes
    ----------
    learner : name
        The one that moves; all others keep their order of preference.
    positions : tuple of int
        Its place in the preference, 1 the most preferred.
    orders : tuple of tuple of names
        The order found for each, best first.
    position : int
        Its place in the preference of the decision.
    """

    learner: Name
    positions: tuple[int, ...]
    orders: tuple[tuple[Name, ...], ...]
    position: int

    def _columns(self) -> dict[str, Any]:
        """Return one row per position in the preference."""
        return {
            "position": self.positions,
            "recommended": [order[0] for order in self.orders],
            "order": [", ".join(map(str, order)) for order in self.orders],
        }

    def explain(self) -> str:
        """Return what depends on the preference for this learner, in sentences."""
        learner = self.learner
        best = [
            p
            for p, order in zip(self.positions, self.orders, strict=True)
            if order[0] == self.learner
        ]
        if len(best) == len(self.positions):
            return f"{learner} is recommended at every position in the preference."
        if not best:
            return f"{learner} is not recommended at any position in the preference."
        positions = f"position{'' if len(best) == 1 else 's'} {shortened([str(p) for p in best])}"
        current = f"; its current position is {self.position}"
        if self.position in best:
            current = ", its current one" if len(best) == 1 else ", including its current one"
        return (
            f"{learner} is recommended at {positions} of {len(self.positions)} in the "
            f"preference{current}."
        )


def decisions_by_alpha(decision: Decision, *, low: float = 0.001, high: float = 0.5) -> AlphaPath:
    """Return every order of MultiTest for a level between `low` and `high`.

    Parameters
    ----------
    decision : Decision
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
    >>> from bestofk.decide import multitest
    >>> losses = [[0.301, 0.282, 0.333], [0.279, 0.268, 0.305], [0.101, 0.123, 0.108]]
    >>> path = decisions_by_alpha(multitest(losses, test="kfold-t"))
    >>> [round(level, 4) for level in path.breaks], path.orders
    ([0.0228, 0.0343], ((0, 1, 2), (2, 0, 1), (2, 1, 0)))
    """
    _must_be_multitest(decision, "decisions_by_alpha")
    low, high = probability(low, "low"), probability(high, "high")
    if not low < high:
        raise ArgumentError(f"low must be below high; got {low:g} and {high:g}.")
    evidence = decision.evidence
    # only claims for the less preferred learner of a pair move anything
    against = evidence.direction > 0
    p, first, second = (
        column[against] for column in (evidence.adjusted_pvalue, evidence.first, evidence.second)
    )
    levels = np.unique(p[(p > low) & (p <= high)])
    names, means = decision.by_preference, decision.guarded_means()
    overrides = np.zeros((len(names),) * 2, dtype=bool)
    breaks: list[float] = []
    orders: list[tuple[Name, ...]] = []
    for level in (low, *levels.tolist()):
        reached = p <= level
        overrides[first[reached], second[reached]] = True
        current = tuple(names[i] for i in sort_by_overrides(overrides, means).tolist())
        if not orders:
            orders.append(current)
        elif current != orders[-1]:
            breaks.append(level)
            orders.append(current)
    return AlphaPath(
        breaks=tuple(breaks), orders=tuple(orders), low=low, high=high, alpha=decision.alpha
    )


def decisions_by_preference(decision: Decision, learner: Name | None = None) -> PreferencePath:
    """Return the orders of MultiTest as one learner moves through the preference.

    Parameters
    ----------
    decision : Decision
        A decision of MultiTest.
    learner : name, optional
        Who moves; by default the least preferred one.

    Returns
    -------
    PreferencePath

    Notes
    -----
    What is shown of a pair does not depend on the preference; which of it overrides the
    preference does.

    Examples
    --------
    >>> from bestofk.decide import multitest
    >>> losses = [[0.301, 0.282, 0.333], [0.279, 0.268, 0.305], [0.101, 0.123, 0.108]]
    >>> path = decisions_by_preference(multitest(losses, test="kfold-t", alpha=0.03), 1)
    >>> path.orders
    ((2, 1, 0), (2, 0, 1), (2, 0, 1))
    """
    _must_be_multitest(decision, "decisions_by_preference")
    names = decision.by_preference
    learner = names[-1] if learner is None else learner
    if learner not in names:
        raise UnknownNameError("learner", learner, [str(name) for name in names])
    K = len(names)
    at = names.index(learner)
    others = [k for k in range(K) if k != at]
    i, j = np.triu_indices(K, 1)
    shown = _shown_better(decision)
    means = decision.guarded_means()
    orders = []
    for place in range(K):
        prefer = np.array([*others[:place], at, *others[place:]])
        overrides: Bools = np.zeros((K, K), dtype=bool)
        overrides[i, j] = shown(prefer[i], prefer[j])
        guarded = None if means is None else means[prefer]
        ordered = prefer[sort_by_overrides(overrides, guarded)]
        orders.append(tuple(names[k] for k in ordered.tolist()))
    return PreferencePath(
        learner=learner,
        positions=tuple(range(1, K + 1)),
        orders=tuple(orders),
        position=at + 1,
    )


def _shown_better(decision: Decision) -> Callable[[Ints, Ints], Bools]:
    """Return a function of pairs (preferred, other): is the other shown to be better?

    In the family of all pairs the claims do not depend on the preference. In the family
    ``"preference"`` each preference has its own one-sided p-values, adjusted again.
    """
    evidence = decision.evidence
    square = np.ones((len(decision.by_preference),) * 2)
    if evidence.family.name != "preference":
        claimed: Bools = np.zeros(square.shape, dtype=bool)
        ahead, behind = evidence.better > 0, evidence.better < 0
        claimed[evidence.first[ahead], evidence.second[ahead]] = True
        claimed[evidence.second[behind], evidence.first[behind]] = True
        return lambda i, j: claimed[i, j]
    square[evidence.first, evidence.second] = evidence.pvalue_greater
    square[evidence.second, evidence.first] = evidence.pvalue_less
    return lambda i, j: evidence.family.adjust(square[i, j]) <= decision.alpha


def _must_be_multitest(decision: Decision, where: str) -> None:
    if decides_by(decision.procedure) != "steps":
        raise ArgumentError(
            f"{where}: the order must come from 'multitest'; got one from {decision.procedure!r}."
        )
    if not decision.preference.stated:
        raise ArgumentError(
            f"{where}: without a preference the smallest mean is recommended at every level; state "
            "one with ",
            use(prefer=...),
        )
