"""All figures by name: what each shows and which results it draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.registry import Registry, resolve
from bestofk.report.figures.comparisons import losses_of
from bestofk.report.figures.style import paper_of

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.report.figures.picture import Picture
    from bestofk.report.figures.style import Paper

_MAX_STEPS = 8
_RESULTS = ("Decision", "Study", "ModelChoice", "BattleDecision")
_SCORES = ("Scores", *_RESULTS)


# Requirements: conditions that a value must meet for a figure to draw it.


def _decided(requirement: Callable[[Decision], bool]) -> Callable[[Any], bool]:
    """Return a requirement on the decision of a result."""

    def fits(value: Any) -> bool:
        decision = getattr(value, "decision", value)
        return decision is not None and requirement(decision)

    return fits


def _stopped(order: Decision) -> bool:
    """Return whether a race stopped early; figures may then show only what it settled."""
    return order.runs_of(order.by_preference[0]) is not None


def _recommends_by_pairs(order: Decision) -> bool:
    return order.recommended is not None and len(order.evidence) > 0 and not _stopped(order)


def _compares_all_pairs(order: Decision) -> bool:
    K = len(order.by_preference)
    return len(order.evidence) == K * (K - 1) // 2 and not _stopped(order)


def _tested_both_ways(order: Decision) -> bool:
    return _compares_all_pairs(order) and order.evidence.alternative == "two-sided"


def _has_losses(value: Any) -> bool:
    return losses_of(value) is not None


def _has_several_datasets(value: Any) -> bool:
    losses = losses_of(value)
    return losses is not None and len(losses.datasets) > 1


def _has_complete_datasets(value: Any) -> bool:
    losses = losses_of(value)
    return losses is not None and len(losses.datasets) > 1 and losses.complete


def _has_costs(value: Any) -> bool:
    from bestofk.report.figures.kinds.cost_frontier import costs_of

    return costs_of(value) is not None


def _has_race(value: Any) -> bool:
    return getattr(value, "race", None) is not None


def _is_one_pair(value: Any) -> bool:
    from numpy import ndim

    return ndim(value.pvalue) == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEntry:
    """A figure: the function that lays it out, and the values that it draws."""

    name: str
    function: str
    """Its layout as ``package.module:name``; called with a value and a keyword `paper`."""
    summary: str
    accepts: tuple[str, ...] = _RESULTS
    """Names of the classes that it draws."""
    needs: str = ""
    """What it needs of a value, in words."""
    condition: Callable[[Any], bool] = lambda _: True
    """Whether a value has what it needs."""

    def layout(self, value: Any, *, paper: Paper | None = None) -> Picture:
        """Return the picture of a value."""
        layout: Callable[..., Picture] = resolve(self.function)
        return layout(value) if paper is None else layout(value, paper=paper)

    def fits(self, value: Any) -> bool:
        """Return whether it can draw this value."""
        return any(kind.__name__ in self.accepts for kind in type(value).__mro__) and (
            self.condition(value)
        )


_KINDS = "bestofk.report.figures.kinds"
FIGURES = Registry(
    "figure",
    FigureEntry(
        name="forest",
        function=f"{_KINDS}.forest:layout_forest",
        summary="how much worse than the best every learner is, with simultaneous bounds",
        needs="a recommended learner that was compared with the others",
        condition=_decided(_recommends_by_pairs),
    ),
    FigureEntry(
        name="race",
        function=f"{_KINDS}.race_course:layout_race",
        summary="a race: the mean by run, and when and why each learner stopped",
        needs="a comparison that stops early",
        condition=_has_race,
    ),
    FigureEntry(
        name="losses",
        function=f"{_KINDS}.loss_points:layout_losses",
        summary="every fold as a point, by run, and each mean",
        accepts=_SCORES,
        needs="the losses behind the result",
        condition=_has_losses,
    ),
    FigureEntry(
        name="frontier",
        function=f"{_KINDS}.cost_frontier:layout_frontier",
        summary="quality against cost, and the learners that no other beats in both",
        needs="the costs of at least two learners",
        condition=_has_costs,
    ),
    FigureEntry(
        name="matrix",
        function=f"{_KINDS}.pair_matrix:layout_matrix",
        summary="every pair: difference, interval, adjusted p-value and the better learner",
        needs="a result that compares all pairs",
        condition=_decided(_compares_all_pairs),
    ),
    FigureEntry(
        name="critical-difference",
        function=f"{_KINDS}.critical_difference:layout_critical_difference",
        summary="learners on a line, with bars over those not shown to differ",
        needs="two-sided tests of all pairs",
        condition=_decided(_tested_both_ways),
    ),
    FigureEntry(
        name="critical-difference-ranks",
        function=f"{_KINDS}.critical_difference:layout_critical_difference_ranks",
        summary="average ranks over data sets with Nemenyi's critical difference (Demsar 2006)",
        accepts=_SCORES,
        needs="the losses of all learners on several data sets",
        condition=_has_complete_datasets,
    ),
    FigureEntry(
        name="rank-intervals",
        function=f"{_KINDS}.rank_intervals:layout_rank_intervals",
        summary="the ranks that the data allow for each learner",
        needs="two-sided tests of all pairs",
        condition=_decided(_tested_both_ways),
    ),
    FigureEntry(
        name="heatmap",
        function=f"{_KINDS}.datasets:layout_heatmap",
        summary="every learner on every data set, darker the further it is behind the best",
        accepts=_SCORES,
        needs="losses on several data sets",
        condition=_has_several_datasets,
    ),
    FigureEntry(
        name="ranks",
        function=f"{_KINDS}.datasets:layout_ranks",
        summary="how often each learner ranks first, second, ... and last over the data sets",
        accepts=_SCORES,
        needs="losses on several data sets",
        condition=_has_several_datasets,
    ),
    FigureEntry(
        name="graph",
        function=f"{_KINDS}.multitest:layout_graph",
        summary="learners by preference, with an arrow for each preference that the data override",
        needs="a preference",
        condition=_decided(lambda order: order.preference.stated),
    ),
    FigureEntry(
        name="steps",
        function=f"{_KINDS}.multitest:layout_steps",
        summary="every step of MultiTest: the candidates and the one it chooses",
        needs="the rule 'multitest', a preference and at most eight learners",
        condition=_decided(
            lambda order: 0 < len(order.steps) <= _MAX_STEPS and order.preference.stated
        ),
    ),
    FigureEntry(
        name="gate",
        function=f"{_KINDS}.gate_history:layout_gate",
        summary="the builds of a release gate: differences from the baseline, with intervals",
        accepts=("GateResult",),
    ),
    FigureEntry(
        name="difference",
        function=f"{_KINDS}.difference:layout_difference",
        summary="two learners: every difference as a point, and nested intervals of the mean",
        accepts=("PairwiseResult",),
        needs="the result of one pair",
        condition=_is_one_pair,
    ),
)


def figure_kinds(value: Any) -> tuple[str, ...]:
    """Return the names of the figures that can draw this value, the default first.

    Examples
    --------
    >>> import bestofk as bk
    >>> figure_kinds(bk.Scores([[0.1, 0.2], [0.3, 0.2]]))
    ('losses',)
    """
    drawn = _drawn(value, None)
    return tuple(entry.name for entry in FIGURES.values() if entry.fits(drawn))


def _drawn(value: Any, kind: str | None) -> Any:
    """Return what a figure draws of a `Result`: what was run or read, or its decision."""
    if not hasattr(value, "outcome"):
        return value
    outcome, decision = value.outcome, value.decision
    alone = kind in FIGURES and not FIGURES[str(kind)].fits(outcome)
    return decision if alone and decision is not None else outcome


def draw(
    value: Any, kind: str | None = None, *, width: float | None = None, note: bool = True
) -> Picture:
    """Return the picture of a value, for `plot`, `save` and `svg`; arguments as for `plot`.

    Its `note` says how to read the figure and which test it uses, for a caption. It is set even
    if the figure does not show it.

    Examples
    --------
    >>> import bestofk as bk
    >>> order = bk.compare_scores(bk.read_scores("breast-cancer-10x10"))
    >>> picture = draw(order, "forest", width=3.3, note=False)
    >>> round(picture.width / 72, 3), picture.note[:29]
    (3.3, 'Bars: how much worse than the')
    """
    value = _drawn(value, kind)
    paper = paper_of(width=width, note=note)
    kinds = figure_kinds(value)
    if kind is None and kinds:
        kind = kinds[0]
    if kind is None:
        raise ArgumentError(f"plot: there is no figure of a {type(value).__name__}.")
    if kind.lower().endswith((".svg", ".png", ".pdf")):
        raise ArgumentError(f"{kind!r} is a file, not a kind of figure; write plot(path={kind!r}).")
    entry = FIGURES[kind]
    if kind not in kinds:
        advice = f"; draw {kinds[0]!r}" if kinds else ""
        raise ArgumentError(f"figure {kind!r} needs {entry.needs or entry.accepts[0]}{advice}.")
    return entry.layout(value, paper=paper)
