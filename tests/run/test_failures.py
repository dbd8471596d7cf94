"""A failing learner is recorded with its reason, and the others continue."""

import sys
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, RunError

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
import strange_learners as strange

SERIAL = bk.Execution(engine="serial", progress=False)

pytestmark = pytest.mark.usefixtures("preloaded_workers")

X = np.random.default_rng(3).normal(size=(40, 3))
Y = np.where(X[:, 0] + np.random.default_rng(4).normal(size=40) > 0.3, "yes", "no")


def run(learners, **options):
    return bk.compare(learners, X, Y, **{"cv": "kfold:2", "execution": SERIAL, **options})


@pytest.fixture(scope="module")
def good():
    return {"majority": strange.Majority(), "nmc": "nmc"}


def test_automatic_engine_isolates_learners_that_are_neither_ours_nor_scikit_learns(good):
    study = run({"exits": strange.Exits(), **good}, n_jobs=1, execution=bk.Execution(engine="auto"))
    assert [failure.kind for failure in study.outcome.failures] == ["killed", "killed"]
    assert study.scores.learners == ("majority", "nmc")


@pytest.mark.parametrize("loss", ["log-loss", "brier", "auc"])
def test_a_learner_without_probabilities_is_refused_before_the_first_fit(loss):
    learners = {"plain": strange.NoProbabilities(), "nmc": "naive-bayes", "max": "max"}
    with pytest.raises(ArgumentError) as caught:
        run(learners, scoring=loss)
    assert str(caught.value).startswith("plain has no ")
    assert f"predict_proba, which the metric '{loss}' needs" in str(caught.value)
    # the other metrics are only reported
    study = run(learners, scoring=["zero-one", loss])
    assert study.scores.learners == ("plain", "nmc", "max")


def test_probabilities_that_are_no_numbers_are_a_failure():
    study = run(
        {"n": strange.NaNProbabilities(), "a": "max", "b": "naive-bayes"}, scoring="log-loss"
    )
    failure, _ = study.outcome.failures
    assert failure.kind == "nan"


@pytest.mark.parametrize("broken", ["nan", "raises"])
def test_a_loss_that_fails_after_its_trial_is_a_failure_of_the_cell(good, broken):
    calls = []

    def loss(true, predicted):
        calls.append(len(true))
        if len(calls) == 1:  # before the first fit
            return 0.0
        return float("nan") if broken == "nan" else 1 / 0

    words = "the metric 'loss' came out as nan" if broken == "nan" else "ZeroDivisionError"
    with pytest.raises(RunError, match=words):
        run(good, scoring=bk.metric(loss, higher_is_better=False))


def test_stop_ends_the_run_with_the_reason(good, tmp_path):
    log = tmp_path / "fits"
    learners = {
        "before": strange.Counted(log=str(log), tag="before"),
        "raises": strange.Raises(),
        "after": strange.Counted(log=str(log), tag="after"),
    }
    with pytest.raises(RunError) as stopped:
        run(learners, cv="3x5", execution=bk.Execution(engine="serial", on_failure="stop"))
    assert str(stopped.value) == (
        "raises failed on 'data' (run 1, fold 1): raised: RuntimeError: the third bearing is worn"
    )
    assert log.read_text() == "before\n"


def test_nothing_to_decide_from_is_said(good):
    with pytest.raises(RunError, match=r"No learner could be evaluated; a: 3 of 3 fits failed"):
        run({"a": strange.Raises(), "b": strange.Leaves()}, cv="kfold:3")
    one = run({"a": strange.Raises(), "b": strange.Majority()}, cv="kfold:3")
    assert one.recommended is None
    assert "Nothing can be decided" in one.explain()


def test_a_learner_that_fails_in_few_cells_stays(tmp_path):
    learners = {"once": strange.FailsOnce(log=str(tmp_path / "mark")), "max": "max"}
    study = run(learners, cv="4x5")
    assert len(study.outcome.failures) == 1
    assert not study.outcome.left_out
    assert study.scores.design.runs == 3  # the run that has a hole counts for nobody
    assert "One fit of once failed." in study.headline
    assert "1 of 4 runs was dropped because not all learners finished it." in study.headline


def counted(tmp_path, learner, **options):
    """A study with a store, and how many fits of `learner` it made."""
    log = Path(learner.log)
    before = len(log.read_text().split()) if log.exists() else 0
    study = run({"odd": learner, "max": "max", "nmc": "nmc"}, store=tmp_path / "s.db", **options)
    return study, len(log.read_text().split()) - before


@pytest.mark.needs("linux", "a new interpreter is too slow for these limits")
def test_a_timeout_is_tried_again_only_with_a_longer_limit(tmp_path, monkeypatch):
    learner = strange.Mended(log=str(tmp_path / "fits"), tag="x")
    monkeypatch.setenv("HOW", "hang")
    first, fits = counted(tmp_path, learner, timeout=1.0)
    assert ([cell.kind for cell in first.outcome.failures], fits) == (["timeout"] * 2, 2)
    monkeypatch.setenv("HOW", "")
    assert counted(tmp_path, learner, timeout=1.0)[1] == 0
    assert counted(tmp_path, learner, timeout=0.5)[1] == 0
    longer, fits = counted(tmp_path, learner, timeout=60.0)
    assert (longer.outcome.failures, fits) == ((), 2)
    assert counted(tmp_path, learner)[1] == 0  # what is done is never done again


@pytest.mark.parametrize(
    ("how", "kind", "again"),
    [("kill", "killed", 2), ("memory", "memory", 2), ("missing", "missing", 2),
     ("raise", "raised", 0)],
)  # fmt: skip
def test_failures_from_outside_are_tried_again(tmp_path, monkeypatch, how, kind, again):
    learner = strange.Mended(log=str(tmp_path / "fits"), tag="x")
    monkeypatch.setenv("HOW", how)
    first, _ = counted(tmp_path, learner, timeout=60)
    assert [cell.kind for cell in first.outcome.failures] == [kind] * 2
    monkeypatch.setenv("HOW", "")
    second, fits = counted(tmp_path, learner)
    assert (len(second.outcome.failures), fits) == (2 - again, again)
    third, fits = counted(
        tmp_path, learner, execution=bk.Execution(engine="serial", retry_failed=True)
    )
    assert (third.outcome.failures, fits) == ((), 2 - again)
    assert (
        counted(tmp_path, learner, execution=bk.Execution(engine="serial", retry_failed=True))[1]
        == 0
    )


def test_kills_of_one_cell_condemn_no_other(tmp_path):
    once = strange.KilledInFirstFold(log=str(tmp_path / "fits"), tag="x")
    study, _ = counted(tmp_path, once, cv="kfold:4", timeout=60)
    # the rows of one fold do not train it there, in the other three it is killed
    assert [cell.kind for cell in study.outcome.failures] == ["killed"] * 3
    assert len({cell.fold for cell in study.outcome.failures}) == 3
    fits = Path(once.log).read_text().split()
    assert len(fits) == 3 * 4 + 1  # each as often as if it were alone
