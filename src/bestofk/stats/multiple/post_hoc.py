"""Compact letters: two learners share a letter exactly when they do not differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, finite_array, one_of, probability, whole
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import number, shortened
from bestofk._base.results import Presented, decided_level, open_level
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.multiple.rank_tests import friedman
from bestofk.stats.multiple.result import (
    MultipleResult,
    extremes_words,
    learner_names,
    learners_by_columns,
    pairs_words,
    read_only,
    square_columns,
)
from bestofk.stats.multiple.studentized_range import quantile, survival
from bestofk.stats.pairwise.pairs import all_pairs
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

_MOST_COLUMNS = 400
"""Insert-and-absorb may need exponentially many columns; beyond these a greedy cover does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactLetters(Presented):
    """Letters of K learners.

    Attributes
    ----------
    groups : tuple of tuple of int
        The learners that have each letter, by their places in `order`; no two of them differ.
    letters : tuple of str
        The letter of each group: a to z, A to Z, then a1, b1, and so on.
    order : tuple of int
        The order in which letters were given out, best first.
    """

    groups: tuple[tuple[int, ...], ...]
    letters: tuple[str, ...]
    order: tuple[int, ...]

    def of(self, learner: int) -> tuple[str, ...]:
        """The letters of one learner."""
        return tuple(
            letter
            for letter, group in zip(self.letters, self.groups, strict=True)
            if learner in group
        )

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner, best first."""
        return {
            "learner": self.order,
            "letters": ["".join(self.of(learner)) for learner in self.order],
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The letters in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Has no effect: which pairs differ was said before.
        """
        open_level(alpha)
        named = learner_names(names, len(self.order))
        told = [f"{named[k]} ({''.join(self.of(k))})" for k in self.order]
        return f"Learners that share a letter do not differ significantly: {shortened(told)}."


def compact_letters(
    different: npt.ArrayLike, *, order: Sequence[int] | None = None
) -> CompactLetters:
    """Give letters to K learners such that two share one exactly when they do not differ.

    Parameters
    ----------
    different : array_like of bool, shape (K, K)
        Which pairs differ significantly; symmetric, False on the diagonal.
    order : sequence of int, optional
        The learners, best first: earlier ones have earlier letters. As given by default.

    Returns
    -------
    CompactLetters

    Notes
    -----
    Insert and absorb: from one letter that all share, every pair that differs splits each letter
    that holds both in two, one without the first and one without the second; letters whose
    learners all have another letter besides are absorbed. Then, by sweeping, a letter that no
    pair needs is taken away.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise
    comparisons. Journal of Computational and Graphical Statistics 13, 456-466.
    doi:10.1198/1061860043515

    Gramm, J., Guo, J., Hueffner, F., Niedermeier, R., Piepho, H.-P. and Schmid, R. (2008).
    Algorithms for compact letter displays: comparison and evaluation. Computational Statistics &
    Data Analysis 52, 725-736. doi:10.1016/j.csda.2006.09.035

    Examples
    --------
    Only the first and the last differ:

    >>> letters = compact_letters([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    >>> [letters.of(k) for k in range(3)]
    [('a',), ('a', 'b'), ('b',)]
    """
    matrix = np.asarray(different, dtype=bool)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"different must be a square matrix; got shape {matrix.shape}.")
    if (matrix != matrix.T).any() or matrix.diagonal().any():
        raise ArgumentError("different must be symmetric and False on the diagonal.")
    K = len(matrix)
    ranked = tuple(range(K)) if order is None else tuple(int(k) for k in order)
    if sorted(ranked) != list(range(K)):
        raise ArgumentError(f"order must hold each of {K} learners once; got {ranked!r}.")
    # bits of an int: bit r is the learner at rank r
    apart = matrix[np.ix_(ranked, ranked)]
    columns = _insert_and_absorb(apart)
    if columns is None:
        columns = _greedy_cover(apart)
    columns = _swept(columns, apart)
    members = sorted(tuple(r for r in range(K) if column >> r & 1) for column in columns)
    return CompactLetters(
        groups=tuple(tuple(ranked[r] for r in group) for group in members),
        letters=tuple(_letter(place) for place in range(len(members))),
        order=ranked,
    )


def _insert_and_absorb(apart: npt.NDArray[np.bool_]) -> list[int] | None:
    K = len(apart)
    columns = [(1 << K) - 1]
    for i, j in np.argwhere(np.triu(apart)).tolist():
        one, other = 1 << i, 1 << j
        both = one | other
        kept = [column for column in columns if column & both != both]
        split = {column & ~one for column in columns if column & both == both}
        split |= {column & ~other for column in columns if column & both == both}
        for column in sorted(split, key=int.bit_count, reverse=True):
            if not any(column & held == column for held in kept):
                kept.append(column)
        if len(kept) > _MOST_COLUMNS:
            return None
        columns = kept
    return columns


def _greedy_cover(apart: npt.NDArray[np.bool_]) -> list[int]:
    """Sets without differences that hold every pair without a difference, grown one by one."""
    K = len(apart)
    alike = [sum(1 << j for j in range(K) if j != i and not apart[i, j]) for i in range(K)]
    wanting = list(alike)
    columns: list[int] = []
    for i in range(K):
        while wanting[i] or not any(column >> i & 1 for column in columns):
            column, candidates = 1 << i, alike[i]
            while candidates:
                # first those whose pair with i is still without a letter
                choice = (candidates & wanting[i]) or candidates
                j = (choice & -choice).bit_length() - 1
                column |= 1 << j
                candidates &= alike[j]
            for j in range(K):
                if column >> j & 1:
                    wanting[j] &= ~column
            columns.append(column)
    return columns


def _swept(columns: list[int], apart: npt.NDArray[np.bool_]) -> list[int]:
    """Without the columns whose every pair (or lone learner) another column holds too."""
    K = len(apart)
    kept = sorted(columns, key=int.bit_count)
    for column in list(kept):
        rest = [other for other in kept if other is not column]
        covered = all(column & ~_joined(rest, r) == 0 for r in range(K) if column >> r & 1)
        if covered:
            kept = rest
    return kept


def _joined(columns: list[int], learner: int) -> int:
    """Everyone who shares a column with a learner, itself included where it has any."""
    found = 0
    for column in columns:
        if column >> learner & 1:
            found |= column
    return found


def _letter(place: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letter, turn = alphabet[place % len(alphabet)], place // len(alphabet)
    return letter if not turn else f"{letter}{turn}"


# Nemenyi: which average ranks differ by more than the critical difference.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NemenyiResult(MultipleResult):
    """All pairs of K learners by their average ranks.

    Attributes
    ----------
    average_ranks : ndarray of shape (K,)
        Mean rank of each learner over the blocks; 1 is the smallest loss.
    critical_difference : float
        Average ranks that differ by more than this differ significantly.
    alpha : float
        Level for all pairs together.
    statistics, pvalues : ndarray of shape (K, K)
        Studentized range of each pair and its p-value, adjusted for all pairs; symmetric, with
        0 and 1 on the diagonal.
    order : tuple of int
        Learners by ascending average rank; equal ranks stand in the order given.
    groups : tuple of tuple of int
        The largest sets of two or more neighbours in that order which no significant difference
        splits: the bars of a critical difference diagram.
    blocks : int
        Number of blocks N.
    """

    average_ranks: Floats
    critical_difference: float
    alpha: float
    statistics: Floats
    pvalues: Floats
    order: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    blocks: int

    def different(self, i: int, j: int) -> bool:
        """Whether the average ranks of two learners differ by more than the critical difference."""
        gap = abs(float(self.average_ranks[i]) - float(self.average_ranks[j]))
        return gap > self.critical_difference

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, for the hypothesis that no pair differs."""
        return float(self.pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return square_columns(
            {"average_rank": self.average_ranks}, statistic=self.statistics, pvalue=self.pvalues
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            The level at which it was decided; any other level raises an error.
        """
        decided_level(alpha, self.alpha)
        ranks = self.average_ranks
        named = learner_names(names, len(ranks))
        i, j = np.triu_indices(len(named), 1)
        pairs, p = np.column_stack([i, j]), self.pvalues[i, j]
        return (
            f"{extremes_words(ranks, named, 'average rank')} Over {self.blocks} blocks the "
            f"critical difference of Nemenyi's test at level {self.alpha:g} is "
            f"{number(self.critical_difference)}. "
            f"{pairs_words(pairs, p, ranks, named, self.alpha, 'average rank')}"
        )


def nemenyi(losses: npt.ArrayLike, alpha: float = 0.05) -> NemenyiResult:
    """Compare all pairs of K learners by their average ranks over N blocks.

    H0, for each pair: both are ranked alike; the error of all pairs together is held at the
    level. The post-hoc test of `friedman`.

    Parameters
    ----------
    losses : array_like of shape (K, N)
        The loss of each of K learners on each of N blocks.
    alpha : float
        Level for all pairs together.

    Returns
    -------
    NemenyiResult
        `average_ranks`, `critical_difference`, `pvalues`, `groups` and `different(i, j)`.

    Notes
    -----
    The critical difference is CD = q sqrt(K (K + 1) / (12 N)) with q the upper alpha quantile
    of the studentized range of K means with infinite degrees of freedom; the p-value of a pair
    is the upper tail of that range at ``|R_i - R_j| / sqrt(K (K + 1) / (12 N))``.

    References
    ----------
    Nemenyi, P. (1963). Distribution-free multiple comparisons. PhD thesis, Princeton University.

    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    Examples
    --------
    >>> result = nemenyi([[3, 4, 3, 5], [1, 1, 2, 1], [2, 3, 4, 2]])
    >>> round(result.critical_difference, 6), result.order, result.groups
    (1.657247, (1, 2, 0), ((1, 2), (2, 0)))
    >>> result.pvalues[0].round(6).tolist()
    [1.0, 0.035557, 0.759287]
    """
    Y = learners_by_columns(losses, "losses", columns="blocks", batch=False)
    alpha = probability(alpha, "alpha")
    K, N = Y.shape
    ranks = friedman(Y).average_ranks
    unit = math.sqrt(K * (K + 1.0) / (12.0 * N))
    i, j = np.triu_indices(K, 1)
    q = np.abs(ranks[i] - ranks[j]) / unit
    statistics, pvalues = np.zeros((K, K)), np.ones((K, K))
    statistics[i, j] = statistics[j, i] = q
    pvalues[i, j] = pvalues[j, i] = _tails(q, K)
    critical_difference = float(quantile(alpha, groups=K)) * unit
    order = np.argsort(ranks, kind="stable")
    return NemenyiResult(
        average_ranks=ranks,
        critical_difference=critical_difference,
        alpha=alpha,
        statistics=read_only(statistics),
        pvalues=read_only(pvalues),
        order=tuple(order.tolist()),
        groups=_bars(order, ranks[order], critical_difference),
        blocks=N,
    )


def _tails(q: Floats, K: int) -> Floats:
    """Average ranks are few different numbers: each tail once."""
    distinct, where = np.unique(q, return_inverse=True)
    return survival(distinct, groups=K)[where]


def _bars(
    order: npt.NDArray[np.intp], ranks: Floats, critical_difference: float
) -> tuple[tuple[int, ...], ...]:
    """Maximal windows of the sorted ranks whose ends are not farther apart than CD."""
    ends = np.searchsorted(ranks, ranks + critical_difference, side="right")
    bars, covered = [], 0
    for start, end in enumerate(ends.tolist()):
        if end > covered and end - start > 1:
            bars.append(tuple(order[start:end].tolist()))
        covered = max(covered, end)
    return tuple(bars)


# Post-hoc comparisons: one pairwise test for every pair, or against one control, adjusted.


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
        """The smallest adjusted p-value, for the hypothesis that no pair differs."""
        return float(self.adjusted_pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return {
            "a": self.pairs[:, 0],
            "b": self.pairs[:, 1],
            "estimate": self.estimates,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

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
        `bestofk.stats.adjust.CORRECTIONS`. ``"shaffer"`` and ``"bergmann-hommel"`` are for all
        pairs,
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
