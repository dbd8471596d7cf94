"""Order statistics of the Walsh averages (x_i + x_j) / 2, i <= j."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats

_LISTED_UP_TO = 1000
_LISTED_AT_ONCE = 1 << 21


def walsh_averages_at(ordered: Floats, places: tuple[int, int]) -> tuple[Floats, Floats]:
    """Two order statistics of the Walsh averages of every column of ascending numbers.

    Examples
    --------
    >>> low, high = walsh_averages_at(np.array([[0.0, 1.0], [1.0, 2.0], [4.0, 3.0]]), (0, 3))
    >>> low.tolist(), high.tolist()
    ([0.0, 1.0], [2.0, 2.0])
    """
    n, columns = ordered.shape
    found = np.empty((2, columns))
    if n > _LISTED_UP_TO:
        for column in range(columns):
            found[:, column] = [nth_walsh_average(ordered[:, column], k) for k in places]
        return found[0], found[1]
    i, j = np.triu_indices(n)
    step = max(1, _LISTED_AT_ONCE // len(i))
    for start in range(0, columns, step):
        rows = np.ascontiguousarray(ordered[:, start : start + step].T)
        averages = (rows[:, i] + rows[:, j]) / 2
        averages.partition(sorted(places), axis=1)
        found[:, start : start + step] = averages[:, list(places)].T
    return found[0], found[1]


def nth_walsh_average(ordered: Floats, rank: int) -> float:
    """The Walsh average with `rank` smaller or equal ones before it, of ascending numbers.

    Few numbers have all their averages listed; of many, the value is found by bisection, which
    counts the averages below a bound in O(n log n) and so needs no n^2 numbers in memory.

    Examples
    --------
    >>> [nth_walsh_average(np.array([0.0, 1.0, 4.0]), k) for k in range(6)]
    [0.0, 0.5, 1.0, 2.0, 2.5, 4.0]
    """
    n = len(ordered)
    if n <= _LISTED_UP_TO:
        i, j = np.triu_indices(n)
        averages = (ordered[i] + ordered[j]) / 2
        return float(np.partition(averages, rank)[rank])
    low, high = float(ordered[0]), float(ordered[-1])
    position = np.arange(n)
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        # pairs j >= i with x_j <= 2 middle - x_i
        below = np.searchsorted(ordered, 2 * middle - ordered, side="right") - position
        if int(np.maximum(below, 0).sum()) > rank:
            high = middle
        else:
            low = middle
    return high
