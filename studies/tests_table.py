"""Measure Type I error, power and replicability of every test and of MultiTest.

    python studies/tests_table.py --sets 1000 --seed 0

Write tests, many_data_sets and multitest (.csv and .md) to studies/results, or to ``--out FOLDER``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.papers.lab.calibration import calibrate
from bestofk.papers.lab.collect_outcomes import ALPHAS, outcomes
from bestofk.papers.lab.measures import agreement_of, rate_of, replicability, type1_error
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.registry import problem
from bestofk.papers.lab.simulation import Simulation, simulate
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS, PairwiseTest
from case_table import markdown, write_csv

ALPHA = 0.05
PLANS = ("10x10", "kfold:10", "resample:10:0.1", "5x2", "holdout:0.33")
NETWORKS = (2, 3, 4)
MANY_SETS = 12
REPETITIONS = 5
SHIFTS = (0.5, 1.0, 1.5)
EQUAL = ("naive-bayes", "c4.5", "nmc", "nn", "tan")
AMOUNTS = (0.02, 0.05, 0.1)
SLOW = 100
"""Data sets for tests that take one table at a time."""

Row = dict[str, Any]


def rows_of_tests(sets: int, running: dict[str, Any]) -> Iterator[Row]:
    """Measure tests of naive Bayes against C4.5 on one data set, with the problems of the paper."""
    for plan in PLANS:
        null = simulate(cv=plan, sets=sets, **running)
        networks = [
            simulate(problem=problem("network", paper=paper), cv=plan, sets=sets, **running)
            for paper in NETWORKS
        ]
        again = simulate(cv=plan, sets=max(10, sets // 10), repeats=10, **running)
        situations = null.design.situations(n_datasets=1)
        for entry in _entries():
            if not set(entry.covers) & set(situations):
                continue
            slow = not getattr(entry, "batch", True)
            used = [_first(one, SLOW) for one in (null, *networks, again)] if slow else [
                null, *networks, again]  # fmt: skip
            dfs: list[float | None] = [None]
            if isinstance(entry, PairwiseTest) and entry.takes("df"):
                calibrated = calibrate(entry.name, simulation=null, alpha=ALPHA)
                dfs += [] if calibrated.df is None else [float(calibrated.df)]
            for df in dfs:
                yield _row(entry.name, plan, df, used)


def _entries() -> tuple[PairwiseTest | MultipleTest, ...]:
    return (*PAIRWISE_TESTS.values(), *MULTIPLE_TESTS.values())


def _first(simulation: Simulation, sets: int) -> Simulation:
    return replace(simulation, losses=simulation.losses[:sets])


def _row(test: str, plan: str, df: float | None, used: list[Simulation]) -> Row:
    null, *networks, again = used
    errors = type1_error(test, simulation=null, df=df)
    row: Row = {"test": test, "plan": plan, "df": "default" if df is None else f"{df:g}"}
    row |= {"sets": null.sets}
    for alpha in ALPHAS:
        rate = errors.at(alpha)
        row[f"type1 {100 * alpha:g} %"] = f"{100 * rate.rate:.1f}"
        if alpha == ALPHA:
            row["interval at 5 %"] = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
    for paper, made in zip(NETWORKS, networks, strict=True):
        row[f"power Set {paper}"] = _power(test, made, df)
    agreement = replicability(test, simulation=again, df=df, alpha=ALPHA).at(ALPHA)
    row["all ten agree"] = f"{100 * agreement.rate:.1f}"
    row["two agree"] = f"{100 * agreement.pairs:.1f}"
    return row


def _power(test: str, made: Simulation, df: float | None = None) -> str:
    return f"{100 * outcomes(made, test, df=df, alpha=ALPHA).rejected[:, 0].mean():.1f}"


def rows_on_many_sets(sets: int, seed: int) -> Iterator[Row]:
    """Measure tests over data sets on independent normal losses of five learners.

    The first learner is better by a shift in standard deviations of a loss; pairwise tests compare
    it with the second. Each table has twelve data sets, for bootstrap-b with repetitions.
    """
    for entry in _entries():
        if "datasets" not in entry.covers:
            continue
        often = REPETITIONS if entry.name == "bootstrap-b" else 1
        n = sets if getattr(entry, "batch", True) else min(sets, 200)
        shown = f"{MANY_SETS} x {often} repetitions" if often > 1 else str(MANY_SETS)
        row: Row = {"test": entry.name, "data sets": shown, "sets": n}
        shape = {"datasets": MANY_SETS, "repetitions": often}
        made = simulate(
            problem=problem("normal", means=(0.0,) * 5, **shape), sets=n, random_state=seed
        )
        errors = type1_error(entry.name, simulation=made)
        for alpha in ALPHAS:
            row[f"type1 {100 * alpha:g} %"] = f"{100 * errors.at(alpha).rate:.1f}"
        rate = errors.at(ALPHA)
        row["interval at 5 %"] = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
        for shift in SHIFTS:
            shifted = problem("normal", means=(0.0, *(shift,) * 4), **shape)
            made = simulate(problem=shifted, sets=n, random_state=seed)
            row[f"power {shift:g} sd"] = _power(entry.name, made)
        yield row


def rows_of_multitest(sets: int, running: dict[str, Any]) -> Iterator[Row]:
    """Measure MultiTest as published: five equal learners, or the least preferred is the best."""
    for plan, test in (("5x2", "5x2cv-t"), ("10x10", "corrected-repeated-kfold-t")):
        equal = simulate(EQUAL, "binary", plan, sets=sets, **running)
        again = simulate(EQUAL, "binary", plan, sets=max(10, sets // 10), repeats=10, **running)
        differ = {}
        for by in AMOUNTS:
            worse = ColumnBlocks(rows=300, bayes_error=(0.2 + by,) * (len(EQUAL) - 1) + (0.2,))
            differ[by] = (
                simulate(["naive-bayes"], worse, plan, sets=sets, **running),
                simulate(["naive-bayes"], worse, plan, sets=max(10, sets // 10), repeats=10,
                         **running),
            )  # fmt: skip
        for correction in ("bonferroni", "holm"):
            options: dict[str, Any] = {
                "rule": "multitest", "test": test, "correction": correction, "alpha": ALPHA,
                "family": "preference",
            }  # fmt: skip
            best = _decided(equal, options)[0][:, 0]
            yield {
                "test": test,
                "plan": plan,
                "correction": correction,
                "learners": "five equal ones",
                "sets": sets,
                "truth": "the most preferred is as good as any",
                "best is another (error), or is found": _shown(best > 0),
                **_same(again, options),
            }
            for by, (made, repeated) in differ.items():
                best = _decided(made, options)[0][:, 0]
                yield {
                    "test": test,
                    "plan": plan,
                    "correction": correction,
                    "learners": "the least preferred is the best",
                    "sets": sets,
                    "truth": f"its Bayes error is smaller by {100 * by:g} points",
                    "best is another (error), or is found": _shown(best == len(EQUAL) - 1),
                    **_same(repeated, options),
                }


def _decided(simulation: Simulation, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the best learner and a number that identifies the order, shape (sets, repeats)."""
    # learners are listed with the most preferred first
    many = simulation.decided(prefer=list(simulation.learners), **options)
    shape = (simulation.sets, simulation.repeats)
    orders = np.unique(many.ranking, axis=0, return_inverse=True)[1]
    return many.recommended.reshape(shape), orders.reshape(shape)


def _shown(found: Any) -> str:
    rate, low, high, *_ = (100 * value for value in rate_of(int(found.sum()), len(found)).values())
    return f"{rate:.1f} ({low:.1f}-{high:.1f})"


def _same(simulation: Simulation, options: dict[str, Any]) -> Row:
    best, order = map(agreement_of, _decided(simulation, options))
    return {
        "all ten same best": f"{100 * best['rate']:.1f}",
        "two same best": f"{100 * best['pairs']:.1f}",
        "all ten same order": f"{100 * order['rate']:.1f}",
        "two same order": f"{100 * order['pairs']:.1f}",
    }


def write(path: Path, rows: list[Row], command: str) -> None:
    """Write the rows as CSV and as a Markdown page that names the command."""
    columns = list(rows[0])
    write_csv(path.with_suffix(".csv"), rows)
    cells = [[str(row[column]) for column in columns] for row in rows]
    note = f"Rates in percent; intervals are exact at 95 %. Made by `{command}`."
    lines = [*markdown(columns, cells, left=len(columns)), "", note, ""]
    path.with_suffix(".md").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000, help="data sets, at least 10")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--store", help="keep finished data sets in this store")
    parser.add_argument("--out", type=Path, default=Path("studies/results"), help="folder")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sets, seed = options.sets, options.seed
    running = {"random_state": seed, "n_jobs": options.jobs, "store": options.store}
    command = f"python studies/tests_table.py --sets {sets} --seed {seed}"
    for name, rows in (
        ("tests", rows_of_tests(sets, running)),
        ("many_data_sets", rows_on_many_sets(sets, seed)),
        ("multitest", rows_of_multitest(max(10, sets // 2), running)),
    ):
        write(options.out / name, list(rows), command)


if __name__ == "__main__":
    main()
