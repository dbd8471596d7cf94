"""Looney's F test of the right answers of K classifiers on one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.formatting import number, pvalue_words
from bestofk._base.results import open_level
from bestofk.papers.stats.analysis_of_variance import greenhouse_geisser
from bestofk.stats.multiple.result import (
    EQUALLY_RIGHT,
    MultipleResult,
    all_learners,
    columns_of_tests,
    extremes_words,
    hypothesis_words,
    learner_names,
    ratio,
    read_only,
    zero_one,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LooneyResult(MultipleResult):
    """Result of Looney's F test of K classifiers.

    Attributes
    ----------
    statistic, pvalue : float
        F and its upper tail with the full degrees of freedom.
    df : tuple of two floats
        (K - 1, (K - 1) (N - 1)).
    epsilon : float
        Greenhouse and Geisser's epsilon of the K x K covariance.
    adjusted_pvalue : float
        The p-value of F+, with both degrees of freedom times epsilon.
    shares : ndarray of shape (K,)
        Share of right answers of each learner.
    instances : int
        Number of instances N.
    """

    statistic: float
    pvalue: float
    df: tuple[float, float]
    epsilon: float
    adjusted_pvalue: float
    shares: Floats
    instances: int

    @property
    def verdict_pvalue(self) -> float:
        """The p-value of F+."""
        return self.adjusted_pvalue

    def _columns(self) -> dict[str, Any]:
        """Return one row per test."""
        return columns_of_tests(
            self.pvalue,
            statistic=self.statistic,
            df_1=self.df[0],
            df_2=self.df[1],
            epsilon=self.epsilon,
            adjusted_pvalue=self.adjusted_pvalue,
            instances=self.instances,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print; F+ decides the verdict.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Significance level; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, len(self.shares))
        a, b = (self.epsilon * degrees for degrees in self.df)
        numbers = (
            f"Looney's F({self.df[0]:g}, {self.df[1]:g}) = {number(self.statistic)}, "
            f"{pvalue_words(self.pvalue, alpha)}; F+ with epsilon = {number(self.epsilon)} and "
            f"degrees of freedom {number(a)} and {number(b)}, "
            f"{pvalue_words(self.adjusted_pvalue, alpha)}"
        )
        claim = EQUALLY_RIGHT.format(all_learners(len(named)))
        return (
            f"{extremes_words(self.shares, named, 'share of right answers')} Over {self.instances} "
            f"instances: {hypothesis_words(self.adjusted_pvalue, alpha, claim, numbers)}"
        ).replace(": The", ": the")


def looney(correct: npt.ArrayLike) -> LooneyResult:
    """Test that K classifiers are equally often right on one test set, by an F ratio.

    H0: the probability of a right answer is the same for all K learners.

    Parameters
    ----------
    correct : array_like of 0 and 1, of shape (K, N)
        Whether each of K learners is right on each of N instances.

    Returns
    -------
    LooneyResult
        `statistic`, `pvalue`, `df`, `epsilon`, `adjusted_pvalue`, `shares`.

    Notes
    -----
    With ``p_.j``, ``p_i.`` and ``p`` the shares of right answers of learner j, on instance i, and
    overall::

        SSA = N sum_j p_.j^2 - N K p^2,    SSB = K sum_i p_i.^2 - N K p^2,
        SST = N K p (1 - p),    SSAB = SST - SSA - SSB,
        F = [SSA / (K - 1)] / [SSAB / ((K - 1) (N - 1))]

    is F distributed with K - 1 and (K - 1) (N - 1) degrees of freedom. F+, which Looney
    recommends, multiplies both by the epsilon of Greenhouse and Geisser. The sums are computed in
    whole numbers.

    References
    ----------
    Looney, S. W. (1988). A statistical technique for comparing the accuracies of several
    classifiers. Pattern Recognition Letters 8, 5-9. doi:10.1016/0167-8655(88)90016-5

    Examples
    --------
    >>> result = looney([[1, 1, 0, 1, 1, 1], [0, 0, 0, 1, 0, 1], [1, 0, 0, 1, 0, 1]])
    >>> round(result.statistic, 6), result.df, round(result.epsilon, 6)
    (3.181818, (2.0, 10.0), 0.902985)
    >>> round(result.pvalue, 6), round(result.adjusted_pvalue, 6)
    (0.085232, 0.093078)
    """
    from bestofk.stats.tails import f_sf

    x = zero_one(correct, "correct", batch=False)
    K, N = x.shape
    G, L, T = x.sum(axis=1), x.sum(axis=0), x.sum()
    # exact values of N K SSA and N K SSAB
    ssa = K * np.square(G).sum() - T * T
    ssab = N * K * T - K * np.square(G).sum() - N * np.square(L).sum() + T * T
    df = (K - 1.0, (K - 1.0) * (N - 1.0))
    f = float(ratio((N - 1.0) * ssa, ssab))
    epsilon = greenhouse_geisser(x)
    return LooneyResult(
        statistic=f,
        pvalue=float(f_sf(f, *df)),
        df=df,
        epsilon=epsilon,
        adjusted_pvalue=float(f_sf(f, epsilon * df[0], epsilon * df[1])),
        shares=read_only(G / N),
        instances=N,
    )
