from .calibration import calibrate as calibrate
from .claims import (
    FalseClaims as FalseClaims,
    false_claims as false_claims,
)
from .collect_outcomes import Outcomes as Outcomes, outcomes as outcomes
from .error_rates import (
    TypeOneError as TypeOneError,
    type1_error as type1_error,
)
from .power_rates import Power as Power, power as power
from .problems.registry import PROBLEMS as PROBLEMS, problem as problem
from .rates import Curve as Curve, Rate as Rate
from .replications import (
    Agreement as Agreement,
    Replicability as Replicability,
    replicability as replicability,
)
from .simulation import Simulation as Simulation, simulate as simulate
from .truth import (
    Truth as Truth,
    estimate_truth as estimate_truth,
    search_network as search_network,
)
