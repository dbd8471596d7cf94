"""``--config``: options from a file."""

import json
from itertools import pairwise

import pytest

QUICK = """
data = ["iris"]
learner = ["max", "nmc"]
cv = "5x2"
engine = "serial"
alpha = 0.01
prefer = ["max", "nmc"]
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "study.toml").write_text(text)

    return write


def test_a_file_replaces_options_and_the_command_line_wins(run, config):
    config(QUICK)
    typed = ("compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "5x2",
             "--set", "engine=serial", "--prefer", "max,nmc", "--json", "-q")  # fmt: skip
    first = json.loads(run(*typed, "--alpha", "0.01")[1])
    second = json.loads(run("compare", "--config", "study.toml", "--json", "-q")[1])
    third = json.loads(run("compare", "--config", "study.toml", "--alpha", "0.1", "--json")[1])
    assert tuple(one["settings"]["alpha"] for one in (first, second, third)) == (0.01, 0.01, 0.1)
    assert first["headline"] == second["headline"]
    assert second["settings"]["prefer"] == ["max", "nmc"]


def test_the_stored_command_repeats_the_study_without_the_file(run, config):
    config(QUICK + 'store = "s.db"\n')
    assert run("compare", "--config", "study.toml", "-q")[0] == 0
    from bestofk.run.open_study import open_study

    command = open_study("s.db").outcome.record.command
    assert "--config" not in command
    assert command[:3] == ("bestofk", "compare", "iris")
    assert ("--alpha", "0.01") in pairwise(command)
    assert run(*command[1:])[0] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alhpa = 0.1", "has no option 'alhpa'; did you mean 'alpha'?"),
        ("seed = 1", "has no option 'seed'; did you mean 'random_state'?"),
        ("zzzzz = 1", "has no option 'zzzzz'."),
        ("alpha = 'x'", "'x' is not a number such as 0.05"),
        ("quiet = 'yes'", "quiet must be true or false"),
        ("alpha = true", "alpha must be a value"),
        ("alpha 0.1", "study.toml is not a TOML file (Expected '='"),
        ("alpha = " + "9" * 5000, "is not a TOML file (a whole number has thousands of digits)"),
        ("alpha = " + "[" * 5000 + "]" * 5000, "is not a TOML file (brackets are nested too"),
        ("", "study.toml: the file is empty"),
    ],
)
def test_a_wrong_file_is_one_sentence(run, config, text, words):
    config(text)
    code, out, err = run("compare", "iris", "--config", "study.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_a_file_that_does_not_exist(run, config):
    code, _, err = run("compare", "iris", "--config", "x.toml")
    assert (code, "There is no file 'x.toml'" in err) == (2, True)


def test_tables_of_losses_take_a_file_too(run, config, scores):
    table = f"table = '{scores}'\n"
    config(table + "lower_is_better = true\n")
    code, _, err = run("scores", "--config", "study.toml")
    assert (code, "'higher_is_better'" in err) == (2, True)
    config(table + "higher_is_better = false\nquiet = true\n")
    assert run("scores", "--config", "study.toml") == (0, "large\nsmall\n", "")
