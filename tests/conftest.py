"""What holds for every test: signals as a terminal has them, no deadlines, one compilation.

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
    if hasattr(config, "workerinput") and "tests" in config.args:
        number = int(config.workerinput["workerid"].removeprefix("gw"))
        # these functions of pytest may change: they save ten seconds, and nothing depends on them
        with contextlib.suppress(AttributeError, TypeError, KeyError, OSError):
            _rewrite_asserts(config, number, config.workerinput["workercount"])


def _rewrite_asserts(config, number, count):
    """Rewrite one of `count` parts of the tests, for all workers, of which each would do all."""
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))[number::count]:
        folder = rewrite.get_cache_dir(path)
        rewrite.try_makedirs(folder)
        kept = folder / (path.stem + rewrite.PYC_TAIL)
        if rewrite._read_pyc(path, kept) is None:
            source, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, kept)


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
