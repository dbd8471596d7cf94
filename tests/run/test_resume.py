"""Stored cells are never computed again, however the run ended."""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bestofk as bk
from bestofk.data import read_data
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
import strange_learners as strange

KILLS = 6
X = np.random.default_rng(2).normal(size=(48, 3))
Y = np.tile(["a", "b", "c"], 16)
PLAN = "8x5"
CELLS = 3 * 40


def run(store, log, *, engine="serial", plan=PLAN, **options):
    learners = {
        "p": strange.Paced(log=str(log), tag="p"),
        "q": strange.Paced(log=str(log), tag="q"),
        "tree": DecisionTreeClassifier(max_depth=1, max_features=1),
    }
    return bk.compare(
        learners,
        X,
        Y,
        cv=plan,
        store=store,
        n_jobs=2,
        random_state=4,
        progress=False,
        **options,
        execution=bk.Execution(engine=engine),
    )


# A process with everything imported that forks one run per line it reads.
HOST = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import test_resume as here
here.run(sys.argv[2] + "/warm.db", sys.argv[2] + "/warm", plan="2x2")  # everything is imported
for line in sys.stdin:
    order = json.loads(line)
    pid = os.fork()
    if pid == 0:
        os.environ.update(order["environment"])
        study = here.run(order["store"], order["log"], engine=order["engine"])
        np.save(order["losses"] + ".part.npy", study.scores.losses)
        os.rename(order["losses"] + ".part.npy", order["losses"])
        os._exit(0)
    print(pid, flush=True)
    if order["wait"]:
        os.waitpid(pid, 0)
"""


class Host:
    def __init__(self, fork_server, folder):
        self.folder = folder
        self.process = fork_server.start(
            ["-c", HOST, Path(__file__).parent, folder],
            env={**os.environ, "TMPDIR": str(folder)},
        )

    def start(self, *, pace, losses="losses.npy", engine="serial", wait=True):
        order = {
            "environment": {"PACE": str(pace)},
            "store": str(self.folder / "study.db"),
            "log": str(self.folder / "fits"),
            "losses": str(self.folder / losses),
            "engine": engine,
            "wait": wait,
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture
def host(fork_server, tmp_path):
    opened = Host(fork_server, tmp_path)
    with opened.process:
        yield opened


def uninterrupted(log):
    return run(None, log).scores.losses


def fits(log):
    return Counter(log.read_text().split()) if log.exists() else Counter()


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_killed_at_random_moments_and_resumed_equals_uninterrupted(host, tmp_path):
    moments = random.Random(8)
    store, log = tmp_path / "study.db", tmp_path / "fits"
    stored = []
    for kill in range(40):
        if kill >= KILLS and stored and stored[-1] > 0:  # a busy machine takes longer to start
            break
        pid = host.start(pace=0.1)
        time.sleep(moments.uniform(0.0, 0.8 + 0.1 * kill))
        os.kill(pid, signal.SIGKILL)
        if store.exists() and store.stat().st_size:
            with open_store(store, read_only=True) as opened:
                stored.append(opened.n_cells())
    assert stored == sorted(stored)  # committed cells stay
    assert 0 < stored[-1] < CELLS  # the kills hit running runs
    before = sum(fits(log).values())
    study = run(store, log)
    # only missing cells were fitted, and a second resumption fits nothing
    again = sum(fits(log).values())
    assert again - before <= CELLS - stored[-1]
    np.testing.assert_array_equal(run(store, log).scores.losses, study.scores.losses)
    assert sum(fits(log).values()) == again
    with open_store(store, read_only=True) as opened:
        assert opened.n_cells() == CELLS
    np.testing.assert_array_equal(study.scores.losses, uninterrupted(log))


def test_a_killed_run_leaves_no_process_and_no_file(host, tmp_path):
    store, log = tmp_path / "study.db", tmp_path / "fits"
    pid = host.start(pace=0.05, engine="processes")
    wait_until(lambda: sum(fits(log).values()) > 20)
    workers = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and str(tmp_path) in _environment(entry)
    ]
    os.kill(pid, signal.SIGKILL)
    offspring = set(workers) - {pid, host.process.pid}
    assert offspring
    wait_until(lambda: not any(map(is_alive, offspring)))
    assert not list(tmp_path.glob("bestofk-*"))
    np.testing.assert_array_equal(run(store, log).scores.losses, uninterrupted(log))


def _environment(entry):
    try:
        return (entry / "environ").read_text(errors="replace")
    except OSError:
        return ""


def test_two_processes_fill_one_store_at_once(host, tmp_path):
    log = tmp_path / "fits"
    pids = [
        host.start(pace=0.01, losses="one.npy", wait=False),
        host.start(pace=0.01, losses="two.npy", wait=False),
    ]
    wait_until(lambda: (tmp_path / "one.npy").exists() and (tmp_path / "two.npy").exists())
    assert len(set(pids)) == 2
    expected = uninterrupted(log)
    for name in ("one", "two"):
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), expected)
    with open_store(tmp_path / "study.db", read_only=True) as opened:
        assert opened.n_cells() == CELLS
        assert len(opened.studies()) == 1


@pytest.fixture
def counted(tmp_path):
    """`counted(...)` returns a study and how often each learner was fitted for it."""
    log, store = tmp_path / "fits", tmp_path / "study.db"

    def go(names, datasets=None, *, settings=None, repetitions=1, **options):
        before = fits(log)
        learners = {
            name: strange.Counted(log=str(log), tag=name, **(settings or {})) for name in names
        }
        datasets = datasets or {"d": (X, Y)}
        data = [read_data(*one, name=name) for name, one in datasets.items()]
        options = {"cv": "2x3", "random_state": 4, **options}
        study = bk.compare(
            learners,
            data,
            store=store,
            progress=False,
            **options,
            execution=bk.Execution(engine="serial", repetitions=repetitions),
        )
        return study, dict(fits(log) - before)

    return go


def test_only_what_is_missing_is_computed(counted):
    first, done = counted("ab")
    assert done == {"a": 6, "b": 6}
    again, done = counted("ab")
    assert done == {}
    np.testing.assert_array_equal(again.scores.losses, first.scores.losses)

    more, done = counted("cab")
    assert done == {"c": 6}
    np.testing.assert_array_equal(more.scores.losses[1:], first.scores.losses)

    longer, done = counted("ab", cv="5x3")
    assert done == {"a": 9, "b": 9}
    np.testing.assert_array_equal(longer.scores.losses[:, :, :2], first.scores.losses)

    other = {"d": (X, Y), "e": (X + 1.0, Y)}
    both, done = counted("ab", other)
    assert done == {"a": 6, "b": 6}
    np.testing.assert_array_equal(both.scores.losses[:, :1], first.scores.losses)

    repeated, done = counted("ab", repetitions=3)
    assert done == {"a": 12, "b": 12}
    np.testing.assert_array_equal(repeated.scores.losses[..., :1], first.scores.losses)


def test_a_data_set_is_identified_by_its_content_not_its_name(counted):
    first, _ = counted("ab", {"one name": (X, Y)})
    renamed, done = counted("ab", {"another": (X.copy(), Y.copy())})
    assert done == {}
    np.testing.assert_array_equal(renamed.scores.losses, first.scores.losses)


def one_cell_changed():
    changed = X.copy()
    changed[17, 1] = np.nextafter(changed[17, 1], np.inf)
    return changed, Y


def one_label_changed():
    return X, np.array([*Y[:-1], "a"])


def rows_swapped():
    return X[::-1], Y[::-1]


@pytest.mark.parametrize("data", [one_cell_changed, one_label_changed, rows_swapped])
def test_changed_data_are_detected(counted, data):
    counted("ab")
    _, done = counted("ab", {"d": data()})
    assert done == {"a": 6, "b": 6}


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"nap": 1e-6}},
        {"random_state": 5},
        {"cv": "2x4"},
        {"scoring": "balanced_accuracy"},
    ],
)
def test_changed_settings_are_detected(counted, change):
    counted("ab")
    _, done = counted("ab", **change)
    runs_of = 8 if change.get("cv") == "2x4" else 6
    assert done == {"a": runs_of, "b": runs_of}


def test_failures_are_stored(tmp_path):
    learners = {"raises": strange.Raises(), "a": GaussianNB(), "b": "nmc"}
    options = {
        "cv": "2x3",
        "store": tmp_path / "s.db",
        "progress": False,
        "execution": bk.Execution(engine="serial"),
    }
    first = bk.compare(learners, X, Y, **options)
    second = bk.compare(learners, X, Y, **options)
    assert len(first.outcome.failures) == 6
    assert sorted(first.outcome.failures, key=str) == sorted(second.outcome.failures, key=str)
    assert second.outcome.left_out == first.outcome.left_out


def test_a_stopped_run_resumes(tmp_path):
    log = tmp_path / "fits"
    learners = {
        "once": strange.FailsOnce(log=str(tmp_path / "mark")),
        "c": strange.Counted(log=str(log), tag="c"),
    }
    options = {
        "cv": "2x3",
        "store": tmp_path / "s.db",
        "progress": False,
        "execution": bk.Execution(engine="serial"),
    }
    with pytest.raises(bk.BestOfKError, match="once failed on 'data'"):
        bk.compare(
            learners,
            X,
            Y,
            **{**options, "execution": bk.Execution(engine="serial", on_failure="stop")},
        )
    study = bk.compare(learners, X, Y, **options)
    assert fits(log) == {"c": 6}
    assert study.scores.learners == ("c",)  # failures are stored
