"""bestofk: of these K learning algorithms, which should I use, and how sure can I be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names
from bestofk.version import __version__

if TYPE_CHECKING:
    from bestofk import estimates, intervals, lab, multiple, ordering, pairwise, planning
    from bestofk.data.dataset import DataSet
    from bestofk.data.embedded import load
    from bestofk.data.reader import read_dataset
    from bestofk.errors import (
        ArgumentError,
        BestOfKError,
        BestOfKWarning,
        DesignError,
        MissingExtraError,
        RunError,
        StoreError,
        TableError,
        UnknownNameError,
    )
    from bestofk.learners.registry import learner
    from bestofk.losses.losses import Losses
    from bestofk.losses.readers import read_losses
    from bestofk.ordering.decide import order
    from bestofk.ordering.result import Order
    from bestofk.planning.result import PlanSize
    from bestofk.planning.study_size import plan_size
    from bestofk.plans.design import Design
    from bestofk.plans.making import Plan, plan
    from bestofk.report.figures.painting import save_figure
    from bestofk.report.figures.registry import figure
    from bestofk.run.comparing import compare
    from bestofk.run.study import Study
    from bestofk.selection_bias import CorrectedMinimum, corrected_minimum

_MODULES = ("estimates", "intervals", "lab", "multiple", "ordering", "pairwise", "planning")
_HOMES = {
    "ArgumentError": "errors",
    "BestOfKError": "errors",
    "BestOfKWarning": "errors",
    "DesignError": "errors",
    "MissingExtraError": "errors",
    "RunError": "errors",
    "StoreError": "errors",
    "TableError": "errors",
    "UnknownNameError": "errors",
    "CorrectedMinimum": "selection_bias",
    "DataSet": "data.dataset",
    "Design": "plans.design",
    "Losses": "losses.losses",
    "Order": "ordering.result",
    "Plan": "plans.making",
    "PlanSize": "planning.result",
    "Study": "run.study",
    "compare": "run.comparing",
    "corrected_minimum": "selection_bias",
    "figure": "report.figures.registry",
    "learner": "learners.registry",
    "load": "data.embedded",
    "order": "ordering.decide",
    "plan": "plans.making",
    "plan_size": "planning.study_size",
    "read_dataset": "data.reader",
    "read_losses": "losses.readers",
    "save_figure": "report.figures.painting",
}

__all__ = [
    "ArgumentError",
    "BestOfKError",
    "BestOfKWarning",
    "CorrectedMinimum",
    "DataSet",
    "Design",
    "DesignError",
    "Losses",
    "MissingExtraError",
    "Order",
    "Plan",
    "PlanSize",
    "RunError",
    "StoreError",
    "Study",
    "TableError",
    "UnknownNameError",
    "__version__",
    "compare",
    "corrected_minimum",
    "estimates",
    "figure",
    "intervals",
    "lab",
    "learner",
    "load",
    "multiple",
    "order",
    "ordering",
    "pairwise",
    "plan",
    "plan_size",
    "planning",
    "read_dataset",
    "read_losses",
    "save_figure",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES, _MODULES)
