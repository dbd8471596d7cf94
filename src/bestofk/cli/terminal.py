"""A decision on a terminal: what to do, a table, the sentences behind it, and a small picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bestofk.cli.options import as_typed
from bestofk.cli.say import PROSE_WIDTH, safe
from bestofk.cli.terminal_table import (
    OTHER_METRIC,
    learner_table,
    other_metrics_table,
    shown_columns,
)
from bestofk.ordering.registry import decides_by
from bestofk.ordering.words.sentences import standing_sentences
from bestofk.planning.advice import advice
from bestofk.planning.expectation import expectation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from bestofk.ordering import Order
    from bestofk.run.conclude import OtherMetric
    from bestofk.run.study import Cost, Study

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


def print_order(
    decision: Order,
    account: Sequence[str],
    *,
    headline: str | None = None,
    beside: Sequence[str] | None = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    noun: str = "learner",
) -> None:
    """What to do, every learner in a table, then the sentences.

    `headline` stands in the place of the first line, `beside` in that of what is expected and
    advised; `columns` holds cells by title and learner, which are called `noun`.
    """
    if beside is None:
        beside = (*expectation(decision), *advice(decision))
    first, *lines = decision.explain().split("\n")
    _print_decision(
        decision,
        [first] if headline is None else headline.split("\n"),
        [*lines, *beside],
        account,
        columns=columns,
        noun=noun,
    )


def print_study(study: Study) -> None:
    """The same of a run, with what a fit costs and what the data were."""
    taken = {said: as_typed(said, "compare") for said in study.taken}
    said = replace(study, data_account=()).explain().split("\n")
    lines = [taken.get(line, line) for line in said]
    # what was guessed comes before the numbers that rest on it
    first = [lines[0], *(line for line in lines[1:] if line in taken.values())]
    rest = [line for line in lines[1:] if line not in taken.values()]
    _print_decision(study.decision, first, rest, study.data_account, study.costs, study.others)


def _print_decision(
    decision: Order | None,
    first: Sequence[str],
    rest: Sequence[str],
    account: Sequence[str],
    costs: Mapping[str, Cost] | None = None,
    others: Sequence[OtherMetric] = (),
    *,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    noun: str = "learner",
) -> None:
    out = console()
    print_prose(out, first[0], style="bold")
    for line in first[1:]:
        print_prose(out, line)
    out.print()
    told: set[str] = set()
    if decision is not None:
        fitting = shown_columns(decision, out.width, costs, others, columns or {}, noun)
        out.print(learner_table(decision, fitting))
        out.print()
        shown = {column.key for column in fitting}
        told = _in_the_table(decision, shown)
        if others and OTHER_METRIC not in shown:
            out.print(other_metrics_table(decision, others))
            out.print()
    for line in rest:
        if line not in told:
            print_prose(out, line)
    if decision is not None:
        print_graph(out, decision)
    if account:
        print_prose(out, " ".join(account), style="dim")


def _in_the_table(decision: Order, shown: set[str]) -> set[str]:
    """Sentences that say no more than the rows of the table do."""
    if not {"worse by", "interval", "p"} <= shown or decision.evidence.family.name == "prior":
        return set()
    if len(decision.standings) != len(decision.prior) - 1:
        return set()
    return set(standing_sentences(decision))


def print_graph(out: Console, decision: Order) -> None:
    """Where the data override the preference, as a small graph; nothing where they do not."""
    from bestofk.report.figures.kinds.text_graph import text_graph

    by_preference = decides_by(decision.procedure) == "steps" and decision.preference.stated
    graph = text_graph(decision, width=out.width) if by_preference else ""
    if graph:
        out.print(plain(f"\nBy preference:\n{graph}"))
        out.print()
