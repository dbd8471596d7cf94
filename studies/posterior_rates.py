"""Measure how often the Bayesian signed rank test calls equal learners different.

    python studies/posterior_rates.py [TABLES]

Draw tables of normal losses of two equal learners. Print the percentage in which the probability
that one is better is at least 0.95 for a side chosen in advance, 0.975 for either side
("p <= 0.05"), or 0.95 for either side.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from bestofk.stats.pairwise import signed_rank_bayes


def rates(n: int, tables: int, seed: int) -> tuple[float, float, float]:
    """Return the rates: one side chosen in advance, p <= 0.05 two-sided, either side with 0.95."""
    rng = np.random.default_rng([seed, n])
    a, b = rng.normal(0.3, 0.05, (2, tables, n))
    result = signed_rank_bayes(a, b, samples=4000, random_state=seed)
    left, _, right = (np.asarray(p) for p in result.probabilities)
    return (
        float((right >= 0.95).mean()),
        float((np.asarray(result.pvalue) <= 0.05).mean()),
        float((np.maximum(left, right) >= 0.95).mean()),
    )


def lines(tables: int) -> Iterator[str]:
    yield "| data sets | one side, 0.95 | either side, 0.975 | either side, 0.95 |"
    yield "|---:|---:|---:|---:|"
    for n in (2, 3, 5, 7, 10, 12, 20, 30):
        cells = [f"{100 * rate:.1f}" for rate in rates(n, tables, seed=0)]
        yield f"| {n} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000):
        print(line)
