"""``bestofk scores``."""

import json
from pathlib import Path

import numpy as np
import pytest


def test_order_prints_the_recommendation_first(run, scores):
    code, out, err = run("scores", scores)
    assert (code, err) == (0, "")
    assert out.startswith("Use large: it is the best of the two (95 % confidence).\n\n")
    assert ["small", "0.230"] in [line.split()[:2] for line in out.splitlines()]


def test_the_pairs_are_a_second_view(run, scores):
    (pair,) = json.loads(run("scores", scores, "--json", "--pairs")[1])["pairs"]
    assert pair["better"] == "large"
    _, out, _ = run("scores", scores, "--pairs")
    first, pairs, ranks = (out.index(text) for text in ("Use large", "1 pair by", "Of 2 learners"))
    assert first < pairs < ranks
    # the claim orders the two, so both ranks are certain
    assert [line.split() for line in out.splitlines()[-2:]] == [
        ["large", "1", "1"],
        ["small", "2", "2"],
    ]


def test_order_quiet_prints_names_only(run, scores):
    assert run("scores", scores, "--quiet") == (0, "large\nsmall\n", "")


def test_order_takes_roles_direction_and_preference(run, scores, tmp_path):
    path = tmp_path / "odd.csv"
    text = Path(scores).read_text()
    path.write_text(text.replace("learner", "who").replace("error", "points"))
    arguments = ["scores", str(path), "--column", "learner=who", "--column", "score=points"]
    code, out, err = run(*arguments, "--higher-is-better", "--quiet")
    assert (code, out, err) == (0, "small\nlarge\n", "")
    _, out, _ = run(*arguments, "--lower-is-better", "--prefer", "small, large", "--json")
    held = json.loads(out)
    assert held["settings"]["prefer"] == ["small", "large"]
    assert held["recommended"] == "large"


OPTIONS = {
    "--set rule=most-wins": ("rule", "most-wins"),
    "--set test=use-all-data": ("test", "use-all-data"),
    "--set correction=shaffer": ("correction", "shaffer"),
    "--alpha 0.2": ("alpha", 0.2),
    "--margin 0.05": ("margin", 0.05),
    "--set rope=0.01": ("rope", 0.01),
    "--prefer dummy,1-nn": ("prefer", ["dummy", "1-nn"]),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_reaches_the_decision(run, option):
    name, value = OPTIONS[option]
    code, out, err = run("scores", "breast-cancer-10x10", *option.split(), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["settings"][name] == value


def test_families_on_the_command_line(run):
    asked = ["scores", "breast-cancer-10x10", "--json", "--pairs"]
    _, out, _ = run(*asked, "--set", "family=control", "--set", "control=1-nn")
    held = json.loads(out)
    assert (held["settings"]["family"], len(held["pairs"])) == ("control", 5)
    _, out, _ = run(*asked, "--set", "family=preference", "--prefer", "listed")
    held = json.loads(out)
    assert held["settings"]["family"] == "preference"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "family=control"], "--set control="),
        (["--set", "family=preference"], "--prefer"),
    ],
)
def test_refusals_name_the_option_and_it_works(run, arguments, words):
    code, out, err = run("scores", "breast-cancer-10x10", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    more = ["--prefer", "listed"] if words == "--prefer" else ["--set", "control=dummy"]
    assert run("scores", "breast-cancer-10x10", *arguments, *more)[0] == 0


def test_the_text_is_the_explanation_around_the_table(run):
    from bestofk import compare_scores
    from bestofk.losses import read_scores

    _, out, _ = run("scores", "breast-cancer-10x10", "--explain")
    decision = compare_scores(read_scores("breast-cancer-10x10"))
    assert out.splitlines()[0] == decision.headline
    rest = "\n".join(one.text for one in decision.decision.statements if one.kind != "verdict")
    assert out.index("recommended") < out.index(rest)


GOLDEN = Path(__file__).parents[1] / "losses" / "golden"


def test_verbose_says_what_is_read_on_stderr(run, scores):
    code, out, err = run("scores", scores, "-v", "-q")
    assert (code, out) == (0, "large\nsmall\n")
    assert "8 rows of 3 columns" in err


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        (("mlflow/search_runs.csv", "--set", "format=mlflow"), "bayes\ntree\nmajority\n"),
        (("openml/evaluations_per_fold.csv",), "bayes\ntree\nmajority\n"),
        (("autorank/populations.csv", "--set", "format=autorank", "--higher-is-better"),
         "tree\nbayes\nmajority\n"),
        (("weka/experiment.arff", "--set", "where=Key_Dataset=contact-lenses", "--metric",
          "Area_under_ROC"), None),
    ],
)  # fmt: skip
def test_tables_of_other_tools(run, arguments, order):
    code, out, err = run("scores", str(GOLDEN / arguments[0]), *arguments[1:], "--quiet")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == (4 if order is None else 3)
    assert out == (order or out)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("optuna/values.csv", "trial.set_user_attr"),
    ],
)
def test_what_is_not_guessed_is_asked_for_in_options(run, name, said):
    code, out, err = run("scores", str(GOLDEN / name))
    assert (code, out) == (2, "")
    assert said in err


def test_predictions(run, tmp_path):
    rng = np.random.default_rng(2)
    y = (rng.random(150) < 0.4).astype(int)
    good, poor = (rng.normal(shift * y).clip(-3, 3) / 6 + 0.5 for shift in (2.0, 0.2))
    file = tmp_path / "preds.csv"
    lines = ["id,y_true,pred_a,pred_b,patient"]
    lines += [f"{i},{y[i]},{good[i]:.4f},{poor[i]:.4f},{i // 3}" for i in range(150)]
    file.write_text("\n".join(lines))
    code, _, err = run("scores", str(file))
    assert code == 2
    assert "--truth y_true" in err
    code, _, err = run("scores", str(file), "--truth", "y_true")
    assert code == 2
    assert "--metric roc_auc" in err
    asked = ("scores", str(file), "--truth", "y_true", "--metric", "roc_auc")
    code, out, _ = run(*asked, "--column", "groups=patient")
    assert code == 0
    assert "Use pred_a" in out
    assert "delong" in out
    code, out, _ = run(*asked[:-1], "log-loss", "--column", "fold=patient")
    assert code == 0
    assert "corrected-repeated-kfold-t" in out
