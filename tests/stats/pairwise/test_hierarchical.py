"""The hierarchical Bayesian test against an independent integration of its posterior."""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import ArgumentError, BestOfKError, BestOfKWarning
from bestofk.stats.pairwise import hierarchical_bayes


def differences(datasets, runs, folds, mean, spread, seed):
    rng = np.random.default_rng(seed)
    sets = rng.normal(mean, spread, (datasets, 1, 1))
    return sets + rng.normal(0, 0.03, (datasets, runs, folds))


def integrated(d, rho, rope):
    """Integrate the posterior on a grid of mu, tau and nu, without sampling.

    The uniform prior of sigma_i makes the likelihood of delta_i a t distribution with n - 2
    degrees of freedom. Its convolution with the t distribution of the data sets is a mean over
    quantiles.
    """
    d = d.reshape(len(d), -1)
    n = d.shape[1]
    m, s2 = d.mean(axis=1), d.var(axis=1, ddof=1)
    v = (1 + (n - 1) * rho) / n
    scale = np.sqrt(v * (n - 1) * s2 / (1 - rho) / (n - 2))
    delta = m[:, None] + scale[:, None] * stats.t.ppf((np.arange(200) + 0.5) / 200, n - 2)
    mu = ((np.arange(100) + 0.5) / 50 - 1)[:, None] * np.abs(d).max()
    tau = np.geomspace(m.std() / 150, 1000 * m.std(), 45)
    density, below, above, sets = [], [], [], []
    for nu in 1 + np.geomspace(0.05, 300, 9):
        alpha, beta = np.meshgrid(np.linspace(0.5, 5, 46), np.linspace(0.05, 0.15, 21))
        # geometric steps of nu - 1 and tau: the densities of their logarithms
        prior = stats.gamma.pdf(nu - 1, alpha, scale=1 / beta).mean() * (nu - 1) * tau
        constant = np.exp(stats.t.logpdf(0, nu))
        for row in mu:
            squares = np.square((delta - row)[..., None] / tau) / nu
            likelihood = constant * (1 + squares) ** (-(nu + 1) / 2) / tau
            density.append(prior * likelihood.mean(axis=1).prod(axis=0))
            below.append(stats.t.cdf((-rope - row) / tau, nu))
            above.append(stats.t.sf((rope - row) / tau, nu))
            total = np.maximum(likelihood.sum(axis=1), 1e-300)
            sets.append(np.einsum("ik,ikt->it", delta, likelihood) / total)
    weights = np.array(density)
    weights /= weights.sum()
    masses = np.array([below, 1 - np.array(below) - np.array(above), above])
    best = masses.argmax(axis=0)
    wins = [weights[best == k].sum() for k in range(3)]
    means = (weights[:, None] * np.array(sets)).sum(axis=(0, 2))
    return np.array(wins), (weights * masses).sum(axis=(1, 2)), means


@pytest.mark.parametrize(
    ("datasets", "folds", "mean", "spread", "seed"),
    [(4, 10, 0.02, 0.03, 3), (7, 5, 0.01, 0.01, 4)],
)
def test_the_posterior_equals_its_numerical_integral(datasets, folds, mean, spread, seed):
    d = differences(datasets, 1, folds, mean, spread, seed)
    wins, masses, means = integrated(d, 1 / folds, 0.01)
    r = hierarchical_bayes(d, 0 * d, rope=0.01, samples=16_000)
    # Monte Carlo error of some thousand effective draws, and that of the grid
    assert np.array(r.probabilities) == pytest.approx(wins, abs=0.02)
    assert np.array(r.next_dataset) == pytest.approx(masses, abs=0.01)
    assert r.statistic == pytest.approx(r.next_dataset[2] - r.next_dataset[0])
    assert r.dataset_means == pytest.approx(means, abs=5e-4)


def test_nuts_on_the_full_model():
    # numpyro 0.22 NUTS, 4 x 4000 draws with R-hat 1.00 (studies/hierarchical_nuts.py 4000)
    rng = np.random.default_rng(20)
    d = rng.normal(0.008, 0.02, (20, 1, 1)) + rng.normal(0, 0.03, (20, 10, 10))
    r = hierarchical_bayes(d, 0 * d, rope=0.01, samples=16_000)
    assert np.array(r.probabilities) == pytest.approx([0.0061, 0.9258, 0.0681], abs=0.015)
    assert np.array(r.next_dataset) == pytest.approx([0.1226, 0.6213, 0.2561], abs=0.005)


def test_equal_and_constant_differences():
    a = differences(5, 1, 5, 0.3, 0.05, 5)
    for rope in (0.0, 0.01):
        assert hierarchical_bayes(a, a, rope=rope).probabilities == (0.0, 1.0, 0.0)
    greater = hierarchical_bayes(a + 0.5, a, rope=0.01, samples=2000)
    assert greater.right == 1.0
    # the smallest p-value of 2,000 draws
    assert greater.pvalue == pytest.approx(2 / 2001)
    # one data set without any variance
    b = a + differences(5, 1, 5, 0.1, 0.02, 6)
    b[0] = a[0]
    assert hierarchical_bayes(a, b).left > 0.9


def test_few_draws_warn_and_bad_input_is_refused():
    d = differences(5, 1, 5, 0.01, 0.02, 5)
    with pytest.warns(BestOfKWarning, match="more than 32 samples"):
        hierarchical_bayes(d, 0 * d, samples=32)
    with pytest.raises(ArgumentError, match="at least 3 data sets"):
        hierarchical_bayes(d[:2], 0 * d[:2])
    with pytest.raises(ArgumentError, match="rho must be a number from 0 to below 1"):
        hierarchical_bayes(d, 0 * d, rho=1.0)


def test_order_gives_the_test_all_folds():
    d = differences(6, 2, 3, 0.03, 0.01, 7)
    rng = np.random.default_rng(8)
    losses = np.stack([0.3 + d, 0.3 + 0 * d]) + rng.normal(0, 0.02, d.shape)
    direct = hierarchical_bayes(losses[1], losses[0], rope=0.01)
    table = bk.Scores(losses[..., None], dims=("learner", "dataset", "run", "fold", "repetition"),
                      learners=["a", "b"])  # fmt: skip
    for given in (table, losses[..., None]):
        decision = bk.compare_scores(given, test="hierarchical-bayes", rope=0.01)
        assert decision.decision.evidence.pvalue[0] == direct.pvalue
    with pytest.raises(BestOfKError, match="at least three folds each"):
        bk.compare_scores(bk.Scores(losses.mean(axis=(2, 3)), dims=("learner", "dataset")),
                 test="hierarchical-bayes")  # fmt: skip
