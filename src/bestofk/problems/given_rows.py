"""The user's own rows: with shuffled labels, or as they are, for a learner that is made worse."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bestofk.checks import positive, refuse, whole
from bestofk.data.dataset import DataSet
from bestofk.data.encoded import Encoded
from bestofk.errors import ArgumentError
from bestofk.problems.generator import DataProblem


def _check(data: DataSet, problem: str, rows: int | None) -> None:
    if not isinstance(data, DataSet):
        raise refuse(f"data of problem {problem!r}", "a DataSet (see read_dataset)", data)
    if data.task != "classification":
        raise ArgumentError(
            f"data of problem {problem!r} must have class labels; the target of {data.name!r} is a "
            "number."
        )
    if data.whole:
        raise ArgumentError(
            f"data of problem {problem!r} must be a table of columns; those of {data.name!r} are a "
            "sparse matrix or texts."
        )
    if rows is not None and whole(rows, f"rows of problem {problem!r}", at_least=4) > data.n:
        raise refuse(f"rows of problem {problem!r}", f"at most {data.n}, as the data have", rows)


def _some(data: DataSet, rows: int | None, rng: np.random.Generator) -> Encoded:
    encoded = data.encoded()
    if rows is None:
        return encoded
    return encoded.take(np.sort(rng.permutation(encoded.n)[:rows]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledLabels(DataProblem):
    """My data with shuffled labels: nothing can be learnt, all else stays as it is.

    Parameters
    ----------
    data : DataSet
        The rows.
    rows : int, optional
        Draw so many of them, without replacement, for every data set; by default all.

    Notes
    -----
    The columns, their dependences, the missing cells and the number of rows of every class are
    those of the data; each data set is another permutation of the labels. Learners that guess in
    proportion to the classes are truly worse here than one that always names the largest class,
    so look at the mean difference that the lab reports.

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
        some = _some(self.data, self.rows, rng)
        return replace(some, y=rng.permutation(some.y))

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """One data set, with the columns as they are."""
        import pandas as pd

        if self.rows is not None:
            kept = np.sort(rng.permutation(self.data.n)[: self.rows])
            X, y = self.data.X.iloc[kept].reset_index(drop=True), self.data.y.iloc[kept]
        else:
            X, y = self.data.X, self.data.y
        codes = rng.permutation(y.cat.codes.to_numpy())
        labels = pd.Categorical.from_codes(codes, categories=y.cat.categories)
        return DataSet(name=name, X=X, y=pd.Series(labels, name="class"), task="classification")

    def describe(self) -> str:
        some = "" if self.rows is None else f"{self.rows} rows of "
        return f"{some}{self.data.name} ({self.data.n} rows) with its labels shuffled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded(DataProblem):
    """My data, for one learner against the same learner made worse by a given amount.

    Parameters
    ----------
    data : DataSet or problem
        The rows, or what draws them.
    by : float
        How much larger the error rate of the worse one is, in expectation.
    rows : int, optional
        Draw so many rows of the data, without replacement, for every data set; by default all.
    copies : int
        Worse learners, each with errors of its own.
    best_last : bool
        The learner itself is the least preferred, not the most preferred one.

    Notes
    -----
    The learner runs once. On rows chosen at random, once for every data set and copy, its right
    answers count as wrong for the copy; their share is `by` / (1 - error).

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
                    "rows of problem 'degraded' applies to given data; say it to the problem that "
                    "draws them."
                )
        else:
            _check(self.data, "degraded", self.rows)
        if positive(self.by, "by of problem 'degraded'") >= 1:
            raise refuse("by of problem 'degraded'", "below 1", self.by)
        whole(self.copies, "copies of problem 'degraded'", at_least=1)

    def encoded(self, rng: np.random.Generator) -> Encoded:
        if isinstance(self.data, DataProblem):
            return self.data.encoded(rng)
        return _some(self.data, self.rows, rng)

    def draw(self, rng: np.random.Generator, name: str = "drawn") -> DataSet:
        """One data set, with the columns as they are."""
        if isinstance(self.data, DataProblem):
            return self.data.draw(rng, name)
        if self.rows is None:
            return self.data
        kept = np.sort(rng.permutation(self.data.n)[: self.rows])
        return DataSet(
            name=name,
            X=self.data.X.iloc[kept].reset_index(drop=True),
            y=self.data.y.iloc[kept].reset_index(drop=True),
            task=self.data.task,
        )

    def describe(self) -> str:
        if isinstance(self.data, DataProblem):
            where = self.data.describe()
        else:
            some = "" if self.rows is None else f"{self.rows} rows of "
            where = f"{some}{self.data.name} ({self.data.n} rows)"
        against = "itself" if self.copies == 1 else f"{self.copies} copies of itself"
        return f"{where}, one learner against {against} with an error larger by {self.by:g}"
