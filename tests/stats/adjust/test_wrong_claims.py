"""Simulation: any wrong claim about five learners, wrong directions included, keeps the level."""

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.pairwise import kfold_t

TABLES, K, DATA_SETS, ALPHA = 4000, 5, 12, 0.05
FAMILY_WISE = [
    name for name, entry in CORRECTIONS.items() if entry.guarantee.startswith("the chance")
]
MEANS = {
    "all equal": (0, 0, 0, 0, 0),
    "one apart, far": (0, 0, 0, 0, 3),
    "two groups, far": (0, 0, 0, 3, 3),
    "two groups, near": (0, 0, 0, 0.7, 0.7),
    "three groups": (0, 0, 1, 1, 3),
    "steps, tiny": (0, 0.01, 0.02, 0.03, 0.04),
    "near twins": (0, 0.01, 1, 1.01, 3),
}


@pytest.fixture(scope="module", params=MEANS)
def tables(request):
    """P-values of all pairs, and where a claim would be wrong."""
    mu = np.array(MEANS[request.param], dtype=float)
    rng = np.random.default_rng(list(MEANS).index(request.param))
    losses = mu[:, None] + rng.normal(size=(TABLES, K, DATA_SETS))
    i, j = np.triu_indices(K, 1)
    result = kfold_t(losses[:, i], losses[:, j])
    return result.pvalue, np.sign(result.estimate) != np.sign(mu[i] - mu[j]), request.param


@pytest.mark.parametrize("name", FAMILY_WISE)
def test_any_wrong_claim(tables, name):
    p, wrong, words = tables
    claims = adjust(p, name, pairs=K) <= ALPHA
    errors = int((claims & wrong).any(axis=1).sum())
    # no evidence at 1 in 10,000 against a rate of at most alpha
    assert stats.binom.sf(errors - 1, TABLES, ALPHA) > 1e-4
    if words == "all equal":
        assert stats.binom.cdf(errors, TABLES, 0.03) > 1e-4


def test_without_correction_it_is_not_held(tables):
    p, wrong, words = tables
    if words == "all equal":
        assert ((p <= ALPHA) & wrong).any(axis=1).mean() > 0.2
