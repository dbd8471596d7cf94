"""Kruskal and Wallis: one-way analysis of variance on ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.multiple.average_ranks import average_ranks
from bestofk.multiple.learners_table import learners_by_columns, ratio, read_only
from bestofk.multiple.result import MultipleResult, columns_of_tests
from bestofk.multiple.sentences import (
    batch_words,
    everybody,
    extremes_words,
    hypothesis_words,
    learner_names,
)
from bestofk.pairwise.result import FloatOrArray, scalar_or_array
from bestofk.presenting import open_level
from bestofk.spoken_metric import spoken
from bestofk.wording import number, pvalue_words

__all__ = ["KruskalWallisResult", "kruskal_wallis"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KruskalWallisResult(MultipleResult):
    """Evidence that K learners do not all have the same distribution of losses.

    Attributes
    ----------
    statistic, pvalue : float or ndarray
        H, corrected for ties, and its chi-squared tail; arrays over the leading axes.
    df : float
        K - 1.
    mean_ranks : ndarray of shape (..., K)
        Mean rank of each learner's losses among all K L losses.
    """

    statistic: FloatOrArray
    pvalue: FloatOrArray
    df: float
    mean_ranks: Floats

    def _columns(self) -> dict[str, Any]:
        """One row per test."""
        return columns_of_tests(self.pvalue, statistic=self.statistic, df=self.df)

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Level of significance; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, self.mean_ranks.shape[-1])
        if np.ndim(self.pvalue):
            return batch_words("Kruskal-Wallis test", self.pvalue, alpha, len(named))
        p = float(self.pvalue)
        what = "losses" if spoken().name == "loss" else spoken().name
        claim = f"the {what} of {everybody(len(named))} have the same distribution"
        numbers = (
            f"Kruskal-Wallis test, H = {number(float(self.statistic))}, df = {self.df:g}, "
            f"{pvalue_words(p, alpha)}"
        )
        return (
            f"{extremes_words(self.mean_ranks, named, f'mean rank of {what}')} "
            f"{hypothesis_words(p, alpha, claim, numbers)}"
        )


def kruskal_wallis(losses: npt.ArrayLike) -> KruskalWallisResult:
    """Test that the losses of K learners have the same distribution, by their ranks.

    H0: all K distributions of losses are the same. Which fold or split a loss comes from is not
    used (`friedman` uses it).

    Parameters
    ----------
    losses : array_like of shape (..., K, L)
        L losses of each of K learners; leading axes are separate tests.

    Returns
    -------
    KruskalWallisResult
        `statistic`, `pvalue`, `df`, `mean_ranks`.

    Notes
    -----
    With n = K L, r_ij the rank of loss j of learner i among all n (ties share their mean rank)
    and R_i the mean rank of learner i,

        H = (n - 1) L sum_i (R_i - (n + 1)/2)^2 / sum_ij (r_ij - (n + 1)/2)^2,

    which is the usual statistic divided by its correction for ties, and chi-squared with K - 1
    degrees of freedom for large L. All losses equal give H = 0 and p = 1.

    References
    ----------
    Kruskal, W. H. and Wallis, W. A. (1952). Use of ranks in one-criterion variance analysis.
    Journal of the American Statistical Association 47, 583-621.
    doi:10.1080/01621459.1952.10483441

    Examples
    --------
    >>> result = kruskal_wallis([[0.30, 0.34, 0.32], [0.20, 0.25, 0.21], [0.31, 0.27, 0.29]])
    >>> round(result.statistic, 6), round(result.pvalue, 6), result.df
    (6.488889, 0.03899, 2.0)
    """
    from bestofk.tails import chi2_sf

    Y = learners_by_columns(losses, "losses", columns="losses", batch=True)
    K, L = Y.shape[-2:]
    n = K * L
    # Twice the deviations are whole numbers, so that ties and zeros are exact.
    r = 2.0 * average_ranks(Y.reshape(*Y.shape[:-2], n)).reshape(Y.shape) - (n + 1.0)
    sums = r.sum(axis=-1)
    H = (n - 1.0) * ratio(np.square(sums).sum(axis=-1) / L, np.square(r).sum(axis=(-2, -1)))
    return KruskalWallisResult(
        statistic=scalar_or_array(H),
        pvalue=scalar_or_array(chi2_sf(H, K - 1.0)),
        df=K - 1.0,
        mean_ranks=read_only((sums / L + n + 1.0) / 2.0),
    )
