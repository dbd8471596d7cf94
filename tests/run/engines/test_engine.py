"""Engines: bit-for-bit equal results on every engine, and budgets."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import bestofk as bk
from bestofk.learners.preparation import is_trusted
from bestofk.learners.registry import learner as make_learner
from bestofk.run import engine as engines
from bestofk.run.engine import Engine, Execution

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)


def drawn():
    """Numeric data, and columns of several kinds with gaps."""
    rng = np.random.default_rng(5)
    mixed = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "colour": rng.choice(["red", "blue", "green"], 60),
            "weight": np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60)),
        }
    )
    return {
        "numbers": (rng.normal(size=(45, 4)), np.tile([0, 1, 2], 15)),
        "mixed": (mixed, np.where(mixed["size"] + rng.normal(size=60) > 0, "yes", "no")),
    }


DATA = drawn()
LEARNERS = {
    "forest": RandomForestClassifier(n_estimators=4),
    "pipe": make_pipeline(StandardScaler(), SGDClassifier(max_iter=5, tol=None)),
    "bayes": GaussianNB(),
    "nmc": "nmc",
    "nn": "nn",
    "raises": strange.Raises(),
}


@pytest.fixture(scope="module")
def live():
    return strange.make_live(
        LEARNERS, DATA, "2x3+nested", repetitions=2, keep_predictions=True, random_state=3
    )


def results_of(live, **options):
    cells = list(live.record.cells())
    return Engine(Execution(**options)).run(live, cells)


@pytest.fixture(scope="module")
def serial(live):
    return strange.outcomes(live, results_of(live, engine="serial"))


def test_every_cell_is_evaluated_exactly_once(live, serial):
    assert len(serial) == live.record.n_cells == 6 * 2 * (6 + 2 * 6) * 2


def test_processes_give_identical_bits(live, serial):
    results = strange.outcomes(live, results_of(live, engine="processes", n_jobs=2))
    assert results == serial


def test_the_automatic_engine_can_switch_to_workers(monkeypatch):
    learners = {name: LEARNERS[name] for name in ("forest", "bayes", "nmc")}
    live = strange.make_live(learners, DATA, "2x3")
    expected = strange.outcomes(live, results_of(live, engine="serial"))
    used = []
    in_pool = Engine._in_pool

    def noticed(self, *arguments):
        used.append(self)
        return in_pool(self, *arguments)

    monkeypatch.setattr(Engine, "_in_pool", noticed)
    assert strange.outcomes(live, results_of(live, n_jobs=2)) == expected
    assert not used  # little work stays in this process
    monkeypatch.setattr(engines, "START_COST", 0.0)
    assert strange.outcomes(live, results_of(live, n_jobs=2)) == expected
    assert used


def test_seeds_differ_between_repetitions_folds_and_learners_but_not_between_calls():
    learners = {"a": strange.Counted(tag="a"), "b": strange.Counted(tag="b")}
    data = {"d": (np.random.default_rng(7).normal(size=(40, 2)), np.tile(["p", "q"], 20))}

    def predictions(random_state):
        created = strange.make_live(
            learners, data, "kfold:2", repetitions=3, keep_predictions=True,
            random_state=random_state,
        )  # fmt: skip
        results = strange.by_place(created, results_of(created, engine="serial"))
        return {at: cell.predictions for at, cell in results.items()}

    first = predictions(1)
    assert len(set(first.values())) == len(first) == 12
    assert predictions(1) == first
    assert not set(predictions(2).values()) & set(first.values())


@pytest.mark.needs("linux", "a new interpreter starts too late")
def test_a_budget_stops_in_time_and_favours_no_learner(tmp_path):
    log = tmp_path / "fits"
    learners = {
        "slow": strange.Counted(log=str(log), tag="slow", nap=0.1),
        "quick": strange.Counted(log=str(log), tag="quick"),
        "nmc": "nmc",
    }
    X, y = DATA["numbers"]
    study = bk.compare(
        learners,
        X,
        y,
        cv="500x5",
        budget=5.0,  # a busy machine needs seconds for the first fits
        execution=SERIAL,
    )
    fits = Counter(log.read_text().split())
    assert 0 <= fits["slow"] - fits["quick"] <= 1  # the last one was stopped
    assert 0 < fits["slow"] < 2500  # all would take 250 s
    assert study.scores.losses.shape[0] == 3
    assert not np.isnan(study.scores.losses).any()
    assert "The budget of 5 s ended the run after" in study.explain()


def test_jobs_are_counted_from_the_cores_down():
    cores = engines.cores()
    assert Engine(Execution(n_jobs=3)).workers == 3
    assert Engine(Execution(n_jobs=-1)).workers == cores
    assert Engine(Execution(n_jobs=-cores - 5)).workers == 1


def test_only_trusted_learners_run_in_this_process():
    assert is_trusted(RandomForestClassifier())
    assert is_trusted(make_learner("nn"))
    assert is_trusted(make_pipeline(StandardScaler(), GaussianNB()))
    assert not is_trusted(strange.Majority())
    assert not is_trusted(make_pipeline(StandardScaler(), strange.Majority()))
    assert not is_trusted(make_pipeline(FunctionTransformer(np.log1p), GaussianNB()))
