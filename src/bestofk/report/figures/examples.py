"""Example code for every figure; each example runs by itself and ends with the call that draws."""

from __future__ import annotations

_TABLE = """
import bestofk as bk

losses = bk.read_scores("breast-cancer-10x10")
"""
DATASETS = """
import numpy as np
import bestofk as bk

rng = np.random.default_rng(3)
table = rng.uniform(0.05, 0.4, 15) + rng.normal([[0.05], [0.01], [0.03], [0.0]], 0.02, (4, 15))
losses = bk.Scores(table, dims=("learner", "dataset"),
                   learners=["naive-bayes", "forest", "svm", "boosting"],
                   datasets=[f"set {k}" for k in range(1, 16)])
"""
_RACE = """
import bestofk as bk

study = bk.compare(None, "breast-cancer", stop="settled", progress=False)
"""
_PAIR = """
import bestofk as bk
from bestofk import pairwise

losses = bk.read_scores("breast-cancer-10x10")
a, b = (losses.values[k].ravel() for k in (0, 3))
"""
_STATED = f"{_TABLE}order = bk.compare_scores(losses, prefer='listed')\n"

EXAMPLES = {
    "graph": f"{_STATED}bk.figure(order, 'graph')",
    "forest": f"{_TABLE}order = bk.compare_scores(losses, margin=0.01)\nbk.figure(order, 'forest')",
    "steps": f"{_TABLE}order = bk.compare_scores(losses, prefer='listed', procedure='multitest')\n"
    "bk.figure(order, 'steps')",
    "densities": f"{_STATED}bk.figure(order, 'densities')",
    "losses": f"{_TABLE}bk.figure(losses, 'losses')",
    "matrix": f"{_TABLE}bk.figure(bk.compare_scores(losses), 'matrix')",
    "difference": f"{_PAIR}result = pairwise.corrected_resampled_t(a, b, n_train=512, n_test=57)\n"
    "bk.figure(result, 'difference')",
    "critical-difference": f"{DATASETS}bk.figure(bk.compare_scores(losses), 'critical-difference')",
    "critical-difference-ranks": f"{DATASETS}bk.figure(losses, 'critical-difference-ranks')",
    "rank-intervals": f"{_TABLE}bk.figure(bk.compare_scores(losses), 'rank-intervals')",
    "letters": f"{_TABLE}bk.figure(bk.compare_scores(losses), 'letters')",
    "gate": """
import tempfile
import numpy as np
import bestofk as bk

rng = np.random.default_rng(5)
chance = rng.beta(0.7, 0.3, 500)
baseline = (rng.random(500) < chance) * 1.0
with tempfile.TemporaryDirectory() as folder:
    for build in range(12):
        scores = (rng.random(500) < chance - 0.012 * build) * 1.0
        result = bk.gate(scores, baseline if build == 0 else None, build=f"build {build + 1}",
                         ledger=f"{folder}/gate.json")
bk.figure(result, 'gate')""",
    "race": f"{_RACE}study.plot('race')",
    "frontier": """
import bestofk as bk

study = bk.compare(None, "breast-cancer", cv="kfold:10", progress=False)
study.plot('frontier', cost='fit_time')""",
    "heatmap": f"{DATASETS}bk.figure(losses, 'heatmap')",
    "ranks": f"{DATASETS}bk.figure(losses, 'ranks')",
    "simplex": f"{_TABLE}order = bk.compare_scores(losses, rope=0.01)\nbk.figure(order, 'simplex')",
    "posterior": f"{_TABLE}order = bk.compare_scores(losses, rope=0.01)\n"
    "bk.figure(order, 'posterior')",
}
"""Example code by figure name."""
