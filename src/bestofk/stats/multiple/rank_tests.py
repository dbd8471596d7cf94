"""Rank tests of K learners: Friedman's, and Kruskal and Wallis's."""

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
    MultipleResult,
    all_learners,
    batch_words,
    columns_of_tests,
    extremes_words,
    hypothesis_words,
    learner_names,
    learners_by_columns,
    ratio,
    read_only,
)
from bestofk.stats.pairwise.result import FloatOrArray, scalar_or_array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FriedmanResult(MultipleResult):
    """Result of Friedman's test of K learners.

    Attributes
    ----------
    statistic, pvalue : float or ndarray
        Friedman's chi-squared, corrected for ties, and its tail; arrays over the leading axes.
    df : float
        K - 1.
    f_statistic, f_pvalue : float or ndarray
        Iman and Davenport's F and its tail, which keep the level better for few blocks.
    f_df : tuple of two floats
        (K - 1, (K - 1) (N - 1)).
    average_ranks : ndarray of shape (..., K)
        Mean rank of each learner over the blocks; 1 is the smallest loss.
    blocks : int
        Number of blocks N.
    """

    statistic: FloatOrArray
    pvalue: FloatOrArray
    df: float
    f_statistic: FloatOrArray
    f_pvalue: FloatOrArray
    f_df: tuple[float, float]
    average_ranks: Floats
    blocks: int

    def _columns(self) -> dict[str, Any]:
        """Return one row per test."""
        return columns_of_tests(
            self.pvalue,
            statistic=self.statistic,
            df=self.df,
            f_statistic=self.f_statistic,
            f_df_1=self.f_df[0],
            f_df_2=self.f_df[1],
            f_pvalue=self.f_pvalue,
            blocks=self.blocks,
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
        named = learner_names(names, self.average_ranks.shape[-1])
        if np.ndim(self.pvalue):
            return batch_words("Friedman test", self.pvalue, alpha, len(named))
        p, f_p = float(self.pvalue), float(self.f_pvalue)
        outcome = {
            (True, True): "is rejected by both statistics",
            (False, False): "is rejected by neither statistic",
            (True, False): "is rejected by the chi-squared but not by the F statistic",
            (False, True): "is rejected by the F but not by the chi-squared statistic",
        }[p <= alpha, f_p <= alpha]
        return (
            f"{extremes_words(self.average_ranks, named, 'average rank')} "
            f"Over {self.blocks} blocks, Friedman's chi-squared is "
            f"{number(float(self.statistic))} (df = {self.df:g}, {pvalue_words(p, alpha)}) and "
            f"Iman and Davenport's F({self.f_df[0]:g}, {self.f_df[1]:g}) is "
            f"{number(float(self.f_statistic))} ({pvalue_words(f_p, alpha)}): the hypothesis that "
            f"{all_learners(len(named))} are ranked alike {outcome} at level {alpha:g}."
        )


def friedman(losses: npt.ArrayLike) -> FriedmanResult:
    """Test that K learners are ranked alike over N blocks.

    H0: within every block (data set, fold or split) all orders of the K learners are equally
    likely.

    Parameters
    ----------
    losses : array_like of shape (..., K, N)
        The loss of each of K learners on each of N blocks; leading axes are separate tests.

    Returns
    -------
    FriedmanResult
        `statistic`, `pvalue`, `df`; `f_statistic`, `f_pvalue`, `f_df`; `average_ranks`.

    Notes
    -----
    With r_ij the rank of learner j on block i (1 for the smallest loss; ties share their mean
    rank) and R_j = sum_i r_ij,

        S = sum_j (R_j - N (K + 1)/2)^2,   A = sum_ij (r_ij - (K + 1)/2)^2,

    chi-squared is (K - 1) S / A with K - 1 degrees of freedom, which allows for ties, and Iman
    and Davenport's F = (N - 1) chi-squared / (N (K - 1) - chi-squared) = (N - 1) S / (N A - S).
    If all blocks agree, F is infinite. If everything is tied, both are 0 with p = 1.

    References
    ----------
    Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the
    analysis of variance. Journal of the American Statistical Association 32, 675-701.
    doi:10.1080/01621459.1937.10503522

    Iman, R. L. and Davenport, J. M. (1980). Approximations of the critical region of the
    Friedman statistic. Communications in Statistics A 9, 571-595.
    doi:10.1080/03610928008827904

    Examples
    --------
    >>> result = friedman([[3, 4, 3, 5], [1, 1, 2, 1], [2, 3, 4, 2]])
    >>> result.statistic, round(result.pvalue, 6), result.average_ranks.tolist()
    (6.5, 0.038774, [2.75, 1.0, 2.25])
    >>> print(result.explain(names=["svm", "tree", "knn"]))
    tree has the smallest average rank (1), svm the largest (2.75). Over 4 blocks, Friedman's
    chi-squared is 6.5 (df = 2, p = 0.039) and Iman and Davenport's F(2, 6) is 13 (p =
    0.0066): the hypothesis that all 3 learners are ranked alike is rejected by both statistics
    at level 0.05.
    """
    from scipy.stats import rankdata

    from bestofk.stats.tails import chi2_sf, f_sf

    Y = learners_by_columns(losses, "losses", columns="blocks", batch=True)
    K, N = Y.shape[-2:]
    ranks = rankdata(Y, axis=-2).swapaxes(-1, -2)
    # twice the deviations are whole numbers, so S, A and N A - S are exact
    doubled = 2.0 * ranks - (K + 1.0)
    sums = doubled.sum(axis=-2)
    S, A = np.square(sums).sum(axis=-1), np.square(doubled).sum(axis=(-2, -1))
    chi2 = (K - 1.0) * ratio(S, A)
    f_df = (K - 1.0, (K - 1.0) * (N - 1.0))
    F = ratio((N - 1.0) * S, N * A - S)
    return FriedmanResult(
        statistic=scalar_or_array(chi2),
        pvalue=scalar_or_array(chi2_sf(chi2, K - 1.0)),
        df=K - 1.0,
        f_statistic=scalar_or_array(F),
        f_pvalue=scalar_or_array(f_sf(F, *f_df)),
        f_df=f_df,
        average_ranks=read_only((sums / N + K + 1.0) / 2.0),
        blocks=N,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KruskalWallisResult(MultipleResult):
    """Result of the Kruskal-Wallis test of K learners.

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
        """Return one row per test."""
        return columns_of_tests(self.pvalue, statistic=self.statistic, df=self.df)

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
        named = learner_names(names, self.mean_ranks.shape[-1])
        if np.ndim(self.pvalue):
            return batch_words("Kruskal-Wallis test", self.pvalue, alpha, len(named))
        p = float(self.pvalue)
        claim = f"the losses of {all_learners(len(named))} have the same distribution"
        numbers = (
            f"Kruskal-Wallis test, H = {number(float(self.statistic))}, df = {self.df:g}, "
            f"{pvalue_words(p, alpha)}"
        )
        return (
            f"{extremes_words(self.mean_ranks, named, 'mean rank of losses')} "
            f"{hypothesis_words(p, alpha, claim, numbers)}"
        )


def kruskal_wallis(losses: npt.ArrayLike) -> KruskalWallisResult:
    """Test that the losses of K learners have the same distribution, by their ranks.

    H0: all K distributions of losses are the same. The test ignores which fold or split a loss
    comes from; `friedman` uses it.

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
    degrees of freedom for large L. If all losses are equal, H = 0 and p = 1.

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
    from scipy.stats import rankdata

    from bestofk.stats.tails import chi2_sf

    Y = learners_by_columns(losses, "losses", columns="losses", batch=True)
    K, L = Y.shape[-2:]
    n = K * L
    # twice the deviations are whole numbers, so ties and zeros are exact
    r = 2.0 * rankdata(Y.reshape(*Y.shape[:-2], n), axis=-1).reshape(Y.shape) - (n + 1.0)
    sums = r.sum(axis=-1)
    H = (n - 1.0) * ratio(np.square(sums).sum(axis=-1) / L, np.square(r).sum(axis=(-2, -1)))
    return KruskalWallisResult(
        statistic=scalar_or_array(H),
        pvalue=scalar_or_array(chi2_sf(H, K - 1.0)),
        df=K - 1.0,
        mean_ranks=read_only((sums / L + n + 1.0) / 2.0),
    )
