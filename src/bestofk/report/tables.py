"""Tables of results: the learners, the pairs, the data sets, failures; as CSV, frame and HTML."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from markupsafe import Markup

from bestofk._base.formatting import (
    counted,
    duration,
    escaped,
    interval_words as interval_text,
    pvalue_text,
    rounded,
)
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Evidence
from bestofk.decide.statements.wording import (
    correction_words,
    family_words,
    shown_means,
    worse_than_best,
)
from bestofk.decide.stopping.result import StoppedDecision, StoppedEvidence
from bestofk.evals.costs import shown_cost
from bestofk.losses.losses import Scores
from bestofk.report.figures.comparisons import bounds_note, interval_words
from bestofk.report.names import html_name

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.run.study import FailedCell

Kind = Literal["name", "text", "number", "pvalue", "count", "seconds", "bytes", "code"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("a", "b", "learner", "model", "name", "best", "recommended", "better"), "name"
    ),
    **dict.fromkeys(("p", "adjusted_p", "pvalue", "pvalue_low", "pvalue_high"), "pvalue"),
    **dict.fromkeys(("adjusted_pvalue", "adjusted_pvalue_low", "adjusted_pvalue_high"), "pvalue"),
    **dict.fromkeys(("fit_time", "predict_time", "latency"), "seconds"),
    **dict.fromkeys(("settings", "fingerprint", "first_splits"), "code"),
    "dataset": "name",
    "item": "name",
    "size": "bytes",
}
"""Kind of a column by its name; otherwise its cells decide."""


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

    @property
    def side(self) -> str:
        """Class of the style sheet: words to the left, numbers to the right."""
        return "w" if self.kind in ("name", "text", "code") else "n"

    def shown(self) -> Sequence[str]:
        """Return the cells as text; numbers have the same number of decimals."""
        if self.texts is not None:
            return self.texts
        if self.kind == "number":
            return numbers_of(self.cells)
        return ["" if cell is None else _FORMS.get(self.kind, _words)(cell) for cell in self.cells]

    def html(self) -> Sequence[str]:
        """Return the cells for a page, which escapes what is not marked as HTML."""
        if self.kind == "name":
            return ["" if cell is None else html_name(cell) for cell in self.cells]
        if self.kind == "code":
            return [Markup("<code>{}</code>").format(text) for text in self.shown()]
        return self.shown()


def numbers_of(cells: Sequence[Any], uncertainty: float | None = None) -> list[str]:
    """Return numbers with the same number of decimals; an empty cell stays empty."""
    texts = iter(rounded([float(cell) for cell in cells if cell is not None], uncertainty))
    return ["" if cell is None else next(texts) for cell in cells]


def _words(cell: Any) -> str:
    return ("yes" if cell else "no") if isinstance(cell, bool) else str(cell)


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


_FORMS: dict[str, Callable[[Any], str]] = {
    "pvalue": pvalue_text,
    "seconds": duration,
    "bytes": _bytes,
}


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
        """The columns that readers see: those with a title and at least one cell."""
        return [
            column
            for column in self.columns
            if column.title and any(cell is not None for cell in column.cells)
        ]

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the page, one cell for each of `titled`."""
        return list(zip(*(column.html() for column in self.titled), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return the table with all digits as a data frame."""
        import pandas as pd

        return pd.DataFrame({column.key: list(column.cells) for column in self.columns})

    def to_csv(self) -> str:
        """Return the table with all digits as CSV."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([_csv_cell(column.key) for column in self.columns])
        for row in zip(*(column.cells for column in self.columns), strict=True):
            writer.writerow([_csv_cell(cell) for cell in row])
        return text.getvalue()


def _csv_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet runs as a formula."""
    if isinstance(cell, str):
        return as_text_cell(escaped(cell))
    return "" if cell is None else cell


def rows_table(
    name: str,
    title: str,
    columns: Mapping[Any, Any],
    uncertainty: float | None = None,
    names: Collection[object] = (),
) -> OutputTable:
    """Return columns as a table; their names and cells decide how they are printed.

    All numbers of the table have the same decimals. Columns that have the name of a learner keep
    it.
    """
    made = []
    for key, cells in ((str(key), cells_of(values)) for key, values in columns.items()):
        heading = key if len(key) == 1 or key in names else key.replace("_", " ").capitalize()
        made.append(Column(key, heading, _kind(key, cells), cells))
    numbers = [cell for one in made if one.kind == "number" for cell in one.cells]
    texts = iter(numbers_of(numbers, uncertainty))
    made = [
        replace(one, texts=[next(texts) for _ in one.cells]) if one.kind == "number" else one
        for one in made
    ]
    return OutputTable(name=name, title=title, columns=tuple(made))


def cells_of(column: Any) -> list[Any]:
    """Return the cells, None for those that are not finite."""
    return [
        None if isinstance(cell, float) and not np.isfinite(cell) else cell
        for cell in (column.tolist() if hasattr(column, "tolist") else column)
    ]


def _kind(key: str, cells: list[Any]) -> Kind:
    known = [cell for cell in cells if cell is not None]
    if key in _KINDS:
        return _KINDS[key]
    if any(isinstance(cell, str | bool) for cell in known):
        return "text"
    return "count" if known and all(isinstance(cell, int) for cell in known) else "number"


# The tables of a result.


def learners_table(value: Any) -> OutputTable:
    """Return one row per learner: mean, how much worse than the best it is, verdict, costs."""
    decision: Decision | None = getattr(value, "decision", value)
    if decision is None:
        first = Column("learner", "Learner", "name", list(value.costs))
        return OutputTable(
            name="learners",
            title="The learners",
            columns=(first, *_measured(value, first.cells)),
        )
    rows = decision.standings
    names = [row.name for row in rows]
    metric, means = decision.metric, shown_means(decision)
    columns = [
        Column("learner", decision.noun.capitalize(), "name", names),
        Column(
            _key(metric.mean),
            f"{metric.mean[:1].upper()}{metric.mean[1:]}",
            "number",
            [row.mean for row in rows],
            [means[name] for name in names],
        ),
    ]
    columns += [
        Column(
            _key(f"mean {other.name}"),
            f"Mean {other.name}",
            "number",
            [other.means.get(str(name)) for name in names],
        )
        for other in getattr(value, "others", ())
    ]
    if isinstance(decision, StoppedDecision):
        unit = decision.run_noun
        runs = [decision.runs_of(name) for name in names]
        columns.append(Column(unit.replace(" ", "") + "s", f"{unit.capitalize()}s", "count", runs))
    if decision.counts is not None:
        wins = [decision.counts[name] for name in names]
        columns.append(Column("wins", "Wins", "count", wins))
    bounded = any(row.at_most for row in rows)
    columns += [
        Column("at_least", "", "number", [row.at_least for row in rows]),
        Column(
            "at_most",
            "Worse than the best by" if bounded else "",
            "number",
            [row.at_most for row in rows],
            [worse_than_best(decision, row) for row in rows],
        ),
        Column("verdict", "Verdict", "text", [row.verdict for row in rows]),
    ]
    if isinstance(decision, StoppedDecision):
        why = {one.learner: one.why or None for one in decision.race.learners}
        columns.append(Column("why", "Stopped because", "text", [why[str(name)] for name in names]))
    columns += _measured(value, names)
    sorted_by = "in the order of the decision" if decision.preference.stated else "best mean first"
    return OutputTable(
        name="learners",
        title=f"The {decision.noun}s, {sorted_by}",
        columns=tuple(columns),
        note=bounds_note(decision),
    )


def _key(words: str) -> str:
    return words.replace(" ", "_")


def _measured(value: Any, names: Sequence[Any]) -> list[Column]:
    """Return what was measured besides the metric: times and sizes, costs, or battles."""
    columns = []
    for key, by_name in value._measured().items():
        percentile, _, what = key.rpartition("_") if key.endswith(_COSTS) else ("", "", key)
        if what not in _MEASURES:
            # runs and counts have their own columns
            continue
        cells = cells_of([by_name.get(str(name)) for name in names])
        if what == "cost":
            cells = [None if cell is None else shown_cost(cell, key) for cell in cells]
        texts = [f"{100 * cell:.1f} %" for cell in cells] if key == "win_rate" else None
        title = f"{percentile} {_MEASURES[what]}".strip()
        columns.append(Column(key, title, _kind(what, cells), cells, texts))
    return [column for column in columns if any(cell is not None for cell in column.cells)]


_COSTS = ("cost", "tokens", "latency")
_MEASURES = {
    "fit_time": "Fit", "predict_time": "Predict", "size": "Size", "cost": "Cost of 1,000",
    "tokens": "Tokens", "latency": "Latency", "battles": "Battles", "win_rate": "Won",
    "low": "Mean from", "high": "To", "recommended_on": "Recommended on",
}  # fmt: skip
"""Headings."""


def pairs_table(evidence: Evidence) -> OutputTable:
    """Return every tested pair, in the user's metric."""
    names, metric = evidence.names, evidence.metric
    winner = np.where(evidence.better < 0, evidence.first, evidence.second).tolist()
    better = [names[k] if shown else None for k, shown in zip(winner, evidence.better, strict=True)]
    low, high = (cells_of(end) for end in metric.interval(evidence.low, evidence.high))
    ends = [
        (-inf if a is None else a, inf if b is None else b) for a, b in zip(low, high, strict=True)
    ]
    intervals = [interval_text(*end) for end in ends]
    widths = sorted(b - a for a, b in ends if b - a < inf)
    uncertainty = widths[len(widths) // 2] / 2 if widths else None
    estimate = metric.difference(evidence.estimate).tolist()
    columns = [
        Column("a", "A", "name", [names[i] for i in evidence.first.tolist()]),
        Column("b", "B", "name", [names[j] for j in evidence.second.tolist()]),
        Column("estimate", "A - B", "number", estimate, numbers_of(estimate, uncertainty)),
    ]
    bounded = any(intervals)
    if bounded:
        columns += [
            Column("low", "", "number", low),
            Column("high", "Interval", "number", high, intervals),
        ]
    for key, title, p in (
        ("pvalue", "p", evidence.pvalue.tolist()),
        ("adjusted_pvalue", "Adjusted p", evidence.adjusted_pvalue.tolist()),
    ):
        texts = [pvalue_text(one, evidence.family.alpha) for one in p]
        columns.append(Column(key, title, "pvalue", p, texts))
    columns.append(Column("better", "Better", "name", better))
    for key, title in (
        ("a_better", "P(A better)"),
        ("equivalent", "P(equivalent)"),
        ("b_better", "P(B better)"),
    ):
        if evidence.posteriors is not None:
            columns.append(Column(key, title, "number", evidence.posteriors[key].tolist()))
    sides = "two-sided " if evidence.alternative == "two-sided" else ""
    note = (
        f"A - B: {metric.mean} of A minus that of B. The p-values are from {sides}tests "
        f"{family_words(evidence)}{correction_words(evidence)}."
    )
    if bounded:
        note += f" {interval_words(evidence)}"
    if isinstance(evidence, StoppedEvidence):
        columns.append(Column("settled", "Settled", "text", (~evidence.unsettled).tolist()))
        note += " Each pair is compared on the runs that both learners completed."
    return OutputTable(name="pairs", title="The pairs", columns=tuple(columns), note=note)


def datasets_table(losses: Scores) -> OutputTable:
    """Return the mean of every learner on every data set."""
    return OutputTable(
        name="datasets",
        title=f"Mean {losses.metric.name} by data set",
        columns=(
            Column("dataset", "Data set", "name", losses.datasets),
            *(
                Column(name, name, "number", losses.metric.shown(row).tolist())
                for name, row in zip(losses.learners, losses.by_dataset(), strict=True)
            ),
        ),
    )


def failures_table(failures: Sequence[FailedCell]) -> OutputTable:
    """Return the failed fits, counted by learner, data set and reason."""
    counts = Counter((cell.learner, cell.dataset, cell.kind, cell.reason) for cell in failures)
    rows = [(*row, count) for row, count in counts.most_common()]
    columns = zip(("learner", "dataset", "kind", "reason", "fits"), zip(*rows, strict=True),
                  strict=True)  # fmt: skip
    return rows_table("failures", counted(len(failures), "failed fit"), dict(columns))
