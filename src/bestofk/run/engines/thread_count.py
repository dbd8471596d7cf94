"""One number of threads in every fit, in whichever process: bits of sums depend on it.

Libraries that compute with several threads (BLAS, OpenMP) add in another order for another number
of threads. So the number is set, for those that are loaded and for those that a fit will load.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

ResultT = TypeVar("ResultT")

VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_HELD: ContextVar[int | None] = ContextVar("_HELD", default=None)
"""The number that is set already, by a run of several rounds."""


def thread_environment(threads: int) -> dict[str, str]:
    """The environment in which libraries start with so many threads.

    Examples
    --------
    >>> thread_environment(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys(VARIABLES, str(threads))


def limited(
    results: Generator[ResultT, None, None], threads: int
) -> Generator[ResultT, None, None]:
    """The same results, obtained with so many threads in this process."""
    with limited_threads(threads):
        try:
            yield from results
        finally:
            results.close()


@contextmanager
def held_threads(threads: int) -> Iterator[None]:
    """So many threads for several runs, none of which need set them again."""
    with limited_threads(threads):
        token = _HELD.set(threads)
        try:
            yield
        finally:
            _HELD.reset(token)


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """So many threads in every library of this process; afterwards all is as before.

    Setting them takes milliseconds, so it is done once for a whole run, or for all its rounds.
    """
    if _HELD.get() == threads:
        yield
        return
    from threadpoolctl import ThreadpoolController

    before = {name: os.environ.get(name) for name in VARIABLES}
    known = ThreadpoolController()
    os.environ.update(thread_environment(threads))
    try:
        with known.limit(limits=threads):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _release({one.filepath for one in known.lib_controllers})


def _release(known: set[str]) -> None:
    """Libraries that were loaded meanwhile get the threads that they would have started with."""
    from threadpoolctl import ThreadpoolController

    for one in ThreadpoolController().lib_controllers:
        if one.filepath not in known:
            wanted = os.environ.get("OMP_NUM_THREADS", "")
            one.set_num_threads(int(wanted) if wanted.isdigit() else os.cpu_count() or 1)
