"""Several metrics from the same fits: the first decides, all are reported."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import bestofk as bk
from bestofk.cli.app import run as main

SERIAL = bk.Execution(engine="serial", progress=False)

QUICK = {"cv": "5x2", "execution": SERIAL}
LOSSES = ["accuracy", "log-loss", "fit_time"]


class Fits(GaussianNB):
    count = 0

    def fit(self, X, y):
        type(self).count += 1
        return super().fit(X, y)


def learners(first=Fits):
    return {
        "bayes": first(), "logistic": LogisticRegression(max_iter=500), "svc": LinearSVC(dual=False)
    }  # fmt: skip


@pytest.fixture(scope="module")
def study():
    return bk.compare(learners(), "iris", scoring=LOSSES, **QUICK)


def test_every_metric_is_as_if_it_were_alone(study):
    Fits.count = 0
    again = bk.compare(learners(), "iris", scoring=LOSSES, **QUICK)
    assert Fits.count == 10
    for name in LOSSES[:2]:
        chosen = {k: v for k, v in learners().items() if k != "svc" or name != "log-loss"}
        alone = bk.compare(chosen, "iris", scoring=name, **QUICK)
        means = dict(alone.decision.means)
        held = again if name == LOSSES[0] else again.by_metric["log-loss"]
        assert held.decision.means == means
        assert held.recommended == alone.recommended
    assert study.outcome.others[0].means == again.outcome.others[0].means


def test_what_is_said(study):
    probabilities, times = study.outcome.others
    assert probabilities.sentence.endswith("; svc has no value.")
    assert "svc" in study.decision.ranking
    assert set(times.means) == set(learners())
    assert all(0 < mean < 10 for mean in times.means.values())
    words = study.explain()
    assert "metric accuracy (higher is better), also log-loss and fit time in s" in words
    assert words.count("would be recommended") == 2
    assert "svc" not in study.by_metric["log-loss"].order
    json.dumps(study.to_dict(), allow_nan=False)


def test_a_metric_that_decides_otherwise_says_so():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 1.0, "yes", "no")
    # never says yes: right most of the time, and of no use for finding a yes
    from sklearn.dummy import DummyClassifier

    always = DummyClassifier(strategy="constant", constant="no")
    eager = LogisticRegression(class_weight={"yes": 200.0, "no": 1.0})
    study = bk.compare(
        {"never": always, "eager": eager}, X, y, scoring=["accuracy", "recall"], **QUICK
    )
    (recall,) = study.outcome.others
    assert (study.recommended, recall.decision.recommended) == ("never", "eager")
    assert "eager would be recommended instead (mean" in study.explain()


def test_a_store_keeps_every_metric_and_gives_the_same_study_back(tmp_path):
    store = tmp_path / "s.db"
    names = ["accuracy", "log-loss"]
    first = bk.compare(learners(), "iris", scoring=names, store=store, **QUICK)
    Fits.count = 0
    again = bk.compare(learners(), "iris", scoring=names, store=store, **QUICK)
    assert Fits.count == 0
    assert bk.open_study(store).explain() == first.explain() == again.explain()
    # either alone is there too, and what is new is fitted once more
    able = {name: one for name, one in learners().items() if name != "svc"}
    assert bk.compare(able, "iris", scoring="log-loss", store=store, **QUICK)
    assert Fits.count == 0
    bk.compare(learners(), "iris", scoring=["accuracy", "brier"], store=store, **QUICK)
    assert Fits.count == 10


def test_the_command_line(tmp_path, capsys):
    costs = tmp_path / "costs.csv"
    costs.write_text(
        "truth,virginica,setosa,versicolor\nsetosa,1,0,1\nversicolor,2,1,0\nvirginica,0,1,9\n"
    )
    words = ["compare", "iris", "--learner", "nmc", "--learner", "nn", "--cv", "5x2", "--set",
             "engine=serial", "--json"]  # fmt: skip
    assert main([*words, "--scoring", "accuracy,log_loss", "--scoring", "f1_macro"]) == 0
    held = json.loads(capsys.readouterr().out)
    # nmc has no probabilities, so that log-loss cannot decide
    assert (held["metric"]["name"], len(held["by_metric"])) == ("accuracy", 1)
    assert main([*words, "--scoring", str(costs), "--scoring", "accuracy"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert (held["metric"]["name"], list(held["by_metric"])) == ("cost", ["accuracy"])
    assert main(["compare", "iris", "--cv", "5x2", "--scoring", "f1"]) == 2
    assert "use --scoring f1_macro." in capsys.readouterr().err
    page = tmp_path / "r.html"
    assert main([*words[:-1], "--scoring", "accuracy,f1_macro", "--report", str(page)]) == 0
    assert "Mean f1 macro" in page.read_text()
    out = capsys.readouterr().out
    assert "mean f1 macro" in out
    assert "By f1 macro (higher is better)" in out
