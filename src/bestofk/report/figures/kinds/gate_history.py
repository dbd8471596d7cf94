"""The history of a gate: the difference of every build from its anchor."""

from __future__ import annotations

from typing import Any

from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import x_axis, y_axis, y_axis_left
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper

_COLOURS = {"pass": "blue", "worse": "vermillion", "undecided": "orange"}
_TOP, _HEIGHT, _LENGTH = 40.0, 200.0, 420.0


def layout_gate(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the builds of a ledger: differences from the anchor with intervals, and alpha spent.

    Parameters
    ----------
    value : GateResult
    paper : Paper, optional
    """
    builds = value.history.builds
    ends = [line[end] for line in builds for end in ("low", "high") if line[end] is not None]
    known = [0.0, *ends, *(line["difference"] for line in builds)]
    low, high = around(min(known), max(known), margin=0.06)
    bottom = _TOP + _HEIGHT
    sheet = Sheet(paper)
    up = Scale(low=low, high=high, start=bottom, end=_TOP)
    left = y_axis_left(sheet, up)
    across = Scale(
        low=0.0, high=len(builds) + 1.0, start=left, end=left + paper.rest(left + 20, _LENGTH)
    )
    title = f"{printable(value.metric)}: build minus anchor"
    y_axis(sheet, up, left=left, right=across.end, title=title)
    end = x_axis(sheet, across, top=None, bottom=bottom, title="build", whole=True)
    sheet.line((left, up(0.0)), (across.end, up(0.0)), colour="ink", width=0.9)
    for number, line in enumerate(builds, start=1):
        x, colour = across(number), _COLOURS[line["answer"]]
        least, most = (
            end if line[name] is None else line[name]
            for name, end in (("low", low), ("high", high))
        )
        sheet.line((x, up(least)), (x, up(most)), colour=colour, width=1.4)
        sheet.dot(x, up(line["difference"]), 2.6, fill=colour)
        if line["joins"] == "better":
            sheet.write(x, up(most) - 8, "better", size=SMALL, anchor="middle")
    blocked = sum(line["answer"] == "worse" for line in builds)
    return sheet.finish(
        across.end + 20,
        end + 6,
        note="Each bar is the interval of one build; all of them cover together with probability "
        f"{1 - 2 * value.alpha:g}. Red: blocked. Orange: undecided. "
        f"{value.spent:.2g} of alpha = {value.alpha:g} is spent.",
        alt=f"{counted(len(builds), 'build')} against the anchor, {blocked} blocked.",
        x_scale=across,
        y_scale=up,
    )
