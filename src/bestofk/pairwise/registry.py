"""The pairwise tests: one entry each, read by the command line, the docs, the lab and the laws.

`covers` names the situations that a test was made for (see `bestofk.plans.design`):

=================  ==============================================================
``kfold``          one data set, one run of k folds
``repeated-kfold`` one data set, two or more runs of k folds
``5x2``            one data set, five runs of two folds
``resample``       one data set, random splits into training and test rows
``bootstrap``      one data set, bootstrap samples tested on the rows left out
``test-set``       one test set, one loss per instance
``datasets``       several data sets, one mean loss each
``halves``         one data set, runs of k folds, and cross-validation on random halves of it
``nested``         one data set, runs of k folds, and pairs of folds left out together
``loo``            one data set, leave-one-out: one loss per row
=================  ==============================================================

`axes` is the number of trailing axes that the function takes: 2 for (runs, folds), else 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bestofk.pairwise.smallest_pvalue import smallest_mcnemar_pvalue, smallest_pvalue
from bestofk.registry import FunctionEntry, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseTest(FunctionEntry):
    """What the library knows of one pairwise test."""

    covers: tuple[str, ...]
    axes: int = 1
    sides: tuple[str, ...] = ("two-sided", "greater", "less")
    takes_df: bool = False
    """The degrees of freedom may be given, as a number."""
    needs_sizes: bool = False
    """The function wants `n_train` and `n_test`."""
    takes_test_share: bool = False
    """The function takes `test_share`, the ratio n_test / n_train of the design."""
    takes_resolution: bool = False
    """The function takes `resolution`, the step of which all losses are multiples."""
    subsets: str = ""
    """``"halves"`` or ``"nested"``: the runs on parts of the rows that the test needs. The function
    takes their losses after those of all runs in one axis, or, where `pooled`, not at all."""
    pooled: bool = False
    """The function wants one variance factor, found from all pairs of the study together."""
    zero_one: bool = False
    """The losses must be 0 or 1 for every instance."""
    discrete: bool = False
    """The statistic has atoms: one-sided p-values add up to more than 1."""
    bayesian: bool = False
    """The result is a posterior: its `pvalue` promises no rate of errors."""
    at_least_units: int = 0
    """On fewer data sets the result is not to be relied on, and procedures refuse it."""
    random: bool = False
    """The function takes `random_state`."""
    smallest_pvalue: Callable[[int], float] | None = None
    """The smallest two-sided p-value that n units can give; None where any can come out."""
    caution: str = ""
    """What a verdict says of its error rate beyond the assumptions, as measured; may be empty."""
    arguments: Mapping[str, Any] = field(default_factory=dict)


_NADEAU = "Nadeau and Bengio 2003, Inference for the generalization error"
_BATES = (
    "Bates, Hastie and Tibshirani 2023, Cross-validation: what does it estimate and how well does "
    "it do it?"
)
_BOUCKAERT = "Bouckaert 2003, Choosing between two learning algorithms based on calibrated tests"


def _variant(name: str, summary: str) -> PairwiseTest:
    return PairwiseTest(
        name=name,
        function="bestofk.pairwise.splits.repeated_kfold_t:repeated_kfold_t",
        summary=summary,
        covers=("repeated-kfold",),
        paper=_BOUCKAERT,
        axes=2,
        takes_df=True,
        takes_resolution=True,
        arguments={"variant": name},
    )


_UNSTABLE = (
    "For learners that depend much on which rows train them, such as nearest neighbours and trees, "
    "it is larger: 8 to 14 percent were measured for two learners and up to 23 for ten."
)
_AS_INDEPENDENT = (
    "This test takes dependent losses as independent, and is wrong far more often: equal learners "
    "were told apart in {share} percent."
)

PAIRWISE_TESTS: Registry[PairwiseTest] = Registry(
    "pairwise test",
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
        takes_resolution=True,
        caution=_UNSTABLE,
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
    ),
    PairwiseTest(
        name="corrected-resampled-t",
        function="bestofk.pairwise.splits.resampled_t:corrected_resampled_t",
        summary="paired t on random splits, variance corrected for shared training rows",
        covers=("resample", "bootstrap"),
        paper="Nadeau and Bengio 2003, Inference for the generalization error",
        doi="10.1023/A:1024068626366",
        takes_df=True,
        needs_sizes=True,
        takes_resolution=True,
        caution=_UNSTABLE,
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
    ),
    _variant("use-all-data", "all runs x folds differences as one sample"),
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
    ),
    PairwiseTest(
        name="conservative-z",
        function="bestofk.pairwise.splits.conservative_z:conservative_z",
        summary="mean of all runs over the variance on half of the rows, taken for all of them",
        covers=("halves",),
        paper=_NADEAU,
        doi="10.1023/A:1024068626366",
        subsets="halves",
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
    ),
    PairwiseTest(
        name="nested-cv-z",
        function="bestofk.pairwise.splits.nested_cv:nested_cv_z",
        summary="nested cross-validation as published, about the fitted models",
        covers=("nested",),
        paper=_BATES,
        doi="10.1080/01621459.2023.2197686",
        subsets="nested",
    ),
    PairwiseTest(
        name="bayle-cv-z",
        function="bestofk.pairwise.splits.bayle_cv_z:bayle_cv_z",
        summary="z from the losses of single rows in leave-one-out, about the fitted models",
        covers=("loo",),
        paper="Bayle et al. 2020, Cross-validation confidence intervals for test error",
        doi="10.48550/arXiv.2007.12671",
    ),
    PairwiseTest(
        name="permutation",
        function="bestofk.pairwise.units.permutation:permutation",
        summary="exact null of the mean difference under all sign flips",
        covers=("datasets", "test-set"),
        paper="Fisher 1935, The design of experiments; Otero et al. 2013, post-hoc of Bootstrap-A",
        doi="10.1016/j.jcss.2013.03.009",
        discrete=True,
        random=True,
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="paired-t",
        function="bestofk.pairwise.units.paired_t:paired_t",
        summary="paired t on the data sets; coarse losses never look certain",
        covers=("datasets", "test-set"),
        paper="Student 1908, The probable error of a mean",
        doi="10.2307/2331554",
        takes_resolution=True,
    ),
    PairwiseTest(
        name="wilcoxon",
        function="bestofk.pairwise.units.wilcoxon:wilcoxon",
        summary="signed ranks of the differences, exact with ties",
        covers=("datasets", "test-set"),
        paper="Wilcoxon 1945, Individual comparisons by ranking methods",
        doi="10.2307/3001968",
        discrete=True,
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="sign",
        function="bestofk.pairwise.units.sign:sign",
        summary="wins against losses, ties dropped, exact binomial",
        covers=("datasets", "test-set"),
        paper="Demsar 2006, Statistical comparisons of classifiers over multiple data sets",
        discrete=True,
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="mcnemar",
        function="bestofk.pairwise.units.mcnemar:mcnemar",
        summary="instances that only one of the two gets wrong",
        covers=("test-set",),
        paper="McNemar 1947, Note on the sampling error of the difference between correlated "
        "proportions",
        doi="10.1007/BF02295996",
        zero_one=True,
        discrete=True,
        smallest_pvalue=smallest_mcnemar_pvalue,
    ),
    PairwiseTest(
        name="correlated-t",
        function="bestofk.pairwise.bayesian.correlated_t:correlated_t",
        summary="posterior of the mean difference with a region of practical equivalence",
        covers=("repeated-kfold", "kfold", "resample", "bootstrap"),
        paper="Corani and Benavoli 2015, A Bayesian approach for comparing cross-validated "
        "algorithms on multiple data sets",
        doi="10.1007/s10994-015-5486-z",
        needs_sizes=True,
        bayesian=True,
        takes_resolution=True,
    ),
    PairwiseTest(
        name="signed-rank-bayes",
        function="bestofk.pairwise.bayesian.signed_rank_bayes:signed_rank_bayes",
        summary="posterior of the signed rank statistic with a region of practical equivalence",
        covers=("datasets",),
        paper="Benavoli et al. 2014, A Bayesian Wilcoxon signed-rank test based on the Dirichlet "
        "process",
        bayesian=True,
        discrete=True,
        random=True,
        at_least_units=10,
    ),
)
