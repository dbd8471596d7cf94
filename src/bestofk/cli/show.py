"""``bestofk show``: what a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestofk.cli.options import echo_json, warnings_as_lines
from bestofk.cli.say import say

if TYPE_CHECKING:
    from bestofk.run.store.store import Store
    from bestofk.run.store.stored_study import StoredDecision, StoredStudy, Tally
    from bestofk.run.study import Study

MOST_NAMES = 12
"""So many learners or data sets are named; the JSON has all."""
MOST_FAILURES = 10
MOST_DECIDED = 20
"""Of more studies only what was asked is shown."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("store", metavar="STORE")
@click.option("--study", type=int, metavar="N", help="Only this study.")
@click.option(
    "--export",
    metavar="FILE",
    help="Write all fits of a study to FILE.csv or FILE.parquet, one row per fit.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(store: str, study: int | None, export: str | None, as_json: bool) -> None:
    """Show what STORE holds: studies, fits done, failures, time.

    STORE is a file (study.db) or a URL (postgresql+psycopg://user@host/database). Nothing in it
    is changed.

    \b
    Examples:
      bestofk show study.db
      bestofk show study.db --json
      bestofk show study.db --study 1 --export fits.parquet
    """
    from bestofk.run.store.export import export_study
    from bestofk.run.store.store import open_store

    with open_store(store, read_only=True) as opened:
        shown = opened.studies() if study is None else (opened.study(study),)
        rows = None
        if export is not None:
            if len(shown) != 1:
                raise click.UsageError(_which_study(shown))
            rows = export_study(opened, shown[0].id, export)
        tallies = [opened.tally(each.spec) for each in shown]
        if as_json:
            held = _as_json(opened, shown, tallies)
            echo_json(held if export is None else {**held, "export": export, "rows": rows})
            return
        if export is not None:
            unneeded = _unneeded(_decided(opened, shown[0], 1), tallies[0])
            empty = _empty(tallies[0], unneeded)
            say(f"{rows} fits of study {shown[0].id} are in {export}{empty}.")
            return
        _print(opened, shown, tallies)


def _decided(store: Store, study: StoredStudy, shown: int) -> Study | str | None:
    """The study decided as it was when it was run, or why it cannot be; None of very many."""
    from bestofk._base.errors import BestOfKError
    from bestofk.run.open_study import open_study

    if shown > MOST_DECIDED:
        return None
    try:
        with warnings_as_lines():
            return open_study(store, study.id)
    except BestOfKError as refusal:
        return str(refusal)


def _which_study(shown: tuple[StoredStudy, ...]) -> str:
    if not shown:
        return "--export needs a study, and the store holds none."
    numbers = ", ".join(str(each.id) for each in shown[:MOST_NAMES])
    return f"--export needs --study N, one of {numbers}."


def _as_json(store: Store, shown: tuple[StoredStudy, ...], tallies: list[Tally]) -> dict[str, Any]:
    from dataclasses import asdict
    from math import isfinite

    from bestofk.version import __version__

    studies = []
    for study, tally in zip(shown, tallies, strict=True):
        spec = asdict(study.spec)
        decided = _decided(store, study, len(shown))
        for data in spec["datasets"]:
            del data["splits"]
        studies.append(
            {
                "id": study.id,
                "created": study.created,
                **spec,
                "cells": tally.cells,
                "done": tally.done,
                "failed": tally.failed,
                "missing": tally.missing - _unneeded(decided, tally),
                "not_needed": _unneeded(decided, tally),
                "seconds": tally.seconds if isfinite(tally.seconds) else None,
                "failures": [asdict(failure) for failure in tally.failures],
                "recommended": getattr(decided, "recommended", None),
                "explanation": None if decided is None else "\n".join(_lines(decided, whole=True)),
            }
        )
    return {
        "store": store.shown_url,
        "cells": store.n_cells(),
        "payloads": store.n_payloads(),
        "studies": studies,
        "version": __version__,
    }


def _print(store: Store, shown: tuple[StoredStudy, ...], tallies: list[Tally]) -> None:
    from bestofk.cli.terminal import console, one_line, plain

    out = console()
    n_cells = store.n_cells()
    held = (
        f"{_counted(len(store.studies()), 'study', 'studies')}, {_counted(n_cells, 'fit', 'fits')}"
    )
    n_payloads = store.n_payloads()
    if n_payloads:
        held += f", {_counted(n_payloads, 'result', 'results')} of the lab and the papers"
    out.print(plain(f"{store.shown_url}: {held}.", style="bold"))
    numbers = {each.spec.digest: each.id for each in store.studies()}
    for study, tally in zip(shown, tallies, strict=True):
        spec = study.spec
        title = one_line(spec.title, 80) or "(no title)"
        out.print()
        out.print(plain(f"{study.id}. {title}", style="bold"))
        sets = [f"{one_line(data.name)} ({data.rows} rows)" for data in spec.datasets]
        judged = one_line(", ".join((spec.loss, *spec.also)))
        plan = (
            f"{spec.plan}, loss {judged}, seed {spec.random_state}, "
            f"{_counted(spec.repetitions, 'repetition', 'repetitions')}"
        )
        out.print(plain(f"   begun      {study.created}"))
        out.print(plain(f"   learners   {_names([one_line(each.name) for each in spec.learners])}"))
        out.print(plain(f"   data sets  {_names(sets)}"))
        out.print(plain(f"   plan       {plan}"))
        repeated = numbers.get(spec.replicates)
        if repeated is not None:
            out.print(plain(f"   repeats    study {repeated} over other random splits"))
        decided = _decided(store, study, len(shown))
        out.print(plain(f"   fits       {_progress(tally, _unneeded(decided, tally))}"))
        out.print(plain(f"   time       {_duration(tally.seconds)} in fit and predict"))
        for failure in tally.failures[:MOST_FAILURES]:
            why = f"{failure.kind}: {one_line(failure.reason, 100)}"
            out.print(plain(f"   failed     {one_line(failure.learner)}, {failure.count} x {why}"))
        if len(tally.failures) > MOST_FAILURES:
            more = len(tally.failures) - MOST_FAILURES
            out.print(plain(f"   failed     ... and {_counted(more, 'reason', 'reasons')} more"))
        for number, record in enumerate(spec.decisions, start=1):
            label = "decision" if len(spec.decisions) == 1 else f"decision {number}"
            out.print(plain(f"   {label:<10} {_asked(record)}"))
        # of several studies the first paragraph each; --study N has the rest
        for line in _lines(decided, whole=len(shown) == 1):
            out.print(plain(f"   {line}".rstrip()))


def _lines(decided: Study | str | None, *, whole: bool) -> list[str]:
    if decided is None:
        return [f"More than {MOST_DECIDED} studies: --study N says what was decided."]
    if isinstance(decided, str):
        return [decided]
    return decided.explain().splitlines() if whole else [decided.headline()]


def _asked(record: StoredDecision) -> str:
    from bestofk._base.errors import BestOfKError
    from bestofk.run.open_study import stored_settings

    try:
        stops = "" if record.race is None else ", stopped when it is settled"
        return f"{stored_settings(record).describe()}{stops}"
    except BestOfKError as refusal:
        return f"is not known to this bestofk: {refusal}"


def _unneeded(decided: Study | str | None, tally: Tally) -> int:
    """Fits that are not there since a race was settled without them."""
    race = getattr(decided, "race", None)
    return tally.missing if race is not None and race.ended != "unfinished" else 0


def _progress(tally: Tally, unneeded: int) -> str:
    words = f"{tally.done} of {tally.cells} done"
    if tally.failed:
        words += f", {tally.failed} failed"
    if unneeded:
        return f"{words}, {unneeded} not needed"
    if tally.missing:
        words += f", {tally.missing} to do"
    return words


def _empty(tally: Tally, unneeded: int) -> str:
    if not (tally.failed or tally.missing):
        return ""
    failed = f"{tally.failed} failed"
    rest = f"{unneeded} were not needed" if unneeded else f"{tally.missing} are still to do"
    return f"; the loss is empty where {failed} and {rest}"


def _names(names: list[str]) -> str:
    listed = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{listed} and {more} more" if more > 0 else listed


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
