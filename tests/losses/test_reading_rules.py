"""Every rule for tables of scores: a file, and the losses that it holds, computed by hand.

Each file is read in Python and by the command line, which must agree.
"""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import TableError

# the rule, the file, the options in Python and on the command line, and the means of the scores
CASES = {
    "long tables have one row per score": (
        "model,task,fold,accuracy\n"
        "a,x,1,0.75\na,x,2,0.25\na,y,1,1\na,y,2,0.5\nb,x,1,0\nb,x,2,0.5\nb,y,1,0.5\nb,y,2,0.75\n",
        {},
        {"a": (0.5 + 0.75) / 2, "b": (0.25 + 0.625) / 2},
    ),
    "other names are stated": (
        "who,part,points,fold\na,x,0.75,1\na,y,0.25,1\na,z,0.5,1\nb,x,0.5,1\nb,y,0.25,1\nb,z,0,1\n",
        {
            "columns": {"learner": "who", "dataset": "part", "score": "points"},
            "higher_is_better": True,
        },
        {"a": 0.5, "b": 0.25},
    ),
    "wide tables have one column per learner": (
        "dataset,a,b\nx,0.75,0.5\ny,0.25,0.25\nz,0.5,0\n",
        {"higher_is_better": True},
        {"a": 0.5, "b": 0.25},
    ),
    "learners have any name": (
        "dataset,winner,best,rank\nx,0.75,0.5,1\ny,0.25,0.25,2\nz,0.5,0,3\n",
        {"higher_is_better": False},
        {"winner": 0.5, "best": 0.25, "rank": 2.0},
    ),
    "each data set counts by its mean": (
        # two splits of x, one of y and of z: the mean of x is one number
        "model,dataset,fold,error\n"
        "a,x,1,0.5\na,x,2,0.25\na,y,1,0.75\na,z,1,0\nb,x,1,1\nb,x,2,0\nb,y,1,0.25\nb,z,1,1\n",
        {},
        {"a": (0.375 + 0.75 + 0) / 3, "b": (0.5 + 0.25 + 1) / 3},
    ),
    "a format names its columns": (
        "task,framework,constraint,fold,result,metric\n"
        "x,a,1h,0,0.75,auc\nx,a,1h,1,0.25,auc\ny,a,1h,0,1,auc\ny,a,1h,1,0.5,auc\n"
        "x,b,1h,0,0,auc\nx,b,1h,1,0.5,auc\ny,b,1h,0,0.5,auc\ny,b,1h,1,0.75,auc\n",
        {},
        {"a": 0.625, "b": 0.4375},
    ),
}


def typed(options):
    """Return options of Python as words of the command line."""
    words = [f"--column {role}={column}" for role, column in options.get("columns", {}).items()]
    if "higher_is_better" in options:
        words.append("--higher-is-better" if options["higher_is_better"] else "--lower-is-better")
    return shlex.split(" ".join(words))


@pytest.mark.parametrize("rule", CASES)
def test_rules(run, tmp_path, rule):
    text, options, means = CASES[rule]
    path = tmp_path / "table.csv"
    path.write_text(text)
    losses = bk.read_scores(path, **options)
    shown = {name: losses.metric.shown(mean) for name, mean in losses.means().items()}
    assert shown == pytest.approx(means)
    assert bk.read_scores(pd.read_csv(path), **options) == losses
    code, out, err = run("scores", str(path), *typed(options), "--json")
    assert code == 0, err
    assert {row["name"]: row["mean"] for row in json.loads(out)["table"]} == pytest.approx(means)


def test_unequal_numbers_of_splits(run, tmp_path):
    # 84 data sets with 9 or 30 splits; the error of learner k on data set d in split s is
    # (k + d) / 200 + s / 10,000, so its mean is (k + d) / 200 + (n - 1) / 20,000 for n splits
    splits = [9 if d % 3 else 30 for d in range(84)]
    rows = [
        (f"m{k:02d}", f"d{d:02d}", s, (k + d) / 200 + s / 10_000)
        for k in range(51) for d in range(84) for s in range(splits[d])
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["method", "dataset", "split", "error"])
    losses = bk.read_scores(frame)
    k, d = np.mgrid[:51, :84]
    expected = (k + d) / 200 + (np.array(splits) - 1) / 20_000
    np.testing.assert_allclose(losses.by_dataset(), expected, rtol=1e-12)
    note = "9 to 30 splits per data set: each data set counts by its mean."
    assert note in losses.account
    decision = bk.compare_scores(frame)
    assert decision.decision.problem.n_datasets == 84
    assert decision.recommended == "m00"
    # a learner that misses a data set, or one split of it, misses that data set
    for lost in (
        frame.query("not (method == 'm07' and dataset == 'd03')"),
        frame.query("not (method == 'm07' and dataset == 'd03' and split == 2)"),
    ):
        with pytest.raises(TableError, match=r"learner 'm07', data set 'd03' \(1 of 4284"):
            bk.read_scores(lost)
        assert np.argwhere(bk.read_scores(lost, missing="allow").missing)[:, :2].tolist() == [
            [7, 3]
        ]
    path = tmp_path / "splits.csv"
    frame.query("method < 'm05'").to_csv(path, index=False)
    code, out, err = run("scores", str(path), "--json")
    assert code == 0, err
    result = json.loads(out)
    assert note in bk.read_scores(path).account
    # the mean of d is 41.5; 28 data sets have 30 splits and 56 have 9
    mean = 41.5 / 200 + (28 * 29 + 56 * 8) / 84 / 20_000
    assert {row["name"]: row["mean"] for row in result["table"]} == pytest.approx(
        {f"m{k:02d}": k / 200 + mean for k in range(5)}
    )


def test_predictions_of_cross_validation(run, tmp_path):
    # errors of a by fold: 0, 1/2, 0 and of b: 1/2, 1/2, 1
    frame = pd.DataFrame({
        "y_true": [0, 1, 0, 1, 0, 1],
        "a": [0, 1, 0, 0, 0, 1],
        "b": [0, 0, 0, 0, 1, 0],
        "fold": [0, 0, 1, 1, 2, 2],
    })  # fmt: skip
    path = tmp_path / "oof.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(TableError) as caught:
        bk.read_scores(path, higher_is_better=False)
    assert str(caught.value).endswith(
        "'bestofk scores oof.csv --truth y_true' or bk.compare_predictions('y_true', 'oof.csv') "
        "compares them, with folds='fold' if they come from cross_val_predict."
    )
    code, _, err = run("scores", str(path), "--lower-is-better")
    assert code == 2
    assert "with --column fold=fold if they come from cross_val_predict" in err
    decision = bk.compare_predictions("y_true", path, models=["a", "b"], folds="fold")
    assert decision.decision.problem.design.kind == "cv"
    assert decision.decision.means == pytest.approx({"a": 1 / 6, "b": 2 / 3})
    code, out, err = run(
        "scores", str(path), "--truth", "y_true", "--column", "fold=fold", "--json"
    )
    assert code == 0, err
    assert {row["name"]: row["mean"] for row in json.loads(out)["table"]} == pytest.approx(
        {"a": 1 / 6, "b": 2 / 3}
    )


def test_too_many_learners_are_refused():
    with pytest.raises(bk.BestOfKError, match="10000 learners have 49995000 pairs, more than the"):
        bk.compare_scores(bk.Scores(np.zeros((10_000, 3)), dims=("learner", "dataset")))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"dataset": ["x", "y", "Average"], "a": [0.1, 0.3, 0.2], "b": [0.2, 0.4, 0.3]},
         "'Average' looks like a summary, not a data set"),
        ({"dataset": ["x", "y"], "rows": [150, 178], "a": [0.1, 0.3], "b": [0.2, 0.4]},
         r"'rows' has numbers above 1.*learners=\['a', 'b'\]"),
    ],
)  # fmt: skip
def test_summaries_and_other_columns_are_no_learners(frame, message):
    with pytest.raises(TableError, match=message):
        bk.read_scores(pd.DataFrame(frame), higher_is_better=False)
