"""The screen of a result: the verdict, a table of the learners, and how sure it is.

The command line, `print` and notebooks show the same screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from bestofk._base.formatting import (
    NO_BREAK,
    PROSE_WIDTH,
    counted,
    duration,
    interval_words,
    printable,
    pvalue_text,
    rounded,
    safe,
    unbroken,
)
from bestofk._base.results import row_dicts
from bestofk.decide.decision import Decision
from bestofk.decide.statements import HEADLINE, Stated
from bestofk.decide.statements.wording import (
    correction_words,
    level_words,
    shown_means,
    uncertainty_of,
    worse_than_best,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.containers import Lines
    from rich.table import Table
    from rich.text import Text

    from bestofk._base.errors import Advice
    from bestofk._base.results import Presented
    from bestofk.decide import Standing
    from bestofk.decide.evidence import Evidence
    from bestofk.decide.preference import Name
    from bestofk.decide.slices import Slices
    from bestofk.run.study import Cost, OtherMetric

Cells = Mapping[str, Mapping[str, str]]
"""Cells by title and learner."""
MAX_NAME_WIDTH = 32
FIRST_NAME_WIDTH = 20
"""Names are cut to this width before the means are left out."""
MIN_NAME_WIDTH = 8
COLUMN_GAP = 2
MARK = ">"
"""Marks the row of the recommended learner."""
MAX_ROWS = 40
"""Learners in the table; the JSON has all."""
MAX_PAIRS = 500
"""Pairs in the second view; the JSON has all."""
STYLES = {
    "recommended": "bold green",
    "better": "green",
    "within the margin": "green",
    "may be the best": "yellow",
    "no difference shown": "yellow",
    "ruled out": "red",
    "worse": "red",
}
"""Style by verdict."""
OTHER_METRIC = "other metric"
WORSE = "worse than the best by"
WIDE = ("order", "models and test rows", "ruled out")
"""Columns of further tables to leave out first on narrow terminals."""
MIN_TERMINAL = 100
"""Width of a terminal from which the intervals are drawn, too."""
MIN_PLOT_WIDTH, MAX_PLOT_WIDTH = 16, 30
_OPTIONAL_COLUMNS = ("fit", "p", OTHER_METRIC, "mean", "more", "interval", "mark")
"""Columns to leave out on narrow terminals, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalColumn:
    """A column: its title, and one text per row."""

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

        return max(map(cell_len, (*self.title.split("\n"), *self.cells)))

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
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, COLUMN_GAP, 0, 0))
    for column in columns:
        title = Text("\n").join(map(plain, column.title.split("\n")))
        table.add_column(title, justify=column.justify, no_wrap=True, vertical="bottom")
    for row in zip(*(column.texts() for column in columns), strict=True):
        table.add_row(*row)
    return table


def shown_columns(
    decision: Decision,
    width: int,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    more: Cells = MappingProxyType({}),
    plot: bool = True,
) -> list[TerminalColumn]:
    """Return the columns that fit into `width`; `more` holds cells by title and learner."""
    columns = _fitting(_all_columns(decision, costs, others, more), width)
    left = min(width - _total_width(columns) - COLUMN_GAP, MAX_PLOT_WIDTH)
    rows = _shown_rows(decision)
    if plot and width >= MIN_TERMINAL and left >= MIN_PLOT_WIDTH and any(r.at_most for r in rows):
        at = 1 + [column.key for column in columns].index("verdict")
        columns.insert(at, _plot(rows, left))
    return columns


def other_metrics_table(decision: Decision, others: Sequence[OtherMetric], width: int) -> Table:
    """Return the means by other metrics, if the table of the learners has no space for them."""
    rows = _shown_rows(decision)
    columns = [_names(decision.noun, [row.name for row in rows])]
    columns += [_other_column(other, rows) for other in others]
    return _table(_with_short_names(columns, width))


def _total_width(columns: Sequence[TerminalColumn]) -> int:
    return sum(column.width for column in columns) + COLUMN_GAP * (len(columns) - 1)


def _fitting(columns: list[TerminalColumn], width: int) -> list[TerminalColumn]:
    """Break long titles, leave out columns and shorten names until the table fits."""
    columns = list(columns)
    while _total_width(columns) > width:
        broken = [replace(column, title=_in_two_lines(column.title)) for column in columns]
        gains = [old.width - new.width for old, new in zip(columns, broken, strict=True)]
        if max(gains) <= 0:
            break
        at = gains.index(max(gains))
        columns[at] = broken[at]
    for key in _OPTIONAL_COLUMNS:
        shortest = {"mean": FIRST_NAME_WIDTH, "interval": MIN_NAME_WIDTH}.get(key)
        shown = columns if shortest is None else _with_short_names(columns, width, shortest)
        if _total_width(shown) <= width:
            return shown
        columns = [column for column in columns if column.key != key]
    return _with_short_names(columns, width)


def _in_two_lines(title: str) -> str:
    """Break a title at the space or hyphen that is nearest to its middle.

    Examples
    --------
    >>> print(_in_two_lines("worse than the best by"))
    worse than
    the best by
    """
    breaks = [k + 1 for k, letter in enumerate(title) if letter in " -" and len(title) > 7]
    if not breaks or "\n" in title:
        return title
    at = min(breaks, key=lambda k: abs(k - len(title) / 2))
    return f"{title[:at].rstrip()}\n{title[at:]}"


def _with_short_names(
    columns: list[TerminalColumn], width: int, shortest: int = MIN_NAME_WIDTH
) -> list[TerminalColumn]:
    """Cut names in the middle until the table fits."""
    limit = MAX_NAME_WIDTH
    while _total_width(columns) > width and limit > shortest:
        limit -= 1
        columns = [
            replace(column, cells=[short_name(cell, limit) for cell in column.cells])
            if column.key == "learner"
            else column
            for column in columns
        ]
    return columns


def _all_columns(
    decision: Decision,
    costs: Mapping[str, Cost] | None,
    others: Sequence[OtherMetric],
    more: Cells,
) -> list[TerminalColumn]:
    rows = _shown_rows(decision)
    runs = [decision.runs_of(row.name) for row in rows]
    means = shown_means(decision)
    mark = [MARK if row.name == decision.recommended else "" for row in rows]
    columns = [
        TerminalColumn(
            key="mark", title="", cells=mark, styles=[STYLES["recommended"]] * len(mark)
        ),
        _names(decision.noun, [row.name for row in rows]),
        _right("mean", decision.metric.mean, [means[row.name] for row in rows]),
    ]
    if any(count is not None for count in runs):
        columns.append(_right("runs", f"{decision.run_noun}s", [str(count) for count in runs]))
    columns += [_other_column(other, rows) for other in others]
    columns += [
        _right("more", title, [cells.get(str(row.name), "-") for row in rows])
        for title, cells in more.items()
    ]
    worse = [worse_than_best(decision, row) for row in rows]
    if {*worse} - {"", "0"}:
        columns.append(_right("worse", WORSE, worse))
    verdicts = [row.verdict for row in rows]
    styles = [STYLES.get(verdict, "") for verdict in verdicts]
    if {*verdicts} != {"not tested"}:
        columns.append(
            TerminalColumn(key="verdict", title="verdict", cells=verdicts, styles=styles)
        )
    if costs is not None:
        times = [costs[str(row.name)].fit_time for row in rows]
        cells = ["" if time is None else duration(time) for time in times]
        columns.append(_right("fit", "one fit", cells))
    return columns


def _plot(rows: Sequence[Standing], width: int) -> TerminalColumn:
    """Draw how much worse than the best each learner is, on one scale that starts at 0.

    A line is the interval, and the dot is the observed difference.
    """
    highest = max(row.at_most or 0.0 for row in rows)

    def place(value: float) -> int:
        return round(min(value / highest, 1.0) * (width - 1))

    cells = []
    for row in rows:
        low, high = place(row.at_least or 0.0), place(row.at_most or 0.0)
        line = [" "] * low + ["─"] * (high - low + 1)
        line += [" "] * (width - len(line))
        line[min(max(place(abs(row.difference)), low), high)] = "●"
        cells.append("".join(line))
    styles = [STYLES.get(row.verdict, "") for row in rows]
    title = f"0{rounded([highest], highest / 2)[0]:>{width - 1}}"
    return TerminalColumn(key="plot", title=title, cells=cells, styles=styles)


def _shown_rows(decision: Decision) -> list[Standing]:
    """Return the rows of the table; of many only the first ones and the recommended one."""
    rows = list(decision.standings)
    best = [row for row in rows[MAX_ROWS:] if row.name == decision.recommended]
    return [*rows[: MAX_ROWS - len(best)], *best]


def _names(title: str, names: Sequence[Name]) -> TerminalColumn:
    cells = [short_name(str(name), MAX_NAME_WIDTH) for name in names]
    return TerminalColumn(key="learner", title=title, cells=cells)


def _plain_columns(columns: Mapping[str, Any]) -> list[TerminalColumn]:
    """Return the columns of a further table, whose first column names its rows."""
    (first, names), *rest = columns.items()
    made = [_names(first, names)]
    numbers = [x for _, cells in rest for x in cells if isinstance(x, float) and x == x]
    texts_of = dict(zip(numbers, rounded(numbers), strict=True))
    for title, cells in rest:
        if all(isinstance(cell, float) for cell in cells):
            made.append(_right(title, title, [texts_of.get(cell, "-") for cell in cells]))
        elif all(isinstance(cell, int) for cell in cells):
            made.append(_right(title, title, list(map(str, cells))))
        else:
            texts = ["-" if cell is None else str(cell) for cell in cells]
            numeric = all(text[:1] in "-0123456789" for text in texts)
            key = "more" if title in WIDE else title if numeric else "learner"
            side: Literal["left", "right"] = "right" if numeric else "left"
            made.append(TerminalColumn(key=key, title=title, cells=texts, justify=side))
    return made


def _right(key: str, title: str, cells: Sequence[str]) -> TerminalColumn:
    return TerminalColumn(key=key, title=title, cells=cells, justify="right")


def _other_column(other: OtherMetric, rows: Sequence[Standing]) -> TerminalColumn:
    means = [other.means.get(str(row.name)) for row in rows]
    texts = iter(rounded([mean for mean in means if mean is not None]))
    cells = ["-" if mean is None else next(texts) for mean in means]
    return _right(OTHER_METRIC, f"mean {other.name}", cells)


def pair_columns(
    evidence: Evidence, width: int, uncertainty: float | None = None
) -> list[TerminalColumn]:
    """Return the columns of the second view that fit into `width`: one row per pair."""
    pairs = row_dicts({name: cells[:MAX_PAIRS] for name, cells in evidence.columns().items()})
    alpha = evidence.family.alpha
    differences = rounded([pair["difference"] for pair in pairs], uncertainty)
    intervals = [
        ""
        if pair.get("low") is None or pair.get("high") is None
        else interval_words(pair["low"], pair["high"])
        for pair in pairs
    ]
    columns = [
        _names("first", [pair["a"] for pair in pairs]),
        _names("second", [pair["b"] for pair in pairs]),
        _right("difference", "difference", differences),
        _right("interval", f"{level_words(alpha)} interval", intervals),
        _right("p", "p", [pvalue_text(pair["p"], alpha) for pair in pairs]),
        _right(
            "adjusted p", "adjusted p",
            [pvalue_text(pair["adjusted_p"], alpha) for pair in pairs],
        ),
        TerminalColumn(key="better", title="better", cells=[
            {None: "", pair["a"]: "first", pair["b"]: "second"}[pair["better"]] for pair in pairs
        ]),
    ]  # fmt: skip
    return _fitting([column for column in columns if any(column.cells)], width)


def one_line(name: str, limit: int = 40) -> str:
    """Return a text without control characters, cut to `limit` characters."""
    clean = printable(name)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def short_name(name: str, limit: int) -> str:
    """Return a name without control characters, cut in the middle to `limit` characters.

    Examples
    --------
    >>> short_name("logistic-regression", 12), short_name("tree", 12)
    ('logist…ssion', 'tree')
    """
    clean = printable(name)
    if len(clean) <= limit:
        return clean
    end = (limit - 1) // 2
    return f"{clean[: limit - 1 - end]}…{clean[-end:]}"


# Writing.


INDENT = "  "


def plain(text: str, style: str = "") -> Text:
    """Return text without markup and control characters."""
    from rich.text import Text

    return Text(safe(text), style=style)


def write_prose(out: Console, text: str, style: str = "") -> None:
    """Write a paragraph of readable width, with hanging indentation."""
    if out.soft_wrap:
        out.print(plain(text, style=style))
        return
    for k, line in enumerate(_wrapped(out, unbroken(safe(text)), style)):
        line.rstrip()
        line.plain = line.plain.replace(NO_BREAK, " ")
        out.print(plain(INDENT if k and not style else "") + line)


def _wrapped(out: Console, text: str, style: str = "") -> Lines:
    from rich.text import Text

    return Text(text, style=style).wrap(out, min(out.width, PROSE_WIDTH) - len(INDENT))


Shown = Callable[["Advice"], str]
"""Writes advice, as in Python or as an option of the command line."""


def screen(result: Any, width: int = PROSE_WIDTH) -> str:
    """Return the screen of a result as plain text of this width."""
    from io import StringIO

    from rich.console import Console

    out = Console(file=StringIO(), width=width, highlight=False, color_system=None)
    (write_presented if hasattr(result, "_screen") else write_screen)(out, result)
    text: str = out.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def write_screen(
    out: Console,
    result: Any,
    *,
    explain: bool = False,
    pairs: bool = False,
    ranks: bool = False,
    show: Shown = str,
) -> None:
    """Write the screen of a result: what to do, the table, how sure it is, a note and a caution.

    Parameters
    ----------
    out : Console
        Where to write.
    result
        A result with a decision.
    explain, pairs, ranks : bool
        Write every statement; the pairs; the ranks that they allow.
    show : callable
        Writes advice; by default as in Python.
    """
    slices = getattr(result, "_slices", None)
    result = getattr(result, "outcome", result)
    decision = result.decision
    others = getattr(result, "others", ())
    costs = getattr(result, "costs", None) if hasattr(result, "others") else None
    for statement in result.select(*HEADLINE):
        write_prose(out, statement.written(show), style="bold")
    if decision is not None:
        fitting = shown_columns(
            decision, out.width, costs, others, result._cells(), plot=not out.soft_wrap
        )
        out.print()
        out.print(learner_table(decision, fitting))
        if explain and others and OTHER_METRIC not in {column.key for column in fitting}:
            out.print()
            out.print(other_metrics_table(decision, others, out.width))
        out.print()
    if tables := result._tables():
        if decision is None:
            out.print()
        _write_tables(out, tables)
        out.print()
    for line in _details(result, show) if explain else _summary(result, show):
        write_prose(out, line)
    if explain and (account := _account_of(result)):
        write_prose(out, " ".join(account), style="dim")
    if slices is not None:
        out.print()
        _write_tables(out, {slices.headline: _slice_columns(slices)})
        for line in slices.caution_sentences():
            write_prose(out, line)
    _write_second_view(out, decision, pairs=pairs, ranks=ranks)


def write_presented(out: Console, value: Presented) -> None:
    """Write the sentences and the tables of a value that is no comparison."""
    head, tables, rest = value._screen()
    for line in filter(None, head.split("\n")):
        write_prose(out, line)
    if tables:
        out.print()
        _write_tables(out, tables)
        if rest:
            out.print()
    for line in filter(None, rest.split("\n")):
        write_prose(out, line)


def _write_tables(out: Console, tables: Mapping[str, Any]) -> None:
    """Write tables with their titles, an empty line between two: columns, or evidence of pairs."""
    for k, (title, columns) in enumerate(tables.items()):
        if k:
            out.print()
        if title:
            write_prose(out, title, style="bold")
        if isinstance(columns, Mapping):
            fitting = _fitting(_plain_columns(columns), out.width)
        else:
            fitting = pair_columns(columns, out.width)
        shown = fitting
        while len(shown) > 1 and _total_width(shown) > out.width:
            shown = shown[:-1]
        out.print(_table(shown))
        if len(shown) < len(fitting):
            write_prose(out, f"{counted(len(fitting) - len(shown), 'more column')}: see --json.")


def _slice_columns(slices: Slices) -> dict[str, Any]:
    columns = slices._columns()
    may_be, out = columns.pop("candidates"), columns.pop("ruled_out")
    bounds = columns.pop("at_most")
    known = sorted(bound for bound in bounds if bound)
    texts = rounded(
        [bound or 0.0 for bound in bounds], known[len(known) // 2] / 2 if known else None
    )
    return {
        slices.by: columns.pop(slices.by),
        "use": [name or "-" for name in columns.pop("recommended")],
        "at most": [
            "" if bound is None else text for bound, text in zip(bounds, texts, strict=True)
        ],
        "may be the best": may_be,
        **({"ruled out": out} if any(out) else {}),
    }


def _details(value: Stated, show: Shown) -> list[str]:
    """Return every statement but those that are printed first."""
    rest = [one for one in value.statements if one.kind not in HEADLINE]
    return [one.written(show) for one in rest]


def _summary(value: Stated, show: Shown) -> list[str]:
    """Return what options requested, How sure, one Note and one Caution."""
    notes = " ".join(one.written(show) for one in (*value.select("data"), *value.select("note")))
    return [
        *(one.text for one in value.select("also")),
        *(one.lead for one in value.select("evidence")),
        *([f"Note: {notes}"] if notes else []),
        *(one.written(show) for one in value.select("caution")[:1]),
    ]


def _write_second_view(
    out: Console, decision: Decision | None, *, pairs: bool, ranks: bool
) -> None:
    """Write one row per pair, and the ranks that the pairs allow."""
    if decision is None:
        return
    evidence = decision.pair_evidence
    if pairs:
        count = len(evidence)
        sentence = "No pair was tested."
        if count:
            test = decision.test if evidence.choice is None else evidence.choice.name
            sides = "two-sided" if evidence.alternative == "two-sided" else "one-sided"
            level = f"alpha = {evidence.family.alpha:g}{correction_words(evidence)}"
            sentence = (
                f"{counted(count, 'pair')} by the {test} test, {sides}, {level}; "
                f"differences in {decision.metric.mean}, first minus second."
            )
        out.print()
        write_prose(out, sentence, style="bold")
        if count:
            out.print(_table(pair_columns(evidence, out.width, uncertainty_of(decision))))
        if count > MAX_PAIRS:
            write_prose(out, f"... and {count - MAX_PAIRS:,} more; --json lists all.")
    if ranks:
        allowed = decision.ranks
        out.print()
        if allowed is None:
            write_prose(out, "Ranks need every pair to be tested in both directions.", style="bold")
            return
        write_prose(out, _ranks_sentence(decision, allowed), style="bold")
        columns = [
            _names(decision.noun, allowed["name"]),
            _right("from", "from", [str(rank) for rank in allowed["from"]]),
            _right("to", "to", [str(rank) for rank in allowed["to"]]),
        ]
        out.print(_table(_fitting(columns, out.width)))


def _account_of(value: Any) -> Sequence[str]:
    """Return what was read of a table or of logs."""
    if not isinstance(value, Decision):
        return getattr(value, "account", ())
    losses = None if value.problem is None else value.problem.losses
    return () if losses is None else losses.account


def _ranks_sentence(decision: Decision, ranks: Mapping[str, Any]) -> str:
    """Return how many ranks are certain."""
    certain = int((ranks["from"] == ranks["to"]).sum())
    which = "no rank is" if not certain else f"{certain} rank{'s are' if certain > 1 else ' is'}"
    return (
        f"Of {len(ranks['name'])} {decision.noun}s {which} certain ({level_words(decision.alpha)} "
        "confidence for all ranks at once)."
    )
