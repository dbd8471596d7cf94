"""Rates that were measured: Type I error against df, power, replicability, with their bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.lab.error_rates import TypeOneError
from bestofk.lab.power_rates import Power
from bestofk.lab.rates import Curve
from bestofk.lab.replications import Replicability
from bestofk.report.figures.axes import spread, x_axis, y_axis, y_room
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, cycled


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """Rates of one or more tests along one axis, with the ends of their Monte Carlo bands.

    Attributes
    ----------
    x : array (n,)
        What was varied.
    rate, low, high : array (tests, n)
        The rates and the ends of their bands.
    names : sequence of str
        Of the tests.
    x_name, y_name : str
        For the axes.
    nominal : float, "x" or None
        The rate that is aimed at; ``"x"``: the value on the axis, which is a level.
    note : str
        What the rates are of.
    """

    x: npt.ArrayLike
    rate: npt.ArrayLike
    low: npt.ArrayLike
    high: npt.ArrayLike
    names: Sequence[object]
    x_name: str = "degrees of freedom"
    y_name: str = "Type I error"
    nominal: float | str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesLayout:
    """Curves with their names at their right ends.

    Attributes
    ----------
    labels : tuple of str
    curves : tuple of tuple of points
        Where each curve goes.
    label_heights : tuple of float
        Where its name stands.
    colours : tuple of str
    picture : Picture
    """

    labels: tuple[str, ...]
    curves: tuple[tuple[Point, ...], ...]
    label_heights: tuple[float, ...]
    colours: tuple[str, ...]
    picture: Picture


_MEASURED = {
    "TypeOneError": ("Type I error", "x"),
    "Power": ("power", None),
    "Replicability": ("data sets on which all repeats agree", None),
}
"""Results of the lab: what their rate is called, and what it should be."""


def rates_of(value: Any, *, nominal: float | str | None = None, y_name: str | None = None) -> Rates:
    """Rates of one or several results of the lab, or of their curves, along one axis.

    Parameters
    ----------
    value : Rates, Curve, TypeOneError, Power, Replicability, or several of one of these
    nominal : float or "x", optional
        The rate that is aimed at.
    y_name : str, optional
        What the rate is.
    """
    if isinstance(value, Rates):
        return value
    several = list(value) if isinstance(value, list | tuple) else [value]
    called, aim = _MEASURED.get(type(several[0]).__name__, ("rate", None))
    curves = [_curve(one) for one in several]
    x = np.unique(np.concatenate([curve[1] for curve in curves]))
    rate, low, high = (np.full((len(curves), len(x)), np.nan) for _ in range(3))
    for row, (_, at, *columns) in enumerate(curves):
        where = np.searchsorted(x, at)
        for table, column in zip((rate, low, high), columns, strict=True):
            table[row, where] = column
    return Rates(
        x=x,
        rate=rate,
        low=low,
        high=high,
        names=[curve[0] for curve in curves],
        x_name=getattr(_as_curve(several[0]), "x_name", "level"),
        y_name=called if y_name is None else y_name,
        nominal=aim if nominal is None else nominal,
    )


def _as_curve(value: Any) -> Any:
    return value.curve() if isinstance(value, TypeOneError | Power) else value


def _curve(value: Any) -> tuple[str, Floats, Floats, Floats, Floats]:
    """Name, x, rate, low and high."""
    if isinstance(value, Replicability):
        found = [one.all_agree for one in value.agreements]
        rate, low, high = (
            np.array([getattr(one, end) for one in found]) for end in ("value", "low", "high")
        )
        return value.test, np.asarray(value.alphas), rate, low, high
    curve = _as_curve(value)
    if not isinstance(curve, Curve):
        raise ArgumentError(
            "figure 'rates': Rates, or curves and results of the lab are needed; got "
            f"{type(value).__name__}."
        )
    return curve.name, curve.x, curve.value, curve.low, curve.high


def layout_rates(
    value: Any,
    *,
    nominal: float | str | None = None,
    y_name: str | None = None,
    paper: Paper = ANY_PAPER,
) -> RatesLayout:
    """Place curves of measured rates with Monte Carlo bands.

    Parameters
    ----------
    value : Rates, Curve, TypeOneError, Power, Replicability, or several of one of these
    nominal, y_name
        As for `rates_of`.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> rates = Rates(x=[1, 5, 10], rate=[[0.02, 0.04, 0.07]], low=[[0.01, 0.03, 0.05]],
    ...     high=[[0.03, 0.06, 0.09]], names=["use-all-data"], nominal=0.05)
    >>> layout_rates(rates).labels
    ('use-all-data',)
    """
    value = rates_of(value, nominal=nominal, y_name=y_name)
    x = np.asarray(value.x, dtype=float)
    rate, low, high = (
        np.atleast_2d(np.asarray(part, dtype=float)) for part in (value.rate, value.low, value.high)
    )
    if not (x.ndim == 1 and rate.shape == low.shape == high.shape == (len(value.names), len(x))):
        raise ArgumentError(
            f"figure 'rates': rate, low and high must have shape ({len(value.names)}, {len(x)}), a "
            f"row per name and one column per x; got {rate.shape}, {low.shape} and {high.shape}."
        )
    some = np.isfinite(rate).any(axis=1)
    rate, low, high = rate[some], low[some], high[some]
    K = len(rate)
    size = SIZE if K <= 24 else SMALL
    pitch = size * LINE + 1
    sheet = Sheet(paper)
    drawn_names = [name for name, drawn in zip(value.names, some, strict=True) if drawn]
    labels = sheet.labels(drawn_names, paper.share(0.34, 190.0), size)
    height = max(230.0, K * pitch + 10)
    top = 30.0
    known = np.isfinite(rate)
    aim = None if value.nominal is None or value.nominal == "x" else float(value.nominal)
    bottom_rate, top_rate = _limits(rate[known], low[known], high[known], aim)
    up = Scale(low=bottom_rate, high=top_rate, start=top + height, end=top)
    left = y_room(sheet, up)
    beside = 20 + sheet.widest(labels, size) + 10
    across = _x_scale(x, left, left + paper.rest(left + beside, 380.0))
    y_axis(sheet, up, left=left, right=across.end, title=printable(value.y_name))
    end = x_axis(sheet, across, top=None, bottom=top + height, title=printable(value.x_name))
    unknown = [printable(str(n)) for n, drawn in zip(value.names, some, strict=True) if not drawn]
    note = "Shaded: Monte Carlo band of each rate." if (high > low).any() else ""
    if unknown:
        note += f" Not known anywhere: {', '.join(unknown)}."
    if value.nominal == "x":
        note += " Dashed: the level itself."
        levels = np.linspace(max(across.low, up.low), min(across.high, up.high), 40).tolist()
        diagonal = [(across(level), up(level)) for level in levels]
        sheet.line(*diagonal, colour="ink", width=0.9, dash=(4, 3))
    elif aim is not None:
        y = up(aim)
        sheet.line((left, y), (across.end, y), colour="ink", width=0.9, dash=(4, 3))
        sheet.say(left + 4, y - 7, f"nominal {aim:g}", size=SMALL, colour="muted")
    styles = [cycled(k) for k in range(K)]
    many = K > 8
    for k, (colour, _) in enumerate(styles):
        on = known[k]
        over = [(across(float(a)), up(float(b))) for a, b in zip(x[on], high[k, on], strict=True)]
        under = [(across(float(a)), up(float(b))) for a, b in zip(x[on], low[k, on], strict=True)]
        if len(over) > 1:
            sheet.area(*over, *reversed(under), fill=colour, opacity=min(0.18, 0.72 / K))
        elif over:
            sheet.line(over[0], under[0], colour=colour, width=1.2)
    curves = []
    for k, (colour, dash) in enumerate(styles):
        on = known[k]
        curve = tuple(
            (across(float(a)), up(float(b))) for a, b in zip(x[on], rate[k, on], strict=True)
        )
        sheet.line(*curve, colour=colour, width=1.2 if many else 1.8, dash=dash)
        if len(x) <= 12 and not many:
            for point in curve:
                sheet.dot(*point, 2.2, fill=colour)
        curves.append(curve)
    heights = spread(
        [curve[-1][1] for curve in curves], gap=pitch, low=top + pitch / 2, high=top + height
    )
    name_at = across.end + 20
    for k, (label, y) in enumerate(zip(labels, heights, strict=True)):
        colour = styles[k][0]
        end_x, end_y = curves[k][-1]
        sheet.line((end_x + 3, end_y), (name_at - 3, y), colour=colour, width=0.7, opacity=0.6)
        sheet.say(name_at, y, label, size=size, colour=colour)
    width = name_at + sheet.widest(labels, size) + 10
    end = sheet.note(f"{note} {value.note}".strip(), left=10, top=end + 6, width=width - 20)
    return RatesLayout(
        labels=labels,
        curves=tuple(curves),
        label_heights=heights,
        colours=tuple(colour for colour, _ in styles),
        picture=sheet.picture(
            width,
            end + 6,
            alt=printable(f"{value.y_name} against {value.x_name} of {counted(K, 'test')}."),
            x_scale=across,
            y_scale=up,
        ),
    )


def _x_scale(x: Floats, start: float, end: float) -> Scale:
    """Logarithmic where the values reach over more than a factor of 50."""
    low, high = float(x.min()), float(x.max())
    if low > 0 and high / low > 50:
        return Scale(low=low, high=high, start=start, end=end, kind="log")
    if low == high:
        low, high = around(low, high)
    return Scale(low=low, high=high, start=start, end=end)


def _limits(rate: Floats, low: Floats, high: Floats, nominal: float | None) -> tuple[float, float]:
    if not len(rate):
        raise ArgumentError("figure 'rates': at least one rate must be known.")
    most = max(float(high.max()), nominal or 0.0)
    least = min(float(low.min()), nominal if nominal is not None else 1.0)
    # from 0 unless all rates are far above it
    bottom = 0.0 if least < 0.5 * most else max(0.0, least - 0.1 * (most - least))
    roof = bottom + (most - bottom) * 1.06 if most > bottom else bottom + 1.0
    return bottom, min(1.0, roof) if most <= 1.0 else roof
