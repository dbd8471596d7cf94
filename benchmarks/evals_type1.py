"""How often equal language models are told apart: rows pooled, items, and clusters of items.

    python benchmarks/evals_type1.py [--sets 2000] [--smoke]

Draws logs of two models that are equal by construction. Every item has its difficulty; each model
has its own luck with an item and with a whole cluster (a passage, a repository), drawn alike for
both; in every epoch an answer is right or wrong by chance. Counts how often each way of testing
finds a difference at level 0.05: McNemar's exact test and the paired t test over all rows as if
they were items, sign flips over items (epochs averaged first), and the tests over clusters. The
clustered t interval counts where it leaves out 0.
"""

from __future__ import annotations

import argparse

import numpy as np

from bestofk.intervals import clopper_pearson
from bestofk.pairwise import (
    cluster_sign_flip,
    durkalski,
    mcnemar,
    obuchowski,
    paired_t,
    yang,
)
from bestofk.pairwise.clustered.cluster_sign_flip import clustered_t_interval
from bestofk.pairwise.clustered.cluster_totals import clusters_of

ALPHA = 0.05
DIFFICULTY, OF_ITEM, OF_CLUSTER = 1.5, 1.0, 0.8
"""Standard deviations, in logits, of the difficulty and of a model's luck."""
AT_ONCE = 500
CASES = {
    "200 items, 1 epoch": (200, 200, 1),
    "200 items, 4 epochs": (200, 200, 4),
    "200 items in 20 clusters, 1 epoch": (200, 20, 1),
    "200 items in 20 clusters, 4 epochs": (200, 20, 4),
    "40 items in 8 clusters, 4 epochs": (40, 8, 4),
    "200 items in 10 unequal clusters, 4 epochs": (200, -10, 4),
}
"""Items, clusters (negative: of sizes 1, 2, 3, ...) and epochs."""


def clusters(items, count):
    """The cluster of each item."""
    if count > 0:
        return np.arange(items) * count // items
    sizes = np.arange(1, 1 - count)
    shares = np.cumsum(sizes) / sizes.sum()
    return np.searchsorted(shares, (np.arange(items) + 0.5) / items)


def logs(rng, sets, of, epochs):
    """Wrong answers (sets, 2, items, epochs) of two models that are equal."""
    n, C = len(of), int(of.max()) + 1
    logit = DIFFICULTY * rng.normal(size=(sets, 1, n)) + OF_ITEM * rng.normal(size=(sets, 2, n))
    if n > C:
        logit = logit + OF_CLUSTER * rng.normal(size=(sets, 2, C))[:, :, of]
    wrong = rng.random((sets, 2, n, epochs)) < 1 / (1 + np.exp(-logit[..., None]))
    return wrong.astype(float)


def pvalues(wrong, of):
    """Way of testing: (sets,) p-values."""
    sets, _, n, epochs = wrong.shape
    rows_a, rows_b = (wrong[:, k].reshape(sets, n * epochs) for k in (0, 1))
    a, b = wrong[:, 0].mean(axis=-1), wrong[:, 1].mean(axis=-1)
    found = {
        "rows: McNemar": mcnemar(rows_a, rows_b, exact=True).pvalue,
        "rows: t": paired_t(rows_a, rows_b).pvalue,
        "items: sign flips": cluster_sign_flip(a, b).pvalue,
    }
    if of.max() + 1 < n:
        found["clusters: sign flips"] = cluster_sign_flip(a, b, clusters=of).pvalue
        for test in (obuchowski, durkalski, yang):
            found[f"clusters: {test.__name__}"] = test(a, b, clusters=of).pvalue
        low, high = clustered_t_interval(a, b, clusters_of(of, n), outside=ALPHA / 2)
        found["clusters: t interval"] = np.where((low > 0) | (high < 0), 0.0, 1.0)
    return found


def rates(case, sets, seed=0):
    """Way of testing: how many of the sets it rejects."""
    items, count, epochs = CASES[case]
    rng = np.random.default_rng(seed)
    of = clusters(items, count)
    total: dict[str, int] = {}
    for start in range(0, sets, AT_ONCE):
        wrong = logs(rng, min(AT_ONCE, sets - start), of, epochs)
        for name, p in pvalues(wrong, of).items():
            total[name] = total.get(name, 0) + int((np.asarray(p) <= ALPHA).sum())
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    sets = 40 if given.smoke else given.sets
    for case in CASES:
        print(f"{case} ({sets} sets, level {ALPHA})")
        for name, count in rates(case, sets).items():
            ends = clopper_pearson(count, sets)
            print(f"  {name:24} {count / sets:.3f}  ({ends.low:.3f} to {ends.high:.3f})")


if __name__ == "__main__":
    main()
