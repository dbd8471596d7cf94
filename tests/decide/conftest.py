"""Tables of losses that several tests of the procedures share."""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk

DIMS = ("algorithm", "dataset", "run", "fold", "repetition")


@pytest.fixture
def five_by_two():
    """Losses (K, 5, 2) around given means."""

    def make(means, seed=0, spread=0.01):
        noise = np.random.default_rng(seed).normal(0, spread, (len(means), 5, 2))
        return np.asarray(means, dtype=float)[:, None, None] + noise

    return make


@pytest.fixture
def t_by_hand():
    """One-sided 5x2cv t test, eq. (7) of Yildiz and Alpaydin, written out."""

    def make(a, b):
        p = a - b
        s2 = sum((p[i, 0] - p[i].mean()) ** 2 + (p[i, 1] - p[i].mean()) ** 2 for i in range(5))
        t = p[0, 0] / np.sqrt(s2 / 5)
        return t, stats.t.sf(t, 5)

    return make


@pytest.fixture
def cross_validated():
    """A table of runs of folds around given means, with names."""

    def make(
        means=(0.4, 0.2, 0.2005), *, names="abcdefgh", runs=4, folds=5, spread=0.01, seed=11, **more
    ):
        noise = np.random.default_rng(seed).normal(0, spread, (len(means), 1, runs, folds, 1))
        values = np.asarray(means)[:, None, None, None, None] + noise
        return bk.Losses(values, dims=DIMS, algorithms=list(names)[: len(means)], **more)

    return make


@pytest.fixture
def on_data_sets():
    """A table of one loss per data set, from an array (K, n)."""

    def make(values, *, names="abcdefgh", **more):
        values = np.asarray(values, dtype=float)
        return bk.Losses(
            values, dims=("algorithm", "dataset"), algorithms=list(names)[: len(values)], **more
        )

    return make
