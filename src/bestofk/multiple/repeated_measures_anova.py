"""Repeated-measures analysis of variance: K learners on the same blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
from bestofk.multiple.sentences import everybody, extremes_words, hypothesis_words, learner_names
from bestofk.multiple.sphericity import Epsilons, Mauchly, epsilons, mauchly
from bestofk.presenting import open_level
from bestofk.spoken_metric import spoken
from bestofk.wording import number, pvalue_words

__all__ = ["RepeatedMeasuresResult", "repeated_measures_anova"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedMeasuresResult(MultipleResult):
    """Evidence that K learners differ, with the blocks taken out.

    Attributes
    ----------
    statistic, pvalue : float
        F and its upper tail under sphericity.
    df : tuple of two floats
        (K - 1, (K - 1) (n - 1)).
    means : ndarray of shape (K,)
        Mean loss of each learner.
    epsilons : Epsilons
        `greenhouse_geisser`, `huynh_feldt` and `lower_bound`.
    greenhouse_geisser_pvalue, huynh_feldt_pvalue, lower_bound_pvalue : float
        The p-values with both degrees of freedom times that epsilon.
    sphericity : Mauchly or None
        Mauchly's test; None where there are fewer blocks than learners.
    blocks : int
        Number of blocks n.
    """

    statistic: float
    pvalue: float
    df: tuple[float, float]
    means: Floats
    epsilons: Epsilons
    greenhouse_geisser_pvalue: float
    huynh_feldt_pvalue: float
    lower_bound_pvalue: float
    sphericity: Mauchly | None
    blocks: int

    def _columns(self) -> dict[str, Any]:
        """One row per test."""
        return columns_of_tests(
            self.pvalue,
            statistic=self.statistic,
            df_1=self.df[0],
            df_2=self.df[1],
            **asdict(self.epsilons),
            greenhouse_geisser_pvalue=self.greenhouse_geisser_pvalue,
            huynh_feldt_pvalue=self.huynh_feldt_pvalue,
            lower_bound_pvalue=self.lower_bound_pvalue,
            blocks=self.blocks,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print; the verdict is that with the epsilon.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Level of significance; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, len(self.means))
        claim = f"{everybody(len(named))} have the same expected {spoken().name}"
        e = self.epsilons.greenhouse_geisser
        numbers = (
            f"repeated-measures analysis of variance over {self.blocks} blocks, "
            f"F({self.df[0]:g}, {self.df[1]:g}) = {number(self.statistic)}, "
            f"{pvalue_words(self.pvalue, alpha)}; with Greenhouse and Geisser's epsilon = "
            f"{number(e)}, {pvalue_words(self.greenhouse_geisser_pvalue, alpha)}"
        )
        sentences = [
            extremes_words(self.means, named, "mean loss"),
            hypothesis_words(self.greenhouse_geisser_pvalue, alpha, claim, numbers),
        ]
        if self.sphericity is not None and len(named) > 2:
            outcome = "is rejected" if self.sphericity.pvalue <= alpha else "is not rejected"
            sentences.append(
                f"Sphericity {outcome} (Mauchly's W = {number(self.sphericity.w)}, "
                f"{pvalue_words(self.sphericity.pvalue, alpha)})."
            )
        return " ".join(sentences)


def repeated_measures_anova(losses: npt.ArrayLike) -> RepeatedMeasuresResult:
    """Test that K learners have the same expected loss, by repeated-measures analysis of variance.

    H0: mu_1 = ... = mu_K, given the effect of each block (data set, fold or split).

    Parameters
    ----------
    losses : array_like of shape (K, n)
        The loss of each of K learners on each of n blocks.

    Returns
    -------
    RepeatedMeasuresResult
        `statistic`, `pvalue`, `df`, the epsilons with their p-values, Mauchly's test.

    Notes
    -----
    F = [SSA / (K - 1)] / [SSAB / ((K - 1) (n - 1))] with SSA between the learners and SSAB the
    interaction of learner and block. Where the differences of the pairs have unequal variances
    F rejects too often; multiplying both degrees of freedom by epsilon corrects that. For
    K = 2, F is the square of the paired t statistic.

    References
    ----------
    Greenhouse, S. W. and Geisser, S. (1959). On methods in the analysis of profile data.
    Psychometrika 24, 95-112. doi:10.1007/BF02289823

    Huynh, H. and Feldt, L. S. (1976). Estimation of the Box correction for degrees of freedom.
    Journal of Educational Statistics 1, 69-82. doi:10.3102/10769986001001069

    Examples
    --------
    >>> losses = [[0.30, 0.34, 0.32, 0.41], [0.20, 0.25, 0.21, 0.37], [0.31, 0.27, 0.29, 0.4]]
    >>> result = repeated_measures_anova(losses)
    >>> round(result.statistic, 6), round(result.pvalue, 6), result.df
    (11.644068, 0.008598, (2.0, 6.0))
    """
    from bestofk.tails import f_sf

    Y = learners_by_columns(losses, "losses", columns="blocks", batch=False)
    K, n = Y.shape
    power = exponent(Y)
    scaled = np.ldexp(Y, -power)
    m = scaled.mean(axis=1, keepdims=True)
    ssa = n * float(sum_of_squares(centred(m, -2)))
    ssab = float(sum_of_squares(centred(centred(scaled, -1), -2)))
    df = (float(K - 1), float((K - 1) * (n - 1)))
    f = float(ratio(ssa / df[0], ssab / df[1]))
    e = epsilons(Y)

    def corrected(epsilon: float) -> float:
        return float(f_sf(f, epsilon * df[0], epsilon * df[1]))

    return RepeatedMeasuresResult(
        statistic=f,
        pvalue=corrected(1.0),
        df=df,
        means=read_only(np.ldexp(m, power)[:, 0]),
        epsilons=e,
        greenhouse_geisser_pvalue=corrected(e.greenhouse_geisser),
        huynh_feldt_pvalue=corrected(e.huynh_feldt),
        lower_bound_pvalue=corrected(e.lower_bound),
        sphericity=mauchly(Y),
        blocks=n,
    )
