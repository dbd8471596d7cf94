"""Measure two sides in turn, and compute their ratio."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

Row = tuple[str, float, float, float]
"""Name, ratio (above 1: bestofk is faster), seconds of bestofk, seconds of the peer."""


def turns(
    *sides: Callable[[], object],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
    warm_up: bool = True,
) -> list[list[float]]:
    """Return the seconds of every side in every round, after one turn that does not count."""
    for side in sides if warm_up else ():
        side()
    seconds: list[list[float]] = [[] for _ in sides]
    for number in range(rounds):
        # alternate the order, so that a busy moment hits all sides
        for index in range(len(sides)) if number % 2 else reversed(range(len(sides))):
            begin = clock()
            sides[index]()
            seconds[index].append(clock() - begin)
    return seconds


def row(name: str, ours: list[float], peer: list[float]) -> Row:
    """Return the median ratio of the rounds and the median seconds of both sides."""
    ratio = median(theirs / own for own, theirs in zip(ours, peer, strict=True))
    return name, ratio, median(ours), median(peer)


def best(
    call: Callable[[], object],
    *,
    times: int,
    clock: Callable[[], float] = time.process_time,
    warm_up: bool = True,
) -> float:
    """Return the least seconds of several calls, after one that does not count."""
    if warm_up:
        call()
    seconds = []
    for _ in range(times):
        begin = clock()
        call()
        seconds.append(clock() - begin)
    return min(seconds)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, and ignore warnings."""
    import sklearn.ensemble  # noqa: F401  (libraries that are loaded later would not be limited)
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        yield
