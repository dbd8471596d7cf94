"""Measure how often Bayesian tests over data sets call equal learners different.

    python studies/posterior_rates.py [TABLES]
    python studies/posterior_rates.py [TABLES] --hierarchical

Draw tables of normal losses of two equal learners: one per data set for the Bayesian signed rank
test, ten folds of every data set for the hierarchical one. Their differences have correlation 1/10
within a data set, and means that vary between data sets as much as the folds (or not at all).

Print the percentage in which the probability that one is better is at least 0.95 for a side chosen
in advance, 0.975 for either side ("p <= 0.05"), or 0.95 for either side.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from bestofk.stats.pairwise import PosteriorResult, hierarchical_bayes, signed_rank_bayes


def rates(n: int, tables: int, seed: int) -> tuple[float, float, float]:
    """Return the rates: one side chosen in advance, p <= 0.05 two-sided, either side with 0.95."""
    rng = np.random.default_rng([seed, n])
    a, b = rng.normal(0.3, 0.05, (2, tables, n))
    result = signed_rank_bayes(a, b, samples=4000, random_state=seed)
    return _shares(result)


def hierarchical_rates(n: int, tables: int, spread: float) -> tuple[float, float, float]:
    """Return the rates of the hierarchical test on n data sets whose true differences vary."""
    rng = np.random.default_rng([n, int(100 * spread)])
    d = rng.normal(0.0, spread, (tables, n, 1, 1)) + rng.normal(0.0, 0.9**0.5, (tables, n, 1, 10))
    d += rng.normal(0.0, 0.1**0.5, (tables, n, 1, 1))
    return _shares(hierarchical_bayes(d, 0 * d, samples=4_000))


def _shares(result: PosteriorResult) -> tuple[float, float, float]:
    left, _, right = (np.asarray(p) for p in result.probabilities)
    return (
        float((right >= 0.95).mean()),
        float((np.asarray(result.pvalue) <= 0.05).mean()),
        float((np.maximum(left, right) >= 0.95).mean()),
    )


def lines(tables: int, *, hierarchical: bool) -> Iterator[str]:
    if hierarchical:
        yield "| data sets | vary by | one side, 0.95 | either side, 0.975 | either side, 0.95 |"
        yield "|---:|---:|---:|---:|---:|"
        for n in (5, 10, 20):
            for spread in (0.0, 1.0):
                cells = [f"{100 * rate:.1f}" for rate in hierarchical_rates(n, tables, spread)]
                yield f"| {n} | {spread:g} | " + " | ".join(cells) + " |"
        return
    yield "| data sets | one side, 0.95 | either side, 0.975 | either side, 0.95 |"
    yield "|---:|---:|---:|---:|"
    for n in (2, 3, 5, 7, 10, 12, 20, 30):
        cells = [f"{100 * rate:.1f}" for rate in rates(n, tables, seed=0)]
        yield f"| {n} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()]
    for line in lines(*(sizes or [2_000]), hierarchical="--hierarchical" in sys.argv):
        print(line)
