"""A table of losses, and an environment with modules of its own."""

import os
from pathlib import Path

import pytest

SCORES = """learner,fold,error
small,1,0.24
small,2,0.21
small,3,0.25
small,4,0.22
large,1,0.12
large,2,0.10
large,3,0.13
large,4,0.11
"""


@pytest.fixture
def scores(tmp_path):
    """Write a small table of losses."""
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return str(path)


@pytest.fixture
def with_module(tmp_path):
    """Return an environment in which modules in `tmp_path` and this bestofk are importable."""
    import bestofk

    path = [str(tmp_path), str(Path(bestofk.__file__).parents[1])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
