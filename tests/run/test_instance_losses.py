"""Losses by instance average to the loss of the split."""

from __future__ import annotations

import numpy as np
import pytest

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
