"""Tests on clusters of instances."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import (
    cluster_sign_flip,
    differences,
    permutation,
    skew_corrected_t,
)
from bestofk.stats.pairwise.clustered import cluster_t, clusters_of


def enumerated(d, clusters, alternative):
    """The p-value from all sign flips, written plainly."""
    sums = [sum(x for x, c in zip(d, clusters, strict=True) if c == name) for name in set(clusters)]
    observed = sum(sums)
    flips = [sum(s * x for s, x in zip(signs, sums, strict=True))
             for signs in product((-1, 1), repeat=len(sums))]  # fmt: skip
    above = np.mean([flip >= observed - 1e-9 for flip in flips])
    below = np.mean([flip <= observed + 1e-9 for flip in flips])
    both = min(1.0, 2 * min(above, below))
    return {"greater": above, "less": below, "two-sided": both}[alternative]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("seed", range(6))
def test_equals_enumeration(seed, alternative):
    rng = np.random.default_rng(seed)
    n = 25
    clusters = rng.integers(0, 9, n).tolist()
    a, b = rng.integers(0, 5, (2, n)) / 4 if seed % 2 else rng.random((2, n))
    result = cluster_sign_flip(a, b, clusters=clusters, alternative=alternative)
    assert result.pvalue == pytest.approx(enumerated(a - b, clusters, alternative), abs=1e-12)
    assert result.estimate == pytest.approx((a - b).mean(), abs=1e-12)


def test_the_interval_of_clusters_by_hand():
    """sum (D_c - n_c d)^2 / (1 - n_c / n) / n^2 for sums 3, 1, 2 of sizes 3, 2, 1 and d = 1."""
    d = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 2.0])
    grouping = clusters_of([0, 0, 0, 1, 1, 2], 6)
    error, df = grouping.standard_error(grouping.totals(d))
    assert error == pytest.approx(np.sqrt(0 + 1 / (1 - 2 / 6) + 1 / (1 - 1 / 6)) / 6)
    flipped = cluster_sign_flip(d, np.zeros(6), clusters=[0, 0, 0, 1, 1, 2])
    interval = stats.t.interval(0.95, df, loc=1, scale=error)
    assert flipped.confidence_interval(0.95) == pytest.approx(interval)


@pytest.mark.parametrize("sizes", [[3, 2, 1], [5, 5, 5, 5], [30, 1, 1, 2, 6], [1, 9]])
def test_bias_reduced_variance_and_its_degrees_of_freedom_by_matrices(sizes):
    """Bell and McCaffrey 2002 as written, for the regression on a constant."""
    n, of = sum(sizes), np.repeat(np.arange(len(sizes)), sizes)
    single = np.ones((n, 1))
    left = np.eye(n) - single @ single.T / n
    d = np.random.default_rng(9).random(n)
    columns = []
    for c in range(len(sizes)):
        here = of == c
        values, vectors = np.linalg.eigh(left[np.ix_(here, here)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        columns.append(left[:, here] @ root @ single[here, 0] / n)
    each = np.stack(columns, axis=1)
    residual = d - d.mean()
    variance = sum((residual @ column) ** 2 for column in columns)
    alike = np.equal.outer(of, of).astype(float)
    degrees = [
        np.trace(g) ** 2 / np.trace(g @ g) for g in (each.T @ each, each.T @ alike @ each)
    ]  # fmt: skip
    grouping = clusters_of(of, n)
    error, df = grouping.standard_error(grouping.totals(d))
    assert error == pytest.approx(np.sqrt(variance))
    assert df == pytest.approx(np.sqrt(degrees[0] * degrees[1]))


def test_strata_leave_out_the_variance_between_tasks():
    """The root of sum w_b^2 SE_b^2, each by scipy's standard error of the mean."""
    rng = np.random.default_rng(5)
    d = np.concatenate([rng.normal(0, 1, 10), rng.normal(9, 2, 20)])
    tasks = [0] * 10 + [1] * 20
    grouping = clusters_of(None, 30, tasks)
    error, df = grouping.standard_error(grouping.totals(d))
    parts = [stats.sem(d[:10]) / 3, stats.sem(d[10:]) * 2 / 3]
    assert error == pytest.approx(np.hypot(*parts))
    welch = (parts[0] ** 2 + parts[1] ** 2) ** 2 / (parts[0] ** 4 / 9 + parts[1] ** 4 / 19)
    assert df == pytest.approx(welch)
    # the p-value is that of all clusters together
    zero = np.zeros(30)
    assert cluster_sign_flip(d, zero, strata=tasks).pvalue == cluster_sign_flip(d, zero).pvalue


@pytest.mark.parametrize(
    ("strata", "expected"),
    [
        # a stratum of one cluster joins the largest
        ([0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 0]),
        ([0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 1, 1]),
    ],
)
def test_a_stratum_of_one_cluster_has_no_variance_of_its_own(strata, expected):
    assert clusters_of(None, 6, strata).stratum.tolist() == expected


def test_a_cluster_in_two_strata_makes_them_one():
    assert clusters_of([0, 0, 1, 2, 3], 5, [0, 1, 1, 0, 1]).stratum.tolist() == [0] * 4


def test_learners_that_never_differ_are_not_known_to_be_equal():
    result = cluster_sign_flip(np.zeros(10), np.zeros(10), unit=1.0)
    low, high = result.confidence_interval(0.95)
    # one item in ten might differ, by t with 9 degrees of freedom
    assert (result.pvalue, high) == (1.0, pytest.approx(stats.t.ppf(0.975, 9) / 10))
    assert low == -high
    alone = cluster_sign_flip([1.0, 0.0], [0.0, 0.0], clusters=[7, 7])
    assert (alone.pvalue, alone.confidence_interval()) == (1.0, (-inf, inf))


@pytest.mark.parametrize("clusters", [[1, 2], [[1], [2], [3]], [0.0, 1.0, np.nan]])
def test_labels_that_do_not_fit_are_refused(clusters):
    with pytest.raises(ArgumentError, match="clusters must contain"):
        cluster_sign_flip([1, 0, 1], [0, 0, 1], clusters=clusters)


@pytest.mark.parametrize("clusters", [None, np.arange(90) // 3])
@pytest.mark.parametrize("strata", [None, np.arange(90) // 45])
def test_blocks_of_pairs_do_not_change_the_result(monkeypatch, clusters, strata):
    rng = np.random.default_rng(3)
    a, b = rng.random((4, 1, 90)).round(2), rng.random((1, 3, 90)).round(2)
    whole = cluster_t(a, b, clusters=clusters, strata=strata)
    monkeypatch.setattr(differences, "NUMBERS_PER_BLOCK", 200)
    blocks = cluster_t(a, b, clusters=clusters, strata=strata)
    for name in ("estimate", "standard_error", "statistic", "pvalue"):
        assert_allclose(getattr(blocks, name), getattr(whole, name), rtol=1e-12)
    ends = [result.confidence_interval(0.99) for result in (blocks, whole)]
    assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_cluster_t_on_few_clusters_has_the_larger_of_two_pvalues():
    # 15 questions with 4 runs each: 5 questions differ, all in favour of b
    runs = np.zeros((15, 4))
    runs[:5] = [[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]]
    questions = np.repeat(np.arange(15), 4)
    result = cluster_t(runs.ravel(), np.zeros(60), clusters=questions, unit=1.0)
    # five signs that agree: 2 / 2^5
    assert result.pvalue == pytest.approx(0.0625)
    t = skew_corrected_t(runs.mean(axis=1), np.zeros(15))
    assert t.pvalue < 0.05
    low, high = result.confidence_interval(0.95)
    assert low == 0.0
    assert high == pytest.approx(t.confidence_interval(0.95).high)


def test_cluster_t_on_many_clusters_is_the_skew_corrected_t_test():
    a, b = np.random.default_rng(4).normal(size=(2, 25))
    assert cluster_t(a, b).pvalue == pytest.approx(skew_corrected_t(a, b).pvalue)
    # one pair with many and one with few differing clusters
    same = np.where(np.arange(25) < 8, a, b)
    both = cluster_t(np.stack([a, same]), b)
    assert both.pvalue[0] == pytest.approx(skew_corrected_t(a, b).pvalue)
    flips = permutation(same, b).pvalue
    assert both.pvalue[1] == max(flips, float(skew_corrected_t(same, b).pvalue))


def test_level_on_clusters_whose_size_decides_who_is_better():
    """30 clusters of 2 or 16 right-or-wrong items; the large ones favour a, the small ones b."""
    rng = np.random.default_rng(6)
    sets, rejected = 400, 0
    for _ in range(sets):
        large = rng.random(30) < 0.2
        sizes = np.where(large, 16, 2)
        of = np.repeat(np.arange(30), sizes)
        # 0.2 * 16 * 0.2 = 0.8 * 2 * 0.4, so the expected sums are equal
        lead = np.where(large, 0.2, -0.4)[of]
        a, b = (rng.random((2, len(of))) < 0.5 + np.outer([0.5, -0.5], lead)).astype(float)
        rejected += cluster_t(a, b, clusters=of, unit=1.0).pvalue <= 0.05
    assert rejected <= stats.binom.ppf(0.9999, sets, 0.05)
