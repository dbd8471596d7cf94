"""Time limits of a fit and of a whole run.

The long form of the budgets is ``python studies/time_limits.py``.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
import time_limits

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)

pytestmark = pytest.mark.usefixtures("preloaded_workers")

X = np.random.default_rng(3).normal(size=(40, 3))
Y = np.where(X[:, 0] + np.random.default_rng(4).normal(size=40) > 0.3, "yes", "no")
BUDGET = 2.0
BUSY = 20.0
"""Seconds that a busy machine may add; what is not stopped would take longer."""
AT_ONCE = [one for one in time_limits.settings() if one.engine == "serial"]


@pytest.mark.needs("linux", "a new interpreter starts after the budget")
@pytest.mark.parametrize("setting", AT_ONCE, ids=str)
def test_a_budget_is_kept_and_decides_from_one_round_on(setting):
    found = time_limits.run(setting, budget=BUDGET, slow=0.1, plan="120x5")
    assert found.late < BUSY
    assert found.decided == (found.rounds > 0)
    assert found.decided == (setting.learner != "hangs")
    if not found.decided:
        assert found.message == (
            "The budget of 2 s ended before all learners had finished one fold: give more time, or "
            "leave the budget out."
        )


@pytest.mark.needs("linux", "a new interpreter starts too late")
def test_one_fold_of_all_learners_is_decided_by_its_instances(tmp_path):
    learners = {
        "a": strange.HangsLater(log=str(tmp_path / "fits"), tag="a"),
        "b": strange.Majority(),
    }
    study = bk.compare(learners, X, Y, cv="5x4", budget=4.0, execution=SERIAL)
    assert study.decision is not None
    assert study.scores.design.kind == "test-set"
    assert study.scores.design.folds == 10  # rows of the first fold
    assert "The budget of 4 s ended the run after 2 of 40 fits" in study.explain()


LIMITS = [
    ("auto", strange.Hangs()),
    ("serial", strange.HangsInC()),
    ("serial", time_limits.Spinning(nap=60.0)),
    ("processes", time_limits.Unpicklable(nap=60.0)),
]


@pytest.mark.needs("linux", "a new interpreter is too slow for this limit")
@pytest.mark.parametrize(("engine", "learner"), LIMITS)
def test_a_timeout_holds_with_every_engine_and_learner(engine, learner):
    study = bk.compare(
        {"odd": learner, "max": "max", "nmc": "nmc"},
        X,
        Y,
        cv="kfold:2",
        timeout=1.0,
        n_jobs=1,
        progress=False,
        execution=bk.Execution(engine=engine),
    )
    assert {cell.kind for cell in study.outcome.failures} == {"timeout"}
    assert [cell.reason for cell in study.outcome.failures] == [
        "took longer than 1 s and was stopped."
    ] * 2
    assert study.scores.learners == ("max", "nmc")
