"""What holds for every test: signals and lines as a terminal has them, no deadlines.

And workers that need not import everything again, for tests that have some beside the point.
"""

import compileall
import contextlib
import gc
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # every core has a worker: threads of BLAS and OpenMP would only wait for each other, busily
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
# an example that is slow since the machine is busy is no failure
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_configure():
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


def pytest_sessionstart():
    # the engine auto stays in this process: every core has a worker of the suite already
    from bestofk.run.engines import engine

    engine.START_COST = float("inf")


def pytest_collection_finish():
    # ten thousand tests are a large heap, which every collection of garbage would look through
    gc.collect()
    gc.freeze()


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
