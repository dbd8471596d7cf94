"""What a Bayesian comparison returns: the three probabilities, and their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestofk.checks import Alternative, refuse
from bestofk.pairwise.result import FloatOrArray, PairwiseResult, scalar_or_array, two_names
from bestofk.presenting import open_level
from bestofk.spoken_metric import spoken
from bestofk.wording import number


class Probabilities(NamedTuple):
    """What is known of two learners: three probabilities that add up to 1.

    Attributes
    ----------
    a_better, equivalent, b_better : float or ndarray
        That the loss of `a` is smaller by more than the region of practical equivalence, that
        the two are equivalent, and that the loss of `b` is smaller.
    """

    a_better: FloatOrArray
    equivalent: FloatOrArray
    b_better: FloatOrArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorResult(PairwiseResult):
    """Posterior probabilities about two learners; the fields of `PairwiseResult` and these.

    Attributes
    ----------
    left, rope, right : float or ndarray
        Probability that the loss of `a` is smaller than that of `b` by more than the region of
        practical equivalence, that the two are equivalent, and that the loss of `a` is larger.
    rope_width : float
        Half the width of the region: differences from -rope_width to rope_width.
    pvalue : float or ndarray
        What stands in a procedure where a p-value would: 1 - right (``"greater"``), 1 - left
        (``"less"``), or twice the smaller of the two, at most 1 (``"two-sided"``). It is a
        posterior probability and promises no rate of errors.
    """

    left: FloatOrArray
    rope: FloatOrArray
    right: FloatOrArray
    rope_width: float

    @property
    def probabilities(self) -> Probabilities:
        """That `a` is better, that both are equivalent, that `b` is better."""
        return Probabilities(self.left, self.rope, self.right)

    def _columns(self) -> dict[str, Any]:
        """One row per comparison."""
        probabilities = {
            name: np.broadcast_to(np.asarray(p, dtype=float), np.shape(self.pvalue)).ravel()
            for name, p in self.probabilities._asdict().items()
        }
        # not super(): the class was made anew to have slots
        return {**PairwiseResult._columns(self), **probabilities}

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The result in sentences, ready to print.

        Parameters
        ----------
        names : two str, optional
            Names of the two learners; ``a`` and ``b`` by default.
        alpha : float, optional
            A statement is called decided when its probability is at least 1 - alpha; 0.05 by
            default.
        """
        a, b = two_names(names)
        alpha = open_level(alpha)
        if np.ndim(self.pvalue):
            return _explain_many(self, a, b, alpha)
        estimate = float(self.estimate)
        if estimate == 0:
            first = f"{a} and {b} have the same {spoken().mean} ({self.test})."
        else:
            better, worse = (a, b) if estimate < 0 else (b, a)
            first = (
                f"{better} has a {spoken().smaller} {spoken().mean} than {worse}, by "
                f"{number(abs(estimate))} ({self.test})."
            )
        margin = f" by more than {self.rope_width:g}" if self.rope_width else ""
        claims = {
            f"{a} has the {spoken().smaller} {spoken().name}{margin}": float(self.left),
            f"{b} has the {spoken().smaller} {spoken().name}{margin}": float(self.right),
        }
        equivalent = (
            f"the two differ by at most {self.rope_width:g}"
            if self.rope_width
            else f"the two have the same {spoken().name}"
        )
        if self.rope_width or float(self.rope) > 0:
            claims[equivalent] = float(self.rope)
        listed = ", that ".join(f"{claim} {_is(p)}" for claim, p in claims.items())
        sentences = f"{first} Given the data, the probability that {listed}."
        sure = [claim for claim, p in claims.items() if p >= 1 - alpha]
        verdict = (
            f"With probability at least {1 - alpha:g}, {sure[0]}."
            if sure
            else f"None of these reaches {1 - alpha:g}: the comparison is undecided."
        )
        return f"{sentences} {verdict} {self.note}".rstrip()


def _is(p: float) -> str:
    """Four digits, and nothing is certain."""
    if 1e-4 <= p < 0.99995:
        return f"is {p:.4f}"
    return "is below 0.0001" if p < 0.5 else "is above 0.9999"


def _explain_many(result: PosteriorResult, a: str, b: str, alpha: float) -> str:
    count = np.size(result.pvalue)
    if count == 0:
        return f"No comparison of {a} with {b} was made."
    sure = {
        f"{a} has the smaller loss": np.asarray(result.left),
        f"{b} has the smaller loss": np.asarray(result.right),
        "the two are equivalent": np.asarray(result.rope),
    }
    parts = ", ".join(f"{claim} in {int((p >= 1 - alpha).sum())}" for claim, p in sure.items())
    sentences = (
        f"{count} comparisons of {a} with {b} ({result.test}): with probability at least "
        f"{1 - alpha:g}, {parts} of them."
    )
    return f"{sentences} {result.note}".rstrip()


def rope_half_width(rope: Any) -> float:
    """The region of practical equivalence as a finite number of at least 0."""
    try:
        width = float(rope)
    except (TypeError, ValueError):
        raise refuse("rope", "a number of at least 0", rope) from None
    if not (np.isfinite(width) and width >= 0):
        raise refuse("rope", "a number of at least 0", rope)
    return width


def posterior_pvalue(not_right: Any, not_left: Any, alternative: Alternative) -> FloatOrArray:
    """The p-value from the probabilities that the loss of a is not greater, not smaller."""
    if alternative == "greater":
        return scalar_or_array(not_right)
    if alternative == "less":
        return scalar_or_array(not_left)
    return scalar_or_array(np.minimum(1.0, 2.0 * np.minimum(not_right, not_left)))
