"""Caution about a result if its own losses show that the test errs more often than alpha.

All rates are percentages of tables of two equal learners with a wrong claim at alpha = 0.05,
measured on tables that show the same sign (``python studies/caution_rates.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.formatting import shortened
from bestofk.decide.choose_test import Choice, pair_differences, skewness_of
from bestofk.decide.problem import BOTH_PARTS, Problem
from bestofk.stats.pairwise.entry import Caution, Sign

Shown = tuple[str, float] | None
"""The sign in words, and the size at which to read the rate; None if there is no sign."""
USUAL_RATE = 8.0
"""Results like these without a larger rate carry no caution."""


def caution_of(problem: Problem, choice: Choice) -> str:
    """Return why the test errs more often on such losses, and how often; empty if it does not."""
    if choice.entry is None:
        return ""
    sentences = (_sentence(problem, choice, caution) for caution in choice.entry.cautions)
    return " ".join(filter(None, sentences))


def _sentence(problem: Problem, choice: Choice, caution: Caution) -> str:
    """Return one sentence with one rate, that of this number of units; may be empty."""
    shown = _SIGNS[caution.sign](problem, choice)
    return "" if shown is None else _stated(caution, *shown)


def _stated(caution: Caution, words: str, size: float) -> str:
    rate = rate_at(caution.rates, size)
    if rate <= USUAL_RATE:
        return ""
    advice = f"; {caution.advice}" if caution.advice else ""
    return f"{words}: about {rate:.0f} percent of such results are wrong instead of 5{advice}."


def rate_at(rates: Mapping[int, float], size: float) -> float:
    """Return the measured rate at this size, interpolated on the logarithm of the size.

    Examples
    --------
    >>> rate_at({10: 20.0, 1000: 10.0}, 100), rate_at({10: 20.0, 1000: 10.0}, 5)
    (15.0, 20.0)
    """
    sizes = sorted(rates)
    return float(np.interp(np.log(max(size, 1)), np.log(sizes), [rates[size] for size in sizes]))


def _differences(problem: Problem, choice: Choice) -> Floats:
    """Return the differences (pairs, n) of the first pairs on the units of the test."""
    labels = choice.arguments.get("clusters")
    if labels is None:
        return pair_differences(problem)
    from bestofk.stats.pairwise.clustered import clusters_of

    return clusters_of(labels, problem.sample(1).shape[1]).totals(pair_differences(problem))


def _skewed(problem: Problem, choice: Choice) -> Shown:
    """Return words if a pair is more skewed than the most skewed of as many normal pairs.

    Differences of right or wrong answers with mean 0 are symmetric.
    """
    from bestofk.stats.tails import normal_quantile

    d = _differences(problem, choice)
    n = d.shape[1]
    if n < 3 or problem.zero_one:
        return None
    skewness, variance = skewness_of(d)
    largest = float(np.abs(skewness).max())
    if largest <= -float(normal_quantile(0.025 / len(d))) * np.sqrt(variance):
        return None
    return f"The differences are skewed (skewness {largest:.2g}), which {choice.name} ignores", n


def _extremely_skewed(problem: Problem, choice: Choice) -> Shown:
    """Return words if the L-skewness is above that of most lognormal differences."""
    d = _differences(problem, choice)
    n = d.shape[1]
    if n < 4:
        return None
    squares = np.square(d - d.mean(axis=1, keepdims=True))
    share, _ = _ratio(squares.max(axis=1), squares.sum(axis=1))
    extreme = (np.abs(l_skewness(d)) > 0.5 + 0.25 / n) & (share > 0.3)
    if not _many(extreme):
        return None
    percent = 100.0 * float(np.median(share[extreme]))
    return (
        f"The differences are extremely skewed (one of {n} {problem.unit}s has {percent:.0f} "
        "percent of their variance)"
    ), n


def _many(pairs: Bools) -> bool:
    """Return whether at least a quarter of the pairs show a sign."""
    return bool(4 * pairs.sum() >= len(pairs))


def l_skewness(d: Floats) -> Floats:
    """Return the L-skewness of every row, between -1 and 1; 0 if all numbers are equal.

    References
    ----------
    J. R. M. Hosking (1990). L-moments: analysis and estimation of distributions using linear
    combinations of order statistics. Journal of the Royal Statistical Society B 52, 105-124.

    Examples
    --------
    >>> l_skewness(np.array([[1.0, 2.0, 2.0, 6.0]])).round(6).tolist()
    [0.6]
    """
    x = np.sort(d, axis=1)
    n = x.shape[1]
    j = np.arange(n)
    b0 = x.mean(axis=1)
    b1 = (x * j).sum(axis=1) / (n * (n - 1.0))
    b2 = (x * (j * (j - 1.0))).sum(axis=1) / (n * (n - 1.0) * (n - 2.0))
    return _ratio(6.0 * b2 - 6.0 * b1 + b0, 2.0 * b1 - b0)[0]


def _at_one_end(problem: Problem, choice: Choice) -> Shown:
    """Return words if one model has nearly all scores at an end of the scale, another has not."""
    unit = choice.arguments.get("unit")
    losses = problem.sample(1)
    n = problem.n_units
    if unit is None or n >= 20:
        return None
    at_end = np.minimum(losses, unit - losses) <= 0.01 * unit
    shares = at_end.mean(axis=1)
    if shares.max() - shares.min() <= 0.6:
        return None
    return (
        f"Nearly all scores of {problem.names[int(shares.argmax())]} are at one end of the scale, "
        f"and {n} {problem.unit}s are too few to show how often others occur"
    ), n


def _autocorrelated(problem: Problem, choice: Choice) -> Shown:
    """Return words if successive losses depend on each other; the size is 100 times how much."""
    from bestofk.stats.pairwise.cosine import lag_one
    from bestofk.stats.tails import normal_quantile

    if "time" not in problem.situations:
        return None
    d = _differences(problem, choice)
    rho = float(lag_one((d - d.mean(axis=1, keepdims=True)).T).max())
    if rho <= -float(normal_quantile(0.025 / len(d))) / np.sqrt(d.shape[1]):
        return None
    words = f"Successive differences depend on each other (lag-1 autocorrelation {rho:.2f})"
    return words, 100.0 * rho


def _slow_changes(problem: Problem, choice: Choice) -> Shown:
    """Return words if the series has few independent stretches that noise hides at lag 1."""
    from bestofk.stats.pairwise.cosine import lag_one, variance_inflation

    d = _differences(problem, choice)
    centred = (d - d.mean(axis=1, keepdims=True)).T
    n = len(centred)
    rho = np.maximum(lag_one(centred), 0.0)
    slow = variance_inflation(centred)
    shown = (slow > np.maximum(1.5 * (1.0 + rho) / (1.0 - rho), 2.0)) & (n / slow < 30.0)
    if not _many(shown):
        return None
    worth = max(round(n / float(slow[shown].max())), 1)
    return f"The differences change slowly: {n} losses are worth about {worth} independent ones", n


def _unstable(problem: Problem, _choice: Choice) -> Shown:
    """Return words if fits of a learner vary far more than its test rows explain."""
    from bestofk.stats.pairwise.nested_cv import unstable_learners

    design = problem.design
    if problem.subset_values is None or not design.nested_runs:
        return None  # a plan of which nothing was run yet
    losses = problem.sample(BOTH_PARTS)
    unstable = unstable_learners(losses, runs=design.runs, folds=design.folds)
    names = [str(problem.names[one]) for one in unstable]
    words = f"On these data the error of {shortened(names, 3)} depends on a few training rows"
    return (words, 1) if names else None


def _dependent_splits(_problem: Problem, choice: Choice) -> Shown:
    return f"{choice.name} treats dependent losses as independent", 1


def _df_not_calibrated(_problem: Problem, choice: Choice) -> Shown:
    words = f"The degrees of freedom of {choice.name} are not calibrated"
    return None if "df" in choice.arguments else (words, 1)


_SIGNS: Mapping[Sign, Callable[[Problem, Choice], Shown]] = {
    "skewed": _skewed,
    "extremely skewed": _extremely_skewed,
    "scores at one end": _at_one_end,
    "autocorrelated": _autocorrelated,
    "slow changes": _slow_changes,
    "unstable learners": _unstable,
    "dependent splits": _dependent_splits,
    "df not calibrated": _df_not_calibrated,
}


def _ratio(numerator: Any, denominator: Any) -> tuple[Floats, Any]:
    from bestofk.stats.pairwise.differences import ratio

    return ratio(np.asarray(numerator), np.asarray(denominator))
