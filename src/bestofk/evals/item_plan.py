"""The number of items or epochs that would show a difference between two models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, isfinite, sqrt

from bestofk._base.checks import Floats, positive, probability
from bestofk._base.formatting import number
from bestofk._base.results import Presented
from bestofk.decide.power.exact import mcnemar_power
from bestofk.decide.power.planned import MAX_TIMES, smallest_count, smallest_effect
from bestofk.decide.power.simulated import unit_power
from bestofk.stats.pairwise.clustered import Clusters
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.stats.tails import normal_quantile, t_sf

POWER = 0.8
"""Probability of showing a difference that plans aim at."""
PEEKING = (
    "Fix the number of items before you look at the new scores: looks at 200 and at 1,000 items "
    "made a wrong claim about equal models in 9.5 percent instead of 5, and five looks in 14.5."
)
"""Measured by studies/evals_plans.py."""


def items_needed(
    difference: float,
    *,
    between: float,
    within: tuple[float, float] = (0.0, 0.0),
    epochs: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = POWER,
) -> int:
    """Return the items that a two-sided test needs to show a difference with some power.

    The formula is for many items, about 50 or more.

    Parameters
    ----------
    difference : float
        The true difference of the means.
    between : float
        Variance between items of the difference of the two models' expected scores.
    within : tuple of two floats
        Variances between the epochs of one item, for each model.
    epochs : tuple of two ints
        Epochs of each model.
    alpha, power : float
        Level and power of the test.

    Returns
    -------
    int
        (z_{alpha/2} + z_{power})^2 (between + within_a / epochs_a + within_b / epochs_b) /
        difference^2, rounded up.

    References
    ----------
    E. Miller (2024). Adding error bars to evals: a statistical approach to language model
    evaluations. arXiv:2411.00640

    Examples
    --------
    Three points between models that agree on most of the answers:

    >>> items_needed(0.03, between=1 / 9)
    969
    """
    positive(abs(difference), "difference")
    z = detectable_errors(alpha, power)
    variance = between + within[0] / epochs[0] + within[1] / epochs[1]
    return max(ceil(z**2 * variance / difference**2 - 1e-9), 2)


def detectable_errors(alpha: float, power: float = POWER) -> float:
    """Return the difference that a test of many items shows, in standard errors."""
    tail = probability(alpha, "alpha") / 2
    return float(-normal_quantile(tail) + normal_quantile(probability(power, "power")))


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreItems(Presented):
    """The chance that more items decide between the recommended model and its nearest rival.

    - `pair`: The models.
    - `items`, `more`: Current and additional items.
    - `chance`: The chance that the test of all items shows a difference, over the true differences
      that the current items allow.
    - `chance_if_observed`: The same if the true difference is the observed one.
    - `settled`: Whether the difference is shown already.
    - `needed`: Items that show `difference` with probability 0.8; None if there is no such
      difference.
    - `difference`: A difference to plan for.
    """

    pair: tuple[str, str]
    items: int
    more: int | None
    chance: float
    chance_if_observed: float
    settled: bool
    needed: int | None = None
    difference: float | None = None

    def explain(self) -> str:
        """Return the chance and the number of items in sentences."""
        first, second = self.pair
        sentences = []
        if self.more is not None and self.settled:
            sentences.append(f"The difference between {first} and {second} is shown already.")
        elif self.more is not None:
            sentences += [
                f"{self.items:,} items are done; with {self.more:,} more the chance to decide "
                f"between {first} and {second} is {self.chance:.2f} "
                f"({self.chance_if_observed:.2f} if the observed difference is the true one).",
                PEEKING,
            ]
        if self.difference is not None:
            needed = "more than two million" if self.needed is None else f"about {self.needed:,}"
            sentences.append(
                f"To show a difference of {number(self.difference)} between {first} and {second} "
                f"with probability {POWER:g}, you need {needed} items (now {self.items:,})."
            )
        return " ".join(sentences)


def chance_to_decide(
    difference: float, error: float, df: float, items: int, more: int, power: PowerCurve
) -> tuple[float, float]:
    """Return the chance that `more` items show a difference, given the current ones.

    The first number averages over the true differences that the current items allow (a flat
    prior); the second takes the observed difference as true.

    - `difference`, `error`, `df`: The observed difference, its standard error and the degrees of
      freedom.
    - `items`, `more`: Current and additional items.
    - `power`: The power of the test for a difference with a number of items.
    """
    total = items + more
    if not (isfinite(error) and error > 0.0):
        return (0.0, 0.0) if difference == 0.0 else (1.0, 1.0)
    # a difference of all items that is just shown has power one half
    critical = smallest_effect(lambda errors: power(float(errors) * error, total), 0.5) * error
    if not isfinite(critical):
        return 0.0, 0.0
    spreads = error * sqrt(more / total), error * sqrt(items * more) / total
    chances = [
        float(
            t_sf((critical - abs(difference)) / spread, df)
            + t_sf((critical + abs(difference)) / spread, df)
        )
        for spread in spreads
    ]
    return chances[0], chances[1]


PowerCurve = Callable[[float, int], float]
"""Power of a test for a difference with a number of items."""


def disagreement_curve(discordance: float, level: float) -> PowerCurve:
    """Return the power of McNemar's test if the models disagree on this share of the items."""

    def power(difference: float, items: int) -> float:
        return mcnemar_power(items, max(discordance, difference), difference, level)

    return power


def cluster_curve(
    d: Floats, clusters: Clusters, entry: PairwiseTest | None, level: float, *, unit: float = 0.0
) -> PowerCurve:
    """Return the power of a test over clusters, for more clusters like these.

    Each cluster counts as one unit of the same test over units; a test without an entry, or one
    whose power is not simulated, counts as a t test. In t tests, clusters of unequal size count as
    fewer clusters of equal size with the same degrees of freedom.
    """
    error, df = clusters.standard_error(clusters.totals(d), unit=unit)
    simulated = entry is not None and entry.power == "simulated"
    flips = entry is not None and simulated and not entry.widened
    test = "permutation" if flips else "skew-corrected-t" if simulated else None
    equivalent = float(len(clusters)) if flips else float(df) + 1.0
    sd = float(error) * sqrt(equivalent)

    def power(difference: float, items: int) -> float:
        n = round(equivalent * items / d.shape[-1])
        if n < 2 or not isfinite(sd):
            return 0.0
        return float(unit_power(test, difference / sd if sd > 0.0 else inf, n, level))

    return power


def items_for(curve: PowerCurve, difference: float, items: int) -> int | None:
    """Return the items, from the current number on, that show a difference; None if too many."""
    if difference <= 0.0:
        return None
    return smallest_count(lambda n: curve(difference, n), items, POWER)


def items_from_start(curve: PowerCurve, difference: float) -> int | None:
    """Return the items that show a difference; None if two million are not enough."""
    return items_for(curve, difference, 2) or items_for(curve, difference, 2 * MAX_TIMES)
