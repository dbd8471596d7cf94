"""Bootstrap-A: compare the mean loss of each of K learners with all rearrangements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import (
    Floats,
    RandomState,
    finite_array,
    generator,
    one_of,
    probability,
    refuse,
    whole,
)
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import capitalised, counted, number, pvalue_words
from bestofk._base.results import open_level
from bestofk.papers.stats.draws import drawn_tails
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.multiple.result import MultipleResult, learner_names
from bestofk.stats.null_distributions.sign_flips import mean_difference, two_sided
from bestofk.stats.null_distributions.sums import step_grid, sum_tails

MAX_LISTED = 12
METHODS = ("exact", "resample")
SHAPES = "(learners, data sets), with folds and repetitions as further axes"


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapPairs(MultipleResult):
    """Result of Bootstrap-A with two learners, for several pairs.

    - `pairs`: The learners compared.
    - `estimates` (pairs,): Mean loss of the first minus that of the second.
    - `pvalues`, `adjusted_pvalues` (pairs,): Two-sided p-values, before and after adjustment for
      the number of pairs.
    - `correction`: The correction of the p-values.
    - `error_bound` (pairs,): Largest error of each p-value; 0 if it was counted exactly.
    - `names`: Names of the learners in sentences.
    """

    pairs: tuple[tuple[int, int], ...]
    estimates: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    correction: str
    error_bound: Floats
    names: tuple[str, ...]

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, for the hypothesis that no pair differs."""
        return float(self.adjusted_pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return {
            "a": [self.names[i] for i, _ in self.pairs],
            "b": [self.names[j] for _, j in self.pairs],
            "estimate": self.estimates,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }

    def rejected(self, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
        """Return which pairs differ at level `alpha`, adjusted for the number of pairs."""
        return np.asarray(self.adjusted_pvalues <= probability(alpha, "alpha"))

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences; of more than 12 pairs list only those that differ.

        Parameters
        ----------
        names : sequence of str, optional
            Names of all learners, instead of those of the result.
        alpha : float, optional
            Significance level of the whole family; 0.05 by default.
        """
        alpha = open_level(alpha)
        rejected = self.rejected(alpha)
        named = learner_names(self.names if names is None else names, len(self.names))
        sentences = [
            f"Of {counted(len(self.pairs), 'pair')}, {int(rejected.sum())} "
            f"{'differs' if rejected.sum() == 1 else 'differ'} significantly at level {alpha:g} "
            f"(sign-flip test, adjusted with {CORRECTIONS[self.correction].words})."
        ]
        for k, (i, j) in enumerate(self.pairs):
            if len(self.pairs) > MAX_LISTED and not rejected[k]:
                continue
            estimate = float(self.estimates[k])
            if estimate == 0:
                relation = f"{named[i]} and {named[j]} have the same mean loss"
            else:
                better, worse = (i, j) if estimate < 0 else (j, i)
                relation = (
                    f"{named[better]} has a smaller mean loss than "
                    f"{named[worse]}, by {number(abs(estimate))}"
                )
            sentences.append(
                f"{relation} ({pvalue_words(float(self.pvalues[k]))}, adjusted "
                f"{pvalue_words(float(self.adjusted_pvalues[k]), alpha)}; "
                f"{'significant' if rejected[k] else 'not significant'})."
            )
        return " ".join(capitalised(sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapAResult(MultipleResult):
    """Result of Bootstrap-A.

    Attributes
    ----------
    estimates : ndarray of shape (A,)
        Mean loss of each learner.
    pvalues : ndarray of shape (A,)
        Two-sided p-value of each learner against the mean of all; never 0.
    adjusted_pvalues : ndarray of shape (A,)
        P-values adjusted for A simultaneous tests.
    correction : str
        The correction of the p-values.
    error_bound : ndarray of shape (A,)
        Largest error of each p-value; 0 if it was counted exactly or resampled (resampling has
        an error of another kind).
    method : {"exact", "resample"}
        Exact rearrangement distribution, or random rearrangements.
    resamples : int
        Number of random rearrangements; 0 for the exact distribution.
    cells : ndarray of shape (A, D)
        Mean loss of each learner on each data set.
    names : tuple of str
        Names of the learners in sentences.
    """

    estimates: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    correction: str
    error_bound: Floats
    method: str
    resamples: int
    cells: Floats = field(repr=False, compare=False)
    names: tuple[str, ...]

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, for the hypothesis that no pair differs."""
        return float(self.adjusted_pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner."""
        return {
            "learner": self.names,
            "mean": self.estimates,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }

    def rejected(self, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
        """Return which learners differ from the mean of all at level `alpha`, adjusted."""
        return np.asarray(self.adjusted_pvalues <= probability(alpha, "alpha"))

    def posthoc(
        self,
        *,
        correction: str = "holm",
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> BootstrapPairs:
        """Run the test with two learners at a time: the paired sign-flip test, always exact.

        Parameters
        ----------
        correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
            Adjustment for the number of pairs.
        pairs : sequence of (int, int), optional
            The pairs to compare; all pairs by default.
        """
        one_of(correction, "correction", tuple(CORRECTIONS))
        chosen = checked_pairs(pairs, self.cells.shape[0])
        i, j = np.asarray(chosen, dtype=np.intp).T
        p, bounds = two_sided(self.cells[i], self.cells[j])
        return BootstrapPairs(
            pairs=chosen,
            estimates=mean_difference(self.cells[i], self.cells[j]),
            pvalues=p,
            adjusted_pvalues=adjust(p, correction),
            correction=correction,
            error_bound=np.abs(bounds - p[:, None]).max(axis=1),
            names=self.names,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences; of more than 12 learners list only those that differ.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners, instead of those of the result.
        alpha : float, optional
            Significance level of the whole family; 0.05 by default.
        """
        alpha = open_level(alpha)
        rejected = self.rejected(alpha)
        learners, datasets = self.cells.shape
        named = learner_names(self.names if names is None else names, learners)
        # differences within the rounding of two means do not count
        centre = float(self.estimates.mean())
        noise = 1e-12 * float(np.abs(self.estimates).max())
        sentences = [
            f"Bootstrap-A on {learners} learners and {counted(datasets, 'data set')} "
            f"({distribution_text(self.method, self.resamples)}; p-values adjusted for "
            f"{learners} tests with {CORRECTIONS[self.correction].words}): "
            + (
                f"the hypothesis that all learners have the same mean loss is rejected at "
                f"level {alpha:g}."
                if rejected.any()
                else f"no learner differs significantly from the mean of all at level {alpha:g}."
            )
        ]
        for a in range(learners):
            if learners > MAX_LISTED and not rejected[a]:
                continue
            estimate = float(self.estimates[a])
            if abs(estimate - centre) <= noise:
                relation = "the mean of all learners"
            else:
                side = "below" if estimate < centre else "above"
                relation = f"{side} the mean of all learners, {number(centre)}"
            sentences.append(
                f"{named[a]} has a mean loss of {number(estimate)}, "
                f"{relation} ({pvalue_words(float(self.pvalues[a]))}, adjusted "
                f"{pvalue_words(float(self.adjusted_pvalues[a]), alpha)}; "
                f"{'significant' if rejected[a] else 'not significant'})."
            )
        if self.error_bound.any():
            largest = float(self.error_bound.max())
            sentences.append(f"The error of the p-values is at most {largest:.2g}.")
        return " ".join(capitalised(sentence) for sentence in sentences)


def bootstrap_a(
    losses: Any,
    *,
    method: str = "exact",
    resamples: int = 100_000,
    random_state: RandomState = 0,
    correction: str = "bonferroni",
    names: Sequence[Any] | None = None,
) -> BootstrapAResult:
    """Bootstrap-A of Otero et al.: find the learners that differ from the mean of all.

    Test the null hypothesis that the expected loss does not depend on the learner: on every data
    set the labels of the learners are exchangeable.

    Parameters
    ----------
    losses : array_like, shape (A, D), (A, D, F) or (A, D, F, R)
        Losses of A learners on D data sets, F folds and R repetitions. Folds and repetitions of a
        cell are averaged, and stay together in a rearrangement of the learners.
    method : {"exact", "resample"}
        Use the exact rearrangement distribution, or random rearrangements.
    resamples : int
        Number of random rearrangements.
    random_state : int, numpy.random.Generator or None
        Source of the random rearrangements.
    correction : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
        Adjustment for A simultaneous tests.
    names : sequence of str, optional
        Names of the learners, for sentences.

    Returns
    -------
    BootstrapAResult

    Notes
    -----
    The statistic of learner a is its overall mean e_a; e*_a is its overall mean after an
    independent permutation of the learners within each data set. The p-value is
    min(1, 2 min(P(e*_a <= e_a), P(e*_a >= e_a))), both tails including equality. The observed
    arrangement is one of the rearrangements, so no p-value is 0.

    Under rearrangement the total of each learner is a sum of D independent draws from A values
    each. Its distribution is counted if A^(D/2) is small. It is convolved on whole steps if the
    cell means are multiples of one unit (sums of up to about 2^28 / (A D) units). Otherwise its
    transform is inverted numerically, for any number of data sets, and `error_bound` contains the
    error of the p-values, within 1 percent of them. Tail probabilities keep their relative
    accuracy down to the smallest ones (2e-308 replaces anything smaller). Random rearrangements
    give (b + 1) / (m + 1) for each tail.

    Without the adjustment, the chance of finding a difference among five equal learners is about
    0.22 at level 0.05.

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009

    Examples
    --------
    >>> r = bootstrap_a([[1, 2, 3, 4], [2, 2, 5, 4], [3, 4, 5, 6]])
    >>> [round(float(p) * 81, 9) for p in r.pvalues]
    [8.0, 72.0, 4.0]
    >>> pairs = r.posthoc(correction="none")
    >>> pairs.pairs, pairs.pvalues.tolist()
    (((0, 1), (0, 2), (1, 2)), [0.5, 0.125, 0.25])
    """
    one_of(method, "method", METHODS)
    one_of(correction, "correction", tuple(CORRECTIONS))
    whole(resamples, "resamples", at_least=1)
    rng = generator(random_state)
    cells = cell_means(losses)
    everyone = np.arange(cells.shape[0])
    if method == "exact":
        grid = step_grid(cells, choices=everyone.size, queries=everyone.size)
        tails = sum_tails(grid, everyone, everyone)
    else:
        (tails,) = drawn_tails(
            cells, everyone[None], everyone[None], resamples=resamples, generator=rng
        )
    p, bounds = tails.two_sided()
    return BootstrapAResult(
        estimates=mean_of(cells, 1),
        pvalues=p,
        adjusted_pvalues=adjust(p, correction),
        correction=correction,
        error_bound=np.abs(bounds - p[:, None]).max(axis=1),
        method=method,
        resamples=resamples if method == "resample" else 0,
        cells=cells,
        names=tuple(learner_names(names, everyone.size)),
    )


def cell_means(losses: Any) -> Floats:
    """Return the mean loss of each learner on each data set, from a complete table."""
    try:
        incomplete = bool(np.isnan(np.asarray(losses, dtype=np.float64)).any())
    except (TypeError, ValueError):
        incomplete = False
    if incomplete:
        raise ArgumentError(
            "losses must be complete; got missing cells: use bootstrap_b with ",
            use(missing="allow"),
            ", which treats them as intervals.",
        )
    table = finite_array(losses, "losses", min_ndim=2)
    check_shape(table, (2, 3, 4))
    return mean_of(table.reshape(*table.shape[:2], -1), 2)


def check_shape(table: Floats, ndims: tuple[int, ...]) -> None:
    """Raise an error if a table has other axes, fewer than 2 learners, or no losses."""
    if table.ndim not in ndims or table.shape[0] < 2 or table.size == 0:
        raise ArgumentError(
            f"losses must have the axes {SHAPES}, with at least 2 learners; "
            f"got an array of shape {table.shape}."
        )


def mean_of(table: Floats, axis: int) -> Floats:
    """Return the mean along an axis without overflow of the sum."""
    exponent = int(np.frexp(np.abs(table).max())[1])
    return np.asarray(np.ldexp(np.ldexp(table, -exponent).mean(axis=axis), exponent))


def checked_pairs(
    pairs: Sequence[tuple[int, int]] | None, learners: int
) -> tuple[tuple[int, int], ...]:
    """Return the pairs after checking them; by default all pairs (i, j) with i < j."""
    if pairs is None:
        return tuple(combinations(range(learners), 2))
    chosen = tuple((int(i), int(j)) for i, j in pairs)
    if not chosen or any(
        i == j or not 0 <= i < learners or not 0 <= j < learners for i, j in chosen
    ):
        raise refuse("pairs", f"pairs of two different learners below {learners}", pairs)
    return chosen


def distribution_text(method: str, resamples: int) -> str:
    """Describe the rearrangement distribution."""
    if method == "exact":
        return "exact rearrangement distribution"
    return f"{resamples} random rearrangements"
