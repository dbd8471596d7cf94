"""Measured rates with Monte Carlo bands: Type I error, power and replicability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import spread, x_axis, y_axis, y_axis_left
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, cycled, name_size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """Rates of one or more tests along one axis, with the ends of their Monte Carlo bands.

    Attributes
    ----------
    x : array (n,)
        The varied quantity.
    rate, low, high : array (tests, n)
        The rates and the ends of their bands.
    names : sequence of str
        Names of the tests.
    x_name, y_name : str
        Titles of the axes.
    nominal : float or None
        The nominal rate.
    note : str
        Text for the caption.
    noun : str
        What a curve belongs to.
    """

    x: npt.ArrayLike
    rate: npt.ArrayLike
    low: npt.ArrayLike
    high: npt.ArrayLike
    names: Sequence[object]
    x_name: str = "degrees of freedom"
    y_name: str = "Type I error"
    nominal: float | None = None
    note: str = ""
    noun: str = "test"


def layout_rates(value: Rates, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw curves of measured rates with Monte Carlo bands, and their names at the right ends.

    Parameters
    ----------
    value : Rates
    paper : Paper, optional

    Examples
    --------
    >>> rates = Rates(x=[1, 5, 10], rate=[[0.02, 0.04, 0.07]], low=[[0.01, 0.03, 0.05]],
    ...     high=[[0.03, 0.06, 0.09]], names=["use-all-data"], nominal=0.05)
    >>> layout_rates(rates).alt
    'Type I error against degrees of freedom of 1 test.'
    """
    x = np.asarray(value.x, dtype=float)
    rate, low, high = (
        np.atleast_2d(np.asarray(part, dtype=float)) for part in (value.rate, value.low, value.high)
    )
    drawn = np.isfinite(rate).any(axis=1)
    rate, low, high = rate[drawn], low[drawn], high[drawn]
    names = [name for name, known in zip(value.names, drawn, strict=True) if known]
    unknown = [str(name) for name, known in zip(value.names, drawn, strict=True) if not known]
    K = len(rate)
    size = name_size(K, most=24)
    pitch = size * LINE_HEIGHT + 1
    sheet = Sheet(paper)
    labels = sheet.labels(names, paper.share(0.42, 280.0), size)
    top = 30.0
    bottom = top + max(230.0, K * pitch + 10)
    known = np.isfinite(rate)
    aim = value.nominal
    least, most = _limits(low[known], high[known], aim)
    up = Scale(low=least, high=most, start=bottom, end=top)
    left = y_axis_left(sheet, up)
    beside = 20 + sheet.widest(labels, size) + 10
    end_of_x = left + paper.rest(left + beside, 380.0)
    across = Scale(low=float(x.min()), high=float(x.max()), start=left, end=end_of_x)
    y_axis(sheet, up, left=left, right=across.end, title=printable(value.y_name))
    end = x_axis(sheet, across, top=None, bottom=bottom, title=printable(value.x_name))
    note = "Shaded: Monte Carlo band of each rate." if (high > low).any() else ""
    if unknown:
        note += f" Without any known rate: {', '.join(map(printable, unknown))}."
    if aim is not None:
        y = up(aim)
        sheet.line((left, y), (across.end, y), colour="ink", width=0.9, dash=(4, 3))
        sheet.write(left + 4, y - 7, f"nominal {aim:g}", size=SMALL, colour="muted")

    def points_of(table: Floats, k: int) -> list[Point]:
        return [
            (across(float(a)), up(float(b)))
            for a, b in zip(x[known[k]], table[k, known[k]], strict=True)
        ]

    for k in range(K):
        colour, _ = cycled(k)
        if not (high[k] > low[k]).any():
            continue
        upper, lower = points_of(high, k), points_of(low, k)
        if len(upper) > 1:
            sheet.area(*upper, *reversed(lower), fill=colour, opacity=min(0.18, 0.72 / K))
        elif upper:
            sheet.line(upper[0], lower[0], colour=colour, width=1.2)
    curves = [points_of(rate, k) for k in range(K)]
    many = K > 8
    for k, curve in enumerate(curves):
        colour, dash = cycled(k)
        sheet.line(*curve, colour=colour, width=1.2 if many else 1.8, dash=dash)
        if len(x) <= 12 and not many:
            for point in curve:
                sheet.dot(*point, 2.2, fill=colour)
    rows = spread([curve[-1][1] for curve in curves], gap=pitch, low=top + pitch / 2, high=bottom)
    name_left = across.end + 20
    for k, (label, y) in enumerate(zip(labels, rows, strict=True)):
        colour, _ = cycled(k)
        end_x, end_y = curves[k][-1]
        sheet.line((end_x + 3, end_y), (name_left - 3, y), colour=colour, width=0.7)
        sheet.write(name_left, y, label, size=size, colour=colour)
    return sheet.finish(
        across.end + beside,
        end + 6,
        note=f"{note} {value.note}".strip(),
        alt=f"{value.y_name} against {value.x_name} of {counted(K, value.noun)}.",
        x_scale=across,
        y_scale=up,
    )


def _limits(low: Floats, high: Floats, nominal: float | None) -> tuple[float, float]:
    most = max(float(high.max()), nominal or 0.0)
    least = min(float(low.min()), nominal if nominal is not None else 1.0)
    # Start at 0 unless all rates are far above it.
    bottom = 0.0 if least < 0.5 * most else max(0.0, least - 0.1 * (most - least))
    top = bottom + (most - bottom) * 1.06 if most > bottom else bottom + 1.0
    return bottom, min(1.0, top) if most <= 1.0 else top
