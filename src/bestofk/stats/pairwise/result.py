"""The result of a pairwise test, its interval, and its sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Alternative, Floats, probability
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import number, pvalue_words
from bestofk._base.results import Drawn, open_level

FloatOrArray = float | Floats
Estimand = Literal["mean", "typical"]
"""The difference that a test is about: of the means, or the typical one (pseudomedian, median)."""


def comparison(a: str, b: str, estimate: float, quantity: str, details: str) -> str:
    """State which learner has the smaller loss, and by how much."""
    if estimate == 0:
        return f"{a} and {b} have the same {quantity} ({details})."
    better, worse = (a, b) if estimate < 0 else (b, a)
    return (
        f"{better} has a smaller {quantity} than {worse}, by {number(abs(estimate))} ({details})."
    )


class Interval(NamedTuple):
    """The ends of a confidence or credible interval; an open end is infinite."""

    low: FloatOrArray
    high: FloatOrArray


def scalar_or_array(value: Any) -> FloatOrArray:
    """Return a Python float for a 0-dimensional value, else an array of float64."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def one_sided(low: Any, high: Any, alternative: Alternative) -> Interval:
    """Return the interval; a one-sided alternative makes one end infinite."""
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if alternative == "greater":
        high = np.full_like(high, np.inf)
    elif alternative == "less":
        low = np.full_like(low, -np.inf)
    return Interval(scalar_or_array(low), scalar_or_array(high))


def tail_level(level: float, alternative: Alternative) -> float:
    """Return the probability in each tail outside an interval of this level."""
    outside = 1.0 - probability(level, "level")
    return outside / 2 if alternative == "two-sided" else outside


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseResult(Drawn):
    """Result of a pairwise test of two learners.

    Attributes
    ----------
    test : str
        Name of the test, as in the registry.
    statistic, pvalue : float or ndarray
        Floats for one pair; arrays over the leading axes otherwise.
    df : float, tuple of two floats, or None
        Degrees of freedom; two for F; None if the test has none.
    estimate : float or ndarray
        The estimated difference, negative if `a` has the smaller loss: ``mean(a) - mean(b)``, or
        the typical difference if `estimand` is ``"typical"``.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    pivot, standard_error : float, ndarray or None
        Centre and standard error of the interval, if it is a t interval (without `df`: normal).
    direction : float, ndarray or None
        Positive if the statistic is evidence for a greater loss of `a`, negative for a greater
        loss of `b`, 0 for neither; None: the sign of `estimate`.
    estimand : {"mean", "typical"}
        The difference that test, estimate and interval are about: that of the means, or the
        typical one (the pseudomedian or median of the differences).
    note : str
        A remark for the reader; often empty.
    losses : tuple of ndarray
        The two inputs (not copied), for intervals and figures that need the differences.
    interval_rule : callable or None
        ``interval_rule(result, level)`` returns the interval, if it is not a t interval.
    """

    test: str
    statistic: FloatOrArray
    pvalue: FloatOrArray
    df: float | tuple[float, float] | None
    estimate: FloatOrArray
    alternative: Alternative
    pivot: FloatOrArray | None = None
    standard_error: FloatOrArray | None = None
    direction: FloatOrArray | None = None
    estimand: Estimand = "mean"
    note: str = ""
    losses: tuple[Floats, ...] = field(default=(), repr=False, compare=False)
    interval_rule: Callable[[PairwiseResult, float], Interval] | None = field(
        default=None, repr=False, compare=False
    )

    def confidence_interval(self, level: float = 0.95) -> Interval:
        """Return the interval of the difference of losses by inverting the test.

        Parameters
        ----------
        level : float
            Coverage, strictly between 0 and 1.

        Returns
        -------
        Interval
            `low` and `high`; one of them is infinite if the alternative is one-sided. If the
            differences have no spread, both are infinite, or that difference if it is significant.
        """
        level = probability(level, "level")
        low, high = self._inverted(level)
        # without any spread only the sign of a mean is known, which may exclude no difference
        error = self.standard_error
        still = np.equal(low, high) if error is None else np.equal(error, 0.0)
        unknown = still & (np.asarray(self.pvalue) > 1.0 - level) & (self.estimand == "mean")
        if not np.any(unknown):
            return Interval(low, high)
        return Interval(
            scalar_or_array(np.where(unknown, -np.inf, low)),
            scalar_or_array(np.where(unknown, np.inf, high)),
        )

    def _inverted(self, level: float) -> Interval:
        """Return the interval of a test whose differences have some spread."""
        if self.interval_rule is not None:
            return self.interval_rule(self, level)
        if self.pivot is None or self.standard_error is None or isinstance(self.df, tuple):
            raise ArgumentError(f"confidence_interval: the test {self.test!r} has no interval.")
        from bestofk.stats.tails import normal_quantile, t_quantile

        # the upper quantile from the lower tail, so that no digit is lost
        tail = tail_level(level, self.alternative)
        q = -(normal_quantile(tail) if self.df is None else t_quantile(tail, self.df))
        half = q * np.asarray(self.standard_error)
        return one_sided(self.pivot - half, self.pivot + half, self.alternative)

    def of_pairs(self, rows: npt.NDArray[np.int64]) -> PairwiseResult | None:
        """Return the result of some pairs; None if the interval depends on more than the result."""
        rule = self.interval_rule
        depends = rule is not None and (not isinstance(rule, FunctionType) or rule.__closure__)
        if depends or np.ndim(self.pvalue) != 1:
            return None
        columns: dict[str, Any] = {
            name: np.asarray(value)[rows]
            for name in ("statistic", "pvalue", "estimate", "pivot", "standard_error", "direction")
            if (value := getattr(self, name)) is not None
        }
        return replace(self, **columns, losses=tuple(side[rows] for side in self.losses))

    def _columns(self) -> dict[str, Any]:
        """Return one row per comparison."""
        p = np.atleast_1d(self.pvalue).ravel()

        def column(values: Any) -> Floats:
            return np.broadcast_to(np.asarray(values, dtype=float), np.shape(self.pvalue)).ravel()

        degrees: dict[str, Any] = {}
        if isinstance(self.df, tuple):
            degrees = {"df_1": [self.df[0]] * len(p), "df_2": [self.df[1]] * len(p)}
        elif self.df is not None:
            degrees = {"df": [self.df] * len(p)}
        return {
            "test": [self.test] * len(p),
            "alternative": [self.alternative] * len(p),
            "estimate": column(self.estimate),
            "statistic": column(self.statistic),
            **degrees,
            "pvalue": p,
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

        Parameters
        ----------
        names : two str, optional
            Names of the two learners; ``a`` and ``b`` by default.
        alpha : float, optional
            Significance level; 0.05 by default.
        """
        a, b = two_names(names)
        alpha = open_level(alpha)
        if np.ndim(self.pvalue):
            return _explain_many(self, a, b, alpha)
        details = f"{self.test} test, {self._numbers(alpha)}"
        first = comparison(a, b, float(self.estimate), f"{self.estimand} loss", details)
        return f"{first} {self._verdict(a, b, alpha)} {self.note}".rstrip()

    def _verdict(self, a: str, b: str, alpha: float) -> str:
        """State whether the difference is significant, and a direction that contradicts it."""
        rejected, level = self.pvalue <= alpha, f"at level {alpha:g}"
        if self.alternative != "two-sided":
            relation = "at most" if self.alternative == "greater" else "at least"
            outcome = "is rejected" if rejected else "is not rejected"
            claim = f"the loss of {a} is {relation} that of {b}"
            sentence = f"The hypothesis that {claim} {outcome} {level}."
        elif rejected:
            sentence = f"The difference is significant {level}."
        else:
            sentence = f"There is no evidence of a difference {level}."
        direction = np.sign(self.estimate if self.direction is None else self.direction)
        if direction and direction * self.estimate <= 0:
            values = "means" if self.estimand == "mean" else "typical differences"
            equal = f"although the {values} are equal"
            contrast = equal if self.estimate == 0 else f"unlike the {values}"
            sentence += f" The statistic favours {b if direction > 0 else a}, {contrast}."
        return sentence

    def _numbers(self, alpha: float) -> str:
        if self.df is None:
            degrees = ""
        elif isinstance(self.df, tuple):
            degrees = f", df = {self.df[0]:g} and {self.df[1]:g}"
        else:
            degrees = f", df = {self.df:g}"
        sides = "two-sided" if self.alternative == "two-sided" else "one-sided"
        p = pvalue_words(float(self.pvalue), alpha)
        return f"statistic = {number(float(self.statistic))}{degrees}, {sides} {p}"


def two_names(names: Sequence[str] | None) -> tuple[str, str]:
    """Return the names of two learners; a and b by default."""
    if names is None:
        return "a", "b"
    if isinstance(names, str) or len(names) != 2:
        raise ArgumentError(f"names must be the names of the two learners; got {names!r:.80}.")
    return str(names[0]), str(names[1])


def _explain_many(result: PairwiseResult, a: str, b: str, alpha: float) -> str:
    p = np.asarray(result.pvalue)
    if p.size == 0:
        return f"There are no comparisons of {a} with {b}."
    estimate = np.asarray(result.estimate)
    direction = np.sign(estimate if result.direction is None else np.asarray(result.direction))
    rejected = p <= alpha
    claim = {
        "two-sided": f"{a} and {b} have the same loss",
        "greater": f"the loss of {a} is at most that of {b}",
        "less": f"the loss of {a} is at least that of {b}",
    }[result.alternative]
    sentences = (
        f"{p.size} comparisons of {a} with {b} ({result.test} test, {result.alternative}): "
        f"the hypothesis that {claim} is rejected at level {alpha:g} in {int(rejected.sum())} of "
        f"them (not corrected for multiple testing), in favour of {a} in "
        f"{int((rejected & (direction < 0)).sum())} and of {b} in "
        f"{int((rejected & (direction > 0)).sum())}. The {result.estimand} loss of {a} is smaller "
        f"in {int((estimate < 0).sum())}, larger in {int((estimate > 0).sum())} and the same in "
        f"{int((estimate == 0).sum())}. The smallest p-value: {pvalue_words(float(p.min()))}."
    )
    return f"{sentences} {result.note}".rstrip()
