"""Simulations are equal on every engine, and resume after a kill."""

import time
from pathlib import Path

import numpy as np
import pytest

from bestofk._base.code_identity import identify
from bestofk._base.errors import ArgumentError, RunError
from bestofk.papers import lab
from bestofk.papers.lab.simulation import _task, work_of
from bestofk.papers.lab.simulation_task import SimulationTask
from bestofk.run.store.store import open_store

PAIR = ["naive-bayes", "c4.5"]
TREE = "sklearn.tree:DecisionTreeClassifier(max_depth=2)"
SMALL = "binary(rows=40)"


@pytest.fixture
def counted(monkeypatch):
    """The data sets that this process evaluates, as (number, repeat)."""
    seen = []
    identify(SimulationTask)  # once in a process: counting is not another simulation
    whole = SimulationTask.losses

    def losses(self, which):
        seen.append(which)
        return whole(self, which)

    monkeypatch.setattr(SimulationTask, "losses", losses)
    return seen


@pytest.mark.usefixtures("preloaded_workers")
def test_processes_give_the_same_to_the_bit(tmp_path, counted):
    learners, how = ["naive-bayes", TREE], {"sets": 2, "repeats": 2, "random_state": 4}
    expected = lab.simulate(learners, SMALL, "2x4", engine="serial", **how)
    counted.clear()
    store = tmp_path / "lab.db"
    result = lab.simulate(learners, SMALL, "2x4", engine="processes", n_jobs=2, store=store, **how)
    assert np.array_equal(result.losses, expected.losses)
    assert counted == []  # other processes did it
    stored = lab.simulate(learners, SMALL, "2x4", engine="serial", store=store, **how)
    assert np.array_equal(stored.losses, expected.losses)
    assert counted == []  # and nobody does it again
    with open_store(store) as contents:
        assert contents.n_arrays() == 4
        assert contents.n_cells() == 0


def test_only_what_is_missing_is_evaluated(tmp_path, counted):
    store = tmp_path / "lab.db"
    lab.simulate(PAIR, SMALL, "2x4", sets=3, engine="serial", store=store)
    counted.clear()
    lab.simulate(PAIR, SMALL, "2x4", sets=5, repeats=2, engine="serial", store=store)
    assert counted == [(0, 1), (1, 1), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1)]


@pytest.mark.parametrize(
    "change",
    [{"random_state": 1}, {"cv": "2x5"}, {"learners": PAIR[::-1]}, {"problem": "binary(rows=41)"}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_another_simulation_is_never_mixed_in(tmp_path, counted, change):
    names = {"learners": PAIR, "problem": SMALL, "cv": "2x4", "sets": 2, "engine": "serial",
             "store": tmp_path / "lab.db"}  # fmt: skip
    lab.simulate(**names)
    counted.clear()
    lab.simulate(**{**names, **change})
    assert len(counted) == 2


CHILD = """
import sys
from bestofk.papers import lab
lab.simulate(["naive-bayes", "c4.5"], "binary(rows=40)", "2x4", sets=100_000, random_state=4,
             engine="serial", store=sys.argv[1])
"""


def killed_midway(child, store, at_least):
    """Kill a process when the store holds at least this many payloads."""
    with child:
        end = time.monotonic() + 60
        while time.monotonic() < end and child.poll() is None:
            time.sleep(0.02)
            if store.exists() and Path(f"{store}-wal").exists():
                with open_store(store, read_only=True) as seen:
                    if seen.n_arrays() >= at_least:
                        break
        assert child.poll() is None, "it ended by itself"
        child.kill()


def test_a_killed_simulation_resumes_where_it_stopped(tmp_path, counted, fork_server):
    store = tmp_path / "lab.db"
    open_store(store).close()
    killed_midway(fork_server.start(["-c", CHILD, store]), store, at_least=20)
    with open_store(store) as stored:
        sets = stored.n_arrays() + 25
        work, pieces = work_of(_task(PAIR, lab.problem(SMALL), "2x4", 4), sets, 1)
        items = {work.key(piece): piece.argument[0] for piece in pieces}
        contents = {items[key] for key in stored.get_arrays(list(items))}
    assert 20 <= len(contents) < sets
    how = {"sets": sets, "random_state": 4, "engine": "serial"}
    result = lab.simulate(PAIR, SMALL, "2x4", store=store, **how)
    assert counted == [(number, 0) for number in range(sets) if number not in contents]
    assert np.array_equal(result.losses, lab.simulate(PAIR, SMALL, "2x4", **how).losses)


@pytest.mark.usefixtures("preloaded_workers")
def test_a_learner_that_fails_is_named_wherever_it_runs(tmp_path):
    broken = "sklearn.tree:DecisionTreeClassifier(max_depth=-1)"
    for engine in ("serial", "processes"):
        with pytest.raises(RunError, match=r"failed on data set 1: .*max_depth"):
            lab.simulate(["max", broken], SMALL, "kfold:4", sets=3, engine=engine, n_jobs=1,
                         store=tmp_path / "lab.db")  # fmt: skip
    with open_store(tmp_path / "lab.db") as stored:
        assert stored.n_arrays() == 0


def test_engines_are_checked_before_any_work():
    with pytest.raises(ArgumentError, match="engine"):
        lab.simulate(PAIR, SMALL, "2x4", sets=2, engine="threads")
    with pytest.raises(ArgumentError, match="scheduler applies only to the engine 'dask'"):
        lab.simulate(PAIR, SMALL, "2x4", sets=2, engine="processes", scheduler="tcp://127.0.0.1:9")
