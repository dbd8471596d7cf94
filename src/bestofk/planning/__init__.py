"""Planning: the differences that a design can show, and how large it must be to show more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.planning.power_five_by_two import five_by_two_f_power, five_by_two_t_power
    from bestofk.planning.power_mcnemar import mcnemar_power
    from bestofk.planning.power_permutation import permutation_power
    from bestofk.planning.power_signed_rank import signed_rank_power
    from bestofk.planning.power_t import t_noncentrality, t_power
    from bestofk.planning.result import Needed, PairPlan, PlanSize
    from bestofk.planning.study_size import plan_size

_HOMES = {
    "Needed": "result",
    "PairPlan": "result",
    "PlanSize": "result",
    "five_by_two_f_power": "power_five_by_two",
    "five_by_two_t_power": "power_five_by_two",
    "mcnemar_power": "power_mcnemar",
    "permutation_power": "power_permutation",
    "plan_size": "study_size",
    "signed_rank_power": "power_signed_rank",
    "t_noncentrality": "power_t",
    "t_power": "power_t",
}

__all__ = [
    "Needed",
    "PairPlan",
    "PlanSize",
    "five_by_two_f_power",
    "five_by_two_t_power",
    "mcnemar_power",
    "permutation_power",
    "plan_size",
    "signed_rank_power",
    "t_noncentrality",
    "t_power",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
