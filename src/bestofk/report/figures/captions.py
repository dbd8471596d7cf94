"""Words that several figures share, and the parts of a value that they draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bestofk.adjust import CORRECTIONS
from bestofk.errors import ArgumentError
from bestofk.ordering.registry import PROCEDURES
from bestofk.ordering.words.sentences import correction_words, level_words
from bestofk.wording import pvalue_words

if TYPE_CHECKING:
    from bestofk.losses.losses import Losses
    from bestofk.ordering.result import Order


def decision_of(value: Any) -> Order:
    """The order itself, or the decision of a study."""
    from bestofk.ordering.result import Order

    decision = getattr(value, "decision", value)
    if isinstance(decision, Order):
        return decision
    if decision is None:
        raise ArgumentError("figure: the study has no decision to draw, only failures.")
    raise ArgumentError(f"figure: an Order or a Study is needed; got {type(value).__name__}.")


def preferring(value: Any, kind: str) -> Order:
    """As `decision_of`, for figures that show how the data override a preference."""
    order = decision_of(value)
    if not order.preference.stated:
        raise ArgumentError(
            f"figure {kind!r}: it shows where the data override a preference, and none was stated: "
            "decide with prior=, or draw 'forest', 'matrix' or 'losses'."
        )
    return order


def losses_of(value: Any, losses: Any = None) -> Losses | None:
    """The losses given, or the value itself, or what it was decided from; None for none."""
    from bestofk.losses.losses import Losses

    for found in (losses, value, getattr(value, "losses", None)):
        if isinstance(found, Losses):
            return found
    problem = getattr(getattr(value, "decision", value), "problem", None)
    if problem is None:
        return None
    if problem.losses is not None:
        kept: Losses = problem.losses
        return kept
    dims = ("algorithm", "dataset") if problem.n_datasets > 1 else ("algorithm", "run", "fold")
    return Losses(problem.values, dims=dims, algorithms=problem.names)


def basis(order: Order) -> str:
    """``MultiTest, 5x2cv-t, alpha = 0.05 with Holm's correction.``"""
    procedure = order.procedure
    if procedure in PROCEDURES:
        procedure = PROCEDURES[procedure].title or procedure
    if not order.test:
        return f"{procedure}, alpha = {order.alpha:g}."
    correction = correction_words(order.evidence) if len(order.evidence) else ""
    return f"{procedure}, {order.test}, alpha = {order.alpha:g}{correction}."


def p_words(order: Order) -> str:
    """What the p-values of the evidence are."""
    if order.evidence.family.size == 1:
        return "the p-value"
    adjusted = CORRECTIONS[order.correction].adjusts
    return "the adjusted p-value" if adjusted else "the p-value, not adjusted"


def interval_words(order: Order) -> str:
    """What the intervals of the evidence promise."""
    family = order.evidence.family
    level = level_words(order.alpha)
    if family.size == 1:
        return f"Interval: {level}."
    if not CORRECTIONS[family.correction].adjusts:
        return f"Intervals: {level}, for each pair alone."
    return f"Intervals: {level}, for all pairs together."


def level_of(order: Order) -> float:
    """The coverage that goes with the level of an order."""
    return 1.0 - order.alpha


def aligned(values: Sequence[float]) -> tuple[str, ...]:
    """Numbers with equally many decimals, for a column.

    Examples
    --------
    >>> aligned([0.5, 0.1234]), aligned([12.0, 3.25])
    (('0.5000', '0.1234'), ('12.00', '3.25'))
    """
    most = max((abs(value) for value in values), default=0.0)
    if most and (most < 1e-3 or most >= 1e6):
        return tuple(minus(f"{value:.3g}") for value in values)
    digits = 4 if most < 1 else 2 if most < 1000 else 0
    return tuple(minus(f"{value:.{digits}f}") for value in values)


def minus(text: str) -> str:
    """Numbers with a true minus sign."""
    return text.replace("-", "−")


def short_p(p: float, alpha: float | None = None) -> str:
    """A p-value in little room, with the digits that sentences give it.

    Examples
    --------
    >>> short_p(0.0312), short_p(2e-7), short_p(1.0), short_p(0.0503, 0.05)
    ('0.031', '<0.0001', '1', '0.0503')
    """
    words = pvalue_words(p, alpha).removeprefix("p ").removeprefix("= ")
    return words.replace(" ", "")
