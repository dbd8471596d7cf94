"""Benchmarks run on small input; their timings are no tests."""

import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def quick_learners(seed=0):
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    return {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=seed)}


SMALL = {
    "battle_speed": ({"BATTLES": 3000}, ["plain", "clusters", "many-clusters"]),
    "compare_options_speed": (
        {"DATA": ("iris",), "ROUNDS": 1, "CV": "2x2", "TREES": 2, "SPLITTERS": ("group-kfold",)},
        None,
    ),
    "evals_speed": ({"ITEMS": 20, "REPEATS": 1}, ["table"]),
    "gate_speed": ({"ITEMS": 30, "BUILDS": 2}, ["binary", "graded"]),
    "lab_speed": ({"SETS": 20, "OURS": 2, "SKLEARN": 1, "PROCESSES": 2, "ENGINE": "serial"}, None),
    "memory": ({"ROWS": 500, "FILE_ROWS": 50, "FILE_COLUMNS": 2}, None),
    "ordering_speed": (
        {"TABLES": 2, "LEARNERS": 60, "RANKED": 4, "ITEMS": 30, "TEXT_SHAPES": ((4, 12),),
         "INSTANCE_SHAPES": ((3, 40),), "PAPER_SETS": 1, "PAPER_RUNS": 2, "PUBLISHED": 1},
        ["order_many", "paper", "claims", "multitest", "ranks", "text", "instances"],
    ),
    "overhead_speed": (
        {"ROUNDS": {"iris": 3}, "WHOLE": {"2x2": ("iris",)}, "CALLS": {"2x2": 8, "4x2": 16},
         "CALL_ROUNDS": 4, "learners": quick_learners, "fast_learners": quick_learners},
        ["calls", "whole", "iris", "mlxtend"],
    ),
    "paper_learners_speed": ({"LARGE": ((60, 3, 2),), "TIMES": 1}, ["uci", "large"]),
    "paper_speed": ({"SETS": 2, "PEER_SETS": 1, "RUNS": (2, 3)}, ["figure2"]),
    "start_up_speed": (
        {"STARTS": 3, "RUNS": 1, "PANEL": ("--help",),
         "REFUSED": {"refuse-file": ("compare", "chrun.csv")}},
        ["start", "first", "panel"],
    ),
    "statistics_speed": (
        {"LEARNERS": 6, "LOOP_LEARNERS": 5, "RESAMPLES": 200, "MEASURED_RESAMPLES": 100,
         "CHUNK": 50},
        ["pairwise", "hierarchical", "bootstrap"],
    ),
    "tree_and_bayes_speed": ({"SETS": 1, "ROWS": 40, "COLUMNS": 3}, None),
}  # fmt: skip
"""Constants that make a benchmark small, and the parts to run (None: it has no parts)."""
IN_OTHER_TESTS = {
    "dask_speed", "growth", "parallel_speed", "report_speed", "stopping_speed", "store_speed",
}  # fmt: skip
"""Benchmarks with a case of their own, here or in tests/run/test_run_benchmarks.py."""
WITHOUT_CASE = {
    "battle_speed": {"peers"},  # packages that are not in the extra `test`
    "paper_speed": {"table1", "table1-1000"},  # the data sets of the paper
    "statistics_speed": {"friedman", "signed-rank"},  # the peers take seconds
}


def test_every_benchmark_has_a_case(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    run = import_module("run")
    assert {*SMALL} | IN_OTHER_TESTS == {*run.names()}
    sys.modules.pop("run")


def test_the_report_benchmark_draws_all_figures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = import_module("report_speed")
    monkeypatch.setattr(module, "LEARNERS", 3)
    monkeypatch.setattr(module, "DATASETS", 4)
    monkeypatch.setattr(module, "TIMES", 1)
    assert module.small_report()[0].startswith("report")
    assert "MiB" in capsys.readouterr().out
    for loaded in ("report_speed", "timing"):
        sys.modules.pop(loaded, None)


def _first(data_sets):
    return data_sets()[:1]


@pytest.mark.parametrize("name", SMALL)
def test_small_cases_run(monkeypatch, name):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = import_module(name)
    constants, parts = SMALL[name]
    for constant, value in constants.items():
        assert hasattr(module, constant)
        monkeypatch.setattr(module, constant, value)
    if name == "paper_learners_speed":
        monkeypatch.delenv("BESTOFK_DATA", raising=False)
        monkeypatch.setattr(module, "uci_sets", partial(_first, module.uci_sets))
        monkeypatch.setitem(module.PARTS, "large", lambda: module.large(module.LARGE, 1))
    every = {*getattr(module, "PARTS", parts or ())}
    assert every == {*(parts or ())} | WITHOUT_CASE.get(name, set())
    rows = list(module.measure() if parts is None else module.measure(parts))
    assert rows
    assert all(np.isfinite(row[1:]).all() and min(row[1:]) >= 0 for row in rows)
    for loaded in (name, "timing", "growth", "tree_and_bayes_speed"):
        sys.modules.pop(loaded, None)


def test_growth_runs_the_commands(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import growth

    monkeypatch.setattr(growth, "SIZES", dict.fromkeys(growth.SIZES, (4,)))
    monkeypatch.setattr(growth, "DATASETS", 5)
    parts = ["units"]
    assert list(growth.measure(parts)) == []
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if not line.startswith(" ")] == parts
    assert out.count("MiB") == len(parts)
    sys.modules.pop("growth")
    sys.modules.pop("store_speed", None)


def test_evals_speed_compares_the_commands_with_pandas(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import evals_speed

    monkeypatch.setattr(evals_speed, "ITEMS", 30)
    monkeypatch.setattr(evals_speed, "REPEATS", 1)
    # the other two rows differ in the options of the command
    assert next(evals_speed.commands(models=3))[0] == "evals-text"
    assert capsys.readouterr().out.count("MiB") == 1
    sys.modules.pop("evals_speed")
    sys.modules.pop("growth")
