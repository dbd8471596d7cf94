"""Multinomial selection: on how many test instances is each learner the surest of the truth?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import finite_array, one_of, probability
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import number, pvalue_words
from bestofk._base.results import Presented
from bestofk.decide.preference import Name
from bestofk.decide.statements.wording import listing
from bestofk.papers.decide.procedures.roc_hull import MAX_COARSE_SCORES
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.tails import binomial_at_most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MultinomialSelection(Presented):
    """Wins of every learner, and whether the first has significantly more than each other.

    Attributes
    ----------
    best : name or None
        The learner with most wins; None when several have equally many.
    order : tuple of names
        By falling wins; equally many in the order given.
    wins, shares : mapping
        Test instances won (shared where several are equally sure), and their share of all.
    pvalues, adjusted_pvalues : mapping
        For every learner but the first of `order`: exact binomial evidence that the first wins
        more often than it.
    coarse : mapping
        Learners whose posteriors are few distinct numbers with 1 among them, and how many.
    """

    best: Name | None
    order: tuple[Name, ...]
    wins: Mapping[Name, float]
    shares: Mapping[Name, float]
    pvalues: Mapping[Name, float]
    adjusted_pvalues: Mapping[Name, float]
    alpha: float
    correction: str
    n_instances: int
    coarse: Mapping[Name, int]

    @property
    def pvalue(self) -> float:
        """The largest adjusted p-value: of the hypothesis that the first is no single best."""
        return max(self.adjusted_pvalues.values())

    def _columns(self) -> dict[str, Any]:
        """One row per learner, by falling wins; the first has no p-value."""
        return {
            "learner": self.order,
            "wins": [self.wins[name] for name in self.order],
            "share": [self.shares[name] for name in self.order],
            "pvalue": [self.pvalues.get(name) for name in self.order],
            "adjusted_pvalue": [self.adjusted_pvalues.get(name) for name in self.order],
        }

    def explain(self) -> str:
        """Return the selection in sentences."""
        first = self.order[0]
        won = f"{number(self.wins[first])} of {self.n_instances} test instances"
        if self.best is None:
            top = [str(n) for n in self.order if self.wins[n] == self.wins[first]]
            head = (
                f"Multinomial selection finds no single best: {listing(top)} each give the true "
                f"class the largest posterior on {won}."
            )
        else:
            head = (
                f"Multinomial selection chooses {first}: it gives the true class the "
                f"largest posterior on {won} (shared where several are equally sure)."
            )
        surer = [n for n, p in self.adjusted_pvalues.items() if p <= self.alpha]
        rest = [n for n in self.adjusted_pvalues if n not in surer]
        parts = [head]
        if surer:
            parts.append(f"That is significantly more than {self._listed(surer)}.")
        if rest:
            parts.append(f"It is not significantly more than {self._listed(rest)}.")
        if self.coarse:
            few = listing(f"{name} ({count})" for name, count in self.coarse.items())
            parts.append(
                f"Few distinct posteriors, among them 1: {few}. Such a learner, for example k "
                "nearest neighbours with k + 1, is easily the surest; its posteriors are not "
                "probabilities."
            )
        return " ".join(parts)

    def _listed(self, learners: Sequence[Name]) -> str:
        return listing(
            f"{name} ({number(self.wins[name])}, "
            f"{pvalue_words(self.adjusted_pvalues[name], self.alpha)})"
            for name in learners
        )


def multinomial_selection(
    posteriors: Any,
    *,
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
    correction: str = "holm",
) -> MultinomialSelection:
    """Choose the learner that most often gives the true class the largest posterior.

    H0, for the learner with most wins and each other: both are equally likely to win an instance
    that one of the two wins.

    Parameters
    ----------
    posteriors : array (K, N)
        Posterior probability that each of K learners gives to the true class of each of N test
        instances.
    names : sequence of str, optional
        By default the integers 0..K-1.
    alpha : float
        Error of the whole comparison.
    correction : str
        Over the K - 1 rivals of the first.

    Returns
    -------
    MultinomialSelection

    Notes
    -----
    An instance on which m learners share the largest posterior counts 1/m for each. Given the
    instances that either of two learners wins, the wins of one are binomial with probability 1/2
    under H0; split wins are rounded against the rejection.

    References
    ----------
    S. G. Alsing, K. W. Bauer and J. O. Miller, A multinomial selection procedure for evaluating
    pattern recognition algorithms, Pattern Recognition 35 (2002) 2397-2412,
    doi:10.1016/S0031-3203(01)00203-3.

    Examples
    --------
    >>> chosen = multinomial_selection([[0.9, 0.8, 0.7, 0.6], [0.8, 0.8, 0.6, 0.9]])
    >>> chosen.best, dict(chosen.wins)
    (0, {0: 2.5, 1: 1.5})
    """
    array = finite_array(posteriors, "posteriors", min_ndim=2)
    if array.ndim != 2:
        raise ArgumentError(f"posteriors must be (K, N); got shape {array.shape}.")
    if array.shape[0] < 2 or array.shape[1] < 1:
        raise ArgumentError(
            f"posteriors must hold at least 2 learners and 1 instance; got shape {array.shape[:2]}."
        )
    if array.min() < 0 or array.max() > 1:
        raise ArgumentError(
            f"posteriors must lie between 0 and 1; got {array.min():g} to {array.max():g}."
        )
    known: tuple[Name, ...] = tuple(names) if names is not None else tuple(range(len(array)))
    if len(known) != len(array):
        raise ArgumentError(f"names must hold {len(array)} names; got {len(known)}.")
    alpha = probability(alpha, "alpha")
    one_of(correction, "correction", CORRECTIONS)
    top = array == array.max(axis=0)
    wins = (top / top.sum(axis=0)).sum(axis=1)
    order = np.argsort(-wins, kind="stable")
    first, rivals = order[0], order[1:]
    won = np.floor(wins[first] + 1e-9)
    lost = np.ceil(wins[rivals] - 1e-9)
    # P(X >= won) for X binomial(won + lost, 1/2)
    p = binomial_at_most(lost, won + lost)
    adjusted = adjust(p, correction)
    tied = bool(np.isclose(wins[rivals[0]], wins[first], rtol=0, atol=1e-9))
    beaten = [known[i] for i in rivals.tolist()]
    few = min(MAX_COARSE_SCORES, array.shape[1] - 1)
    coarse = {
        name: count
        for name, row in zip(known, array, strict=True)
        if row.max() == 1 and (count := len(np.unique(row))) <= few
    }
    return MultinomialSelection(
        best=None if tied else known[first],
        order=(known[first], *beaten),
        wins=dict(zip(known, wins.tolist(), strict=True)),
        shares=dict(zip(known, (wins / array.shape[1]).tolist(), strict=True)),
        pvalues=dict(zip(beaten, p.tolist(), strict=True)),
        adjusted_pvalues=dict(zip(beaten, adjusted.tolist(), strict=True)),
        alpha=alpha,
        correction=correction,
        n_instances=array.shape[1],
        coarse=coarse,
    )
