"""Measure how often any claim about five learners is wrong, direction included, by correction.

    python studies/wrong_claims.py [TABLES]

Draw tables of normal losses on twelve data sets and test all ten pairs by the paired t test
(two-sided, direction by the sign of the mean) at level 0.05. A claim is wrong if the two learners
are equal, or if the better one is called worse. Print one line per configuration of the true means
(in standard deviations of a loss) and spreads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from bestofk.stats.adjust import ANY_WRONG_CLAIM, CORRECTIONS, adjust
from bestofk.stats.pairwise import kfold_t

K, DATA_SETS, ALPHA = 5, 12, 0.05
MEANS = {
    "all equal": (0, 0, 0, 0, 0),
    "one apart, far": (0, 0, 0, 0, 3),
    "one apart, near": (0, 0, 0, 0, 0.7),
    "two groups, far": (0, 0, 0, 3, 3),
    "two groups, near": (0, 0, 0, 0.7, 0.7),
    "three groups": (0, 0, 1, 1, 3),
    "steps, tiny": (0, 0.01, 0.02, 0.03, 0.04),
    "steps, small": (0, 0.1, 0.2, 0.3, 0.4),
    "steps, medium": (0, 0.3, 0.6, 0.9, 1.2),
    "near twins": (0, 0.01, 1, 1.01, 3),
}
FAMILY_WISE = [name for name, c in CORRECTIONS.items() if c.guarantee == ANY_WRONG_CLAIM]


def wrong_claims(
    means: tuple[float, ...], tables: int, seed: int, shares: tuple[float, ...] = (1,) * K
) -> dict[str, float]:
    """Return the share of tables with a wrong claim, for each family-wise correction.

    `shares` are the standard deviations of the learners' noise.
    """
    rng = np.random.default_rng(seed)
    mu = np.array(means, dtype=float)
    losses = mu[:, None] + np.array(shares)[:, None] * rng.normal(size=(tables, K, DATA_SETS))
    i, j = np.triu_indices(K, 1)
    result = kfold_t(losses[:, i], losses[:, j])
    truth = np.sign(mu[i] - mu[j])
    direction = np.sign(np.asarray(result.estimate))
    wrong = {}
    for name in FAMILY_WISE:
        claimed = adjust(np.asarray(result.pvalue), name, pairs=K) <= ALPHA
        wrong[name] = float((claimed & (direction != truth)).any(axis=1).mean())
    return wrong


def lines(tables: int) -> Iterator[str]:
    yield "| true means | " + " | ".join(FAMILY_WISE) + " |"
    yield "|---|" + "---:|" * len(FAMILY_WISE)
    spreads = {"": (1,) * K, ", unequal spread": (0.2, 0.2, 1, 1, 3)}
    for extra, shares in spreads.items():
        for seed, (words, means) in enumerate(MEANS.items()):
            rates = wrong_claims(means, tables, seed, shares)
            cells = " | ".join(f"{100 * rate:.1f}" for rate in rates.values())
            yield f"| {words}{extra} | {cells} |"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000):
        print(line)
