"""What was left out of a decision, in sentences."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version

from bestofk._base.formatting import counted
from bestofk.decide.decision import Decision
from bestofk.decide.preference import MeasuredCosts, PanelOrder
from bestofk.decide.settings import Settings
from bestofk.decide.stopping.races import Race
from bestofk.evals.model_choice import ModelChoice
from bestofk.learners.preparation import sentences as preparation_sentences
from bestofk.losses.losses import Losses
from bestofk.report.tables import Column, OutputTable
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.store.url import hide_passwords
from bestofk.run.study import Study
from bestofk.stats.pairwise.calibration import Calibration
from bestofk.version import __version__


def left_out_of(
    order: Decision | None, losses: Losses | None, study: Study | None, models: ModelChoice | None
) -> list[str]:
    """Failures first, then what was dropped, then what a reader must know besides."""
    said = [] if study is None else _failed(study)
    said += [] if order is None else list(order.notes)
    if study is not None and study.race is not None:
        said.append(_not_run(study.race))
    if models is not None:
        said += models.left_out
    if study is not None:
        said += [*study.dropped, *study.notes]
        said += [line for line in study.data_account if line.startswith(("Left out", "Ignored"))]
    if said:
        return said
    if losses is None:
        return ["Nothing is known to have been left out."]
    return [f"Nothing: all {losses.values.size} losses count."]


def _failed(study: Study) -> list[str]:
    said = []
    if study.left_out:
        given = len(study.left_out) + len(study.losses.algorithms)
        said.append(f"{len(study.left_out)} of {counted(given, 'learner')} failed.")
        said += [f"{name} was left out: {reason}" for name, reason in study.left_out.items()]
    if study.failures:
        fits = counted(len(study.failures), "fit")
        said.append(f"{fits} gave no loss; the table below says why.")
    return said


def _not_run(race: Race) -> str:
    """What a race did without."""
    rest = race.planned_fits - race.fits
    if not race.settled or race.settle == "limit" or rest <= 0:
        return race.state()
    verb = "was" if rest == 1 else "were"
    return f"{rest:,} of {counted(race.planned_fits, 'planned fit')} {verb} not needed."


# How a result came about: plan, seeds, versions, fingerprints, and the command that repeats it.


MOST_LISTED = 200
"""Rows of a table of fingerprints; the store has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """What to type to get the same again."""

    heading: str
    text: str


def facts_of(
    order: Decision | None,
    losses: Losses | None,
    study: Study | None,
    models: ModelChoice | None = None,
) -> list[tuple[str, str]]:
    """Labels and values, most asked first."""
    facts: list[tuple[str, str]] = []
    if study is not None:
        facts += [
            ("Plan", f"{study.plan} ({study.losses.design.describe()})"),
            (
                "Loss",
                study.loss
                if not study.others
                else f"{study.loss} (decides), " + ", ".join(other.loss for other in study.others),
            ),
            ("Seed", str(study.random_state)),
            ("Data sets", str(len(study.losses.datasets))),
            ("Store", hide_passwords(study.store)),
            ("Preparation inside the folds", _preparation(study)),
        ]
        if study.data_account:
            facts.append(("Data as read", " ".join(study.data_account)))
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
            ("Correction", order.correction),
        ]
        arguments = _arguments(order)
        if arguments:
            facts.append(("Test was given", arguments))
    if losses is not None:
        facts.append(("Fingerprint of losses", losses.fingerprint))
    facts.append(("Versions", _versions(study.spec if study is not None else None)))
    return facts


def _preparation(study: Study) -> str:
    said = " ".join(preparation_sentences(study.preparation))
    return said.replace("Preparation inside the folds: ", "") or "none."


def _arguments(order: Decision) -> str:
    if order.test_choice is None:
        return ""
    return ", ".join(
        f"{name} = {value}"
        for name, value in order.test_choice.arguments.items()
        if isinstance(value, str | int | float | bool)
    )


def _versions(spec: StudySpec | None) -> str:
    found = {"bestofk": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    if spec is None:
        return _listed(found)
    ran = dict(spec.versions)
    decided = {name: number for name, number in found.items() if ran.get(name, number) != number}
    listed = _listed({**{name: found[name] for name in found if name not in ran}, **ran})
    return f"{listed}; decided with {_listed(decided)}" if decided else listed


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))


def repeat_of(order: Decision | None, study: Study | None, command: Sequence[str] = ()) -> Repeat:
    """The command line, if there was one; else the call."""
    words = list(command)
    if not words and study is not None and study.spec is not None:
        words = list(study.spec.command)
    if words:
        text = " ".join(map(shlex.quote, map(hide_passwords, words)))
        return Repeat(heading="The command that repeats it", text=text)
    heading = "The call that repeats it"
    if study is not None:
        return Repeat(heading=heading, text=_compare_call(order, study))
    if order is None:
        return Repeat(heading=heading, text="import bestofk as bk")
    return Repeat(heading=heading, text=_order_call(order))


def _decision_arguments(order: Decision) -> list[str]:
    if order.settings is not None:
        return _given_arguments(order.settings)
    named = (
        []
        if order.problem is not None and order.problem.bare
        else [f"prefer={[str(name) for name in order.by_preference]!r}"]
    )
    with_test = order.test_choice is not None
    return [
        *named,
        f"procedure={order.procedure!r}",
        *([f"test={order.test!r}", f"correction={order.correction!r}"] if with_test else []),
        *(
            [f"df={order.test_choice.arguments['df']!r}"]
            if order.test_choice is not None and "df" in order.test_choice.arguments
            else []
        ),
        f"alpha={order.alpha!r}",
    ]


def _given_arguments(options: Settings, *, unpacked: bool = True) -> list[str]:
    """Return the options that differ from their defaults, as they are typed."""
    given = options.given()
    shown = {name: repr(value) for name, value in given.items() if name != "test_arguments"}
    prefer = given.get("prefer")
    if isinstance(prefer, MeasuredCosts):
        shown["prefer"] = repr(prefer.what)
    elif isinstance(prefer, PanelOrder):
        shown["prefer"] = repr(list(prefer.names))
    elif isinstance(prefer, tuple):
        shown["prefer"] = repr(list(prefer))
    if not isinstance(options.test, str):
        shown["test"] = options.test_name.rpartition(".")[2]
    if isinstance(options.df, Calibration):
        shown["df"] = "calibration"
    if not unpacked and options.test_arguments:
        shown["test_arguments"] = repr(dict(options.test_arguments))
    elif unpacked:
        shown |= {name: repr(value) for name, value in options.test_arguments.items()}
    return [f"{name}={text}" for name, text in shown.items()]


def _call(function: str, arguments: list[str]) -> str:
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"import bestofk as bk\n\n{function}(\n{lines})"


def _order_call(order: Decision) -> str:
    return _call("order = bk.order", ["losses", *_decision_arguments(order)])


_KEYWORDS = ("prefer", "margin", "alpha", "test")
"""Settings that `compare` takes as keywords of its own."""


def _compare_call(order: Decision | None, study: Study) -> str:
    spec = study.spec
    if spec is None:
        return _call("study = bk.compare", [f"cv={study.plan!r}"])
    learners = "{" + ", ".join(f"{one.name!r}: ..." for one in spec.learners) + "}"
    arguments = [
        f"{learners}",
        f"data={[one.name for one in spec.datasets]!r}",
        f"cv={_plan(study)!r}",
        f"scoring={[spec.loss, *spec.also] if spec.also else spec.loss!r}",
        f"random_state={spec.random_state}",
    ]
    if study.settings is not None:
        settings = _given_arguments(replace(study.settings, random_state=0), unpacked=False)
    else:
        settings = [] if order is None else _decision_arguments(order)
    rare = [text for text in settings if text.partition("=")[0] not in _KEYWORDS]
    arguments += [text for text in settings if text not in rare]
    if rare:
        arguments.append(f"settings=bk.Settings({', '.join(rare)})")
    if spec.repetitions > 1:
        arguments.append(f"execution=bk.Execution(repetitions={spec.repetitions})")
    return _call("study = bk.compare", [*arguments, *_stopping(study.race)])


def _plan(study: Study) -> str:
    """The plan as it was asked for: a race for the limit has runs beyond it."""
    race, spec = study.race, study.spec
    assert spec is not None
    if race is None or race.settle == "plan":
        return spec.plan
    return spec.plan.replace(f"{race.max_runs}x", f"{race.planned_runs}x", 1)


def _stopping(race: Race | None) -> list[str]:
    """When it was to stop, as it is typed."""
    if race is None:
        return []
    limit = f", settle={race.settle!r}, max_runs={race.max_runs}" if race.settle == "limit" else ""
    return [f"stop=bk.StopRule(target={race.target!r}, risk={race.risk!r}{limit})"]


def origin_tables(study: Study | None) -> list[OutputTable]:
    """Fingerprints and settings of learners and data sets."""
    spec = None if study is None else study.spec
    if spec is None:
        return []
    learners, datasets = spec.learners[:MOST_LISTED], spec.datasets[:MOST_LISTED]
    return [
        OutputTable(
            name="learner-origins",
            caption=f"The {counted(len(spec.learners), 'learner')}: settings and fingerprints",
            columns=(
                Column(
                    key="learner", title="Learner", kind="name", cells=[x.name for x in learners]
                ),
                Column(
                    key="settings",
                    title="Settings",
                    kind="code",
                    cells=[x.settings for x in learners],
                ),
                Column(
                    key="fingerprint",
                    title="Fingerprint",
                    kind="code",
                    cells=[x.fingerprint for x in learners],
                ),
            ),
        ),
        OutputTable(
            name="data-origins",
            caption=f"The {counted(len(spec.datasets), 'data set')}: sizes and fingerprints",
            columns=(
                Column(
                    key="dataset", title="Data set", kind="name", cells=[x.name for x in datasets]
                ),
                Column(key="rows", title="Rows", kind="count", cells=[x.rows for x in datasets]),
                Column(
                    key="columns",
                    title="Columns",
                    kind="count",
                    cells=[x.columns for x in datasets],
                ),
                Column(
                    key="fingerprint",
                    title="Fingerprint",
                    kind="code",
                    cells=[x.fingerprint for x in datasets],
                ),
                Column(
                    key="splits",
                    title="First splits",
                    kind="code",
                    cells=[x.splits[0][2] if x.splits else None for x in datasets],
                ),
            ),
        ),
    ]
