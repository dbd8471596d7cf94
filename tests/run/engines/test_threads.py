"""Engine threads: bit-for-bit equal results, deadlines and a clean end."""

import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, Interrupted
from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.engines import threads
from bestofk.run.engines.engine import Engine
from bestofk.run.run_task import run_task

sys.path.insert(0, str(Path(__file__).parents[1]))
import strange_learners as strange
from squares_task import Squares

OURS = {name: name for name in ("max", "nmc", "logistic", "c4.5", "nn", "naive-bayes")}


def data_sets():
    rng = np.random.default_rng(11)
    y = np.tile(["p", "q", "r"], 60)
    shift = np.tile([0.0, 1.0, 2.0], 60)[:, None]
    return {
        "numbers": (rng.normal(size=(180, 4)) + shift, y),
        "far apart": (rng.normal(size=(180, 2)) + 9 * shift, y),
    }


class Threaded(Squares):
    """Squares that can be computed in threads."""

    in_threads = True


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_threads_give_identical_bits(jobs, monkeypatch):
    monkeypatch.setattr(threads, "MORE_THREADS_AFTER_SECONDS", 0.0)
    experiment = strange.make_experiment(OURS, data_sets(), "12x5", keep_predictions=True)
    cells = list(experiment.cells())

    def found(**how):
        task = ComparisonTask(experiment)
        run = Engine(**how).run(task, cells)
        return strange.outcomes(experiment, run)

    assert found(name="threads", jobs=jobs) == found(name="serial")


def test_built_in_learners_use_threads_by_default(monkeypatch):
    used = []
    in_threads = threads.run_in_threads

    def noticed(*arguments, **options):
        used.append(options["jobs"])
        return in_threads(*arguments, **options)

    monkeypatch.setattr(threads, "run_in_threads", noticed)
    X, y = data_sets()["numbers"]
    bk.compare(["nmc", "nn"], X, y, cv="kfold:3", n_jobs=2, progress=False)
    assert used == [2]
    for how in ({"n_jobs": 1}, {"n_jobs": 2, "execution": bk.Execution(engine="serial")}):
        bk.compare(["nmc", "nn"], X, y, cv="kfold:3", progress=False, **how)
    learners = {"nmc": "nmc", "theirs": strange.Majority()}
    bk.compare(
        learners, X, y, cv="kfold:3", progress=False, execution=bk.Execution(engine="serial")
    )
    bk.compare(["nmc", "nn"], X, y, cv="kfold:3", n_jobs=1, timeout=60.0, progress=False)
    assert used == [2]


def test_other_learners_and_losses_are_refused():
    X, y = data_sets()["numbers"]
    say = "engine 'threads' supports only bestofk's built-in learners and losses"
    with pytest.raises(ArgumentError, match=say):
        bk.compare(
            {"nmc": "nmc", "theirs": strange.Majority()},
            X,
            y,
            progress=False,
            execution=bk.Execution(engine="threads"),
        )
    with pytest.raises(ArgumentError, match=say):
        bk.compare(
            ["nmc", "nn"],
            X,
            y,
            scoring=bk.metric(lambda a, b: float((a != b).mean()), higher_is_better=False),
            progress=False,
            execution=bk.Execution(engine="threads"),
        )


def test_more_threads_start_only_for_long_runs(monkeypatch):
    before = threading.active_count()

    def most(patience, nap, items):
        monkeypatch.setattr(threads, "MORE_THREADS_AFTER_SECONDS", patience)
        run = Engine(name="threads", jobs=4).run(Threaded(nap=nap), range(items))
        return max(threading.active_count() - before for _ in run)

    assert most(60.0, 0.001, 5) == 1
    assert most(0.0, 0.02, 40) == 4
    assert threading.active_count() == before


@pytest.mark.needs("linux", "a new interpreter starts after the deadline")
def test_a_deadline_is_kept():
    begin = time.monotonic()
    deadline = begin + 1.0
    task = Threaded(nap=0.05)
    results = list(Engine(name="threads", jobs=2).run(task, range(1000), deadline=deadline))
    assert 1 <= len(results) < 100
    assert time.monotonic() - begin < 20.0  # all would take 25


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_ends_the_run_at_once():
    # as Ctrl-C does: the signal arrives while the main thread waits for results; Python drops the
    # exception if it arrives in the callback of a weak reference, so people press it again
    before = threading.active_count()
    ended = threading.Event()

    def press() -> None:
        seconds = 0.3
        while not ended.wait(seconds):
            signal.raise_signal(signal.SIGINT)
            seconds = 5.0

    presser = threading.Thread(target=press)
    presser.start()
    begin = time.monotonic()
    with pytest.raises(Interrupted, match="interrupted after"):
        run_task(Threaded(nap=0.02), range(10_000), engine=Engine(name="threads", jobs=2))
    ended.set()
    assert time.monotonic() - begin < 30.0  # all would take 100
    presser.join()
    assert threading.active_count() == before


def test_an_error_in_a_thread_is_raised():
    with pytest.raises(Interrupted):
        run_task(Threaded(interrupts=3), range(10), engine=Engine(name="threads", jobs=2))


def test_warning_filters_are_restored(monkeypatch):
    monkeypatch.setattr(threads, "MORE_THREADS_AFTER_SECONDS", 0.0)
    experiment = strange.make_experiment(OURS, data_sets(), "3x3")
    cells = list(experiment.cells())
    filters, show = list(warnings.filters), warnings.showwarning
    list(Engine(name="threads", jobs=3).run(ComparisonTask(experiment), cells))
    assert warnings.filters == filters
    assert warnings.showwarning is show
