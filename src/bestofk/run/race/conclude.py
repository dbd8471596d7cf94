"""From a race to a study: what is settled is decided, and nothing more is claimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk.decide.choose_test import caution_of
from bestofk.decide.problem import Subject
from bestofk.decide.settings import Settings
from bestofk.decide.stopping.bounds import PlannedT
from bestofk.decide.stopping.looks import still_open
from bestofk.decide.stopping.races import Band, Race, RacedLearner
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
from bestofk.run.evaluation.results import amended, as_table
from bestofk.run.metrics import loss_shown
from bestofk.run.race.run import HeldRace, Seen
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import Study
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.tails import t_quantile


def conclude_race(
    held: HeldRace,
    spec: StudySpec,
    decision: Settings,
    ordinary: Callable[[], Study],
    *,
    notes: tuple[str, ...] = (),
    store: str = "memory",
) -> Study:
    """The study of a race; where all runs of the plan were needed, the `ordinary` one."""
    if held.whole:
        study = ordinary()
        if held.broken or not held.seen or study.decision is None:
            return study
        return replace(study, race=_race(held, spec, study.losses.metric))
    last = held.seen[-1]
    metric = _losses(held, spec).metric
    race = _race(held, spec, metric)
    decided = _decided(held, spec, last, race, metric, decision)
    table = as_table(spec, held.results)
    return Study(
        decision=decided,
        losses=_losses(held, spec),
        costs=cost_table(spec, table),
        failures=tuple(
            failed_cell(spec, table.place(index), table.failures[index])
            for index in sorted(table.failures)
        ),
        left_out=_left_out(held, spec),
        plan=spec.plan,
        loss=spec.loss,
        random_state=spec.random_state,
        setting=setting_of(spec, _plan_words(held)),
        assumed=spec.taken,
        data_account=(*spec.account, *spec.left_out),
        data_left_out=spec.left_out,
        preparation=amended(spec, table),
        notes=(*notes, *spec.notes),
        spec=spec,
        store=store,
        settings=decision,
        race=race,
    )


def _decided(
    held: HeldRace,
    spec: StudySpec,
    last: Seen,
    race: Race,
    metric: Metric,
    decision: Settings,
) -> StoppedDecision:
    assert held.test is not None
    assert held.family is not None
    verdict = last.look.exact if race.exact else last.look.verdict
    names = tuple(spec.learners[number].name for number in held.prefer)
    found = evidence_so_far(last.losses, names, held.test, held.family, verdict, metric=metric)
    places = order_so_far(found, verdict, last.losses, settled=race.settled)
    means = {name: _mean(row) for name, row in zip(names, last.losses, strict=True)}
    shown = stated_order(held.preference, np.arange(len(names)), places[:1])
    evidence = found
    if not np.array_equal(shown, np.arange(len(names))):
        family, order = held.family, shown.tolist()
        at = None if family.control is None else order.index(family.control)
        evidence = evidence_so_far(
            last.losses[shown],
            tuple(names[i] for i in order),
            held.test,
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
    foreseen = held.planned.foreseen
    choice = foreseen.choice
    assert choice is not None
    problem = replace(foreseen.problem, subject=Subject(caution=spec.caution))
    return StoppedDecision(
        procedure=decision.procedure,
        recommended=names[int(places[0])],
        ranking=tuple(names[i] for i in places.tolist()),
        by_preference=evidence.names,
        means={name: means[str(name)] for name in evidence.names},
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=held.family.alpha,
        correction=held.family.correction,
        design=problem.describe(),
        preference=held.preference,
        guard=decision.guard is not False,
        caution=caution_of(problem, choice),
        notes=held.notes,
        settings=decision,
        race=race,
    )


def _race(held: HeldRace, spec: StudySpec, metric: Metric) -> Race:
    assert held.test is not None
    assert held.family is not None
    last, rule, test = held.seen[-1], held.planned.rule, held.test
    names = [spec.learners[number].name for number in held.prefer]
    # what the whole plan decides is settled, be it by a hair
    settled = last.look.settled or held.whole
    _, _, exact = still_open(last.look.exact, held.family, rule.target)
    exact = (exact and settled) or held.whole
    # at the end of all runs there is nobody to go on with: those that were open before still are
    undecided = [one.look.open_pairs for one in held.seen if one.look.open_pairs]
    open_pairs = tuple((names[i], names[j]) for i, j in (undecided[-1] if undecided else ()))
    ended = "settled" if settled else "unfinished" if held.broken else "runs"
    pair: tuple[int, int] | None = None
    bands: tuple[Band, ...] = ()
    critical = (0.0, 0.0)
    if isinstance(test, PlannedT):
        pair, bands = _funnel(held)
        level = held.family.alpha / (1.0 if held.family.alternative != "two-sided" else 2.0)
        strict = level / (held.family.size if CORRECTIONS[held.family.correction].adjusts else 1)
        critical = (-t_quantile(level, test.degrees), -t_quantile(strict, test.degrees))
    per_run = held.planned.fits_per_unit * spec.repetitions
    return Race(
        learners=_learners(held, names, last, exact=exact),
        settled=settled,
        exact=exact,
        target=rule.target,
        settle=rule.settle,
        risk=rule.risk,
        planned_runs=test.runs,
        max_runs=held.planned.most,
        fits=len(held.results),
        planned_fits=len(spec.learners) * test.runs * per_run,
        fits_per_run=per_run,
        open_pairs=() if settled else open_pairs,
        ended=ended,
        pair=None if pair is None else (names[pair[0]], names[pair[1]]),
        bands=bands,
        critical=critical,
        metric=metric,
        unit=held.planned.unit,
    )


def _learners(
    held: HeldRace, names: list[str], last: Seen, *, exact: bool
) -> tuple[RacedLearner, ...]:
    verdict = last.look.exact if exact else last.look.verdict
    candidates = np.flatnonzero(verdict.candidates())
    best = int(candidates[0]) if len(candidates) == 1 else None
    rule, found = held.planned.rule, []
    for place, name in enumerate(names):
        runs = int(last.runs[place])
        ended = runs < held.planned.most and not held.whole
        stopped = ended and not last.look.go_on[place]
        cause = _cause(held, names, last, place, best) if stopped else None
        why = ""
        if cause is not None:
            why = stop_sentence(
                [(name, runs)],
                cause,
                planned=held.planned.test.runs,
                limit=rule.settle == "limit",
                confidence=f"{100 * (1 - rule.risk):.4g} %",
                unit=held.planned.unit,
            )
        known = last.losses[place, :runs]
        course = tuple(_mean(known[: run + 1]) for run in range(runs))
        found.append(
            RacedLearner(
                learner=name,
                runs=runs,
                out_after=runs if stopped else None,
                mean=_mean(known),
                why=why,
                cause=cause,
                unit=held.planned.unit,
                course=course,
            )
        )
    return tuple(found)


def _cause(
    held: HeldRace, names: list[str], last: Seen, place: int, best: int | None
) -> StopReason | None:
    """Why a learner is stopped; what is beyond doubt goes first."""
    whole_order = held.planned.rule.target == "order"
    for verdict, exact in ((last.look.exact, True), (last.look.verdict, False)):
        if whole_order and last.look.settled:
            order = verdict.order()[0].tolist()
            if place in order:
                return StopReason(kind="placed", exact=exact, place=order.index(place) + 1)
            continue
        found = _reason(verdict, names, place, best, exact=exact)
        if found is not None:
            return found
    return None


def _reason(
    verdict: IntervalVerdict, names: list[str], place: int, best: int | None, *, exact: bool
) -> StopReason | None:
    alone = np.flatnonzero(verdict.candidates())
    sole = int(alone[0]) if len(alone) == 1 else None
    if sole == place and best == place:
        return StopReason(kind="recommended", exact=exact)
    if not verdict.stated:
        ahead = np.flatnonzero(verdict.mean_high[:, place] < 0)
        if not len(ahead):
            return None
        return StopReason(kind="smaller mean", exact=exact, by=names[int(ahead[0])])
    over = np.flatnonzero(verdict.sure[place, place + 1 :]) + place + 1
    if len(over):
        winner = best if best is not None and best in over else int(over[0])
        return StopReason(kind="overridden", exact=exact, by=names[winner])
    if sole is None or sole == place:
        return None
    kind: Kind = "preferred" if sole < place else "passed over"
    if verdict.ranks is not None and verdict.ranks[sole] == verdict.ranks[place]:
        kind = "smaller mean"
    return StopReason(kind=kind, exact=exact, by=names[sole])


def _funnel(held: HeldRace) -> tuple[tuple[int, int] | None, tuple[Band, ...]]:
    """The pair that was open last, and what every look left open of its statistic."""
    open_looks = [one.look for one in held.seen if one.look.open_pairs]
    if not open_looks:
        return None, ()
    pair = open_looks[-1].open_pairs[0]
    K = len(held.prefer)
    rows, columns = np.triu_indices(K, 1)
    at = int(np.flatnonzero((rows == pair[0]) & (columns == pair[1]))[0])
    found: dict[int, Band] = {}
    for one in held.seen:
        runs = int(one.runs[list(pair)].min())
        bounds = one.look.bounds
        found[runs] = Band(runs=runs, low=float(bounds.t_low[at]), high=float(bounds.t_high[at]))
    return pair, tuple(found.values())


def _plan_words(held: HeldRace) -> str | None:
    """``10x10 with up to 30 runs``, where a race may go beyond the plan."""
    planned = held.planned
    if planned.rule.settle != "limit":
        return None
    return f"{planned.test.runs}x{planned.test.folds} with up to {planned.most} runs"


def _losses(held: HeldRace, spec: StudySpec) -> Losses:
    """What was used, with gaps where a learner was stopped."""
    design = held.planned.design
    kept = sorted(held.prefer)
    shape = (len(kept), len(spec.datasets), design.runs, design.folds, spec.repetitions)
    values = np.full(shape, np.nan)
    row_of = {learner: row for row, learner in enumerate(kept)}
    for place, result in held.results.items():
        if result.loss is not None and place.learner in row_of:
            at = (row_of[place.learner], place.dataset, place.run, place.fold, place.repetition)
            values[at] = result.loss
    return Losses(
        values,
        dims=DIMS,
        algorithms=[spec.learners[learner].name for learner in kept],
        datasets=[one.name for one in spec.datasets],
        design=design.with_(repetitions=spec.repetitions),
        loss_name=loss_shown(spec.loss),
        account=(f"Measured by bestofk with the plan {spec.plan}, as far as it was needed.",),
        missing="allow",
    )


def _left_out(held: HeldRace, spec: StudySpec) -> dict[str, str]:
    found: dict[str, str] = {}
    for number in held.left_out:
        own = [one for place, one in held.results.items() if place.learner == number]
        reasons = [one.failure.explain() for one in own if one.failure is not None]
        most = max(dict.fromkeys(reasons), key=reasons.count)
        name = spec.learners[number].name
        found[name] = f"{len(reasons)} of {len(own)} fits failed ({most})"
    return found


def _mean(losses: Any) -> float:
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if known.size else 0.0
