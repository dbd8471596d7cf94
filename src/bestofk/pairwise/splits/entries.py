"""The entries of the tests on folds and random splits of one data set."""

from __future__ import annotations

from bestofk.pairwise.assumptions import (
    DIFFERENT_HALVES,
    GROUPS_AS_UNITS,
    MEASURED_ON_PARTS,
    NORMAL,
    SHARED_ROWS_CALIBRATED,
    SHARED_ROWS_CORRECTED,
    SHARED_ROWS_IGNORED,
    SHARED_ROWS_UNLESS_CALIBRATED,
    STABLE_LEARNERS,
    WINDOWS,
)
from bestofk.pairwise.entry import Automatic, PairwiseTest, Remark

_T_INTERVAL = "quantiles of t times the standard error"
_Z_INTERVAL = "quantiles of the normal times the standard error"
_OWN_REFERENCE = "the differences at which the test does not reject"

_NADEAU = "Nadeau and Bengio 2003, Inference for the generalization error"
_BATES = (
    "Bates, Hastie and Tibshirani 2023, Cross-validation: what does it estimate and how well does "
    "it do it?"
)
_BOUCKAERT = "Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests"


def _variant(name: str, summary: str, *, one_sample: bool = False) -> PairwiseTest:
    return PairwiseTest(
        name=name,
        function="bestofk.pairwise.splits.repeated_kfold_t:repeated_kfold_t",
        summary=summary,
        covers=("repeated-kfold",),
        paper=_BOUCKAERT,
        axes=2,
        takes_df=True,
        takes_resolution=True,
        family="repeated-kfold-t",
        called=f"the repeated k-fold t test '{name}'",
        citations=("bouckaert2003choosing",),
        assumptions=(SHARED_ROWS_CALIBRATED, SHARED_ROWS_UNLESS_CALIBRATED, NORMAL),
        interval=_OWN_REFERENCE if name.endswith("averaged-t") else _T_INTERVAL,
        arguments={"variant": name},
        curtailed="plain" if one_sample else "",
    )


_UNSTABLE = (
    "For learners that depend much on which rows train them, such as nearest neighbours and trees, "
    "it is larger: 8 to 14 percent were measured for two learners and up to 23 for ten."
)
_AS_INDEPENDENT = (
    "This test takes dependent losses as independent, and is wrong far more often: equal learners "
    "were told apart in {share} percent."
)

SPLIT_TESTS = (
    PairwiseTest(
        name="corrected-repeated-kfold-t",
        function="bestofk.pairwise.splits.resampled_t:corrected_repeated_kfold_t",
        summary="paired t on all folds of all runs, variance corrected for shared training rows",
        covers=("repeated-kfold", "kfold"),
        paper="Bouckaert and Frank 2004, Evaluating the replicability of significance tests",
        doi="10.1007/978-3-540-24775-3_3",
        axes=2,
        takes_df=True,
        takes_test_share=True,
        takes_units=True,
        takes_resolution=True,
        curtailed="corrected",
        caution=_UNSTABLE,
        caution_for_unstable=True,
        family="resampled-t",
        called="the corrected repeated k-fold cross-validation t test",
        citations=("bouckaert2004evaluating", "nadeau2003inference"),
        assumptions=(SHARED_ROWS_CORRECTED, GROUPS_AS_UNITS, NORMAL),
        automatic=(
            Automatic(
                situation="repeated-kfold",
                why="its variance is corrected for training rows that folds and runs share",
            ),
            Automatic(
                situation="kfold",
                why="its variance is corrected for training rows that the folds share",
            ),
        ),
        interval=_T_INTERVAL,
        power="corrected t",
    ),
    PairwiseTest(
        name="5x2cv-t",
        function="bestofk.pairwise.splits.five_by_two:five_by_two_t",
        summary="first difference over the spread within five halvings, t with 5 df",
        covers=("5x2",),
        paper="Dietterich 1998, Approximate statistical tests",
        doi="10.1162/089976698300017197",
        axes=2,
        takes_resolution=True,
        family="five-by-two",
        called="the 5x2cv paired t test",
        citations=("dietterich1998approximate",),
        assumptions=(DIFFERENT_HALVES, NORMAL),
        interval=_T_INTERVAL,
        power="five by two t",
        remarks=(
            Remark(
                words="The 5x2cv-t test takes its numerator from the fold listed first: in another "
                "order of the runs and folds the verdict may be another. That of 5x2cv-f does not "
                "depend on it."
            ),
        ),
    ),
    PairwiseTest(
        name="5x2cv-f",
        function="bestofk.pairwise.splits.five_by_two:five_by_two_f",
        summary="all ten squared differences over the spread within halvings, F(10, 5); the mean "
        "gives the side",
        covers=("5x2",),
        paper="Alpaydin 1999, Combined 5x2 cv F test",
        doi="10.1162/089976699300016007",
        axes=2,
        takes_resolution=True,
        family="five-by-two",
        called="the combined 5x2cv F test",
        citations=("alpaydin1999combined",),
        assumptions=(DIFFERENT_HALVES, NORMAL),
        automatic=(
            Automatic(
                situation="5x2",
                why="the two halves of a run share no training row, and the order of the folds "
                "does not matter",
            ),
        ),
        interval=_OWN_REFERENCE,
        power="five by two F",
    ),
    PairwiseTest(
        name="corrected-resampled-t",
        function="bestofk.pairwise.splits.resampled_t:corrected_resampled_t",
        summary="paired t on random splits, variance corrected for shared training rows",
        covers=("resample", "bootstrap", "time"),
        paper="Nadeau and Bengio 2003, Inference for the generalization error",
        doi="10.1023/A:1024068626366",
        takes_df=True,
        needs_sizes=True,
        takes_units=True,
        takes_resolution=True,
        curtailed="corrected",
        caution=_UNSTABLE,
        family="resampled-t",
        called="the corrected resampled t test",
        citations=("nadeau2003inference",),
        assumptions=(SHARED_ROWS_CORRECTED, GROUPS_AS_UNITS, WINDOWS, NORMAL),
        automatic=(
            Automatic(
                situation="resample",
                why="its variance is corrected for training rows that the splits share",
            ),
            Automatic(
                situation="bootstrap",
                why="its variance is corrected for training rows that the samples share",
            ),
            Automatic(
                situation="time",
                why="each window counts as one number, since rows that follow each other depend on "
                "each other, and its variance is corrected for training rows that windows share",
            ),
        ),
        interval=_T_INTERVAL,
        power="corrected t",
    ),
    PairwiseTest(
        name="resampled-t",
        function="bestofk.pairwise.splits.resampled_t:resampled_t",
        summary="paired t on random splits as if they were independent (rejects far too often)",
        covers=("resample", "bootstrap"),
        paper="Dietterich 1998, Approximate statistical tests",
        doi="10.1162/089976698300017197",
        takes_df=True,
        takes_resolution=True,
        caution=_AS_INDEPENDENT.format(share=15),
        called="the resampled paired t test",
        citations=("dietterich1998approximate",),
        assumptions=(SHARED_ROWS_IGNORED, NORMAL),
        interval=_T_INTERVAL,
    ),
    PairwiseTest(
        name="kfold-t",
        function="bestofk.pairwise.splits.resampled_t:kfold_t",
        summary="paired t on the k folds of one run as if they were independent",
        covers=("kfold",),
        paper="Dietterich 1998, Approximate statistical tests",
        doi="10.1162/089976698300017197",
        takes_df=True,
        takes_resolution=True,
        caution=_AS_INDEPENDENT.format(share=11),
        family="resampled-t",
        called="the k-fold cross-validated paired t test",
        shorthand="t",
        citations=("dietterich1998approximate",),
        assumptions=(SHARED_ROWS_IGNORED, NORMAL),
        interval=_T_INTERVAL,
    ),
    _variant("use-all-data", "all runs x folds differences as one sample", one_sample=True),
    _variant("folds", "mean of every run as a sample"),
    _variant("folds-averaged-var", "grand mean over the average variance within runs"),
    _variant("runs", "mean of every fold number as a sample"),
    _variant("runs-averaged-var", "grand mean over the average variance within fold numbers"),
    _variant("sorted-runs", "folds sorted inside each run, mean of every rank as a sample"),
    _variant("sorted-runs-averaged-var", "as runs-averaged-var, on sorted folds"),
    _variant("folds-averaged-t", "average of the t statistics of the runs"),
    _variant("runs-averaged-t", "average of the t statistics of the fold numbers"),
    _variant("sorted-runs-averaged-t", "as runs-averaged-t, on sorted folds"),
    PairwiseTest(
        name="half-sampling-t",
        function="bestofk.pairwise.splits.half_sampling_t:half_sampling_t",
        summary="mean of all runs over the variance that random halves of the rows show",
        covers=("halves",),
        paper=_NADEAU,
        doi="10.1023/A:1024068626366",
        takes_df=True,
        subsets="halves",
        called="the t test with the variance from random halves of the rows",
        citations=("mccarthy1969pseudo", "nadeau2003inference"),
        assumptions=(MEASURED_ON_PARTS, NORMAL),
        automatic=(
            Automatic(
                situation="halves",
                why="its variance is what halves of the rows show, however unstable the learners",
            ),
        ),
        interval=_T_INTERVAL,
    ),
    PairwiseTest(
        name="pooled-half-sampling-t",
        function="bestofk.pairwise.splits.pooled_half_sampling_t:pooled_half_sampling_t",
        summary="corrected repeated k-fold t with one variance factor from halves for all pairs",
        covers=("halves",),
        paper=_NADEAU,
        doi="10.1023/A:1024068626366",
        axes=2,
        takes_df=True,
        subsets="halves",
        pooled=True,
        called="the corrected repeated k-fold cross-validation t test with one variance factor "
        "from random halves of the rows",
        citations=("nadeau2003inference",),
        assumptions=(MEASURED_ON_PARTS, NORMAL),
        interval=_T_INTERVAL,
    ),
    PairwiseTest(
        name="conservative-z",
        function="bestofk.pairwise.splits.conservative_z:conservative_z",
        summary="mean of all runs over the variance on half of the rows, taken for all of them",
        covers=("halves",),
        paper=_NADEAU,
        doi="10.1023/A:1024068626366",
        subsets="halves",
        called="the conservative Z test",
        citations=("nadeau2003inference",),
        assumptions=(MEASURED_ON_PARTS, NORMAL),
        interval=_Z_INTERVAL,
    ),
    PairwiseTest(
        name="nested-cv-t",
        function="bestofk.pairwise.splits.nested_cv:nested_cv_t",
        summary="mean of all runs over the variance that pairs of folds left out together show: "
        "for unstable learners",
        covers=("nested",),
        paper=_BATES,
        doi="10.1080/01621459.2023.2197686",
        takes_df=True,
        subsets="nested",
        family="nested-cv",
        called="the t test of nested cross-validation",
        citations=("bates2023cross",),
        assumptions=(MEASURED_ON_PARTS, GROUPS_AS_UNITS, NORMAL),
        automatic=(
            Automatic(
                situation="nested",
                why="its variance is what pairs of folds left out together show, however unstable "
                "the learners",
            ),
        ),
        interval=_T_INTERVAL,
    ),
    PairwiseTest(
        name="nested-cv-z",
        function="bestofk.pairwise.splits.nested_cv:nested_cv_z",
        summary="nested cross-validation as published, about the fitted models",
        covers=("nested",),
        paper=_BATES,
        doi="10.1080/01621459.2023.2197686",
        subsets="nested",
        family="nested-cv",
        called="nested cross-validation",
        citations=("bates2023cross",),
        assumptions=(MEASURED_ON_PARTS, NORMAL),
        interval=_Z_INTERVAL,
    ),
    PairwiseTest(
        name="bayle-cv-z",
        function="bestofk.pairwise.splits.bayle_cv_z:bayle_cv_z",
        summary="z from the losses of single rows in leave-one-out, about the fitted models",
        covers=("loo",),
        paper="Bayle et al. 2020, Cross-validation confidence intervals for test error",
        doi="10.48550/arXiv.2007.12671",
        called="the cross-validation interval of single rows",
        citations=("bayle2020cross",),
        assumptions=(STABLE_LEARNERS,),
        interval=_Z_INTERVAL,
    ),
)
