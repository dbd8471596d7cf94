"""Tables of results, and their forms: data frame, CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from markupsafe import Markup, escape

from bestofk._base.checks import one_of
from bestofk._base.formatting import counted, duration, escaped, pvalue_text, rounded
from bestofk._base.results import Presented
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Evidence
from bestofk.decide.statements.wording import (
    correction_words,
    family_words,
    shown_means,
    worse_than_best,
)
from bestofk.decide.stopping.result import StoppedEvidence
from bestofk.losses.losses import Scores
from bestofk.report.figures.comparisons import bounds_note, interval_words
from bestofk.report.names import html_name, html_sentence, latex_text, markdown_text
from bestofk.report.page_figures import dot_plot_of
from bestofk.run.study import Cost, FailedCell, Study

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.run.conclude import OtherMetric

Kind = Literal["name", "text", "number", "pvalue", "count", "seconds", "bytes", "code"]
_TEXT_KINDS = ("name", "text", "code")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; its kind decides how its cells are printed."""

    key: str
    """Its name in a data frame and in CSV."""
    title: str
    """Empty for a column that only data frames and CSV have."""
    kind: Kind
    cells: Sequence[Any]
    """None for an empty cell."""
    texts: Sequence[str] | None = None
    """The cells as text, if other views round them, too."""

    def shown(self) -> list[str]:
        """Return the cells as text; numbers have the same number of decimals."""
        if self.texts is not None:
            return list(self.texts)
        if self.kind == "number":
            return _numbers(self.cells)
        return [_shown(self.kind, cell) for cell in self.cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTable:
    """Columns under a title.

    Attributes
    ----------
    name : str
        Unique among the tables of a page.
    title : str
    columns : tuple of Column
    note : str
        Sentences that say how to read the table.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    note: str = ""

    @property
    def caption(self) -> str:
        """The title and the note."""
        return f"{self.title}. {self.note}" if self.note else self.title

    def __len__(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0

    @property
    def titled(self) -> list[Column]:
        """The columns that readers see."""
        return [column for column in self.columns if column.title]

    def to_frame(self) -> pd.DataFrame:
        """Return the table with all digits as a data frame."""
        import pandas as pd

        return pd.DataFrame({column.key: list(column.cells) for column in self.columns})

    def to_csv(self) -> str:
        """Return the table with all digits as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_csv_cell(column.key) for column in self.columns])
        for row in self._rows([list(column.cells) for column in self.columns]):
            writer.writerow([_csv_cell(cell) for cell in row])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return the rounded table as GitHub's Markdown."""
        heads = [markdown_text(column.title) for column in self.titled]
        rules = [":--" if column.kind in _TEXT_KINDS else "--:" for column in self.titled]
        rows = self._rows([list(map(markdown_text, column.shown())) for column in self.titled])
        lines = [heads, rules, *rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """Return the rounded table as LaTeX with the rules of the package booktabs."""
        layout = "".join("l" if column.kind in _TEXT_KINDS else "r" for column in self.titled)
        rows = self._rows(
            [[_latex(column.kind, text) for text in column.shown()] for column in self.titled]
        )
        lines = [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{latex_text(self.caption)}}}",
            f"  \\begin{{tabular}}{{{layout}}}",
            "    \\toprule",
            f"    {' & '.join(latex_text(column.title) for column in self.titled)} \\\\",
            "    \\midrule",
            *(f"    {' & '.join(row)} \\\\" for row in rows),
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_html(self) -> Markup:
        """Return the rounded table as a ``<table>``."""
        kinds = ["w" if column.kind in _TEXT_KINDS else "n" for column in self.titled]
        head = "".join(
            f'<th scope="col" class="{kind}">{escape(column.title)}</th>'
            for kind, column in zip(kinds, self.titled, strict=True)
        )
        cells = [
            [f'<td class="{kind}">{_html(column.kind, cell)}</td>' for cell in column.cells]
            if column.kind in ("name", "code")
            else [f'<td class="{kind}">{escape(text)}</td>' for text in column.shown()]
            for kind, column in zip(kinds, self.titled, strict=True)
        ]
        body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in self._rows(cells))
        # All parts are escaped above.
        return Markup(
            f"<table><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>"
        )

    def without_empty(self) -> OutputTable:
        """Return the table without columns that have only empty cells."""
        columns = (
            column for column in self.columns if any(cell is not None for cell in column.cells)
        )
        return replace(self, columns=tuple(columns))

    def _rows(self, columns: list[list[Any]]) -> Iterable[tuple[Any, ...]]:
        return zip(*columns, strict=True)


def _shown(kind: Kind, cell: Any) -> str:
    if cell is None:
        return ""
    if kind == "pvalue":
        return pvalue_text(float(cell))
    if kind == "seconds":
        return duration(float(cell))
    if kind == "bytes":
        return _bytes(float(cell))
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell)


def _numbers(cells: Sequence[Any]) -> list[str]:
    """Format a column of numbers alike; an empty cell stays empty."""
    texts = iter(rounded([float(cell) for cell in cells if cell is not None]))
    return ["" if cell is None else next(texts) for cell in cells]


def _latex(kind: Kind, text: str) -> str:
    """Escape a cell; outside of formulas LaTeX would set a minus as a hyphen."""
    minus = kind == "number" and text.startswith("-")
    return f"$-${latex_text(text[1:])}" if minus else latex_text(text)


def _html(kind: Kind, cell: Any) -> Markup:
    if cell is None:
        return Markup("")
    return html_name(cell) if kind == "name" else Markup("<code>{}</code>").format(cell)


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _csv_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet runs as a formula."""
    if isinstance(cell, str):
        return as_text_cell(escaped(cell))
    return "" if cell is None else cell


# Registered tests, procedures, plans and learners as Markdown tables, for the documentation.


Columns = dict[str, Callable[[Any], str]]


class MarkdownTable(str):
    """Markdown that notebooks render."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def entry_table(kind: str) -> MarkdownTable:
    """Return all entries of a registry, one row each.

    Parameters
    ----------
    kind : {"pairwise", "multiple", "procedures", "plans", "learners", "corrections"}

    Returns
    -------
    MarkdownTable
        With the entries of installed plugins.

    Examples
    --------
    >>> [line for line in entry_table("pairwise").splitlines() if "| mcnemar" in line][0][:50]
    '| mcnemar | test-set | two-sided, greater, less | '
    """
    one_of(kind, "kind", tuple(_COLUMNS))
    columns = _COLUMNS[kind]
    lines = [_line(columns), _line("---" for _ in columns)]
    lines += [
        _line(column(entry) for column in columns.values()) for entry in _registry(kind).values()
    ]
    return MarkdownTable("\n".join(lines) + "\n")


def _registry(kind: str) -> Any:
    from bestofk.decide.registry import PROCEDURES
    from bestofk.learners.registry import LEARNERS
    from bestofk.splits.plans import PLANS
    from bestofk.stats.adjust import CORRECTIONS
    from bestofk.stats.multiple.registry import MULTIPLE_TESTS
    from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

    return {
        "pairwise": PAIRWISE_TESTS,
        "multiple": MULTIPLE_TESTS,
        "procedures": PROCEDURES,
        "plans": PLANS,
        "learners": LEARNERS,
        "corrections": CORRECTIONS,
    }[kind]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _assumptions(entry: Any) -> str:
    wording = {
        "test": entry.name,
        "n": "n",
        "units": "data sets or instances",
        "design": "as designed",
        "subsets": " on parts of the rows",
        "df": "df",
    }
    claims = (assumption.claim.format(**wording) for assumption in entry.assumptions)
    return " ".join(dict.fromkeys(claims)) or "not stated"


def _automatic(entry: Any) -> str:
    return ", ".join(entry.automatic)


_NAMES: Columns = {"name": lambda e: e.name}
_TEST: Columns = {
    **_NAMES,
    "covers": lambda e: ", ".join(e.covers),
    "sides": lambda e: ", ".join(e.sides),
    "assumes": _assumptions,
    "interval": lambda e: "yes" if e.interval else "none",
}
_PAPER: Columns = {"source": lambda e: e.paper}
_COLUMNS: dict[str, Columns] = {
    "pairwise": {**_TEST, "automatic for": _automatic, **_PAPER},
    "multiple": {**_TEST, **_PAPER},
    "procedures": {**_NAMES, "what it does": lambda e: e.summary, **_PAPER},
    "plans": {
        "name": lambda e: e.name,
        "written": lambda e: f"`{e.pattern}`",
        "what it does": lambda e: e.summary,
        **_PAPER,
    },
    "learners": {"name": lambda e: e.name, "what it is": lambda e: e.summary, **_PAPER},
    "corrections": {
        **_NAMES,
        "family": lambda e: e.family,
        "holds": lambda e: e.guarantee or "nothing",
        **_PAPER,
    },
}


# Tables of a decision.


def learners_table(
    order: Decision,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
) -> OutputTable:
    """Return one row per learner: mean, how much worse than the best it is, verdict, cost."""
    rows = order.standings
    names = [row.name for row in rows]
    metric, means = order.metric, shown_means(order)
    columns = [
        Column("learner", order.noun.capitalize(), "name", names),
        Column(
            f"mean_{metric.name.replace(' ', '_')}",
            f"Mean {metric.name}",
            "number",
            [row.mean for row in rows],
            [means[name] for name in names],
        ),
    ]
    columns += [
        Column(
            f"mean_{other.name.replace(' ', '_')}",
            f"Mean {other.name}",
            "number",
            [other.means.get(str(name)) for name in names],
        )
        for other in others
    ]
    runs = [order.runs_of(name) for name in names]
    if any(count is not None for count in runs):
        title = f"{order.run_noun.capitalize()}s"
        key = order.run_noun.replace(" ", "") + "s"
        columns.append(Column(key, title, "count", runs))
    if order.counts is not None:
        wins = [order.counts[name] for name in names]
        columns.append(Column("wins", "Wins", "count", wins))
    bounded = any(row.at_most is not None for row in rows)
    columns += [
        Column("at_least", "", "number", [row.at_least for row in rows]),
        Column(
            "at_most",
            "Worse than the best by" if bounded else "",
            "number",
            [row.at_most for row in rows],
            [worse_than_best(order, row) for row in rows],
        ),
        Column("verdict", "Verdict", "text", [row.verdict for row in rows]),
        *_cost_columns([str(name) for name in names], costs),
    ]
    sorted_by = "in the order of the decision" if order.preference.stated else "best mean first"
    return OutputTable(
        name="learners",
        title=f"The {order.noun}s, {sorted_by}",
        columns=tuple(columns),
        note=bounds_note(order),
    )


def costs_table(costs: Mapping[str, Cost]) -> OutputTable:
    """Return the costs of learners, for a study without a decision."""
    names = list(costs)
    first = Column("learner", "Learner", "name", names)
    return OutputTable(
        name="learners", title="The learners", columns=(first, *_cost_columns(names, costs))
    )


def _cost_columns(names: Sequence[str], costs: Mapping[str, Cost] | None) -> list[Column]:
    if costs is None:
        return []
    fields: tuple[tuple[str, str, Kind], ...] = (
        ("fit_time", "Fit", "seconds"),
        ("predict_time", "Predict", "seconds"),
        ("size", "Size", "bytes"),
    )
    columns = [
        Column(field, title, kind, [getattr(costs.get(name), field, None) for name in names])
        for field, title, kind in fields
    ]
    return [column for column in columns if any(cell is not None for cell in column.cells)]


def pairs_table(evidence: Evidence) -> OutputTable:
    """Return every tested pair, in the user's metric."""
    names, metric = evidence.names, evidence.metric
    columns = [
        Column("a", "A", "name", [names[i] for i in evidence.first.tolist()]),
        Column("b", "B", "name", [names[j] for j in evidence.second.tolist()]),
        Column("estimate", "A - B", "number", metric.difference(evidence.estimate).tolist()),
    ]
    winner = np.where(evidence.better < 0, evidence.first, evidence.second).tolist()
    better = [names[k] if shown else None for k, shown in zip(winner, evidence.better, strict=True)]
    bounded = bool(np.isfinite([evidence.low, evidence.high]).any())
    if bounded:
        low, high = metric.interval(evidence.low, evidence.high)
        columns += [
            Column("low", "From", "number", _finite(low)),
            Column("high", "To", "number", _finite(high)),
        ]
    columns += [
        *(
            Column(
                key,
                title,
                "pvalue",
                p.tolist(),
                [pvalue_text(one, evidence.family.alpha) for one in p.tolist()],
            )
            for key, title, p in (
                ("pvalue", "p", evidence.pvalue),
                ("adjusted_pvalue", "Adjusted p", evidence.adjusted_pvalue),
            )
        ),
        Column("better", "Better", "name", better),
    ]
    if isinstance(evidence, StoppedEvidence):
        columns.append(Column("settled", "Settled", "text", (~evidence.unsettled).tolist()))
    posteriors = evidence.posteriors
    if posteriors is not None:
        for key, title in (
            ("a_better", "P(A better)"),
            ("equivalent", "P(equivalent)"),
            ("b_better", "P(B better)"),
        ):
            cells = posteriors[key].tolist()
            columns.append(Column(key, title, "number", cells))
    sides = "two-sided " if evidence.alternative == "two-sided" else ""
    note = (
        f"A - B: {metric.mean} of A minus that of B. The p-values are from {sides}tests "
        f"{family_words(evidence)}{correction_words(evidence)}."
    )
    if bounded:
        note += f" {interval_words(evidence)}"
    if isinstance(evidence, StoppedEvidence):
        note += " Each pair is compared on the runs that both learners completed."
    return OutputTable(name="pairs", title="The pairs", columns=tuple(columns), note=note)


def _finite(values: Any) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def datasets_table(losses: Scores) -> OutputTable | None:
    """Return the mean of every learner on every data set; None for one data set."""
    if len(losses.datasets) < 2 or not losses.complete:
        return None
    means = losses.by_dataset()
    return OutputTable(
        name="datasets",
        title=f"Mean {losses.metric.name} by data set",
        columns=(
            Column("dataset", "Data set", "name", losses.datasets),
            *(
                Column(name, name, "number", losses.metric.shown(row).tolist())
                for name, row in zip(losses.learners, means, strict=True)
            ),
        ),
    )


def failures_table(failures: Sequence[FailedCell]) -> OutputTable | None:
    """Return the failed fits, counted by learner, data set and reason; None if none failed."""
    if not failures:
        return None
    counts = Counter((cell.learner, cell.dataset, cell.kind, cell.reason) for cell in failures)
    rows = counts.most_common()
    learner, dataset, kind, reason = zip(*(row for row, _ in rows), strict=True)
    return OutputTable(
        name="failures",
        title=counted(len(failures), "failed fit"),
        columns=(
            Column("learner", "Learner", "name", learner),
            Column("dataset", "Data set", "name", dataset),
            Column("count", "Fits", "count", [count for _, count in rows]),
            Column("kind", "Kind", "text", kind),
            Column("reason", "Reason", "text", reason),
        ),
    )


# The table of a result that people print, for notebooks, data frames, Markdown and LaTeX.


_KINDS: dict[str, Kind] = {
    "a": "name",
    "b": "name",
    "learner": "name",
    "model": "name",
    "best": "name",
    "recommended": "name",
    "pvalue": "pvalue",
    "adjusted_pvalue": "pvalue",
}
"""Kind of a column by its name; otherwise its cells decide."""


def table_of(value: Presented) -> OutputTable:
    """Return the main table of a result."""
    if isinstance(value, Study):
        if value.decision is None:
            return costs_table(value.costs)
        return learners_table(value.decision, value.costs, value.others)
    if isinstance(value, Decision):
        return learners_table(value)
    frame = value.to_frame()
    title = getattr(value, "title", type(value).__name__)
    return rows_table("result", title, {name: frame[name] for name in frame.columns})


def html_of(value: Presented) -> str:
    """Return what a notebook shows: the headline above the main table.

    A study also shows a dot plot of its losses, and how its data were read and prepared.
    """
    table = table_of(value).to_html()
    names = _names(value)
    first = value.headline() if hasattr(value, "headline") else value.explain()
    plot, after = Markup(""), Markup("")
    if isinstance(value, Study):
        from bestofk.learners.preparation import sentences as preparation_sentences

        if value.decision is not None:
            # All text in the SVG is escaped.
            plot = Markup(dot_plot_of(value.decision, value.losses))
        sentences = [*value.assumed, *preparation_sentences(value.preparation)]
        after = Markup("").join(Markup("<p>{}</p>").format(sentence) for sentence in sentences)
    shown = Markup("<p>{}</p>{}{}{}").format(html_sentence(first, names), plot, table, after)
    return str(shown)


def _names(value: Presented) -> tuple[object, ...]:
    if isinstance(value, Study):
        return value.losses.learners
    if isinstance(value, Decision):
        return value.by_preference
    return ()


def rows_table(
    name: str, title: str, columns: Mapping[Any, Sequence[Any] | np.ndarray]
) -> OutputTable:
    """Return columns as a table; their names and cells decide how they are printed."""
    return OutputTable(
        name=name,
        title=title,
        columns=tuple(
            Column(str(key), str(key).replace("_", " ").capitalize(), _kind(str(key), cells), cells)
            for key, cells in ((key, _cells(values)) for key, values in columns.items())
        ),
    )


def _cells(column: Any) -> list[Any]:
    """Return the cells, None for those that are not finite."""
    return [
        None if cell is None or (isinstance(cell, float) and not np.isfinite(cell)) else cell
        for cell in (column.tolist() if hasattr(column, "tolist") else column)
    ]


def _kind(name: str, cells: list[Any]) -> Kind:
    if name in _KINDS:
        return _KINDS[name]
    known = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, str | bool) for cell in known):
        return "text"
    return "count" if known and all(isinstance(cell, int) for cell in known) else "number"
