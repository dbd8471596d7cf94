"""Tables of many measured cases: a row per case, written as they come, resumed where it stopped."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

from bestofk._base.atomic_write import write_text
from bestofk._base.errors import ArgumentError, RunError
from bestofk.lab.problems.given_rows import ColumnBlocks
from bestofk.lab.problems.registry import Problem
from bestofk.lab.simulation import Simulation, simulate
from bestofk.run.cells import Failure
from bestofk.run.engines.engine import Engine
from bestofk.run.store.store import Store
from bestofk.run.task import Block, BlockSizer, ItemEvaluator, Task, sendable_error

Row = dict[str, str]
Measure = Callable[["Case", Simulation], Row]
MARKS = ("case", "sets", "seed")
"""Columns by which a row is known again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one row of a table measures.

    Attributes
    ----------
    name : str
        Its parts separated by slashes, unique in its table.
    problem : Problem
        What draws the tables, or the data sets.
    sets : int
        How many of them.
    decision : str
        How `order` decides.
    learner : str
        For *blocks*: the kind of the learners; else empty.
    plan : str
        For *blocks*: the plan.
    first : int, optional
        Use the first learners only, so that cases of several K share one simulation.
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
        """What the losses depend on: cases that have it in common share them."""
        return (repr(self.problem), self.learner, self.plan, self.sets)

    def simulate(self, seed: int, store: str | None) -> Simulation:
        """The losses of all learners, those of a store where it has them."""
        asked: dict[str, Any] = {"sets": self.sets, "random_state": seed, "n_jobs": 1,
                                 "engine": "serial"}  # fmt: skip
        if not self.learner:
            return simulate(problem=self.problem, **asked)
        return simulate([self.learner], self.problem, self.plan, store=store, **asked)

    def of(self, simulation: Simulation) -> Simulation:
        """The losses of this case's learners."""
        if self.first is None:
            return simulation
        assert isinstance(self.problem, ColumnBlocks)
        parts = simulation.subset_losses
        return replace(
            simulation,
            losses=simulation.losses[:, :, : self.first],
            subset_losses=None if parts is None else parts[:, :, : self.first],
            learners=simulation.learners[: self.first],
            problem=self.problem.first(self.first),
        )


def select(cases: Sequence[Case], pattern: str | None) -> list[Case]:
    """The cases whose names match a pattern such as ``learners/nn/*``."""
    if pattern is None:
        return list(cases)
    found = [case for case in cases if fnmatch(case.name, pattern)]
    if not found:
        raise ArgumentError(
            f"case must match a name such as {cases[0].name!r} (* stands for anything); "
            f"{pattern!r} matches none."
        )
    return found


def fill(
    path: str | os.PathLike[str],
    cases: Sequence[Case],
    measure: Measure,
    *,
    pattern: str | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    engine: str = "auto",
    scheduler: str | None = None,
    store: str | None = None,
    again: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[Row]:
    """Measure the cases that a table lacks, writing it after every one.

    Parameters
    ----------
    path : path
        The table, a CSV file; made where it is not there.
    cases : sequence of Case
        All cases of the table, in its order.
    measure : callable
        What gives the row of a case; a function of a module, so that workers can call it.
    pattern : str, optional
        Measure only the cases whose names match; the rows of others stay.
    seed, n_jobs, engine, scheduler, store
        As for `simulate`; the cases are shared among the workers, and a store is used by the
        simulations that run learners.
    again : bool
        Measure also what the table has, as after a change of the tests.
    say : callable, optional
        Is given a line on every case, with the seconds that the processor needed.

    Returns
    -------
    list of rows
        Of the whole table.
    """
    table = Path(path)
    table.parent.mkdir(parents=True, exist_ok=True)
    wanted = select(cases, pattern)
    rows = {row["case"]: row for row in _read(table)}
    order = {case.name: place for place, case in enumerate(cases)}
    rows = {name: row for name, row in rows.items() if name in order}

    def known(case: Case) -> bool:
        row = rows.get(case.name, {})
        return [row.get(mark) for mark in MARKS] == [case.name, str(case.sets), str(seed)]

    missing = [case for case in wanted if again or not known(case)]
    groups = tuple(tuple(group) for _, group in groupby(missing, key=lambda case: case.drawn))
    task = CaseTask(groups=groups, measure=measure, seed=seed, store=store)
    running = Engine(name=engine, jobs=n_jobs, scheduler=scheduler)
    if running.name == "auto":
        # a case is much work: as many workers as there are groups, from the beginning
        workers = min(running.workers, len(groups))
        running = replace(running, name="processes" if workers > 1 else "serial", jobs=workers or 1)
    run = running.run(task, range(len(groups)), total=len(groups))
    done, spent = 0, 0.0
    try:
        for found in run:
            if found.raised is not None:
                raise found.raised
            rows |= {row["case"]: row for row, _ in found.rows}
            _write(table, [rows[name] for name in sorted(rows, key=order.__getitem__)])
            for row, seconds in found.rows:
                done, spent = done + 1, spent + seconds
                if say is not None:
                    say(f"{done} of {len(missing)}: {row['case']} ({seconds:.1f} s of {spent:.0f})")
    finally:
        run.close()
    return [rows[name] for name in sorted(rows, key=order.__getitem__)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCases:
    """Rows of the cases that share one simulation with the seconds of each, or what was raised."""

    key: str
    rows: tuple[tuple[Row, float], ...] = ()
    raised: Exception | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseTask(Task[int, MeasuredCases]):
    """Groups of cases as a task: an item is the number of a group.

    The table that is written from the results is what is kept of them.
    """

    unit: ClassVar[str] = "groups of cases"
    groups: tuple[tuple[Case, ...], ...]
    measure: Measure
    seed: int
    store: str | None

    @property
    def trusted(self) -> bool:
        return True

    def key(self, item: int) -> str:
        return str(item)

    def key_of(self, result: MeasuredCases) -> str:
        return result.key

    def evaluator(self) -> CaseEvaluator:
        return CaseEvaluator(self)

    def lost(self, item: int, failure: Failure) -> MeasuredCases:
        return MeasuredCases(
            key=self.key(item), raised=RunError(f"{self.label(item)}: {failure.reason}")
        )

    def find(self, store: Store, items: Mapping[str, int]) -> dict[str, MeasuredCases]:  # noqa: ARG002
        return {}

    def keep(self, store: Store, result: MeasuredCases) -> None:
        """Nothing: see the class."""

    def label(self, item: int) -> str:
        return self.groups[item][0].name

    def failed(self, result: MeasuredCases) -> bool:
        return result.raised is not None

    def seconds(self, result: MeasuredCases) -> float:
        return sum(seconds for _, seconds in result.rows)

    def blocks(
        self,
        items: Iterable[int],
        sizer: BlockSizer,  # noqa: ARG002  (a group is much work)
        *,
        hurried: bool = False,  # noqa: ARG002
    ) -> Iterator[Block[int]]:
        return (Block(items=(item,)) for item in items)


class CaseEvaluator(ItemEvaluator[int, MeasuredCases]):
    """Measures the groups of a task."""

    def __init__(self, task: CaseTask) -> None:
        self.task = task

    def evaluate(self, items: Iterable[int]) -> Iterator[MeasuredCases]:
        """The rows of every group."""
        task = self.task
        for item in items:
            try:
                rows = measure_group(task.groups[item], task.measure, task.seed, task.store)
            except Exception as raised:
                yield MeasuredCases(key=task.key(item), raised=sendable_error(raised))
                continue
            yield MeasuredCases(key=task.key(item), rows=tuple(rows))


def measure_group(
    cases: Sequence[Case], measure: Measure, seed: int, store: str | None
) -> list[tuple[Row, float]]:
    """The rows of cases that share one simulation, and the processor's seconds for each."""
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
    if rows and not set(MARKS) <= set(rows[0]):
        raise ArgumentError(f"{path} must be a table that this command wrote; it has no cases.")
    return rows


def _write(path: Path, rows: Iterable[Row]) -> None:
    rows = list(rows)
    columns = dict.fromkeys(column for row in rows for column in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def markdown(columns: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """A table in Markdown: the first columns to the left, numbers to the right."""
    rule = ["---"] * left + ["---:"] * (len(columns) - left)
    return [f"| {' | '.join(cells)} |" for cells in (columns, rule, *lines)]
