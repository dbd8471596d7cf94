"""Sentences about a pair of learners: who has the smaller loss, and what that is worth."""

from __future__ import annotations

from bestofk.checks import Alternative
from bestofk.spoken_metric import spoken
from bestofk.wording import number


def verdict(
    a: str,
    b: str,
    *,
    estimate: float,
    direction: float,
    pvalue: float,
    alternative: Alternative,
    alpha: float,
    details: str,
) -> str:
    """Who is better, by how much, and whether that is significant.

    `direction` is the sign of the evidence (positive: the loss of `a` is greater); where it
    contradicts the sign of the estimate, that is said.
    """
    if estimate == 0:
        first = f"{a} and {b} have the same {spoken().mean} ({details})."
    else:
        better, worse = (a, b) if estimate < 0 else (b, a)
        first = (
            f"{better} has a {spoken().smaller} {spoken().mean} than {worse}, by "
            f"{number(abs(estimate))} ({details})."
        )
    rejected = pvalue <= alpha
    level = f"at level {alpha:g}"
    if alternative == "two-sided":
        second = (
            f"The difference is significant {level}."
            if rejected
            else f"There is no evidence of a difference {level}."
        )
    else:
        most = (alternative == "greater") != spoken().higher_is_better
        relation = "at most" if most else "at least"
        outcome = "is rejected" if rejected else "is not rejected"
        what = f"the {spoken().name} of {a} is {relation} that of {b}"
        second = f"The hypothesis that {what} {outcome} {level}."
    if direction and direction * estimate <= 0:
        better = b if direction > 0 else a
        although = "although the means are the same" if estimate == 0 else "against the means"
        second += f" The statistic speaks for {better}, {although}."
    return f"{first} {second}"
