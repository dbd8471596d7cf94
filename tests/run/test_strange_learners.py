"""Each strange learner gives one error message on every engine, and nothing else is lost."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk.run.pool import has_process_descriptors

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
import strange_learners as strange

pytestmark = pytest.mark.usefixtures("preloaded_workers")

X = np.random.default_rng(3).normal(size=(40, 3))
Y = np.where(X[:, 0] + np.random.default_rng(4).normal(size=40) > 0.3, "yes", "no")

# learner -> kind of failure and what its reason says; None: it does what it should
SOFT = {
    "raises": (strange.Raises(), "raised", "RuntimeError: the third bearing is worn"),
    "untold": (strange.RaisesUntold(), "raised", "UntoldError."),
    "unloadable": (strange.RaisesUnloadable(), "raised", "UnloadableError: this and that"),
    "sys.exit": (strange.ExitsBySys(), "raised", "SystemExit: so long"),
    "generator exit": (strange.EndsAsGenerator(), "raised", "GeneratorExit."),
    "lacks a package": (strange.LacksPackage(), "missing", "No module named 'package_that_is_"),
    "functions": (strange.PredictsFunctions(), "unknown-class", "which is none of the classes"),
    "lists": (strange.PredictsLists(), "raised", "unhashable"),
    "warns untold": (strange.WarnsUntold(), "raised", "it cannot be told"),
    "heavy model": (strange.HeavyModel(), None, ""),
}
HARD = {
    "closes output": (strange.ClosesOutput(), None, ""),
    "changes process": (strange.ChangesProcess(), None, ""),
    "notices": (strange.NoticesChanges(), None, ""),
    "interrupts": (strange.InterruptsItself(), "raised", "KeyboardInterrupt."),
    "exits": (strange.Exits(), "killed", "ended with exit code 17"),
    "segfaults": (strange.Segfaults(), "killed", "killed by SIGSEGV"),
    "threads": (strange.ManyThreads(), None, ""),
    "notices later": (strange.NoticesChanges(), None, ""),
}
UNPICKLABLE = {
    "lock inside": (strange.CannotBePickled(), None, ""),
    "leaves when pickled": (strange.LeavesWhenPickled(), None, ""),
}
WAYS = {
    "serial": (SOFT, {"execution": bk.Execution(engine="serial")}),
    "watched": (
        # without forks a limit of time needs learners that can be pickled
        SOFT | HARD | (UNPICKLABLE if has_process_descriptors() else {}),
        {"timeout": 30.0, "execution": bk.Execution(engine="serial")},
    ),
    "processes": (SOFT | HARD, {"n_jobs": 1, "execution": bk.Execution(engine="processes")}),
}


def compared(learners, **options):
    given = {name: learner for name, (learner, *_) in learners.items()}
    plan = {"cv": "kfold:2", "progress": False}
    return bk.compare({**given, "max": "max", "nmc": "nmc"}, X, Y, **plan, **options)


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """The study of every way, made once; what it would leave in the working folder is seen."""
    made, before = {}, Path.cwd()
    folder = tmp_path_factory.mktemp("here")

    def study(way):
        if way not in made:
            learners, options = WAYS[way]
            os.chdir(folder)
            try:
                made[way] = compared(learners, **options)
                assert Path.cwd() == folder
            finally:
                os.chdir(before)
        return made[way]

    return study


@pytest.mark.parametrize(
    ("way", "name"), [(way, name) for way, (learners, _) in WAYS.items() for name in learners]
)
def test_each_is_one_sentence_or_a_loss(studies, way, name):
    study = studies(way)
    _, kind, reason = WAYS[way][0][name]
    failed = [cell for cell in study.outcome.failures if cell.learner == name]
    if kind is None:
        assert failed == []
        assert name in study.scores.learners
        return
    assert {cell.kind for cell in failed} == {kind}
    assert len(failed) == 2
    for cell in failed:
        assert reason in cell.reason
        assert "\n" not in cell.reason
        assert "Traceback" not in cell.reason


@pytest.mark.parametrize("way", list(WAYS))
def test_the_good_ones_have_the_losses_that_they_have_alone(studies, way):
    alone = compared({}, execution=bk.Execution(engine="serial")).scores
    found = studies(way).scores
    for name in ("max", "nmc"):
        np.testing.assert_array_equal(
            found.losses[found.learners.index(name)], alone.losses[alone.learners.index(name)]
        )


@pytest.mark.parametrize("engine", ["serial", "processes", "auto"])
def test_what_cannot_be_pickled_is_evaluated_all_the_same(engine):
    learners = {"lock": (strange.CannotBePickled(),)}
    study = compared(
        learners,
        scoring=bk.metric(strange.LockedLoss(), higher_is_better=False),
        n_jobs=1,
        execution=bk.Execution(engine=engine),
    )
    expected = compared({"plain": (strange.Majority(),)}, execution=bk.Execution(engine="serial"))
    assert not study.outcome.failures
    np.testing.assert_array_equal(study.scores.losses, expected.scores.losses)


class RaisesInInit:
    def __init__(self):
        raise RuntimeError("no licence")

    def fit(self, X, y):
        return self

    predict = fit


class RaisesInParams(strange.Majority):
    def get_params(self, deep=True):
        raise RuntimeError("no settings")


class RaisesWhenAsked(strange.Majority):
    @property
    def predict(self):
        raise RuntimeError("not before it is fitted")


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (RaisesInParams(), "its get_params raises RuntimeError: no settings"),
        (RaisesInInit, "cannot be created with default parameters .RuntimeError: no licence"),
        (RaisesWhenAsked(), "reading its attribute predict raises RuntimeError"),
    ],
)
def test_what_cannot_be_a_learner_is_refused_in_a_sentence(learner, words):
    with pytest.raises(bk.BestOfKError, match=words):
        bk.compare({"odd": learner, "max": "max"}, X, Y, cv="kfold:2", progress=False)


def test_a_learner_that_interrupts_this_process_says_what_is_safe(tmp_path):
    learners = {"max": "max", "interrupts": strange.InterruptsItself()}
    options = {"cv": "kfold:2", "progress": False, "execution": bk.Execution(engine="serial")}
    with pytest.raises(KeyboardInterrupt, match="1 of 4 fits are safe in the store"):
        bk.compare(learners, X, Y, store=tmp_path / "s.db", **options)
