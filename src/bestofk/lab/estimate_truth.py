"""What is true of a problem: the expected losses of the learners, known or estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk.checks import whole
from bestofk.errors import ArgumentError
from bestofk.lab.simulation_result import Simulation
from bestofk.learners.plan_errors import errors_of, plan_errors
from bestofk.learners.predict import predict_plan, seed_names
from bestofk.learners.specification import named_learners
from bestofk.learners.split_marks import SplitMarks
from bestofk.plans.design import Design
from bestofk.plans.splits import Splits
from bestofk.presenting import Presented, open_level, renamed
from bestofk.problems.binary_attributes import BinaryAttributes
from bestofk.problems.column_blocks import ColumnBlocks
from bestofk.problems.drawn_losses import TableProblem
from bestofk.problems.generator import DataProblem
from bestofk.problems.given_rows import Degraded, ShuffledLabels

TRAINING_SETS = 200
TEST_ROWS = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth(Presented):
    """Expected losses, and the difference between the best learner and the next one (or the first).

    Attributes
    ----------
    means : tuple of float
        Expected loss of every learner.
    difference : float
        Expected loss of the worse of the first two learners less that of the better one.
    error : float
        Standard error of `difference`; 0 where it is known.
    how : str
        How it is known.
    """

    means: tuple[float, ...]
    difference: float
    error: float
    how: str

    @property
    def best(self) -> int:
        """The learner of smallest expected loss."""
        return int(np.argmin(self.means))

    def _columns(self) -> dict[str, Any]:
        """One row per learner."""
        return {"learner": range(len(self.means)), "expected_loss": self.means}

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The difference in a sentence; `alpha` has no effect.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners; none are named by default.
        alpha : float, optional
            Has no effect.
        """
        open_level(alpha)
        called = renamed(names, range(len(self.means)))
        between = "" if names is None else f" between {called[0]} and {called[1]}"
        sure = f" (standard error {100 * self.error:.2g})" if self.error else ""
        return (
            f"The true difference{between} is {100 * self.difference:.3g} points{sure}, {self.how}."
        )


def known_truth(simulation: Simulation) -> Truth:
    """The truth of problems on which it is known who equals whom and who is better.

    Examples
    --------
    >>> from bestofk.lab import simulate
    >>> known_truth(simulate(problem="right-or-wrong(errors=(0.3, 0.2, 0.2))", sets=1)).means
    (0.3, 0.2, 0.2)
    """
    problem = simulation.problem
    if isinstance(problem, TableProblem | Degraded | ColumnBlocks):
        return truth_of(simulation, simulation.learners)
    if isinstance(problem, BinaryAttributes) and problem.class_probability == 0.5:
        return Truth(
            means=(0.5,) * len(simulation.learners),
            difference=0.0,
            error=0.0,
            how="as the class is a fair coin",
        )
    raise ArgumentError(
        "problem must be one of which it is known which learners are equal (blocks, degraded, "
        "binary with a fair class, or one that draws losses); got "
        f"{problem.describe()}."
    )


def truth_of(simulation: Simulation, learners: Any) -> Truth:
    """The truth of what was simulated: known, estimated on test rows, or from the losses."""
    problem = simulation.problem
    if isinstance(problem, ColumnBlocks):
        return _truth_of_blocks(simulation, problem)
    if isinstance(problem, TableProblem):
        means = problem.true_means
        return Truth(means=means, difference=abs(means[1] - means[0]), error=0.0, how="as set")
    if isinstance(problem, Degraded):
        best = float(simulation.losses[:, :, -1 if problem.best_last else 0].mean())
        means = (best, *(best + problem.by,) * problem.copies)
        return Truth(
            means=means[::-1] if problem.best_last else means,
            difference=problem.by,
            error=0.0,
            how="as set",
        )
    if isinstance(problem, ShuffledLabels):
        mean, error = simulation.mean_differences()
        return Truth(
            means=tuple(simulation.losses.mean(axis=(0, 1, 3, 4, 5, 6)).tolist()),
            difference=abs(mean),
            error=error,
            how="estimated from the losses themselves",
        )
    sizes = simulation.design.n_train
    n_train = int(np.mean(sizes)) if sizes else getattr(problem, "rows", 300)
    return estimate_truth(learners, problem, n_train=n_train, random_state=simulation.random_state)


def _truth_of_blocks(simulation: Simulation, problem: ColumnBlocks) -> Truth:
    """Learners with equal blocks are equal, and less error is better; how much is estimated."""
    errors = np.array(problem.errors)
    kinds, which = np.unique(errors, return_inverse=True)
    losses = simulation.losses.mean(axis=(0, 1, 3, 4, 5, 6))
    means = np.sort([losses[which == kind].mean() for kind in range(len(kinds))])[which]
    mean, error = simulation.mean_differences()
    same = errors[0] == errors[1]
    return Truth(
        means=tuple(means.tolist()),
        difference=0.0 if same else abs(mean),
        error=0.0 if same else error,
        how="by construction" if same else "estimated from the losses themselves",
    )


def estimate_truth(
    learners: Any,
    problem: DataProblem,
    *,
    n_train: int,
    training_sets: int = TRAINING_SETS,
    test_rows: int = TEST_ROWS,
    random_state: int = 0,
) -> Truth:
    """Expected error rates of learners that are taught with `n_train` rows.

    Parameters
    ----------
    learners : list or mapping
        As for `compare`.
    problem : problem
        One that draws as many rows as wanted: *binary*, *network*, *gaussian*.
    n_train : int
        Rows that train.
    training_sets, test_rows : int
        Training sets that are drawn, and fresh rows from the same source that test each.
    random_state : int
        The seed.

    Examples
    --------
    >>> from bestofk.lab import problem
    >>> truth = estimate_truth(["nmc", "max"], problem("gaussian(bayes_error=0.1)"), n_train=100,
    ...                        training_sets=20)
    >>> truth.best, bool(truth.means[0] < 0.2), bool(truth.means[1] > 0.4)
    (0, True, True)
    """
    training_sets = whole(training_sets, "training_sets", at_least=2)
    larger: DataProblem = replace(problem, rows=n_train + test_rows)  # type: ignore[type-var]
    tested = np.zeros((1, n_train + test_rows), dtype=bool)
    tested[0, n_train:] = True
    splits = Splits.of(
        spec="holdout",
        seed=0,
        design=Design(kind="holdout", n_train=(n_train,), n_test=(test_rows,)),
        marks=tested,
        notes=(),
    )
    marks = SplitMarks.of(splits)
    assert marks is not None
    named = named_learners(learners)
    errors = np.empty((training_sets, len(named)))
    for one in range(training_sets):
        key = np.random.SeedSequence(random_state, spawn_key=(4, one))
        encoded = larger.encoded(np.random.default_rng(key))
        for place, estimator in enumerate(named.values()):
            found = (
                None if seed_names(estimator) else plan_errors(estimator, encoded, splits, marks)
            )
            if found is None:
                data = larger.draw(np.random.default_rng(key))
                predicted = predict_plan(estimator, data, splits, seeds=[one])
                found = errors_of(predicted, encoded.y, splits, marks)
            errors[one, place] = found.counts()[0] / test_rows
    means = errors.mean(axis=0)
    difference = errors[:, 1] - errors[:, 0]
    return Truth(
        means=tuple(means.tolist()),
        difference=abs(float(difference.mean())),
        error=float(difference.std(ddof=1) / np.sqrt(training_sets)),
        how=f"estimated with {training_sets} training sets of {n_train} rows, each tested on "
        f"{test_rows} fresh rows",
    )
