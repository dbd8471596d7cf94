"""Golden tables that the tools themselves wrote."""

import zipfile
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def golden():
    """A golden table by its place."""
    return lambda name: GOLDEN / name


@pytest.fixture
def mlruns(tmp_path):
    """The folder of MLflow's file store, unpacked."""
    with zipfile.ZipFile(GOLDEN / "mlflow" / "mlruns.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / "mlruns"
