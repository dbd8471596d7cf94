"""How large must the study be? One call, from losses or from assumed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats, positive, probability, whole
from bestofk._base.errors import ArgumentError
from bestofk.decide.evidence import Family
from bestofk.decide.power.assumed import (
    PlannedPairs,
    adjusted_level,
    assume,
    checked_alpha,
    pairs_of_order,
    pairs_of_problem,
    wanted_rows,
)
from bestofk.decide.power.designs import Planned
from bestofk.decide.power.observed import observe
from bestofk.decide.power.result import Name, Needed, PairPlan, PlanSize
from bestofk.decide.statements.power import nothing_shown

if TYPE_CHECKING:
    from bestofk.decide.problem import Problem

ANY, OTHER = "one learner", "another"
"""The two learners of a plan without losses."""


def plan_size(
    losses: Any = None,
    *,
    design: str | None = None,
    rows: int | None = None,
    datasets: int | None = None,
    instances: int | None = None,
    learners: int | None = None,
    difference: float | None = None,
    sd: float | None = None,
    discordance: float | None = None,
    error_rates: tuple[float, float] | None = None,
    test: Any = "auto",
    df: Any = None,
    power: float = 0.8,
    alpha: float | None = None,
    family: str | None = None,
    control: Name | None = None,
    correction: str | None = None,
    missing: str = "refuse",
    only: tuple[Name, Name] | None = None,
    **test_arguments: Any,
) -> PlanSize:
    """The smallest difference that a design can show, and what would settle the open pairs.

    Parameters
    ----------
    losses : Losses, path, data frame, array (K, ...) or Decision, optional
        What was observed: the spread of every pair is taken from it. An `Decision` brings its test,
        level, family and correction along. Without losses the numbers below describe the study.
    design : str, optional
        A plan such as ``"10x10"``, ``"5x2"`` or ``"resample:30:0.1"``.
    rows : int, optional
        Rows of the data set; known from the losses where their design tells.
    datasets, instances : int, optional
        Instead of `design`: several data sets, or one test set.
    learners : int, optional
        How many are compared; 2 by default.
    difference : float, optional
        The difference that is to be shown; by default each pair's observed one.
    sd : float, optional
        Standard deviation of the difference of two learners from one fold, split, data set or
        instance to the next.
    discordance : float, optional
        For losses of 0 and 1: how often just one of two learners is wrong.
    error_rates : pair of float, optional
        Instead of `discordance`: two learners with these error rates that err independently of
        each other. Most learners err on the same instances and disagree less.
    test : str
        As for `order`; ``"auto"`` takes the one that `order` takes.
    df, missing, **test_arguments
        As for `order`.
    power : float
        The probability with which a difference is to be shown.
    alpha : float, optional
        Error of the whole family, 0.05 by default.
    family : {"all", "preference", "control"}
        All pairs, two-sided (the default); all pairs, one-sided; one learner against the others.
    control : name, optional
        That learner, for ``family="control"``.
    correction : str, optional
        ``"holm"`` by default.
    only : pair of names, optional
        Plan for this pair only; its family stays what it is.

    Returns
    -------
    PlanSize
        With `smallest_difference`, `pairs`, `explain()`, `pair(a, b)` and `to_frame()`.

    Notes
    -----
    A pair is planned for at the level that the correction leaves it at first, alpha over the
    number of comparisons (K (K - 1) / 2, or K - 1 against a control): for Holm's correction
    that is a little pessimistic, its later steps being easier.

    The corrected t tests on n folds have n - 1 degrees of freedom and noncentrality
    ``difference / sqrt(S^2 (1/n + n_test/n_train))``: as n grows, S^2 n_test / n_train remains,
    so that more runs cannot show every difference. More rows can; S^2 is taken to fall as
    1 / rows.

    The power for the observed difference says nothing that its p-value does not; it serves to
    plan further work. To plan for what matters, give `difference`.

    References
    ----------
    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning
    52, 239-281. doi:10.1023/A:1024068626366

    J. M. Hoenig and D. M. Heisey (2001). The abuse of power: the pervasive fallacy of power
    calculations for data analysis. The American Statistician 55, 19-24.
    doi:10.1198/000313001300339897

    Examples
    --------
    >>> import bestofk as bk
    >>> plan = bk.plan_size(design="10x10", rows=300, sd=0.05, learners=5, difference=0.05)
    >>> round(plan.smallest_difference, 3), plan.comparisons
    (0.065, 10)
    >>> {needed.unit: needed.count for needed in plan.pairs[0].needed}
    {'runs': None, 'rows': 504}
    """
    power = probability(power, "power")
    if difference is not None:
        difference = positive(difference, "difference")
    assumptions = {"design": design, "datasets": datasets, "instances": instances,
                   "learners": learners, "sd": sd, "discordance": discordance,
                   "error_rates": error_rates}  # fmt: skip
    if losses is None:
        if only is not None or control is not None or df is not None or test_arguments:
            raise ArgumentError(
                "plan_size: only, control, df and arguments of the test need losses."
            )
        return _from_numbers(
            assumptions, rows=rows, difference=difference, test=test, power=power,
            alpha=checked_alpha(alpha), family=family or "all", correction=correction or "holm",
        )  # fmt: skip
    for name, value in assumptions.items():
        if value is not None:
            raise ArgumentError(f"plan_size: {name} is taken from the losses; leave it out.")
    from bestofk.decide.decision import Decision
    from bestofk.decide.problem import as_problem

    given = {"df": df, **test_arguments}
    wanted: dict[str, Any] = {
        "alpha": alpha, "family": family, "control": control, "correction": correction
    }  # fmt: skip
    if isinstance(losses, Decision):
        study = pairs_of_order(losses, test, given, **wanted)
    else:
        problem = as_problem(losses, missing=missing, arguments=given)
        study = pairs_of_problem(problem, test, given, **wanted)
    return _from_losses(study, rows=rows, difference=difference, power=power, only=only)


def _from_losses(
    study: PlannedPairs,
    *,
    rows: int | None,
    difference: float | None,
    power: float,
    only: tuple[Name, Name] | None,
) -> PlanSize:
    family = study.family
    level = adjusted_level(family)
    names = study.problem.names
    wanted = wanted_rows(only, study)
    if study.adjusted is not None:
        # what the order found need not be tested again
        first, second = study.first[wanted], study.second[wanted]
        wanted_here = np.arange(len(wanted))
    else:
        first, second, wanted_here = study.first, study.second, wanted
    seen = observe(
        study.problem, study.choice, first, second, level=level,
        one_sided=family.name == "preference", rows=rows,
        tested=None if study.evidence is None else study.evidence.tested(wanted),
    )  # fmt: skip
    adjusted = (
        family.adjust(seen.pvalue)[wanted] if study.adjusted is None else study.adjusted[wanted]
    )
    differences = seen.difference if difference is None else np.full(len(first), difference)
    columns = _Columns.of(seen.planned, differences, power)
    pairs = []
    for place, row in enumerate(wanted_here.tolist()):
        settled = bool(adjusted[place] <= family.alpha)
        pairs.append(
            PairPlan(
                first=names[first[row]],
                second=names[second[row]],
                estimate=float(seen.estimate[row]),
                settled=settled,
                needed=() if settled and difference is None else columns.needed(row),
                **columns.at(row),
            )
        )
    return _plan(
        seen.planned,
        tuple(pairs),
        design=_words(study.problem, rows),
        test=study.choice.name,
        alpha=family.alpha,
        family=family.name,
        correction=family.correction,
        comparisons=family.size,
        level=level,
        power=power,
        difference=difference,
    )


def _from_numbers(
    assumptions: dict[str, Any],
    *,
    rows: int | None,
    difference: float | None,
    test: str,
    power: float,
    alpha: float,
    family: str,
    correction: str,
) -> PlanSize:
    learners = assumptions.pop("learners")
    K = 2 if learners is None else whole(learners, "learners", at_least=2)
    pairs = Family(name=family, learners=K, alpha=alpha, correction=correction)
    level = adjusted_level(pairs)
    found = assume(**assumptions, rows=rows, difference=difference, test=test, level=level)
    planned = found.planned
    columns = _Columns.of(planned, None if difference is None else np.array([difference]), power)
    pair = PairPlan(
        first=ANY, second=OTHER, estimate=None, needed=columns.needed(0), **columns.at(0)
    )  # fmt: skip
    return _plan(
        planned,
        (pair,),
        design=found.design,
        test=found.test,
        alpha=alpha,
        family=family,
        correction=correction,
        comparisons=pairs.size,
        level=level,
        power=power,
        difference=difference,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The numbers of all pairs, column by column."""

    planned: Planned
    target: float
    differences: Floats | None
    error: Floats
    power: Floats | None
    smallest: Floats
    limit: Floats | None

    @classmethod
    def of(cls, planned: Planned, differences: Floats | None, target: float) -> _Columns:
        return cls(
            planned=planned,
            target=target,
            differences=differences,
            error=planned.standard_error(),
            power=None if differences is None else planned.power(differences),
            smallest=planned.smallest(target),
            limit=planned.limit(target),
        )

    def at(self, row: int) -> dict[str, Any]:
        return {
            "standard_error": _or_none(self.error, row),
            "difference": _or_none(self.differences, row),
            "power": _or_none(self.power, row),
            "smallest_difference": _or_none(self.smallest, row),
            "limit": _or_none(self.limit, row),
        }

    def needed(self, row: int) -> tuple[Needed, ...]:
        if self.differences is None:
            return ()
        difference, smallest = float(self.differences[row]), float(self.smallest[row])
        return self.planned.needed(row, difference, smallest, self.target)


def _or_none(column: Floats | None, row: int) -> float | None:
    return None if column is None or not np.isfinite(column[row]) else float(column[row])


def _plan(planned: Planned, pairs: tuple[PairPlan, ...], **facts: Any) -> PlanSize:
    typical = _median([pair.smallest_difference for pair in pairs])
    limited = planned.limit(facts["power"]) is not None
    return PlanSize(
        pairs=pairs,
        smallest_difference=typical,
        limit=_median([pair.limit for pair in pairs]) if limited else None,
        unit=planned.unit,
        reason="" if typical is not None else nothing_shown(planned),
        assumptions=planned.assumptions(),
        **facts,
    )


def _median(values: list[float | None]) -> float | None:
    """Of what the pairs can show; a pair that can show nothing would need more than any other."""
    middle = float(np.median([np.inf if value is None else value for value in values]))
    return middle if np.isfinite(middle) else None


def _words(problem: Problem, rows: int | None) -> str:
    from bestofk.decide.power.observed import rows_of

    rows = rows_of(problem) if rows is None else rows
    return problem.describe() + ("" if rows is None else f", {rows} rows")
