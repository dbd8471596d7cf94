from .exact import mcnemar_power as mcnemar_power, t_power as t_power
from .result import Needed as Needed, PairPlan as PairPlan, PlanSize as PlanSize
from .simulated import halves_power as halves_power, unit_power as unit_power
from .sizes import plan_size as plan_size
