"""What the data say of every pair: the evidence on which a procedure decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.ordering.graph import Bools, Ints
from bestofk.presenting import Presented

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One row of the evidence."""

    a: int | str
    b: int | str
    estimate: float
    """Mean loss of `a` minus mean loss of `b`."""
    statistic: float
    pvalue: float
    adjusted_pvalue: float
    rejected: bool

    def as_json(self) -> dict[str, Any]:
        """The row for strict JSON: an infinite statistic is null and said to be degenerate."""
        finite = bool(np.isfinite(self.statistic))
        row: dict[str, Any] = {
            "a": self.a,
            "b": self.b,
            "estimate": self.estimate,
            "statistic": self.statistic if finite else None,
            "pvalue": self.pvalue,
            "adjusted_pvalue": self.adjusted_pvalue,
            "rejected": self.rejected,
        }
        if not finite:
            row["degenerate"] = True
        return row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence(Presented):
    """The pairs that were tested, as parallel arrays; `first[p]` is preferred to `second[p]`."""

    names: tuple[int | str, ...]
    """Learners in prior order."""
    first: Ints
    second: Ints
    estimate: Floats
    statistic: Floats
    pvalue: Floats
    adjusted_pvalue: Floats
    rejected: Bools
    alternative: str
    """``"greater"``: H0 says that `first` has at most the loss of `second`."""

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[Pair]:
        return (self.pair(row) for row in range(len(self)))

    def pair(self, row: int) -> Pair:
        """One row."""
        return Pair(
            a=self.names[self.first[row]],
            b=self.names[self.second[row]],
            estimate=float(self.estimate[row]),
            statistic=float(self.statistic[row]),
            pvalue=float(self.pvalue[row]),
            adjusted_pvalue=float(self.adjusted_pvalue[row]),
            rejected=bool(self.rejected[row]),
        )

    def overrides(self) -> Bools:
        """(K, K): the data override the prior between i and j (i < j)."""
        matrix = np.zeros((len(self.names),) * 2, dtype=bool)
        matrix[self.first[self.rejected], self.second[self.rejected]] = True
        return matrix

    def to_frame(self) -> pd.DataFrame:
        """The same as `frame`."""
        return self.frame()

    def frame(self) -> pd.DataFrame:
        """One row a pair, as a data frame."""
        import pandas as pd

        names: npt.NDArray[np.object_] = np.array(self.names, dtype=object)
        return pd.DataFrame(
            {
                "a": names[self.first],
                "b": names[self.second],
                "estimate": self.estimate,
                "statistic": self.statistic,
                "pvalue": self.pvalue,
                "adjusted_pvalue": self.adjusted_pvalue,
                "rejected": self.rejected,
            }
        )
