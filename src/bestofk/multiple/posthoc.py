"""Post-hoc comparisons: one pairwise test for every pair, or against one control, adjusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.adjust import CORRECTIONS, adjust
from bestofk.checks import Floats, finite_array, one_of, whole
from bestofk.errors import ArgumentError
from bestofk.multiple.learners_table import read_only
from bestofk.multiple.result import MultipleResult
from bestofk.multiple.sentences import extremes_words, learner_names, pairs_words
from bestofk.pairwise.all_pairs import all_pairs
from bestofk.pairwise.registry import PAIRWISE_TESTS
from bestofk.presenting import open_level

__all__ = ["PosthocResult", "posthoc"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PosthocResult(MultipleResult):
    """Pairs of K learners with p-values adjusted for their number.

    Attributes
    ----------
    test, correction : str
        What was tested for each pair, and how the p-values were adjusted.
    control : int or None
        The learner that all others were compared with; None where all pairs were.
    pairs : ndarray of int, shape (m, 2)
        The learners of each pair; i < j, or the control first.
    statistics, pvalues, adjusted_pvalues : ndarray of shape (m,)
        Two-sided evidence for each pair, before and after the correction.
    estimates : ndarray of shape (m,)
        Mean loss of the first less that of the second.
    means : ndarray of shape (K,)
        Mean loss of each learner.
    """

    test: str
    correction: str
    control: int | None
    pairs: npt.NDArray[np.intp]
    statistics: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    estimates: Floats
    means: Floats

    def matrix(self, *, adjusted: bool = True) -> Floats:
        """The p-values as a symmetric (K, K) array with 1 on the diagonal.

        Parameters
        ----------
        adjusted : bool
            Whether the adjusted p-values are wanted.
        """
        if self.control is not None:
            raise ArgumentError(
                "matrix needs all pairs of learners; with a control the p-values are in "
                "adjusted_pvalues, one for each other learner."
            )
        square = np.ones((len(self.means), len(self.means)))
        i, j = self.pairs.T
        square[i, j] = square[j, i] = self.adjusted_pvalues if adjusted else self.pvalues
        return square

    @property
    def pvalue(self) -> float:
        """The smallest of all p-values, which are adjusted: of the hypothesis that none differ."""
        return float(self.adjusted_pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """One row per pair."""
        return {
            "a": self.pairs[:, 0],
            "b": self.pairs[:, 1],
            "estimate": self.estimates,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Level for the whole family of pairs; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, len(self.means))
        pairs = pairs_words(
            self.pairs, self.adjusted_pvalues, self.means, named, alpha, "mean loss"
        )
        against = "" if self.control is None else f" against {named[self.control]}"
        adjusts = CORRECTIONS[self.correction].adjusts
        how = f"adjusted by {self.correction}" if adjusts else "not adjusted"
        return (
            f"{extremes_words(self.means, named, 'mean loss')} {pairs} The p-values are those of "
            f"two-sided {self.test} tests{against}, {how}."
        )


def posthoc(
    losses: npt.ArrayLike,
    test: str | Callable[..., Any] = "wilcoxon",
    correction: str = "holm",
    *,
    control: int | None = None,
    **arguments: Any,
) -> PosthocResult:
    """Compare all pairs of K learners, or all with one control, by a pairwise test.

    H0, for each pair: that of the pairwise test, two-sided. The correction holds the error of
    all of them together (or, for Benjamini and Hochberg's or Yekutieli's, the expected share of
    false discoveries).

    Parameters
    ----------
    losses : array_like of shape (K, n)
        The loss of each of K learners on each of n blocks, such as data sets; (K, runs, folds)
        for the tests that want both.
    test : {"t", "wilcoxon", "sign", "permutation"}, another name of a pairwise test, or callable
        A callable takes two arrays, the losses of two learners, and returns a p-value or an
        object with `pvalue` (and `statistic`), such as `scipy.stats.ttest_rel`.
    correction : str
        How the p-values are adjusted for the number of pairs: ``"holm"`` or another name in
        `bestofk.adjust.CORRECTIONS`. ``"shaffer"`` and ``"bergmann-hommel"`` are for all pairs,
        not for a control.
    control : int, optional
        Compare this learner with each other one, instead of all pairs.
    **arguments
        Handed to the pairwise test, such as ``random_state`` or ``n_train``.

    Returns
    -------
    PosthocResult
        `pairs`, `statistics`, `pvalues`, `adjusted_pvalues`, `estimates`; `matrix()`.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> losses = [[0.30, 0.25, 0.28, 0.40], [0.26, 0.24, 0.23, 0.31], [0.31, 0.27, 0.30, 0.42]]
    >>> result = posthoc(losses, "t", "holm")
    >>> result.pairs.tolist(), result.adjusted_pvalues.round(4).tolist()
    ([[0, 1], [0, 2], [1, 2]], [0.0638, 0.018, 0.0637])
    >>> posthoc(losses, "sign", "bonferroni", control=1).adjusted_pvalues.tolist()
    [0.25, 0.25]
    """
    Y = finite_array(losses, "losses", min_ndim=2)
    if Y.shape[0] < 2 or 0 in Y.shape:
        raise ArgumentError(
            f"losses must have shape (K learners, blocks) with at least 2 learners; got shape "
            f"{Y.shape}."
        )
    correction = one_of(correction, "correction", tuple(CORRECTIONS))
    if control is not None and CORRECTIONS[correction].needs_all_pairs:
        raise ArgumentError(
            f"correction must be one of any family where there is a control; got {correction!r}, "
            "which is made for all pairs: 'holm' works."
        )
    K = len(Y)
    if control is not None and whole(control, "control", at_least=0) >= K:
        raise ArgumentError(f"control must be a learner from 0 to {K - 1}; got {control}.")
    if control is None:
        pairs = np.column_stack(np.triu_indices(K, 1))
    else:
        others = np.delete(np.arange(K), control)
        pairs = np.column_stack([np.full(K - 1, control), others])
    if callable(test):
        name = getattr(test, "__name__", "given")
        statistics, pvalues = _one_by_one(test, Y, pairs, arguments)
    else:
        name, statistics, pvalues = _by_name(test, Y, control, pairs, arguments)
    means = Y.reshape(K, -1).mean(axis=1)
    return PosthocResult(
        test=name,
        correction=correction,
        control=control,
        pairs=read_only(pairs),
        statistics=read_only(statistics),
        pvalues=read_only(pvalues),
        adjusted_pvalues=read_only(adjust(pvalues, correction, pairs=pairs)),
        estimates=read_only(means[pairs[:, 0]] - means[pairs[:, 1]]),
        means=read_only(means),
    )


def _by_name(
    test: str, Y: Floats, control: int | None, pairs: npt.NDArray[np.intp], arguments: Any
) -> tuple[str, Floats, Floats]:
    """All pairs in one call of a test from the registry."""
    entry = PAIRWISE_TESTS[_full_name(test)]
    if entry.bayesian:
        raise ArgumentError(f"test must be one with a p-value; {entry.name!r} has none to adjust.")
    if Y.ndim != 1 + entry.axes:
        wanted = "(K learners, blocks)" if entry.axes == 1 else "(K learners, runs, folds)"
        raise ArgumentError(
            f"losses must have shape {wanted} for the test {test!r}; got shape {Y.shape}."
        )
    found: Any
    if control is None:
        found = all_pairs(entry.name, Y, **arguments)
    else:
        function, options = entry.load(), {**entry.arguments, **arguments}
        found = function(Y[control][None], Y[pairs[:, 1]], alternative="two-sided", **options)
    name = "paired t" if test == "t" else entry.name
    return name, np.asarray(found.statistic, np.float64), np.asarray(found.pvalue, np.float64)


def _one_by_one(
    test: Callable[..., Any], Y: Floats, pairs: npt.NDArray[np.intp], arguments: Any
) -> tuple[Floats, Floats]:
    """A foreign function need not broadcast: it sees one pair at a time."""
    statistics, pvalues = np.zeros(len(pairs)), np.ones(len(pairs))
    for row, (i, j) in enumerate(pairs.tolist()):
        found = test(Y[i].copy(), Y[j].copy(), **arguments)
        p = np.asarray(getattr(found, "pvalue", found), dtype=np.float64)
        if p.ndim or not 0.0 <= p <= 1.0:
            raise ArgumentError(
                f"test must return one p-value between 0 and 1 for a pair; got {p} for learners "
                f"{i} and {j}."
            )
        statistics[row] = float(getattr(found, "statistic", 0.0))
        pvalues[row] = float(p)
    return statistics, pvalues


def _full_name(test: str) -> str:
    """The registered name of a test, from that or from its shorthand."""
    for entry in PAIRWISE_TESTS.values():
        if entry.shorthand and entry.shorthand == test:
            return entry.name
    return test
