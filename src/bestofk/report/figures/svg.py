"""Pictures as SVG without matplotlib: small, with selectable words, for light and dark pages."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any

from bestofk.report.figures.palette import LIGHT
from bestofk.report.figures.picture import Dot, Picture, Shape, Words

FONTS = {
    "sans-serif": "'DejaVu Sans', Verdana, system-ui, sans-serif",
    "serif": "'DejaVu Serif', 'Times New Roman', serif",
    "monospace": "'DejaVu Sans Mono', Menlo, Consolas, monospace",
}
"""What a page looks for, by family."""


def svg(picture: Picture, *, themed: bool = True) -> str:
    """The picture as one ``<svg>`` element.

    Parameters
    ----------
    picture : Picture
        What to draw.
    themed : bool
        Colours are CSS variables (``--bk-ink``, ``--bk-blue``, ...) that fall back to those of a
        white page, so that the page around may set others for dark; otherwise plain colours.

    Examples
    --------
    >>> from bestofk.report.figures.picture import Sheet
    >>> sheet = Sheet()
    >>> sheet.say(4, 8, "<b>")
    >>> "&lt;b&gt;" in svg(sheet.picture(40, 16, alt="a name"))
    True
    """

    def paint(role: str | None) -> str:
        if role is None:
            return "none"
        return f"var(--bk-{role},{LIGHT[role]})" if themed else LIGHT[role]

    size = f"{_number(picture.width)} {_number(picture.height)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        f'width="{_number(picture.width)}" height="{_number(picture.height)}" role="img" '
        f'font-family="{_fonts(picture)}" fill="none" stroke-linejoin="round">',
        f"<title>{escape(picture.alt)}</title>",
    ]
    for style, shapes in groupby(picture.shapes, key=lambda shape: _style(shape, paint)):
        parts.extend(_alike(list(shapes), style))
    parts.extend(_words(words, paint) for words in picture.words)
    parts.append("</svg>")
    return "".join(parts)


def _fonts(picture: Picture) -> str:
    family = picture.words[0].family if picture.words else "sans-serif"
    return FONTS.get(family) or escape(f"'{family.replace(chr(39), '')}', {FONTS['sans-serif']}")


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _alike(shapes: list[Shape | Dot], style: str) -> list[str]:
    """Neighbours of one style, which is written once: figures of many marks stay small."""
    attribute = f' style="{style}"' if style else ""
    if len(shapes) < 3 or "stroke:" in style:
        return [_shape(shape, attribute) for shape in shapes]
    # of marks that are filled alone, the opacity of each is that of its filling
    marks = "".join(_shape(shape, "") for shape in shapes)
    return [f'<g style="{style.replace("opacity:", "fill-opacity:")}">{marks}</g>']


def _style(shape: Shape | Dot, paint: Any) -> str:
    style = ""
    if shape.fill is not None:
        style += f"fill:{paint(shape.fill)};"
    if shape.colour is not None:
        style += f"stroke:{paint(shape.colour)};stroke-width:{_number(shape.width)};"
    if isinstance(shape, Shape) and shape.dash:
        style += f"stroke-dasharray:{','.join(map(_number, shape.dash))};"
    if shape.opacity < 1:
        style += f"opacity:{_number(shape.opacity)};"
    return style[:-1]


def _shape(shape: Shape | Dot, style: str) -> str:
    if isinstance(shape, Dot):
        return (
            f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" '
            f'r="{_number(shape.radius)}"{style}/>'
        )
    if shape.closed and not shape.smooth and (box := _box(shape)) is not None:
        return f'<path d="{box}"{style}/>'
    places = [f"{_number(x)} {_number(y)}" for x, y in shape.points]
    joint = "C" if shape.smooth else "L"
    end = "Z" if shape.closed else ""
    return f'<path d="M{places[0]}{joint}{" ".join(places[1:])}{end}"{style}/>'


def _box(shape: Shape) -> str | None:
    """A rectangle in few letters."""
    if len(shape.points) != 4:
        return None
    (left, top), (right, other), (last, bottom), (first, down) = shape.points
    if (left, top, right, bottom) != (first, other, last, down):
        return None
    across, along = _number(right - left), _number(bottom - top)
    return f"M{_number(left)} {_number(top)}h{across}v{along}h-{across}z"


def _words(words: Words, paint: Any) -> str:
    x, y = words.baseline
    turn = (
        f' transform="rotate({_number(-words.rotation)} {_number(x)} {_number(y)})"'
        if words.rotation
        else ""
    )
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    weight = ' font-weight="bold"' if words.bold else ""
    # plaintext: the words decide their own direction, and nothing around them is turned about
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(words.size)}"{anchor}'
        f'{weight}{turn} style="fill:{paint(words.colour)};unicode-bidi:plaintext">'
        f"{escape(words.text)}</text>"
    )
