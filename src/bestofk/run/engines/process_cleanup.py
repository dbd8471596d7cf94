"""End processes together with those that started them.

Each worker leads a session, so that everything a fit starts can be ended with the worker. On Linux
the kernel ends a worker whose parent is gone. Processes that left the worker's session are found by
a mark in their environment. macOS has sessions but no marks. Windows has neither: the workers end
there, but processes that a fit starts may continue.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

GRACE_SECONDS = 0.5
"""Time that processes have to end by themselves before they are killed."""

MARK = "BESTOFK_WORKERS"
"""Environment variable that marks workers and everything they start."""

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that no process can ignore. Windows has no SIGKILL, and SIGTERM has this effect."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def lead_session() -> None:
    """Start a session, which no terminal signals and which can be ended as a group."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            # the process leads a session already
            os.setsid()


def set_signals(*, exit_on_term: bool) -> None:
    """Ignore Ctrl-C, which the parent handles; with `exit_on_term`, end on SIGTERM and SIGHUP."""
    signal.set_wakeup_fd(-1)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None:
            ends = exit_on_term and name != "SIGINT"
            signal.signal(number, signal.SIG_DFL if ends else signal.SIG_IGN)


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Defer the signals that Python handles to the end of the block, as around a fork.

    An exception raised by a handler inside a fork hook is lost, and the hook does not finish. The
    hook of `logging` would then never release its lock.
    """
    received: list[int] = []
    with contextlib.ExitStack() as restore:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and callable(signal.getsignal(number)):
                    before = signal.signal(number, lambda number, _: received.append(number))
                    restore.callback(signal.signal, number, before)
        yield
    for number in received:
        signal.raise_signal(number)


def end_with_parent(parent: int, *, by_main_thread: bool = True) -> None:
    """End this process as soon as its parent is gone.

    The Linux kernel does this when the *thread* that started the process ends. If that was not the
    main thread, or on other systems, a thread of this process watches the parent.
    """
    if by_main_thread and _set_for_process(_PR_SET_PDEATHSIG, KILL):
        if os.getppid() != parent:
            os._exit(1)
        return
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def outlive_parent() -> None:
    """Undo `end_with_parent`, for a process that cleans up after its parent."""
    _set_for_process(_PR_SET_PDEATHSIG, 0)


def adopt_orphans() -> None:
    """Become the parent of the processes that child processes leave running (Linux)."""
    _set_for_process(_PR_SET_CHILD_SUBREAPER, 1)


def reap_orphans(workers: set[int]) -> None:
    """Remove adopted processes that have ended from the process table."""
    with contextlib.suppress(ChildProcessError):
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while (ended := os.waitid(os.P_ALL, 0, flags)) and ended.si_pid not in workers:
            os.waitpid(ended.si_pid, 0)


def end_children() -> None:
    """Kill all child processes, also those that this process adopts meanwhile (Linux).

    They include forks that have not started their program yet, and so have no mark.
    """
    parent = str(os.getpid())
    while children := [pid for pid in _processes() if _stat(pid)[1] == parent]:
        for pid in children:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, KILL)
                os.waitpid(pid, 0)


def end_group(leader: int) -> None:
    """End what is left of the process group of `leader`: SIGTERM first, then SIGKILL.

    Trackers of shared memory ignore SIGTERM and remove the memory once the others are gone.
    """
    if not hasattr(os, "killpg"):
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGTERM)
        os.killpg(leader, signal.SIGCONT)
        if _group_ends(leader, GRACE_SECONDS):
            return
        os.killpg(leader, KILL)
        _group_ends(leader, 2 * GRACE_SECONDS)


def end_marked(mark: str) -> None:
    """Kill all processes whose environment contains a mark that begins with `mark` (Linux)."""
    if sys.platform != "linux":
        return
    sought = f"{MARK}={mark}".encode()
    for _ in range(3):
        for pid in _processes():
            with contextlib.suppress(OSError):
                if pid != os.getpid() and sought in Path(f"/proc/{pid}/environ").read_bytes():
                    os.kill(pid, KILL)


def is_stopped(pid: int) -> bool:
    """Return whether the process was stopped by SIGSTOP (Linux)."""
    return _stat(pid)[0] in "Tt"


def _group_ends(leader: int, seconds: float) -> bool:
    """Wait until no process of a group is alive; return False if `seconds` pass first."""
    end = time.monotonic() + seconds
    while _group_is_alive(leader):
        if time.monotonic() >= end:
            return False
        time.sleep(0.01)
    return True


def _group_is_alive(leader: int) -> bool:
    """Return whether a process of a group is alive; zombies do not count on Linux."""
    if sys.platform != "linux":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader, 0)
            return True
        return False
    stats = map(_stat, _processes())
    return any(group == str(leader) and state not in "ZX" for state, _, group in stats)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str]:
    """Return the state, the parent and the group of a process (Linux)."""
    with contextlib.suppress(OSError):
        return stat_fields(pid)[:3]
    return ["X", "", ""]


def stat_fields(pid: int) -> list[str]:
    """Return the state of a process and the fields that follow it in its stat file (Linux)."""
    line = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    return line.rpartition(")")[2].split()


def _watch_parent(parent: int) -> None:
    process = multiprocessing.parent_process()
    if sys.platform == "win32" and getattr(process, "sentinel", None) is not None:
        # Windows keeps the parent's id after the parent's end
        multiprocessing.connection.wait([process.sentinel])
    else:
        pause = threading.Event()
        while os.getppid() == parent:
            # `time.sleep` may raise an error while a tool sets the clock
            pause.wait(0.5)
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, KILL)
    os._exit(1)


def _set_for_process(option: int, value: int) -> bool:
    """Set an option of this process with prctl; return whether the system can (Linux)."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
