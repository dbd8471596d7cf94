"""Measure how often equal language models are told apart: by rows, items, or clusters of items.

    python studies/evals_type1.py [--sets 2000] [--intervals] [--smoke]

Draw logs of two models that are equal by construction. Every item has a difficulty; each model has
its own luck with an item and with a whole cluster (a passage, a repository), from the same
distribution for both; in every epoch an answer is right or wrong by chance. Count how often each
method finds a difference at level 0.05: McNemar's exact test and the paired t test over all rows as
if they were items, sign flips over items (epochs averaged first), and the tests over clusters. The
clustered t interval counts if it excludes 0.

``--intervals`` instead measures how often the interval misses the true difference: for clusters of
equal and very unequal sizes, with and without shared luck, equal and unequal models, one epoch and
four. It compares with the plain sandwich with C - 1 degrees of freedom and with Bell and
McCaffrey's degrees of freedom for independent items.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import t as student

from bestofk.stats.intervals import clopper_pearson
from bestofk.stats.pairwise import cluster_sign_flip, mcnemar, paired_t
from bestofk.stats.pairwise.clustered import cluster_moments, clusters_of

ALPHA = 0.05
DIFFICULTY, OF_ITEM, OF_CLUSTER = 1.5, 1.0, 0.8
"""Standard deviations, in logits, of the difficulty and of a model's luck."""
BATCH = 500
CASES = {
    "200 items, 1 epoch": (200, 200, 1),
    "200 items, 4 epochs": (200, 200, 4),
    "200 items in 20 clusters, 1 epoch": (200, 20, 1),
    "200 items in 20 clusters, 4 epochs": (200, 20, 4),
    "40 items in 8 clusters, 4 epochs": (40, 8, 4),
    "200 items in 10 unequal clusters, 4 epochs": (200, -10, 4),
    "150 items in 5 unequal clusters, 4 epochs": (150, -5, 4),
}
"""Items, clusters (negative: of sizes 1, 2, 3, ...) and epochs."""


def clusters(items, count):
    """Return the cluster of each item."""
    if count > 0:
        return np.arange(items) * count // items
    sizes = np.arange(1, 1 - count)
    shares = np.cumsum(sizes) / sizes.sum()
    return np.searchsorted(shares, (np.arange(items) + 0.5) / items)


def logs(rng, sets, of, epochs, luck=OF_CLUSTER, easier=0.0):
    """Draw wrong answers (sets, 2, items, epochs); `easier` makes the first model better."""
    n, C = len(of), int(of.max()) + 1
    logit = DIFFICULTY * rng.normal(size=(sets, 1, n)) + OF_ITEM * rng.normal(size=(sets, 2, n))
    if n > C:
        logit = logit + luck * rng.normal(size=(sets, 2, C))[:, :, of]
    logit[:, 0] -= easier
    wrong = rng.random((sets, 2, n, epochs)) < 1 / (1 + np.exp(-logit[..., None]))
    return wrong.astype(float)


def pvalues(wrong, of):
    """Return {method: (sets,) p-values}."""
    sets, _, n, epochs = wrong.shape
    rows_a, rows_b = (wrong[:, k].reshape(sets, n * epochs) for k in (0, 1))
    a, b = wrong[:, 0].mean(axis=-1), wrong[:, 1].mean(axis=-1)
    result = {
        "rows: McNemar": mcnemar(rows_a, rows_b, exact=True).pvalue,
        "rows: t": paired_t(rows_a, rows_b).pvalue,
        "items: sign flips": cluster_sign_flip(a, b).pvalue,
    }
    if of.max() + 1 < n:
        result["clusters: sign flips"] = cluster_sign_flip(a, b, clusters=of).pvalue
        low, high = t_interval(a - b, clusters_of(of, n))
        result["clusters: t interval"] = np.where((low > 0) | (high < 0), 0.0, 1.0)
    return result


def t_interval(d, grouping, unit=None):
    """Return the ends of the 95 % t intervals over clusters of the means of differences."""
    mean, error, df, _ = cluster_moments(d, np.zeros(len(d)), grouping=grouping, unit=unit)
    half = student.ppf(1 - ALPHA / 2, df) * error
    return mean - half, mean + half


def rates(case, sets, seed=0):
    """Return {method: number of rejections}."""
    items, count, epochs = CASES[case]
    rng = np.random.default_rng(seed)
    of = clusters(items, count)
    total: dict[str, int] = {}
    for start in range(0, sets, BATCH):
        wrong = logs(rng, min(BATCH, sets - start), of, epochs)
        for name, p in pvalues(wrong, of).items():
            total[name] = total.get(name, 0) + int((np.asarray(p) <= ALPHA).sum())
    return total


def uneven(rng):
    """Return cluster sizes: equal, in proportion 1, 2, 3, ..., and with a few large ones."""
    drawn = np.round(np.exp(rng.normal(1.0, 1.0, 40)))
    return {
        "5 of 20": np.full(5, 20),
        "20 of 10": np.full(20, 10),
        "10, as 1 to 10": np.bincount(clusters(200, -10)),
        "20, as 1 to 20": np.bincount(clusters(420, -20)),
        "5, as 1 to 5": np.bincount(clusters(150, -5)),
        "half in 1 of 11": np.array([100] + [10] * 10),
        "half in 1 of 31": np.array([100] + [3] * 30),
        "6, each twice the next": np.array([64, 32, 16, 8, 4, 2]),
        "40, lognormal": np.maximum(drawn, 1).astype(int),
    }


def true_difference(luck, easier):
    """Compute the expected difference of the error rates by quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    spread = np.sqrt(DIFFICULTY**2 + OF_ITEM**2 + luck**2)
    chance = [
        (weights / (1 + np.exp(-(spread * points - e)))).sum() / weights.sum() for e in (easier, 0)
    ]
    return chance[0] - chance[1]


def misses(sizes, luck, easier, epochs, sets, seed=1):
    """Return {rule: share of 95 % intervals that exclude the true difference}."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(len(sizes)), sizes)
    index = clusters_of(of, len(of))
    truth, share = true_difference(luck, easier), sizes / sizes.sum()
    missed = {"C - 1": 0, "independent": 0, "ours": 0}
    independent = _independent(sizes.astype(float))
    for start in range(0, sets, BATCH):
        wrong = logs(rng, min(BATCH, sets - start), of, epochs, luck, easier).mean(axis=-1)
        d = wrong[:, 0] - wrong[:, 1]
        totals = index.totals(d)
        rest = totals - sizes * d.mean(axis=1, keepdims=True)
        plain = np.sqrt((rest**2).sum(axis=1) * len(sizes) / (len(sizes) - 1)) / len(of)
        reduced = np.sqrt((rest**2 / (1 - share)).sum(axis=1)) / len(of)
        away = np.abs(d.mean(axis=1) - truth)
        missed["C - 1"] += int((away > student.ppf(0.975, len(sizes) - 1) * plain).sum())
        missed["independent"] += int((away > student.ppf(0.975, independent) * reduced).sum())
        low, high = t_interval(d, index, unit=1.0)
        missed["ours"] += int(((low > truth) | (high < truth)).sum())
    return {rule: count / sets for rule, count in missed.items()}


def _independent(sizes):
    """Compute Bell and McCaffrey's degrees of freedom for independent items."""
    n, share = sizes.sum(), sizes / sizes.sum()
    deviation = np.eye(len(sizes)) - np.outer(share, np.ones(len(sizes)))
    grown = np.sqrt(np.outer(1 / (1 - share), 1 / (1 - share)))
    g = grown * (deviation @ np.diag(sizes / n) @ deviation.T)
    return np.trace(g) ** 2 / np.trace(g @ g)


def intervals(sets):
    """Print the largest share of misses by cluster sizes, over all settings."""
    settings = [(luck, easier, epochs) for luck in (0.0, 0.8, 2.5) for easier in (0.0, 1.0, 2.5)
                for epochs in (1, 4)]  # fmt: skip
    print(f"misses of 95 % intervals, the largest of {len(settings)} settings ({sets} sets each)")
    print(f"  {'clusters':24} {'C - 1':>8} {'independent':>12} {'ours':>8}")
    for name, sizes in uneven(np.random.default_rng(1)).items():
        rows = [misses(sizes, *setting, sets) for setting in settings]
        worst = [max(row[rule] for row in rows) for rule in rows[0]]
        print(f"  {name:24} {worst[0]:8.3f} {worst[1]:12.3f} {worst[2]:8.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--intervals", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    sets = 40 if options.smoke else options.sets
    if options.intervals:
        intervals(sets)
        return
    for case in CASES:
        print(f"{case} ({sets} sets, level {ALPHA})")
        for name, count in rates(case, sets).items():
            ends = clopper_pearson(count, sets)
            print(f"  {name:24} {count / sets:.3f}  ({ends.low:.3f} to {ends.high:.3f})")


if __name__ == "__main__":
    main()
