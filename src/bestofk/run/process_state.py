"""The state of a process that fits need or change: threads, folder and environment.

BLAS and OpenMP add numbers in an order that depends on the number of threads. Every fit therefore
has the same number of threads in every process, so that results are bit-for-bit identical.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


def thread_environment(threads: int) -> dict[str, str]:
    """Return the environment variables that limit libraries to `threads` threads.

    Examples
    --------
    >>> thread_environment(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys(VARIABLES, str(threads))


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Limit the threads of all libraries in this process, and restore them afterwards."""
    known, modules = _libraries(tuple(sys.modules)), len(sys.modules)
    try:
        with changed_environment(thread_environment(threads)), known.limit(limits=threads):
            yield
    finally:
        if len(sys.modules) > modules:
            _release({library.filepath for library in known.lib_controllers})


@lru_cache(maxsize=1)
def _libraries(modules: tuple[str, ...]) -> ThreadpoolController:  # noqa: ARG001
    """Find the loaded libraries, which takes milliseconds, once while no module is imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _release(known: set[str]) -> None:
    """Give libraries that were loaded meanwhile their default number of threads."""
    for library in _libraries(tuple(sys.modules)).lib_controllers:
        if library.filepath not in known:
            default = os.environ.get("OMP_NUM_THREADS", "")
            library.set_num_threads(int(default) if default.isdigit() else os.cpu_count() or 1)


@contextmanager
def changed_environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def restored_process_state() -> Iterator[None]:
    """Restore the environment and the working folder after a fit."""
    environment, folder = dict(os.environ), None
    with contextlib.suppress(OSError):
        # the working folder may be gone
        folder = os.getcwd()  # noqa: PTH109
    try:
        yield
    finally:
        if os.environ != environment:
            os.environ.clear()
            os.environ.update(environment)
        with contextlib.suppress(OSError):
            if folder is not None:
                os.chdir(folder)
