"""A decision on a terminal: sentences, a table, and a small picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bestofk.cli.options import as_typed
from bestofk.cli.say import safe
from bestofk.ordering.registry import decides_by
from bestofk.planning.advice import advice
from bestofk.planning.expectation import expectation
from bestofk.wording import duration, printable, pvalue_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bestofk.ordering import Order, Standing
    from bestofk.run.conclude import OtherMetric
    from bestofk.run.study import Cost, Study

PICTURE_WIDTH = 28
"""Columns of the small picture where there is room."""
PICTURE_AT_LEAST = 6
NAME_WIDTH = 32
LONG_LINE = 200
"""Columns of a table in a file or a pipe."""
_VERDICTS = {
    "worse": "worse",
    "better": "better",
    "no evidence": "no evidence of a difference",
}
ROWS = 40
"""So many learners are shown; the JSON has all."""


def console() -> Console:
    """Standard output: wrapped at words on a terminal, plain long lines elsewhere."""
    from rich.console import Console

    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=LONG_LINE, soft_wrap=True)


def plain(text: str, style: str = "") -> Text:
    """Text as it stands: no markup is read, and no control character passes."""
    from rich.text import Text

    return Text(safe(text), style=style)


def print_order(
    decision: Order,
    account: Sequence[str],
    *,
    headline: str | None = None,
    beside: Sequence[str] | None = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    noun: str = "learner",
) -> None:
    """The verdict in sentences, then every learner with its mean loss as a picture.

    `headline` stands in the place of the first line, `beside` in that of what is expected and
    advised; `columns` holds cells by title and learner, which are called `noun`.
    """
    out = console()
    if beside is None:
        beside = (*expectation(decision), *advice(decision))
    lines = [*decision.explain().split("\n"), *beside]
    if headline is not None:
        lines[:1] = headline.split("\n")
    out.print(plain(lines[0], style="bold"))
    for line in lines[1:]:
        out.print(plain(line))
    out.print()
    out.print(learner_table(decision, out.width, columns=columns or {}, noun=noun))
    out.print()
    print_graph(out, decision)
    out.print(plain(" ".join(account), style="dim"))


def print_study(study: Study) -> None:
    """The verdict of a run with the same table, what a fit costs, and what the data were."""
    out = console()
    taken = {said: as_typed(said, "compare") for said in study.taken}
    said = replace(study, data_account=()).explain().split("\n")
    lines = [taken.get(line, line) for line in said]
    out.print(plain(lines[0], style="bold"))
    for line in lines[1:]:
        out.print(plain(line))
    out.print()
    if study.decision is not None:
        out.print(learner_table(study.decision, out.width, study.costs, study.others))
        out.print()
        print_graph(out, study.decision)
    out.print(plain(" ".join(study.data_account), style="dim"))


def print_graph(out: Console, decision: Order) -> None:
    """Where the data override the preference, as a small graph; nothing where they do not."""
    from bestofk.report.figures.kinds.text_graph import text_graph

    by_preference = decides_by(decision.procedure) == "steps" and decision.preference.stated
    graph = text_graph(decision, width=out.width) if by_preference else ""
    if graph:
        out.print(plain(f"By preference:\n{graph}"))
        out.print()


def learner_table(
    decision: Order,
    width: int,
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    noun: str = "learner",
) -> Table:
    """Every learner with its mean loss as a picture, and its verdict, in `width` columns."""
    from rich.table import Table

    verdicts = {standing.name: standing for standing in decision.standings}
    shown = (decision.order if len(decision.order) > 1 else decision.prior)[:ROWS]
    metric = decision.metric
    means = np.array([metric.shown(decision.means[name]) for name in shown])
    names = [one_line(str(name), NAME_WIDTH) for name in shown]
    said = [_verdict(decision, name, verdicts.get(name)) for name in shown]
    runs = [decision.runs_of(name) for name in shown]
    counted = any(count is not None for count in runs)
    taken = [2, max(map(len, names)), max(9, len(metric.mean)), max(map(len, said))]
    # what is left beside the other columns, two blanks between each
    titles = [f"mean {other.name}" for other in others]
    room = width - (sum(taken) + (8 if costs is not None else 0) + 12)
    room -= sum(max(len(title), 9) + 2 for title in titles)
    columns = columns or {}
    taken_by = sum(max(map(len, (title, *c.values()))) + 2 for title, c in columns.items())
    # what has no room beside the verdicts is left out
    columns, room = (columns, room - taken_by) if room >= taken_by else ({}, room)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column(noun, no_wrap=True)
    table.add_column(plain(decision.metric.mean), justify="right", no_wrap=True)
    # means over different numbers of runs are not to be compared
    picture = 0 if counted else min(room, PICTURE_WIDTH)
    if counted:
        table.add_column("runs", justify="right", no_wrap=True)
    if picture >= PICTURE_AT_LEAST:
        table.add_column("", no_wrap=True)
    for title in titles:
        table.add_column(plain(title), justify="right", no_wrap=True)
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    if costs is not None:
        table.add_column("fit", justify="right", no_wrap=True)
    for place, (name, called, words) in enumerate(zip(shown, names, said, strict=True)):
        mean = metric.shown(decision.means[name])
        ranked = not counted or len(decision.order) > 1
        row: list[str | Text] = [
            str(place + 1) if ranked else "",
            plain(called),
            decimals(mean, means),
        ]
        if counted:
            row.append(str(runs[place]))
        if picture >= PICTURE_AT_LEAST:
            row.append(plain(bar(mean, means, picture)))
        row += [_mean_of(other, str(name)) for other in others]
        row += [cells.get(str(name), "-") for cells in columns.values()]
        row.append(plain(words))
        if costs is not None:
            fit_time = costs[str(name)].fit_time
            row.append("" if fit_time is None else duration(fit_time))
        table.add_row(*row)
    more = len(decision.prior) - len(shown)
    if more:
        table.add_row("", f"... and {more} more")
    return table


def decimals(value: float, values: np.ndarray) -> str:
    """A number with as many decimals as tell the numbers of its column apart; at least four.

    Examples
    --------
    >>> decimals(0.25, np.array([0.25, 0.5])), decimals(2e-6, np.array([2e-6, 3e-6]))
    ('0.2500', '2.00e-06')
    """
    largest = float(np.abs(values).max())
    return f"{value:.4f}" if largest == 0 or largest >= 1e-3 else f"{value:.2e}"


def _mean_of(other: OtherMetric, name: str) -> str:
    if name not in other.means:
        return "-"
    return decimals(other.means[name], np.array(list(other.means.values())))


def _verdict(decision: Order, name: object, standing: Standing | None) -> str:
    if name == decision.recommended:
        return "recommended"
    if standing is None:
        return ""
    if standing.adjusted_pvalue is None or standing.verdict == "not tested":
        return standing.verdict
    p = pvalue_words(standing.adjusted_pvalue, decision.alpha)
    return f"{_VERDICTS[standing.verdict]} ({p})"


def bar(value: float, values: np.ndarray, width: int) -> str:
    """`value` as a dot on a line from the smallest to the largest of `values`."""
    low, high = float(values.min()), float(values.max())
    place = 0 if high == low else round((value - low) / (high - low) * (width - 1))
    return "·" * place + "●" + "·" * (width - 1 - place)


def one_line(name: str, limit: int = 40) -> str:
    """A name that cannot break a table: no control characters, not too long."""
    clean = printable(name)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
