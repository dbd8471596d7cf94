"""Comparisons of all pairs of K learners by Nemenyi's test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, probability
from bestofk._base.formatting import number
from bestofk._base.results import decided_level
from bestofk.stats.multiple.rank_tests import friedman
from bestofk.stats.multiple.result import (
    MultipleResult,
    extremes_words,
    learner_names,
    learners_by_columns,
    pairs_words,
    read_only,
    square_columns,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NemenyiResult(MultipleResult):
    """Result of Nemenyi's comparison of all pairs of K learners by average ranks.

    Attributes
    ----------
    average_ranks : ndarray of shape (K,)
        Mean rank of each learner over the blocks; 1 is the smallest loss.
    critical_difference : float
        Average ranks differ significantly if they differ by more than this.
    alpha : float
        Level for all pairs together.
    statistics, pvalues : ndarray of shape (K, K)
        Studentized range of each pair and its p-value, adjusted for all pairs; symmetric, with
        0 and 1 on the diagonal.
    order : tuple of int
        Learners by ascending average rank; equal ranks keep the order of the input.
    groups : tuple of tuple of int
        The largest sets of two or more neighbours in that order without a significant difference:
        the bars of a critical difference diagram.
    blocks : int
        Number of blocks N.
    """

    average_ranks: Floats
    critical_difference: float
    alpha: float
    statistics: Floats
    pvalues: Floats
    order: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    blocks: int

    def different(self, i: int, j: int) -> bool:
        """Return whether the average ranks of two learners exceed the critical difference."""
        gap = abs(float(self.average_ranks[i]) - float(self.average_ranks[j]))
        return gap > self.critical_difference

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, for the hypothesis that no pair differs."""
        return float(self.pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return square_columns(
            {"average_rank": self.average_ranks}, statistic=self.statistics, pvalue=self.pvalues
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            The level at which it was decided; any other level raises an error.
        """
        decided_level(alpha, self.alpha)
        ranks = self.average_ranks
        named = learner_names(names, len(ranks))
        i, j = np.triu_indices(len(named), 1)
        pairs, p = np.column_stack([i, j]), self.pvalues[i, j]
        return (
            f"{extremes_words(ranks, named, 'average rank')} Over {self.blocks} blocks the "
            f"critical difference of Nemenyi's test at level {self.alpha:g} is "
            f"{number(self.critical_difference)}. "
            f"{pairs_words(pairs, p, ranks, named, self.alpha, 'average rank')}"
        )


def nemenyi(losses: npt.ArrayLike, alpha: float = 0.05) -> NemenyiResult:
    """Compare all pairs of K learners by their average ranks over N blocks.

    H0, for each pair: both are ranked alike. The test controls the error of all pairs together. It
    is the post-hoc test of `friedman`.

    Parameters
    ----------
    losses : array_like of shape (K, N)
        The loss of each of K learners on each of N blocks.
    alpha : float
        Level for all pairs together.

    Returns
    -------
    NemenyiResult
        `average_ranks`, `critical_difference`, `pvalues`, `groups` and `different(i, j)`.

    Notes
    -----
    The critical difference is CD = q sqrt(K (K + 1) / (12 N)) with q the upper alpha quantile
    of the studentized range of K means with infinite degrees of freedom; the p-value of a pair
    is the upper tail of that range at ``|R_i - R_j| / sqrt(K (K + 1) / (12 N))``.

    References
    ----------
    Nemenyi, P. (1963). Distribution-free multiple comparisons. PhD thesis, Princeton University.

    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    Examples
    --------
    >>> result = nemenyi([[3, 4, 3, 5], [1, 1, 2, 1], [2, 3, 4, 2]])
    >>> round(result.critical_difference, 6), result.order, result.groups
    (1.657247, (1, 2, 0), ((1, 2), (2, 0)))
    >>> result.pvalues[0].round(6).tolist()
    [1.0, 0.035557, 0.759287]
    """
    from scipy import stats

    Y = learners_by_columns(losses, "losses", columns="blocks", batch=False)
    alpha = probability(alpha, "alpha")
    K, N = Y.shape
    ranks = friedman(Y).average_ranks
    unit = math.sqrt(K * (K + 1.0) / (12.0 * N))
    i, j = np.triu_indices(K, 1)
    q = np.abs(ranks[i] - ranks[j]) / unit
    statistics, pvalues = np.zeros((K, K)), np.ones((K, K))
    statistics[i, j] = statistics[j, i] = q
    pvalues[i, j] = pvalues[j, i] = _tails(q, K)
    critical_difference = float(stats.studentized_range.isf(alpha, K, math.inf)) * unit
    order = np.argsort(ranks, kind="stable")
    return NemenyiResult(
        average_ranks=ranks,
        critical_difference=critical_difference,
        alpha=alpha,
        statistics=read_only(statistics),
        pvalues=read_only(pvalues),
        order=tuple(order.tolist()),
        groups=_bars(order, ranks[order], critical_difference),
        blocks=N,
    )


def _tails(q: Floats, K: int) -> Floats:
    """Return P(range of K standard normals > q).

    Average ranks have few distinct values: compute each tail once. Below 1e-12 the tails of scipy
    have no digits, and Bonferroni's bound over all pairs is right to 1 percent.
    """
    from scipy import special, stats

    distinct, where = np.unique(q, return_inverse=True)
    tails = stats.studentized_range.sf(distinct, K, math.inf)
    bound = math.comb(K, 2) * special.erfc(distinct / 2.0)
    return np.asarray(np.where(tails > 1e-12, tails, bound)[where])


def _bars(
    order: npt.NDArray[np.intp], ranks: Floats, critical_difference: float
) -> tuple[tuple[int, ...], ...]:
    """Return the maximal windows of sorted ranks whose ends differ by at most CD."""
    ends = np.searchsorted(ranks, ranks + critical_difference, side="right")
    bars, covered = [], 0
    for start, end in enumerate(ends.tolist()):
        if end > covered and end - start > 1:
            bars.append(tuple(order[start:end].tolist()))
        covered = max(covered, end)
    return tuple(bars)
