"""A decision on a terminal: what to do, a table of the learners, statements and a graph."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bestofk._base.formatting import duration, interval_words, printable, pvalue_parts
from bestofk.cli.say import PROSE_WIDTH, safe
from bestofk.decide.decision import Decision
from bestofk.decide.registry import decides_by
from bestofk.decide.statements.verdict import equal_means
from bestofk.decide.statements.wording import level_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bestofk.decide import Standing
    from bestofk.decide.preference import Name
    from bestofk.evals.model_choice import ModelChoice
    from bestofk.run.conclude import OtherMetric
    from bestofk.run.study import Cost, Study

Cells = Mapping[str, Mapping[str, str]]
"""Cells by title and learner."""
MAX_DOT_PLOT_WIDTH = 28
MIN_DOT_PLOT_WIDTH = 10
MAX_NAME_WIDTH = 32
MAX_NAME_WIDTH_IF_NARROW = 22
MIN_WIDE_TERMINAL = 80
"""Narrower terminals get shorter names."""
COLUMN_GAP = 2
MAX_ROWS = 40
"""Learners in the table; the JSON has all."""
STYLES = {
    "recommended": "bold green",
    "better": "green",
    "no evidence": "yellow",
    "not settled": "yellow",
    "worse": "red",
}
"""Style by verdict."""
_PREFERRED = {
    "fit_time": "quicker to fit",
    "predict_time": "quicker to predict with",
    "size": "smaller in memory",
    "complexity": "simpler",
    "prices": "cheaper",
    "cost": "cheaper",
}
"""Reason for a recommendation without the best mean, by preference; else *you prefer it*."""
OTHER_METRIC = "other metric"
_OPTIONAL_COLUMNS = (
    "interval", "fit", OTHER_METRIC, "dot plot", "worse by", "more", "p", "rank",
)  # fmt: skip
"""Columns to leave out on narrow terminals, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalColumn:
    """A column: its title, and one text per learner."""

    key: str
    title: str
    cells: Sequence[str]
    justify: Literal["left", "right"] = "left"
    styles: Sequence[str] = ()
    """One style per cell; none by default."""

    @property
    def width(self) -> int:
        """Width in characters of the terminal."""
        from rich.cells import cell_len

        return max(map(cell_len, (self.title, *self.cells)))

    def texts(self) -> list[Text]:
        """Return the cells with their styles."""
        styles = self.styles or [""] * len(self.cells)
        return [plain(cell, style) for cell, style in zip(self.cells, styles, strict=True)]


def learner_table(decision: Decision, columns: Sequence[TerminalColumn]) -> Table:
    """Return the table of a decision with these columns."""
    table = _table(columns)
    more = len(decision.by_preference) - len(columns[0].cells)
    if more:
        table.add_row("", f"... and {more} more")
    return table


def _table(columns: Sequence[TerminalColumn]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, COLUMN_GAP, 0, 0))
    for column in columns:
        table.add_column(plain(column.title), justify=column.justify, no_wrap=True)
    for row in zip(*(column.texts() for column in columns), strict=True):
        table.add_row(*row)
    return table


def shown_columns(
    decision: Decision,
    width: int,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    more: Mapping[str, Mapping[str, str]] | None = None,
    noun: str = "learner",
) -> list[TerminalColumn]:
    """Return the columns that fit into `width`.

    `more` holds cells by title and learner; `noun` is the title of the learners.
    """
    columns = _all_columns(decision, width, costs, others, more or {}, noun)
    for key in _OPTIONAL_COLUMNS:
        if _total_width(columns) <= width:
            break
        columns = [column for column in columns if column.key != key]
    spare = width - _total_width(columns)
    return [
        _dot_plot(decision, min(MAX_DOT_PLOT_WIDTH, column.width + spare))
        if column.key == "dot plot"
        else column
        for column in columns
    ]


def other_metrics_table(decision: Decision, others: Sequence[OtherMetric]) -> Table:
    """Return the means by other metrics, if the table of the learners has no space for them."""
    names = _shown_names(decision)
    cells = [one_line(str(name), MAX_NAME_WIDTH_IF_NARROW) for name in names]
    learners = TerminalColumn(key="learner", title="learner", cells=cells)
    return _table([learners, *(_other_column(other, names) for other in others)])


def _total_width(columns: Sequence[TerminalColumn]) -> int:
    return sum(column.width for column in columns) + COLUMN_GAP * (len(columns) - 1)


def _all_columns(
    decision: Decision,
    width: int,
    costs: Mapping[str, Cost] | None,
    others: Sequence[OtherMetric],
    more: Mapping[str, Mapping[str, str]],
    noun: str,
) -> list[TerminalColumn]:
    names, metric = _shown_names(decision), decision.metric
    by_name = {standing.name: standing for standing in decision.standings}
    standings = [by_name.get(name) for name in names]
    tested = [
        standing if standing is not None and standing.verdict != "not tested" else None
        for standing in standings
    ]
    runs = [decision.runs_of(name) for name in names]
    # Means over different numbers of runs cannot be ranked.
    stopped = any(count is not None for count in runs)
    ranked = not stopped or len(decision.ranking) > 1
    name_width = MAX_NAME_WIDTH if width >= MIN_WIDE_TERMINAL else MAX_NAME_WIDTH_IF_NARROW
    means = _decimals([metric.shown(decision.means[name]) for name in names])
    columns = [
        _right("rank", "", [str(rank) if ranked else "" for rank in range(1, len(names) + 1)]),
        TerminalColumn(
            key="learner", title=noun, cells=[one_line(str(name), name_width) for name in names]
        ),
        _right("mean", metric.mean, means),
        _right("runs", f"{decision.run_noun}s", [str(count) for count in runs])
        if stopped
        else _dot_plot(decision, MIN_DOT_PLOT_WIDTH),
    ]
    columns += [_other_column(other, names) for other in others]
    columns += [
        _right("more", title, [cells.get(str(name), "-") for name in names])
        for title, cells in more.items()
    ]
    differences = [None if standing is None else standing.difference for standing in standings]
    intervals = [
        "" if standing is None else interval_words(standing.low, standing.high)
        for standing in tested
    ]
    pvalues = [_pvalue(standing, decision.alpha) for standing in tested]
    optional = [
        _right("worse by", "worse by", _decimals(differences)),
        _right("interval", f"{level_words(decision.alpha)} interval", intervals),
        _right("p", "p", pvalues),
        _verdicts(decision, names, standings),
    ]
    columns += [column for column in optional if any(column.cells)]
    if costs is not None:
        times = [costs[str(name)].fit_time for name in names]
        cells = ["" if time is None else duration(time) for time in times]
        columns.append(_right("fit", "one fit", cells))
    return columns


def _shown_names(decision: Decision) -> list[Name]:
    return list(
        (decision.ranking if len(decision.ranking) > 1 else decision.by_preference)[:MAX_ROWS]
    )


def _right(key: str, title: str, cells: Sequence[str]) -> TerminalColumn:
    return TerminalColumn(key=key, title=title, cells=cells, justify="right")


def _verdicts(
    decision: Decision, names: Sequence[Name], standings: Sequence[Standing | None]
) -> TerminalColumn:
    reason = why_preferred(decision)
    cells, styles = [], []
    for name, standing in zip(names, standings, strict=True):
        verdict = "" if standing is None else standing.verdict
        if name == decision.recommended:
            verdict = "recommended"
        styles.append(STYLES.get(verdict, ""))
        cells.append(f"{verdict} ({reason})" if verdict == "recommended" and reason else verdict)
    return TerminalColumn(key="verdict", title="verdict", cells=cells, styles=styles)


def _dot_plot(decision: Decision, width: int) -> TerminalColumn:
    """Return every mean as a dot on a line, with the ends of the line in the title."""
    metric = decision.metric
    means = np.array([metric.shown(decision.means[name]) for name in _shown_names(decision)])
    cells = [bar(float(mean), means, width) for mean in means]
    return TerminalColumn(key="dot plot", title=scale(means, width), cells=cells)


def scale(values: np.ndarray, width: int) -> str:
    """Return the ends of a line of `width` columns; empty if they are equal or do not fit.

    Examples
    --------
    >>> scale(np.array([0.25, 0.125]), 12), scale(np.array([0.5, 0.5]), 12)
    ('0.125   0.25', '')
    """
    low, high = float(values.min()), float(values.max())
    for digits in (3, 2):
        ends = [f"{end:.{digits}g}" for end in (low, high)]
        blanks = width - sum(map(len, ends))
        if ends[0] != ends[1] and blanks > 0:
            return (" " * blanks).join(ends)
    return ""


def bar(value: float, values: np.ndarray, width: int) -> str:
    """Return `value` as a dot on a line from the smallest to the largest of `values`."""
    low, high = float(values.min()), float(values.max())
    position = 0 if high == low else round((value - low) / (high - low) * (width - 1))
    return "·" * position + "●" + "·" * (width - 1 - position)


def _other_column(other: OtherMetric, names: Sequence[Name]) -> TerminalColumn:
    means = [other.means.get(str(name)) for name in names]
    cells = [cell or "-" for cell in _decimals(means)]
    return _right(OTHER_METRIC, f"mean {other.name}", cells)


def _decimals(values: Sequence[float | None]) -> list[str]:
    """Format the numbers of a column."""
    known = np.array([value for value in values if value is not None])
    return ["" if value is None else decimals(float(value), known) for value in values]


def decimals(value: float, values: np.ndarray) -> str:
    """Format a number with four decimals, or with an exponent if all `values` are small.

    Examples
    --------
    >>> decimals(0.25, np.array([0.25, 0.5])), decimals(2e-6, np.array([2e-6, 3e-6]))
    ('0.2500', '2.00e-06')
    """
    largest = float(np.abs(values).max())
    return f"{value + 0.0:.4f}" if largest == 0 or largest >= 1e-3 else f"{value:.2e}"


def _pvalue(standing: Standing | None, alpha: float) -> str:
    """Return ``0.15`` or ``< 0.0001``."""
    if standing is None or standing.adjusted_pvalue is None:
        return ""
    relation, digits = pvalue_parts(standing.adjusted_pvalue, alpha)
    return digits if relation == "=" else f"{relation} {digits}"


def why_preferred(decision: Decision) -> str:
    """Return why the recommended learner was chosen although another has a better mean.

    Returns
    -------
    str
        ``"you prefer it"``, ``"simpler"``, ``"quicker to fit"``, ...; empty if it has the best
        mean.
    """
    preference, best = decision.preference, decision.recommended
    if best is None or not preference.stated:
        return ""
    smallest = decision.smallest_mean
    if smallest == best or smallest in equal_means(decision):
        return ""
    if decision.by_preference.index(best) > decision.by_preference.index(smallest):
        return ""
    return _PREFERRED.get(preference.words, "you prefer it")


def one_line(name: str, limit: int = 40) -> str:
    """Return a name without control characters, cut to `limit` characters."""
    clean = printable(name)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


# Printing.


PIPE_WIDTH = 200
"""Width of tables in a file or a pipe."""
INDENT = "  "


def console() -> Console:
    """Return standard output: wrapped lines on a terminal, long lines in files and pipes.

    If COLUMNS is set, wrap lines in files and pipes too.
    """
    from rich.console import Console

    out = Console(highlight=False)
    if out.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return out
    return Console(highlight=False, width=PIPE_WIDTH, soft_wrap=True)


def plain(text: str, style: str = "") -> Text:
    """Return text without markup and control characters."""
    from rich.text import Text

    return Text(safe(text), style=style)


def print_prose(out: Console, text: str, style: str = "") -> None:
    """Print a paragraph of readable width, with hanging indentation."""
    if out.soft_wrap:
        out.print(plain(text, style=style))
        return
    lines = plain(text, style=style).wrap(out, min(out.width, PROSE_WIDTH) - len(INDENT))
    for k, line in enumerate(lines):
        line.rstrip()
        out.print(plain(INDENT if k and not style else "") + line)


def print_sentences(text: str) -> None:
    """Print an explanation, one paragraph per line."""
    out = console()
    for line in text.split("\n"):
        print_prose(out, line)


def print_decision(
    value: Decision | ModelChoice,
    columns: Cells | None = None,
    *,
    explain: bool = False,  # noqa: ARG001
) -> None:
    """Print what to do, every learner in a table, then the other statements.

    `columns` holds more cells by title and learner.
    """
    decision = value if isinstance(value, Decision) else value.decision
    _print(value, decision, columns=columns or {}, account=_account_of(value))


def print_study(study: Study, *, explain: bool = False) -> None:  # noqa: ARG001
    """Print the decision of a run, with the cost of a fit and what was understood of the data."""
    _print(
        study, study.decision, costs=study.costs, others=study.others, account=study.data_account
    )


def _account_of(value: Decision | ModelChoice) -> Sequence[str]:
    """Return what was read of a table or of logs."""
    if not isinstance(value, Decision):
        return value.account
    losses = None if value.problem is None else value.problem.losses
    return () if losses is None else losses.account


def _print(
    value: Decision | Study | ModelChoice,
    decision: Decision | None,
    *,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    columns: Cells | None = None,
    account: Sequence[str] = (),
) -> None:
    out = console()
    print_prose(out, value.headline(), style="bold")
    for statement in value.select("assumed"):
        # Print assumptions before the numbers that depend on them.
        print_prose(out, statement.text)
    out.print()
    hidden = {"verdict", "left out", "assumed", "data"}
    if decision is not None:
        fitting = shown_columns(decision, out.width, costs, others, columns or {}, decision.noun)
        out.print(learner_table(decision, fitting))
        out.print()
        shown = {column.key for column in fitting}
        if _shows_standings(decision, shown):
            hidden.add("standing")
        if others and OTHER_METRIC not in shown:
            out.print(other_metrics_table(decision, others))
            out.print()
    for statement in value.statements:
        if statement.kind not in hidden:
            print_prose(out, statement.text)
    if decision is not None:
        print_graph(out, decision)
    if account:
        print_prose(out, " ".join(account), style="dim")


def _shows_standings(decision: Decision, shown: set[str]) -> bool:
    """Return whether the table shows everything that the standings say."""
    if not {"worse by", "interval", "p"} <= shown or decision.evidence.family.name == "preference":
        return False
    return len(decision.standings) == len(decision.by_preference) - 1


def print_graph(out: Console, decision: Decision) -> None:
    """Print the graph of a preference that the data override."""
    from bestofk.report.figures.kinds.multitest import text_graph

    by_preference = decides_by(decision.procedure) == "steps" and decision.preference.stated
    graph = text_graph(decision, width=out.width) if by_preference else ""
    if graph:
        out.print(plain(f"\nBy preference:\n{graph}"))
        out.print()
