"""A decision on a terminal: the verdict, a table of the learners, and two lines; or everything."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click
import numpy as np

from bestofk._base.formatting import duration, interval_words, printable, pvalue_parts, rounded
from bestofk.cli.say import PROSE_WIDTH, safe
from bestofk.decide.decision import Decision
from bestofk.decide.registry import decides_by
from bestofk.decide.statements import HEADLINE
from bestofk.decide.statements.verdict import TOO_CLOSE, equal_means
from bestofk.decide.statements.wording import (
    difference_text,
    level_words,
    shown_means,
    uncertainty_of,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.containers import Lines
    from rich.table import Table
    from rich.text import Text

    from bestofk._base.errors import Advice
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
MARK = ">"
"""Marks the row of the recommended learner."""
MAX_LINES = 15
"""Lines of the short answer about six learners, with blank lines if these fit."""
REQUESTED = {
    "judge": "Judge: ", "more items": "More items: ", "metric": "Also: ", "margin": "Margin: ",
    "posterior": "", "replication": "Other splits: ",
}  # fmt: skip
"""Title of the statements that an option requests, by kind."""
EXPLAIN_POINTER = "--explain shows the details."
MAX_ROWS = 40
"""Learners in the table; the JSON has all."""
STYLES = {
    "recommended": "bold green",
    "better": "green",
    "too close to call": "yellow",
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
    "dot plot", "fit", "interval", "worse by", "rank", OTHER_METRIC, "more", "p", "mark",
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
        before = [column.key for column in columns].index("learner")
        table.add_row(*[""] * before, f"... and {more} more")
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
) -> list[TerminalColumn]:
    """Return the columns that fit into `width`.

    `more` holds cells by title and learner.
    """
    columns = _all_columns(decision, width, costs, others, more or {})
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
    learners = TerminalColumn(key="learner", title=decision.noun, cells=cells)
    return _table([learners, *(_other_column(other, names) for other in others)])


def _total_width(columns: Sequence[TerminalColumn]) -> int:
    return sum(column.width for column in columns) + COLUMN_GAP * (len(columns) - 1)


def _all_columns(
    decision: Decision,
    width: int,
    costs: Mapping[str, Cost] | None,
    others: Sequence[OtherMetric],
    more: Mapping[str, Mapping[str, str]],
) -> list[TerminalColumn]:
    names, metric = _shown_names(decision), decision.metric
    by_name = {standing.name: standing for standing in decision.standings}
    standings = [by_name.get(name) for name in names]
    tested = [
        standing if standing is not None and standing.verdict != "not tested" else None
        for standing in standings
    ]
    runs = [decision.runs_of(name) for name in names]
    stopped = any(count is not None for count in runs)
    name_width = MAX_NAME_WIDTH if width >= MIN_WIDE_TERMINAL else MAX_NAME_WIDTH_IF_NARROW
    texts = shown_means(decision)
    means = [texts[name] for name in names]
    mark = [MARK if name == decision.recommended else "" for name in names]
    columns = [
        TerminalColumn(
            key="mark", title="", cells=mark, styles=[STYLES["recommended"]] * len(mark)
        ),
        *_ranks(decision, names),
        TerminalColumn(
            key="learner",
            title=decision.noun,
            cells=[one_line(str(name), name_width) for name in names],
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
        _right("worse by", "worse by", _differences(differences, uncertainty_of(decision))),
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
    """Return the learners by mean; of many only the first ones and the recommended one."""
    names = list(decision.by_mean)
    best = decision.recommended
    if len(names) > MAX_ROWS and best is not None and names.index(best) >= MAX_ROWS:
        return [*names[: MAX_ROWS - 1], best]
    return names[:MAX_ROWS]


def _ranks(decision: Decision, names: Sequence[Name]) -> list[TerminalColumn]:
    """Return the ranks of the learners, if their order is not that of the means."""
    ranking = decision.ranking
    if len(ranking) < len(decision.by_preference) or ranking == decision.by_mean:
        return []
    return [_right("rank", "rank", [str(ranking.index(name) + 1) for name in names])]


def _differences(values: Sequence[float | None], uncertainty: float | None) -> list[str]:
    """Format the differences of a column."""
    return ["" if value is None else difference_text(value, uncertainty) for value in values]


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
    shown = decision.means
    means = np.array([shown[name] for name in _shown_names(decision)])
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
    texts = iter(rounded([mean for mean in means if mean is not None]))
    cells = ["-" if mean is None else next(texts) for mean in means]
    return _right(OTHER_METRIC, f"mean {other.name}", cells)


def _pvalue(standing: Standing | None, alpha: float) -> str:
    """Return ``0.15`` or ``< 0.0001``."""
    if standing is None or standing.adjusted_pvalue is None:
        return ""
    relation, digits = pvalue_parts(standing.adjusted_pvalue, alpha)
    return digits if relation == "=" else f"{relation} {digits}"


def why_preferred(decision: Decision) -> str:
    """Return why the recommended learner was chosen although another has a better mean.

    - Returns: ``"you prefer it"``, ``"simpler"``, ``"quicker to fit"``, ...; empty if it has the
      best mean.
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
    for k, line in enumerate(_wrapped(out, text, style)):
        line.rstrip()
        out.print(plain(INDENT if k and not style else "") + line)


def _wrapped(out: Console, text: str, style: str = "") -> Lines:
    return plain(text, style=style).wrap(out, min(out.width, PROSE_WIDTH) - len(INDENT))


def print_sentences(text: str) -> None:
    """Print an explanation, one paragraph per line."""
    out = console()
    for line in text.split("\n"):
        print_prose(out, line)


def print_decision(
    value: Decision | ModelChoice,
    columns: Cells | None = None,
    *,
    explain: bool = False,
    ranks: bool = False,
) -> None:
    """Print the short answer; with `explain`, every statement.

    `columns` holds more cells by title and learner. `ranks` adds the ranks that the data allow.
    """
    decision = value if isinstance(value, Decision) else value.decision
    columns = {**(columns or {}), **_rank_column(decision, ranks)}
    if not explain:
        _print_short(value, decision, columns=columns, ranks=ranks)
        return
    _print(value, decision, columns=columns, account=_account_of(value))


def print_study(study: Study, *, explain: bool = False, ranks: bool = False) -> None:
    """Print the short answer of a run; with `explain`, every statement and what was read."""
    columns = _rank_column(study.decision, ranks)
    if not explain:
        _print_short(study, study.decision, costs=study.costs, others=study.others, columns=columns,
                     ranks=ranks)  # fmt: skip
        return
    _print(study, study.decision, costs=study.costs, others=study.others, columns=columns,
           account=study.data_account)  # fmt: skip


def _rank_column(decision: Decision | None, shown: bool) -> Cells:
    ranks = None if decision is None or not shown else decision.ranks
    return {} if ranks is None else {"ranks": {str(name): ranks.of(name) for name in ranks.names}}


def _print_short(
    value: Decision | Study | ModelChoice,
    decision: Decision | None,
    *,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    columns: Cells | None = None,
    ranks: bool = False,
) -> None:
    """Print the verdict, the table, and the lines How sure, Caution and Next."""
    out = console()
    verdict = " ".join(one.written(typed_advice) for one in value.select(*HEADLINE))
    lines = [
        f"{title}{one.short or one.text}"
        for kind, title in REQUESTED.items()
        for one in value.select(kind)
    ]
    cautions = cautions_of(value)
    if ranks and decision is not None:
        lines.append(f"Ranks: {rank_sentence(decision)}")
    if decision is not None:
        lines.append(f"How sure: {how_sure(value)}")
    if cautions:
        lines.append(f"Caution: {' '.join(cautions)}")
    step = f"Next: {next_step(value, decision)}"
    if _height(out, step) > 1:
        step = f"Next: {next_step(value, decision, names=False)}"
    with_pointer = f"{step} {EXPLAIN_POINTER}"
    lines.append(with_pointer if _height(out, with_pointer) == _height(out, step) else step)
    rows = 0
    if decision is not None:
        fitting = shown_columns(decision, out.width, costs, others, columns or {})
        rows = len(fitting[0].cells) + 1
    used = rows + sum(_height(out, line) for line in (verdict, *lines))
    if decision is not None and used > MAX_LINES + max(0, rows - 7):
        full, brief = (f"How sure: {how_sure(value, estimand=one)}" for one in (True, False))
        lines = [brief if line == full else line for line in lines]
    blank = rows > 0 and used + 2 <= MAX_LINES + max(0, rows - 7)
    print_prose(out, verdict, style="bold")
    if decision is not None:
        if blank:
            out.print()
        out.print(learner_table(decision, fitting))
        if blank:
            out.print()
    for line in lines:
        print_prose(out, line)


def rank_sentence(decision: Decision) -> str:
    """Return who may be the best, or why that is not known."""
    if decision.ranks is None:
        return "they need every pair to be tested in both directions, to the end of the plan."
    return decision.ranks.explain()


def how_sure(value: Decision | Study | ModelChoice, *, estimand: bool = True) -> str:
    """Return the test, its level, its correction, and the quantity that was compared."""
    kinds = ("evidence", "estimand") if estimand else ("evidence",)
    return "; ".join(one.short for one in value.select(*kinds) if one.short) + "."


def cautions_of(value: Decision | Study | ModelChoice) -> list[str]:
    """Return short sentences on what limits the trust in the answer."""
    decision = value if isinstance(value, Decision) else value.decision
    cautions = [one.text for one in value.select("assumed")]
    cautions += [one.short or one.written(typed_advice) for one in value.select("caution")]
    if decision is not None and decision.test_choice is not None:
        cautions += decision.test_choice.notes
    if not isinstance(value, Decision):
        left_out = value.left_out
        cautions += left_out if isinstance(left_out, tuple) else ()
    return list(dict.fromkeys(cautions))


def next_step(
    value: Decision | Study | ModelChoice, decision: Decision | None, *, names: bool = True
) -> str:
    """Return what would settle the comparison, or where to find more.

    `names` says whether to name the pair that would be settled.
    """
    for statement in value.select("next"):
        if statement.short and statement.lead and not names:
            return f"{statement.lead[:1].lower()}{statement.lead[1:]} would settle one more pair."
        if statement.short:
            return f"{statement.short}."
    if decision is not None and any(one.verdict == TOO_CLOSE for one in decision.standings):
        if decision.preference.stated:
            return "more data would narrow this down."
        return "get more data, or state a preference (--prefer)."
    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("report_path"):
        return "open the report in a browser."
    return "--report F.html writes a report to share."


def typed_advice(advice: Advice) -> str:
    """Return advice as an option of the typed command."""
    from bestofk.cli.options import command_line, typed, verb_of

    return typed(advice, verb_of(command_line()))


def _height(out: Console, text: str) -> int:
    """Return the number of lines of a paragraph."""
    return 1 if out.soft_wrap else len(_wrapped(out, text))


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
    head = value.select(*HEADLINE)
    print_prose(out, " ".join(one.written(typed_advice) for one in head), style="bold")
    for statement in value.select("assumed"):
        # Print assumptions before the numbers that depend on them.
        print_prose(out, statement.text)
    out.print()
    hidden: set[str] = {*HEADLINE, "assumed", "data"}
    if decision is not None:
        fitting = shown_columns(decision, out.width, costs, others, columns or {})
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
            print_prose(out, statement.written(typed_advice))
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
