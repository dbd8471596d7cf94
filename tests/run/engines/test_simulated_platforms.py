"""Comparisons without what Windows and macOS lack; see studies/simulated_platforms.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bestofk

FOLDER = Path(__file__).parents[2] / "simulated_platform"
SCRIPT = """
import sys, time
import numpy as np
import bestofk as bk
from bestofk.run import pool
from sklearn.base import BaseEstimator, ClassifierMixin

class Sleeps(ClassifierMixin, BaseEstimator):
    def __init__(self, seconds=0.0):
        self.seconds = seconds
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        time.sleep(self.seconds)
        return self
    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))

if __name__ == "__main__":
    assert pool.sys.platform == sys.argv[1], pool.sys.platform
    assert not hasattr(pool.os, "pidfd_open")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile(["a", "b"], 20)
    learners = {"ours": "nmc", "quick": Sleeps(), "slow": Sleeps(60.0)}
    execution = bk.Execution(progress=False, n_jobs=1, engine="processes", timeout=1.0)
    study = bk.compare(learners, X, y, cv="holdout:0.5", random_state=1, execution=execution)
    print(study.failures["kind"].tolist())
    execution = bk.Execution(progress=False, n_jobs=1, engine="auto", budget=3600)
    del learners["slow"]
    study = bk.compare(learners, X, y, cv="2x2", random_state=1, execution=execution)
    print(len(study.failures))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="simulates other systems on Linux")
@pytest.mark.parametrize(("name", "platform"), [("windows", "win32"), ("macos", "darwin")])
def test_workers_timeouts_and_budgets(name, platform, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    folders = os.pathsep.join([str(FOLDER), str(Path(bestofk.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": folders, "BESTOFK_SIMULATED_PLATFORM": name}
    done = subprocess.run(
        [sys.executable, str(script), platform], env=environment, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip
    assert done.stdout == "['timeout']\n0\n", done.stderr
    assert not done.stderr, done.stderr
