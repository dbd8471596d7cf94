"""The tests of K learners: one entry each, read by the command line, the docs, the lab, the laws.

`covers` names situations as in `bestofk.stats.pairwise.registry`. `shape` says what the function
takes, the learners first: ``(K, L)`` losses as K samples, ``(K, N)`` losses on N common blocks
(data sets, folds or splits), ``(K, N) correct`` right answers (1 or 0) on N instances,
``(A, D, F, R)`` losses by learner, data set, fold and repetition.
"""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Assumption, FunctionEntry, Registry, Speed


@dataclass(frozen=True, slots=True, kw_only=True)
class MultipleTest(FunctionEntry):
    """What the library knows of one test of K learners."""

    covers: tuple[str, ...]
    shape: str = "(K, N)"
    posthoc: bool = False
    """It compares pairs or groups; not only all learners at once."""
    zero_one: bool = False
    """It takes right answers (1 or 0) on the instances of one test set, not losses."""
    takes_alpha: bool = False
    """The function wants the level."""
    assumptions: tuple[Assumption, ...] = ()
    """What it takes for granted; empty: the report says that it is not stated."""
    sides: tuple[str, ...] = ("two-sided",)
    interval: str = ""
    """How intervals of the differences are found, in words; empty: there are none."""
    speed: Speed = "one by one"
    takes_names: bool = False
    """The function wants the names of the learners."""
    random: bool = False
    """The function takes `random_state`."""
    needs_repetitions: bool = False
    """It compares the spread of repetitions of every loss; one loss each tells it nothing."""
    first_step: str = ""
    """The registered test that gives the p-value of its first step, where it has none itself."""
    caution: str = ""
    """What a verdict says of its error rate beyond the assumptions, as measured; may be empty."""

    @property
    def axes(self) -> int:
        """Number of axes of one table."""
        return self.shape.split(")")[0].count(",") + 1

    @property
    def batch(self) -> bool:
        """Leading axes are separate tests."""
        return self.speed != "one by one"


_SPLITS = ("kfold", "repeated-kfold", "5x2", "resample", "bootstrap")
_BLOCKS = ("datasets", *_SPLITS)

_EQUAL_SAMPLES = Assumption(
    claim="The losses of all learners are normal, independent, and spread equally.",
    check="equal variances",
    why="learners that met the same folds are not independent samples",
)
_INDEPENDENT_SAMPLES = Assumption(
    claim="The losses of all learners are independent samples of the same shape.",
    check="doubtful",
    why="Learners that met the same folds are not independent samples.",
)
_SAME_SPREAD = Assumption(
    claim="All differences between learners are normal and spread equally (sphericity).",
    check="cannot be checked",
    why="The corrections of Greenhouse and Geisser and of Huynh and Feldt allow for unequal "
    "spread.",
)
_INDEPENDENT_BLOCKS = Assumption(
    claim="The {units} are independent of each other.",
    check="cannot be checked",
    why="Folds of one data set share training rows and are not.",
)
_EXCHANGEABLE = Assumption(
    claim="Equal learners could be exchanged within every data set.",
    check="cannot be checked",
    why="The data sets must be independent of each other.",
)

MULTIPLE_TESTS: Registry[MultipleTest] = Registry(
    "test of K learners",
    MultipleTest(
        name="anova",
        function="bestofk.stats.multiple.analysis_of_variance:anova",
        summary="one-way analysis of variance, each learner's losses as a sample of their own",
        covers=_SPLITS,
        paper="Fisher 1925, Statistical methods for research workers; Yildiz and Alpaydin 2006",
        doi="10.1109/TPAMI.2006.61",
        shape="(K, L)",
        speed="vectorised",
        called="one-way analysis of variance",
        citations=("fisher1925statistical",),
        assumptions=(_EQUAL_SAMPLES,),
    ),
    MultipleTest(
        name="repeated-measures-anova",
        function="bestofk.stats.multiple.analysis_of_variance:repeated_measures_anova",
        summary="analysis of variance with the blocks taken out, sphericity corrections",
        covers=_BLOCKS,
        paper="Greenhouse and Geisser 1959, On methods in the analysis of profile data",
        doi="10.1007/BF02289823",
        called="repeated-measures analysis of variance",
        citations=("greenhouse1959methods",),
        assumptions=(_SAME_SPREAD,),
    ),
    MultipleTest(
        name="newman-keuls",
        function="bestofk.stats.multiple.range_tests:newman_keuls",
        summary="neighbouring means that range tests of falling size cannot tell apart",
        covers=_SPLITS,
        paper="Newman 1939, The distribution of range; Keuls 1952, The studentized range",
        doi="10.1007/BF01908269",
        shape="(K, L)",
        posthoc=True,
        takes_alpha=True,
        called="the Newman-Keuls range test",
        citations=("newman1939distribution", "keuls1952use"),
        assumptions=(_EQUAL_SAMPLES,),
        first_step="tukey",
    ),
    MultipleTest(
        name="tukey",
        function="bestofk.stats.multiple.range_tests:tukey",
        summary="honestly significant differences of all pairs by one range test",
        covers=_SPLITS,
        paper="Tukey 1949, Comparing individual means in the analysis of variance",
        doi="10.2307/3001913",
        shape="(K, L)",
        posthoc=True,
        called="Tukey's honestly significant difference",
        citations=("tukey1949comparing",),
        assumptions=(_EQUAL_SAMPLES,),
        interval="the studentized range times the standard error",
    ),
    MultipleTest(
        name="kruskal-wallis",
        function="bestofk.stats.multiple.rank_tests:kruskal_wallis",
        summary="one-way analysis of variance on the ranks of all losses",
        covers=_SPLITS,
        paper="Kruskal and Wallis 1952, Use of ranks in one-criterion variance analysis",
        doi="10.1080/01621459.1952.10483441",
        shape="(K, L)",
        speed="vectorised",
        called="the Kruskal-Wallis test",
        citations=("kruskal1952use",),
        assumptions=(_INDEPENDENT_SAMPLES,),
    ),
    MultipleTest(
        name="friedman",
        function="bestofk.stats.multiple.rank_tests:friedman",
        summary="ranks within each block, chi-squared and Iman and Davenport's F",
        covers=_BLOCKS,
        paper="Friedman 1937, The use of ranks; Iman and Davenport 1980, Approximations of the "
        "critical region of the Friedman statistic",
        doi="10.1080/01621459.1937.10503522",
        speed="vectorised",
        called="Friedman's test with Iman and Davenport's F",
        citations=("friedman1937use", "iman1980approximations"),
        assumptions=(_INDEPENDENT_BLOCKS,),
    ),
    MultipleTest(
        name="nemenyi",
        function="bestofk.stats.multiple.post_hoc:nemenyi",
        summary="all pairs of average ranks against one critical difference, after friedman",
        covers=_BLOCKS,
        paper="Nemenyi 1963, Distribution-free multiple comparisons; Demsar 2006, Statistical "
        "comparisons of classifiers over multiple data sets",
        posthoc=True,
        takes_alpha=True,
        called="Nemenyi's test",
        citations=("nemenyi1963distribution", "demsar2006statistical"),
        assumptions=(_INDEPENDENT_BLOCKS,),
    ),
    MultipleTest(
        name="cochran-q",
        function="bestofk.stats.multiple.binary_tests:cochran_q",
        summary="right answers of K classifiers on one test set, chi-squared",
        covers=("test-set",),
        paper="Cochran 1950, The comparison of percentages in matched samples",
        doi="10.1093/biomet/37.3-4.256",
        shape="(K, N) correct",
        zero_one=True,
        speed="vectorised",
        called="Cochran's Q test",
        citations=("cochran1950comparison",),
        assumptions=(_INDEPENDENT_BLOCKS,),
    ),
    MultipleTest(
        name="looney",
        function="bestofk.stats.multiple.binary_tests:looney",
        summary="right answers of K classifiers on one test set, F and F+ with epsilon",
        covers=("test-set",),
        paper="Looney 1988, A statistical technique for comparing the accuracies of several "
        "classifiers",
        doi="10.1016/0167-8655(88)90016-5",
        shape="(K, N) correct",
        zero_one=True,
        called="Looney's F test",
        citations=("looney1988statistical",),
        assumptions=(_INDEPENDENT_BLOCKS,),
    ),
    MultipleTest(
        name="bootstrap-a",
        function="bestofk.stats.multiple.bootstrap:bootstrap_a",
        summary="each learner's mean loss against learners permuted within data sets, exact",
        covers=("datasets",),
        paper="Otero et al. 2013, Bootstrap analysis of multiple repetitions of experiments using "
        "an interval-valued multiple comparison procedure",
        doi="10.1016/j.jcss.2013.03.009",
        shape="(A, D, F, R)",
        takes_names=True,
        random=True,
        called="Bootstrap-A",
        citations=("otero2014bootstrap",),
        assumptions=(_EXCHANGEABLE,),
    ),
    MultipleTest(
        name="bootstrap-b",
        function="bestofk.stats.multiple.interval_bootstrap:bootstrap_b",
        summary="bootstrap-a on intervals of repetitions, with inconclusive as a verdict",
        covers=("datasets",),
        paper="Otero et al. 2013, Bootstrap analysis of multiple repetitions of experiments using "
        "an interval-valued multiple comparison procedure",
        doi="10.1016/j.jcss.2013.03.009",
        shape="(A, D, F, R)",
        takes_alpha=True,
        takes_names=True,
        random=True,
        called="Bootstrap-B",
        citations=("otero2014bootstrap",),
        assumptions=(_EXCHANGEABLE,),
        needs_repetitions=True,
    ),
)
