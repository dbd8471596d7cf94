"""The folds: random halves, shared by all learners or each learner's own.

The printed standard deviations tell that the paper's learners did not share their folds: the
logistic model ran on its own, stratified halves, and C4.5 on its own halves from the second
replication on (its draws for pruning moved the generator). That is the design ``"own"``; sound
comparisons use ``"shared"``.
"""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bestofk.data.encoded import Codes

REPLICATIONS = 5
DESIGNS = ("own", "shared")
Marks = npt.NDArray[np.bool_]

_SHARED, _STRATIFIED, _OWN, _LEARNER = range(4)


def halves(
    name: str, y: Codes, learner: str, design: str, runs: range, seed: int
) -> tuple[Marks, npt.NDArray[np.uint32]]:
    """Which rows are in the second half, and seeds for what the learner draws.

    Parameters
    ----------
    name : str
        The data set: part of what fixes the draws, so that data sets are independent.
    y : array (n,)
        Class codes.
    learner : str
        One of the five.
    design : str
        ``"own"`` or ``"shared"``.
    runs : range
        Which runs; the halves of a run do not depend on the others.
    seed : int
        Fixes all draws.

    Returns
    -------
    marks : array (runs * 5, n) of bool
        Fold 1 tests the rows that are True, fold 0 the others.
    seeds : array (runs * 5, 2)
        One for each fit.
    """
    n = len(y)
    streams = [[seed, crc32(name.encode()), run] for run in runs]
    if design == "own" and learner == "LGC":
        found = [
            _stratified(np.random.default_rng([*stream, _STRATIFIED]), y) for stream in streams
        ]
        marks = np.stack(found)
    else:
        marks = _shared(name, n, runs, seed)
        if design == "own" and learner == "C4.5":
            marks = marks.copy()
            for place, stream in enumerate(streams):
                own = _random(np.random.default_rng([*stream, _OWN]), n)
                marks[place, 1:] = own[1:]
    seeds = np.empty((len(runs), REPLICATIONS, 2), dtype=np.uint32)
    for place, stream in enumerate(streams):
        draws = np.random.default_rng([*stream, _LEARNER, crc32(learner.encode())])
        seeds[place] = draws.integers(0, 2**32, size=(REPLICATIONS, 2), dtype=np.uint32)
    return marks.reshape(-1, n), seeds.reshape(-1, 2)


@lru_cache(maxsize=2)
def _shared(name: str, n: int, runs: range, seed: int) -> Marks:
    """The halves that learners share, (runs, replications, n); drawn once for all of them."""
    stream = seed, crc32(name.encode())
    drawn = [_random(np.random.default_rng([*stream, run, _SHARED]), n) for run in runs]
    marks = np.stack(drawn)
    marks.flags.writeable = False
    return marks


def _random(rng: np.random.Generator, n: int) -> Marks:
    """Halves of all rows, for each replication."""
    marks = np.zeros((REPLICATIONS, n), dtype=bool)
    marks[:, n // 2 :] = True
    return rng.permuted(marks, axis=1)


def _stratified(rng: np.random.Generator, y: Codes) -> Marks:
    """Halves that hold equally many of each class, but for one: shuffled rows dealt by class."""
    marks = np.zeros((REPLICATIONS, len(y)), dtype=bool)
    y = y.astype(np.min_scalar_type(int(y.max())))  # few bits are sorted fast
    for replication in range(REPLICATIONS):
        shuffled = rng.permutation(len(y))
        dealt = shuffled[np.argsort(y[shuffled], kind="stable")]
        marks[replication, dealt[1::2]] = True
    return marks
