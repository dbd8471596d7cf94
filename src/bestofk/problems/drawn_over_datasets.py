"""Losses of K learners on many data sets, drawn from models of several shapes."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, sqrt

import numpy as np

from bestofk.checks import Floats, one_of, positive, refuse, whole
from bestofk.plans.design import Design
from bestofk.problems.drawn_losses import TableProblem

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
