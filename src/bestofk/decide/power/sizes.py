"""Study size: the differences that a design can show, from losses or from assumed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from bestofk._base.checks import (
    Floats,
    one_of,
    positive,
    probability,
    significance_level,
    unknown_arguments,
    whole,
)
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.decide.evidence import BEST, FAMILIES, Family
from bestofk.decide.power.assumed import assume
from bestofk.decide.power.observed import observe
from bestofk.decide.power.planned import Described
from bestofk.decide.power.result import Name, Needed, PairPlan, SampleSize
from bestofk.stats.adjust import CORRECTIONS


def sample_size(
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
    test_options: Mapping[str, Any] | None = None,
    power: float = 0.8,
    alpha: float | None = None,
    family: str | None = None,
    control: Name | None = None,
    correction: str | None = None,
    missing: str = "refuse",
    **reading: Any,
) -> SampleSize:
    """Return the smallest difference that a design can show, and the size that settles each pair.

    Parameters
    ----------
    losses : Scores, path, data frame, array (K, ...) or Decision, optional
        The observed losses, which give the spread of every pair. A `Decision` also brings its
        test, level, family and correction. Without losses the numbers below describe the study.
    design : str, optional
        A plan such as ``"10x10"``, ``"5x2"`` or ``"resample:30:0.1"``.
    rows : int, optional
        Rows of the data set; by default those of the design of the losses, if it has them.
    datasets, instances : int, optional
        Instead of `design`: several data sets, or one test set.
    learners : int, optional
        Number of learners; 2 by default.
    difference : float, optional
        The difference to show; by default the observed difference of each pair.
    sd : float, optional
        Standard deviation of the difference of two learners over folds, splits, data sets or
        instances.
    discordance : float, optional
        For losses of 0 and 1: the share of instances on which exactly one learner is wrong.
    error_rates : pair of float, optional
        Instead of `discordance`: the error rates of two learners that err independently. Most
        learners err on the same instances and disagree less.
    test : str
        As for `compare_scores`; ``"auto"`` picks the test that `compare_scores` picks.
    test_options, missing, **reading
        As for `compare_scores`.
    power : float
        Probability of showing the difference.
    alpha : float, optional
        Error rate of the whole family, 0.05 by default.
    family : {"best", "all", "preference", "control"}, optional
        Each learner against the K - 1 others (the default, as in `compare_scores`); all pairs,
        two-sided; all pairs, one-sided; one learner against the others.
    control : name, optional
        The control, for ``family="control"``.
    correction : str, optional
        Of a family of pairs, ``"holm"`` by default; without a family it implies ``"all"``.

    Returns
    -------
    SampleSize
        With `smallest_difference`, `pairs`, `explain()`, `pair(a, b)` and `to_frame()`.

    Notes
    -----
    The level of a pair is alpha over the number of comparisons: K - 1, or K (K - 1) / 2 for all
    pairs. For Holm's correction, whose later steps are easier, this is slightly pessimistic.

    The corrected t tests on n folds have n - 1 degrees of freedom and noncentrality
    ``difference / sqrt(S^2 (1/n + n_test/n_train))``. As n grows, S^2 n_test / n_train remains,
    so more runs cannot show every difference. More rows can: S^2 is assumed to fall as 1 / rows.

    The power for the observed difference adds no information to its p-value; it helps to plan
    further work. To plan for a difference that matters, give `difference`.

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
    >>> plan = bk.sample_size(design="10x10", rows=300, sd=0.05, learners=5, difference=0.05)
    >>> round(plan.smallest_difference, 3), plan.comparisons
    (0.059, 4)
    >>> {needed.unit: needed.count for needed in plan.pairs[0].needed}
    {'runs': None, 'rows': 419}
    """
    power = probability(power, "power")
    if difference is not None:
        difference = positive(difference, "difference")
    numbers: dict[str, Any] = {
        "design": design, "datasets": datasets, "instances": instances, "sd": sd,
        "discordance": discordance, "error_rates": error_rates,
    }  # fmt: skip
    if losses is None:
        if control is not None or test_options or reading:
            raise ArgumentError("sample_size: control, test_options and reading need losses.")
        K = 2 if learners is None else whole(learners, "learners", at_least=2)
        pairs = _family(family, correction, learners=K, alpha=alpha)
        study = assume(
            **numbers, rows=rows, difference=difference, test=test, level=_first_level(pairs)
        )
        return _plan(study, pairs, difference, power)
    for name, value in {**numbers, "learners": learners}.items():
        if value is not None:
            raise ArgumentError(f"sample_size: the losses determine {name}; omit it.")
    from bestofk.decide.choose_test import choose_test
    from bestofk.decide.decision import Decision
    from bestofk.decide.problem import as_problem, reading_arguments

    choice, known_control = None, None
    losses = getattr(losses, "decision", losses)
    if not isinstance(losses, Decision):
        known = reading_arguments(reading)
        if reading:
            raise unknown_arguments("sample_size", reading, signature(sample_size).parameters)
        problem = as_problem(losses, missing=missing, reading=known)
    elif losses.problem is None:
        raise ArgumentError("sample_size: this decision does not hold its losses; give the losses.")
    else:
        problem, decided = losses.problem, losses.evidence.family
        if test == "auto" and not test_options:
            choice = losses.test_choice
        alpha = losses.alpha if alpha is None else alpha
        correction = correction or (None if losses.test_choice is None else losses.correction)
        if family in (None, decided.name):
            family, known_control = decided.name, decided.control
    names = problem.names
    if family == "control" and (control is not None or known_control is None):
        if control not in names:
            raise UnknownNameError("learner", control, [str(known) for known in names])
        known_control = names.index(control)
    if family != "control" and control is not None:
        raise ArgumentError("control applies to ", use(family="control"), "; omit it.")
    pairs = _family(family, correction, learners=len(names), alpha=alpha, control=known_control)
    choice = choice or choose_test(problem, test, random_state=0, **(test_options or {}))
    study = observe(problem, choice, pairs, level=_first_level(pairs), rows=rows)
    return _plan(study, pairs, difference, power)


def _family(
    family: str | None,
    correction: str | None,
    *,
    learners: int,
    alpha: float | None,
    control: int | None = None,
) -> Family:
    """Return the family; by default that of the best, or all pairs for a correction."""
    default = BEST if correction is None else "all"
    name = one_of(family or default, "family", (BEST, *FAMILIES))
    correction = correction or ("bonferroni" if name == BEST else "holm")
    alpha = significance_level(0.05 if alpha is None else alpha)
    return Family(name=name, learners=learners, alpha=alpha, correction=correction, control=control)


def _first_level(family: Family) -> float:
    """Return the two-sided level of one pair at the first step of the correction."""
    level = family.alpha / (family.comparisons if CORRECTIONS[family.correction].adjusts else 1)
    # a one-sided test at level a is equivalent to a two-sided test at level 2 a
    return min(2.0 * level, 0.99) if family.name == "preference" else level


def _plan(study: Described, family: Family, difference: float | None, power: float) -> SampleSize:
    """Return the plan of all pairs: what the design shows now, and what would show more."""
    planned = study.planned
    differences = study.difference
    if difference is not None:
        differences = np.full(len(study.pairs), difference)
    powers = None if differences is None else planned.power(differences)
    smallest, limit = planned.smallest(power), planned.limit(power)
    settled = np.zeros(len(study.pairs), dtype=bool)
    if study.pvalue is not None:
        settled = family.adjust(study.pvalue) <= family.alpha
    rows = []
    for row, (first, second) in enumerate(study.pairs):
        needed: tuple[Needed, ...] = ()
        if differences is not None and not (settled[row] and difference is None):
            needed = planned.needed(
                row, float(differences[row]), float(smallest[row]), _at(limit, row), power
            )
        rows.append(
            PairPlan(
                first=first,
                second=second,
                estimate=_at(study.estimate, row),
                difference=_at(differences, row),
                power=_at(powers, row),
                smallest_difference=_at(smallest, row),
                limit=_at(limit, row),
                settled=bool(settled[row]),
                needed=needed,
            )
        )
    typical = _median([pair.smallest_difference for pair in rows])
    return SampleSize(
        design=study.design,
        test=study.test,
        alpha=family.alpha,
        family=family.name,
        correction=family.correction,
        comparisons=family.comparisons,
        level=_first_level(family),
        power=power,
        difference=difference,
        smallest_difference=typical,
        limit=None if limit is None else _median([pair.limit for pair in rows]),
        unit=planned.unit,
        reason="" if typical is not None else planned.reason,
        pairs=tuple(rows),
        assumptions=planned.assumptions,
    )


def _at(column: Floats | None, row: int) -> float | None:
    return None if column is None or not np.isfinite(column[row]) else float(column[row])


def _median(values: list[float | None]) -> float | None:
    """Return the median; a pair that can show nothing counts as infinite."""
    middle = float(np.median([np.inf if value is None else value for value in values]))
    return middle if np.isfinite(middle) else None
