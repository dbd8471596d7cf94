"""Tables with one row per case: write each row when it is measured, and resume where it stopped.

Used by `claims_table.py`.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Any

from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.registry import Problem
from bestofk.papers.lab.simulation import Simulation, simulate

Row = dict[str, str]
Measure = Callable[["Case", Simulation], Row]
KEY_COLUMNS = ("case", "sets", "seed")
"""Columns that identify a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Settings of one row of a table.

    Attributes
    ----------
    name : str
        Unique name; its parts are separated by slashes.
    problem : Problem
        Source of the tables of losses or of the data sets.
    sets : int
        Number of tables or data sets.
    decision : str
        Name of the options of `compare_scores`.
    learner : str
        Specification of the learners, if `problem` draws data sets.
    plan : str
        Plan for these learners.
    first : int, optional
        Use only the first learners, so that cases with different K share one simulation.
    by, within : float
        As for `worst_chosen`.
    """

    name: str
    problem: Problem
    sets: int
    decision: str
    learner: str = ""
    plan: str = ""
    first: int | None = None
    by: float = 0.0
    within: float = 0.0

    @property
    def drawn(self) -> tuple[Any, ...]:
        """Settings that determine the losses; cases that agree in them share a simulation."""
        return (repr(self.problem), self.learner, self.plan, self.sets)

    def simulate(self, seed: int, store: str | None) -> Simulation:
        """Simulate the losses of all learners; a store keeps the losses of fitted learners."""
        options: dict[str, Any] = {"sets": self.sets, "random_state": seed, "n_jobs": 1,
                                   "engine": "serial"}  # fmt: skip
        if not self.learner:
            return simulate(problem=self.problem, **options)
        return simulate([self.learner], self.problem, self.plan, store=store, **options)

    def of(self, simulation: Simulation) -> Simulation:
        """Select the losses of this case's learners."""
        if self.first is None:
            return simulation
        assert isinstance(self.problem, ColumnBlocks)
        parts = simulation.subset_losses
        return replace(
            simulation,
            losses=simulation.losses[:, :, : self.first],
            subset_losses=None if parts is None else parts[:, :, : self.first],
            learners=simulation.learners[: self.first],
            problem=replace(self.problem, learners=self.first),
        )


def select(cases: Sequence[Case], pattern: str | None) -> list[Case]:
    """Return the cases whose names match a pattern such as ``learners/nn/*``."""
    if pattern is None:
        return list(cases)
    matches = [case for case in cases if fnmatch(case.name, pattern)]
    if not matches:
        raise ValueError(f"no case matches {pattern!r}; a name is {cases[0].name!r}")
    return matches


def fill(
    path: str | os.PathLike[str],
    cases: Sequence[Case],
    measure: Measure,
    *,
    pattern: str | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    store: str | None = None,
    again: bool = False,
    report: Callable[[str], None] | None = None,
) -> list[Row]:
    """Measure the cases that a table lacks, and write the table after every simulation.

    Parameters
    ----------
    path : path
        CSV file of the table; created if it does not exist.
    cases : sequence of Case
        All cases of the table, in its order.
    measure : callable
        Module-level function that returns the row of a case.
    pattern : str, optional
        Measure only the cases whose names match; keep the rows of the others.
    seed, store
        As for `simulate`.
    n_jobs : int
        Number of processes; cases that share a simulation run in one process.
    again : bool
        Also measure the cases that the table has.
    report : callable, optional
        Receives a line with the CPU seconds of every case.

    Returns
    -------
    list of rows
        The whole table.
    """
    table = Path(path)
    table.parent.mkdir(parents=True, exist_ok=True)
    index = {case.name: number for number, case in enumerate(cases)}
    rows = {row["case"]: row for row in _read(table) if row["case"] in index}

    def is_measured(case: Case) -> bool:
        row = rows.get(case.name, {})
        return [row.get(name) for name in KEY_COLUMNS] == [case.name, str(case.sets), str(seed)]

    missing = [case for case in select(cases, pattern) if again or not is_measured(case)]
    groups = [list(group) for _, group in groupby(missing, key=lambda case: case.drawn)]
    done, spent = 0, 0.0
    for measured in _measure_groups(groups, n_jobs, measure, seed, store):
        rows |= {row["case"]: row for row, _ in measured}
        write_csv(table, [rows[name] for name in sorted(rows, key=index.__getitem__)])
        for row, seconds in measured:
            done, spent = done + 1, spent + seconds
            if report is not None:
                report(f"{done} of {len(missing)}: {row['case']} ({seconds:.1f} s of {spent:.0f})")
    return [rows[name] for name in sorted(rows, key=index.__getitem__)]


def _measure_groups(
    groups: list[list[Case]], n_jobs: int, *options: Any
) -> Iterator[list[tuple[Row, float]]]:
    if n_jobs == 1:
        for group in groups:
            yield measure_group(group, *options)
        return
    with ProcessPoolExecutor(n_jobs) as pool:
        futures = [pool.submit(measure_group, group, *options) for group in groups]
        for future in as_completed(futures):
            yield future.result()


def measure_group(
    cases: Sequence[Case], measure: Measure, seed: int, store: str | None
) -> list[tuple[Row, float]]:
    """Return (row, CPU seconds) of each of the cases that share one simulation."""
    begin = time.process_time()
    simulation = cases[0].simulate(seed, store)
    rows = []
    for case in cases:
        row: Row = {"case": case.name, **measure(case, case.of(simulation))}
        row |= {"sets": str(case.sets), "seed": str(seed)}
        rows.append((row, time.process_time() - begin))
        begin = time.process_time()
    return rows


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if rows and not set(KEY_COLUMNS) <= set(rows[0]):
        raise ValueError(f"{path} has no column 'case': it is another file")
    return rows


def write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows to a CSV file."""
    rows = list(rows)
    columns = dict.fromkeys(column for row in rows for column in row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def markdown(columns: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Return the lines of a Markdown table; align all but the first `left` columns right."""
    rule = ["---"] * left + ["---:"] * (len(columns) - left)
    return [f"| {' | '.join(cells)} |" for cells in (columns, rule, *lines)]


def main(
    arguments: Sequence[str],
    name: str,
    cases: Callable[[bool], Sequence[Case]],
    measure: Measure,
    page: Callable[[Sequence[Row], int], list[str]],
) -> None:
    """Measure the missing cases of the table `name` and write it as CSV and Markdown."""
    parser = argparse.ArgumentParser(description=sys.modules[measure.__module__].__doc__)
    parser.add_argument("--out", type=Path, default=Path("studies/results"), help="folder")
    parser.add_argument("--case", help="measure only such cases; * matches anything")
    parser.add_argument("--smoke", action="store_true", help="measure a few tables of each case")
    parser.add_argument("--again", action="store_true", help="measure all cases again")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", help="keep the losses of fitted learners in this store")
    options = parser.parse_args(arguments)
    path = options.out / f"{name}.csv"
    rows = fill(
        path, cases(options.smoke), measure, pattern=options.case, seed=options.seed,
        n_jobs=options.jobs, store=options.store, again=options.again,
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )  # fmt: skip
    path.with_suffix(".md").write_text("\n".join(page(rows, options.seed)), encoding="utf-8")
