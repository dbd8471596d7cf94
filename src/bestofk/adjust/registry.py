"""The corrections by name: what each of them promises, and of what families."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from bestofk.adjust.all_pairs import MOST_LEARNERS, bergmann_hommel, shaffer
from bestofk.adjust.stepwise import (
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    hochberg,
    holm,
    none,
)
from bestofk.checks import Floats, one_of
from bestofk.registry import Registry

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
