"""Advice in messages works: wrong calls succeed when they are repeated with the advice."""

import shlex

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import Advice, BestOfKError, use
from bestofk.cli.app import run as main
from bestofk.cli.set_values import command_of, typed as typed_for


def typed(advice, verb):
    return typed_for(advice, command_of(["bestofk", *verb.split()]))


def test_arguments_are_printed_as_options_on_the_command_line():
    advice = [use(higher_is_better=True), use(missing="drop"), use(metric="roc auc"), use(test=...)]
    assert [typed(one, "scores") for one in advice] == [
        "--higher-is-better", "--set missing=drop", "--metric 'roc auc'", "--set test=...",
    ]  # fmt: skip
    assert typed(use(where={"budget": "1h", "a": "b c"}), "scores") == (
        "--set where=budget=1h --set 'where=a=b c'"
    )
    assert typed(use(prefer=["a", "b"]), "compare") == "--prefer a,b"
    assert typed(use(random_state=4), "scores") == "--random-state 4"
    # what the verb has no option for, and values that no option has
    assert typed(use(metric="auc"), "compare") == "metric='auc'"
    assert typed(use(prefer=None), "scores") == "prefer=None"
    for verb in ("scores", "papers test", "size", "evals", "gate"):
        assert typed(use(columns={"learner": "a b"}), verb) == "--column 'learner=a b'"
    # every reading option exists on the command line
    from bestofk.losses.reading import READING

    left = {name for name in READING if typed(Advice(name, "x"), "scores") == f"{name}='x'"}
    assert left <= {"higher_is_better"}


# ---- wrong calls and the advice of their messages ---------------------------------------------


def csv(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def numbers(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": np.round(30 * x[:, 0]).astype(int)})
    frame.to_csv(folder / "numbers.csv", index=False)
    return str(folder / "numbers.csv")


def scores(folder, head="model,fold,accuracy", rows=None):
    rows = rows or [f"{m},{f},{0.5 + m * 0.1 + f * 0.013:.3f}" for m in range(3) for f in range(5)]
    return csv(folder, "table.csv", "\n".join([head, *rows]) + "\n")


QUICK = ["--cv", "5x2", "--set", "engine=serial", "--quiet"]
CASES = {
    "direction": (
        lambda d: ["scores", scores(d, "model,fold,value")],
        ["--higher-is-better", "--lower-is-better"],
    ),
    "missing cell": (
        lambda d: ["scores", scores(d, rows=["a,1,.5", "a,2,.6", "a,3,.7", "b,1,.5", "b,3,.4"])],
        ["--set missing=drop"],
    ),
    "missing cell of a test": (
        lambda d: ["papers", "test", "--test", "kfold-t",
                   scores(d, rows=["a,1,.5", "a,2,.6", "a,3,.7", "b,1,.5", "b,3,.4"])],
        ["--set missing=drop"],
    ),
    "missing kept": (
        lambda d: ["scores", scores(d, rows=["a,1,.5", "a,2,.6", "a,3,.7", "b,1,.5", "b,3,.4"]),
                   "--set", "missing=allow"],
        ["--set missing=drop"],
    ),
    "two metrics in a column": (
        lambda d: ["scores", scores(d, "model,fold,metric,value", [
            f"{m},{f},{k},{0.5 + m * 0.1 + f * 0.01}"
            for m in range(3) for f in range(5) for k in ("auc", "f1")])],
        ["--metric auc"],
    ),
    "rows that another column tells apart": (
        lambda d: ["scores", scores(d, "model,fold,accuracy,budget", [
            f"{m},{f},{0.5 + m * 0.1 + f * 0.01},{b}"
            for b in ("1h", "4h") for m in range(3) for f in range(5)])],
        ["--set where=budget=1h"],
    ),
    "several columns of metrics": (
        lambda d: ["scores", scores(d, "model,fold,auc,f1", [
            f"{m},{f},{0.5 + m * 0.1 + f * 0.01},{0.6 + f * 0.01}"
            for m in range(3) for f in range(5)])],
        ["--column score=auc"],
    ),
    "columns that look like metrics": (
        lambda d: ["scores", scores(d, "fold,accuracy,f1", [f"{f},.5{f},.6{f}" for f in range(5)]),
                   "--lower-is-better"],
        ["--set layout=wide"],
    ),
    "classifiers on numbers": (
        lambda d: ["compare", numbers(d), "--learner", "max", "--learner", "nmc", *QUICK],
        ["--set task=classification"],
    ),
    "f1 without a class": (
        lambda d: ["compare", "breast-cancer", "--learner", "max", "--learner", "nmc", *QUICK,
                   "--scoring", "f1"],
        ["--scoring f1:malignant", "--scoring f1:benign"],
    ),
    "f1 of three classes": (
        lambda d: ["compare", "iris", "--learner", "max", "--learner", "nmc", *QUICK,
                   "--scoring", "f1"],
        ["--scoring f1_macro"],
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_advice_of_the_command_line_works(case, tmp_path, capsys):
    call, advised = CASES[case]
    words = call(tmp_path)
    assert main(words) == 2
    message = capsys.readouterr().err
    for advice in advised:
        assert advice in message, message
        # typed again, an option replaces its value; the last --set of a name counts
        option = advice.split()[0]
        others = list(words)
        while option != "--set" and option in others:
            del others[others.index(option) : others.index(option) + 2]
        assert main([*others, *shlex.split(advice)]) == 0, (advice, capsys.readouterr().err)


FRAME = pd.DataFrame(
    {"who": list("aaabbb"), "part": [1, 2, 3] * 2, "value": [0.5, 0.6, 0.7, 0.4, 0.5, 0.45]}
)
PYTHON = {
    "direction": (
        lambda **how: bk.compare_scores(FRAME, columns={"learner": "who", "fold": "part"}, **how),
        [{"higher_is_better": True}, {"higher_is_better": False}],
    ),
    "who learns": (
        lambda **how: bk.read_scores(
            FRAME.rename(columns={"part": "fold"}), layout="long", higher_is_better=True, **how
        ),
        [{"columns": {"learner": "who"}}],
    ),
    "gaps in an array": (
        lambda **how: bk.Scores([[0.1, 0.2, np.nan], [0.3, 0.2, 0.1]], **how),
        [{"missing": "allow"}],
    ),
    "means of gaps": (
        bk.Scores([[0.1, 0.2, np.nan], [0.3, 0.2, 0.1]], missing="allow").means,
        [{"missing": "allow"}],
    ),
    "a control without its family": (
        lambda **how: bk.compare_scores(np.random.default_rng(0).random((3, 6)), control=1, **how),
        [{"family": "control"}],
    ),
    "fractions as labels": (
        lambda task="classification": bk.compare(
            ["m=sklearn.dummy:DummyRegressor", "r=sklearn.linear_model:Ridge"],
            np.arange(40.0)[:, None], np.arange(40) + 0.5, cv="5x2", progress=False,
            execution=bk.Execution(engine="serial"), task=task),
        [{"task": "regression"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PYTHON)
def test_advice_of_the_library_works(case):
    call, advised = PYTHON[case]
    with pytest.raises(BestOfKError) as caught:
        call()
    for advice in advised:
        name, value = next(iter(advice.items()))
        message = str(caught.value).replace(f"{name}=...", f"{name}={value!r}")
        assert f"{name}={value!r}" in message
        call(**advice)
