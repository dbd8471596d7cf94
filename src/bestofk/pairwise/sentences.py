"""Sentences about a pair of learners: who has the smaller loss, and what that is worth."""

from __future__ import annotations

from bestofk.checks import Alternative
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
        first = f"{a} and {b} have the same mean loss ({details})."
    else:
        better, worse = (a, b) if estimate < 0 else (b, a)
        first = (
            f"{better} has a smaller mean loss than {worse}, by {number(abs(estimate))} "
            f"({details})."
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
        relation = "at most" if alternative == "greater" else "at least"
        outcome = "is rejected" if rejected else "is not rejected"
        second = f"The hypothesis that the loss of {a} is {relation} that of {b} {outcome} {level}."
    if direction and direction * estimate <= 0:
        better = b if direction > 0 else a
        although = "although the means are the same" if estimate == 0 else "against the means"
        second += f" The statistic speaks for {better}, {although}."
    return f"{first} {second}"
