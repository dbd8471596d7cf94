"""A Bayesian network on which two learners differ by as much as is wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bestofk.checks import Floats, probability, whole
from bestofk.errors import ArgumentError, RunError
from bestofk.lab.estimate_truth import estimate_truth
from bestofk.problems.bayesian_network import BayesianNetwork, draw_network

STEP = 0.25
"""How far the probabilities of a table are moved in one try."""


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
    """A random network on which the second learner is better than the first by `difference`.

    Parameters
    ----------
    learners : list or mapping of two
        As for `compare`.
    difference : float
        Expected error of the first learner less that of the second; negative where the first is
        to be the better one.
    tolerance : float
        How near the estimated difference must come.
    rows, attributes, most_parents : int
        Of the network.
    training_sets : int
        Training sets by which a network is judged; the one that is returned is judged by eight
        times as many.
    tries : int
        Networks that are looked at before giving up.
    random_state : int
        The seed.

    Returns
    -------
    BayesianNetwork

    Notes
    -----
    Networks are drawn at random; from one that is nearer than the best so far the search goes on
    by moving the tables of single nodes.

    Examples
    --------
    >>> found = search_network(["max", "naive-bayes"], difference=0.1, tolerance=0.02,
    ...                        attributes=4, training_sets=5)
    >>> len(found.parents)
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
        # one network in four is new, so that no poor start is kept for good
        if best is None or number % 4 == 0:
            candidate = draw_network(
                rng, rows=rows, attributes=attributes, most_parents=most_parents
            )
        else:
            candidate = _moved(best, rng)
        off = abs(_difference(learners, candidate, rows, training_sets, number) - difference)
        if off >= gap:
            continue
        best, gap = candidate, off
        if gap <= tolerance:
            sure = _difference(learners, best, rows, 8 * training_sets, tries + number)
            if abs(sure - difference) <= tolerance:
                return replace(best, source=f"searched for a difference of {difference:g}")
            gap = abs(sure - difference)
    raise RunError(
        f"No network with a difference of {difference:g} within {tolerance:g} was found in {tries} "
        f"tries (the nearest was {gap:.3g} off): allow a larger tolerance, or more tries."
    )


def _difference(
    learners: Any, network: BayesianNetwork, rows: int, training_sets: int, seed: int
) -> float:
    truth = estimate_truth(
        learners, network, n_train=rows, training_sets=training_sets, random_state=seed
    )
    return truth.means[0] - truth.means[1]


def _moved(network: BayesianNetwork, rng: np.random.Generator) -> BayesianNetwork:
    node = int(rng.integers(len(network.tables)))
    table: Floats = np.array(network.tables[node])
    moved = np.clip(table + rng.uniform(-STEP, STEP, table.shape), 0.01, 0.99)
    tables = list(network.tables)
    tables[node] = tuple(moved.tolist())
    return replace(network, tables=tuple(tables))
