"""Figures of a report: which figures of the registry a page shows, and their SVG."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bestofk._base.errors import BestOfKError
from bestofk.decide.decision import Decision
from bestofk.decide.registry import decides_by
from bestofk.losses.losses import Scores
from bestofk.report.figures.output import svg
from bestofk.report.figures.picture import Picture
from bestofk.report.figures.registry import FIGURES
from bestofk.report.figures.style import ANY_PAPER, MIN_WIDTH, SMALL, Paper

MAX_LEARNERS_IN_STEPS = 8
"""If there are more learners, the page leaves out the figure of the steps."""
MAX_MEANS = 600
"""If there are more means of a learner on a data set, the page leaves out figures of data sets."""
MAX_LEARNERS = 200
"""If there are more learners, the page leaves out the figures of every pair and of every loss."""
MIN_TEXT_PIXELS = 11.2
"""Size of the smallest text of a figure."""
PIXELS_PER_POINT = 1.4
"""Scale of a figure without small text."""
MAX_CHARACTERS = 36_000
"""If the SVG of a figure is longer, phones scroll it: two variants would enlarge the page."""
PHONE_PIXELS = 350.0
"""Width of a figure on screens that are 390 pixels wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A figure of a page."""

    name: str
    title: str
    caption: str
    variants: tuple[tuple[Markup, float], ...]
    """SVG and its width in pixels, in which the smallest text can be read: the widest first, and
    one for phones if the first is wider than a phone."""


def drawn(
    figure: str, layout: Callable[[Paper], Picture], *, title: str, caption: str
) -> DrawnFigure:
    """Return a figure as SVG for a page."""
    return DrawnFigure(name=figure, title=title, caption=caption, variants=variants_of(layout))


def variants_of(
    layout: Callable[[Paper], Picture], phone: float = PHONE_PIXELS
) -> tuple[tuple[Markup, float], ...]:
    """Return a figure as SVG with its width in pixels, and again for phones if it is wider."""
    wide = layout(ANY_PAPER)
    variants = [(Markup(svg(wide)), _pixels(wide))]
    if _pixels(wide) > phone and len(variants[0][0]) <= MAX_CHARACTERS:
        narrow = layout(Paper(width=phone / PIXELS_PER_POINT))
        # A layout with smaller text is shown larger, so it needs narrower paper.
        scale = _pixels(narrow) / narrow.width
        if scale > PIXELS_PER_POINT:
            narrow = layout(Paper(width=max(MIN_WIDTH, phone / scale)))
        variants.append((Markup(svg(narrow)), _pixels(narrow)))
    return tuple(variants)


def _pixels(picture: Picture) -> float:
    smallest = min((text.size for text in picture.words), default=SMALL)
    return round(picture.width * max(PIXELS_PER_POINT, MIN_TEXT_PIXELS / smallest), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigure:
    """A figure of the registry, with its heading and its caption on a page."""

    kind: str
    title: str
    caption: str
    condition: Callable[[Decision, Scores], bool] = lambda *_: True
    """Condition besides those of the registry."""

    def belongs(self, order: Decision, losses: Scores) -> bool:
        """Return whether a page about this decision shows the figure."""
        return FIGURES[self.kind].fits(order) and self.condition(order, losses)

    def draw(self, order: Any) -> DrawnFigure:
        """Return the figure as SVG for a page."""
        return drawn(
            self.kind,
            lambda paper: FIGURES[self.kind].layout(order, paper=paper),
            title=self.title,
            caption=self.caption,
        )


def _is_complete(order: Decision) -> bool:
    """Return whether every learner ran to the end of the plan."""
    return order.runs_of(order.by_preference[0]) is None


def _decided_by_preference(order: Decision, _: Scores) -> bool:
    return decides_by(order.procedure) in ("best", "steps")


def _few_learners(order: Decision, _: Scores) -> bool:
    few = len(order.by_preference) <= MAX_LEARNERS_IN_STEPS
    return few and order.preference.stated and _is_complete(order)


def _many_learners(order: Decision, _: Scores) -> bool:
    return len(order.by_preference) > 2


def _several_losses(order: Decision, losses: Scores) -> bool:
    several = losses.values[0].size > 1 and not losses.design.on_test_set
    return several and len(order.by_preference) <= MAX_LEARNERS and _is_complete(order)


def _matrix_fits(order: Decision, _: Scores) -> bool:
    return len(order.by_preference) <= MAX_LEARNERS


def _several_datasets(_: Decision, losses: Scores) -> bool:
    return len(losses.datasets) > 1


def _few_means(order: Decision, losses: Scores) -> bool:
    few = len(losses.datasets) * len(losses.learners) <= MAX_MEANS
    return few and len(order.evidence) > 0 and _is_complete(order)


PAGE_FIGURES = (
    PageFigure(
        kind="race",
        title="How the race went",
        caption="The mean of every learner by run. A cross marks when it was stopped, and why.",
    ),
    PageFigure(
        kind="losses",
        title="What was measured",
        caption="One row per learner, with its mean.",
        condition=_several_losses,
    ),
    PageFigure(
        kind="heatmap",
        title="Data set by data set",
        caption="The mean of every learner on every data set, the best of each marked.",
        condition=_few_means,
    ),
    PageFigure(
        kind="ranks",
        title="Ranks over the data sets",
        caption="How often every learner came first, second and so on.",
        condition=_few_means,
    ),
    PageFigure(
        kind="graph",
        title="Where the data override the preference",
        caption="By preference, the most preferred first. An arrow leads to one that is "
        "shown to be better.",
        condition=_decided_by_preference,
    ),
    PageFigure(
        kind="critical-difference",
        title="Critical differences",
        caption="Learners that a bar joins are not shown to differ.",
        condition=_several_datasets,
    ),
    PageFigure(
        kind="critical-difference-ranks",
        title="Critical differences of ranks",
        caption="The usual diagram: average ranks and Nemenyi's test. The decision uses the test "
        "above.",
    ),
    PageFigure(
        kind="rank-intervals",
        title="Ranks that the data allow",
        caption="Each bar reaches from the best to the worst rank.",
        condition=_many_learners,
    ),
    PageFigure(
        kind="matrix",
        title="Every pair",
        caption="The difference of every pair, its p-value, and which one is shown to be better.",
        condition=_matrix_fits,
    ),
    PageFigure(
        kind="steps",
        title="Step by step: candidates and choices",
        caption="The candidates of every step, and the chosen one.",
        condition=_few_learners,
    ),
)


def dot_plot_of(order: Decision, losses: Scores) -> str:
    """Return the losses as dots in fixed colours, for other pages; empty if they do not fit."""
    from bestofk.report.figures.kinds.loss_points import layout_losses

    if not _several_losses(order, losses):
        return ""
    try:
        return svg(layout_losses(order), themed=False)
    except BestOfKError:
        return ""


def figures_of(order: Decision | None, losses: Scores | None) -> list[DrawnFigure]:
    """Return the figures of a decision as SVG for a page."""
    figures: list[DrawnFigure] = []
    if order is None or losses is None:
        return figures
    for figure in PAGE_FIGURES:
        if not figure.belongs(order, losses):
            continue
        try:
            figures.append(figure.draw(order))
        except BestOfKError:
            # Write the report without a figure that does not fit this design.
            continue
    return figures
