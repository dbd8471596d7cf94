"""The metric in which sentences state values: the loss, or the user's own metric if known.

Tests work on losses and do not know the scores behind them. Code that knows the metric sets it
around the sentences: ``with speaking_of("accuracy", higher_is_better=True, offset=1.0): ...``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class SpokenMetric(NamedTuple):
    """The metric of the current sentences."""

    name: str = "loss"
    higher_is_better: bool = False
    offset: float = 0.0

    def value(self, loss: float) -> float:
        """Return a loss as a value of the metric."""
        return self.offset - loss if self.higher_is_better else loss

    @property
    def mean(self) -> str:
        """The name of its mean, such as ``mean loss``."""
        return f"mean {self.name}"

    @property
    def smaller(self) -> str:
        """The word for the better of two values."""
        return "larger" if self.higher_is_better else "smaller"

    @property
    def ascending(self) -> str:
        """The word for an order from the best to the worst."""
        return "descending" if self.higher_is_better else "ascending"

    def side(self, below: bool) -> str:
        """Return ``below`` or ``above`` for the metric, if losses are `below` or not."""
        return "below" if below != self.higher_is_better else "above"


_LOSS = SpokenMetric()
_SPOKEN: ContextVar[SpokenMetric] = ContextVar("spoken", default=_LOSS)


def spoken() -> SpokenMetric:
    """Return the metric of the current sentences.

    Examples
    --------
    >>> spoken().mean, spoken().smaller
    ('mean loss', 'smaller')
    >>> with speaking_of("accuracy", higher_is_better=True, offset=1.0):
    ...     spoken().mean, spoken().smaller, spoken().value(0.25)
    ('mean accuracy', 'larger', 0.75)
    """
    return _SPOKEN.get()


@contextmanager
def speaking_of(name: str, *, higher_is_better: bool, offset: float) -> Iterator[None]:
    """Set the metric of the sentences in a block."""
    token = _SPOKEN.set(SpokenMetric(name, higher_is_better, offset))
    try:
        yield
    finally:
        _SPOKEN.reset(token)
