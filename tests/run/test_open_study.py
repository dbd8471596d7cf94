"""An opened study reports the same as the run that made it."""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bestofk as bk
from bestofk._base.errors import ArgumentError, StoreError, UnknownNameError
from bestofk.cli import main
from bestofk.decide import Settings
from bestofk.report.write_report import render_report
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)

QUICK = {"execution": SERIAL}
THREE = ["max", "nmc", "nn"]


class Slow(GaussianNB):
    """Takes its time."""

    def fit(self, X, y):
        time.sleep(0.05)
        return super().fit(X, y)


def rows(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return np.column_stack([y + rng.normal(0, 0.6, n), rng.normal(size=n)]), y


def sign_of_means(a, b, *, alternative="two-sided"):
    """A test as a user may write one: a paired t test of all folds."""
    from bestofk.stats.pairwise import kfold_t

    flat = [np.asarray(x).reshape(*np.shape(x)[:-2], -1) for x in (a, b)]
    return kfold_t(*flat, alternative=alternative)


def on_rows(learners, **asked):
    X, y = rows()
    return {"learners": learners, "data": X, "target": y, "cv": "3x4", **asked}


def on_iris(**asked):
    return {"learners": THREE, "data": "iris", "cv": "2x3", **asked}


X0 = float(rows()[0][7, 0])
SEVERAL = {"data": ["iris", "wine", "breast-cancer"], "cv": "kfold:3"}
CASES = {
    "the defaults": on_iris(),
    "a list": on_iris(prefer=["max", "nn", "nmc"]),
    "fit time": on_iris(prefer="fit_time"),
    "family preference": on_iris(
        prefer="listed", alpha=0.01, settings=bk.Settings(family="preference")
    ),
    "family control": on_iris(
        settings=bk.Settings(family="control", control="nmc", correction="hochberg")
    ),
    "MultiTest": on_iris(prefer="listed", settings=bk.Settings(rule="multitest")),
    "a margin": on_iris(prefer="listed", margin=0.05),
    "a rope": on_iris(settings=bk.Settings(rope=0.02)),
    "a test with df": on_iris(
        test="use-all-data", cv="3x4", settings=bk.Settings(test_options={"df": 7})
    ),
    "most wins": on_iris(settings=bk.Settings(rule="most-wins", family="control", control="max")),
    "leave one out": on_rows(["max", "nmc"], cv="loo"),
    "nested": on_iris(cv="3x4+nested"),
    "higher is better": on_rows(
        {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}, scoring="auc", margin=0.1
    ),
    "a scorer": on_rows(
        {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)},
        scoring="balanced_accuracy",
        prefer=["nb"],
    ),
    "several, repetitions": {
        "learners": THREE,
        **SEVERAL,
        "prefer": "fit_time",
        "execution": bk.Execution(repetitions=2),
    },
    "one failed": on_rows(
        {"max": "max", "broken": strange.Raises(), "nmc": "nmc"}, prefer="listed"
    ),
    "some fits failed": on_rows({"max": "max", "nb": strange.FailsWithout(X0), "nmc": "nmc"}),
    "the control failed": on_rows(
        {"max": "max", "broken": strange.Raises(), "nmc": "nmc"},
        settings=bk.Settings(family="control", control="broken"),
    ),
    "a rare class": {
        "learners": ["max", "nmc"],
        "data": rows()[0],
        "cv": "2x5",
        "target": ["maybe", *np.where(rows()[1][1:] == 1, "yes", "no")],
    },
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_story(case, tmp_path):
    store = tmp_path / "study.db"
    study = bk.compare(**{**QUICK, **CASES[case]}, store=store)
    again = bk.open_study(store)
    assert again.explain() == study.explain()
    assert again.settings == study.settings
    assert again.recommended == study.recommended
    assert again.scores == study.scores
    assert render_report(again) == render_report(study)
    with open_store(store, read_only=True) as opened:
        assert opened.study(1).digest == study.outcome.record.digest


@pytest.mark.filterwarnings("ignore::bestofk.BestOfKWarning")
def test_calibrations_are_kept(tmp_path):
    df = tmp_path / "calibration.json"
    bk.papers.lab.calibrate("use-all-data", problem="normal", sets=60).save(df)
    store = tmp_path / "study.db"
    study = bk.compare(
        **on_iris(test="use-all-data", settings=bk.Settings(test_options={"df": df})),
        store=store,
        **QUICK,
    )
    df.unlink()
    again = bk.open_study(store)
    assert again.explain() == study.explain()
    assert render_report(again) == render_report(study)


def test_a_budget_that_ended_the_run(tmp_path):
    store = tmp_path / "study.db"
    # a busy machine may need more than 1.5 s for the first round; no plan fits into its budget
    for budget, cv in ((1.5, "60x2"), (15.0, "600x2")):
        asked = on_rows({"slow": Slow(), "nb": GaussianNB()}, cv=cv, budget=budget)
        with suppress(bk.RunError):
            study = bk.compare(**asked, store=store, **QUICK)
            break
        store = tmp_path / "longer.db"
    assert f"The budget of {budget:g} s ended the run" in study.explain()
    again = bk.open_study(store)
    assert again.explain() == study.explain()
    assert render_report(again) == render_report(study)


def test_the_last_of_two_decisions_is_kept_and_both_can_be_had(tmp_path):
    store = tmp_path / "study.db"
    first = bk.compare(**on_iris(), store=store, **QUICK)
    second = bk.compare(**on_iris(prefer="listed", alpha=0.01), store=store, **QUICK)
    assert bk.open_study(store).explain() == second.explain() != first.explain()
    assert bk.open_study(store, decision=1).explain() == first.explain()
    assert bk.open_study(store, decision=2).explain() == second.explain()
    assert bk.open_study(store, decision=-1).settings == second.settings
    for wrong in (0, 3, -3, True, "first"):
        with pytest.raises(ArgumentError, match="decision must be"):
            bk.open_study(store, decision=wrong)
    # the same decision again is the last one, and stands there once
    bk.compare(**on_iris(), store=store, **QUICK)
    with open_store(store, read_only=True) as opened:
        held = [record.options["alpha"] for record in opened.study(1).decisions]
    assert held == [0.01, 0.05]


def test_options_are_changed_one_by_one_without_fits(tmp_path):
    store = tmp_path / "study.db"
    asked = on_iris(prefer="listed", settings=bk.Settings(family="control", control="nmc"))
    bk.compare(**asked, store=store, **QUICK)
    before = store.read_bytes()
    strict = bk.open_study(store, alpha=0.001)
    assert strict.settings == Settings(
        prefer="listed", family="control", control="nmc", alpha=0.001
    )
    fresh = bk.compare(**{**asked, "alpha": 0.001}, **QUICK)
    assert strict.explain() == fresh.explain()
    # what does not fit the change is left out
    wins = bk.open_study(store, rule="test-first")
    assert wins.settings == Settings(prefer="listed", rule="test-first")
    assert bk.open_study(store, family="all").settings.control is None
    assert bk.open_study(store, prefer=None).decision.preference.kind == "none"
    assert bk.open_study(store, decision=Settings()).settings == Settings()
    with pytest.raises(UnknownNameError, match="did you mean 'alpha'"):
        bk.open_study(store, alfa=0.1)
    with pytest.raises(ArgumentError, match="alpha must be"):
        bk.open_study(store, alpha=2)
    with pytest.raises(ArgumentError, match="'who', which is not one of"):
        bk.open_study(store, prefer=["who"])
    assert store.read_bytes() == before


def test_a_test_of_the_users_own_is_asked_for_again(tmp_path):
    store = tmp_path / "study.db"
    study = bk.compare(**on_iris(test=sign_of_means), store=store, **QUICK)
    with pytest.raises(ArgumentError, match=r"sign_of_means' is a function of yours.*with test="):
        bk.open_study(store)
    again = bk.open_study(store, test=sign_of_means)
    assert again.explain() == study.explain()
    assert render_report(again) == render_report(study)
    assert bk.open_study(store, test="auto").decision.test == "corrected-repeated-kfold-t"


def test_which_study(tmp_path):
    store = tmp_path / "study.db"
    open_store(store).close()
    with pytest.raises(StoreError, match="has no studies"):
        bk.open_study(store)
    bk.compare(**on_iris(), store=store, **QUICK)
    bk.compare(**on_iris(cv="5x2"), store=store, **QUICK)
    with pytest.raises(ArgumentError, match=r"holds 2 studies: give number=.*one of 1 and 2"):
        bk.open_study(store)
    assert bk.open_study(store, 2).outcome.record.plan == "5x2"
    with pytest.raises(UnknownNameError, match="study '9'"):
        bk.open_study(store, 9)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        assert main(list(words)) == code
        return capsys.readouterr()

    return call


def test_the_verbs_tell_the_same_story(run):
    learners = [word for name in THREE for word in ("--learner", name)]
    asked = ["--cv", "2x3", "--prefer", "fit_time", "--alpha", "0.02", "--margin", "0.1"]
    ran = run("compare", "iris", *learners, *asked, "--store", "s.db", "--report", "a.html",
              "--json", "--set", "n_jobs=1")  # fmt: skip
    held = json.loads(ran.out)
    told = json.loads(run("show", "s.db", "--report", "b.html", "--json").out)
    assert {**told, "report": "a.html"} == held
    assert Path("a.html").read_text("utf-8") == Path("b.html").read_text("utf-8")
    shown = json.loads(run("show", "s.db", "--json").out)["studies"][0]
    assert shown["headline"] == held["headline"]
    assert shown["recommended"] == held["recommended"]
    assert shown["decisions"][0]["options"]["prefer"] == "fit_time"
    lines = run("show", "s.db").out
    assert "decision   rule best, test auto, alpha 0.02, preference by fit_time" in lines
    assert " ".join(held["headline"].split()) in " ".join(lines.split())
    # one option is changed, the others stay
    other = json.loads(run("show", "s.db", "--set", "alpha=0.2", "--json").out)
    assert [other["settings"][name] for name in ("alpha", "margin")] == [0.2, 0.1]
    assert other["settings"]["prefer"]["measured"] == "fit_time"
    none = json.loads(run("show", "s.db", "--set", "prefer=none", "--json").out)
    assert (none["settings"]["prefer"], none["settings"]["alpha"]) == (None, 0.02)
    assert "decision must be" in run("show", "s.db", "--set", "decision=2", code=2).err
