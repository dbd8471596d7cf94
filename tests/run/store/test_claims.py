"""Several processes on one store share the work, and dead processes block nobody."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sqlalchemy as sa

import bestofk as bk
from bestofk._base.errors import Interrupted
from bestofk.run.progress import Progress
from bestofk.run.store import claims as module
from bestofk.run.store.claims import has_ended, this_process
from bestofk.run.store.database import claimers, claims
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))
import strange_learners as strange
from squares_task import Squares, run_squares

X = np.random.default_rng(2).normal(size=(48, 3))
Y = np.tile(["a", "b", "c"], 16)
CELLS = 3 * 40
OTHER_WAYS = 4
ELSEWHERE = "another-machine pid:[1] 7 7"
linux = pytest.mark.needs("linux", "the start of a process is in /proc")


def run(store, log, *, nap=0.01, **options):
    learners = {
        "p": strange.Counted(log=str(log), tag="p", nap=nap),
        "q": strange.Counted(log=str(log), tag="q", nap=nap),
        "raises": strange.CountedAndRaises(log=str(log), tag="raises", nap=nap),
    }
    options = {
        "cv": "8x5",
        "progress": False,
        "execution": bk.Execution(engine="serial"),
        **options,
    }
    return bk.compare(learners, X, Y, store=store, random_state=4, **options)


# A process with everything imported that forks the runs of each line it reads.
TOGETHER = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import test_claims as here
here.run(None, "", nap=0.0, cv="2x2")  # everything is imported
for line in sys.stdin:
    store, log, n = json.loads(line)
    children = []
    for _ in range(n):
        children.append(os.fork())
        if children[-1] == 0:
            study = here.run(store, log)
            here.np.save(f"{log}.{len(children)}.npy", study.scores.losses)
            os._exit(0)
    print([os.waitpid(child, 0)[1] for child in children], flush=True)
"""


@pytest.fixture(scope="module")
def together(fork_server):
    """`together(store, log, n)`: n processes run at once; how each of them ended."""
    command = ["-c", TOGETHER, Path(__file__).parent]
    with fork_server.start(command) as process:

        def run_all(store, log, n):
            process.stdin.write(json.dumps([str(store), str(log), n]) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield run_all
        process.stdin.close()


def fits(log):
    return sum(Counter(Path(log).read_text().split()).values()) if Path(log).exists() else 0


def left_behind(store):
    with store._database.reading() as connection:
        return [
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in (claims, claimers)
        ]


@pytest.mark.needs("posix", "the processes are forks")
@pytest.mark.parametrize(("kind", "n", "factor"), [
    ("sqlite", 4, 1.10), ("postgresql", 3, 1.10),
])  # fmt: skip
def test_processes_share_the_fits_of_one_study(request, together, tmp_path, kind, n, factor):
    log = tmp_path / "fits"
    url = tmp_path / "study.db"
    if kind == "postgresql":
        url = request.getfixturevalue("postgresql").emptied()
    assert together(url, log, n) == [0] * n
    # each process retries a learner that raises in other ways on the first fold
    assert CELLS <= fits(log) <= factor * CELLS + OTHER_WAYS * n
    expected = run(None, tmp_path / "fits").scores.losses
    for child in range(1, n + 1):
        np.testing.assert_array_equal(np.load(f"{log}.{child}.npy"), expected)
    with open_store(url) as store:
        assert store.n_cells() == CELLS
        assert left_behind(store) == [0, 0]


@pytest.mark.needs("posix", "the processes are forks")
def test_two_processes_on_a_server_that_crashes_lose_nothing(postgresql, together, tmp_path):
    log, url = tmp_path / "fits", postgresql.emptied()

    def restart():
        while fits(log) < CELLS // 6:
            time.sleep(0.01)
        postgresql.down()  # immediately, like a crash
        postgresql.up()

    restarts = threading.Thread(target=restart, daemon=True)
    restarts.start()
    assert together(url, log, 2) == [0, 0]
    restarts.join()
    assert fits(log) >= CELLS
    expected = run(None, log).scores.losses  # a seed depends on the path of the log
    for child in (1, 2):
        np.testing.assert_array_equal(np.load(f"{log}.{child}.npy"), expected)
    with open_store(url) as store:
        assert store.n_cells() == CELLS
        assert left_behind(store) == [0, 0]


@linux
def test_what_a_killed_process_had_claimed_is_taken_over_at_once(
    tmp_path, fork_server, monkeypatch
):
    store, log = tmp_path / "study.db", tmp_path / "fits"
    script = "import sys; sys.path.insert(0, sys.argv[1]); import test_claims; "
    script += "test_claims.run(sys.argv[2], sys.argv[3], nap=0.02)"
    with fork_server.start(["-c", script, Path(__file__).parent, store, log]) as process:
        end = time.monotonic() + 100
        while fits(log) < 30 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    with open_store(store) as opened:
        claimed, dead = left_behind(opened)
        stored = opened.n_cells()
    assert dead == 1
    assert claimed > 0
    lost = fits(log) - stored  # started or not committed yet
    # a run that waited for the lease would end with its budget, and lack fits
    monkeypatch.setattr(module, "LEASE_SECONDS", 1e9)
    execution = bk.Execution(engine="serial", budget=3600.0)
    study = run(store, log, nap=0.02, execution=execution)
    assert CELLS + lost <= fits(log) <= CELLS + lost + OTHER_WAYS
    np.testing.assert_array_equal(study.scores.losses, run(None, log, nap=0.02).scores.losses)


@pytest.fixture
def others(lasting_url):
    """`others(keys)` claims keys for a process of another machine without heartbeat."""
    with open_store(lasting_url) as store:

        def claim(keys, process=ELSEWHERE):
            def both(connection):
                row = {"name": "other", "process": process, "beat": 5}
                connection.execute(sa.insert(claimers), row)
                connection.execute(
                    sa.insert(claims), [{"digest": key, "claimer": "other"} for key in keys]
                )

            store._database.commit(both)

        yield store, claim


class Heard(Progress):
    def __init__(self):
        self.waits = []

    def standing(self, *, text):
        self.waits.append(text)


def test_a_lease_without_heartbeat_expires(others, monkeypatch):
    store, claim = others
    monkeypatch.setattr(module, "LEASE_SECONDS", 2.0)
    # jumps of the wall clock do not matter
    monkeypatch.setattr(time, "time", lambda: 0.0)
    claim(["2", "3"])
    task, heard, begin = Squares(), Heard(), time.monotonic()
    results = run_squares(task, range(5), store, progress=heard)
    assert time.monotonic() - begin > 2.0
    assert results == {n: n * n for n in range(5)}
    assert task.seen == [0, 1, 4, 2, 3]  # free items come first
    assert set(heard.waits) == {"waiting for another process that works on 2 squares"}
    assert left_behind(store) == [0, 0]


def test_a_heartbeat_renews_a_lease(lasting_url, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with open_store(lasting_url) as store:
        is_dead = store.claims()._is_dead
        # seconds, and the heartbeat count that is seen then; a lease is 30 seconds
        for now, beat, dead in (
            (0, 5, False), (29, 5, False), (31, 5, True), (32, 6, False), (61, 6, False),
            (61, 7, False), (90, 7, False), (92, 7, True),
        ):  # fmt: skip
            clock[0] = float(now)
            assert is_dead("other", ELSEWHERE, beat) is dead, now


def test_results_of_other_processes_are_read(others):
    store, claim = others
    claim(["2", "3"])

    class Waits(Progress):
        def standing(self, *, text):
            for n in (2, 3):  # as the other process does in the meantime
                store.put_array(str(n), b"%d" % (n * n), kind="toy")

    task = Squares()
    results = run_squares(task, range(5), store, progress=Waits())
    assert results == {n: n * n for n in range(5)}
    assert task.seen == [0, 1, 4]


def test_a_budget_ends_the_wait_for_other_processes(others, monkeypatch):
    store, claim = others
    monkeypatch.setattr(module, "LEASE_SECONDS", 1e9)
    claim(["2", "3"])
    begin = time.monotonic()
    results = run_squares(Squares(), range(5), store, deadline=begin + 2.0)
    assert sorted(results) == [0, 1, 4]
    assert time.monotonic() - begin > 1.9


def test_an_interrupted_process_releases_its_claims(others):
    store, _ = others
    with pytest.raises(Interrupted, match="2 of 5 squares are safe in the store"):
        run_squares(Squares(interrupts=2), range(5), store)
    assert left_behind(store) == [0, 0]
    task = Squares()
    run_squares(task, range(5), store)
    assert task.seen == [2, 3, 4]


def test_results_are_committed_before_their_claims_are_released(lasting_url):
    # also if the run ends with an error
    with open_store(lasting_url) as store:

        def stop(result):
            return ZeroDivisionError() if result == 3 else None

        with pytest.raises(ZeroDivisionError):
            run_squares(Squares(), range(5), store, stop=stop)
        with open_store(lasting_url) as other:
            assert other.n_arrays() == 4
        assert left_behind(store) == [0, 0]


def test_only_one_of_two_processes_gets_a_claim(lasting_url):
    with open_store(lasting_url) as first, open_store(lasting_url) as second:
        with first.claims() as ours, second.claims() as theirs:
            assert ours.claim(["a", "b"]) == ({"a", "b"}, set())
            assert ours.claim(["a", "b"]) == ({"a", "b"}, set())
            assert theirs.claim(["b", "c"]) == ({"c"}, set())
            first.put_array("b", b"x", kind="k")
            first.flush()
            assert theirs.claim(["a", "b"]) == ({"b"}, {"b"})
            ours.release(["a"])
            assert theirs.claim(["a", "d"]) == ({"a", "d"}, set())
        assert left_behind(first) == [0, 0]


@linux
def test_a_process_is_identified_by_more_than_its_pid():
    machine, space, number, start = this_process().split()
    # this process, one that had its process id before, another machine, unknown
    processes = (this_process(), f"{machine} {space} {number} {int(start) + 1}", ELSEWHERE, "")
    assert list(map(has_ended, processes)) == [False, True, False, False]
    with subprocess.Popen(["sleep", "60"]) as child:
        began = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19]
        word = f"{machine} {space} {child.pid} {began}"
        assert not has_ended(word)
        child.kill()
    assert has_ended(word)
