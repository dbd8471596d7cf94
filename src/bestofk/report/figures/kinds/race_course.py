"""The course of a race: means by run."""

from __future__ import annotations

from typing import Any

from bestofk._base.formatting import counted, printable
from bestofk.decide.stopping.result import Race
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
    value : Study or StoppedDecision
    paper : Paper, optional
    """
    race: Race = value.race
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
    stopped = [raced.stopped for raced in race.learners]
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


def _reason(raced: Any) -> str:
    return f"out after {raced.unit} {raced.runs}: {raced.why}" if raced.stopped else ""
