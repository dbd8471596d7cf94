"""Every learner of a decision in one row: its mean, how it stands, and what it costs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bestofk._base.formatting import duration, interval_words, printable, pvalue_words
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
PICTURE_WIDTH = 28
"""Columns of the small picture where there is room."""
PICTURE_AT_LEAST = 10
NAME_WIDTH = 32
NARROW_NAME_WIDTH = 22
NARROW = 80
GAP = 2
"""Blanks between two columns of the table."""
ROWS = 40
"""So many learners are shown; the JSON has all."""
STYLES = {
    "recommended": "bold green",
    "better": "green",
    "no evidence": "yellow",
    "not settled": "yellow",
    "worse": "red",
}
"""Verdict: its colour, next to the words."""
_PREFERRED = {
    "fit_time": "quicker to fit",
    "predict_time": "quicker to predict with",
    "size": "smaller in memory",
    "complexity": "simpler",
    "prices": "cheaper",
    "cost": "cheaper",
}
"""What is preferred: why one was chosen that has not the best mean; else *you prefer it*."""
OTHER_METRIC = "other metric"
_FIRST_TO_GO = ("interval", "fit", OTHER_METRIC, "picture", "worse by", "more", "p", "place")
"""Columns that are left out where there is no room, the first one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalColumn:
    """One column: what stands above it, one text per learner, and how it is set."""

    key: str
    title: str
    cells: Sequence[str]
    justify: Literal["left", "right"] = "left"

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        return max(map(_cells_wide, (self.title, *self.cells)))


def learner_table(decision: Decision, columns: Sequence[TerminalColumn]) -> Table:
    """The table of a decision with these columns."""
    table = _table(columns)
    more = len(decision.by_preference) - len(columns[0].cells)
    if more:
        table.add_row("", f"... and {more} more")
    return table


def _table(columns: Sequence[TerminalColumn]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    for column in columns:
        table.add_column(Text(safe(column.title)), justify=column.justify, no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(_styled(column, text) for column, text in zip(columns, row, strict=True)))
    return table


def shown_columns(
    decision: Decision,
    width: int,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    more: Mapping[str, Mapping[str, str]] | None = None,
    noun: str = "learner",
) -> list[TerminalColumn]:
    """The columns that have room in `width`, in their order.

    `more` holds cells by title and learner; the learners are called `noun`.
    """
    columns = _all_columns(decision, width, costs, others, more or {}, noun)
    for key in _FIRST_TO_GO:
        if _taken(columns) <= width:
            break
        columns = [column for column in columns if column.key != key]
    spare = width - _taken(columns)
    return [
        _picture(decision, min(PICTURE_WIDTH, column.width + spare))
        if column.key == "picture"
        else column
        for column in columns
    ]


def other_metrics_table(decision: Decision, others: Sequence[OtherMetric]) -> Table:
    """The means by other metrics, where the table of the learners has no room for them."""
    names = _shown_names(decision)
    called = [one_line(str(name), NARROW_NAME_WIDTH) for name in names]
    first = TerminalColumn(key="learner", title="learner", cells=called)
    return _table([first, *(_other_column(other, names) for other in others)])


def _taken(columns: Sequence[TerminalColumn]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def _all_columns(
    decision: Decision,
    width: int,
    costs: Mapping[str, Cost] | None,
    others: Sequence[OtherMetric],
    more: Mapping[str, Mapping[str, str]],
    noun: str,
) -> list[TerminalColumn]:
    names, metric = _shown_names(decision), decision.metric
    standings = {standing.name: standing for standing in decision.standings}
    those = [standings.get(name) for name in names]
    runs = [decision.runs_of(name) for name in names]
    # means over different numbers of runs are not to be compared
    stopped = any(count is not None for count in runs)
    ranked = not stopped or len(decision.ranking) > 1
    limit = NAME_WIDTH if width >= NARROW else NARROW_NAME_WIDTH
    found = [
        _right("place", "", [str(place) if ranked else "" for place in range(1, len(names) + 1)]),
        TerminalColumn(
            key="learner", title=noun, cells=[one_line(str(name), limit) for name in names]
        ),
        _right("mean", metric.mean, _decimals([metric.shown(decision.means[n]) for n in names])),
    ]
    if stopped:
        found.append(_right("runs", f"{decision.run_noun}s", [str(count) for count in runs]))
    else:
        found.append(_picture(decision, PICTURE_AT_LEAST))
    found += [_other_column(other, names) for other in others]
    found += [
        _right("more", title, [cells.get(str(name), "-") for name in names])
        for title, cells in more.items()
    ]
    tested = [one is not None and one.verdict != "not tested" for one in those]
    if any(one is not None for one in those):
        differences = [None if one is None else one.difference for one in those]
        found.append(_right("worse by", "worse by", _decimals(differences)))
    if any(tested):
        found.append(
            _right(
                "interval",
                f"{level_words(decision.alpha)} interval",
                [
                    _interval(one) if is_one else ""
                    for one, is_one in zip(those, tested, strict=True)
                ],
            )
        )
        found.append(
            _right(
                "p",
                "p",
                [
                    _pvalue(one, decision.alpha) if is_one else ""
                    for one, is_one in zip(those, tested, strict=True)
                ],
            )
        )
    found = [column for column in found if column.key in ("place", "picture") or any(column.cells)]
    verdicts = [_verdict(decision, name, standings.get(name)) for name in names]
    if any(verdicts):
        found.append(TerminalColumn(key="verdict", title="verdict", cells=verdicts))
    if costs is not None:
        times = [costs[str(name)].fit_time for name in names]
        cells = ["" if time is None else duration(time) for time in times]
        found.append(_right("fit", "one fit", cells))
    return found


def _shown_names(decision: Decision) -> list[Name]:
    return list((decision.ranking if len(decision.ranking) > 1 else decision.by_preference)[:ROWS])


def _right(key: str, title: str, cells: Sequence[str]) -> TerminalColumn:
    return TerminalColumn(key=key, title=title, cells=cells, justify="right")


def _picture(decision: Decision, width: int) -> TerminalColumn:
    """Every mean as a dot on a line; the ends of the line stand above it."""
    metric = decision.metric
    means = np.array([metric.shown(decision.means[name]) for name in _shown_names(decision)])
    cells = [bar(float(mean), means, width) for mean in means]
    return TerminalColumn(key="picture", title=scale(means, width), cells=cells)


def scale(values: np.ndarray, width: int) -> str:
    """The ends of a line of `width` columns; nothing where they have no room or are the same.

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
    """`value` as a dot on a line from the smallest to the largest of `values`."""
    low, high = float(values.min()), float(values.max())
    place = 0 if high == low else round((value - low) / (high - low) * (width - 1))
    return "·" * place + "●" + "·" * (width - 1 - place)


def _other_column(other: OtherMetric, names: Sequence[Name]) -> TerminalColumn:
    means = [other.means.get(str(name)) for name in names]
    cells = [cell or "-" for cell in _decimals(means)]
    return _right(OTHER_METRIC, f"mean {other.name}", cells)


def _decimals(values: Sequence[float | None]) -> list[str]:
    """The numbers of a column, with as many decimals as tell them apart; at least four."""
    known = np.array([value for value in values if value is not None])
    return ["" if value is None else decimals(float(value), known) for value in values]


def decimals(value: float, values: np.ndarray) -> str:
    """A number with as many decimals as tell the numbers of its column apart; at least four.

    Examples
    --------
    >>> decimals(0.25, np.array([0.25, 0.5])), decimals(2e-6, np.array([2e-6, 3e-6]))
    ('0.2500', '2.00e-06')
    """
    largest = float(np.abs(values).max())
    return f"{value + 0.0:.4f}" if largest == 0 or largest >= 1e-3 else f"{value:.2e}"


def _interval(standing: Standing | None) -> str:
    return "" if standing is None else interval_words(standing.low, standing.high)


def _pvalue(standing: Standing | None, alpha: float) -> str:
    """``0.15`` or ``< 0.0001``: as in the sentences, without the letter."""
    if standing is None or standing.adjusted_pvalue is None:
        return ""
    return pvalue_words(standing.adjusted_pvalue, alpha).removeprefix("p ").removeprefix("= ")


def _verdict(decision: Decision, name: Name, standing: Standing | None) -> str:
    if name == decision.recommended:
        why = why_preferred(decision)
        return f"recommended ({why})" if why else "recommended"
    return "" if standing is None else standing.verdict


def why_preferred(decision: Decision) -> str:
    """Why the recommended one was chosen, where another has a better mean; else nothing.

    Returns
    -------
    str
        ``"you prefer it"``, ``"simpler"``, ``"quicker to fit"``, ...
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


def _styled(column: TerminalColumn, text: str) -> Text:
    from rich.text import Text

    style = ""
    if column.key == "verdict":
        style = STYLES.get(text.partition(" (")[0], "")
    return Text(safe(text), style=style)


def one_line(name: str, limit: int = 40) -> str:
    """A name that cannot break a table: no control characters, not too long."""
    clean = printable(name)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def _cells_wide(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


# A decision on a terminal: what to do, a table, the sentences behind it, and a small picture.


LONG_LINE = 200
"""Columns of a table in a file or a pipe."""
SET_IN = "  "


def console() -> Console:
    """Standard output: wrapped at words on a terminal, plain long lines elsewhere.

    Where COLUMNS is exported, it holds for files and pipes too.
    """
    from rich.console import Console

    out = Console(highlight=False)
    if out.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return out
    return Console(highlight=False, width=LONG_LINE, soft_wrap=True)


def plain(text: str, style: str = "") -> Text:
    """Text as it stands: no markup is read, and no control character passes."""
    from rich.text import Text

    return Text(safe(text), style=style)


def print_prose(out: Console, text: str, style: str = "") -> None:
    """A paragraph, no wider than can be read; its second and later lines are set in."""
    if out.soft_wrap:
        out.print(plain(text, style=style))
        return
    lines = plain(text, style=style).wrap(out, min(out.width, PROSE_WIDTH) - len(SET_IN))
    for place, line in enumerate(lines):
        line.rstrip()
        out.print(plain(SET_IN if place and not style else "") + line)


def print_sentences(text: str) -> None:
    """The sentences of a result, one paragraph per line."""
    out = console()
    for line in text.split("\n"):
        print_prose(out, line)


def print_decision(value: Decision | ModelChoice, columns: Cells | None = None) -> None:
    """Print what to do, every learner in a table, then the other statements.

    `columns` holds more cells by title and learner.
    """
    decision = value if isinstance(value, Decision) else value.decision
    _print(value, decision, columns=columns or {}, account=_account_of(value))


def print_study(study: Study) -> None:
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
    for one in value.select("assumed"):
        # the assumptions come before the numbers that rest on them
        print_prose(out, one.text)
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
    for one in value.statements:
        if one.kind not in hidden:
            print_prose(out, one.text)
    if decision is not None:
        print_graph(out, decision)
    if account:
        print_prose(out, " ".join(account), style="dim")


def _shows_standings(decision: Decision, shown: set[str]) -> bool:
    """Whether the rows of the table say all that the standings do."""
    if not {"worse by", "interval", "p"} <= shown or decision.evidence.family.name == "preference":
        return False
    return len(decision.standings) == len(decision.by_preference) - 1


def print_graph(out: Console, decision: Decision) -> None:
    """Where the data override the preference, as a small graph; nothing where they do not."""
    from bestofk.report.figures.kinds.multitest import text_graph

    by_preference = decides_by(decision.procedure) == "steps" and decision.preference.stated
    graph = text_graph(decision, width=out.width) if by_preference else ""
    if graph:
        out.print(plain(f"\nBy preference:\n{graph}"))
        out.print()
