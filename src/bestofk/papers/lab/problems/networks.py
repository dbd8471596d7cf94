"""Bayesian networks over binary attributes and a binary class: of the paper, or drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, whole
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Encoded
from bestofk.papers.lab.problems.generator import DataProblem

PAPER_SETS = (2, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesianNetwork(DataProblem):
    """A network of binary nodes, the class last, each with a table given its parents.

    Parameters
    ----------
    parents : tuple of tuples of int
        The parents of every node.
    tables : tuple of tuples of float
        P(node = 1) for every state of the parents; the first parent is the lowest bit.
    rows : int
        Size of a data set.
    source : str
        A short description of the origin of the network.

    Examples
    --------
    A class that one attribute predicts with an error of 0.1:

    >>> network = BayesianNetwork(parents=((1,), ()), tables=((0.1, 0.9), (0.5,)))
    >>> round(network.bayes_error, 3)
    0.1
    """

    parents: tuple[tuple[int, ...], ...]
    tables: tuple[tuple[float, ...], ...]
    rows: int = 300
    source: str = "given"

    def __post_init__(self) -> None:
        whole(self.rows, "rows of problem 'network'", at_least=4)

    def encoded(self, rng: np.random.Generator) -> Encoded:
        n = len(self.parents)
        uniform = rng.random((n, self.rows))
        values = np.empty((n, self.rows), dtype=np.int64)
        # each node after its parents
        for node in TopologicalSorter(dict(enumerate(self.parents))).static_order():
            state = np.zeros(self.rows, dtype=np.int64)
            for bit, parent in enumerate(self.parents[node]):
                state += values[parent] << bit
            values[node] = uniform[node] < np.array(self.tables[node])[state]
        return Encoded(
            values=values[:-1].T.astype(np.float64),
            cardinality=np.full(n - 1, 2),
            y=values[-1],
            classes=np.array(["0", "1"]),
        )

    def joint(self) -> tuple[Floats, Floats]:
        """Return all states of the attributes (2^d, d), and their probability with either class."""
        n = len(self.parents)
        states = np.arange(2**n)
        bits = (states[:, np.newaxis] >> np.arange(n)) & 1
        weight = np.ones(2**n)
        for node, (above, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            state = np.zeros(2**n, dtype=np.int64)
            for bit, parent in enumerate(above):
                state += bits[:, parent] << bit
            p = np.array(table)[state]
            weight *= np.where(bits[:, node] == 1, p, 1.0 - p)
        half = 2 ** (n - 1)
        return bits[:half, :-1].astype(np.float64), weight.reshape(2, half).T

    @property
    def bayes_error(self) -> float:
        """Error of the best rule."""
        return float(self.joint()[1].min(axis=1).sum())

    def describe(self) -> str:
        arcs = sum(map(len, self.parents))
        return (
            f"{self.rows} rows from a Bayesian network ({self.source}) of "
            f"{len(self.parents) - 1} binary attributes and a class, {arcs} arcs, Bayes error "
            f"{self.bayes_error:.3f}"
        )


def network(*, paper: int, rows: int = 300) -> BayesianNetwork:
    """Return a network on which naive Bayes and C4.5 have the accuracies of a set of the paper.

    The paper does not show its networks.

    Parameters
    ----------
    paper : {2, 3, 4}
        The number of the set.
    rows : int
        Size of a data set.

    Examples
    --------
    >>> round(network(paper=2).bayes_error, 3)
    0.084
    """
    if paper not in PAPER_SETS:
        raise ArgumentError(f"paper must be 2, 3 or 4; got {paper!r}.")
    contents = _paper_sets()[str(paper)]
    return BayesianNetwork(
        parents=tuple(map(tuple, contents["parents"])),
        tables=tuple(map(tuple, contents["p1"])),
        rows=rows,
        source=f"for Set {paper} of Bouckaert 2003",
    )


def draw_network(
    rng: np.random.Generator, *, rows: int = 300, attributes: int = 10, most_parents: int = 3
) -> BayesianNetwork:
    """Draw a network: nodes in random order, each with up to `most_parents` earlier parents."""
    n = whole(attributes, "attributes of problem 'network'", at_least=1) + 1
    whole(most_parents, "most_parents of problem 'network'", at_least=1)
    order = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    tables: list[tuple[float, ...]] = [()] * n
    for index, node in enumerate(order.tolist()):
        count = int(rng.integers(0, min(index, most_parents) + 1))
        above = sorted(rng.choice(order[:index], size=count, replace=False).tolist())
        parents[node] = tuple(above)
        tables[node] = tuple(rng.random(2**count).tolist())
    return BayesianNetwork(parents=tuple(parents), tables=tuple(tables), rows=rows, source="drawn")


@cache
def _paper_sets() -> dict[str, Any]:
    path = files("bestofk.papers.lab.problems").joinpath("networks.json")
    sets: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["sets"]
    return sets
