"""Compact letters: two learners share a letter exactly when they do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.multiple.sentences import learner_names
from bestofk.presenting import Presented, open_level
from bestofk.wording import shortened

__all__ = ["CompactLetters", "compact_letters"]

_MOST_COLUMNS = 400
"""Insert-and-absorb may need exponentially many columns; beyond these a greedy cover does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactLetters(Presented):
    """Letters of K learners.

    Attributes
    ----------
    groups : tuple of tuple of int
        The learners that have each letter, by their places in `order`; no two of them differ.
    letters : tuple of str
        The letter of each group: a to z, A to Z, then a1, b1, and so on.
    order : tuple of int
        The order in which letters were given out, best first.
    """

    groups: tuple[tuple[int, ...], ...]
    letters: tuple[str, ...]
    order: tuple[int, ...]

    def of(self, learner: int) -> tuple[str, ...]:
        """The letters of one learner."""
        return tuple(
            letter
            for letter, group in zip(self.letters, self.groups, strict=True)
            if learner in group
        )

    def _columns(self) -> dict[str, Any]:
        """One row per learner, best first."""
        return {
            "learner": self.order,
            "letters": ["".join(self.of(learner)) for learner in self.order],
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The letters in sentences, ready to print.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the K learners.
        alpha : float, optional
            Has no effect: which pairs differ was said before.
        """
        open_level(alpha)
        named = learner_names(names, len(self.order))
        told = [f"{named[k]} ({''.join(self.of(k))})" for k in self.order]
        return f"Learners that share a letter do not differ significantly: {shortened(told)}."


def compact_letters(
    different: npt.ArrayLike, *, order: Sequence[int] | None = None
) -> CompactLetters:
    """Give letters to K learners such that two share one exactly when they do not differ.

    Parameters
    ----------
    different : array_like of bool, shape (K, K)
        Which pairs differ significantly; symmetric, False on the diagonal.
    order : sequence of int, optional
        The learners, best first: earlier ones have earlier letters. As given by default.

    Returns
    -------
    CompactLetters

    Notes
    -----
    Insert and absorb: from one letter that all share, every pair that differs splits each letter
    that holds both in two, one without the first and one without the second; letters whose
    learners all have another letter besides are absorbed. Then, by sweeping, a letter that no
    pair needs is taken away.

    References
    ----------
    Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise
    comparisons. Journal of Computational and Graphical Statistics 13, 456-466.
    doi:10.1198/1061860043515

    Gramm, J., Guo, J., Hueffner, F., Niedermeier, R., Piepho, H.-P. and Schmid, R. (2008).
    Algorithms for compact letter displays: comparison and evaluation. Computational Statistics &
    Data Analysis 52, 725-736. doi:10.1016/j.csda.2006.09.035

    Examples
    --------
    Only the first and the last differ:

    >>> letters = compact_letters([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    >>> [letters.of(k) for k in range(3)]
    [('a',), ('a', 'b'), ('b',)]
    """
    matrix = np.asarray(different, dtype=bool)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"different must be a square matrix; got shape {matrix.shape}.")
    if (matrix != matrix.T).any() or matrix.diagonal().any():
        raise ArgumentError("different must be symmetric and False on the diagonal.")
    K = len(matrix)
    ranked = tuple(range(K)) if order is None else tuple(int(k) for k in order)
    if sorted(ranked) != list(range(K)):
        raise ArgumentError(f"order must hold each of {K} learners once; got {ranked!r}.")
    # bits of an int: bit r is the learner at rank r
    apart = matrix[np.ix_(ranked, ranked)]
    columns = _insert_and_absorb(apart)
    if columns is None:
        columns = _greedy_cover(apart)
    columns = _swept(columns, apart)
    members = sorted(tuple(r for r in range(K) if column >> r & 1) for column in columns)
    return CompactLetters(
        groups=tuple(tuple(ranked[r] for r in group) for group in members),
        letters=tuple(_letter(place) for place in range(len(members))),
        order=ranked,
    )


def _insert_and_absorb(apart: npt.NDArray[np.bool_]) -> list[int] | None:
    K = len(apart)
    columns = [(1 << K) - 1]
    for i, j in np.argwhere(np.triu(apart)).tolist():
        one, other = 1 << i, 1 << j
        both = one | other
        kept = [column for column in columns if column & both != both]
        split = {column & ~one for column in columns if column & both == both}
        split |= {column & ~other for column in columns if column & both == both}
        for column in sorted(split, key=int.bit_count, reverse=True):
            if not any(column & held == column for held in kept):
                kept.append(column)
        if len(kept) > _MOST_COLUMNS:
            return None
        columns = kept
    return columns


def _greedy_cover(apart: npt.NDArray[np.bool_]) -> list[int]:
    """Sets without differences that hold every pair without a difference, grown one by one."""
    K = len(apart)
    alike = [sum(1 << j for j in range(K) if j != i and not apart[i, j]) for i in range(K)]
    wanting = list(alike)
    columns: list[int] = []
    for i in range(K):
        while wanting[i] or not any(column >> i & 1 for column in columns):
            column, candidates = 1 << i, alike[i]
            while candidates:
                # first those whose pair with i is still without a letter
                choice = (candidates & wanting[i]) or candidates
                j = (choice & -choice).bit_length() - 1
                column |= 1 << j
                candidates &= alike[j]
            for j in range(K):
                if column >> j & 1:
                    wanting[j] &= ~column
            columns.append(column)
    return columns


def _swept(columns: list[int], apart: npt.NDArray[np.bool_]) -> list[int]:
    """Without the columns whose every pair (or lone learner) another column holds too."""
    K = len(apart)
    kept = sorted(columns, key=int.bit_count)
    for column in list(kept):
        rest = [other for other in kept if other is not column]
        covered = all(column & ~_joined(rest, r) == 0 for r in range(K) if column >> r & 1)
        if covered:
            kept = rest
    return kept


def _joined(columns: list[int], learner: int) -> int:
    """Everyone who shares a column with a learner, itself included where it has any."""
    found = 0
    for column in columns:
        if column >> learner & 1:
            found |= column
    return found


def _letter(place: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letter, turn = alphabet[place % len(alphabet)], place // len(alphabet)
    return letter if not turn else f"{letter}{turn}"
