"""Decide about many tables of losses at once, for simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints, finite_array
from bestofk._base.errors import ArgumentError
from bestofk._base.registry import resolve
from bestofk.decide.choose_test import Choice
from bestofk.decide.compare_scores import decide_problem
from bestofk.decide.decision import NO_LEARNER, Ruled
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.pairs import chosen_test, compare_pairs
from bestofk.decide.preference import (
    Name,
    PreferenceLike,
    preference_ranks,
    preferred_order,
)
from bestofk.decide.problem import (
    Problem,
    problem_from_array,
    problem_from_losses,
    refuse_wide_margin,
    values_of,
)
from bestofk.decide.registry import RULES
from bestofk.decide.settings import Settings, correction_of

if TYPE_CHECKING:
    from bestofk.splits.design import Design


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManyDecisions:
    """The decisions of a rule on B tables of K learners, which are numbered from 0.

    Attributes
    ----------
    recommended : (B,) array of int
        The learner to use; -1 if the rule finds none.
    ranking : (B, K) array of int
        Best first; -1 after the last that a rule orders.
    claims : (B, K, K) array of bool
        ``claims[b, i, j]``: i is shown to be better than j.
    edges : (B, K, K) array of bool
        ``edges[b, i, j]``: i is preferred, and j is shown to be better.
    pvalue, adjusted_pvalue : (B, K, K) arrays
        Of every pair, the same both ways round; in the family ``"preference"`` and for TestFirst
        only of H0: i, which is preferred, has at most the loss of j. NaN where nothing was tested.
    tests : tuple of str
        The tests that were used.
    candidates : (B, K) array of bool or None
        The learners that may be the best, if the rule says so.
    at_least, at_most : (B, K) arrays or None
        Bounds of how much worse than the best each learner is; NaN without a bound.
    """

    recommended: Ints
    ranking: Ints
    claims: Bools
    edges: Bools
    pvalue: Floats
    adjusted_pvalue: Floats
    tests: tuple[str, ...]
    candidates: Bools | None = None
    at_least: Floats | None = None
    at_most: Floats | None = None


def order_many(
    losses: Any,
    *,
    design: Design | None = None,
    learners: Sequence[str] | None = None,
    subset_values: Any = None,
    **options: Any,
) -> ManyDecisions:
    """Decide on many tables of losses at once, each as `compare_scores` does.

    Parameters
    ----------
    losses : array_like, shape (B, K, ...)
        B tables of complete losses of K learners. Trailing axes: (folds,), (runs, folds) or
        (data sets, runs, folds, repetitions). Or what `stack_tables` made of them, whose design,
        learners and preference then hold.
    design : Design, optional
        The design of every table. None: each table is a bare array.
    learners : sequence of str, optional
        The learners, if the preference or the control names them; by default the integers from 0.
    subset_values : array_like, optional
        Losses on parts of the rows (B, K, data sets, runs, folds, repetitions), of designs that
        have them.
    **options
        Those of `Settings`. A function given as `test` takes losses with any leading axes.

    Returns
    -------
    ManyDecisions
        Arrays over the tables.

    Notes
    -----
    A test is called once for all tables that it treats alike, which is what makes this fast; one
    that draws is called table by table.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((100, 3, 5, 2))
    >>> decisions = order_many(losses, prefer="listed")
    >>> np.bincount(decisions.recommended).tolist(), float(decisions.claims[:, 1, 0].mean())
    ([0, 100], 1.0)
    """
    settings = Settings(**options)
    stack = losses
    if not isinstance(stack, Problem):
        stack = stack_tables(
            losses,
            design=design,
            learners=learners,
            subset_values=subset_values,
            prefer=options.get("prefer"),
        )
    refuse_wide_margin(stack.table(0), settings.margin)
    entry = RULES[settings.rule]
    if entry.ruling:
        decided = ruled_groups(stack, settings, resolve(entry.ruling))
    elif entry.many:
        decided = resolve(entry.many)(stack, settings)
    else:
        decided = _one_by_one(stack, settings)
    return _collected(stack, settings, decided)


def stack_tables(
    losses: Any,
    *,
    design: Design | None = None,
    learners: Sequence[str] | None = None,
    subset_values: Any = None,
    prefer: PreferenceLike = None,
) -> Problem:
    """Prepare many tables with their design and preference once for several rules.

    Parameters
    ----------
    losses, design, learners, subset_values, prefer
        As for `order_many`, which takes the result in place of the losses.

    Returns
    -------
    Problem
        With a first axis of tables.
    """
    array = finite_array(losses, "losses", min_ndim=3)
    if array.ndim not in (3, 4, 6) or not len(array):
        raise ArgumentError(
            "losses must hold at least one table, with the axes (table, learner, fold), (table, "
            "learner, run, fold) or (table, learner, data set, run, fold, repetition); got shape "
            f"{array.shape}."
        )
    B, K = array.shape[:2]
    parts = None if subset_values is None else finite_array(subset_values, "subset_values")
    names: tuple[Name, ...] = tuple(range(K)) if learners is None else tuple(learners)
    if len(names) != K:
        raise ArgumentError(f"learners must name {K} learners; got {len(names)}.")
    like = _first_problem(array, design, names, parts)
    values = values_of(array) if array.ndim == 6 else array
    values = values.reshape(B, K, *like.values.shape[1:])
    ranks, preference, notes = preference_ranks(names, prefer)
    places = preferred_order(ranks, values.reshape(B, K, -1).mean(axis=2))
    ordered = np.arange(B)[:, np.newaxis], places
    if parts is not None and like.subset_values is not None:
        parts = parts[:, :, 0].mean(axis=4)[ordered]
    else:
        parts = None
    return replace(
        like,
        values=values[ordered],
        names=names,
        losses=None,
        preference=preference,
        notes=notes,
        subset_values=parts,
        fold_values=None if like.fold_values is None else array.mean(axis=5)[ordered],
        places=places,
    )


def _first_problem(array: Floats, design: Any, names: Sequence[Any], parts: Any) -> Problem:
    """Return the problem of the first table, learners as listed."""
    if design is None:
        return problem_from_array(array[0], prefer="listed")
    from bestofk.losses.losses import Scores

    dims = {
        3: ("learner", "fold"),
        4: ("learner", "run", "fold"),
        6: ("learner", "dataset", "run", "fold", "repetition"),
    }[array.ndim]
    table = Scores(
        array[0],
        dims=dims,
        learners=[str(name) for name in names],
        design=design,
        subset_values=None if parts is None else parts[0],
    )
    return problem_from_losses(table, prefer="listed")


class DecidedTables(NamedTuple):
    """The decisions of one test about some tables; positions follow the order of preference."""

    tables: Ints
    test: str
    ruled: Ruled
    evidence: Evidence | None = None


def ruled_groups(
    stack: Problem, settings: Settings, rule: Callable[[Evidence, bool, float | None], Ruled]
) -> Iterator[DecidedTables]:
    """Test the pairs of every table, and apply the rule to them."""
    for tables, family, choice in groups_of(stack, settings):
        some = stack.tables(tables)
        evidence = compare_pairs(choice, family, some.sample(choice.axes), some.means())
        ruled = rule(evidence, stack.preference.stated, settings.margin)
        yield DecidedTables(tables, choice.name, ruled, evidence)


def _one_by_one(stack: Problem, settings: Settings) -> Iterator[DecidedTables]:
    """Decide table by table, for a rule without a batched function."""
    for table in range(len(stack.values)):
        decision = decide_problem(stack.table(table), settings)
        position = {name: at for at, name in enumerate(decision.by_preference)}
        order = np.full(len(position), NO_LEARNER)
        order[: len(decision.ranking)] = [position[name] for name in decision.ranking]
        best = NO_LEARNER if decision.recommended is None else position[decision.recommended]
        ruled = Ruled(np.array([best]), order[np.newaxis])
        yield DecidedTables(np.array([table]), decision.test, ruled, decision.evidence)


def _collected(
    stack: Problem, settings: Settings, decided: Iterable[DecidedTables]
) -> ManyDecisions:
    """Collect decisions about groups of tables; number the learners as they are listed."""
    every: Any = stack.places
    B, K = every.shape
    recommended, ranking = np.full(B, NO_LEARNER), np.full((B, K), NO_LEARNER)
    claims, edges = np.zeros((2, B, K, K), dtype=bool)
    pvalue, adjusted = np.full((2, B, K, K), np.nan)
    best: dict[str, Any] = {}
    tests: dict[str, None] = {}
    for tables, test, ruled, evidence in decided:
        tests[test] = None
        rows, places = tables[:, np.newaxis], every[tables]
        square = rows[..., np.newaxis], places[:, :, np.newaxis], places[:, np.newaxis]
        recommended[tables] = _numbered(places, ruled.recommended[:, np.newaxis])[:, 0]
        ranking[rows, np.arange(ruled.order.shape[1])] = _numbered(places, ruled.order)
        if evidence is None:
            continue
        beaten = evidence.beaten()
        if ruled.best is not None:
            beaten = ruled.best.beaten
            for name in ("candidates", "at_least", "at_most"):
                part = getattr(ruled.best, name)
                best.setdefault(name, np.empty((B, K), dtype=part.dtype))[rows, places] = part
            pairs = replace(evidence.family, name="all", correction=correction_of(settings))
            evidence = evidence.of_family(pairs)
        edges[square] = np.triu(beaten)
        claims[square] = evidence.beaten().swapaxes(-1, -2)
        i, j = places[:, evidence.first], places[:, evidence.second]
        for whole, part in ((pvalue, evidence.pvalue), (adjusted, evidence.adjusted_pvalue)):
            whole[rows, i, j] = part
            if evidence.alternative == "two-sided":
                whole[rows, j, i] = part
    return ManyDecisions(
        recommended=recommended,
        ranking=ranking,
        claims=claims,
        edges=edges,
        pvalue=pvalue,
        adjusted_pvalue=adjusted,
        tests=tuple(tests),
        **best,
    )


def _numbered(places: Ints, at: Ints) -> Ints:
    """Return the learners at positions (B, m); -1 stays."""
    learners = np.take_along_axis(places, np.maximum(at, 0), axis=1)
    return np.where(at == NO_LEARNER, NO_LEARNER, learners)


class TablesOfTest(NamedTuple):
    """Tables that one call of one test takes."""

    tables: Ints
    family: Family
    choice: Choice


def groups_of(stack: Problem, settings: Settings) -> Iterator[TablesOfTest]:
    """Yield groups of tables whose pairs one test call can take.

    The arguments and the automatic choice of a test depend on facts about a table, such as the
    step of its losses: tables with the same facts share a call. Tables of a test that draws have
    calls of their own.
    """
    family, first, _ = chosen_test(stack.table(0), settings)
    at = np.full(len(stack.values), -1)
    if family.control is not None:
        at = np.argmax(stack.places == stack.names.index(settings.control), axis=1)
    varies = _varies(first, settings.test)
    grouped: dict[tuple[Any, ...], tuple[Choice, list[int]]] = {}
    choice, facts = first, _facts(first)
    for table, place in enumerate(at.tolist()):
        if varies and table:
            choice = chosen_test(stack.table(table), settings).choice
            facts = _facts(choice)
        random = choice.entry is not None and choice.entry.takes("random_state")
        key = (place, facts, table if random else None)
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
