"""Problems with generated rows: binary attributes, and blocks of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bestofk._base.checks import Floats, one_of, probability, refuse, whole
from bestofk.data.schema import Encoded
from bestofk.papers.lab.problems.generator import DataProblem

BLOCK_KINDS = ("gaussian", "binary")


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryAttributes(DataProblem):
    """Independent binary attributes, and a class that is independent of them all.

    Parameters
    ----------
    rows, attributes : int
        Size of a data set.
    class_probability : float
        Probability of the second class.

    Notes
    -----
    The probability of the second value of an attribute is drawn from U(0, 1) for every data set.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58, section 4. (The paper does not give the distribution of the
    attributes; probabilities from U(0, 1) reproduce its figures, fair coins do not.)

    Examples
    --------
    >>> import numpy as np
    >>> BinaryAttributes(rows=6, attributes=2).draw(np.random.default_rng(1))
    DataSet('drawn', 6 rows, 2 columns, 2 classes)
    """

    rows: int = 300
    attributes: int = 10
    class_probability: float = 0.5

    def __post_init__(self) -> None:
        whole(self.rows, "rows of problem 'binary'", at_least=4)
        whole(self.attributes, "attributes of problem 'binary'", at_least=1)
        probability(self.class_probability, "class_probability of problem 'binary'")

    def encoded(self, rng: np.random.Generator) -> Encoded:
        shares = rng.random(self.attributes)
        values = (rng.random((self.rows, self.attributes)) < shares).astype(np.float64)
        y = (rng.random(self.rows) < self.class_probability).astype(np.int64)
        return Encoded(
            values=values,
            cardinality=np.full(self.attributes, 2),
            y=y,
            classes=np.array(["0", "1"]),
        )

    def describe(self) -> str:
        return (
            f"{self.rows} rows, {self.attributes} binary attributes and a class (probability "
            f"{self.class_probability:g}), all independent"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBlocks(DataProblem):
    """Data sets with one block of columns per learner; the blocks share the labels.

    Parameters
    ----------
    kind : {"gaussian", "binary"}
        Normal columns of unit variance, or binary ones.
    learners : int
        Number of blocks, and of copies of one learner, each of which sees only its own block.
    rows, attributes : int
        Rows of a data set, columns of a block.
    bayes_error : float or tuple of float
        Error of the best rule that sees one block. A tuple gives one number per learner; equal
        numbers make equal learners.

    Notes
    -----
    Given the labels, blocks with the same Bayes error are independent draws from one
    distribution. Copies of a learner that see them have the same expected loss for every learner,
    plan and number of rows. So this is a null hypothesis with signal, whereas labels without
    signal make every learner guess.

    Both classes have probability 1/2. A normal column has the means -h and h in the classes, with
    Phi(-h sqrt(d)) the Bayes error of d columns. A binary column agrees with the class with
    probability p, and the majority of d columns errs with probability
    P(B < d/2) + P(B = d/2) / 2, B binomial (d, p); p is the solution for the Bayes error.

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
        one_of(self.kind, "kind of problem 'blocks'", BLOCK_KINDS)
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
                expected = f"{len(errors)}, the number of Bayes errors"
                raise refuse("learners of problem 'blocks'", expected, count)
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
        """Draw one data set with the blocks of all learners side by side."""
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
        """Return the columns that one learner sees."""
        columns = slice(learner * self.attributes, (learner + 1) * self.attributes)
        values: Floats = encoded.values[:, columns]
        return replace(encoded, values=values, cardinality=encoded.cardinality[columns])

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
            f"copies of one learner, {each}"
        )


def _half_distance(error: float, d: int) -> float:
    """Return half the distance of the class means on every axis."""
    from scipy.special import ndtri

    return -float(ndtri(error)) / float(np.sqrt(d))


@lru_cache(maxsize=64)
def _agreement(error: float, d: int) -> float:
    """Return the p at which the majority of d columns errs with this probability."""
    from scipy.special import bdtr

    low, high = 0.5, 1.0
    for _ in range(60):
        p = (low + high) / 2
        # P(B < d/2) + P(B = d/2) / 2, the mean of P(B <= (d-1)//2) and P(B <= d//2)
        wrong = (bdtr((d - 1) // 2, d, p) + bdtr(d // 2, d, p)) / 2
        low, high = (p, high) if wrong > error else (low, p)
    return (low + high) / 2
