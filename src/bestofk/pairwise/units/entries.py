"""The entries of the tests on independent units: data sets, or the instances of one test set."""

from __future__ import annotations

from bestofk.pairwise.assumptions import (
    EITHER_AHEAD,
    ENOUGH_UNITS,
    INDEPENDENT_UNITS,
    NORMAL_UNITS,
    SYMMETRIC,
)
from bestofk.pairwise.entry import Automatic, PairwiseTest, Remark
from bestofk.pairwise.smallest_pvalue import (
    smallest_mcnemar_pvalue,
    smallest_pvalue,
    smallest_switching_mcnemar_pvalue,
)

_SHORT_WINDOWS = Remark(
    words="Windows share the rows that train, which this test does not allow for: a difference "
    "between equal learners was found in up to 13 percent of series instead of 5. The corrected "
    "resampled t test allows for it.",
    when="windows in time",
)

UNIT_TESTS = (
    PairwiseTest(
        name="permutation",
        function="bestofk.pairwise.units.permutation:permutation",
        summary="exact null of the mean difference under all sign flips",
        covers=("datasets", "test-set", "time"),
        paper="Fisher 1935, The design of experiments; Otero et al. 2013, post-hoc of Bootstrap-A",
        doi="10.1016/j.jcss.2013.03.009",
        called="the exact permutation test of the mean difference",
        citations=("fisher1935design", "otero2014bootstrap"),
        assumptions=(*INDEPENDENT_UNITS, SYMMETRIC, ENOUGH_UNITS),
        automatic=(
            Automatic(
                situation="test-set",
                why="it is exact for the mean over instances of one test set",
                rank=2,
            ),
        ),
        interval="the shifts that the test does not reject",
        speed="drawn",
        power="sign flips",
        remarks=(
            Remark(
                words="The permutation test is exact under exchangeability, but one data set "
                "({dataset}) carries {share} % of the sum of squares: the others hardly count. "
                "The Wilcoxon test does not have this weakness.",
                when="one data set dominates",
            ),
            _SHORT_WINDOWS,
        ),
        discrete=True,
        random=True,
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="paired-t",
        function="bestofk.pairwise.units.paired_t:paired_t",
        summary="paired t on the data sets; coarse losses never look certain",
        covers=("datasets", "test-set", "time"),
        paper="Student 1908, The probable error of a mean",
        doi="10.2307/2331554",
        called="the paired t test",
        citations=("student1908probable",),
        assumptions=(*INDEPENDENT_UNITS, NORMAL_UNITS),
        automatic=(
            Automatic(
                situation="datasets",
                why="if the differences are about normal",
                rank=2,
                fallback=True,
            ),
        ),
        interval="quantiles of t times the standard error",
        takes_resolution=True,
        remarks=(_SHORT_WINDOWS,),
    ),
    PairwiseTest(
        name="wilcoxon",
        function="bestofk.pairwise.units.wilcoxon:wilcoxon",
        summary="signed ranks of the differences, exact with ties",
        covers=("datasets", "test-set"),
        paper="Wilcoxon 1945, Individual comparisons by ranking methods",
        doi="10.2307/3001968",
        called="Wilcoxon's signed-rank test",
        citations=("wilcoxon1945individual",),
        assumptions=(*INDEPENDENT_UNITS, SYMMETRIC, ENOUGH_UNITS),
        automatic=(
            Automatic(
                situation="datasets",
                why="it is exact for ranks of the differences, so that no single data set decides",
            ),
        ),
        interval="of Hodges and Lehmann: the shifts that the test does not reject",
        power="signed rank",
        discrete=True,
        curtailed="ranks",
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="sign",
        function="bestofk.pairwise.units.sign:sign",
        summary="wins against losses, ties dropped, exact binomial",
        covers=("datasets", "test-set"),
        paper="Demsar 2006, Statistical comparisons of classifiers over multiple data sets",
        called="the sign test",
        citations=("demsar2006statistical",),
        assumptions=(*INDEPENDENT_UNITS, EITHER_AHEAD, ENOUGH_UNITS),
        interval="of the median: the shifts that the test does not reject",
        power="unknown",
        discrete=True,
        curtailed="signs",
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
        called="McNemar's test",
        citations=("mcnemar1947note",),
        assumptions=(*INDEPENDENT_UNITS, ENOUGH_UNITS),
        automatic=(
            Automatic(
                situation="test-set", why="the losses are right or wrong on the same instances"
            ),
        ),
        interval="of Tango, by scores",
        power="disagreements",
        zero_one=True,
        discrete=True,
        smallest_pvalue=smallest_mcnemar_pvalue,
        decision_arguments={"exact": "auto"},
        decision_smallest_pvalue=smallest_switching_mcnemar_pvalue,
    ),
)
