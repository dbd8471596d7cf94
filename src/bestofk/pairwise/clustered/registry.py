"""The tests on clusters of instances, by name."""

from __future__ import annotations

from bestofk.registry import FunctionEntry, Registry

_SUMS = "bestofk.pairwise.clustered.cluster_chi_squared"

CLUSTERED_TESTS: Registry[FunctionEntry] = Registry(
    "test for clusters",
    FunctionEntry(
        name="cluster-sign-flip",
        function="bestofk.pairwise.clustered.cluster_sign_flip:cluster_sign_flip",
        summary="exact null of the mean difference when whole clusters flip their signs",
        paper="Fisher 1935, The design of experiments",
        called="the exact sign-flip test over clusters",
    ),
    FunctionEntry(
        name="obuchowski",
        function=f"{_SUMS}:obuchowski",
        summary="McNemar's statistic with the variance of sums over clusters",
        paper="Obuchowski 1998, On the comparison of correlated proportions for clustered data",
        called="Obuchowski's test",
    ),
    FunctionEntry(
        name="durkalski",
        function=f"{_SUMS}:durkalski",
        summary="every cluster counts the same, whatever its size",
        paper="Durkalski et al. 2003, Analysis of clustered matched-pair data",
        doi="10.1002/sim.1438",
        called="Durkalski's test",
    ),
    FunctionEntry(
        name="yang",
        function=f"{_SUMS}:yang",
        summary="Obuchowski's statistic with a smaller variance where the two differ",
        paper="Yang, Sun and Hardin 2010, A note on the tests for clustered matched-pair data",
        doi="10.1002/bimj.201000035",
        called="Yang's test",
    ),
)
"""Each takes ``(a, b, clusters=, strata=, unit=, alternative=)``."""
