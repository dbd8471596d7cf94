"""Calls that people type first: each works, or one sentence gives the line that works."""

import re
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import bestofk as bk
import bestofk.decide
import bestofk.evals
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.learners.class_names import MODULE_OF, SPECIFICATIONS_OF
from bestofk.learners.specification import parse_learner
from bestofk.run.data_cautions import column_cautions
from bestofk.splits.plans import plan as make_plan

QUICK = {"cv": 3, "progress": False, "execution": bk.Execution(engine="serial")}
N = 60


def customers():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "customer_id": np.arange(1000, 1000 + N),
            "age": rng.normal(40, 10, N),
            "town": rng.choice(["Oslo", "Rome"], N),
            "spend": rng.gamma(2.0, 10.0, N),
        }
    )
    return frame.assign(churn=np.where(frame["age"] + rng.normal(0, 5, N) > 40, "yes", "no"))


FRAME = customers()
X = FRAME[["age", "spend"]]
Y = FRAME["churn"]
BINARY = (Y == "yes").astype(int)
MODELS = {"bayes": GaussianNB(), "most": DummyClassifier()}


def compare(*args, **options):
    return bk.compare(*args, **{**QUICK, **options})


def names(study):
    return list(study.scores.learners)


# Data


@pytest.mark.parametrize(
    "arguments",
    [
        ((X, Y), {}),
        ((FRAME, "churn"), {}),
        ((FRAME,), {"target": "churn"}),
        ((), {"data": FRAME, "target": "churn"}),
        ((FRAME, ["churn"]), {}),
        ((FRAME, FRAME["churn"]), {}),  # the target is among the columns
        ((X.to_numpy(), Y.to_numpy()), {}),
        ((X.to_numpy().tolist(), Y.tolist()), {}),
        ((X, tuple(Y)), {}),
        ((X, Y.to_numpy().reshape(-1, 1)), {}),
        ((X, Y.to_frame()), {}),
        ((pa.Table.from_pandas(FRAME), "churn"), {}),
        (((X.to_numpy(), Y.to_numpy()),), {}),  # load_iris(return_X_y=True)
        ((FRAME.to_dict("list"), "churn"), {}),
    ],
)
def test_data_and_target(arguments):
    args, options = arguments
    study = compare(MODELS, *args, **options)
    assert study.recommended == "bayes"
    assert study.outcome.left_out == {}


def test_files_names_lists_and_bunches(tmp_path):
    file = tmp_path / "churn.csv"
    FRAME.to_csv(file)  # with the index as a column without a name
    study = compare(MODELS, str(file), target="churn")
    assert study.recommended == "bayes"
    assert "'column 1' and 'customer_id' are left out" in study.explain()
    assert compare(MODELS, file, target="churn").recommended == "bayes"
    assert compare(MODELS, "iris").recommended == "bayes"
    assert compare(MODELS, load_iris()).recommended == "bayes"
    several = compare(MODELS, ["iris", "wine"])
    assert several.scores.datasets == ("iris", "wine")
    frames = compare(MODELS, [FRAME, FRAME.iloc[:40]], target="churn")
    assert len(frames.scores.datasets) == 2


def test_polars():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.from_pandas(FRAME)
    assert compare(MODELS, frame, "churn").recommended == "bayes"
    assert compare(MODELS, frame[["age", "spend"]], frame["churn"]).recommended == "bayes"
    with pytest.raises(ArgumentError, match=r"pass data\.collect\(\)"):
        compare(MODELS, frame.lazy(), "churn")
    table = polars.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.4, 0.6]})
    assert bk.compare_scores(table, higher_is_better=False, design="cv").recommended == "a"


ROWS = [(m, f"q{k}", k % 2, int(k % n > 0)) for m, n in (("a", 9), ("b", 2)) for k in range(40)]
LONG = pd.DataFrame(ROWS, columns=["model", "item", "part", "accuracy"])
BATTLES = pd.DataFrame(
    [("a", "b", ("model_a", "tie", "model_b", "model_a")[k % 4]) for k in range(40)],
    columns=["model_a", "model_b", "winner"],
)
PRINTED = pd.DataFrame({"model": ["A", "B"], "accuracy": [71.3, 55.0]})
INTERVALS = pd.DataFrame(
    [(m, f"d{k}", low, low + 0.05) for m, low in (("a", 0.1), ("b", 0.3)) for k in range(9)],
    columns=["learner", "dataset", "low", "high"],
)


@pytest.mark.parametrize("package", ["pyarrow", "polars"])
@pytest.mark.parametrize(
    ("call", "frame"),
    [
        (lambda frame: bk.compare_evals(bk.read_evals(frame)).recommended, LONG),
        (
            lambda frame: bk.read_evals(models={"x": frame}).models,
            LONG[:40][["item", "accuracy"]],
        ),
        (lambda frame: str(bestofk.decide.order_by(frame, "part")), LONG),
        (lambda frame: bk.read_scores(frame).losses.tolist(), LONG.drop(columns="part")),
        (lambda frame: str(bestofk.decide.compare_battles(frame)), BATTLES),
        (lambda frame: bestofk.decide.order_printed(frame, 1319).outcome.tested.verdicts, PRINTED),
        (lambda frame: str(bk.papers.decide.order_intervals(frame)), INTERVALS),
    ],
)
def test_frames_of_other_packages(package, call, frame):
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    frame = frame.reset_index(drop=True)
    convert = module.Table.from_pandas if package == "pyarrow" else module.from_pandas
    assert call(convert(frame)) == call(frame)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (np.stack([BINARY, 1 - BINARY, BINARY], axis=1), "several targets"),
        (np.stack([FRAME["age"], FRAME["spend"]], axis=1), "several targets"),
        (np.stack([BINARY, 1 - BINARY], axis=1), "one-hot"),
        ([["a", "b"], ["a"]] * (N // 2), "several targets"),
    ],
)
def test_several_targets_are_refused_by_name(target, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        compare(MODELS, X, target)
    line = re.search(r"compare\(learners, X, (.*)\)\.$", str(caught.value))
    if line and words == "one-hot":
        y = eval(line[1], {"np": np, "y": target})
        assert compare(MODELS, X, y).recommended == "bayes"
    with pytest.raises(ArgumentError, match=r"names 2 columns.*target='age'"):
        compare(MODELS, FRAME, ["age", "spend"])


def test_data_in_the_position_of_the_learners_and_no_target():
    with pytest.raises(ArgumentError, match=r"compare\(learners, X, y\)"):
        compare(X, Y)
    with pytest.raises(ArgumentError, match=r"compare\(learners, frame, 'target'\)"):
        compare(MODELS, FRAME.rename(columns={"churn": "target"}))
    with pytest.raises(UnknownNameError, match="did you mean 'churn'"):
        compare(MODELS, FRAME, "Churn?")


# Columns and rows that deserve a look


def test_identifiers_are_reported_left_out_and_kept_on_request(tmp_path):
    named = {
        "customer_id": range(N), "PassengerId": range(N), "uuid": [f"{n:x}" for n in range(N)],
        "Unnamed: 0": range(N), "id": np.arange(N, dtype=float), "age": FRAME["age"],
    }  # fmt: skip
    data = bk.read_data(pd.DataFrame(named), Y)
    assert list(data.X.columns) == ["age"]
    assert "'customer_id', 'PassengerId', 'uuid'" in data.notes[0]
    kept = bk.read_data(pd.DataFrame(named), Y, columns={"customer_id": "number"})
    assert list(kept.X.columns) == ["customer_id", "age"]
    file = tmp_path / "f.csv"
    pd.DataFrame(named).assign(churn=Y).to_csv(file, index=False)
    data = bk.read_data(file, columns={"PassengerId": "number"})
    assert list(data.X.columns) == ["PassengerId", "age"]
    study = compare(MODELS, FRAME, "churn", columns={"customer_id": "number"})
    assert "left out" not in study.explain()


def test_leaks_are_reported():
    frame = FRAME.assign(left=BINARY * 7, site=np.arange(N) % 3)
    text = compare(MODELS, frame, "churn").explain()
    assert "'left' gives the target away" in text
    assert "'site'" not in text
    in_euros = FRAME[["age"]].assign(cents=100 * FRAME["spend"] + 3)
    text = compare([Ridge(), "DummyRegressor"], in_euros, FRAME["spend"]).explain()
    assert "'cents' gives the target away" in text


REVIEWS = pd.DataFrame(
    {
        "review": [f"the {'best' if k % 2 else 'worst'} film of scene {k}" for k in range(N)],
        "opinion": np.arange(N) % 2,
    }
)


@pytest.mark.parametrize("texts", [REVIEWS["review"], list(REVIEWS["review"])])
def test_texts_reach_a_vectorizer(texts):
    models = {"bayes": make_pipeline(CountVectorizer(), MultinomialNB())}
    # the baseline that is added to a single learner also takes texts
    assert compare(models, texts, REVIEWS["opinion"]).recommended == "bayes"


def test_steps_may_be_a_number_of_the_users_class():
    class Walk(DummyClassifier):
        steps = 5

    assert "Walk" in names(compare([Walk(), "nmc"], X, Y))


def test_categories_with_nearly_as_many_values_as_rows_are_reported():
    (note,) = column_cautions(bk.read_data(REVIEWS[["review"]], Y))
    assert note.startswith("'review' has 60 different texts in 60 rows")
    halves = pd.DataFrame({"review": [REVIEWS["review"][k // 2] for k in range(N)]})
    assert column_cautions(bk.read_data(halves, Y)) == ()


def noise(n=30, times=5):
    rng = np.random.default_rng(0)
    return np.tile(rng.normal(size=(n, 2)), (times, 1)), np.tile(np.arange(n) % 2, times)


def test_copies_of_rows_stay_together():
    rows, labels = noise()
    study = compare("nmc,naive-bayes", rows, labels, cv="10x5")
    assert "120 rows of 150 repeat another row exactly: copies stay in one fold" in study.explain()
    assert study.scores.design.groups == 30
    # visits of two copies belong to one patient each, and both patients to one group
    patients = np.arange(150) // 2
    merged = compare("nmc,naive-bayes", rows, labels, cv=3, groups=patients)
    assert merged.scores.design.groups == 15
    own = compare("nmc,naive-bayes", rows, labels, cv=KFold(3))
    assert own.scores.design.groups is None
    assert "p-values are too small: remove the copies" in own.explain()
    few = compare("nmc,naive-bayes", *noise(n=8, times=8))
    assert "only 8 different rows" in few.explain()


def test_equal_rows_of_coarse_values_are_no_copies():
    rng = np.random.default_rng(0)
    coarse = pd.DataFrame(rng.integers(0, 3, size=(200, 3))).astype("category")
    labels = rng.permutation(np.arange(200) % 2)
    study = compare("nmc,naive-bayes", coarse.rename(columns=str), labels)
    assert study.scores.design.groups is None
    assert "another row" not in study.explain()


# Learners


@pytest.mark.parametrize(
    ("learners", "expected"),
    [
        ([("nb", GaussianNB()), ("most", DummyClassifier())], ["nb", "most"]),
        ([GaussianNB(), DummyClassifier()], ["GaussianNB", "DummyClassifier"]),
        ([GaussianNB, DummyClassifier], ["GaussianNB", "DummyClassifier"]),
        ("logistic,nmc", ["logistic", "nmc"]),
        (["logistic,nmc", "max"], ["logistic", "nmc", "max"]),
        (["GaussianNB", "DummyClassifier()"], ["GaussianNB", "DummyClassifier()"]),
        (GaussianNB(), ["GaussianNB", "baseline"]),
        (make_pipeline(StandardScaler(), GaussianNB()), ["GaussianNB", "baseline"]),
        (
            [DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=3)],
            ["DecisionTreeClassifier(max_depth=1)", "DecisionTreeClassifier(max_depth=3)"],
        ),
        (
            [make_pipeline(StandardScaler(), GaussianNB()), make_pipeline(GaussianNB())],
            ["StandardScaler+GaussianNB", "GaussianNB"],
        ),
        ("make_pipeline(StandardScaler(), GaussianNB()),max", None),
        ([GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=2), "max"], None),
    ],
)
def test_learners_in_every_form(learners, expected):
    study = compare(learners, X, Y)
    assert study.outcome.left_out == {}
    if expected is not None:
        assert names(study) == expected


def test_a_single_learner_is_compared_with_a_baseline_that_is_named():
    study = compare(Pipeline([("scale", StandardScaler()), ("nb", GaussianNB())]), X, Y)
    assert "baseline, which always predicts the most frequent class, was added" in study.explain()
    assert names(compare(Ridge(), X, FRAME["spend"] ** 2)) == ["Ridge", "mean-baseline"]


def test_columns_of_the_frame_reach_a_column_transformer():
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["town"]), ("passthrough", ["age"])),
        LogisticRegression(),
    )
    assert compare([pipeline, "max"], FRAME, "churn").outcome.left_out == {}


@pytest.mark.parametrize("word", sorted(SPECIFICATIONS_OF))
def test_words_for_learners_get_a_specification_that_works(word):
    installed = {"xgboost", "lightgbm", "catboost"}
    try:
        assert parse_learner(word)  # a built-in learner has this name
        return
    except bk.BestOfKError as refusal:
        message = str(refusal)
    names_given = SPECIFICATIONS_OF[word]
    if "did you mean" in message:  # the name of a built-in learner is closer
        return
    for name in names_given:
        assert name in message
        if MODULE_OF.get(name) in installed:
            pytest.importorskip(MODULE_OF[name], reason="not installed")
        assert hasattr(parse_learner(name)[1], "fit")


def test_misspelt_classes_get_a_suggestion():
    for text, meant in [
        ("RandomForest", "RandomForestClassifier for labels or RandomForestRegressor for numbers"),
        ("RandomForestClasifier", "did you mean RandomForestClassifier"),
        ("randomforestclassifier", "did you mean RandomForestClassifier"),
        ("sklearn.ensemble:RandomForest", "did you mean 'RandomForest"),
        ("sklearn.svm.SVC", "'sklearn.svm:SVC'"),
    ]:
        with pytest.raises(bk.BestOfKError, match=re.escape(meant)):
            parse_learner(text)


def test_the_table_of_classes_is_that_of_scikit_learn():
    from importlib import import_module

    from sklearn.utils import all_estimators

    for kind in ("classifier", "regressor", "transformer"):
        for name, found in all_estimators(type_filter=kind):
            public = found.__module__.partition("._")[0]
            if public.split(".")[1] not in ("cluster", "covariance", "manifold", "mixture"):
                assert MODULE_OF.get(name) == public, f"add {name} to class_names.py"
                assert getattr(import_module(public), name) is found


@pytest.mark.parametrize("package", ["xgboost", "lightgbm", "catboost"])
def test_early_stopping(package):
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    learner = {
        "xgboost": lambda: module.XGBClassifier(n_estimators=20, early_stopping_rounds=2, n_jobs=1),
        "lightgbm": lambda: module.LGBMClassifier(
            n_estimators=20, early_stopping_round=2, n_jobs=1, min_child_samples=3
        ),
        "catboost": lambda: module.CatBoostClassifier(
            iterations=20, use_best_model=True, thread_count=1
        ),
    }[package]()
    study = compare({"boosted": learner, "most": "max"}, FRAME, "churn")
    assert study.outcome.left_out == {}
    assert study.outcome.preparation["data"]["boosted"].held_out
    assert "10% of the training rows held out for early stopping" in study.explain()
    pipeline = make_pipeline(StandardScaler(), learner)
    study = compare({"boosted": pipeline, "most": "max"}, X, Y)
    assert study.outcome.left_out == {}
    assert study.outcome.preparation["data"]["boosted"].held_out


@pytest.mark.parametrize(
    ("values", "learners", "task"),
    [
        (7, [Ridge(), "DummyRegressor"], "a number, 0 to 6)"),
        (24, [GaussianNB(), "max"], "24 classes)"),
    ],
)
def test_the_learners_decide_how_whole_numbers_are_read(values, learners, task):
    counts = np.repeat(np.arange(values), -(-120 // values))[:120]
    rows = counts[:, None] + np.random.default_rng(0).normal(size=(120, 2))
    assert compare(learners, rows, counts).explain().startswith(f"Predicting 'y' ({task}")
    other = Ridge() if values == 24 else GaussianNB()
    with pytest.raises(ArgumentError, match=r"take the target as .* with task="):
        compare([learners[0], other], rows, counts)
    # ten rows of ten values
    with pytest.raises(ArgumentError, match="is a classifier"):
        compare([GaussianNB(), "max"], rows[:10], np.arange(10))


def test_a_seed_that_the_user_set_is_used():
    study = compare(
        [ExtraTreesClassifier(3, random_state=1), ExtraTreesClassifier(3, random_state=2)], X, Y
    )
    first, second = study.scores.losses
    assert (first != second).any()
    # every fit is the one of scikit-learn with this seed
    splits = make_plan("kfold:3").materialise(N, Y)
    for fold in range(3):
        train, test = splits.train(0, fold), splits.test(0, fold)
        model = ExtraTreesClassifier(3, random_state=1).fit(X.iloc[train], Y.iloc[train])
        error = np.mean(model.predict(X.iloc[test]) != Y.iloc[test])
        assert first.ravel()[fold] == error


# Words


WORDS = [
    ("estimators", "learners=..."),
    ("metric", "scoring=..."),
    ("metrics", "scoring=..."),
    ("verbose", "progress=..."),
    ("folds", "cv=..."),
    ("n_splits", "cv=..."),
    ("plan", "cv=..."),
    ("test_size", "cv=..."),
    ("seed", "random_state=..."),
    ("prior", "prefer=..."),
    ("weights", "sample_weight=..."),
    ("jobs", "n_jobs=..."),
    ("confidence", "alpha=..."),
    ("correction", "settings=bk.Settings(correction=...)"),
    ("repetitions", "execution=bk.Execution(repetitions=...)"),
    ("time_limit", "budget=..."),
    ("scorng", "scoring=..."),
]


@pytest.mark.parametrize(("word", "advice"), WORDS)
def test_words_of_other_tools_get_the_word_that_works(word, advice):
    with pytest.raises(ArgumentError) as caught:
        bk.compare(MODELS, X, BINARY, **{word: 1})
    assert str(caught.value) == f"compare has no argument {word!r}: write {advice}."


def test_several_words_get_one_sentence():
    with pytest.raises(ArgumentError) as caught:
        bk.compare(models=MODELS, X=X, y=Y)
    assert str(caught.value) == (
        "compare has no argument 'models' or 'X' or 'y': write learners=... and data=... and "
        "target=...."
    )
    with pytest.raises(ArgumentError, match="no argument 'zzz': its arguments are alpha, "):
        bk.compare(MODELS, X, Y, zzz=1)


def test_words_for_order_read_losses_and_choose_model():
    table = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.2], "b": [0.2, 0.4, 0.6, 0.5]})
    for word, keyword in [
        ("lower_is_better", "higher_is_better"), ("greater_is_better", "higher_is_better"),
        ("seed", "random_state"), ("p", "alpha"), ("corection", "correction"),
    ]:  # fmt: skip
        with pytest.raises(ArgumentError, match=re.escape(f"write {keyword}=....")):
            bk.compare_scores(table, **{word: 0.1})
    evals = bestofk.evals.example_evals("inspect-sums")
    with pytest.raises(ArgumentError, match="write random_state="):
        bk.compare_evals(evals, seed=1)
    with pytest.raises(ArgumentError, match="compare_evals has no argument 'zzz'"):
        bk.compare_evals(evals, zzz=1)


@pytest.mark.parametrize(
    ("cv", "kind"),
    [
        (3, "cv"), ("2x3", "cv"), (StratifiedKFold(3), "cv"),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), "cv"),
        (TimeSeriesSplit(3), "time"), (make_plan("kfold:2"), "cv"),
        (list(KFold(3).split(X)), "cv"), (KFold(3).split(X), "cv"),
    ],
)  # fmt: skip
def test_plans_in_every_form(cv, kind):
    assert compare(MODELS, X, BINARY, cv=cv).scores.design.kind == kind


def test_groups_and_weights():
    groups = np.arange(N) // 4
    assert compare(MODELS, X, Y, cv=GroupKFold(3), groups=groups).scores.design.groups == 15
    assert compare(MODELS, X, Y, sample_weight=list(FRAME["spend"])).outcome.left_out == {}


# Metrics


def my_accuracy(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def test_metrics_in_every_form():
    for scoring in (
        "accuracy", "roc_auc", ["accuracy", "f1"], "accuracy,f1", make_scorer(f1_score),
        {"acc": "accuracy", "auc": "roc_auc"}, [[0, 1], [5, 0]],
        bk.metric(my_accuracy, higher_is_better=True),
    ):  # fmt: skip
        assert compare(MODELS, X, BINARY, scoring=scoring).recommended == "bayes"
    for function, advice in ((roc_auc_score, "roc_auc"), (accuracy_score, "accuracy")):
        with pytest.raises(ArgumentError, match=f"use scoring='{advice}'"):
            compare(MODELS, X, BINARY, scoring=function)
    with pytest.raises(ArgumentError, match=r"scoring=bk\.metric\(my_accuracy, "):
        compare(MODELS, X, BINARY, scoring=my_accuracy)


def test_a_metric_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "import bestofk as bk\ndef hits(t, p):\n    return float((t == p).mean())\n"
    (tmp_path / "my_metrics.py").write_text(
        f"{text}mine = bk.metric(hits, higher_is_better=True)\n"
    )
    study = compare(MODELS, X, BINARY, scoring="./my_metrics.py:mine")
    assert study.scores.metric.higher_is_better
    with pytest.raises(ArgumentError, match=r"bk\.metric\(hits, higher_is_better=True\)"):
        compare(MODELS, X, BINARY, scoring="./my_metrics.py:hits")


def test_impossible_metrics_are_refused_before_the_first_fit():
    class Never(RandomForestClassifier):
        def fit(self, *_):
            raise AssertionError("fitted")

    never = {"a": Never(), "b": Never(max_depth=1)}
    with pytest.raises(ArgumentError, match=r"has no predict_proba.*CalibratedClassifierCV"):
        compare({**never, "c": "LinearSVC"}, X, BINARY, scoring="log-loss")


# Running


def test_a_dask_client():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        study = compare(MODELS, X, Y, execution=bk.Execution(scheduler=client))
        assert client.status == "running"
    np.testing.assert_array_equal(study.scores.losses, compare(MODELS, X, Y).scores.losses)


def test_every_argument_of_compare_is_documented():
    assert isinstance(bk.compare, types.FunctionType)
    for name in bk.compare.__wrapped__.__kwdefaults__:
        assert re.search(rf"\b{name}\b.*\n", bk.compare.__doc__)
