"""Turn the cells of a study into losses, costs and a decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import BestOfKError, RunError
from bestofk._base.formatting import number, shortened
from bestofk._base.results import Presented
from bestofk.decide.compare_scores import decide
from bestofk.decide.decision import Decision
from bestofk.decide.settings import Settings
from bestofk.losses.losses import DIMS, Scores, metric_of
from bestofk.run.cells import CellResult
from bestofk.run.experiment import CellIndex
from bestofk.run.metrics import loss_shown
from bestofk.run.results import ResultTable, as_table
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import Cost, FailedCell, Study
from bestofk.splits.design import Design
from bestofk.splits.plans import plan_words


def complete_part(
    spec: StudySpec,
    results: Mapping[CellIndex, CellResult],
    learners: Sequence[int],
    design: Design,
) -> tuple[Scores | None, tuple[str, ...]]:
    """Return the losses of these learners in the runs (or folds) that all of them completed.

    Drop a run of cross-validation for all learners if one of them lacks it. If no run is complete,
    use the complete folds as random splits. Return None if nothing is complete. Nested
    runs count if all learners have all of them.
    """
    runs, folds = design.runs, design.folds
    table = as_table(spec, results)
    subset_values, subset_notes = _complete_subsets(spec, table, learners, design)
    values = losses_of(table, spec, learners, (0, runs), folds)
    there = (
        ~np.isnan(values).any(axis=(0, 1, 4)) if learners else np.zeros((runs, folds), dtype=bool)
    )
    if not there.any():
        return None, ()
    values, design, notes = _whole_runs(values, there, design.with_(nested_runs=0))
    if design.kind != "cv":
        subset_values = None
    nested_runs = 0 if subset_values is None else subset_values.shape[2]
    names = [spec.learners[learner].name for learner in learners]
    losses = Scores(
        values,
        dims=DIMS,
        learners=names,
        datasets=[one.name for one in spec.datasets],
        design=design.with_(repetitions=spec.repetitions, nested_runs=nested_runs),
        loss_name=loss_shown(spec.loss),
        account=(f"Measured by bestofk with {plan_words(spec.plan)}.",),
        subset_values=subset_values,
    )
    return losses, (*notes, *subset_notes)


def losses_of(
    table: ResultTable, spec: StudySpec, learners: Sequence[int], runs: tuple[int, int], folds: int
) -> np.ndarray:
    """Return losses of some learners and runs: (learner, data set, run, fold, repetition)."""
    first, end = runs
    values = np.full(
        (len(learners), len(spec.datasets), end - first, folds, spec.repetitions), np.nan
    )
    for dataset in range(len(spec.datasets)):
        start, stop = table.split_of(dataset, first), table.split_of(dataset, end)
        part = table.column("loss", dataset)[start:stop][..., list(learners)]
        by_run = part.reshape(end - first, folds, spec.repetitions, len(learners))
        values[:, dataset] = np.moveaxis(by_run, -1, 0)
    return values


def _complete_subsets(
    spec: StudySpec, table: ResultTable, learners: Sequence[int], design: Design
) -> tuple[Floats | None, tuple[str, ...]]:
    """Return the losses on parts of the rows, if all of these runs are complete, and notes."""
    if not design.nested_runs:
        return None, ()
    runs = (design.runs, design.runs + design.nested_runs)
    values = losses_of(table, spec, learners, runs, 2)
    there = ~np.isnan(values).any(axis=(0, 1, 3, 4))
    if there.all():
        return values, ()
    return None, ("Not every nested run was finished by all learners: none counts.",)


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


def cost_table(spec: StudySpec, results: Mapping[CellIndex, CellResult]) -> dict[str, Cost]:
    """Return the mean fit and predict time of every learner, and the size of its model.

    The size is that of the first fold of every data set, which alone is weighed.
    """
    table = as_table(spec, results)
    means: list[dict[str, float | None]] = [{} for _ in spec.learners]
    for name in ("fit_time", "predict_time", "size"):
        parts = [
            table.column(name, dataset)[: data.runs * data.folds].reshape(-1, len(spec.learners))
            for dataset, data in enumerate(spec.datasets)
        ]
        for learner, mean in enumerate(means):
            known = np.concatenate([part[:, learner] for part in parts])
            known = known[~np.isnan(known)]
            mean[name] = float(np.mean(known)) if len(known) else None
    return {learner.name: Cost(**mean) for learner, mean in zip(spec.learners, means, strict=True)}


MAX_NAMED_LEARNERS = 5
"""Most learners without a value that a sentence names."""
MAX_FAILED_SHARE = 0.1
"""A learner that fails in a larger share of its cells is left out of the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMetric(Presented):
    """A metric that did not decide.

    - `loss`: The name of the loss, as the caller gave it.
    - `name`: The name of the user's metric.
    - `means`: The mean of every learner that has one, in the user's metric.
    - `recommended`: The learner that this metric would recommend; None if it cannot decide.
    - `agrees`: Whether that is the recommended learner; None if it cannot decide.
    - `undecided`: Why it cannot decide.
    """

    loss: str
    name: str
    higher_is_better: bool
    means: Mapping[str, float]
    recommended: str | None = None
    agrees: bool | None = None
    undecided: str = ""
    instead_of: str = ""
    """The learner that the deciding metric recommends."""
    lacking: tuple[str, ...] = ()
    """Compared learners without a value."""

    def explain(self) -> str:
        """Return what it would decide, in a sentence."""
        by = f"By {self.name} ({'higher' if self.higher_is_better else 'lower'} is better)"
        without = ""
        if self.lacking:
            have = "has" if len(self.lacking) == 1 else "have"
            without = f"; {shortened(list(self.lacking), MAX_NAMED_LEARNERS)} {have} no value"
        if self.recommended is None:
            return f"{by} nothing can be decided: {self.undecided.rstrip('.')}{without}."
        if self.agrees:
            return f"{by} {self.recommended} would be recommended as well{without}."
        means = ""
        if self.instead_of in self.means:
            ours, other = (number(self.means[one]) for one in (self.recommended, self.instead_of))
            means = f" (mean {ours} against {other} of {self.instead_of})"
        return f"{by} {self.recommended} would be recommended instead{means}{without}."


ByInstance = Callable[[int, Sequence[int]], Scores | None]


def conclude(
    spec: StudySpec,
    results: Mapping[CellIndex, CellResult],
    *,
    design: Design,
    settings: Settings,
    notes: tuple[str, ...] = (),
    by_instance: ByInstance | None = None,
    too_little: str = "",
    store: str = "memory",
) -> Study:
    """Return the study of `spec` from the results of its cells, decided by `settings`.

    `design` is that of the first data set's splits. With a single split,
    ``by_instance(metric, learners)`` may return losses by test instance of the compared learners
    instead of one number each. `too_little` advises on a budget that ended too early.
    """
    # results arrive in arbitrary order; the table fixes it
    table = as_table(spec, results)
    failures = failed_cells(spec, table)
    left_out = left_out_learners(spec, table)
    compared = [
        index for index, learner in enumerate(spec.learners) if learner.name not in left_out
    ]  # fmt: skip
    costs = cost_table(spec, table)
    losses, dropped = complete_part(spec, table, compared, design)
    if losses is not None and by_instance is not None and is_one_split(losses):
        losses = by_instance(0, compared) or losses
    if losses is None:
        raise RunError(_nothing(left_out, failures, too_little if compared else ""))
    decision: Decision | None = None
    why_not = "fewer than two learners have losses."
    if len(compared) > 1:
        try:
            decision = decide(losses, settings.settled(losses.learners, costs))
        except BestOfKError as refusal:
            # keep the losses: the complete plan could have decided
            if not (left_out or dropped):
                raise
            why_not = too_little or str(refusal)
            if settings.control in left_out:
                why_not = f"the control, {settings.control}, is among those that failed."
    return Study(
        decision=decision,
        losses=losses,
        costs=costs,
        failures=failures,
        left_out=left_out,
        notes=(*notes, *spec.notes),
        dropped=dropped,
        undecided="" if decision is not None else why_not,
        spec=spec,
        store=store,
        settings=settings,
        others=tuple(
            _other_metric(
                replace(spec, loss=name),
                table.by_metric(metric),
                compared,
                design,
                # margins are in units of the first metric
                settings.changed(margin=None, rope=None),
                costs,
                None if decision is None else decision.recommended,
                None if by_instance is None else partial(by_instance, metric),
            )
            for metric, name in enumerate(spec.also, start=1)
        ),
    )


def is_one_split(losses: Scores) -> bool:
    """Return whether each learner has a single number per data set."""
    return losses.design.runs * losses.design.folds == 1


def _other_metric(
    spec: StudySpec,
    table: ResultTable,
    compared: Sequence[int],
    design: Design,
    settings: Settings,
    costs: Mapping[str, Cost],
    recommended: object,
    by_instance: Callable[[Sequence[int]], Scores | None] | None,
) -> OtherMetric:
    """Decide by another metric about the compared learners that have values."""
    left_out = left_out_learners(spec, table)
    learners = [index for index in compared if spec.learners[index].name not in left_out]
    losses, _ = complete_part(spec, table, learners, design)
    if losses is not None and by_instance is not None and is_one_split(losses):
        losses = by_instance(learners) or losses
    metric = metric_of(loss_shown(spec.loss))
    other = OtherMetric(
        loss=spec.loss,
        name=metric.name,
        higher_is_better=metric.higher_is_better,
        means={},
        undecided="no learner has a value in every fold.",
        instead_of="" if recommended is None else str(recommended),
        lacking=tuple(spec.learners[index].name for index in compared if index not in learners),
    )
    if losses is None:
        return other
    means = {name: float(metric.shown(mean)) for name, mean in losses.means().items()}
    other = replace(other, means=means, undecided="fewer than two learners have values.")
    if len(losses.learners) < 2:
        return other
    try:
        best = decide(losses, settings.settled(losses.learners, costs)).recommended
    except BestOfKError as refusal:
        return replace(other, undecided=str(refusal))
    if best is None:
        return replace(other, undecided="no learner comes out first.")
    agrees = str(best) == other.instead_of
    return replace(other, undecided="", recommended=str(best), agrees=agrees)


def failed_cells(spec: StudySpec, table: ResultTable) -> tuple[FailedCell, ...]:
    """Return the cells without a loss."""
    return tuple(
        FailedCell(
            learner=spec.learners[cell.learner].name,
            dataset=spec.datasets[cell.dataset].name,
            run=cell.run,
            fold=cell.fold,
            repetition=cell.repetition,
            kind=failure.kind,
            reason=failure.reason,
        )
        for cell, failure in (
            (table.cell(index), table.failures[index]) for index in sorted(table.failures)
        )
    )


def left_out_learners(spec: StudySpec, table: ResultTable) -> dict[str, str]:
    """Return the learners that failed too often, with the most frequent reason."""
    fits = np.zeros((2, len(spec.learners)), dtype=np.int64)
    for dataset, data in enumerate(spec.datasets):
        there = table.there(dataset)
        fits[0] += there.sum(axis=(0, 1))
        fits[1] += there[: data.runs * data.folds].sum(axis=(0, 1))
    reasons: list[Counter[str]] = [Counter() for _ in spec.learners]
    failed = np.zeros(len(spec.learners), dtype=np.int64)
    for index in sorted(table.failures):
        cell = table.cell(index)
        reasons[cell.learner][table.failures[index].explain()] += 1
        failed[cell.learner] += cell.run < spec.datasets[cell.dataset].runs
    # runs on parts of the rows, where a class may be absent, leave no learner out
    too_often = failed > MAX_FAILED_SHARE * fits[1]
    left_out = {}
    for learner, counts, total, out in zip(
        spec.learners, reasons, fits[0].tolist(), too_often.tolist(), strict=True
    ):
        if out:
            (most, _), *_ = counts.most_common(1)
            left_out[learner.name] = f"{counts.total()} of {total} fits failed ({most})"
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
