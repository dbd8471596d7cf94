"""Write the report of a result: one self-contained HTML file."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from bestofk._base.atomic_write import write_text
from bestofk._base.errors import ArgumentError, RunError
from bestofk._base.formatting import counted, without_controls
from bestofk.decide.decision import Decision
from bestofk.decide.registry import RULES
from bestofk.decide.statements import Statement
from bestofk.release.gate import GateResult, decimals
from bestofk.report.assumptions import assumptions_of
from bestofk.report.card import Row, card_of, today
from bestofk.report.figures.style import DARK, LIGHT
from bestofk.report.methods import methods_of
from bestofk.report.model_tables import model_tables
from bestofk.report.names import elided, html_name, html_sentence
from bestofk.report.page_figures import figures_of
from bestofk.report.provenance import facts_of, left_out_of, origin_tables, repeat_of
from bestofk.report.subject import ReportSubject, subject_of
from bestofk.report.tables import (
    OutputTable,
    datasets_table,
    failures_table,
    learners_table,
    pairs_table,
    rows_table,
)
from bestofk.report.verdict_groups import forest_of
from bestofk.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

    from bestofk.decide.slices import Slices

MAX_LISTED_PAIRS = 1000
"""If there are more pairs, a page shows those of the recommended learner."""
MAX_ARRANGED = 20
"""Learners that a reader can arrange by preference."""
MAX_LISTED_MEANS = 10_000
"""If there are more means of a learner on a data set, a page does not list them."""


def write_report(
    value: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: Sequence[str] = (),
    slices: Slices | None = None,
) -> Path:
    """Write the report of `value` to `path`; see `render_report`."""
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
    value: Any,
    *,
    title: str | None = None,
    command: Sequence[str] = (),
    slices: Slices | None = None,
) -> str:
    """Return the page as text; the same value gives the same page.

    - `value`: A comparison of any kind, or a result of the gate.
    - `title`: The heading; by default the question that the page answers.
    - `command`: Arguments of the command line that gave the result, if there was one. Passwords
      are hidden.
    - `slices`: The verdicts by slice, to show them too.
    """
    subject = subject_of(value)
    slices = slices or getattr(value, "_slices", None) or getattr(subject.record, "slices", None)
    script, heading = _script(), title or subject.title
    content = _gate(value) if isinstance(value, GateResult) else _comparison(subject, slices)
    page = _template("report.html.jinja").render(
        title=elided(heading, 200),
        heading=heading,
        say=partial(html_sentence, names=subject.names),
        date=today(),
        version=__version__,
        policy=_policy(script),
        style=_style(),
        script=script,
        figures=figures_of(subject),
        facts=[*content.pop("facts"), *facts_of(subject)],
        repeat=repeat_of(subject, command),
        origins=origin_tables(subject.study),
        **content,
    )
    # Names may hold control characters.
    return without_controls(page)


def _comparison(subject: ReportSubject, slices: Slices | None) -> dict[str, Any]:
    """Return the parts of a page about a comparison."""
    record, study, left_out = subject.record, subject.study, left_out_of(subject)
    reasons = record.select("reason", "evidence", "also", "caution", "note")
    why = [one.text for one in reasons if one.text not in left_out]
    if slices is not None:
        # the verdicts by slice are in the table
        why += [slices.headline, *slices.caution_sentences()]
    return {
        "data": [one.text for one in record.select("data")],
        "lead": record.select("verdict"),
        "card": card_of(subject),
        "forest": forest_of(subject.decision),
        "what_if": _what_if(subject),
        "failures": [failures_table(study.failures)] if study and study.failures else [],
        "why": why,
        "tables": _tables(subject, slices),
        "assumptions": assumptions_of(subject.decision),
        "facts": (),
        "methods": methods_of(subject),
    }


def _what_if(subject: ReportSubject) -> dict[str, Any] | None:
    """Return what decides at any level and preference: p-values of "row is worse than column".

    None if the decision needs more than p-values, or has too many learners to arrange by hand.
    """
    decision = subject.decision
    if decision is None or subject.race is not None or hasattr(subject.record, "tested"):
        return None
    evidence, names = decision.evidence, decision.evidence.names
    by_pairs = evidence.family.of_best and decision.margin is None
    if not by_pairs or not 1 < len(names) <= MAX_ARRANGED:
        return None
    pvalues = np.ones((len(names), len(names)))
    first_better = evidence.direction < 0
    worse = np.where(first_better, evidence.second, evidence.first)
    better = np.where(first_better, evidence.first, evidence.second)
    pvalues[worse, better] = np.where(evidence.direction == 0, 1.0, evidence.adjusted_pvalue)
    order = decision.by_preference if decision.preference.stated else decision.by_mean
    return {
        "alpha": decision.alpha,
        "pvalues": pvalues.tolist(),
        "learners": [(names.index(name), elided(str(name))) for name in order],
    }


def _tables(subject: ReportSubject, slices: Slices | None) -> list[OutputTable]:
    """Return all tables, the slices and the learners first."""
    decision, scores = subject.decision, subject.scores
    tables = []
    if slices is not None:
        columns = slices._columns()
        bounds = sorted(bound for bound in columns["at_most"] if bound)
        uncertainty = bounds[len(bounds) // 2] / 2 if bounds else None
        tables.append(rows_table("slices", f"Slices by {slices.by}", columns, uncertainty))
    further = {} if not hasattr(subject.record, "_tables") else subject.record._tables()
    tables += [
        rows_table(f"further-{k}", title, columns, names=(*subject.names, *RULES))
        for k, (title, columns) in enumerate(further.items())
    ]
    tables.append(learners_table(subject.record))
    if subject.choice is not None:
        tables += model_tables(subject.choice)
    if hasattr(subject.record, "tested"):
        # p-values of intervals are intervals, too
        tables.append(rows_table("pairs", "The pairs", subject.record.tested._columns()))
    elif decision is not None and len(decision.evidence):
        tables.append(_pairs(decision))
    if (
        scores is not None
        and scores.complete
        and not further
        and 1 < len(scores.datasets) <= MAX_LISTED_MEANS / len(scores.learners)
    ):
        tables.append(datasets_table(scores))
    return tables


def _pairs(decision: Decision) -> OutputTable:
    """Return all pairs, or those of the recommended learner if there are too many."""
    evidence = decision.pair_evidence
    if len(evidence) <= MAX_LISTED_PAIRS:
        return pairs_table(evidence)
    best = decision.smallest_mean if decision.recommended is None else decision.recommended
    table = pairs_table(evidence.only(evidence.rows_of(best)))
    cut = (
        f"The table shows the {len(table):,} with {elided(str(best))} of {len(evidence):,} pairs; "
        "--json --pairs has them all."
    )
    return replace(table, note=f"{table.note} {cut}")


def _gate(value: GateResult) -> dict[str, Any]:
    """Return the parts of a page about one build and the history of its ledger."""
    first, *rest = value.explain().split("\n")
    rest = [line for line in rest if not line.startswith("Items that got worse")]
    builds = [
        {"build": build["build"], "metric": metric, "answer": build["answer"], **row}
        for build in value.history.builds
        for metric, row in build["metrics"].items()
    ]
    metrics = [{"metric": name, **row} for name, row in value.results.items()]
    tables = (
        ("Metrics", metrics, ("metric", "mean", "baseline", "difference", "low", "high", "p")),
        ("Items that got worse", value.worse_items, ("item", "metric", "baseline", "new")),
        ("All builds", builds, ("build", "metric", "difference", "since_start", "answer")),
    )
    # items have their own scale
    uncertainty = min(10.0 ** -decimals(row) for row in value.results.values()) * 10
    return {
        "data": (),
        "lead": [Statement(kind="verdict", text=first, lead=value.answer.capitalize())],
        "card": [
            Row("Answer", value.answer.capitalize(), (html_name(value.build),), value.answer),
            Row("Compared with", notes=(html_name(value.history.baseline["build"]),)),
            Row(
                "Based on",
                notes=(counted(value.items, "item"), counted(value.entry["runs"], "run")),
            ),
        ],
        "forest": None,
        "what_if": None,
        "failures": (),
        "why": rest,
        "tables": [
            rows_table(
                f"table-{k}",
                title,
                {key: [row[key] for row in rows] for key in columns},
                None if rows is value.worse_items else uncertainty,
            )
            for k, (title, rows, columns) in enumerate(tables)
            if rows
        ],
        "assumptions": (),
        "facts": [
            ("Ledger", value.ledger or "none"),
            ("Runs of the baseline", str(value.history.baseline["runs"])),
            ("False blocks", f"{100 * value.history.false_blocks:g} %"),
        ],
        "methods": None,
    }


# The file: style, script and template.


@cache
def _part(name: str) -> str:
    return files("bestofk.report").joinpath("page", name).read_text(encoding="utf-8")


@cache
def _script() -> Markup:
    """Return the script of the page; it holds no data."""
    return Markup("\n" + _part("report.js"))


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
    """Return a policy that loads nothing and runs only the script with this digest."""
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _unbroken(value: Any) -> Any:
    """Return text that keeps a number with its percent sign, and p with its value."""
    if not isinstance(value, str):
        return value
    kept = re.sub(r"(?<=\d) %|\bp [=<>] (?=\d)|\bp &lt; (?=\d)", _with_no_breaks, value)
    return type(value)(kept)


def _with_no_breaks(match: re.Match[str]) -> str:
    return match[0].replace(" ", "\N{NO-BREAK SPACE}")


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        finalize=_unbroken,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
