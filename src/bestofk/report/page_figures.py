"""Which figures a report shows, and their SVG."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bestofk._base.errors import BestOfKError
from bestofk._base.registry import resolve
from bestofk.decide.decision import Decision
from bestofk.decide.registry import decides_by
from bestofk.losses.losses import Losses
from bestofk.report.figures.output import svg
from bestofk.report.figures.picture import Picture
from bestofk.report.figures.style import SMALL

FEW = 8
"""Learners whose steps are drawn one by one."""
MOST_MEANS = 600
"""Means of a learner on a data set that are drawn one by one."""
READABLE = 11.2
"""Pixels of the smallest words of a figure, on a phone too, where figures are scrolled."""
USUAL = 1.4
"""Pixels per point of a figure without small words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A figure of a page."""

    name: str
    title: str
    caption: str
    svg: Markup
    width: float
    """In points."""
    scale: float
    """Pixels per point, so that the smallest words can be read."""


def drawn(figure: str, picture: Picture, *, title: str, caption: str) -> DrawnFigure:
    """A picture as SVG for a page."""
    smallest = min((words.size for words in picture.words), default=SMALL)
    return DrawnFigure(
        name=figure,
        title=title,
        caption=caption,
        svg=Markup(svg(picture)),
        width=round(picture.width, 2),
        scale=round(max(USUAL, READABLE / smallest), 3),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    name: str
    title: str
    caption: str
    layout: str
    belongs: Callable[[Decision, Losses], bool]
    takes_losses: bool = False


def _stopped(order: Decision, _: Losses) -> bool:
    return order.runs_of(order.by_preference[0]) is not None


def _funnelled(order: Decision, losses: Losses) -> bool:
    """Over data sets there is no one statistic whose band could be shown."""
    return _stopped(order, losses) and len(losses.datasets) == 1


def _graph(order: Decision, _: Losses) -> bool:
    return decides_by(order.procedure) == "steps" and order.preference.stated


def _multitest(order: Decision, losses: Losses) -> bool:
    return _graph(order, losses) and not _stopped(order, losses)


def _few(order: Decision, losses: Losses) -> bool:
    return _multitest(order, losses) and len(order.by_preference) <= FEW


def _spread(order: Decision, losses: Losses) -> bool:
    return (
        not _stopped(order, losses)
        and losses.values[0].size > 1
        and losses.design.kind != "test-set"
    )


def _pairs(order: Decision, losses: Losses) -> bool:
    return len(order.evidence) > 0 and not _stopped(order, losses)


def _several_sets(order: Decision, losses: Losses) -> bool:
    return _pairs(order, losses) and len(losses.datasets) > 1


def _some_sets(order: Decision, losses: Losses) -> bool:
    """Several, not so many that nobody reads them one by one."""
    cells = len(losses.datasets) * len(losses.algorithms)
    return _several_sets(order, losses) and cells <= MOST_MEANS


def _beside(order: Decision, _: Losses) -> bool:
    return order.bootstrap is not None


_ROOM = "bestofk.report.figures.kinds."
FIGURES = (
    _Figure(
        name="race",
        title="How the race went",
        caption="Mean of every learner as the race went on; a cross where it was stopped, and why.",
        layout=f"{_ROOM}race_course:layout_race",
        belongs=_stopped,
    ),
    _Figure(
        name="funnel",
        title="The pair that was settled last",
        caption="What every look left open of the statistic of the pair that decided last.",
        layout=f"{_ROOM}race_course:layout_funnel",
        belongs=_funnelled,
    ),
    _Figure(
        name="fits",
        title="Fits used",
        caption="How many of the planned fits every learner needed.",
        layout=f"{_ROOM}race_course:layout_fits",
        belongs=_stopped,
    ),
    _Figure(
        name="losses",
        title="What was measured",
        caption="One row per learner, with the interval of its mean.",
        layout=f"{_ROOM}loss_points:layout_losses",
        belongs=_spread,
        takes_losses=True,
    ),
    _Figure(
        name="heatmap",
        title="Data set by data set",
        caption="The mean of every learner on every data set, the best of each marked.",
        layout=f"{_ROOM}datasets:layout_heatmap",
        belongs=_some_sets,
        takes_losses=True,
    ),
    _Figure(
        name="ranks",
        title="Ranks over the data sets",
        caption="How often every learner came first, second and so on.",
        layout=f"{_ROOM}datasets:layout_ranks",
        belongs=_some_sets,
        takes_losses=True,
    ),
    _Figure(
        name="graph",
        title="Where the data override the preference",
        caption="By preference, the most preferred first. An arrow leads to one that is shown to "
        "be better.",
        layout=f"{_ROOM}multitest:layout_graph",
        belongs=_graph,
    ),
    _Figure(
        name="critical-difference",
        title="Critical differences",
        caption="Learners that a bar joins are not shown to differ.",
        layout=f"{_ROOM}critical_difference:layout_critical_difference",
        belongs=_several_sets,
    ),
    _Figure(
        name="pairs",
        title="Every pair",
        caption="The difference of every pair, its p-value, and which one is shown to be better.",
        layout=f"{_ROOM}pair_matrix:layout_matrix",
        belongs=_pairs,
    ),
    _Figure(
        name="intervals",
        title="Repetitions of stochastic learners",
        caption="Each learner against the mean of all, with the repetitions counted.",
        layout=f"{_ROOM}interval_bars:layout_intervals",
        belongs=_beside,
    ),
    _Figure(
        name="alpha",
        title="The order at every alpha",
        caption="The recommended one and those below it, whatever alpha had been chosen.",
        layout=f"{_ROOM}sensitivity:layout_alpha",
        belongs=_multitest,
    ),
    _Figure(
        name="steps",
        title="Step by step: candidates and choices",
        caption="Who could be chosen at every step, and who was.",
        layout=f"{_ROOM}multitest:layout_steps",
        belongs=_few,
    ),
)


def dot_plot_of(order: Decision, losses: Losses) -> str:
    """The losses as dots in plain colours, for a page that is not ours; empty where none fits."""
    from bestofk.report.figures.kinds.loss_points import layout_losses

    if not _spread(order, losses):
        return ""
    try:
        return svg(layout_losses(order, losses=losses), themed=False)
    except BestOfKError:
        return ""


def layouts_of(order: Decision, losses: Losses) -> list[tuple[_Figure, Picture]]:
    """The figures that say something of this decision, laid out."""
    found = []
    for figure in FIGURES:
        if not figure.belongs(order, losses):
            continue
        options: dict[str, Any] = {"losses": losses} if figure.takes_losses else {}
        try:
            picture: Picture = resolve(figure.layout)(order, **options)
        except BestOfKError:
            # a figure that does not fit this design is no reason to have no report
            continue
        found.append((figure, picture))
    return found


def figures_of(order: Decision | None, losses: Losses | None) -> list[DrawnFigure]:
    """The figures as SVG for a page."""
    if order is None or losses is None:
        return []
    return [
        drawn(figure.name, picture, title=figure.title, caption=figure.caption)
        for figure, picture in layouts_of(order, losses)
    ]
