"""The entries of the Bayesian tests."""

from __future__ import annotations

from bestofk.pairwise.assumptions import (
    INDEPENDENT_UNITS,
    NORMAL,
    SHARED_ROWS_CORRECTED,
    SYMMETRIC,
)
from bestofk.pairwise.entry import PairwiseTest

BAYESIAN_TESTS = (
    PairwiseTest(
        name="correlated-t",
        function="bestofk.pairwise.bayesian.correlated_t:correlated_t",
        summary="posterior of the mean difference with a region of practical equivalence",
        covers=("repeated-kfold", "kfold", "resample", "bootstrap"),
        paper="Corani and Benavoli 2015, A Bayesian approach for comparing cross-validated "
        "algorithms on multiple data sets",
        doi="10.1007/s10994-015-5486-z",
        called="the Bayesian correlated t test",
        citations=("corani2015bayesian",),
        assumptions=(SHARED_ROWS_CORRECTED, NORMAL),
        interval="of equal tails of the posterior",
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
        called="the Bayesian signed-rank test",
        citations=("benavoli2014bayesian",),
        assumptions=(*INDEPENDENT_UNITS, SYMMETRIC),
        speed="drawn",
        power="unknown",
        bayesian=True,
        discrete=True,
        random=True,
        at_least_units=10,
    ),
)
