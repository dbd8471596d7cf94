"""Expected values: Miller's published example, simulation of the plan, hand calculation."""

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.evals import items_needed
from bestofk.evals.item_plan import cluster_curve, detectable_errors, item_plan
from bestofk.stats.pairwise.clustered import clusters_of


def test_the_published_example():
    """Miller 2024: variance of the difference 1/9, three points, power .8: 969 questions."""
    assert items_needed(0.03, between=1 / 9) == 969


def test_epochs_divide_their_own_variance():
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    expected = z**2 * (0.1 + 0.2 / 4 + 0.3 / 2) / 0.05**2
    found = items_needed(0.05, between=0.1, within=(0.2, 0.3), epochs=(4, 2))
    assert found == int(np.ceil(expected))
    assert detectable_errors(0.05) == pytest.approx(z)


def test_the_planned_items_have_the_power():
    rng = np.random.default_rng(1)
    n = items_needed(0.2, between=0.5)
    d = rng.normal(0.2, np.sqrt(0.5), (4000, n))
    power = (stats.ttest_1samp(d, 0.0, axis=1).pvalue <= 0.05).mean()
    # standard error .006; t instead of normal costs a little
    assert power == pytest.approx(0.8, abs=0.025)


def test_no_difference_cannot_be_planned_for():
    with pytest.raises(ArgumentError, match="difference"):
        items_needed(0.0, between=1.0)


def plan(d, variance, count, clusters=None, level=0.05):
    held = clusters_of(clusters, len(d))
    power = cluster_curve(d, held, "t", level, unit=1.0)
    return item_plan(("a", "b"), d, variance, count, held, unit=1.0, level=level, power=power)


def test_parts_of_the_variance():
    rng = np.random.default_rng(2)
    n, epochs = 4000, 4
    truth = rng.normal(0.02, 0.3, n)
    a = truth[:, None] + rng.normal(0, 0.5, (n, epochs))
    b = rng.normal(0, 0.4, (n, epochs))
    d = a.mean(axis=1) - b.mean(axis=1)
    variance = np.stack([a.var(axis=1, ddof=1), b.var(axis=1, ddof=1)])
    found = plan(d, variance, np.full((2, n), epochs))
    assert found.within == pytest.approx(0.25 + 0.16, rel=0.05)
    # three standard errors of a variance of 0.19 from 4000 items
    assert abs(found.between - 0.09) < 3 * 0.19 * np.sqrt(2 / n)
    assert found.epochs == 4
    assert found.smallest_shown == pytest.approx(detectable_errors(0.05) * stats.sem(d), rel=2e-3)


def test_more_epochs_help_only_against_their_own_noise():
    n = 100
    noisy = np.tile([0.6, -0.4], n // 2) * 0.5
    all_noise = np.full((2, n), noisy.var(ddof=1))
    found = plan(noisy, all_noise, np.full((2, n), 2))
    assert found.between == 0.0
    assert found.epochs_to_settle is not None
    assert "epochs of the same items (now 2)" in found.explain()
    no_noise = plan(noisy, np.zeros((2, n)), np.full((2, n), 2))
    assert no_noise.epochs_to_settle is None
    assert "more epochs of the same items would not" in no_noise.explain()


def test_clusters_need_more_items():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(20), 10)
    d = 0.05 + rng.normal(0, 0.3, 20)[clusters] + rng.normal(0, 0.1, 200)
    one = np.full((2, 200), np.nan)
    count = np.ones((2, 200), dtype=int)
    alone, grouped = plan(d, one, count), plan(d, one, count, clusters)
    assert grouped.items_to_settle > 4 * alone.items_to_settle
