"""``bestofk gate``: answers, exit codes and files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BESTOFK = Path(sys.executable).with_name("bestofk")


def write_log(path, seed, loss=0.0, n=400):
    rng = np.random.default_rng(seed)
    chance = np.random.default_rng(0).beta(0.7, 0.3, n)
    right = rng.random(n) < chance * (1 - loss / 0.7)
    rows = [f"q{k},{int(answer)}" for k, answer in enumerate(right)]
    path.write_text("\n".join(["item,correct", *rows]) + "\n")


@pytest.fixture
def folder(tmp_path):
    write_log(tmp_path / "production.csv", 1)
    write_log(tmp_path / "good.csv", 2)
    write_log(tmp_path / "bad.csv", 3, loss=0.2)
    return tmp_path


@pytest.fixture
def gate(folder, run, monkeypatch):
    """Run the command in the folder of the logs."""
    monkeypatch.chdir(folder)

    def call(*words):
        code, out, err = run("gate", *words)
        return SimpleNamespace(returncode=code, stdout=out, stderr=err)

    return call


def test_exit_codes_and_answers(gate):
    first = gate("good.csv", "--baseline", "production.csv")
    assert first.returncode == 0
    assert first.stdout.startswith("Pass: good is not shown to be worse than the anchor")
    bad = gate("bad.csv")
    assert bad.returncode == 1
    assert bad.stdout.startswith("Blocked: bad is worse than the anchor")
    open_case = gate("good.csv", "--margin", "0.001", "--no-ledger", "--baseline",
                     "production.csv")  # fmt: skip
    assert open_case.returncode == 3
    assert gate("nowhere.csv").returncode == 2
    assert gate("good.csv", "--ledger", "new.json").returncode == 2
    assert gate("good.csv", "--alpha", "0.2").returncode == 2


def test_files(folder, gate):
    done = gate(
        "bad.csv", "--baseline", "production.csv", "--markdown", "gate.md", "--junit",
        "gate.xml", "--figure", "history.svg", "--json",
    )  # fmt: skip
    assert done.returncode == 1
    content = json.loads(done.stdout)
    assert (content["answer"], content["exit_code"]) == ("worse", 1)
    assert "Blocked" in (folder / "gate.md").read_text()
    suite = ElementTree.parse(folder / "gate.xml").getroot()
    assert suite.get("failures") == "1"
    assert suite.find("testcase/failure").get("type") == "worse"
    assert "<svg" in (folder / "history.svg").read_text()


def test_accept_and_merge(folder, gate):
    gate("good.csv", "--baseline", "production.csv")
    done = gate("accept", "bad.csv", "--reason", "smaller")
    assert (done.returncode, done.stdout) == (0, "bad is the anchor from now on.\n")
    assert gate("bad.csv").returncode == 0
    assert gate("merge").returncode == 2
    ledger = folder / "bestofk-gate.json"
    ledger.write_text(ledger.read_text().replace("smaller", "larger"))
    done = gate("good.csv")
    assert (done.returncode, done.stdout) == (4, "")
    assert "line 4 does not match its hash" in done.stderr


def test_the_action_runs_as_a_script_in_a_repository(folder):
    """Run the steps of the composite action, except the installation."""
    remote = folder / "remote.git"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    clone = folder / "clone"
    for command in (
        ["git", "init", "-q", "--bare", str(remote)],
        ["git", "clone", "-q", str(remote), str(clone)],
        ["cp", "good.csv", "bad.csv", "production.csv", "clone"],
        [*git, "-C", "clone", "add", "."],
        [*git, "-C", "clone", "commit", "-qm", "Start"],
        [*git, "-C", "clone", "push", "-qu", "origin", "HEAD"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text())
    step = action["runs"]["steps"][1]
    summary = folder / "summary.md"
    path = f"{BESTOFK.parent}{os.pathsep}{os.environ['PATH']}"

    def run(**inputs):
        values = {name: inputs.get(name, one.get("default", "")) for name, one in
                  action["inputs"].items()}  # fmt: skip
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], text)
            for name, text in step["env"].items()
        }
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=clone, capture_output=True,
            text=True, check=False,
            env={**os.environ, **variables, "GITHUB_STEP_SUMMARY": str(summary), "PATH": path},
        )  # fmt: skip

    first = run(new="good.csv", baseline="production.csv", build="one", commit="true")
    assert first.returncode == 0, first.stderr
    second = run(new="bad.csv", build="two", commit="true", options="--explain")
    assert second.returncode == 1, second.stderr
    assert "Pass" in summary.read_text()
    assert "Blocked" in summary.read_text()
    log = subprocess.run(
        ["git", "--git-dir", str(remote), "log", "--format=%s"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert log.stdout.splitlines() == [
        "Record build two in the release gate", "Record build one in the release gate", "Start",
    ]  # fmt: skip
    assert run(new="nowhere.csv", build="three", commit="true").returncode == 2


def test_the_assertion_fails_a_test_suite(folder):
    (folder / "test_model.py").write_text(
        "from bestofk.testing import assert_not_worse\n"
        "def test_good():\n    assert_not_worse('good.csv', 'production.csv')\n"
        "def test_bad():\n    assert_not_worse('bad.csv', 'production.csv')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout
    assert "Blocked: bad is worse than the anchor" in done.stdout
