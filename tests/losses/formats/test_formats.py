"""Tables and objects of other tools: one small case each, with its means by hand."""

import json
import random
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

import bestofk as bk
from bestofk._base.errors import TableError
from bestofk.data.tables.reading import FORMATS
from bestofk.losses import LOSS_FORMATS

GOLDEN = Path(__file__).parents[1] / "golden"
IRIS = {"tree": 0.946302, "bayes": 0.952881, "majority": 0.320057}
"""Means of cross_validate on the four folds of iris, as scikit-learn 1.9.1 gave them."""


def frame(head, *rows):
    return pd.DataFrame([row.split() for row in rows], columns=head.split()).apply(
        lambda column: pd.to_numeric(column) if column.str.match(r"-?[\d.]+$").all() else column
    )


def cross_validate():
    return json.loads((GOLDEN / "scikit-learn/cross_validate.json").read_text())


def report(**how):
    """A ComparisonReport as far as it is read; its summary was written by skore 0.28.0."""
    summary = pd.read_csv(GOLDEN / "skore/summary.csv")
    metrics = SimpleNamespace(summarize=lambda: SimpleNamespace(summary=summary))
    return SimpleNamespace(metrics=metrics, **how)


# the columns of AutoGluon 1.4 as documented, without some of the times
LEADERBOARD = frame(
    "fold model score_test score_val eval_metric fit_time fit_time_marginal stack_level "
    "can_infer fit_order",
    "1 LightGBM .75 .9 accuracy 1 1 1 True 1", "1 CatBoost .5 .8 accuracy 1 1 1 True 2",
    "2 LightGBM .5 .7 accuracy 1 1 1 True 1", "2 CatBoost .5 .6 accuracy 1 1 1 True 2",
)  # fmt: skip
# the columns that bencheval requires, and those that TabArena adds
TABARENA = frame(
    "method dataset fold problem_type metric metric_error time_train_s time_infer_s",
    "RF wine 0 binary roc_auc .125 1 1", "RF wine 1 binary roc_auc .25 1 1",
    "GBM wine 0 binary roc_auc .25 1 1", "GBM wine 1 binary roc_auc .5 1 1",
    "RF rent 0 regression rmse 3 1 1", "RF rent 1 regression rmse 5 1 1",
    "GBM rent 0 regression rmse 2 1 1", "GBM rent 1 regression rmse 4 1 1",
)  # fmt: skip
AMLB = frame(
    "id task framework constraint fold type result metric seed acc duration",
    "1 cars flaml 1h8c 0 binary .75 auc 11 .8 9", "1 cars flaml 1h8c 1 binary .5 auc 12 .8 9",
    "1 cars tpot 1h8c 0 binary .25 auc 13 .8 9", "1 cars tpot 1h8c 1 binary .125 auc 14 .8 9",
)  # fmt: skip

CASES = {
    "cv-results": ("cv-results", "scikit-learn/cv_results.csv", {}, (1, 1, 4),
        {"{'max_depth': 1}": 0.653272, "{'max_depth': 2}": 0.946657, "{'max_depth': 3}": 0.959993}),
    "cross-validate": ("cross-validate", cross_validate, {"metric": "accuracy"}, (1, 1, 4), IRIS),
    # the mean of the 12 numbers in the file
    "neg-log-loss": ("cross-validate", cross_validate, {"metric": "neg_log_loss"}, (1, 1, 4),
        {"tree": -1.935488, "bayes": -0.137231, "majority": -1.099165}),
    "skore": ("skore", report, {}, (1, 1, 4), IRIS),
    "skore-loss": ("skore", report, {"metric": "log_loss"}, (1, 1, 4),
        {"tree": 1.935488, "bayes": 0.137231, "majority": 1.099165}),
    "autogluon": ("autogluon", LEADERBOARD, {}, (1, 1, 2), {"LightGBM": 0.625, "CatBoost": 0.5}),
    "autogluon-val": ("autogluon", LEADERBOARD.drop(columns="score_test"), {}, (1, 1, 2),
        {"LightGBM": 0.8, "CatBoost": 0.7}),
    # (0.125 + 0.25 + 3 + 5) / 4 and (0.25 + 0.5 + 2 + 4) / 4
    "tabarena": ("tabarena", TABARENA, {}, (2, 1, 2), {"RF": 2.09375, "GBM": 1.6875}),
    "bencheval": ("tabarena", TABARENA.rename(columns={"dataset": "task", "fold": "seed"}), {},
        (2, 2, 1), {"RF": 2.09375, "GBM": 1.6875}),
    "automl-benchmark": ("automl-benchmark", AMLB, {}, (1, 1, 2), {"flaml": 0.625, "tpot": 0.1875}),
    # means of Percent_correct of the 12 runs and folds in the CSV file of Weka 3.6.14
    **{f"weka-{kind}": ("weka", f"weka/experiment.{kind}", {}, (2, 2, 3),
        {"ZeroR": 63.70614, "NaiveBayes": 86.51316, "J48 -C 0.25 -M 2": 79.98904,
         "J48 -U -M 2": 80.09868}) for kind in ("arff", "csv")},
    # the folds of iris, and of soybean with 0.125 less
    **{f"openml-{name}": ("openml", f"openml/{name}.csv", {}, (2, 1, folds),
        {who: mean - 0.0625 for who, mean in IRIS.items()})
       for name, folds in (("evaluations", 1), ("evaluations_per_fold", 4))},
    "mlflow": ("mlflow", "mlflow/search_runs.csv", {}, (1, 1, 4), IRIS),
    # the column value of the file
    "optuna": ("optuna", "optuna/trials.csv", {}, (1, 1, 4),
        {"criterion=entropy, max_depth=2": 0.933144, "criterion=gini, max_depth=2": 0.933144,
         "criterion=gini, max_depth=1 (trial 2)": 0.653272,
         "criterion=gini, max_depth=1 (trial 4)": 0.653272,
         "criterion=gini, max_depth=4": 0.946302}),
    "autorank": ("autorank", "autorank/populations.csv",
        {"format": "autorank", "higher_is_better": True}, (12, 1, 1),
        {"tree": 0.856417, "bayes": 0.795392, "majority": 0.702833}),
}  # fmt: skip
"""By name: the format, the source, the options, (data sets, runs, folds) and the means."""
FILES = [case for case in CASES.values() if isinstance(case[1], str)]


def source_of(source):
    if isinstance(source, str):
        return GOLDEN / source
    return source() if callable(source) else source


@pytest.mark.parametrize("name", CASES)
def test_each_tool_is_recognised_and_read(name):
    tool, source, options, shape, means = CASES[name]
    losses = bk.read_scores(source_of(source), **options)
    assert (len(losses.datasets), losses.design.runs, losses.design.folds) == shape
    shown = losses.metric.shown(losses.losses).mean(axis=(1, 2, 3, 4))
    assert dict(zip(losses.learners, shown, strict=True)) == pytest.approx(means, abs=1e-5)
    named = bk.read_scores(source_of(source), **{**options, "format": tool})
    assert np.array_equal(named.losses, losses.losses)
    assert named.account == losses.account
    assert {tool for tool, *_ in CASES.values()} == set(LOSS_FORMATS)


def test_frames_are_read_like_their_files():
    for _, name, options, _, _ in FILES:
        path = GOLDEN / name
        if path.suffix == ".csv":
            read = pd.read_csv(path)
            if "values" in read and read["values"].notna().all():
                read["values"] = read["values"].map(json.loads)
            values = bk.read_scores(read, **options).losses
            assert values == pytest.approx(bk.read_scores(path, **options).losses, rel=1e-14)


def test_a_real_search_is_read_as_it_is():
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=5)
    results = search.fit(*load_iris(return_X_y=True)).cv_results_
    losses = bk.read_scores(results)
    assert 1 - losses.losses.mean(axis=(1, 2, 3, 4)) == pytest.approx(results["mean_test_score"])


def test_rows_of_data_sets():
    """Mean ranks as autorank found them, and as Garcia and Herrera (2008) print them."""
    losses = bk.read_scores(
        GOLDEN / "scmamp/data_gh_2008.csv", format="autorank", higher_is_better=True
    )
    assert losses.datasets[:2] == ("Abalone*", "Adult*")
    ranks = rankdata(losses.losses[:, :, 0, 0, 0], axis=0).mean(axis=1)
    assert ranks == pytest.approx([2.1, 3.25, 2.2, 4.3333, 3.1167], abs=1e-4)
    losses = bk.read_scores(
        GOLDEN / "autorank/populations.csv", format="autorank", higher_is_better=True
    )
    ranks = rankdata(losses.losses[:, :, 0, 0, 0], axis=0).mean(axis=1)
    stated = json.loads((GOLDEN / "autorank/meanrank.json").read_text())
    assert dict(zip(losses.learners, ranks, strict=True)) == pytest.approx(stated)
    named = pd.DataFrame({"": [7, 8], "a": [1, 3], "b": [2, 4]})
    read = bk.read_scores(named, format="autorank", higher_is_better=False)
    assert read.datasets == ("7", "8")


@pytest.mark.parametrize(
    ("measure", "higher"),
    [("Kappa_statistic", True), ("Area_under_ROC", True), ("Percent_incorrect", False),
     ("Elapsed_Time_training", False), ("False_positive_rate", False)],
)  # fmt: skip
def test_the_direction_of_measures_of_weka(measure, higher):
    losses = bk.read_scores(GOLDEN / "weka/experiment.csv", metric=measure)
    assert losses.metric.higher_is_better is higher


def test_weka_schemes_with_the_same_last_name_keep_their_whole_names():
    columns = {
        "Key_Dataset": ["d"] * 4, "Key_Run": [1, 1, 2, 2],
        "Key_Scheme": ["a.Tree", "b.Tree"] * 2, "Percent_correct": [50.0, 60.0, 51.0, 61.0],
    }  # fmt: skip
    assert bk.read_scores(columns).learners == ("a.Tree", "b.Tree")


@pytest.mark.parametrize(
    ("metric", "sign", "means"),
    # all are scores and become their negative; or logloss is a loss and auc becomes 1 - auc
    [("neg_logloss", -1, [[-0.625, 0.625], [-0.1875, 0.1875]]),
     ("logloss", 1, [[0.375, 0.625], [0.8125, 0.1875]])],
)  # fmt: skip
def test_tasks_of_the_automl_benchmark_have_their_own_metrics(metric, sign, means):
    other = AMLB.assign(task="rent", metric=metric, result=sign * AMLB["result"])
    losses = bk.read_scores(pd.concat([AMLB, other]))
    assert losses.by_dataset().tolist() == means
    again = pd.concat([AMLB, AMLB.assign(constraint="4h8c")])
    with pytest.raises(TableError, match=r"with where=\{'constraint': '1h8c'\}"):
        bk.read_scores(again)
    assert bk.read_scores(again, where={"constraint": "4h8c"}).losses.shape == (2, 1, 1, 2, 1)


def test_setups_of_a_flow_and_measures_of_openml():
    read = pd.read_csv(GOLDEN / "openml/evaluations.csv").assign(flow_name="one")
    losses = bk.read_scores(read.assign(function="root_mean_squared_error"))
    assert sorted(losses.learners) == ["one (setup 10)", "one (setup 20)", "one (setup 30)"]
    assert not losses.metric.higher_is_better


def test_splits_of_known_rows_give_the_design():
    order = np.arange(20)
    halves = [(order[order % 2 == k], order[order % 2 != k]) for k in (0, 1)]
    pairs = [*halves, (order[:10], order[10:]), (order[10:], order[:10])]
    indices = {"train": [train for train, _ in pairs], "test": [test for _, test in pairs]}
    result = {"fit_time": np.zeros(4), "test_score": np.ones(4), "indices": indices}
    for source in (
        {"a": result, "b": result},
        report(reports_={who: SimpleNamespace(split_indices=pairs) for who in IRIS}),
    ):
        design = bk.read_scores(source).design
        assert (design.kind, design.runs, design.folds, design.n_test) == ("cv", 2, 2, (10,) * 4)
    other = {**result, "indices": {**indices, "test": indices["test"][::-1]}}
    with pytest.raises(TableError, match="'a' and 'b' were tested on different splits"):
        bk.read_scores({"a": result, "b": other})


def test_columns_like_those_of_cross_validate_are_no_result_of_it():
    columns = {"learner": ["a", "b"] * 2, "fold": [1, 1, 2, 2], "fit_time": [1.0] * 4,
               "test_error": [0.25, 0.5, 0.75, 0.5]}  # fmt: skip
    assert bk.read_scores(columns).means() == {"a": 0.5, "b": 0.5}


def test_a_decision_from_a_report():
    assert bk.compare_scores(report()).headline.startswith("Use bayes")


def mlflow(**columns):
    """Two learners with two folds each, as search_runs gives them, the last run first."""
    rows = [
        {"run_id": f"{who}{fold}", "experiment_id": "1", "status": "FINISHED",
         "metrics.accuracy": score, "params.fold": str(fold), "params.lr": who,
         "tags.mlflow.runName": f"run {fold}"}
        for who, scores in (("a", (0.75, 0.5)), ("b", (0.5, 0.25)))
        for fold, score in enumerate(scores)
    ][::-1]  # fmt: skip
    return pd.DataFrame(rows).assign(**columns)


def test_flat_runs_of_mlflow_need_a_learner():
    flat = mlflow()
    with pytest.raises(TableError, match="no parameter names the learners: name the column"):
        bk.read_scores(flat)
    for losses in (
        bk.read_scores(flat, columns={"learner": "params.lr"}),
        bk.read_scores(flat.rename(columns={"params.lr": "params.model"})),
        bk.read_scores(
            flat.drop(columns="params.fold"),
            columns={"learner": "params.lr", "fold": "tags.mlflow.runName"},
        ),
    ):
        assert losses.means() == {"b": 0.625, "a": 0.375}


def test_runs_and_trials_that_nothing_numbers_are_no_folds():
    with pytest.raises(TableError, match=r"nothing numbers the 2 runs of learner 'b'.*'fold': "):
        bk.read_scores(mlflow().drop(columns="params.fold"), columns={"learner": "params.lr"})
    trials = GOLDEN / "optuna/trials.csv"
    with pytest.raises(TableError, match=r"nothing numbers the 4 trials of learner 'gini'"):
        bk.read_scores(trials, columns={"learner": "params_criterion"}, higher_is_better=True)
    numbered = pd.DataFrame({
        "number": range(4), "value": [0.1, 0.2, 0.3, 0.4], "state": "COMPLETE",
        "params_model": ["svm", "svm", "tree", "tree"], "user_attrs_fold": [0, 1, 0, 1],
    })  # fmt: skip
    losses = bk.read_scores(numbered, columns={"learner": "params_model"}, higher_is_better=False)
    assert losses.means() == pytest.approx({"svm": 0.15, "tree": 0.35})


def test_unfinished_runs_are_named_and_missing():
    read = mlflow(**{"params.model": mlflow()["params.lr"]})
    read.loc[0, "status"] = "FAILED"
    with pytest.raises(TableError, match="there is no loss for learner 'b'"):
        bk.read_scores(read)
    losses = bk.read_scores(read, missing="allow")
    assert losses.missing.sum() == 1
    assert "1 run with the status FAILED left out." in losses.account


SINGLE = {"fit_time": [0.0, 0.0], "test_score": [0.5, 0.75]}


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (cross_validate, {}, "2 metrics (accuracy and neg_log_loss): choose one with "
         "metric='accuracy'"),
        (cross_validate, {"metric": "acuracy"}, "no metric 'acuracy' in the dictionary: did you"),
        (SINGLE, {}, "for one learner: pass those of all learners by name"),
        ({"a": SINGLE, "b": {**SINGLE, "test_score": [1]}}, {}, "of 'b' must have a number per"),
        ({"a": SINGLE, "b": {"fit_time": [0.0], "test_score": [1.0]}}, {}, "there is no loss for"),
        (mlflow(status="RUNNING"), {}, "no run has the status FINISHED"),
        ("optuna/values.csv", {}, "store the score of every fold in the trial"),
        (pd.read_csv(GOLDEN / "openml/evaluations_per_fold.csv").assign(values="[1, 2"), {},
         "row 2, column 'values' must be an array with a number per fold; got '[1, 2'"),
        (pd.DataFrame({"learner": ["a", "b"], "metrics": [0.1, 0.2]}), {}, "cannot tell whether"),
        ({"colour": ["red"], "size": [1]}, {"format": "mlflow"}, "was not written by MLflow"),
        ({"colour": ["red"], "size": [1]}, {"format": "skore"}, "was not written by skore"),
        ({"a": [1]}, {"format": "mlflw"}, "did you mean 'mlflow'"),
    ],
)  # fmt: skip
def test_formats_refuse_tables_without_needed_columns(source, options, message):
    with pytest.raises(bk.BestOfKError, match=re.escape(message)):
        bk.read_scores(source_of(source), **options)


def test_a_folder_is_refused():
    with pytest.raises(TableError, match=r"folder of CSV files.*bestofk evals"):
        bk.read_scores(GOLDEN)


def mutilated(data, draw):
    """A file cut off, with changed bytes, and without or with other words and numbers."""
    size = len(data)
    for cut in (0, 1, size // 7, size // 2, size - 1):
        yield data[:cut]
    broken = bytearray(data)
    for _ in range(1 + size // 400):
        broken[draw.randrange(size)] = draw.randrange(256)
    yield bytes(broken)
    words = sorted({word[0] for word in re.finditer(rb"[A-Za-z_]{4,}", data)})
    for word in draw.sample(words, min(3, len(words))):
        yield data.replace(word, b"")
        yield data.replace(word, b"9" * 400)
    for number in (b"NaN", b"1e999", b"[[[[{}]]]]"):
        yield re.sub(rb"\d\.\d+", number, data)


@pytest.mark.parametrize("case", FILES, ids=lambda case: case[1])
def test_mutilated_tables_are_read_or_refused_with_a_sentence(case, tmp_path):
    tool, name, options, _, _ = case
    path = tmp_path / Path(name).name
    refused = []
    for data in mutilated((GOLDEN / name).read_bytes(), random.Random(17)):
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bk.BestOfKWarning)
            try:
                losses = bk.read_scores(path, **{**options, "format": tool})
            except bk.BestOfKError as error:
                refused.append(str(error))
            else:
                assert np.isfinite(losses.losses).all()
    assert len(refused) > 3
    assert all(text.endswith((".", "?")) and "\n" not in text for text in refused)


def test_the_page_lists_every_format():
    assert not set(FORMATS) & set(LOSS_FORMATS)
    page = (Path(__file__).parents[3] / "docs" / "coming-from.md").read_text("utf-8")
    for entry in LOSS_FORMATS.values():
        assert f"| {entry.called} (`{entry.name}`) | {entry.summary} | " in page
