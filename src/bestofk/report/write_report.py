"""Write the report of a decision: one self-contained HTML file."""

from __future__ import annotations

import os
from base64 import b64encode
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bestofk._base.atomic_write import write_text
from bestofk._base.errors import ArgumentError, RunError
from bestofk._base.formatting import counted, without_controls
from bestofk.decide.decision import Decision
from bestofk.decide.from_pairs import StatedDecision
from bestofk.decide.slices import Slices
from bestofk.decide.statements import Stated, Statement
from bestofk.decide.stopping.result import StoppedDecision
from bestofk.evals.model_choice import ModelChoice
from bestofk.losses.losses import Scores
from bestofk.release.gate import GateResult
from bestofk.report.assumptions import CheckedAssumption, assumptions_of
from bestofk.report.card import card_of, result_card, today
from bestofk.report.figures.comparisons import losses_of
from bestofk.report.figures.kinds.cost_frontier import layout_frontier
from bestofk.report.figures.kinds.datasets import layout_heatmap
from bestofk.report.figures.kinds.gate_history import layout_gate
from bestofk.report.figures.registry import FIGURES
from bestofk.report.figures.style import DARK, LIGHT
from bestofk.report.methods import methods_of
from bestofk.report.model_tables import model_tables
from bestofk.report.names import elided, html_sentence
from bestofk.report.page_figures import MAX_MEANS, PAGE_FIGURES, DrawnFigure, drawn, figures_of
from bestofk.report.provenance import facts_of, left_out_of, origin_tables, repeat_of
from bestofk.report.tables import (
    OutputTable,
    costs_table,
    datasets_table,
    failures_table,
    learners_table,
    pairs_table,
    rows_table,
)
from bestofk.report.verdict_groups import forest_of
from bestofk.run.study import Study
from bestofk.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

SCRIPTS = ("copying.js", "folding.js")
MAX_OPEN_ROWS = 30
"""Tables with more rows are folded."""
MAX_COLUMNS_ON_PHONES = 4
MAX_CHARACTERS_ON_PHONES = 33
"""On phones, a row of a wider table becomes several lines, each cell below its heading."""
MAX_LISTED_PAIRS = 1500
"""If there are more pairs, a page shows those of the recommended learner."""
MAX_LISTED_MEANS = 10_000
"""If there are more means of a learner on a data set, a page does not list them."""
MAX_COPIED_CELLS = 6000
"""Larger tables can be copied as CSV only, which keeps pages small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    """A table of the page with its forms to copy."""

    name: str
    title: str
    note: str
    caption: str
    rows: int
    html: Markup
    folded: bool
    headings: tuple[str, ...]
    """Its headings, if it is too wide for a phone; each cell is then below its heading."""
    forms: tuple[tuple[str, str], ...]


def write_report(
    value: Decision | Study | ModelChoice | StatedDecision | GateResult,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: Sequence[str] = (),
    slices: Slices | None = None,
) -> Path:
    """Write the report of `value` to `path`; see `bestofk._base.results.Reported.report`."""
    target = Path(path)
    if target.is_dir() or not target.name:
        raise ArgumentError(f"path must be a file to write; got the folder {os.fspath(path)!r}.")
    page = render_report(value, title=title, command=command, slices=slices)
    try:
        write_text(target, page, errors="replace")
    except OSError as failed:
        raise RunError(f"{target}: the report cannot be written: {failed.strerror}.") from None
    return target


def render_report(
    value: Decision | Study | ModelChoice | StatedDecision | GateResult,
    *,
    title: str | None = None,
    command: Sequence[str] = (),
    slices: Slices | None = None,
) -> str:
    """Return the page as text; the same value gives the same page."""
    if isinstance(value, StatedDecision):
        return _rendered(_result_parts(value, title, command))
    if isinstance(value, GateResult):
        return _rendered(_gate_parts(value, title, command))
    study = value if isinstance(value, Study) else None
    if study is not None and slices is None:
        slices = study.slices
    models = value if isinstance(value, ModelChoice) else None
    order = (
        study.decision if study is not None else models.decision if models is not None else value
    )
    assert order is None or isinstance(order, Decision)
    losses = study.losses if study is not None else losses_of(order)
    if order is not None:
        order = order.with_text_names()
        value = order if value is not study and models is None else value
    heading = title or _title(order, losses, study, models)
    names = _names(order, study)
    methods = methods_of(order, losses, study)
    left_out = left_out_of(order, study, models)
    stops = order.race.reasons() if isinstance(order, StoppedDecision) else []
    assumptions = () if order is None else assumptions_of(order)
    parts: dict[str, Any] = {
        "title": elided(heading, 200),
        "title_shown": html_sentence(heading, names),
        "verdict": _verdict(value, names, elsewhere={*left_out, *stops}),
        "card": card_of(order, losses, study, models, names=names, left_out=left_out),
        "forest": forest_of(order),
        "stops": [html_sentence(reason, names) for reason in stops],
        "figures": [
            *_quality_against_cost(models or study),
            *_by_task(models),
            *figures_of(order, losses),
        ],
        "tables": [
            *(_shown(table) for table in _slices(slices)),
            *(
                _shown(table, folded=k > 0)
                for k, table in enumerate(_tables(order, losses, study, models))
            ),
        ],
        "failures": [_shown(table, folded=True) for table in _failures(study)],
        "assumptions": assumptions,
        "doubtful": any(assumption.tone == "doubtful" for assumption in assumptions),
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
    if slices is not None:
        # the verdicts by slice are in the table
        sentences = [slices.headline(), *slices.caution_sentences()]
        parts["verdict"] += [html_sentence(sentence, names) for sentence in sentences]
    return _rendered(parts)


def _rendered(parts: dict[str, Any]) -> str:
    """Return the page with these parts."""
    script = _script()
    tables = [*parts["tables"], *parts["failures"], *parts["origins"]]
    style = _style() + Markup("\n").join(map(_headings_style, tables))
    common = {"version": __version__, "policy": _policy(script), "style": style,
              "script": script, "lead": parts["verdict"][0], "date": today()}  # fmt: skip
    # Names may hold control characters.
    return without_controls(_template().render(common | parts))


def _result_parts(
    value: StatedDecision, title: str | None, command: Sequence[str]
) -> dict[str, Any]:
    """Return the parts of a page about battles, intervals or a printed table."""
    names: set[object] = set(value.decision.by_preference)
    heading = title or f"Which of {counted(len(names), value.decision.noun)} to use"
    figures = [one.draw(value) for one in PAGE_FIGURES if FIGURES[one.kind].fits(value)]
    tables = [
        rows_table(f"table-{k}", name, columns)
        for k, (name, columns) in enumerate(value._tables().items())
    ]
    return {
        "title": elided(heading, 200),
        "title_shown": html_sentence(heading, names),
        "verdict": _verdict(value, names),
        "card": result_card(value),
        "forest": forest_of(value.decision),
        "figures": figures,
        "tables": [_shown(table, folded=k > 0) for k, table in enumerate(tables)],
        "facts": facts_of(None, None, None),
        "repeat": repeat_of(None, None, command),
        **_ABSENT,
    }


_ABSENT = {
    **dict.fromkeys(("methods", "doubtful")),
    **dict.fromkeys(("stops", "failures", "assumptions", "origins"), ()),
    "assumptions_hint": "",
}
"""The parts of a page that a result without a study lacks."""


def _gate_parts(value: GateResult, title: str | None, command: Sequence[str]) -> dict[str, Any]:
    """Return the parts of a page about one build and the history of its ledger."""
    heading = title or f"May {value.build} be released?"
    lines = value.explain().split("\n")
    history = value.history.builds if value.history is not None else ()
    tables: dict[str, dict[Any, Any]] = {
        "Metrics": {
            {"p": "pvalue"}.get(str(name), name): cells
            for name, cells in value.table.items()
            if name not in ("suspect", "better", "level")
        },
        "Items that got worse": {
            name: [item[name] for item in value.worse_items]
            for name in ("item", "metric", "baseline", "new")
        },
        "Builds": {
            "build": [build["build"] for build in history for _ in build["metrics"]],
            "metric": [name for build in history for name in build["metrics"]],
            **{
                field: [row[field] for build in history for row in build["metrics"].values()]
                for field in ("difference", "since_start")
            },
            "answer": [build["answer"] for build in history for _ in build["metrics"]],
        },
    }
    return {
        "title": elided(heading, 200),
        "title_shown": html_sentence(heading, ()),
        "verdict": [html_sentence(line, ()) for line in lines],
        "card": (),
        "forest": None,
        "figures": [
            drawn(
                "gate",
                lambda paper: layout_gate(value, paper=paper),
                title="Builds",
                caption="The difference of every build from its baseline.",
            )
        ],
        "tables": [
            _shown(rows_table(f"table-{k}", name, columns), folded=k > 0)
            for k, (name, columns) in enumerate(tables.items())
            if any(len(cells) for cells in columns.values())
        ],
        "facts": facts_of(None, None, None),
        "repeat": repeat_of(None, None, command),
        **_ABSENT,
    }


def _slices(slices: Slices | None) -> list[OutputTable]:
    if slices is None:
        return []
    return [rows_table("slices", f"Slices by {slices.by}", slices._columns())]


def _names(order: Decision | None, study: Study | None) -> set[object]:
    names: set[object] = set() if order is None else set(order.by_preference)
    if study is not None:
        names |= {*study.costs, *study.left_out, *study.losses.learners, *study.losses.datasets}
    elif order is not None and order.problem is not None and order.problem.losses is not None:
        names |= set(order.problem.losses.datasets)
    return names


def _title(
    order: Decision | None, losses: Scores | None, study: Study | None, models: ModelChoice | None
) -> str:
    learners = len(order.by_preference) if order is not None else len(losses.learners)  # type: ignore[union-attr]
    if study is not None:
        learners += len(study.left_out)
    noun = "learner" if order is None else order.noun
    choice = f"Which of {counted(learners, noun)} to use"
    if models is not None or losses is None or losses.datasets == ("data",):
        return choice
    if len(losses.datasets) == 1:
        return f"{choice} on {losses.datasets[0]}"
    return f"{choice}, by {len(losses.datasets)} data sets"


def _verdict(value: Stated, names: set[object], elsewhere: Container[str] = ()) -> list[Markup]:
    """Return the verdict as the first paragraph, and the reasons as others."""
    verdict = [_with_lead(statement, names) for statement in value.select("verdict")]
    reasons = value.select("reason", "evidence", "also", "caution", "note")
    shown = [html_sentence(one.text, names) for one in reasons if one.text not in elsewhere]
    return [Markup(" ").join(verdict), *shown]


def _with_lead(statement: Statement, names: set[object]) -> Markup:
    """Return a sentence of the verdict with its lead in bold."""
    if not statement.lead:
        return html_sentence(statement.text, names)
    return Markup("<strong>{}</strong>{}").format(
        html_sentence(statement.lead, names), html_sentence(statement.rest, names)
    )


def _quality_against_cost(value: ModelChoice | Study | None) -> list[DrawnFigure]:
    """Return the frontier if costs are known."""
    race = value.race if isinstance(value, Study) else None
    # Means over different runs or data sets cannot be ranked.
    ran_apart = race is not None and len(set(race.runs.values())) > 1
    if value is None or ran_apart or not FIGURES["frontier"].fits(value):
        return []
    decision = value.decision
    noun = "learners" if decision is None else f"{decision.noun}s"
    return [
        drawn(
            "frontier",
            lambda paper: layout_frontier(value, paper=paper),
            title="Quality against cost",
            caption=f"The thick line joins the {noun} that no other beats in both.",
        )
    ]


def _by_task(choice: ModelChoice | None) -> list[DrawnFigure]:
    """Return every model on every task, if there are several tasks and not too many means."""
    if choice is None or choice.scores.truth is not None:
        return []
    means = len(choice.scores.tasks) * len(choice.scores.learners)
    if len(choice.scores.tasks) < 2 or means > MAX_MEANS:
        return []
    losses = choice.scores.losses(by="task")
    return [
        drawn(
            "tasks",
            lambda paper: layout_heatmap(losses, nouns=("model", "task"), paper=paper),
            title="Means by task",
            caption="The decision makes no claim about a single task; --by task does.",
        )
    ]


def _tables(
    order: Decision | None, losses: Scores | None, study: Study | None, models: ModelChoice | None
) -> list[OutputTable]:
    costs = None if study is None else study.costs
    tables = []
    if models is not None:
        tables += model_tables(models)
    elif order is not None:
        tables.append(learners_table(order, costs, () if study is None else study.others))
    elif costs is not None:
        tables.append(costs_table(costs))
    if order is not None and len(order.evidence):
        tables.append(_pairs(order))
    few = losses is not None and len(losses.datasets) * len(losses.learners) <= MAX_LISTED_MEANS
    by_dataset = datasets_table(losses) if losses is not None and few else None
    return tables if by_dataset is None else [*tables, by_dataset]


def _pairs(order: Decision) -> OutputTable:
    """Return all pairs, or those of the recommended learner if there are too many."""
    evidence = order.pair_evidence
    if len(evidence) <= MAX_LISTED_PAIRS:
        return pairs_table(evidence)
    best = order.smallest_mean if order.recommended is None else order.recommended
    table = pairs_table(evidence.only(evidence.rows_of(best)))
    cut = (
        f"The table shows the {len(table):,} with {elided(str(best))} of {len(evidence):,} pairs; "
        "--json --pairs has them all."
    )
    return replace(table, note=f"{table.note} {cut}")


def _states(assumptions: Sequence[CheckedAssumption]) -> str:
    """Return the number of assumptions by state: ``3 by design, 1 looks fine``."""
    return ", ".join(
        f"{count} {state}"
        for state, count in Counter(assumption.state for assumption in assumptions).items()
    )


def _failures(study: Study | None) -> list[OutputTable]:
    table = None if study is None else failures_table(study.failures)
    return [] if table is None else [table]


def _shown(table: OutputTable, *, folded: bool = False) -> ShownTable:
    shown = table.without_empty()
    forms: tuple[tuple[str, str], ...] = ()
    if len(shown) * len(shown.columns) <= MAX_COPIED_CELLS:
        forms = (("LaTeX", shown.to_latex()), ("Markdown", shown.to_markdown()))
    return ShownTable(
        name=shown.name,
        title=shown.title,
        note=shown.note,
        caption=shown.caption,
        rows=len(shown),
        html=shown.to_html(),
        folded=folded or len(shown) > MAX_OPEN_ROWS,
        headings=() if _fits_phone(shown) else tuple(column.title for column in shown.columns),
        forms=(*forms, ("CSV", table.to_csv())),
    )


def _fits_phone(table: OutputTable) -> bool:
    """Return whether the columns fit side by side on a phone; names may break anywhere."""
    if len(table.columns) > MAX_COLUMNS_ON_PHONES:
        return False
    longest = 0
    for column in table.columns:
        cells = ["a name"] if column.kind in ("name", "code") else column.shown()
        longest += max(len(word) for text in (column.title, *cells) for word in text.split() or "-")
    return longest <= MAX_CHARACTERS_ON_PHONES


@cache
def _part(name: str) -> str:
    return files("bestofk.report").joinpath("page", name).read_text(encoding="utf-8")


@cache
def _script() -> Markup:
    """Return the scripts of the page; they hold no data."""
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


def _headings_style(table: ShownTable) -> Markup:
    """Return rules that write the heading above every cell of a wide table on phones."""
    rules = (
        f'#box-{table.name} td:nth-child({k})::before{{content:"{_css_text(heading)}"}}'
        for k, heading in enumerate(table.headings, 1)
    )
    # All text is escaped.
    return Markup("@media screen and (max-width: 40rem) {{{}}}").format(Markup("\n".join(rules)))


def _css_text(text: str) -> str:
    """Return a text for a CSS string in a style element: all but plain characters are escaped."""
    return "".join(
        one if one.isascii() and (one.isalnum() or one in " -.,()") else f"\\{ord(one):x} "
        for one in text
    )


def _policy(script: str) -> str:
    """Return a policy that loads nothing and runs only the script with this digest."""
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
