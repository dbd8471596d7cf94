"""Choose the pairwise test for a design, and the arguments that the design determines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np

from bestofk._base.checks import Floats, positive, side
from bestofk._base.errors import ArgumentError, BestOfKWarning, DesignError, use
from bestofk._base.registry import resolve
from bestofk.decide.problem import BOTH_PARTS, Problem
from bestofk.splits.design import design_advice, is_certain, unclear_design
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS
from bestofk.stats.pairwise.result import PairwiseResult

if TYPE_CHECKING:
    from bestofk.splits.design import Design
    from bestofk.stats.pairwise.calibration import Calibration


SITUATION_WORDS = {
    "kfold": "one run of k folds",
    "repeated-kfold": "several runs of k folds",
    "5x2": "five runs of two folds",
    "resample": "random splits of one data set",
    "bootstrap": "bootstrap samples of one data set",
    "test-set": "one loss per instance of a test set",
    "test-set-auc": "the AUC on one test set",
    "test-set-metric": "a metric of all instances of one test set together",
    "datasets": "several data sets",
    "dataset-folds": "several data sets with at least three folds each",
    "nested": "runs of k folds and pairs of folds left out together",
    "loo": "leave-one-out",
    "time": "windows in order of time",
    "seeds": "training runs with different seeds on one test set",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """A pairwise test with all its arguments except the losses."""

    name: str
    function: Callable[..., Any]
    axes: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    chosen: str = ""
    """Why it was chosen; empty if the caller named it."""
    detail: str = ""
    """How it was changed, such as by a calibration."""
    entry: PairwiseTest | None = None
    notes: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The reason for this test, in a phrase."""
        return "; ".join(filter(None, (self.chosen or "asked for", self.detail)))

    @property
    def two_sided_only(self) -> bool:
        """True if the test cannot say which of two learners is better."""
        return self.entry is not None and self.entry.sides == ("two-sided",)

    @property
    def posterior(self) -> bool:
        """True if the test gives posterior probabilities instead of p-values."""
        return self.entry is not None and self.entry.bayesian

    def smallest_pvalue(self, n: int) -> float:
        """Return the smallest two-sided p-value of the test on n units; 0 if there is no limit."""
        if self.entry is None or self.entry.smallest_pvalue is None:
            return 0.0
        exact = {name: value for name, value in self.arguments.items() if name == "exact"}
        return self.entry.smallest_pvalue(n, **exact)

    def __call__(self, a: Any, b: Any, alternative: str) -> Any:
        """Return the result for losses `a` against `b`."""
        if self.two_sided_only:
            return self.function(a, b, **self.arguments)
        return self.function(a, b, alternative=alternative, **self.arguments)


def _caller_test(
    function: Callable[..., Any],
    name: str,
    axes: int,
    a: Floats,
    b: Floats,
    *,
    alternative: str,
    **arguments: Any,
) -> PairwiseResult:
    """Run a caller's function of the losses of two learners.

    A function that returns a `PairwiseResult` gets all pairs at once. Any other is called pair by
    pair: it gets arrays of shape (n,), or (runs, folds) if there are several runs. It returns a
    p-value, or a result that has one, such as those of scipy.
    """
    with suppress(Exception):
        at_once = function(a, b, alternative=alternative, **arguments)
        if isinstance(at_once, PairwiseResult):
            return at_once
    parameters = signature(function).parameters.values()
    if any(one.name == "alternative" or one.kind is Parameter.VAR_KEYWORD for one in parameters):
        arguments = {**arguments, "alternative": alternative}
    elif alternative != "two-sided":
        raise ArgumentError(
            f"The test {name!r} has no argument alternative, which one-sided decisions need: use ",
            use(family="all"),
            ".",
        )
    lead, units = a.shape[: a.ndim - axes], a.shape[a.ndim - axes :]
    units = units[1:] if units[0] == 1 and axes == 2 else units
    pairs = zip(a.reshape(-1, *units), b.reshape(-1, *units), strict=True)
    results = [function(one, other, **arguments) for one, other in pairs]
    try:
        pvalues = np.array([float(getattr(one, "pvalue", one)) for one in results])
        statistics = np.array([float(getattr(one, "statistic", np.nan)) for one in results])
    except (TypeError, ValueError):
        raise ArgumentError(
            f"The test {name!r} must return one p-value for losses of shape {units}, or a result "
            f"with one as its attribute pvalue; got {results[0]!r:.80}."
        ) from None
    if not ((pvalues >= 0) & (pvalues <= 1)).all():
        raise ArgumentError(f"The test {name!r} must return p-values between 0 and 1.")
    across = tuple(range(a.ndim - axes, a.ndim))
    return PairwiseResult(
        test=name,
        statistic=statistics.reshape(lead),
        pvalue=pvalues.reshape(lead),
        df=None,
        estimate=np.asarray(a.mean(axis=across) - b.mean(axis=across)),
        alternative=side(alternative),
        losses=(a, b),
    )


def choose_test(
    problem: Problem,
    test: str | Callable[..., Any] = "auto",
    *,
    one_sided: bool = False,
    df: Any = None,
    random_state: Any = 0,
    calibrating: bool = False,
    **arguments: Any,
) -> Choice:
    """Return the test to use on `problem`; refuse one that does not cover its design.

    A calibrated critical value makes a test of single losses, such as the sign test, cover any
    design. With `calibrating`, it is about to be measured.
    """
    if isinstance(test, Choice):
        return test
    if callable(test):
        if df is not None:
            arguments = {**arguments, "df": df}
        name = getattr(test, "__name__", type(test).__name__)
        axes = 1 if problem.values.ndim == 2 else 2
        return Choice(
            name=name,
            function=partial(_caller_test, test, name, axes),
            axes=axes,
            arguments=arguments,
            chosen="given by the caller",
        )
    detail = ""
    df = checked_df(df)
    calibration = None if df is None or isinstance(df, str | int | float) else df
    if test == "auto":
        entry, chosen = _automatic(problem)
    else:
        from bestofk.stats.multiple.registry import MULTIPLE_TESTS

        if str(test).lower() in MULTIPLE_TESTS:
            raise ArgumentError(
                f"test {test!r} compares all learners at once, and this rule needs a pairwise "
                f"test: {_offer(problem)}."
            )
        entry, chosen = PAIRWISE_TESTS[test], ""
        measured = calibration is not None and calibration.critical_value is not None
        if not ((measured or calibrating) and _takes_any_losses(entry)):
            _refuse_uncovered(problem, entry)
    _refuse_few_units(problem, entry)
    if one_sided and "greater" not in entry.sides:
        raise DesignError(
            f"test {entry.name!r} is two-sided only, and this rule asks which of two is "
            f"better: {_offer(problem, one_sided=True)}."
        )
    function = entry.load()
    # calibrated or stated degrees of freedom belong to the test without the factor
    plain = calibrating or df is not None
    facts = {} if plain else _widening(problem, entry)
    if df == "calibrated":
        df, detail = _calibrated(problem, entry)
    elif calibration is not None:
        detail = _measured(problem, entry, calibration)
        df, function = calibration.df, calibration.applied(function)
    return Choice(
        name=entry.name,
        function=function,
        axes=BOTH_PARTS if entry.nested else entry.axes,
        arguments={
            **entry.arguments,
            **facts,
            **_facts(problem, entry, df, random_state),
            **arguments,
        },
        chosen=problem.subject.test_reason or chosen,
        detail=detail or _uncalibrated(problem, entry, df),
        entry=entry,
        notes=(entry.note,) if entry.note else (),
    )


def checked_df(df: Any) -> Any:
    """Return None, ``"calibrated"``, a positive number, or a calibration; read it from a file."""
    if df is None or (isinstance(df, str) and df == "calibrated"):
        return df
    from bestofk.stats.pairwise.calibration import Calibration, read_calibration

    if isinstance(df, Calibration):
        return df
    if isinstance(df, str | os.PathLike):
        return read_calibration(df)
    number = positive(df, "df")
    return int(df) if isinstance(df, int | np.integer) else number


def _takes_any_losses(entry: PairwiseTest) -> bool:
    """Return whether the function of a test needs only paired losses in a row."""
    return entry.axes == 1 and not (
        entry.zero_one or entry.nested or entry.needs_sizes or entry.takes("df")
    )


def _uncalibrated(problem: Problem, entry: PairwiseTest, df: Any) -> str:
    """Return the degrees of freedom of a test that could use calibrated ones."""
    if not entry.published_df:
        return ""
    if df is None:
        two = problem.sample(entry.axes)[:2]
        df = entry.load()(two[0], two[-1], **entry.arguments).df
        return f"its t distribution has {df:g} degrees of freedom, which are not calibrated"
    return f"its t distribution has {df:g} degrees of freedom, as given"


def _refuse_few_units(problem: Problem, entry: PairwiseTest) -> None:
    n, least = problem.n_units, entry.at_least_units
    if n >= least:
        return
    if not entry.bayesian:
        raise DesignError(
            f"test {entry.name!r} needs at least {least} losses of each learner; got {n}."
        )
    raise DesignError(
        f"test {entry.name!r} gives posterior probabilities, which err far more often than "
        f"alpha on fewer than {least} data sets; got {n}: {_offer(problem)}."
    )


def covering(problem: Problem, *, one_sided: bool = False) -> list[str]:
    """Return names of the registered tests that cover the design of `problem`."""
    return [
        entry.name
        for entry in PAIRWISE_TESTS.values()
        if set(entry.covers) & set(problem.situations)
        and (not one_sided or "greater" in entry.sides)
        and (not entry.zero_one or problem.zero_one)
        and problem.n_units >= entry.at_least_units
    ]


def _automatic(problem: Problem) -> tuple[PairwiseTest, str]:
    situations = problem.situations
    if not situations and problem.design.kind == "splits":
        raise DesignError(
            f"No test is valid for these {problem.design.describe()}: their test parts share more "
            "rows than those of random splits, or their sizes differ too much. Use the plan "
            "'10x10', or splits that test every row once."
        )
    if not situations:
        raise _nothing_to_test(problem)
    situation = situations[0]
    design = problem.design
    if design.assumed and situation == "kfold" and not is_certain(design.folds):
        receiver = () if problem.bare else (" to Scores, or to compare_scores with an array",)
        raise DesignError(*unclear_design("losses", design.folds, *receiver))
    suitable = (
        entry
        for entry in automatic_tests(situation)
        if (not entry.zero_one or problem.zero_one)
        and (not entry.needs_sizes or problem.bare or problem.design.test_share() is not None)
    )
    entry = next(suitable, None)
    if entry is None:
        raise _sizes_needed(problem)
    reason = f"chosen for {SITUATION_WORDS[situation]}: {entry.automatic[situation]}"
    if problem.bare and problem.values.shape[1] == 1:
        reason += "; an array of two axes is taken as one run of folds"
    return entry, reason


def _nothing_to_test(problem: Problem) -> DesignError:
    numbers = problem.n_units
    if problem.design.kind == "scores" and numbers > 1:
        return DesignError(
            f"The losses are {problem.describe()}: pass ",
            use(design="seeds"),
            " if they are training runs with different seeds on one test set, ",
            *design_advice(numbers),
            ", or ",
            use(design="test-set"),
            " if they are the instances of one test set.",
        )
    return DesignError(
        f"There is nothing to test: the losses are {problem.describe()}, one number per "
        "learner. Give losses by fold, by data set or by test instance; for a printed table of "
        "accuracies, 'bestofk scores FILE --items N' (bestofk.decide.order_printed) says what it "
        "can show."
    )


def _sizes_needed(problem: Problem) -> DesignError:
    """Return the error about splits whose training and test sizes are unknown."""
    n = problem.n_units
    return DesignError(
        f"The test for {problem.describe()} needs the share of rows that each split tests: pass ",
        use(design=f"resample:{n}:0.2"),
        " with your share instead of 0.2, or columns n_train and n_test.",
    )


def automatic_tests(situation: str) -> list[PairwiseTest]:
    """Return the automatic tests of a situation, the first choice first; none is of a plugin."""
    return [entry for entry in PAIRWISE_TESTS.shipped if situation in entry.automatic]


def _refuse_uncovered(problem: Problem, entry: PairwiseTest) -> None:
    if problem.bare and entry.nested:
        raise DesignError(
            f"test {entry.name!r} covers {SITUATION_WORDS['nested']}. An array has no design; "
            "pass Scores with a design."
        )
    if problem.bare:
        # An array has only a shape: check it for 5x2, and trust the caller otherwise.
        if entry.covers == ("5x2",) and problem.values.shape[1:] != (5, 2):
            raise DesignError(
                f"test {entry.name!r} covers five runs of two folds; "
                f"got losses of shape {problem.values.shape}."
            )
        return
    if not set(entry.covers) & set(problem.situations):
        covers = " or ".join(SITUATION_WORDS[situation] for situation in entry.covers)
        raise DesignError(
            f"test {entry.name!r} covers {covers}; the losses are {problem.describe()}: "
            f"{_offer(problem)}."
        )
    if entry.zero_one and not problem.zero_one:
        raise DesignError(
            f"test {entry.name!r} covers losses of 0 or 1 per instance; "
            f"these losses have other values: {_offer(problem)}."
        )


def _offer(problem: Problem, *, one_sided: bool = False) -> str:
    names = covering(problem, one_sided=one_sided)
    return f"tests that fit are {', '.join(names)}" if names else "no test fits"


def _calibrated(problem: Problem, entry: PairwiseTest) -> tuple[float, str]:
    """Return the measured df of a repeated k-fold test for this design, and its source."""
    if not entry.published_df:
        calibrated = [name for name, one in PAIRWISE_TESTS.items() if one.published_df]
        raise ArgumentError(
            use(test_options={"df": "calibrated"}),
            f" applies to {', '.join(calibrated)}; test {entry.name!r} takes a number.",
        )
    design = problem.design
    rows = None
    if design.n_train is not None and design.n_test is not None:
        rows = round((sum(design.n_train) + sum(design.n_test)) / len(design.n_test))
    df, note = resolve(entry.published_df)(
        entry.name,
        design.runs,
        design.folds,
        rows=rows,
        learners=None if problem.bare else [str(name) for name in problem.names],
    )
    return df, f"{note[:1].lower()}{note[1:]}".rstrip(".")


def _measured(problem: Problem, entry: PairwiseTest, calibration: Calibration) -> str:
    """Describe the user's calibration; warn if it is for another test or design."""
    design = problem.design
    mismatch = calibration.check_test(entry.name, design.runs, design.folds)
    if mismatch:
        warn(f"df: {entry.name} {mismatch}; read the result with care.", BestOfKWarning,
             stacklevel=4)  # fmt: skip
    used = (
        f"df {calibration.df}"
        if calibration.df is not None
        else f"p-values scaled, {calibration.critical_value:.4g} to {calibration.alpha:g}"
    )
    return f"calibrated to level {calibration.alpha:g} on {calibration.sets} data sets: {used}"


def _facts(
    problem: Problem, entry: PairwiseTest, df: float | str | None, random_state: Any
) -> dict[str, Any]:
    """Return the arguments of the test that the design determines."""
    facts: dict[str, Any] = {}
    design = problem.design
    if entry.needs_sizes and not problem.bare:
        share = design.test_share()
        if share is None:
            raise _sizes_needed(problem)
        if design.n_train is not None and design.n_test is not None:
            facts["n_test"] = float(np.mean(design.n_test))
            facts["n_train"] = facts["n_test"] / share if design.kind == "time" else float(
                np.mean(design.n_train)
            )  # fmt: skip
        else:
            facts["n_train"], facts["n_test"] = 1.0, share
    if entry.takes("test_share") and not problem.bare and design.test_share() is not None:
        facts["test_share"] = design.test_share()
    if entry.takes("units") and not problem.bare and design.groups is not None:
        facts["units"] = design.groups
    if entry.takes("resolution"):
        facts["resolution"] = _resolution(problem)
    if df is not None:
        if not entry.takes("df"):
            raise ArgumentError(f"df does not apply to test {entry.name!r}; leave it out.")
        facts["df"] = df
    if entry.takes("random_state"):
        facts["random_state"] = random_state
    if entry.nested and problem.subset_values is not None and design.nested_runs:
        facts |= {"runs": design.runs, "folds": design.folds}
        if entry.takes("rows") and design.n_train is not None and design.n_test is not None:
            # the units are the groups, if there are any
            facts["rows"] = design.groups or design.n_train[0] + design.n_test[0]
    return facts


ROWS_ALLOWANCE, SERIES_ALLOWANCE = 2.4, 3.0
"""Measured by ``python studies/interval_coverage.py``: intervals cover on such losses, too."""
MAX_WIDENED_ROWS = 1000
"""With more rows the mean of a fold is hardly skewed."""
MAX_CHECKED_PAIRS = 1000


def _widening(problem: Problem, entry: PairwiseTest) -> dict[str, float]:
    """Return the argument by which the test allows for losses that are worse than they look.

    On n units the standard error is multiplied by ``1 + c / n``, and c is larger if the differences
    are visibly skewed: then the pairs without visible skewness are suspect as well. Folds do not
    show how the losses of single rows are distributed, so their factor depends on the number of
    rows only. A test of a series looks at the dependence of each pair.
    """
    if entry.widened == "dependent rows":
        return {"allowance": SERIES_ALLOWANCE}
    if entry.widened == "skewed rows":
        factor = 1.0 if _are_error_rates(problem) else row_widening(problem.design)
        return {"widened": factor} if factor > 1.0 else {}
    if entry.widened == "skewed units":
        from bestofk.stats.pairwise.skew_corrected import unit_widening

        d, learners = pair_differences(problem), len(problem.names)
        n, doubtful = d.shape[1], False
        if n >= 3:
            skewness, variance = skewness_of(d)
            doubtful = float(np.square(skewness).mean() / variance) > 1.0 + 5.0 / learners
        return {"widened": unit_widening(n, 1.0 + float(np.log10(learners)) if doubtful else 1.0)}
    return {}


def row_widening(design: Design) -> float:
    """Return the factor of the standard error for losses that are not error rates."""
    if design.n_train is None or design.n_test is None:
        return 1.0
    rows = design.groups or design.n_train[0] + design.n_test[0]
    return 1.0 if rows >= MAX_WIDENED_ROWS else 1.0 + ROWS_ALLOWANCE / float(np.sqrt(rows))


def _are_error_rates(problem: Problem) -> bool:
    """Return whether all losses are shares of wrong rows.

    Differences of right or wrong predictions with mean 0 are symmetric.
    """
    design = problem.design
    if design.n_test is None:
        return False
    n_test = np.resize(np.asarray(design.n_test), design.runs * design.folds)
    losses = problem.sample(1)
    wrong = losses * n_test
    whole = np.abs(wrong - np.round(wrong)).max() <= 1e-6 * np.abs(wrong).max()
    return bool(whole and losses.min() >= 0.0 and losses.max() <= 1.0)


def pair_differences(problem: Problem) -> Floats:
    """Return the differences (pairs, n) of the first pairs of learners."""
    losses = problem.sample(1)
    # runs of different learners are not paired, and some learners may have more
    n = int(np.isfinite(losses).sum(axis=1).min())
    values = np.stack([row[np.isfinite(row)][:n] for row in losses])
    first, second = (index[:MAX_CHECKED_PAIRS] for index in np.triu_indices(len(values), 1))
    return np.asarray(values[first] - values[second])


def skewness_of(d: Floats) -> tuple[Floats, float]:
    """Return the skewness of every row, and its variance for normal numbers."""
    from bestofk.stats.pairwise.skew_corrected import sample_skewness

    n = d.shape[1]
    variance = 6.0 * n * (n - 1.0) / ((n - 2.0) * (n + 1.0) * (n + 3.0))
    return sample_skewness(d - d.mean(axis=1, keepdims=True), axis=1), variance


def _resolution(problem: Problem) -> float:
    """Return the smallest step of the losses: one instance of one fold for zero-one losses."""
    from bestofk.stats.pairwise.differences import resolution_of

    sizes = problem.design.n_test
    if problem.n_datasets == 1 and sizes is not None and problem.design.repetitions == 1:
        wrong = problem.sample(1) * np.asarray(sizes, dtype=float)
        if np.allclose(wrong, np.round(wrong), rtol=0.0, atol=1e-6):
            return 1.0 / float(np.mean(sizes))
    return float(resolution_of(problem.values))
