"""How many items, or epochs of the same items, would show a difference between two models."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite, sqrt
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, positive, probability
from bestofk._base.formatting import capitalised, counted, number
from bestofk._base.results import Presented
from bestofk.stats.pairwise.clustered import Clusters
from bestofk.stats.tails import normal_quantile

POWER = 0.8


def items_needed(
    difference: float,
    *,
    between: float,
    within: tuple[float, float] = (0.0, 0.0),
    epochs: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    power: float = POWER,
) -> int:
    """Items at which a two-sided test of level alpha shows a difference with some power.

    Parameters
    ----------
    difference : float
        The true difference of the means.
    between : float
        Variance between items of the difference of the two models' expected scores.
    within : tuple of two floats
        Variances between the epochs of one item, of either model.
    epochs : tuple of two ints
        Epochs of either model.
    alpha, power : float
        Of the test.

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
    z = reach(alpha, power)
    variance = between + within[0] / epochs[0] + within[1] / epochs[1]
    return max(ceil(z**2 * variance / difference**2 - 1e-9), 2)


def reach(alpha: float, power: float = POWER, *, sides: int = 2) -> float:
    """How many standard errors a difference must be for a test to have that power."""
    tail = probability(alpha, "alpha") / sides
    return float(-normal_quantile(tail) + normal_quantile(probability(power, "power")))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPlan(Presented):
    """What these items could show of two models, and what it would take to settle the pair.

    Attributes
    ----------
    pair : tuple of two str
        The models.
    difference : float
        The observed difference of their mean losses.
    items, epochs : int
        Items now, and the epochs of an item (the median).
    standard_error : float
        Of the difference, over clusters.
    between, within : float
        Share of the variance of an item's difference that more epochs leave, and the variance
        between epochs that they divide (of both models together); NaN where there is one epoch.
    smallest_shown : float
        The difference that these items show with a chance of 0.8.
    items_to_settle : int or None
        Items at which the observed difference would be shown with that chance; None where there
        is no difference.
    epochs_to_settle : int or None
        Epochs of the same items at which it would; None where no number of them is enough, or
        where it is not known.
    level : float
        The level of the test, after correction.
    largest : float
        The largest difference that is possible.
    """

    pair: tuple[str, str]
    difference: float
    items: int
    epochs: int
    standard_error: float
    between: float
    within: float
    smallest_shown: float
    items_to_settle: int | None
    epochs_to_settle: int | None
    level: float
    largest: float = float("inf")

    def explain(self) -> str:
        """The plan in sentences."""
        a, b = self.pair
        if not isfinite(self.smallest_shown):
            return f"Nothing is known of how {a} and {b} vary between clusters: there is one."
        corrected = (
            "" if abs(self.level - 0.05) < 1e-12 else f" at the corrected level {self.level:.2g}"
        )
        said = (
            f"The smallest difference between {a} and {b} that {counted(self.items, 'item')} would "
            f"show{corrected} with probability {POWER:g} is {number(self.smallest_shown)}."
        )
        if self.smallest_shown > self.largest:
            said = (
                f"{capitalised(counted(self.items, 'item'))} {'is' if self.items == 1 else 'are'} "
                f"too few to show any difference between {a} and {b}{corrected} with probability "
                f"{POWER:g}."
            )
        settle = self.items_to_settle
        if settle is None or settle <= self.items:
            return said
        said += (
            f" If the true difference is the observed {number(abs(self.difference))}, about "
            f"{settle:,} items (now {self.items:,}) would settle it"
        )
        if self.epochs_to_settle is not None:
            said += f", or {self.epochs_to_settle:,} epochs of the same items (now {self.epochs})"
        elif np.isfinite(self.within):
            said += "; more epochs of the same items would not"
        return said + "."


def item_plan(
    pair: tuple[str, str],
    d: Floats,
    epoch_variance: Floats,
    count: Any,
    held: Clusters,
    *,
    unit: float,
    level: float,
) -> ItemPlan:
    """The plan for differences d (n,) of two models.

    `epoch_variance` and `count` are (2, n): the variances between the epochs of each item, NaN
    where there is one, and their numbers.
    """
    n = d.shape[-1]
    error = float(held.standard_error(held.totals(d), unit=unit)[0])
    z = reach(level)
    mean = float(d.mean())
    known = np.isfinite(epoch_variance).all(axis=0)
    between = within = float("nan")
    epochs = max(int(np.median(count)), 1)
    total = error * error * n  # variance of one item's difference, with what clusters add to it
    if known.any() and isfinite(error):
        noise = float((epoch_variance / count)[:, known].sum(axis=0).mean())
        within = float(epoch_variance[:, known].sum(axis=0).mean())
        between = max(total - noise, 0.0)
    settle: int | None = None
    more: int | None = None
    if abs(mean) > 1e-12 and isfinite(total):
        settle = items_needed(mean, between=total, alpha=level)
        left = n * (mean / z) ** 2 - between
        if isfinite(within) and within > 0 and left > 0:
            more = max(ceil(within / left - 1e-9), epochs)
            more = None if more <= epochs else more
    return ItemPlan(
        pair=pair,
        difference=mean,
        items=n,
        epochs=epochs,
        standard_error=error,
        between=between,
        within=within,
        smallest_shown=z * error if isfinite(error) else inf,
        items_to_settle=settle,
        epochs_to_settle=more,
        level=level,
        largest=unit,
    )


def items_for_margin(room: float, variance: float, *, level: float) -> int | None:
    """Items at which the bound falls below the margin; `room`: margin less the true difference."""
    if room <= 0 or not isfinite(variance):
        return None
    return max(ceil((reach(level, sides=1) * sqrt(variance) / room) ** 2), 2)
