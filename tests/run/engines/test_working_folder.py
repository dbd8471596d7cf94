"""Modules in the working folder are never imported by worker processes, whatever their names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = (
    "random", "queue", "multiprocessing", "loky", "cloudpickle", "pickle", "argparse", "runpy",
    "signal", "threading", "_posixsubprocess", "numpy", "sklearn", "bestofk", "sitecustomize",
)  # fmt: skip
"""Modules that starting interpreters, workers and resource trackers import."""

SCRIPT = """
import json, os, sys
import numpy as np
import bestofk as bk
from sklearn.linear_model import LogisticRegression

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile(["a", "b"], 20)
    learners = {"ours": "nmc", "theirs": LogisticRegression()}
    execution = bk.Execution(progress=False, n_jobs=1, **json.loads(sys.argv[1]))
    study = bk.compare(learners, X, y, cv="kfold:2", random_state=1, execution=execution)
    print(json.dumps([cell.explain() for cell in study.failures]), os.environ.get("PYTHONSAFEPATH"))
"""


@pytest.mark.parametrize(
    "execution",
    [{"engine": "processes"}, {"engine": "serial", "timeout": 60}, {"engine": "dask"}],
    ids=lambda execution: execution["engine"],
)
def test_workers_import_nothing_from_the_working_folder(tmp_path: Path, execution: dict) -> None:
    if execution["engine"] == "dask":
        pytest.importorskip("distributed")
    folder, script = tmp_path / "work", tmp_path / "scripts" / "run.py"
    folder.mkdir()
    script.parent.mkdir()
    script.write_text(SCRIPT)
    for name in NAMES:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\nraise SystemExit\n"
        )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, str(script), json.dumps(execution)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()
    assert done.stdout == "[] None\n", done.stderr
