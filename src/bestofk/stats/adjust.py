"""Corrections of any family of tests: they see the p-values and nothing else."""

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


def none(pvalues: npt.ArrayLike) -> Floats:
    """The p-values as they are: each test for itself, no control over the family.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        A copy of the p-values.

    Examples
    --------
    >>> none([0.01, 0.04])
    array([0.01, 0.04])
    """
    return family(pvalues).copy()


def bonferroni(pvalues: npt.ArrayLike) -> Floats:
    """Family-wise error under any dependence, one threshold for all.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values, min(1, m p).

    Notes
    -----
    With two-sided p-values and the direction of each claim by the sign of its statistic, claims
    in the wrong direction are bounded too: they are 2 m one-sided tests at alpha / (2 m).

    References
    ----------
    Dunn, O. J. (1961). Multiple comparisons among means. Journal of the American Statistical
    Association 56, 52-64. doi:10.1080/01621459.1961.10482090

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    p = family(pvalues)
    return np.asarray(np.minimum(p * p.shape[-1], 1.0), dtype=np.float64)


def holm(pvalues: npt.ArrayLike) -> Floats:
    """Family-wise error under any dependence, step-down; never worse than Bonferroni.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    With p_(1) <= ... <= p_(m), the i-th adjusted p-value is the largest of
    min(1, (m - j + 1) p_(j)) over j <= i: the first hypothesis that is kept keeps all the
    later ones, whatever their own thresholds.

    With two-sided p-values and the direction of each claim by the sign of its statistic, claims
    in the wrong direction are bounded too, under any dependence: let the j-th rejection be the
    first wrong one. The opposite directions of the j - 1 pairs before it have p > 1/2 and cannot
    be rejected, so that with E equal and N unequal pairs left, E + N = m - j + 1, at most
    2 E + N true one-sided hypotheses can be, each with threshold alpha / (2 (m - j + 1)).

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.03, 0.01, 0.031])
    array([0.06, 0.03, 0.06])
    """
    p = family(pvalues)
    return step_down(p, np.arange(p.shape[-1], 0, -1.0))


def hochberg(pvalues: npt.ArrayLike) -> Floats:
    """Family-wise error for independent or positively dependent tests, step-up.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    With p_(1) <= ... <= p_(m), the i-th adjusted p-value is the smallest of (m - j + 1) p_(j)
    over j >= i. It is never above Holm's. For claims in the wrong direction there is no proof as
    there is for Holm's.

    References
    ----------
    Hochberg, Y. (1988). A sharper Bonferroni procedure for multiple tests of significance.
    Biometrika 75, 800-802. doi:10.1093/biomet/75.4.800

    Examples
    --------
    >>> hochberg([0.03, 0.01, 0.031])
    array([0.031, 0.03 , 0.031])
    """
    p = family(pvalues)
    return _step_up(p, np.arange(p.shape[-1], 0, -1.0))


def benjamini_hochberg(pvalues: npt.ArrayLike) -> Floats:
    """False discovery rate for independent or positively dependent tests, step-up.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    With p_(1) <= ... <= p_(m), the i-th adjusted p-value is the smallest of p_(j) m / j over
    j >= i. It bounds the expected share of false rejections, not the chance of a single one. A
    rejection with the wrong sign is not counted among them.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300. doi:10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, 0.5, 0.02])
    array([0.05333333, 0.04      , 0.5       , 0.04      ])
    """
    p = family(pvalues)
    m = p.shape[-1]
    return _step_up(p, m / np.arange(1.0, m + 1.0))


def benjamini_yekutieli(pvalues: npt.ArrayLike) -> Floats:
    """False discovery rate under any dependence, step-up.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values: those of Benjamini and Hochberg before they are cut at 1, times
        1 + 1/2 + ... + 1/m.

    Notes
    -----
    What is held is the expected share of rejected hypotheses that are true. A rejection with
    the wrong sign is not counted among them.

    References
    ----------
    Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple
    testing under dependency. Annals of Statistics 29, 1165-1188. doi:10.1214/aos/1013699998

    Examples
    --------
    >>> benjamini_yekutieli([0.04, 0.01, 0.5, 0.02]).round(4)
    array([0.1111, 0.0833, 1.    , 0.0833])
    """
    p = family(pvalues)
    m = p.shape[-1]
    place = np.arange(1.0, m + 1.0)
    return _step_up(p, m / place * np.sum(1.0 / place))


def family(pvalues: Any) -> Floats:
    """The p-values as an array, each between 0 and 1."""
    p = finite_array(pvalues, "pvalues")
    if p.size and not (p.min() >= 0.0 and p.max() <= 1.0):
        outside = p[(p < 0.0) | (p > 1.0)][0]
        raise ArgumentError(f"pvalues must lie between 0 and 1; got {outside}.")
    return p


def step_down(p: Floats, factors: Floats) -> Floats:
    """The i-th smallest gets the largest of factor times p up to its place."""
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    np.maximum.accumulate(ranked, axis=-1, out=ranked)
    return in_given_order(ranked, order)


def _step_up(p: Floats, factors: Floats) -> Floats:
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    backwards = ranked[..., ::-1]
    np.minimum.accumulate(backwards, axis=-1, out=backwards)
    return in_given_order(ranked, order)


def in_given_order(ranked: Floats, order: npt.NDArray[np.intp]) -> Floats:
    """Sorted adjusted p-values, cut at 1, where their p-values stood."""
    np.minimum(ranked, 1.0, out=ranked)
    adjusted = np.empty_like(ranked)
    np.put_along_axis(adjusted, order, ranked, axis=-1)
    return adjusted


# Corrections of all pairs of K learners: if a = b and b = c then a = c.


MOST_LEARNERS = 14
"""Learners up to which `bergmann_hommel` answers within about a second."""

_NUMBERS_AT_A_TIME = 1 << 24
_IMPOSSIBLE = -(1 << 14)  # stays negative when the size of any family is added


def shaffer(pvalues: npt.ArrayLike, *, pairs: Any = None) -> Floats:
    """Family-wise error of all pairs under any dependence, step-down; never worse than Holm.

    H0, for each pair: the two learners are equal, tested two-sided.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        Two-sided p-values, the last axis being all m = K (K - 1) / 2 pairs of K learners.
    pairs : int, or array_like of int, shape (m, 2)
        K, or the two learners of each p-value.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    Holm multiplies the i-th smallest p-value by the number m - i + 1 of hypotheses that are
    left; here it is multiplied by t_i, the largest number of them that can be true together.
    Of K learners in groups of equals of sizes k_1, k_2, ..., sum k_j (k_j - 1) / 2 hypotheses
    are true; t_i is the largest such number that does not exceed m - i + 1. (Shaffer's static
    procedure. For K = 5 the t_i are 10, 6, 6, 6, 6, 4, 4, 3, 2, 1.)

    The relation holds for equalities. It does not for one-sided hypotheses: of m_1 <= m_2,
    m_1 <= m_3 and m_2 <= m_3 two can be true while the first is false.

    The proof that Holm's correction also bounds wrong directions does not carry over, since
    unequal pairs are not counted by t_i. In simulations the chance of a false claim or a wrong
    direction stays within the level (see the page of corrections).

    References
    ----------
    Shaffer, J. P. (1986). Modified sequentially rejective multiple test procedures. Journal of
    the American Statistical Association 81, 826-831. doi:10.1080/01621459.1986.10478341

    Garcia, S. and Herrera, F. (2008). An extension on "Statistical comparisons of classifiers
    over multiple data sets" for all pairwise comparisons. Journal of Machine Learning Research
    9, 2677-2694.

    Examples
    --------
    >>> shaffer([0.01, 0.03, 0.04], pairs=3)
    array([0.03, 0.03, 0.04])
    """
    p = family(pvalues)
    K, _ = learners_of(p.shape[-1], pairs, "shaffer")
    return step_down(p, most_true(K))


def bergmann_hommel(pvalues: npt.ArrayLike, *, pairs: Any = None) -> Floats:
    """Family-wise error of all pairs under any dependence; never worse than Shaffer.

    H0, for each pair: the two learners are equal, tested two-sided.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        Two-sided p-values, the last axis being all m = K (K - 1) / 2 pairs of K learners, K at
        most 14.
    pairs : int, or array_like of int, shape (m, 2)
        K, if the pairs stand in the order (0, 1), (0, 2), ..., (K - 2, K - 1); or the two
        learners of each p-value.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values. Unlike those of the stepwise corrections they need not have the
        order of the p-values.

    Notes
    -----
    A set I of hypotheses is exhaustive if all of them, and only they, can be true together: all
    pairs inside the groups of some division of the learners. The adjusted p-value of a pair is
    the largest of ``|I| min{p_j : j in I}`` over the exhaustive sets I that it belongs to. That is
    the closed test with Bonferroni's inequality inside every exhaustive set.

    The sets are not listed (115,975 of them for ten learners). For every bound q the largest
    exhaustive set without a p-value below q is put together group by group, over subsets of
    learners: 3^(K - 1) steps for each of the m p-values that q can be.

    As with Shaffer's correction, two-sided hypotheses are needed, and there is no proof for
    wrong directions.

    References
    ----------
    Bergmann, B. and Hommel, G. (1988). Improvements of general multiple test procedures for
    redundant systems of hypotheses. In P. Bauer, G. Hommel and E. Sonnemann (eds.), Multiple
    Hypotheses Testing, 100-115. Springer. doi:10.1007/978-3-642-52307-6_8

    Garcia, S. and Herrera, F. (2008). An extension on "Statistical comparisons of classifiers
    over multiple data sets" for all pairwise comparisons. Journal of Machine Learning Research
    9, 2677-2694.

    Examples
    --------
    Of four learners, 0 = 1 can be true together with 2 = 3 alone or as part of a larger group:

    >>> bergmann_hommel([0.02, 0.001, 0.001, 0.001, 0.001, 0.9], pairs=4)
    array([0.04 , 0.006, 0.006, 0.006, 0.006, 0.9  ])
    """
    p = family(pvalues)
    m = p.shape[-1]
    K, places = learners_of(m, pairs, "bergmann-hommel")
    if K > MOST_LEARNERS:
        raise ArgumentError(
            f"bergmann-hommel must have at most {MOST_LEARNERS} learners, since its work triples "
            f"with each; got {K}: 'shaffer' and 'holm' work for any number."
        )
    rows = p.reshape(-1, m)[:, places]
    adjusted = np.empty_like(rows)
    step = max(1, _NUMBERS_AT_A_TIME // (2**K * m))
    for start in range(0, len(rows), step):
        adjusted[start : start + step] = _closed(rows[start : start + step], K)
    given = np.empty_like(adjusted)
    given[:, places] = np.minimum(adjusted, 1.0)
    return given.reshape(p.shape)


def learners_of(m: int, pairs: Any, correction: str) -> tuple[int, npt.NDArray[np.intp]]:
    """K, and the places of the p-values of (0, 1), (0, 2), ..., (K - 2, K - 1).

    Examples
    --------
    >>> learners_of(3, [(2, 1), (0, 1), (2, 0)], "shaffer")
    (3, array([1, 2, 0]))
    """
    elsewhere = "'holm' works for any family."
    if pairs is None:
        raise ArgumentError(
            f"pairs must be given for {correction}: the number of learners, or the two learners "
            f"of each p-value; {elsewhere}"
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
            f"{comb(max(K, 0), 2)} for {K} learners; got {m} p-values; {elsewhere}"
        )
    if array.ndim == 0:
        return K, np.arange(m)
    _, number = np.unique(array, return_inverse=True)
    first, second = np.sort(number.reshape(m, 2), axis=1).T
    rank = first * K + second
    if (first == second).any() or len(np.unique(rank)) < m:
        raise ArgumentError(
            f"pairs must hold each pair of the {K} learners once for {correction}; got a pair "
            f"twice or a learner with itself; {elsewhere}"
        )
    return K, np.argsort(rank)


@lru_cache(maxsize=32)
def most_true(K: int) -> Floats:
    """How many of the equalities of K learners can be true when i - 1 of them are false.

    For i = 1, ..., K (K - 1) / 2.

    Examples
    --------
    >>> most_true(5).tolist()
    [10.0, 6.0, 6.0, 6.0, 6.0, 4.0, 4.0, 3.0, 2.0, 1.0]
    """
    m = comb(K, 2)
    counts = np.arange(m + 1)
    possible = np.where(_fewest_learners(m) <= K, counts, 0)
    largest = np.maximum.accumulate(possible)[:0:-1].astype(np.float64)
    largest.flags.writeable = False
    return largest


def _fewest_learners(most: int) -> npt.NDArray[np.int64]:
    """With how few learners exactly s = 0, ..., `most` equalities can be true.

    f(s) = min over j of j + f(s - j (j - 1) / 2), j being the largest group. With N learners and
    a largest group of j at most N (j - 1) / 2 equalities are true, so that j - 1 >= 2 s / f(s):
    few sizes come in question, those near the largest that fits, and the s with the same largest
    size are taken together.
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
    """Adjusted p-values of rows of p-values in the order (0, 1), (0, 2), ..."""
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
        # the pairs of the first learner with the others, which follow it in the list
        place = first * K - first * (first + 1) // 2 - first - 1
        own = p[:, [place + k for k in others]].min(axis=1)
        np.minimum(smallest[rest], own, out=smallest[group])
        inside[group] = size * (size - 1) // 2
    allowed = np.where(
        smallest[:, :, np.newaxis] >= bounds, inside[:, np.newaxis, np.newaxis], _IMPOSSIBLE
    ).astype(np.int16)
    most = np.zeros_like(allowed)
    for group in range(1, 2**K):
        least = group & -group
        parts = _subsets(group ^ least)
        # the group of the first learner, and the best that the remaining ones can do
        (allowed[parts | least] + most[(group ^ least) ^ parts]).max(axis=0, out=most[group])
    reached = allowed + most[::-1]  # the complement of a subset has the mirrored number
    for k in range(K):
        # the best over all larger groups, one learner at a time
        halves = reached.reshape(2 ** (K - 1 - k), 2, 2**k, rows, m)
        np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 0])
    together = reached[(1 << i) | (1 << j)]
    return np.asarray((np.maximum(together, 0) * bounds).max(axis=2).T)


def _subsets(group: int) -> npt.NDArray[np.intp]:
    """All subsets of a set of bits, as numbers."""
    found = np.zeros(1, dtype=np.intp)
    while group:
        least = group & -group
        found = np.concatenate([found, found | least])
        group ^= least
    return found


# The corrections by name: what each of them promises, and of what families.


ANY_WRONG_CLAIM = "the chance of even one wrong claim"
SHARE_OF_WRONG_CLAIMS = "the expected share of wrong claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What the library knows of one correction; called with p-values it adjusts them.

    Attributes
    ----------
    name : str
        As in ``CORRECTIONS[name]``.
    function : callable
        ``function(pvalues)``, or ``function(pvalues, pairs=...)`` where `needs_all_pairs`.
    words : str
        What a sentence calls it, such as "Holm's correction".
    guarantee : str
        What is held at alpha, in words; empty where nothing is.
    any_dependence : bool
        The guarantee needs no assumption about how the tests depend on each other.
    directions : bool
        It is proved that claims with the wrong sign count among the wrong ones, when the
        p-values are two-sided and the direction of a claim is the sign of its statistic.
    needs_all_pairs : bool
        It is made for the two-sided p-values of all pairs of K learners, and takes `pairs`.
    adjusts : bool
        False for the one that leaves p-values as they are.
    most_learners : int or None
        So many learners it takes at most; None: any number.
    family : str
        The file that holds it.
    called : str
        What the methods section of a paper calls it.
    citations : tuple of str
        Keys of ``report/references.bib``, or of `bibtex`.
    paper : str
        Whose idea it is.
    doi : str or None
        Where it stands.
    """

    name: str
    function: Callable[..., Floats]
    words: str
    guarantee: str
    any_dependence: bool
    directions: bool
    needs_all_pairs: bool = False
    adjusts: bool = True
    most_learners: int | None = None
    family: str = ""
    called: str = ""
    citations: tuple[str, ...] = ()
    bibtex: str = ""
    paper: str = ""
    doi: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)

    def __call__(self, pvalues: npt.ArrayLike, *, pairs: Any = None) -> Floats:
        """The p-values adjusted; `pairs` goes to the corrections that need it."""
        if self.needs_all_pairs:
            return self.function(pvalues, pairs=pairs)
        return self.function(pvalues)


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
        most_learners=MOST_LEARNERS,
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
    ),
)


def adjust(pvalues: npt.ArrayLike, method: str = "holm", *, pairs: Any = None) -> Floats:
    """Adjusted p-values by the name of the correction.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.
    method : str
        The correction: one of ``CORRECTIONS``.
    pairs : int, or array_like of int, shape (m, 2), optional
        For ``"shaffer"`` and ``"bergmann-hommel"``, which use that the family is all pairs of K
        learners: K, if the pairs stand in the order (0, 1), (0, 2), ..., (K - 2, K - 1); or the
        two learners of each p-value. The other corrections take no notice of it.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values; reject where they are at most the level of the family.

    Examples
    --------
    >>> adjust([0.01, 0.04], "bonferroni")
    array([0.02, 0.08])
    >>> adjust([0.01, 0.03, 0.04], "shaffer", pairs=3)
    array([0.03, 0.03, 0.04])
    """
    return CORRECTIONS[one_of(method, "correction", tuple(CORRECTIONS))](pvalues, pairs=pairs)
