"""Many tables of one design, grouped by the test call that can take them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk.decide.best import Best
from bestofk.decide.choose_test import Choice
from bestofk.decide.decision import NO_LEARNER, Ruled
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.pairs import chosen_test, compare_pairs
from bestofk.decide.preference import Ints, Name
from bestofk.decide.problem import Problem, sample_of
from bestofk.decide.settings import Settings

_SQUARES_FIT = (1e-100, 1e100)
"""Losses of other sizes are tested in another unit, which must not be that of another table."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemStack:
    """B tables of losses of the same learners, each in its order of preference.

    `values` is (B, K, runs, folds) or (B, K, data sets); `places` (B, K) holds the
    learner at each position. `like` is the problem of one of the tables; all of them have its
    design and preference.
    """

    values: Floats
    means: Floats
    """(B, K): mean loss of every learner of every table."""
    places: Ints
    names: tuple[Name, ...]
    like: Problem
    subset_values: Floats | None = None
    fold_values: Floats | None = None
    """(B, K, data sets, runs, folds), if there are several data sets."""
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)
    """Results that several procedures share."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def learners(self) -> int:
        """K."""
        return int(self.values.shape[1])

    def one(self, table: int) -> Problem:
        """Return the problem of one table."""
        parts, folds = self.subset_values, self.fold_values
        return replace(
            self.like,
            values=self.values[table],
            names=tuple(self.names[k] for k in self.places[table].tolist()),
            losses=None,
            subset_values=None if parts is None else parts[table],
            fold_values=None if folds is None else folds[table],
        )

    def rows(self, tables: Any) -> ProblemStack:
        """Return some of the tables."""
        if isinstance(tables, np.ndarray) and len(tables) == len(self):
            return self
        parts, folds = self.subset_values, self.fold_values
        return replace(
            self,
            values=self.values[tables],
            means=self.means[tables],
            places=self.places[tables],
            subset_values=None if parts is None else parts[tables],
            fold_values=None if folds is None else folds[tables],
            cache={},
        )

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the cached value of the key, computed at the first call."""
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    def sample(self, axes: int) -> Floats:
        """Return (B, K, n), (B, K, runs, folds) or (B, K, data sets, runs, folds)."""
        if axes == 3 and self.fold_values is not None:
            return self.fold_values
        B, K = self.values.shape[:2]
        parts = self.subset_values
        flat = sample_of(
            self.values.reshape(B * K, *self.values.shape[2:]),
            None if parts is None else parts.reshape(B * K, *parts.shape[2:]),
            axes,
        )
        return flat.reshape(B, K, *flat.shape[1:])


class TablesOfTest(NamedTuple):
    """Tables that one call of one test takes."""

    tables: Ints
    family: Family
    choice: Choice

    def against_preferred(self) -> tuple[Any, ...]:
        """Return the cache key of the one-sided p-values (B, P) of all pairs."""
        return "greater", self.choice.function, _facts(self.choice), self.tables.tobytes()


def groups_of(stack: ProblemStack, settings: Settings) -> Iterator[TablesOfTest]:
    """Yield groups of tables whose pairs one test call can take.

    The arguments and the automatic choice of a test depend on facts about a table, such as the
    step of its losses: tables with the same facts share a call. Tables of a test that draws, and
    losses whose squares leave the range of floating point, have calls of their own.
    """
    family, first, _ = chosen_test(stack.one(0), settings)
    at = np.full(len(stack), -1)
    if family.control is not None:
        at = np.argmax(stack.places == stack.names.index(settings.control), axis=1)
    alone = _stay_alone(stack)
    varies = _varies(first, settings.test)
    grouped: dict[tuple[Any, ...], tuple[Choice, list[int]]] = {}
    choice, facts = first, _facts(first)
    for table, place in enumerate(at.tolist()):
        if varies and table:
            choice = chosen_test(stack.one(table), settings).choice
            facts = _facts(choice)
        random = choice.entry is not None and choice.entry.takes("random_state")
        key = (place, facts, table if random or alone[table] else None)
        grouped.setdefault(key, (choice, []))[1].append(table)
    for (place, *_), (choice, tables) in grouped.items():
        control = None if place < 0 else place
        yield TablesOfTest(np.array(tables), replace(family, control=control), choice)


def _facts(choice: Choice) -> tuple[str, ...]:
    """Return all that distinguishes two choices."""
    return choice.name, *map(repr, choice.arguments.items())


def _varies(choice: Choice, test: Any) -> bool:
    """Return whether the choice looks at the losses of a table, and not at their design alone."""
    entry = choice.entry
    if entry is None:
        return False
    return bool(test == "auto" or entry.takes("resolution") or entry.zero_one or entry.widened)


def _stay_alone(stack: ProblemStack) -> Any:
    """Return (B,): some losses are so large or small that they need another unit."""
    parts = [stack.values] if stack.subset_values is None else [stack.values, stack.subset_values]
    odd = np.zeros(len(stack), dtype=bool)
    low, high = _SQUARES_FIT
    for part in parts:
        sizes = np.abs(part)
        if sizes.max() < high and np.logical_or(sizes > low, sizes == 0.0).all():
            continue
        largest = sizes.reshape(len(stack), stack.learners, -1).max(axis=2)
        odd |= ((largest != 0.0) & ~((low < largest) & (largest < high))).any(axis=1)
    return odd


class Decided(NamedTuple):
    """Decisions on B tables of K learners, by their positions in the order of preference.

    `order` (B, K) is best first, `NO_LEARNER` at positions that a procedure leaves open.
    `claims[b, i, j]`: i is shown to be better than j. `pvalue` and `adjusted_pvalue` (B, K, K)
    are NaN for pairs that were not tested. `tests` are the tests that were used. `best` is the
    statement about the best, if the procedure makes one.
    """

    recommended: Ints
    order: Ints
    claims: Bools
    pvalue: Floats
    adjusted_pvalue: Floats
    tests: tuple[str, ...]
    best: Best | None = None

    def write(self, tables: Ints, evidence: Evidence) -> None:
        """Write the results of the pairs of some tables."""
        first, second = evidence.first, evidence.second
        self.claims[tables] = evidence.shown()
        for square, column in (
            (self.pvalue, evidence.pvalue),
            (self.adjusted_pvalue, evidence.adjusted_pvalue),
        ):
            square[tables[:, np.newaxis], first, second] = column
            if evidence.alternative == "two-sided":
                square[tables[:, np.newaxis], second, first] = column

    def with_order(self, order: Ints, recommended: Ints | None = None) -> Decided:
        """Return the evidence with an order; recommend its first learner by default."""
        return self._replace(
            order=order, recommended=order[:, 0] if recommended is None else recommended
        )


def untested(tables: int, learners: int, *tests: str) -> Decided:
    """Return decisions without claims and recommendations."""
    square = (tables, learners, learners)
    return Decided(
        recommended=np.full(tables, NO_LEARNER),
        order=np.full((tables, learners), NO_LEARNER),
        claims=np.zeros(square, dtype=bool),
        pvalue=np.full(square, np.nan),
        adjusted_pvalue=np.full(square, np.nan),
        tests=tests,
    )


def only(recommended: Ints, learners: int) -> Ints:
    """Return (B, K): an order that holds the recommended learner alone."""
    order = np.full((len(recommended), learners), NO_LEARNER)
    order[:, 0] = recommended
    return order


def decide_groups(
    stack: ProblemStack, settings: Settings, rule: Callable[[Evidence, bool, float | None], Ruled]
) -> Decided:
    """Test the pairs of every table, and apply the rule of a procedure to them."""
    B, K = len(stack), stack.learners
    decided, best, tests = untested(B, K), None, []
    for group in groups_of(stack, settings):
        tables, family, choice = group
        some = stack.rows(tables)
        evidence = compare_pairs(choice, family, some.sample(choice.axes), some.means)
        ruled = rule(evidence, stack.like.preference.stated, settings.margin)
        decided.recommended[tables], decided.order[tables] = ruled.recommended, ruled.order
        if ruled.best is not None:
            if best is None:
                best = Best(*(np.empty((B, *part.shape[1:]), part.dtype) for part in ruled.best))
            for whole, part in zip(best, ruled.best, strict=True):
                whole[tables] = part
        if family.of_best:
            pairs = replace(family, name="all", correction=settings.used_correction)
            evidence = evidence.of_family(pairs)
        elif family.name == "preference":
            stack.cache[group.against_preferred()] = evidence.pvalue
        decided.write(tables, evidence)
        tests.append(choice.name)
    return decided._replace(tests=distinct(tests), best=best)


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return every name once, in the order in which they come."""
    return tuple(dict.fromkeys(names))
