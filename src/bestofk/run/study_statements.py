"""Statements of a study besides those of its decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk._base.errors import parts_of, use
from bestofk._base.formatting import in_words, joined, shortened
from bestofk.decide.statements import Statement, in_order, statements, with_advice
from bestofk.losses.losses import metric_of
from bestofk.run.metrics import loss_shown
from bestofk.splits.plans import plan_words

if TYPE_CHECKING:
    from bestofk.run.record import StudyRecord
    from bestofk.run.study import Study

MIN_SECONDS = 0.05
"""Seconds of one fit below which its speed does not matter."""
MIN_RATIO = 10.0
"""How many times faster a learner must be for a hint."""
BASELINES = ("Majority(", "DummyClassifier(", "DummyRegressor(")
"""How the settings of learners begin that always predict the same, whatever the columns."""
MAX_REASONS = 3
"""Reasons for failures that the first paragraph names."""


def study_statements(study: Study) -> tuple[Statement, ...]:
    """Return all statements of a study, in the order of explanations."""
    from bestofk.learners.preparation import sentences

    return in_order(
        (
            *(with_advice("data", *parts_of(text)) for text in study.record.taken[:1]),
            *(with_advice("note", *parts_of(note)) for note in study.record.taken[1:]),
            *(() if study.decision is None else study.decision.statements),
            *_undecided(study),
            *_baseline(study),
            *_speed_hint(study),
            *_left_out(study),
            *_whole_plan(study),
            *statements("also", [one.sentence for one in study.others]),
            *statements("note", study.notes),
            *statements(
                "run",
                [
                    *_failures(study),
                    *sentences(study.preparation),
                    _setting(study.record),
                ],
            ),
        )
    )


def _undecided(study: Study) -> tuple[Statement, ...]:
    if study.decision is not None:
        return ()
    return statements("verdict", [f"Nothing can be decided: {study.undecided}"])


def _baseline(study: Study) -> tuple[Statement, ...]:
    """Say that a learner that ignores the columns may be the best."""
    decision = study.decision
    if decision is None:
        return ()
    candidates = tuple(map(str, decision.candidates))
    names = [name for name in _baselines(study) if name in candidates]
    if not names or len(candidates) == len(names) == len(decision.by_preference):
        return ()
    ignores = "ignores" if len(names) == 1 else "ignore"
    text = f"{joined(names)}, which {ignores} the columns, may be the best."
    return statements("verdict", [text])


def _baselines(study: Study) -> list[str]:
    """Return the learners that ignore the columns."""
    return [one.name for one in study.record.learners if one.settings.startswith(BASELINES)]


def _speed_hint(study: Study) -> tuple[Statement, ...]:
    """Say that a learner is much faster than the recommended one and may be the best."""
    decision = study.decision
    if decision is None or decision.recommended is None or decision.preference.stated:
        return ()
    best, ignoring = str(decision.recommended), _baselines(study)
    names = [best, *(name for name in map(str, decision.candidates) if name not in ignoring)]
    times = {name: study.costs[name].fit_time or MIN_SECONDS for name in names}
    fastest = min(names, key=times.__getitem__)
    ratio = times[best] / times[fastest]
    if times[best] < MIN_SECONDS or ratio < MIN_RATIO:
        return ()
    words = f"{fastest} is about {float(f'{ratio:.1g}'):,.0f} times faster to fit: use "
    advice = use(prefer="fit_time")
    return (with_advice("verdict", words, advice, " to take that into account."),)


def _left_out(study: Study) -> tuple[Statement, ...]:
    """Say what failed, and what was compared."""
    sentences = []
    if study.left_out:
        compared, failed = len(study.losses.learners), len(study.left_out)
        rest = "1 is left" if compared == 1 else f"{compared} were compared"
        sentences.append(
            f"Of the {compared + failed} learners given {failed} failed "
            f"({shortened(_reasons(study), MAX_REASONS)}), and {rest}."
        )
    single = [one.learner for one in study.failures if one.learner not in study.left_out]
    if single:
        fits = "One fit" if len(single) == 1 else f"{in_words(len(single)).capitalize()} fits"
        learners = shortened(list(dict.fromkeys(single)), MAX_REASONS)
        sentences.append(f"{fits} of {learners} failed.")
    return statements("left out", [*sentences, *study.dropped])


def _failures(study: Study) -> list[str]:
    """List all reasons for failures, if the first paragraph names only some."""
    reasons = _reasons(study)
    return [f"Failed: {'; '.join(reasons)}."] if len(reasons) > MAX_REASONS + 1 else []


def _reasons(study: Study) -> list[str]:
    """Return why learners were left out, those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in study.left_out.items():
        by_reason.setdefault(reason.rstrip("."), []).append(name)
    return [f"{joined(names)}: {reason}" for reason, names in by_reason.items()]


def _whole_plan(study: Study) -> tuple[Statement, ...]:
    """Say that a comparison that could have stopped needed its whole plan."""
    race = study.race
    if race is None or race.fits < race.planned_fits:
        return ()
    return statements("reason", [race.state()])


def _setting(record: StudyRecord) -> str:
    """Return how the study was run, for a paper."""
    sizes = [f"{data.name} ({data.rows} rows)" for data in record.datasets[:3]]
    more = f" and {len(record.datasets) - 3} more" if len(record.datasets) > 3 else ""
    again = f", {record.repetitions} repetitions" if record.repetitions > 1 else ""
    return (
        f"Run with bestofk {record.versions['bestofk']}: {', '.join(sizes)}{more}, "
        f"{plan_words(record.plan).removeprefix('the ')}{again}, {_judged_by(record)}, "
        f"random state {record.random_state}."
    )


def _judged_by(record: StudyRecord) -> str:
    """Return ``loss zero-one``, ``metric accuracy (higher is better)``, ..."""
    metric = metric_of(loss_shown(record.metric))
    words = f"metric {metric.name} ({metric.direction})"
    if not metric.higher_is_better:
        words = f"loss {loss_shown(record.metric) if ':' in record.metric else record.metric}"
    more = [metric_of(loss_shown(name)).name for name in record.metrics[1:]]
    return f"{words}, also {joined(more)}" if more else words
