"""An environment with modules of its own."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def with_module(tmp_path):
    """Return an environment in which modules in `tmp_path` and this bestofk are importable."""
    import bestofk

    path = [str(tmp_path), str(Path(bestofk.__file__).parents[1])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
