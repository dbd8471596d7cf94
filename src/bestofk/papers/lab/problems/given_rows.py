"""Problems made from the user's own rows: as they are, or with shuffled labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Encoded
from bestofk.papers.lab.problems.generator import DataProblem


def _check(data: DataSet, problem: str) -> None:
    """Refuse data that the problem cannot use."""
    if not isinstance(data, DataSet):
        raise refuse(f"data of problem {problem!r}", "a DataSet (see read_data)", data)
    if data.task != "classification":
        raise ArgumentError(
            f"data of problem {problem!r} must have class labels; the target of {data.name!r} is "
            "numeric."
        )
    if data.whole:
        raise ArgumentError(
            f"data of problem {problem!r} must be a table of columns; {data.name!r} is a sparse "
            "matrix or a list of texts."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRows(DataProblem):
    """The user's data with its own labels: one data set, for repeated choices of its splits.

    Parameters
    ----------
    data : DataSet
        The rows.

    Examples
    --------
    >>> from bestofk.data import read_data
    >>> GivenRows(data=read_data("iris")).describe()
    'iris (150 rows)'
    """

    data: DataSet

    def __post_init__(self) -> None:
        _check(self.data, "given")

    def encoded(self, rng: np.random.Generator) -> Encoded:  # noqa: ARG002
        return self.data.encoded()

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:  # noqa: ARG002
        """Return the data set."""
        return self.data

    def describe(self) -> str:
        return f"{self.data.name} ({self.data.n} rows)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledLabels(DataProblem):
    """The user's data with shuffled labels, so that nothing can be learnt.

    Parameters
    ----------
    data : DataSet
        The rows.

    Notes
    -----
    Each data set is another permutation of the labels. The columns, their dependences, the
    missing cells and the number of rows of every class are those of the data. A learner that
    guesses in proportion to the classes is truly worse than one that always predicts the largest
    class, so check the mean difference that the lab reports.

    Examples
    --------
    >>> import numpy as np
    >>> from bestofk.data import read_data
    >>> problem = ShuffledLabels(data=read_data("iris"))
    >>> np.bincount(problem.encoded(np.random.default_rng(0)).y).tolist()
    [50, 50, 50]
    """

    data: DataSet

    def __post_init__(self) -> None:
        _check(self.data, "shuffled")

    def encoded(self, rng: np.random.Generator) -> Encoded:
        encoded = self.data.encoded()
        return replace(encoded, y=rng.permutation(encoded.y))

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """Draw one data set with the original columns."""
        import pandas as pd

        cells = self.data.y.cat
        codes = rng.permutation(cells.codes.to_numpy())
        labels = pd.Series(pd.Categorical.from_codes(codes, cells.categories), name="class")
        return DataSet(name=name, X=self.data.X, y=labels, task="classification")

    def describe(self) -> str:
        return f"{self.data.name} ({self.data.n} rows) with its labels shuffled"
