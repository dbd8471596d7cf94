"""The worked example of hypothesis spaces: four Boolean attributes, one target, disjunctions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.bool_]

ATTRIBUTES = 4


def instance_space() -> Bits:
    """All instances of four Boolean attributes, in the order of Table 3, shape (16, 4).

    Examples
    --------
    >>> instance_space()[[0, 1, 15]].astype(int).tolist()
    [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    """
    places = np.arange(2**ATTRIBUTES)[:, np.newaxis]
    return (places >> np.arange(ATTRIBUTES)[::-1] & 1).astype(np.bool_)


def target(x: Bits) -> Bits:
    """f(x) = (x1 and x2) xor (x3 or x4), row by row.

    Examples
    --------
    >>> target(instance_space()).astype(int).tolist()
    [0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0]
    """
    return np.asarray((x[:, 0] & x[:, 1]) ^ (x[:, 2] | x[:, 3]))


def disjunctions() -> tuple[tuple[int, ...], ...]:
    """The hypotheses of *a-simple*: two or more attributes joined by "or", as in Table 2.

    Examples
    --------
    >>> len(disjunctions()), disjunctions()[3], disjunctions()[-1]
    (11, (1, 2), (0, 1, 2, 3))
    """
    return tuple(
        chosen
        for size in range(2, ATTRIBUTES + 1)
        for chosen in combinations(range(ATTRIBUTES), size)
    )


def words(hypothesis: tuple[int, ...]) -> str:
    """``x2 or x3``.

    Examples
    --------
    >>> words((1, 2))
    'x2 or x3'
    """
    return " or ".join(f"x{place + 1}" for place in hypothesis)


def consistent(hypotheses: tuple[tuple[int, ...], ...], x: Bits, y: Bits) -> tuple[int, ...]:
    """Places of the hypotheses that give every row of `x` its label.

    Examples
    --------
    >>> x = instance_space()[[2, 3, 3, 8, 12]]
    >>> found = consistent(disjunctions(), x, target(x))
    >>> [(place + 1, words(disjunctions()[place])) for place in found]
    [(4, 'x2 or x3'), (10, 'x2 or x3 or x4')]
    """
    said = np.stack([x[:, list(chosen)].any(axis=1) for chosen in hypotheses])
    return tuple(np.flatnonzero((said == y).all(axis=1)).tolist())


def mistakes(hypothesis: tuple[int, ...]) -> int:
    """On how many of the 16 instances the hypothesis differs from the target.

    Examples
    --------
    >>> mistakes((1, 2)), mistakes((1, 2, 3))
    (6, 4)
    """
    x = instance_space()
    return int((x[:, list(hypothesis)].any(axis=1) != target(x)).sum())


def targets_left(x: Bits, y: Bits) -> int:
    """How many of the 2^16 Boolean functions give every row of `x` its label, counted out.

    Examples
    --------
    Five labelled instances, two of them the same one: the text says 2^(16 - 5) = 2048.

    >>> x = instance_space()[[2, 3, 3, 8, 12]]
    >>> targets_left(x, target(x))
    4096
    """
    functions = np.arange(2 ** (2**ATTRIBUTES), dtype=np.int64)[:, np.newaxis]
    places = x @ (1 << np.arange(ATTRIBUTES)[::-1])
    return int(((functions >> places & 1) == y).all(axis=1).sum())
