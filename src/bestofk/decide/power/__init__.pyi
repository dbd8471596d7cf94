from .functions import (
    five_by_two_f_power as five_by_two_f_power,
    five_by_two_t_power as five_by_two_t_power,
    mcnemar_power as mcnemar_power,
    permutation_power as permutation_power,
    signed_rank_power as signed_rank_power,
    t_noncentrality as t_noncentrality,
    t_power as t_power,
)
from .result import Needed as Needed, PairPlan as PairPlan, PlanSize as PlanSize
from .sizes import plan_size as plan_size
