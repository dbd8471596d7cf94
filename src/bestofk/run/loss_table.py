"""From cells to tables: the losses that all learners have, and what a fit costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.losses.losses import DIMS, Losses
from bestofk.plans.design import Design, Subsets
from bestofk.run.cells import CellResult
from bestofk.run.evaluation.result_table import ResultTable, as_table
from bestofk.run.experiment import Place
from bestofk.run.metrics.loss_functions import loss_shown
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import Cost

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
        return values[:, :, :, there[0]], design.kept(there), (note,)
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
