"""ROC curves with their convex hull, and for which slopes each classifier is best."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isinf
from typing import Any

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import x_axis, y_axis
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, cycled

_SIDE = 290.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RocLayout:
    """Curves in the unit square.

    Attributes
    ----------
    labels : tuple of str
        Of the classifiers on the hull, by falling slope.
    curves : tuple of tuple of points
        Where every curve goes, in the order of the names.
    hull : tuple of points
        The corners of the hull.
    slopes : tuple of float
        Of the edges between them; infinite for an upright one.
    slope_labels : tuple of (x, y, text)
        Those that have room beside their edge.
    picture : Picture
    """

    labels: tuple[str, ...]
    curves: tuple[tuple[Point, ...], ...]
    hull: tuple[Point, ...]
    slopes: tuple[float, ...]
    slope_labels: tuple[tuple[float, float, str], ...]
    picture: Picture


def layout_roc(value: Any, *, paper: Paper = ANY_PAPER) -> RocLayout:
    """Place the curves of a `RocHull`, the hull and its slopes.

    Parameters
    ----------
    value : RocHull
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> from bestofk.decide import roc_hull
    >>> hull = roc_hull([[1, 0, 0, 0], [1, 1, 1, 0]], [1, 1, 0, 0], names=["a", "b"])
    >>> layout_roc(hull).slopes
    (inf, 1.0, 0.0)
    """
    from bestofk.decide.procedures.roc_hull import RocHull

    if not isinstance(value, RocHull):
        raise ArgumentError(
            f"figure 'roc': a result of roc_hull is needed; got {type(value).__name__}."
        )
    sheet = Sheet(paper)
    left, top = 46.0, 30.0
    columns = _key_columns(sheet, value)
    # the key stands beside the square, or below it where there is no room
    beside = left + 200.0 + 26 + columns[-1] <= paper.rest(-0.1, 1e9)
    side = _SIDE
    if paper.width is not None:
        side = min(340.0, paper.rest(left + (26 + columns[-1] if beside else 14), _SIDE))
    x = Scale(low=0.0, high=1.0, start=left, end=left + side)
    y = Scale(low=0.0, high=1.0, start=top + side, end=top)
    y_axis(sheet, y, left=left, right=left + side, title="true positive rate")
    end = x_axis(sheet, x, top=top, bottom=top + side, title="false positive rate")
    sheet.line((x(0), y(0)), (x(1), y(1)), colour="faint", width=0.9, dash=(3, 3))
    optimal = value.optimal
    style = {name: cycled(k) for k, name in enumerate(optimal)}
    curves = tuple(
        tuple(
            (x(float(fp)), y(float(tp)))
            for fp, tp in _corners(curve.false_positive_rate, curve.true_positive_rate)
        )
        for curve in value.curves
    )
    for curve, points in zip(value.curves, curves, strict=True):
        if curve.name not in style:
            sheet.line(*points, colour="faint", width=0.9)
    hull = tuple((x(v.false_positive_rate), y(v.true_positive_rate)) for v in value.vertices)
    sheet.area(*hull, (x(1), y(0)), fill="wash", opacity=0.55)
    sheet.line(*hull, colour="ink", width=3.4, opacity=0.28)
    for curve, points in zip(value.curves, curves, strict=True):
        if curve.name in style:
            colour, dash = style[curve.name]
            sheet.line(*points, colour=colour, width=1.4, dash=dash)
    for vertex, point in zip(value.vertices, hull, strict=True):
        fill = style[vertex.learners[0]][0] if vertex.learners else "ink"
        sheet.dot(*point, 3.0, fill=fill, colour="paper", width=0.8)
    slopes = tuple(vertex.slope_low for vertex in value.vertices[:-1])
    said = _slope_labels(sheet, hull, slopes, left, top)
    for at_x, at_y, text in said:
        sheet.say(at_x, at_y, text, size=SMALL, colour="muted", anchor="middle")
    if beside:
        edge, key_top = left + side + 26, top
    else:
        edge, key_top = 10.0, end + 14
    bottom, labels = _key(sheet, value, style, edge, key_top)
    width = paper.rest(0.0, edge + columns[-1])
    note = (
        "Thick: the convex hull, with the slopes of its edges. A classifier is best where "
        "(share of negatives x cost of a false positive) / (share of positives x cost of a false "
        "negative) lies in its range."
    )
    bottom = sheet.note(note, left=10, top=max(end, bottom) + 6, width=width - 20)
    return RocLayout(
        labels=labels,
        curves=curves,
        hull=hull,
        slopes=slopes,
        slope_labels=said,
        picture=sheet.picture(
            width,
            bottom + 6,
            alt=printable(
                f"ROC curves of {counted(len(value.curves), 'classifier')}; on the hull: "
                f"{', '.join(map(str, optimal[:6])) or 'none'}."
            ),
            x_scale=x,
            y_scale=y,
        ),
    )


def _corners(fp: Any, tp: Any) -> Any:
    """Without the points that lie on a straight way between their neighbours."""
    points = np.stack((fp, tp), axis=1)
    if len(points) < 3:
        return points
    before, after = points[1:-1] - points[:-2], points[2:] - points[1:-1]
    turn = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) > 1e-12
    return points[np.concatenate(([True], turn, [True]))]


def _slope_labels(
    sheet: Sheet, hull: tuple[Point, ...], slopes: tuple[float, ...], left: float, top: float
) -> tuple[tuple[float, float, str], ...]:
    """Numbers outside the hull, beside edges that are long enough; none touches another."""
    found: list[tuple[float, float, str]] = []
    boxes: list[tuple[float, float, float, float]] = []
    for (x0, y0), (x1, y1), slope in zip(hull, hull[1:], slopes, strict=False):
        length = hypot(x1 - x0, y1 - y0)
        if isinf(slope) or slope == 0 or length < 14:
            continue
        text = f"{slope:.2g}"
        half, tall = sheet.text_width(text, SMALL) / 2 + 2, SMALL * LINE / 2
        # up and to the left of an edge nothing else is drawn
        normal = ((y1 - y0) / length, -(x1 - x0) / length)
        away = 5 + abs(normal[0]) * half + abs(normal[1]) * tall
        at_x, at_y = (x0 + x1) / 2 + normal[0] * away, (y0 + y1) / 2 + normal[1] * away
        box = (at_x - half, at_y - tall, at_x + half, at_y + tall)
        if box[0] < left + 2 or box[1] < top:
            continue
        if any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in boxes):
            continue
        boxes.append(box)
        found.append((at_x, at_y, text))
    return tuple(found)


def _key_columns(sheet: Sheet, value: Any) -> tuple[float, float, float, float]:
    """Where the columns of the key begin, and where it ends, from its left edge."""
    labels = _key_labels(sheet, value)
    second = 22 + max(sheet.widest(labels, SIZE), sheet.text_width("on the hull", SMALL)) + 12
    ranges = sheet.widest([*_ranges(value), "best for slopes"], SMALL)
    return 22.0, second, second + ranges + 12, second + ranges + 12 + 40


def _key_labels(sheet: Sheet, value: Any) -> tuple[str, ...]:
    ranges = sheet.widest([*_ranges(value), "best for slopes"], SMALL)
    return sheet.labels(value.optimal, sheet.paper.rest(ranges + 22 + 24 + 40 + 20, 190.0), SIZE)


def _ranges(value: Any) -> list[str]:
    return [
        " and ".join(_range(*span) for span in value.slopes[name]) for name in value.optimal
    ]  # fmt: skip


def _key(
    sheet: Sheet, value: Any, style: dict[Any, Any], edge: float, top: float
) -> tuple[float, tuple[str, ...]]:
    """The classifiers on the hull with their slopes and areas, then how many never are best."""
    optimal = value.optimal
    labels, ranges = _key_labels(sheet, value), _ranges(value)
    area = {curve.name: curve.area for curve in value.curves}
    columns = [edge + at for at in _key_columns(sheet, value)[:3]]
    pitch = SIZE * LINE + 3
    y = top + 2
    if optimal:
        for at, word in zip(columns, ("on the hull", "best for slopes", "area"), strict=True):
            sheet.say(at, y, word, size=SMALL, colour="muted")
    for k, name in enumerate(optimal):
        y += pitch
        colour, dash = style[name]
        sheet.line((edge, y), (edge + 17, y), colour=colour, width=1.8, dash=dash)
        sheet.say(columns[0], y, labels[k], colour=colour)
        sheet.say(columns[1], y, ranges[k], size=SMALL)
        sheet.say(columns[2], y, f"{area[name]:.3f}", size=SMALL)
    y += pitch
    sheet.say(columns[0], y, f"the hull: area {value.area:.3f}", size=SMALL, colour="muted")
    sheet.line((edge, y), (edge + 17, y), colour="ink", width=3.4, opacity=0.28)
    never = len(value.names) - len(optimal)
    if never:
        y += pitch
        sheet.line((edge, y), (edge + 17, y), colour="faint", width=1.2)
        sheet.say(columns[0], y, f"{never} never best", size=SMALL, colour="muted")
    return y + pitch, labels


def _range(low: float, high: float) -> str:
    if isinf(high):
        return f"above {low:.3g}" if low else "any"
    return f"below {high:.3g}" if low == 0 else f"{low:.3g} to {high:.3g}"
