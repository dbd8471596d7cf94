"""The tests on clusters of instances, by name."""

from __future__ import annotations

from bestofk.pairwise.entry import PairwiseTest
from bestofk.pairwise.smallest_pvalue import smallest_pvalue
from bestofk.registry import Assumption, Registry

_CLUSTERS = Assumption(
    claim="Clusters of instances are independent of each other.",
    check="cannot be checked",
    why="Instances of one cluster may depend on each other as they like; where there are no "
    "clusters, each instance counts as one.",
)
_SYMMETRIC = Assumption(
    claim="Of two that are equal, either is as likely to be ahead by as much on a cluster.",
    check="cannot be checked",
    why="It is so when equal means that their answers could be exchanged.",
)
_MANY = Assumption(
    claim="There are many clusters, some 30 and more.",
    check="cannot be checked",
    why="{test} is referred to chi-squared; cluster-sign-flip is exact with few of them, too.",
)
_INTERVAL = "quantiles of t times the standard error over clusters"

CLUSTERED_TESTS: Registry[PairwiseTest] = Registry(
    "test for clusters",
    PairwiseTest(
        name="cluster-sign-flip",
        function="bestofk.pairwise.clustered.cluster_sign_flip:cluster_sign_flip",
        summary="exact null of the mean difference when whole clusters flip their signs",
        paper="Fisher 1935, The design of experiments",
        called="the exact sign-flip test over clusters",
        citations=("fisher1935design",),
        assumptions=(_CLUSTERS, _SYMMETRIC),
        covers=("test-set",),
        interval=_INTERVAL,
        power="unknown",
        discrete=True,
        smallest_pvalue=smallest_pvalue,
    ),
    PairwiseTest(
        name="obuchowski",
        function="bestofk.pairwise.clustered.obuchowski:obuchowski",
        summary="McNemar's statistic with the variance of sums over clusters",
        paper="Obuchowski 1998, On the comparison of correlated proportions for clustered data",
        called="Obuchowski's test",
        assumptions=(_CLUSTERS, _MANY),
        covers=("test-set",),
        interval=_INTERVAL,
        power="unknown",
    ),
    PairwiseTest(
        name="durkalski",
        function="bestofk.pairwise.clustered.durkalski:durkalski",
        summary="every cluster counts the same, whatever its size",
        paper="Durkalski et al. 2003, Analysis of clustered matched-pair data",
        doi="10.1002/sim.1438",
        called="Durkalski's test",
        assumptions=(_CLUSTERS, _MANY),
        covers=("test-set",),
        interval=_INTERVAL,
        power="unknown",
    ),
    PairwiseTest(
        name="yang",
        function="bestofk.pairwise.clustered.yang:yang",
        summary="Obuchowski's statistic with a smaller variance where the two differ",
        paper="Yang, Sun and Hardin 2010, A note on the tests for clustered matched-pair data",
        doi="10.1002/bimj.201000035",
        called="Yang's test",
        assumptions=(_CLUSTERS, _MANY),
        covers=("test-set",),
        interval=_INTERVAL,
        power="unknown",
    ),
)
"""Each takes ``(a, b, clusters=, strata=, unit=, alternative=)``."""
