"""Calibration: the df (or the critical value) at which a test keeps its level."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, probability
from bestofk.lab.collect_outcomes import Outcomes, Test, ask
from bestofk.lab.error_rates import DFS, bare_statistic, counts_by_df
from bestofk.lab.rates import LEVEL, Rate
from bestofk.lab.simulation import Simulation
from bestofk.stats.intervals import clopper_pearson
from bestofk.stats.pairwise.calibration import Calibration


def calibrate(
    test: Test = "use-all-data",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    plan: Any = "10x10",
    *,
    sets: int = 1000,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    simulation: Simulation | None = None,
    **running: Any,
) -> Calibration:
    """The degrees of freedom with which a test keeps its level on problems of this kind.

    Parameters
    ----------
    test : str or callable
        A pairwise test, a test of K learners, or a function ``test(a, b)`` that gives a p-value.
    learners, problem, plan, sets
        What is simulated; see `simulate`. The learners must be equal on the problem:
        ``lab.problem("shuffled", data=...)`` makes such a problem of your own data.
    alpha : float
        The level to keep.
    alternative : {"two-sided", "greater", "less"}
        As for the test.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **running
        `random_state`, `n_jobs`, `engine`, `scheduler`, `store`, `progress`, `loss`: as for
        `simulate`.

    Returns
    -------
    Calibration
        ``order(..., test=..., df=calibration)`` uses it; ``calibration.save("c.json")`` keeps it.

    Notes
    -----
    A test whose statistic is ``Z = u sqrt(df + 1)`` rejects where ``|u|`` is at least the t
    quantile over ``sqrt(df + 1)``, so that one sorted array of ``|u|`` gives the Type I error at
    every df. It does not decrease with df: the calibrated df is the largest from 2 to 100 whose
    Type I error is at most alpha. Its interval holds every df that the exact binomial bounds of
    the Type I error leave open.

    A test without a df gets a critical value instead: the largest c such that p <= c on at most
    a share alpha of the data sets.

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    Examples
    --------
    With independent normal losses nothing has to be calibrated: the right df is 9, k - 1.

    >>> found = calibrate("kfold-t", problem="normal(plan='kfold:10')", sets=20_000)
    >>> found.df_low <= 9 <= found.df_high
    True
    """
    alpha = probability(alpha, "alpha")
    made, found = ask(
        test, learners, problem, plan, simulation=simulation, running={"sets": sets, **running},
        asked={"alpha": alpha, "alternative": alternative},
    )  # fmt: skip
    values: dict[str, Any] = dict.fromkeys(
        ("df", "df_low", "df_high", "critical_value", "critical_low", "critical_high", "type1",
         "type1_low", "type1_high")
    )  # fmt: skip
    if found.takes_df:
        values |= _calibrated_df(found, alpha, alternative)
    else:
        values |= _critical_value(found, alpha)
    mean, error = made.mean_differences()
    return Calibration(
        test=found.name,
        alpha=alpha,
        alternative=alternative,
        type1_default=float(found.rejected[:, 0, 0].mean()),
        default_df=found.df if found.takes_df else None,
        sets=made.sets,
        seed=made.random_state,
        level=LEVEL,
        design=made.design.describe(),
        runs=made.design.runs,
        folds=made.design.folds,
        learners=made.learners,
        problem=made.problem.describe(),
        mean_difference=mean,
        standard_error=error,
        **values,
    )


def _calibrated_df(found: Outcomes, alpha: float, alternative: str) -> dict[str, Any]:
    u = bare_statistic(found, alternative)
    counts = counts_by_df(u, alpha, alternative)
    n = len(u)
    bounds = clopper_pearson(counts, np.full(counts.shape, n), LEVEL)
    df = _largest(counts / n <= alpha)
    rate = None if df is None else Rate.of(int(counts[df - 2]), n)
    return {
        "df": df,
        "df_low": _largest(np.asarray(bounds.high) <= alpha),
        "df_high": _largest(np.asarray(bounds.low) <= alpha),
        "type1": None if rate is None else rate.value,
        "type1_low": None if rate is None else rate.low,
        "type1_high": None if rate is None else rate.high,
    }


def _largest(holds: Any) -> int | None:
    at = np.flatnonzero(holds)
    return int(DFS[at[-1]]) if len(at) else None


def _critical_value(found: Outcomes, alpha: float) -> dict[str, Any]:
    assert found.pvalue is not None
    p = np.sort(found.pvalue[:, 0])
    n = len(p)
    # how many p-values leave the bounds of the rate at or below alpha
    least = bisect_right(range(n), alpha, key=lambda count: Rate.of(count, n).high) - 1
    most = bisect_right(range(n), alpha, key=lambda count: Rate.of(count, n).low) - 1
    critical = _below(p, int(np.floor(alpha * n + 1e-9)))
    if critical <= 0:
        return {}
    rate = Rate.of(int((p <= critical).sum()), n)
    return {
        "critical_value": critical,
        "critical_low": _below(p, least) if least >= 0 else 0.0,
        "critical_high": _below(p, most),
        "type1": rate.value,
        "type1_low": rate.low,
        "type1_high": rate.high,
    }


def _below(p: Floats, count: int) -> float:
    """The largest of the p-values (or 1) that at most `count` of them reach; 0 if there is none."""
    if count >= len(p):
        return 1.0
    smaller = p[p < p[count]]
    # p-values are discrete: anything below the next one rejects the same data sets
    return float(smaller[-1]) if len(smaller) else 0.0
