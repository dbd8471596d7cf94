"""The registry of pairwise tests, and that of the tests on clusters of instances."""

from __future__ import annotations

from bestofk._base.registry import Assumption, Registry
from bestofk.stats.pairwise.differences import (
    smallest_cluster_pvalue,
    smallest_mcnemar_pvalue,
    smallest_pvalue,
)
from bestofk.stats.pairwise.entry import (
    DIFFERENT_HALVES,
    EITHER_AHEAD,
    ENOUGH_UNITS,
    GROUPS_AS_UNITS,
    INDEPENDENT_RUNS,
    INDEPENDENT_UNITS,
    MANY_OF_EACH_CLASS,
    MEASURED_ON_PARTS,
    NORMAL,
    NORMAL_UNITS,
    SAME_TEST_SET,
    SHARED_ROWS_CORRECTED,
    SHARED_ROWS_IGNORED,
    SKEWED_UNITS,
    SMOOTH_METRIC,
    STABLE_LEARNERS,
    STATIONARY,
    SYMMETRIC,
    WINDOWS,
    Caution,
    PairwiseTest,
)

_NADEAU = "Nadeau and Bengio 2003, Inference for the generalization error"
_BATES = (
    "Bates, Hastie and Tibshirani 2023, Cross-validation: what does it estimate and how well does "
    "it do it?"
)


_UNSTABLE = Caution(sign="unstable learners", rates={1: 14})
"""Measured by ``python studies/default_plan.py``."""
_STABLE = (
    "This test is for stable learners; trees and nearest neighbours need a plan like 5x5+nested."
)


_EXTREME = Caution(sign="extremely skewed", rates={5: 21, 12: 14, 30: 11, 200: 10})
_SKEWED_T = Caution(
    sign="skewed",
    rates={5: 19, 12: 16, 30: 11, 60: 10, 120: 8},
    advice="skew-corrected-t allows for it",
)
_SKEWED_FLIPS = Caution(
    sign="skewed",
    rates={5: 0, 8: 15, 12: 15, 30: 12, 60: 10, 200: 7},
    advice="skew-corrected-t and cluster-t allow for it",
)
_SKEWED_RUNS = Caution(
    sign="skewed",
    rates={3: 14, 5: 16, 10: 13, 30: 10, 100: 8},
    advice="skew-corrected-welch-t allows for it",
)
_ONE_END = Caution(sign="scores at one end", rates={5: 35, 8: 26, 12: 16, 20: 9})
_DEPENDENT = Caution(
    sign="autocorrelated",
    rates={20: 10, 30: 16, 50: 26, 80: 52, 90: 66, 95: 77},
    advice="ewc-t allows for it",
)
_DEPENDENT_WINDOWS = Caution(
    sign="autocorrelated",
    rates={50: 5, 70: 16, 80: 27, 90: 47, 95: 63},
    advice="ewc-t allows for it",
)
_DEPENDENT_FORECASTS = Caution(
    sign="autocorrelated",
    rates={50: 8, 80: 14, 90: 27, 95: 44},
    advice="ewc-t allows for it",
)
_SLOW = Caution(
    sign="slow changes",
    rates={50: 28, 100: 20, 200: 13},
    advice="a longer series would show more",
)
"""Rates of studies/results: cautions.md, and for tests that ignore skewness or order skewed.csv and
series.md."""

# Tests on folds and random splits of one data set

SPLIT_TESTS = (
    PairwiseTest(
        name="corrected-repeated-kfold-t",
        explanation=(
            "Compares the mean losses of two learners over all folds of repeated cross-validation "
            "on one data set.",
            "Use it for stable learners, such as linear models, because it accounts for the "
            "training rows that folds share.",
            "Do not rely on it for unstable learners such as trees and nearest neighbours: use "
            "nested-cv-t.",
        ),
        function="bestofk.stats.pairwise.resampled:corrected_repeated_kfold_t",
        summary="paired t on all folds of all runs, variance corrected for shared training rows",
        covers=("repeated-kfold", "kfold"),
        paper="Bouckaert and Frank 2004, Evaluating the replicability of significance tests",
        axes=2,
        curtailed="corrected",
        widened="skewed rows",
        note=_STABLE,
        called="the corrected repeated k-fold cross-validation t test",
        citations=("bouckaert2004evaluating", "nadeau2003inference"),
        assumptions=(SHARED_ROWS_CORRECTED, GROUPS_AS_UNITS, NORMAL),
        automatic={
            "repeated-kfold": "it corrects the variance for training rows that folds and runs "
            "share",
            "kfold": "it corrects the variance for training rows that the folds share",
        },
        power="corrected t",
    ),
    PairwiseTest(
        name="5x2cv-t",
        explanation=(
            "Compares two learners on five random halvings of one data set, each half used once "
            "for training and once for testing.",
            "Use it to repeat published results that use this test.",
            "Do not use it for new work: its verdict depends on which fold comes first, and "
            "5x2cv-f does not.",
        ),
        function="bestofk.stats.pairwise.five_by_two:five_by_two_t",
        summary="first difference over the spread within five halvings, t with 5 df",
        covers=("5x2",),
        paper="Dietterich 1998, Approximate statistical tests",
        axes=2,
        called="the 5x2cv paired t test",
        citations=("dietterich1998approximate",),
        assumptions=(DIFFERENT_HALVES, NORMAL),
        power="simulated",
        note="The numerator of 5x2cv-t is the first fold listed; 5x2cv-f does not depend on the "
        "order.",
    ),
    PairwiseTest(
        name="5x2cv-f",
        explanation=(
            "Compares two learners on five random halvings of one data set, with all ten "
            "differences at once.",
            "Use it if fits are expensive, because it needs only ten fits per learner.",
            "Do not use it if you need to detect small differences: models are trained on half of "
            "the rows, and more runs detect more.",
        ),
        function="bestofk.stats.pairwise.five_by_two:five_by_two_f",
        summary="all ten squared differences over the spread within halvings, F(10, 5); the mean "
        "gives the side",
        covers=("5x2",),
        paper="Alpaydin 1999, Combined 5x2 cv F test",
        axes=2,
        called="the combined 5x2cv F test",
        citations=("alpaydin1999combined",),
        assumptions=(DIFFERENT_HALVES, NORMAL),
        automatic={
            "5x2": "the two halves of a run share no training rows, and the order of the folds "
            "does not matter",
        },
        power="simulated",
        note=_STABLE,
    ),
    PairwiseTest(
        name="corrected-resampled-t",
        explanation=(
            "Compares the mean losses of two learners over random splits of one data set into "
            "training and test rows.",
            "Use it for random splits, bootstrap samples or windows in time with stable learners, "
            "because it accounts for shared training rows.",
            "Do not rely on it for unstable learners such as trees and nearest neighbours.",
        ),
        function="bestofk.stats.pairwise.resampled:corrected_resampled_t",
        summary="paired t on random splits, variance corrected for shared training rows",
        covers=("resample", "bootstrap", "time"),
        paper=_NADEAU,
        curtailed="corrected",
        widened="skewed rows",
        cautions=(_DEPENDENT_WINDOWS,),
        note=_STABLE,
        called="the corrected resampled t test",
        citations=("nadeau2003inference",),
        assumptions=(SHARED_ROWS_CORRECTED, GROUPS_AS_UNITS, WINDOWS, NORMAL),
        automatic={
            "resample": "it corrects the variance for training rows that the splits share",
            "bootstrap": "it corrects the variance for training rows that the samples share",
            "time": "each window counts as one number because successive rows depend on each "
            "other, and it corrects the variance for training rows that windows share",
        },
        power="corrected t",
    ),
    PairwiseTest(
        name="kfold-t",
        explanation=(
            "Compares the mean losses of two learners over the folds of one cross-validation, as "
            "if the folds were independent.",
            "Use it only to repeat published results that use this test.",
            "Do not use it to decide: folds share training rows, so it finds differences too "
            "often; use corrected-repeated-kfold-t.",
        ),
        function="bestofk.stats.pairwise.resampled:kfold_t",
        summary="paired t on the k folds of one run, treated as independent",
        covers=("kfold",),
        paper="Dietterich 1998, Approximate statistical tests",
        cautions=(Caution(sign="dependent splits", rates={1: 11}),),
        called="the k-fold cross-validated paired t test",
        citations=("dietterich1998approximate",),
        assumptions=(SHARED_ROWS_IGNORED, NORMAL),
    ),
    PairwiseTest(
        name="nested-cv-t",
        explanation=(
            "Compares the mean losses of two learners over runs of cross-validation on one data "
            "set, with a variance measured on folds that are left out in pairs.",
            "Use it for any learners on one data set, also for unstable ones such as trees; it is "
            "the default there.",
            "Do not use it with fewer than three runs, because its variance is then imprecise.",
        ),
        function="bestofk.stats.pairwise.nested_cv:nested_cv_t",
        summary="mean of all runs over a variance from pairs of folds left out together; for "
        "unstable learners",
        covers=("nested",),
        paper=_BATES,
        curtailed="nested",
        called="a t test of learners based on nested cross-validation (bestofk's variant; its "
        "error rates are measured in the documentation of bestofk)",
        citations=("bates2023cross",),
        assumptions=(MEASURED_ON_PARTS, GROUPS_AS_UNITS, NORMAL),
        automatic={
            "nested": "its variance estimate stays valid for unstable learners such as trees",
        },
        widened="skewed rows",
        cautions=(_UNSTABLE,),
    ),
    PairwiseTest(
        name="nested-cv-z",
        explanation=(
            "Compares the two models that result from training on all rows, not the learners.",
            "Use it if you will deploy exactly these models and never train again.",
            "Do not use it to choose a learner for other data: other rows would give other models.",
        ),
        function="bestofk.stats.pairwise.nested_cv:nested_cv_z",
        summary="nested cross-validation as published, about the fitted models",
        about="fitted models",
        covers=("nested",),
        paper=_BATES,
        called="nested cross-validation",
        citations=("bates2023cross",),
        assumptions=(MEASURED_ON_PARTS, NORMAL),
    ),
    PairwiseTest(
        name="bayle-cv-z",
        explanation=(
            "Compares the models of leave-one-out cross-validation by their losses on single rows.",
            "Use it for stable learners if the question is about these fitted models.",
            "Do not use it to compare learners: it finds differences between equal learners, and "
            "more if they are unstable.",
        ),
        function="bestofk.stats.pairwise.resampled:bayle_cv_z",
        summary="z from the losses of single rows in leave-one-out, about the fitted models",
        about="fitted models",
        covers=("loo",),
        paper="Bayle et al. 2020, Cross-validation confidence intervals for test error",
        called="the cross-validation interval of single rows",
        citations=("bayle2020cross",),
        assumptions=(STABLE_LEARNERS,),
    ),
)


# Tests on independent units: data sets, or the instances of one test set

UNIT_TESTS = (
    PairwiseTest(
        name="permutation",
        explanation=(
            "Compares the mean losses of two learners over data sets or test instances, by "
            "flipping the signs of their differences.",
            "Use it for one test set, or for data sets with losses on the same scale; it needs no "
            "normal distribution.",
            "Do not use it if a few data sets have much larger differences than the others: use "
            "wilcoxon.",
        ),
        function="bestofk.stats.pairwise.permutation_tests:permutation",
        summary="exact null distribution of the mean difference under all sign flips",
        covers=("datasets", "test-set", "time"),
        paper="Fisher 1935, The design of experiments; Otero et al. 2013, post-hoc of Bootstrap-A",
        called="the exact permutation test of the mean difference",
        citations=("fisher1935design", "otero2014bootstrap"),
        assumptions=(*INDEPENDENT_UNITS, SYMMETRIC, ENOUGH_UNITS),
        power="simulated",
        cautions=(_SKEWED_FLIPS, _DEPENDENT),
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="paired-t",
        explanation=(
            "Compares the mean losses of two learners over independent data sets or test "
            "instances.",
            "Use it if the differences are roughly normal, or if there are too few data sets for "
            "an exact test.",
            "Do not use it on folds of one data set, which are not independent.",
        ),
        function="bestofk.stats.pairwise.paired_tests:paired_t",
        summary="paired t on the data sets, with an allowance for coarse losses",
        covers=("datasets", "test-set", "time"),
        paper="Student 1908, The probable error of a mean",
        called="the paired t test",
        citations=("student1908probable",),
        assumptions=(*INDEPENDENT_UNITS, NORMAL_UNITS),
        cautions=(_SKEWED_T, _DEPENDENT),
    ),
    PairwiseTest(
        name="mcnemar",
        explanation=(
            "Compares two classifiers on one test set by the instances that only one of them gets "
            "wrong.",
            "Use it for right-or-wrong results of two fitted models on the same instances.",
            "Do not use it for graded scores, or to compare learners that would be trained again "
            "on other data.",
        ),
        function="bestofk.stats.pairwise.mcnemar_tests:mcnemar",
        summary="instances that only one of the two learners gets wrong",
        covers=("test-set",),
        paper="McNemar 1947, Note on the sampling error of the difference between correlated "
        "proportions",
        called="McNemar's test",
        citations=("mcnemar1947note",),
        assumptions=(*INDEPENDENT_UNITS, ENOUGH_UNITS),
        automatic={
            "test-set": "the losses are right or wrong on the same instances",
        },
        power="disagreements",
        zero_one=True,
        smallest_pvalue=smallest_mcnemar_pvalue,
        arguments={"exact": "auto"},
    ),
    PairwiseTest(
        name="skew-corrected-t",
        explanation=(
            "Compares the mean losses of two learners over several data sets.",
            "Use it for 12 or more data sets; it allows for skewed differences.",
            "Do not use it on folds of one data set, which share training rows, and take a "
            "result of fewer than 12 data sets with caution.",
        ),
        function="bestofk.stats.pairwise.paired_tests:skew_corrected_t",
        summary="paired t on the data sets, corrected for skewed differences",
        covers=("datasets", "test-set", "time"),
        paper="Hall 1992, On the removal of skewness by transformation",
        called="the skewness-corrected paired t test",
        citations=("hall1992removal", "student1908probable"),
        assumptions=(*INDEPENDENT_UNITS, SKEWED_UNITS),
        automatic={
            "datasets": "it compares the means over data sets and allows for skewed differences",
            "test-set": "it compares the means over instances and allows for skewed differences",
        },
        power="simulated",
        widened="skewed units",
        cautions=(_EXTREME, _DEPENDENT),
    ),
    PairwiseTest(
        name="ewc-t",
        explanation=(
            "Compares the mean losses of two models over rows or windows in order of time.",
            "Use it for forecasts, whose successive errors depend on each other.",
            "Do not use it on short series: with the information of fewer than 20 independent rows "
            "it makes too many wrong claims.",
        ),
        function="bestofk.stats.pairwise.cosine:ewc_t",
        summary="t test of the mean over losses in order of time, by equal-weighted cosines",
        covers=("time",),
        paper="Lazarus, Lewis, Stock and Watson 2018, HAR inference: recommendations for practice",
        called="the equal-weighted cosine test",
        citations=("lazarus2018har",),
        assumptions=(STATIONARY, NORMAL_UNITS),
        automatic={
            "time": "its variance allows for successive losses that depend on each other",
        },
        power="unknown",
        at_least_units=4,
        widened="dependent rows",
        cautions=(_SLOW,),
    ),
    PairwiseTest(
        name="diebold-mariano",
        explanation=(
            "Compares the mean losses of two forecasts in order of time.",
            "Use it if reviewers ask for it; state the horizon of the forecasts.",
            "Do not use it on series that stay above or below their mean for long: ewc-t makes "
            "fewer wrong claims there.",
        ),
        function="bestofk.stats.pairwise.cosine:diebold_mariano",
        summary="Diebold-Mariano t test of two forecasts with the correction of Harvey, Leybourne "
        "and Newbold",
        covers=("time",),
        paper="Harvey, Leybourne and Newbold 1997, Testing the equality of prediction mean squared "
        "errors",
        called="the Diebold-Mariano test",
        citations=("diebold1995comparing", "harvey1997testing"),
        assumptions=(STATIONARY, NORMAL_UNITS),
        power="unknown",
        at_least_units=4,
        cautions=(_DEPENDENT_FORECASTS, _SLOW),
    ),
    PairwiseTest(
        name="wilcoxon",
        explanation=(
            "Compares two learners over data sets by the ranks of their differences.",
            "Use it for several data sets with different scales; no single data set dominates.",
            "Do not use it on fewer than six data sets, because it can then never reach 5 %, or on "
            "folds of one data set.",
        ),
        function="bestofk.stats.pairwise.signed_ranks:wilcoxon",
        summary="signed ranks of the differences, exact with ties",
        covers=("datasets", "test-set"),
        paper="Wilcoxon 1945, Individual comparisons by ranking methods",
        called="Wilcoxon's signed-rank test",
        citations=("wilcoxon1945individual",),
        assumptions=(*INDEPENDENT_UNITS, SYMMETRIC, ENOUGH_UNITS),
        estimand="typical",
        power="simulated",
        curtailed="ranks",
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="sign",
        explanation=(
            "Counts on how many data sets or instances each of two learners is better.",
            "Use it if only the direction of a difference can be trusted, not its size.",
            "Do not use it if the sizes are comparable: wilcoxon uses them and detects more.",
        ),
        function="bestofk.stats.pairwise.paired_tests:sign",
        summary="wins against losses, ties dropped, exact binomial",
        covers=("datasets", "test-set"),
        paper="Demsar 2006, Statistical comparisons of classifiers over multiple data sets",
        called="the sign test",
        citations=("demsar2006statistical",),
        assumptions=(*INDEPENDENT_UNITS, EITHER_AHEAD, ENOUGH_UNITS),
        estimand="typical",
        power="unknown",
        curtailed="signs",
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="delong",
        explanation=(
            "Compares the areas under the ROC curves of two fitted models on one test set.",
            "Use it if both models scored the same rows.",
            "Do not use it for a claim about learners: other training rows give other models.",
        ),
        function="bestofk.stats.pairwise.one_test_set:delong",
        summary="areas under the ROC curve of two models on the same rows",
        covers=("test-set-auc",),
        paper="DeLong, DeLong and Clarke-Pearson 1988, Comparing the areas under two or more "
        "correlated receiver operating characteristic curves",
        called="DeLong's test",
        citations=("delong1988comparing",),
        assumptions=(INDEPENDENT_UNITS[0], MANY_OF_EACH_CLASS),
        automatic={
            "test-set-auc": "its variance allows for the correlation of two areas on the same "
            "instances",
        },
        power="unknown",
    ),
    PairwiseTest(
        name="jackknife-t",
        explanation=(
            "Compares two fitted models on one test set by any metric, such as F1 or R².",
            "Use it for metrics that are not a mean over rows.",
            "Do not use it with very few rows of a class, or for a claim about learners.",
        ),
        function="bestofk.stats.pairwise.one_test_set:jackknife_t",
        summary="any metric of two models on the same rows, with jackknife standard errors",
        covers=("test-set-metric", "test-set-auc"),
        paper="Tukey 1958, Bias and confidence in not quite large samples",
        called="the t test with the jackknife standard error",
        citations=("tukey1958bias",),
        assumptions=(INDEPENDENT_UNITS[0], SMOOTH_METRIC),
        automatic={
            "test-set-metric": "it applies to any smooth metric of the instances together",
        },
    ),
)

# Tests on independent training runs

_RUNS_SHARE_A_TEST_SET = (
    "The runs share one test set, so the result is about the randomness of training and not about "
    "new data."
)
RUN_TESTS = (
    PairwiseTest(
        name="skew-corrected-welch-t",
        explanation=(
            "Compares the mean scores of independent training runs of two models on one test set.",
            "Use it for runs with different seeds; the numbers of runs may differ, and it allows "
            "for skewed scores.",
            "Do not use it for a claim about other data: it covers only the training randomness.",
        ),
        function="bestofk.stats.pairwise.welch:skew_corrected_welch_t",
        summary="t on independent training runs, not paired, corrected for skewed losses",
        covers=("seeds",),
        paper="Zhou and Dinh 2005, Nonparametric confidence intervals for the one- and two-sample "
        "problems",
        called="Welch's t test, corrected for skewness",
        citations=("zhou2005nonparametric", "welch1947generalization"),
        assumptions=(INDEPENDENT_RUNS, SAME_TEST_SET, SKEWED_UNITS),
        automatic={
            "seeds": "runs of different learners are independent, so they are not paired",
        },
        power="unknown",
        widened="skewed units",
        cautions=(_EXTREME,),
        note=_RUNS_SHARE_A_TEST_SET,
    ),
    PairwiseTest(
        name="welch-t",
        explanation=(
            "Compares the mean scores of independent training runs of two models on one test set.",
            "Use it for runs with different seeds if reviewers ask for it; the numbers of runs may "
            "differ.",
            "Do not use it for a claim about other data: it covers only the training randomness.",
        ),
        function="bestofk.stats.pairwise.welch:welch_t",
        summary="t on independent training runs, not paired, variances may differ",
        covers=("seeds",),
        paper="Welch 1947, The generalization of Student's problem when several different "
        "population variances are involved",
        called="Welch's t test",
        citations=("welch1947generalization",),
        assumptions=(INDEPENDENT_RUNS, SAME_TEST_SET, NORMAL_UNITS),
        power="unknown",
        cautions=(_SKEWED_RUNS,),
        note=_RUNS_SHARE_A_TEST_SET,
    ),
)


# Bayesian tests

BAYESIAN_TESTS = (
    PairwiseTest(
        name="correlated-t",
        explanation=(
            "Gives the probability that one learner is better than another by more than a margin "
            "that matters, from cross-validation on one data set.",
            "Use it with --set rope=0.01 if you want probabilities instead of p-values.",
            "Do not read its probabilities as error rates: they hold only under its prior.",
        ),
        function="bestofk.stats.pairwise.bayesian:correlated_t",
        summary="posterior of the mean difference with a region of practical equivalence",
        covers=("repeated-kfold", "kfold", "resample", "bootstrap"),
        paper="Corani and Benavoli 2015, A Bayesian approach for comparing cross-validated "
        "algorithms on multiple data sets",
        called="the Bayesian correlated t test",
        citations=("corani2015bayesian",),
        assumptions=(SHARED_ROWS_CORRECTED, NORMAL),
        bayesian=True,
    ),
    PairwiseTest(
        name="signed-rank-bayes",
        explanation=(
            "Gives the probability that one learner is better than another by more than a margin "
            "that matters, over several data sets.",
            "Use it with --set rope=0.01 for ten data sets or more, for probabilities instead of "
            "p-values.",
            "Do not read its probabilities as error rates: they hold only under its prior.",
        ),
        function="bestofk.stats.pairwise.bayesian:signed_rank_bayes",
        summary="posterior of the signed rank statistic with a region of practical equivalence",
        covers=("datasets",),
        paper="Benavoli et al. 2014, A Bayesian Wilcoxon signed-rank test based on the Dirichlet "
        "process",
        called="the Bayesian signed-rank test",
        citations=("benavoli2014bayesian",),
        assumptions=(*INDEPENDENT_UNITS, SYMMETRIC),
        power="unknown",
        interval=False,
        bayesian=True,
        at_least_units=10,
    ),
    PairwiseTest(
        name="hierarchical-bayes",
        explanation=(
            "Gives the probability that one learner is better than another by more than a margin "
            "that matters on the next data set, from cross-validation on several data sets.",
            "Use it with --set rope=0.01 if you have the losses of all folds of several data sets.",
            "Do not read its probabilities as error rates: they hold only under its prior.",
        ),
        function="bestofk.stats.pairwise.hierarchical:hierarchical_bayes",
        summary="posterior of the next data set, from the folds within every data set",
        covers=("dataset-folds",),
        paper="Corani et al. 2017, Statistical comparison of classifiers through Bayesian "
        "hierarchical modelling",
        axes=3,
        called="the Bayesian hierarchical test",
        citations=("corani2017statistical",),
        assumptions=(SHARED_ROWS_CORRECTED, *INDEPENDENT_UNITS),
        power="unknown",
        interval=False,
        bayesian=True,
        at_least_units=3,
    ),
)


PAIRWISE_TESTS: Registry[PairwiseTest] = Registry(
    "pairwise test", *SPLIT_TESTS, *UNIT_TESTS, *RUN_TESTS, *BAYESIAN_TESTS
)

# Tests on clusters of instances

_CLUSTERS = Assumption(
    claim="Clusters of instances are independent of each other.",
    check="cannot be checked",
    why="Instances of one cluster may depend on each other in any way; without clusters, each "
    "instance counts as one.",
)
_SYMMETRIC = Assumption(
    claim="The cluster differences of two equal models are symmetric about 0.",
    check="cannot be checked",
    why="This holds if equal means that their answers are exchangeable.",
)

CLUSTERED_TESTS: Registry[PairwiseTest] = Registry(
    "test for clusters",
    PairwiseTest(
        name="cluster-t",
        explanation=(
            "Compares the mean scores of two models over items or clusters of items.",
            "Use it for graded scores and for clusters; it allows for skewed differences, and on "
            "few clusters it is at least as strict as cluster-sign-flip.",
            "Do not use it for right or wrong answers to unrelated items: use mcnemar.",
        ),
        function="bestofk.stats.pairwise.clustered:cluster_t",
        summary="t test of the mean over clusters, corrected for skewed differences",
        paper="Hall 1992, On the removal of skewness by transformation",
        called="the skewness-corrected t test over clusters",
        citations=("hall1992removal", "bell2002bias"),
        assumptions=(_CLUSTERS, SKEWED_UNITS),
        covers=("test-set",),
        automatic={
            "test-set": "it compares the mean scores and allows for skewed differences",
        },
        power="simulated",
        widened="skewed units",
        smallest_pvalue=smallest_cluster_pvalue,
        cautions=(_ONE_END,),
    ),
    PairwiseTest(
        name="cluster-sign-flip",
        explanation=(
            "Compares two models on related items, such as questions about one passage, by "
            "flipping the signs of whole clusters.",
            "Use it if equal models have exchangeable answers; it is then exact.",
            "Do not use it if large clusters may favour another model than small ones: use "
            "cluster-t.",
        ),
        function="bestofk.stats.pairwise.clustered:cluster_sign_flip",
        summary="exact null distribution of the mean difference if whole clusters flip their signs",
        paper="Fisher 1935, The design of experiments",
        called="the sign-flip test over clusters",
        citations=("fisher1935design",),
        assumptions=(_CLUSTERS, _SYMMETRIC),
        covers=("test-set",),
        power="simulated",
        cautions=(_SKEWED_FLIPS,),
        smallest_pvalue=smallest_pvalue,
    ),
)
"""Each test takes ``(a, b, clusters=, strata=, unit=, alternative=)``."""

# Tests on items of which some have human labels

_RANDOM_LABELS = Assumption(
    claim="The labelled items are a random sample of all items.",
    check="cannot be checked",
    why="Labels of hard or disputed items only would correct the judge for these items only.",
)

LABELLED_TESTS: Registry[PairwiseTest] = Registry(
    "test for labels",
    PairwiseTest(
        name="prediction-powered",
        explanation=(
            "Compares two models by human labels of some items, with the scores of a judge on all "
            "items.",
            "Use it with --truth if people labelled random items that a judge also scored.",
            "Do not use it if people labelled chosen items, such as the hard ones.",
        ),
        function="bestofk.stats.pairwise.judge_correction:prediction_powered",
        summary="t test of the mean by the labels, with the judge's scores as a covariate (PPI++)",
        paper="Angelopoulos, Duchi and Zrnic 2023, PPI++: efficient prediction-powered inference",
        called="the prediction-powered t test (PPI++)",
        citations=("angelopoulos2023ppi",),
        assumptions=(_RANDOM_LABELS, _CLUSTERS),
        covers=("test-set",),
        pair_by_pair=True,
        power="unknown",
    ),
)
