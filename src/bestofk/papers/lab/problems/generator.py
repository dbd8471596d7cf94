"""Base classes of problems: generators of data sets, and generators of loss tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.code_identity import Identity, identify
from bestofk.data.schema import Encoded
from bestofk.splits.design import Design

if TYPE_CHECKING:
    from bestofk.data.dataset import DataSet


class DataProblem(ABC):
    """Generate data sets of one kind.

    A generator is a frozen dataclass of its settings. Its data sets depend only on the settings
    and on the random number generator.
    """

    __slots__ = ()

    @abstractmethod
    def encoded(self, rng: np.random.Generator) -> Encoded:
        """Draw one data set in the encoding of the learners' kernels."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the data sets in a noun phrase."""

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """Draw one data set."""
        return dataset_of(self.encoded(rng), name)

    @property
    def fingerprint(self) -> str:
        """A digest of the settings and the code, equal on every machine."""
        return self.identity.digest

    @property
    def identity(self) -> Identity:
        """The fingerprint, or the reason why there is none."""
        settings = {
            setting.name: _content(getattr(self, setting.name))
            for setting in fields(self)  # type: ignore[arg-type]
        }
        return identify(type(self), settings)


class TableProblem(ABC):
    """Generate tables of losses without data or learners; a frozen dataclass of its settings."""

    __slots__ = ()

    @abstractmethod
    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw (count, learners, data sets, runs, folds, repetitions) independent tables."""

    @property
    @abstractmethod
    def design(self) -> Design:
        """The design that the losses imitate."""

    @property
    @abstractmethod
    def true_means(self) -> tuple[float, ...]:
        """Expected loss of every learner."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the tables in a noun phrase."""


def _content(value: Any) -> Any:
    """Return the fingerprint of data sets and problems, and any other value itself."""
    fingerprint = getattr(value, "fingerprint", None)
    return fingerprint if isinstance(fingerprint, str) else value


def dataset_of(encoded: Encoded, name: str) -> DataSet:
    """Return encoded rows as a data set: columns x1, x2, ..., nominal values by their codes."""
    import pandas as pd

    from bestofk.data.dataset import DataSet

    columns: dict[str, Any] = {}
    for index, cardinality in enumerate(encoded.cardinality.tolist()):
        column: Any = encoded.values[:, index]
        if cardinality:
            codes = np.where(np.isnan(column), -1, column).astype(np.int64)
            column = pd.Categorical.from_codes(
                codes, categories=pd.Index([str(code) for code in range(cardinality)])
            )
        columns[f"x{index + 1}"] = column
    labels = pd.Index([str(label) for label in encoded.classes.tolist()])
    y = pd.Series(pd.Categorical.from_codes(encoded.y, categories=labels), name="class")
    return DataSet(name=name, X=pd.DataFrame(columns), y=y, task="classification")
