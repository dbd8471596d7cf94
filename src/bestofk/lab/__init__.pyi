from bestofk.pairwise.calibration import (
    Calibration as Calibration,
    read_calibration as read_calibration,
)
from bestofk.problems.registry import PROBLEMS as PROBLEMS, problem as problem

from .calibrate import calibrate as calibrate
from .estimate_truth import Truth as Truth, estimate_truth as estimate_truth
from .false_claims import FalseClaims as FalseClaims, false_claims as false_claims
from .outcomes import Outcomes as Outcomes, outcomes as outcomes
from .power import Power as Power, power as power
from .rate import Curve as Curve, Rate as Rate
from .replicability import (
    Agreement as Agreement,
    Replicability as Replicability,
    replicability as replicability,
)
from .search_network import search_network as search_network
from .simulate import simulate as simulate
from .simulation_result import Simulation as Simulation
from .type1_by_df import type1_by_df as type1_by_df
from .type1_error import TypeOneError as TypeOneError, type1_error as type1_error
from .worst_chosen import Chosen as Chosen, worst_chosen as worst_chosen
