"""Bounds of p-values from printed tables: do they contain the true p-value, and are they attained?

Usage: python studies/printed_bounds.py [--tables 1000] [--seed 0] [--write]

--write: replace studies/results/printed.md.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from bestofk.decide import order_printed
from bestofk.stats.pairwise import mcnemar, paired_t
from bestofk.stats.pairwise.mcnemar_tests import mcnemar_of_counts
from bestofk.stats.printed import wrong_counts

PAGE = Path(__file__).parents[1] / "studies/results/printed.md"
CASES = {
    "accuracy in percent, 1 decimal, 40 items": ("accuracy", 40, 1),
    "accuracy in percent, 1 decimal, 300 items": ("accuracy", 300, 1),
    "accuracy in percent, no decimals, 300 items": ("accuracy", 300, 0),
    "accuracy in percent, 1 decimal, 1,319 items": ("accuracy", 1319, 1),
    "score and deviation, 2 decimals, 100 items": ("score", 100, 2),
}
"""Name: column, items and printed decimals."""
MAX_LISTED = 40
"""Items up to which all joint outcomes are listed."""


def scores_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the scores (2, n) of two models that share the difficulty of the items."""
    shared, gap = rng.uniform(0, 1), rng.choice([0.0, 0.03, 0.1])
    hard = shared * rng.normal(size=n) + np.sqrt(1 - shared**2) * rng.normal(size=(2, n))
    level = hard + np.array([[0.6 + 4 * gap], [0.6]])
    return (level > 0).astype(float) if kind == "accuracy" else level


def listed(printed: np.ndarray, n: int, half_unit: float) -> tuple[float, float]:
    """Return the smallest and largest p-value of all joint outcomes that fit both scores."""
    wrong = [wrong_counts(1 - score, n, half_unit) for score in printed]
    pairs = [
        (a - both, b - both)
        for a, b in product(*wrong)
        for both in range(max(0, a + b - n), min(a, b) + 1)
    ]
    counts = np.array(pairs, dtype=float).T
    p = mcnemar_of_counts(*counts, exact="auto")[1]
    return float(p.min()), float(p.max())


def row(name: str, tables: int, rng: np.random.Generator) -> str:
    kind, n, decimals = CASES[name]
    inside = attained = checked = 0
    verdicts = {"significant": 0, "not significant": 0, "inconclusive": 0}
    for _ in range(tables):
        scores = scores_of(kind, n, rng)
        scale = 100 if kind == "accuracy" else 1
        means = np.round(scale * scores.mean(axis=1), decimals)
        text = [f"{mean:.{decimals}f}" for mean in means]
        columns = {"model": ["A", "B"], kind: text}
        if kind == "score":
            columns["sd"] = [f"{sd:.{decimals}f}" for sd in scores.std(axis=1, ddof=1)]
        tested = order_printed(pd.DataFrame(columns), n).outcome.tested
        low, high = tested.pvalues[0]
        losses = 1 - scores[0], 1 - scores[1]
        result = mcnemar(*losses, exact="auto") if kind == "accuracy" else paired_t(*losses)
        p = float(result.pvalue)
        inside += low - 1e-9 <= p <= high + 1e-9
        verdicts[tested.verdicts[0]] += 1
        if kind == "accuracy" and n <= MAX_LISTED:
            checked += 1
            ends = listed(means / 100, n, 0.5 * 10.0**-decimals / 100)
            attained += bool(np.allclose(ends, (low, high), rtol=1e-9))
    shares = " | ".join(f"{100 * count / tables:.1f}" for count in verdicts.values())
    both = f"{100 * attained / checked:.1f}" if checked else ""
    return f"| {name} | {100 * inside / tables:.1f} | {both} | {shares} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write the page of the docs")
    options = parser.parse_args()
    lines = [
        "| printed | p inside (%) | bounds attained (%) | "
        "significant whatever the items were (%) | cannot be significant (%) | "
        "needs the items (%) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in CASES:
        lines.append(row(name, options.tables, np.random.default_rng(options.seed)))
        print(lines[-1], flush=True)
    text = (
        f"Percent of {options.tables:,} tables of two models. Bounds are attained if two of all "
        "joint outcomes that fit the table have these p-values. Made by "
        "`python studies/printed_bounds.py --write`."
    )
    if options.write:
        PAGE.write_text("\n".join([*lines, "", text]) + "\n")


if __name__ == "__main__":
    main()
