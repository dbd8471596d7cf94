"""The pairwise tests: one entry each, read by the command line, the docs, the lab and the laws.

The entries stand in the room of their tests: `splits`, `units` and `bayesian`.
"""

from __future__ import annotations

from bestofk.pairwise.bayesian.entries import BAYESIAN_TESTS
from bestofk.pairwise.entry import PairwiseTest
from bestofk.pairwise.splits.entries import SPLIT_TESTS
from bestofk.pairwise.units.entries import UNIT_TESTS
from bestofk.registry import Registry

__all__ = ["PAIRWISE_TESTS", "PairwiseTest"]

PAIRWISE_TESTS: Registry[PairwiseTest] = Registry(
    "pairwise test", *SPLIT_TESTS, *UNIT_TESTS, *BAYESIAN_TESTS
)
