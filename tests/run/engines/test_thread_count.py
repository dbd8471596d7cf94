"""Every engine gives a fit the same number of threads, hence the same bits."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import bestofk as bk
from bestofk.run.process_state import limited_threads

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

ROWS = 300
"""Enough for BLAS to use several threads for a matrix product."""


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, 120))
    signal = X[:, :5].sum(axis=1) + rng.normal(size=ROWS)
    return X, (signal > 0).astype(int), signal


def losses(data, loss, **options):
    X, labels, numbers = data
    if loss == "squared":
        learners, y = {"ridge": Ridge(1e-3), "other": Ridge(10.0)}, numbers
    else:
        learners = {"logistic": LogisticRegression(max_iter=30), "other": LogisticRegression(C=0.1)}
        y = labels
    execution = bk.Execution(**{"n_jobs": 2, "progress": False, **options})
    study = bk.compare(learners, X, y, scoring=loss, cv="resample:2:0.4", execution=execution)
    return study.scores.losses


@pytest.mark.usefixtures("preloaded_workers")
def test_processes_give_the_same_bits(data):
    alone = losses(data, "log-loss", engine="serial")
    np.testing.assert_array_equal(losses(data, "log-loss", engine="processes"), alone)


@pytest.mark.parametrize("loss", ["log-loss", "squared"])
def test_thread_limits_of_the_caller_do_not_matter(data, loss):
    alone = losses(data, loss, engine="serial")
    with limited_threads(2):
        np.testing.assert_array_equal(losses(data, loss, engine="serial"), alone)


@pytest.mark.parametrize(("engine", "threads"), [("serial", 3), ("serial", 1), ("processes", 3)])
def test_a_fit_has_the_requested_threads(data, engine, threads):
    learners = {
        "asking": strange.TellsThreadsOfNumbers(),
        "ridge": Ridge(1e-3),
        "other": Ridge(10.0),
    }

    def study_with(engine):
        return bk.compare(
            learners,
            data[0],
            data[2],
            cv="holdout:0.5",
            n_jobs=1,
            progress=False,
            prefer="listed",
            scoring="squared",
            execution=bk.Execution(engine=engine, threads=threads),
        )

    study = study_with(engine)
    (failure,) = study.outcome.failures
    assert f"threads [{threads}]" in failure.reason
    if engine != "serial":
        np.testing.assert_array_equal(study.scores.losses, study_with("serial").scores.losses)
