"""Check the statement about the best by simulation, with the tests of the default decisions.

Draw tables of K learners with known means. Count the tables in which the best learner is excluded
from those that may be the best, and those in which any bound does not hold.

Usage: python studies/best_statement.py [--tables 1000] [--seed 0] [--write]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.decide import order_many
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.simulation import simulate
from bestofk.run.inputs import default_plan
from bestofk.splits.design import Design

PAGE = Path("studies/results/best.md")
LEARNERS = (2, 3, 6, 10, 25)
TRUTHS: dict[str, Callable[[int], np.ndarray]] = {
    "all equal": lambda K: np.zeros(K),
    "one better": lambda K: np.where(np.arange(K) == 0, 0.0, 1.0),
    "graded": lambda K: np.linspace(0.0, 2.0, K),
}
"""The true differences from the best, as multiples of the gap of a design."""
ROUNDING = 1e-12

Drawn = tuple[np.ndarray, np.ndarray, dict[str, Any]]
"""Losses of all tables, the true means, and the arguments of `order_many`."""


def data_sets(K: int, shift: np.ndarray, tables: int, rng: np.random.Generator) -> Drawn:
    """Draw means on 30 data sets, normal with a standard deviation of 0.03."""
    means = 0.2 + 0.02 * shift
    difficulty = rng.uniform(-0.15, 0.15, (tables, 1, 30))
    losses = means[:, None] + difficulty + rng.normal(0, 0.03, (tables, K, 30))
    design = Design(kind="scores")
    return losses[..., None, None, None], means, {"design": design}


def skewed_data_sets(K: int, shift: np.ndarray, tables: int, rng: np.random.Generator) -> Drawn:
    """Draw means on 12 data sets; the best is skewed to the left, the others to the right."""
    means = 0.2 + 0.04 * shift
    noise = 0.03 * (rng.exponential(1.0, (tables, K, 12)) - 1.0)
    noise[:, 0] *= -1.0
    losses = means[:, None] + noise
    return losses[..., None, None, None], means, {"design": Design(kind="scores")}


def items(K: int, shift: np.ndarray, tables: int, rng: np.random.Generator) -> Drawn:
    """Draw right or wrong answers to 200 items, half of them equally hard for all models."""
    means = 0.3 + 0.1 * shift / max(shift.max(), 1.0)
    uniform = rng.random((tables, K, 200))
    shared = rng.random((tables, 1, 200)) < 0.5
    uniform = np.where(shared, uniform[:, :1], uniform)
    losses = (uniform < means[:, None]).astype(float)[:, :, None, :]
    design = Design(kind="test-set", runs=1, folds=200)
    return losses, means, {"design": design, "test": "mcnemar", "test_options": {"exact": True}}


def learners(K: int, shift: np.ndarray, tables: int, rng: np.random.Generator) -> Drawn:
    """Fit nearest-mean classifiers to 200 rows, each to its own columns, by the default plan."""
    errors = tuple((0.2 + 0.05 * shift / max(shift.max(), 1.0)).tolist())
    assert len(errors) == K
    simulation = simulate(
        ["nmc"], ColumnBlocks(bayes_error=errors, rows=200), default_plan(rows=200), sets=tables,
        random_state=int(rng.integers(1 << 30)), n_jobs=1,
    )  # fmt: skip
    losses = simulation.losses[:, 0]
    means = losses.mean(axis=(0, 2, 3, 4, 5))
    for error in set(errors):
        # copies with the same Bayes error are equal in expectation
        alike = np.array(errors) == error
        means[alike] = means[alike].mean()
    subset = simulation.subset_losses
    assert subset is not None
    return losses, means, {"design": simulation.design, "subset_values": subset[:, 0]}


DESIGNS = {
    "order: 30 data sets": data_sets,
    "order: 12 data sets, the best skewed to the left": skewed_data_sets,
    "evals: 200 right-or-wrong items": items,
    "compare: nearest mean, 200 rows, default plan": learners,
}


def measured(design: str, K: int, truth: str, tables: int, seed: int) -> dict[str, Any]:
    """Return the row of one case."""
    rng = np.random.default_rng([seed, K, list(DESIGNS).index(design), list(TRUTHS).index(truth)])
    losses, means, options = DESIGNS[design](K, TRUTHS[truth](K), tables, rng)
    many = order_many(losses, **options)
    holm = order_many(losses, family="all", **options)
    regret = means - means.min()
    assert many.candidates is not None
    assert many.at_least is not None
    assert many.at_most is not None
    excluded = ~many.candidates[:, int(means.argmin())]
    above = (regret > many.at_most + ROUNDING).any(axis=1)
    below = (regret < many.at_least - ROUNDING).any(axis=1)
    rows = np.arange(tables)
    left_by_holm = K - holm.claims[rows, holm.recommended].sum(axis=1)
    two_sided = many.candidates.sum(axis=1) < K
    return {
        "design": design,
        "learners": K,
        "truth": truth,
        "test": many.tests[0],
        "best_excluded": excluded.mean(),
        "bound_fails": above.mean(),
        "statement_false": (excluded | above | below).mean(),
        "candidates": many.candidates.sum(axis=1).mean(),
        "left_by_holm": left_by_holm.mean(),
        "something_ruled_out": two_sided.mean(),
        "median_bound": float(np.median(many.at_most[rows, many.recommended])),
        "tables": tables,
    }


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page of the documentation."""
    lines = [
        "# The statement about the best",
        "",
        "Tables of K learners with known means. *Best excluded*: a fixed best learner is not among "
        "those that may be the best; 2.5 % are allowed. *Statement false*: that, or any bound of "
        "any learner does not hold; 5 % are allowed. *Left by Holm*: learners that Holm's "
        "correction over all pairs does not show to be worse than the best mean. *Bound*: median "
        "of how much worse than the best the recommended learner is said to be at most. Made by "
        "`python studies/best_statement.py --write`.",
        "",
        "| design | K | truth | test | best excluded (%) | statement false (%) | "
        "may be the best | left by Holm | something ruled out (%) | bound | tables |",
        "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['design']} | {row['learners']} | {row['truth']} | {row['test']} "
        f"| {100 * row['best_excluded']:.1f} | {100 * row['statement_false']:.1f} "
        f"| {row['candidates']:.2f} | {row['left_by_holm']:.2f} "
        f"| {100 * row['something_ruled_out']:.1f} | {row['median_bound']:.3f} "
        f"| {row['tables']:,} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE}")
    parser.add_argument("--design", choices=list(DESIGNS), help="only this design")
    chosen = parser.parse_args()
    rows = []
    for design in [chosen.design] if chosen.design else DESIGNS:
        for K in LEARNERS:
            tables = chosen.tables
            if design.startswith("compare"):
                # fits cost more than draws
                tables = max(tables // (4 if K < 10 else 10), 1)
            for truth in TRUTHS:
                rows.append(measured(design, K, truth, tables, chosen.seed))
                print(page(rows).splitlines()[-1], flush=True)
    if chosen.write:
        PAGE.write_text(page(rows))


if __name__ == "__main__":
    main()
