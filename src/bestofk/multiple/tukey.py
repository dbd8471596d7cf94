"""Tukey's honestly significant differences: all pairs after a one-way analysis of variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats, probability
from bestofk.multiple.anova import one_way_parts
from bestofk.multiple.learners_table import learners_by_columns, read_only, studentized
from bestofk.multiple.result import MultipleResult, square_columns
from bestofk.multiple.sentences import extremes_words, learner_names, pairs_words
from bestofk.multiple.studentized_range import quantile, survival
from bestofk.pairwise.result import Interval
from bestofk.presenting import open_level

__all__ = ["TukeyResult", "tukey"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TukeyResult(MultipleResult):
    """All pairs of K learners, adjusted for their number.

    Attributes
    ----------
    statistics, pvalues : ndarray of shape (K, K)
        Studentized range of each pair and its p-value, adjusted for all pairs; symmetric, with
        0 and 1 on the diagonal.
    estimates : ndarray of shape (K, K)
        Mean loss of the row less that of the column.
    means : ndarray of shape (K,)
        Mean loss of each learner.
    standard_error : float
        sqrt(MSE / L), of one mean.
    df : float
        Degrees of freedom, K (L - 1).
    """

    statistics: Floats
    pvalues: Floats
    estimates: Floats
    means: Floats
    standard_error: float
    df: float

    def confidence_interval(self, level: float = 0.95) -> Interval:
        """Simultaneous intervals of all differences, as two (K, K) arrays.

        Parameters
        ----------
        level : float
            Probability that all of them hold at once.
        """
        alpha = 1.0 - probability(level, "level")
        half = float(quantile(alpha, groups=len(self.means), df=self.df)) * self.standard_error
        width = np.full(self.estimates.shape, half)
        np.fill_diagonal(width, 0.0)
        return Interval(self.estimates - width, self.estimates + width)

    @property
    def pvalue(self) -> float:
        """The smallest of all p-values, which are adjusted: of the hypothesis that none differ."""
        return float(self.pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """One row per pair."""
        return square_columns(
            {"mean": self.means},
            estimate=self.estimates,
            statistic=self.statistics,
            pvalue=self.pvalues,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Level for all pairs together; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, len(self.means))
        i, j = np.triu_indices(len(named), 1)
        pairs = np.column_stack([i, j])
        return (
            f"{extremes_words(self.means, named, 'mean loss')} "
            f"{pairs_words(pairs, self.pvalues[i, j], self.means, named, alpha, 'mean loss')} "
            f"The p-values are those of Tukey's honestly significant differences with {self.df:g} "
            "degrees of freedom, adjusted for all pairs."
        )


def tukey(losses: npt.ArrayLike) -> TukeyResult:
    """Compare all pairs of K learners by Tukey's range test.

    H0, for each pair: mu_i = mu_j, with the error of all pairs together held at the level.

    Parameters
    ----------
    losses : array_like of shape (K, L)
        L losses of each of K learners.

    Returns
    -------
    TukeyResult
        `statistics`, `pvalues`, `estimates` as (K, K) arrays and `confidence_interval(level)`.

    Notes
    -----
    ``q_ij = |m_i - m_j| sqrt(L / MSE)`` is compared, for every pair, with the studentized range of
    all K means with K (L - 1) degrees of freedom.

    References
    ----------
    Tukey, J. W. (1949). Comparing individual means in the analysis of variance. Biometrics 5,
    99-114. doi:10.2307/3001913

    Examples
    --------
    >>> result = tukey([[9, 10, 11], [1, 2, 3], [5, 6, 7], [3, 4, 5]])
    >>> result.pvalues[1].round(4).tolist()
    [0.0, 1.0, 0.0052, 0.1442]
    """
    Y = learners_by_columns(losses, "losses", columns="losses", batch=False)
    K, L = Y.shape
    df = float(K * (L - 1))
    parts = one_way_parts(Y)
    m = parts.offsets
    standard_error = math.sqrt(float(parts.within) / df / L)
    i, j = np.triu_indices(K, 1)
    q = studentized(m[i] - m[j], standard_error)
    p = survival(q, groups=K, df=df)
    statistics, pvalues = np.zeros((K, K)), np.ones((K, K))
    statistics[i, j] = statistics[j, i] = q
    pvalues[i, j] = pvalues[j, i] = p
    power = int(parts.powers)
    return TukeyResult(
        statistics=read_only(statistics),
        pvalues=read_only(pvalues),
        estimates=read_only(np.ldexp(m[:, None] - m[None, :], power)),
        means=read_only(parts.means),
        standard_error=math.ldexp(standard_error, power),
        df=df,
    )
