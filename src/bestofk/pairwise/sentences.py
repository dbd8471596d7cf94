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
    """Who is better, by how much, and whether that is significant; ties are named as ties.

    `direction` is the sign of the evidence (positive: the loss of `a` is greater); where it
    contradicts the sign of the estimate, or the estimate is a tie, that is said.
    """
    if estimate == 0:
        first = f"{a} and {b} are tied: they have the same mean loss ({details})."
    else:
        better, worse = (a, b) if estimate < 0 else (b, a)
        first = (
            f"{better} has a smaller mean loss than {worse}, by {number(abs(estimate))} "
            f"({details})."
        )
    rejected = pvalue <= alpha
    level = f"at level {alpha:g}"
    if alternative == "two-sided":
        if rejected:
            second = f"The difference is significant {level}."
        else:
            second = f"The difference is not significant {level}."
            if estimate == 0 and pvalue == 1.0:
                second = f"There is no evidence of a difference {level}."
    else:
        relation = "at most" if alternative == "greater" else "at least"
        outcome = "is rejected" if rejected else "is not rejected"
        second = f"The hypothesis that the loss of {a} is {relation} that of {b} {outcome} {level}."
    if direction and direction * estimate <= 0:
        worse, better = (a, b) if direction > 0 else (b, a)
        whose = "the means are tied" if estimate == 0 else "against the means"
        second += f" The statistic itself speaks for {better} and against {worse} ({whose})."
    return f"{first} {second}"
