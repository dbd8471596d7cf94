"""The user's metric: what a loss is called, and how it is shown in the direction it came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from bestofk.checks import Floats

Number = TypeVar("Number", float, Floats)
_CALLED = {"zero-one": "error", "r2": "R²"}
"""Losses that have a name of their own in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What the numbers are for the person who brought them.

    Attributes
    ----------
    name : str
        ``"error"``, ``"accuracy"``, ``"AUC"``, ...
    higher_is_better : bool
        The numbers are scores; inside the library they are losses, ``offset - score``.
    offset : float
        1 for scores that end at 1, else 0.
    """

    name: str = "loss"
    higher_is_better: bool = False
    offset: float = 0.0

    def shown(self, loss: Number) -> Number:
        """A loss as the value that the user knows."""
        return self.offset - loss if self.higher_is_better else loss

    def difference(self, losses: Number) -> Number:
        """A difference of losses as a difference of the values that the user knows."""
        # not -0.0
        return 0.0 - losses if self.higher_is_better else losses

    def interval(self, low: Number, high: Number) -> tuple[Number, Number]:
        """The interval of a difference of losses, for the values that the user knows."""
        return (0.0 - high, 0.0 - low) if self.higher_is_better else (low, high)

    @property
    def smallest(self) -> str:
        """``smallest`` for a loss, ``largest`` for a score: the word for the best mean."""
        return "largest" if self.higher_is_better else "smallest"

    @property
    def smaller(self) -> str:
        """``smaller`` for a loss, ``larger`` for a score: the word for a better mean."""
        return "larger" if self.higher_is_better else "smaller"

    @property
    def direction(self) -> str:
        """``smaller is better`` or ``larger is better``."""
        return f"{self.smaller} is better"

    @property
    def mean(self) -> str:
        """``mean error``."""
        return f"mean {self.name}"


def metric_of(loss_name: str) -> Metric:
    """The metric behind the name of a loss: ``1 - accuracy`` stands for accuracy.

    Examples
    --------
    >>> metric_of("1 - accuracy")
    Metric(name='accuracy', higher_is_better=True, offset=1.0)
    >>> metric_of("zero-one").name, metric_of("-reward").higher_is_better
    ('error', True)
    """
    for start, offset in (("1 - ", 1.0), ("-", 0.0)):
        name = loss_name.removeprefix(start)
        if name != loss_name and name.strip():
            return Metric(name=_CALLED.get(name, name), higher_is_better=True, offset=offset)
    return Metric(name=_CALLED.get(loss_name, loss_name))
