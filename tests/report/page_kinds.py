"""One small report of every kind, for tests of pages."""

import numpy as np
import pandas as pd
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

import bestofk as bk
from bestofk.decide.battles import compare_battles
from bestofk.evals.reading import example_path, example_prices

PANEL = ["max", "nmc", "naive-bayes", "c4.5", "logistic"]
QUICK = {"cv": "5x2", "progress": False, "execution": bk.Execution(engine="serial")}


class Failing(GaussianNB):
    """Fails always."""

    def fit(self, X, y):
        raise ValueError("the matrix is singular")


def table(learners, *units, seed=1, gap=0.2, dims=("learner", "run", "fold"), names=None, **kind):
    """Losses that spread over `gap`, and noise."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.1, 0.1 + gap, learners)[rng.permutation(learners)]
    values = skill.reshape(-1, *[1] * len(units)) + 0.03 * rng.standard_normal((learners, *units))
    if names is None:
        names = [f"forest(depth={k})" if k % 3 else f"logistic(C={k})" for k in range(learners)]
    return bk.Scores(np.clip(values, 0, 1), dims=dims, learners=names, loss_name="zero-one",
                     **kind)  # fmt: skip


def one_data_set():
    return bk.compare(PANEL, data="wine", prefer="listed", **QUICK).outcome


def several_data_sets():
    return bk.compare_scores(table(5, 12, dims=("learner", "dataset"), gap=0.08)).outcome


def regression():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 4))
    y = X @ [3.0, -2.0, 1.0, 0.0] + rng.standard_normal(120)
    learners = {"mean": DummyRegressor(), "least squares": LinearRegression(),
                "ridge": Ridge(), "tree": DecisionTreeRegressor(random_state=0)}  # fmt: skip
    return bk.compare(
        learners,
        X,
        y,
        scoring="rmse",
        cv="5x2",
        progress=False,
        task="regression",
        execution=bk.Execution(engine="serial"),
    ).outcome


def from_a_table():
    return bk.compare_scores(bk.read_scores("breast-cancer-10x10"), prefer="listed").outcome


def race():
    return bk.compare(PANEL, data="wine", stop="settled", **{**QUICK, "cv": "10x10"}).outcome


def control_family():
    losses = table(5, 5, 10, names=["current", "a", "b", "c", "d"])
    return bk.compare_scores(losses, family="control", control="current").outcome


def two():
    return bk.compare_scores(table(2, 10, 10, gap=0.01, names=["current", "proposed"])).outcome


def twenty():
    return bk.compare_scores(table(20, 10, 10)).outcome


def sixty():
    return bk.compare_scores(table(60, 10, 10), prefer="listed").outcome


def failures():
    learners = {"max": "max", "boosted trees": Failing(), "nmc": "nmc", "nn": "nn"}
    return bk.compare(learners, data="iris", **QUICK).outcome


def nothing_decided():
    return bk.compare({"boosted trees": Failing(), "nmc": "nmc"}, data="iris", **QUICK).outcome


def several_metrics():
    return bk.compare(
        ["max", "nmc", "naive-bayes", "logistic"], "wine", scoring=["accuracy", "log_loss"], **QUICK
    ).outcome


def language_models():
    logs, prices = example_path("inspect-sums"), example_prices("inspect-sums")
    evals = bk.read_evals(logs, metric="match", prices=prices)
    return bk.compare_evals(evals, prefer="cost").outcome


def margin():
    return bk.compare_scores(table(5, 10, 10, gap=0.05), prefer="listed", margin=0.02).outcome


def undecidable():
    return bk.compare_scores(
        table(5, 4, dims=("learner", "dataset"), gap=0.4), test="wilcoxon"
    ).outcome


def most_wins():
    return bk.compare_scores(table(6, 10, 10), rule="most-wins").outcome


def battles():
    rng = np.random.default_rng(0)
    names = np.array(["large", "medium", "small", "tiny"])
    pairs = [rng.choice(4, 2, replace=False) for _ in range(300)]
    wins = [rng.random() < 1 / (1 + np.exp(0.4 * (a - b))) for a, b in pairs]
    first, second = (names[[pair[k] for pair in pairs]] for k in (0, 1))
    table = {"model_a": first, "model_b": second, "winner": np.where(wins, "model_a", "model_b")}
    return compare_battles(pd.DataFrame(table))


def release():
    scores = (np.random.default_rng(0).random((2, 400)) < [[0.7], [0.55]]).astype(float)
    items = [f"q{k}" for k in range(400)]
    old, new = (pd.DataFrame({"item": items, "score": row}) for row in scores)
    return bk.gate(new, old, metric="score", build="v2")


KINDS = {
    function.__name__: function
    for function in (
        one_data_set, several_data_sets, regression, from_a_table, race, control_family, two,
        twenty, sixty, failures, nothing_decided, several_metrics, language_models, margin,
        undecidable, most_wins, battles, release,
    )
}  # fmt: skip
