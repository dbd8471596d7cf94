"""A table as a value, and its forms: data frame, CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from markupsafe import Markup, escape

from bestofk._base.checks import one_of
from bestofk._base.formatting import duration, escaped, number
from bestofk._base.results import Result
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.decide.decision import Decision, Standing
from bestofk.decide.evidence import Evidence
from bestofk.decide.one_test import TestReport
from bestofk.decide.statements.stopped import NOT_SETTLED
from bestofk.decide.statements.wording import level_words
from bestofk.decide.stopping.stopped_decision import StoppedEvidence
from bestofk.learners.preparation import sentences as preparation_sentences
from bestofk.losses.losses import Losses
from bestofk.report.names import html_name, html_sentence, latex_text, markdown_text
from bestofk.report.page_figures import dot_plot_of
from bestofk.run.conclude import OtherMetric
from bestofk.run.study import Cost, FailedCell, Study
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["name", "text", "number", "pvalue", "count", "seconds", "bytes", "code"]
_WORDS = ("name", "text", "code")
MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: what its cells are decides how they are printed."""

    key: str
    """Its name in a data frame and in CSV."""
    title: str
    kind: Kind
    cells: Sequence[Any]
    """None where there is nothing to say."""

    def shown(self) -> list[str]:
        """The cells as text for reading; numbers have equally many decimals."""
        if self.kind == "number":
            return equal_decimals(self.cells)
        return [_shown(self.kind, cell) for cell in self.cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTable:
    """Columns under a caption."""

    name: str
    """A word that tells it from the other tables of a page."""
    caption: str
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0

    def to_frame(self) -> pd.DataFrame:
        """All digits, in a data frame."""
        import pandas as pd

        return pd.DataFrame({column.key: list(column.cells) for column in self.columns})

    def to_csv(self) -> str:
        """All digits, as comma-separated text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_csv_cell(column.key) for column in self.columns])
        for row in self._rows([list(column.cells) for column in self.columns]):
            writer.writerow([_csv_cell(cell) for cell in row])
        return text.getvalue()

    def to_markdown(self) -> str:
        """A table of GitHub's Markdown, rounded."""
        heads = [markdown_text(column.title) for column in self.columns]
        rules = [":--" if column.kind in _WORDS else "--:" for column in self.columns]
        rows = self._rows([list(map(markdown_text, column.shown())) for column in self.columns])
        lines = [heads, rules, *rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def to_latex(self) -> str:
        """A table of LaTeX with the rules of the package booktabs, rounded."""
        layout = "".join("l" if column.kind in _WORDS else "r" for column in self.columns)
        rows = self._rows([list(map(latex_text, column.shown())) for column in self.columns])
        lines = [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{latex_text(self.caption)}}}",
            f"  \\begin{{tabular}}{{{layout}}}",
            "    \\toprule",
            f"    {' & '.join(latex_text(column.title) for column in self.columns)} \\\\",
            "    \\midrule",
            *(f"    {' & '.join(row)} \\\\" for row in rows),
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_html(self) -> Markup:
        """A ``<table>``."""
        kinds = ["w" if column.kind in _WORDS else "n" for column in self.columns]
        head = "".join(
            f'<th scope="col" class="{kind}">{escape(column.title)}</th>'
            for kind, column in zip(kinds, self.columns, strict=True)
        )
        cells = [
            [f'<td class="{kind}">{_html(column.kind, cell)}</td>' for cell in column.cells]
            if column.kind in ("name", "code")
            else [f'<td class="{kind}">{escape(text)}</td>' for text in column.shown()]
            for kind, column in zip(kinds, self.columns, strict=True)
        ]
        body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in self._rows(cells))
        # every part is escaped above
        return Markup(
            f"<table><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>"
        )

    def without_empty(self) -> OutputTable:
        """Without the columns that say nothing of any row."""
        held = (column for column in self.columns if any(one is not None for one in column.cells))
        return replace(self, columns=tuple(held))

    def only(self, rows: Sequence[int], *, caption: str) -> OutputTable:
        """Some of the rows, under another caption."""
        return OutputTable(
            name=self.name,
            caption=caption,
            columns=tuple(
                replace(column, cells=[column.cells[row] for row in rows])
                for column in self.columns
            ),
        )

    def _rows(self, columns: list[list[Any]]) -> Iterable[tuple[Any, ...]]:
        return zip(*columns, strict=True)


def _shown(kind: Kind, cell: Any) -> str:
    if cell is None:
        return ""
    if kind == "number":
        return number(float(cell))
    if kind == "pvalue":
        return _pvalue(float(cell))
    if kind == "seconds":
        return duration(float(cell))
    if kind == "bytes":
        return _bytes(float(cell))
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell)


def equal_decimals(cells: Sequence[Any]) -> list[str]:
    """Numbers for a column: four digits of the largest, and two of the smallest but 0.

    Where that would take more than `MOST_DECIMALS`, every number has its own four digits.

    Examples
    --------
    >>> equal_decimals([0.573, -0.002247, None, 0.0]), equal_decimals([1e-9, 2.0])
    (['0.5730', '-0.0022', '', '0.0000'], ['1e-09', '2'])
    """
    numbers = [abs(float(cell)) for cell in cells if cell is not None]
    sizes = [floor(log10(one)) for one in numbers if 0 < one < inf]
    places = max(0, 3 - max(sizes), 1 - min(sizes)) if sizes else MOST_DECIMALS + 1
    if places > MOST_DECIMALS or not all(map(isfinite, numbers)):
        return [_shown("number", cell) for cell in cells]
    if all(one == round(one) for one in numbers):
        places = 0
    shown = ("" if cell is None else f"{float(cell):.{places}f}" for cell in cells)
    return [text.removeprefix("-") if text and not float(text) else text for text in shown]


def _pvalue(p: float) -> str:
    """Four digits, so that a table can be read against alpha; never 0 or 1 unless it is."""
    if p == 0.0:
        return "< 1e-300"
    return "> 0.9999" if 0.99995 <= p < 1.0 else f"{p:.4g}"


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
    """What no spreadsheet runs: names are data."""
    if isinstance(cell, str):
        return as_text_cell(escaped(cell))
    return "" if cell is None else cell


# What is registered, as Markdown tables for the documentation.


Columns = dict[str, Callable[[Any], str]]


class MarkdownTable(str):
    """Markdown that a notebook shows as what it stands for."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def entry_table(kind: str) -> MarkdownTable:
    """All entries of a registry, one row each.

    Parameters
    ----------
    kind : {"pairwise", "multiple", "procedures", "plans", "learners", "corrections"}

    Returns
    -------
    MarkdownTable
        A table in Markdown, with the entries of other packages that are installed.

    Examples
    --------
    >>> [line for line in entry_table("pairwise").splitlines() if "| mcnemar" in line][0][:60]
    '| mcnemar | mcnemar | test-set | two-sided, greater, less | '
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
    from bestofk.splits.registry import PLANS
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
    words = {
        "test": entry.name,
        "n": "n",
        "units": "data sets or instances",
        "design": "as designed",
        "subsets": " on parts of the rows",
        "df": "df",
    }
    claims = (one.claim.format(**words) for one in entry.assumptions)
    return " ".join(dict.fromkeys(claims)) or "not stated"


def _automatic(entry: Any) -> str:
    return ", ".join(
        f"{one.situation}{' (fallback)' if one.fallback else ''}" for one in entry.automatic
    )


_NAMES: Columns = {"name": lambda e: e.name, "family": lambda e: e.family}
_TEST: Columns = {
    **_NAMES,
    "covers": lambda e: ", ".join(e.covers),
    "sides": lambda e: ", ".join(e.sides),
    "assumes": _assumptions,
    "interval": lambda e: e.interval or "none",
    "speed": lambda e: e.speed,
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
    "corrections": {**_NAMES, "holds": lambda e: e.guarantee or "nothing", **_PAPER},
}


# The tables of a decision: learners, pairs, data sets, steps and failures.


def learners_table(
    order: Decision,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
) -> OutputTable:
    """Every learner: its place, its mean, how it stands to the recommended one, and its cost."""
    names = list(order.ranking if len(order.ranking) > 1 else order.by_preference)
    ranked = len(order.ranking) > 1
    metric = order.metric
    standings = {standing.name: standing for standing in order.standings}
    columns = [
        Column(key="learner", title="Learner", kind="name", cells=names),
        Column(
            key=f"mean_{metric.name.replace(' ', '_')}",
            title=f"Mean {metric.name}",
            kind="number",
            cells=[metric.shown(order.means[name]) for name in names],
        ),
    ]
    columns += [
        Column(
            key=f"mean_{other.name.replace(' ', '_')}",
            title=f"Mean {other.name}",
            kind="number",
            cells=[other.means.get(str(name)) for name in names],
        )
        for other in others
    ]
    runs = [order.runs_of(name) for name in names]
    if any(count is not None for count in runs):
        title = f"{order.run_noun.capitalize()}s"
        key = order.run_noun.replace(" ", "") + "s"
        columns.append(Column(key=key, title=title, kind="count", cells=runs))
    if ranked:
        places = list(range(1, len(names) + 1))
        columns.insert(0, Column(key="place", title="Place", kind="count", cells=places))
    if order.preference.stated:
        prefer = {name: place for place, name in enumerate(order.by_preference, 1)}
        columns.append(
            Column(
                key="preference",
                title="Preference",
                kind="count",
                cells=[prefer[name] for name in names],
            )
        )
    if order.counts is not None:
        wins = [order.counts[name] for name in names]
        columns.append(Column(key="wins", title="Wins", kind="count", cells=wins))
    if standings:
        columns += _standing_columns([standings.get(name) for name in names])
    if standings or order.recommended is not None:
        verdicts = [
            "recommended"
            if name == order.recommended
            else getattr(standings.get(name), "verdict", None)
            for name in names
        ]
        columns.append(Column(key="verdict", title="Verdict", kind="text", cells=verdicts))
    if order.margins:
        cells = [
            None if name not in order.margins else order.margins[name].verdict for name in names
        ]
        title = f"With a margin of {number(order.margin or 0.0)}"
        columns.append(Column(key="margin", title=title, kind="text", cells=cells))
    columns += _cost_columns([str(name) for name in names], costs)
    caption = f"The {order.noun}s, best first" if ranked else f"The {order.noun}s"
    if standings and any(count is not None for count in runs):
        both = f"over the {order.run_noun}s of both"
        caption += f"; worse by: how much worse than the recommended one, {both}"
    elif standings:
        several = order.evidence.family.size > 1 and CORRECTIONS[order.correction].adjusts
        caption += (
            "; worse by: how much worse than the recommended one, with "
            f"{level_words(order.alpha)} intervals"
            f"{' that hold for all pairs together' if several else ''}"
        )
    return OutputTable(name="learners", caption=caption, columns=tuple(columns))


def _standing_columns(standings: Sequence[Standing | None]) -> list[Column]:
    """Differences from the recommended one; worse is positive whatever the metric's direction."""

    def cells(field: str) -> list[Any]:
        found = [None if one is None else getattr(one, field) for one in standings]
        return [None if one is None or not np.isfinite(one) else one for one in found]

    return [
        Column(key="worse_by", title="Worse by", kind="number", cells=cells("difference")),
        Column(key="low", title="From", kind="number", cells=cells("low")),
        Column(key="high", title="To", kind="number", cells=cells("high")),
        Column(key="pvalue", title="p", kind="pvalue", cells=cells("pvalue")),
        Column(
            key="adjusted_pvalue",
            title="Adjusted p",
            kind="pvalue",
            cells=cells("adjusted_pvalue"),
        ),
    ]


def costs_table(costs: Mapping[str, Cost]) -> OutputTable:
    """What a fit costs, where nothing was decided."""
    names = list(costs)
    first = Column(key="learner", title="Learner", kind="name", cells=names)
    return OutputTable(
        name="learners", caption="The learners", columns=(first, *_cost_columns(names, costs))
    )


def _cost_columns(names: Sequence[str], costs: Mapping[str, Cost] | None) -> list[Column]:
    if costs is None:
        return []
    found: list[Column] = []
    for field, title, kind in (
        ("fit_time", "Fit", "seconds"),
        ("predict_time", "Predict", "seconds"),
        ("size", "Size", "bytes"),
    ):
        cells = [getattr(costs.get(name), field, None) for name in names]
        if any(cell is not None for cell in cells):
            found.append(Column(key=field, title=title, kind=kind, cells=cells))  # type: ignore[arg-type]
    return found


def pairs_table(evidence: Evidence) -> OutputTable:
    """Every pair that was tested, in the user's metric."""
    names, metric = evidence.names, evidence.metric
    sides = "one-sided" if evidence.alternative != "two-sided" else "two-sided"
    low, high = metric.interval(evidence.low, evidence.high)
    verdicts = [
        "no evidence" if not better else "A better" if better < 0 else "B better"
        for better in evidence.better.tolist()
    ]
    if isinstance(evidence, StoppedEvidence):
        open_pairs = evidence.unsettled.tolist()
        verdicts = [
            NOT_SETTLED if is_open else verdict
            for verdict, is_open in zip(verdicts, open_pairs, strict=True)
        ]
    columns = [
        Column(key="a", title="A", kind="name", cells=[names[i] for i in evidence.first.tolist()]),
        Column(key="b", title="B", kind="name", cells=[names[j] for j in evidence.second.tolist()]),
        Column(
            key="estimate",
            title="A - B",
            kind="number",
            cells=metric.difference(evidence.estimate).tolist(),
        ),
        Column(key="low", title="From", kind="number", cells=_finite(low)),
        Column(key="high", title="To", kind="number", cells=_finite(high)),
        Column(
            key="statistic",
            title="Statistic",
            kind="number",
            cells=evidence.shown_statistic.tolist(),
        ),
        Column(key="pvalue", title="p", kind="pvalue", cells=evidence.pvalue.tolist()),
        Column(
            key="adjusted_pvalue",
            title="Adjusted p",
            kind="pvalue",
            cells=evidence.adjusted_pvalue.tolist(),
        ),
        Column(key="verdict", title="Verdict", kind="text", cells=verdicts),
    ]
    posteriors = evidence.posteriors
    if posteriors is not None:
        for key, title in (
            ("a_better", "P(A better)"),
            ("equivalent", "P(equivalent)"),
            ("b_better", "P(B better)"),
        ):
            cells = posteriors[key].tolist()
            columns.append(Column(key=key, title=title, kind="number", cells=cells))
    caption = f"The pairs: {metric.mean} of A minus that of B, {sides} p-values"
    if evidence.alternative != "two-sided":
        caption += "; only whether B is better was tested"
    if isinstance(evidence, StoppedEvidence):
        caption += "; so far, over the runs that both have"
    return OutputTable(name="pairs", caption=caption, columns=tuple(columns))


def _finite(values: Any) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def datasets_table(losses: Losses) -> OutputTable | None:
    """Mean loss of every learner on every data set, where there are several."""
    if len(losses.datasets) < 2:
        return None
    means = losses.by_dataset(missing="allow") if losses.complete else None
    if means is None:
        return None
    return OutputTable(
        name="datasets",
        caption=f"Mean {losses.metric.name} by data set",
        columns=(
            Column(key="dataset", title="Data set", kind="name", cells=losses.datasets),
            *(
                Column(key=name, title=name, kind="number", cells=losses.metric.shown(row).tolist())
                for name, row in zip(losses.algorithms, means, strict=True)
            ),
        ),
    )


def failures_table(failures: Sequence[FailedCell]) -> OutputTable | None:
    """Cells without a loss, counted by learner, data set and reason."""
    if not failures:
        return None
    counts = Counter((cell.learner, cell.dataset, cell.kind, cell.reason) for cell in failures)
    rows = counts.most_common()
    learner, dataset, kind, reason = zip(*(row for row, _ in rows), strict=True)
    return OutputTable(
        name="failures",
        caption="Fits that gave no loss",
        columns=(
            Column(key="learner", title="Learner", kind="name", cells=learner),
            Column(key="dataset", title="Data set", kind="name", cells=dataset),
            Column(key="count", title="Fits", kind="count", cells=[count for _, count in rows]),
            Column(key="kind", title="Kind", kind="text", cells=kind),
            Column(key="reason", title="Reason", kind="text", cells=reason),
        ),
    )


# Results as one table each: for notebooks, data frames, Markdown and LaTeX.


MOST_NUMBERS = 8
"""So many numbers of an array are shown."""
_KINDS: dict[str, Kind] = {
    "a": "name",
    "b": "name",
    "learner": "name",
    "recommended": "name",
    "pvalue": "pvalue",
    "adjusted_pvalue": "pvalue",
}
"""What a column of this name holds; else it is told by its cells."""


def table_of(value: Result) -> OutputTable:
    """The table that says most of a result."""
    if isinstance(value, Study):
        if value.decision is None:
            return costs_table(value.costs)
        return learners_table(value.decision, value.costs, value.others)
    if isinstance(value, Decision):
        return learners_table(value)
    if isinstance(value, TestReport):
        return table_of(value.result)
    if isinstance(value, Evidence):
        return pairs_table(value)
    return _rows_table(value)


def frame_of(value: Result) -> pd.DataFrame:
    """`table_of` as a data frame."""
    return table_of(value).to_frame()


def markdown_of(value: Result) -> str:
    """`table_of` in Markdown."""
    return table_of(value).to_markdown()


def latex_of(value: Result) -> str:
    """`table_of` in LaTeX."""
    return table_of(value).to_latex()


def html_of(value: Result) -> str:
    """What a notebook shows: the first paragraph of the explanation above the table.

    Of a study also a dot plot of its losses, and what was done to the data.
    """
    table = table_of(value).to_html()
    names = _names(value)
    first = value.headline() if hasattr(value, "headline") else value.explain()
    plot, after = Markup(""), Markup("")
    if isinstance(value, Study):
        if value.decision is not None:
            # drawn by us, and all words in it are escaped
            plot = Markup(dot_plot_of(value.decision, value.losses))
        said = [*preparation_sentences(value.preparation), *value.data_account]
        after = Markup("").join(Markup("<p>{}</p>").format(line) for line in said)
    shown = Markup("<p>{}</p>{}{}{}").format(html_sentence(first, names), plot, table, after)
    return str(shown)


def _names(value: Result) -> tuple[object, ...]:
    if isinstance(value, Study):
        return value.losses.algorithms
    if isinstance(value, Decision):
        return value.by_preference
    return value.names if isinstance(value, TestReport | Evidence) else ()


def _rows_table(value: Result) -> OutputTable:
    """Any other result: its rows, or where there is only one its numbers by name."""
    frame = value.to_frame()
    if len(frame) == 1:
        return _numbers_table(value)
    return OutputTable(
        name="result",
        caption=type(value).__name__,
        columns=tuple(
            Column(
                key=str(name),
                title=str(name).replace("_", " ").capitalize(),
                kind=_kind(str(name), cells),
                cells=cells,
            )
            for name, cells in ((name, _cells(frame[name])) for name in frame.columns)
        ),
    )


def _cells(column: pd.Series[Any]) -> list[Any]:
    """None where there is nothing, or nothing finite, to say."""
    return [
        None if cell is None or (isinstance(cell, float) and not np.isfinite(cell)) else cell
        for cell in column.tolist()
    ]


def _kind(name: str, cells: list[Any]) -> Kind:
    if name in _KINDS:
        return _KINDS[name]
    held = [cell for cell in cells if cell is not None]
    if any(isinstance(cell, str | bool) for cell in held):
        return "text"
    return "count" if held and all(isinstance(cell, int) for cell in held) else "number"


def _numbers_table(value: Result) -> OutputTable:
    rows = {
        name: _text(one)
        for name, one in value.to_dict().items()
        if not (one is None or one in ("", [], {}) or name in ("explanation", "version"))
    }
    return OutputTable(
        name="result",
        caption=type(value).__name__,
        columns=(
            Column(key="quantity", title="Quantity", kind="text", cells=list(rows)),
            Column(key="value", title="Value", kind="text", cells=list(rows.values())),
        ),
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items() if one is not None)
    if isinstance(value, list):
        numbers = [_text(item) for item in value[:MOST_NUMBERS]]
        more = [f"... ({len(value)} in all)"] if len(value) > MOST_NUMBERS else []
        return ", ".join([*numbers, *more])
    return "" if value is None else str(value)
