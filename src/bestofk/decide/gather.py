"""Test every pair of a family, in one table or in many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.errors import ArgumentError, DesignError
from bestofk.decide.choose_test import Choice, choose_test, units
from bestofk.decide.evidence import Evidence, Family, Signs
from bestofk.decide.problem import Problem
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def bayesian_choice(problem: Problem, choice: Choice, rope: Any, random_state: Any) -> Choice:
    """Return the test itself if it is Bayesian, or a Bayesian one that covers the design."""
    from bestofk.stats.pairwise.bayesian import rope_half_width

    rope = rope_half_width(rope)
    if choice.posterior:
        return choice
    for name, entry in PAIRWISE_TESTS.items():
        if not (entry.bayesian and set(entry.covers) & set(problem.situations)):
            continue
        if units(problem) < entry.at_least_units:
            raise DesignError(
                f"rope needs posterior probabilities, and {name!r} needs at least "
                f"{entry.at_least_units} data sets to give them; got {units(problem)}: omit rope."
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


_MAX_LOSSES_PER_CALL = 1 << 17
MAX_PAIRED_LOSSES = 1 << 22
"""Limit on the losses of all pairs of a table that are kept with the test's results."""
_COLUMNS = ("statistic", "pvalue", "estimate", "direction")


class PairColumns(NamedTuple):
    """The P pairs of a family in B tables: (B, P) arrays, named as in `Evidence`."""

    estimate: Floats
    statistic: Floats
    pvalue: Floats
    adjusted_pvalue: Floats
    direction: Signs
    better: Signs

    def overrides(self, family: Family) -> Bools:
        """Return (B, K, K): the data override the preference between i and j (i < j)."""
        first, second = family.pairs()
        matrix = np.zeros((len(self.better), family.learners, family.learners), dtype=bool)
        matrix[:, first, second] = self.better > 0
        return matrix

    def claims(self, family: Family) -> Bools:
        """Return (B, K, K): i is shown to be better than j."""
        first, second = family.pairs()
        matrix = np.zeros((len(self.better), family.learners, family.learners), dtype=bool)
        matrix[:, first, second] = self.better < 0
        matrix[:, second, first] = self.better > 0
        return matrix


def gather_evidence(
    problem: Problem,
    choice: Choice,
    family: Family,
    *,
    alternative: str | None = None,
    rope: float | None = None,
    bayesian: Choice | None = None,
) -> Evidence:
    """Test every pair of the family, and adjust over all of them."""
    alternative = family.alternative if alternative is None else alternative
    values = problem.sample(choice.axes)
    first, second = family.pairs()
    results: list[Any] = []
    tested = pairs_of_tables(
        choice, values[np.newaxis], problem.means()[np.newaxis], family, alternative=alternative,
        results=results,
    )  # fmt: skip
    cache: dict[str, Any] = {}
    if results:
        # keep the results or intervals, so that no pair is tested twice
        many = isinstance(results[0], tuple)
        cache = {"ends": results[0]} if many else {f"results {alternative}": results}
    if bayesian is not None and bayesian.axes != choice.axes:
        cache["bayesian sample"] = problem.sample(bayesian.axes)
    evidence = Evidence(
        names=problem.names,
        first=first,
        second=second,
        **{name: column[0] for name, column in tested._asdict().items()},
        family=family,
        alternative=alternative,
        metric=problem.metric,
        rope=rope,
        values=values,
        choice=choice,
        bayesian=bayesian,
        cache=cache,
    )
    if problem.missing is None or problem.missing.as_worst is None:
        return evidence
    return problem.missing.revised(evidence)


def pairs_of_tables(
    choice: Choice,
    values: Floats,
    means: Floats,
    family: Family,
    *,
    alternative: str | None = None,
    results: list[Any] | None = None,
) -> PairColumns:
    """Test every pair of the family in B tables of losses (B, K, ...) with means (B, K).

    Two-sided p-values get their direction from the sign of the statistic. In the family
    ``"preference"`` only the less preferred learner of a pair can be shown to be better. The
    results of the test are appended to `results`, unless a table has too many pairs.
    """
    alternative = family.alternative if alternative is None else alternative
    per_table = family.size * int(np.prod(values.shape[2:]))
    step = max(1, _MAX_LOSSES_PER_CALL // max(per_table, 1))
    parts = [
        _columns(choice, values[start : start + step], family, alternative, results)
        for start in range(0, len(values), step)
    ]
    columns = parts[0]
    if len(parts) > 1:
        columns = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    adjusted = family.adjust(columns["pvalue"])
    direction = _directions(columns["direction"], alternative)
    # differences within rounding error count as 0
    noise = 1e-12 * np.abs(means).max(axis=-1, keepdims=True)
    estimate = columns["estimate"]
    return PairColumns(
        estimate=np.where(np.abs(estimate) <= noise, 0.0, estimate),
        statistic=columns["statistic"],
        pvalue=columns["pvalue"],
        adjusted_pvalue=adjusted,
        direction=direction,
        better=direction * (adjusted <= family.alpha),
    )


def _columns(
    choice: Choice, values: Floats, family: Family, alternative: str, results: list[Any] | None
) -> dict[str, Floats]:
    """Return the columns of the test for the pairs of some tables, as (B, P) arrays."""
    if family.name != "control" and family.size * values[0, 0].size > MAX_PAIRED_LOSSES:
        from bestofk.stats.pairwise.pairs import all_pairs

        # many learners: test in blocks of rows
        level = family.interval_level() if family.has_intervals else None
        pairs = all_pairs(choice, values[0], alternative=alternative, level=level)
        if results is not None and pairs.low is not None and pairs.high is not None:
            results.append((level, pairs.low, pairs.high))
        return {name: getattr(pairs, name)[np.newaxis] for name in _COLUMNS}
    first, second = family.pairs()
    result = compare_in(
        choice, values.take(first, axis=1), values.take(second, axis=1), alternative
    )
    if results is not None:
        results.append(result)
    shape = len(values), len(first)
    columns = {
        name: _one_per_pair(choice, getattr(result, name), shape, values.shape[2:])
        for name in ("statistic", "pvalue", "estimate")
    }
    direction = getattr(result, "direction", None)
    columns["direction"] = (
        columns["estimate"] if direction is None else np.broadcast_to(direction, shape)
    )
    return columns


def _one_per_pair(
    choice: Choice, values: Any, shape: tuple[int, int], units: tuple[int, ...]
) -> Floats:
    """Return a (B, P) array; refuse a caller's test that reduces the wrong axes."""
    try:
        return np.array(np.broadcast_to(np.asarray(values, dtype=float), shape))
    except ValueError:
        raise ArgumentError(
            f"The test {choice.name!r} must give one number per pair, over the last "
            f"{len(units)} axes of the losses (here of shape {units}); got the shape "
            f"{np.shape(values)} for {shape[1]} pairs."
        ) from None


def compare_in(choice: Choice, a: Floats, b: Floats, alternative: str) -> Any:
    """Test losses (B, ...) of some tables; drop the first axis of a single table.

    The random draws of a test then do not depend on the number of tables.
    """
    return choice(a[0], b[0], alternative) if len(a) == 1 else choice(a, b, alternative)


def _directions(direction: Floats, alternative: str) -> Signs:
    """Return -1 if the statistic favours the first, 1 if the second; one-sided tests fix it."""
    if alternative == "two-sided":
        return np.sign(direction).astype(np.int8)
    return np.full(direction.shape, 1 if alternative == "greater" else -1, dtype=np.int8)


def no_pairs(problem: Problem, *, alpha: float) -> Evidence:
    """Return the evidence of a procedure that compares no pairs."""
    none, empty = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Evidence(
        names=problem.names,
        first=empty,
        second=empty,
        estimate=none,
        statistic=none,
        pvalue=none,
        adjusted_pvalue=none,
        direction=np.zeros(0, dtype=np.int8),
        better=np.zeros(0, dtype=np.int8),
        family=Family(learners=len(problem.names), alpha=alpha, correction="none"),
        alternative="two-sided",
        metric=problem.metric,
    )
