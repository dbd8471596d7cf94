"""From cells to tables: the losses that all learners have, and what a fit costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import BestOfKError, RunError
from bestofk._base.formatting import joined, number, shortened
from bestofk._base.results import Presented
from bestofk.decide.decision import Decision
from bestofk.decide.order import decide
from bestofk.decide.problem import Subject
from bestofk.decide.settings import Settings
from bestofk.losses.losses import DIMS, Losses, Metric, metric_of
from bestofk.run.cells import CellResult, Failure
from bestofk.run.evaluation.results import ResultTable, amended, as_table
from bestofk.run.experiment import Place
from bestofk.run.metrics import loss_shown
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import Cost, FailedCell, Study
from bestofk.splits.design import Design, Subsets

LEAST_HALVINGS = 5
"""With fewer halvings that all learners finished, none counts."""


def complete_part(
    spec: StudySpec,
    results: Mapping[Place, CellResult],
    kept: Sequence[int],
    design: Design,
) -> tuple[Losses | None, tuple[str, ...]]:
    """The losses of the kept learners in the runs (or folds) that all of them have in full.

    Runs of cross-validation that some learner lacks are left out for all; of a plan that has no
    complete run the complete folds serve as random splits. None if there is nothing complete.
    Of runs on parts of the rows those count that all learners have, halves in pairs.
    """
    runs, folds = design.runs, design.folds
    table = as_table(spec, results)
    subset_values, subsets, subset_notes = _complete_subsets(spec, table, kept, design)
    values = _losses_of(table, spec, kept, (0, runs), folds)
    there = ~np.isnan(values).any(axis=(0, 1, 4)) if kept else np.zeros((runs, folds), dtype=bool)
    if not there.any():
        return None, ()
    values, design, notes = _whole_runs(values, there, design.with_(subsets=None))
    if design.kind != "cv":
        subset_values, subsets = None, None
    names = [spec.learners[learner].name for learner in kept]
    losses = Losses(
        values,
        dims=DIMS,
        algorithms=names,
        datasets=[one.name for one in spec.datasets],
        design=design.with_(repetitions=spec.repetitions, subsets=subsets),
        loss_name=loss_shown(spec.loss),
        account=(f"Measured by bestofk with the plan {spec.plan}.",),
        subset_values=subset_values,
    )
    return losses, (*notes, *subset_notes)


def _losses_of(
    table: ResultTable, spec: StudySpec, kept: Sequence[int], runs: tuple[int, int], folds: int
) -> np.ndarray:
    """The losses of some learners and runs: (learner, data set, run, fold, repetition)."""
    first, end = runs
    values = np.full((len(kept), len(spec.datasets), end - first, folds, spec.repetitions), np.nan)
    for dataset in range(len(spec.datasets)):
        start, stop = table.split_of(dataset, first), table.split_of(dataset, end)
        part = table.column("loss", dataset)[start:stop][..., list(kept)]
        by_run = part.reshape(end - first, folds, spec.repetitions, len(kept))
        values[:, dataset] = np.moveaxis(by_run, -1, 0)
    return values


def _complete_subsets(
    spec: StudySpec, table: ResultTable, kept: Sequence[int], design: Design
) -> tuple[Floats | None, Subsets | None, tuple[str, ...]]:
    """The losses on parts of the rows, what is left of these runs, and what is to be said."""
    subsets = design.subsets
    if subsets is None:
        return None, None, ()
    runs = (design.runs, design.runs + subsets.runs)
    values = _losses_of(table, spec, kept, runs, subsets.folds)
    there = ~np.isnan(values).any(axis=(0, 1, 3, 4))
    if there.all():
        return values, subsets, ()
    if subsets.kind == "nested":
        return None, None, ("Not every nested run was finished by all learners: none counts.",)
    pairs = there.reshape(-1, 2).all(axis=1)
    left = int(pairs.sum())
    note = f"{left} of {len(pairs)} halvings of the rows were finished by all learners"
    if left < LEAST_HALVINGS:
        return None, None, (f"{note}: too few to count.",)
    whole = np.repeat(pairs, 2)
    fewer = Subsets(kind=subsets.kind, runs=2 * left, folds=subsets.folds)
    return values[:, :, whole], fewer, (f"{note} and count.",)


def _whole_runs(
    values: np.ndarray, there: np.ndarray, design: Design
) -> tuple[np.ndarray, Design, tuple[str, ...]]:
    if there.all():
        return values, design, ()
    runs, folds = there.shape
    whole = there.all(axis=1)
    if whole.any() and design.kind == "cv":
        kept = np.flatnonzero(whole)
        sizes = _sizes(design, np.repeat(kept, folds), np.tile(np.arange(folds), len(kept)))
        note = f"{_dropped(runs - len(kept), runs, 'run')}."
        return values[:, :, kept], design.with_(runs=len(kept), **sizes), (note,)
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
    """Rows that train and test in some of the folds."""
    return {
        name: None
        if getattr(design, name) is None
        else tuple(np.reshape(getattr(design, name), (design.runs, design.folds))[run, fold])
        for name in ("n_train", "n_test")
    }


def cost_table(spec: StudySpec, results: Mapping[Place, CellResult]) -> dict[str, Cost]:
    """Mean fit time and predict time of every learner over its cells, and the size of its model.

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


# From the cells of a study to its verdict: what failed, what is left, what was decided.


MOST_NAMED = 5
"""So many learners without a value are named."""
TOLERATED_FAILURES = 0.1
"""A learner that fails in a larger share of its cells is left out of the decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMetric(Presented):
    """A metric that did not decide.

    Attributes
    ----------
    loss : str
        The name of the loss, as it was asked for.
    name : str
        What the numbers are called.
    higher_is_better : bool
    means : mapping of name to float
        The mean of every learner that has one, in the user's metric.
    recommended : str or None
        Who would be recommended by it; None where nothing could be decided.
    agrees : bool or None
        Whether that is who is recommended; None where nothing could be decided.
    undecided : str
        Why not.
    """

    loss: str
    name: str
    higher_is_better: bool
    means: Mapping[str, float]
    recommended: str | None = None
    agrees: bool | None = None
    undecided: str = ""
    instead_of: str = ""
    """Who is recommended by the metric that decides."""
    lacking: tuple[str, ...] = ()
    """Learners that were compared and have no value."""

    def explain(self) -> str:
        """What it would decide, in a sentence."""
        by = f"By {self.name} ({'larger' if self.higher_is_better else 'smaller'} is better)"
        without = ""
        if self.lacking:
            have = "has" if len(self.lacking) == 1 else "have"
            without = f"; {shortened(list(self.lacking), MOST_NAMED)} {have} no value"
        if self.recommended is None:
            return f"{by} nothing can be decided: {self.undecided.rstrip('.')}{without}."
        if self.agrees:
            return f"{by} {self.recommended} would be recommended as well{without}."
        means = ""
        if self.instead_of in self.means:
            ours, other = (number(self.means[one]) for one in (self.recommended, self.instead_of))
            means = f" (mean {ours} against {other} of {self.instead_of})"
        return f"{by} {self.recommended} would be recommended instead{means}{without}."


def other_metric(
    loss: str,
    losses: Losses | None,
    decision: Settings,
    costs: Mapping[str, Any],
    recommended: str | None,
    metric: Metric,
    lacking: Sequence[str] = (),
) -> OtherMetric:
    """The same decision by another metric; margins are in units of the first and left out."""
    held: dict[str, Any] = {
        "loss": loss, "name": metric.name, "higher_is_better": metric.higher_is_better,
        "means": {}, "instead_of": recommended or "", "lacking": tuple(lacking),
    }  # fmt: skip
    if losses is None:
        return OtherMetric(**held, undecided="no learner has a value in every fold.")
    held["means"] = {name: float(metric.shown(mean)) for name, mean in losses.means().items()}
    if len(losses.algorithms) < 2:
        return OtherMetric(**held, undecided="fewer than two learners have values.")
    try:
        asked = decision.changed(margin=None, rope=None)
        found = decide(losses, asked.settled(losses.algorithms, costs)).recommended
    except BestOfKError as refusal:
        return OtherMetric(**held, undecided=str(refusal))
    if found is None:
        return OtherMetric(**held, undecided="no learner comes out first.")
    return OtherMetric(**held, recommended=str(found), agrees=str(found) == recommended)


def conclude(
    spec: StudySpec,
    results: Mapping[Place, CellResult],
    *,
    design: Design,
    decision: Settings,
    notes: tuple[str, ...] = (),
    finer: Callable[[Sequence[int]], Losses | None] | None = None,
    too_little: str = "",
    others: Mapping[str, ByOtherLoss] | None = None,
    store: str = "memory",
) -> Study:
    """The study of `spec` from what came of its cells, decided as `decision` asks.

    `design` is that of the first data set's splits; `finer` may give losses by test instance of
    the learners that are compared, in place of one number each, where there is but one split;
    `others` are the cells by other losses. `too_little` says what a budget should have been that
    ended too early.
    """
    # engines and stores give their results in no certain order: a table has one
    table = as_table(spec, results)
    failures = tuple(
        failed_cell(spec, table.place(index), table.failures[index])
        for index in sorted(table.failures)
    )
    left_out = _left_out(spec, table)
    compared = [
        place for place, learner in enumerate(spec.learners) if learner.name not in left_out
    ]  # fmt: skip
    costs = cost_table(spec, table)
    losses, dropped = complete_part(spec, table, compared, design)
    if losses is not None and finer is not None and _one_split(losses):
        losses = finer(compared) or losses
    if losses is None:
        raise RunError(_nothing(left_out, failures, too_little if compared else ""))
    decided: Decision | None = None
    why_not = "fewer than two learners have losses."
    if len(compared) > 1:
        try:
            decided = decide(
                losses,
                decision.settled(losses.algorithms, costs),
                subject=Subject(caution=spec.caution),
            )
        except BestOfKError as refusal:
            # with all that was planned it could have been decided: keep the losses
            if not (left_out or dropped):
                raise
            why_not = too_little or str(refusal)
            if decision.control in left_out:
                why_not = f"the control, {decision.control}, is among those that failed."
    return Study(
        decision=decided,
        losses=losses,
        costs=costs,
        failures=failures,
        left_out=left_out,
        plan=spec.plan,
        loss=spec.loss,
        random_state=spec.random_state,
        setting=setting_of(spec),
        assumed=spec.taken,
        notes=(*notes, *spec.notes),
        dropped=dropped,
        undecided="" if decided is not None else why_not,
        data_account=(*spec.account, *spec.left_out),
        data_left_out=spec.left_out,
        preparation=amended(spec, table),
        spec=spec,
        store=store,
        settings=decision,
        others=tuple(
            _by_another(spec, name, held, compared, design, decision, costs, decided)
            for name, held in (others or {}).items()
        ),
    )


def _one_split(losses: Losses) -> bool:
    """Whether there is but one number for every learner on a data set."""
    return losses.design.runs * losses.design.folds == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ByOtherLoss:
    """The cells of a study by another loss; `finer` as for `conclude`."""

    results: Mapping[Place, CellResult]
    finer: Callable[[Sequence[int]], Losses | None] | None = None


def _by_another(
    spec: StudySpec,
    loss: str,
    held: ByOtherLoss,
    compared: Sequence[int],
    design: Design,
    decision: Settings,
    costs: Mapping[str, Cost],
    decided: Decision | None,
) -> OtherMetric:
    """What another loss says of the learners that are compared and that it can judge."""
    other = replace(spec, loss=loss)
    table = as_table(other, held.results)
    left_out = _left_out(other, table)
    kept = [place for place in compared if spec.learners[place].name not in left_out]
    losses, _ = complete_part(other, table, kept, design)
    if losses is not None and held.finer is not None and _one_split(losses):
        losses = held.finer(kept) or losses
    recommended = None if decided is None or decided.best is None else str(decided.best)
    metric = metric_of(loss_shown(loss))
    lacking = [spec.learners[place].name for place in compared if place not in kept]
    return other_metric(loss, losses, decision, costs, recommended, metric, lacking)


def failed_cell(spec: StudySpec, place: Place, failure: Failure) -> FailedCell:
    return FailedCell(
        learner=spec.learners[place.learner].name,
        dataset=spec.datasets[place.dataset].name,
        run=place.run,
        fold=place.fold,
        repetition=place.repetition,
        kind=failure.kind,
        reason=failure.reason,
    )


def _left_out(spec: StudySpec, table: ResultTable) -> dict[str, str]:
    """Learners that failed too often, with the most frequent reason."""
    fits = np.zeros(len(spec.learners), dtype=np.int64)
    for dataset, data in enumerate(spec.datasets):
        # on part of the rows a class may be absent, which is no reason to leave a learner out
        fits += table.there(dataset)[: data.runs * data.folds].sum(axis=(0, 1))
    reasons: list[Counter[str]] = [Counter() for _ in spec.learners]
    for index in sorted(table.failures):
        place = table.place(index)
        if place.run < spec.datasets[place.dataset].runs:
            reasons[place.learner][table.failures[index].explain()] += 1
    left_out = {}
    for learner, counted, total in zip(spec.learners, reasons, fits.tolist(), strict=True):
        failed = counted.total()
        if failed > TOLERATED_FAILURES * total:
            (most, _), *_ = counted.most_common(1)
            left_out[learner.name] = f"{failed} of {total} fits failed ({most})"
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


def setting_of(spec: StudySpec, plan: str | None = None) -> tuple[str, ...]:
    """How it was run, so that a paper can state it; `plan` where it is not that of the study."""
    sizes = [f"{data.name} ({data.rows} rows)" for data in spec.datasets[:3]]
    more = f" and {len(spec.datasets) - 3} more" if len(spec.datasets) > 3 else ""
    again = f", {spec.repetitions} repetitions" if spec.repetitions > 1 else ""
    return (
        f"Run with bestofk {spec.versions['bestofk']}: {', '.join(sizes)}{more}, plan "
        f"{plan or spec.plan}{again}, {_judged_by(spec)}, seed {spec.random_state}.",
    )


def _judged_by(spec: StudySpec) -> str:
    """``loss zero-one``, ``metric accuracy (larger is better)``, and others."""
    metric = metric_of(loss_shown(spec.loss))
    words = f"metric {metric.name} ({metric.direction})"
    if not metric.higher_is_better:
        words = f"loss {loss_shown(spec.loss) if ':' in spec.loss else spec.loss}"
    more = [metric_of(loss_shown(name)).name for name in spec.also]
    return f"{words}, also {joined(more)}" if more else words
