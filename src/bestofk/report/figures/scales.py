"""From data to places: linear and logarithmic scales with round ticks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Data from `low` to `high` at places from `start` to `end`, in points."""

    low: float
    high: float
    start: float
    end: float
    kind: Literal["linear", "log"] = "linear"

    def __call__(self, value: float) -> float:
        """The place of a value; values outside stand at the ends."""
        share = (self._along(value) - self._along(self.low)) / (
            self._along(self.high) - self._along(self.low)
        )
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def data(self, place: float) -> float:
        """The value at a place, also beyond the ends."""
        share = (place - self.start) / (self.end - self.start)
        along = self._along(self.low) + share * (self._along(self.high) - self._along(self.low))
        return float(10.0**along) if self.kind == "log" else along

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """Round values inside, at most so many."""
        low, high = sorted((self.low, self.high))
        if self.kind == "log":
            return _log_ticks(low, high, most)
        return round_ticks(low, high, most)

    def _along(self, value: float) -> float:
        return log10(max(value, 1e-300)) if self.kind == "log" else value


def around(low: float, high: float, *, margin: float = 0.04) -> tuple[float, float]:
    """The ends of an axis for data between `low` and `high`: a little wider, never of width 0.

    Examples
    --------
    >>> around(0.0, 1.0), around(2.0, 2.0)
    ((-0.04, 1.04), (1.0, 3.0))
    """
    width = high - low
    if not width > 1e-12 * max(abs(low), abs(high)):
        half = abs(low) / 2 or 0.5
        return low - half, high + half
    return low - margin * width, high + margin * width


def round_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Multiples of 1, 2 or 5 times a power of ten between two values.

    Examples
    --------
    >>> round_ticks(0.13, 0.52)
    (0.2, 0.3, 0.4, 0.5)
    >>> round_ticks(-3, 11, 5)
    (0.0, 5.0, 10.0)
    """
    width = high - low
    power = floor(log10(width / most)) if width > 0 else 0
    for exponent in (power, power + 1):
        for base in (1, 2, 5):
            step = base * 10.0**exponent
            first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
            if last - first + 1 <= most:
                digits = max(0, -exponent)
                return tuple(round(step * k, digits) + 0.0 for k in range(first, last + 1))
    return (low, high)


def tick_words(ticks: tuple[float, ...]) -> tuple[str, ...]:
    """Ticks with equally many decimals, and a true minus sign.

    Examples
    --------
    >>> tick_words((-0.5, 0.0, 0.25))
    ('−0.50', '0.00', '0.25')
    """
    if any(abs(tick) >= 1e6 or 0 < abs(tick) < 1e-4 for tick in ticks):
        return tuple(map(short_number, ticks))
    digits = max((len(f"{tick:.10g}".partition(".")[2]) for tick in ticks), default=0)
    return tuple(f"{tick:.{digits}f}".replace("-", "−") for tick in ticks)


def short_number(value: float, digits: str = "g") -> str:
    """A number in few signs, with a true minus sign.

    Examples
    --------
    >>> short_number(2e8), short_number(-1e-05), short_number(0.5), short_number(35546549, "+.1e")
    ('2e8', '−1e−5', '0.5', '+3.6e7')
    """
    text = format(value, digits)
    return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", text).replace("-", "−")


def _log_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    first, last = floor(log10(low)), ceil(log10(high))
    for bases in ((1, 2, 5), (1, 3), (1,)):
        found = tuple(
            base * 10.0**power
            for power in range(first, last + 1)
            for base in bases
            if low * (1 - 1e-9) <= base * 10.0**power <= high * (1 + 1e-9)
        )
        if len(found) <= most:
            return found
    every = ceil((last - first + 1) / most)
    return tuple(10.0**power for power in range(first, last + 1, every) if low <= 10.0**power)
