"""Problems that draw loss tables directly, from models with known expected losses."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, sqrt

import numpy as np

from bestofk._base.checks import Floats, one_of, positive, probability, refuse, whole
from bestofk._base.errors import ArgumentError
from bestofk.papers.lab.problems.generator import TableProblem
from bestofk.splits.design import Design
from bestofk.splits.plans import plan as make_plan

REPETITION_SD = 0.2
"""Standard deviation between repetitions of a loss whose standard deviation is 1."""
SHAPES = (
    "normal", "lognormal", "rounded", "counts", "opposite exponential", "opposite lognormal",
)  # fmt: skip
DIFFICULTY = 0.15
"""Data sets differ: a number from -0.15 to 0.15 is added to the losses of all learners."""
INSTANCES = 50
"""Test instances of a data set, for counts."""


def _finite_means(values: tuple[float, ...], name: str) -> tuple[float, ...]:
    try:
        means = tuple(float(mean) for mean in values)
    except (TypeError, ValueError):
        raise refuse(name, "numbers", values) from None
    if len(means) < 2 or not all(map(isfinite, means)):
        raise refuse(name, "two or more finite numbers", values)
    return means


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalLosses(TableProblem):
    """Independent normal losses with unit variances, as many tests assume.

    Parameters
    ----------
    means : tuple of float
        Expected loss of every learner; equal by default.
    cv : str
        ``"10x10"``, ``"5x2"``, ``"kfold:10"``, ``"resample:30:0.1"``: the shape of the table.
    datasets : int
        Number of data sets. If above 1, there is one loss per learner and data set.
    repetitions : int
        Number of repetitions of stochastic learners. Each repetition deviates from the loss by a
        normal number with a fifth of its standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> NormalLosses(cv="5x2").tables(np.random.default_rng(0), 3).shape
    (3, 2, 1, 5, 2, 1)
    """

    means: tuple[float, ...] = (0.0, 0.0)
    cv: str = "10x10"
    datasets: int = 1
    repetitions: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", _finite_means(self.means, "means of problem 'normal'"))
        whole(self.datasets, "datasets of problem 'normal'", at_least=1)
        whole(self.repetitions, "repetitions of problem 'normal'", at_least=1)
        self._split_design()

    def _split_design(self) -> Design:
        spec = make_plan(self.cv)
        if spec.folds is None:
            raise ArgumentError("cv of problem 'normal' must have a number of folds; got 'loo'.")
        n_test = None if spec.test_fraction is None else max(1, round(1000 * spec.test_fraction))
        return Design(
            kind=spec.kind,
            runs=spec.runs,
            folds=spec.folds,
            n_train=None if n_test is None else (1000 - n_test,),
            n_test=None if n_test is None else (n_test,),
        )

    @property
    def design(self) -> Design:
        shape = Design(kind="scores") if self.datasets > 1 else self._split_design()
        return shape.with_(repetitions=self.repetitions)

    @property
    def true_means(self) -> tuple[float, ...]:
        return self.means

    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        design = self.design
        shape = (count, len(self.means), self.datasets, design.runs, design.folds, 1)
        losses: Floats = rng.standard_normal(shape) + np.reshape(self.means, (-1, 1, 1, 1, 1))
        if self.repetitions == 1:
            return losses
        return losses + REPETITION_SD * rng.standard_normal((*shape[:-1], self.repetitions))

    def describe(self) -> str:
        shape = f"{self.datasets} data sets" if self.datasets > 1 else f"the shape {self.cv}"
        repeated = f", {self.repetitions} repetitions of each" if self.repetitions > 1 else ""
        return f"independent normal losses of {len(self.means)} learners on {shape}{repeated}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RightOrWrong(TableProblem):
    """Learners that are right or wrong on the instances of one test set, or on k folds.

    Parameters
    ----------
    errors : tuple of float
        Error rate of every learner.
    instances : int
        Size of the test set.
    folds : int, optional
        Divide the instances into this many folds of equal size, as one run of cross-validation
        does; the losses are then error rates by fold.
    shared : float
        Share of instances that are equally hard for all learners: two learners with the same
        error rate are both right or both wrong on them. On the other instances they err
        independently.

    Notes
    -----
    A learner is wrong on an instance if u < its error rate, u uniform: one u for all learners on
    shared instances, one for each on the others. So `shared` does not change the error rates.

    Examples
    --------
    >>> import numpy as np
    >>> wrong = RightOrWrong(errors=(0.2, 0.4)).tables(np.random.default_rng(0), 2000)
    >>> wrong.mean(axis=(0, 2, 3, 4, 5)).round(2).tolist()
    [0.2, 0.4]
    >>> RightOrWrong(instances=30, folds=3).tables(np.random.default_rng(0), 5).shape
    (5, 2, 1, 1, 3, 1)
    """

    errors: tuple[float, ...] = (0.2, 0.2)
    instances: int = 200
    folds: int | None = None
    shared: float = 0.0

    def __post_init__(self) -> None:
        errors = tuple(probability(e, "errors of problem 'right-or-wrong'") for e in self.errors)
        if len(errors) < 2:
            raise refuse("errors of problem 'right-or-wrong'", "of two or more learners", errors)
        object.__setattr__(self, "errors", errors)
        whole(self.instances, "instances of problem 'right-or-wrong'", at_least=2)
        if self.folds is not None:
            whole(self.folds, "folds of problem 'right-or-wrong'", at_least=2)
            if self.instances % self.folds:
                raise refuse(
                    "folds of problem 'right-or-wrong'",
                    f"a divisor of the {self.instances} instances",
                    self.folds,
                )
        if not 0 <= self.shared < 1:
            raise refuse("shared of problem 'right-or-wrong'", "from 0 to below 1", self.shared)

    @property
    def design(self) -> Design:
        if self.folds is None:
            return Design(kind="test-set", folds=self.instances)
        n_test = self.instances // self.folds
        return Design(
            kind="cv", folds=self.folds, n_train=(self.instances - n_test,), n_test=(n_test,)
        )

    @property
    def true_means(self) -> tuple[float, ...]:
        return self.errors

    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        shape = (count, len(self.errors), 1, 1, self.instances, 1)
        u = rng.random(shape)
        if self.shared:
            common = rng.random((count, 1, *shape[2:])) < self.shared
            u = np.where(common, u[:, :1], u)
        wrong = (u < np.reshape(self.errors, (-1, 1, 1, 1, 1))).astype(np.float64)
        if self.folds is None:
            return wrong
        by_fold: Floats = wrong.reshape(*shape[:4], self.folds, -1, 1).mean(axis=5)
        return by_fold

    def describe(self) -> str:
        folds = "" if self.folds is None else f" in {self.folds} folds"
        same = f", {100 * self.shared:g} % of them equally hard for all" if self.shared else ""
        instances = f"{self.instances} instances{folds}{same}"
        return f"{len(self.errors)} learners, right or wrong on {instances}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyDataSets(TableProblem):
    """One loss per learner and data set, with exact means for every shape.

    Parameters
    ----------
    means : tuple of float
        Expected loss of every learner.
    sds : float or tuple of float
        Standard deviation of a learner's loss on a data set; one for all, or one per learner.
        Counts ignore it.
    datasets : int
        Number of data sets.
    shape : {"normal", "lognormal", "rounded", "counts", "opposite exponential", ...}
        Distribution of the losses: normal; skewed to the right (lognormal with log-sd 1,
        centred); normal and rounded to two digits, which gives many ties; error rates on 50 test
        instances. ``"opposite exponential"`` and ``"opposite lognormal"``: skewed to the right,
        and to the left for every second learner, so that differences are skewed.
    varying : bool
        Let the spread vary over data sets too: all standard deviations of a data set are
        multiplied by exp(z), z standard normal.

    Notes
    -----
    loss = mean of the learner + difficulty of the data set + sd e, difficulty from
    U(-0.15, 0.15), e of mean 0 and variance 1, independent. As the difficulty covers whole
    hundredths evenly, rounding leaves the means as they are. Two learners with equal means and
    standard deviations are exchangeable unless they are skewed in opposite directions; with
    unequal ones their difference is symmetric about 0 for all shapes without skewness.

    Examples
    --------
    >>> import numpy as np
    >>> problem = ManyDataSets(means=(0.3, 0.25, 0.25), datasets=6, shape="rounded")
    >>> problem.tables(np.random.default_rng(0), 4).shape
    (4, 3, 6, 1, 1, 1)
    """

    means: tuple[float, ...] = (0.25, 0.25)
    sds: float | tuple[float, ...] = 0.03
    datasets: int = 12
    shape: str = "normal"
    varying: bool = False

    def __post_init__(self) -> None:
        where = "of problem 'many-data-sets'"
        means = _finite_means(self.means, f"means {where}")
        object.__setattr__(self, "means", means)
        several = isinstance(self.sds, tuple | list)
        sds = tuple(self.sds) if several else (self.sds,) * len(means)  # type: ignore[arg-type]
        if len(sds) != len(means):
            raise refuse(f"sds {where}", f"one number, or {len(means)} as the means", self.sds)
        sds = tuple(positive(sd, f"sds {where}") for sd in sds)
        object.__setattr__(self, "sds", sds if several else sds[0])
        whole(self.datasets, f"datasets {where}", at_least=2)
        one_of(self.shape, f"shape {where}", SHAPES)
        if self.shape == "counts":
            if min(means) < DIFFICULTY or max(means) > 1 - DIFFICULTY:
                allowed = f"from {DIFFICULTY:g} to {1 - DIFFICULTY:g} for counts"
                raise refuse(f"means {where}", allowed, self.means)
            if self.varying:
                raise refuse(f"varying {where}", "False for counts", self.varying)

    @property
    def design(self) -> Design:
        return Design(kind="scores")

    @property
    def true_means(self) -> tuple[float, ...]:
        return self.means

    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        K, D = len(self.means), self.datasets
        expected = rng.uniform(-DIFFICULTY, DIFFICULTY, (count, 1, D)) + np.reshape(
            self.means, (K, 1)
        )
        if self.shape == "counts":
            losses: Floats = rng.binomial(INSTANCES, expected) / INSTANCES
        else:
            e = rng.standard_normal((count, K, D))
            if self.shape == "opposite exponential":
                e = -np.log(rng.random((count, K, D))) - 1.0
            if self.shape.endswith("lognormal"):
                e = (np.exp(e) - exp(0.5)) / sqrt(exp(2.0) - exp(1.0))
            if self.shape.startswith("opposite"):
                e[:, 1::2] *= -1.0
            if self.varying:
                e *= np.exp(rng.standard_normal((count, 1, D)))
            losses = expected + e * np.reshape(self.sds, (-1, 1))
            if self.shape == "rounded":
                losses = np.round(losses, 2)
        return losses[..., np.newaxis, np.newaxis, np.newaxis]

    def describe(self) -> str:
        losses = {
            "normal": "normal losses",
            "lognormal": "lognormal losses",
            "opposite exponential": "exponential losses, every second learner's mirrored,",
            "opposite lognormal": "lognormal losses, every second learner's mirrored,",
            "rounded": "normal losses, rounded to two digits,",
            "counts": f"error rates on {INSTANCES} instances",
        }[self.shape]
        spreads = []
        if isinstance(self.sds, tuple) and len(set(self.sds)) > 1:
            spreads.append("with unequal variances over learners")
        if self.varying:
            spreads.append("with unequal variances over data sets")
        unequal = f" {' and '.join(spreads)}" if spreads else ""
        return f"{losses} of {len(self.means)} learners on {self.datasets} data sets{unequal}"
