"""What all tests of K learners have in common in their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.presenting import Presented, json_ready


class MultipleResult(Presented):
    """The result of a test of K learners; `pvalue` is of the hypothesis that all are equal."""

    __slots__ = ()

    pvalue: Any

    def to_dict(self) -> dict[str, Any]:
        """The result for strict JSON: no NaN, no infinity (those are null)."""
        return {**Presented.to_dict(self), "pvalue": json_ready(self.pvalue)}

    @property
    def verdict_pvalue(self) -> float:
        """The p-value on which the verdict of one test rests; `pvalue` unless a test says else."""
        return float(self.pvalue)


def columns_of_tests(pvalue: Any, **columns: Any) -> dict[str, Any]:
    """One row per test made in one call: numbers over the tests, or one number for all of them."""
    shape = np.shape(pvalue)
    return {
        name: np.broadcast_to(np.asarray(cells), shape).ravel()
        for name, cells in {**columns, "pvalue": pvalue}.items()
    }


def square_columns(locations: dict[str, Any], **squares: Any) -> dict[str, Any]:
    """One row per pair i < j: numbers of both learners, and entries (i, j) of (K, K) arrays."""
    K = len(next(iter(squares.values())))
    i, j = np.triu_indices(K, 1)
    found: dict[str, Any] = {"a": i, "b": j}
    for name, values in locations.items():
        found |= {f"{name}_a": np.asarray(values)[i], f"{name}_b": np.asarray(values)[j]}
    return found | {name: np.asarray(square)[i, j] for name, square in squares.items()}
