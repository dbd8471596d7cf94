"""Tukey's test and the Newman-Keuls test."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats import newman_keuls, tukey


def test_equals_scipy():
    losses = np.random.default_rng(0).random((4, 6)) + np.array([[0.3], [0.0], [0.9], [0.35]])
    expected = stats.tukey_hsd(*losses)
    result = tukey(losses)
    np.testing.assert_allclose(result.pvalues, expected.pvalue, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(result.estimates, expected.statistic, rtol=1e-12, atol=1e-15)
    low, high = result.confidence_interval(0.9)
    interval = expected.confidence_interval(0.9)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(low[off], interval.low[off], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(high[off], interval.high[off], rtol=1e-6, atol=1e-9)
    assert (np.diag(low) == 0.0).all()


def test_interval_excludes_zero_exactly_when_significant():
    losses = np.random.default_rng(4).random((6, 5)) + np.arange(6)[:, None] * 0.2
    result = tukey(losses)
    low, high = result.confidence_interval(0.95)
    off = ~np.eye(6, dtype=bool)
    apart = (low > 0) | (high < 0)
    assert np.array_equal(apart[off], (result.pvalues < 0.05)[off])
    assert apart[off].any()
    assert not apart[off].all()


def test_no_spread():
    result = tukey([[0.3] * 4, [0.1 + 0.2] * 4, [0.9] * 4])
    assert result.pvalues.tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert result.statistics[0, 2] == np.inf
    assert (tukey(np.full((3, 4), 0.1)).pvalues == 1.0).all()


def losses_with(means, spread=1.0, folds=3):
    """Losses with exactly these means and MSE = spread^2 (folds = 3: the pattern -s, 0, s)."""
    pattern = np.array([-1.0, 0.0, 1.0]) * spread
    assert folds == 3
    return np.asarray(means, dtype=float)[:, None] + pattern


@cache
def peer_quantile(alpha, groups, df):
    return stats.studentized_range.isf(alpha, groups, df)


def direct(losses, alpha, stop):
    """Section 2.4.2 of the paper in plain loops over scipy's quantiles, with or without stop."""
    K, L = losses.shape
    means = losses.mean(axis=1)
    order = sorted(range(K), key=lambda i: means[i])
    mse = losses.var(axis=1, ddof=1).mean()
    accepted = []
    for P in range(K, 1, -1):
        q = peer_quantile(alpha, P, K * (L - 1))
        for a in range(K - P + 1):
            inside = any(b <= a and a + P <= b + size for b, size in accepted)
            if stop and inside:
                continue
            t = (means[order[a + P - 1]] - means[order[a]]) * math.sqrt(L / mse)
            if t < q:
                accepted.append((a, P))
    return order, accepted


# Section 4.2 of Yildiz and Alpaydin 2006, learners counted from 1 there and from 0 here. With
# spread 1 and L = 3, K = 5: neighbours are told apart beyond q(0.05; 2, 10) / sqrt(3) = 1.819,
# three beyond 2.239, four beyond 2.498.
EXAMPLES = [
    # "5 2 4 3 1": lines under (5 2 4) and (4 3), none under 1
    ({5: 0.0, 2: 1.0, 4: 2.0, 3: 3.5, 1: 9.0}, [(5, 2, 4), (4, 3)]),
    # "3 5 4 2 1": the first is not underlined
    ({3: 0.0, 5: 4.0, 4: 4.5, 2: 5.0, 1: 5.5}, [(5, 4, 2, 1)]),
    # "5 4 3 2 1": a line under the first that overlaps with no other
    ({5: 0.0, 4: 0.7, 3: 1.4, 2: 6.0, 1: 6.5}, [(5, 4, 3), (2, 1)]),
    # "2 4 5 3 1": overlapping lines, the overlap without the first
    ({2: 0.0, 4: 1.0, 5: 2.0, 3: 3.2, 1: 9.0}, [(2, 4, 5), (4, 5, 3)]),
    # "5 4 2 1 3": lines whose choices contradict each other
    ({5: 0.0, 4: 1.0, 2: 2.0, 1: 3.0, 3: 9.0}, [(5, 4, 2), (4, 2, 1)]),
    # pendigits, section 4.3: no underline at all
    ({5: 0.0, 3: 3.0, 4: 6.0, 2: 9.0, 1: 30.0}, []),
    # hepatitis, section 4.3: one line under all five
    ({3: 0.0, 5: 0.3, 2: 0.4, 1: 0.6, 4: 0.7}, [(3, 5, 2, 1, 4)]),
]


@pytest.mark.parametrize(("means", "lines"), EXAMPLES)
def test_examples_of_the_paper(means, lines):
    result = newman_keuls(losses_with([means[i] for i in range(1, 6)]), 0.05)
    assert result.order == tuple(i - 1 for i in means)
    assert result.underlines == tuple(tuple(i - 1 for i in line) for line in lines)
    assert result.mse == pytest.approx(1.0)
    assert result.df == 10.0


def test_the_stop_rule_matters():
    # Means 0, 1.95, 2.2: three lie within 2.24 and are accepted together; the pair (0, 1.95)
    # alone would exceed its own 1.82 (six degrees of freedom: 2.0 and 2.5).
    losses = losses_with([0.0, 2.2, 2.4])
    result = newman_keuls(losses)
    assert result.underlines == ((0, 1, 2),)
    assert not result.different(0, 1)
    _, accepted = direct(losses, 0.05, stop=False)
    assert (0, 2) not in accepted
    assert len(result.windows) == 1


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_direct_form(seed):
    rng = np.random.default_rng(seed)
    K, L = int(rng.integers(2, 6)), int(rng.integers(3, 5))
    losses = rng.random((K, L)) + rng.permutation(K)[:, None] * 0.35
    order, accepted = direct(losses, 0.05, stop=True)
    result = newman_keuls(losses, 0.05)
    assert result.order == tuple(order)
    assert result.underlines == tuple(tuple(order[a : a + P]) for a, P in sorted(accepted))
    for window in result.windows:
        expected = peer_quantile(0.05, window.size, K * (L - 1))
        assert window.critical_value == pytest.approx(expected, rel=1e-7)
        assert window.accepted == (window.statistic < window.critical_value)


def test_different():
    result = newman_keuls(losses_with([9.0, 1.0, 3.5, 2.0, 0.0]))
    assert result.underlines == ((4, 1, 3), (3, 2))
    assert result.different(0, 2)
    assert result.different(1, 2)
    assert not result.different(3, 2)
    assert not result.different(2, 2)


def test_newman_keuls_without_spread():
    result = newman_keuls([[0.3] * 4, [0.1] * 4, [0.3] * 4])
    assert result.order == (1, 0, 2)
    assert result.underlines == ((0, 2),)
    assert result.mse == 0.0
    rounded = newman_keuls([[0.1 + 0.2] * 4, [0.3] * 4, [0.9] * 4])
    assert rounded.underlines == ((1, 0),)
    same = newman_keuls(np.full((4, 3), 0.1))
    assert same.underlines == ((0, 1, 2, 3),)


def test_refuses():
    with pytest.raises(ArgumentError, match="alpha must be"):
        newman_keuls([[1, 2], [3, 4]], alpha=1.5)
    with pytest.raises(ArgumentError, match="losses must have shape"):
        newman_keuls(np.zeros((2, 2, 2)))
