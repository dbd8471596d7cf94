"""The history of a gate: the difference of every build from its anchor."""

from __future__ import annotations

from typing import Any

from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import x_axis, y_axis, y_axis_left
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, Paper

_COLOURS = {"pass": "blue", "worse": "vermillion", "undecided": "blue"}
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
    anchor = set(builds[0]["anchor"])
    for number, line in enumerate(builds, start=1):
        x, colour = across(number), _COLOURS[line["answer"]]
        bottom_of_bar = low if line["low"] is None else line["low"]
        top_of_bar = high if line["high"] is None else line["high"]
        sheet.line((x, up(bottom_of_bar)), (x, up(top_of_bar)), colour=colour, width=1.4)
        fill = "paper" if line["answer"] == "undecided" else colour
        sheet.dot(x, up(line["difference"]), 2.8, fill=fill, colour=colour, width=1.2)
        if anchor.isdisjoint(line["anchor"]):
            middle = across(number - 0.5)
            sheet.line((middle, _TOP), (middle, bottom), colour="ink", width=0.7, dash=(2.0, 2.0))
        anchor = set(line["anchor"])
    blocked = sum(line["answer"] == "worse" for line in builds)
    return sheet.finish(
        across.end + 20,
        end + 6,
        note="Each bar is the interval of one build; if each test keeps its level, all of them "
        f"cover together with probability {1 - 2 * value.alpha:g}. Orange: blocked. "
        "Hollow dots: undecided. Dashed lines: a new anchor. "
        f"{value.spent:.2g} of alpha = {value.alpha:g} is spent.",
        alt=f"{counted(len(builds), 'build')} against the anchor, {blocked} blocked.",
        x_scale=across,
        y_scale=up,
    )
