"""Losses by test instance, from kept predictions: what one split is worth testing with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.losses.losses import Losses
from bestofk.plans.design import Design
from bestofk.run.cells import CellResult
from bestofk.run.evaluation.predictions import unpack
from bestofk.run.experiment import Experiment, Place
from bestofk.run.metrics.loss_functions import loss_shown


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
    units = tested_units(experiment)
    table = np.empty((len(kept), 1, 1, units, experiment.repetitions))
    for row, learner in enumerate(kept):
        for repetition in range(experiment.repetitions):
            place = Place(learner=learner, dataset=0, run=0, fold=0, repetition=repetition)
            result = results.get(place)
            if result is None or result.predictions is None:
                return None
            predicted = unpack(result.predictions)[0].astype(np.float64)
            table[row, 0, 0, :, repetition] = by_unit(experiment, each(truth, predicted))
    n_train = len(splits.train(0, 0))
    return Losses(
        table,
        dims=("algorithm", "dataset", "run", "fold", "repetition"),
        algorithms=[experiment.contenders[learner].name for learner in kept],
        datasets=[data.name],
        design=Design(
            kind="test-set",
            folds=units,
            repetitions=experiment.repetitions,
            n_train=(n_train,),
            n_test=(1,),
            stratified=splits.design.stratified,
            groups=None if data.groups is None else units,
        ),
        loss_name=loss_shown(experiment.loss.name),
        account=(
            f"Measured by bestofk on one test set of {len(test)} rows"
            f"{f' in {units} groups' if data.groups is not None else ''} ({splits.spec}).",
        ),
    )


def tested_units(experiment: Experiment) -> int:
    """How many rows of the one test set stand for themselves: its groups, where there are such."""
    return int(_unit_of(experiment).max()) + 1


def counts_rows_alike(experiment: Experiment) -> bool:
    """Whether the loss of an instance is as it is: rows have no weights and no groups."""
    data = experiment.datasets[0]
    return data.groups is None and data.sample_weight is None


def by_unit(experiment: Experiment, losses: Floats) -> Floats:
    """Losses of the test rows by unit, so that their plain mean is the (weighted) mean over rows.

    Rows of one group are not independent of each other: the groups are.
    """
    if counts_rows_alike(experiment):
        return losses
    data, test = experiment.datasets[0], experiment.splits[0].test(0, 0)
    weights = np.ones(len(test))
    if data.sample_weight is not None:
        weights = data.sample_weight.to_numpy(dtype=np.float64)[test]
    unit = _unit_of(experiment)
    sums = np.bincount(unit, weights=losses * weights)
    shares: Floats = sums * len(sums) / weights.sum()
    return shares


def _unit_of(experiment: Experiment) -> npt.NDArray[np.int64]:
    test = experiment.splits[0].test(0, 0)
    groups = experiment.datasets[0].groups
    if groups is None:
        return np.arange(len(test))
    _, unit = np.unique(groups.to_numpy()[test].astype(str), return_inverse=True)
    return unit.reshape(-1)
