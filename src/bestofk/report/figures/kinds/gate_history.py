"""The history of a gate: the difference of every build from the baseline."""

from __future__ import annotations

from typing import Any

from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import x_axis, y_axis, y_axis_left
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, Paper

_COLOURS = {"pass": "blue", "blocked": "vermillion", "suspect": "orange"}
_TOP, _HEIGHT, _LENGTH = 40.0, 200.0, 420.0


def layout_gate(value: Any, *, metric: str | None = None, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the builds of a ledger: differences from the baseline with intervals.

    Parameters
    ----------
    value : GateResult
    metric : str, optional
        One of its metrics; by default the first.
    paper : Paper, optional
    """
    builds = value.history.builds
    name = next(iter(value.results)) if metric is None else metric
    rows = [build["metrics"][name] for build in builds]
    ends = [row[end] for row in rows for end in ("low", "high") if row[end] is not None]
    known = [0.0, *ends, *(row["difference"] for row in rows)]
    low, high = around(min(known), max(known), margin=0.06)
    bottom = _TOP + _HEIGHT
    sheet = Sheet(paper)
    up = Scale(low=low, high=high, start=bottom, end=_TOP)
    left = y_axis_left(sheet, up)
    across = Scale(
        low=0.5, high=len(builds) + 0.5, start=left, end=left + paper.rest(left + 20, _LENGTH)
    )
    title = f"{printable(name)}: build minus baseline"
    y_axis(sheet, up, left=left, right=across.end, title=title)
    end = x_axis(sheet, across, top=None, bottom=bottom, title="build", whole=True)
    sheet.line((left, up(0.0)), (across.end, up(0.0)), colour="ink", width=0.9)
    baseline = builds[0]["baseline"]
    for number, (build, row) in enumerate(zip(builds, rows, strict=True), start=1):
        x, colour = across(number), _COLOURS[build["answer"]]
        bottom_of_bar = low if row["low"] is None else row["low"]
        top_of_bar = high if row["high"] is None else row["high"]
        sheet.line((x, up(bottom_of_bar)), (x, up(top_of_bar)), colour=colour, width=1.4)
        fill = "paper" if build["answer"] == "suspect" else colour
        sheet.dot(x, up(row["difference"]), 2.8, fill=fill, colour=colour, width=1.2)
        if build["baseline"] != baseline:
            middle = across(number - 0.5)
            sheet.line((middle, _TOP), (middle, bottom), colour="ink", width=0.7, dash=(2.0, 2.0))
        baseline = build["baseline"]
    blocked = sum(build["answer"] == "blocked" for build in builds)
    return sheet.finish(
        across.end + 20,
        end + 6,
        note="Each bar is the interval that belongs to the level of the test. Red: blocked. "
        "Hollow dots: suspects before their reruns. Dashed lines: a new baseline.",
        alt=f"{counted(len(builds), 'build')} against the baseline, {blocked} blocked.",
        x_scale=across,
        y_scale=up,
    )
