"""Apply a pairwise test to all pairs i < j of K learners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Alternative, Floats, finite_array, one_of, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.adjust import pair_indices
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

_MAX_ROWS_AT_ONCE = 32
_MAX_LOSSES_AT_ONCE = 1 << 24
_FIELDS = ("statistic", "pvalue", "estimate", "direction")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPairs:
    """Evidence about every pair i < j, as condensed arrays in the order of (i, j).

    Attributes
    ----------
    test, alternative : str
        The test and its alternative; ``"greater"``: the loss of learner i is greater.
    learners : int
        Number of learners K.
    i, j : ndarray of int, shape (K (K - 1) / 2,)
        The two learners of each pair.
    statistic, pvalue, estimate : ndarray, shape (K (K - 1) / 2, ...)
        As in `PairwiseResult`.
    direction : ndarray, shape (K (K - 1) / 2, ...)
        Positive if the statistic is evidence for a greater loss of learner i.
    low, high : ndarray or None
        Intervals of the differences, if a level was given and the test has them.
    """

    test: str
    alternative: Alternative
    learners: int
    i: npt.NDArray[np.intp]
    j: npt.NDArray[np.intp]
    statistic: Floats
    pvalue: Floats
    estimate: Floats
    direction: Floats
    low: Floats | None = None
    high: Floats | None = None


def all_pairs(
    test_function: str | Callable[..., Any],
    losses: Any,
    *,
    alternative: str = "two-sided",
    level: float | None = None,
    **arguments: Any,
) -> AllPairs:
    """Run one pairwise test on every pair i < j of K learners.

    Test, for every pair, the null hypothesis of the pairwise test.

    Parameters
    ----------
    test_function : str or callable
        Name in the registry of pairwise tests, or a function of this package.
    losses : array_like, shape (K, ...)
        The first axis holds the learners; the others are the axes of the test.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of learner i is greater.
    level : float, optional
        Level of the intervals to compute.
    **arguments
        Passed to the test, such as ``n_train``.

    Returns
    -------
    AllPairs

    Notes
    -----
    Learners are tested in blocks, so that memory holds the result and one block only.

    References
    ----------
    O. T. Yildiz and E. Alpaydin (2006). Ordering and finding the best of K > 2 supervised
    learning algorithms. IEEE Transactions on Pattern Analysis and Machine Intelligence 28,
    392-402. doi:10.1109/TPAMI.2006.61

    Examples
    --------
    >>> losses = [[0.30, 0.25, 0.28], [0.26, 0.24, 0.23], [0.31, 0.27, 0.30]]
    >>> pairs = all_pairs("kfold-t", losses)
    >>> [(int(i), int(j), round(float(p), 4)) for i, j, p in zip(pairs.i, pairs.j, pairs.pvalue)]
    [(0, 1, 0.1091), (0, 2, 0.0377), (1, 2, 0.0494)]
    """
    sides: Alternative = side(alternative)
    array = finite_array(losses, "losses", min_ndim=2)
    K = len(array)
    if K < 2:
        raise ArgumentError(f"losses must have at least 2 learners on the first axis; got {K}.")
    if isinstance(test_function, str):
        entry = PAIRWISE_TESTS[test_function]
        one_of(alternative, f"alternative of {entry.name}", entry.sides)
        function, arguments = entry.load(), {**entry.arguments, **arguments}
        name = entry.name
    else:
        function, name = test_function, getattr(test_function, "__name__", "test")
    # a block compares some learners with all after the first of them
    step = max(1, min(_MAX_ROWS_AT_ONCE, K // 16, _MAX_LOSSES_AT_ONCE // array.size))
    # if a learner has many losses, the others come in parts
    width = max(1, _MAX_LOSSES_AT_ONCE // (step * array[0].size))
    blocks = [
        (array[start : min(start + step, K - 1)], array[first : first + width])
        for start in range(0, K - 1, step)
        for first in range(start + 1, K, width)
    ]
    parts: dict[str, list[Floats]] = {}
    for rows, others in blocks:
        result = function(rows[:, np.newaxis], others[np.newaxis], alternative=sides, **arguments)
        fields = {name: getattr(result, name, None) for name in _FIELDS}
        if level is not None:
            try:
                fields |= result.confidence_interval(level)._asdict()
            except (ArgumentError, AttributeError):
                level = None
        for field, values in fields.items():
            if values is not None:
                block = np.asarray(values)
                parts.setdefault(field, []).extend(block[k, k:] for k in range(len(rows)))
    columns = {field: np.concatenate(values) for field, values in parts.items()}
    i, j = pair_indices(K)
    # a missing direction is the sign of the estimate
    columns.setdefault("direction", columns["estimate"])
    return AllPairs(test=name, alternative=sides, learners=K, i=i, j=j, **columns)
