"""What a procedure decides on every table of a stack, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bestofk.checks import Bools, Floats, Ints
from bestofk.ordering.evidence.gather import pairs_of_tables
from bestofk.ordering.evidence.problem_stack import Asked, ProblemStack, TablesOfTest, groups_of

NOBODY = -1
"""The place of a learner that was not found."""


class Decided(NamedTuple):
    """Decisions on B tables of K learners, by their places in the order of preference.

    `order` (B, K) is best first, `NOBODY` where a procedure orders no more; `recommended` (B,).
    `claims[b, i, j]`: i is shown to be better than j. `pvalue` and `adjusted_pvalue` (B, K, K)
    are NaN for pairs that were not tested. `tests` are the tests that were used.
    """

    recommended: Ints
    order: Ints
    claims: Bools
    pvalue: Floats
    adjusted_pvalue: Floats
    tests: tuple[str, ...]

    def with_order(self, order: Ints, recommended: Ints | None = None) -> Decided:
        """The same evidence with an order; recommended is its first unless told otherwise."""
        return self._replace(
            order=order, recommended=order[:, 0] if recommended is None else recommended
        )


def untested(tables: int, learners: int, *tests: str) -> Decided:
    """Nothing claimed and nobody recommended."""
    square = (tables, learners, learners)
    return Decided(
        recommended=np.full(tables, NOBODY),
        order=np.full((tables, learners), NOBODY),
        claims=np.zeros(square, dtype=bool),
        pvalue=np.full(square, np.nan),
        adjusted_pvalue=np.full(square, np.nan),
        tests=tests,
    )


def only(recommended: Ints, learners: int) -> Ints:
    """(B, K): an order that holds the recommended learner alone."""
    order = np.full((len(recommended), learners), NOBODY)
    order[:, 0] = recommended
    return order


def tested_many(stack: ProblemStack, asked: Asked) -> Decided:
    """The pairs of the family tested in every table; nothing is decided yet."""
    found = untested(len(stack), stack.learners)
    groups = groups_of(stack, asked, one_sided=asked.family == "prior")
    return found._replace(tests=distinct(judge_group(stack, group, found) for group in groups))


def judge_group(stack: ProblemStack, group: TablesOfTest, found: Decided) -> str:
    """Write what the test says of the pairs of some tables into `found`; the name of the test."""
    tables, family, choice = group
    some = stack.rows(tables)
    pairs = pairs_of_tables(choice, some.sample(choice.axes), some.means, family)
    if family.name == "prior":
        stack.found[group.against_preferred()] = pairs.pvalue
    first, second = family.pairs()
    found.claims[tables] = pairs.claims(family)
    for square, column in (
        (found.pvalue, pairs.pvalue),
        (found.adjusted_pvalue, pairs.adjusted_pvalue),
    ):
        square[tables[:, np.newaxis], first, second] = column
        if family.alternative == "two-sided":
            square[tables[:, np.newaxis], second, first] = column
    return choice.name


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Every name once, in the order in which they come."""
    return tuple(dict.fromkeys(names))
