"""A test with the clusters and tasks of the items at hand, for a decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk.pairwise.clustered.registry import CLUSTERED_TESTS
from bestofk.pairwise.entry import PairwiseTest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusteredTest:
    """One of `CLUSTERED_TESTS` on these items; `bestofk.order` takes it as its test."""

    name: str
    clusters: Any = field(repr=False)
    strata: Any = field(default=None, repr=False)
    unit: float | None = None

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def entry(self) -> PairwiseTest:
        """What is known of the test."""
        return CLUSTERED_TESTS[self.name]

    def __call__(self, a: Any, b: Any, *, alternative: str = "two-sided") -> Any:
        """The result for losses (..., 1, n)."""
        n = len(self.clusters)
        first, second = (np.asarray(x).reshape(*np.shape(x)[:-2], n) for x in (a, b))
        return self.entry.load()(
            first, second, clusters=self.clusters, strata=self.strata, unit=self.unit,
            alternative=alternative,
        )  # fmt: skip
