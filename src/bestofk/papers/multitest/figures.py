"""Figs. 3 and 4: the most frequent graph, and the densities of the errors next to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.losses.losses import Losses
from bestofk.ordering import multitest
from bestofk.papers.multitest.prepared import LEARNERS


def usual_run(edges: np.ndarray) -> int:
    """The first run whose graph is the most frequent one; `edges` (runs, K, K)."""
    _, first, count = np.unique(
        edges.reshape(len(edges), -1), axis=0, return_index=True, return_counts=True
    )
    return int(first[np.argmax(count)])


def drawn(dataset: str, losses: Floats, edges: np.ndarray) -> tuple[str, dict[str, Any]]:
    """An SVG of the graph with the densities, and its figures, from losses (runs, K, 5, 2)."""
    from bestofk.report.figures.kinds.densities import layout_densities
    from bestofk.report.figures.svg import svg

    # as published
    order = multitest(
        _table(dataset, losses[usual_run(edges)]), test="5x2cv-t", correction="bonferroni",
        prior="listed", family="prior", guard=False,
    )  # fmt: skip
    every = np.moveaxis(losses, 0, 1).reshape(len(LEARNERS), -1, 2)
    layout = layout_densities(order, losses=_table(dataset, every))
    return svg(layout.picture), {
        "edges": [[LEARNERS[i], LEARNERS[j]] for i, j in layout.edges],
        "error": list(layout.grid),
        "density": dict(zip(LEARNERS, map(list, layout.densities), strict=True)),
        "edge_shares": edges.mean(axis=0).tolist(),
    }


def _table(dataset: str, values: Floats) -> Losses:
    return Losses(
        values, dims=("algorithm", "run", "fold"), algorithms=LEARNERS, datasets=[dataset]
    )
