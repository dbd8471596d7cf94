"""``bestofk compare``."""

import json
import os
import re

import pytest

from bestofk.cli import main


def test_ctrl_c_says_what_is_safe_and_the_same_call_goes_on(tmp_path, with_module, fork_server):
    import signal
    import time

    (tmp_path / "sleepy.py").write_text(
        "import time\n"
        "from sklearn.dummy import DummyClassifier\n"
        "class Sleepy(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        time.sleep(0.05)\n"
        "        return super().fit(X, y)\n"
    )
    command = [
        "-m", "bestofk", "compare", "iris", "--learner", "max", "--learner", "sleepy:Sleepy()",
        "--set", "engine=serial", "--cv", "5x8", "--store", "study.db", "--quiet",
    ]  # fmt: skip
    with fork_server.start(command, cwd=tmp_path, env=with_module) as started:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not _cells(tmp_path / "study.db"):
            time.sleep(0.02)
        started.send_signal(signal.SIGINT)
        assert started.wait(timeout=60) == 130
        err = started.stderr.read()
    assert "fits are safe in the store: the same call resumes from there" in err
    kept = _cells(tmp_path / "study.db")
    assert 0 < kept < 80
    again = fork_server.run(command, cwd=tmp_path, env=with_module)
    assert again.returncode == 0, again.stderr
    assert again.stdout == "max\nSleepy()\n"


@pytest.mark.usefixtures("preloaded_workers")
def test_a_dry_run_estimates_and_keeps_nothing(tmp_path, capsys):
    store = tmp_path / "study.db"
    words = ["compare", "iris", "wine", "--learner", "max", "--learner", "decision-tree",
             "--dry-run", "--store", str(store), "--set", "n_jobs=2"]  # fmt: skip
    assert main(words) == 0
    fits, seconds, memory = capsys.readouterr().out.splitlines()
    # two learners, two data sets, and ten runs of ten folds
    assert fits == "400 fits; nothing was kept"
    assert re.fullmatch(
        r"about \d+ s on 2 workers \(\d+ s of work, (max|decision-tree) \d+%\)", seconds
    )
    assert re.fullmatch(r"about \d+ MB per worker", memory)
    assert not store.exists()


def _cells(path):
    import sqlite3

    if not path.exists():
        return 0
    with sqlite3.connect(path) as database:
        try:
            return database.execute("select count(*) from bestofk_cells").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.mark.usefixtures("preloaded_workers")
@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_learners_that_print_do_not_spoil_the_answer(tmp_path, engine, monkeypatch, capfd):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "chatty.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Chatty(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        print('fitting', flush=True)\n"
        "        return super().fit(X, y)\n"
    )
    code = main(
        ["compare", "iris", "--learner", "max", "--learner", "chatty:Chatty()",
         "--cv", "kfold:2", "--set", f"engine={engine}", "--set", "n_jobs=1", "--json"]
    )  # fmt: skip
    out, err = capfd.readouterr()
    assert code == 0, err
    assert json.loads(out)["recommended"] == "max"
    assert "fitting" in err


QUICK_RACE = ["compare", "wine", "--learner", "max", "--learner", "nmc", "--learner", "c4.5",
              "--prefer", "listed", "--set", "n_jobs=1"]  # fmt: skip


def test_it_stops_when_it_is_settled(run, tmp_path):
    store = str(tmp_path / "study.db")
    code, out, err = run(*QUICK_RACE, "--set", "stop=settled", "--cv", "10x10", "--store", store)
    assert (code, err) == (0, "")
    assert "Stopped after 60 of 300 fits" in out
    assert "runs" in out
    code, out, _ = run(*QUICK_RACE, "--set", "stop=order", "--set", "risk=0.1", "--json")
    assert "runs" in json.loads(out)["table"][0]
    code, out, _ = run("show", store, "--report", str(tmp_path / "race.html"))
    assert code == 0
    assert "Stopped after 60 of 300 fits" in (tmp_path / "race.html").read_text("utf-8")


def test_it_keeps_the_default_plan_when_it_stops(run):
    code, out, _ = run(*QUICK_RACE, "--set", "stop=settled")
    assert code == 0
    # 25 losses in each of ten runs: five folds, and ten pairs of them left out together
    saved = re.search(r"Stopped after (\d+) of 750 fits", out)
    assert saved is not None
    assert int(saved[1]) % 25 == 0
    assert "nested-cv-t" in out


@pytest.mark.parametrize("plan", ["5x2", "kfold:10", "holdout:0.3"])
def test_the_advice_of_what_cannot_stop_works_when_typed(run, plan):
    code, out, err = run(*QUICK_RACE, "--set", "stop=settled", "--cv", plan)
    assert code != 0
    assert out == ""
    # said once, as it is typed
    assert err.count("--cv 10x10") == 1
    assert run(*QUICK_RACE, "--set", "stop=settled", "--cv", "10x10", "--quiet")[0] == 0


def test_options_of_a_race_need_one(run):
    code, _, err = run(*QUICK_RACE, "--set", "risk=0.1")
    assert (code, "--set stop=settled" in err) == (2, True)
