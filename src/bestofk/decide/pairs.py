"""Test the pairs of a decision: the family and the test of a problem, and every pair at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError, use
from bestofk.decide.cautions import caution_of
from bestofk.decide.choose_test import Choice, choose_test
from bestofk.decide.decision import Decision, Ruled
from bestofk.decide.evidence import BEST, Evidence, Family
from bestofk.decide.preference import Name, preference_ranks
from bestofk.decide.problem import Problem
from bestofk.decide.registry import RULES, decides_by
from bestofk.decide.settings import Settings, StoredTest, correction_of, preference_before_measuring
from bestofk.splits.design import Design
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

_MAX_LOSSES_PER_CALL = 1 << 17
MAX_PAIRED_LOSSES = 1 << 22
"""Limit on the losses of all pairs of a table that are kept with the test's results."""
_COLUMNS = ("pvalue", "estimate", "direction")


def tested(problem: Problem, settings: Settings) -> tuple[Evidence, Choice]:
    """Test the pairs of the family, and return the evidence and the test."""
    family, choice, bayesian = chosen_test(problem, settings)
    evidence = compare_pairs(
        choice,
        family,
        problem.sample(choice.axes),
        problem.means(),
        names=problem.names,
        metric=problem.metric,
        rope=settings.rope,
        bayesian=bayesian,
        bayesian_sample=None
        if bayesian is None or bayesian.axes == choice.axes
        else problem.sample(bayesian.axes),
    )
    if problem.missing is not None and problem.missing.as_worst is not None:
        evidence = problem.missing.revised(evidence)
    return evidence, choice


def decision_from(
    problem: Problem,
    settings: Settings,
    evidence: Evidence,
    choice: Choice,
    ruled: Ruled,
    **more: Any,
) -> Decision:
    """Return the decision that a rule makes of the evidence about pairs.

    `more` has further fields of the `Decision`, such as its reasons.
    """
    smallest = evidence.family.smallest_adjusted(
        choice.smallest_pvalue(problem.n_units), evidence.alternative
    )
    facts: dict[str, Any] = {"smallest_possible": smallest, **ruled.named(problem.names), **more}
    return Decision(
        rule=settings.rule,
        by_preference=problem.names,
        mean_losses=dict(zip(problem.names, problem.means().tolist(), strict=True)),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=settings.alpha,
        correction=correction_of(settings),
        design=problem.describe(choice.axes),
        preference=problem.preference,
        caution=caution_of(problem, choice),
        margin=settings.margin,
        notes=(*problem.notes, *choice.notes),
        problem=problem,
        test_choice=choice,
        settings=settings,
        **facts,
    )


class ChosenTest(NamedTuple):
    """The family and the test of a decision, and the Bayesian test of its posteriors, if any."""

    family: Family
    choice: Choice
    bayesian: Choice | None


def chosen_test(problem: Problem, settings: Settings) -> ChosenTest:
    """Return the family and the test for a problem; refuse settings that do not fit it."""
    family = family_of(problem, settings)
    test: Any = settings.test
    if isinstance(test, StoredTest):
        raise ArgumentError(
            f"test {test.name!r} is a function of yours, and a store keeps its name alone: give "
            "the function again with ",
            use(test=...),
            ", or name another test.",
        )
    rope: dict[str, Any] = {}
    if settings.rope is not None and test in PAIRWISE_TESTS and PAIRWISE_TESTS[test].bayesian:
        rope = {"rope": settings.rope}
    choice = choose_test(
        problem,
        test,
        one_sided=family.alternative != "two-sided" or decides_by(settings.rule) == "one challenge",
        random_state=settings.random_state,
        **rope,
        **settings.test_options,
    )
    bayesian = None
    if settings.rope is not None:
        bayesian = _bayesian_choice(problem, choice, settings.rope, settings.random_state)
    return ChosenTest(family, choice, bayesian)


def family_of(problem: Problem, settings: Settings) -> Family:
    """Return the family of the decision over the learners of a problem."""
    names, control = problem.names, settings.control
    K, alpha, name = len(names), settings.alpha, settings.family or "all"
    if decides_by(settings.rule) == "best":
        return Family(name=BEST, learners=K, alpha=alpha, correction="bonferroni")
    family = Family(name=name, learners=K, alpha=alpha, correction=correction_of(settings))
    if name == "preference" and not problem.preference.stated:
        raise ArgumentError(
            use(family="preference"),
            " tests against a preference, and none is stated: give ",
            use(prefer=...),
            ", or take ",
            use(family="all"),
            ".",
        )
    if name != "control":
        return family
    if control is None:
        raise ArgumentError(
            use(family="control"),
            " compares one learner with the others: name it with ",
            use(control=str(names[0])),
            " or another one.",
        )
    if control not in names:
        raise UnknownNameError("learner", control, [str(name) for name in names])
    return replace(family, control=names.index(control))


def _bayesian_choice(problem: Problem, choice: Choice, rope: float, random_state: Any) -> Choice:
    """Return the test itself if it is Bayesian, or a Bayesian one that covers the design."""
    if choice.posterior:
        return choice
    for name, entry in PAIRWISE_TESTS.items():
        if not (entry.bayesian and set(entry.covers) & set(problem.situations)):
            continue
        if problem.n_units < entry.at_least_units:
            raise DesignError(
                f"rope needs posterior probabilities, and {name!r} needs at least "
                f"{entry.at_least_units} data sets to give them; got {problem.n_units}: omit rope."
            )
        sizes: dict[str, Any] = {}
        if entry.needs_sizes and problem.bare:
            # the sizes that tests for folds assume for an array
            sizes = {"n_train": float(problem.design.folds - 1), "n_test": 1.0}
        return choose_test(problem, name, rope=rope, random_state=random_state, **sizes)
    raise DesignError(
        f"rope needs posterior probabilities, and no Bayesian test covers {problem.describe()}: "
        "omit rope."
    )


def compare_pairs(
    choice: Choice,
    family: Family,
    values: Floats,
    means: Floats,
    *,
    names: tuple[Name, ...] | None = None,
    alternative: str | None = None,
    **facts: Any,
) -> Evidence:
    """Test every pair of a family in one table, or in B tables, and adjust over all of them.

    - `values`, `means`: Scores (K, ...) or (B, K, ...), and their means (K,) or (B, K).
    - `alternative`: By default that of the family. Two-sided p-values get their direction from
      the sign of the statistic. In the family ``"preference"`` only the less preferred learner of
      a pair can be shown to be better.
    - `facts`: More for `Evidence`.
    """
    alternative = family.alternative if alternative is None else alternative
    lead = means.shape[:-1]
    tables = values.reshape(-1, *values.shape[len(lead) :])
    first, second = family.pairs()
    per_table = len(first) * int(np.prod(tables.shape[2:]))
    columns: Mapping[str, Floats]
    if per_table > MAX_PAIRED_LOSSES and family.name != "control":
        from bestofk.stats.pairwise.pairs import all_pairs

        # keep the intervals, but not the results
        level = family.interval_level() if family.has_intervals else None
        blocks = [all_pairs(choice, one, alternative=alternative, level=level) for one in tables]
        columns = {
            name: np.stack([getattr(one, name) for one in blocks])
            if lead
            else getattr(blocks[0], name)
            for name in _COLUMNS
        }
        if not lead and blocks[0].low is not None:
            facts["ends"] = (level, blocks[0].low, blocks[0].high)
    else:
        step = max(1, _MAX_LOSSES_PER_CALL // max(per_table, 1))
        results, parts = [], []
        for start in range(0, len(tables), step):
            some = tables[start : start + step]
            pairs = some.take(first, axis=1), some.take(second, axis=1)
            results.append(call_test(choice, *pairs, alternative))
            parts.append(_columns(choice, results[-1], (len(some), len(first)), some.shape[2:]))
        columns = {name: np.concatenate([one[name] for one in parts]) for name in _COLUMNS}
        facts["results"] = {alternative: results}
    columns = {name: column.reshape(*lead, len(first)) for name, column in columns.items()}
    # differences within rounding error count as 0
    noise = 1e-12 * np.abs(means).max(axis=-1, keepdims=True)
    estimate = columns["estimate"]
    direction: Any = columns["direction"]
    if alternative != "two-sided":
        direction = np.full(direction.shape, 1 if alternative == "greater" else -1)
    return Evidence.of_pairs(
        family,
        pvalue=columns["pvalue"],
        direction=direction,
        names=tuple(range(family.learners)) if names is None else names,
        estimate=np.where(np.abs(estimate) <= noise, 0.0, estimate),
        alternative=alternative,
        values=values,
        choice=choice,
        **facts,
    )


def _columns(
    choice: Choice, result: Any, shape: tuple[int, int], unit_axes: tuple[int, ...]
) -> Mapping[str, Floats]:
    """Return (B, P) columns of a result; refuse a caller's test that reduces the wrong axes."""
    direction = getattr(result, "direction", None)
    columns = {name: getattr(result, name) for name in ("pvalue", "estimate")}
    columns["direction"] = columns["estimate"] if direction is None else direction
    try:
        return {
            name: np.array(np.broadcast_to(np.asarray(column, dtype=float), shape))
            for name, column in columns.items()
        }
    except ValueError:
        raise ArgumentError(
            f"The test {choice.name!r} must give one number per pair, over the last "
            f"{len(unit_axes)} axes of the losses (here of shape {unit_axes}); got the shape "
            f"{np.shape(columns['pvalue'])} for {shape[1]} pairs."
        ) from None


def call_test(choice: Choice, a: Floats, b: Floats, alternative: str) -> Any:
    """Test losses (B, ...) of some tables; drop the first axis of a single table.

    The random draws of a test then do not depend on the number of tables.
    """
    return choice(a[0], b[0], alternative) if len(a) == 1 else choice(a, b, alternative)


def no_pairs(problem: Problem, *, alpha: float) -> Evidence:
    """Return the evidence of a rule that compares no pairs."""
    none, empty = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Evidence(
        names=problem.names,
        first=empty,
        second=empty,
        estimate=none,
        pvalue=none,
        adjusted_pvalue=none,
        direction=np.zeros(0, dtype=np.int8),
        better=np.zeros(0, dtype=np.int8),
        family=Family(learners=len(problem.names), alpha=alpha, correction="none"),
        alternative="two-sided",
        metric=problem.metric,
    )


# The test of losses to come


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """The family and the test of a decision; None for rules without pairwise tests."""

    problem: Problem
    family: Family | None = None
    choice: Choice | None = None


def foresee(
    settings: Settings,
    names: Sequence[str],
    design: Design,
    *,
    datasets: int = 1,
    zero_one: bool = False,
) -> Foreseen:
    """Return the family and the test for losses of this design; refuse what has none."""
    problem = _problem(settings, names, design, datasets, zero_one=zero_one)
    if RULES[settings.rule].takes_test:
        family, choice, _ = chosen_test(problem, settings)
        return Foreseen(problem=problem, family=family, choice=choice)
    if problem.sample(1).shape[1] < 2:
        raise DesignError(
            f"There is nothing to test: the losses are {problem.describe()}, one number per "
            "learner. Give losses by fold, by data set or by test instance."
        )
    return Foreseen(problem=problem)


def _problem(
    settings: Settings, names: Sequence[str], design: Design, datasets: int, *, zero_one: bool
) -> Problem:
    """Return a problem of this design with constant losses in place of those to come."""
    _, preference, _ = preference_ranks(names, preference_before_measuring(settings, names))
    loss = 0.0 if zero_one else 0.5
    shape = (datasets,) if datasets > 1 else (design.runs, design.folds)
    parts = None
    if design.nested_runs and datasets == 1:
        parts = np.full((len(names), design.nested_runs, 2), loss)
    return Problem(
        values=np.full((len(names), *shape), loss),
        names=tuple(names),
        design=design.with_(repetitions=1),
        n_datasets=datasets,
        bare=False,
        preference=preference,
        subset_values=parts,
        fold_values=np.full((len(names), datasets, design.runs, design.folds), loss)
        if datasets > 1
        else None,
    )
