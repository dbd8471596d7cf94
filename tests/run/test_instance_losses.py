"""Losses by instance average to the loss of the split."""

from __future__ import annotations

import numpy as np
import pytest

import bestofk as bk
from bestofk.data import dataset as dataset_module
from bestofk.data.reading import read_data
from bestofk.run.metrics import LOSSES


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.each is not None])
def test_a_loss_is_the_mean_of_its_instances(name):
    rng = np.random.default_rng(1)
    loss = LOSSES[name]
    if loss.needs == "probabilities":
        truth, predicted = rng.integers(0, 3, 37), rng.dirichlet([1, 1, 1], 37)
    else:
        truth, predicted = rng.integers(0, 3, (2, 37)).astype(float)
    each = np.asarray(loss.each(truth, predicted), dtype=float)
    assert each.shape == (37,)
    assert loss.value(truth, predicted) == pytest.approx(each.mean(), rel=1e-15)


def test_the_instances_of_one_split_have_the_means_of_the_run():
    study = bk.compare(
        ["max", "nmc"],
        "iris",
        cv="holdout:0.3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    problem = study.decision.problem
    assert problem.design.kind == "test-set"
    assert set(np.unique(problem.values)) == {0.0, 1.0}
    means = dict(zip(problem.names, problem.values.mean(axis=(1, 2)), strict=True))
    # the losses of the run are error rates of the same instances
    assert dict(study.scores.means()) == pytest.approx(means, abs=1e-15)


def test_labels_are_encoded_once_for_a_data_set(monkeypatch):
    calls = []
    encode = dataset_module.encode_labels

    def counted(y):
        calls.append(len(y))
        return encode(y)

    data = read_data("iris")
    monkeypatch.setattr(dataset_module, "encode_labels", counted)
    bk.compare(
        ["max", "nmc"], data, cv="kfold:3", progress=False, execution=bk.Execution(engine="serial")
    )
    assert len(data.classes) == 3
    assert calls == [150]
