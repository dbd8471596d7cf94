"""Pictures with matplotlib: in the caller's axes, in nobody's style."""

from __future__ import annotations

import os
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.atomic_write import atomic_file
from bestofk._base.errors import ArgumentError
from bestofk.report.figures.picture import Dot, Picture, Scale, Shape, Words
from bestofk.report.figures.style import DARK, LIGHT, POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def paint(picture: Picture, ax: Axes | None = None) -> Axes:
    """Draw a picture in axes, as large as they allow; in a figure of its own size where None.

    The data coordinates of the axes are those of the picture's scales, so that more can be drawn
    over it. Words and lines are scaled with the picture: nothing overlaps in small axes either.
    """
    from matplotlib import colors
    from matplotlib.collections import PathCollection
    from matplotlib.transforms import Affine2D

    if ax is None:
        ax = _own_axes(picture)
    figure: Any = ax.get_figure(root=True)
    box = ax.get_position(original=False)
    width_inches, height_inches = figure.get_size_inches()
    across = box.width * width_inches * POINTS_PER_INCH
    down = box.height * height_inches * POINTS_PER_INCH
    scale = min(across / picture.width, down / picture.height)
    left = (across - scale * picture.width) / 2
    top = (down - scale * picture.height) / 2
    place = Affine2D().scale(scale / across, -scale / down).translate(left / across, 1 - top / down)
    _set_limits(ax, picture, (left, top), (across, down), scale)
    ax.set_axis_off()
    shades = DARK if _is_dark(figure, colors) else LIGHT

    def rgba(role: str | None, opacity: float) -> Any:
        return "none" if role is None else colors.to_rgba(shades[role], opacity)

    shapes = picture.shapes
    if shapes:
        collection = PathCollection(
            [_path(shape) for shape in shapes],
            facecolors=[rgba(shape.fill, shape.opacity) for shape in shapes],
            edgecolors=[rgba(shape.colour, shape.opacity) for shape in shapes],
            linewidths=[0.0 if shape.colour is None else shape.width * scale for shape in shapes],
            linestyles=[_line_style(shape) for shape in shapes],
            transform=place + ax.transAxes,
            clip_on=False,
            capstyle="butt",
            joinstyle="round",
        )
        ax.add_collection(collection, autolim=False)
    for words in picture.words:
        x, y = place.transform(words.baseline)
        ax.text(
            x,
            y,
            words.text,
            transform=ax.transAxes,
            fontsize=words.size * scale,
            color=shades[words.colour],
            ha=_ANCHORS[words.anchor],
            va="baseline",
            rotation=words.rotation,
            rotation_mode="anchor",
            fontfamily=_family(words.family),
            fontweight="bold" if words.bold else "normal",
            fontstyle="normal",
            clip_on=False,
            parse_math=False,
            usetex=False,
        )
    return ax


def save_figure(figure: Figure | Axes | Picture, path: str | os.PathLike[str]) -> None:
    """Write an SVG, PNG or PDF file, the same bytes for the same picture.

    Parameters
    ----------
    figure : Figure, Axes or Picture
        What was drawn; a picture is drawn first, at its own size.
    path : path
        Ends in ``.svg``, ``.png`` or ``.pdf``.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as PlainFigure

    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ArgumentError(f"path must end in .svg, .png or .pdf; got {os.fspath(path)!r}.")
    if isinstance(figure, Picture):
        size = (figure.width / POINTS_PER_INCH, figure.height / POINTS_PER_INCH)
        sheet = PlainFigure(figsize=size, layout=None, facecolor="white")
        sheet.set_layout_engine("none")
        paint(figure, sheet.add_axes((0, 0, 1, 1)))
        figure = sheet
    drawn: Any = figure if isinstance(figure, PlainFigure) else figure.get_figure(root=True)
    # Dates and random identifiers would make every file differ.
    metadata: dict[str, Any] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }[kind]
    fixed: Any = {"svg.hashsalt": "bestofk", "svg.fonttype": "path", "pdf.fonttype": 42}
    with mpl.rc_context(fixed), atomic_file(path) as file:
        drawn.savefig(file, format=kind, metadata=metadata, dpi=200 if kind == "png" else 72)


def _family(family: str) -> list[str]:
    """A font, with one behind it that has the signs it lacks."""
    return [family, "DejaVu Sans"]


def _own_axes(picture: Picture) -> Axes:
    from matplotlib import pyplot

    size = (picture.width / POINTS_PER_INCH, picture.height / POINTS_PER_INCH)
    figure = pyplot.figure(figsize=size)
    figure.set_layout_engine("none")
    return figure.add_axes((0, 0, 1, 1))


def _is_dark(figure: Any, colors: Any) -> bool:
    red, green, blue, opacity = colors.to_rgba(figure.get_facecolor())
    return bool(opacity > 0 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def _set_limits(
    ax: Axes,
    picture: Picture,
    corner: tuple[float, float],
    size: tuple[float, float],
    scale: float,
) -> None:
    x = picture.x_scale or Scale(low=0, high=picture.width, start=0, end=picture.width)
    y = picture.y_scale or Scale(low=0, high=picture.height, start=0, end=picture.height)
    (left, top), (across, down) = corner, size
    if x.kind == "log":
        ax.set_xscale("log")
    if y.kind == "log":
        ax.set_yscale("log")
    ax.set_xlim(x.data(-left / scale), x.data((across - left) / scale))
    ax.set_ylim(y.data((down - top) / scale), y.data(-top / scale))


def _path(shape: Shape | Dot) -> Any:
    from matplotlib.path import Path as Outline

    if isinstance(shape, Dot):
        return Outline.circle((shape.x, shape.y), shape.radius)
    points = np.asarray(shape.points, dtype=float)
    if shape.smooth:
        codes = [Outline.MOVETO, *[Outline.CURVE4] * (len(points) - 1)]
        return Outline(points, codes)
    if shape.closed:
        return Outline(np.concatenate([points, points[:1]]), closed=True)
    return Outline(points)


def _line_style(shape: Shape | Dot) -> Any:
    if isinstance(shape, Dot) or not shape.dash:
        return "solid"
    # matplotlib measures dashes in line widths
    return (0, tuple(length / shape.width for length in shape.dash))


# Pictures as SVG without matplotlib: small, with selectable words, for light and dark pages.


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
