"""Pictures drawn with matplotlib, or written as SVG without it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.atomic_write import atomic_file, write_text
from bestofk._base.errors import ArgumentError, MissingExtraError
from bestofk.report.figures.picture import Dot, Picture, Scale, Shape, Words
from bestofk.report.figures.registry import draw
from bestofk.report.figures.style import DARK, LIGHT, POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png", "pdf")
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def paint(picture: Picture, ax: Axes | None = None) -> Axes:
    """Draw a picture in axes, as large as they allow; by default in a new figure of its size.

    The data coordinates of the axes are those of the picture's scales, so you can draw over it.
    Words and lines scale with the picture, so nothing overlaps in small axes. The matplotlib style
    has no effect.
    """
    require_matplotlib("A figure with Axes")
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
    to_axes = (
        Affine2D().scale(scale / across, -scale / down).translate(left / across, 1 - top / down)
    )
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
            transform=to_axes + ax.transAxes,
            clip_on=False,
            capstyle="butt",
            joinstyle="round",
        )
        ax.add_collection(collection, autolim=False)
    for words in picture.words:
        x, y = to_axes.transform(words.baseline)
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
            fontfamily="DejaVu Sans",
            fontweight="bold" if words.bold else "normal",
            fontstyle="normal",
            clip_on=False,
            parse_math=False,
            usetex=False,
        )
    return ax


def plot(
    value: Any,
    kind: str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    width: float | None = None,
    note: bool = True,
    ax: Axes | None = None,
) -> Any:
    """Draw a value and return the Axes, or write a file and return its path.

    The parameters are those of the method `plot` of a result.
    """
    picture = draw(value, kind, width=width, note=note)
    if path is None:
        return paint(picture, ax)
    if ax is not None:
        raise ArgumentError("plot: give path or ax, not both.")
    return save(picture, path)


def save(picture: Picture, path: str | os.PathLike[str]) -> Path:
    """Write an SVG, PNG or PDF file and return its path; the same picture gives the same bytes.

    SVG does not need matplotlib, and its words stay text.
    """
    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ArgumentError(f"path must end in .svg, .png or .pdf; got {os.fspath(path)!r}.")
    if kind == "svg":
        write_text(path, svg(picture, themed=False) + "\n")
        return target
    require_matplotlib(f"A figure as {kind.upper()}")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=_inches(picture), layout=None, facecolor="white")
    figure.set_layout_engine("none")
    paint(picture, figure.add_axes((0, 0, 1, 1)))
    # Omit dates, which would make every file differ.
    metadata: dict[str, Any] = {
        "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }[kind]
    fixed: Any = {"pdf.fonttype": 42}
    with mpl.rc_context(fixed), atomic_file(path) as file:
        figure.savefig(file, format=kind, metadata=metadata, dpi=200 if kind == "png" else 72)
    return target


def require_matplotlib(purpose: str) -> None:
    """Raise an error that says how to install matplotlib, if it is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError:
        raise MissingExtraError(purpose, "matplotlib") from None


def _inches(picture: Picture) -> tuple[float, float]:
    return picture.width / POINTS_PER_INCH, picture.height / POINTS_PER_INCH


def _own_axes(picture: Picture) -> Axes:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=_inches(picture))
    figure.set_layout_engine("none")
    return figure.add_axes((0, 0, 1, 1))


def _is_dark(figure: Any, colors: Any) -> bool:
    red, green, blue, opacity = colors.to_rgba(figure.get_facecolor())
    return bool(opacity > 0 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def _set_limits(
    ax: Axes, picture: Picture, corner: tuple[float, float], size: tuple[float, float], scale: float
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


# SVG without matplotlib: small files with selectable words, for light and dark pages.

FONT = "'DejaVu Sans', Verdana, system-ui, sans-serif"


def svg(picture: Picture, *, themed: bool = True, shades: Mapping[str, str] = LIGHT) -> str:
    """Return the picture as one ``<svg>`` element.

    Parameters
    ----------
    picture : Picture
        What to draw.
    themed : bool
        Whether colours are CSS variables (``--bk-ink``, ``--bk-blue``, ...), which a page can set
        for its dark theme. They fall back to `shades`. If False, use these plain colours.
    shades : mapping
        Colours by role: those for white pages, or `DARK`.

    Examples
    --------
    >>> from bestofk.report.figures.picture import Sheet
    >>> sheet = Sheet()
    >>> sheet.write(4, 8, "<b>")
    >>> "&lt;b&gt;" in svg(sheet.finish(40, 10, note="", alt="a name"))
    True
    """

    def paint(role: str | None) -> str:
        if role is None:
            return "none"
        return f"var(--bk-{role},{shades[role]})" if themed else shades[role]

    size = f"{_number(picture.width)} {_number(picture.height)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        f'width="{_number(picture.width)}" height="{_number(picture.height)}" role="img" '
        f'font-family="{FONT}" fill="none" stroke-linejoin="round">',
        f"<title>{escape(picture.alt)}</title>",
    ]
    for style, shapes in groupby(picture.shapes, key=lambda shape: _style(shape, paint)):
        parts.extend(_group(list(shapes), style))
    parts.extend(_words(words, paint) for words in picture.words)
    parts.append("</svg>")
    return "".join(parts)


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _group(shapes: list[Shape | Dot], style: str) -> list[str]:
    """Write neighbours of one style as a group, to keep figures of many shapes small."""
    attribute = f' style="{style}"' if style else ""
    if len(shapes) < 3 or "stroke:" in style:
        return [_shape(shape, attribute) for shape in shapes]
    # The opacity of a shape without a stroke is that of its fill.
    members = "".join(_shape(shape, "") for shape in shapes)
    return [f'<g style="{style.replace("opacity:", "fill-opacity:")}">{members}</g>']


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
    points = [f"{_number(x)} {_number(y)}" for x, y in shape.points]
    joint = "C" if shape.smooth else "L"
    end = "Z" if shape.closed else ""
    return f'<path d="M{points[0]}{joint}{" ".join(points[1:])}{end}"{style}/>'


def _box(shape: Shape) -> str | None:
    """Return a short path if the shape is a rectangle."""
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
    # With plaintext, each text sets its own direction without changing that of its neighbours.
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(words.size)}"{anchor}'
        f'{weight}{turn} style="fill:{paint(words.colour)};unicode-bidi:plaintext">'
        f"{escape(words.text)}</text>"
    )
