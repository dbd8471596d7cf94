"""Every pair of a family under one test, in one table or in many: the evidence, made once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestofk.checks import Bools, Floats
from bestofk.errors import ArgumentError
from bestofk.ordering.evidence.choose_test import Choice
from bestofk.ordering.evidence.evidence import Evidence, Signs
from bestofk.ordering.evidence.family import Family
from bestofk.ordering.evidence.problem import Problem
from bestofk.pairwise.all_pairs import all_pairs

_LOSSES_AT_A_TIME = 1 << 17
PAIRED_LOSSES_AT_MOST = 1 << 22
"""Losses of all pairs of a table that may be held side by side, with what the test said."""
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
        """(B, K, K): the data override the preference between i and j (i < j)."""
        first, second = family.pairs()
        matrix = np.zeros((len(self.better), family.learners, family.learners), dtype=bool)
        matrix[:, first, second] = self.better > 0
        return matrix

    def claims(self, family: Family) -> Bools:
        """(B, K, K): i is shown to be better than j."""
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
        keep=results,
    )  # fmt: skip
    # what the test said serves the intervals too: no pair is tested twice
    found: dict[str, Any] = {f"results {alternative}": results} if results else {}
    if bayesian is not None and bayesian.axes != choice.axes:
        found["bayesian sample"] = problem.sample(bayesian.axes)
    return Evidence(
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
        found=found,
    )


def pairs_of_tables(
    choice: Choice,
    values: Floats,
    means: Floats,
    family: Family,
    *,
    alternative: str | None = None,
    keep: list[Any] | None = None,
) -> PairColumns:
    """Test every pair of the family in B tables of losses (B, K, ...) with means (B, K).

    Two-sided p-values get their direction from the sign of the statistic. In the family
    ``"prior"`` only the less preferred learner of a pair can be shown to be better. The results
    of the test go to `keep`, unless all pairs of a table are too many.
    """
    alternative = family.alternative if alternative is None else alternative
    per_table = family.size * int(np.prod(values.shape[2:]))
    step = max(1, _LOSSES_AT_A_TIME // max(per_table, 1))
    parts = [
        _columns(choice, values[at : at + step], family, alternative, keep)
        for at in range(0, len(values), step)
    ]
    columns = parts[0]
    if len(parts) > 1:
        columns = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    adjusted = family.adjust(columns["pvalue"])
    direction = _directions(columns["direction"], alternative)
    # differences that rounding alone can make are none
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
    choice: Choice, values: Floats, family: Family, alternative: str, keep: list[Any] | None
) -> dict[str, Floats]:
    """What the test says of the pairs of some tables, as (B, P) arrays."""
    if family.name != "control" and family.size * values[0, 0].size > PAIRED_LOSSES_AT_MOST:
        # many learners: in blocks of rows
        pairs = all_pairs(choice, values[0], alternative=alternative)
        return {name: getattr(pairs, name)[np.newaxis] for name in _COLUMNS}
    first, second = family.pairs()
    result = compare_in(
        choice, values.take(first, axis=1), values.take(second, axis=1), alternative
    )
    if keep is not None:
        keep.append(result)
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
    choice: Choice, found: Any, shape: tuple[int, int], units: tuple[int, ...]
) -> Floats:
    """(B, P); a test that was given and reduces other axes than it should is named."""
    try:
        return np.array(np.broadcast_to(np.asarray(found, dtype=float), shape))
    except ValueError:
        raise ArgumentError(
            f"The test {choice.name!r} must give one number per pair, over the last "
            f"{len(units)} axes of the losses (here of shape {units}); got the shape "
            f"{np.shape(found)} for {shape[1]} pairs."
        ) from None


def compare_in(choice: Choice, a: Floats, b: Floats, alternative: str) -> Any:
    """The test of losses (B, ...) of some tables; one table is tested without that axis.

    So that what a test draws does not hang on how many tables there are.
    """
    return choice(a[0], b[0], alternative) if len(a) == 1 else choice(a, b, alternative)


def _directions(direction: Floats, alternative: str) -> Signs:
    """-1: the statistic speaks for the first; 1: for the second. One-sided tests ask for one."""
    if alternative == "two-sided":
        return np.sign(direction).astype(np.int8)
    return np.full(direction.shape, 1 if alternative == "greater" else -1, dtype=np.int8)


def no_pairs(problem: Problem, *, alpha: float) -> Evidence:
    """The evidence of a procedure that compares no pairs."""
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
