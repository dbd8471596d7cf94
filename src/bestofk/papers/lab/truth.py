"""The truth of a problem: expected losses of the learners, known or estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, probability, whole
from bestofk._base.errors import ArgumentError, RunError
from bestofk.learners.base import seed_names
from bestofk.learners.specification import named_learners
from bestofk.papers.lab.problems.classes import BinaryAttributes, ColumnBlocks
from bestofk.papers.lab.problems.generator import DataProblem, TableProblem
from bestofk.papers.lab.problems.given_rows import GivenRows, ShuffledLabels
from bestofk.papers.lab.problems.networks import BayesianNetwork, draw_network
from bestofk.papers.lab.simulation import Simulation
from bestofk.papers.whole_plans import predict_encoded_plan, predict_plan, wrong_by_split
from bestofk.splits.splits import Splits

TRAINING_SETS = 200
TEST_ROWS = 1500
MAX_TABLE_STEP = 0.25
"""Largest change of a probability in one step of the network search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Expected losses of all learners, and the difference between the first two.

    Attributes
    ----------
    means : tuple of float
        Expected loss of every learner.
    difference : float
        Expected loss of the worse of the first two learners minus that of the better one.
    error : float
        Standard error of `difference`; 0 if it is known exactly.
    how : str
        How it is known.
    """

    means: tuple[float, ...]
    difference: float
    error: float
    how: str

    @property
    def best(self) -> int:
        """The learner with the smallest expected loss."""
        return int(np.argmin(self.means))

    def explain(self) -> str:
        """State the difference in a sentence."""
        spread = f" (standard error {100 * self.error:.2g})" if self.error else ""
        return f"The true difference is {100 * self.difference:.3g} points{spread}, {self.how}."


def known_truth(simulation: Simulation) -> Truth:
    """Return the truth of problems with known equal and better learners.

    Examples
    --------
    >>> from bestofk.papers.lab import simulate
    >>> known_truth(simulate(problem="right-or-wrong(errors=(0.3, 0.2, 0.2))", sets=1)).means
    (0.3, 0.2, 0.2)
    """
    problem = simulation.problem
    if isinstance(problem, TableProblem | ColumnBlocks):
        return truth_of(simulation, simulation.learners)
    if isinstance(problem, BinaryAttributes) and problem.class_probability == 0.5:
        return Truth(
            means=(0.5,) * len(simulation.learners),
            difference=0.0,
            error=0.0,
            how="as the class is a fair coin",
        )
    raise ArgumentError(
        "problem must have known expected losses (blocks, binary with "
        f"class_probability=0.5, or a problem that draws losses); got {problem.describe()}."
    )


def truth_of(simulation: Simulation, learners: Any) -> Truth:
    """Return the truth of a simulation: known, estimated on fresh rows, or from its losses."""
    problem = simulation.problem
    if isinstance(problem, ColumnBlocks):
        return _truth_of_blocks(simulation, problem)
    if isinstance(problem, TableProblem):
        means = problem.true_means
        return Truth(means=means, difference=abs(means[1] - means[0]), error=0.0, how="as set")
    if isinstance(problem, ShuffledLabels | GivenRows):
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
    """Return the truth of equal and unequal blocks; estimate the size of differences."""
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
    """Estimate expected error rates of learners trained on `n_train` rows.

    Parameters
    ----------
    learners : list or mapping
        As for `compare`.
    problem : problem
        A problem with any number of rows: *binary* or *network*.
    n_train : int
        Number of training rows.
    training_sets, test_rows : int
        Number of training sets, and of fresh rows that test each.
    random_state : int
        The seed.

    Examples
    --------
    >>> from bestofk.papers.lab import problem
    >>> truth = estimate_truth(["naive-bayes", "c4.5"], problem("network(paper=4)"), n_train=300,
    ...                        training_sets=20)
    >>> truth.best, round(truth.difference, 1)
    (1, 0.1)
    """
    training_sets = whole(training_sets, "training_sets", at_least=2)
    larger: DataProblem = replace(problem, rows=n_train + test_rows)  # type: ignore[type-var]
    is_test = np.zeros((1, n_train + test_rows), dtype=bool)
    is_test[0, n_train:] = True
    splits = Splits.of(
        spec="holdout",
        seed=0,
        kind="holdout",
        marks=is_test,
        notes=(),
    )
    named = named_learners(learners)
    errors = np.empty((training_sets, len(named)))
    for number in range(training_sets):
        key = np.random.SeedSequence(random_state, spawn_key=(4, number))
        encoded = larger.encoded(np.random.default_rng(key))
        for index, estimator in enumerate(named.values()):
            if hasattr(estimator, "_predict_plan") and not seed_names(estimator):
                predicted = predict_encoded_plan(estimator, encoded, splits)
            else:
                data = larger.draw(np.random.default_rng(key))
                predicted = predict_plan(estimator, data, splits, seeds=[number])
            (wrong,) = wrong_by_split(predicted, encoded.y, splits)
            errors[number, index] = wrong.mean()
    means = errors.mean(axis=0)
    difference = errors[:, 1] - errors[:, 0]
    return Truth(
        means=tuple(means.tolist()),
        difference=abs(float(difference.mean())),
        error=float(difference.std(ddof=1) / np.sqrt(training_sets)),
        how=f"estimated with {training_sets} training sets of {n_train} rows, each tested on "
        f"{test_rows} fresh rows",
    )


def search_network(
    learners: Any = ("naive-bayes", "c4.5"),
    *,
    difference: float,
    tolerance: float = 0.005,
    rows: int = 300,
    attributes: int = 10,
    most_parents: int = 3,
    training_sets: int = 30,
    tries: int = 400,
    random_state: int = 0,
) -> BayesianNetwork:
    """Search a random network on which the second learner is better by `difference`.

    Parameters
    ----------
    learners : list or mapping of two
        As for `compare`.
    difference : float
        Expected error of the first learner minus that of the second; negative if the first
        learner should be better.
    tolerance : float
        Largest allowed distance of the estimated difference from `difference`.
    rows, attributes, most_parents : int
        Size of the network.
    training_sets : int
        Training sets that estimate the difference on a network; the result is confirmed with
        eight times as many.
    tries : int
        Number of networks to try.
    random_state : int
        The seed.

    Returns
    -------
    BayesianNetwork

    Notes
    -----
    The search draws networks at random and improves the best one so far by changing the tables
    of single nodes.

    Examples
    --------
    >>> network = search_network(["max", "naive-bayes"], difference=0.1, tolerance=0.02,
    ...                          attributes=4, training_sets=5)
    >>> len(network.parents)
    5
    """
    whole(tries, "tries", at_least=1)
    probability(abs(difference) or 0.5, "the size of difference")
    if tolerance <= 0:
        raise ArgumentError(f"tolerance must be above 0; got {tolerance!r}.")
    rng = np.random.default_rng(random_state)
    best: BayesianNetwork | None = None
    gap = float("inf")
    for number in range(tries):
        # draw one network in four from scratch to escape a poor start
        if best is None or number % 4 == 0:
            candidate = draw_network(
                rng, rows=rows, attributes=attributes, most_parents=most_parents
            )
        else:
            candidate = _neighbour(best, rng)
        distance = abs(_difference(learners, candidate, rows, training_sets, number) - difference)
        if distance >= gap:
            continue
        best, gap = candidate, distance
        if gap <= tolerance:
            confirmed = _difference(learners, best, rows, 8 * training_sets, tries + number)
            if abs(confirmed - difference) <= tolerance:
                return replace(best, source=f"searched for a difference of {difference:g}")
            gap = abs(confirmed - difference)
    raise RunError(
        f"None of {tries} networks has a difference within {tolerance:g} of {difference:g} (the "
        f"nearest is off by {gap:.3g}); allow a larger tolerance or more tries."
    )


def _difference(
    learners: Any, network: BayesianNetwork, rows: int, training_sets: int, seed: int
) -> float:
    truth = estimate_truth(
        learners, network, n_train=rows, training_sets=training_sets, random_state=seed
    )
    return truth.means[0] - truth.means[1]


def _neighbour(network: BayesianNetwork, rng: np.random.Generator) -> BayesianNetwork:
    """Change the table of one node at random."""
    node = int(rng.integers(len(network.tables)))
    table: Floats = np.array(network.tables[node])
    change = rng.uniform(-MAX_TABLE_STEP, MAX_TABLE_STEP, table.shape)
    tables = list(network.tables)
    tables[node] = tuple(np.clip(table + change, 0.01, 0.99).tolist())
    return replace(network, tables=tuple(tables))
