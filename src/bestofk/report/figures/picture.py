"""A picture: marks at places on a sheet, in points from its top left corner.

A layout puts marks on a `Sheet` and keeps the finished `Picture`; what draws it
(`painting.paint`, `vector.svg`) adds nothing of its own, so a layout can be tested as a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, hypot, radians, sin
from typing import Literal

from bestofk.report.figures.scales import Scale
from bestofk.report.figures.text_width import LINE, text_width, wrapped

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
SIZE = 9.0
"""Of words, in points."""
SMALL = 8.0
BASELINE = 0.36
"""From the middle of a line of words down to its baseline, in font sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A line, a smooth curve or a closed area."""

    points: tuple[Point, ...]
    colour: str | None
    """Role of the stroke; None draws none."""
    fill: str | None = None
    width: float = 1.0
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    closed: bool = False
    smooth: bool = False
    """The points after the first are Bezier control points, three a piece."""


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
    """Degrees, counter-clockwise, about (x, y)."""
    bold: bool = False

    @property
    def extent(self) -> float:
        """Width in points."""
        return text_width(self.text, self.size, bold=self.bold)

    @property
    def baseline(self) -> Point:
        """Where the anchor stands on the baseline."""
        down, turn = BASELINE * self.size, radians(self.rotation)
        return self.x + down * sin(turn), self.y + down * cos(turn)

    def corners(self) -> tuple[Point, Point, Point, Point]:
        """The box around the words."""
        left = {"start": 0.0, "middle": -self.extent / 2, "end": -self.extent}[self.anchor]
        half = self.size * LINE / 2
        turn = radians(self.rotation)
        across, down = (cos(turn), -sin(turn)), (sin(turn), cos(turn))
        a, b, c, d = (
            (self.x + u * across[0] + v * down[0], self.y + u * across[1] + v * down[1])
            for u, v in (
                (left, -half),
                (left + self.extent, -half),
                (left + self.extent, half),
                (left, half),
            )
        )
        return a, b, c, d


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Marks on a sheet of `width` by `height` points; shapes lie under words."""

    width: float
    height: float
    shapes: tuple[Shape | Dot, ...]
    words: tuple[Words, ...]
    alt: str
    """What is to be seen, for readers who do not see it."""
    x_scale: Scale | None = None
    y_scale: Scale | None = None


@dataclass(slots=True)
class Sheet:
    """Where a layout puts its marks."""

    shapes: list[Shape | Dot] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)

    def line(
        self,
        *points: Point,
        colour: str = "ink",
        width: float = 1.0,
        dash: tuple[float, ...] = (),
        opacity: float = 1.0,
    ) -> None:
        """A line through points."""
        self.shapes.append(
            Shape(points=points, colour=colour, width=width, dash=dash, opacity=opacity)
        )

    def curve(
        self, *points: Point, colour: str = "ink", width: float = 1.0, opacity: float = 1.0
    ) -> None:
        """A smooth curve from a point by Bezier control points."""
        self.shapes.append(
            Shape(points=points, colour=colour, width=width, opacity=opacity, smooth=True)
        )

    def area(
        self,
        *points: Point,
        fill: str,
        colour: str | None = None,
        width: float = 1.0,
        opacity: float = 1.0,
    ) -> None:
        """A filled polygon."""
        self.shapes.append(
            Shape(
                points=points, colour=colour, fill=fill, width=width, opacity=opacity, closed=True
            )
        )

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        *,
        fill: str,
        colour: str | None = None,
        opacity: float = 1.0,
        width: float = 1.0,
    ) -> None:
        """A filled rectangle."""
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        self.area(*corners, fill=fill, colour=colour, opacity=opacity, width=width)

    def arrow_head(self, tip: Point, toward: Point, *, length: float, colour: str) -> None:
        """A triangle at `tip`, pointing along the direction `toward`."""
        size = hypot(*toward) or 1.0
        u, v = toward[0] / size, toward[1] / size
        back = (tip[0] - length * u, tip[1] - length * v)
        half = 0.42 * length
        self.area(
            tip,
            (back[0] - half * v, back[1] + half * u),
            (back[0] + half * v, back[1] - half * u),
            fill=colour,
        )

    def dot(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str | None = "ink",
        colour: str | None = None,
        width: float = 1.0,
        opacity: float = 1.0,
    ) -> None:
        """A circle."""
        self.shapes.append(
            Dot(x=x, y=y, radius=radius, colour=colour, fill=fill, width=width, opacity=opacity)
        )

    def say(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = SIZE,
        colour: str = "ink",
        anchor: Anchor = "start",
        rotation: float = 0.0,
        bold: bool = False,
    ) -> None:
        """One line of words."""
        self.words.append(
            Words(
                x=x,
                y=y,
                text=text,
                size=size,
                colour=colour,
                anchor=anchor,
                rotation=rotation,
                bold=bold,
            )
        )

    def note(self, text: str, *, left: float, top: float, width: float) -> float:
        """Small lines below a figure; where they end."""
        height = SMALL * LINE
        for line in wrapped(text, width, SMALL):
            self.say(left, top + height / 2, line, size=SMALL, colour="muted")
            top += height
        return top

    def picture(
        self,
        width: float,
        height: float,
        *,
        alt: str,
        x_scale: Scale | None = None,
        y_scale: Scale | None = None,
    ) -> Picture:
        """The finished picture."""
        return Picture(
            width=width,
            height=height,
            shapes=tuple(self.shapes),
            words=tuple(self.words),
            alt=alt,
            x_scale=x_scale,
            y_scale=y_scale,
        )
