"""The equal-weighted cosine test: formula, number of cosines, and level on series."""

import numpy as np
import pytest
from scipy import fft, stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import diebold_mariano, ewc_t
from bestofk.stats.pairwise.cosine import least_information, number_of_cosines


def autoregressive(rng, count, n, rho):
    d = rng.standard_normal((count, n))
    d[:, 0] /= np.sqrt(1 - rho**2)
    for t in range(1, n):
        d[:, t] += rho * d[:, t - 1]
    return d


def test_against_the_discrete_cosine_transform():
    # scipy's orthonormal type II transform has the coefficients of Lazarus et al. (2018)
    d = autoregressive(np.random.default_rng(0), 1, 120, 0.4)[0] + 0.3
    result = ewc_t(d, 0 * d)
    B = int(result.df)
    variance = np.mean(np.square(fft.dct(d, type=2, norm="ortho")[1 : B + 1]))
    t = d.mean() / np.sqrt(variance / 120)
    assert result.statistic == pytest.approx(t)
    assert result.pvalue == pytest.approx(2 * stats.t.sf(abs(t), B))
    half = stats.t.ppf(0.95, B) * np.sqrt(variance / 120)
    low, high = result.confidence_interval(0.9)
    assert (low, high) == pytest.approx((d.mean() - half, d.mean() + half))


def test_fewer_cosines_for_more_dependent_series():
    counts = number_of_cosines([0.0, 0.5, 0.8, 0.9, 0.99], 500)
    assert (np.diff(counts) <= 0).all()
    assert counts[0] == np.floor(0.4 * 500 ** (2 / 3))
    assert counts[-1] == 4


def test_level_on_dependent_series():
    d = autoregressive(np.random.default_rng(2), 2000, 200, 0.5)
    rejected = int((ewc_t(d, 0 * d).pvalue <= 0.05).sum())
    # about 5 percent; the paired t test rejects in 27
    assert rejected <= stats.binom.ppf(0.9999, 2000, 0.055)


@pytest.mark.parametrize(("n", "steps"), [(200, 20), (500, 40)])
def test_level_on_series_that_change_their_sign_after_many_steps(n, steps):
    """The sign of the difference is drawn anew every 20 or 40 steps; lag 1 hardly shows it."""
    rng = np.random.default_rng(5)
    signs = rng.choice([-0.5, 0.5], size=(1000, -(-n // steps))).repeat(steps, axis=1)[:, :n]
    d = signs + rng.normal(size=(1000, n))
    rejected = int((ewc_t(d, 0 * d).pvalue <= 0.05).sum())
    # 12 and 17 percent if the lag-1 autocorrelation alone chose the number of cosines
    assert rejected <= stats.binom.ppf(0.9999, 1000, 0.06)


def test_slow_changes_reduce_the_information():
    rng = np.random.default_rng(8)
    white = rng.normal(size=(400, 2))
    regimes = white + np.repeat([[1], [-1], [1], [-1]], 100, axis=0)
    white, regimes = white - white.mean(axis=0), regimes - regimes.mean(axis=0)
    assert (least_information(white) > 150).all()
    assert (least_information(regimes) < 20).all()


@pytest.mark.parametrize(
    ("horizon", "statistic", "pvalue"),
    [(1, -1.7084913868155613, 0.09549383518806769), (3, -0.8124874272955269, 0.42144405724351663),
     (5, -0.6621486790232206, 0.511769933822055)],
)  # fmt: skip
def test_diebold_mariano_equals_the_package_dieboldmariano(horizon, statistic, pvalue):
    # dm_test of dieboldmariano 1.1.0 on these losses
    t = np.arange(40)
    a = np.round(np.sin(t / 3) + 0.3 * np.cos(1.7 * t), 3)
    b = np.round(0.4 * np.sin(t / 2 + 1) + 0.2, 3)
    result = diebold_mariano(a, b, horizon=horizon)
    assert result.statistic == pytest.approx(statistic, rel=1e-9)
    assert result.pvalue == pytest.approx(pvalue, rel=1e-9)
    assert result.df == 39


def test_the_default_horizon_is_the_cube_root():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 64))
    assert diebold_mariano(a, b).pvalue == diebold_mariano(a, b, horizon=4).pvalue
    with pytest.raises(ArgumentError, match="horizon must be at most half of the 64"):
        diebold_mariano(a, b, horizon=33)


def test_a_negative_long_run_variance_is_replaced():
    d = np.tile([1.0, -1.0], 20) + 0.1
    result = diebold_mariano(d, 0 * d, horizon=2)
    assert result.standard_error > 0
    assert np.isfinite(result.pvalue)
