"""How often the corrected resampled t test rejects equal learners on bootstrap plans.

    python benchmarks/bootstrap_plans.py [SETS]

The null carries signal: two nearest means, each of which sees its own block of columns, drawn
alike, so that both have the same expected error by construction. The variance of the test is
corrected by n_test / n_train, once with the distinct rows of a sample (as the plan's design
counts them), once with all rows drawn.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import beta

from bestofk.splits import plan
from bestofk.stats.pairwise import corrected_resampled_t

CASES = ((50, 30), (100, 30), (100, 100), (300, 50))
"""Rows, bootstrap samples."""
COLUMNS, SHIFT, ALPHA = 4, 0.5, 0.05


def out_of_bag_errors(X: np.ndarray, y: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Error of the nearest mean, taught with each sample, on the rows that it left out."""
    squared = []
    for label in (0, 1):
        weight = drawn * (y == label)
        mean = weight @ X / np.maximum(weight.sum(axis=1, keepdims=True), 1)
        squared.append(np.square(X[None] - mean[:, None]).sum(axis=2))
    wrong = (squared[1] < squared[0]) != (y == 1)
    left_out = drawn == 0
    return np.asarray((wrong & left_out).sum(axis=1) / left_out.sum(axis=1))


def pvalues(rows: int, samples: int, sets: int, seed: int) -> np.ndarray:
    """Two-sided p-values of so many data sets: by distinct rows, by rows drawn."""
    rng = np.random.default_rng(seed)
    out = np.empty((2, sets))
    for one in range(sets):
        y = rng.permutation(np.arange(rows) % 2)
        X = rng.normal(size=(rows, 2 * COLUMNS)) + SHIFT * y[:, None]
        splits = plan(f"bootstrap:{samples}", random_state=seed * sets + one).materialise(rows, y)
        a, b = (out_of_bag_errors(block, y, splits.marks) for block in np.split(X, 2, axis=1))
        assert splits.design.n_train is not None
        assert splits.design.n_test is not None
        for way, n_train in enumerate((splits.design.n_train, rows)):
            out[way, one] = corrected_resampled_t(
                a, b, n_train=n_train, n_test=splits.design.n_test
            ).pvalue
    return out


def main(sets: int) -> None:
    """Print one line per case, with exact 95 percent bounds."""
    print("rows samples  sets  distinct rows           rows drawn")
    for seed, (rows, samples) in enumerate(CASES):
        cells = []
        for p in pvalues(rows, samples, sets, seed):
            k = int((p <= ALPHA).sum())
            low = beta.ppf(0.025, k, sets - k + 1) if k else 0.0
            high = beta.ppf(0.975, k + 1, sets - k)
            cells.append(f"{100 * k / sets:5.2f} % ({100 * low:.2f}-{100 * high:.2f})")
        print(f"{rows:4d} {samples:7d} {sets:5d}  {cells[0]:22s}  {cells[1]}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
