"""Time limits of a fit and of a whole run.

The long form of the budgets is ``python studies/time_limits.py``.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
import time_limits
from bestofk.learners.registry import learner as make_learner
from bestofk.run import fit as whole_plans
from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.engine import Engine

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
import strange_learners as strange

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
    study = bk.compare(
        learners,
        X,
        Y,
        cv="5x4",
        budget=6.0,
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert study.decision is not None
    assert study.scores.design.kind == "test-set"
    assert study.scores.design.folds == 10  # rows of the first fold
    assert "The budget of 6 s ended the run after 2 of 40 fits" in study.explain()


LIMITS = [
    ("serial", strange.Hangs()),
    ("auto", strange.Hangs()),
    ("serial", strange.HangsInC()),
    ("serial", time_limits.Spinning(nap=60.0)),
    ("serial", time_limits.Unpicklable(nap=60.0)),
    ("processes", time_limits.Unpicklable(nap=60.0)),
    ("auto", time_limits.Unpicklable(nap=60.0)),
]


@pytest.mark.needs("linux", "a new interpreter starts after the budget")
def test_a_budget_ends_a_fit_that_hangs_in_c():
    learners = {"max": "max", "nmc": "nmc", "hangs": strange.HangsInC()}
    execution = bk.Execution(engine="serial", budget=BUDGET, progress=False)
    begin = time.monotonic()
    with pytest.raises(bk.BestOfKError, match="budget"):
        bk.compare(learners, X, Y, cv="kfold:2", execution=execution)
    assert time.monotonic() - begin < BUDGET + BUSY


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


class WholePlan:
    """A built-in learner whose fits take a while, at once or one by one."""

    def __init__(self, made, each, at_once):
        self.made, self.each, self.at_once = made, each, at_once

    def __call__(self, monkeypatch):
        kind = type(self.made)
        fit, plan = kind.fit_encoded, kind._predict_plan

        def slow_fit(model, encoded):
            time.sleep(self.each)
            return fit(model, encoded)

        def slow_plan(model, encoded, splits):
            time.sleep(self.at_once)
            return plan(model, encoded, splits)

        monkeypatch.setattr(kind, "fit_encoded", slow_fit)
        monkeypatch.setattr(kind, "_predict_plan", slow_plan)
        monkeypatch.setattr(whole_plans, "WHOLE_PLAN_FROM", 0)


@pytest.mark.needs("linux", "the workers are forks of the patched process")
# seconds of one fit, of a whole plan, and what they must come to with a limit of 1 s
@pytest.mark.parametrize(("each", "at_once", "kind"), [(3.0, 0.0, "timeout"), (0.0, 600.0, None)])
def test_with_a_limit_each_fit_is_made_and_timed_on_its_own(monkeypatch, each, at_once, kind):
    made = make_learner("naive-bayes")
    live = strange.make_live({"naive-bayes": "naive-bayes", "max": "max"}, {"d": (X, Y)}, "2x2")
    expected = {
        at: cell.loss
        for at, cell in strange.by_place(
            live, Engine(name="serial").run(ComparisonTask(live), list(live.record.cells()))
        ).items()
    }
    WholePlan(made, each, at_once)(monkeypatch)
    assert whole_plans.takes_whole_plans(live, 0, 0)
    places = list(live.record.cells())
    engine = Engine(name="serial", timeout=1.0)
    found = strange.by_place(live, engine.run(ComparisonTask(live), places))
    assert set(found) == set(expected)
    for at, cell in found.items():
        if at[0] == "naive-bayes":
            assert (cell.failure and cell.failure.kind) == kind
        if cell.failure is None:
            assert cell.loss == expected[at]
