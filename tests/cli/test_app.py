import json
import os
import shlex
import subprocess
import sys

import pytest

import bestofk
from bestofk.cli import main
from bestofk.cli.app import VERBS

SCORES = """learner,fold,error
small,1,0.24
small,2,0.21
small,3,0.25
small,4,0.22
large,1,0.12
large,2,0.10
large,3,0.13
large,4,0.11
"""


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return str(path)


def run(capsys, *arguments):
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"bestofk, version {bestofk.__version__}\n", "")


def test_help_lists_every_verb(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for verb in VERBS:
        assert f"\n  {verb}" in out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    assert f"bestofk {verb}" in out.split("Examples:")[1]


def examples():
    for verb in VERBS:
        shown = subprocess.run(
            [sys.executable, "-m", "bestofk", verb, "--help"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        for line in shown.stdout.split("Examples:")[1].split("Options:")[0].splitlines():
            if line.strip():
                yield shlex.split(line)[1:]


@pytest.mark.parametrize("arguments", list(examples()), ids=" ".join)
def test_examples_of_the_help_texts_work_as_printed(capsys, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "study.db" in arguments:
        quick = ["--learner", "max", "--learner", "nmc", "--plan", "5x2"]
        assert main(["compare", "iris", *quick, "--store", "study.db", "--quiet"]) == 0
        capsys.readouterr()
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert out
    if "--json" in arguments:
        json.loads(out, parse_constant=pytest.fail)


def test_order_prints_the_verdict(capsys, scores):
    code, out, err = run(capsys, "order", scores)
    assert (code, err) == (0, "")
    assert out.startswith("Use large: it has the smaller mean error (0.115 against 0.23).")
    assert ["2", "small", "0.2300"] in [line.split()[:3] for line in out.splitlines()]


def test_order_as_json_is_one_object(capsys, scores):
    code, out, err = run(capsys, "order", scores, "--json")
    assert (code, err) == (0, "")
    held = json.loads(out, parse_constant=pytest.fail)
    assert held["recommended"] == held["best"] == "large"
    assert held["claims"] == [["large", "small"]]
    assert held["preference"] == "none"
    assert held["version"] == bestofk.__version__


def test_order_quiet_prints_names_only(capsys, scores):
    assert run(capsys, "order", scores, "--quiet") == (0, "large\nsmall\n", "")


def test_order_takes_roles_direction_and_prior(capsys, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(SCORES.replace("learner", "who").replace("error", "points"))
    arguments = ["order", str(path), "--algorithm-column", "who", "--loss-column", "points"]
    code, out, err = run(capsys, *arguments, "--higher-is-better", "--quiet")
    assert (code, out, err) == (0, "small\nlarge\n", "")
    for option in ("--prefer", "--prior"):
        _, out, _ = run(capsys, *arguments, "--lower-is-better", option, "small, large", "--json")
        held = json.loads(out)
        assert held["prior"] == ["small", "large"]
        assert held["preference"] == "stated"
        assert held["edges"] == [["small", "large"]]


def test_ambiguous_direction_is_noted_on_stderr(capsys, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES.replace("error", "score"))
    code, out, err = run(capsys, "order", str(path), "--json")
    assert code == 0
    json.loads(out)
    assert err.startswith("bestofk: note: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["order", "nowhere.csv"], "nowhere.csv"),
        (["order", "{scores}", "--test", "5x2cv-t"], "covers five runs of two folds"),
        (["order", "{scores}", "--test", "t-test"], "There is no pairwise test 't-test'"),
        (["order", "{scores}", "--procedure", "x"], "There is no procedure 'x'"),
        (["order", "{scores}", "--alpha", "2"], "alpha must be strictly between 0 and 1"),
        (["order", "{scores}", "--alpha", "x"], "'x' is not a valid float"),
        (["order", "{scores}", "--prior", "tiny"], "'tiny', which is none of the learners"),
        (["order", "{scores}", "--df", "many"], "--df must be a number, 'calibrated' or a file"),
        (["order", "{scores}", "--correction", "sidak"], "correction must be one of"),
        (["order", "{scores}", "--nonsense"], "No such option"),
        (["order", "{scores}", "--algorithm-column", "nobody"], "nobody"),
        (["order"], "Missing argument"),
        (["test", "{scores}"], "Missing option '--test'"),
        (["test", "{scores}", "--test", "frieman"], "did you mean 'friedman'"),
        (["test", "{scores}", "--test", "kfold-t", "--pair", "small", "tiny"], "tiny"),
        (["oder", "x"], "did you mean 'order'"),
    ],
)
def test_a_wrong_call_gets_a_short_sentence_and_exit_code_2(capsys, scores, arguments, words):
    code, out, err = run(capsys, *[a.format(scores=scores) for a in arguments])
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("bestofk: ")
    assert 1 <= err.count("\n") <= 3
    assert "Traceback" not in err


def test_interruption_is_130(capsys, monkeypatch, scores):
    import bestofk.losses

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bestofk.losses, "read_losses", interrupted)
    code, out, err = run(capsys, "order", scores)
    assert (code, out, err.strip()) == (130, "", "bestofk: interrupted.")


def test_ctrl_c_says_what_is_safe_and_the_same_call_goes_on(tmp_path):
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
        sys.executable, "-m", "bestofk", "compare", "iris", "--learner", "max",
        "--learner", "sleepy:Sleepy()", "--engine", "serial", "--store", "study.db", "--quiet",
    ]  # fmt: skip
    started = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stderr=subprocess.PIPE, text=True,
        # a suite that runs in the background of a shell has interrupts turned off
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _cells(tmp_path / "study.db"):
        time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "fits are safe in the store: the same call resumes from there" in err
    kept = _cells(tmp_path / "study.db")
    assert 0 < kept < 200
    again = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert again.stdout == "max\nSleepy()\n"


def _cells(path):
    import sqlite3

    if not path.exists():
        return 0
    with sqlite3.connect(path) as database:
        try:
            return database.execute("select count(*) from bestofk_cells").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def test_a_reader_that_goes_away_is_no_failure(scores):
    command = f"{sys.executable} -m bestofk tests | head -1"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert found.stdout == "Two learners:\n"
    assert found.stderr == ""


@pytest.mark.parametrize(
    ("verb", "count"),
    [("tests", 30), ("procedures", 7), ("plans", 6), ("learners", 8), ("datasets", 4)],
)
def test_listings(capsys, verb, count):
    code, out, _ = run(capsys, verb, "--json")
    assert code == 0
    rows = json.loads(out)[verb]
    assert len(rows) >= count
    _, text, _ = run(capsys, verb)
    for row in rows:
        assert row["name"] in text
        assert row["summary"] in text


def test_pairwise_test_on_all_pairs_and_on_one(capsys, scores):
    code, out, _ = run(capsys, "test", scores, "--test", "kfold-t", "--json")
    assert code == 0
    rows = json.loads(out)["evidence"]
    assert len(rows) == 1
    # Differences 0.12, 0.11, 0.12, 0.11 have the mean 0.115 and the variance 1e-4 / 3; losses come
    # in steps of 0.01, so that at least 2 steps of one fold in four, 5e-5, are unknown.
    assert rows[0]["estimate"] == pytest.approx(0.115)
    assert rows[0]["statistic"] == pytest.approx(0.115 / (5e-5 / 4) ** 0.5)
    code, out, _ = run(
        capsys, "test", scores, "--test", "kfold-t", "--pair", "large", "small",
        "--alternative", "less",
    )  # fmt: skip
    assert code == 0
    assert "large has a smaller mean loss than small" in out


def test_test_of_all_learners(capsys, scores):
    code, out, _ = run(capsys, "test", scores, "--test", "anova", "--json")
    assert code == 0
    held = json.loads(out, parse_constant=pytest.fail)
    assert held["test"] == "anova"
    assert held["pvalue"] < 0.001
    code, out, _ = run(capsys, "test", scores, "--test", "newman-keuls")
    assert "large" in out
    assert "small" in out


HEAVY = ("numpy", "scipy", "pandas", "sklearn", "matplotlib", "numba", "pyarrow", "rich")


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import bestofk", ()),
        ("from bestofk.cli import main; main(['--help'])", ()),
        ("from bestofk.cli import main; main(['order', '--help'])", ()),
        ("import bestofk; bestofk.pairwise, bestofk.multiple, bestofk.ordering, bestofk.Losses",
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
        "import sys, bestofk as bk; bk.pairwise.five_by_two_t([[1, 2]] * 5, [[2, 2]] * 5);"
        "bk.multiple.friedman([[1, 2, 3], [3, 1, 4]]); print('scipy.stats' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"


def test_tables_fit_a_narrow_terminal(monkeypatch):
    import io

    from rich.console import Console

    from bestofk import order
    from bestofk.cli.terminal import learner_table
    from bestofk.losses import example_losses

    decision = order(example_losses("breast-cancer-10x10"))
    for width, pictured in ((60, False), (80, True), (200, True)):
        out = Console(file=io.StringIO(), width=width)
        out.print(learner_table(decision, out.width))
        text = out.file.getvalue()
        assert "logistic-regression" in text
        assert "worse (p < 0.0001)" in text
        assert ("●" in text) is pictured
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_learners_that_print_do_not_spoil_the_answer(tmp_path, engine):
    (tmp_path / "chatty.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Chatty(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        print('fitting', flush=True)\n"
        "        return super().fit(X, y)\n"
    )
    found = subprocess.run(
        [sys.executable, "-m", "bestofk", "compare", "iris", "--learner", "max", "--learner",
         "chatty:Chatty()", "--plan", "kfold:2", "--engine", engine, "--jobs", "1", "--json"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(found.stdout)["best"] == "max"
    assert "fitting" in found.stderr
