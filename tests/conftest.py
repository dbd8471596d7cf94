"""What holds for every test: signals and lines as a terminal has them, no deadlines.

And workers that need not import everything again, for tests that have some beside the point.
"""

import compileall
import contextlib
import gc
import inspect
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # every core has a worker: threads of BLAS and OpenMP would only wait for each other, busily
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
# an example that is slow since the machine is busy is no failure
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_configure(config):
    # some runners export their width; lines in a pipe are as long as they are
    os.environ.pop("COLUMNS", None)
    # what is started in the background, or by nohup, has them ignored, and so would its children
    with contextlib.suppress(AttributeError, ValueError):
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # where Python writes no bytecode, each of the many processes would compile the package again
    if sys.dont_write_bytecode and "PYTEST_XDIST_WORKER" not in os.environ:
        package = Path(find_spec("bestofk").origin).parent
        compileall.compile_dir(package, quiet=2)
    if config.getoption("numprocesses", None):
        # of a pytest that has other names for what is used there, the workers do it themselves
        with contextlib.suppress(AttributeError):
            _rewrite_asserts_once(config)


def pytest_xdist_auto_num_workers():
    # one more than there are cores: tests of kills, signals and time limits mostly wait
    return (os.cpu_count() or 1) + 1


def _rewrite_asserts_once(config):
    """Rewrite the asserts of each file of tests in one process, as pytest would in every worker.

    It is more than half of the time that a worker needs to collect the tests. Whatever goes wrong
    here, the workers do themselves.
    """
    state = config.stash.get(rewrite.assertstate_key, None)
    if state is None or not hasattr(os, "fork"):  # --assert=plain, or Windows
        return

    def cached(file):
        return rewrite.get_cache_dir(file) / (file.name[:-3] + rewrite.PYC_TAIL)

    files = sorted(Path(__file__).parent.rglob("*.py"), key=lambda file: file.stat().st_size)
    files = [file for file in files if rewrite._read_pyc(file, cached(file)) is None]
    children = []
    n = os.cpu_count() or 1
    for own in (files[i::n] for i in range(n) if files[i::n]):
        children.append(os.fork())
        if not children[-1]:
            with contextlib.suppress(Exception):
                for file in own:
                    source, code = rewrite._rewrite_test(file, config)
                    cached(file).parent.mkdir(exist_ok=True)
                    rewrite._write_pyc(state, code, source, cached(file))
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)


def pytest_sessionstart():
    # the engine auto stays in this process: every core has a worker of the suite already
    from bestofk.run.engines import engine

    engine.START_COST = float("inf")


def pytest_collection():
    gc.disable()


def pytest_collection_finish():
    # ten thousand tests are a large heap, which every collection of garbage would look through
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def loaded_workers(monkeypatch):
    """Worker processes that are sent their task as ever, but have everything imported.

    They are forks of this process, and are there in a tenth of a second instead of two seconds of
    imports. Workers that are started anew are tested in ``run/engines``.
    """
    from bestofk.run.engines import forked_workers

    def started(target, starter):
        def begin(pipe, theirs, _, starter):
            theirs.close()
            os.environ[forked_workers.MARK] = starter.mark
            target(pipe, starter)

        return forked_workers._started_here(begin, None, starter)

    if forked_workers.can_fork():
        monkeypatch.setattr(forked_workers, "_started", started)


class LoadedPython(subprocess.Popen):
    """``subprocess.Popen`` of a Python that has imported everything heavy: see `loaded_python`.

    A command that needs scikit-learn takes a tenth of a second instead of two. Its words begin
    with ``-m`` or ``-c``.
    """

    server = None

    def __init__(self, words, *, cwd=None, env=None, ignored=(), **streams):
        self._asked = {
            "words": [str(word) for word in words],
            "cwd": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "ignored": list(ignored),
        }
        super().__init__(words, **streams)

    def _execute_child(self, *given):
        names = list(inspect.signature(subprocess.Popen._execute_child).parameters)[1:]
        asked = dict(zip(names, given, strict=True))
        mine, theirs = os.pipe()
        streams = [(0, "p2cread"), (1, "c2pwrite"), (2, "errwrite")]
        streams = [own if asked[name] == -1 else asked[name] for own, name in streams]
        socket.send_fds(self.server, [pickle.dumps(self._asked)], [*streams, theirs])
        os.close(theirs)
        self._told = os.fdopen(mine)
        self.pid = int(self._told.readline())
        self._child_created = True
        # as Popen itself: the ends of the pipes that are the child's
        names = [("p2cread", "p2cwrite"), ("c2pwrite", "c2pread"), ("errwrite", "errread")]
        for end in {asked[end] for end, other in names if asked[end] != -1 != asked[other]}:
            os.close(end)

    def _try_wait(self, wait_flags):
        if wait_flags and not select.select([self._told], [], [], 0)[0]:
            return 0, 0
        status = int(self._told.readline())
        self._told.close()
        return self.pid, status

    def _internal_poll(self, _deadstate=None, **_):
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)
        return self.returncode


@pytest.fixture(scope="session")
def _loaded_server():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    script = [sys.executable, str(Path(__file__).with_name("loaded_python.py"))]
    with subprocess.Popen([*script, str(theirs.fileno())], pass_fds=[theirs.fileno()]):
        theirs.close()
        LoadedPython.server = ours
        yield
        ours.close()


class NewPython(subprocess.Popen):
    """The same as a new interpreter, where `loaded_python` has no server."""

    def __init__(self, words, *, ignored=(), **options):
        def ignore():
            for name in ignored:
                signal.signal(getattr(signal, name), signal.SIG_IGN)

        options |= {"preexec_fn": ignore} if ignored else {}
        super().__init__([sys.executable, *map(str, words)], **options)


@pytest.fixture(scope="session")
def loaded_python(request):
    """What starts a ``python`` that is there at once, as `subprocess.Popen` does."""
    if sys.platform != "linux":
        return NewPython
    request.getfixturevalue("_loaded_server")
    return LoadedPython


@pytest.fixture(scope="session")
def run_loaded(loaded_python):
    """What starts a ``python`` that is there at once, as `subprocess.run` does with text."""

    def run(*words, timeout=100, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        with loaded_python(words, **options) as process:
            out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    return run
