"""Procedures: from evidence and a prior preference to an order or a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.ordering.analysis_of_variance import anova_choice, newman_keuls_choice
    from bestofk.ordering.cheapest_adequate import cheapest_adequate
    from bestofk.ordering.evidence import Evidence, Pair
    from bestofk.ordering.family import Family
    from bestofk.ordering.graph import Step, sort_by_overrides
    from bestofk.ordering.margin import MarginVerdict
    from bestofk.ordering.most_wins import most_wins
    from bestofk.ordering.multinomial import MultinomialSelection, multinomial_selection
    from bestofk.ordering.multitest import multitest
    from bestofk.ordering.preference import Preference
    from bestofk.ordering.registry import PROCEDURES
    from bestofk.ordering.result import Order, Standing
    from bestofk.ordering.roc import RocHull, roc_hull
    from bestofk.ordering.sensitivity import (
        AlphaPath,
        PriorPath,
        orders_by_alpha,
        orders_by_prior,
    )
    from bestofk.ordering.testfirst import test_first

_HOMES = {
    "anova_choice": "analysis_of_variance",
    "newman_keuls_choice": "analysis_of_variance",
    "Evidence": "evidence",
    "Pair": "evidence",
    "Step": "graph",
    "sort_by_overrides": "graph",
    "MultinomialSelection": "multinomial",
    "multinomial_selection": "multinomial",
    "MarginVerdict": "margin",
    "Family": "family",
    "Preference": "preference",
    "cheapest_adequate": "cheapest_adequate",
    "most_wins": "most_wins",
    "multitest": "multitest",
    "test_first": "testfirst",
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
    "Family",
    "MarginVerdict",
    "MultinomialSelection",
    "Order",
    "Pair",
    "Preference",
    "PriorPath",
    "RocHull",
    "Standing",
    "Step",
    "anova_choice",
    "cheapest_adequate",
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
