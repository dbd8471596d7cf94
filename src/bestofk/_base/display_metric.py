"""In which metric sentences speak: of losses, unless the reader's own metric is known.

Tests take losses, and know nothing of the scores that these come from. Whoever knows says so
around the sentences: ``with speaking_of("accuracy", higher_is_better=True, offset=1.0): ...``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class SpokenMetric(NamedTuple):
    """The metric of the sentences that are being written."""

    name: str = "loss"
    higher_is_better: bool = False
    offset: float = 0.0

    def value(self, loss: float) -> float:
        """A loss as the value that the reader knows."""
        return self.offset - loss if self.higher_is_better else loss

    @property
    def mean(self) -> str:
        """``mean loss``."""
        return f"mean {self.name}"

    @property
    def smaller(self) -> str:
        """The word for the better of two."""
        return "larger" if self.higher_is_better else "smaller"

    @property
    def ascending(self) -> str:
        """The word for an order from the best to the worst."""
        return "descending" if self.higher_is_better else "ascending"

    def side(self, below: bool) -> str:
        """``below`` or ``above``, where `below` is that of the losses."""
        return "below" if below != self.higher_is_better else "above"


_LOSS = SpokenMetric()
_SPOKEN: ContextVar[SpokenMetric] = ContextVar("spoken", default=_LOSS)


def spoken() -> SpokenMetric:
    """The metric that sentences speak of now.

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
    """Let sentences speak of a metric."""
    token = _SPOKEN.set(SpokenMetric(name, higher_is_better, offset))
    try:
        yield
    finally:
        _SPOKEN.reset(token)
