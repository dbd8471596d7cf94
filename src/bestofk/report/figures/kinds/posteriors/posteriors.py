"""What Bayesian tests say of pairs, as the figures of posteriors take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.errors import ArgumentError
from bestofk.pairwise.bayesian.posterior import PosteriorResult
from bestofk.pairwise.result import two_names
from bestofk.report.figures.captions import decision_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """The Student t distribution of a difference; all of it at the centre where the scale is 0."""

    centre: float
    scale: float
    df: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPosterior:
    """One learner against another, from the loss of the one less that of the other.

    Attributes
    ----------
    name, other : object
    worse, equivalent, better : float
        Probability that the loss of `name` is larger by more than the rope, that the two are
        equivalent, and that it is smaller.
    student : Student or None
        The distribution of the difference, where the test gives one.
    """

    name: object
    other: object
    worse: float
    equivalent: float
    better: float
    student: Student | None

    @property
    def words(self) -> str:
        """The most probable of the three."""
        said = {"worse": self.worse, "equivalent": self.equivalent, "better": self.better}
        return max(said, key=lambda word: said[word])


@dataclass(frozen=True, slots=True, kw_only=True)
class Posteriors:
    """Learners against one other.

    Attributes
    ----------
    pairs : tuple of PairPosterior
    rope : float
        Differences up to so much count as none.
    test, metric_words : str
        The test, and what the difference is of.
    single : PosteriorResult or None
        Where there is one pair, given as the result of a test.
    """

    pairs: tuple[PairPosterior, ...]
    rope: float
    test: str
    metric_words: str
    single: PosteriorResult | None = None


def posteriors_of(value: Any, kind: str, names: Sequence[str] | None = None) -> Posteriors:
    """The posterior of every learner against the recommended one, or of the one pair of a test.

    Parameters
    ----------
    value : PosteriorResult, Order or Study
    kind : str
        The figure that asks.
    names : two str, optional
        Of the learners of a PosteriorResult.
    """
    if isinstance(value, PosteriorResult):
        if np.ndim(value.pvalue):
            raise ArgumentError(
                f"figure {kind!r}: the result of one pair is needed; got several pairs."
            )  # fmt: skip
        a, b = two_names(names)
        return Posteriors(
            pairs=(_one(value, a, b),),
            rope=value.rope_width,
            test=value.test,
            metric_words="loss",
            single=value,
        )
    order = decision_of(value)
    evidence = order.evidence
    if evidence.bayesian is None or evidence.rope is None:
        raise ArgumentError(
            f"figure {kind!r}: it shows posterior probabilities, and there are none: decide with "
            "rope=, the largest difference that does not matter, such as rope=0.01."
        )
    own = order.smallest_mean if order.recommended is None else order.recommended
    at = {name: k for k, name in enumerate(evidence.names)}
    others = sorted((name for name in order.prior if name != own), key=lambda n: order.means[n])
    sample: Any = evidence.found.get("bayesian sample", evidence.values)
    tested: Any = evidence.bayesian(
        sample[[at[name] for name in others]], sample[[at[own]] * len(others)], "two-sided"
    )
    return Posteriors(
        pairs=tuple(_one(tested, name, own, k) for k, name in enumerate(others)),
        rope=float(evidence.rope),
        test=evidence.bayesian.name,
        metric_words=order.metric.mean,
    )


def _one(
    result: PosteriorResult, name: object, other: object, row: int | None = None
) -> PairPosterior:
    def number(part: Any) -> float:
        array = np.asarray(part, dtype=float)
        return float(array if array.ndim == 0 else array[row])

    student = None
    if result.standard_error is not None and result.pivot is not None:
        df = result.df if isinstance(result.df, int | float) else 1.0
        student = Student(
            centre=number(result.pivot), scale=number(result.standard_error), df=float(df)
        )
    return PairPosterior(
        name=name,
        other=other,
        worse=number(result.right),
        equivalent=number(result.rope),
        better=number(result.left),
        student=student,
    )


def share(probability: float) -> str:
    """A probability in little room; nothing is certain.

    Examples
    --------
    >>> share(0.5), share(0.99999), share(0.00001), share(0.0)
    ('0.50', '>0.99', '<0.01', '<0.01')
    """
    if probability > 0.995:
        return ">0.99"
    return "<0.01" if probability < 0.005 else f"{probability:.2f}"
