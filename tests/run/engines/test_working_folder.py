"""Modules in the working folder are never imported by worker processes, whatever their names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = (
    "random", "queue", "multiprocessing", "cloudpickle", "pickle", "argparse", "runpy",
    "signal", "threading", "_posixsubprocess", "numpy", "sklearn", "bestofk", "sitecustomize",
)  # fmt: skip
"""Modules that starting interpreters, workers and resource trackers import."""

SCRIPT = """
import json, os
import numpy as np
import bestofk as bk
from sklearn.linear_model import LogisticRegression

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile(["a", "b"], 20)
    learners = {"ours": "nmc", "theirs": LogisticRegression()}
    execution = bk.Execution(progress=False, n_jobs=1, engine="processes")
    study = bk.compare(learners, X, y, cv="kfold:2", random_state=1, execution=execution)
    print(json.dumps(study.failures["reason"].tolist()), os.environ.get("PYTHONSAFEPATH"))
"""


STARTS = """
import subprocess, sys
import numpy as np
import bestofk as bk
from sklearn.dummy import DummyClassifier

class Starts(DummyClassifier):
    def fit(self, X, y):
        subprocess.run([sys.executable, "-c", "import planted"], stderr=subprocess.DEVNULL)
        return super().fit(X, y)

if __name__ == "__main__":
    execution = bk.Execution(progress=False, n_jobs=1, engine="processes")
    X, y = np.zeros((8, 1)), ["a", "b"] * 4
    bk.compare({"max": "max", "starts": Starts()}, X, y, cv="holdout:0.5", execution=execution)
"""


def run(script, cwd, **variables):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, script], cwd=cwd, env={**environment, **variables},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize("variables", [{}, {"PYTHONSAFEPATH": "1"}], ids=["default", "safe"])
def test_processes_of_a_learner_follow_the_rules_of_python(tmp_path, variables):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "planted.py").write_text("open('imported', 'w').close()\n")
    (tmp_path / "run.py").write_text(STARTS)
    done = run(tmp_path / "run.py", cwd=folder, **variables)
    assert done.returncode == 0, done.stderr
    assert (folder / "imported").exists() is not bool(variables)


def test_workers_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    folder, script = tmp_path / "work", tmp_path / "scripts" / "run.py"
    folder.mkdir()
    script.parent.mkdir()
    script.write_text(SCRIPT)
    for name in NAMES:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\nraise SystemExit\n"
        )
    done = run(script, cwd=folder)
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()
    assert done.stdout == "[] None\n", done.stderr
