"""A generator of problems: what it draws is a data set, and it says what is true of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.code_identity.identity import Identity, identify
from bestofk.data.schema import Encoded

if TYPE_CHECKING:
    from bestofk.data.dataset import DataSet


class DataProblem(ABC):
    """Draws data sets of one kind.

    A generator is a frozen dataclass of its settings. What it draws depends on them and on the
    generator of random numbers alone.
    """

    __slots__ = ()

    @abstractmethod
    def encoded(self, rng: np.random.Generator) -> Encoded:
        """One data set as the kernels want it."""

    @abstractmethod
    def describe(self) -> str:
        """The data sets in words, without a verb."""

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """One data set."""
        return dataset_of(self.encoded(rng), name)

    @property
    def fingerprint(self) -> str:
        """The same for the same settings and the same code, on every machine."""
        return self.identity.digest

    @property
    def identity(self) -> Identity:
        """The fingerprint, and why it cannot be known again, where it cannot."""
        held = {one.name: _content(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]
        return identify(type(self), held)


def _content(value: Any) -> Any:
    """Data sets and other problems know their own."""
    found = getattr(value, "fingerprint", None)
    return found if isinstance(found, str) else value


def dataset_of(encoded: Encoded, name: str) -> DataSet:
    """A data set from encoded rows: columns x1, x2, ..., nominal values by their codes."""
    import pandas as pd

    from bestofk.data.dataset import DataSet

    columns: dict[str, Any] = {}
    for place, values in enumerate(encoded.cardinality.tolist()):
        column = encoded.values[:, place]
        if values:
            codes = np.where(np.isnan(column), -1, column).astype(np.int64)
            columns[f"x{place + 1}"] = pd.Categorical.from_codes(
                codes, categories=pd.Index([str(code) for code in range(values)])
            )
        else:
            columns[f"x{place + 1}"] = column
    labels = pd.Index([str(label) for label in encoded.classes.tolist()])
    y = pd.Series(pd.Categorical.from_codes(encoded.y, categories=labels), name="class")
    return DataSet(name=name, X=pd.DataFrame(columns), y=y, task="classification")
