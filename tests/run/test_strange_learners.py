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

SERIAL = bk.Execution(engine="serial", progress=False)

pytestmark = pytest.mark.usefixtures("preloaded_workers")

X = np.random.default_rng(3).normal(size=(40, 3))
Y = np.where(X[:, 0] + np.random.default_rng(4).normal(size=40) > 0.3, "yes", "no")

# learner -> kind of failure and what its reason says; None: it does what it should
SOFT = {
    "raises": (strange.Raises(), "raised", "RuntimeError: the third bearing is worn"),
    "unloadable": (strange.RaisesUnloadable(), "raised", "UnloadableError: this and that"),
    "sys.exit": (strange.Leaves(), "raised", "SystemExit: 3"),
    "lacks a package": (strange.LacksPackage(), "missing", "No module named 'package_that_is_"),
    "raises in predict": (strange.RaisesInPredict(), "raised", "KeyError: 'colour'"),
    "out of memory": (strange.OutOfMemory(), "memory", "MemoryError"),
    "memory limit": (strange.MemoryLimit(), "memory", "Unable to allocate 2.00 GiB"),
    "nan": (strange.PredictsNaN(), "nan", "predicted NaN for 2 of 20 rows"),
    "infinity": (strange.PredictsInfinity(), "unknown-class", "predicted inf"),
    "wrong shape": (strange.WrongShape(), "shape", "shape (20, 2) for 20 test rows"),
    "nothing": (strange.NothingPredicted(), "shape", "shape () for 20 test rows"),
    "unknown class": (strange.UnknownClass(), "unknown-class", "predicted 'unheard of'"),
    "warns": (strange.Warns(), None, ""),
    "changes process": (strange.ChangesProcess(), None, ""),
    "notices": (strange.NoticesChanges(), None, ""),
    "heavy model": (strange.HeavyModel(), None, ""),
}
HARD = {
    "closes output": (strange.ClosesOutput(), None, ""),
    "interrupts": (strange.InterruptsItself(), "raised", "KeyboardInterrupt."),
    "exits": (strange.Exits(), "killed", "ended with exit code 17"),
    "segfaults": (strange.Segfaults(), "killed", "killed by SIGSEGV"),
    "notices later": (strange.NoticesChanges(), None, ""),
}
UNLOADABLE = {
    "cannot be loaded": (strange.CannotBeLoaded(), "missing", "the licence server is down")
}
UNPICKLABLE = {
    "lock inside": (strange.CannotBePickled(), None, ""),
}
WAYS = {
    "serial": (SOFT, {"execution": bk.Execution(engine="serial")}),
    "watched": (
        # without forks a limit of time needs learners that can be pickled
        SOFT | HARD | (UNPICKLABLE if has_process_descriptors() else {}),
        {"timeout": 30.0, "execution": bk.Execution(engine="serial")},
    ),
    "processes": (
        SOFT | HARD | UNLOADABLE,
        {"n_jobs": 1, "execution": bk.Execution(engine="processes")},
    ),
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


@pytest.mark.parametrize("way", WAYS)
def test_each_is_one_sentence_or_a_loss(studies, way):
    study = studies(way)
    for name, (_, kind, reason) in WAYS[way][0].items():
        failed = [cell for cell in study.outcome.failures if cell.learner == name]
        assert [cell.kind for cell in failed] == ([] if kind is None else [kind] * 2), name
        assert (name in study.scores.learners) is (kind is None)
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


def test_a_learner_that_interrupts_this_process_says_what_is_safe(tmp_path):
    learners = {"max": "max", "interrupts": strange.InterruptsItself()}
    options = {"cv": "kfold:2", "execution": SERIAL}
    with pytest.raises(KeyboardInterrupt, match="1 of 4 fits are safe in the store"):
        bk.compare(learners, X, Y, store=tmp_path / "s.db", **options)
