"""Problems made from the user's own rows: shuffled labels, or a learner that is made worse."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import positive, refuse, whole
from bestofk._base.errors import ArgumentError
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Encoded
from bestofk.papers.lab.problems.generator import DataProblem


def _check(data: DataSet, problem: str, rows: int | None) -> None:
    """Refuse data that the problem cannot use."""
    if not isinstance(data, DataSet):
        raise refuse(f"data of problem {problem!r}", "a DataSet (see read_dataset)", data)
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
    if rows is not None and whole(rows, f"rows of problem {problem!r}", at_least=4) > data.n:
        raise refuse(f"rows of problem {problem!r}", f"at most {data.n}, as in the data", rows)


def _sample(n: int, rows: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Draw row numbers without replacement, in ascending order."""
    return np.sort(rng.permutation(n)[:rows])


def _encoded_rows(data: DataSet, rows: int | None, rng: np.random.Generator) -> Encoded:
    encoded = data.encoded()
    return encoded if rows is None else encoded.take(_sample(encoded.n, rows, rng))


def _describe_rows(data: DataSet, rows: int | None) -> str:
    return f"{'' if rows is None else f'{rows} rows of '}{data.name} ({data.n} rows)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledLabels(DataProblem):
    """The user's data with shuffled labels, so that nothing can be learnt.

    Parameters
    ----------
    data : DataSet
        The rows.
    rows : int, optional
        Draw this many of them, without replacement, for every data set; all by default.

    Notes
    -----
    Each data set is another permutation of the labels. The columns, their dependences, the
    missing cells and the number of rows of every class are those of the data. A learner that
    guesses in proportion to the classes is truly worse than one that always predicts the largest
    class, so check the mean difference that the lab reports.

    Examples
    --------
    >>> import numpy as np
    >>> from bestofk.data import load
    >>> problem = ShuffledLabels(data=load("iris"))
    >>> np.bincount(problem.encoded(np.random.default_rng(0)).y).tolist()
    [50, 50, 50]
    """

    data: DataSet
    rows: int | None = None

    def __post_init__(self) -> None:
        _check(self.data, "shuffled", self.rows)

    def encoded(self, rng: np.random.Generator) -> Encoded:
        encoded = _encoded_rows(self.data, self.rows, rng)
        return replace(encoded, y=rng.permutation(encoded.y))

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """Draw one data set with the original columns."""
        import pandas as pd

        X, y = self.data.X, self.data.y
        if self.rows is not None:
            sample = _sample(self.data.n, self.rows, rng)
            X, y = X.iloc[sample].reset_index(drop=True), y.iloc[sample]
        codes = rng.permutation(y.cat.codes.to_numpy())
        labels = pd.Categorical.from_codes(codes, categories=y.cat.categories)
        return DataSet(name=name, X=X, y=pd.Series(labels, name="class"), task="classification")

    def describe(self) -> str:
        return f"{_describe_rows(self.data, self.rows)} with its labels shuffled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded(DataProblem):
    """The user's data, for one learner against copies made worse by a given amount.

    Parameters
    ----------
    data : DataSet or problem
        The rows, or a problem that draws them.
    by : float
        Expected increase of the error rate of the copy.
    rows : int, optional
        Draw this many rows of the data, without replacement, for every data set; all by default.
    copies : int
        Number of worse copies, which err independently.
    best_last : bool
        List the learner itself last, as the least preferred, instead of first.

    Notes
    -----
    The learner runs once. A share `by` / (1 - error) of the rows is chosen at random for every
    data set and copy, and right answers on these rows count as wrong for the copy.

    Examples
    --------
    >>> from bestofk.data import load
    >>> Degraded(data=load("iris"), by=0.05).describe()
    'iris (150 rows), one learner against itself with an error larger by 0.05'
    """

    data: DataSet | DataProblem
    by: float
    rows: int | None = None
    copies: int = 1
    best_last: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.data, DataProblem):
            if self.rows is not None:
                raise ArgumentError(
                    "rows of problem 'degraded' applies to a data set; give rows to the problem "
                    "that draws the data instead."
                )
        else:
            _check(self.data, "degraded", self.rows)
        if positive(self.by, "by of problem 'degraded'") >= 1:
            raise refuse("by of problem 'degraded'", "below 1", self.by)
        whole(self.copies, "copies of problem 'degraded'", at_least=1)

    def encoded(self, rng: np.random.Generator) -> Encoded:
        if isinstance(self.data, DataProblem):
            return self.data.encoded(rng)
        return _encoded_rows(self.data, self.rows, rng)

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """Draw one data set with the original columns."""
        if isinstance(self.data, DataProblem):
            return self.data.draw(rng, name)
        if self.rows is None:
            return self.data
        sample = _sample(self.data.n, self.rows, rng)
        return DataSet(
            name=name,
            X=self.data.X.iloc[sample].reset_index(drop=True),
            y=self.data.y.iloc[sample].reset_index(drop=True),
            task=self.data.task,
        )

    def describe(self) -> str:
        rows = (
            self.data.describe()
            if isinstance(self.data, DataProblem)
            else _describe_rows(self.data, self.rows)
        )
        against = "itself" if self.copies == 1 else f"{self.copies} copies of itself"
        return f"{rows}, one learner against {against} with an error larger by {self.by:g}"
