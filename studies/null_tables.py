"""Measure false claims about equal models and series, by the default path of `evals` and `order`.

    python studies/null_tables.py            write docs/measured/nulls.csv and nulls.md
    python studies/null_tables.py --smoke    print the table from few studies

Every study draws K models (or learners) with equal means and decides by the defaults. A study errs
if it claims any difference. *Without caution* counts the false claims in results that do not carry
a caution about their error rate. 1,000 studies each; a rate of 5 percent has a standard error of
0.7.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bestofk as bk
from bestofk.evals.choosing import _decide
from bestofk.evals.item_scores import ItemScores
from bestofk.stats.intervals import clopper_pearson

STUDIES = 1_000
LEARNERS = (2, 5, 10)
OUT = Path("docs/measured")


def graded_skewed(rng, K, n):
    """Scores between 0 and 1 with mean 0.2; every second model is right on few items only."""
    scores = 0.2 + 0.05 * rng.standard_normal((K, n))
    scores[1::2] = rng.beta(0.2, 0.8, scores[1::2].shape)
    return scores


def graded_rarely_right(rng, K, n):
    """Scores with mean 0.05; every second model is right on one of twenty items only."""
    scores = 0.05 + 0.01 * rng.standard_normal((K, n))
    scores[1::2] = rng.beta(0.05, 0.95, scores[1::2].shape)
    return scores


def graded_symmetric(rng, K, n):
    """Scores with a normal luck of each model."""
    return 0.5 + 0.1 * rng.standard_normal((K, n))


def right_or_wrong(rng, K, n):
    """Right or wrong answers; hard items are hard for all models."""
    easy = rng.beta(2.0, 1.0, n)
    return (rng.random((K, n)) < easy).astype(float)


def in_clusters(draw, size):
    """Half of the items of a cluster share the scores of the cluster."""

    def of(rng, K, n):
        clusters = np.repeat(np.arange(n // size), size)
        shared, own = draw(rng, K, n // size)[:, clusters], draw(rng, K, n)
        return np.where(rng.random((K, n)) < 0.5, shared, own)

    return of


def series(rho, skewed=False):
    """Losses of K learners whose deviations from a common series are autoregressive."""

    def of(rng, K, n):
        e = rng.standard_exponential((K, n + 50)) - 1.0 if skewed else rng.normal(size=(K, n + 50))
        for t in range(1, n + 50):
            e[:, t] += rho * e[:, t - 1]
        return e[:, 50:]

    return of


@dataclass(frozen=True, kw_only=True)
class Null:
    """One kind of study."""

    name: str
    draw: Callable[..., Any]
    n: int
    cluster: int = 0
    time: bool = False


NULLS = (
    *(Null(name="graded scores, skewed", draw=graded_skewed, n=n) for n in (20, 50, 200)),
    *(
        Null(name="graded scores, rarely right", draw=graded_rarely_right, n=n)
        for n in (8, 20, 50, 200)
    ),
    *(Null(name="graded scores, symmetric", draw=graded_symmetric, n=n) for n in (20, 200)),
    *(Null(name="right or wrong", draw=right_or_wrong, n=n) for n in (20, 50, 200)),
    *(
        Null(name="graded scores, skewed, clusters of 5", n=n, cluster=5,
             draw=in_clusters(graded_skewed, 5)) for n in (100, 250)
    ),
    *(
        Null(name="right or wrong, clusters of 5", n=n, cluster=5,
             draw=in_clusters(right_or_wrong, 5)) for n in (40, 100, 250)
    ),
    *(
        Null(name=f"losses in order of time, autocorrelation {rho:g}", draw=series(rho), n=n,
             time=True) for n in (50, 200) for rho in (0.0, 0.5, 0.8, 0.95)
    ),
)  # fmt: skip


def decided(null: Null, table):
    """Return the decision of the default path."""
    K, n = table.shape
    names = tuple(f"m{k}" for k in range(K))
    if null.time:
        design = bk.Design(kind="time", folds=n)
        return bk.order(bk.Losses(table[:, None, :], algorithms=list(names), design=design))
    clusters = np.repeat(np.arange(n // null.cluster), null.cluster) if null.cluster else None
    codes = np.arange(n) if clusters is None else clusters
    scores = ItemScores(
        learners=names, tasks=("task",), items=tuple(map(str, range(n))),
        clusters=() if clusters is None else tuple(map(str, range(n // null.cluster))),
        task=np.zeros(n, dtype=int), cluster=codes, mean=np.array(table),
        count=np.ones((K, n), dtype=int), variance=np.full((K, n), np.nan), metric="score",
        higher_is_better=True,
    )  # fmt: skip
    return _decide(scores, test="auto", macro=False, procedure="multitest").decision


def measure(studies: int, seed: int = 4) -> list[dict[str, str]]:
    """Return one row per null and number of learners."""
    rows = []
    for null in NULLS:
        for K in LEARNERS:
            rng = np.random.default_rng([seed, K, null.n, *null.name.encode()])
            false = bare = 0
            tests = set()
            for _ in range(studies):
                decision = decided(null, null.draw(rng, K, null.n))
                tests.add(decision.test)
                wrong = bool(decision.claims)
                false += wrong
                bare += wrong and not decision.caution
            ends = clopper_pearson(false, studies)
            rows.append({
                "null": null.name, "n": str(null.n), "learners": str(K),
                "test": ", ".join(sorted(tests)), "any false claim": f"{100 * false / studies:.1f}",
                "low": f"{100 * ends.low:.1f}", "high": f"{100 * ends.high:.1f}",
                "without caution": f"{100 * bare / studies:.1f}", "studies": str(studies),
            })  # fmt: skip
    return rows


def page(rows: list[dict[str, str]]) -> list[str]:
    """Return the lines of the page."""
    heads = [f"K = {K}" for K in LEARNERS]
    lines = [
        f"| null | n | test | {' | '.join(heads)} | without caution |",
        f"|---|---:|---|{'---:|' * len(heads)}---:|",
    ]
    for start in range(0, len(rows), len(LEARNERS)):
        group = rows[start : start + len(LEARNERS)]
        rates = " | ".join(row["any false claim"] for row in group)
        bare = " / ".join(row["without caution"] for row in group)
        first = group[0]
        lines.append(f"| {first['null']} | {first['n']} | {first['test']} | {rates} | {bare} |")
    return [
        *lines, "",
        f"Percent of {rows[0]['studies']} studies of K equal models (or learners) with at least "
        "one false claim by the defaults; 5 are allowed. *Without caution*: the same, counting "
        "only results without a caution about their error rate. Made by "
        "`python studies/null_tables.py`.",
        "",
    ]  # fmt: skip


def main() -> None:
    smoke = "--smoke" in sys.argv
    rows = measure(10 if smoke else STUDIES)
    if smoke:
        print("\n".join(page(rows)))
        return
    with (OUT / "nulls.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (OUT / "nulls.md").write_text("\n".join(page(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
