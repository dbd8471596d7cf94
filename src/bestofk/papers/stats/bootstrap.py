"""Bootstrap-A: compare the mean loss of each of K learners with all rearrangements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import (
    Floats,
    RandomState,
    generator,
    one_of,
    refuse,
    refuse_named_table,
    whole,
)
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import capitalised, counted, number, pvalue_words
from bestofk._base.results import open_level
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.multiple.result import MultipleResult, learner_names
from bestofk.stats.null_distributions.sums import (
    TIE,
    Rows,
    Tails,
    all_sums,
    levelled,
    step_grid,
    sum_tails,
)

MAX_LISTED = 12
METHODS = ("exact", "resample")
SHAPES = "(learners, data sets), with folds and repetitions as further axes"


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapResult(MultipleResult):
    """What the results of Bootstrap-A and Bootstrap-B have in common.

    Attributes
    ----------
    pvalues, adjusted_pvalues : ndarray of shape (A, ...)
        P-values of each learner against the mean of all, before and after adjustment for A
        simultaneous tests.
    correction : str
        The correction of the p-values.
    method : {"exact", "resample"}
        Exact rearrangement distribution, or random rearrangements.
    resamples : int
        Number of random rearrangements; 0 for the exact distribution.
    cells : ndarray of shape (..., A, D)
        Mean loss of each learner on each data set.
    names : tuple of str
        Names of the learners in sentences.
    """

    pvalues: Floats
    adjusted_pvalues: Floats
    correction: str
    method: str
    resamples: int
    cells: Floats = field(repr=False, compare=False)
    names: tuple[str, ...]

    def _explained(self, test: str, verdict: str, lines: Iterable[str], rule: str = "") -> str:
        """Return the test and its verdict, then the lines."""
        learners, datasets = self.cells.shape[-2:]
        how = "exact rearrangement distribution"
        if self.method != "exact":
            how = f"{self.resamples} random rearrangements"
        head = (
            f"{test} on {learners} learners and {counted(datasets, 'data set')} ({how}; {rule}"
            f"p-values adjusted for {learners} tests with "
            f"{CORRECTIONS[self.correction].words}): {verdict}"
        )
        return " ".join([head, *map(capitalised, lines)])


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapAResult(BootstrapResult):
    """Result of Bootstrap-A.

    Attributes
    ----------
    estimates : ndarray of shape (A,)
        Mean loss of each learner.
    pvalues, adjusted_pvalues : ndarray of shape (A,)
        Two-sided p-value of each learner against the mean of all, never 0; before and after
        adjustment for A simultaneous tests.
    correction, method, resamples, cells, names
        As in `BootstrapResult`; `cells` has the shape (A, D).
    """

    estimates: Floats

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, for the hypothesis that no learner differs."""
        return float(self.adjusted_pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner."""
        return {
            "learner": self.names,
            "mean": self.estimates,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }

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
        rejected = self.adjusted_pvalues <= alpha
        named = learner_names(self.names if names is None else names, len(self.names))
        # differences within the rounding of two means do not count
        centre = float(self.estimates.mean())
        noise = 1e-12 * float(np.abs(self.estimates).max())
        verdict = f"no learner differs significantly from the mean of all at level {alpha:g}."
        if rejected.any():
            verdict = (
                "the hypothesis that all learners have the same mean loss is rejected at level "
                f"{alpha:g}."
            )
        lines = []
        for a, name in enumerate(named):
            if len(named) > MAX_LISTED and not rejected[a]:
                continue
            estimate = float(self.estimates[a])
            relation = "the mean of all learners"
            if abs(estimate - centre) > noise:
                side = "below" if estimate < centre else "above"
                relation = f"{side} {relation}, {number(centre)}"
            lines.append(
                f"{name} has a mean loss of {number(estimate)}, "
                f"{relation} ({pvalue_words(float(self.pvalues[a]))}, adjusted "
                f"{pvalue_words(float(self.adjusted_pvalues[a]), alpha)}; "
                f"{'significant' if rejected[a] else 'not significant'})."
            )
        return self._explained("Bootstrap-A", verdict, lines)


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
    transform is inverted numerically, for any number of data sets, with an error of the p-values
    within 1 percent of them. Tail probabilities keep their relative
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
    """
    one_of(correction, "correction", CORRECTIONS)
    table = numbers(losses, "losses")
    if np.isnan(table).any():
        raise ArgumentError(
            "losses must be complete; got missing cells: use bootstrap_b with ",
            use(missing="allow"),
            ", which treats them as intervals.",
        )
    check_shape(table)
    cells = mean_of(table.reshape(*table.shape[:2], -1), 2)
    everyone = np.arange(len(cells))[None]
    (tails,) = rearranged(cells, everyone, everyone, method, resamples, random_state)
    p = np.minimum(2 * np.minimum(tails.lower, tails.upper), 1.0)
    return BootstrapAResult(
        estimates=mean_of(cells, 1),
        pvalues=p,
        adjusted_pvalues=adjust(p, correction),
        correction=correction,
        method=method,
        resamples=resamples if method == "resample" else 0,
        cells=cells,
        names=tuple(learner_names(names, len(cells))),
    )


def rearranged(
    values: Floats,
    members: Rows,
    queries: Rows,
    method: str,
    resamples: int,
    random_state: RandomState,
) -> list[Tails]:
    """Return the tails of each table: `members` (tables, choices) and `queries` are rows."""
    one_of(method, "method", METHODS)
    whole(resamples, "resamples", at_least=1)
    rng = generator(random_state)
    if method == "resample":
        return drawn_tails(values, members, queries, resamples=resamples, generator=rng)
    choices, tables = members.shape[1], len(members)
    grid = step_grid(values, choices=choices, queries=choices, tables=tables)
    return [sum_tails(grid, m, q) for m, q in zip(members, queries, strict=True)]


def numbers(value: Any, where: str) -> Floats:
    """Return `value` as an array without infinities; NaN marks missing values."""
    refuse_named_table(value, where)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(where, "an array of numbers", value) from None
    if np.isinf(array).any():
        raise refuse(where, "finite", float(array[np.isinf(array)][0]))
    return array


def check_shape(table: Floats) -> None:
    """Raise an error if a table has other axes, fewer than 2 learners, or no losses."""
    if table.ndim not in (2, 3, 4) or table.shape[0] < 2 or table.size == 0:
        raise ArgumentError(
            f"losses must have the axes {SHAPES}, with at least 2 learners; "
            f"got an array of shape {table.shape}."
        )


def mean_of(table: Floats, axis: int) -> Floats:
    """Return the mean along an axis without overflow of the sum."""
    exponent = int(np.frexp(np.abs(table).max())[1])
    return np.asarray(np.ldexp(np.ldexp(table, -exponent).mean(axis=axis), exponent))


MAX_TABLE_SIZE = 2**14
RESAMPLES_AT_ONCE = 2**15
MAX_STORED_SUMS = 2**22


def drawn_tails(
    values: Floats,
    members: Rows,
    queries: Rows,
    *,
    resamples: int,
    generator: np.random.Generator,
) -> list[Tails]:
    """Estimate the tails of the sums of several tables from the same rearrangements.

    - `values` (rows, blocks): The values of all tables.
    - `members` (tables, choices): The rows that each table draws from.
    - `queries` (tables, queries): The rows at whose sums the tails of each table are needed.
    - `resamples`: Number m of random rearrangements.
    - `generator`: Source of the rearrangements. The draws depend only on the numbers of blocks,
      choices and resamples.

    - Returns: (b + 1) / (m + 1) with b the number of rearrangements in the tail, ties included.

    Notes
    -----
    The totals of all learners have the same distribution under rearrangement, one draw per block,
    so one stream of totals serves all of them. Blocks are drawn in groups: one number below
    choices^group picks the values of a whole group, whose sum is looked up in a table.
    """
    heights, noise = levelled(values)
    blocks = values.shape[1]
    tables, choices = members.shape
    # a table larger than the number of lookups costs more than it saves
    largest = min(MAX_TABLE_SIZE, resamples // 4)
    group = 1
    while choices ** (group + 1) <= largest and group < blocks:
        group += 1
    starts = list(range(0, blocks, group))
    at = heights[queries].sum(axis=2)
    # sums that agree to within the rounding of their terms are ties
    margin = TIE * noise * blocks
    counts = np.zeros((2, *at.shape), dtype=np.int64)
    picked = np.empty(min(RESAMPLES_AT_ONCE, resamples))
    batch = max(MAX_STORED_SUMS // (len(starts) * choices**group), 1)
    for first in range(0, tables, batch):
        some = range(first, min(first + batch, tables))
        # all batches use the same stream; the last one advances the generator itself
        rng = generator if some.stop == tables else deepcopy(generator)
        drawn_from = heights[members[some.start : some.stop]]
        sums = [all_sums(drawn_from[:, :, s : s + group]) for s in starts]
        for done in range(0, resamples, RESAMPLES_AT_ONCE):
            m = min(RESAMPLES_AT_ONCE, resamples - done)
            totals = np.zeros((len(some), m))
            for of_group in sums:
                size = of_group.shape[1]
                kind = np.uint16 if size < 2**16 else np.int64
                picks = rng.integers(0, size, size=m, dtype=kind)
                for total, table in zip(totals, of_group, strict=True):
                    # no pick is out of range; "clip" skips the check
                    total += table.take(picks, mode="clip", out=picked[:m])
            for t, total in zip(some, totals, strict=True):
                total.sort()
                counts[0, t] += np.searchsorted(total, at[t] + margin, side="right")
                counts[1, t] += m - np.searchsorted(total, at[t] - margin, side="left")
    shares = (counts + 1) / (resamples + 1)
    return [Tails.without_error(shares[0, t], shares[1, t]) for t in range(tables)]
