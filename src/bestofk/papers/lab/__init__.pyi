from .calibration import calibrate as calibrate
from .claims import (
    FalseClaims as FalseClaims,
    false_claims as false_claims,
)
from .collect_outcomes import Outcomes as Outcomes, outcomes as outcomes
from .measures import (
    Agreement as Agreement,
    Power as Power,
    Replicability as Replicability,
    TypeOneError as TypeOneError,
    power as power,
    replicability as replicability,
    type1_error as type1_error,
)
from .problems.registry import PROBLEMS as PROBLEMS, problem as problem
from .rates import Rate as Rate
from .simulation import Simulation as Simulation, simulate as simulate
from .truth import (
    Truth as Truth,
    estimate_truth as estimate_truth,
    search_network as search_network,
)
