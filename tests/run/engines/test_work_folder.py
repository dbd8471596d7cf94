"""Work folders: those of killed processes are removed, and no others."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from bestofk.run.engines.work_folder import LOCK, PREFIX, WorkFolder, sweep

KEEPS = """
import sys, time
from bestofk.run.engines.work_folder import WorkFolder
folder = WorkFolder(sys.argv[1])
open(folder.name + "/data", "w").close()
print(folder.name, flush=True)
time.sleep(600)
"""


def other_process(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", KEEPS, str(folder)], stdout=subprocess.PIPE, text=True
    )
    return process, process.stdout.readline().strip()


def test_a_folder_is_removed_when_its_work_is_done(tmp_path):
    folder = WorkFolder(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == [Path(folder.name).name]
    folder.cleanup()
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_killed_process_is_swept_by_the_next_one(tmp_path):
    process, name = other_process(tmp_path)
    try:
        sweep(str(tmp_path))
        assert Path(name, "data").exists()  # it is alive, and keeps what it has
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    own = WorkFolder(str(tmp_path))
    assert [str(path) for path in tmp_path.iterdir()] == [own.name]
    own.cleanup()


def test_nothing_else_is_removed(tmp_path):
    def made(name, *, files=(), old=True):
        folder = tmp_path / name
        folder.mkdir()
        for file in files:
            (folder / file).write_text("kept")
        if old:
            os.utime(folder, (1.0, 1.0))
        return folder

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / LOCK).write_text("")
    kept = {
        made("bestofk-results", files=[LOCK, "losses.csv"]),  # not a name of ours
        made(f"{PREFIX}abcdefgh", files=["losses.csv"]),  # no lock: somebody's data
        made(f"{PREFIX}aaaaaaaa", old=False),  # perhaps just being made
        elsewhere,
    }
    link = tmp_path / f"{PREFIX}linklink"
    link.symlink_to(elsewhere)
    empty = made(f"{PREFIX}bbbbbbbb")
    ended = made(f"{PREFIX}cccccccc", files=[LOCK])
    now = time.time()
    os.utime(tmp_path / f"{PREFIX}aaaaaaaa", (now, now))
    sweep(str(tmp_path))
    assert set(tmp_path.iterdir()) == kept | {link}
    assert not empty.exists()
    assert not ended.exists()
    assert (elsewhere / LOCK).exists()
