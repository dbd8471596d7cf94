"""Every registered test on losses whose distribution is known: the error is what theory says.

Losses are independent and normal (or right and wrong), so that the rejection probability of each
test follows from its formula alone; the formulas are written out here and solved with scipy.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import integrate, special, stats

from bestofk._base.errors import ArgumentError
from bestofk.papers import lab
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ALPHA = 0.05
SETS = 20_000
EQUAL = 30
"""Data sets for the tests of which learners are fitted."""
R, F = 10, 5  # runs and folds differ, so that none stands for the other


def two_tails(df: float, bar: float) -> float:
    return float(2 * stats.t.sf(bar, df))


def quantile(df: float) -> float:
    return float(stats.t.isf(ALPHA / 2, df))


def corrected(n: int, share: float) -> float:
    """P(|t| > q) when the variance of the mean is taken as (1/n + share) S^2, not S^2 / n."""
    return two_tails(n - 1, quantile(n - 1) * np.sqrt(1 + n * share))


def five_by_two_t() -> float:
    """d_11 = (u + v) / sqrt 2 over sqrt((v^2 + W) / 5), u, v normal, W chi-squared with 4 df."""
    v = np.linspace(-8, 8, 801)[:, np.newaxis]
    w = np.linspace(0, 60, 4001)
    bar = quantile(5) * np.sqrt((v * v + w) / 5) * np.sqrt(2)
    tails = special.ndtr(v - bar) + special.ndtr(-bar - v)
    inner = integrate.trapezoid(tails * stats.chi2.pdf(w, 4), w, axis=1)
    return float(integrate.trapezoid(inner * stats.norm.pdf(v[:, 0]), v[:, 0]))


def mean_of_t(count: int, df: int) -> float:
    """P(|mean of independent t variables| > q), by simulation with scipy's own draws."""
    draws = stats.t.rvs(df, size=(200_000, count), random_state=1)
    return float((np.abs(draws.mean(axis=1)) > quantile(df)).mean())


def sorted_runs(variant: str) -> float:
    """The three sorted variants, their formulas written out."""
    x = np.sort(np.random.default_rng(2).standard_normal((40_000, R, F)) * np.sqrt(2), axis=2)
    m = x.mean(axis=(1, 2))
    if variant == "sorted-runs":
        z = m / np.sqrt(x.mean(axis=1).var(axis=1, ddof=1) / F)
        return float((np.abs(z) > quantile(F - 1)).mean())
    if variant == "sorted-runs-averaged-var":
        z = m / np.sqrt(x.var(axis=1, ddof=1).mean(axis=1) / F)
        return float((np.abs(z) > quantile(F - 1)).mean())
    z = (x.mean(axis=1) / np.sqrt(x.var(axis=1, ddof=1) / R)).mean(axis=1)
    return float((np.abs(z) > quantile(R - 1)).mean())


def signed_ranks(n: int) -> float:
    """The largest attainable size of the exact two-sided signed rank test."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1
    for rank in range(1, n + 1):
        counts[rank:] += counts[: len(counts) - rank].copy()
    tail = 2 * np.cumsum(counts) / 2**n
    return float(tail[tail <= ALPHA][-1])


def signs(n: int) -> float:
    tail = 2 * stats.binom.cdf(np.arange(n // 2), n, 0.5)
    return float(tail[tail <= ALPHA][-1])


GRID = f"normal(cv='{R}x{F}')"
SPLITS = "normal(cv='resample:20:0.25')"
SETS_12 = "normal(datasets=12)"
HALVES = "normal(cv='5x2')"
INSTANCES = "right-or-wrong(instances=100)"

# test: (problem, probability of rejecting, or a function that gives it)
PAIRWISE = {
    "corrected-repeated-kfold-t": (GRID, lambda: corrected(R * F, 1 / (F - 1))),
    "5x2cv-t": (HALVES, five_by_two_t),
    # sum d^2 / (2 sum s^2) = (1 + U / V) / 2 with U, V chi-squared of 5 df each
    "5x2cv-f": (HALVES, lambda: stats.f.sf(2 * stats.f.isf(ALPHA, 10, 5) - 1, 5, 5)),
    "corrected-resampled-t": (SPLITS, lambda: corrected(20, 1 / 3)),
    "resampled-t": (SPLITS, lambda: ALPHA),
    "kfold-t": ("normal(cv='kfold:7')", lambda: ALPHA),
    "use-all-data": (GRID, lambda: ALPHA),
    "folds": (GRID, lambda: ALPHA),
    "folds-averaged-var": (GRID, lambda: two_tails(R * (F - 1), quantile(R - 1) * np.sqrt(F))),
    "runs": (GRID, lambda: ALPHA),
    "runs-averaged-var": (GRID, lambda: two_tails(F * (R - 1), quantile(F - 1) * np.sqrt(R))),
    "sorted-runs": (GRID, lambda: sorted_runs("sorted-runs")),
    "sorted-runs-averaged-var": (GRID, lambda: sorted_runs("sorted-runs-averaged-var")),
    "folds-averaged-t": (GRID, lambda: mean_of_t(R, F - 1)),
    "runs-averaged-t": (GRID, lambda: mean_of_t(F, R - 1)),
    "sorted-runs-averaged-t": (GRID, lambda: sorted_runs("sorted-runs-averaged-t")),
    "permutation": (SETS_12, lambda: np.floor(ALPHA * 2**11) / 2**11),
    "wilcoxon": (SETS_12, lambda: signed_ranks(12)),
    "sign": (SETS_12, lambda: signs(12)),
    "paired-t": (SETS_12, lambda: ALPHA),
    "skew-corrected-t": (SETS_12, None),
    "ewc-t": ("normal(cv='time:30')", None),
    "mcnemar": (INSTANCES, None),
    "correlated-t": (SPLITS, lambda: corrected(20, 1 / 3)),
    "signed-rank-bayes": (SETS_12, None),
}
ON_LEARNERS = {
    name: "5x5+nested" if entry.nested else "loo"
    for name, entry in PAIRWISE_TESTS.items()
    if entry.nested or entry.covers == ("loo",)
}
"""Tests whose losses no formula draws: measured on equal learners that have something to learn."""
NOT_DRAWN = (
    "delong", "jackknife-t", "welch-t", "skew-corrected-welch-t", "diebold-mariano",
    "hierarchical-bayes",
)  # fmt: skip
"""Tests of losses that the lab does not draw, and one that exceeds its level as its caution says:
see tests/stats/pairwise."""
FEW = {"permutation": 4000, "wilcoxon": 4000, "signed-rank-bayes": 60, "mcnemar": 4000}

THREE = "normal(means=(0, 0, 0), cv='kfold:8')"
THREE_SETS = "normal(means=(0, 0, 0), datasets=12)"
THREE_RIGHT = "right-or-wrong(errors=(0.3, 0.3, 0.3), instances=100)"
# exact where normality suffices; an approximation (chi-squared) is allowed a point and a half
MULTIPLE = {
    "anova": (THREE, 0.0),
    "repeated-measures-anova": (THREE, 0.0),
    "newman-keuls": (THREE, 0.0),
    "duncan": (THREE, 0.0),
    "tukey": (THREE, 0.0),
    "kruskal-wallis": (THREE, 0.015),
    "friedman": (THREE_SETS, 0.015),
    "nemenyi": (THREE_SETS, 0.015),
    "cochran-q": (THREE_RIGHT, 0.015),
    "looney": (THREE_RIGHT, 0.015),
    "bootstrap-a": (THREE_SETS, None),
    "bootstrap-b": ("normal(means=(0, 0, 0), datasets=6, repetitions=5)", None),
}  # fmt: skip


def agrees(count: int, n: int, p: float, slack: float = 0.0) -> bool:
    """Whether a count is within the central 99.98 % of a binomial, p known up to `slack`."""
    low = stats.binom.ppf(1e-4, n, max(p - slack, 0.0))
    high = stats.binom.ppf(1 - 1e-4, n, min(p + slack, 1.0))
    return bool(low <= count <= high)


def test_every_registered_test_is_here() -> None:
    assert {*PAIRWISE, *ON_LEARNERS, *NOT_DRAWN} == set(PAIRWISE_TESTS)
    assert set(MULTIPLE) == set(MULTIPLE_TESTS)


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise(name: str) -> None:
    problem, expected = PAIRWISE[name]
    sets = FEW.get(name, SETS)
    result = lab.type1_error(name, problem=problem, sets=sets, random_state=5).at(ALPHA)
    if expected is None:
        # discrete, conservative or Bayesian: the size is not alpha, but it must not be above
        assert result.count <= stats.binom.ppf(1 - 1e-4, sets, ALPHA)
        return
    # simulated expectations carry an error of their own
    slack = 0.004 if "sorted" in name or "averaged-t" in name else 0.0
    assert agrees(result.count, sets, float(expected()), slack)


@cache
def on_blocks(plan: str) -> lab.Simulation:
    """The losses that all tests of a plan see."""
    return lab.simulate(["naive-bayes"], "blocks(learners=3, rows=60)", plan, sets=EQUAL, n_jobs=1)


@pytest.mark.parametrize("name", ON_LEARNERS)
def test_on_equal_learners(name: str) -> None:
    result = lab.type1_error(name, simulation=on_blocks(ON_LEARNERS[name]))
    # some answer for the fitted models, which equal learners need not have in common
    assert result.at(ALPHA).count <= stats.binom.ppf(1 - 1e-4, EQUAL, 0.15)
    pvalue = result.outcomes.pvalue
    assert pvalue is not None
    assert len(np.unique(pvalue)) > 10


@pytest.mark.parametrize("name", MULTIPLE)
def test_of_k_learners(name: str) -> None:
    problem, slack = MULTIPLE[name]
    sets = SETS if MULTIPLE_TESTS[name].batch else 60 if "bootstrap" in name else 100
    result = lab.type1_error(name, problem=problem, sets=sets, random_state=6).at(ALPHA)
    if slack is None:
        assert result.count <= stats.binom.ppf(1 - 1e-4, sets, ALPHA)
    else:
        # Duncan's level for three means is 1 - (1 - alpha)^2
        level = 1 - (1 - ALPHA) ** 2 if name == "duncan" else ALPHA
        assert agrees(result.count, sets, level, slack)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_side(alternative: str) -> None:
    result = lab.type1_error(
        "kfold-t", problem="normal(cv='kfold:7')", sets=SETS, alternative=alternative
    )
    for row in result.rows:
        assert agrees(row["count"], SETS, row["alpha"])


def test_power_of_the_paired_t_test() -> None:
    # noncentral t: difference 1, standard deviation sqrt 2, n = 7
    result = lab.power("kfold-t", problem="normal(means=(0, 1), cv='kfold:7')", sets=SETS)
    shift = np.sqrt(7) / np.sqrt(2)
    q = stats.t.isf(ALPHA / 2, 6)
    expected = stats.nct.sf(q, 6, shift) + stats.nct.cdf(-q, 6, shift)
    assert agrees(result.at(ALPHA).count, SETS, float(expected))
    assert result.at(ALPHA).true_difference == 1.0
    assert agrees(result.at(ALPHA).wrong_count, SETS, float(stats.nct.cdf(-q, 6, shift)))


def test_calibration_finds_the_textbook_df() -> None:
    result = lab.calibrate("kfold-t", problem="normal(cv='kfold:12')", sets=40_000)
    assert result.df_low is not None
    assert result.df_low <= 11 <= result.df_high
    assert abs(result.df - 11) <= 1


def test_critical_value_of_a_test_that_knows_no_df() -> None:
    # the combined F rejects too seldom here: its size is known, so is the right critical value
    result = lab.calibrate("5x2cv-f", problem=HALVES, sets=40_000)
    right = stats.f.sf((1 + stats.f.isf(ALPHA, 5, 5)) / 2, 10, 5)
    assert result.df is None
    assert result.critical_low <= right <= result.critical_high
    assert result.type1 <= ALPHA


def test_a_test_of_the_callers_own() -> None:
    def naive(a: np.ndarray, b: np.ndarray) -> float:
        return float(stats.ttest_rel(a.ravel(), b.ravel()).pvalue)

    ours = lab.type1_error("kfold-t", problem="normal(cv='kfold:7')", sets=200)
    theirs = lab.type1_error(naive, problem="normal(cv='kfold:7')", sets=200)
    assert np.allclose(ours.outcomes.pvalue, theirs.outcomes.pvalue)
    assert theirs.test == "naive"
    assert ours.rows == theirs.rows
    with pytest.raises(ArgumentError, match="must return p-values between 0 and 1"):
        lab.type1_error(lambda a, b: 2.0, problem="normal(cv='kfold:7')", sets=2)
