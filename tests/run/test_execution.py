"""Execution options are validated when they are created."""

import re

import pytest

from bestofk._base.errors import ArgumentError
from bestofk.run.engine import Engine, Execution


def test_the_engine_has_what_was_asked():
    engine = Engine(Execution(n_jobs=3, scheduler="tcp://x:1", timeout=2))
    assert (engine.name, engine.workers, engine.timeout) == ("dask", 3, 2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_jobs": 0}, "n_jobs must be a whole number of workers, or -1 for one per core; got 0"),
        ({"n_jobs": True}, "n_jobs must be"),
        ({"n_jobs": 1.5}, "n_jobs must be"),
        ({"engine": "hadoop"}, "engine must be one of"),
        (
            {"engine": "processes", "scheduler": "tcp://x:1"},
            "scheduler applies only to the engine 'dask'",
        ),
        ({"engine": "dask"}, "needs the address of a cluster"),
        ({"timeout": 0}, "timeout must be a number above 0"),
        ({"budget": -1}, "budget must be a number above 0"),
        ({"timeout": float("nan")}, "timeout must be"),
        ({"threads": 1.5}, "threads must be"),
        ({"on_failure": "cry"}, "on_failure must be one of 'record', 'stop'"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(ArgumentError, match=re.escape(words)):
        Execution(**given)
