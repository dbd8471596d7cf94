"""Measure the family-wise error of equal learners with coarse losses.

    python studies/coarse_losses.py           print the tables (a few minutes)
    python studies/coarse_losses.py --smoke   the same from few studies (seconds)

Compare all pairs of K learners with the same error probability on every instance, two-sided, with
Holm's correction; a study errs if any pair is called different. Every learner has a latent score
for every instance: a part is shared by all learners ("alike": 0.8 or none), and 80 percent of the
rest stays the same from run to run. Every run draws new folds. The first table shows the worst
percentage over error rates of 0.05, 0.2 and 0.5 and over both values of "alike", as published and
with ``resolution = 1 / rows of a fold``. A percentage of 6 in 4,000 studies has a standard error
of 0.4.

The second table is the power of two learners with different error rates (0.3 and less): as
published, with the resolution, and with the p-value of sign flips of the folds as a lower bound.
That was the alternative; with it five folds could never show anything.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
from scipy.special import ndtri

from bestofk._base.errors import DesignError
from bestofk.papers.stats.repeated_kfold import VARIANTS
from bestofk.stats.pairwise import all_pairs, permutation, resolution_of

ALPHA = 0.05
ERRORS, ALIKE, STABLE = (0.05, 0.2, 0.5), (0.0, 0.8), 0.8
LEARNERS = (2, 5, 10)
CALIBRATED = tuple(VARIANTS)
DESIGNS: tuple[tuple[str, int, int, int, tuple[str, ...]], ...] = (
    ("3 folds of 10", 1, 3, 10, ("kfold-t", "corrected-repeated-kfold-t", "correlated-t")),
    ("2 folds of 25", 1, 2, 25, ("kfold-t", "corrected-repeated-kfold-t", "correlated-t")),
    ("5 folds of 10", 1, 5, 10, ("kfold-t", "corrected-repeated-kfold-t", "correlated-t")),
    ("10 folds of 5", 1, 10, 5, ("kfold-t", "corrected-repeated-kfold-t", "correlated-t")),
    ("5x2 folds of 10", 5, 2, 10, ("5x2cv-t", "5x2cv-f")),
    ("5x2 folds of 20", 5, 2, 20, ("5x2cv-t", "5x2cv-f")),
    ("10x10 on 50", 10, 10, 5, ("corrected-repeated-kfold-t", "correlated-t", *CALIBRATED)),
    ("10x10 on 100", 10, 10, 10, ("corrected-repeated-kfold-t", "correlated-t", *CALIBRATED)),
)
"""Name, runs, folds, rows per fold, tests."""


def wrong_counts(
    rng: np.random.Generator,
    studies: int,
    errors: tuple[float, ...],
    runs: int,
    folds: int,
    rows: int,
    alike: float,
) -> np.ndarray:
    """Return the number of wrong rows, shape (learners, studies, runs, folds)."""
    K, N = len(errors), folds * rows
    shared = rng.standard_normal((1, studies, N))
    own = rng.standard_normal((K, studies, N))
    out = np.empty((K, studies, runs, folds))
    for run in range(runs):
        fresh = rng.standard_normal((K, studies, N)) if runs > 1 else 0.0
        score = np.sqrt(STABLE) * own + np.sqrt(1 - STABLE) * fresh if runs > 1 else own
        score = np.sqrt(alike) * shared + np.sqrt(1 - alike) * score
        wrong = score < ndtri(np.array(errors))[:, None, None]
        if runs > 1:
            order = np.argsort(rng.random((studies, N)), axis=1)
            wrong = np.take_along_axis(wrong, order[None], axis=2)
        out[:, :, run] = wrong.reshape(K, studies, folds, rows).sum(axis=3)
    return out


def smallest(test: str, losses: np.ndarray, **resolution: float) -> np.ndarray:
    """Return the smallest p-value of all pairs, for every study."""
    runs, folds = losses.shape[-2:]
    facts: dict[str, object] = dict(resolution)
    if test in VARIANTS:
        facts["df"] = "calibrated"
    elif test == "correlated-t":
        facts |= {"n_train": folds - 1, "n_test": 1}
    if test in ("kfold-t", "correlated-t"):
        losses = losses.reshape(*losses.shape[:-2], runs * folds)
    pvalues = all_pairs(test, losses, **facts).pvalue
    return np.asarray(pvalues.min(axis=0))


def errors_of(test: str, K: int, runs: int, folds: int, rows: int, studies: int) -> list[float]:
    """Return the worst percentages of false claims: as published, with the resolution."""
    worst = [0.0, 0.0]
    pairs = K * (K - 1) / 2
    for seed, (error, alike) in enumerate(product(ERRORS, ALIKE)):
        rng = np.random.default_rng((seed, K, runs, folds, rows))
        losses = wrong_counts(rng, studies, (error,) * K, runs, folds, rows, alike) / rows
        for variant, facts in enumerate(({}, {"resolution": 1 / rows})):
            claimed = smallest(test, losses, **facts) * pairs <= ALPHA
            worst[variant] = max(worst[variant], 100 * float(claimed.mean()))
    return worst


def unequal_folds(K: int, studies: int) -> list[float]:
    """Measure three folds of 11, 10 and 10 rows; find the resolution from every table."""
    sizes = np.array([11, 10, 10])
    pairs = K * (K - 1) / 2
    worst = [0.0, 0.0]
    for seed, error in enumerate(ERRORS):
        rng = np.random.default_rng((seed, K))
        losses = rng.binomial(sizes, error, (studies, K, 1, 3)) / sizes
        for variant in range(2):
            claims = 0
            for table in losses:
                facts = {"resolution": resolution_of(table)} if variant else {}
                claims += (
                    float(smallest("corrected-repeated-kfold-t", table, **facts)) * pairs <= ALPHA
                )
            worst[variant] = max(worst[variant], 100 * claims / studies)
    return worst


def powers(runs: int, folds: int, rows: int, gap: float, studies: int) -> list[float]:
    """Return the percentages of studies that find the difference of two learners, three ways."""
    rng = np.random.default_rng((runs, folds, rows))
    counts = wrong_counts(rng, studies, (0.3, 0.3 - gap), runs, folds, rows, 0.8) / rows
    p = [
        smallest("corrected-repeated-kfold-t", counts, **facts)
        for facts in ({}, {"resolution": 1 / rows})
    ]
    d = (counts[0] - counts[1]).reshape(studies, runs * folds)
    flips = np.asarray(permutation(d, 0 * d).pvalue)
    return [100 * float((one <= ALPHA).mean()) for one in (*p, np.maximum(p[1], flips))]


def main(smoke: bool) -> None:
    """Print both tables."""
    print(f"{'design':16s} {'test':28s}  K  as published  with resolution")
    for design, runs, folds, rows, tests in DESIGNS:
        for test, K in product(tests, LEARNERS):
            studies = (60 if smoke else 4_000) // (1 if runs == 1 or smoke else 8 if K > 2 else 2)
            try:
                without, with_it = errors_of(test, K, runs, folds, rows, studies)
            except DesignError:  # no df keeps the level of this variant
                continue
            print(
                f"{design:16s} {test:28s} {K:2d}  {without:10.1f} %  {with_it:12.1f} %", flush=True
            )
    for K in LEARNERS:
        without, with_it = unequal_folds(K, 20 if smoke else 1_000)
        print(f"{'3 folds of 10-11':16s} {'corrected-repeated-kfold-t':28s} {K:2d}  "
              f"{without:10.1f} %  {with_it:12.1f} %", flush=True)  # fmt: skip
    print(f"\n{'design':16s} difference  as published  with resolution  bounded by sign flips")
    for design, runs, folds, rows, gap in (
        ("10x10 on 300", 10, 10, 30, 0.04),
        ("10x10 on 1,000", 10, 10, 100, 0.04),
        ("5 folds of 20", 1, 5, 20, 0.2),
    ):
        cells = powers(runs, folds, rows, gap, 100 if smoke else 2_000)
        print(f"{design:16s} {gap:10g}  " + "  ".join(f"{cell:12.1f} %" for cell in cells))


if __name__ == "__main__":
    main("--smoke" in sys.argv[1:])
