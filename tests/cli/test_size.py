import json
import re

import numpy as np
import pytest

import bestofk as bk
from bestofk.cli import main


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    values = np.clip(rng.normal([[0.90], [0.895], [0.70]], 0.03, (3, 12)), 0, 1)
    path = tmp_path / "scores.csv"
    lines = ["learner,dataset,accuracy"]
    for name, row in zip(("small", "medium", "large"), values, strict=True):
        lines += [f"{name},set {i},{x:.4f}" for i, x in enumerate(row)]
    path.write_text("\n".join(lines))
    return str(path)


def run(capsys, *arguments):
    code = main(["size", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_table_of_scores(capsys, scores):
    code, out, err = run(capsys, scores, "--higher-is-better", "--set", "test=permutation")
    assert (code, err) == (0, "")
    assert "on 12 data sets. Test: permutation, two-sided, at level 0.025" in out
    assert re.search(r"^small +medium ", out, re.MULTILINE)
    assert "if the true difference is the observed one" in out.lower()


def test_json_is_what_the_function_gives(capsys, scores):
    code, out, err = run(capsys, scores, "--higher-is-better", "--set", "test=wilcoxon", "--json")
    assert (code, err) == (0, "")
    held = json.loads(out, parse_constant=pytest.fail)
    plan = bk.sample_size(bk.read_scores(scores, higher_is_better=True), test="wilcoxon")
    assert {**plan.to_dict(), "command": "size", "account": held["account"]} == held


def test_the_plan_of_a_study(capsys):
    code, out, err = run(
        capsys, "--design", "10x10", "--rows", "300", "--sd", "0.05", "--learners", "5"
    )
    assert (code, err) == (0, "")
    assert "10 runs of 10-fold cross-validation, 300 rows." in out
    # (2.54 + 0.85) 0.05 sqrt(1/100 + 1/9), and (2.50 + 0.84) 0.05 / 3 for endless runs, at 0.05 / 4
    assert "shows a difference of 0.059." in out
    assert "More runs cannot show a difference below 0.056; more rows can." in out


def test_error_rates_family_and_control(capsys, scores):
    arguments = ["--instances", "300", "--set", "error_rates=0.2,0.25", "--difference", "0.05"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "A difference of 0.05 is shown with probability" in out
    code, out, _ = run(
        capsys, scores, "--higher-is-better", "--set", "family=control", "--set", "control=large"
    )
    assert code == 0
    assert "over 2 comparisons with the control" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "use --design 10x10, --datasets 15 or --instances 200"),
        (["nowhere.csv"], "nowhere.csv"),
        (["{scores}", "--sd", "1"], "the losses determine sd"),
        (["{scores}", "--power", "2"], "power must be strictly between 0 and 1"),
        (["{scores}", "--set", "test=5x2cv-t"], "covers five runs of two folds"),
        (["{scores}", "--set", "test=nothing"], "There is no pairwise test 'nothing'"),
        (["{scores}", "--set", "family=some"], "family must be one of"),
        (["--design", "10x10"], "sd, the standard deviation"),
        (["--design", "10y10", "--sd", "1"], "10y10"),
        (["--design", "time:9", "--sd", "1"], "use '10x10' instead"),
        (["--design", "group-10x10", "--sd", "1"], "count groups as rows"),
        (["--datasets", "9", "--sd", "1", "--set", "control=a"], "name a table"),
        (["--datasets", "9", "--sd", "1", "--higher-is-better"], "name a table"),
        (
            ["--datasets", "9", "--sd", "1", "--column", "score=x"],
            "--column score=x does not apply",
        ),
        (["--datasets", "x"], "'x' is not a valid integer"),
    ],
)
def test_a_wrong_call_gets_one_sentence_and_exit_code_2(capsys, scores, arguments, words):
    code, out, err = run(capsys, *[a.format(scores=scores) for a in arguments])
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("bestofk: ")
    assert "Traceback" not in err
