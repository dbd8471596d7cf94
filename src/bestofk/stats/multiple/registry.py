"""The registry of tests of K learners.

`MultipleTest.covers` names situations as in `bestofk.stats.pairwise.entry`. `MultipleTest.shape` is
the shape of the input, with the learners first:

==================  ==============================================================
``(K, L)``          losses as K samples
``(K, N)``          losses on N common blocks (data sets, folds or splits)
``(K, N) correct``  right answers (1 or 0) on N instances
``(A, D, F, R)``    losses by learner, data set, fold and repetition
==================  ==============================================================
"""

from __future__ import annotations

from dataclasses import dataclass

from bestofk._base.registry import Assumption, FunctionEntry, Registry, Speed


@dataclass(frozen=True, slots=True, kw_only=True)
class MultipleTest(FunctionEntry):
    """A registered test of K learners."""

    covers: tuple[str, ...]
    shape: str = "(K, N)"
    posthoc: bool = False
    """The test compares pairs or groups, not only all learners at once."""
    zero_one: bool = False
    """The test takes right answers (1 or 0) on the instances of one test set, not losses."""
    takes_alpha: bool = False
    """The function takes `alpha`."""
    assumptions: tuple[Assumption, ...] = ()
    """Assumptions of the test; if empty, the report says that they are not stated."""
    sides: tuple[str, ...] = ("two-sided",)
    interval: str = ""
    """How intervals of the differences are computed, in words; empty: there are none."""
    speed: Speed = "one by one"
    takes_names: bool = False
    """The function takes `names`, the names of the learners."""
    random: bool = False
    """The function takes `random_state`."""
    needs_repetitions: bool = False
    """The test needs several repetitions of each loss."""
    first_step: str = ""
    """The registered test with the p-value of the first step, if this test has none itself."""
    caution: str = ""
    """Measured error rates beyond the assumptions, which a verdict mentions; may be empty."""

    @property
    def axes(self) -> int:
        """Number of axes of one table."""
        return self.shape.split(")")[0].count(",") + 1

    @property
    def batch(self) -> bool:
        """True if leading axes are separate tests."""
        return self.speed != "one by one"


_SPLITS = ("kfold", "repeated-kfold", "5x2", "resample", "bootstrap")
_BLOCKS = ("datasets", *_SPLITS)

_EQUAL_SAMPLES = Assumption(
    claim="The losses of all learners are normal and independent, with equal variances.",
    check="equal variances",
    why="learners tested on the same folds are not independent samples",
)
_INDEPENDENT_SAMPLES = Assumption(
    claim="The losses of all learners are independent samples from distributions of one shape.",
    check="doubtful",
    why="Learners tested on the same folds are not independent samples.",
)
_SAME_SPREAD = Assumption(
    claim="All differences between learners are normal with equal variances (sphericity).",
    check="cannot be checked",
    why="The corrections of Greenhouse and Geisser and of Huynh and Feldt allow for unequal "
    "variances.",
)
_INDEPENDENT_BLOCKS = Assumption(
    claim="The {units} are independent of each other.",
    check="cannot be checked",
    why="Folds of one data set share training rows and are not independent.",
)
_EXCHANGEABLE = Assumption(
    claim="Equal learners are exchangeable within every data set.",
    check="cannot be checked",
    why="The data sets must be independent of each other.",
)

MULTIPLE_TESTS: Registry[MultipleTest] = Registry(
    "test of K learners",
    MultipleTest(
        name="anova",
        explanation=(
            "Asks whether the mean losses of all learners are equal, with each learner's losses as "
            "a separate sample.",
            "Use it to repeat published results that use this test.",
            "Do not use it on common folds: it ignores that the learners were tested on the same "
            "rows.",
        ),
        function="bestofk.stats.multiple.analysis_of_variance:anova",
        summary="one-way analysis of variance, each learner's losses as a separate sample",
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
        explanation=(
            "Asks whether the mean losses of all learners are equal on common data sets or folds.",
            "Use it for data sets with roughly normal losses on the same scale.",
            "Do not use it to find out which learners differ: it answers only for all of them "
            "together.",
        ),
        function="bestofk.stats.multiple.analysis_of_variance:repeated_measures_anova",
        summary="analysis of variance without the block effects, with sphericity corrections",
        covers=_BLOCKS,
        paper="Greenhouse and Geisser 1959, On methods in the analysis of profile data",
        doi="10.1007/BF02289823",
        called="repeated-measures analysis of variance",
        citations=("greenhouse1959methods",),
        assumptions=(_SAME_SPREAD,),
    ),
    MultipleTest(
        name="newman-keuls",
        explanation=(
            "Groups the learners whose neighbouring means cannot be told apart.",
            "Use it to repeat published results that use this test.",
            "Do not use it to decide: it does not control the chance of any false claim for more "
            "than three learners.",
        ),
        function="bestofk.stats.multiple.range_tests:newman_keuls",
        summary="neighbouring means that range tests of decreasing size do not separate",
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
        name="duncan",
        explanation=(
            "Groups the learners whose neighbouring means cannot be told apart, with a larger "
            "level for larger groups.",
            "Use it to repeat published results that use this test.",
            "Do not use it to decide: the chance of a false claim grows with the number of "
            "learners.",
        ),
        function="bestofk.stats.multiple.range_tests:duncan",
        summary="as newman-keuls, with larger levels for larger groups: many false claims",
        covers=_SPLITS,
        paper="Duncan 1955, Multiple range and multiple F tests",
        doi="10.2307/3001478",
        shape="(K, L)",
        posthoc=True,
        takes_alpha=True,
        called="Duncan's multiple range test",
        citations=("duncan1955multiple",),
        assumptions=(_EQUAL_SAMPLES,),
    ),
    MultipleTest(
        name="tukey",
        explanation=(
            "Compares all pairs of learners with one critical difference.",
            "Use it for independent losses with equal variances.",
            "Do not use it on folds of one data set, which share training rows.",
        ),
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
        explanation=(
            "Asks whether all learners have the same distribution of losses, by the ranks of all "
            "losses together.",
            "Use it for independent samples.",
            "Do not use it on common folds or data sets: friedman uses that they are the same.",
        ),
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
        explanation=(
            "Asks whether all learners rank equally over common data sets.",
            "Use it for several data sets with different scales.",
            "Do not use it to find out which learners differ, or on folds of one data set, which "
            "are not independent.",
        ),
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
        explanation=(
            "Compares the average ranks of all pairs of learners with one critical difference.",
            "Use it for a critical-difference diagram of many data sets.",
            "Do not use it to detect as much as possible: pairwise tests with Holm's correction "
            "detect more, and do not depend on the other learners.",
        ),
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
        explanation=(
            "Asks whether several classifiers are right equally often on one test set.",
            "Use it for right-or-wrong results on the same instances.",
            "Do not use it to find out which classifiers differ: it answers only for all of them "
            "together.",
        ),
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
        explanation=(
            "Asks whether several classifiers are right equally often on one test set, with an F "
            "statistic.",
            "Use it as an alternative to cochran-q that allows for different agreement between "
            "pairs.",
            "Do not use it to find out which classifiers differ: it answers only for all of them "
            "together.",
        ),
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
        explanation=(
            "Asks for each learner whether its mean loss over data sets is smaller than chance "
            "would give.",
            "Use it for several data sets with losses on the same scale; it needs no normal "
            "distribution.",
            "Do not use it on one data set.",
        ),
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
        explanation=(
            "Asks for each stochastic learner whether its mean loss over data sets is smaller than "
            "chance would give, with intervals for repeated fits.",
            "Use it if every fit was repeated with other seeds.",
            "Do not use it without repetitions; it may also leave a question open.",
        ),
        function="bestofk.stats.multiple.interval_bootstrap:bootstrap_b",
        summary="bootstrap-a on intervals of repetitions; verdicts may be inconclusive",
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
