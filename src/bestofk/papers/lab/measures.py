"""Type I error, power and replicability of tests, and false claims of decisions, by simulation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, whole
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted
from bestofk._base.results import Presented, json_ready
from bestofk.decide.order_tables import ManyDecisions
from bestofk.papers.lab.collect_outcomes import Outcomes, Test, run_test
from bestofk.papers.lab.problems.given_rows import GivenRows
from bestofk.papers.lab.simulation import Simulation, rehearse, simulate
from bestofk.papers.lab.truth import known_truth, truth_of
from bestofk.stats.intervals import clopper_pearson
from bestofk.stats.tails import normal_quantile

LEVEL = 0.95
"""Coverage of the intervals."""
Row = dict[str, Any]


def rate_of(count: int, n: int) -> Row:
    """Return `count` of `n` data sets as a rate with its exact binomial interval.

    Examples
    --------
    >>> rate = rate_of(50, 1000)
    >>> rate["rate"], round(rate["low"], 4), round(rate["high"], 4)
    (0.05, 0.0373, 0.0654)
    """
    interval = clopper_pearson(int(count), int(n), LEVEL)
    ends = {"low": float(interval.low), "high": float(interval.high)}
    return {"rate": count / n, **ends, "count": int(count), "n": int(n)}


def _percent(row: Row, prefix: str = "") -> str:
    """Return a rate as ``4.9 % (3.7 to 6.4)``."""
    rate, low, high = (100 * row[prefix + name] for name in ("rate", "low", "high"))
    return f"{rate:.1f} % ({low:.1f} to {high:.1f})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured(Presented):
    """Rates of a test or a decision on simulated losses.

    Attributes
    ----------
    measure : {"type1", "power", "replicability", "claims"}
        What was measured.
    test : str
        The test.
    rows : tuple of dict
        One row per level (and problem), with the rates and their exact intervals.
    settings : mapping
        The arguments of the decision.
    outcomes : Outcomes or None
        The p-values and verdicts of the test; None for a decision.
    simulation : Simulation
        The losses.
    """

    measure: str
    test: str
    rows: tuple[Row, ...]
    sentences: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Outcomes | None = None
    simulation: Simulation

    def at(self, alpha: float = 0.05, *, problem: int = 0) -> Any:
        """Return the row of a measured level, with its columns as attributes."""
        rows = [row for row in self.rows if row["alpha"] == alpha]
        if not rows:
            measured = ", ".join(f"{level:g}" for level in dict.fromkeys(self._columns()["alpha"]))
            raise ArgumentError(
                f"alpha must be one of the measured levels, {measured}; got {alpha!r}."
            )
        return SimpleNamespace(**rows[problem])

    def _columns(self) -> dict[str, Any]:
        """Return the rows as columns."""
        return {name: [row[name] for row in self.rows] for name in self.rows[0]}

    def explain(self) -> str:
        """State the rates in sentences."""
        return self.sentences

    def to_dict(self) -> dict[str, Any]:
        """Return the rates for strict JSON."""
        return {
            "measure": self.measure,
            "test": self.test,
            "settings": json_ready(self.settings),
            **self.simulation.facts(),
            "table": json_ready(self.rows),
            "explanation": self.explain(),
        }


def _listed(rows: Sequence[Row]) -> str:
    return "; ".join(f"{_percent(row)} at level {100 * row['alpha']:g} %" for row in rows)


def _by_level(result: Outcomes, hits: npt.NDArray[np.bool_]) -> list[Row]:
    """Return one row per level from hits (sets, repeats, levels) in the first repeat."""
    counts = hits[:, 0].sum(axis=0).tolist()
    rows = zip(result.alphas, counts, strict=True)
    return [{"alpha": alpha, **rate_of(count, len(hits))} for alpha, count in rows]


def type1_error(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: Any = "10x10",
    *,
    simulation: Simulation | None = None,
    **arguments: Any,
) -> Measured:
    """Measure how often a test claims a difference between equal learners.

    Parameters
    ----------
    test : str or callable
        A pairwise test, a test of K learners, or a function ``test(a, b)`` that returns a p-value.
    learners, problem, cv
        The simulation; see `simulate`. The learners should be equal on the problem.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **arguments
        For the test: `alpha` (a level or several), `alternative`, `df`. For `simulate`: `sets`,
        `random_state`, `n_jobs`, `engine`, `scheduler`, `store`, `progress`.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised
    classification learning algorithms. Neural Computation 10, 1895-1923.
    doi:10.1162/089976698300017197

    Examples
    --------
    The k-fold t test assumes independent normal losses:

    >>> error = type1_error("kfold-t", problem="normal(cv='kfold:10')", sets=4000)
    >>> error.at(0.05).low < 0.05 < error.at(0.05).high
    True
    """
    simulation, result = run_test(test, learners, problem, cv, simulation, arguments)
    rows = _by_level(result, result.rejected)
    above, below = (
        ", ".join(
            f"{100 * row['alpha']:g} %" for row in rows if sign * row[end] > sign * row["alpha"]
        )
        for end, sign in (("low", 1), ("high", -1))
    )
    verdict = "Its rejection rates agree with its levels."
    if above:
        verdict = f"It rejects too often at {above}."
    elif below:
        verdict = f"It keeps its level, and is conservative at {below}."
    sentences = (
        f"Type I error of {result.name}: it rejects on {_listed(rows)} ({100 * LEVEL:g} % "
        f"intervals).\n{verdict}\nMeasured on {simulation.explain()}"
    )
    return Measured(
        measure="type1", test=result.name, rows=tuple(rows), sentences=sentences, outcomes=result,
        simulation=simulation,
    )  # fmt: skip


def power(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "network(paper=2)",
    cv: Any = "10x10",
    *,
    simulation: Simulation | None = None,
    **arguments: Any,
) -> Measured:
    """Measure how often a test detects a true difference.

    Parameters
    ----------
    test, learners, cv, simulation, **arguments
        As for `type1_error`.
    problem : str, problem, or a list of them
        Problems on which the learners differ. The true difference is known, or estimated and
        reported with its standard error.

    Examples
    --------
    >>> result = power("kfold-t", problem="normal(means=(0, 1), cv='kfold:10')", sets=500)
    >>> bool(0.4 < result.at(0.05).rate < 0.6)
    True
    """
    several = isinstance(problem, Sequence) and not isinstance(problem, str)
    rows: list[Row] = []
    lines: list[str] = []
    for generator in problem if several and simulation is None else [problem]:
        simulated, result = run_test(test, learners, generator, cv, simulation, {**arguments})
        truth = truth_of(simulated, learners)
        # a test of K learners calls no learner better
        wrong = result.rejected & (result.verdict != truth.best + 1) & (result.better is not None)
        facts = {
            "problem": simulated.problem.describe(),
            "true_difference": truth.difference,
            "true_difference_error": truth.error,
        }
        found, missed = _by_level(result, result.rejected), _by_level(result, wrong)
        rows += [
            {**facts, **row, "wrong": other["rate"], "wrong_count": other["count"]}
            for row, other in zip(found, missed, strict=True)
        ]
        lines.append(
            f"- {truth.explain()} It is detected on {_listed(found)}; the wrong learner is called "
            f"better on up to {100 * max(row['rate'] for row in missed):.1f} %. Measured on "
            f"{simulated.explain()}"
        )
    sentences = "\n".join([f"Power of {result.name}:", *lines])
    return Measured(
        measure="power", test=result.name, rows=tuple(rows), sentences=sentences, outcomes=result,
        simulation=simulated,
    )  # fmt: skip


def agreement_of(verdict: npt.NDArray[np.int64]) -> Row:
    """Return how often verdicts of shape (sets, repeats) agree, by both published definitions.

    The rate is the share of data sets on which all repeats agree (Bouckaert 2003). `pairs` is the
    probability that two repeats on the same data set agree (Bouckaert 2004), with its interval
    over data sets: 0 to 1 for one data set.

    Examples
    --------
    >>> agreement = agreement_of(np.array([[0, 0, 0], [1, 1, 0]]))
    >>> agreement["rate"], round(agreement["pairs"], 4)
    (0.5, 0.6667)
    """
    sets, repeats = verdict.shape
    whole(repeats, "repeats", at_least=2)
    same = verdict[:, :, np.newaxis] == verdict[:, np.newaxis, :]
    pairs: Floats = (same.sum(axis=(1, 2)) - repeats) / (repeats * (repeats - 1))
    mean, half = float(pairs.mean()), np.inf
    if sets > 1:
        z = float(normal_quantile(0.5 + LEVEL / 2))
        half = z * float(pairs.std(ddof=1)) / float(np.sqrt(sets))
    return {
        **rate_of(int((verdict == verdict[:, :1]).all(axis=1).sum()), sets),
        "pairs": mean,
        "pairs_low": max(0.0, mean - half),
        "pairs_high": min(1.0, mean + half),
    }


def replicability(
    test: Test = "auto",
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: Any = "10x10",
    *,
    repeats: int = 10,
    simulation: Simulation | None = None,
    **arguments: Any,
) -> Measured:
    """Measure whether other random splits of the same data give the same verdict.

    Parameters
    ----------
    test, learners, problem, cv, **arguments
        As for `type1_error`.
    repeats : int
        Number of random split choices for each data set. ``lab.problem("given", data=...)`` is
        your own data with its own labels.
    simulation : Simulation, optional
        Use these losses, with two or more repeats, instead of simulating.

    Returns
    -------
    Measured
        The rows hold the rates of `agreement_of`, and how often each learner was significantly
        better (`better`).

    References
    ----------
    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    R. R. Bouckaert (2004). Estimating replicability of classifier learning experiments.
    Proceedings of ICML 2004. doi:10.1145/1015330.1015338

    Examples
    --------
    >>> result = replicability("kfold-t", ["max", "naive-bayes"], "binary(rows=60)", "kfold:5",
    ...                        sets=20, repeats=4)
    >>> result.at(0.05).pairs >= result.at(0.05).rate
    True
    """
    if simulation is None:
        arguments["repeats"] = whole(repeats, "repeats", at_least=2)
        if isinstance(problem, GivenRows):
            arguments.setdefault("sets", 1)
    simulation, result = run_test(test, learners, problem, cv, simulation, arguments)
    repeats = simulation.repeats
    first, second = simulation.learners[:2]
    names = ["none", "any" if result.better is None else first, second]
    rows = []
    lines = [f"Replicability of {result.name}, {repeats} choices of splits per data set:"]
    for level, alpha in enumerate(result.alphas):
        verdicts = result.verdict[:, :, level]
        better = {
            names[one]: int(n)
            for one, n in zip(*np.unique(verdicts, return_counts=True), strict=True)
        }
        row = {"alpha": alpha, **agreement_of(verdicts), "better": better}
        rows.append(row)
        two = f"two of them agree with probability {100 * row['pairs']:.1f} %"
        if simulation.sets == 1:
            same = "the same verdict" if len(better) == 1 else "different verdicts"
            counts = ", ".join(f"{name} {count}" for name, count in better.items())
            agree = f"the {repeats} give {same} (better: {counts}); {two}."
        else:
            ends = f"{100 * row['pairs_low']:.1f} to {100 * row['pairs_high']:.1f}"
            agree = (
                f"all {repeats} give the same verdict on {_percent(row)} of the data sets; {two} "
                f"({ends})."
            )
        lines.append(f"- level {100 * alpha:g} %: {agree}")
    return Measured(
        measure="replicability", test=result.name, rows=tuple(rows), outcomes=result,
        sentences="\n".join([*lines, f"Measured on {simulation.explain()}"]), simulation=simulation,
    )  # fmt: skip


def false_claims(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "many-data-sets",
    cv: Any = "10x10",
    *,
    sets: int = 1000,
    simulation: Simulation | None = None,
    **options: Any,
) -> Measured:
    """Measure how often `compare_scores` makes a false claim, anywhere in its result.

    Parameters
    ----------
    learners, problem, cv, sets
        The simulation; see `simulate`. The problem must have a known best learner: *blocks*,
        *binary*, or a problem that draws losses.
    simulation : Simulation, optional
        Use these losses instead of simulating.
    **options
        For `compare_scores`: `prefer`, `procedure`, `test`, `family`, `correction`, `alpha`, ...,
        with the defaults of `compare_scores`. For `simulate`: `random_state`, `n_jobs`, `engine`,
        `scheduler`, `store`, `progress`.

    Returns
    -------
    Measured
        One row: the rate of decisions with a false claim, the rate of those that call a learner
        better which is truly worse (`reversed_rate`), and the mean share of the truly different
        pairs that are claimed in the right direction (`found`; None if no two learners differ).

    Notes
    -----
    A claim says that one learner of a pair is significantly better than the other. It is false
    unless the expected loss of that learner is truly smaller. So claims about equal learners are
    false, and so are claims in the wrong direction. The rate counts decisions with at least one
    false claim (the family-wise error), whether all learners are equal or only some.

    Examples
    --------
    >>> result = false_claims(problem="many-data-sets(means=(0.3, 0.2, 0.2))", sets=20)
    >>> result.at().n, result.at().equal_pairs, result.at().different_pairs
    (20, 1, 2)
    """
    names = ("random_state", "n_jobs", "engine", "scheduler", "store", "progress")
    running = {name: options.pop(name) for name in names if name in options}
    if simulation is None:
        # refuse problems without a known truth and impossible options before simulating
        rehearsal = rehearse(learners, problem, cv)
        known_truth(rehearsal)
        _decided(rehearsal, options)
        simulation = simulate(learners, problem, cv, sets=sets, **running)
    many, alpha = _decided(simulation, options), options.get("alpha", 0.05)
    means = np.array(known_truth(simulation).means)
    # claims[i, j] says that i is better, which is true if this is negative
    gap = means[:, np.newaxis] - means
    different, n = int((gap < 0).sum()), simulation.sets
    wrong, opposite = (
        rate_of(int((many.claims & false).any(axis=(1, 2)).sum()), n)
        for false in (gap >= 0, gap > 0)
    )
    right = int((many.claims & (gap < 0)).sum())
    row = {
        "alpha": alpha,
        **wrong,
        **{f"reversed_{name}": opposite[name] for name in ("rate", "low", "high", "count")},
        "found": right / (n * different) if different else None,
        "equal_pairs": len(means) * (len(means) - 1) // 2 - different,
        "different_pairs": different,
    }
    plain = (bool, int, float, str, type(None))
    settings = {k: v if isinstance(v, plain) else str(v) for k, v in options.items()}
    test, drawn = ", ".join(many.tests), f"{simulation.drawn}s"
    described = ", ".join([test, *(f"{name} {value}" for name, value in settings.items())])
    verdict = "Its error rate agrees with the allowed one."
    if row["low"] > alpha:
        verdict = "It makes false claims too often."
    elif row["high"] < alpha:
        verdict = "It keeps its error rate, and is conservative."
    if different:
        verdict += (
            f" {counted(different, 'pair')} of learners truly "
            f"{'differs' if different == 1 else 'differ'}: {100 * row['found']:.1f} % of these "
            "differences are detected, and the wrong learner is called better on "
            f"{_percent(row, 'reversed_')} of the {drawn}."
        )
    sentences = (
        f"The decision ({described}) makes a false claim about {len(means)} learners on "
        f"{_percent(row)} of the {drawn}; {100 * alpha:g} % are allowed ({100 * LEVEL:g} % "
        f"intervals).\n{verdict}\nMeasured on {simulation.explain()}"
    )
    return Measured(
        measure="claims", test=test, rows=(row,), sentences=sentences, settings=settings,
        simulation=simulation,
    )  # fmt: skip


def _decided(simulation: Simulation, options: Mapping[str, Any]) -> ManyDecisions:
    """Return the decisions on every table, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulation.decided(repeats=1, **options)
