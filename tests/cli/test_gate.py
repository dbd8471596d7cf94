"""``bestofk gate``: answers, exit codes, files and the action."""

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

from bestofk.testing import assert_not_worse

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
    write_log(tmp_path / "production2.csv", 11)
    write_log(tmp_path / "good.csv", 2)
    write_log(tmp_path / "bad.csv", 3, loss=0.2)
    write_log(tmp_path / "suspect.csv", 5, loss=0.05)
    return tmp_path


@pytest.fixture
def gate(folder, run, monkeypatch):
    """Run the command in the folder of the logs."""
    monkeypatch.chdir(folder)

    def call(*words):
        code, out, err = run("gate", *words)
        return SimpleNamespace(returncode=code, stdout=" ".join(out.split()), stderr=err)

    return call


def test_exit_codes_and_answers(gate):
    begun = gate("start", "production.csv", "production2.csv", "--build", "v1")
    assert begun.returncode == 0
    assert begun.stdout.startswith("The baseline is v1 (the mean of 2 runs, 400 items).")
    first = gate("good.csv")
    assert first.returncode == 0
    assert first.stdout.startswith("Pass: good is not shown to be worse than the baseline")
    bad = gate("bad.csv")
    assert bad.returncode == 1
    assert bad.stdout.startswith("Blocked: bad is worse than the baseline")
    assert "Items that got worse: q" in bad.stdout
    suspect = gate("suspect.csv")
    assert suspect.returncode == 3
    assert "type: bestofk gate RUN2 RUN3 --build suspect" in suspect.stdout
    for words, code in (
        (["nowhere.csv"], 2),
        (["good.csv", "--ledger", "new.json"], 2),
        (["good.csv", "--false-blocks", "0.2"], 2),
        (["start", "good.csv"], 2),
    ):
        assert gate(*words).returncode == code


def test_a_command_runs_a_suspect_again(folder, gate):
    gate("start", "production.csv", "production2.csv")
    script = folder / "evaluate.py"
    script.write_text("import shutil; shutil.copy('production.csv', 'suspect.csv')\n")
    done = gate("suspect.csv", "--rerun", f"{sys.executable} evaluate.py")
    assert done.returncode == 0
    assert "this is the answer after its reruns" in done.stdout
    failed = gate("bad.csv", "--rerun", "false")
    assert failed.returncode == 1  # a blocked build does not run again


def test_rehearse(gate):
    done = gate("--rehearse", "production.csv", "production2.csv")
    assert done.returncode == 0
    assert "correct: of 100 builds, how many are blocked" in done.stdout
    assert re.search(r"nothing [01]\.\d 1 point ", done.stdout)
    assert re.search(r"Of 100 good builds, \d+ run again\.", done.stdout)


def test_files(folder, gate):
    gate("start", "production.csv")
    done = gate(
        "bad.csv", "--markdown", "gate.md", "--junit", "gate.xml", "--figure", "history.svg",
        "--figure-width", "3.3", "--report", "gate.html", "--json",
    )  # fmt: skip
    assert done.returncode == 1
    content = json.loads(done.stdout)
    assert (content["answer"], content["exit_code"]) == ("blocked", 1)
    assert "Blocked" in (folder / "gate.md").read_text()
    suite = ElementTree.parse(folder / "gate.xml").getroot()
    assert suite.get("failures") == "1"
    assert suite.find("testcase/failure").get("type") == "blocked"
    # 3.3 inches are 237.6 points
    assert 'width="237.6"' in (folder / "history.svg").read_text()
    assert "Blocked" in (folder / "gate.html").read_text()


def test_accept_and_a_changed_ledger(folder, gate):
    gate("start", "production.csv")
    done = gate("accept", "bad.csv", "--reason", "smaller")
    assert (done.returncode, done.stdout) == (0, "The baseline is bad (one run, 400 items).")
    assert gate("bad.csv").returncode == 0
    ledger = folder / "bestofk-gate.json"
    ledger.write_text(ledger.read_text().replace("smaller", "larger"))
    done = gate("good.csv")
    assert (done.returncode, done.stdout) == (4, "")
    assert "entry 2 of baselines was changed" in " ".join(done.stderr.split())


def test_a_name_with_line_breaks_and_links_stays_in_its_cell(folder, gate):
    gate("start", "production.csv")
    gate("good.csv", "--build", "a\n| b | https://evil.example @team [x](y)", "--markdown", "g.md")
    text = (folder / "g.md").read_text()
    assert "https://" not in text
    assert "@team" not in text
    assert "\\[x\\](y)" in text


@pytest.mark.parametrize("closing", ["| true", ">/dev/full"])
def test_the_exit_code_is_the_answer_whoever_reads_it(folder, closing):
    command = f"{BESTOFK} gate bad.csv --baseline production.csv {closing}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False)
    assert done.returncode in ((1, 4) if "full" in closing else (1,))


class Repository:
    """A remote repository with clones, and the action's script."""

    def __init__(self, folder):
        self.folder, self.remote = folder, folder / "remote.git"
        self.shell("git", "init", "-q", "--bare", "-b", "main", str(self.remote))
        self.clone("one")
        self.shell("bash", "-c", "cp *.csv one")
        for words in (["add", "."], ["commit", "-qm", "Start"], ["push", "-qu", "origin", "main"]):
            self.git("one", *words)

    def shell(self, *command):
        return subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout

    def git(self, clone, *words):
        return self.shell("git", "-C", clone, "-c", "user.name=a", "-c", "user.email=a@b", *words)

    def clone(self, name):
        self.shell("git", "-c", "init.defaultBranch=main", "clone", "-q", str(self.remote), name)

    def run(self, clone, **inputs):
        action = yaml.safe_load((ROOT / ".github/actions/gate/action.yml").read_text())
        values = {name: inputs.get(name, one.get("default", "")) for name, one in
                  action["inputs"].items()}  # fmt: skip
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], text)
            for name, text in action["runs"]["steps"][1]["env"].items()
        }
        variables["PULL_REQUEST"] = ""
        return subprocess.run(
            ["bash", str(ROOT / ".github/actions/gate/gate.sh")], cwd=self.folder / clone,
            capture_output=True, text=True, check=False,
            env={**os.environ, **variables, "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                 "PATH": f"{BESTOFK.parent}{os.pathsep}{os.environ['PATH']}"},
        )  # fmt: skip

    def subjects(self):
        return self.shell("git", "--git-dir", str(self.remote), "log", "--format=%s").splitlines()


def test_the_action_runs_as_a_script_in_a_repository(folder):
    repository = Repository(folder)
    first = repository.run("one", new="good.csv", baseline="production.csv\nproduction2.csv",
                           build="one", commit="true")  # fmt: skip
    assert first.returncode == 0, first.stderr
    repository.clone("two")
    repository.git("two", "config", "pull.rebase", "false")
    # both jobs work on the same commit, and the second push loses the race
    for clone, new, build, code in (
        ("one", "bad.csv", "two", 1),
        ("two", "suspect.csv", "three", 3),
    ):
        done = repository.run(clone, new=new, build=build, commit="true", options="--explain")
        assert done.returncode == code, done.stderr
    assert repository.subjects() == [
        "Record build three in the release gate", "Record build two in the release gate",
        "Record build one in the release gate", "Start",
    ]  # fmt: skip
    repository.git("two", "pull", "-q", "origin", "main")
    builds = json.loads((folder / "two" / "bestofk-gate.json").read_text())["builds"]
    assert [build["build"] for build in builds] == ["one", "two", "three"]
    summary = (folder / "summary.md").read_text()
    assert [word in summary for word in ("Pass", "Blocked", "Suspect")] == [True] * 3
    # a pull request has a detached head, from which nothing is pushed
    repository.git("two", "checkout", "-q", "--detach")
    spaced = {"options": "--column\nitem=item", "commit": "true"}
    assert repository.run("two", new="bad.csv", build="four", **spaced).returncode == 1
    assert len(repository.subjects()) == 4
    assert repository.run("two", new="bad.csv", options="--help").returncode == 2
    (folder / "two" / ".gitignore").write_text("*.json\n")
    ignored = repository.run("two", new="good.csv", ledger="new.json", baseline="production.csv")
    assert "::warning::.gitignore covers new.json" in ignored.stdout


def test_the_assertion_fails_a_test(folder):
    assert_not_worse(folder / "good.csv", folder / "production.csv")
    with pytest.raises(AssertionError, match="Blocked: bad is worse than the baseline"):
        assert_not_worse(folder / "bad.csv", folder / "production.csv")
