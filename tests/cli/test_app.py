import json
import re
import shlex
import signal
import subprocess
import sys

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


@pytest.mark.parametrize("arguments", examples(), ids=" ".join)
def test_examples_of_the_help_texts_work_as_printed(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "study.db" in arguments:
        quick = ["--learner", "max", "--learner", "nmc", "--cv", "5x2"]
        assert run("compare", "iris", *quick, "--store", "study.db", "--quiet")[0] == 0
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
        (["scores", "{scores}", "--alpha", "2"], "alpha must be strictly between 0 and 1"),
        (["scores", "{scores}", "--alpha", "x"], "'x' is not a valid float"),
        (["scores", "{scores}", "--prefer", "tiny"], "'tiny', which is not one of the learners"),
        (["scores", "{scores}", "--set", "df=many"], "many: the calibration cannot be read"),
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


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import bestofk", ()),
        ("from bestofk.cli import main; main(['--help'])", ()),
        ("from bestofk.cli import main; main(['scores', '--help'])", ()),
        # refusals are quick
        ("from bestofk.cli import main; main(['compare', 'chrun.csv'])", ()),
        ("from bestofk.cli import main; main(['compare', 'irsi'])", ()),
        ("from bestofk.cli import main; main(['compare', 'iris', '--metrics', 'f1'])", ()),
        ("from bestofk.cli import main; main(['compare', 'iris', '--learner', 'lgistic'])", ()),
        ("from bestofk.cli import main; main(['scores', 'chrun.csv'])", ()),
        ("from bestofk.cli import main; main(['evals', 'nowhere.json'])", ()),
        ("from bestofk.cli import main; main(['show', 'nowhere.db'])", ("numpy",)),
        ("from bestofk.cli import main; main(['compare', 'iris', '--cv', '5x22x'])", ("numpy",)),
        ("from bestofk.cli import main; main(['compare', 'iris', '--test', 'x'])", ("numpy",)),
        ("import bestofk; bestofk.stats, bestofk.plugins, bestofk.Scores",
         ("numpy",)),
    ],
)  # fmt: skip
def test_nothing_heavy_is_imported_before_it_is_used(code, allowed):
    program = f"import sys; {code}\nprint('LOADED', *sorted(set({HEAVY}) & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = found.stdout.split("LOADED")[1].split()
    assert set(loaded) <= set(allowed)


def test_tests_on_arrays_do_not_load_scipy_stats():
    program = (
        "import sys, bestofk as bk; bk.stats.pairwise.five_by_two_t([[1, 2]] * 5, [[2, 2]] * 5);"
        "print('scipy.stats' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize("address", ["foo", "tcp://", "host:port", "://:1"])
def test_a_scheduler_that_is_no_address_is_one_sentence(run, address):
    code, out, err = run(
        "compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "kfold:2",
        "--set", "engine=dask", "--set", f"scheduler={address}",
    )  # fmt: skip
    assert (code, out) == (4, "")
    assert "such as 'tcp://host:8786'" in err
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


@pytest.mark.parametrize(
    ("name", "code", "engine"),
    [
        ("SIGTERM", 143, "serial"),
        pytest.param(
            "SIGHUP", 129, "auto", marks=pytest.mark.needs("posix", "Windows has no SIGHUP")
        ),
    ],
)
def test_signals_end_the_work_in_an_orderly_way(tmp_path, fork_server, name, code, engine):
    (tmp_path / "slow.py").write_text(ENDED.format(pace=0.3))
    words = ["compare", "iris", "--learner", "slow.py", "--store", "s.db", "--cv", "9x9",
             "--set", f"engine={engine}"]  # fmt: skip
    # a shell starts background jobs with SIGINT ignored; they must end all the same
    ignored = [signal.SIGINT] if name == "SIGTERM" else []
    command = ["-m", "bestofk.cli", *words]
    with fork_server.start(command, cwd=tmp_path, ignored_signals=ignored) as process:
        for _ in range(3):
            assert process.stderr.readline() == "fits\n"
        process.send_signal(getattr(signal, name))
        # all fits take 48 s
        assert process.wait(timeout=30) == code
        out, err = process.stdout.read(), process.stderr.read()
    assert out == ""
    said = [line for line in err.splitlines() if line not in ("", "fits")]
    assert len(said) == 1
    assert re.fullmatch(
        r"bestofk: interrupted; \d+ of 162 fits are safe in the store: the same call resumes from "
        r"there\.", said[0],
    )  # fmt: skip
    with open_store(tmp_path / "s.db", read_only=True) as kept:
        # the signal may come between storing a fit and counting it
        assert kept.n_cells() - int(re.search(r"(\d+) of 162", said[0])[1]) in (0, 1)


def test_what_was_told_to_ignore_a_hang_up_goes_on():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with app._interrupt_on_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


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
    done = fork_server.run(["-m", "bestofk.cli", *words], cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "nmc\nodd\n", "")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["compare", "--nope"], "There is no option"),
        (["nothing"], "There is no command"),
        ([], "Usage: bestofk"),
        (["papers", "measure"], "Usage: bestofk papers measure"),
        (["scores", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_every_supported_click_refuses_in_a_sentence(words, text, capfd, monkeypatch):
    """click 8.1 has no NoArgsIsHelpError."""
    monkeypatch.delattr("click.exceptions.NoArgsIsHelpError", raising=False)
    assert app.run(words) == 2
    out, err = capfd.readouterr()
    assert text in err
    assert "Traceback" not in out + err


def test_a_very_long_message_is_shortened(capfd):
    app.complain("x" * 5000 + " end")
    err = capfd.readouterr().err
    assert len(err) < 2000
    assert err.endswith(" end\n")
