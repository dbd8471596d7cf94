"""Tables of losses drawn directly, without data or learners, from models whose truth is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, isfinite, sqrt

import numpy as np

from bestofk._base.checks import Floats, one_of, positive, probability, refuse, whole
from bestofk._base.errors import ArgumentError
from bestofk.splits.design import Design
from bestofk.splits.plans import specify


class TableProblem(ABC):
    """Draws tables of losses of one kind; a frozen dataclass of its settings."""

    __slots__ = ()

    @abstractmethod
    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        """(count, learners, data sets, runs, folds, repetitions) independent tables."""

    @property
    @abstractmethod
    def design(self) -> Design:
        """How such losses come about."""

    @property
    @abstractmethod
    def true_means(self) -> tuple[float, ...]:
        """Expected loss of every learner."""

    @abstractmethod
    def describe(self) -> str:
        """The tables in words, without a verb."""


_REPEATED = 0.2
"""Standard deviation between repetitions of a loss whose own is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalLosses(TableProblem):
    """Independent normal losses with unit variances: what many tests take for granted.

    Parameters
    ----------
    means : tuple of float
        Expected loss of every learner; equal by default.
    plan : str
        ``"10x10"``, ``"5x2"``, ``"kfold:10"``, ``"resample:30:0.1"``: the shape of the table.
    datasets : int
        More than 1: so many data sets, one loss per learner on each.
    repetitions : int
        More than 1: learners that are stochastic. Each loss is repeated so often, with a normal
        deviation of a fifth of its own.

    Examples
    --------
    >>> import numpy as np
    >>> NormalLosses(plan="5x2").tables(np.random.default_rng(0), 3).shape
    (3, 2, 1, 5, 2, 1)
    """

    means: tuple[float, ...] = (0.0, 0.0)
    plan: str = "10x10"
    datasets: int = 1
    repetitions: int = 1

    def __post_init__(self) -> None:
        try:
            means = tuple(float(mean) for mean in self.means)
        except (TypeError, ValueError):
            raise refuse("means of problem 'normal'", "numbers", self.means) from None
        if len(means) < 2 or not all(map(isfinite, means)):
            raise refuse("means of problem 'normal'", "two or more finite numbers", self.means)
        object.__setattr__(self, "means", means)
        whole(self.datasets, "datasets of problem 'normal'", at_least=1)
        whole(self.repetitions, "repetitions of problem 'normal'", at_least=1)
        if self._kind().folds is None:
            raise ArgumentError("plan of problem 'normal' must say its number of folds; got 'loo'.")

    def _kind(self) -> Design:
        spec = specify(self.plan, {})
        if spec.folds is None:
            raise ArgumentError("plan of problem 'normal' must say its number of folds; got 'loo'.")
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
        shape = Design(kind="scores") if self.datasets > 1 else self._kind()
        return shape.with_(repetitions=self.repetitions)

    @property
    def true_means(self) -> tuple[float, ...]:
        return self.means

    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        design = self.design
        shape = (count, len(self.means), self.datasets, design.runs, design.folds, 1)
        drawn: Floats = rng.standard_normal(shape) + np.reshape(self.means, (-1, 1, 1, 1, 1))
        if self.repetitions == 1:
            return drawn
        return drawn + _REPEATED * rng.standard_normal((*shape[:-1], self.repetitions))

    def describe(self) -> str:
        where = f"{self.datasets} data sets" if self.datasets > 1 else f"the shape {self.plan}"
        often = f", {self.repetitions} repetitions of each" if self.repetitions > 1 else ""
        return f"independent normal losses of {len(self.means)} learners on {where}{often}"


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
        Deal the instances to so many folds of equal size, as one run of cross-validation does;
        the losses are then the shares of wrong answers by fold.
    shared : float
        Share of instances that are equally hard for all learners: of two learners of one error
        rate, both are right there or both are wrong. Elsewhere they err independently.

    Notes
    -----
    A learner is wrong on an instance where u < its error rate, u uniform: one u for all learners
    on shared instances, one for each elsewhere. So the error rates hold whatever is shared.

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
        dealt: Floats = wrong.reshape(*shape[:4], self.folds, -1, 1).mean(axis=5)
        return dealt

    def describe(self) -> str:
        where = "" if self.folds is None else f" in {self.folds} folds"
        same = f", {100 * self.shared:g} % of them equally hard for all" if self.shared else ""
        instances = f"{self.instances} instances{where}{same}"
        return f"{len(self.errors)} learners, right or wrong on {instances}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalMinima(TableProblem):
    """Binomial errors of stochastic learners that are at times trapped in a local minimum.

    Parameters
    ----------
    step : float
        Mean error of learner i is 0.30 + i step; 0: all equal.
    learners, datasets, folds, repetitions : int
        Size of a table.
    deterministic : tuple of int
        Learners (from 0) whose repetitions are all the same.
    trapped : float
        Probability that a repetition of a stochastic learner has the error 0.75.

    Notes
    -----
    On every data set one learner, drawn at random, has the error 0.2; the error of the others is
    such that the means hold exactly. A fold tests 10 to 20 instances, the same number for all
    folds of a data set. The winners are drawn anew for every table.

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal of
    Computer and System Sciences, section 4.1. doi:10.1016/j.jcss.2013.03.009

    Examples
    --------
    >>> import numpy as np
    >>> LocalMinima().tables(np.random.default_rng(0), 1).shape
    (1, 5, 32, 1, 5, 30)
    """

    step: float = 0.0
    learners: int = 5
    datasets: int = 32
    folds: int = 5
    repetitions: int = 30
    deterministic: tuple[int, ...] = (2, 3)
    trapped: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("learners", 2), ("datasets", 2), ("folds", 1), ("repetitions", 1)):
            whole(getattr(self, name), f"{name} of problem 'local-minima'", at_least=least)
        if not 0 <= self.step <= 0.4 / (self.learners - 1):
            raise refuse(
                "step of problem 'local-minima'",
                f"from 0 to {0.4 / (self.learners - 1):g}, so that no error is above 0.7",
                self.step,
            )
        if not 0 <= self.trapped < 1:
            raise refuse("trapped of problem 'local-minima'", "from 0 to below 1", self.trapped)
        if any(not 0 <= one < self.learners for one in self.deterministic):
            raise refuse(
                "deterministic of problem 'local-minima'",
                f"learners from 0 to {self.learners - 1}",
                self.deterministic,
            )

    @property
    def design(self) -> Design:
        return Design(kind="cv", folds=self.folds, repetitions=self.repetitions)

    @property
    def true_means(self) -> tuple[float, ...]:
        return tuple(0.30 + place * self.step for place in range(self.learners))

    def tables(self, rng: np.random.Generator, count: int) -> Floats:
        K, D, F, R = self.learners, self.datasets, self.folds, self.repetitions
        winner = rng.integers(0, K, (count, D))
        won = winner[:, np.newaxis, :] == np.arange(K)[:, np.newaxis]
        wins = won.sum(axis=2, keepdims=True)
        mean = np.reshape(self.true_means, (K, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            other = (D * mean - 0.2 * wins) / (D - wins)
        error = np.clip(np.where(won, 0.2, other), 0.0, 1.0)
        n = rng.integers(10, 21, (count, 1, D, 1, 1))
        p = np.broadcast_to(error[..., np.newaxis, np.newaxis], (count, K, D, F, R))
        losses = rng.binomial(n, p) / n
        for one in self.deterministic:
            losses[:, one] = losses[:, one, :, :, :1]
        if self.trapped:
            stochastic = np.ones((K, 1, 1, 1), dtype=bool)
            stochastic[list(self.deterministic)] = False
            losses[(rng.random(losses.shape) < self.trapped) & stochastic] = 0.75
        return losses[:, :, :, np.newaxis]

    def describe(self) -> str:
        return (
            f"binomial losses of {self.learners} learners on {self.datasets} data sets of "
            f"{self.folds} folds and {self.repetitions} repetitions"
        )


# Losses of K learners on many data sets, drawn from models of several shapes.


SHAPES = ("normal", "lognormal", "rounded", "counts")
DIFFICULTY = 0.15
"""Data sets differ: a number from -0.15 to 0.15 is added to the losses of all learners."""
INSTANCES = 50
"""Test instances of a data set, for counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyDataSets(TableProblem):
    """One loss per learner and data set; the means are exact whatever the shape.

    Parameters
    ----------
    means : tuple of float
        Expected loss of every learner.
    sds : float or tuple of float
        Standard deviation of a learner's loss on a data set; one for all, or one per learner.
        Not used by counts.
    datasets : int
        Number of data sets.
    shape : {"normal", "lognormal", "rounded", "counts"}
        How losses scatter: normal; skewed to the right (lognormal with log-sd 1, centred);
        normal and rounded to two digits, so that many are tied; shares of wrong answers on 50
        test instances.
    varying : bool
        The scatter varies over data sets too: all standard deviations of a data set are
        multiplied by exp(z), z standard normal.

    Notes
    -----
    loss = mean of the learner + difficulty of the data set + sd e, difficulty from
    U(-0.15, 0.15), e of mean 0 and variance 1, independent. As the difficulty covers whole
    hundredths evenly, rounding leaves the means as they are. Two learners with equal means and
    standard deviations are exchangeable; with unequal ones their difference is symmetric about 0
    for all shapes but the lognormal.

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
        try:
            means = tuple(float(mean) for mean in self.means)
        except (TypeError, ValueError):
            raise refuse(f"means {where}", "numbers", self.means) from None
        if len(means) < 2 or not all(map(isfinite, means)):
            raise refuse(f"means {where}", "two or more finite numbers", self.means)
        object.__setattr__(self, "means", means)
        given = self.sds
        sds = tuple(given) if isinstance(given, tuple | list) else (given,) * len(means)
        if len(sds) != len(means):
            raise refuse(f"sds {where}", f"one number, or {len(means)} as the means", given)
        sds = tuple(positive(sd, f"sds {where}") for sd in sds)
        object.__setattr__(self, "sds", sds if isinstance(given, tuple | list) else sds[0])
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
            if self.shape == "lognormal":
                e = (np.exp(e) - exp(0.5)) / sqrt(exp(2.0) - exp(1.0))
            if self.varying:
                e *= np.exp(rng.standard_normal((count, 1, D)))
            losses = expected + e * np.reshape(self.sds, (-1, 1))
            if self.shape == "rounded":
                losses = np.round(losses, 2)
        return losses[..., np.newaxis, np.newaxis, np.newaxis]

    def describe(self) -> str:
        scatter = {
            "normal": "normal losses",
            "lognormal": "lognormal losses",
            "rounded": "normal losses, rounded to two digits,",
            "counts": f"shares of wrong answers on {INSTANCES} instances",
        }[self.shape]
        more = []
        if isinstance(self.sds, tuple) and len(set(self.sds)) > 1:
            more.append("with unequal variances over learners")
        if self.varying:
            more.append("with unequal variances over data sets")
        unequal = f" {' and '.join(more)}" if more else ""
        return f"{scatter} of {len(self.means)} learners on {self.datasets} data sets{unequal}"
