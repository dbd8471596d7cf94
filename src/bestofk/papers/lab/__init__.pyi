from .calibration import calibrate as calibrate
from .collect_outcomes import Outcomes as Outcomes, outcomes as outcomes
from .measures import (
    Measured as Measured,
    false_claims as false_claims,
    power as power,
    replicability as replicability,
    type1_error as type1_error,
)
from .problems.registry import PROBLEMS as PROBLEMS, problem as problem
from .simulation import Simulation as Simulation, simulate as simulate
from .truth import (
    Truth as Truth,
    estimate_truth as estimate_truth,
    search_network as search_network,
)
