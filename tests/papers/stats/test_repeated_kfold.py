"""Expected values: the paper's table written out with loops over folds and runs."""

from __future__ import annotations

from math import inf, sqrt
from statistics import fmean, variance

import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk.papers.stats import repeated_kfold_t
from bestofk.papers.stats.repeated_kfold import VARIANTS

RUNS, FOLDS = 4, 3
ALTERNATIVES = ("two-sided", "greater", "less")


def by_the_table(variant, x, df=None):
    """Bouckaert 2003, Table 1, with x[j][i] fold i of run j. Returns Z and df."""
    r, k = len(x), len(x[0])
    if variant.startswith("sorted"):
        x = [sorted(run) for run in x]
    everything = [value for run in x for value in run]
    m = fmean(everything)
    of_runs = [list(run) for run in x]
    of_folds = [[x[j][i] for j in range(r)] for i in range(k)]
    if variant.endswith("averaged-t"):
        groups, default = (of_runs, k - 1) if variant.startswith("folds") else (of_folds, r - 1)
        df = default if df is None else df
        return fmean(fmean(g) / sqrt(variance(g) / (df + 1)) for g in groups), df
    spread, default = {
        "use-all-data": (lambda: variance(everything), k * r - 1),
        "folds": (lambda: variance(map(fmean, of_runs)), r - 1),
        "folds-averaged-var": (lambda: fmean(map(variance, of_runs)), r - 1),
        "runs": (lambda: variance(map(fmean, of_folds)), k - 1),
        "runs-averaged-var": (lambda: fmean(map(variance, of_folds)), k - 1),
        "sorted-runs": (lambda: variance(map(fmean, of_folds)), k - 1),
        "sorted-runs-averaged-var": (lambda: fmean(map(variance, of_folds)), k - 1),
    }[variant]
    df = default if df is None else df
    return m / sqrt(spread() / (df + 1)), df


def differences(seed, shape=(RUNS, FOLDS)):
    rng = np.random.default_rng(seed)
    b = rng.normal(0.3, 0.05, shape)
    return b + rng.normal(0.02, 0.05, shape), b


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("df", [None, 2.0, 10.0, 3.7])
@pytest.mark.parametrize("shape", [(4, 3), (2, 6), (3, 2)])
def test_equals_the_table(variant, df, shape):
    a, b = differences(7, shape)
    z, degrees = by_the_table(variant, (a - b).tolist(), df)
    tails = {"greater": stats.t.sf(z, degrees), "less": stats.t.cdf(z, degrees)}
    tails["two-sided"] = 2 * min(tails.values())
    for alternative in ALTERNATIVES:
        r = repeated_kfold_t(a, b, variant=variant, df=df, alternative=alternative)
        assert r.statistic == pytest.approx(z, rel=1e-11)
        assert r.df == degrees
        assert r.pvalue == pytest.approx(tails[alternative], rel=1e-9)
        assert r.estimate == pytest.approx((a - b).mean(), rel=1e-12)
        assert r.test == variant


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_intervals_invert_the_test(variant, alternative):
    a, b = differences(3)
    r = repeated_kfold_t(a, b, variant=variant, alternative=alternative)
    for edge in r.confidence_interval(0.9):
        if np.isfinite(edge):
            at = repeated_kfold_t(a - edge, b, variant=variant, alternative=alternative)
            assert at.pvalue == pytest.approx(0.1, rel=1e-8)


def test_infinities_of_both_signs_are_no_evidence():
    b = np.zeros((3, 2))
    a = np.array([[0.1, 0.1], [-0.2, -0.2], [0.3, 0.1]])  # +inf, -inf, finite
    for alternative in ALTERNATIVES:
        r = repeated_kfold_t(a, b, variant="folds-averaged-t", alternative=alternative)
        assert (r.statistic, r.pvalue) == (0.0, 1.0)
    assert repeated_kfold_t(a, b, variant="folds-averaged-t").confidence_interval() == (-0.2, 0.1)


def test_infinities_of_one_sign_decide():
    b = np.zeros((3, 2))
    a = np.array([[0.1, 0.1], [0.0, 0.0], [-0.3, 0.1]])  # +inf, 0/0, finite
    r = repeated_kfold_t(a, b, variant="folds-averaged-t", alternative="greater")
    assert (r.statistic, r.pvalue) == (inf, 0.0)
    r = repeated_kfold_t(-a, b, variant="folds-averaged-t", alternative="greater")
    assert (r.statistic, r.pvalue) == (-inf, 1.0)


def test_calibrated_df_of_a_measured_design_is_silent():
    a, b = differences(1, (10, 10))
    r = repeated_kfold_t(a, b, df="calibrated")
    assert r.df == 10.0
    assert "naive-bayes against c4.5" in r.note
    assert r.note in r.explain()
    assert r.pvalue == repeated_kfold_t(a, b, df=10).pvalue


def test_calibrated_df_of_another_design_warns_and_says_which():
    a, b = differences(1, (8, 10))
    with pytest.warns(BestOfKWarning, match=r"8 runs of 10 folds.*10 x 10 folds") as caught:
        r = repeated_kfold_t(a, b, df="calibrated", variant="sorted-runs")
    assert caught[0].filename == __file__
    assert r.df == 9.0
    assert "10 x 10" in r.note
    assert "8 x 10" in r.note


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_axis_of_the_variance_must_be_longer_than_one(variant):
    """The table of Bouckaert's variants: where the variance runs over folds, or over runs."""
    one_run, one_fold = np.ones((2, 1, 2)), np.ones((2, 2, 1))
    over_folds = variant in ("folds-averaged-var", "folds-averaged-t", "runs", "sorted-runs")
    if variant == "use-all-data":
        allowed, refused = [one_run, one_fold], [np.ones((2, 1, 1))]
    else:
        allowed, refused = ([one_run], [one_fold]) if over_folds else ([one_fold], [one_run])
    for a, b in allowed:
        assert repeated_kfold_t(a, b, variant=variant, df=3).pvalue == 1.0
    for a, b in refused:
        with pytest.raises(ArgumentError, match="at least 2 for the variant"):
            repeated_kfold_t(a, b, variant=variant, df=3)
