"""What the page needs to decide again: the evidence of all pairs, by every correction."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, BestOfKError, RunError
from bestofk._base.formatting import counted, number, without_controls
from bestofk.decide.decision import Decision
from bestofk.decide.preference import without_noise
from bestofk.decide.registry import decides_by
from bestofk.decide.statements.statement import Statement
from bestofk.decide.stopping.stopped_decision import StoppedDecision
from bestofk.evals.model_choice import ModelChoice
from bestofk.losses.losses import Losses
from bestofk.report.card import card_of
from bestofk.report.figures.style import DARK, LIGHT
from bestofk.report.methods import CheckedAssumption, assumptions_of, methods_of
from bestofk.report.names import elided, html_name, html_sentence, one_line
from bestofk.report.page_figures import DrawnFigure, drawn, figures_of
from bestofk.report.provenance import facts_of, left_out_of, origin_tables, repeat_of
from bestofk.report.tables import (
    OutputTable,
    costs_table,
    datasets_table,
    failures_table,
    learners_table,
    pairs_table,
)
from bestofk.report.verdict_groups import SHOWN, forest_of
from bestofk.run.study import Study
from bestofk.stats.adjust import CORRECTIONS
from bestofk.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

MOST_PAIRS = 5_000
"""Of more pairs, the page holds the p-values of the decision alone."""


def live_data(order: Decision) -> dict[str, object] | None:
    """The object that the page's script reads; learners are counted in the order of `prefer`.

    None where the page cannot decide as Python does: procedures other than MultiTest, families
    other than all pairs, p-values that are not numbers, and races that were stopped.
    """
    evidence = order.evidence
    if isinstance(order, StoppedDecision):
        return None
    if decides_by(order.procedure) != "steps" or evidence.family.name != "all":
        return None
    if not np.isfinite(evidence.pvalue).all():
        return None
    metric = order.metric
    adjusted = adjusted_by_all(order)
    return {
        "names": [one_line(name) for name in order.by_preference],
        "means": without_noise(
            np.array([order.means[name] for name in order.by_preference])
        ).tolist(),
        "shown": [number(metric.shown(order.means[name])) for name in order.by_preference],
        "metric": f"{metric.smallest} {metric.mean}",
        "stated": order.preference.stated,
        "guard": order.guard,
        "direction": evidence.direction.tolist(),
        "adjusted": {name: found.tolist() for name, found in adjusted.items()},
        "called": {name: CORRECTIONS[name].words for name in adjusted},
        "alpha": order.alpha,
        "correction": order.correction,
    }


def adjusted_by_all(order: Decision) -> dict[str, Floats]:
    """Adjusted p-values of the pairs by every correction that the page offers.

    In the family of all pairs they depend neither on alpha nor on the preference.
    """
    evidence = order.evidence
    names = list(CORRECTIONS) if len(evidence) <= MOST_PAIRS else [order.correction]
    found = {order.correction: evidence.adjusted_pvalue}
    for name in names:
        most = CORRECTIONS[name].max_learners
        if name not in found and (most is None or len(order.by_preference) <= most):
            found[name] = replace(evidence.family, correction=name).adjust(evidence.pvalue)
    return found


def corrections(order: Decision) -> list[tuple[str, str]]:
    """Name and words of every correction that the page offers, as a list to choose from."""
    words = {name: CORRECTIONS[name].words for name in adjusted_by_all(order)}
    return [(name, text[:1].upper() + text[1:]) for name, text in words.items()]


def script_json(value: object) -> Markup:
    """JSON that may stand in a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


# The report: one self-contained HTML file of a decision.


SCRIPTS = ("multitest.js", "explorer.js", "copying.js", "folding.js")
FOLDED = 30
"""Tables of more rows are folded."""
PRINTED = 100
"""Tables of more rows are left out on paper."""
MAX_LISTED_PAIRS = 1500
"""Of more pairs a page shows those of the recommended learner."""
MOST_CELLS = 6000
"""Larger tables can be copied as CSV only: nobody sets them in a paper, and pages stay small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    """A table of the page with its forms to copy."""

    name: str
    title: str
    """What stands on it where it can be folded: the first words of the caption."""
    rest: str
    """The words of the caption after these."""
    caption: str
    rows: int
    html: Markup
    folded: bool
    long: bool
    """Too long for paper."""
    forms: tuple[tuple[str, str], ...]


def write_report(
    value: Decision | Study | ModelChoice,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: Sequence[str] = (),
) -> Path:
    """Write the report of `value` to `path`; see `bestofk._base.results.Reported.report`."""
    target = Path(path)
    if target.is_dir() or not target.name:
        raise ArgumentError(f"path must be a file to write; got the folder {os.fspath(path)!r}.")
    page = render_report(value, title=title, command=command)
    try:
        write_text(target, page, errors="replace")
    except OSError as failed:
        raise RunError(f"{target}: the report cannot be written: {failed.strerror}.") from None
    return target


def render_report(
    value: Decision | Study | ModelChoice, *, title: str | None = None, command: Sequence[str] = ()
) -> str:
    """The page as text; the same for the same value."""
    study = value if isinstance(value, Study) else None
    models = value if isinstance(value, ModelChoice) else None
    order = (
        study.decision if study is not None else models.decision if models is not None else value
    )
    assert order is None or isinstance(order, Decision)
    losses = study.losses if study is not None else _losses_of(order)
    if order is not None:
        order = order.with_text_names()
        value = order if value is not study and models is None else value
    heading = title or _title(order, losses, study, models)
    names = _names(order, study)
    live = None if order is None else live_data(order)
    script = _script()
    methods = methods_of(order, losses, study)
    verdict = _verdict(value, names)
    assumptions = () if order is None else assumptions_of(order)
    parts: dict[str, Any] = {
        "title": elided(heading, 200),
        "title_shown": html_sentence(heading, names),
        "version": __version__,
        "policy": _policy(script),
        "style": _style(),
        "script": script,
        "lead": verdict[0],
        "verdict": verdict,
        "card": card_of(
            order,
            losses,
            study,
            models,
            names=names,
            left_out=left_out_of(order, losses, study, models),
        ),
        "forest": forest_of(order),
        "order": _ranking(order, names),
        "stops": [html_sentence(one.text, names) for one in _stops(order)],
        "live": order and live and {"json": script_json(live), "corrections": corrections(order)},
        "figures": [*_quality_against_cost(models or study), *figures_of(order, losses)],
        "tables": [
            _shown(table, folded=place > 0)
            for place, table in enumerate(_tables(order, losses, study, models))
        ],
        "failures": [_shown(table, folded=True) for table in _failures(study)],
        "assumptions": assumptions,
        "doubtful": any(one.tone == "doubtful" for one in assumptions),
        "assumptions_hint": _states(assumptions),
        "facts": [
            (label, html_sentence(text, names))
            for label, text in facts_of(order, losses, study, models)
        ],
        "repeat": repeat_of(order, study, command),
        "origins": [_shown(table, folded=True) for table in origin_tables(study)],
        "methods": {
            "plain": html_sentence(methods.plain_text, names),
            "plain_text": methods.plain_text,
            "latex": methods.latex,
            "bibtex": methods.bibtex,
        },
    }
    # names may hold what no page should
    return without_controls(_template().render(parts))


def _losses_of(order: Decision | None) -> Losses | None:
    """The table that an order was decided from; made of the array where there was none."""
    problem = None if order is None else order.problem
    if problem is None:
        return None
    if problem.losses is not None:
        return problem.losses
    dims = ("algorithm", "dataset") if problem.n_datasets > 1 else ("algorithm", "run", "fold")
    return Losses(problem.values, dims=dims, algorithms=[str(name) for name in problem.names])


def _stops(decision: Decision | None) -> tuple[Statement, ...]:
    """Return when every learner of a race was stopped, and why."""
    return () if decision is None else decision.select("stop")


def _names(order: Decision | None, study: Study | None) -> set[object]:
    names: set[object] = set() if order is None else set(order.by_preference)
    if study is not None:
        names |= {*study.costs, *study.left_out, *study.losses.algorithms, *study.losses.datasets}
    elif order is not None and order.problem is not None and order.problem.losses is not None:
        names |= set(order.problem.losses.datasets)
    return names


def _title(
    order: Decision | None, losses: Losses | None, study: Study | None, models: ModelChoice | None
) -> str:
    learners = len(order.by_preference) if order is not None else len(losses.algorithms)  # type: ignore[union-attr]
    if study is not None:
        learners += len(study.left_out)
    who = counted(learners, "learner" if models is None else "model")
    if models is not None or losses is None or losses.datasets == ("data",):
        return f"Which of {who} to use"
    if len(losses.datasets) == 1:
        return f"Which of {who} to use on {losses.datasets[0]}"
    return f"Which of {who} to use, by {len(losses.datasets)} data sets"


_VERDICT_KINDS = (
    "verdict", "assumed", "margin", "posterior", "preference", "evidence", "bootstrap", "bound",
    "metric", "expectation", "next", "replication",
)  # fmt: skip
"""Statements of the first section; others are in lists, tables and sections of their own."""


def _verdict(value: Decision | Study | ModelChoice, names: set[object]) -> list[Markup]:
    """Return the paragraphs of the first section, what to do in strong letters."""
    first = [_lead(one, names) for one in value.select("verdict")]
    rest = [html_sentence(one.text, names) for one in value.select(*_VERDICT_KINDS[1:])]
    return [Markup(" ").join(first), *rest]


def _lead(one: Statement, names: set[object]) -> Markup:
    """Return a sentence of the verdict, its first words in strong letters."""
    if not one.lead:
        return html_sentence(one.text, names)
    return Markup("<strong>{}</strong>{}").format(
        html_sentence(one.lead, names), html_sentence(one.rest, names)
    )


def _ranking(decision: Decision | None, names: set[object]) -> dict[str, Any] | None:
    """Return the ranking if it is not that of the means, which the groups show."""
    if decision is None or len(decision.ranking) < 2 or decides_by(decision.procedure) == "wins":
        return None
    if list(decision.ranking) == [
        decision.recommended, *(one.name for one in decision.standings)
    ]:  # fmt: skip
        return None
    shown = [html_name(name) for name in decision.ranking]
    first = len(shown) if len(shown) <= SHOWN + 1 else SHOWN
    return {
        "first": shown[:first],
        "rest": shown[first:],
        "why": [
            html_sentence(one.reason, names) for one in decision.select("ranking") if one.reason
        ],
    }


def _quality_against_cost(value: ModelChoice | Study | None) -> list[DrawnFigure]:
    """The frontier, where costs are known."""
    from bestofk.report.figures.kinds.cost_frontier import layout_frontier

    race = value.race if isinstance(value, Study) else None
    # means over other runs or data sets are not to be ranked
    apart = race is not None and len(set(race.runs.values())) > 1
    if value is None or apart:
        return []
    try:
        picture = layout_frontier(value)
    except BestOfKError:
        # fewer than two costs, or no decision
        return []
    who = "learners" if isinstance(value, Study) else "models"
    return [
        drawn(
            "frontier",
            picture,
            title="Quality against cost",
            caption=f"The thick line joins the {who} that no other beats in both.",
        )
    ]


def _tables(
    order: Decision | None, losses: Losses | None, study: Study | None, models: ModelChoice | None
) -> list[OutputTable]:
    costs = None if study is None else study.costs
    found = []
    if models is not None:
        from bestofk.report.model_tables import model_tables

        found += model_tables(models)
    if order is not None:
        found.append(learners_table(order, costs, () if study is None else study.others))
        if len(order.evidence):
            found.append(_pairs(order))
    elif costs is not None:
        found.append(costs_table(costs))
    by_dataset = None if losses is None else datasets_table(losses)
    return found if by_dataset is None else [*found, by_dataset]


def _pairs(order: Decision) -> OutputTable:
    """All pairs where there are few enough, else those of the recommended learner."""
    table, evidence = pairs_table(order.evidence), order.evidence
    if len(table) <= MAX_LISTED_PAIRS:
        return table
    rows: Sequence[int] = range(MAX_LISTED_PAIRS)
    which = f"the first {MOST_PAIRS:,}"
    if order.recommended is not None:
        place = evidence.names.index(order.recommended)
        rows = np.flatnonzero((evidence.first == place) | (evidence.second == place)).tolist()
        which = f"the {len(rows):,} with {elided(str(order.recommended), 60)}"
    return table.only(
        rows, caption=f"{table.caption}; of {len(table):,} pairs {which} (--json has them all)"
    )


def _states(assumptions: Sequence[CheckedAssumption]) -> str:
    """``3 by design, 1 looks fine``: how many assumptions are in which state."""
    return ", ".join(
        f"{count} {state}" for state, count in Counter(one.state for one in assumptions).items()
    )


def _failures(study: Study | None) -> list[OutputTable]:
    table = None if study is None else failures_table(study.failures)
    return [] if table is None else [table]


def _shown(table: OutputTable, *, folded: bool = False) -> ShownTable:
    held, table = table, table.without_empty()
    title, *after = re.split("[:;] ", table.caption, maxsplit=1)
    rest = "".join(after)
    forms: tuple[tuple[str, str], ...] = ()
    if len(table) * len(table.columns) <= MOST_CELLS:
        forms = (("LaTeX", table.to_latex()), ("Markdown", table.to_markdown()))
    return ShownTable(
        name=table.name,
        title=title,
        rest=f"{rest[:1].upper()}{rest[1:]}",
        caption=table.caption,
        rows=len(table),
        html=table.to_html(),
        folded=folded or len(table) > FOLDED,
        long=len(table) > PRINTED,
        forms=(*forms, ("CSV", held.to_csv())),
    )


@cache
def _part(name: str) -> str:
    return files("bestofk.report").joinpath("page", name).read_text(encoding="utf-8")


@cache
def _script() -> Markup:
    """Our own files; they hold neither names nor other data."""
    return Markup("\n" + "\n".join(map(_part, SCRIPTS)))


@cache
def _style() -> Markup:
    light, dark = (
        "".join(f"--bk-{role}:{colour};" for role, colour in palette.items())
        for palette in (LIGHT, DARK)
    )
    return Markup(
        f":root{{{light}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
        + _part("report.css")
    )


def _policy(script: str) -> str:
    """Nothing is loaded from anywhere, and only our own script runs, known by its digest."""
    from base64 import b64encode

    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_part("report.html.jinja"))
