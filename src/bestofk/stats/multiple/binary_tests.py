"""Cochran's Q test of the right answers of K classifiers on one test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.formatting import number, pvalue_words
from bestofk._base.results import open_level
from bestofk.stats.multiple.result import (
    EQUALLY_RIGHT,
    MultipleResult,
    all_learners,
    batch_words,
    columns_of_tests,
    extremes_words,
    hypothesis_words,
    learner_names,
    ratio,
    read_only,
    zero_one,
)
from bestofk.stats.pairwise.result import FloatOrArray, scalar_or_array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CochranResult(MultipleResult):
    """Result of Cochran's Q test of K classifiers.

    Attributes
    ----------
    statistic, pvalue : float or ndarray
        Q and its chi-squared tail; arrays over the leading axes.
    df : float
        K - 1.
    shares : ndarray of shape (..., K)
        Share of right answers of each learner.
    informative : int or ndarray
        Number of instances on which the learners disagree; the others do not affect Q.
    instances : int
        Number of instances N.
    """

    statistic: FloatOrArray
    pvalue: FloatOrArray
    df: float
    shares: Floats
    informative: int | npt.NDArray[np.int64]
    instances: int

    def _columns(self) -> dict[str, Any]:
        """Return one row per test."""
        return columns_of_tests(
            self.pvalue,
            statistic=self.statistic,
            df=self.df,
            informative=self.informative,
            instances=self.instances,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Significance level; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, self.shares.shape[-1])
        if np.ndim(self.pvalue):
            return batch_words("Cochran's Q test", self.pvalue, alpha, len(named))
        p = float(self.pvalue)
        numbers = (
            f"Cochran's Q = {number(float(self.statistic))}, df = {self.df:g}, "
            f"{pvalue_words(p, alpha)}"
        )
        return (
            f"{extremes_words(self.shares, named, 'share of right answers')} The learners disagree "
            f"on {self.informative} of {self.instances} instances. "
            f"{hypothesis_words(p, alpha, EQUALLY_RIGHT.format(all_learners(len(named))), numbers)}"
        )


def cochran_q(correct: npt.ArrayLike) -> CochranResult:
    """Test that K classifiers are equally often right on one test set.

    H0: the probability of a right answer is the same for all K learners.

    Parameters
    ----------
    correct : array_like of 0 and 1, of shape (..., K, N)
        Whether each of K learners is right on each of N instances; leading axes are separate
        tests.

    Returns
    -------
    CochranResult
        `statistic`, `pvalue`, `df`, `shares`, `informative`.

    Notes
    -----
    With G_j the number of right answers of learner j, L_i the number of learners that are right
    on instance i and T their total,

        Q = (K - 1) (K sum_j G_j^2 - T^2) / (K T - sum_i L_i^2),

    chi-squared with K - 1 degrees of freedom for many instances. For K = 2 it is McNemar's
    statistic without the continuity correction. If the learners always agree, Q = 0 and p = 1.

    References
    ----------
    Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37,
    256-266. doi:10.1093/biomet/37.3-4.256

    Examples
    --------
    >>> result = cochran_q([[1, 1, 0, 1, 1, 1], [0, 0, 0, 1, 0, 1], [1, 0, 0, 1, 0, 1]])
    >>> round(result.statistic, 6), round(result.pvalue, 6), result.informative
    (4.666667, 0.096972, 3)
    """
    from bestofk.stats.tails import chi2_sf

    x = zero_one(correct, "correct", batch=True)
    K, N = x.shape[-2:]
    G, L, T = x.sum(axis=-1), x.sum(axis=-2), x.sum(axis=(-2, -1))
    spread = K * np.square(G).sum(axis=-1) - T * T
    Q = (K - 1.0) * ratio(spread, K * T - np.square(L).sum(axis=-1))
    informative = ((L > 0.0) & (K > L)).sum(axis=-1)
    return CochranResult(
        statistic=scalar_or_array(Q),
        pvalue=scalar_or_array(chi2_sf(Q, K - 1.0)),
        df=K - 1.0,
        shares=read_only(G / N),
        informative=int(informative) if informative.ndim == 0 else read_only(informative),
        instances=N,
    )
