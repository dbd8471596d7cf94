"""Whole plans at once: which learners take them, and what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestofk.data.encoded import Codes, Encoded
from bestofk.learners.predict import predict_subsets, seed_names
from bestofk.plans.splits import Splits
from bestofk.run.experiment import Experiment, Place

WHOLE_PLAN_FROM = 10_000
"""Rows times splits from which learners that can evaluate whole plans do so.

Below, fits are as quick, and each is timed for itself."""


def takes_whole_plans(experiment: Experiment, dataset: int, learner: int) -> bool:
    """The learner evaluates all splits of the data set at once, and it pays.

    The predictions are the same either way.
    """
    estimator = experiment.contenders[learner].estimator
    splits = experiment.splits[dataset]
    return (
        hasattr(estimator, "_predict_plan")
        and splits.n * len(splits) >= WHOLE_PLAN_FROM
        and not splits.leaves_out
        and not seed_names(estimator)
        and all(loss.needs == "labels" for loss in experiment.losses)
        and experiment.datasets[dataset].task == "classification"
    )


def predicted_in_plan(
    estimator: Any, encoded: Encoded, splits: Splits, group: Sequence[Place]
) -> dict[tuple[int, int], Codes]:
    """Predicted codes by (run, fold), all folds of the runs in `group`."""
    found: dict[tuple[int, int], Codes] = {}
    on_all_rows = [place for place in group if place.run < splits.runs]
    if on_all_rows:
        part, position = _only(splits.main, on_all_rows)
        codes = estimator._predict_plan(encoded, part)
        found = {at: codes[number] for at, number in position.items()}
    subsets = sorted({place.run for place in group} - {place.run for place in on_all_rows})
    places = ((run, fold) for run in subsets for fold in range(splits.folds_in(run)))
    found |= zip(places, predict_subsets(estimator, encoded, splits, subsets), strict=True)
    return found


def _only(splits: Splits, group: Sequence[Place]) -> tuple[Splits, dict[tuple[int, int], int]]:
    """The splits that hold the runs of `group`, and where each (run, fold) is among them."""
    if splits.fold_of is None:
        kept = sorted({place.fold for place in group})
        part = _part(splits, kept, runs=1, folds=len(kept))
        return part, {(0, fold): place for place, fold in enumerate(kept)}
    kept = sorted({place.run for place in group})
    if len(kept) == splits.runs:
        part = splits
    else:
        part = _part(splits, kept, runs=len(kept), folds=splits.folds)
    return part, {
        (run, fold): place * splits.folds + fold
        for place, run in enumerate(kept)
        for fold in range(splits.folds)
    }


def _part(splits: Splits, kept: list[int], *, runs: int, folds: int) -> Splits:
    design = splits.design.with_(runs=runs, folds=folds, n_train=None, n_test=None)
    return Splits.of(
        spec=splits.spec,
        seed=splits.seed,
        design=design,
        marks=np.array(splits.marks[kept]),
        notes=(),
    )
