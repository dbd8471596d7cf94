"""Losses by test instance, from kept predictions: what one split is worth testing with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bestofk.checks import Floats
from bestofk.losses.losses import Losses
from bestofk.plans.design import Design
from bestofk.run.cells import CellResult
from bestofk.run.evaluation.loss_functions import loss_shown
from bestofk.run.evaluation.predictions import unpack
from bestofk.run.experiment import Experiment, Place


def is_one_test_set(experiment: Experiment) -> bool:
    """One data set, one split, and a loss that every instance has: the instances can be tested."""
    return has_instances(experiment) and experiment.splits[0].runs * experiment.splits[0].folds == 1


def has_instances(experiment: Experiment) -> bool:
    """One data set and a loss that every instance has, so that one split will do."""
    return len(experiment.datasets) == 1 and experiment.loss.each is not None


def instance_losses(
    experiment: Experiment, results: Mapping[Place, CellResult], kept: Sequence[int]
) -> Losses | None:
    """Losses of the kept learners on every instance of the one test set."""
    each = experiment.loss.each
    assert each is not None
    data, splits = experiment.datasets[0], experiment.splits[0]
    test = splits.test(0, 0)
    if data.task == "classification":
        truth: Floats = data.labels()[0][test].astype(np.float64)
    else:
        truth = data.y.to_numpy(dtype=np.float64)[test]
    table = np.empty((len(kept), 1, 1, len(test), experiment.repetitions))
    for row, learner in enumerate(kept):
        for repetition in range(experiment.repetitions):
            place = Place(learner=learner, dataset=0, run=0, fold=0, repetition=repetition)
            result = results.get(place)
            if result is None or result.predictions is None:
                return None
            predicted = unpack(result.predictions)[0].astype(np.float64)
            table[row, 0, 0, :, repetition] = each(truth, predicted)
    n_train = len(splits.train(0, 0))
    return Losses(
        table,
        dims=("algorithm", "dataset", "run", "fold", "repetition"),
        algorithms=[experiment.contenders[learner].name for learner in kept],
        datasets=[data.name],
        design=Design(
            kind="test-set",
            folds=len(test),
            repetitions=experiment.repetitions,
            n_train=(n_train,),
            n_test=(1,),
            stratified=splits.design.stratified,
        ),
        loss_name=loss_shown(experiment.loss.name),
        account=(f"Measured by bestofk on one test set of {len(test)} rows ({splits.spec}).",),
    )
