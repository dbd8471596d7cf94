"""All figures by name: what each shows, and which values it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.registry import Registry, resolve
from bestofk.report.figures import requirements
from bestofk.report.figures.examples import EXAMPLES
from bestofk.report.figures.style import check_options, paper_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bestofk.decide.decision import Decision
    from bestofk.report.figures.picture import Picture

_HERE = "bestofk.report.figures.kinds"
_PAIRS = ("NemenyiResult", "PosthocResult", "TukeyResult", "NewmanKeulsResult", "Comparisons")
_DECISIONS = ("Decision", "Study")
_RACES = ("Race", "StoppedDecision", "Study")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEntry:
    """A figure: where its layout is found and drawn, and what it takes."""

    name: str
    module: str
    suffix: str
    """Of its functions ``layout_...`` and ``draw_...``."""
    accepts: tuple[str, ...]
    """Names of the classes that it draws."""
    summary: str
    several: bool = False
    """Whether it draws a list of them, too."""
    needs: Callable[[Decision], bool] | None = None
    """What an order must have."""
    shows: Callable[[Any], bool] | None = None
    """Whether the value itself, such as a study or losses, has what it shows."""

    @property
    def example(self) -> str:
        """Code that runs by itself and ends with the call that draws this figure."""
        return EXAMPLES[self.name].strip()

    def layout(self, value: Any, **options: Any) -> Any:
        """The layout of a value; its `picture` is what is drawn."""
        layout = resolve(f"{_HERE}.{self.module}:layout_{self.suffix}")
        check_options(layout, self.name, options)
        return layout(value, **options)

    def draw(self, layout: Any, ax: Axes | None = None) -> Axes:
        """Draw a layout."""
        from bestofk.report.figures.output import paint

        return paint(layout.picture, ax)

    def takes(self, value: Any) -> bool:
        """Whether it draws values of this class."""
        each = value if self.several and isinstance(value, list | tuple) else (value,)
        return bool(each) and all(
            any(kind.__name__ in self.accepts for kind in type(one).__mro__) for one in each
        )

    def fits(self, value: Any) -> bool:
        """Whether it can draw this very value."""
        if not self.takes(value) or (self.shows is not None and not self.shows(value)):
            return False
        decision = getattr(value, "decision", value)
        if decision is None:
            return self.needs is None
        from bestofk.decide.decision import Decision

        return self.needs is None or not isinstance(decision, Decision) or self.needs(decision)


FIGURES = Registry(
    "figure",
    FigureEntry(
        name="graph",
        module="multitest",
        suffix="graph",
        accepts=_DECISIONS,
        needs=requirements.stated,
        summary="learners by preference, an arrow where the data override it",
    ),
    FigureEntry(
        name="forest",
        module="forest",
        suffix="forest",
        accepts=_DECISIONS,
        needs=requirements.standings,
        summary="differences from the recommended learner, with simultaneous intervals",
    ),
    FigureEntry(
        name="steps",
        module="multitest",
        suffix="steps",
        accepts=_DECISIONS,
        needs=requirements.steps,
        summary="every step of MultiTest: the candidates, and the one taken",
    ),
    FigureEntry(
        name="densities",
        module="differences",
        suffix="densities",
        accepts=_DECISIONS,
        needs=requirements.stated_whole,
        summary="the graph with the density of each learner's values beside it",
    ),
    FigureEntry(
        name="losses",
        module="loss_points",
        suffix="losses",
        accepts=("Losses", "Study", "Decision"),
        summary="every fold a point, runs apart, and the interval of each mean",
    ),
    FigureEntry(
        name="matrix",
        module="pair_matrix",
        suffix="matrix",
        accepts=(*_DECISIONS, *_PAIRS),
        needs=requirements.all_pairs,
        summary="every pair: difference, interval, adjusted p-value and who is better",
    ),
    FigureEntry(
        name="difference",
        module="differences",
        suffix="difference",
        accepts=("PairwiseResult",),
        summary="two learners: every difference a point, and nested intervals of the mean",
    ),
    FigureEntry(
        name="critical-difference",
        module="critical_difference",
        suffix="critical_difference",
        accepts=(*_PAIRS, *_DECISIONS),
        needs=requirements.both_ways,
        summary="learners on a line, bars over those not shown to differ",
    ),
    FigureEntry(
        name="letters",
        module="letters",
        suffix="letters",
        accepts=(*_PAIRS, *_DECISIONS),
        needs=requirements.both_ways,
        summary="learners that share no letter differ, those that share one are not shown to",
    ),
    FigureEntry(
        name="underlines",
        module="letters",
        suffix="underlines",
        accepts=("NewmanKeulsResult",),
        summary="learners by mean loss, a line under those not shown to differ",
    ),
    FigureEntry(
        name="intervals",
        module="interval_bars",
        suffix="intervals",
        accepts=("BootstrapBResult", *_DECISIONS),
        needs=requirements.beside,
        summary="Bootstrap-B: intervals against the mean of all, and what stays inconclusive",
    ),
    FigureEntry(
        name="rates",
        module="rate_curves",
        suffix="rates",
        accepts=("Rates", "Curve", "TypeOneError", "Power", "Replicability"),
        several=True,
        summary="Type I error, power or replicability, with Monte Carlo bands",
    ),
    FigureEntry(
        name="roc",
        module="roc_curves",
        suffix="roc",
        accepts=("RocHull",),
        summary="ROC curves, their convex hull and its slopes",
    ),
    FigureEntry(
        name="alpha",
        module="sensitivity",
        suffix="alpha",
        accepts=(*_DECISIONS, "AlphaPath"),
        needs=requirements.multitest,
        summary="the order for every alpha",
    ),
    FigureEntry(
        name="preference",
        module="sensitivity",
        suffix="preference",
        accepts=(*_DECISIONS, "PreferencePath"),
        needs=requirements.multitest,
        summary="the order as one learner moves up the preference",
    ),
    FigureEntry(
        name="race",
        module="race_course",
        suffix="race",
        accepts=_RACES,
        needs=requirements.stopped,
        summary="a race: mean by run, a cross where a learner was stopped, and why",
    ),
    FigureEntry(
        name="funnel",
        module="race_course",
        suffix="funnel",
        accepts=_RACES,
        needs=requirements.stopped,
        summary="a race: what every look left open of the pair that decided last",
    ),
    FigureEntry(
        name="fits",
        module="race_course",
        suffix="fits",
        accepts=_RACES,
        needs=requirements.stopped,
        summary="a race: fits used of those that were planned",
    ),
    FigureEntry(
        name="frontier",
        module="cost_frontier",
        suffix="frontier",
        accepts=("Study", "ModelChoice"),
        shows=requirements.costed,
        summary="quality against cost, and the learners than which none is cheaper and better",
    ),
    FigureEntry(
        name="heatmap",
        module="datasets",
        suffix="heatmap",
        accepts=("Losses", "Study", "Decision"),
        shows=requirements.several_sets,
        summary="every learner on every data set, the darker the further behind the best",
    ),
    FigureEntry(
        name="ranks",
        module="datasets",
        suffix="ranks",
        accepts=("Losses", "Study", "Decision"),
        shows=requirements.several_sets,
        summary="on how many data sets each learner comes first, second, ... and last",
    ),
    FigureEntry(
        name="simplex",
        module="posteriors",
        suffix="simplex",
        accepts=("PosteriorResult", *_DECISIONS),
        needs=requirements.with_rope,
        summary="how probably each learner is better, equivalent or worse, in a triangle",
    ),
    FigureEntry(
        name="posterior",
        module="posteriors",
        suffix="posterior",
        accepts=("PosteriorResult", *_DECISIONS),
        needs=requirements.with_rope,
        shows=requirements.differences,
        summary="the posterior density of a difference, with the region of equivalence",
    ),
)


def figure_kinds(value: Any) -> tuple[str, ...]:
    """Names of the figures that can draw this value.

    Examples
    --------
    >>> import bestofk as bk
    >>> figure_kinds(bk.Losses([[0.1, 0.2], [0.3, 0.2]]))
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
    """The picture of a value, for `save_figure` and `svg`; arguments as for `figure`.

    Its `note` says how the figure is read and what it rests on, drawn or not: for a caption.

    Examples
    --------
    >>> import bestofk as bk
    >>> order = bk.order(bk.read_losses("breast-cancer-10x10"))
    >>> picture = picture_of(order, "forest", width=3.4, font="serif", fontsize=8, note=False)
    >>> round(picture.width / 72, 3), picture.note[:28]
    (3.4, 'By mean, the best on top. In')
    """
    paper, scale = paper_of(width=width, font=font, fontsize=fontsize, note=note)
    picture: Picture = _entry(value, kind).layout(value, paper=paper, **options).picture
    return picture.scaled(scale)


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
    value : Decision, Study, Losses or result of a test
        What to look at.
    kind : str, optional
        Which figure; the first that fits the value by default: of an order the graph where a
        preference was stated, else the forest. ``figure_kinds(value)`` lists them: ``"graph"``,
        ``"forest"``, ``"steps"``, ``"densities"``, ``"losses"``, ``"matrix"``,
        ``"difference"``, ``"critical-difference"``, ``"letters"``, ``"underlines"``,
        ``"intervals"``, ``"rates"``, ``"roc"``, ``"alpha"``, ``"preference"``, ``"race"``,
        ``"funnel"``, ``"fits"``, ``"frontier"``, ``"heatmap"``, ``"ranks"``, ``"simplex"``,
        ``"posterior"``.
    ax : Axes, optional
        Where to draw; a figure of the right size is made when None.
    width : float, optional
        In inches, such as 3.4 for a column of a paper and 7 for its page: the figure is laid out
        anew, so that its words keep their size. By default as wide as it likes.
    font : str, optional
        ``"sans-serif"`` (the default), ``"serif"``, ``"monospace"`` or the name of a font.
    fontsize : float, optional
        Of names and titles, in points; 9 by default. Small words are a ninth smaller.
    note : bool
        Whether how to read the figure stands below it. Without it, ``picture_of(...).note`` is
        the text for your caption.
    **options
        For the layout of that figure, such as `names`, `alpha`, `level` or `learner`.

    Returns
    -------
    Axes
        ``save_figure(ax, "graph.pdf")`` writes it; SVG and PNG by their endings.

    Examples
    --------
    >>> import bestofk as bk
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> losses = bk.Losses([[0.41, 0.52, 0.43], [0.12, 0.21, 0.11]], algorithms=["max", "nmc"])
    >>> ax = figure(bk.order(losses, prefer="listed"), "graph")
    >>> {"max", "nmc"} <= {text.get_text() for text in ax.texts}
    True
    >>> from matplotlib import pyplot
    >>> pyplot.close(ax.figure)
    """
    from bestofk.report.figures.output import paint

    drawn = picture_of(
        value, kind, width=width, font=font, fontsize=fontsize, note=note, **options
    )  # fmt: skip
    return paint(drawn, ax)


def _entry(value: Any, kind: str | None) -> FigureEntry:
    known = figure_kinds(value)
    if kind is None:
        if not known:
            kinds = ", ".join(sorted({n for entry in FIGURES.values() for n in entry.accepts}))
            raise ArgumentError(
                f"figure: value must be one of {kinds}; got {type(value).__name__}."
            )
        return FIGURES[known[0]]
    entry = FIGURES[kind]
    if not entry.takes(value):
        offer = f"; of it there are {', '.join(map(repr, known))}" if known else ""
        raise ArgumentError(
            f"figure {kind!r} takes {' or '.join(entry.accepts)}; got "
            f"{type(value).__name__}{offer}."
        )
    return entry
