"""Binary attributes that know nothing of the class: no learner can beat another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk.checks import probability, whole
from bestofk.data.encoded import Encoded
from bestofk.problems.generator import DataProblem


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
