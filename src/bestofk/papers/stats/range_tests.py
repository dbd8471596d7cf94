"""Range tests after a one-way analysis of variance: Tukey's, Newman and Keuls's, Duncan's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, probability
from bestofk._base.formatting import joined, number, shortened
from bestofk._base.results import Presented, decided_level, open_level
from bestofk.papers.stats.analysis_of_variance import OneWayParts, one_way_parts
from bestofk.stats.multiple.result import (
    MultipleResult,
    extremes_words,
    learner_names,
    learners_by_columns,
    pairs_words,
    read_only,
    square_columns,
)
from bestofk.stats.pairwise.result import Interval


def survival(q: npt.ArrayLike, *, groups: int, df: float) -> Floats:
    """Return P(Q > q) for the studentized range Q of `groups` means."""
    from scipy.stats import studentized_range

    # rounding can leave (0, 1) in the far tails
    return np.clip(studentized_range.sf(np.asarray(q, np.float64), groups, df), 0.0, 1.0)


@lru_cache(maxsize=4096)
def quantile(alpha: float, *, groups: int, df: float) -> float:
    """Return the critical value q with P(Q > q) = alpha."""
    from scipy.stats import studentized_range

    return float(studentized_range.isf(alpha, groups, df))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TukeyResult(MultipleResult):
    """Result of Tukey's comparison of all pairs of K learners.

    Attributes
    ----------
    statistics, pvalues : ndarray of shape (K, K)
        Studentized range of each pair and its p-value, adjusted for all pairs; symmetric, with
        0 and 1 on the diagonal.
    estimates : ndarray of shape (K, K)
        Mean loss of the row minus that of the column.
    means : ndarray of shape (K,)
        Mean loss of each learner.
    standard_error : float
        Standard error sqrt(MSE / L) of one mean.
    df : float
        Degrees of freedom, K (L - 1).
    """

    statistics: Floats
    pvalues: Floats
    estimates: Floats
    means: Floats
    standard_error: float
    df: float

    def confidence_interval(self, level: float = 0.95) -> Interval:
        """Return simultaneous intervals of all differences as two (K, K) arrays.

        Parameters
        ----------
        level : float
            Probability that all intervals hold simultaneously.
        """
        alpha = 1.0 - probability(level, "level")
        half = quantile(alpha, groups=len(self.means), df=self.df) * self.standard_error
        width = np.full(self.estimates.shape, half)
        np.fill_diagonal(width, 0.0)
        return Interval(self.estimates - width, self.estimates + width)

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value, for the hypothesis that no pair differs."""
        return float(self.pvalues.min())

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        return square_columns(
            {"mean": self.means},
            estimate=self.estimates,
            statistic=self.statistics,
            pvalue=self.pvalues,
        )

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Level for all pairs together; 0.05 by default.
        """
        alpha = open_level(alpha)
        named = learner_names(names, len(self.means))
        i, j = np.triu_indices(len(named), 1)
        pairs = np.column_stack([i, j])
        return (
            f"{extremes_words(self.means, named, 'mean loss')} "
            f"{pairs_words(pairs, self.pvalues[i, j], self.means, named, alpha, 'mean loss')} "
            f"The p-values are those of Tukey's honestly significant differences with {self.df:g} "
            "degrees of freedom, adjusted for all pairs."
        )


def tukey(losses: npt.ArrayLike) -> TukeyResult:
    """Compare all pairs of K learners by Tukey's range test.

    H0, for each pair: mu_i = mu_j. The test controls the error of all pairs together.

    Parameters
    ----------
    losses : array_like of shape (K, L)
        L losses of each of K learners.

    Returns
    -------
    TukeyResult
        `statistics`, `pvalues`, `estimates` as (K, K) arrays and `confidence_interval(level)`.

    Notes
    -----
    For each pair ``q_ij = |m_i - m_j| sqrt(L / MSE)`` is compared with the studentized range of
    all K means with K (L - 1) degrees of freedom.

    References
    ----------
    Tukey, J. W. (1949). Comparing individual means in the analysis of variance. Biometrics 5,
    99-114. doi:10.2307/3001913

    Examples
    --------
    >>> result = tukey([[9, 10, 11], [1, 2, 3], [5, 6, 7], [3, 4, 5]])
    >>> result.pvalues[1].round(4).tolist()
    [0.0, 1.0, 0.0052, 0.1442]
    """
    Y = learners_by_columns(losses, "losses", columns="losses", batch=False)
    parts = one_way_parts(Y)
    K, df = len(Y), parts.df[1]
    i, j = np.triu_indices(K, 1)
    statistics, pvalues = np.zeros((K, K)), np.ones((K, K))
    q = parts.studentized(parts.offsets[i] - parts.offsets[j])
    statistics[i, j] = statistics[j, i] = q
    pvalues[i, j] = pvalues[j, i] = survival(q, groups=K, df=df)
    return TukeyResult(
        statistics=read_only(statistics),
        pvalues=read_only(pvalues),
        estimates=read_only(parts.offsets[:, None] - parts.offsets[None, :]),
        means=read_only(parts.means),
        standard_error=float(parts.standard_error),
        df=df,
    )


# Newman-Keuls test

Positions = npt.NDArray[np.intp]
Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeWindow:
    """A tested window of neighbours in ascending order of the means.

    Attributes
    ----------
    start, size : int
        Position of its first learner in `order`, and its number P of learners.
    statistic, critical_value : float
        Studentized range of its ends; the window is rejected if it exceeds the critical value.
    accepted : bool
        Whether the learners of the window do not differ significantly.
    """

    start: int
    size: int
    statistic: float
    critical_value: float
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewmanKeulsResult(Presented):
    """Result of the Newman-Keuls test: the order of the means and the underlines.

    Attributes
    ----------
    order : tuple of int
        Learners by ascending mean loss; equal means keep the order of the input.
    underlines : tuple of tuple of int
        The learners of each accepted window, in that order. A learner in none of them differs from
        all the others.
    means : ndarray of shape (K,)
        Mean loss of each learner (not sorted).
    mse : float
        Mean square within learners.
    df : float
        Its degrees of freedom, K (L - 1).
    alpha : float
        Level of each range test.
    windows : tuple of RangeWindow
        All tested windows, the largest first.
    test : str
        ``"Newman-Keuls"`` or ``"Duncan"``.
    """

    order: tuple[int, ...]
    underlines: tuple[tuple[int, ...], ...]
    means: Floats
    mse: float
    df: float
    alpha: float
    windows: tuple[RangeWindow, ...]
    test: str = "Newman-Keuls"

    @property
    def verdict_pvalue(self) -> float:
        """P-value of the first step, the window of all learners."""
        groups = len(self.order)
        p = float(survival(self.windows[0].statistic, groups=groups, df=self.df))
        if self.test == "Duncan":
            # rejected at alpha if and only if p is at most 1 - (1 - alpha)^(K - 1)
            return -math.expm1(math.log1p(-min(p, 1 - 1e-16)) / (groups - 1))
        return p

    def different(self, i: int, j: int) -> bool:
        """Return whether no underline contains both learners."""
        return i != j and not any(i in line and j in line for line in self.underlines)

    def _columns(self) -> dict[str, Any]:
        """Return one row per learner, by ascending mean; each underline is a column."""
        lines = {
            f"underline_{k}": [learner in line for learner in self.order]
            for k, line in enumerate(self.underlines, 1)
        }
        return {"learner": self.order, "mean": self.means[list(self.order)], **lines}

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
        named = learner_names(names, len(self.order))
        K = len(named)
        means = [f"{named[i]} ({number(float(self.means[i]))})" for i in self.order]
        sentences = [f"By ascending mean loss the learners are {shortened(means)}."]
        where = f"{self.test} test at level {self.alpha:g}, {self.df:g} degrees of freedom"
        if self.underlines and len(self.underlines[0]) == K:
            between = "the two" if K == 2 else "any of them"
            sentences.append(f"There is no evidence of a difference between {between} ({where}).")
        elif not self.underlines:
            all_of_them = "The two differ" if K == 2 else "All of them differ"
            sentences.append(f"{all_of_them} significantly from each other ({where}).")
        else:
            lines = joined([f"({_line_words(line, named)})" for line in self.underlines])
            sentences.append(
                f"There is no significant difference within {lines}; learners that share no such "
                f"group differ significantly ({where})."
            )
        return " ".join(sentences)


def _line_words(line: Sequence[int], named: Sequence[str]) -> str:
    if len(line) <= 10:
        return joined([named[i] for i in line])
    return f"{named[line[0]]} to {named[line[-1]]}, {len(line)} learners"


def newman_keuls(losses: npt.ArrayLike, alpha: float = 0.05) -> NewmanKeulsResult:
    """Find the sets of neighbouring means that do not differ significantly, by range tests.

    H0, for each window of P neighbours in the order of the means: mu_i = ... = mu_j.

    Parameters
    ----------
    losses : array_like of shape (K, L)
        L losses of each of K learners.
    alpha : float
        Level of each range test.

    Returns
    -------
    NewmanKeulsResult
        `order`, `underlines`, `means`, `mse`, `df`, `windows` and `different(i, j)`.

    Notes
    -----
    For P = K, K - 1, ..., 2 each window of P neighbours is tested by comparing

        t = (m_j - m_i) sqrt(L / MSE)

    with the upper alpha quantile of the studentized range of P means with K (L - 1) degrees of
    freedom. A window inside an accepted one is not tested: its learners count as equal, even if a
    narrower range test would separate two of them.

    References
    ----------
    Newman, D. (1939). The distribution of range in samples from a normal population. Biometrika
    31, 20-30. doi:10.1093/biomet/31.1-2.20

    Keuls, M. (1952). The use of the "studentized range" in connection with an analysis of
    variance. Euphytica 1, 112-122. doi:10.1007/BF01908269

    Yildiz, O. T. and Alpaydin, E. (2006). Ordering and finding the best of K > 2 supervised
    learning algorithms. IEEE Transactions on Pattern Analysis and Machine Intelligence 28,
    392-402. doi:10.1109/TPAMI.2006.61

    Examples
    --------
    >>> losses = [[9, 10, 11], [1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]]
    >>> result = newman_keuls(losses, alpha=0.05)
    >>> result.order, result.underlines, result.different(1, 2)
    ((1, 3, 2, 0), ((1, 3), (3, 2)), True)
    """
    return _range_test(losses, alpha, "Newman-Keuls")


def duncan(losses: npt.ArrayLike, alpha: float = 0.05) -> NewmanKeulsResult:
    """Find the sets of neighbouring means that do not differ, by Duncan's multiple range test.

    Parameters
    ----------
    losses : array_like of shape (K, L)
        L losses of each of K learners.
    alpha : float
        Level of the test of two neighbours; a window of P means has the level
        1 - (1 - alpha)^(P - 1).

    Returns
    -------
    NewmanKeulsResult
        As for `newman_keuls`, with `test` ``"Duncan"``.

    Notes
    -----
    The steps are those of `newman_keuls` with larger levels for larger windows: the test finds
    more differences, and makes more false claims. A critical value is at least that of a smaller
    window. Use it only to repeat old analyses.

    References
    ----------
    Duncan, D. B. (1955). Multiple range and multiple F tests. Biometrics 11, 1-42.
    doi:10.2307/3001478

    Harter, H. L. (1960). Critical values for Duncan's new multiple range test. Biometrics 16,
    671-685. doi:10.2307/2527770

    Examples
    --------
    >>> duncan([[9, 10, 11], [1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]]).underlines
    ((1, 3), (3, 2))
    """
    return _range_test(losses, alpha, "Duncan")


def _range_test(losses: npt.ArrayLike, alpha: float, test: str) -> NewmanKeulsResult:
    Y = learners_by_columns(losses, "losses", columns="losses", batch=False)
    alpha = probability(alpha, "alpha")
    parts = one_way_parts(Y[np.newaxis])
    order, df = _order(parts)[0], parts.df[1]
    windows = [
        RangeWindow(
            start=a,
            size=step.size,
            statistic=float(step.statistic[0, a]),
            critical_value=step.critical_value,
            accepted=bool(step.accepted[0, a]),
        )
        for step in _step_down(parts, alpha, duncan=test == "Duncan")
        for a in np.flatnonzero(step.tested[0]).tolist()
    ]
    lines = sorted((window.start, window.size) for window in windows if window.accepted)
    return NewmanKeulsResult(
        order=tuple(order.tolist()),
        underlines=tuple(tuple(order[a : a + size].tolist()) for a, size in lines),
        means=read_only(parts.means[0]),
        mse=float(parts.within[0] / df),
        df=df,
        alpha=alpha,
        windows=tuple(windows),
        test=test,
    )


def underline_ends(losses: npt.ArrayLike, alpha: float = 0.05) -> tuple[Positions, Positions]:
    """Return the underlines of `newman_keuls` for many tables (..., K, L) at once.

    - `order` (..., K): Learners by ascending mean loss.
    - `ends` (..., K): For each position in that order, the end (exclusive) of the underline that
      starts there; 0 if none does.

    Examples
    --------
    >>> order, ends = underline_ends([[9, 10, 11], [1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]])
    >>> order.tolist(), ends.tolist()
    ([1, 3, 2, 0], [2, 3, 0, 0])
    """
    Y = learners_by_columns(losses, "losses", columns="losses", batch=True)
    parts = one_way_parts(Y.reshape(-1, *Y.shape[-2:]))
    order = _order(parts)
    ends = np.zeros(order.shape, dtype=np.intp)
    for step in _step_down(parts, probability(alpha, "alpha")):
        starts = step.accepted.shape[1]
        # of two windows with the same start, the smaller lies in the larger and is not tested
        ends[:, :starts] += np.where(step.accepted, np.arange(starts) + step.size, 0)
    return order.reshape(Y.shape[:-1]), ends.reshape(Y.shape[:-1])


def _order(parts: OneWayParts) -> Positions:
    """Return the learners by ascending mean, of shape (B, K)."""
    return np.argsort(parts.means, axis=-1, kind="stable")


class _Step(NamedTuple):
    """All windows of one size: `tested`, `statistic` and `accepted` are (B, K - size + 1)."""

    size: int
    critical_value: float
    tested: Marks
    statistic: Floats
    accepted: Marks


@lru_cache(maxsize=64)
def duncan_critical_values(alpha: float, largest: int, df: float) -> Floats:
    """Return Duncan's critical values of windows of 2 to `largest` means.

    Examples
    --------
    >>> duncan_critical_values(0.05, 4, 10.0).round(3).tolist()
    [3.151, 3.293, 3.376]
    """
    values = [
        quantile(-math.expm1((P - 1) * math.log1p(-alpha)), groups=P, df=df)
        for P in range(2, largest + 1)
    ]
    largest_so_far: Floats = read_only(np.maximum.accumulate(values))
    return largest_so_far


def _step_down(parts: OneWayParts, alpha: float, *, duncan: bool = False) -> Iterator[_Step]:
    """Yield the range tests of all windows, the largest first, until no table has any left."""
    m, df = np.take_along_axis(parts.offsets, _order(parts), axis=-1), parts.df[1]
    K = m.shape[1]
    critical = np.full(K + 1, math.inf)
    if duncan:
        critical[2:] = duncan_critical_values(alpha, K, df)
    # reach[i] is the largest end (exclusive) of the accepted windows that start at or before i; a
    # window [i, i + P) lies in one of them if and only if reach[i] >= i + P
    reach = np.zeros(m.shape, dtype=np.intp)
    for P in range(K, 1, -1):
        starts = np.arange(K - P + 1)
        tested = reach[:, starts] < starts + P
        if not tested.any():
            break
        if not duncan:
            critical[P] = quantile(alpha, groups=P, df=df)
        t = parts.studentized(m[:, P - 1 :] - m[:, starts])
        accepted = tested & (t < critical[P])
        yield _Step(P, float(critical[P]), tested, t, accepted)
        ends = np.zeros(m.shape, dtype=np.intp)
        ends[:, starts] = np.where(accepted, starts + P, 0)
        np.maximum(reach, np.maximum.accumulate(ends, axis=1), out=reach)
