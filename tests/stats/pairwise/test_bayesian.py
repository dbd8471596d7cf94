"""The Bayesian correlated t test and the Bayesian signed rank test."""

from __future__ import annotations

import baycomp
import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import (
    corrected_resampled_t,
    correlated_t,
    signed_rank_bayes,
)

RUNS, FOLDS = 3, 5


def losses(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.31, 0.03, RUNS * FOLDS), rng.normal(0.29, 0.03, RUNS * FOLDS)


@pytest.mark.parametrize("rope", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_baycomp(rope, seed):
    a, b = losses(seed)
    # baycomp's difference is second minus first
    left, inside, right = baycomp.CorrelatedTTest.probs(b, a, rope=rope, runs=RUNS)
    r = correlated_t(a, b, rope=rope, rho=1 / FOLDS)
    assert (r.left, r.rope, r.right) == pytest.approx((left, inside, right), rel=1e-9)
    sizes = correlated_t(a, b, rope=rope, n_train=80, n_test=20)
    assert sizes.right == pytest.approx(r.right, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_without_rope_it_is_the_corrected_t_test(alternative):
    a, b = losses(1)
    bayes = correlated_t(a, b, n_train=70, n_test=13, alternative=alternative)
    plain = corrected_resampled_t(a, b, n_train=70, n_test=13, alternative=alternative)
    assert bayes.pvalue == pytest.approx(plain.pvalue, rel=1e-12)
    assert bayes.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert bayes.confidence_interval(0.9) == pytest.approx(plain.confidence_interval(0.9))
    assert bayes.rope == 0.0
    assert bayes.left + bayes.right == pytest.approx(1.0, rel=1e-14)


def test_pvalue_with_a_rope():
    a, b = losses(2)
    parts = {w: correlated_t(a, b, rope=0.01, rho=0.1, alternative=w) for w in ("greater", "less")}
    assert parts["greater"].pvalue == pytest.approx(1 - parts["greater"].right, rel=1e-9)
    assert parts["less"].pvalue == pytest.approx(1 - parts["less"].left, rel=1e-9)
    both = correlated_t(a, b, rope=0.01, rho=0.1).pvalue
    assert both == pytest.approx(min(1, 2 * min(p.pvalue for p in parts.values())))


def test_mass_without_spread():
    a = np.array([0.2, 0.3, 0.4])
    for rope in (0.0, 0.01):
        same = correlated_t(a, a, rope=rope, rho=0.1)
        assert (same.left, same.rope, same.right, same.pvalue) == (0.0, 1.0, 0.0, 1.0)
    above = correlated_t(a + 0.1, a, rope=0.05, rho=0.1, alternative="greater")
    assert (above.left, above.rope, above.right, above.pvalue) == (0.0, 0.0, 1.0, 0.0)
    inside = correlated_t(a + 0.1, a, rope=0.2, rho=0.1)
    assert (inside.rope, inside.pvalue) == (1.0, 1.0)
    # at the very edge of the region, in numbers without rounding
    for sign in (1, -1):
        edge = correlated_t([sign * 0.25] * 3, [0.0] * 3, rope=0.25, rho=0.1)
        assert (edge.left, edge.rope, edge.right, edge.pvalue) == (0.0, 1.0, 0.0, 1.0)


def test_refusals():
    a, b = losses()
    with pytest.raises(ArgumentError, match="requires rho"):
        correlated_t(a, b)
    with pytest.raises(ArgumentError, match="rho must be"):
        correlated_t(a, b, rho=1.0)
    for rope in (-0.1, np.nan, "wide"):
        with pytest.raises(ArgumentError, match="rope must be"):
            correlated_t(a, b, rho=0.1, rope=rope)
    with pytest.raises(ArgumentError, match="at least 2"):
        correlated_t([0.1], [0.2], rho=0.1)


N = 14


def dataset_losses(seed=0, shift=0.01):
    rng = np.random.default_rng(seed)
    return rng.normal(0.3 + shift, 0.03, N), rng.normal(0.3, 0.03, N)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_baycomp_in_distribution(rope, seed):
    a, b = dataset_losses(seed)
    sample = baycomp.SignedRankTest.sample(b, a, rope, nsamples=6_000, random_state=seed)
    winners = np.bincount(np.argmax(sample, axis=1), minlength=3) / 6_000
    r = signed_rank_bayes(a, b, rope=rope, samples=6_000, random_state=seed + 9)
    # two independent samples of 6,000: 4.5 standard errors of a difference of shares
    bound = 4.5 * np.sqrt(2 * 0.25 / 6_000)
    assert (r.left, r.rope, r.right) == pytest.approx(tuple(winners), abs=bound)
    mean = (sample[:, 2] - sample[:, 0]).mean()
    spread = (sample[:, 2] - sample[:, 0]).std()
    assert r.statistic == pytest.approx(mean, abs=4.5 * spread * np.sqrt(2 / 6_000))


@pytest.mark.parametrize("rope", [0.0, 0.02])
def test_equals_the_double_sum(rope):
    """The same weights through the printed double sum (few draws, so that one chunk holds)."""
    d = np.array([3, -1, 2, -2, 4, 4, -8]) / 100  # ties, and sums that lie exactly at the rope
    draws = 500
    r = signed_rank_bayes(d, d * 0, rope=rope, prior=0.7, samples=draws, random_state=5)
    rng = np.random.default_rng(5)
    w = np.vstack([rng.standard_exponential((7, draws)), rng.standard_gamma(0.7, (1, draws))])
    w /= w.sum(axis=0)
    z = np.append(d, 0.0)
    sums = np.round(z[:, None] + z, 9)

    def mass(value):
        step = (value > 2 * rope) + 0.5 * (value == 2 * rope)
        return np.einsum("is,ij,js->s", w, step, w)

    right, left = mass(sums), mass(-sums)
    middle = 1 - left - right if rope else np.full(draws, -1.0)
    assert r.statistic == pytest.approx((right - left).mean(), rel=1e-9)
    assert r.right == pytest.approx(np.mean((right > left) & (right > middle)))
    assert r.left == pytest.approx(np.mean((left > right) & (left > middle)))
    assert r.left + r.rope + r.right == pytest.approx(1.0)


def test_signed_rank_refusals():
    a, b = dataset_losses()
    for name, value in (
        ("prior", 0), ("samples", 0), ("rope", -1), ("random_state", "x")
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=name):
            signed_rank_bayes(a, b, **{name: value})
    with pytest.raises(ArgumentError, match="signed-rank-bayes"):
        signed_rank_bayes(a, b, samples=10).confidence_interval()
