"""studies/case_table.py: cases are measured once, and an interrupted table is resumed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import claims_table
from bestofk.papers.lab.problems.drawn_losses import ManyDataSets
from case_table import Case, fill

CASES = [
    Case(name=f"data sets/normal/all equal/{n} data sets/K=2/default",
         problem=ManyDataSets(datasets=n), sets=6, decision="default")
    for n in (6, 7)
]  # fmt: skip


def counted(case: Case, simulation) -> dict[str, str]:
    """Record the call and return a summary of the losses."""
    calls.append(case.name)
    return {"mean": f"{simulation.losses.mean():.6f}", "learners": str(len(simulation.learners))}


calls: list[str] = []


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    calls.clear()


def test_cases_that_are_there_are_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.csv"
    first = fill(path, CASES, counted, pattern="*/7 data sets/*")
    assert [row["case"] for row in first] == [CASES[1].name]
    both = fill(path, CASES, counted)
    assert calls == [CASES[1].name, CASES[0].name]
    assert [row["case"] for row in both] == [case.name for case in CASES]
    assert fill(path, CASES, counted) == both
    assert len(calls) == 2
    assert read(path) == both


def test_an_interrupted_table_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"

    def fails(case: Case, simulation) -> dict[str, str]:
        if case is CASES[1]:
            raise KeyboardInterrupt
        return counted(case, simulation)

    with pytest.raises(KeyboardInterrupt):
        fill(path, CASES, fails)
    assert [row["case"] for row in read(path)] == [CASES[0].name]
    fill(path, CASES, counted)
    assert calls == [case.name for case in CASES]


def test_the_first_learners_of_a_simulation() -> None:
    case = next(
        case for case in claims_table.claims_cases(smoke=True)
        if case.name == "learners/binary/naive-bayes/100 rows/K=5/default"
    )  # fmt: skip
    generated = case.simulate(0, None)
    some = case.of(generated)
    assert generated.losses.shape[2] == 10
    assert some.losses.shape[2] == len(some.learners) == len(some.problem.errors) == 5
