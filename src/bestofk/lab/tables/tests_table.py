"""Error, power and replicability of every test, and of MultiTest: tables by one command."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bestofk._base.atomic_write import write_text
from bestofk._base.checks import whole
from bestofk.lab.calibration import calibrate
from bestofk.lab.collect_outcomes import ALPHAS, outcomes
from bestofk.lab.error_rates import type1_error
from bestofk.lab.power_rates import power
from bestofk.lab.problems.classes import GaussianClasses
from bestofk.lab.problems.given_rows import Degraded
from bestofk.lab.problems.registry import problem
from bestofk.lab.replications import replicability
from bestofk.lab.simulation import Simulation, simulate
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

ALPHA = 0.05
PLANS = ("10x10", "kfold:10", "resample:10:0.1", "5x2", "holdout:0.33")
NETWORKS = (2, 3, 4)
MANY_SETS = 12
REPETITIONS = 5
SHIFTS = (0.5, 1.0, 1.5)
EQUAL = ("naive-bayes", "c4.5", "nmc", "nn", "tan")
AMOUNTS = (0.02, 0.05, 0.1)
SLOW = 100
"""Data sets for tests that cannot take many tables at once."""

Row = dict[str, Any]


def write_tests(
    out: str | os.PathLike[str],
    *,
    sets: int = 1000,
    random_state: int = 0,
    **running: Any,
) -> list[Path]:
    """Measure all and write ``tests.csv``, ``tests.md``, ``multitest.csv`` and ``multitest.md``.

    Parameters
    ----------
    out : path
        Directory; made where it is not there.
    sets : int
        Data sets; half as many for MultiTest, a tenth for replicability.
    random_state : int
        The seed.
    **running
        `n_jobs`, `engine`, `scheduler`, `store`, `progress`: see `simulate`.
    """
    whole(sets, "sets", at_least=10)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    running = {"random_state": random_state, **running}
    command = f"bestofk measure tests --sets {sets} --seed {random_state}"
    written = []
    for name, rows in (
        ("tests", rows_of_tests(sets, running)),
        ("many_data_sets", rows_on_many_sets(sets, random_state)),
        ("multitest", rows_of_multitest(max(10, sets // 2), running)),
    ):
        written += _write(folder / name, list(rows), command)
    return written


def rows_of_tests(sets: int, running: dict[str, Any]) -> Iterator[Row]:
    """Tests of two learners on one data set: naive Bayes against C4.5 on the paper's problems."""
    for plan in PLANS:
        null = simulate(plan=plan, sets=sets, **running)
        networks = [
            simulate(problem=problem("network", paper=paper), plan=plan, sets=sets, **running)
            for paper in NETWORKS
        ]
        again = simulate(plan=plan, sets=max(10, sets // 10), repeats=10, **running)
        situations = null.design.situations(n_datasets=1)
        for entry in _entries():
            if not set(entry.covers) & set(situations):
                continue
            slow = entry.speed == "one by one"
            used = [_first(one, SLOW) for one in (null, *networks, again)] if slow else [
                null, *networks, again]  # fmt: skip
            dfs: list[float | None] = [None]
            if getattr(entry, "takes_df", False):
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
        rate = errors.rate(alpha)
        row[f"type1 {100 * alpha:g} %"] = f"{100 * rate.value:.1f}"
        if alpha == ALPHA:
            row["interval at 5 %"] = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
    for paper, made in zip(NETWORKS, networks, strict=True):
        row[f"power Set {paper}"] = _found(test, made, df)
    agreement = replicability(test, simulation=again, df=df, alpha=ALPHA).agreement(ALPHA)
    row["all ten agree"] = f"{100 * agreement.all_agree.value:.1f}"
    row["two agree"] = f"{100 * agreement.pairs:.1f}"
    return row


def _found(test: str, made: Simulation, df: float | None = None) -> str:
    return f"{100 * outcomes(made, test, df=df, alpha=ALPHA).rejected[:, 0].mean():.1f}"


def rows_on_many_sets(sets: int, seed: int) -> Iterator[Row]:
    """Tests over data sets, on independent normal losses: 5 learners, the first better by a shift.

    Pairwise tests compare the first with the second. The shift is in standard deviations of a
    loss; each table holds twelve data sets, for bootstrap-b with repetitions of every loss.
    """
    for entry in _entries():
        if "datasets" not in entry.covers:
            continue
        often = REPETITIONS if getattr(entry, "needs_repetitions", False) else 1
        n = sets if entry.speed == "vectorised" else min(sets, 200)
        shown = f"{MANY_SETS} x {often} repetitions" if often > 1 else str(MANY_SETS)
        row: Row = {"test": entry.name, "data sets": shown, "sets": n}
        shape = {"datasets": MANY_SETS, "repetitions": often}
        made = simulate(
            problem=problem("normal", means=(0.0,) * 5, **shape), sets=n, random_state=seed
        )
        errors = type1_error(entry.name, simulation=made)
        for alpha in ALPHAS:
            row[f"type1 {100 * alpha:g} %"] = f"{100 * errors.rate(alpha).value:.1f}"
        rate = errors.rate(ALPHA)
        row["interval at 5 %"] = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
        for shift in SHIFTS:
            shifted = problem("normal", means=(0.0, *(shift,) * 4), **shape)
            made = simulate(problem=shifted, sets=n, random_state=seed)
            row[f"power {shift:g} sd"] = _found(entry.name, made)
        yield row


def rows_of_multitest(sets: int, running: dict[str, Any]) -> Iterator[Row]:
    """MultiTest as published, on five equal learners and on five with the best preferred least."""
    for plan, test in (("5x2", "5x2cv-t"), ("10x10", "corrected-repeated-kfold-t")):
        equal = simulate(EQUAL, "binary", plan, sets=sets, **running)
        again = simulate(EQUAL, "binary", plan, sets=max(10, sets // 10), repeats=10, **running)
        source = GaussianClasses(bayes_error=0.2)
        differ = {}
        for by in AMOUNTS:
            worse = Degraded(data=source, by=by, copies=len(EQUAL) - 1, best_last=True)
            differ[by] = (
                simulate(["naive-bayes"], worse, plan, sets=sets, **running),
                simulate(["naive-bayes"], worse, plan, sets=max(10, sets // 10), repeats=10,
                         **running),
            )  # fmt: skip
        for correction in ("bonferroni", "holm"):
            asked: dict[str, Any] = {
                "procedure": "multitest", "correction": correction, "alpha": ALPHA,
                "options": {"family": "preference", "guard": False},
            }  # fmt: skip
            error = type1_error(test, simulation=equal, **asked).rate(ALPHA)
            same = replicability(test, simulation=again, **asked)
            yield {
                "test": test,
                "plan": plan,
                "correction": correction,
                "learners": "five equal ones",
                "sets": sets,
                "truth": "the most preferred is as good as any",
                "best is another (error), or is found": _shown(error),
                **_same(same),
            }
            for by, (made, repeated) in differ.items():
                found = power(test, ["naive-bayes"], simulation=made, **asked).rate(ALPHA)
                same = replicability(test, simulation=repeated, **asked)
                yield {
                    "test": test,
                    "plan": plan,
                    "correction": correction,
                    "learners": "the least preferred is the best",
                    "sets": sets,
                    "truth": f"better than the others by {100 * by:g} points",
                    "best is another (error), or is found": _shown(found),
                    **_same(same),
                }


def _shown(rate: Any) -> str:
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f}-{100 * rate.high:.1f})"


def _same(found: Any) -> Row:
    assert found.orders is not None
    return {
        "all ten same best": f"{100 * found.agreements[0].all_agree.value:.1f}",
        "two same best": f"{100 * found.agreements[0].pairs:.1f}",
        "all ten same order": f"{100 * found.orders[0].all_agree.value:.1f}",
        "two same order": f"{100 * found.orders[0].pairs:.1f}",
    }


def _write(path: Path, rows: list[Row], command: str) -> list[Path]:
    """The rows as CSV and as a Markdown table that says how it was made."""
    columns = list(rows[0])
    table, text = path.with_suffix(".csv"), path.with_suffix(".md")
    written = io.StringIO()
    writer = csv.DictWriter(written, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(table, written.getvalue())
    lines = [_line(columns), _line("---" for _ in columns)]
    lines += [_line(str(row[column]) for column in columns) for row in rows]
    made = f"Rates in percent; intervals are exact at 95 %. Made by `{command}`."
    write_text(text, "\n".join([*lines, "", made, ""]))
    return [table, text]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
