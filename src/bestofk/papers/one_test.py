"""Run one test on a table of losses: on all pairs, on one pair, or on all learners at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import RandomState, one_of, side, significance_level
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError
from bestofk._base.formatting import counted
from bestofk._base.results import Presented, present, row_dicts
from bestofk.decide.cautions import caution_of
from bestofk.decide.choose_test import SITUATION_WORDS, Choice, choose_test
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.pairs import compare_pairs
from bestofk.decide.preference import LISTED
from bestofk.decide.problem import Problem, as_problem, reading_arguments
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
    means: Mapping[int | str, float] = field(default_factory=dict)
    """Mean losses, for tests of all learners."""

    @property
    def pvalue(self) -> Any:
        """The p-value of the result: one number, or one per pair."""
        return self.result.pvalue

    def explain(self) -> str:
        """Return the outcome in sentences."""
        return self.words

    def _screen(self) -> tuple[str, Mapping[str, Any], str]:
        if isinstance(self.result, Evidence):
            return self.words, {"": self.result}, ""
        names = sorted(self.means, key=self.means.__getitem__)
        means = [self.metric.shown(self.means[name]) for name in names]
        table = {"learner": names, self.metric.mean: means}
        return self.words, {"": table} if names else {}, ""

    def to_frame(self) -> Any:
        """Return the table of the result."""
        if isinstance(self.result, Evidence):
            return present("frame", self.result.columns())
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
            body: dict[str, Any] = {"evidence": row_dicts(self.result.columns())}
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
    rule: str | None = None,
    random_state: RandomState = 0,
    **reading: Any,
) -> TestReport:
    """Run one test on a table of losses.

    - `losses`: As for `bestofk.compare_scores`.
    - `test`: A name of ``bestofk list tests``.
    - `pair`: Only these two learners, for pairwise tests.
    - `alternative`, `alpha`, `df`, `random_state`: As for the test.
    - `correction`: Over all pairs.
    - `missing` {"refuse", "drop", "allow"}: As for `bestofk.compare_scores`.
    - `rule` {"vertex", "paper"}: Of ``"bootstrap-b"``.
    - `**reading`: For a file or data frame: what `read_scores` takes, such as
      ``higher_is_better=True``.

    Examples
    --------
    >>> import bestofk as bk
    >>> table = bk.Scores([[0.312, 0.287, 0.301], [0.201, 0.18, 0.205]], learners=["a", "b"])
    >>> report = run_test(table, "kfold-t", pair=("a", "b"))
    >>> round(report.result.statistic, 3)
    23.339
    """
    alpha = significance_level(alpha)
    taken = reading_arguments(reading)
    problem = as_problem(losses, prefer=LISTED, missing=missing, reading=taken)
    for name in reading:
        raise TypeError(f"run_test() got an unexpected keyword argument {name!r}")
    names: tuple[int | str, ...] = problem.names
    means: dict[int | str, float] = {}
    takes_rule = test in MULTIPLE_TESTS and MULTIPLE_TESTS[test].takes("rule")
    if rule is not None and not takes_rule:
        raise ArgumentError(f"rule does not apply to {test!r}, but to 'bootstrap-b'.")
    if test in PAIRWISE_TESTS:
        sides = side(alternative)
        choice = choose_test(
            problem, test, one_sided=sides != "two-sided", df=df, random_state=random_state
        )
        if pair is None:
            one_of(correction, "correction", CORRECTIONS)
            family = Family(learners=len(names), alpha=alpha, correction=correction)
            result, words = _all_pairs(problem, choice, family, sides)
        else:
            result, words = _one_pair(problem, choice, pair, sides, alpha)
            names = pair
        if caution := caution_of(problem, choice):
            words = f"{words}\nCaution: {caution}"
    else:
        if test not in MULTIPLE_TESTS:
            raise UnknownNameError("test", test, [*PAIRWISE_TESTS, *MULTIPLE_TESTS])
        one_sided = None if alternative == "two-sided" else alternative
        for name, given in {"pair": pair, "df": df, "alternative": one_sided}.items():
            if given is not None:
                raise ArgumentError(f"{name} does not apply to {test!r}, a test of all learners.")
        options = {"alpha": alpha, "random_state": random_state, "rule": rule or "vertex"}
        result, words = _all_learners(problem, MULTIPLE_TESTS[test], missing, options)
        means = dict(zip(names, problem.means().tolist(), strict=True))
    return TestReport(
        test=test,
        design=problem.describe(),
        alpha=alpha,
        names=names,
        result=result,
        words=words,
        metric=problem.metric,
        means=means,
    )


def _one_pair(
    problem: Problem, choice: Choice, pair: tuple[str, str], alternative: str, alpha: float
) -> tuple[Any, str]:
    """Return the result of the test of two learners, and its sentences."""
    for name in pair:
        if name not in problem.names:
            raise UnknownNameError("learner", name, [str(known) for known in problem.names])
    values = problem.sample(choice.axes)
    a, b = (values[problem.names.index(name)] for name in pair)
    result = choice(a, b, alternative)
    return result, f"{result.explain(names=pair, alpha=alpha)}\n{_from_words(problem)}"


def _from_words(problem: Problem) -> str:
    """Return what was tested, and which loss it is if the user's numbers are scores."""
    metric = problem.metric
    loss = f"{metric.offset:g} - {metric.name}" if metric.offset else f"-{metric.name}"
    scores = f" The loss is {loss}." if metric.higher_is_better else ""
    return f"From {problem.describe()}.{scores}"


_SIDES = {
    "two-sided": "two-sided",
    "greater": "one-sided (is the first of a pair worse?)",
    "less": "one-sided (is the first of a pair better?)",
}


def _all_pairs(
    problem: Problem, choice: Choice, family: Family, alternative: str
) -> tuple[Evidence, str]:
    """Return the evidence about all pairs, and its sentences."""
    evidence = compare_pairs(
        choice, family, problem.sample(choice.axes), problem.means(), names=problem.names,
        alternative=alternative, metric=problem.metric,
    )  # fmt: skip
    shown = int(np.count_nonzero(evidence.better))
    words = (
        f"{choice.name}, {_SIDES[alternative]}, alpha = {family.alpha:g}"
        f"{correction_words(evidence)}, from {problem.describe()}. A difference is shown in "
        f"{shown} of {counted(len(evidence), 'pair')}; differences in {problem.metric.mean}, first "
        "minus second."
    )
    return evidence, words


def _all_learners(
    problem: Problem, entry: MultipleTest, missing: str, options: dict[str, Any]
) -> tuple[Any, str]:
    """Return the result of a test of all learners, and its sentences."""
    situations = set(problem.situations)
    if not situations.intersection(entry.covers) and not problem.bare:
        covers = " or ".join(SITUATION_WORDS[situation] for situation in entry.covers)
        fits = [name for name, one in MULTIPLE_TESTS.items() if situations.intersection(one.covers)]
        offer = f"tests that fit are {', '.join(fits)}" if fits else "no test of all learners fits"
        raise DesignError(
            f"test {entry.name!r} covers {covers}; the losses are {problem.describe()}: {offer}."
        )
    names = [str(name) for name in problem.names]
    arguments = {**options, "names": names}
    taken = {name: value for name, value in arguments.items() if entry.takes(name)}
    result = entry.load()(_table(problem, entry, missing), **taken)
    return result, f"{result.explain(names=names, alpha=options['alpha'])}\n{_from_words(problem)}"


def _table(problem: Problem, entry: MultipleTest, missing: str) -> Any:
    if entry.zero_one:
        wrong = problem.sample(1)
        if not np.isin(wrong, (0.0, 1.0)).all():
            raise DesignError(
                f"test {entry.name!r} covers losses of 0 or 1 per instance; these are others."
            )
        return 1.0 - wrong
    if entry.axes == 4 and problem.losses is not None:
        values = problem.losses.losses
        if missing == "drop":
            values = values[:, ~np.isnan(values).any(axis=(0, 2, 3, 4))]
        if np.isnan(values).any():
            return problem.sample(1)
        return values.reshape(values.shape[0], values.shape[1], -1, values.shape[4])
    return problem.sample(1)
