"""The decision on made-up losses of the same design, before anything is run.

What is asked of a decision can be wrong in many ways: a test that does not cover the plan, a
control that nobody is, a correction for another family. The decision itself knows them all.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from bestofk.losses.losses import Losses
from bestofk.ordering.decision import Decision
from bestofk.ordering.order import decide
from bestofk.ordering.preference import MEASURED, MeasuredCosts
from bestofk.plans.design import Design
from bestofk.run.evaluation.instances import (
    counts_rows_alike,
    is_one_test_set,
    tested_units,
)
from bestofk.run.experiment import Experiment

INSTANCES = 50
"""Instances of a test set that stand for all of them."""


def rehearse(experiment: Experiment, decision: Decision) -> None:
    """Refuse, with the sentence of the decision itself, what cannot be decided afterwards."""
    names = [contender.name for contender in experiment.contenders]
    rng = np.random.default_rng(0)
    design = experiment.splits[0].design
    if is_one_test_set(experiment):
        n = min(INSTANCES, tested_units(experiment))
        design = Design(kind="test-set", folds=n)
        shape = (len(names), 1, 1, n, 1)
        values = rng.random(shape)
        if experiment.loss.name == "zero-one" and counts_rows_alike(experiment):
            values = np.round(values)
    else:
        sets = len(experiment.datasets)
        values = rng.random((len(names), sets, design.runs, design.folds, 1))
    if isinstance(decision.prior, str) and decision.prior in MEASURED:
        costs = MeasuredCosts(what=decision.prior, costs=dict.fromkeys(names, 1.0))
        decision = replace(decision, prior=costs)
    parts, subsets = None, design.subsets
    if subsets is not None:
        parts = rng.random((len(names), values.shape[1], subsets.runs, subsets.folds, 1))
    losses = Losses(
        values, dims=("algorithm", "dataset", "run", "fold", "repetition"), algorithms=names,
        design=design.with_(repetitions=1), subset_values=parts,
    )  # fmt: skip
    with warnings.catch_warnings():
        # the decision itself will say them
        warnings.simplefilter("ignore")
        decide(losses, decision)
