"""Measure how often the intervals and bounds that bestofk prints hold, by design.

    python studies/interval_coverage.py               print the table
    python studies/interval_coverage.py --smoke       print the table from few tables
    python studies/interval_coverage.py --only WORDS  print the nulls whose names contain WORDS

The tables are those of ``null_tables.py``, 1,000 each, with learners that differ: learner k of K is
worse than the first by k / K standard deviations of a loss, or loses 0.4 k / K of its scores.
Fitted learners (400 data sets) are equal.
*statement*: the best learner is among those that may be the best, and each learner is as much worse
than the best as the result says.
*rate*: the interval of a model's mean in `evals` contains its true mean.
*estimate*: the intervals of the
hold-out in `bestofk papers estimate` contain the error of the model of all rows.
*Without caution* counts only results without a caution about their error rate.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from bestofk import compare_scores
from bestofk.decide.decision import RULED_OUT
from bestofk.papers import estimate
from bestofk.stats.intervals import clopper_pearson
from null_tables import FITTED, NULLS, STUDIES, Null, chosen, losses_of

LEARNERS = (2, 5, 10)
SPOILED = 0.4
SIZES: dict[str, tuple[int, ...]] = {
    "graded scores, skewed": (50, 200),
    "graded scores, rarely right": (20, 50, 200),
    "graded scores, symmetric": (200,),
    "right or wrong": (50,),
    "graded scores, skewed, clusters of 5": (100,),
    "right or wrong, clusters of 5": (100,),
    **{f"losses in order of time, autocorrelation {rho:g}": (50, 100, 200)
       for rho in (0.0, 0.5, 0.8)},
    "data sets, normal": (12, 60),
    **{f"data sets, {shape}, opposite skews": (12, 30, 60)
       for shape in ("exponential", "contaminated", "lognormal")},
    "10 folds, normal": (10,),
    "10 runs of 10 folds, normal": (100,),
    "30 random splits, normal": (30,),
    "training runs, normal": (10,),
    "training runs, every second learner has a third": (30,),
    **{f"training runs, {shape}, opposite skews": (10, 30)
       for shape in ("exponential", "contaminated", "lognormal")},
    "one test set, right or wrong": (50,),
    **{f"one test set, {shape}, opposite skews": (50,)
       for shape in ("exponential", "contaminated", "lognormal")},
    "naive-bayes": (30,),
    "nn": (30,),
    **{f"nn, {plan}": (100,) for plan in ("kfold:10, auto", "5x2, 5x2cv-f")},
    **{f"forecasts too low or too high, {shape} target": (100,)
       for shape in ("normal", "exponential", "contaminated")},
    "forecasts too low or too high, lognormal target": (30, 100, 300),
    **{f"forecasts too low or too high, lognormal target, {plan}": (30, 100)
       for plan in ("10x10", "resample:30:0.1", "5x2")},
}  # fmt: skip
"""The nulls of ``null_tables.py`` on which coverage is measured, with their numbers of units."""
Rows = list[dict[str, str]]
Held = Iterator[tuple[float | None, bool]]
"""For each result: the share of its intervals that hold, None without one; and its caution."""


MEAN_SCORES = {"graded scores, skewed": 0.2, "graded scores, rarely right": 0.05,
               "graded scores, symmetric": 0.5, "right or wrong": 2 / 3}  # fmt: skip


def mean_score(null: Null) -> float:
    """Return the exact mean score of every model."""
    return next(mean for name, mean in MEAN_SCORES.items() if null.name.startswith(name))


@cache
def deviation(draw: Any) -> float:
    """Return the standard deviation of the numbers of a learner."""
    return float(np.nanstd(draw(np.random.default_rng(0), 2, 20_000)))


def unequal(null: Null, rng: np.random.Generator, K: int, n: int) -> tuple[Any, Any]:
    """Return a table of learners that differ, and how much worse than the first they are."""
    table, part = null.draw(rng, K, n), np.arange(K) / K
    if np.isin(table, (0.0, 1.0)).all():
        # two thirds of the answers are right, and learner k spoils a part of them
        table = np.where(rng.random((K, n)) < SPOILED * part[:, np.newaxis], 0.0, table)
        return 1.0 - table if null.design else table, SPOILED * part * 2 / 3
    if null.design:
        sd = deviation(null.draw)
        return table + sd * part[:, np.newaxis], sd * part
    # graded scores stay between 0 and 1
    return table * (1 - SPOILED * part)[:, np.newaxis], mean_score(null) * SPOILED * part


def drawn(null: Null, K: int, count: int) -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng([K, null.n, *f"{null.name}()".encode()])
    for _ in range(count):
        yield unequal(null, rng, K, null.n)


@lru_cache(maxsize=1)
def results(null: Null, K: int, count: int) -> list[tuple[Any, Any]]:
    """Return the results of `evals` or `compare_scores`, with the true differences."""
    decide = decided if null.design else chosen
    return [(decide(null, table), worse) for table, worse in drawn(null, K, count)]


def decided(null: Null, table: Any, **options: Any) -> Any:
    return compare_scores(losses_of(null, table), missing="allow", **options).decision


def statement(null: Null, K: int, count: int) -> Held:
    for decision, worse in results(null, K, count):
        yield holds(decision, worse), bool(decision.caution)


def fitted_statement(null: Null, K: int, count: int) -> Held:
    for decision in null.decisions(K, count, 0):
        yield holds(decision, np.zeros(K)), bool(decision.caution)


def number(name: object) -> int:
    """Return the row of a drawn table, whose learners are m0, m1, ..."""
    return int(str(name)[1:])


def holds(decision: Any, worse: Any) -> float | None:
    """Whether the statement about the best is true; None if it has no bounds."""
    rows = decision.standings
    if any(row.at_most is None for row in rows):
        return None
    true = worse if not worse.any() else worse[[number(row.name) for row in rows]]
    bounds = np.array([(row.at_least, row.at_most) for row in rows])
    kept = any(row.verdict != RULED_OUT for row, gap in zip(rows, true, strict=True) if gap == 0)
    inside = (bounds[:, 0] <= true + 1e-12) & (true - 1e-12 <= bounds[:, 1])
    return float(kept and inside.all())


def hold_out(learner: str, rows: int, count: int) -> Iterator[tuple[str, float]]:
    """Yield the printed intervals of `bestofk papers estimate`: name, and whether they hold.

    The truth is the error of the model of all rows on 5,000 new ones.
    """
    rng = np.random.default_rng([rows, *learner.encode()])
    for study in range(count):
        y = rng.permutation(rows + 5000) % 2
        X = rng.normal(size=(len(y), 3)) + 0.8 * y[:, np.newaxis]
        result = estimate(learner, X[:rows], y[:rows], methods=["holdout"], random_state=study)
        model = {"nn": KNeighborsClassifier(1), "naive-bayes": GaussianNB()}[learner]
        error = np.mean(model.fit(X[:rows], y[:rows]).predict(X[rows:]) != y[rows:])
        for name, (low, high) in result["holdout"].intervals.items():
            yield name, float(low <= error <= high)


def measure_estimates(count: int) -> list[dict[str, str]]:
    """Return one row per interval, learner and number of rows."""
    rows = []
    for learner in ("nn", "naive-bayes"):
        for n in (60, 400):
            results = list(hold_out(learner, n, count))
            for name in dict.fromkeys(name for name, _ in results):
                held = [one for other, one in results if other == name]
                rows.append(row_of("estimate", "estimate", f"{learner}, {name}", n, 1, held, count))
    return rows


def row_of(
    interval: str, command: str, null: str, n: int, K: int, held: Any, tables: int, bare: Any = ()
) -> dict[str, str]:
    """Return the figures of the intervals that were printed."""
    ends = clopper_pearson(round(sum(held)), len(held)) if len(held) else None
    row = {
        "interval": interval, "command": command, "null": null, "n": str(n), "learners": str(K),
        "covered": f"{100 * np.mean(held):.1f}" if ends else "none",
        "low": f"{100 * ends.low:.1f}" if ends else "",
        "high": f"{100 * ends.high:.1f}" if ends else "", "printed": str(len(held)),
        "without caution": f"{100 * np.mean(bare):.1f}" if len(bare) else "",
        "without": str(len(bare)), "tables": str(tables),
    }  # fmt: skip
    print(row, file=sys.stderr, flush=True)
    return row


def kinds(null: Null) -> dict[str, Any]:
    """Return what is measured on the tables of a null."""
    if null.fit is not None:
        return {"statement": fitted_statement}
    return {"statement": statement}


def measure(tables: int, fitted: int, only: str = "") -> Iterator[dict[str, str]]:
    """Yield one row per interval, null and number of learners."""
    for null in NULLS:
        if only not in null.name or null.n not in SIZES.get(null.name, ()):
            continue
        count = tables if null.fit is None else fitted
        for K in LEARNERS:
            for name, function in kinds(null).items():
                printed = [one for one in function(null, K, count) if one[0] is not None]
                held = [float(one[0]) for one in printed]
                bare = [float(one[0]) for one in printed if not one[1]]
                yield row_of(name, null.command, null.name, null.n, K, held, count, bare)
    if not only:
        yield from measure_estimates(fitted)


def cell(row: dict[str, str], column: str = "covered", number: str = "printed") -> str:
    """Return a coverage, with the number of results behind it if that is below half of all."""
    count = int(row[number])
    few = 0 < count < int(row["tables"]) / 2
    return f"{row[column] or '-'}{f' ({count})' if few else ''}"


def page(rows: list[dict[str, str]]) -> list[str]:
    """Return the lines of the page."""
    lines = []
    for name in dict.fromkeys(row["interval"] for row in rows):
        mine = [row for row in rows if row["interval"] == name]
        learners = sorted({row["learners"] for row in mine}, key=int)
        heads = [f"K = {K}" for K in learners]
        lines += [
            f"**{name}**", "", f"| command | tables | n | {' | '.join(heads)} | without caution |",
            f"|---|---|---:|{'---:|' * len(heads)}---:|",
        ]  # fmt: skip
        for key in dict.fromkeys((row["command"], row["null"], row["n"]) for row in mine):
            group = {row["learners"]: row for row in mine
                     if (row["command"], row["null"], row["n"]) == key}  # fmt: skip
            cells = [cell(group[K]) if K in group else "" for K in learners]
            bare = [cell(group[K], "without caution", "without") for K in learners if K in group]
            lines.append(f"| {' | '.join((*key, *cells, ' / '.join(bare)))} |")
        lines.append("")
    return [
        *lines,
        "Percent of results that hold; 95 are promised. *Without caution*: of the "
        "results without a caution about their error rate; - if all have one. *none*: such "
        "results have no bounds, because these would cover too rarely. In brackets: the number "
        f"of results behind a figure, if it is below half of all. {STUDIES:,} tables each, "
        f"{FITTED} of fitted learners and `estimate`. Made by "
        "`python studies/interval_coverage.py`.",
        "",
    ]


def main() -> None:
    smoke = "--smoke" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    rows = list(measure(*((3, 2) if smoke else (STUDIES, FITTED)), only))
    print("\n".join(page(rows)))


if __name__ == "__main__":
    main()
