"""A process and those that it started: they end together, whoever is killed.

A worker leads a session of its own, so that everything a fit starts can be ended with it. On
Linux the system itself ends a worker whose parent is gone, and what left the worker's session
comes to the process that workers are forked from, which ends it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

GRACE = 0.5
"""Seconds that processes have to end by themselves and tidy up before they are killed."""

MARK = "BESTOFK_WORKERS"
"""The variable of the environment that tells whose worker a process, or its ancestor, is."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def lead_session() -> None:
    """Begin a session: no terminal reaches it, and it can be ended as a group."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            # it leads one already
            os.setsid()


def hear_signals(*, ended_by_them: bool) -> None:
    """Leave Ctrl-C to the parent; also SIGTERM and SIGHUP, unless they shall end this process."""
    signal.set_wakeup_fd(-1)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            ended = ended_by_them and name != "SIGINT"
            signal.signal(number, signal.SIG_DFL if ended else signal.SIG_IGN)


@contextlib.contextmanager
def signals_afterwards() -> Iterator[None]:
    """Hold back the signals that Python handles until the end of the block, as around a fork.

    What a handler raises in one of the functions that Python calls at a fork is lost, and with it
    what that function had to do: release the lock of `logging`, for which all threads then wait.
    """
    came: list[int] = []
    with contextlib.ExitStack() as back:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and callable(signal.getsignal(number)):
                    before = signal.signal(number, lambda number, _: came.append(number))
                    back.callback(signal.signal, number, before)
        yield
    for number in came:
        signal.raise_signal(number)


def end_with_parent(parent: int, *, by_main_thread: bool = True) -> None:
    """End this process as soon as its parent is gone, whatever it is doing.

    Linux does it, but when the *thread* ends that started the process: so of a parent that did
    not start it from its main thread a thread of this process looks after it, as elsewhere.
    """
    if by_main_thread and _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL):
        if os.getppid() != parent:
            os._exit(1)
        return
    threading.Thread(target=_look_after, args=(parent,), daemon=True).start()


def outlive_parent() -> None:
    """Take back `end_with_parent`, for a process that has to tidy up behind its parent."""
    _prctl(_PR_SET_PDEATHSIG, 0)


def adopt_orphans() -> None:
    """Become the parent of all descendants that lose theirs (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_group(pid: int) -> None:
    """End what is left of the group of processes that `pid` led.

    They are asked first: what tracks shared memory ignores that, and removes the memory when the
    others are gone.
    """
    if hasattr(os, "killpg"):
        _end(lambda number: _signal_group(pid, number))


def end_adopted(but: Collection[int]) -> None:
    """End the children of this process that are not among `but`, and all they started (Linux)."""
    for _ in range(100):
        strangers = _children() - set(but)
        if not strangers:
            return
        for pid in strangers:
            _end(lambda number, pid=pid: _signal_child(pid, number))  # type: ignore[misc]


def end_marked(mark: str) -> None:
    """End all processes that were started with a mark in their environment (Linux).

    For those whose parents and grandparents were killed, and that belong to nobody.
    """
    if sys.platform != "linux":
        return
    sought = f"{MARK}={mark}".encode()
    for _ in range(3):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and entry.name != str(os.getpid()):
                with contextlib.suppress(OSError):
                    if sought in (entry / "environ").read_bytes():
                        os.kill(int(entry.name), signal.SIGKILL)


class Guard:
    """A process that tidies up behind this one, if it is killed: processes by mark, and a folder.

    For what others start for us, and leave: a cluster that was started here, say.
    """

    def __init__(self, mark: str, folder: str) -> None:
        # it needs the standard library alone, so that it is there in no time
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, mark, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def close(self) -> None:
        """All is tidy: nothing is left to do for it."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._process.communicate(b"done", timeout=5)
        self._process.kill()
        self._process.wait()


def _guard(mark: str, folder: str) -> None:
    hear_signals(ended_by_them=False)
    if sys.stdin.buffer.read() == b"done":
        return
    for _ in range(8):
        # those who are left may take a while to end, and start others meanwhile
        end_marked(mark)
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.5)


def is_stopped(pid: int) -> bool:
    """Whether somebody has stopped the process (SIGSTOP) and it waits to go on (Linux)."""
    return _state_and_group(pid)[0] in "Tt"


def _end(send: Callable[[int], object]) -> None:
    """Send SIGTERM, then SIGKILL when the time is up; `send` raises when nobody is left."""
    until = time.monotonic() + GRACE
    with contextlib.suppress(ProcessLookupError, PermissionError):
        send(signal.SIGTERM)
        send(signal.SIGCONT)
        send(0)
        while time.monotonic() < until:
            time.sleep(0.01)
            send(0)
        send(signal.SIGKILL)
        while time.monotonic() < until + 1.0:
            time.sleep(0.01)
            send(0)


def _signal_group(leader: int, number: int) -> None:
    """Send a signal to a group, if some of it is alive: the dead may wait long to be buried."""
    if number == 0 and sys.platform == "linux":
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                state, group = _state_and_group(entry.name)
                if group == leader and state not in "ZX":
                    return
        raise ProcessLookupError
    os.killpg(leader, number)


def _state_and_group(pid: int | str) -> tuple[str, int]:
    """The state of a process (Linux) and the group that it belongs to."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[0], int(fields[2])
    except (OSError, IndexError, ValueError):
        return "X", -1


def _signal_child(pid: int, number: int) -> None:
    """Send a signal to a child, which is forgotten as soon as it has ended."""
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            raise ProcessLookupError
    os.kill(pid, number)


def _children() -> set[int]:
    listed: set[int] = set()
    with contextlib.suppress(OSError, ValueError):
        for thread in Path("/proc/self/task").iterdir():
            listed.update(map(int, (thread / "children").read_text().split()))
    return listed


def _look_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


if __name__ == "__main__":
    _guard(*sys.argv[1:])
