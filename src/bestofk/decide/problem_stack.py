"""Many tables of one design, grouped by the test call that can take them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk.decide.best import NO_LEARNER, Best
from bestofk.decide.choose_test import Choice, choose_test
from bestofk.decide.evidence import Family
from bestofk.decide.gather import PairColumns, pairs_of_tables
from bestofk.decide.preference import Ints, Name
from bestofk.decide.problem import Problem, sample_of

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


class StackSettings(NamedTuple):
    """The settings of a decision, with the defaults of its procedure filled in."""

    test: Any
    alpha: float
    correction: str
    family: str = "all"
    control: Name | None = None
    margin: float | None = None
    df: Any = None
    random_state: Any = 0
    test_arguments: Mapping[str, Any] = {}

    def chosen(self, problem: Problem, *, one_sided: bool) -> Choice:
        """Return the test for one table."""
        return choose_test(
            problem, self.test, one_sided=one_sided, df=self.df,
            random_state=self.random_state, **self.test_arguments,
        )  # fmt: skip


class TablesOfTest(NamedTuple):
    """Tables that one call of one test takes."""

    tables: Ints
    family: Family
    choice: Choice

    def against_preferred(self) -> tuple[Any, ...]:
        """Return the cache key of the one-sided p-values (B, P) of all pairs."""
        facts = tuple(map(repr, self.choice.arguments.items()))
        return "greater", self.choice.function, facts, self.tables.tobytes()


def groups_of(
    stack: ProblemStack, settings: StackSettings, *, one_sided: bool
) -> Iterator[TablesOfTest]:
    """Yield groups of tables whose pairs one test call can take.

    The arguments and the automatic choice of a test depend on facts about a table, such as the
    step of its losses: tables with the same facts share a call. Tables of a test that draws, and
    losses whose squares leave the range of floating point, have calls of their own.
    """
    if settings.control is not None:
        at = np.argmax(stack.places == stack.names.index(settings.control), axis=1)
        families = {place: _family(stack, settings, place) for place in np.unique(at).tolist()}
    else:
        at = np.zeros(len(stack), dtype=np.int64)
        families = {0: _family(stack, settings, None)}
    alone = _stay_alone(stack)
    first = settings.chosen(stack.one(0), one_sided=one_sided)
    varies = _varies(first, settings.test)
    random = first.entry is not None and first.entry.takes("random_state")
    if not (varies or random or alone.any()):
        for place, family in families.items():
            yield TablesOfTest(np.flatnonzero(at == place), family, first)
        return
    grouped: dict[tuple[Any, ...], tuple[Choice, list[int]]] = {}
    for table, place in enumerate(at.tolist()):
        choice = first
        if varies and table:
            choice = settings.chosen(stack.one(table), one_sided=one_sided)
            random = choice.entry is not None and choice.entry.takes("random_state")
        key: tuple[Any, ...] = (place, choice.name, tuple(map(repr, choice.arguments.items())))
        if random or alone[table]:
            key = (*key, table)
        grouped.setdefault(key, (choice, []))[1].append(table)
    for (place, *_), (choice, tables) in grouped.items():
        yield TablesOfTest(np.array(tables), families[place], choice)


def _family(stack: ProblemStack, settings: StackSettings, control: int | None) -> Family:
    return Family(
        name=settings.family,
        learners=stack.learners,
        alpha=settings.alpha,
        correction=settings.correction,
        control=control,
    )


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

    def write(self, tables: Ints, pairs: PairColumns, family: Family) -> None:
        """Write the results of the pairs of some tables."""
        first, second = family.pairs()
        self.claims[tables] = pairs.claims(family)
        for square, column in (
            (self.pvalue, pairs.pvalue),
            (self.adjusted_pvalue, pairs.adjusted_pvalue),
        ):
            square[tables[:, np.newaxis], first, second] = column
            if family.alternative == "two-sided":
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


def tested_many(stack: ProblemStack, settings: StackSettings) -> Decided:
    """Test the pairs of the family in every table, without deciding."""
    decided = untested(len(stack), stack.learners)
    groups = groups_of(stack, settings, one_sided=settings.family == "preference")
    return decided._replace(tests=distinct(judge_group(stack, group, decided) for group in groups))


def judge_group(stack: ProblemStack, group: TablesOfTest, decided: Decided) -> str:
    """Write the results of the pairs of some tables into `decided`; return the test's name."""
    tables, family, choice = group
    some = stack.rows(tables)
    pairs = pairs_of_tables(choice, some.sample(choice.axes), some.means, family)
    if family.name == "preference":
        stack.cache[group.against_preferred()] = pairs.pvalue
    decided.write(tables, pairs, family)
    return choice.name


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return every name once, in the order in which they come."""
    return tuple(dict.fromkeys(names))
