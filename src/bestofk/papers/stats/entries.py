"""Entries of the tests that only the papers use."""

from __future__ import annotations

from bestofk._base.registry import Assumption
from bestofk.stats.multiple.registry import BLOCKS, INDEPENDENT_BLOCKS, SPLITS, MultipleTest
from bestofk.stats.pairwise.entry import (
    NORMAL,
    SHARED_ROWS_CORRECTED,
    SHARED_ROWS_IGNORED,
    Caution,
    PairwiseTest,
)

_EQUAL_SAMPLES = Assumption(
    claim="The losses of all learners are normal and independent, with equal variances.",
    check="equal variances",
    why="learners tested on the same folds are not independent samples",
)
_SAME_SPREAD = Assumption(
    claim="All differences between learners are normal with equal variances (sphericity).",
    check="cannot be checked",
    why="The correction of Greenhouse and Geisser allows for unequal variances.",
)
_EXCHANGEABLE = Assumption(
    claim="Equal learners are exchangeable within every data set.",
    check="cannot be checked",
    why="The data sets must be independent of each other.",
)

MULTIPLE_TESTS = (
    MultipleTest(
        name="anova",
        explanation=(
            "Asks whether the mean losses of all learners are equal, with each learner's losses as "
            "a separate sample.",
            "Use it to repeat published results that use this test.",
            "Do not use it on common folds: it ignores that the learners were tested on the same "
            "rows.",
        ),
        function="bestofk.papers.stats.analysis_of_variance:anova",
        summary="one-way analysis of variance, each learner's losses as a separate sample",
        covers=SPLITS,
        paper="Fisher 1925, Statistical methods for research workers; Yildiz and Alpaydin 2006",
        shape="(K, L)",
        batch=True,
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
        function="bestofk.papers.stats.analysis_of_variance:repeated_measures_anova",
        summary="analysis of variance without the block effects, with sphericity corrections",
        covers=BLOCKS,
        paper="Greenhouse and Geisser 1959, On methods in the analysis of profile data",
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
        function="bestofk.papers.stats.range_tests:newman_keuls",
        summary="neighbouring means that range tests of decreasing size do not separate",
        covers=SPLITS,
        paper="Newman 1939, The distribution of range; Keuls 1952, The studentized range",
        shape="(K, L)",
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
        function="bestofk.papers.stats.range_tests:duncan",
        summary="as newman-keuls, with larger levels for larger groups: many false claims",
        covers=SPLITS,
        paper="Duncan 1955, Multiple range and multiple F tests",
        shape="(K, L)",
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
        function="bestofk.papers.stats.range_tests:tukey",
        summary="honestly significant differences of all pairs by one range test",
        covers=SPLITS,
        paper="Tukey 1949, Comparing individual means in the analysis of variance",
        shape="(K, L)",
        called="Tukey's honestly significant difference",
        citations=("tukey1949comparing",),
        assumptions=(_EQUAL_SAMPLES,),
        interval="the studentized range times the standard error",
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
        function="bestofk.papers.stats.analysis_of_variance:looney",
        summary="right answers of K classifiers on one test set, F and F+ with epsilon",
        covers=("test-set",),
        paper="Looney 1988, A statistical technique for comparing the accuracies of several "
        "classifiers",
        shape="(K, N) correct",
        zero_one=True,
        called="Looney's F test",
        citations=("looney1988statistical",),
        assumptions=(INDEPENDENT_BLOCKS,),
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
        function="bestofk.papers.stats.bootstrap:bootstrap_a",
        summary="each learner's mean loss against learners permuted within data sets, exact",
        covers=("datasets",),
        paper="Otero et al. 2013, Bootstrap analysis of multiple repetitions of experiments using "
        "an interval-valued multiple comparison procedure",
        shape="(A, D, F, R)",
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
        function="bestofk.papers.stats.interval_bootstrap:bootstrap_b",
        summary="bootstrap-a on intervals of repetitions; verdicts may be inconclusive",
        covers=("datasets",),
        paper="Otero et al. 2013, Bootstrap analysis of multiple repetitions of experiments using "
        "an interval-valued multiple comparison procedure",
        shape="(A, D, F, R)",
        called="Bootstrap-B",
        citations=("otero2014bootstrap",),
        assumptions=(_EXCHANGEABLE,),
    ),
)

_BOUCKAERT = "Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests"
_SHARED_ROWS_CALIBRATED = Assumption(
    claim=SHARED_ROWS_CORRECTED.claim,
    check="by design",
    why="The degrees of freedom were set to {df} instead of those for independent folds.",
    when="df given",
)
_SHARED_ROWS_UNLESS_CALIBRATED = Assumption(
    claim=SHARED_ROWS_IGNORED.claim,
    check=SHARED_ROWS_IGNORED.check,
    why=SHARED_ROWS_IGNORED.why,
    when="df not given",
)


def _variant(
    name: str, summary: str, sample: str, *, one_sample: bool = False, percent: int | None = None
) -> PairwiseTest:
    """Return one of Bouckaert's tests.

    `percent` is the measured error rate with its default df, if it exceeds the level
    (studies/results/tests.csv).
    """
    return PairwiseTest(
        name=name,
        explanation=(
            "Compares two learners over repeated cross-validation on one data set by a t test on "
            f"{sample}.",
            "Use it with the calibrated df (--set df=10) to repeat published results.",
            "Do not use it without calibration: folds and runs share training rows, so it finds "
            "differences too often.",
        ),
        historical=True,
        function="bestofk.papers.stats.repeated_kfold:repeated_kfold_t",
        summary=summary,
        covers=("repeated-kfold",),
        paper=_BOUCKAERT,
        axes=2,
        called=f"the repeated k-fold t test '{name}'",
        citations=("bouckaert2003choosing",),
        assumptions=(_SHARED_ROWS_CALIBRATED, _SHARED_ROWS_UNLESS_CALIBRATED, NORMAL),
        arguments={"variant": name},
        published_df="bestofk.papers.stats.published_df:df_of_design",
        cautions=()
        if percent is None
        else (
            Caution(
                sign="df not calibrated",
                rates={1: percent},
                advice='use test_options={"df": "calibrated"} (--set df=calibrated)',
            ),
        ),
        curtailed="plain" if one_sample else "",
    )


PAIRWISE_TESTS = (
    PairwiseTest(
        name="resampled-t",
        explanation=(
            "Compares the mean losses of two learners over random splits, as if the splits were "
            "independent.",
            "Use it only to repeat published results that use this test.",
            "Do not use it to decide: splits share training rows, so it finds differences between "
            "equal learners far too often; use corrected-resampled-t.",
        ),
        historical=True,
        function="bestofk.papers.stats.repeated_kfold:resampled_t",
        summary="paired t on random splits treated as independent (rejects far too often)",
        covers=("resample", "bootstrap"),
        paper="Dietterich 1998, Approximate statistical tests",
        cautions=(Caution(sign="dependent splits", rates={1: 15}),),
        called="the resampled paired t test",
        citations=("dietterich1998approximate",),
        assumptions=(SHARED_ROWS_IGNORED, NORMAL),
    ),
    _variant(
        "use-all-data",
        "all runs x folds differences as one sample",
        "all differences of all runs as one sample",
        one_sample=True,
        percent=55,
    ),
    _variant(
        "folds", "mean of every run as a sample", "the mean differences of the runs", percent=60
    ),
    _variant(
        "folds-averaged-var",
        "grand mean over the average variance within runs",
        "the mean of all differences, with the average variance within runs",
    ),
    _variant(
        "runs",
        "mean of every fold number as a sample",
        "the mean differences of the fold numbers",
        percent=51,
    ),
    _variant(
        "runs-averaged-var",
        "grand mean over the average variance within fold numbers",
        "the mean of all differences, with the average variance within fold numbers",
    ),
    _variant(
        "sorted-runs",
        "folds sorted within each run, mean of every rank as a sample",
        "the mean differences of the ranks of the folds within each run",
    ),
    _variant(
        "sorted-runs-averaged-var",
        "as runs-averaged-var, on sorted folds",
        "the mean of all differences, with the average variance within ranks of folds",
        percent=36,
    ),
    _variant(
        "folds-averaged-t",
        "average of the t statistics of the runs",
        "every run, and averages their t statistics",
    ),
    _variant(
        "runs-averaged-t",
        "average of the t statistics of the fold numbers",
        "every fold number, and averages their t statistics",
    ),
    _variant(
        "sorted-runs-averaged-t",
        "as runs-averaged-t, on sorted folds",
        "every rank of the folds, and averages their t statistics",
        percent=44,
    ),
)
