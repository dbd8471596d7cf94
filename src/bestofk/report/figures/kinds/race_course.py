"""The course of a race: means by run, the band of the last open pair, and fits used."""

from __future__ import annotations

from math import isfinite
from typing import Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.decide.stopping.races import Race
from bestofk.report.figures.axes import spread, x_axis, y_axis, y_axis_left
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, cycled, name_size

_AXIS_LENGTH = 300.0
_MIN_AXIS_LENGTH = 130.0
"""If the axis would be shorter, shorten or drop the reasons for stopping."""
_MAX_REASON = 260.0
_TOP, _HEIGHT = 40.0, 220.0


def layout_race(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw a line per learner: its mean over the first runs, until it stopped.

    Parameters
    ----------
    value : Race, or a Study or decision of one
    paper : Paper, optional
    """
    race = _race(value, "race")
    metric, unit = race.metric, race.unit
    courses = [[float(metric.shown(mean)) for mean in raced.course] for raced in race.learners]
    K = len(courses)
    size = name_size(K, most=20)
    bottom = _TOP + max(_HEIGHT, K * (size * LINE_HEIGHT + 1.0))
    low, high = around(min(map(min, courses)), max(map(max, courses)), margin=0.05)
    sheet = Sheet(paper)
    up = Scale(low=low, high=high, start=bottom, end=_TOP)
    left = y_axis_left(sheet, up)
    names = [raced.learner for raced in race.learners]
    labels = sheet.labels(names, paper.share(0.36, 220.0), size)
    indent = 40 if paper.width is None else 26
    beside = indent + sheet.widest(labels, size) + 10
    reason_width = paper.rest(left + _MIN_AXIS_LENGTH + beside + 10, _MAX_REASON)
    reasons = [""] * K
    right_width = 0.0
    if reason_width >= 90.0:
        reasons = [_reason(raced) for raced in race.learners]
        limit = min(reason_width, _MAX_REASON)
        reasons = [text and sheet.fitted(text, limit, SMALL) for text in reasons]
        right_width = max(sheet.widest(reasons, SMALL), 20.0) + 10
    across = Scale(
        low=1.0,
        high=float(max(race.planned_runs, *map(len, courses))),
        start=left,
        end=left + paper.rest(left + beside + right_width, _AXIS_LENGTH),
    )
    y_axis(sheet, up, left=left, right=across.end, title=printable(metric.mean))
    end = x_axis(sheet, across, top=None, bottom=bottom, title=unit, whole=True)
    ends = [(across(len(course)), up(course[-1])) for course in courses]
    rows = spread([y for _, y in ends], gap=size * LINE_HEIGHT, low=_TOP, high=bottom)
    name_left = across.end + indent
    stopped = [raced.out_after is not None for raced in race.learners]
    for k, course in enumerate(courses):
        colour, dash = cycled(k)
        points = [(across(run + 1), up(mean)) for run, mean in enumerate(course)]
        x, y = ends[k]
        if len(points) > 1:
            sheet.line(*points, colour=colour, width=1.4, dash=dash)
        if stopped[k]:
            for rise in (-3.2, 3.2):
                sheet.line((x - 3.2, y - rise), (x + 3.2, y + rise), colour=colour, width=1.6)
        else:
            sheet.dot(x, y, 2.6, fill=colour)
        sheet.line((x + 5, y), (name_left - 4, rows[k]), colour=colour, width=0.6)
        sheet.write(name_left, rows[k], labels[k], size=size, colour=colour)
    reason_left = name_left + sheet.widest(labels, size) + 10
    for row, reason in zip(rows, reasons, strict=True):
        if reason:
            sheet.write(reason_left, row, reason, size=SMALL, colour="muted")
    risk = " (or, within the risk, will not change)" if unit == "run" else ""
    return sheet.finish(
        reason_left + right_width,
        end + 6,
        note=f"Each line is the mean over the {unit}s so far. A cross: the learner stopped, "
        f"because more {unit}s cannot change{risk} the verdict. Do not compare means over "
        f"different numbers of {unit}s.",
        alt=f"{counted(K, 'learner')} by {unit}, {sum(stopped)} of them stopped before the end.",
        x_scale=across,
        y_scale=up,
    )


def layout_funnel(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the possible final statistics of the last open pair, by run.

    Parameters
    ----------
    value : Race, or a Study or decision of one
    paper : Paper, optional
    """
    race = _race(value, "funnel")
    if race.unit != "run":
        raise ArgumentError(
            "figure 'funnel' shows a statistic by runs on one data set, and this race runs over "
            "data sets; draw 'race' or 'fits'."
        )
    bands = [band for band in race.bands if isfinite(band.low) and isfinite(band.high)]
    if race.pair is None or not bands:
        raise ArgumentError("figure 'funnel' needs a pair with a bounded band; this race has none.")
    loose, strict = race.critical
    reach = max(abs(loose), abs(strict))
    ends = [end for band in bands for end in (band.low, band.high)]
    low, high = around(min(*ends, -reach), max(*ends, reach), margin=0.06)
    bottom = _TOP + _HEIGHT
    sheet = Sheet(paper)
    up = Scale(low=low, high=high, start=bottom, end=_TOP)
    left = y_axis_left(sheet, up)
    right = left + paper.rest(left + 20, _AXIS_LENGTH)
    runs = float(max(race.planned_runs, *(band.runs for band in bands)))
    across = Scale(low=1.0, high=runs, start=left, end=right)
    first, second = sheet.labels(race.pair, paper.share(0.36, 125.0))
    y_axis(sheet, up, left=left, right=right, title=f"t of {first} minus {second}")
    end = x_axis(sheet, across, top=None, bottom=bottom, title="runs that both have", whole=True)
    for sign in (-1.0, 1.0):
        ys = sorted((up(sign * loose), up(sign * strict)))
        if ys[1] - ys[0] > 0.5:
            sheet.box(left, ys[0], right, ys[1], fill="vermillion", opacity=0.15)
        for critical in {loose, strict}:
            y = up(sign * critical)
            sheet.line((left, y), (right, y), colour="vermillion", width=1.0, dash=(4, 2.5))
    sheet.line((left, up(0.0)), (right, up(0.0)), colour="muted", width=0.8)
    upper = [(across(band.runs), up(band.high)) for band in bands]
    lower = [(across(band.runs), up(band.low)) for band in bands]
    if len(bands) > 1:
        sheet.area(*upper, *reversed(lower), fill="blue", opacity=0.25)
    for high_end, low_end in zip(upper, lower, strict=True):
        sheet.line(high_end, low_end, colour="blue", width=2.0)
    return sheet.finish(
        right + 20,
        end + 6,
        note="Blue: where the statistic can still end. Red: the critical values, from the last "
        "step of the correction to the first. A pair is settled if its band is clear of them.",
        alt=f"The band of the last open pair after {counted(len(bands), 'look')}.",
        x_scale=across,
        y_scale=up,
    )


def layout_fits(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw a bar per learner: fits used and fits planned.

    Parameters
    ----------
    value : Race, or a Study or decision of one
    paper : Paper, optional
    """
    race = _race(value, "fits")
    used = [raced.runs * race.fits_per_run for raced in race.learners]
    planned = race.planned_runs * race.fits_per_run
    K = len(used)
    size = name_size(K)
    pitch = 20.0 if K <= 20 else 14.0
    sheet = Sheet(paper)
    names = [raced.learner for raced in race.learners]
    labels = sheet.labels(names, paper.share(0.45, 280.0), size)
    start = 10 + sheet.widest(labels, size) + 12
    texts = [f"{count:,} of {planned:,}" for count in used]
    beside = 10 + sheet.widest(texts, SMALL) + 10
    right = start + paper.rest(start + beside, _AXIS_LENGTH)
    scale = Scale(low=0.0, high=float(max(planned, *used)), start=start, end=right)
    top = 10.0
    for k, count in enumerate(used):
        row = top + (k + 0.5) * pitch
        sheet.write(start - 12, row, labels[k], size=size, anchor="end")
        sheet.box(start, row - 4, scale(planned), row + 4, fill="wash")
        sheet.box(start, row - 4, scale(count), row + 4, fill="blue")
        sheet.write(right + 10, row, texts[k], size=SMALL, colour="muted")
    end = x_axis(sheet, scale, top=None, bottom=top + K * pitch + 2, title="fits", whole=True)
    alt = f"{sum(used)} of {planned * K} fits used."
    return sheet.finish(right + beside, end + 6, note=race.state(), alt=alt, x_scale=scale)


def _race(value: Any, figure: str) -> Race:
    race = value if isinstance(value, Race) else getattr(value, "race", None)
    if not isinstance(race, Race):
        raise ArgumentError(
            f"figure {figure!r} needs a comparison that stops early, such as "
            f"compare(..., stop='settled'); got {type(value).__name__}."
        )
    return race


def _reason(raced: Any) -> str:
    if raced.out_after is None:
        return ""
    after = f"out after {raced.unit} {raced.out_after}"
    return f"{after}: {raced.reason}" if raced.reason else after
