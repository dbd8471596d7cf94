"""Measure how often tests on one test set call equal models different.

    python studies/one_test_set.py [--sets 2000] [--resamples 399] [--power] [--delong]

Draw test sets and the predictions of two models with the same AUC, F1 or log-loss. In the case
"alike" the models are exchangeable; in the case "unlike" they reach the same metric in different
ways (another shape of the scores, another balance of precision and recall, other confidence).
Print the percentage of test sets on which each test claims a difference at the level 0.05, for
these tests of the paired difference:

- percentile, BCa and bootstrap-t intervals from resampled rows
- swap: permutation test that swaps the predictions of the two models row by row
- jackknife: t test of the jackknife components with n - 1 degrees of freedom
- flips: permutation test that flips the signs of the differences of the jackknife components
- hall: the jackknife statistic with Hall's (1992) correction for skewness
- delong: `bestofk.stats.pairwise.delong`, for the AUC

`--power` prints the percentage of true differences that are found. `--delong` compares the
normal p-values of `delong` with MLstatkit, if that package is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm, t as student

from bestofk.stats.pairwise.one_test_set import auc_components, delong

LEVEL = 0.05
Array = np.ndarray[Any, Any]


# Metrics of weighted rows: values and influence of each row, for many weightings at once.


def auc_of(y: Array, scores: Array, weights: Array) -> tuple[Array, Array]:
    order = np.argsort(scores, kind="stable")
    truth, w = y[order] == 1, weights[:, order]
    # scores are continuous: no ties but those of copies, which count half
    up, down = w * truth, w * ~truth
    below = np.cumsum(down, axis=1) - down / 2
    above = up.sum(axis=1, keepdims=True) - np.cumsum(up, axis=1) + up / 2
    m, n = up.sum(axis=1, keepdims=True), down.sum(axis=1, keepdims=True)
    m, n = np.maximum(m, 1), np.maximum(n, 1)
    area = (up * below).sum(axis=1, keepdims=True) / (m * n)
    influence = np.where(truth, (below / n - area) / m, (above / m - area) / n) * w.sum(
        axis=1, keepdims=True
    )
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return area[:, 0], influence[:, back]


def f1_of(y: Array, predicted: Array, weights: Array) -> tuple[Array, Array]:
    hit = (y == 1) & (predicted == 1)
    both = (y == 1) * 1.0 + (predicted == 1)
    denominator = np.maximum(weights @ both, 1e-9)[:, np.newaxis]
    value = 2 * (weights @ hit)[:, np.newaxis] / denominator
    total = weights.sum(axis=1, keepdims=True)
    return value[:, 0], (2 * hit - value * both) * total / denominator


def log_loss_of(y: Array, probability: Array, weights: Array) -> tuple[Array, Array]:
    each = -np.log(np.where(y == 1, probability, 1 - probability))
    value = (weights @ each / weights.sum(axis=1))[:, np.newaxis]
    return value[:, 0], each - value


# The same metrics of many predictions of the same rows.


def many_aucs(y: Array, scores: Array) -> Array:
    ranks = np.argsort(np.argsort(scores, axis=1), axis=1) + 1.0
    m = int(y.sum())
    value: Array = (ranks @ y - m * (m + 1) / 2) / (m * (len(y) - m))
    return value


def many_f1s(y: Array, predicted: Array) -> Array:
    value: Array = 2 * (predicted @ y) / np.maximum(y.sum() + predicted.sum(axis=1), 1e-9)
    return value


def many_log_losses(y: Array, probability: Array) -> Array:
    value: Array = -np.log(np.where(y == 1, probability, 1 - probability)).mean(axis=1)
    return value


MANY = {auc_of: many_aucs, f1_of: many_f1s, log_loss_of: many_log_losses}


# Nulls: test sets and predictions of two models with equal metrics.


@dataclass(frozen=True)
class Null:
    metric: Callable[[Array, Array, Array], tuple[Array, Array]]
    draw: Callable[[np.random.Generator, int, float], tuple[Array, Array, Array]]
    """Take a generator, the number of rows and a shift of the second model."""


def labels(rng: np.random.Generator, n: int, share: float) -> Array:
    """Return labels with at least three rows of each class."""
    while True:
        y = (rng.random(n) < share).astype(int)
        if 3 <= y.sum() <= n - 3:
            return y


def correlated(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    common = rng.normal(size=n)
    return tuple((common + rng.normal(size=n)) / np.sqrt(2) for _ in range(2))  # type: ignore


def auc_alike(rng: np.random.Generator, n: int, shift: float, share: float = 0.3) -> Any:
    y = labels(rng, n, share)
    e, f = correlated(rng, n)
    return y, 1.2 * y + e, (1.2 + shift) * y + f


def auc_unlike(rng: np.random.Generator, n: int, shift: float) -> Any:
    """The scores of the positives of the second model have three times the standard deviation."""
    y = labels(rng, n, 0.3)
    e, f = correlated(rng, n)
    return y, 1.2 * y + e, (1.2 / np.sqrt(2) * np.sqrt(10) + shift) * y + f * (1 + 2 * y)


def f1_alike(rng: np.random.Generator, n: int, shift: float) -> Any:
    y = labels(rng, n, 0.3)
    e, f = correlated(rng, n)
    return y, (1.6 * y + e > 0.9) * 1, ((1.6 + shift) * y + f > 0.9) * 1


@cache
def loose_slope() -> float:
    """Return the slope of a model that predicts more positives and has the same F1."""

    def f1(slope: float, cut: float) -> float:
        recall, false = norm.sf(cut - slope), norm.sf(cut)
        return 2 * 0.3 * recall / (0.3 * recall + 0.7 * false + 0.3)

    return float(brentq(lambda slope: f1(slope, 0.4) - f1(1.6, 0.9), 0.1, 6))


def f1_unlike(rng: np.random.Generator, n: int, shift: float) -> Any:
    y = labels(rng, n, 0.3)
    e, f = correlated(rng, n)
    return y, (1.6 * y + e > 0.9) * 1, ((loose_slope() + shift) * y + f > 0.4) * 1


def log_loss_alike(rng: np.random.Generator, n: int, shift: float) -> Any:
    x = rng.normal(size=n)
    y = (rng.random(n) < expit(1.5 * x)).astype(int)
    e, f = (rng.normal(size=n) for _ in range(2))
    return y, expit(1.5 * x + 0.7 * e), expit(1.5 * x + (0.7 - shift) * f)


@cache
def bold_slope() -> float:
    """Return the slope of an overconfident model with the log-loss of the cautious one."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2_000_000)
    p = expit(1.5 * x)

    def loss(slope: float) -> float:
        return float(-(p * np.log(expit(slope * x)) + (1 - p) * np.log(expit(-slope * x))).mean())

    return float(brentq(lambda slope: loss(slope) - loss(0.6), 1.6, 12))


def log_loss_unlike(rng: np.random.Generator, n: int, shift: float) -> Any:
    x = rng.normal(size=n)
    y = (rng.random(n) < expit(1.5 * x)).astype(int)
    return y, expit(0.6 * x), expit((bold_slope() - 4 * shift) * x)


NULLS = {
    "AUC, alike": Null(auc_of, auc_alike),
    "AUC, unlike": Null(auc_of, auc_unlike),
    "F1, alike": Null(f1_of, f1_alike),
    "F1, unlike": Null(f1_of, f1_unlike),
    "log-loss, alike": Null(log_loss_of, log_loss_alike),
    "log-loss, unlike": Null(log_loss_of, log_loss_unlike),
}
TESTS = ("percentile", "bca", "bootstrap-t", "swap", "jackknife", "flips", "hall", "delong")


def left_out_influence(metric: Any, y: Array, a: Array, b: Array) -> Array:
    """Return the differences of the jackknife components, by weights that leave out one row."""
    n = len(y)
    leave_one = 1.0 - np.eye(n)
    without = metric(y, a, leave_one)[0] - metric(y, b, leave_one)[0]
    one = np.ones((1, n))
    value = float(metric(y, a, one)[0][0] - metric(y, b, one)[0][0])
    components: Array = value + (n - 1) * (without.mean() - without)
    return components


def hall_pvalue(d: Array) -> float:
    n, mean, sd = len(d), d.mean(), d.std()
    if sd == 0:
        return 1.0 if mean == 0 else 0.0
    skew = ((d - mean) ** 3).mean() / sd**3
    s = mean / sd
    g = s + skew * s**2 / 3 + skew**2 * s**3 / 27 + skew / (6 * n)
    return float(2 * student.sf(abs(np.sqrt(n - 1) * g), n - 1))


def pvalue_of_draws(draws: Array, value: float) -> float:
    return float(1 + (np.abs(draws) >= abs(value) - 1e-12).sum()) / (1 + len(draws))


def claims(null: Null, n: int, shift: float, resamples: int, seed: list[int]) -> list[float]:
    """Return whether each test claims a difference on one drawn test set; NaN: not for it."""
    rng = np.random.default_rng(seed)
    y, a, b = null.draw(rng, n, shift)
    metric, one = null.metric, np.ones((1, n))

    def difference(weights: Array) -> tuple[Array, Array]:
        (value_a, of_a), (value_b, of_b) = metric(y, a, weights), metric(y, b, weights)
        influence = of_a - of_b
        total = weights.sum(axis=1)
        error = np.sqrt((weights * influence**2).sum(axis=1)) / total
        return value_a - value_b, error

    (value,), (error,) = difference(one)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
    drawn, errors = difference(weights)
    low, high = np.quantile(drawn, [LEVEL / 2, 1 - LEVEL / 2])
    found = [float(low > 0 or high < 0)]
    d = left_out_influence(metric, y, a, b)
    # BCa
    centred = d - d.mean()
    cubes = (centred**2).sum() ** 1.5
    acceleration = (centred**3).sum() / (6 * cubes) if cubes else 0.0
    share = np.clip((np.mean(drawn < value) + np.mean(drawn <= value)) / 2, 1e-3, 1 - 1e-3)
    bias = norm.ppf(share)
    z = bias + norm.ppf([LEVEL / 2, 1 - LEVEL / 2])
    low, high = np.quantile(drawn, norm.cdf(bias + z / (1 - acceleration * z)))
    found.append(float(low > 0 or high < 0))
    # bootstrap-t
    ts = (drawn - value) / np.maximum(errors, 1e-12)
    low, high = np.quantile(ts, [LEVEL / 2, 1 - LEVEL / 2])
    statistic = value / max(error, 1e-12)
    found.append(float(statistic < low or statistic > high))
    # swaps of the predictions
    swap = rng.random((resamples, n)) < 0.5
    many = MANY[metric]
    swapped = many(y, np.where(swap, b, a)) - many(y, np.where(swap, a, b))
    found.append(float(pvalue_of_draws(swapped, value) <= LEVEL))
    se = d.std(ddof=1) / np.sqrt(n)
    p = 2 * student.sf(abs(d.mean()) / se, n - 1) if se > 0 else 1.0
    found.append(float(p <= LEVEL))
    flips = rng.choice([-1.0, 1.0], size=(resamples, n)) @ d / n
    found.append(float(pvalue_of_draws(flips, value) <= LEVEL))
    found.append(float(hall_pvalue(d) <= LEVEL))
    if metric is auc_of:
        found.append(float(delong(*auc_components(y == 1, np.stack([a, b]))).pvalue <= LEVEL))
    else:
        found.append(float("nan"))
    return found


def lines(sets: int, resamples: int, shift: float) -> Iterator[str]:
    yield "| metric, models | rows | " + " | ".join(TESTS) + " |"
    yield "|---|---:|" + "---:|" * len(TESTS)
    for number, (name, null) in enumerate(NULLS.items()):
        for n in (50, 200, 1000):
            count = sets if n < 1000 else max(sets // 2, 1)
            seeds = ([7, number, n, one] for one in range(count))
            found = np.array([claims(null, n, shift, resamples, seed) for seed in seeds])
            rates = 100 * found.mean(axis=0)
            cells = ["" if np.isnan(rate) else f"{rate:.1f}" for rate in rates]
            yield f"| {name} | {n} | " + " | ".join(cells) + " |"


def agreement(sets: int) -> str:
    """Return the largest difference between normal p-values of `delong` and of MLstatkit."""
    from MLstatkit import Delong_test  # type: ignore[import-not-found]

    worst = 0.0
    for seed in range(sets):
        y, a, b = auc_alike(np.random.default_rng(seed), 20 + 5 * seed, 0.3)
        a, b = np.round(a, 1), np.round(b, 1)
        t = delong(*auc_components(y == 1, np.stack([a, b]))).statistic
        ours = 2 * norm.sf(abs(t))
        theirs = Delong_test(y, a, b, return_ci=False, return_auc=False, verbose=0)[1]
        worst = max(worst, abs(float(ours) - float(theirs)))
    return f"largest difference between p-values on {sets} test sets: {worst:.2g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--power", action="store_true", help="shift the second model")
    parser.add_argument("--delong", action="store_true", help="compare with MLstatkit")
    options = parser.parse_args()
    if options.delong:
        print(agreement(100))
    else:
        for line in lines(options.sets, options.resamples, 0.4 if options.power else 0.0):
            print(line, flush=True)
