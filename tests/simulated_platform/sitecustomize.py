"""Let bestofk see the `os`, `signal` and `sys` of another system.

Python imports this module at its start if its folder is on PYTHONPATH. Then, if the environment
variable BESTOFK_SIMULATED_PLATFORM is "windows" or "macos", modules of bestofk get an `os` and a
`signal` without what that system lacks, its `sys.platform`, no modules such as `resource`, and no
files below /proc. Other packages see the real system, so that worker processes and sockets work.
Processes inherit the variable, so workers are simulated too.
"""

import builtins
import importlib.machinery
import os
import signal
import sys
import types

_MACOS = {
    "os": {
        "pidfd_open", "sched_getaffinity", "sched_setaffinity", "memfd_create", "getrandom",
        "copy_file_range", "eventfd", "posix_fallocate", "posix_fadvise",
    },
    "signal": {"pidfd_send_signal", "SIGRTMIN", "SIGRTMAX", "SIGPOLL", "SIGPWR", "SIGSTKFLT"},
}  # fmt: skip
_WINDOWS = {
    "os": _MACOS["os"] | {
        "fork", "forkpty", "killpg", "setsid", "getpgid", "getpgrp", "setpgid", "getsid", "getuid",
        "geteuid", "getgid", "getegid", "setuid", "chown", "lchown", "fchmod", "fchown", "mkfifo",
        "mknod", "nice", "pread", "pwrite", "preadv", "sendfile", "statvfs", "sysconf", "uname",
        "wait", "wait3", "wait4", "waitid", "WNOHANG", "WIFEXITED", "WEXITSTATUS", "O_NOFOLLOW",
        "O_DIRECTORY", "O_NOCTTY", "O_CLOEXEC", "O_SYNC", "register_at_fork", "posix_spawn",
        "getloadavg", "ttyname", "openpty", "sync", "chroot", "initgroups", "lockf", "ctermid",
    },
    "signal": _MACOS["signal"] | {
        "SIGKILL", "SIGHUP", "SIGSTOP", "SIGCONT", "SIGTSTP", "SIGALRM", "SIGPIPE", "SIGCHLD",
        "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGXCPU", "SIGXFSZ", "SIGTTIN", "SIGTTOU", "SIGWINCH",
        "SIGBUS", "SIGTRAP", "SIGPROF", "SIGVTALRM", "SIGURG", "SIGIO", "SIGSYS", "setitimer",
        "getitimer", "alarm", "pause", "pthread_kill", "pthread_sigmask", "sigwait", "sigpending",
        "siginterrupt", "ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF", "SIG_BLOCK", "SIG_SETMASK",
        "SIG_UNBLOCK",
    },
}  # fmt: skip
LACKING = {"macos": _MACOS, "windows": _WINDOWS}
PLATFORMS = {"macos": "darwin", "windows": "win32"}
MISSING_MODULES = {"macos": set(), "windows": {"resource", "fcntl", "pwd", "grp", "termios", "pty"}}
_HELPERS = ("pathlib", "os", "io", "codecs", "contextlib", "genericpath", "posixpath", "glob")


class _View(types.ModuleType):
    """A module without some of its attributes."""

    def __init__(self, module, lacking, replaced):
        own = object.__getattribute__(self, "__dict__")
        own.update(_module=module, _lacking=lacking, _replaced=replaced)

    def __getattribute__(self, name):
        own = object.__getattribute__(self, "__dict__")
        if name in own["_replaced"]:
            return own["_replaced"][name]
        module = own["_module"]
        if name in own["_lacking"]:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return getattr(module, name)

    def __setattr__(self, name, value):
        setattr(object.__getattribute__(self, "__dict__")["_module"], name, value)

    def __delattr__(self, name):
        delattr(object.__getattribute__(self, "__dict__")["_module"], name)


class _Finder:
    """Load the modules of bestofk with another ``__import__``."""

    def __init__(self, namespace):
        self._namespace = namespace

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "bestofk":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                module.__dict__["__builtins__"] = self._namespace
                execute(module)

            spec.loader.exec_module = exec_module
        return spec


def _locking(handle, mode, count):
    """Lock a file as msvcrt does: raise PermissionError if it is locked."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise PermissionError(13, "Permission denied") from error


def _simulate(platform):
    lacking = LACKING[platform]
    views = {
        "os": _View(os, lacking["os"], {}),
        "signal": _View(signal, lacking["signal"], {}),
        "sys": _View(sys, set(), {"platform": PLATFORMS[platform]}),
    }
    if platform == "windows":
        views["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=_locking)
    real_import = builtins.__import__

    def import_view(name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and name in MISSING_MODULES[platform]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if level == 0 and name == "msvcrt" and name in views:
            return views[name]
        module = real_import(name, globals, locals, fromlist, level)
        return views.get(name, module) if level == 0 else module

    def refuse_proc(event, arguments):
        if event not in ("open", "os.listdir", "os.scandir"):
            return
        path = arguments[0]
        if not isinstance(path, str | os.PathLike) or not os.fspath(path).startswith("/proc"):
            return
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in _HELPERS:
            frame = frame.f_back
        if frame is not None and str(frame.f_globals.get("__name__")).startswith("bestofk"):
            raise FileNotFoundError(2, "No such file or directory", os.fspath(path))

    sys.meta_path.insert(0, _Finder({**vars(builtins), "__import__": import_view}))
    sys.addaudithook(refuse_proc)


if os.environ.get("BESTOFK_SIMULATED_PLATFORM"):
    _simulate(os.environ["BESTOFK_SIMULATED_PLATFORM"])
