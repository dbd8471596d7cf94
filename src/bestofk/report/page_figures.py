"""Figures of a report: which figures of the registry a page shows, and their SVG."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from markupsafe import Markup

from bestofk._base.errors import BestOfKError
from bestofk.decide.registry import decides_by
from bestofk.report.figures.output import svg
from bestofk.report.figures.picture import Picture
from bestofk.report.figures.registry import FIGURES
from bestofk.report.figures.style import ANY_PAPER, MIN_WIDTH, SMALL, Paper
from bestofk.report.subject import ReportSubject

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


class DrawnFigure(NamedTuple):
    """A figure of a page."""

    name: str
    title: str
    caption: str
    variants: tuple[tuple[Markup, float], ...]
    """SVG and its width in pixels; see `variants_of`."""


def variants_of(
    layout: Callable[[Paper], Picture], phone: float = PHONE_PIXELS
) -> tuple[tuple[Markup, float], ...]:
    """Return a figure as SVG with its width in pixels, and again for phones if it is wider.

    The smallest text can be read at these widths.
    """
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


class PageFigure(NamedTuple):
    """A figure of the registry, with its heading and its caption on a page."""

    kind: str
    title: str
    caption: str
    condition: Callable[[ReportSubject], bool] = lambda _: True
    """Condition besides those of the registry."""


def _same_runs(subject: ReportSubject) -> bool:
    return subject.race is None or len(set(subject.race.runs.values())) == 1


def _several_losses(subject: ReportSubject) -> bool:
    scores = subject.scores
    if scores is None or subject.decision is None or scores.design.on_test_set:
        return False
    few = len(subject.learners) <= MAX_LEARNERS
    return few and scores.losses[0].size > 1 and subject.race is None


def _few_means(subject: ReportSubject) -> bool:
    scores, decision = subject.scores, subject.decision
    if scores is None or decision is None or not len(decision.evidence):
        return False
    return len(scores.datasets) * len(scores.learners) <= MAX_MEANS and subject.race is None


def _few_steps(subject: ReportSubject) -> bool:
    return len(subject.learners) <= MAX_LEARNERS_IN_STEPS and subject.race is None


def _by_preference(subject: ReportSubject) -> bool:
    decision = subject.decision
    return decision is not None and decides_by(decision.rule) in ("best", "steps")


PAGE_FIGURES = (
    PageFigure(
        "race",
        "How the race went",
        "The mean of every learner by run. A cross marks when it was stopped, and why.",
    ),
    PageFigure("gate", "Builds", "The difference of every build from its baseline."),
    PageFigure(
        "frontier",
        "Quality against cost",
        "The thick line joins those that no other beats in both.",
        # means over different runs or data sets cannot be ranked
        _same_runs,
    ),
    PageFigure("losses", "What was measured", "One row each, with its mean.", _several_losses),
    PageFigure(
        "heatmap",
        "Data set by data set",
        "The mean of every learner on every data set, the best of each marked.",
        _few_means,
    ),
    PageFigure(
        "ranks",
        "Ranks over the data sets",
        "How often every learner came first, second and so on.",
        _few_means,
    ),
    PageFigure(
        "graph",
        "Where the data override the preference",
        "By preference, the most preferred first. An arrow leads to one that is shown to be "
        "better.",
        _by_preference,
    ),
    PageFigure(
        "critical-difference",
        "Critical differences",
        "Learners that a bar joins are not shown to differ.",
        lambda subject: subject.scores is not None and len(subject.scores.datasets) > 1,
    ),
    PageFigure(
        "critical-difference-ranks",
        "Critical differences of ranks",
        "The usual diagram: average ranks and Nemenyi's test. The decision uses the test above.",
    ),
    PageFigure(
        "rank-intervals",
        "Ranks that the data allow",
        "Each bar reaches from the best to the worst rank.",
        lambda subject: len(subject.learners) > 2,
    ),
    PageFigure(
        "matrix",
        "Every pair",
        "The difference of every pair, its p-value, and which one is shown to be better.",
        lambda subject: len(subject.learners) <= MAX_LEARNERS,
    ),
    PageFigure(
        "steps",
        "Step by step: candidates and choices",
        "The candidates of every step, and the chosen one.",
        _few_steps,
    ),
)


def figures_of(subject: ReportSubject) -> list[DrawnFigure]:
    """Return the figures of a result as SVG for a page."""
    figures = []
    for kind, title, caption, condition in PAGE_FIGURES:
        entry = FIGURES[kind]
        if entry.fits(subject.record) and condition(subject):
            # leave out a figure that does not fit this design
            with suppress(BestOfKError):
                variants = variants_of(lambda paper: entry.layout(subject.record, paper=paper))  # noqa: B023
                figures.append(DrawnFigure(kind, title, caption, variants))
    return figures
