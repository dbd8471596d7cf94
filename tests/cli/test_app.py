import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import bestofk
from bestofk.cli import app
from bestofk.cli.registry import COMMANDS
from bestofk.run.store.store import open_store


def test_version(run):
    assert run("--version") == (0, f"bestofk, version {bestofk.__version__}\n", "")


def test_help_lists_every_command(run):
    code, out, _ = run("--help")
    assert code == 0
    for name in ["compare", "scores", "evals", "gate", "size", "show", "list"]:
        assert f"\n  {name}" in out
    assert "bestofk papers --help" in out


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_has_help_with_examples(run, verb):
    code, out, _ = run(verb, "--help")
    assert code == 0
    assert f"bestofk {verb}" in out.split("Examples:")[1]


def examples():
    lines = {}
    for verb in ([], *([verb] for verb in COMMANDS)):
        shown = CliRunner().invoke(app.bestofk, [*verb, "--help"], prog_name="bestofk")
        after = shown.output.split("Examples:")[1].splitlines()
        lines |= dict.fromkeys(line for line in after if line.startswith("    bestofk "))
    return [shlex.split(line)[1:] for line in lines]


SHORTER = {
    "compare iris": ["--cv", "5x2"],
    "compare breast-cancer --set stop=settled": ["--cv", "5x10"],
}
"""Plans for examples of up to 1,500 fits; tests of the README and of the docs run such in full."""


@pytest.mark.usefixtures("preloaded_workers")
@pytest.mark.parametrize("arguments", examples(), ids=" ".join)
def test_examples_of_the_help_texts_work_as_printed(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "study.db" in arguments:
        quick = ["--learner", "max", "--learner", "nmc", "--cv", "5x2"]
        assert run("compare", "iris", *quick, "--store", "study.db", "--quiet")[0] == 0
    arguments = [*arguments, *SHORTER.get(" ".join(arguments), ())]
    if "fetch" in arguments:
        pytest.skip("needs the network; see tests/papers/test_fetch.py")
    code, out, err = run(*arguments)
    assert code == 0
    # a comparison that takes long reports its progress
    assert not [line for line in err.splitlines() if " per second, about " not in line]
    assert out
    if "--json" in arguments:
        json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scores", "nowhere.csv"], "nowhere.csv"),
        (["scores", "{scores}", "--set", "test=5x2cv-t"], "covers five runs of two folds"),
        (["scores", "{scores}", "--set", "test=t-test"], "There is no pairwise test 't-test'"),
        (["scores", "{scores}", "--set", "rule=x"], "There is no rule 'x'"),
        (["scores", "{scores}", "--alpha", "2"], "--alpha must be strictly between 0 and 1"),
        (["scores", "{scores}", "--alpha", "x"], "'x' is not a number such as 0.05"),
        (["scores", "{scores}", "--prefer", "tiny"], "'tiny', which is not one of the learners"),
        (["scores", "{scores}", "--set", "df=many"], "There is no file 'many'"),
        (["scores", "{scores}", "--set", "rope=x"], "rope must be a number of at least 0"),
        (["scores", "{scores}", "--set", "rope"], "--set must be NAME=VALUE"),
        (["scores", "{scores}", "--set", "correction=sidak"], "correction must be one of"),
        (["scores", "{scores}", "--nonsense"], "There is no option --nonsense"),
        (["scores", "{scores}", "--column", "learner=nobody"], "nobody"),
        (["scores"], "Missing argument"),
        (["papers", "test", "{scores}"], "Missing option '--test'"),
        (["papers", "test", "{scores}", "--test", "frieman"], "did you mean 'friedman'"),
        (["papers", "test", "{scores}", "--test", "kfold-t", "--pair", "small", "tiny"], "tiny"),
        (["scors", "x"], "did you mean 'scores'"),
    ],
)
def test_a_wrong_call_gets_a_short_sentence_and_exit_code_2(run, scores, arguments, words):
    code, out, err = run(*[a.format(scores=scores) for a in arguments])
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("bestofk: ")
    assert 1 <= err.count("\n") <= 3
    assert "Traceback" not in err


def test_interruption_is_130(run, monkeypatch, scores):
    import bestofk.losses

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bestofk.losses, "read_scores", interrupted)
    code, out, err = run("scores", scores)
    assert (code, out, err.strip()) == (130, "", "bestofk: interrupted.")


def test_a_reader_that_goes_away_is_no_failure(scores):
    command = f"{sys.executable} -m bestofk list tests | head -1"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert found.stdout == "Two learners:\n"
    assert found.stderr == ""


HEAVY = ("numpy", "scipy", "pandas", "sklearn", "matplotlib", "pyarrow", "rich")


QUICK = (
    "--help", "scores --help", "compare chrun.csv", "compare irsi", "compare iris --metrics f1",
    "compare iris --learner lgistic", "scores chrun.csv", "evals nowhere.json",
)  # fmt: skip
LIGHT = (
    "show nowhere.db", "compare iris --cv 5x22x", "compare iris --test x",
)  # fmt: skip
"""Calls that load nothing heavy, and calls that load numpy alone."""


def test_nothing_heavy_is_imported_before_it_is_used():
    """Help and refusals are quick."""
    program = f"""
import sys, bestofk
from bestofk.cli import main
def check(lines, *allowed):
    for line in lines:
        main(line.split())
        assert set({HEAVY}) & set(sys.modules) <= set(allowed), line
check({QUICK})
check({LIGHT}, "numpy")
bestofk.stats, bestofk.plugins, bestofk.Scores
check((), "numpy")
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_tests_on_arrays_do_not_load_scipy_stats():
    program = (
        "import sys, bestofk as bk; bk.stats.pairwise.five_by_two_t([[1, 2]] * 5, [[2, 2]] * 5);"
        "print('scipy.stats' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize("address", ["foo", "host:port"])
def test_a_scheduler_that_is_no_address_is_one_sentence(run, address):
    code, out, err = run(
        "compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "kfold:2",
        "--set", "engine=dask", "--set", f"scheduler={address}",
    )  # fmt: skip
    assert (code, out) == (4, "")
    assert "there is no Dask scheduler at" in err
    assert len(err.splitlines()) == 1


ENDED = """
import os, time
from sklearn.dummy import DummyClassifier

class Slow(DummyClassifier):
    def fit(self, X, y):
        os.write(2, b"fits\\n")  # at once, whoever else writes
        time.sleep(float({pace}))
        return super().fit(X, y)

class Slower(Slow):
    pass

learners = {{"slow": Slow(), "slower": Slower()}}
"""


def test_sigterm_ends_a_command_at_once_and_keeps_its_fits(tmp_path, fork_server):
    (tmp_path / "slow.py").write_text(ENDED.format(pace=0.05))
    words = ["compare", "iris", "--learner", "slow.py", "--store", "s.db", "--cv", "9x9",
             "--set", "engine=serial"]  # fmt: skip
    # a shell starts background jobs with SIGINT ignored; they must end all the same
    with fork_server.start(
        ["-m", "bestofk.cli", *words], cwd=tmp_path, ignored_signals=[signal.SIGINT]
    ) as process:
        kept = 0
        while not kept:
            assert [process.stderr.readline() for _ in range(20)] == ["fits\n"] * 20
            with open_store(tmp_path / "s.db", read_only=True) as store:
                kept = store.n_cells()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=100) == -signal.SIGTERM
        assert process.stdout.read() == ""
    with open_store(tmp_path / "s.db", read_only=True) as store:
        assert store.n_cells() >= kept


def test_sigterm_ends_what_python_cannot_interrupt(tmp_path, fork_server):
    """A file is parsed in C, where handlers of Python do not run."""
    program = (
        "import re, sys; from bestofk.cli import main\n"
        "import bestofk.losses\n"
        "def parse(*_, **__):\n"
        "    print('parses', file=sys.stderr, flush=True); re.match('(a|aa)+b', 'a' * 100)\n"
        "bestofk.losses.read_scores = parse\n"
        "sys.exit(main(['scores', 'breast-cancer-10x10']))"
    )
    with fork_server.start(["-c", program], cwd=tmp_path) as process:
        assert process.stderr.readline() == "parses\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=100) == -signal.SIGTERM


@pytest.mark.needs("linux", "/dev/full")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("scores nowhere.csv 2>/dev/full", 2),
        ("scores nowhere.csv >&- 2>&- <&-", 2),
        ("--help >&-", 0),
        ("--help >/dev/full", 4),
    ],
)
def test_only_the_gate_exits_with_1(command, code, tmp_path):
    line = f"exec {sys.executable} -m bestofk {command}"
    source = {"PYTHONPATH": str(Path(bestofk.__file__).parents[1])}
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **source},
    )  # fmt: skip
    assert done.returncode == code
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        ("import sys\nsys.exit(1)\n", 2),
        ("class E(BaseException): pass\nraise E('x')\n", 4),
        ("class E(BaseException):\n    def __str__(self): raise self\nraise E\n", 4),
    ],
)
def test_whatever_a_file_of_learners_raises_the_exit_code_is_not_1(
    raised, code, tmp_path, fork_server
):
    (tmp_path / "raises.py").write_text(raised)
    words = ["-m", "bestofk", "compare", "iris", "--learner", "raises.py"]
    done = fork_server.run(words, cwd=tmp_path)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) <= 1


def test_threads_that_a_learner_leaves_do_not_keep_the_command(tmp_path, fork_server):
    (tmp_path / "odd.py").write_text(
        "import threading\nfrom sklearn.dummy import DummyClassifier\n"
        "class Odd(DummyClassifier):\n    def fit(self, X, y):\n"
        "        threading.Thread(target=threading.Event().wait).start()\n"
        "        return super().fit(X, y)\n"
        "learners = {'odd': Odd(), 'nmc': 'nmc'}\n"
    )
    words = ["compare", "iris", "--learner", "odd.py", "--set", "engine=serial", "--cv", "kfold:2",
             "--quiet"]  # fmt: skip
    done = fork_server.run(["-m", "bestofk.cli", *words], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "nmc\nodd\n", "")


@pytest.mark.needs("posix", "printf of the C library")
def test_json_is_clean_whatever_a_learner_prints(tmp_path, fork_server):
    (tmp_path / "loud.py").write_text(
        "import ctypes, os\nfrom sklearn.dummy import DummyClassifier\n"
        "class Loud(DummyClassifier):\n    def fit(self, X, y):\n"
        "        print('by Python')\n        os.write(1, b'\\x1b[1mby descriptor\\n')\n"
        "        os.system('echo by process')\n        ctypes.CDLL(None).printf(b'by C\\n')\n"
        "        return super().fit(X, y)\n"
        "learners = {'loud': Loud(), 'max': 'max'}\n"
    )
    words = ["compare", "iris", "--learner", "loud.py", "--set", "engine=serial", "--cv", "kfold:2",
             "--json"]  # fmt: skip
    done = fork_server.run(["-m", "bestofk.cli", *words], cwd=tmp_path)
    assert json.loads(done.stdout)["order"]
    assert "\x1b[1mby descriptor\n" in done.stderr  # as the learner wrote it
    for how in ("Python", "descriptor", "process", "C"):
        assert done.stderr.count(f"by {how}\n") == 2  # one for each fit


@pytest.mark.parametrize("words", [[], ["papers"], ["papers", "measure"]])
def test_a_group_without_a_command_shows_its_help(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"Usage: {' '.join(['bestofk', *words])} [OPTIONS] COMMAND")
