"""Run one test on a table of losses: on all pairs, on one pair, or on all learners at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import RandomState, one_of, side, significance_level
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError
from bestofk._base.results import Presented
from bestofk.decide.choose_test import SITUATION_WORDS, choose_test
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.pairs import compare_pairs
from bestofk.decide.preference import LISTED
from bestofk.decide.problem import Problem, as_problem
from bestofk.decide.statements.details import claims_sentence
from bestofk.decide.statements.wording import correction_words
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestReport(Presented):
    """The outcome of one test on a table, in words and as a JSON object."""

    __test__ = False

    test: str
    design: str
    alpha: float
    names: tuple[int | str, ...]
    result: Any
    """The `Evidence` of all pairs, or the result of the test's own function."""
    words: str
    metric: Metric = field(default_factory=Metric)

    @property
    def pvalue(self) -> Any:
        """The p-value of the result: one number, or one per pair."""
        return self.result.pvalue

    def explain(self) -> str:
        """Return the outcome in sentences."""
        return self.words

    def to_frame(self) -> Any:
        """Return the table of the result."""
        return self.result.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome for strict JSON: no NaN, no infinity."""
        from bestofk.version import __version__

        head: dict[str, Any] = {
            "test": self.test,
            "design": self.design,
            "alpha": self.alpha,
            "learners": list(self.names),
            "metric": {
                "name": self.metric.name, "higher_is_better": self.metric.higher_is_better
            },
        }  # fmt: skip
        if isinstance(self.result, Evidence):
            body: dict[str, Any] = {"evidence": [pair.to_dict() for pair in self.result]}
        else:
            result = self.result.to_dict()
            body = {name: one for name, one in result.items() if name != "test"}
            if self.metric.higher_is_better:
                body |= _in_metric(body, self.metric)
        return {**head, **body, "explanation": self.words, "version": __version__}


def _in_metric(held: Mapping[str, Any], metric: Metric) -> dict[str, Any]:
    """Return the means, differences and intervals of a result in the user's metric."""
    found: dict[str, Any] = {}
    for name in ("mean", "means"):
        if held.get(name) is not None:
            found[name] = metric.shown(np.asarray(held[name], dtype=float)).tolist()
    if isinstance(held.get("estimate"), float):
        found["estimate"] = metric.difference(held["estimate"])
    ends = [held.get("low"), held.get("high")]
    if any(isinstance(end, float) for end in ends):
        low, high = (None if end is None else 0.0 - end for end in reversed(ends))
        found |= {"low": low, "high": high}
    return found


def run_test(
    losses: Any,
    test: str,
    *,
    pair: tuple[str, str] | None = None,
    alternative: str = "two-sided",
    correction: str = "holm",
    alpha: float = 0.05,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **reading: Any,
) -> TestReport:
    """Run one test on a table of losses.

    - `losses`: As for `bestofk.order`.
    - `test`: A name of ``bestofk list tests``.
    - `pair`: Only these two learners, for pairwise tests.
    - `alternative`, `alpha`, `df`, `random_state`: As for the test.
    - `correction`: Over all pairs.
    - `missing` {"refuse", "drop", "allow"}: As for `bestofk.order`.
    - `**reading`: For a file or data frame: what `read_losses` takes, such as
      ``higher_is_better=True``.

    Examples
    --------
    >>> import bestofk as bk
    >>> table = bk.Losses([[0.312, 0.287, 0.301], [0.201, 0.18, 0.205]], algorithms=["a", "b"])
    >>> report = run_test(table, "kfold-t", pair=("a", "b"))
    >>> round(report.result.statistic, 3)
    23.339
    """
    alpha = significance_level(alpha)
    problem = as_problem(losses, prefer=LISTED, missing=missing, arguments=reading)
    for name in reading:
        raise TypeError(f"run_test() got an unexpected keyword argument {name!r}")
    if test in PAIRWISE_TESTS:
        if pair is not None:
            return _one_pair(problem, test, pair, side(alternative), alpha, df, random_state)
        one_of(correction, "correction", tuple(CORRECTIONS))
        return _all_pairs(problem, test, side(alternative), alpha, df, random_state, correction)
    if test not in MULTIPLE_TESTS:
        raise UnknownNameError("test", test, [*PAIRWISE_TESTS, *MULTIPLE_TESTS])
    for name, given in {
        "pair": pair,
        "df": df,
        "alternative": None if alternative == "two-sided" else alternative,
    }.items():
        if given is not None:
            raise ArgumentError(f"{name} does not apply to {test!r}, a test of all learners.")
    return _all_learners(problem, MULTIPLE_TESTS[test], alpha, random_state)


def _one_pair(
    problem: Problem,
    test: str,
    pair: tuple[str, str],
    alternative: str,
    alpha: float,
    df: float | str | None,
    random_state: RandomState,
) -> TestReport:
    positions = []
    for name in pair:
        if name not in problem.names:
            raise UnknownNameError("learner", name, [str(known) for known in problem.names])
        positions.append(problem.names.index(name))
    choice = choose_test(
        problem, test, one_sided=alternative != "two-sided", df=df, random_state=random_state
    )
    values = problem.sample(choice.axes)
    result = choice(values[positions[0]], values[positions[1]], alternative)
    words = result.explain(names=pair, alpha=alpha)
    return TestReport(
        test=test,
        design=problem.describe(),
        alpha=alpha,
        names=pair,
        result=result,
        words=f"{words}\n{_from_words(problem)}",
        metric=problem.metric,
    )


def _from_words(problem: Problem) -> str:
    """Return what was tested, and which loss it is if the user's numbers are scores."""
    metric = problem.metric
    loss = f"{metric.offset:g} - {metric.name}" if metric.offset else f"-{metric.name}"
    scores = f" The loss is {loss}." if metric.higher_is_better else ""
    return f"From {problem.describe()}.{scores}"


def _all_pairs(
    problem: Problem,
    test: str,
    alternative: str,
    alpha: float,
    df: float | str | None,
    random_state: RandomState,
    correction: str,
) -> TestReport:
    choice = choose_test(
        problem, test, one_sided=alternative != "two-sided", df=df, random_state=random_state
    )
    family = Family(learners=len(problem.names), alpha=alpha, correction=correction)
    evidence = compare_pairs(
        choice, family, problem.sample(choice.axes), problem.means(), names=problem.names,
        alternative=alternative, metric=problem.metric,
    )  # fmt: skip
    sides = {
        "two-sided": "two-sided",
        "greater": "one-sided (is the first of a pair worse?)",
        "less": "one-sided (is the first of a pair better?)",
    }[alternative]
    words = (
        f"{test}, {sides}, alpha = {alpha:g}{correction_words(evidence)}, from "
        f"{problem.describe()}. {claims_sentence(evidence)}"
    )
    return TestReport(
        test=test,
        design=problem.describe(),
        alpha=alpha,
        names=problem.names,
        result=evidence,
        words=words,
        metric=problem.metric,
    )


def _all_learners(
    problem: Problem, entry: MultipleTest, alpha: float, random_state: RandomState
) -> TestReport:
    if not set(entry.covers) & set(problem.situations) and not problem.bare:
        covers = " or ".join(SITUATION_WORDS[situation] for situation in entry.covers)
        fits = [
            name
            for name, other in MULTIPLE_TESTS.items()
            if set(other.covers) & set(problem.situations)
        ]
        offer = f"tests that fit are {', '.join(fits)}" if fits else "no test of all learners fits"
        raise DesignError(
            f"test {entry.name!r} covers {covers}; the losses are {problem.describe()}: {offer}."
        )
    names = [str(name) for name in problem.names]
    function = entry.load()
    arguments = {"alpha": alpha, "random_state": random_state, "names": names}
    taken = {name: value for name, value in arguments.items() if entry.takes(name)}
    result = function(_table(problem, entry), **taken)
    words = result.explain(names=names, alpha=alpha)
    return TestReport(
        test=entry.name,
        design=problem.describe(),
        alpha=alpha,
        names=problem.names,
        result=result,
        words=f"{words}\n{_from_words(problem)}",
        metric=problem.metric,
    )


def _table(problem: Problem, entry: MultipleTest) -> Any:
    if entry.zero_one:
        wrong = problem.sample(1)
        if not np.isin(wrong, (0.0, 1.0)).all():
            raise DesignError(
                f"test {entry.name!r} covers losses of 0 or 1 per instance; these are others."
            )
        return 1.0 - wrong
    if entry.axes == 4 and problem.losses is not None and problem.losses.complete:
        values = problem.losses.values
        return values.reshape(values.shape[0], values.shape[1], -1, values.shape[4])
    return problem.sample(1)
