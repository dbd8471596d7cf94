from .exact import mcnemar_power as mcnemar_power, t_power as t_power
from .result import Needed as Needed, PairPlan as PairPlan, SampleSize as SampleSize
from .simulated import halves_power as halves_power, unit_power as unit_power
from .sizes import sample_size as sample_size
