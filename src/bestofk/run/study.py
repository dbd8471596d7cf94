"""A study: its cells turned into losses, costs and a decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import BestOfKError, RunError
from bestofk._base.formatting import duration, joined, number, shortened
from bestofk._base.results import json_ready
from bestofk.decide.compare_scores import decide
from bestofk.decide.decision import Decision
from bestofk.decide.settings import Settings, with_changes, with_measured_costs
from bestofk.decide.statements import Stated, Statement
from bestofk.losses.losses import DIMS, Scores, metric_of
from bestofk.run.cells import NUMBERS, CellTable
from bestofk.run.metrics import loss_shown
from bestofk.splits.design import Design
from bestofk.splits.plans import plan_words

if TYPE_CHECKING:
    from bestofk.decide.slices import Slices
    from bestofk.decide.stopping.result import Race
    from bestofk.learners.preparation import Preparation
    from bestofk.run.live import Live
    from bestofk.run.race import RaceOutcome
    from bestofk.run.record import StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell:
    """A cell without a loss."""

    learner: str
    dataset: str
    run: int
    fold: int
    repetition: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Mean costs of one fit of a learner."""

    fit_time: float | None
    predict_time: float | None
    size: float | None

    def explain(self) -> str:
        """Return the means in a sentence."""
        times = {"fitting": self.fit_time, "predicting": self.predict_time}
        parts = [
            f"{what} takes {duration(time)}" for what, time in times.items() if time is not None
        ]
        if self.size is not None:
            parts.append(f"the model has {self.size:,.0f} bytes")
        sentence = joined(parts) or "no fit was timed"
        return f"{sentence[:1].upper()}{sentence[1:]}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study(Stated):
    """A comparison that was run.

    Attributes
    ----------
    losses : Scores
        What was measured, of the learners that were decided about.
    decision : Decision or None
        The verdict; None if nothing could be decided.
    costs : mapping of name to Cost
        Fit time, predict time and model size.
    failures : tuple of FailedCell
    left_out : mapping of name to reason
        Learners that could not be decided about.
    notes : tuple of str
        What a reader must know besides.
    record : StudyRecord
        What was run: plan, loss, random state, fingerprints, versions and the command line, if
        there was one.
    store : str
        Where the cells are, without a password.
    settings : Settings or None
        The settings of the decision.
    """

    command = "compare"
    decision: Decision | None
    losses: Scores
    costs: Mapping[str, Cost]
    failures: tuple[FailedCell, ...]
    left_out: Mapping[str, str]
    record: StudyRecord
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Runs or folds that do not count because not all learners finished them."""
    undecided: str = ""
    """Why there is no decision; empty if there is one."""
    store: str = "memory"
    settings: Settings | None = None
    others: tuple[OtherMetric, ...] = ()
    """Results of the same models under other metrics."""
    slices: Slices | None = None
    """Verdicts by slice, if `by` was given."""
    race: Race | None = None
    """How far every learner ran, if the comparison stopped early."""
    live: Live | None = field(default=None, repr=False)
    """The learners and data that were run, for refits; None if opened from a store."""

    @property
    def preparation(self) -> dict[str, dict[str, Preparation]]:
        """How the rows were prepared inside the folds, by data set and learner."""
        from bestofk.learners.preparation import Preparation

        return {
            data: {learner: Preparation.from_dict(done) for learner, done in by_learner.items()}
            for data, by_learner in self.record.preparation.items()
        }

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        from bestofk.run.study_statements import study_statements

        return study_statements(self)

    def _measured(self) -> dict[str, Mapping[Any, Any]]:
        """Return the costs of one fit, and the runs of a race."""
        costs: dict[str, Mapping[Any, Any]] = {
            what: {name: getattr(cost, what) for name, cost in self.costs.items()}
            for what in NUMBERS
        }
        return {**costs, **Stated._measured(self)}

    def _scores(self) -> Scores:
        return self.losses

    def _by_metric(self) -> dict[str, Decision]:
        return {one.name: one.decision for one in self.others if one.decision is not None}

    def _json(self) -> dict[str, Any]:
        """Return what was read and run, for strict JSON."""
        return {
            "data": [
                {"name": one.name, "rows": one.rows, "fingerprint": one.fingerprint}
                for one in self.record.datasets
            ],
            "plan": self.record.plan,
            "failures": [json_ready(failure) for failure in self.failures],
        }


# From cells to a study


def complete_part(
    table: CellTable, learners: Sequence[int], design: Design
) -> tuple[Scores | None, tuple[str, ...]]:
    """Return the losses of these learners in the runs (or folds) that all of them completed.

    Drop a run of cross-validation for all learners if one of them lacks it. If no run is complete,
    use the complete folds as random splits. Return None if nothing is complete. Nested
    runs count if all learners have all of them.
    """
    runs, folds = design.runs, design.folds
    subset_values, subset_notes = None, tuple[str, ...]()
    if design.nested_runs:
        subset_values = losses_of(table, learners, (runs, runs + design.nested_runs), 2)
        if np.isnan(subset_values).any():
            subset_values = None
            subset_notes = ("Not every nested run was finished by all learners: none counts.",)
    values = losses_of(table, learners, (0, runs), folds)
    there = np.asarray(~np.isnan(values).any(axis=(0, 1, 4)))
    if not learners or not there.any():
        return None, ()
    values, design, notes = _whole_runs(values, there, design.with_(nested_runs=0))
    if design.kind != "cv":
        subset_values = None
    nested_runs = 0 if subset_values is None else subset_values.shape[2]
    account = f"Measured by bestofk with {plan_words(table.record.plan)}."
    losses = as_scores(
        table, values, learners, design.with_(nested_runs=nested_runs), account=(account,),
        subset_values=subset_values,
    )  # fmt: skip
    return losses, (*notes, *subset_notes)


def as_scores(
    table: CellTable, values: Floats, learners: Sequence[int], design: Design, **options: Any
) -> Scores:
    """Return the values of some learners of a table, in this order, as a table of scores."""
    record = table.record
    return Scores(
        values,
        dims=DIMS,
        learners=[record.names[learner] for learner in learners],
        datasets=[one.name for one in record.datasets],
        design=design.with_(repetitions=record.repetitions),
        loss_name=loss_shown(record.metrics[table.metric]),
        **options,
    )


def losses_of(
    table: CellTable, learners: Sequence[int], runs: tuple[int, int], folds: int
) -> Floats:
    """Return losses of some learners and runs: (learner, data set, run, fold, repetition)."""
    first, end = runs
    start, stop = table.record.splits_before(first), table.record.splits_before(end)
    part = table.column("loss")[:, start:stop][..., list(learners)]
    datasets, _, repetitions, _ = table.record.shape
    by_run = part.reshape(datasets, end - first, folds, repetitions, len(learners))
    return np.ascontiguousarray(np.moveaxis(by_run, -1, 0))


def _whole_runs(
    values: np.ndarray, there: np.ndarray, design: Design
) -> tuple[np.ndarray, Design, tuple[str, ...]]:
    if there.all():
        return values, design, ()
    runs, folds = there.shape
    whole = there.all(axis=1)
    if whole.any() and design.kind == "cv":
        complete = np.flatnonzero(whole)
        sizes = _sizes(design, np.repeat(complete, folds), np.tile(np.arange(folds), len(complete)))
        note = f"{_dropped(runs - len(complete), runs, 'run')}."
        return values[:, :, complete], design.with_(runs=len(complete), **sizes), (note,)
    if runs == 1 and design.kind in ("cv", "time", "splits") and there.sum() > 1:
        note = f"{_dropped(int((~there).sum()), folds, 'fold')}."
        return values[:, :, :, there[0]], design.select(there), (note,)
    run, fold = np.nonzero(there)
    part = values[:, :, run, fold][:, :, np.newaxis]
    left = "the one left is a single split"
    if len(run) > 1:
        left = f"the {len(run)} left count as random splits"
    note = f"{_dropped(there.size - len(run), there.size, 'fold')}; {left}."
    kind = "resample" if len(run) > 1 else "holdout"
    rest = Design(kind=kind, folds=len(run), stratified=design.stratified, groups=design.groups)
    return part, rest.with_(**_sizes(design, run, fold)), (note,)


def _dropped(dropped: int, total: int, what: str) -> str:
    were, them = ("was", "it") if dropped == 1 else ("were", "them")
    return f"{dropped} of {total} {what}s {were} dropped because not all learners finished {them}"


def _sizes(design: Design, run: Any, fold: Any) -> dict[str, tuple[int, ...] | None]:
    """Return rows that train and test in some of the folds."""
    return {
        name: None
        if getattr(design, name) is None
        else tuple(np.reshape(getattr(design, name), (design.runs, design.folds))[run, fold])
        for name in ("n_train", "n_test")
    }


def cost_table(table: CellTable) -> dict[str, Cost]:
    """Return the mean fit and predict time of every learner, and the size of its model.

    The size is that of the first fold of every data set, which alone is weighed.
    """
    record = table.record
    main = record.splits_before(record.design.runs)
    costs = {}
    for learner, name in enumerate(record.names):
        means: dict[str, float | None] = {}
        for what in NUMBERS:
            known = table.column(what)[:, :main, :, learner].ravel()
            known = known[~np.isnan(known)]
            means[what] = float(np.mean(known)) if len(known) else None
        costs[name] = Cost(**means)
    return costs


MAX_NAMED_LEARNERS = 5
"""Most learners without a value that a sentence names."""
MAX_FAILED_SHARE = 0.1
"""A learner that fails in a larger share of its cells is left out of the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMetric:
    """A metric that did not decide.

    - `name`: The name of the user's metric.
    - `means`: The mean of every learner that has one, in the user's metric.
    - `decision`: What this metric would decide; None if it cannot.
    - `sentence`: Describes this decision.
    """

    name: str
    means: Mapping[str, float]
    decision: Decision | None
    sentence: str


def conclude(
    table: CellTable,
    settings: Settings,
    *,
    outcome: RaceOutcome | None = None,
    by_dataset: Mapping[str, Settings] | None = None,
    live: Live | None = None,
    notes: tuple[str, ...] = (),
    too_little: str = "",
    store: str = "memory",
) -> Study:
    """Return the study of the evaluated cells, decided by `settings`.

    - `outcome`: That of a race, if the comparison stopped early.
    - `by_dataset`: The settings by data set, if each is to be decided by itself.
    - `live`: The study in this process; None if it was opened from a store.
    - `notes`: Notes about the run.
    - `too_little`: Advice on a budget that ended too early.
    - `store`: Where the cells are.
    """
    whole_plan = partial(_of_whole_plan, table, settings, live, notes, too_little, store)
    if outcome is not None:
        from bestofk.run.race import conclude_race

        study = conclude_race(outcome, settings, whole_plan, notes=notes, store=store)
    elif by_dataset:
        from bestofk.run.by_dataset import conclude_by_dataset

        study = conclude_by_dataset(table, settings, by_dataset, live, notes, too_little, store)
    else:
        study = whole_plan()
    if live is None:
        return study
    if live.datasets[0].by is not None and not by_dataset:
        from bestofk.run.slices import study_slices

        study = replace(study, slices=study_slices(study, live, table, settings))
    # a copy, without the rows that the fits shared
    return replace(study, live=replace(live))


def _of_whole_plan(
    table: CellTable,
    settings: Settings,
    live: Live | None,
    notes: tuple[str, ...],
    too_little: str,
    store: str,
) -> Study:
    record, facts = table.record, facts_of(table, notes, store)
    left_out, costs = facts["left_out"], facts["costs"]
    compared = [index for index, name in enumerate(record.names) if name not in left_out]
    losses, dropped = _losses(table, compared, live)
    if losses is None:
        raise RunError(_nothing(left_out, facts["failures"], too_little if compared else ""))
    decision: Decision | None = None
    why_not = "fewer than two learners have losses."
    if len(compared) > 1:
        try:
            decision = decide(losses, with_measured_costs(settings, losses.learners, costs))
        except BestOfKError as refusal:
            # keep the losses: the complete plan could have decided
            if not (left_out or dropped):
                raise
            why_not = too_little or str(refusal)
            if settings.control in left_out:
                why_not = f"the control, {settings.control}, is among those that failed."
    # margins are in units of the first metric
    others = with_changes(settings, margin=None, rope=None)
    return Study(
        decision=decision,
        losses=losses,
        dropped=dropped,
        undecided="" if decision is not None else why_not,
        settings=settings,
        others=tuple(
            _other_metric(table.by_metric(metric), compared, live, others, costs, decision)
            for metric in range(1, len(record.metrics))
        ),
        **facts,
    )


def facts_of(table: CellTable, notes: tuple[str, ...], store: str) -> dict[str, Any]:
    """Return the fields of a study that follow from its cells, without its losses."""
    return {
        "record": table.record,
        "costs": cost_table(table),
        "failures": failed_cells(table),
        "left_out": left_out_learners(table),
        "notes": (*notes, *table.record.notes),
        "store": store,
    }


def _losses(
    table: CellTable, learners: Sequence[int], live: Live | None
) -> tuple[Scores | None, tuple[str, ...]]:
    """Return the complete losses; of a single split by test instance, if the rows are known."""
    losses, dropped = complete_part(table, learners, table.record.design)
    if losses is not None and live is not None and is_one_split(losses):
        from bestofk.run.one_test_set import instance_losses

        losses = instance_losses(live, table, learners) or losses
    return losses, dropped


def is_one_split(losses: Scores) -> bool:
    """Return whether each learner has a single number per data set."""
    return losses.design.runs * losses.design.folds == 1


def _other_metric(
    table: CellTable,
    compared: Sequence[int],
    live: Live | None,
    settings: Settings,
    costs: Mapping[str, Cost],
    first: Decision | None,
) -> OtherMetric:
    """Decide by the metric of the table about the compared learners that have values."""
    names, left_out = table.record.names, left_out_learners(table)
    learners = [index for index in compared if names[index] not in left_out]
    losses, _ = _losses(table, learners, live)
    metric = metric_of(loss_shown(table.record.metrics[table.metric]))
    decision, means, problem = None, {}, "no learner has a value in every fold"
    if losses is not None:
        means = {name: float(metric.shown(mean)) for name, mean in losses.means().items()}
        try:
            decision = decide(losses, with_measured_costs(settings, losses.learners, costs))
            problem = "no learner comes out first"
        except BestOfKError as refusal:
            problem = str(refusal).rstrip(".")
    sentence = f"nothing can be decided: {problem}"
    if decision is not None and decision.recommended is not None:
        best, ours = str(decision.recommended), None if first is None else first.recommended
        sentence = f"{best} would be recommended {'as well' if best == ours else 'instead'}"
        if best != ours and ours in means:
            mean, other = number(means[best]), number(means[str(ours)])
            sentence += f" (mean {mean} against {other} of {ours})"
    lacking = [names[index] for index in compared if index not in learners]
    if lacking:
        have = "has" if len(lacking) == 1 else "have"
        sentence += f"; {shortened(lacking, MAX_NAMED_LEARNERS)} {have} no value"
    return OtherMetric(
        name=metric.name,
        means=means,
        decision=decision,
        sentence=f"By {metric.name} ({metric.direction}) {sentence}.",
    )


def failed_cells(table: CellTable) -> tuple[FailedCell, ...]:
    """Return the cells without a loss."""
    record = table.record
    return tuple(
        FailedCell(
            learner=record.names[cell.learner],
            dataset=record.datasets[cell.dataset].name,
            run=cell.run,
            fold=cell.fold,
            repetition=cell.repetition,
            kind=failure.kind,
            reason=failure.reason,
        )
        for cell, failure in table.failures
    )


def left_out_learners(table: CellTable) -> dict[str, str]:
    """Return the learners that failed too often, with the most frequent reason."""
    record, runs = table.record, table.record.design.runs
    reasons: list[Counter[str]] = [Counter() for _ in record.learners]
    failed = np.zeros(len(record.learners), dtype=np.int64)
    for cell, failure in table.failures:
        reasons[cell.learner][failure.explain()] += 1
        failed[cell.learner] += cell.run < runs
    fits = table.there.sum(axis=(0, 1, 2)).tolist()
    # runs on parts of the rows, where a class may be absent, leave no learner out
    main = table.there[:, : record.splits_before(runs)].sum(axis=(0, 1, 2))
    left_out = {}
    for learner in np.flatnonzero(failed > MAX_FAILED_SHARE * main).tolist():
        counts = reasons[learner]
        (most, _), *_ = counts.most_common(1)
        left_out[record.names[learner]] = (
            f"{counts.total()} of {fits[learner]} fits failed ({most})"
        )
    return left_out


def _nothing(left_out: Mapping[str, str], failures: Sequence[FailedCell], too_little: str) -> str:
    if too_little:
        return too_little
    if left_out:
        name, reason = next(iter(left_out.items()))
        return f"No learner could be evaluated; {name}: {reason}"
    if failures:
        return f"No fold was finished by all learners; {failures[0].learner}: {failures[0].reason}"
    return "No fold was finished by all learners."
