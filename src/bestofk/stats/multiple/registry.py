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

from bestofk._base.registry import Assumption, FunctionEntry, Registry, parameters_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MultipleTest(FunctionEntry):
    """A registered test of K learners."""

    covers: tuple[str, ...]
    shape: str = "(K, N)"
    zero_one: bool = False
    """The test takes right answers (1 or 0) on the instances of one test set, not losses."""
    assumptions: tuple[Assumption, ...] = ()
    """Assumptions of the test; if empty, the report says that they are not stated."""
    batch: bool = False
    """Leading axes of the input are separate tests."""
    first_step: str = ""
    """The registered test with the p-value of the first step, if this test has none itself."""
    interval: str = ""
    """How intervals of the differences are computed, in words; empty: there are none."""

    def takes(self, argument: str) -> bool:
        """Return whether the function takes this argument."""
        return argument in parameters_of(self.function)

    @property
    def sides(self) -> tuple[str, ...]:
        """The alternatives."""
        return ("two-sided",)

    @property
    def axes(self) -> int:
        """Number of axes of one table."""
        return self.shape.split(")")[0].count(",") + 1


SPLITS = ("kfold", "repeated-kfold", "5x2", "resample", "bootstrap")
BLOCKS = ("datasets", *SPLITS)

_INDEPENDENT_SAMPLES = Assumption(
    claim="The losses of all learners are independent samples from distributions of one shape.",
    check="doubtful",
    why="Learners tested on the same folds are not independent samples.",
)
INDEPENDENT_BLOCKS = Assumption(
    claim="The {units} are independent of each other.",
    check="cannot be checked",
    why="Folds of one data set share training rows and are not independent.",
)

MULTIPLE_TESTS: Registry[MultipleTest] = Registry(
    "test of K learners",
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
        covers=SPLITS,
        paper="Kruskal and Wallis 1952, Use of ranks in one-criterion variance analysis",
        shape="(K, L)",
        batch=True,
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
        covers=BLOCKS,
        paper="Friedman 1937, The use of ranks; Iman and Davenport 1980, Approximations of the "
        "critical region of the Friedman statistic",
        batch=True,
        called="Friedman's test with Iman and Davenport's F",
        citations=("friedman1937use", "iman1980approximations"),
        assumptions=(INDEPENDENT_BLOCKS,),
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
        covers=BLOCKS,
        paper="Nemenyi 1963, Distribution-free multiple comparisons; Demsar 2006, Statistical "
        "comparisons of classifiers over multiple data sets",
        called="Nemenyi's test",
        citations=("nemenyi1963distribution", "demsar2006statistical"),
        assumptions=(INDEPENDENT_BLOCKS,),
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
        shape="(K, N) correct",
        zero_one=True,
        batch=True,
        called="Cochran's Q test",
        citations=("cochran1950comparison",),
        assumptions=(INDEPENDENT_BLOCKS,),
    ),
)
