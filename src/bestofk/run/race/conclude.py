"""Turn the outcome of a race into a study that claims only what is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk.decide.cautions import caution_of
from bestofk.decide.settings import Settings
from bestofk.decide.stopping.looks import still_open
from bestofk.decide.stopping.races import Race, RacedLearner
from bestofk.decide.stopping.rule import Kind, StopReason, stop_sentence
from bestofk.decide.stopping.stopped_decision import (
    StoppedDecision,
    evidence_so_far,
    order_so_far,
    stated_order,
)
from bestofk.decide.stopping.verdicts import IntervalVerdict
from bestofk.losses.losses import DIMS, Losses, Metric
from bestofk.run.conclude import cost_table, failed_cell, setting_of
from bestofk.run.metrics import loss_shown
from bestofk.run.race.run import RaceOutcome, RecordedLook
from bestofk.run.results import amended, as_table
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import Study


def conclude_race(
    outcome: RaceOutcome,
    spec: StudySpec,
    settings: Settings,
    whole_plan: Callable[[], Study],
    *,
    notes: tuple[str, ...] = (),
    store: str = "memory",
) -> Study:
    """Return the study of a race; call `whole_plan` if the race needed all runs."""
    if outcome.whole:
        study = whole_plan()
        if outcome.cut or not outcome.looks or study.decision is None:
            return study
        return replace(study, race=_race(outcome, spec, study.losses.metric))
    last = outcome.looks[-1]
    metric = _losses(outcome, spec).metric
    race = _race(outcome, spec, metric)
    decision = _decision(outcome, spec, last, race, metric, settings)
    table = as_table(spec, outcome.results)
    return Study(
        decision=decision,
        losses=_losses(outcome, spec),
        costs=cost_table(spec, table),
        failures=tuple(
            failed_cell(spec, table.cell(index), table.failures[index])
            for index in sorted(table.failures)
        ),
        left_out=_left_out(outcome, spec),
        plan=spec.plan,
        loss=spec.loss,
        random_state=spec.random_state,
        setting=setting_of(spec),
        assumed=spec.taken,
        data_account=(*spec.account, *spec.left_out),
        data_left_out=spec.left_out,
        preparation=amended(spec, table),
        notes=(*notes, *spec.notes),
        spec=spec,
        store=store,
        settings=settings,
        race=race,
    )


def _decision(
    outcome: RaceOutcome,
    spec: StudySpec,
    last: RecordedLook,
    race: Race,
    metric: Metric,
    settings: Settings,
) -> StoppedDecision:
    assert outcome.test is not None
    assert outcome.family is not None
    verdict = last.look.exact if race.exact else last.look.verdict
    names = tuple(spec.learners[number].name for number in outcome.prefer)
    evidence = evidence_so_far(
        last.losses, names, outcome.test, outcome.family, verdict, metric=metric
    )
    shown_losses = last.losses[..., : outcome.test.outer]
    ranking = order_so_far(evidence, verdict, shown_losses, settled=race.settled)
    means = {name: _mean(row) for name, row in zip(names, shown_losses, strict=True)}
    shown = stated_order(outcome.preference, np.arange(len(names)), ranking[:1])
    if not np.array_equal(shown, np.arange(len(names))):
        family, order = outcome.family, shown.tolist()
        at = None if family.control is None else order.index(family.control)
        evidence = evidence_so_far(
            last.losses[shown],
            tuple(names[i] for i in order),
            outcome.test,
            replace(family, control=at),
            replace(
                verdict,
                **{
                    name: getattr(verdict, name)[np.ix_(shown, shown)]
                    for name in ("sure", "possible", "mean_low", "mean_high")
                },
            ),
            metric=metric,
        )
    foreseen = outcome.planned.foreseen
    choice = foreseen.choice
    assert choice is not None
    problem = foreseen.problem
    return StoppedDecision(
        procedure=settings.procedure,
        recommended=names[int(ranking[0])],
        ranking=tuple(names[i] for i in ranking.tolist()),
        by_preference=evidence.names,
        mean_losses={name: means[str(name)] for name in evidence.names},
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=outcome.family.alpha,
        correction=outcome.family.correction,
        design=problem.describe(),
        preference=outcome.preference,
        caution=caution_of(problem, choice),
        notes=outcome.notes,
        settings=settings,
        race=race,
    )


def _race(outcome: RaceOutcome, spec: StudySpec, metric: Metric) -> Race:
    assert outcome.test is not None
    assert outcome.family is not None
    last, rule, test = outcome.looks[-1], outcome.planned.rule, outcome.test
    names = [spec.learners[number].name for number in outcome.prefer]
    # the decision of the whole plan is settled, however close it is
    settled = last.look.settled or outcome.whole
    _, _, exact = still_open(last.look.exact, outcome.family, rule.target)
    exact = (exact and settled) or outcome.whole
    # after the last run, the pairs that were open before it are still open
    undecided = [one.look.open_pairs for one in outcome.looks if one.look.open_pairs]
    open_pairs = tuple((names[i], names[j]) for i, j in (undecided[-1] if undecided else ()))
    ended = "settled" if settled else "unfinished" if outcome.cut else "runs"
    per_run = outcome.planned.fits_per_unit * spec.repetitions
    return Race(
        learners=_learners(outcome, names, last, exact=exact),
        settled=settled,
        exact=exact,
        target=rule.target,
        risk=rule.risk,
        planned_runs=test.runs,
        fits=len(outcome.results),
        planned_fits=len(spec.learners) * test.runs * per_run,
        open_pairs=() if settled else open_pairs,
        ended=ended,
        metric=metric,
        unit=outcome.planned.unit,
    )


def _learners(
    outcome: RaceOutcome, names: list[str], last: RecordedLook, *, exact: bool
) -> tuple[RacedLearner, ...]:
    verdict = last.look.exact if exact else last.look.verdict
    candidates = np.flatnonzero(verdict.candidates())
    best = int(candidates[0]) if len(candidates) == 1 else None
    rule, raced = outcome.planned.rule, []
    for index, name in enumerate(names):
        runs = int(last.runs[index])
        ended = runs < outcome.planned.test.runs and not outcome.whole
        stopped = ended and not last.look.go_on[index]
        cause = _cause(outcome, names, last, index, best) if stopped else None
        why = ""
        if cause is not None:
            why = stop_sentence(
                [(name, runs)],
                cause,
                planned=outcome.planned.test.runs,
                confidence=f"{100 * (1 - rule.risk):.4g} %",
                unit=outcome.planned.unit,
            )
        known = last.losses[index, :runs, : outcome.planned.test.outer]
        course = tuple(_mean(known[: run + 1]) for run in range(runs))
        raced.append(
            RacedLearner(
                learner=name,
                runs=runs,
                out_after=runs if stopped else None,
                mean=_mean(known),
                why=why,
                cause=cause,
                unit=outcome.planned.unit,
                course=course,
            )
        )
    return tuple(raced)


def _cause(
    outcome: RaceOutcome, names: list[str], last: RecordedLook, index: int, best: int | None
) -> StopReason | None:
    """Return why a learner is stopped, exact reasons first."""
    whole_order = outcome.planned.rule.target == "order"
    for verdict, exact in ((last.look.exact, True), (last.look.verdict, False)):
        if whole_order and last.look.settled:
            order = verdict.order()[0].tolist()
            if index in order:
                return StopReason(kind="placed", exact=exact, place=order.index(index) + 1)
            continue
        reason = _reason(verdict, names, index, best, exact=exact)
        if reason is not None:
            return reason
    return None


def _reason(
    verdict: IntervalVerdict, names: list[str], index: int, best: int | None, *, exact: bool
) -> StopReason | None:
    alone = np.flatnonzero(verdict.candidates())
    sole = int(alone[0]) if len(alone) == 1 else None
    if sole == index and best == index:
        return StopReason(kind="recommended", exact=exact)
    if not verdict.any_winner and not verdict.stated:
        ahead = np.flatnonzero(verdict.mean_high[:, index] < 0)
        if not len(ahead):
            return None
        return StopReason(kind="smaller mean", exact=exact, by=names[int(ahead[0])])
    start = 0 if verdict.any_winner else index + 1
    over = np.flatnonzero(verdict.sure[index, start:]) + start
    if len(over):
        winner = best if best is not None and best in over else int(over[0])
        return StopReason(kind="overridden", exact=exact, by=names[winner])
    if sole is None or sole == index:
        return None
    kind: Kind = "preferred"
    alike = verdict.ranks is not None and verdict.ranks[sole] == verdict.ranks[index]
    if alike or not verdict.stated:
        kind = "smaller mean"
    return StopReason(kind=kind, exact=exact, by=names[sole])


def _losses(outcome: RaceOutcome, spec: StudySpec) -> Losses:
    """Return the losses of the race, with gaps after a learner was stopped."""
    design = outcome.planned.design.with_(nested_runs=0)
    learners = sorted(outcome.prefer)
    shape = (len(learners), len(spec.datasets), design.runs, design.folds, spec.repetitions)
    values = np.full(shape, np.nan)
    row_of = {learner: row for row, learner in enumerate(learners)}
    for cell, result in outcome.results.items():
        if result.loss is not None and cell.learner in row_of and cell.run < design.runs:
            at = (row_of[cell.learner], cell.dataset, cell.run, cell.fold, cell.repetition)
            values[at] = result.loss
    return Losses(
        values,
        dims=DIMS,
        algorithms=[spec.learners[learner].name for learner in learners],
        datasets=[one.name for one in spec.datasets],
        design=design.with_(repetitions=spec.repetitions),
        loss_name=loss_shown(spec.loss),
        account=(f"Measured by bestofk with the plan {spec.plan}, as far as it was needed.",),
        missing="allow",
    )


def _left_out(outcome: RaceOutcome, spec: StudySpec) -> dict[str, str]:
    reasons_of: dict[str, str] = {}
    for number in outcome.left_out:
        results = [result for cell, result in outcome.results.items() if cell.learner == number]
        reasons = [result.failure.explain() for result in results if result.failure is not None]
        most = max(dict.fromkeys(reasons), key=reasons.count)
        name = spec.learners[number].name
        reasons_of[name] = f"{len(reasons)} of {len(results)} fits failed ({most})"
    return reasons_of


def _mean(losses: Any) -> float:
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if known.size else 0.0
