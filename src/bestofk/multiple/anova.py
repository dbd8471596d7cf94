"""One-way analysis of variance of K learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.multiple.learners_table import (
    centred,
    exponent,
    learners_by_columns,
    ratio,
    read_only,
    sum_of_squares,
)
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

__all__ = ["AnovaResult", "anova"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnovaResult(MultipleResult):
    """Evidence that K learners do not all have the same expected loss.

    Attributes
    ----------
    statistic, pvalue : float or ndarray
        F and its upper tail; arrays over the leading axes.
    df : tuple of two floats
        (K - 1, K (L - 1)).
    means : ndarray of shape (..., K)
        Mean loss of each learner.
    mst, mse : float or ndarray
        Mean squares between and within learners.
    """

    statistic: FloatOrArray
    pvalue: FloatOrArray
    df: tuple[float, float]
    means: Floats
    mst: FloatOrArray
    mse: FloatOrArray

    def _columns(self) -> dict[str, Any]:
        """One row per test."""
        return columns_of_tests(
            self.pvalue,
            statistic=self.statistic,
            df_1=self.df[0],
            df_2=self.df[1],
            mst=self.mst,
            mse=self.mse,
        )

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
        named = learner_names(names, self.means.shape[-1])
        if np.ndim(self.pvalue):
            return batch_words("analysis of variance", self.pvalue, alpha, len(named))
        p = float(self.pvalue)
        claim = f"{everybody(len(named))} have the same expected {spoken().name}"
        numbers = (
            f"analysis of variance, F({self.df[0]:g}, {self.df[1]:g}) = "
            f"{number(float(self.statistic))}, {pvalue_words(p, alpha)}"
        )
        return (
            f"{extremes_words(self.means, named, 'mean loss')} "
            f"{hypothesis_words(p, alpha, claim, numbers)}"
        )


def anova(losses: npt.ArrayLike) -> AnovaResult:
    """Test that K learners have the same expected loss, by one-way analysis of variance.

    H0: mu_1 = ... = mu_K. The L losses of a learner are taken as a sample of their own: which
    fold or split they come from is not used (`repeated_measures_anova` uses it).

    Parameters
    ----------
    losses : array_like of shape (..., K, L)
        L losses of each of K learners; leading axes are separate tests.

    Returns
    -------
    AnovaResult
        `statistic`, `pvalue`, `df`, `means`, `mst`, `mse`.

    Notes
    -----
    With m_i the mean of learner i and m the grand mean,

        MST = L sum_i (m_i - m)^2 / (K - 1),   MSE = sum_ij (Y_ij - m_i)^2 / (K L - K),

    and f = MST / MSE is F distributed with K - 1 and K (L - 1) degrees of freedom. Equal means
    without any spread give f = 0 and p = 1; different means without spread give p = 0.

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
    Y = learners_by_columns(losses, "losses", columns="losses", batch=True)
    return anova_of(one_way_parts(Y))


def anova_of(parts: OneWayParts) -> AnovaResult:
    """The analysis of variance from sums of squares."""
    from bestofk.tails import f_sf

    df = parts.df
    f = ratio(parts.between / df[0], parts.within / df[1])
    return AnovaResult(
        statistic=scalar_or_array(f),
        pvalue=scalar_or_array(f_sf(f, *df)),
        df=df,
        means=read_only(parts.means),
        mst=scalar_or_array(parts.in_squared_unit(parts.between / df[0])),
        mse=scalar_or_array(parts.in_squared_unit(parts.within / df[1])),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneWayParts:
    """Sums of squares in units of a power of two (so that they neither vanish nor overflow).

    `offsets` are the means of the learners less that of the first one, in that unit; `powers`
    is the power of two, of shape (...); `columns` is L.
    """

    means: Floats
    offsets: Floats
    between: Any
    within: Any
    powers: Any
    columns: int

    @property
    def df(self) -> tuple[float, float]:
        """(K - 1, K (L - 1))."""
        K = self.means.shape[-1]
        return float(K - 1), float(K * (self.columns - 1))

    def in_squared_unit(self, square: Any) -> Any:
        """A mean square in the unit of the losses."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(square, 2 * self.powers)


def one_way_parts(losses: Floats) -> OneWayParts:
    """Sums of squares between and within learners, for losses of shape (..., K, L)."""
    L = losses.shape[-1]
    power = exponent(losses)
    # a product with a power of two is exact too, and quicker
    Y = losses * np.ldexp(1.0, -power) if np.abs(power).max() < 1000 else np.ldexp(losses, -power)
    m = Y.mean(axis=-1, keepdims=True)
    between, within = sum_of_squares(centred(m, -2)), sum_of_squares(centred(Y, -1))
    offsets = m - m[..., :1, :]
    return OneWayParts(
        means=np.ldexp(m, power)[..., 0],
        offsets=offsets[..., 0],
        between=L * between,
        within=within,
        powers=power[..., 0, 0],
        columns=L,
    )
