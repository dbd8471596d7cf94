"""A simulation: losses on many drawn data sets, from which every question is arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.losses.losses import Losses
from bestofk.ordering.evidence.problem import BOTH_PARTS
from bestofk.ordering.order_many import OrderMany, order_many
from bestofk.plans.design import Design
from bestofk.presenting import Presented, json_ready, open_level, renamed
from bestofk.problems.drawn_losses import TableProblem
from bestofk.problems.registry import Problem
from bestofk.wording import counted, number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation(Presented):
    """Losses of learners on data sets that a problem drew.

    Attributes
    ----------
    losses : ndarray, shape (sets, repeats, learners, data sets, runs, folds, repetitions)
        The last five axes as in `bestofk.Losses`. Repeats are other random splits of the same
        data.
    learners : tuple of str
        Their names, most preferred first.
    design : Design
        How the losses of one data set came about.
    problem : DataProblem or TableProblem
        What drew the data sets (or the losses).
    plan : str
        The specification of the plan; empty for losses that were drawn directly.
    random_state : int
        What fixed it all.
    seconds : float
        Time it took, without what a store held already.
    subset_losses : ndarray or None
        Of plans with runs on parts of the rows, in the same axes: the losses of those runs.
    """

    losses: Floats
    learners: tuple[str, ...]
    design: Design
    problem: Problem
    plan: str
    random_state: int
    seconds: float = 0.0
    subset_losses: Floats | None = None

    @property
    def sets(self) -> int:
        """Number of data sets."""
        return int(self.losses.shape[0])

    @property
    def repeats(self) -> int:
        """Number of choices of random splits of every data set."""
        return int(self.losses.shape[1])

    @property
    def drawn(self) -> str:
        """What the problem drew, as a word: a table of losses, or a data set."""
        return "table" if isinstance(self.problem, TableProblem) else "data set"

    def sample(self, axes: int) -> Floats:
        """(learners, sets, repeats, ...) with the trailing axes that a test takes.

        Several data sets in a table: their mean losses; else (runs, folds), or all splits in one
        axis; with `BOTH_PARTS` also those of runs on parts of the rows.
        """
        values = self.losses
        K, D = values.shape[2:4]
        if axes == BOTH_PARTS:
            both = [part[:, :, :, 0].mean(axis=5).reshape(*values.shape[:3], -1)
                    for part in (values, self.subset_losses) if part is not None]  # fmt: skip
            return np.moveaxis(np.concatenate(both, axis=3), 2, 0)
        if D > 1:
            means = values.mean(axis=(4, 5, 6))
            return np.moveaxis(means, 2, 0)
        folds = values[:, :, :, 0].mean(axis=5)
        if axes == 1:
            folds = folds.reshape(*folds.shape[:2], K, -1)
        return np.moveaxis(folds, 2, 0)

    def first_runs(self, runs: int) -> Simulation:
        """The same simulation with fewer runs, as if the plan had had no more."""
        design = self.design
        if design.kind != "cv" or not 1 <= runs <= design.runs:
            raise ArgumentError(
                f"runs must be from 1 to the {design.runs} that were simulated; got {runs!r}."
            )
        kept = slice(0, runs * design.folds)
        fewer = design.with_(
            runs=runs,
            n_train=None if design.n_train is None else design.n_train[kept],
            n_test=None if design.n_test is None else design.n_test[kept],
            subsets=None,
        )
        plan = f"{runs}x{design.folds}" if runs > 1 else f"kfold:{design.folds}"
        return replace(
            self,
            losses=self.losses[:, :, :, :, :runs],
            subset_losses=None,
            design=fewer,
            plan=plan if self.plan else "",
        )

    def first_repeat(self) -> Simulation:
        """The same data sets with one choice of splits each."""
        parts = self.subset_losses
        return replace(
            self,
            losses=self.losses[:, :1],
            subset_losses=None if parts is None else parts[:, :1],
        )

    def table(self, one: int = 0, repeat: int = 0) -> Losses:
        """The losses on one data set."""
        return Losses(
            self.losses[one, repeat],
            dims=("algorithm", "dataset", "run", "fold", "repetition"),
            algorithms=self.learners,
            design=self.design,
            subset_values=None if self.subset_losses is None else self.subset_losses[one, repeat],
        )

    def decided(self, **options: Any) -> OrderMany:
        """What `order` decides on every table, all repeats of the first data set first."""
        parts = self.subset_losses
        return order_many(
            self.losses.reshape(-1, *self.losses.shape[2:]),
            design=self.design,
            algorithms=self.learners,
            subset_values=None if parts is None else parts.reshape(-1, *parts.shape[2:]),
            **{"random_state": self.random_state, **options},
        )

    def mean_differences(self) -> tuple[float, float]:
        """Mean loss of the second learner less that of the first, and its standard error."""
        means = self.losses.mean(axis=(1, 3, 4, 5, 6))
        difference = means[:, 1] - means[:, 0]
        spread = float(difference.std(ddof=1)) if len(difference) > 1 else float("nan")
        return float(difference.mean()), spread / float(np.sqrt(len(difference)))

    def _columns(self) -> dict[str, Any]:
        """One row per learner: its mean loss over all that was simulated."""
        means = self.losses.mean(axis=(0, 1, 3, 4, 5, 6))
        return {"learner": self.learners, "mean_loss": means}

    def to_dict(self) -> dict[str, Any]:
        """What was simulated for strict JSON, with the mean losses (not all of them)."""
        mean, error = self.mean_differences()
        held = self._columns()
        return {
            "learners": list(self.learners),
            "problem": self.problem.describe(),
            "plan": self.plan,
            "sets": self.sets,
            "repeats": self.repeats,
            "seed": self.random_state,
            "mean_losses": dict(zip(self.learners, held["mean_loss"].tolist(), strict=True)),
            "mean_difference": json_ready(mean),
            "standard_error": json_ready(error),
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What was simulated; `names` may hold other names, `alpha` has no effect."""
        open_level(alpha)
        return self.describe(names)

    def describe(self, names: Sequence[str] | None = None) -> str:
        """What was simulated, in a sentence."""
        again = f", {self.repeats} choices of splits of each" if self.repeats > 1 else ""
        how = f" in plan {self.plan}" if self.plan else ""
        mean, error = self.mean_differences()
        shown = tuple(renamed(names, self.learners).values())
        second, first = shown[1], shown[0]
        if len(shown) > 6:
            shown = (*shown[:2], "...", shown[-1])
        spread = f" (standard error {number(error)})" if np.isfinite(error) else ""
        return (
            f"{counted(self.sets, self.drawn)} ({self.problem.describe()}){again}; "
            f"{', '.join(shown)}{how}; seed {self.random_state}. The mean loss of {second} "
            f"less that of {first} was {number(mean)}{spread}."
        )
