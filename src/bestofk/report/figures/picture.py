"""Pictures: scales with round ticks, shapes and words, and the sheet that layouts draw on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, cos, floor, hypot, log10, radians, sin
from typing import Any, Literal

from bestofk._base.formatting import printable
from bestofk.report.figures.labels import LINE_HEIGHT, fitted, labels_of, text_width, wrapped
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Map data from `low` to `high` to positions from `start` to `end`, in points."""

    low: float
    high: float
    start: float
    end: float
    kind: Literal["linear", "log"] = "linear"

    def __call__(self, value: float) -> float:
        """Return the position of a value; clip values outside to the ends."""
        share = (self._along(value) - self._along(self.low)) / (
            self._along(self.high) - self._along(self.low)
        )
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def data(self, position: float) -> float:
        """Return the value at a position, also beyond the ends."""
        share = (position - self.start) / (self.end - self.start)
        along = self._along(self.low) + share * (self._along(self.high) - self._along(self.low))
        return float(10.0**along) if self.kind == "log" else along

    def ticks(self, max_ticks: int = 6) -> tuple[float, ...]:
        """Return at most `max_ticks` round values inside the scale."""
        low, high = sorted((self.low, self.high))
        if self.kind == "log":
            return _log_ticks(low, high, max_ticks)
        return round_ticks(low, high, max_ticks)

    def _along(self, value: float) -> float:
        return log10(max(value, 1e-300)) if self.kind == "log" else value


def around(low: float, high: float, *, margin: float = 0.04) -> tuple[float, float]:
    """Return axis limits for data from `low` to `high`: a little wider, never of width 0.

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


def round_ticks(low: float, high: float, max_ticks: int = 6) -> tuple[float, ...]:
    """Return multiples of 1, 2 or 5 times a power of ten between two values.

    Examples
    --------
    >>> round_ticks(0.13, 0.52)
    (0.2, 0.3, 0.4, 0.5)
    >>> round_ticks(-3, 11, 5)
    (0.0, 5.0, 10.0)
    """
    width = high - low
    power = floor(log10(width / max_ticks)) if width > 0 else 0
    for exponent in (power, power + 1):
        for base in (1, 2, 5):
            step = base * 10.0**exponent
            first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
            if last - first + 1 <= max_ticks:
                digits = max(0, -exponent)
                return tuple(round(step * k, digits) + 0.0 for k in range(first, last + 1))
    return (low, high)


def tick_words(ticks: tuple[float, ...]) -> tuple[str, ...]:
    """Format ticks with equally many decimals and a true minus sign.

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
    """Format a number briefly, with a true minus sign.

    Examples
    --------
    >>> short_number(2e8), short_number(-1e-05), short_number(0.5), short_number(35546549, "+.1e")
    ('2e8', '−1e−5', '0.5', '+3.6e7')
    """
    text = format(value, digits)
    return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", text).replace("-", "−")


def _log_ticks(low: float, high: float, max_ticks: int) -> tuple[float, ...]:
    first, last = floor(log10(low)), ceil(log10(high))
    for bases in ((1, 2, 5), (1, 3), (1,)):
        ticks = tuple(
            base * 10.0**power
            for power in range(first, last + 1)
            for base in bases
            if low * (1 - 1e-9) <= base * 10.0**power <= high * (1 + 1e-9)
        )
        if len(ticks) <= max_ticks:
            return ticks
    every = ceil((last - first + 1) / max_ticks)
    return tuple(10.0**power for power in range(first, last + 1, every) if low <= 10.0**power)


# A picture holds shapes and words at positions in points from its top left corner.

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
BASELINE = 0.36
"""Distance from the middle of a line of words down to its baseline, in font sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A line, a smooth curve or a closed area."""

    points: tuple[Point, ...]
    colour: str | None
    """Role of the stroke; None for no stroke."""
    fill: str | None = None
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    closed: bool = False
    smooth: bool = False
    """True if the points after the first are Bezier control points, three per curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A circle."""

    x: float
    y: float
    radius: float
    colour: str | None
    fill: str | None = None
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One line of words; (x, y) is the middle of its height at its anchor."""

    x: float
    y: float
    text: str
    size: float = SIZE
    colour: str = "ink"
    anchor: Anchor = "start"
    rotation: float = 0.0
    """Degrees counter-clockwise about (x, y)."""
    bold: bool = False

    @property
    def baseline(self) -> Point:
        """Return the point of the anchor on the baseline."""
        down, turn = BASELINE * self.size, radians(self.rotation)
        return self.x + down * sin(turn), self.y + down * cos(turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Shapes and words on a sheet of `width` by `height` points; words lie on top."""

    width: float
    height: float
    shapes: tuple[Shape | Dot, ...]
    words: tuple[Words, ...]
    alt: str
    """Alternative text."""
    x_scale: Scale | None = None
    y_scale: Scale | None = None
    note: str = ""
    """How to read the figure and which test it uses, for a caption; drawn below it or not."""


@dataclass(slots=True)
class Sheet:
    """A sheet to draw on; its paper sets the available width."""

    paper: Paper = ANY_PAPER
    shapes: list[Shape | Dot] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)

    def text_width(self, text: str, size: float = SIZE, *, bold: bool = False) -> float:
        """Return the width of a line of words."""
        return text_width(text, size, bold=bold)

    def widest(self, texts: Sequence[str], size: float = SIZE) -> float:
        """Return the width of the widest text; 0 if there is none."""
        return max((self.text_width(text, size) for text in texts), default=0.0)

    def labels(
        self, names: Sequence[object], width: float, size: float = SIZE
    ) -> tuple[str, ...]:  # fmt: skip
        """Return names shortened to a width; different names stay different."""
        return labels_of(names, width, size)

    def fitted(self, text: object, width: float, size: float = SIZE) -> str:
        """Return a single text shortened to a width."""
        return fitted(text, width, size)

    def wrapped(self, text: str, width: float, size: float = SMALL) -> tuple[str, ...]:
        """Return a sentence broken into lines of at most a width."""
        return wrapped(text, width, size)

    def shift(self, right: float) -> None:
        """Move everything drawn so far to the right."""
        self.shapes[:] = [
            replace(shape, x=shape.x + right)
            if isinstance(shape, Dot)
            else replace(shape, points=tuple((x + right, y) for x, y in shape.points))
            for shape in self.shapes
        ]
        self.words[:] = [replace(words, x=words.x + right) for words in self.words]

    def line(self, *points: Point, colour: str = "ink", **style: Any) -> None:
        """Draw a line through points, with the style of a `Shape`."""
        self.shapes.append(Shape(points=points, colour=colour, **style))

    def area(self, *points: Point, fill: str, colour: str | None = None, **style: Any) -> None:
        """Draw a filled polygon, with the style of a `Shape`."""
        self.shapes.append(Shape(points=points, fill=fill, colour=colour, closed=True, **style))

    def box(self, left: float, top: float, right: float, bottom: float, **style: Any) -> None:
        """Draw a filled rectangle, with the style of an area."""
        self.area((left, top), (right, top), (right, bottom), (left, bottom), **style)

    def arrow_head(self, tip: Point, toward: Point, *, length: float, colour: str) -> None:
        """Draw a triangle at `tip` that points in the direction `toward`."""
        size = hypot(*toward) or 1.0
        u, v = toward[0] / size, toward[1] / size
        back = (tip[0] - length * u, tip[1] - length * v)
        half = 0.42 * length
        left = (back[0] - half * v, back[1] + half * u)
        right = (back[0] + half * v, back[1] - half * u)
        self.area(tip, left, right, fill=colour)

    def dot(
        self, x: float, y: float, radius: float, *, colour: str | None = None, **style: Any
    ) -> None:
        """Draw a circle, with the style of a `Dot`."""
        self.shapes.append(Dot(x=x, y=y, radius=radius, colour=colour, **style))

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write one line of words, with the style of `Words`."""
        self.words.append(Words(x=x, y=y, text=text, **style))

    def finish(
        self,
        width: float,
        top: float,
        *,
        note: str,
        alt: str,
        margin: float = 10.0,
        x_scale: Scale | None = None,
        y_scale: Scale | None = None,
    ) -> Picture:
        """Write the note from `top` down if the paper has notes, and return the picture.

        The picture is as wide as the paper, or `width` if the paper has no width.
        """
        if self.paper.note:
            height = SMALL * LINE_HEIGHT
            # Coarse screens round letters to whole pixels, which lengthens long lines.
            for line in self.wrapped(note, 0.97 * (width - 2 * margin)):
                self.write(margin, top + height / 2, line, size=SMALL, colour="muted")
                top += height
        return Picture(
            width=self.paper.rest(0.0, width),
            height=top + 6,
            shapes=tuple(self.shapes),
            words=tuple(self.words),
            alt=printable(alt),
            x_scale=x_scale,
            y_scale=y_scale,
            note=note,
        )
