"""Provenance of a decision: what was left out, how it was run, and how to repeat it."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from bestofk._base.formatting import counted
from bestofk.decide.decision import Decision
from bestofk.decide.preference import MeasuredCosts
from bestofk.decide.settings import Settings
from bestofk.evals.model_choice import ModelChoice
from bestofk.losses.losses import Scores
from bestofk.report.tables import Column, OutputTable
from bestofk.run.store.url import hide_passwords
from bestofk.run.study import Study
from bestofk.splits.plans import YOUR_SPLITS
from bestofk.stats.pairwise.calibration import Calibration
from bestofk.version import __version__

if TYPE_CHECKING:
    from bestofk.run.record import StudyRecord

MAX_FINGERPRINTS = 200
"""Rows of a table of fingerprints; the store has all."""


def left_out_of(
    order: Decision | None, study: Study | None, models: ModelChoice | None
) -> list[str]:
    """Return sentences about what failed or was dropped; none if everything counts."""
    sentences: list[str] = []
    if study is not None:
        sentences += [one.text for one in study.select("left out")]
    elif order is not None:
        sentences += [one.text for one in order.select("left out")]
    if models is not None:
        sentences += models.left_out
    return list(dict.fromkeys(sentences))


def facts_of(
    order: Decision | None,
    losses: Scores | None,
    study: Study | None,
    models: ModelChoice | None = None,
) -> list[tuple[str, str]]:
    """Return labels and values that say how the result was obtained."""
    facts: list[tuple[str, str]] = []
    if study is not None:
        # imports scikit-learn, which other results do not need
        from bestofk.learners.preparation import sentences as preparation_sentences

        others = [other.loss for other in study.others]
        decides = f"{study.loss} (decides)" if others else study.loss
        facts += [
            ("Plan", f"{study.plan} ({study.losses.design.describe()})"),
            ("Loss", ", ".join([decides, *others])),
            ("Random state", str(study.random_state)),
            ("Data sets", str(len(study.losses.datasets))),
            ("Store", hide_passwords(study.store)),
            (
                "Columns and missing cells",
                " ".join(preparation_sentences(study.preparation)) or "none",
            ),
        ]
        if study.assumed:
            facts.append(("Data as read", " ".join(study.assumed)))
    elif models is not None:
        facts.append(("Logs as read", " ".join(models.account)))
    elif losses is not None:
        facts += [
            ("Losses", " ".join(losses.account)),
            ("Design", losses.design.describe()),
        ]
    if order is not None:
        facts += [
            ("Procedure", order.procedure),
            ("Test", f"{order.test} ({order.test_reason})" if order.test_reason else order.test),
            ("Alpha", f"{order.alpha:g}"),
            ("Correction" if order.best is None else "Correction of pairs", order.correction),
        ]
        arguments = _test_arguments(order)
        if arguments:
            facts.append(("Arguments of the test", arguments))
    if losses is not None:
        facts.append(("Fingerprint of losses", losses.fingerprint))
    facts.append(("Versions", _versions(study.record if study is not None else None)))
    return facts


def _test_arguments(order: Decision) -> str:
    if order.test_choice is None:
        return ""
    return ", ".join(
        f"{name} = {value}"
        for name, value in order.test_choice.arguments.items()
        if isinstance(value, str | int | float | bool)
    )


def _versions(record: StudyRecord | None) -> str:
    """Return the versions that ran the study, and those that decided if they differ."""
    current = {
        "bestofk": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }
    if record is None:
        return _listed(current)
    ran = dict(record.versions)
    decided = {name: number for name, number in current.items() if ran.get(name, number) != number}
    listed = _listed({**current, **ran})
    return f"{listed}; decided with {_listed(decided)}" if decided else listed


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))


# The command or the call that repeats the result.


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Text that repeats the result when typed."""

    heading: str
    text: str


def repeat_of(order: Decision | None, study: Study | None, command: Sequence[str] = ()) -> Repeat:
    """Return the command line if there was one, otherwise the call."""
    record = None if study is None else study.record
    command = command or (() if record is None else record.command)
    if command:
        text = " ".join(shlex.quote(hide_passwords(word)) for word in command)
        heading = "The command that repeats it"
        if study is not None and study.store != "memory":
            # anyone who can write to the store can change it
            heading = f"{heading} (text from the store; read it before you run it)"
        return Repeat(heading=heading, text=text)
    call = "import bestofk as bk"
    if study is not None:
        call = _compare_call(order, study)
    elif order is not None:
        call = _call(
            "order = bk.compare_scores", ["losses", *_assignments(_decision_arguments(order))]
        )
    return Repeat(heading="The call that repeats it", text=call)


def _decision_arguments(order: Decision) -> dict[str, str]:
    """Return the code of the arguments of `bestofk.compare_scores` by name."""
    if order.settings is not None:
        arguments = _settings_arguments(order.settings)
        tests = {name: repr(value) for name, value in order.settings.test_arguments.items()}
        return {**arguments, **tests}
    arguments = {}
    if order.problem is None or not order.problem.bare:
        arguments["prefer"] = repr([str(name) for name in order.by_preference])
    arguments["procedure"] = repr(order.procedure)
    if order.test_choice is not None:
        arguments |= {"test": repr(order.test), "correction": repr(order.correction)}
        if "df" in order.test_choice.arguments:
            arguments["df"] = repr(order.test_choice.arguments["df"])
    return {**arguments, "alpha": repr(order.alpha)}


def _settings_arguments(settings: Settings) -> dict[str, str]:
    """Return the code of the settings that differ from their defaults, without test arguments."""
    changed = settings.given()
    changed.pop("test_arguments", None)
    code = {name: repr(value) for name, value in changed.items()}
    prefer = changed.get("prefer")
    if isinstance(prefer, MeasuredCosts):
        code["prefer"] = repr(prefer.what)
    elif isinstance(prefer, tuple):
        code["prefer"] = repr(list(prefer))
    if not isinstance(settings.test, str):
        code["test"] = settings.test_name.rpartition(".")[2]
    if isinstance(settings.df, Calibration):
        code["df"] = "calibration"
    return code


def _assignments(arguments: dict[str, str]) -> list[str]:
    return [f"{name}={code}" for name, code in arguments.items()]


def _call(function: str, arguments: list[str]) -> str:
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"import bestofk as bk\n\n{function}(\n{lines})"


_COMPARE_SETTINGS = ("prefer", "margin", "alpha", "test")
"""Settings that `compare` has as keywords."""


def _plan_argument(plan: str) -> str:
    return "cv=..." if plan == YOUR_SPLITS else f"cv={plan!r}"


def _compare_call(order: Decision | None, study: Study) -> str:
    record = study.record
    learners = ", ".join(f"{learner.name!r}: ..." for learner in record.learners)
    arguments = [
        f"{{{learners}}}",
        f"data={[data.name for data in record.datasets]!r}",
        _plan_argument(record.plan),
        f"scoring={list(record.losses) if len(record.losses) > 1 else record.loss!r}",
        f"random_state={record.random_state}",
    ]
    settings = {} if order is None else _decision_arguments(order)
    if study.settings is not None:
        settings = _settings_arguments(replace(study.settings, random_state=0))
        if study.settings.test_arguments:
            settings["test_arguments"] = repr(dict(study.settings.test_arguments))
    keywords = {name: settings.pop(name) for name in _COMPARE_SETTINGS if name in settings}
    arguments += _assignments(keywords)
    if settings:
        arguments.append(f"settings=bk.Settings({', '.join(_assignments(settings))})")
    if record.repetitions > 1:
        arguments.append(f"execution=bk.Execution(repetitions={record.repetitions})")
    if study.race is not None:
        arguments.append(
            f"stop=bk.StopRule(target={study.race.target!r}, risk={study.race.risk!r})"
        )
    return _call("study = bk.compare", arguments)


# Fingerprints of learners and data sets.


def origin_tables(study: Study | None) -> list[OutputTable]:
    """Return the tables of fingerprints and settings of learners and data sets."""
    if study is None:
        return []
    record = study.record
    learners, datasets = record.learners[:MAX_FINGERPRINTS], record.datasets[:MAX_FINGERPRINTS]
    return [
        OutputTable(
            name="learner-origins",
            title=f"Settings and fingerprints of {counted(len(record.learners), 'learner')}",
            columns=(
                Column("learner", "Learner", "name", [x.name for x in learners]),
                Column("settings", "Settings", "code", [x.settings for x in learners]),
                Column("fingerprint", "Fingerprint", "code", [x.fingerprint for x in learners]),
            ),
        ),
        OutputTable(
            name="data-origins",
            title=f"Sizes and fingerprints of {counted(len(record.datasets), 'data set')}",
            columns=(
                Column("dataset", "Data set", "name", [x.name for x in datasets]),
                Column("rows", "Rows", "count", [x.rows for x in datasets]),
                Column("columns", "Columns", "count", [x.columns for x in datasets]),
                Column("fingerprint", "Fingerprint", "code", [x.fingerprint for x in datasets]),
                Column(
                    "splits",
                    "First splits",
                    "code",
                    [x.splits[0][2] if x.splits else None for x in datasets],
                ),
            ),
        ),
    ]
