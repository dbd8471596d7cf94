"""The lab: how often a test errs, what it finds, whether it would say the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.lazily import lazy_names

if TYPE_CHECKING:
    from bestofk.lab.calibrating import calibrate, type1_by_df
    from bestofk.lab.chosen import Chosen, worst_chosen
    from bestofk.lab.claims import FalseClaims, false_claims
    from bestofk.lab.measuring import Power, TypeOneError, power, type1_error
    from bestofk.lab.network_search import search_network
    from bestofk.lab.problems import PROBLEMS, problem
    from bestofk.lab.rate import Curve, Rate
    from bestofk.lab.repeating import Agreement, Replicability, replicability
    from bestofk.lab.simulating import simulate
    from bestofk.lab.simulation import Simulation
    from bestofk.lab.truth import Truth, estimate_truth
    from bestofk.lab.verdicts import Outcomes, outcomes
    from bestofk.pairwise.calibration import Calibration, read_calibration

_HOMES = {
    "Agreement": "repeating",
    "Calibration": "calibrating",
    "Chosen": "chosen",
    "Curve": "rate",
    "FalseClaims": "claims",
    "Outcomes": "verdicts",
    "PROBLEMS": "problems",
    "Power": "measuring",
    "Rate": "rate",
    "Replicability": "repeating",
    "Simulation": "simulation",
    "Truth": "truth",
    "TypeOneError": "measuring",
    "calibrate": "calibrating",
    "estimate_truth": "truth",
    "false_claims": "claims",
    "outcomes": "verdicts",
    "power": "measuring",
    "problem": "problems",
    "read_calibration": "calibrating",
    "replicability": "repeating",
    "search_network": "network_search",
    "simulate": "simulating",
    "type1_by_df": "calibrating",
    "type1_error": "measuring",
    "worst_chosen": "chosen",
}

__all__ = [
    "PROBLEMS",
    "Agreement",
    "Calibration",
    "Chosen",
    "Curve",
    "FalseClaims",
    "Outcomes",
    "Power",
    "Rate",
    "Replicability",
    "Simulation",
    "Truth",
    "TypeOneError",
    "calibrate",
    "estimate_truth",
    "false_claims",
    "outcomes",
    "power",
    "problem",
    "read_calibration",
    "replicability",
    "search_network",
    "simulate",
    "type1_by_df",
    "type1_error",
    "worst_chosen",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
