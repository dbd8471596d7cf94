"""Estimate the error rate of one learner from data, by seven methods, with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, one_of, probability, whole
from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk._base.results import Presented, json_ready
from bestofk.data.dataset import DataSet
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
NOTES = {
    "resubstitution": "tested on its own training rows: optimistic",
    "holdout": "one model, tested on rows that it has not seen",
    "cross-validation": "each row tested once; the models share training rows",
    "repeated-cross-validation": "mean of all folds of ten cross-validations",
    "leave-one-out": "each row tested by a model of all others",
    "bootstrap": "rows tested by models of samples without them: pessimistic",
    "full-bootstrap": "all rows tested by models of samples that contain most of them: optimistic",
    ".632": "0.368 resubstitution + 0.632 bootstrap",
    ".632+": "as .632, with more weight on the bootstrap if the model overfits",
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
    """Wrong predictions; a real number for the bootstrap methods."""
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
        columns: dict[str, Any] = {
            "method": [one.method for one in self.estimates],
            "error": [one.error for one in self.estimates],
            "n": [one.n for one in self.estimates],
        }
        for name in self._interval_names():
            for k, end in enumerate(("low", "high")):
                ends = [one.intervals.get(name, (None, None))[k] for one in self.estimates]
                columns[f"{name}_{end}"] = ends
        return columns

    def _interval_names(self) -> list[str]:
        return list(dict.fromkeys(name for one in self.estimates for name in one.intervals))

    def explain(self) -> str:
        """Describe every estimate, and the rules of thumb that do not hold."""
        level = f"{100 * self.level:g} %"
        lines = [f"Error of {self.learner} on {self.dataset}, {self.rows} rows."]
        for one in self.estimates:
            line = f"By {one.method} it is {one.error:.4f} ({NOTES[one.method]})"
            if one.intervals:
                low, high = one.intervals["Clopper-Pearson"]
                line += f", with a {level} interval (Clopper-Pearson) from {low:.3f} to {high:.3f}"
                if self.population is not None and "normal" not in one.intervals:
                    line += f". There is no normal interval: {'; '.join(one.broken_rules)}"
            lines.append(f"{line}.")
        if not all(one.intervals for one in self.estimates):
            lines.append(
                "Only the hold-out has intervals: those of the other methods would cover too "
                "rarely, because their models share rows."
            )
        if self.population is not None:
            lines.append(
                f"The normal intervals have the correction for a population of {self.population}."
            )
        return "\n".join(lines)

    def to_text(self) -> str:
        """Return a table of all estimates and intervals."""
        names = self._interval_names()
        wide = max(17, 1 + max(len(one.method) for one in self.estimates))
        lines = [f"{'method':<{wide}}{'error':>7}  " + "  ".join(f"{name:>11}" for name in names)]
        for one in self.estimates:
            ends = [
                f"{'up to ' if name == 'Langford' else f'{low:.3f}–'}{high:.3f}"
                if name in one.intervals
                else ""
                for name in names
                for low, high in [one.intervals.get(name, (0.0, 0.0))]
            ]
            cells = "  ".join(
                f"{e:>{max(11, len(name))}}" for name, e in zip(names, ends, strict=True)
            )
            lines.append(f"{one.method:<{wide}}{one.error:>7.4f}  {cells}".rstrip())
        return "\n".join(lines)


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
    counts = _Counts(estimator, dataset, folds, test_share, samples, random_state)
    estimates = []
    for method in chosen:
        errors, n = counts.of(method)
        estimates.append(_with_intervals(method, errors, n, level, population))
    return ErrorEstimates(
        learner=name, dataset=dataset.name, rows=dataset.n, level=level, population=population,
        estimates=tuple(estimates),
    )  # fmt: skip


class _Counts:
    """Wrong predictions and tested rows by method; each kind of fit is made once."""

    def __init__(
        self, estimator: Any, data: DataSet, folds: int, test_share: float, samples: int, seed: int
    ) -> None:
        self.estimator, self.data, self.seed = estimator, data, seed
        self.plans = {
            "holdout": f"holdout:{test_share:.6g}",
            "cross-validation": f"kfold:{folds}",
            "repeated-cross-validation": f"10x{folds}",
            "leave-one-out": "loo",
            "bootstrap": f"bootstrap:{samples}",
        }
        self.y = data.encoded().y
        self.known: dict[str, Any] = {}

    def of(self, method: str) -> tuple[float, int]:
        """Return the wrong predictions and the number of tested rows."""
        if method == "resubstitution":
            return float(self._wrong_on_itself().sum()), self.data.n
        if method == "full-bootstrap":
            return self._full_bootstrap() * self.data.n, self.data.n
        if method in ("bootstrap", ".632", ".632+"):
            return self._bootstrap(method) * self.data.n, self.data.n
        if method == "repeated-cross-validation":
            rates = [wrong.mean() for _, wrong in self._wrong(method)]
            return float(np.mean(rates)) * self.data.n, self.data.n
        wrong = np.concatenate([w for _, w in self._wrong(method)])
        return float(wrong.sum()), len(wrong)

    def _wrong(self, method: str) -> list[tuple[Any, npt.NDArray[np.bool_]]]:
        """Return test rows and wrong predictions of every split."""
        if method not in self.known:
            splits = plan(self.plans[method], random_state=self.seed).materialise(
                self.data.n, self.data.y
            )
            seeds = [self.seed] * (splits.runs * splits.folds)
            predicted = predict_plan(self.estimator, self.data, splits, seeds=seeds)
            self.known[method] = [
                (test, codes != self.y[test])
                for codes, (_, _, _, test) in zip(predicted, splits, strict=True)
            ]
        wrong: list[tuple[Any, npt.NDArray[np.bool_]]] = self.known[method]
        return wrong

    def _own_predictions(self) -> Any:
        """Return the codes that a model of all rows predicts for them."""
        if "itself" not in self.known:
            self.known["itself"] = self._codes(np.arange(self.data.n))
        return self.known["itself"]

    def _codes(self, train: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """Return the codes that a model of some rows predicts for all rows."""
        from sklearn.base import clone

        model = clone(ready_learner(self.estimator, self.data).estimator)
        model.fit(self.data.X.iloc[train], self.data.y.iloc[train])
        labels = np.asarray(model.predict(self.data.X)).tolist()
        position = {label: k for k, label in enumerate(self.data.encoded().classes.tolist())}
        return np.array([position[label] for label in labels])

    def _full_bootstrap(self) -> float:
        splits = plan(self.plans["bootstrap"], random_state=self.seed).materialise(
            self.data.n, self.data.y
        )
        return float(np.mean([(self._codes(train) != self.y).mean() for _, _, train, _ in splits]))

    def _wrong_on_itself(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self._own_predictions() != self.y)

    def _bootstrap(self, method: str) -> float:
        splits = self._wrong("bootstrap")
        losses = np.zeros((len(splits), self.data.n))
        left_out = np.zeros(losses.shape, dtype=np.bool_)
        for sample, (test, wrong) in enumerate(splits):
            losses[sample, test], left_out[sample, test] = wrong, True
        outside = leave_one_out_bootstrap_error(losses, left_out).estimate
        if method == "bootstrap":
            return outside
        apparent = float(self._wrong_on_itself().mean())
        if method == ".632":
            return bootstrap_632(apparent, outside).estimate
        classes = len(self.data.encoded().classes)
        gamma = no_information_rate(
            np.bincount(self.y, minlength=classes),
            np.bincount(self._own_predictions(), minlength=classes),
        )
        return bootstrap_632_plus(apparent, outside, gamma).estimate


def _with_intervals(
    method: str, errors: float, n: int, level: float, population: int | None
) -> EstimatedError:
    k, error = round(errors), errors / n
    rules = broken_rules(error, n, population)
    if method != "holdout":
        return EstimatedError(
            method=method, error=error, errors=errors, n=n, intervals={}, broken_rules=rules
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BestOfKWarning)
        approximate = normal(k, n, level)
    half = (float(approximate.high) - float(approximate.low)) / 2
    if population is not None and population > 1:
        half *= finite_population_factor(n, population)
    # a large share of the population is what the correction is for
    ends = {} if broken_rules(error, n) else {"normal": (error - half, error + half)}
    # without a correction, the normal interval and Wilson's cover too rarely
    # (studies/interval_coverage.py); the sentences state the exact one
    score, exact = wilson(k, n, level), clopper_pearson(k, n, level)
    ends["Wilson"] = (float(score.low), float(score.high))
    ends["Clopper-Pearson"] = (float(exact.low), float(exact.high))
    ends["Langford"] = (0.0, float(test_set_bound(k, n, 1 - level).high))
    return EstimatedError(
        method=method, error=error, errors=errors, n=n, intervals=ends,
        broken_rules=rules,
    )  # fmt: skip


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


# Bias and variance on problems with a known truth


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorStudy(Presented):
    """Bias, standard deviation and root mean squared error of the estimation methods.

    `estimates` has the shape (sets, methods). `truths` (sets,) are the errors of the models of all
    rows on new rows.
    """

    learner: str
    problem: str
    rows: int
    methods: tuple[str, ...]
    estimates: Floats
    truths: Floats

    @property
    def bias(self) -> Floats:
        """Mean of the estimate minus the truth."""
        return np.asarray((self.estimates - self.truths[:, np.newaxis]).mean(axis=0))

    @property
    def deviation(self) -> Floats:
        """Standard deviation of the estimate over data sets."""
        return np.asarray(self.estimates.std(axis=0, ddof=1))

    @property
    def rmse(self) -> Floats:
        """Root of the mean squared difference between estimate and truth."""
        difference = self.estimates - self.truths[:, np.newaxis]
        return np.asarray(np.sqrt(np.square(difference).mean(axis=0)))

    def _columns(self) -> dict[str, Any]:
        """Return one row per method."""
        spread = (self.estimates - self.truths[:, np.newaxis]).std(axis=0, ddof=1)
        return {
            "method": self.methods,
            "bias": self.bias,
            "bias_se": spread / np.sqrt(len(self.truths)),
            "sd": self.deviation,
            "rmse": self.rmse,
        }

    def explain(self) -> str:
        """Describe bias and error of every method in a sentence."""
        lines = [
            f"{self.learner} on {len(self.truths)} data sets of {self.rows} rows ({self.problem})."
        ]
        columns = self._columns()
        lines += [
            f"{method}: the bias is {bias:+.4f} (standard error {error:.4f}), the standard "
            f"deviation is {deviation:.4f} and the root mean squared error is {rmse:.4f}."
            for method, bias, error, deviation, rmse in zip(*columns.values(), strict=True)
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the study with its summary, for strict JSON."""
        return {**Presented.to_dict(self), **json_ready(self._columns())}


def study_estimators(
    learner: str,
    problem: Any,
    *,
    rows: int = 50,
    sets: int = 100,
    test_rows: int = 2000,
    methods: Sequence[str] = METHODS,
    samples: int = 30,
    random_state: int = 0,
) -> EstimatorStudy:
    """Measure bias and variance of the estimation methods on a problem with known truth.

    Draw `sets` data sets of `rows` rows, estimate the error of the learner by every method, and
    compare with the error of its model of all rows on `test_rows` new rows.

    Parameters
    ----------
    learner : str
        As for `estimate`.
    problem : callable
        ``problem(n, rng)`` returns features (n, d) and labels (n,).
    rows, sets, test_rows, samples : int
        Sizes.
    methods : sequence of str
        As for `estimate`.
    random_state : int
        Seed.
    """
    estimates, truths = [], []
    for number in range(sets):
        rng = np.random.default_rng([random_state, number])
        X, y = problem(rows + test_rows, rng)
        result = estimate(
            learner, X[:rows], y[:rows], methods=methods, samples=samples, random_state=number
        )
        (model,) = named_learners([learner]).values()
        model.fit(X[:rows], y[:rows])
        estimates.append([one.error for one in result.estimates])
        truths.append(float((model.predict(X[rows:]) != y[rows:]).mean()))
    return EstimatorStudy(
        learner=learner, problem=getattr(problem, "__name__", str(problem)).replace("_", " "),
        rows=rows, methods=tuple(methods), estimates=np.array(estimates), truths=np.array(truths),
    )  # fmt: skip
