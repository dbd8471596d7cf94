"""All figures by name: what each shows, which values it draws, and `figure`, which draws one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import joined
from bestofk._base.registry import Registry, resolve
from bestofk.report.figures.comparisons import comparisons_of, losses_of
from bestofk.report.figures.examples import EXAMPLES
from bestofk.report.figures.style import paper_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bestofk.decide.decision import Decision
    from bestofk.report.figures.picture import Picture

_KINDS = "bestofk.report.figures.kinds"
_PAIRS = ("NemenyiResult", "TukeyResult", "NewmanKeulsResult")
_DECISIONS = ("Decision", "Study")
_RACES = ("Race", "StoppedDecision", "Study")
_PAPER_OPTIONS = ("width", "font", "fontsize", "note")


# Requirements: conditions that a value must meet for a figure to draw it.


def _stopped(order: Decision) -> bool:
    """Return whether a race stopped early; figures may then show only what it settled."""
    return order.runs_of(order.by_preference[0]) is not None


def _stated(order: Decision) -> bool:
    return order.preference.stated


def _stated_and_complete(order: Decision) -> bool:
    return _stated(order) and not _stopped(order)


def _recommends_by_pairs(order: Decision) -> bool:
    return order.recommended is not None and len(order.evidence) > 0 and not _stopped(order)


def _compares_all_pairs(order: Decision) -> bool:
    K = len(order.by_preference)
    return len(order.evidence) == K * (K - 1) // 2 and not _stopped(order)


def _tested_both_ways(order: Decision) -> bool:
    return _compares_all_pairs(order) and order.evidence.alternative == "two-sided"


def _has_rope(order: Decision) -> bool:
    return order.evidence.bayesian is not None and not _stopped(order)


def _has_several_datasets(value: Any) -> bool:
    losses = losses_of(value)
    return losses is not None and len(losses.datasets) > 1


def _has_complete_datasets(value: Any) -> bool:
    losses = losses_of(value)
    return losses is not None and len(losses.datasets) > 1 and losses.complete


def _has_costs(value: Any) -> bool:
    """Return whether the costs of at least two learners are known."""
    from bestofk.report.figures.kinds.cost_frontier import known_cost, known_study_cost

    known = known_study_cost if hasattr(value, "losses") else known_cost
    return known(value) is not None


def _has_differences(value: Any) -> bool:
    """Return whether the Bayesian test gives the distribution of a difference."""
    if hasattr(value, "standard_error"):
        return value.standard_error is not None
    decision = getattr(value, "decision", value)
    bayesian = getattr(getattr(decision, "evidence", None), "bayesian", None)
    return bayesian is not None and bool(bayesian.entry.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEntry:
    """A figure: which function lays it out, and which values it draws."""

    name: str
    module: str
    """Module of the function ``layout_<name>``, in ``bestofk.report.figures.kinds`` or by path."""
    accepts: tuple[str, ...]
    """Names of the classes that it draws."""
    summary: str
    needs: Callable[[Decision], bool] | None = None
    """Requirement on an order."""
    shows: Callable[[Any], bool] | None = None
    """Requirement on the value itself, such as a study or losses."""
    code: str = ""
    """The example, if it is not among the built-in ones."""

    @property
    def example(self) -> str:
        """Return code that runs by itself and ends with the call that draws this figure."""
        return (self.code or EXAMPLES[self.name]).strip()

    def layout(self, value: Any, **options: Any) -> Picture:
        """Return the picture of a value."""
        module = self.module if "." in self.module else f"{_KINDS}.{self.module}"
        layout = resolve(f"{module}:layout_{self.name.replace('-', '_')}")
        _check_options(layout, self.name, options)
        picture: Picture = layout(value, **options)
        return picture

    def takes(self, value: Any) -> bool:
        """Return whether it draws values of this class."""
        return any(kind.__name__ in self.accepts for kind in type(value).__mro__)

    def fits(self, value: Any) -> bool:
        """Return whether it can draw this value, including its requirements."""
        if not self.takes(value) or (self.shows is not None and not self.shows(value)):
            return False
        decision = getattr(value, "decision", value)
        if decision is None:
            return self.needs is None
        from bestofk.decide.decision import Decision

        return self.needs is None or not isinstance(decision, Decision) or self.needs(decision)


def _check_options(layout: Callable[..., Any], kind: str, options: Mapping[str, Any]) -> None:
    """Raise an error if the layout does not have one of the options."""
    parameters = signature(layout).parameters.values()
    names = [item.name for item in parameters if item.kind is Parameter.KEYWORD_ONLY]
    if any(item.kind is Parameter.VAR_KEYWORD for item in parameters):
        names += [*signature(comparisons_of).parameters][1:]
    unknown = [name for name in options if name not in names]
    if unknown:
        offered = joined([*_PAPER_OPTIONS, *(name for name in names if name != "paper")])
        raise ArgumentError(
            f"figure {kind!r} has no option {unknown[0]!r}; its options are {offered}."
        )


FIGURES = Registry(
    "figure",
    FigureEntry(
        name="graph",
        module="multitest",
        accepts=_DECISIONS,
        needs=_stated,
        summary="learners by preference, with an arrow for each preference that the data override",
    ),
    FigureEntry(
        name="forest",
        module="forest",
        accepts=_DECISIONS,
        needs=_recommends_by_pairs,
        summary="how much worse than the best every learner is, with simultaneous bounds",
    ),
    FigureEntry(
        name="steps",
        module="multitest",
        accepts=_DECISIONS,
        needs=lambda order: bool(order.steps),
        summary="every step of MultiTest: the candidates and the one it chooses",
    ),
    FigureEntry(
        name="densities",
        module="differences",
        accepts=_DECISIONS,
        needs=_stated_and_complete,
        summary="the graph, with the density of each learner's values next to it",
    ),
    FigureEntry(
        name="losses",
        module="loss_points",
        accepts=("Scores", "Study", "Decision"),
        summary="every fold as a point, by run, and each mean",
    ),
    FigureEntry(
        name="matrix",
        module="pair_matrix",
        accepts=(*_DECISIONS, *_PAIRS),
        needs=_compares_all_pairs,
        summary="every pair: difference, interval, adjusted p-value and the better learner",
    ),
    FigureEntry(
        name="difference",
        module="differences",
        accepts=("PairwiseResult",),
        summary="two learners: every difference as a point, and nested intervals of the mean",
    ),
    FigureEntry(
        name="critical-difference",
        module="critical_difference",
        accepts=(*_PAIRS, *_DECISIONS),
        needs=_tested_both_ways,
        summary="learners on a line, with bars over those not shown to differ",
    ),
    FigureEntry(
        name="critical-difference-ranks",
        module="critical_difference",
        accepts=("Scores", "Study", "Decision"),
        shows=_has_complete_datasets,
        summary="average ranks over data sets with Nemenyi's critical difference (Demsar 2006)",
    ),
    FigureEntry(
        name="rank-intervals",
        module="rank_intervals",
        accepts=(*_DECISIONS, "BattleDecision"),
        needs=_tested_both_ways,
        summary="the ranks that the data allow for each learner",
    ),
    FigureEntry(
        name="letters",
        module="letters",
        accepts=(*_PAIRS, *_DECISIONS),
        needs=_tested_both_ways,
        summary="learners with letters: those that share no letter differ significantly",
    ),
    FigureEntry(
        name="gate",
        module="gate_history",
        accepts=("GateResult",),
        summary="the builds of a release gate: differences from the baseline, with intervals",
    ),
    FigureEntry(
        name="race",
        module="race_course",
        accepts=_RACES,
        needs=_stopped,
        summary="a race: the mean by run, and when and why each learner stopped",
    ),
    FigureEntry(
        name="frontier",
        module="cost_frontier",
        accepts=("Study", "ModelChoice"),
        shows=_has_costs,
        summary="quality against cost, and the learners that no other beats in both",
    ),
    FigureEntry(
        name="heatmap",
        module="datasets",
        accepts=("Scores", "Study", "Decision"),
        shows=_has_several_datasets,
        summary="every learner on every data set, darker the further it is behind the best",
    ),
    FigureEntry(
        name="ranks",
        module="datasets",
        accepts=("Scores", "Study", "Decision"),
        shows=_has_several_datasets,
        summary="how often each learner ranks first, second, ... and last over the data sets",
    ),
    FigureEntry(
        name="simplex",
        module="posteriors",
        accepts=("PosteriorResult", *_DECISIONS),
        needs=_has_rope,
        summary="the probability that each learner is better, equivalent or worse, in a triangle",
    ),
    FigureEntry(
        name="posterior",
        module="posteriors",
        accepts=("PosteriorResult", *_DECISIONS),
        needs=_has_rope,
        shows=_has_differences,
        summary="the posterior density of a difference, with the region of equivalence",
    ),
)


def figure_kinds(value: Any) -> tuple[str, ...]:
    """Return the names of the figures that can draw this value.

    Examples
    --------
    >>> import bestofk as bk
    >>> figure_kinds(bk.Scores([[0.1, 0.2], [0.3, 0.2]]))
    ('losses',)
    """
    return tuple(entry.name for entry in FIGURES.values() if entry.fits(value))


def picture_of(
    value: Any,
    kind: str | None = None,
    *,
    width: float | None = None,
    font: str | None = None,
    fontsize: float | None = None,
    note: bool = True,
    **options: Any,
) -> Picture:
    """Return the picture of a value, for `save_figure` and `svg`; arguments as for `figure`.

    Its `note` says how to read the figure and which test it uses, for a caption. It is set even
    if the figure does not show it.

    Examples
    --------
    >>> import bestofk as bk
    >>> order = bk.compare_scores(bk.read_scores("breast-cancer-10x10"))
    >>> picture = picture_of(order, "forest", width=3.4, font="serif", fontsize=8, note=False)
    >>> round(picture.width / 72, 3), picture.note[:29]
    (3.4, 'Bars: how much worse than the')
    """
    paper, scale = paper_of(width=width, font=font, fontsize=fontsize, note=note)
    return _entry(value, kind).layout(value, paper=paper, **options).scaled(scale)


def figure(
    value: Any,
    kind: str | None = None,
    *,
    ax: Axes | None = None,
    width: float | None = None,
    font: str | None = None,
    fontsize: float | None = None,
    note: bool = True,
    **options: Any,
) -> Axes:
    """Draw a result.

    Parameters
    ----------
    value : Decision, Study, Scores or result of a test
        What to draw.
    kind : str, optional
        Which figure. The default is the first that fits the value: for an order, the graph if a
        preference was stated, otherwise the forest. ``figure_kinds(value)`` lists them:
        ``"graph"``, ``"forest"``, ``"steps"``, ``"densities"``, ``"losses"``, ``"matrix"``,
        ``"difference"``, ``"critical-difference"``, ``"critical-difference-ranks"``,
        ``"rank-intervals"``, ``"letters"``, ``"underlines"``, ``"intervals"``,
        ``"repetitions"``, ``"rates"``, ``"roc"``, ``"race"``, ``"frontier"``, ``"heatmap"``,
        ``"ranks"``, ``"simplex"``, ``"posterior"``, ``"gate"``.
    ax : Axes, optional
        Where to draw. By default, a new figure of the right size.
    width : float, optional
        In inches, such as 3.4 for a column of a paper and 7 for its page. The layout adapts to the
        width, so the font size stays the same. By default, the natural width of the figure.
    font : str, optional
        ``"sans-serif"`` (the default), ``"serif"``, ``"monospace"`` or the name of a font.
    fontsize : float, optional
        Font size of names and titles in points; 9 by default. Small words are a ninth smaller.
    note : bool
        Whether to write below the figure how to read it. If False, use
        ``picture_of(...).note`` in your caption.
    **options
        Options of that figure, such as `names`, `alpha`, `level` or `learner`.

    Returns
    -------
    Axes
        ``save_figure(ax, "graph.pdf")`` writes it. The file name selects PDF, SVG or PNG.

    Examples
    --------
    >>> import bestofk as bk
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> losses = bk.Scores([[0.41, 0.52, 0.43], [0.12, 0.21, 0.11]], learners=["max", "nmc"])
    >>> ax = figure(bk.compare_scores(losses, prefer="listed"), "graph")
    >>> {"max", "nmc"} <= {text.get_text() for text in ax.texts}
    True
    >>> from matplotlib import pyplot
    >>> pyplot.close(ax.figure)
    """
    from bestofk.report.figures.output import paint

    picture = picture_of(
        value, kind, width=width, font=font, fontsize=fontsize, note=note, **options
    )  # fmt: skip
    return paint(picture, ax)


def _entry(value: Any, kind: str | None) -> FigureEntry:
    kinds = figure_kinds(value)
    if kind is None:
        if not kinds:
            classes = sorted({name for entry in FIGURES.values() for name in entry.accepts})
            raise ArgumentError(
                f"figure: value must be one of {', '.join(classes)}; got {type(value).__name__}."
            )
        return FIGURES[kinds[0]]
    entry = FIGURES[kind]
    if not entry.takes(value):
        offer = f"; this value has the figures {', '.join(map(repr, kinds))}" if kinds else ""
        raise ArgumentError(
            f"figure {kind!r} takes {' or '.join(entry.accepts)}; got "
            f"{type(value).__name__}{offer}."
        )
    return entry
