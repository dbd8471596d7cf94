"""Estimate the error rate of one learner from data, by several methods, with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import one_of, probability, whole
from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk._base.results import Presented
from bestofk.learners.preparation import ready_learner
from bestofk.learners.specification import named_learners
from bestofk.papers.stats.estimates import (
    bootstrap_632,
    bootstrap_632_plus,
    leave_one_out_bootstrap_error,
    no_information_rate,
)
from bestofk.papers.whole_plans import predict_plan
from bestofk.run.inputs import as_datasets
from bestofk.splits.plans import plan
from bestofk.stats.intervals import clopper_pearson, normal, test_set_bound, wilson

METHODS = (
    "resubstitution", "holdout", "cross-validation", "leave-one-out", "bootstrap", ".632", ".632+",
)  # fmt: skip
OPTIONAL_METHODS = ("repeated-cross-validation", "full-bootstrap")
"""Methods that run only when named."""
BOOTSTRAPS = ("bootstrap", ".632", ".632+", "full-bootstrap")
NOTES = {
    "resubstitution": "its own training rows: optimistic",
    "holdout": "one model, rows that it has not seen",
    "cross-validation": "each row once; models share training rows",
    "repeated-cross-validation": "mean of all folds of ten cross-validations",
    "leave-one-out": "each row by a model of all others",
    "bootstrap": "samples without the row: pessimistic",
    "full-bootstrap": "all rows, most of them in the sample: optimistic",
    ".632": "0.368 resubstitution + 0.632 bootstrap",
    ".632+": "as .632; the bootstrap counts more if it overfits",
}
MAX_SHARE_OF_POPULATION = 0.05
"""A test set of a larger share of the population needs the finite population correction."""
SMALL_TEST_SET = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedError:
    """The error rate by one method, with intervals as (low, high) by name.

    Only the hold-out has intervals, and the normal one only if its rules of thumb hold.
    """

    method: str
    error: float
    errors: float
    """Wrong predictions; a real number for the means of several models."""
    n: int
    intervals: dict[str, tuple[float, float]]
    broken_rules: tuple[str, ...]
    """Rules of thumb for the normal interval that do not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEstimates(Presented):
    """The error rate of one learner, by several methods.

    Attributes
    ----------
    learner, dataset : str
        Their names.
    rows : int
        Rows of the data set.
    level : float
        Confidence level of the intervals.
    population : int or None
        Size of a finite population, for the correction of the normal interval.
    estimates : tuple of EstimatedError
        One per method.
    """

    learner: str
    dataset: str
    rows: int
    level: float
    population: int | None
    estimates: tuple[EstimatedError, ...]

    def __getitem__(self, method: str) -> EstimatedError:
        return {estimate.method: estimate for estimate in self.estimates}[method]

    def _columns(self) -> dict[str, Any]:
        """Return one row per method."""
        names = ("method", "error", "n")
        columns = {name: [getattr(one, name) for one in self.estimates] for name in names}
        for name in dict.fromkeys(name for one in self.estimates for name in one.intervals):
            for k, end in enumerate(("low", "high")):
                ends = [one.intervals.get(name, (None, None))[k] for one in self.estimates]
                columns[f"{name}_{end}"] = ends
        return columns

    def explain(self) -> str:
        """State the learner and the data, the intervals, and the rules of thumb that fail."""
        return "\n".join([f"{self._head()}:", *self._about_intervals()])

    def _screen(self) -> tuple[str, dict[str, dict[str, Any]], str]:
        columns = {
            "method": [one.method for one in self.estimates],
            "error": [f"{one.error:.4f}" for one in self.estimates],
            "models and test rows": [NOTES[one.method] for one in self.estimates],
        }
        return self._head(), {"": columns}, "\n".join(self._about_intervals())

    def _head(self) -> str:
        return f"Error of {self.learner} on {self.dataset}, {self.rows} rows"

    def _about_intervals(self) -> list[str]:
        lines = []
        for one in self.estimates:
            ends = ", ".join(
                f"{name} at most {high:.3f}"
                if name == "Langford"
                else f"{name} {low:.3f} to {high:.3f}"
                for name, (low, high) in one.intervals.items()
            )
            if ends:
                lines.append(f"{100 * self.level:g} % intervals of {one.method}: {ends}.")
            if ends and self.population is not None and "normal" not in one.intervals:
                lines.append(f"There is no normal interval: {'; '.join(one.broken_rules)}.")
        if not all(one.intervals for one in self.estimates):
            lines.append(
                "Only the hold-out has intervals: those of the other methods would cover too "
                "rarely, because their models share rows."
            )
        if self.population is not None:
            lines.append(
                f"The normal intervals have the correction for a population of {self.population}."
            )
        return lines


def estimate(
    learner: Any,
    data: Any,
    target: Any = None,
    *,
    methods: Sequence[str] = METHODS,
    level: float = 0.95,
    folds: int = 10,
    test_share: float = 1 / 3,
    samples: int = 50,
    population: int | None = None,
    random_state: int = 0,
    columns: Mapping[str, str] | None = None,
) -> ErrorEstimates:
    """Estimate the error rate of one learner on data.

    Parameters
    ----------
    learner : str or estimator
        As for `bestofk.compare`.
    data, target
        As for `bestofk.compare`; one data set with labels.
    methods : sequence of str
        Of ``"resubstitution"``, ``"holdout"``, ``"cross-validation"``, ``"leave-one-out"``,
        ``"bootstrap"`` (leave-one-out bootstrap), ``".632"`` and ``".632+"``. Only when named:
        ``"repeated-cross-validation"``, the mean error of the folds of ten cross-validations, and
        ``"full-bootstrap"``, which tests every sample on all rows and is optimistic.
    level : float
        Confidence level of the intervals.
    folds : int
        Stratified folds of the cross-validation.
    test_share : float
        Share of the rows that the hold-out tests.
    samples : int
        Bootstrap samples.
    population : int, optional
        Number of rows of a finite population from which the data were drawn without replacement.
        The normal interval is then narrower by the factor sqrt((N - n) / (N - 1)).
    random_state : int
        Seed of folds, samples and learner.
    columns : mapping, optional
        As for `bestofk.compare`.

    Returns
    -------
    ErrorEstimates

    Notes
    -----
    The intervals treat the tested rows as independent, which holds for the hold-out only. For the
    other methods they would cover too rarely (those of resubstitution never, if the learner is the
    nearest neighbour), so there are none. Rules of thumb for the normal interval: more than 100
    test rows (Witten and Frank); n e (1 - e) at least 5 (Mitchell); n e and n (1 - e) above 5
    (Weiss, Devroye); at most 5 % of the population tested (Weiss).

    Examples
    --------
    >>> import bestofk as bk
    >>> result = estimate("nn", bk.read_data("iris"), methods=["resubstitution", "leave-one-out"])
    >>> [(one.method, round(one.error, 4)) for one in result.estimates]
    [('resubstitution', 0.0), ('leave-one-out', 0.0467)]
    """
    datasets = as_datasets(data, target, task="auto", columns=columns)
    if len(datasets) != 1 or datasets[0].task != "classification":
        raise ArgumentError("estimate needs one data set with labels as target.")
    dataset = datasets[0]
    chosen = [one_of(method, "methods", (*METHODS, *OPTIONAL_METHODS)) for method in methods]
    if not chosen:
        raise ArgumentError(f"methods must name at least one of {', '.join(METHODS)}.")
    level = probability(level, "level")
    whole(samples, "samples", at_least=2)
    if population is not None and whole(population, "population", at_least=1) < dataset.n:
        raise ArgumentError(f"population must be at least {dataset.n}, the number of rows.")
    name, estimator = next(iter(named_learners([learner]).items()))
    y, everyone = dataset.encoded().y, np.arange(dataset.n)
    plans = {
        "holdout": f"holdout:{test_share:.6g}",
        "cross-validation": f"kfold:{folds}",
        "repeated-cross-validation": f"10x{folds}",
        "leave-one-out": "loo",
        "bootstrap": f"bootstrap:{samples}",
    }

    @cache
    def splits_of(method: str) -> Any:
        made = plan(plans[method], random_state=random_state)
        return made.materialise(dataset.n, dataset.y)

    @cache
    def wrong_of(method: str) -> list[tuple[Any, Any]]:
        """Return the test rows and the wrong predictions of every split."""
        splits = splits_of(method)
        seeds = [random_state] * (splits.runs * splits.folds)
        predicted = predict_plan(estimator, dataset, splits, seeds=seeds)
        tested = [test for _, _, _, test in splits]
        return [(test, codes != y[test]) for codes, test in zip(predicted, tested, strict=True)]

    def codes_of(train: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """Return the codes that a model of some rows predicts for all rows."""
        from sklearn.base import clone

        model = clone(ready_learner(estimator, dataset).estimator)
        model.fit(dataset.X.iloc[train], dataset.y.iloc[train])
        position = {label: k for k, label in enumerate(dataset.encoded().classes.tolist())}
        return np.array(
            [position[label] for label in np.asarray(model.predict(dataset.X)).tolist()]
        )

    own_codes = cache(lambda: codes_of(everyone))

    def bootstrap(method: str) -> float:
        if method == "full-bootstrap":
            trained = [train for _, _, train, _ in splits_of("bootstrap")]
            return float(np.mean([(codes_of(train) != y).mean() for train in trained]))
        splits = wrong_of("bootstrap")
        losses = np.full((len(splits), dataset.n), np.nan)
        for sample, (test, wrong) in enumerate(splits):
            losses[sample, test] = wrong
        outside = leave_one_out_bootstrap_error(losses, ~np.isnan(losses))
        if method == "bootstrap":
            return outside
        apparent = float((own_codes() != y).mean())
        if method == ".632":
            return bootstrap_632(apparent, outside)
        counts = [np.bincount(codes, minlength=len(dataset.encoded().classes))
                  for codes in (y, own_codes())]  # fmt: skip
        return bootstrap_632_plus(apparent, outside, no_information_rate(*counts))

    def counted(method: str) -> tuple[float, int]:
        """Return the wrong predictions and the number of tested rows."""
        if method == "resubstitution":
            return float((own_codes() != y).sum()), dataset.n
        if method in BOOTSTRAPS:
            return bootstrap(method) * dataset.n, dataset.n
        wrong = [wrong for _, wrong in wrong_of(method)]
        if method == "repeated-cross-validation":
            return float(np.mean([fold.mean() for fold in wrong])) * dataset.n, dataset.n
        return float(np.concatenate(wrong).sum()), sum(map(len, wrong))

    estimates = []
    for method in chosen:
        errors, n = counted(method)
        intervals = {}
        if method == "holdout":
            intervals = _intervals(round(errors), n, level, population)
        estimates.append(EstimatedError(
            method=method, error=errors / n, errors=errors, n=n, intervals=intervals,
            broken_rules=broken_rules(errors / n, n, population),
        ))  # fmt: skip
    return ErrorEstimates(
        learner=name, dataset=dataset.name, rows=dataset.n, level=level, population=population,
        estimates=tuple(estimates),
    )  # fmt: skip


def _intervals(
    k: int, n: int, level: float, population: int | None
) -> dict[str, tuple[float, float]]:
    """Return the intervals of k errors on n rows by name."""
    error = k / n
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BestOfKWarning)
        approximate = normal(k, n, level)
    half = (float(approximate.high) - float(approximate.low)) / 2
    if population is not None and population > 1:
        half *= finite_population_factor(n, population)
    # a large share of the population is what the correction is for
    ends = {} if broken_rules(error, n) else {"normal": (error - half, error + half)}
    # without a correction, the normal interval and Wilson's cover too rarely
    # (studies/interval_coverage.py)
    for name, interval in {
        "Wilson": wilson(k, n, level),
        "Clopper-Pearson": clopper_pearson(k, n, level),
        "Langford": test_set_bound(k, n, 1 - level),
    }.items():
        ends[name] = (float(interval.low), float(interval.high))
    return ends


def finite_population_factor(n: int, population: int) -> float:
    """Return sqrt((N - n) / (N - 1)), by which n of N rows without replacement vary less.

    Examples
    --------
    >>> finite_population_factor(36, 100).__round__(4), finite_population_factor(100, 100)
    (0.804, 0.0)
    """
    return float(np.sqrt((population - n) / (population - 1)))


def broken_rules(error: float, n: int, population: int | None = None) -> tuple[str, ...]:
    """Return the rules of thumb for the normal interval that do not hold.

    Examples
    --------
    >>> broken_rules(0.02, 50)
    ('n = 50 is not above 100', 'n e = 1 is not above 5', 'n e (1 - e) = 0.98 is below 5')
    """
    rules = []
    if n <= SMALL_TEST_SET:
        rules.append(f"n = {n} is not above {SMALL_TEST_SET}")
    for words, value in (("n e", n * error), ("n (1 - e)", n * (1 - error))):
        if value <= 5:
            rules.append(f"{words} = {value:.3g} is not above 5")
    if n * error * (1 - error) < 5:
        rules.append(f"n e (1 - e) = {n * error * (1 - error):.3g} is below 5")
    if population is not None and n > MAX_SHARE_OF_POPULATION * population:
        rules.append(f"n is {n / population:.0%} of the population, above 5 %")
    return tuple(rules)
