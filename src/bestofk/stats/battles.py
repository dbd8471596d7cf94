"""Bradley-Terry strengths of K players from wins, ties and losses between pairs.

The chance that player i beats player j is 1 / (1 + exp(s_j - s_i)). A tie counts as half a win for
each of both. The covariance is a sandwich: it needs no assumption about how often ties occur, and
battles of one cluster may depend on each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestofk._base.checks import Floats, Ints

_MAX_STEPS = 200
_MAX_HALVINGS = 40


class Strengths(NamedTuple):
    """The fit of `bradley_terry`; strengths are log odds with the mean 0.

    The degrees of freedom are n - K + 1, or the effective number of clusters less 1: the squared
    number of battles divided by the sum of the squared sizes of the clusters.
    """

    strengths: Floats
    covariance: Floats
    df: float


def outcome_counts(first: Ints, second: Ints, outcome: Ints, players: int) -> Ints:
    """Return the battles (K, K, 3) by first and second player and by outcome.

    The outcome is 0 if the second player won, 1 for a tie, and 2 if the first player won.

    Examples
    --------
    >>> counts = outcome_counts(np.array([0, 1]), np.array([1, 0]), np.array([2, 1]), 2)
    >>> counts[0, 1].tolist(), counts[1, 0].tolist()
    ([0, 0, 1], [0, 1, 0])
    """
    cells = _cells(first, second, outcome, players)
    return np.bincount(cells, minlength=players * players * 3).reshape(players, players, 3)


def wins_of(counts: Ints) -> Floats:
    """Return the wins (K, K) of each player over each other, with half a win for a tie."""
    halves = counts @ np.array([0.0, 0.5, 1.0])
    lost = counts @ np.array([1.0, 0.5, 0.0])
    wins: Floats = halves + lost.T
    return wins


def unbeaten_group(wins: Floats) -> tuple[bool, Ints] | None:
    """Return players that keep the strengths from being finite; None if there are none.

    The strengths are finite if and only if a chain of wins or ties leads from every player to every
    other one (Ford 1957). Otherwise return (True, players) for a group without any battle against
    the others, or (False, players) for a group that won all battles against the others.

    Examples
    --------
    >>> unbeaten_group(np.array([[0.0, 2.0], [0.0, 0.0]]))
    (False, array([0]))
    """
    from scipy.sparse.csgraph import connected_components

    graph = wins > 0
    count, labels = connected_components(graph, directed=True, connection="weak")
    if count > 1:
        return True, np.flatnonzero(labels == np.bincount(labels).argmin())
    count, labels = connected_components(graph, directed=True, connection="strong")
    if count == 1:
        return None
    for label in range(count):
        group = labels == label
        if not wins[~group][:, group].any():
            return False, np.flatnonzero(group)
    raise AssertionError("A graph without cycles has a source.")


def bradley_terry(
    first: Ints,
    second: Ints,
    outcome: Ints,
    players: int,
    clusters: Ints | None = None,
) -> Strengths:
    """Fit the strengths and their covariance to battles.

    - `first`, `second` (n,): Indices of both players of a battle.
    - `outcome` (n,): 0 if the second player won, 1 for a tie, 2 if the first player won.
    - `players`: K. Every player must be connected with every other one, see `unbeaten_group`.
    - `clusters`: Codes 0, 1, ... of groups of battles that may depend on each other.

    Examples
    --------
    Three wins and one loss give log odds of 3:

    >>> fit = bradley_terry(np.zeros(4, int), np.ones(4, int), np.array([2, 2, 2, 0]), 2)
    >>> float(np.exp(fit.strengths[0] - fit.strengths[1]).round(6))
    3.0
    """
    from scipy.special import expit

    counts = outcome_counts(first, second, outcome, players)
    wins = wins_of(counts)
    strengths = _maximum(wins)
    expected = expit(strengths[:, None] - strengths)
    bread = np.linalg.inv(_information(wins, expected))
    n = len(first)
    residuals = np.array([0.0, 0.5, 1.0]) - expected[..., None]
    df: float
    if clusters is None:
        meat = _laplacian((counts * residuals**2).sum(axis=2))
        df = n - players + 1
        factor = n / max(df, 1)
    else:
        cells = _cells(first, second, outcome, players)
        meat = _cluster_products(clusters, cells, residuals.ravel(), players)
        # clusters of unequal size count as fewer clusters of equal size
        sizes = np.bincount(clusters)
        df = float(n**2 / (sizes @ sizes)) - 1.0
        factor = 1.0 + 1.0 / df
    return Strengths(strengths, factor * (bread @ meat @ bread), df)


def _cells(first: Ints, second: Ints, outcome: Ints, players: int) -> Ints:
    """Return the place of every battle in the array (K, K, 3) of `outcome_counts`."""
    cells = first * players
    cells += second
    cells *= 3
    cells += outcome
    return cells


def _maximum(wins: Floats) -> Floats:
    """Return the strengths with the largest likelihood, by Newton's method with halved steps."""
    from scipy.special import expit

    strengths = np.zeros(len(wins))
    value = _log_likelihood(wins, strengths)
    battles = wins + wins.T
    for _ in range(_MAX_STEPS):
        expected = expit(strengths[:, None] - strengths)
        gradient = (wins - battles * expected).sum(axis=1)
        step = np.linalg.solve(_information(wins, expected), gradient)
        for _ in range(_MAX_HALVINGS):
            proposal = _log_likelihood(wins, strengths + step)
            if proposal >= value - 1e-12 * abs(value):
                break
            step /= 2.0
        strengths = strengths + step
        value = proposal
        if np.abs(step).max() < 1e-10:
            break
    centred: Floats = strengths - strengths.mean()
    return centred


def _log_likelihood(wins: Floats, strengths: Floats) -> float:
    return -float((wins * np.logaddexp(0.0, strengths - strengths[:, None])).sum())


def _information(wins: Floats, expected: Floats) -> Floats:
    """Return the information matrix, made regular.

    A constant added to all strengths changes nothing, so a constant added to all cells fixes only
    their mean.
    """
    information = _laplacian((wins + wins.T) * expected * (1.0 - expected) / 2.0)
    information += np.trace(information) / len(wins) ** 2
    return information


def _laplacian(weights: Floats) -> Floats:
    """Return the sum of w_ij (e_i - e_j)(e_i - e_j)' over all i and j."""
    both = weights + weights.T
    laplacian: Floats = np.diag(both.sum(axis=1)) - both
    return laplacian


def _cluster_products(clusters: Ints, cells: Ints, residuals: Floats, players: int) -> Floats:
    """Return the sum over clusters of the outer products of their scores.

    `cells` are those of the battles; `residuals` has one value per cell.
    """
    from scipy.sparse import csr_array

    first, second = np.divmod(np.arange(players * players).repeat(3), players)
    scores = residuals[cells]
    rows, columns = np.tile(clusters, 2), np.concatenate([first[cells], second[cells]])
    shape = (int(clusters.max()) + 1, players)
    sums = csr_array((np.concatenate([scores, -scores]), (rows, columns)), shape)
    return np.asarray((sums.T @ sums).toarray())
