"""Runs that are killed, ended or stopped at random moments lose nothing and leave nothing.

The long form is ``python studies/kill_matrix.py --times 50``.
"""

import random

import pytest

import kill_matrix

pytestmark = pytest.mark.needs("linux", "processes are found in /proc")
PLAN = "2x2"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    started = kill_matrix.Runs(folder=tmp_path_factory.mktemp("runs"), pace=0.0, plan=PLAN)
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def expected():
    return kill_matrix.comparison(None, engine="serial", plan=PLAN).scores.losses


@pytest.mark.parametrize(
    ("kind", "times"),
    [("main-long", 2), ("workers-long", 2), ("term-long", 1), ("hangup-long", 1),
     ("stop-short", 1)],
)  # fmt: skip
def test_nothing_is_lost_and_nothing_is_left(kind, times, runs, expected, monkeypatch):
    # watched forks start immediately; the benchmark uses spawned workers too
    watched = {"engine": "serial", "timeout": 60.0}
    monkeypatch.setattr(kill_matrix, "_options", lambda _: watched)
    monkeypatch.setattr(kill_matrix, "WAITS", (0.2, 0.5))
    monkeypatch.setattr(kill_matrix, "FITS", 8)  # of the plan
    function, number, runs.pace = kill_matrix.KINDS[kind]
    runs.series += 1
    summary = function(runs, expected, times, number, random.Random(kind))
    assert summary["times"] >= times
