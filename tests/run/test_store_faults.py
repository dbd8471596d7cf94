"""Real faults: killed writers, full disks, locks, read-only folders, lost servers."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from bestofk._base.errors import StoreError
from bestofk.run.store import database
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))
from made_cells import RECORD, fields, found, make_cell

WRITERS = f"""
import os, random, signal, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from bestofk.run.store.store import open_store  # before the forks: none is killed in an import
from made_cells import RECORD, fields, found, make_cell

url = sys.argv[1]

def cell(number):
    return make_cell(
        number, number / 7, fit_time=number / 3, size=number,
        predictions=bytes([number % 251]) * (number % 3000),
    )

def fork(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
    return child
"""

KILLED = (
    WRITERS
    + """
def write_on(start, told):
    store = open_store(url)
    number = start
    while True:
        store.put(RECORD, [cell(number)])
        number += 1
        if number % 37 == 0:
            store.flush()
            os.write(told, f"{number - 1}\\n".encode())

moments = random.Random(int(sys.argv[2]))
start, promised = 0, -1
for kill in range(40):
    if kill >= int(sys.argv[3]) and start:  # a busy machine takes longer to start
        break
    reading, told = os.pipe()
    child = fork(lambda: write_on(start, told))
    os.close(told)
    time.sleep(moments.uniform(0.02, 0.45 + 0.05 * kill))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        lines = [line for line in pipe.read().splitlines(keepends=True) if line.endswith("\\n")]
    if lines:
        promised = int(lines[-1])
    with open_store(url) as store:
        kept = store.n_cells()
        cells = [cell(number) for number in range(kept)]
        # whole batches in order: no cell is incomplete, and none is missing before another
        assert found(store, cells) == fields(cells)
    assert kept > promised, (kept, promised)
    start = kept
print(start)
"""
)

BORN = (
    WRITERS
    + """
folder = sys.argv[1]

def open_many(start):
    for number in range(start, 10**6):
        open_store(f"{folder}/{number}.db").close()

moments = random.Random(7)
for start in (0, 1000, 2000):
    child = fork(lambda: open_many(start))
    time.sleep(moments.uniform(0.05, 0.3))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
found = [name for name in os.listdir(folder) if name.endswith(".db")]
for name in found:
    with open_store(f"{folder}/{name}") as store:
        store.put(RECORD, [cell(1)])
        assert store.n_cells() == 1
print(len(found))
"""
)


@pytest.fixture
def run(fork_server):
    def printed(script, *arguments):
        done = fork_server.run(["-c", script, *arguments], timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return printed


forks = pytest.mark.needs("posix", "the faults strike in forks")


@forks
def test_a_killed_writer_leaves_complete_cells(lasting_url, run):
    assert int(run(KILLED, lasting_url, 20261115, 3)) > 0


@forks
def test_a_process_killed_while_creating_a_store_leaves_a_valid_store(tmp_path, run):
    assert int(run(BORN, tmp_path)) > 0


def mounted(folder, *options):
    """Mount a small tmpfs on `folder`, or skip."""
    folder.mkdir()
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small file system needs root")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    mounted(folder, "size=700k")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_keeps_what_was_committed(small_disk):
    path = small_disk / "study.db"
    store = open_store(path)
    store.put(RECORD, [make_cell(1)])
    store.flush()
    (small_disk / "filler").write_bytes(b"x" * 400_000)
    big = [make_cell(number, predictions=os.urandom(20_000)) for number in range(2, 30)]
    store.put(RECORD, big)
    with pytest.raises(StoreError, match=r"study\.db: the disk (is|failed or is) full") as error:
        store.flush()
    assert "committed results are safe" in str(error.value)
    assert "\n" not in str(error.value)
    (small_disk / "filler").unlink()
    with open_store(path, read_only=True) as reader:
        assert found(reader, [make_cell(1), *big]) == fields([make_cell(1)])
    subprocess.run(["mount", "-o", "remount,size=20M", str(small_disk)], check=True)
    store.close()
    with open_store(path) as store:
        assert store.n_cells() == 29


def limit_pages(store, number):
    """Limit the pages of the file; SQLite allows at least those that it has."""
    pragma = f"PRAGMA max_page_count = {number}"
    store._database.commit(lambda connection: connection.exec_driver_sql(pragma))


def test_an_error_in_the_background_is_raised_at_the_next_call(tmp_path):
    store = open_store(tmp_path / "study.db")
    limit_pages(store, 1)
    store.put(RECORD, [make_cell(number, predictions=bytes(9000)) for number in range(40)])
    with pytest.raises(StoreError, match="the disk is full"):  # noqa: PT012
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            time.sleep(0.05)
            store.put(RECORD, [])
    limit_pages(store, 100000)
    store.flush()
    store.put(RECORD, [make_cell(40)])
    assert store.n_cells() == 41
    store.close()


def test_a_full_disk_does_not_hide_the_error_of_the_run(tmp_path):
    with pytest.raises(ZeroDivisionError), open_store(tmp_path / "study.db") as store:  # noqa: PT012
        limit_pages(store, 1)
        store.put(RECORD, [make_cell(number, predictions=bytes(9000)) for number in range(40)])
        raise ZeroDivisionError


@pytest.fixture
def read_only_folder(tmp_path):
    """Return a folder and a function that makes it read-only."""
    folder = tmp_path / "fixed"
    if os.name == "posix" and os.geteuid() != 0:
        folder.mkdir()
        yield folder, lambda: folder.chmod(0o555)
        folder.chmod(0o755)
    else:
        mounted(folder, "size=4M")
        yield (
            folder,
            lambda: subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True),
        )
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_read_only_folder(read_only_folder):
    folder, fix = read_only_folder
    with open_store(folder / "study.db") as store:
        store.put(RECORD, [make_cell(1)])
    fix()
    with pytest.raises(StoreError, match=r"new\.db: the store cannot be"):
        open_store(folder / "new.db")
    with open_store(folder / "study.db", read_only=True) as store:
        assert found(store, [make_cell(1)]) == fields([make_cell(1)])
    store = None
    with pytest.raises(StoreError, match=r"study\.db: the store cannot be"):  # noqa: PT012
        store = open_store(folder / "study.db")
        store.put(RECORD, [make_cell(2)])
        store.flush()
    if store is not None:
        with pytest.raises(StoreError, match="the store cannot be"):
            store.close()


@pytest.mark.parametrize("make", ["nowhere/study.db", "file/study.db", "", "folder"])
def test_a_path_that_cannot_be_a_store(tmp_path, make):
    (tmp_path / "file").write_text("a file, not a folder")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError) as error:
        open_store(tmp_path / make)
    assert str(error.value).count(".") - str(tmp_path / make).count(".") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_read_only_store_is_not_created_or_written(lasting_url, tmp_path, live):
    with pytest.raises(StoreError, match="there is no"):
        open_store(lasting_url, read_only=True)
    assert list(tmp_path.iterdir()) == []
    with open_store(lasting_url) as store:
        store.put(RECORD, [make_cell(1)])
    with open_store(lasting_url, read_only=True) as store:
        assert store.n_cells() == 1
        with pytest.raises(StoreError, match="opened for reading only"):
            store.put(RECORD, [make_cell(2)])
        with pytest.raises(StoreError, match="opened for reading only"):
            store.register(live.record)


def test_a_long_lock_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.2)
    path = tmp_path / "study.db"
    store = open_store(path)
    store.put(RECORD, [make_cell(1)])
    store.flush()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store.put(RECORD, [make_cell(2)])
        with pytest.raises(StoreError, match="another process keeps the store locked"):
            store.flush()
        assert len(store._buffer) == 1
        other.execute("ROLLBACK")
    store.flush()
    assert store.n_cells() == 2
    store.close()


def test_a_short_lock_is_waited_for(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
            other.execute("BEGIN IMMEDIATE")
            store.put(RECORD, [make_cell(2)])
            release = threading.Timer(0.4, other.execute, ["ROLLBACK"])
            release.start()
            store.flush()
            release.join()
        assert store.n_cells() == 1


def test_a_server_that_restarts_is_waited_for(postgresql):
    url = postgresql.emptied()
    with open_store(url) as store:
        store.put(RECORD, [make_cell(0)])
        store.flush()
        for number in (1, 2):
            postgresql.down()  # immediately, like a crash
            store.put(RECORD, [make_cell(number)])
            again = threading.Timer(1.0, postgresql.up)
            again.start()
            store.flush()
            results = found(store, map(make_cell, range(number + 1)))
            again.join()
            assert len(results) == number + 1


def test_a_server_that_stays_away_is_waited_for_once(postgresql, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 1.0)
    store = open_store(postgresql.emptied())
    store.put(RECORD, [make_cell(1)])
    store.flush()
    postgresql.down()
    try:
        store.put(RECORD, [make_cell(2)])
        begin = time.monotonic()
        with pytest.raises(StoreError) as error:
            store.flush()
        assert time.monotonic() - begin >= 1.0
        for secret in ("p@ss", "p%40ss", "\n"):
            assert secret not in str(error.value)
        with monkeypatch.context() as patched:
            # not for a minute at every call
            patched.setattr(database.time, "sleep", lambda _: pytest.fail("it waits again"))
            with pytest.raises(StoreError):
                store.n_cells()
    finally:
        postgresql.up()
    assert store.n_cells() == 2  # nothing was lost
    store.close()


def test_a_full_disk_of_a_server(postgresql, tmp_path):
    folder = postgresql.folder / "tablespace"
    mounted(folder, "size=24M")
    try:
        shutil.chown(folder, *postgresql.owner())
        postgresql.sql(f"CREATE TABLESPACE small LOCATION '{folder}'")
        url = postgresql.database("TABLESPACE small")
        store = open_store(url)
        store.put(RECORD, [make_cell(1)])
        store.flush()
        with pytest.raises(StoreError, match="the server's disk is full: committed"):  # noqa: PT012
            for number in range(2, 30):
                store.put(RECORD, [make_cell(number, predictions=os.urandom(1_000_000))])
                store.flush()
        stored = postgresql.sql("SELECT count(*) FROM bestofk_cells", url.rpartition("/")[2])[0][0]
        assert 1 <= stored < 29
        with pytest.raises(StoreError, match="the server's disk is full"):
            store.close()
    finally:
        for statement in (f"DROP DATABASE IF EXISTS d{postgresql.made}", "DROP TABLESPACE small"):
            postgresql.sql(statement)
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_server_without_a_free_connection_is_waited_for(postgresql, monkeypatch):
    import psycopg

    url = postgresql.emptied()
    plain = url.replace("+psycopg", "")
    others = []
    with contextlib.suppress(psycopg.OperationalError):
        while len(others) < 200:
            others.append(psycopg.connect(plain))
    assert len(others) < 200
    monkeypatch.setattr(database, "PATIENCE", 0.3)
    with pytest.raises(StoreError, match=r"too many clients|connection slots|no free connection"):
        open_store(url)
    monkeypatch.setattr(database, "PATIENCE", 30.0)
    release = threading.Timer(1.0, lambda: [each.close() for each in others])
    release.start()
    with open_store(url) as store:
        store.put(RECORD, [make_cell(1)])
        store.flush()
        assert store.n_cells() == 1
    release.join()
