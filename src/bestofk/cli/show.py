"""``bestofk show``: the studies in a store."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.cli.options import output_options, preference, warnings_as_lines
from bestofk.cli.outputs import Outputs, echo_json, planned_outputs
from bestofk.cli.say import say, say_heading, wrapped
from bestofk.cli.set_values import SETTINGS, SettingsCommand, taken

if TYPE_CHECKING:
    from bestofk.run.record import StoredDecision, StudyRecord
    from bestofk.run.store.store import Store
    from bestofk.run.study import Study

MAX_NAMES = 12
"""Learners or data sets that are named; the JSON has all."""
MAX_FAILURES = 10
WATCH_SECONDS = 2.0
"""Time between two looks at a store with --watch."""
MAX_DECIDED_STUDIES = 20
"""If there are more studies, their decisions are not shown."""


@click.command(cls=SettingsCommand, places=(SETTINGS,), more={"decision": "int"})
@click.argument("store", metavar="[STORE]", required=False)
@click.option("--study", type=int, metavar="N", help="Only this study.")
@click.option("--watch", is_flag=True, help="Show the store again when it changes, until Ctrl-C.")
@output_options
def show(store: str | None, study: int | None, watch: bool, **options: Any) -> None:
    """Show the studies in STORE: the verdict, fits done, failures, time.

    STORE is a file (study.db), by default the only one in this folder, or a URL
    (postgresql+psycopg://user@host/database). The command runs no fits and does not change it.
    --set alpha=0.01 changes the decision that is shown and written. A store keeps all decisions;
    --set decision=1 is the first.

    \b
    Examples:
      bestofk show study.db
      bestofk show study.db --json
      bestofk show study.db --report study.html --set alpha=0.01
    """
    outputs = planned_outputs(options)
    store = _only_store() if store is None else store
    check_store(store)
    which = options.pop("decision", None)
    changes = taken(options, SETTINGS)
    decides = bool(outputs.report or outputs.figures or outputs.csv or changes or which)
    if watch and (decides or outputs.as_json):
        raise click.UsageError("--watch prints text; leave the other options out.")
    if watch:
        _watch(store, study)
        return
    if decides:
        _decide(store, study, which, changes, outputs)
        return
    from bestofk.run.store.store import open_store

    with open_store(store, read_only=True) as opened:
        shown = opened.studies() if study is None else (opened.study(study),)
        looks = _look(opened, shown)
        if outputs.as_json:
            echo_json(_as_json(opened, shown, looks))
            return
        _print(opened, shown, looks)


def _only_store() -> str:
    """Return the only store in this folder."""
    from pathlib import Path

    stores = sorted(str(path) for path in Path().glob("*.db"))
    if len(stores) != 1:
        listed = f": {', '.join(stores[:MAX_NAMES])}" if stores else ""
        raise click.UsageError(
            f"Name the store: bestofk show study.db; this folder has {len(stores)}{listed}."
        )
    return stores[0]


def check_store(store: str) -> None:
    """Raise an error if there is no such file; servers are not asked."""
    from bestofk._base.files import no_such_file
    from bestofk.run.store.url import parse_address

    path = parse_address(store).path
    if path is not None and not path.exists():
        raise TableError(no_such_file(path, "store"))


def _decide(
    store: str, study: int | None, which: int | None, changes: dict[str, Any], outputs: Outputs
) -> None:
    """Show one study with its stored decision or a changed one, and write its files."""
    from bestofk.run.open_study import open_study

    if "prefer" in changes:
        prefer = changes["prefer"]
        changes["prefer"] = None if prefer == "none" else preference(prefer)
    with warnings_as_lines():
        opened = open_study(store, study, decision=which, **changes)
    # The stored command repeats an unchanged study; this command repeats the report.
    outputs.show(opened, command=() if changes else opened.outcome.record.command)


def _watch(store: str, study: int | None) -> None:
    """Print the store whenever it changes; Ctrl-C is the normal end."""
    from datetime import datetime

    from bestofk.run.store.store import open_store

    last: tuple[Any, ...] | None = None
    try:
        while True:
            with open_store(store, read_only=True) as opened:
                shown = opened.studies() if study is None else (opened.study(study),)
                looks = _look(opened, shown)
                state = tuple(
                    (each.number, len(each.decisions), tally["done"], tally["failed"])
                    for each, (tally, _) in zip(shown, looks, strict=True)
                )
                if state != last:
                    click.clear()  # only on a terminal
                    _print(opened, shown, looks)
                    say(f"\n{datetime.now():%H:%M:%S}. Ctrl-C ends the watch.\n")
                    sys.stdout.flush()
                last = state
            time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        return


Look = tuple[dict[str, Any], "Study | str | None"]
"""The counts of a study, and the study with its decision, or the error message; None if there are
many studies."""


def _look(store: Store, shown: tuple[StudyRecord, ...]) -> list[Look]:
    """Read the results of every study once."""
    from bestofk._base.errors import BestOfKError
    from bestofk.run.open_study import decided_study, stored_cells

    looks: list[Look] = []
    for study in shown:
        cells = stored_cells(store, study)
        decided: Study | str | None = None
        if len(shown) <= MAX_DECIDED_STUDIES:
            try:
                with warnings_as_lines():
                    decided = decided_study(cells, store.shown_url)
            except BestOfKError as refusal:
                decided = str(refusal)
        looks.append((cells.tally(), decided))
    return looks


def _as_json(store: Store, shown: tuple[StudyRecord, ...], looks: list[Look]) -> dict[str, Any]:
    from dataclasses import asdict
    from math import isfinite

    from bestofk.version import __version__

    studies = []
    for study, (tally, decided) in zip(shown, looks, strict=True):
        record = asdict(study)
        for data in record["datasets"]:
            del data["splits"]
        studies.append(
            {
                **record,
                **tally,
                "missing": tally["missing"] - _unneeded(decided, tally),
                "not_needed": _unneeded(decided, tally),
                "seconds": tally["seconds"] if isfinite(tally["seconds"]) else None,
                "recommended": getattr(getattr(decided, "decision", None), "recommended", None),
                "headline": None if decided is None else "\n".join(_lines(decided)),
            }
        )
    return {
        "store": store.shown_url,
        "cells": store.n_cells(),
        "payloads": store.n_arrays(),
        "studies": studies,
        "version": __version__,
    }


def _print(store: Store, shown: tuple[StudyRecord, ...], looks: list[Look]) -> None:
    from bestofk.report.screen import one_line

    n_studies, n_arrays = len(store.studies()), store.n_arrays()
    studies = f"{n_studies} {'study' if n_studies == 1 else 'studies'}"
    contents = [studies, counted(store.n_cells(), "fit")]
    if n_arrays:
        contents.append(f"{counted(n_arrays, 'result')} of simulations and papers")
    say_heading(f"{store.shown_url}: {', '.join(contents)}.")
    for study, (tally, decided) in zip(shown, looks, strict=True):
        title = one_line(study.title, 80) or "(no title)"
        say()
        say_heading(f"{study.number}. {title}")
        sets = [f"{one_line(data.name)} ({data.rows} rows)" for data in study.datasets]
        metrics = one_line(", ".join(study.metrics))
        plan = (
            f"{study.plan}, loss {metrics}, random state {study.random_state}, "
            f"{counted(study.repetitions, 'repetition')}"
        )
        _say_field("created", str(study.created))
        _say_field("learners", _names([one_line(each.name) for each in study.learners]))
        _say_field("data sets", _names(sets))
        _say_field("plan", plan)
        _say_field("fits", _progress(tally, _unneeded(decided, tally)))
        _say_field("time", f"{_duration(tally['seconds'])} in fit and predict")
        for failure in tally["failures"][:MAX_FAILURES]:
            why = f"{failure['kind']}: {one_line(failure['reason'], 100)}"
            who = f"{one_line(failure['learner'])}, {failure['count']} x"
            _say_field("failed", f"{who} {why}")
        more = len(tally["failures"]) - MAX_FAILURES
        if more > 0:
            reasons = "reason" if more == 1 else "reasons"
            _say_field("failed", f"... and {more} more {reasons}")
        for number, record in enumerate(study.decisions, start=1):
            label = "decision" if len(study.decisions) == 1 else f"decision {number}"
            _say_field(label, _settings(record))
        for line in _lines(decided):
            say(wrapped(f"   {line}", sys.stdout, indent=5))


def _say_field(label: str, text: str) -> None:
    """Print a label and its text, with further lines below the text."""
    say(wrapped(f"   {label:<10} {text}", sys.stdout, indent=14))


def _lines(decided: Study | str | None) -> list[str]:
    if decided is None:
        return [f"More than {MAX_DECIDED_STUDIES} studies: --study N shows the decision."]
    return [decided if isinstance(decided, str) else decided.headline]


def _settings(record: StoredDecision) -> str:
    from bestofk._base.errors import BestOfKError
    from bestofk.decide.settings import Settings

    try:
        stop = "" if record.race is None else ", stopped when settled"
        return f"{Settings.from_dict(record.options).describe()}{stop}"
    except BestOfKError as refusal:
        return f"unknown to this version of bestofk: {refusal}"


def _unneeded(decided: Study | str | None, tally: dict[str, Any]) -> int:
    """Return the number of fits that a settled race saved."""
    race = getattr(decided, "race", None)
    return int(tally["missing"]) if race is not None and race.settled else 0


def _progress(tally: dict[str, Any], unneeded: int) -> str:
    parts = [f"{tally['done']} of {tally['cells']} done"]
    if tally["failed"]:
        parts.append(f"{tally['failed']} failed")
    if unneeded:
        parts.append(f"{unneeded} not needed")
    elif tally["missing"]:
        parts.append(f"{tally['missing']} to do")
    return ", ".join(parts)


def _names(names: list[str]) -> str:
    listed = ", ".join(names[:MAX_NAMES])
    more = len(names) - MAX_NAMES
    return f"{listed} and {more} more" if more > 0 else listed


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
