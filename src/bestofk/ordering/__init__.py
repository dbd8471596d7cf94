"""Procedures: from evidence and a prior preference to an order or a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.ordering.analysis_of_variance import anova_choice, newman_keuls_choice
    from bestofk.ordering.evidence import Evidence, Pair
    from bestofk.ordering.graph import Step, sort_by_overrides
    from bestofk.ordering.multinomial import MultinomialSelection, multinomial_selection
    from bestofk.ordering.pairwise_procedures import most_wins, multitest, test_first
    from bestofk.ordering.registry import PROCEDURES
    from bestofk.ordering.result import Order, Standing
    from bestofk.ordering.roc import RocHull, roc_hull
    from bestofk.ordering.sensitivity import (
        AlphaPath,
        PriorPath,
        orders_by_alpha,
        orders_by_prior,
    )

_HOMES = {
    "anova_choice": "analysis_of_variance",
    "newman_keuls_choice": "analysis_of_variance",
    "Evidence": "evidence",
    "Pair": "evidence",
    "Step": "graph",
    "sort_by_overrides": "graph",
    "MultinomialSelection": "multinomial",
    "multinomial_selection": "multinomial",
    "most_wins": "pairwise_procedures",
    "multitest": "pairwise_procedures",
    "test_first": "pairwise_procedures",
    "PROCEDURES": "registry",
    "Order": "result",
    "Standing": "result",
    "RocHull": "roc",
    "roc_hull": "roc",
    "AlphaPath": "sensitivity",
    "PriorPath": "sensitivity",
    "orders_by_alpha": "sensitivity",
    "orders_by_prior": "sensitivity",
}

__all__ = [
    "PROCEDURES",
    "AlphaPath",
    "Evidence",
    "MultinomialSelection",
    "Order",
    "Pair",
    "PriorPath",
    "RocHull",
    "Standing",
    "Step",
    "anova_choice",
    "most_wins",
    "multinomial_selection",
    "multitest",
    "newman_keuls_choice",
    "orders_by_alpha",
    "orders_by_prior",
    "roc_hull",
    "sort_by_overrides",
    "test_first",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
