"""ROC curves with their convex hull, and the slopes for which each classifier is best."""

from __future__ import annotations

from math import hypot, isinf
from typing import Any

import numpy as np

from bestofk._base.formatting import counted
from bestofk.report.figures.axes import x_axis, y_axis
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, cycled

_SIDE = 290.0


def layout_roc(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the curves of a `RocHull`, the hull and its slopes.

    Parameters
    ----------
    value : RocHull
    paper : Paper, optional

    Examples
    --------
    >>> from bestofk.papers.decide import roc_hull
    >>> hull = roc_hull([[1, 0, 0, 0], [1, 1, 1, 0]], [1, 1, 0, 0], names=["a", "b"])
    >>> layout_roc(hull).alt
    'ROC curves of 2 classifiers; on the hull: a, b.'
    """
    sheet = Sheet(paper)
    left, top = 46.0, 30.0
    columns = _key_columns(sheet, value)
    # The key goes below the square if it does not fit beside it.
    beside = left + 200.0 + 26 + columns[-1] <= paper.rest(-0.1, 1e9)
    side = _SIDE
    if paper.width is not None:
        side = min(340.0, paper.rest(left + (26 + columns[-1] if beside else 14), _SIDE))
    x = Scale(low=0.0, high=1.0, start=left, end=left + side)
    y = Scale(low=0.0, high=1.0, start=top + side, end=top)
    y_axis(sheet, y, left=left, right=left + side, title="true positive rate")
    end = x_axis(sheet, x, top=top, bottom=top + side, title="false positive rate")
    sheet.line((x(0), y(0)), (x(1), y(1)), colour="muted", width=0.7, dash=(3, 3))
    optimal = value.optimal
    style = {name: cycled(k) for k, name in enumerate(optimal)}
    curves = [
        (
            curve.name,
            [
                (x(float(fp)), y(float(tp)))
                for fp, tp in _corners(curve.false_positive_rate, curve.true_positive_rate)
            ],
        )
        for curve in value.curves
    ]
    for name, points in curves:
        if name not in style:
            sheet.line(*points, colour="muted", width=0.6)
    hull = [(x(v.false_positive_rate), y(v.true_positive_rate)) for v in value.vertices]
    sheet.area(*hull, (x(1), y(0)), fill="wash", opacity=0.55)
    sheet.line(*hull, colour="muted", width=3.4, opacity=0.75)
    for name, points in curves:
        if name in style:
            colour, dash = style[name]
            sheet.line(*points, colour=colour, width=1.4, dash=dash)
    for vertex, point in zip(value.vertices, hull, strict=True):
        fill = style[vertex.learners[0]][0] if vertex.learners else "ink"
        sheet.dot(*point, 3.0, fill=fill, colour="paper", width=0.8)
    slopes = [vertex.slope_low for vertex in value.vertices[:-1]]
    _write_slopes(sheet, hull, slopes, left, top)
    key_left, key_top = (left + side + 26, top) if beside else (10.0, end + 14)
    bottom = _key(sheet, value, style, key_left, key_top)
    return sheet.finish(
        paper.rest(0.0, key_left + columns[-1]),
        max(end, bottom) + 6,
        note="Thick: the convex hull, with the slopes of its edges. A classifier is best if "
        "(share of negatives x cost of a false positive) / (share of positives x cost of a false "
        "negative) lies in its range.",
        alt=f"ROC curves of {counted(len(value.curves), 'classifier')}; on the hull: "
        f"{', '.join(map(str, optimal[:6])) or 'none'}.",
        x_scale=x,
        y_scale=y,
    )


def _corners(fp: Any, tp: Any) -> Any:
    """Return the points of a curve without those on a straight line between their neighbours."""
    points = np.stack((fp, tp), axis=1)
    if len(points) < 3:
        return points
    before, after = points[1:-1] - points[:-2], points[2:] - points[1:-1]
    turn = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) > 1e-12
    return points[np.concatenate(([True], turn, [True]))]


def _write_slopes(
    sheet: Sheet, hull: list[Point], slopes: list[float], left: float, top: float
) -> None:
    """Write slopes outside the hull, beside edges that are long enough and without overlaps."""
    boxes: list[tuple[float, float, float, float]] = []
    for (x0, y0), (x1, y1), slope in zip(hull, hull[1:], slopes, strict=False):
        length = hypot(x1 - x0, y1 - y0)
        if isinf(slope) or slope == 0 or length < 14:
            continue
        text = f"{slope:.2g}"
        half, height = sheet.text_width(text, SMALL) / 2 + 2, SMALL * LINE_HEIGHT / 2
        # Nothing else is drawn above and left of an edge.
        normal = ((y1 - y0) / length, -(x1 - x0) / length)
        away = 5 + abs(normal[0]) * half + abs(normal[1]) * height
        x, y = (x0 + x1) / 2 + normal[0] * away, (y0 + y1) / 2 + normal[1] * away
        box = (x - half, y - height, x + half, y + height)
        if box[0] < left + 2 or box[1] < top:
            continue
        if any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in boxes):
            continue
        boxes.append(box)
        sheet.write(x, y, text, size=SMALL, colour="muted", anchor="middle")


def _key_columns(sheet: Sheet, value: Any) -> tuple[float, float, float, float]:
    """Return where the columns of the key begin and end, from its left edge."""
    labels = _key_labels(sheet, value)
    second = 22 + max(sheet.widest(labels, SIZE), sheet.text_width("on the hull", SMALL)) + 12
    third = second + sheet.widest([*_ranges(value), "best for slopes"], SMALL) + 12
    return 22.0, second, third, third + 40


def _key_labels(sheet: Sheet, value: Any) -> tuple[str, ...]:
    ranges = sheet.widest([*_ranges(value), "best for slopes"], SMALL)
    return sheet.labels(value.optimal, sheet.paper.rest(ranges + 22 + 24 + 40 + 20, 280.0), SIZE)


def _ranges(value: Any) -> list[str]:
    return [" and ".join(_range(*span) for span in value.slopes[name]) for name in value.optimal]


def _range(low: float, high: float) -> str:
    if isinf(high):
        return f"above {low:.3g}" if low else "any"
    return f"below {high:.3g}" if low == 0 else f"{low:.3g} to {high:.3g}"


def _key(sheet: Sheet, value: Any, style: dict[Any, Any], left: float, top: float) -> float:
    """Write the classifiers on the hull with their slopes and areas; return where the key ends."""
    optimal = value.optimal
    labels, ranges = _key_labels(sheet, value), _ranges(value)
    area = {curve.name: curve.area for curve in value.curves}
    columns = [left + offset for offset in _key_columns(sheet, value)[:3]]
    pitch = SIZE * LINE_HEIGHT + 3
    y = top + 2
    if optimal:
        headings = ("on the hull", "best for slopes", "area")
        for x, heading in zip(columns, headings, strict=True):
            sheet.write(x, y, heading, size=SMALL, colour="muted")
    for k, name in enumerate(optimal):
        y += pitch
        colour, dash = style[name]
        sheet.line((left, y), (left + 17, y), colour=colour, width=1.8, dash=dash)
        sheet.write(columns[0], y, labels[k], colour=colour)
        sheet.write(columns[1], y, ranges[k], size=SMALL)
        sheet.write(columns[2], y, f"{area[name]:.3f}", size=SMALL)
    y += pitch
    sheet.write(columns[0], y, f"the hull: area {value.area:.3f}", size=SMALL, colour="muted")
    sheet.line((left, y), (left + 17, y), colour="muted", width=3.4, opacity=0.75)
    never = len(value.names) - len(optimal)
    if never:
        y += pitch
        sheet.line((left, y), (left + 17, y), colour="muted", width=0.6)
        sheet.write(columns[0], y, f"{never} never best", size=SMALL, colour="muted")
    return y + pitch
