"""Numbers are printed in the user's metric and direction."""

import json

import numpy as np
import pytest

import bestofk as bk
from bestofk.losses.losses import Metric, metric_of

UP = {
    "accuracy": ("1 - accuracy", 1.0, (0.7, 0.8, 0.79)),
    "AUC": ("1 - AUC", 1.0, (0.90, 0.95, 0.951)),
    "reward": ("-reward", 0.0, (-100.0, 120.0, 119.0)),
    "R2": ("-R2", 0.0, (-0.5, 0.8, 0.79)),
}


def scores(name, seed=1):
    means = np.array(UP[name][2])
    spread = 0.02 * np.abs(means).max()
    noise = np.random.default_rng(seed).normal(0, spread, (3, 10))
    noise -= noise.mean(axis=1, keepdims=True)
    values = means[:, None] + noise
    if UP[name][1]:
        values = np.clip(values, 0, 1)
        values += (means - values.mean(axis=1))[:, None]
    return values


def table(name, **more):
    return bk.Scores(
        scores(name), learners=["a", "b", "c"], higher_is_better=True, loss_name=name, **more
    )


@pytest.mark.parametrize("name", UP)
def test_scores_come_back_as_they_were(name):
    losses = table(name)
    loss_name, offset, _ = UP[name]
    assert losses.loss_name == loss_name
    assert losses.metric == Metric(name=name, higher_is_better=True, offset=offset)
    np.testing.assert_allclose(
        losses.metric.shown(losses.losses[:, 0, 0, :, 0]), scores(name), atol=1e-12
    )


@pytest.mark.parametrize("prefer", [None, "listed", ["c", "b", "a"]])
@pytest.mark.parametrize("name", UP)
def test_json_is_in_the_users_metric(name, prefer):
    decision = bk.compare_scores(table(name), prefer=prefer, margin=0.01)
    content = json.loads(json.dumps(decision.to_dict(pairs=True), allow_nan=False))
    means = dict(zip("abc", scores(name).mean(axis=1), strict=True))
    assert content["metric"] == {"name": name, "higher_is_better": True}
    assert content["candidates"][0] == max(means, key=means.get)
    for row in content["pairs"]:
        assert row["difference"] == pytest.approx(means[row["a"]] - means[row["b"]])
        assert row["low"] <= row["difference"] <= row["high"]
        if row["better"] is not None:
            assert row["better"] == (row["a"] if row["difference"] > 0 else row["b"])
    best = max(means.values())
    for row in content["table"]:
        assert row["mean"] == pytest.approx(means[row["name"]])
        # a worse score is a positive difference
        assert row["at_least"] <= best - means[row["name"]] <= row["at_most"]


def test_losses_keep_their_names():
    assert metric_of("zero-one") == Metric(name="error")
    assert metric_of("squared error").mean == "mean squared error"
    assert not metric_of("log-loss").higher_is_better
    assert metric_of("-").name == "-"
    assert metric_of("1 - ").name == "1 - "
