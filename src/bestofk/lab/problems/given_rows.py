"""Learners of one kind, each with its own block of columns: equal by construction, with signal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bestofk._base.checks import Floats, one_of, positive, probability, refuse, whole
from bestofk._base.errors import ArgumentError
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Encoded
from bestofk.lab.problems.generator import DataProblem

KINDS = ("gaussian", "binary")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBlocks(DataProblem):
    """Data sets with one block of columns per learner; the blocks share the labels.

    Parameters
    ----------
    kind : {"gaussian", "binary"}
        Normal columns of unit variance, or binary ones.
    learners : int
        Number of blocks: so many copies of one learner, each of which sees its own block only.
    rows, attributes : int
        Rows of a data set, columns of a block.
    bayes_error : float or tuple of float
        Error of the best rule that sees one block; a tuple gives one for every learner, of which
        equal ones make equal learners.

    Notes
    -----
    Given the labels, blocks of one Bayes error are independent draws from one distribution, so
    that exchanging two of them changes nothing: copies of a learner that see them have the same
    expected loss whatever the learner, the plan and the number of rows. That is a null hypothesis
    with something to learn, where labels without signal make every learner guess.

    Both classes have probability 1/2. A normal column has the means -h and h in the classes, with
    Phi(-h sqrt(d)) the Bayes error of d columns. A binary column agrees with the class with
    probability p, in which case the majority of d columns errs with probability
    P(B < d/2) + P(B = d/2) / 2, B binomial (d, p); p is solved for.

    Examples
    --------
    >>> import numpy as np
    >>> problem = ColumnBlocks(learners=3, rows=8, attributes=2)
    >>> data = problem.encoded(np.random.default_rng(0))
    >>> data.values.shape, problem.block(data, 1).values.shape
    ((8, 6), (8, 2))
    >>> ColumnBlocks(kind="binary", bayes_error=(0.3, 0.2, 0.2)).learners
    3
    """

    kind: str = "gaussian"
    learners: int | None = None
    rows: int = 100
    attributes: int = 5
    bayes_error: float | tuple[float, ...] = 0.2

    def __post_init__(self) -> None:
        one_of(self.kind, "kind of problem 'blocks'", KINDS)
        whole(self.rows, "rows of problem 'blocks'", at_least=4)
        whole(self.attributes, "attributes of problem 'blocks'", at_least=1)
        several = isinstance(self.bayes_error, tuple | list)
        errors = tuple(self.bayes_error) if several else (self.bayes_error,)  # type: ignore[arg-type]
        for error in errors:
            if probability(error, "bayes_error of problem 'blocks'") > 0.5:
                raise refuse("bayes_error of problem 'blocks'", "at most 0.5", error)
        count = self.learners
        if several:
            if len(errors) < 2:
                raise refuse("bayes_error of problem 'blocks'", "of two or more learners", errors)
            if count not in (None, len(errors)):
                must = f"{len(errors)}, as many as Bayes errors are given"
                raise refuse("learners of problem 'blocks'", must, count)
            count = len(errors)
            object.__setattr__(self, "bayes_error", tuple(float(error) for error in errors))
        count = 2 if count is None else whole(count, "learners of problem 'blocks'", at_least=2)
        object.__setattr__(self, "learners", count)

    @property
    def errors(self) -> tuple[float, ...]:
        """The Bayes error of every learner's block."""
        assert self.learners is not None
        if isinstance(self.bayes_error, tuple):
            return self.bayes_error
        return (self.bayes_error,) * self.learners

    def encoded(self, rng: np.random.Generator) -> Encoded:
        """One data set: the blocks of all learners side by side."""
        K, n, d = len(self.errors), self.rows, self.attributes
        y = (rng.random(n) < 0.5).astype(np.int64)
        if self.kind == "gaussian":
            values = rng.standard_normal((n, K, d))
            half = np.array([_half_distance(error, d) for error in self.errors])
            values += np.where(y[:, np.newaxis], half, -half)[..., np.newaxis]
        else:
            agrees = np.array([_agreement(error, d) for error in self.errors])
            same = rng.random((n, K, d)) < agrees[:, np.newaxis]
            values = (same == y[:, np.newaxis, np.newaxis]).astype(np.float64)
        return Encoded(
            values=values.reshape(n, K * d),
            cardinality=np.full(K * d, 0 if self.kind == "gaussian" else 2),
            y=y,
            classes=np.array(["0", "1"]),
        )

    def block(self, encoded: Encoded, learner: int) -> Encoded:
        """What one learner sees of a data set."""
        columns = slice(learner * self.attributes, (learner + 1) * self.attributes)
        values: Floats = encoded.values[:, columns]
        return replace(encoded, values=values, cardinality=encoded.cardinality[columns])

    def first(self, learners: int) -> ColumnBlocks:
        """The same problem for its first learners only."""
        error = self.bayes_error
        return replace(
            self,
            learners=learners,
            bayes_error=error[:learners] if isinstance(error, tuple) else error,
        )

    def describe(self) -> str:
        columns = "normal" if self.kind == "gaussian" else "binary"
        errors = sorted(set(self.errors))
        each = (
            f"Bayes error {errors[0]:g}"
            if len(errors) == 1
            else f"Bayes errors {', '.join(f'{error:g}' for error in self.errors)}"
        )
        return (
            f"{self.rows} rows, {self.attributes} {columns} columns for each of {self.learners} "
            f"learners of one kind, {each}"
        )


def _half_distance(error: float, d: int) -> float:
    from scipy.special import ndtri

    return -float(ndtri(error)) / float(np.sqrt(d))


@lru_cache(maxsize=64)
def _agreement(error: float, d: int) -> float:
    """The p at which the majority of d columns that agree with probability p errs so often."""
    from scipy.special import bdtr

    low, high = 0.5, 1.0
    for _ in range(60):
        p = (low + high) / 2
        # P(B < d/2) + P(B = d/2) / 2, the mean of P(B <= (d-1)//2) and P(B <= d//2)
        wrong = (bdtr((d - 1) // 2, d, p) + bdtr(d // 2, d, p)) / 2
        low, high = (p, high) if wrong > error else (low, p)
    return (low + high) / 2


# The user's own rows: with shuffled labels, or as they are, for a learner that is made worse.


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
