"""Corrections for multiple testing: adjusted p-values, and the registry of the corrections.

The stepwise corrections work for any family of tests. The corrections for all pairs of K learners
use that equality is transitive: if a = b and b = c then a = c. Every correction takes p-values of
shape (..., m) whose last axis is the family, and returns adjusted p-values of the same shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, finite_array, one_of
from bestofk._base.errors import ArgumentError
from bestofk._base.registry import Registry

__all__ = ["CORRECTIONS", "Correction", "adjust"]


def adjust(pvalues: npt.ArrayLike, method: str = "holm", *, pairs: Any = None) -> Floats:
    """Adjust p-values by the named correction.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values; the last axis is the family.
    method : str
        The correction: one of ``CORRECTIONS``.
    pairs : int, or array_like of int, shape (m, 2), optional
        Required by ``"shaffer"`` and ``"bergmann-hommel"``, which need all pairs of K learners:
        K, if the pairs are in the order (0, 1), (0, 2), ..., (K - 2, K - 1); or the two learners
        of each p-value. The other corrections ignore it.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values; reject a hypothesis if its p-value is at most the family's level.

    Examples
    --------
    >>> adjust([0.01, 0.04], "bonferroni")
    array([0.02, 0.08])
    >>> adjust([0.01, 0.03, 0.04], "shaffer", pairs=3)
    array([0.03, 0.03, 0.04])
    """
    return CORRECTIONS[one_of(method, "correction", CORRECTIONS)](pvalues, pairs=pairs)


# Stepwise corrections of any family


def none(p: Floats) -> Floats:
    """Return a copy of the p-values: the error of the family is not controlled."""
    return p.copy()


def bonferroni(p: Floats) -> Floats:
    """Return min(1, m p).

    Claims in the wrong direction are also controlled if the p-values are two-sided and the sign
    of its statistic gives the direction of each claim: these are 2 m one-sided tests at
    alpha / (2 m).
    """
    return np.asarray(np.minimum(p * p.shape[-1], 1.0))


def holm(p: Floats) -> Floats:
    """Return the largest of min(1, (m - j + 1) p_(j)) over j <= i, for the i-th smallest p-value.

    Once a hypothesis is not rejected, no later one is rejected. Claims in the wrong direction are
    also controlled, under any dependence, if the p-values are two-sided and the sign of its
    statistic gives the direction of each claim. To see this, let the j-th rejection be the first
    wrong one. The opposite directions of the j - 1 pairs before it have p > 1/2 and cannot be
    rejected. With E equal and N unequal pairs left, E + N = m - j + 1, at most 2 E + N one-sided
    hypotheses are true, each with threshold alpha / (2 (m - j + 1)).
    """
    return _step_down(p, np.arange(p.shape[-1], 0, -1.0))


def hochberg(p: Floats) -> Floats:
    """Return the smallest of (m - j + 1) p_(j) over j >= i, for the i-th smallest p-value.

    It is never above Holm's. Unlike for Holm's correction, there is no proof that it controls
    claims in the wrong direction.
    """
    return _step_up(p, np.arange(p.shape[-1], 0, -1.0))


def benjamini_hochberg(p: Floats) -> Floats:
    """Return the smallest of p_(j) m / j over j >= i, for the i-th smallest p-value.

    It controls the expected share of false rejections, not the chance of a single one. A
    rejection with the wrong sign does not count as false.
    """
    m = p.shape[-1]
    return _step_up(p, m / np.arange(1.0, m + 1.0))


def benjamini_yekutieli(p: Floats) -> Floats:
    """Return those of `benjamini_hochberg` before the cut at 1, times 1 + 1/2 + ... + 1/m."""
    m = p.shape[-1]
    rank = np.arange(1.0, m + 1.0)
    return _step_up(p, m / rank * np.sum(1.0 / rank))


_MIN_CUT = 10_000
"""Families of at least this size look for p-values that become 1 before they sort."""


def _step_down(p: Floats, factors: Floats) -> Floats:
    """Return for the i-th smallest p the largest of factors[j] * p_(j) over j <= i."""
    if (p == p[..., :1]).all():
        # equal p-values, as in the search for the smallest possible ones; factors never increase
        return np.repeat(np.minimum(p[..., :1] * factors[:1], 1.0), p.shape[-1], axis=-1)
    if p.size == p.shape[-1] >= _MIN_CUT:
        limit = 2.0 / p.size
        small = np.flatnonzero(p < limit)
        if len(small) < p.size and factors[len(small)] * limit >= 1.0:
            # all larger p-values become 1, so only the small ones need sorting
            adjusted = np.ones_like(p)
            if len(small):
                adjusted.flat[small] = _step_down(p.flat[small], factors[: len(small)])
            return adjusted
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    np.maximum.accumulate(ranked, axis=-1, out=ranked)
    return _in_original_order(ranked, order)


def _step_up(p: Floats, factors: Floats) -> Floats:
    """Return for the i-th smallest p the smallest of factors[j] * p_(j) over j >= i."""
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    backwards = ranked[..., ::-1]
    np.minimum.accumulate(backwards, axis=-1, out=backwards)
    return _in_original_order(ranked, order)


def _in_original_order(ranked: Floats, order: npt.NDArray[np.intp]) -> Floats:
    """Cut the sorted adjusted p-values at 1 and return them in the order of the p-values."""
    np.minimum(ranked, 1.0, out=ranked)
    adjusted = np.empty_like(ranked)
    np.put_along_axis(adjusted, order, ranked, axis=-1)
    return adjusted


# Corrections for all pairs of K learners, whose p-values are in the order of `pair_indices`

MAX_LEARNERS = 14
"""Largest K of `bergmann_hommel`, which then takes about a second."""

_MAX_BLOCK_NUMBERS = 1 << 24
_IMPOSSIBLE = -(1 << 14)  # stays negative when the size of any family is added


def pair_indices(K: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return ``numpy.triu_indices(K, 1)``, without a matrix.

    Examples
    --------
    >>> [index.tolist() for index in pair_indices(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    counts = np.arange(K - 1, 0, -1)
    first = np.repeat(np.arange(K - 1), counts)
    # within learner i, j counts from i + 1
    second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - K, counts)
    return first, second


def shaffer(p: Floats, K: int) -> Floats:
    """Return the largest of t_j p_(j) over j <= i, for the i-th smallest p-value (static).

    Holm multiplies the i-th smallest p-value by the number m - i + 1 of hypotheses that are left.
    Shaffer multiplies it by t_i, the largest number of them that can be true together. If the K
    learners form groups of equals of sizes k_1, k_2, ..., then sum k_j (k_j - 1) / 2 hypotheses are
    true; t_i is the largest such number that does not exceed m - i + 1. For K = 5 the t_i are 10,
    6, 6, 6, 6, 4, 4, 3, 2, 1.

    The relation holds for equalities, but not for one-sided hypotheses: of m_1 <= m_2, m_1 <= m_3
    and m_2 <= m_3 two can be true while the first is false. The proof that Holm's correction also
    controls wrong directions does not carry over, because t_i does not count unequal pairs. In
    simulations the chance of a false claim or a wrong direction stays within the level (see the
    docs page on corrections).
    """
    return _step_down(p, max_true_counts(K))


def bergmann_hommel(p: Floats, K: int) -> Floats:
    """Return the largest of |I| min{p_j : j in I} over the exhaustive sets I that contain a pair.

    A set I of hypotheses is exhaustive if exactly these hypotheses can be true together: it
    consists of all pairs inside the groups of some partition of the learners. This is the closed
    test with Bonferroni's inequality inside each exhaustive set. The adjusted p-values may have
    another order than the p-values.

    The implementation does not list the sets (115,975 for ten learners). For each bound q it
    builds the largest exhaustive set without a p-value below q group by group, over subsets of
    learners. This takes 3^(K - 1) steps for each of the m possible values of q.

    As for Shaffer's correction, the hypotheses must be two-sided, and there is no proof that it
    controls wrong directions.
    """
    if K > MAX_LEARNERS:
        raise ArgumentError(
            f"bergmann-hommel must have at most {MAX_LEARNERS} learners, because its work triples "
            f"with each; got {K}: 'shaffer' and 'holm' work for any number."
        )
    m = p.shape[-1]
    rows = p.reshape(-1, m)
    adjusted = np.empty_like(rows)
    step = max(1, _MAX_BLOCK_NUMBERS // (2**K * m))
    for start in range(0, len(rows), step):
        adjusted[start : start + step] = _closed(rows[start : start + step], K)
    return np.minimum(adjusted, 1.0).reshape(p.shape)


def _learners_and_order(m: int, pairs: Any, correction: str) -> tuple[int, npt.NDArray[np.intp]]:
    """Return K and the positions of the p-values of (0, 1), (0, 2), ..., (K - 2, K - 1).

    Examples
    --------
    >>> _learners_and_order(3, [(2, 1), (0, 1), (2, 0)], "shaffer")
    (3, array([1, 2, 0]))
    """
    alternative = "'holm' works for any family."
    if pairs is None:
        raise ArgumentError(
            f"pairs must be given for {correction}: the number of learners, or the two learners "
            f"of each p-value; {alternative}"
        )
    array = np.asarray(pairs)
    if array.dtype.kind not in "iu" or array.shape not in ((), (m, 2)):
        raise ArgumentError(
            f"pairs must be the number of learners or an array of whole numbers of shape "
            f"({m}, 2); got {'an array of shape ' + str(array.shape) if array.ndim else pairs!r}."
        )
    K = int(array) if array.ndim == 0 else len(np.unique(array))
    if K < 2 or comb(K, 2) != m:
        raise ArgumentError(
            f"pairs must be all pairs of the learners for {correction}, which is "
            f"{comb(max(K, 0), 2)} for {K} learners; got {m} p-values; {alternative}"
        )
    if array.ndim == 0:
        return K, np.arange(m)
    _, number = np.unique(array, return_inverse=True)
    first, second = np.sort(number.reshape(m, 2), axis=1).T
    rank = first * K + second
    if (first == second).any() or len(np.unique(rank)) < m:
        raise ArgumentError(
            f"pairs must hold each pair of the {K} learners once for {correction}; got a pair "
            f"twice or a learner with itself; {alternative}"
        )
    return K, np.argsort(rank)


@lru_cache(maxsize=32)
def max_true_counts(K: int) -> Floats:
    """Return how many equalities of K learners can be true if i - 1 of them are false.

    The entries are for i = 1, ..., K (K - 1) / 2.

    Examples
    --------
    >>> max_true_counts(5).tolist()
    [10.0, 6.0, 6.0, 6.0, 6.0, 4.0, 4.0, 3.0, 2.0, 1.0]
    """
    m = comb(K, 2)
    counts = np.arange(m + 1)
    possible = np.where(_fewest_learners(m) <= K, counts, 0)
    largest = np.maximum.accumulate(possible)[:0:-1].astype(np.float64)
    largest.flags.writeable = False
    return largest


def _fewest_learners(most: int) -> npt.NDArray[np.int64]:
    """Return the fewest learners with which exactly s = 0, ..., `most` equalities can be true.

    f(s) = min over j of j + f(s - j (j - 1) / 2), with j the size of the largest group. With N
    learners and a largest group of j, at most N (j - 1) / 2 equalities are true, hence
    j - 1 >= 2 s / f(s). So only a few sizes near the largest that fits need a look. All s with the
    same largest size are computed together.
    """
    f = np.zeros(most + 1, dtype=np.int64)
    small = min(most, comb(12, 2) - 1)
    for few in range(1, small + 1):
        f[few] = min(j + f[few - comb(j, 2)] for j in range(2, 13) if comb(j, 2) <= few)
    J = 12
    while comb(J, 2) <= most:
        s = np.arange(comb(J, 2), min(comb(J + 1, 2) - 1, most) + 1)
        best = J + f[s - comb(J, 2)]
        j = J - 1
        while (j - 1) * int(best.max()) >= 2 * int(s[0]):
            np.minimum(best, j + f[s - comb(j, 2)], out=best)
            j -= 1
        f[s] = best
        J += 1
    return f


def _closed(p: Floats, K: int) -> Floats:
    """Return the adjusted p-values of rows of p-values in the order (0, 1), (0, 2), ..."""
    rows, m = p.shape
    i, j = np.triu_indices(K, 1)
    bounds = np.sort(p, axis=1)
    smallest = np.full((2**K, rows), np.inf)
    inside = np.zeros(2**K, dtype=np.int16)
    for group in range(1, 2**K):
        least = group & -group
        rest = group ^ least
        if rest == 0:
            continue
        first, size = least.bit_length() - 1, group.bit_count()
        others = [k for k in range(first + 1, K) if rest >> k & 1]
        # pair (first, k) is at position offset + k
        offset = first * K - first * (first + 1) // 2 - first - 1
        of_first = p[:, [offset + k for k in others]].min(axis=1)
        np.minimum(smallest[rest], of_first, out=smallest[group])
        inside[group] = size * (size - 1) // 2
    allowed = np.where(
        smallest[:, :, np.newaxis] >= bounds, inside[:, np.newaxis, np.newaxis], _IMPOSSIBLE
    ).astype(np.int16)
    most = np.zeros_like(allowed)
    for group in range(1, 2**K):
        least = group & -group
        parts = _subsets(group ^ least)
        # the group of the first learner, plus the best partition of the remaining learners
        (allowed[parts | least] + most[(group ^ least) ^ parts]).max(axis=0, out=most[group])
    reached = allowed + most[::-1]  # the complement of subset g is subset 2^K - 1 - g
    for k in range(K):
        # maximise over all supersets, one learner at a time
        halves = reached.reshape(2 ** (K - 1 - k), 2, 2**k, rows, m)
        np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 0])
    together = reached[(1 << i) | (1 << j)]
    return np.asarray((np.maximum(together, 0) * bounds).max(axis=2).T)


def _subsets(group: int) -> npt.NDArray[np.intp]:
    """Return all subsets of a set of bits, as numbers."""
    subsets = np.zeros(1, dtype=np.intp)
    while group:
        least = group & -group
        subsets = np.concatenate([subsets, subsets | least])
        group ^= least
    return subsets


# The corrections by name

ANY_WRONG_CLAIM = "the chance of even one wrong claim"
SHARE_OF_WRONG_CLAIMS = "the expected share of wrong claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A registered correction; call it with p-values to adjust them.

    Attributes
    ----------
    name : str
        Key in ``CORRECTIONS``.
    function : callable
        ``function(pvalues)``, or ``function(pvalues, K)`` if `needs_all_pairs`: the p-values of
        the pairs (0, 1), (0, 2), ..., (K - 2, K - 1).
    words : str
        Name in sentences, such as "Holm's correction".
    guarantee : str
        What the correction controls at level alpha; empty if it controls nothing.
    any_dependence : bool
        The guarantee needs no assumption about how the tests depend on each other.
    directions : bool
        There is a proof that the guarantee covers claims with the wrong sign, if the p-values
        are two-sided and the direction of a claim is the sign of its statistic.
    needs_all_pairs : bool
        The correction needs the two-sided p-values of all pairs of K learners, and takes `pairs`.
    adjusts : bool
        False for ``"none"``, which returns the p-values unchanged.
    single_step : bool
        Intervals of one level agree with the adjusted p-values.
    family : str
        Group of related corrections in listings.
    called : str
        Name in the methods section of a paper.
    citations : tuple of str
        Keys of ``report/references.bib``, or of `bibtex`.
    paper : str
        Author, year and title of the publication.
    doi : str or None
        DOI of the publication.
    """

    name: str
    function: Callable[..., Floats]
    words: str
    guarantee: str
    any_dependence: bool
    directions: bool
    needs_all_pairs: bool = False
    adjusts: bool = True
    single_step: bool = False
    family: str = ""
    called: str = ""
    citations: tuple[str, ...] = ()
    bibtex: str = ""
    paper: str = ""
    doi: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)

    def __call__(self, pvalues: npt.ArrayLike, *, pairs: Any = None) -> Floats:
        """Return the adjusted p-values; only corrections that need `pairs` look at it."""
        p = finite_array(pvalues, "pvalues")
        if p.size and not (p.min() >= 0.0 and p.max() <= 1.0):
            outside = p[(p < 0.0) | (p > 1.0)][0]
            raise ArgumentError(f"pvalues must lie between 0 and 1; got {outside}.")
        if not self.needs_all_pairs:
            return self.function(p)
        K, order = _learners_and_order(p.shape[-1], pairs, self.name)
        adjusted = np.empty_like(p)
        adjusted[..., order] = self.function(p[..., order], K)
        return adjusted


CORRECTIONS: Registry[Correction] = Registry(
    "correction",
    Correction(
        name="bonferroni",
        function=bonferroni,
        words="Bonferroni's correction",
        guarantee=ANY_WRONG_CLAIM,
        any_dependence=True,
        directions=True,
        paper="Dunn 1961, Multiple comparisons among means",
        doi="10.1080/01621459.1961.10482090",
        family="stepwise",
        called="Bonferroni's method",
        single_step=True,
        citations=("dunn1961multiple",),
    ),
    Correction(
        name="holm",
        function=holm,
        words="Holm's correction",
        guarantee=ANY_WRONG_CLAIM,
        any_dependence=True,
        directions=True,
        paper="Holm 1979, A simple sequentially rejective multiple test procedure",
        family="stepwise",
        called="Holm's method",
        citations=("holm1979simple",),
    ),
    Correction(
        name="shaffer",
        function=shaffer,
        words="Shaffer's static correction",
        guarantee=ANY_WRONG_CLAIM,
        any_dependence=True,
        directions=False,
        needs_all_pairs=True,
        paper="Shaffer 1986, Modified sequentially rejective multiple test procedures",
        doi="10.1080/01621459.1986.10478341",
        family="all-pairs",
        called="Shaffer's static method",
        citations=("shaffer1986modified", "garcia2008extension"),
    ),
    Correction(
        name="bergmann-hommel",
        function=bergmann_hommel,
        words="the correction of Bergmann and Hommel",
        guarantee=ANY_WRONG_CLAIM,
        any_dependence=True,
        directions=False,
        needs_all_pairs=True,
        paper="Bergmann and Hommel 1988, Improvements of general multiple test procedures for "
        "redundant systems of hypotheses",
        doi="10.1007/978-3-642-52307-6_8",
        family="all-pairs",
        called="the method of Bergmann and Hommel",
        citations=("bergmann1988improvements", "garcia2008extension"),
    ),
    Correction(
        name="hochberg",
        function=hochberg,
        words="Hochberg's correction",
        guarantee=ANY_WRONG_CLAIM,
        any_dependence=False,
        directions=False,
        paper="Hochberg 1988, A sharper Bonferroni procedure for multiple tests of significance",
        doi="10.1093/biomet/75.4.800",
        family="stepwise",
        called="Hochberg's method",
        citations=("hochberg1988sharper",),
    ),
    Correction(
        name="benjamini-hochberg",
        function=benjamini_hochberg,
        words="the correction of Benjamini and Hochberg",
        guarantee=SHARE_OF_WRONG_CLAIMS,
        any_dependence=False,
        directions=False,
        paper="Benjamini and Hochberg 1995, Controlling the false discovery rate",
        doi="10.1111/j.2517-6161.1995.tb02031.x",
        family="stepwise",
        called="the method of Benjamini and Hochberg",
        citations=("benjamini1995controlling",),
    ),
    Correction(
        name="benjamini-yekutieli",
        function=benjamini_yekutieli,
        words="the correction of Benjamini and Yekutieli",
        guarantee=SHARE_OF_WRONG_CLAIMS,
        any_dependence=True,
        directions=False,
        paper="Benjamini and Yekutieli 2001, The control of the false discovery rate in multiple "
        "testing under dependency",
        doi="10.1214/aos/1013699998",
        family="stepwise",
        called="the method of Benjamini and Yekutieli",
        citations=("benjamini2001control",),
    ),
    Correction(
        name="none",
        function=none,
        words="no correction",
        guarantee="",
        any_dependence=True,
        directions=False,
        family="stepwise",
        called="no correction",
        adjusts=False,
        single_step=True,
    ),
)
