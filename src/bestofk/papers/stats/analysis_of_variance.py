"""Analysis of variance of K learners: one-way, repeated measures, and of right answers."""

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
    learners_by_columns,
    ratio,
    read_only,
    zero_one,
)
from bestofk.stats.pairwise.result import FloatOrArray, scalar_or_array
from bestofk.stats.tails import f_sf

LOONEY = "Looney's test"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VarianceResult(MultipleResult):
    """Result of an analysis of variance of K learners.

    Attributes
    ----------
    test : str
        Name of the test in sentences.
    statistic, pvalue : float or ndarray
        F and its upper tail with the full degrees of freedom; arrays over the leading axes.
    df : tuple of two floats
        Degrees of freedom.
    means : ndarray of shape (..., K)
        Mean loss of each learner; for Looney's test, its share of right answers.
    mst, mse : float, ndarray or None
        Mean squares between and within learners.
    epsilon : float or None
        Greenhouse and Geisser's epsilon of the K x K covariance, for common blocks.
    adjusted_pvalue : float or None
        The p-value with both degrees of freedom times epsilon; for Looney's test, that of F+.
    """

    test: str
    statistic: FloatOrArray
    pvalue: FloatOrArray
    df: tuple[float, float]
    means: Floats
    mst: FloatOrArray | None = None
    mse: FloatOrArray | None = None
    epsilon: float | None = None
    adjusted_pvalue: float | None = None

    @property
    def verdict_pvalue(self) -> float:
        """The p-value; that of F+ for Looney's test."""
        adjusted = self.adjusted_pvalue if self.test.startswith(LOONEY) else None
        return float(self.pvalue if adjusted is None else adjusted)

    def _columns(self) -> dict[str, Any]:
        """Return one row per test."""
        names = ("statistic", "mst", "mse", "epsilon", "adjusted_pvalue")
        known = {name: value for name in names if (value := getattr(self, name)) is not None}
        return columns_of_tests(self.pvalue, df_1=self.df[0], df_2=self.df[1], **known)

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print; epsilon decides the verdict.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Significance level; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, self.means.shape[-1])
        if np.ndim(self.pvalue):
            return batch_words(self.test, self.pvalue, alpha, len(named))
        p = float(self.pvalue)
        numbers = (
            f"{self.test}, F({self.df[0]:g}, {self.df[1]:g}) = {number(float(self.statistic))}, "
            f"{pvalue_words(p, alpha)}"
        )
        if self.epsilon is not None and self.adjusted_pvalue is not None:
            p = self.adjusted_pvalue
            numbers += (
                f"; with Greenhouse and Geisser's epsilon = {number(self.epsilon)}, "
                f"{pvalue_words(p, alpha)}"
            )
        what, claim = "mean loss", "{} have the same expected loss"
        if self.test.startswith(LOONEY):
            what, claim = "share of right answers", EQUALLY_RIGHT
        return (
            f"{extremes_words(self.means, named, what)} "
            f"{hypothesis_words(p, alpha, claim.format(all_learners(len(named))), numbers)}"
        )


def _blocked(test: str, f: float, table: Floats, means: Any) -> VarianceResult:
    """Return the result of an F test on common blocks, shape (K, n), adjusted by epsilon."""
    K, n = table.shape
    df, epsilon = (K - 1.0, (K - 1.0) * (n - 1.0)), greenhouse_geisser(table)
    return VarianceResult(
        test=test,
        statistic=f,
        pvalue=float(f_sf(f, *df)),
        df=df,
        means=read_only(means),
        epsilon=epsilon,
        adjusted_pvalue=float(f_sf(f, epsilon * df[0], epsilon * df[1])),
    )


def anova(losses: npt.ArrayLike) -> VarianceResult:
    """Test that K learners have the same expected loss, by one-way analysis of variance.

    H0: mu_1 = ... = mu_K. The L losses of each learner count as a separate sample. The test ignores
    which fold or split a loss comes from; `repeated_measures_anova` uses it.

    Parameters
    ----------
    losses : array_like of shape (..., K, L)
        L losses of each of K learners; leading axes are separate tests.

    Returns
    -------
    VarianceResult
        `statistic`, `pvalue`, `df`, `means`, `mst`, `mse`.

    Notes
    -----
    With m_i the mean of learner i and m the grand mean,

        MST = L sum_i (m_i - m)^2 / (K - 1),   MSE = sum_ij (Y_ij - m_i)^2 / (K L - K),

    and f = MST / MSE is F distributed with K - 1 and K (L - 1) degrees of freedom. Without any
    spread, equal means give f = 0 and p = 1, and different means give p = 0.

    References
    ----------
    Fisher, R. A. (1925). Statistical methods for research workers. Oliver and Boyd.

    Yildiz, O. T. and Alpaydin, E. (2006). Ordering and finding the best of K > 2 supervised
    learning algorithms. IEEE Transactions on Pattern Analysis and Machine Intelligence 28,
    392-402. doi:10.1109/TPAMI.2006.61

    Examples
    --------
    >>> result = anova([[0.30, 0.34, 0.32], [0.20, 0.25, 0.21], [0.31, 0.27, 0.29]])
    >>> round(result.statistic, 6), round(result.pvalue, 6), result.df
    (15.8, 0.004063, (2.0, 6.0))
    >>> print(result.explain(names=["svm", "tree", "knn"]))
    tree has the smallest mean loss (0.22), svm the largest (0.32). The hypothesis that all 3
    learners have the same expected loss is rejected at level 0.05 (analysis of variance,
    F(2, 6) = 15.8, p = 0.0041).
    """
    parts = one_way_parts(learners_by_columns(losses, "losses", columns="losses", batch=True))
    df = parts.df
    f = ratio(parts.between / df[0], parts.within / df[1])
    return VarianceResult(
        test="analysis of variance",
        statistic=scalar_or_array(f),
        pvalue=scalar_or_array(f_sf(f, *df)),
        df=df,
        means=read_only(parts.means),
        mst=scalar_or_array(parts.between / df[0]),
        mse=scalar_or_array(parts.within / df[1]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneWayParts:
    """Sums of squares between and within learners for losses of shape (..., K, L).

    `offsets` are the means of the learners minus that of the first one. `noise` is the rounding
    error of one loss. `columns` is L.
    """

    means: Floats
    offsets: Floats
    between: Any
    within: Any
    noise: Any
    columns: int

    @property
    def df(self) -> tuple[float, float]:
        """Degrees of freedom (K - 1, K (L - 1))."""
        K = self.means.shape[-1]
        return float(K - 1), float(K * (self.columns - 1))

    @property
    def standard_error(self) -> Any:
        """Standard error of one mean."""
        return np.sqrt(self.within / self.df[1] / self.columns)

    def studentized(self, difference: Any) -> Any:
        """Return differences (..., pairs) of means over their standard error.

        If the standard error is 0, a difference within rounding counts as 0.
        """
        error, noise = (np.expand_dims(x, -1) for x in (self.standard_error, self.noise))
        size = np.abs(difference)
        return ratio(np.where((error == 0.0) & (size <= noise), 0.0, size), error)


def one_way_parts(losses: Floats) -> OneWayParts:
    """Return the sums of squares of losses of shape (..., K, L)."""
    noise, m = rounding(losses), losses.mean(axis=-1, keepdims=True)
    return OneWayParts(
        means=m[..., 0],
        offsets=(m - m[..., :1, :])[..., 0],
        between=losses.shape[-1] * sum_of_squares(centred(m, -2), noise),
        within=sum_of_squares(centred(losses, -1), noise),
        noise=noise,
        columns=losses.shape[-1],
    )


# Repeated measures


def repeated_measures_anova(losses: npt.ArrayLike) -> VarianceResult:
    """Test that K learners have the same expected loss, by repeated-measures analysis of variance.

    H0: mu_1 = ... = mu_K, given the effect of each block (data set, fold or split).

    Parameters
    ----------
    losses : array_like of shape (K, n)
        The loss of each of K learners on each of n blocks.

    Returns
    -------
    VarianceResult
        `statistic`, `pvalue`, `df`, `epsilon`, `adjusted_pvalue`, `means`.

    Notes
    -----
    F = [SSA / (K - 1)] / [SSAB / ((K - 1) (n - 1))] with SSA between the learners and SSAB the
    interaction of learner and block. If the differences of the pairs have unequal variances, F
    rejects too often; multiplying both degrees of freedom by Greenhouse and Geisser's epsilon
    corrects this. For K = 2, F
    is the square of the paired t statistic.

    References
    ----------
    Greenhouse, S. W. and Geisser, S. (1959). On methods in the analysis of profile data.
    Psychometrika 24, 95-112. doi:10.1007/BF02289823

    Examples
    --------
    >>> losses = [[0.30, 0.34, 0.32, 0.41], [0.20, 0.25, 0.21, 0.37], [0.31, 0.27, 0.29, 0.4]]
    >>> result = repeated_measures_anova(losses)
    >>> round(result.statistic, 6), round(result.pvalue, 6), result.df
    (11.644068, 0.008598, (2.0, 6.0))
    """
    Y = learners_by_columns(losses, "losses", columns="blocks", batch=False)
    n = Y.shape[1]
    noise, m = rounding(Y), Y.mean(axis=1, keepdims=True)
    ssa = n * float(sum_of_squares(centred(m, -2), noise))
    ssab = float(sum_of_squares(centred(centred(Y, -1), -2), noise))
    f = float(ratio(ssa, ssab / (n - 1.0)))
    return _blocked(f"repeated-measures analysis of variance over {n} blocks", f, Y, m[:, 0])


def greenhouse_geisser(table: Floats) -> float:
    """Return Greenhouse and Geisser's epsilon of a (K, n) table, between 1 / (K - 1) and 1.

    Notes
    -----
    With S the K x K covariance of the learners, centred over rows and columns, epsilon is
    tr(S)^2 / ((K - 1) tr(S^2)). Without interaction it is 1.

    References
    ----------
    Greenhouse, S. W. and Geisser, S. (1959). On methods in the analysis of profile data.
    Psychometrika 24, 95-112. doi:10.1007/BF02289823

    Examples
    --------
    >>> import numpy as np
    >>> round(greenhouse_geisser(np.array([[1.0, 2, 4], [2, 2, 1], [3, 1, 2]])), 6)
    0.735294
    """
    K, n = table.shape
    R = _interaction(table)
    # compute tr(S^2) from the smaller of the two Gram matrices, which share their eigenvalues
    gram = R @ R.T if n >= K else R.T @ R
    square = float(np.square(gram).sum())
    if square == 0.0:
        return 1.0
    epsilon = float(np.trace(gram)) ** 2 / ((K - 1) * square)
    return float(min(max(epsilon, 1.0 / (K - 1)), 1.0))


def _interaction(table: Floats) -> Floats:
    """Return the table without the effects of rows and columns, divided by its largest value."""
    R = centred(centred(table, -1), -2)
    if float(sum_of_squares(R, rounding(table))) == 0.0:
        return np.zeros_like(R)
    return np.asarray(R / np.abs(R).max(), dtype=np.float64)


# Looney's test of right answers


def looney(correct: npt.ArrayLike) -> VarianceResult:
    """Test that K classifiers are equally often right on one test set, by an F ratio.

    H0: the probability of a right answer is the same for all K learners.

    Parameters
    ----------
    correct : array_like of 0 and 1, of shape (K, N)
        Whether each of K learners is right on each of N instances.

    Returns
    -------
    VarianceResult
        `statistic`, `pvalue`, `df`, `epsilon`, `adjusted_pvalue`, `means`.

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
    x = zero_one(correct, "correct", batch=False)
    K, N = x.shape
    G, L, T = x.sum(axis=1), x.sum(axis=0), x.sum()
    # exact values of N K SSA and N K SSAB
    ssa = K * np.square(G).sum() - T * T
    ssab = N * K * T - K * np.square(G).sum() - N * np.square(L).sum() + T * T
    f = float(ratio((N - 1.0) * ssa, ssab))
    return _blocked(f"{LOONEY} on {N} instances", f, x, G / N)


# Sums of squares that are exactly 0 if only rounding is left


def rounding(table: Floats) -> Any:
    """Return the rounding error (...) of a value of the table, a few units in the 16th digit."""
    largest = np.abs(table).max(axis=(-2, -1))
    return np.ldexp(8.0 * np.finfo(np.float64).eps, np.frexp(largest)[1])


def sum_of_squares(deviations: Floats, noise: Any) -> Any:
    """Return the sum of squares over the last two axes; exactly 0 if only rounding is left."""
    squares = np.square(deviations).sum(axis=(-2, -1))
    floor = deviations.shape[-2] * deviations.shape[-1] * np.square(noise)
    return np.where(squares <= floor, 0.0, squares)


def centred(table: Floats, axis: int | tuple[int, int]) -> Floats:
    """Subtract the mean over `axis`; subtract the first entry before, so that equals give 0."""
    axes = (axis,) if isinstance(axis, int) else axis
    first = table[
        tuple(slice(0, 1) if a - table.ndim in axes else slice(None) for a in range(table.ndim))
    ]
    shifted: Floats = table - first
    shifted -= shifted.mean(axis=axis, keepdims=True)
    return shifted
