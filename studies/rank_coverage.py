"""Coverage of the intervals of ranks and of the set of the best.

Draw tables of K models with known means. Count the tables in which an interval misses a rank of
its model, and those in which the set of the best misses the best model.

Usage: python studies/rank_coverage.py [--tables 1000] [--seed 0] [--write]
       python studies/rank_coverage.py --arch    next to the model confidence set of arch 8
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import process_time

import numpy as np

import bestofk as bk
from case_table import write_csv

PAGE = Path("docs/measured/ranks")
CASES = {
    "near ties, right or wrong, 200 items": (10, 200, "binary", 0.01),
    "near ties, right or wrong, 2,000 items": (10, 2000, "binary", 0.01),
    "all equal, right or wrong, 200 items": (10, 200, "binary", 0.0),
    "near ties, skewed scores, 200 items": (10, 200, "skewed", 0.05),
    "all equal, skewed scores, 200 items": (10, 200, "skewed", 0.0),
    "near ties, 40 clusters of 5 items": (10, 200, "clustered", 0.05),
    "near ties, 12 data sets": (5, 12, "datasets", 0.05),
    "near ties, 30 data sets": (10, 30, "datasets", 0.05),
    "all equal, 30 data sets": (10, 30, "datasets", 0.0),
    "near ties, right or wrong, 500 items, 40 models": (40, 500, "binary", 0.01),
}
"""Name: models, units, kind of losses, and the gap between neighbours."""


def drawn_table(case: tuple[int, int, str, float], rng: np.random.Generator):
    """Return a table of losses, and the true mean loss of each model."""
    K, n, kind, gap = case
    shift = gap * np.arange(K)
    if kind == "binary":
        # each model misses an item with the probability of the item plus its own shift
        difficulty = rng.uniform(0.05, 0.55, n)
        values = (rng.random((K, n)) < difficulty + shift[:, None]).astype(float)
        return bk.Losses(values, dims=("algorithm", "instance")), shift
    if kind == "skewed":
        values = rng.exponential(1.0, (K, n)) + rng.exponential(1.0, n) + shift[:, None]
        return bk.Losses(values, dims=("algorithm", "instance")), shift
    if kind == "clustered":
        centres = np.repeat(rng.normal(size=(K, n // 5)), 5, axis=1)
        values = centres + rng.normal(size=(K, n)) + shift[:, None]
        frame = bk.Losses(values.reshape(K, -1, 5).mean(axis=2), dims=("algorithm", "instance"))
        return frame, shift
    values = rng.normal(size=n) + rng.normal(0, 0.3, (K, n)) + shift[:, None]
    return bk.Losses(values, dims=("algorithm", "dataset")), shift


def missed(ranks, truth: np.ndarray) -> tuple[bool, bool]:
    """Return whether an interval misses a rank, and whether the set misses a best model."""
    true = truth[np.array([int(name) for name in ranks.names])]
    best = 1 + (true[None, :] < true[:, None]).sum(axis=1)
    worst = len(true) - (true[None, :] > true[:, None]).sum(axis=1)
    interval = bool((ranks.low > best).any() or (ranks.high < worst).any())
    # one model that is known before the data are drawn: the first of the best
    first = [int(name) for name in ranks.names].index(int(truth.argmin()))
    return interval, not ranks.may_be_best[first]


def measured(name: str, tables: int, seed: int) -> dict[str, object]:
    """Return the row of one case."""
    case = CASES[name]
    rng = np.random.default_rng([seed, list(CASES).index(name)])
    misses, sizes = np.zeros(2), np.zeros(2)
    width = 0.0
    for _ in range(tables):
        losses, truth = drawn_table(case, rng)
        decision = bk.order(losses)
        ranks = decision.ranks
        misses += missed(ranks, truth)
        sizes += ranks.may_be_best.sum(), len(decision.adequate)
        width += float((ranks.high - ranks.low + 1).mean())
    return {
        "case": name,
        "models": case[0],
        "test": decision.test,
        "ranks_missed": misses[0] / tables,
        "best_missed": misses[1] / tables,
        "may_be_best": sizes[0] / tables,
        "not_shown_worse": sizes[1] / tables,
        "ranks_per_model": width / tables,
    }


def page(rows: list[dict[str, object]], tables: int) -> str:
    """Return the table of the documentation."""
    lines = [
        "| tables | models | test | ranks missed (%) | best missed (%) | may be the best | "
        "not shown to be worse | ranks per model |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['case']} | {row['models']} | {row['test']} | {100 * row['ranks_missed']:.1f} "
        f"| {100 * row['best_missed']:.1f} | {row['may_be_best']:.1f} | "
        f"{row['not_shown_worse']:.1f} | {row['ranks_per_model']:.1f} |"
        for row in rows
    ]
    lines += [
        "",
        f"Percent of {tables:,} tables in which any interval of ranks misses, and in which the set "
        "of the best misses the best model; 5 are allowed. The other columns are means. Made by "
        "`python studies/rank_coverage.py --write`.",
    ]
    return "\n".join(lines) + "\n"


def next_to_arch(tables: int, seed: int) -> None:
    """Print the size of the set of the best and the CPU seconds, for both tools."""
    from arch.bootstrap import MCS

    rng = np.random.default_rng(seed)
    for table in range(tables):
        ability, difficulty = rng.normal(0, 0.8, 134), rng.normal(0, 1.5, 500)
        wrong = rng.random((134, 500)) > 1 / (1 + np.exp(difficulty - ability[:, None]))
        start = process_time()
        ours = bk.order(bk.Losses(wrong, dims=("algorithm", "instance"))).ranks
        between = process_time()
        peer = MCS(wrong.T.astype(float), size=0.05, reps=1000, block_size=1, seed=seed)
        peer.compute()
        end = process_time()
        both = {int(name) for name in ours.best} & set(peer.included)
        print(
            f"table {table}: bestofk {len(ours.best)} of 134 in {between - start:.2f} s, arch "
            f"{len(peer.included)} in {end - between:.2f} s, both {len(both)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="write the page of the docs")
    parser.add_argument("--arch", action="store_true", help="compare with arch on five tables")
    options = parser.parse_args()
    if options.arch:
        next_to_arch(5, options.seed)
        return
    rows = [measured(name, options.tables, options.seed) for name in CASES]
    text = page(rows, options.tables)
    print(text)
    if options.write:
        PAGE.with_suffix(".md").write_text(text)
        write_csv(PAGE.with_suffix(".csv"), rows)


if __name__ == "__main__":
    main()
