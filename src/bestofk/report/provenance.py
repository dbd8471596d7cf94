"""Provenance of a decision: what was left out, how it was run, and how to repeat it."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

from bestofk._base.formatting import counted, number
from bestofk.decide.decision import Decision
from bestofk.decide.preference import MeasuredCosts
from bestofk.decide.settings import Settings, given_options, name_of_test
from bestofk.report.subject import ReportSubject
from bestofk.report.tables import OutputTable, rows_table
from bestofk.run.store.url import hide_passwords
from bestofk.run.study import Study
from bestofk.splits.plans import YOUR_SPLITS
from bestofk.stats.pairwise.calibration import Calibration
from bestofk.version import __version__

MAX_FINGERPRINTS = 200
"""Rows of a table of fingerprints; the store has all."""


def left_out_of(subject: ReportSubject) -> list[str]:
    """Return sentences about what failed or was dropped; none if everything counts."""
    sentences = [one.text for one in subject.record.select("left out")]
    return list(dict.fromkeys([*sentences, *(subject.choice.left_out if subject.choice else ())]))


def facts_of(subject: ReportSubject) -> list[tuple[str, str]]:
    """Return labels and values that say how the result was obtained."""
    decision, scores, study = subject.decision, subject.scores, subject.study
    facts: list[tuple[str, str]] = []
    if study is not None:
        # imports scikit-learn, which other results do not need
        from bestofk.learners.preparation import sentences as preparation_sentences

        first, *others = study.record.metrics
        decides = f"{first} (decides)" if others else first
        prepared = " ".join(preparation_sentences(study.preparation))
        facts += [
            ("Plan", f"{study.record.plan} ({study.losses.design.describe()})"),
            ("Loss", ", ".join([decides, *others])),
            ("Random state", str(study.record.random_state)),
            ("Data sets", str(len(study.losses.datasets))),
            ("Store", hide_passwords(study.store)),
            ("Columns and missing cells", prepared or "none"),
            ("Data as read", " ".join(study.record.taken)),
        ]
    elif subject.choice is not None:
        facts.append(("Logs as read", " ".join(subject.choice.account)))
    elif scores is not None:
        facts += [("Losses", " ".join(scores.account)), ("Design", scores.design.describe())]
    if decision is not None:
        reason = f" ({decision.test_reason})" if decision.test_reason else ""
        facts += [
            ("Rule", decision.rule),
            ("Test", f"{decision.test}{reason}"),
            ("Alpha", f"{decision.alpha:g}"),
            ("Correction" if decision.best is None else "Correction of pairs", decision.correction),
            ("Arguments of the test", _test_arguments(decision)),
        ]
    if scores is not None:
        facts.append(("Fingerprint of losses", scores.fingerprint))
    facts.append(("Versions", _versions(None if study is None else dict(study.record.versions))))
    return [(label, text) for label, text in facts if text]


def _test_arguments(order: Decision) -> str:
    if order.test_choice is None:
        return ""
    return ", ".join(
        f"{name} = {number(value) if isinstance(value, float) else value}"
        for name, value in order.test_choice.arguments.items()
        if isinstance(value, str | int | float | bool)
    )


def _versions(ran: dict[str, str] | None) -> str:
    """Return the versions that ran the study, and those that decided if they differ."""
    current = {
        "bestofk": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }
    ran = {**current, **(ran or {})}
    decided = {name: number for name, number in current.items() if ran[name] != number}
    return _listed(ran) + (f"; decided with {_listed(decided)}" if decided else "")


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))


# The command or the call that repeats the result.


class Repeat(NamedTuple):
    """Text that repeats the result when typed."""

    heading: str
    text: str


def repeat_of(subject: ReportSubject, command: Sequence[str] = ()) -> Repeat | None:
    """Return the command line if there was one, otherwise the call, if it is known."""
    study, decision = subject.study, subject.decision
    if study is not None:
        command = command or study.record.command
    if command:
        text = " ".join(shlex.quote(hide_passwords(word)) for word in command)
        heading = "The command that repeats it"
        if study is not None and study.store != "memory":
            # anyone who can write to the store can change it
            heading = f"{heading} (text from the store; read it before you run it)"
        return Repeat(heading, text)
    if study is not None:
        return Repeat(_CALL, _compare_call(study))
    settings = None if decision is None else decision.settings
    if settings is None or subject.choice is not None:
        return None
    arguments = _assignments(_settings_code(settings))
    return Repeat(_CALL, _call("compare_scores", ["losses", *arguments]))


_CALL = "The call that repeats it"
_COMPARE_SETTINGS = ("prefer", "margin", "alpha", "test")
"""Settings that `compare` has as keywords."""


def _settings_code(settings: Settings) -> dict[str, str]:
    """Return the code of the settings that differ from their defaults."""
    changed = given_options(settings)
    code = {name: repr(value) for name, value in changed.items()}
    prefer = changed.get("prefer")
    if isinstance(prefer, MeasuredCosts):
        code["prefer"] = repr(prefer.what)
    elif isinstance(prefer, tuple):
        code["prefer"] = repr(list(prefer))
    if not isinstance(settings.test, str):
        code["test"] = name_of_test(settings).rpartition(".")[2]
    if isinstance(settings.test_options.get("df"), Calibration):
        code["test_options"] = "{'df': calibration}"
    return code


def _assignments(arguments: dict[str, str]) -> list[str]:
    return [f"{name}={code}" for name, code in arguments.items()]


def _call(function: str, arguments: list[str]) -> str:
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"import bestofk as bk\n\nresult = bk.{function}(\n{lines})"


def _compare_call(study: Study) -> str:
    record, settings = study.record, study.settings
    learners = ", ".join(f"{learner.name!r}: ..." for learner in record.learners)
    arguments = [
        f"{{{learners}}}",
        f"data={[data.name for data in record.datasets]!r}",
        "cv=..." if record.plan == YOUR_SPLITS else f"cv={record.plan!r}",
        f"scoring={list(record.metrics) if len(record.metrics) > 1 else record.metric!r}",
        f"random_state={record.random_state}",
    ]
    if settings is not None:
        code = _settings_code(replace(settings, random_state=0))
        keywords = {name: code.pop(name) for name in _COMPARE_SETTINGS if name in code}
        arguments += _assignments(keywords)
        if code:
            arguments.append(f"settings=bk.Settings({', '.join(_assignments(code))})")
    run = {name: repr(value) for name, value in record.plain.items()}
    if record.repetitions > 1:
        run["repetitions"] = str(record.repetitions)
    if run:
        arguments.append(f"execution=bk.Execution({', '.join(_assignments(run))})")
    if hasattr(study, "parts"):
        arguments.append("per_dataset=True")
    if study.race is not None:
        stop = f"target={study.race.target!r}, risk={study.race.risk!r}"
        arguments.append(f"stop=bk.StopRule({stop})")
    return _call("compare", arguments)


# Fingerprints of learners and data sets.


def origin_tables(study: Study | None) -> list[OutputTable]:
    """Return the tables of fingerprints and settings of learners and data sets."""
    if study is None:
        return []
    record = study.record
    learners, datasets = record.learners[:MAX_FINGERPRINTS], record.datasets[:MAX_FINGERPRINTS]
    origins: dict[str, dict[str, list[Any]]] = {
        f"Settings and fingerprints of {counted(len(record.learners), 'learner')}": {
            "learner": [x.name for x in learners],
            "settings": [x.settings for x in learners],
            "fingerprint": [x.fingerprint for x in learners],
        },
        f"Sizes and fingerprints of {counted(len(record.datasets), 'data set')}": {
            "dataset": [x.name for x in datasets],
            "rows": [x.rows for x in datasets],
            "columns": [x.columns for x in datasets],
            "fingerprint": [x.fingerprint for x in datasets],
            "first_splits": [x.splits[0][2] if x.splits else None for x in datasets],
        },
    }
    return [
        rows_table(f"origins-{k}", title, columns)
        for k, (title, columns) in enumerate(origins.items())
    ]
