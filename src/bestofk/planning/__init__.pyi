from .plan_size import plan_size as plan_size
from .power_five_by_two import (
    five_by_two_f_power as five_by_two_f_power,
    five_by_two_t_power as five_by_two_t_power,
)
from .power_mcnemar import mcnemar_power as mcnemar_power
from .power_permutation import permutation_power as permutation_power
from .power_signed_rank import signed_rank_power as signed_rank_power
from .power_t import t_noncentrality as t_noncentrality, t_power as t_power
from .result import Needed as Needed, PairPlan as PairPlan, PlanSize as PlanSize
