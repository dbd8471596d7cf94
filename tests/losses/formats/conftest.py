"""Golden tables that the tools themselves wrote."""

import zipfile
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def golden():
    """Return the path of a golden table."""
    return lambda name: GOLDEN / name


@pytest.fixture
def mlruns(tmp_path):
    """Unpack the folder of MLflow's file store."""
    with zipfile.ZipFile(GOLDEN / "mlflow" / "mlruns.zip") as archive:
        archive.extractall(tmp_path)
    return tmp_path / "mlruns"
