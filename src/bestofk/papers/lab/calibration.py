"""Calibration: the df (or the critical value) at which a test keeps its level."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, probability
from bestofk.papers.lab.collect_outcomes import Outcomes, run_test
from bestofk.papers.lab.measures import LEVEL, rate_of
from bestofk.papers.lab.simulation import Simulation
from bestofk.stats.intervals import clopper_pearson
from bestofk.stats.pairwise.calibration import Calibration
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS
from bestofk.stats.tails import t_quantile

DFS = np.arange(2, 101)
"""The degrees of freedom that are tried, as in the paper."""


def calibrate(
    test: str = "use-all-data",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: Any = "10x10",
    *,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    simulation: Simulation | None = None,
    **arguments: Any,
) -> Calibration:
    """Find the degrees of freedom with which a test keeps its level on problems of this kind.

    Parameters
    ----------
    test : str
        A pairwise test, or a test of K learners.
    learners, problem, cv
        The simulation; see `simulate`. The learners must be equal on the problem:
        ``lab.problem("shuffled", data=...)`` turns your own data into such a problem.
    alpha : float
        The level to keep.
    alternative : {"two-sided", "greater", "less"}
        As for the test.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **arguments
        As for `simulate`.

    Returns
    -------
    Calibration
        ``compare_scores(..., test=..., test_options={"df": calibration})`` uses it;
        ``calibration.save("c.json")`` saves it.

    Notes
    -----
    A test whose statistic is ``Z = u sqrt(df + 1)`` rejects if ``|u|`` is at least the t quantile
    over ``sqrt(df + 1)``, so one sorted array of ``|u|`` gives the Type I error at every df. It
    does not decrease with df: the calibrated df is the largest from 2 to 100 whose Type I error
    is at most alpha. Its interval holds every df that is compatible with the exact binomial
    bounds of the Type I error.

    A test without a df gets a critical value instead: the largest c such that p <= c on at most
    a share alpha of the data sets. This also makes the sign test and Wilcoxon's test usable on
    folds, whose dependence they ignore.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    Examples
    --------
    Independent normal losses need no calibration: the right df is 9, k - 1.

    >>> calibration = calibrate("kfold-t", problem="normal(cv='kfold:10')", sets=20_000)
    >>> calibration.df_low <= 9 <= calibration.df_high
    True
    """
    alpha = probability(alpha, "alpha")
    arguments |= {"alpha": alpha, "alternative": alternative}
    if test in PAIRWISE_TESTS:
        arguments["calibrating"] = True
    simulation, result = run_test(test, learners, problem, cv, simulation, arguments)
    values: dict[str, Any] = dict.fromkeys(
        ("df", "df_low", "df_high", "critical_value", "critical_low", "critical_high", "type1",
         "type1_low", "type1_high")
    )  # fmt: skip
    if result.takes_df:
        values |= _calibrated_df(result, alpha, alternative)
    else:
        values |= _critical_value(result, alpha)
    mean, error = simulation.mean_differences()
    return Calibration(
        test=result.name,
        alpha=alpha,
        alternative=alternative,
        type1_default=float(result.rejected[:, 0, 0].mean()),
        default_df=result.df if result.takes_df else None,
        sets=simulation.sets,
        seed=simulation.random_state,
        level=LEVEL,
        design=simulation.design.describe(),
        runs=simulation.design.runs,
        folds=simulation.design.folds,
        learners=simulation.learners,
        problem=simulation.problem.describe(),
        mean_difference=mean,
        standard_error=error,
        **values,
    )


def unscaled_statistics(result: Outcomes, alternative: str) -> Floats:
    """Return the sorted u of the first repeat; large values are evidence against equality."""
    assert result.statistic is not None
    assert result.df is not None
    u = result.statistic[:, 0] / np.sqrt(result.df + 1.0)
    # 0/0 is no evidence for either side: its statistic is 0
    if alternative == "two-sided":
        return np.sort(np.abs(u))
    return np.sort(u if alternative == "greater" else -u)


def counts_by_df(u: Floats, alpha: float, alternative: str) -> Any:
    """Return how many of the sorted `u` are rejected at every df of `DFS`."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    critical = np.array([-t_quantile(tail, float(df)) / np.sqrt(df + 1.0) for df in DFS])
    # reject a statistic that equals the critical value up to rounding
    return len(u) - np.searchsorted(u, critical * (1 - 1e-12), side="left")


def _calibrated_df(result: Outcomes, alpha: float, alternative: str) -> dict[str, Any]:
    u = unscaled_statistics(result, alternative)
    counts = counts_by_df(u, alpha, alternative)
    n = len(u)
    bounds = clopper_pearson(counts, np.full(counts.shape, n), LEVEL)
    df = _largest_df(counts / n <= alpha)
    rate = {} if df is None else _rate_fields(int(counts[df - DFS[0]]), n)
    return {
        "df": df,
        "df_low": _largest_df(np.asarray(bounds.high) <= alpha),
        "df_high": _largest_df(np.asarray(bounds.low) <= alpha),
        **rate,
    }


def _largest_df(holds: Any) -> int | None:
    indices = np.flatnonzero(holds)
    return int(DFS[indices[-1]]) if len(indices) else None


def _critical_value(result: Outcomes, alpha: float) -> dict[str, Any]:
    p = np.sort(result.pvalue[:, 0])
    n = len(p)
    # the numbers of rejections whose rate has a bound of at most alpha
    least = bisect_right(range(n), alpha, key=lambda count: rate_of(count, n)["high"]) - 1
    most = bisect_right(range(n), alpha, key=lambda count: rate_of(count, n)["low"]) - 1
    critical = _largest_cutoff(p, int(np.floor(alpha * n + 1e-9)))
    if critical <= 0:
        return {"critical_high": _largest_cutoff(p, most)}
    return {
        "critical_value": critical,
        "critical_low": _largest_cutoff(p, least) if least >= 0 else 0.0,
        "critical_high": _largest_cutoff(p, most),
        **_rate_fields(int((p <= critical).sum()), n),
    }


def _rate_fields(count: int, n: int) -> dict[str, Any]:
    rate = rate_of(count, n)
    return {"type1": rate["rate"], "type1_low": rate["low"], "type1_high": rate["high"]}


def _largest_cutoff(p: Floats, count: int) -> float:
    """Return the largest p-value (or 1) that at most `count` of them reach; 0 if none does."""
    if count >= len(p):
        return 1.0
    smaller = p[p < p[count]]
    # p-values are discrete: any cutoff below the next one rejects the same data sets
    return float(smaller[-1]) if len(smaller) else 0.0
