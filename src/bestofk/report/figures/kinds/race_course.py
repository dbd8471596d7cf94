"""The course of a race: means by run, the funnel of the last open pair, and fits used."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.decide.stopping.races import Race
from bestofk.report.figures.axes import spread, x_axis, y_axis, y_room
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, cycled

_PANEL = 300.0
"""Points from the first run to the last."""
_LEAST = 130.0
"""Fewer than so many, and the reasons for stopping give way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceLayout:
    """Lines by run.

    Attributes
    ----------
    labels : tuple of str
        What stands beside each line, in the order of preference.
    ends : tuple of (float, float)
        Where each line ends.
    crossed : tuple of bool
        Whether a cross stands there: the learner was stopped.
    picture : Picture
    """

    labels: tuple[str, ...]
    ends: tuple[tuple[float, float], ...]
    crossed: tuple[bool, ...]
    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelLayout:
    """The bands of a pair: runs that both had, and the ends of what was open."""

    runs: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class FitsLayout:
    """Bars: fits used, and planned, by learner."""

    labels: tuple[str, ...]
    used: tuple[int, ...]
    planned: int
    picture: Picture


def layout_race(value: Any, *, paper: Paper = ANY_PAPER) -> RaceLayout:
    """Place a line per learner: its mean over the first runs, ending where it was stopped.

    Parameters
    ----------
    value : Race, or a Study or decision of one
    paper : Paper, optional
        What it must fit.
    """
    race = _race(value, "race")
    metric = race.metric
    courses = [[float(metric.shown(mean)) for mean in one.course] for one in race.learners]
    K = len(courses)
    size = SIZE if K <= 20 else SMALL
    height = max(220.0, K * (size * LINE + 1.0))
    most = max(race.planned_runs, *(len(course) for course in courses))
    low, high = around(min(map(min, courses)), max(map(max, courses)), margin=0.05)
    sheet = Sheet(paper)
    top = 40.0
    up = Scale(low=low, high=high, start=top + height, end=top)
    left = y_room(sheet, up)
    labels = sheet.labels([one.learner for one in race.learners], paper.share(0.3, 150.0), size)
    names_at = 26 if paper.width is not None else 40
    beside = names_at + sheet.widest(labels, size) + 10
    reasons = [_ended(one) for one in race.learners]
    told = paper.rest(left + _LEAST + beside + 10, 260.0)
    if told < 90.0:
        # a cross says that a learner was stopped
        reasons, told = [""] * K, 0.0
    reasons = [sheet.fitted(one, min(told, 260.0), SMALL) if one else "" for one in reasons]
    tell_width = max(sheet.widest(reasons, SMALL), 20.0) + 10 if told else 0.0
    across = Scale(
        low=1.0,
        high=float(most),
        start=left,
        end=left + paper.rest(left + beside + tell_width, _PANEL),
    )
    y_axis(sheet, up, left=left, right=across.end, title=printable(metric.mean))
    end = x_axis(sheet, across, top=None, bottom=top + height, title=race.unit, whole=True)
    ends = tuple((across(len(course)), up(course[-1])) for course in courses)
    beside_at = spread([y for _, y in ends], gap=size * LINE, low=top, high=top + height)
    crossed = tuple(one.out_after is not None for one in race.learners)
    words = across.end + names_at
    for k, course in enumerate(courses):
        colour, dash = cycled(k)
        points = [(across(run + 1), up(mean)) for run, mean in enumerate(course)]
        x, y = ends[k]
        if len(points) > 1:
            sheet.line(*points, colour=colour, width=1.4, dash=dash)
        if crossed[k]:
            for rise in (-3.2, 3.2):
                sheet.line((x - 3.2, y - rise), (x + 3.2, y + rise), colour=colour, width=1.6)
        else:
            sheet.dot(x, y, 2.6, fill=colour)
        sheet.line((x + 5, y), (words - 4, beside_at[k]), colour=colour, width=0.6, opacity=0.5)
        sheet.say(words, beside_at[k], labels[k], size=size, colour=colour)
    tell = words + sheet.widest(labels, size) + 10
    for k, reason in enumerate(reasons):
        if reason:
            sheet.say(tell, beside_at[k], reason, size=SMALL, colour="muted")
    width = tell + tell_width
    risky = " (or, within the risk, will not change)" if race.unit == "run" else ""
    end = sheet.note(
        f"Each line is the mean over the {race.unit}s so far. A cross: the learner was stopped, "
        f"since its further {race.unit}s cannot change{risky} the verdict. Means over different "
        f"numbers of {race.unit}s are not to be compared.",
        left=10,
        top=end + 6,
        width=width - 20,
    )
    alt = f"{counted(K, 'learner')} by {race.unit}, {sum(crossed)} of them stopped before the end."
    return RaceLayout(
        labels=labels,
        ends=ends,
        crossed=crossed,
        picture=sheet.picture(width, end + 6, alt=printable(alt), x_scale=across, y_scale=up),
    )


def layout_funnel(value: Any, *, paper: Paper = ANY_PAPER) -> FunnelLayout:
    """Place what every look left open of the statistic of the pair that decided last.

    Parameters
    ----------
    value : Race, or a Study or decision of one
    paper : Paper, optional
        What it must fit.
    """
    race = _race(value, "funnel")
    if race.unit != "run":
        raise ArgumentError(
            "figure 'funnel': it shows a statistic by runs on one data set, and this race goes by "
            "data sets: draw 'race' or 'fits'."
        )
    bands = [band for band in race.bands if isfinite(band.low) and isfinite(band.high)]
    if race.pair is None or not bands:
        raise ArgumentError("figure 'funnel': no look left a bounded part open of any pair.")
    loose, strict = race.critical
    reach = max(abs(loose), abs(strict))
    ends = [end for band in bands for end in (band.low, band.high)]
    low, high = around(min(*ends, -reach), max(*ends, reach), margin=0.06)
    top, height = 40.0, 220.0
    most = max(race.planned_runs, *(band.runs for band in bands))
    sheet = Sheet(paper)
    up = Scale(low=low, high=high, start=top + height, end=top)
    left = y_room(sheet, up)
    across = Scale(
        low=1.0, high=float(most), start=left, end=left + paper.rest(left + 20, _PANEL)
    )  # fmt: skip
    first, second = sheet.labels(race.pair, paper.share(0.34, 125.0))
    y_axis(sheet, up, left=left, right=across.end, title=f"t of {first} less {second}")
    end = x_axis(
        sheet, across, top=None, bottom=top + height, title="runs that both have", whole=True
    )
    for sign in (-1.0, 1.0):
        ys = sorted((up(sign * loose), up(sign * strict)))
        if ys[1] - ys[0] > 0.5:
            sheet.box(left, ys[0], across.end, ys[1], fill="vermillion", opacity=0.15)
        for critical in {loose, strict}:
            y = up(sign * critical)
            sheet.line((left, y), (across.end, y), colour="vermillion", width=1.0, dash=(4, 2.5))
    sheet.line((left, up(0.0)), (across.end, up(0.0)), colour="faint", width=0.8)
    upper = [(across(band.runs), up(band.high)) for band in bands]
    lower = [(across(band.runs), up(band.low)) for band in bands]
    if len(bands) > 1:
        sheet.area(*upper, *reversed(lower), fill="blue", opacity=0.25)
    for one, other in zip(upper, lower, strict=True):
        sheet.line(one, other, colour="blue", width=2.0)
    width = across.end + 20
    end = sheet.note(
        "Blue: where the statistic can still end. Red: from where a difference is claimed, between "
        "the level of the last step of the correction and that of the first. A pair whose band is "
        "clear of it is settled.",
        left=10,
        top=end + 6,
        width=width - 20,
    )
    alt = f"The band of the last open pair after {counted(len(bands), 'look')}."
    return FunnelLayout(
        runs=tuple(band.runs for band in bands),
        low=tuple(band.low for band in bands),
        high=tuple(band.high for band in bands),
        picture=sheet.picture(width, end + 6, alt=printable(alt), x_scale=across, y_scale=up),
    )


def layout_fits(value: Any, *, paper: Paper = ANY_PAPER) -> FitsLayout:
    """Place a bar per learner: fits used of those that were planned.

    Parameters
    ----------
    value : Race, or a Study or decision of one
    paper : Paper, optional
        What it must fit.
    """
    race = _race(value, "fits")
    used = tuple(one.runs * race.fits_per_run for one in race.learners)
    planned = race.planned_runs * race.fits_per_run
    K = len(used)
    size = SIZE if K <= 30 else SMALL
    pitch = 20.0 if K <= 20 else 14.0
    sheet = Sheet(paper)
    labels = sheet.labels([one.learner for one in race.learners], paper.share(0.36, 190.0), size)
    start = 10 + sheet.widest(labels, size) + 12
    said = [f"{count:,} of {planned:,}" for count in used]
    end_at = start + paper.rest(start + 10 + sheet.widest(said, SMALL) + 10, _PANEL)
    scale = Scale(low=0.0, high=float(max(planned, *used)), start=start, end=end_at)
    top = 10.0
    for k, count in enumerate(used):
        row = top + (k + 0.5) * pitch
        sheet.say(start - 12, row, labels[k], size=size, anchor="end")
        sheet.box(scale(0), row - 4, scale(planned), row + 4, fill="wash")
        sheet.box(scale(0), row - 4, scale(count), row + 4, fill="blue")
        sheet.say(scale.end + 10, row, said[k], size=SMALL, colour="muted")
    end = x_axis(sheet, scale, top=None, bottom=top + K * pitch + 2, title="fits", whole=True)
    width = scale.end + 10 + sheet.widest(said, SMALL) + 10
    end = sheet.note(f"{race.state()}", left=10, top=end + 6, width=width - 20)
    return FitsLayout(
        labels=labels,
        used=used,
        planned=planned,
        picture=sheet.picture(
            width, end + 6, alt=printable(f"{sum(used)} of {planned * K} fits used."), x_scale=scale
        ),
    )


def _race(value: Any, figure: str) -> Race:
    found = value if isinstance(value, Race) else getattr(value, "race", None)
    if not isinstance(found, Race):
        raise ArgumentError(
            f"figure {figure!r}: a comparison that stops is needed, such as "
            f"compare(..., stop='settled'); got {type(value).__name__}."
        )
    return found


def _ended(one: Any) -> str:
    if one.out_after is None:
        return ""
    after = f"out after {one.unit} {one.out_after}"
    return f"{after}: {one.reason}" if one.reason else after
