"""Binary attributes that know nothing of the class: no learner can beat another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk._base.checks import probability, refuse, whole
from bestofk.data.schema import Encoded
from bestofk.lab.problems.generator import DataProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryAttributes(DataProblem):
    """Independent binary attributes, and a class that is independent of them all.

    Parameters
    ----------
    rows, attributes : int
        Size of a data set.
    class_probability : float
        Probability of the second class.
    attribute_probability : float, optional
        Probability of the second value of every attribute; None: drawn from U(0, 1) for every
        attribute of every data set.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58, section 4. (It does not say how attributes are distributed;
    its figures come out with probabilities from U(0, 1), not with fair coins.)

    Examples
    --------
    >>> import numpy as np
    >>> BinaryAttributes(rows=6, attributes=2).draw(np.random.default_rng(1))
    DataSet('drawn', 6 rows, 2 nominal columns, 2 classes)
    """

    rows: int = 300
    attributes: int = 10
    class_probability: float = 0.5
    attribute_probability: float | None = None

    def __post_init__(self) -> None:
        whole(self.rows, "rows of problem 'binary'", at_least=4)
        whole(self.attributes, "attributes of problem 'binary'", at_least=1)
        probability(self.class_probability, "class_probability of problem 'binary'")
        if self.attribute_probability is not None:
            probability(self.attribute_probability, "attribute_probability of problem 'binary'")

    def encoded(self, rng: np.random.Generator) -> Encoded:
        shares = (
            rng.random(self.attributes)
            if self.attribute_probability is None
            else self.attribute_probability
        )
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
            f"{self.class_probability:g}) that have nothing to do with each other"
        )


# Two normal classes a known distance apart: the error of the best rule is known.


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianClasses(DataProblem):
    """Two classes of equal weight, normal with unit variances, their means a distance apart.

    Parameters
    ----------
    rows, attributes : int
        Size of a data set.
    bayes_error : float
        Error of the best rule, up to 0.5 (the classes are then the same).

    Notes
    -----
    With means +-delta/2 on every axis scaled so that they are D apart, the Bayes error is
    Phi(-D / 2).

    Examples
    --------
    >>> import numpy as np
    >>> problem = GaussianClasses(rows=2000, attributes=3, bayes_error=0.1)
    >>> data = problem.encoded(np.random.default_rng(0))
    >>> best = (data.values.sum(axis=1) > 0) == data.y
    >>> bool(abs(1 - best.mean() - 0.1) < 0.03)
    True
    """

    rows: int = 300
    attributes: int = 10
    bayes_error: float = 0.2

    def __post_init__(self) -> None:
        whole(self.rows, "rows of problem 'gaussian'", at_least=4)
        whole(self.attributes, "attributes of problem 'gaussian'", at_least=1)
        if probability(self.bayes_error, "bayes_error of problem 'gaussian'") > 0.5:
            raise refuse("bayes_error of problem 'gaussian'", "at most 0.5", self.bayes_error)

    def encoded(self, rng: np.random.Generator) -> Encoded:
        from scipy.special import ndtri

        y = (rng.random(self.rows) < 0.5).astype(np.int64)
        half = -float(ndtri(self.bayes_error)) / np.sqrt(self.attributes)
        values = rng.standard_normal((self.rows, self.attributes))
        values += np.where(y, half, -half)[:, np.newaxis]
        return Encoded(
            values=values,
            cardinality=np.zeros(self.attributes, dtype=np.int64),
            y=y,
            classes=np.array(["0", "1"]),
        )

    def describe(self) -> str:
        return (
            f"{self.rows} rows, {self.attributes} normal attributes, two classes, Bayes error "
            f"{self.bayes_error:g}"
        )
