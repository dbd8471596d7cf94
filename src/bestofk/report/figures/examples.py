"""Example code for every figure; each example runs by itself and ends with the call that draws."""

from __future__ import annotations

_TABLE = """
import bestofk as bk

losses = bk.read_losses("breast-cancer-10x10")
"""
_DATASETS = """
import numpy as np
import bestofk as bk

rng = np.random.default_rng(3)
table = rng.uniform(0.05, 0.4, 15) + rng.normal([[0.05], [0.01], [0.03], [0.0]], 0.02, (4, 15))
losses = bk.Losses(table, dims=("algorithm", "dataset"),
                   algorithms=["naive-bayes", "forest", "svm", "boosting"],
                   datasets=[f"set {k}" for k in range(1, 16)])
"""
_RACE = """
import bestofk as bk

study = bk.compare(None, "breast-cancer", stop="settled", progress=False)
"""
_PAIR = """
import bestofk as bk
from bestofk import pairwise

losses = bk.read_losses("breast-cancer-10x10")
a, b = (losses.by_fold()[k].ravel() for k in (0, 3))
"""
_STATED = f"{_TABLE}order = bk.order(losses, prefer='listed')\n"

EXAMPLES = {
    "graph": f"{_STATED}bk.figure(order, 'graph')",
    "forest": f"{_TABLE}order = bk.order(losses, margin=0.01)\nbk.figure(order, 'forest')",
    "steps": f"{_TABLE}order = bk.order(losses, prefer='listed', procedure='multitest')\n"
    "bk.figure(order, 'steps')",
    "densities": f"{_STATED}bk.figure(order, 'densities')",
    "losses": f"{_TABLE}bk.figure(losses, 'losses')",
    "matrix": f"{_TABLE}bk.figure(bk.order(losses), 'matrix')",
    "difference": f"{_PAIR}result = pairwise.corrected_resampled_t(a, b, n_train=512, n_test=57)\n"
    "bk.figure(result, 'difference')",
    "critical-difference": f"{_DATASETS}bk.figure(bk.order(losses), 'critical-difference')",
    "critical-difference-ranks": f"{_DATASETS}bk.figure(losses, 'critical-difference-ranks')",
    "rank-intervals": f"{_TABLE}bk.figure(bk.order(losses), 'rank-intervals')",
    "letters": f"{_TABLE}bk.figure(bk.order(losses), 'letters')",
    "underlines": f"{_DATASETS}from bestofk import multiple\n"
    "result = multiple.newman_keuls(losses.by_dataset())\n"
    "bk.figure(result, 'underlines', names=losses.algorithms)",
    "intervals": """
import numpy as np
import bestofk as bk
from bestofk import multiple

rng = np.random.default_rng(1)
shift = np.array([0, 0.035, 0.05, 0.1])[:, None, None, None]
table = rng.uniform(0.1, 0.3, (1, 14, 1, 1)) + shift + rng.normal(0, 0.05, (4, 14, 5, 15))
result = multiple.bootstrap_b(table, interval="interquartile", names=["A", "B", "C", "D"])
bk.figure(result, 'intervals')""",
    "repetitions": """
import numpy as np
import bestofk as bk

rng = np.random.default_rng(1)
trapped = rng.random((1, 10, 10)) < [[[0.0]], [[0.2]]]
errors = rng.normal(0.2, 0.01, (2, 10, 10)) + 0.04 * ([[[1]], [[0]]] + 5 * trapped)
losses = bk.Losses(errors, dims=("algorithm", "fold", "repetition"), algorithms=["steady", "bold"])
bk.figure(losses, 'repetitions')""",
    "rates": """
import bestofk as bk
from bestofk.report.figures import Rates

rates = Rates(x=[2, 5, 10, 20], rate=[[0.02, 0.04, 0.05, 0.06]], low=[[0.01, 0.03, 0.04, 0.05]],
              high=[[0.03, 0.05, 0.06, 0.07]], names=["use-all-data"], nominal=0.05)
bk.figure(rates, 'rates')""",
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
    "roc": """
import numpy as np
import bestofk as bk
from bestofk import decide

rng = np.random.default_rng(0)
truth = rng.random(300) < 0.4
scores = np.stack([truth * 1.2 + rng.normal(0, 1, 300),
                   truth * (rng.random(300) < 0.6) * 3 + rng.normal(0, 0.6, 300),
                   truth * 0.6 + rng.normal(0, 1, 300)])
hull = decide.roc_hull(scores, truth, names=["steady", "bold", "weak"])
bk.figure(hull, 'roc')""",
    "race": f"{_RACE}study.plot('race')",
    "frontier": """
import bestofk as bk

study = bk.compare(None, "breast-cancer", cv="kfold:10", progress=False)
study.plot('frontier', cost='fit_time')""",
    "heatmap": f"{_DATASETS}bk.figure(losses, 'heatmap')",
    "ranks": f"{_DATASETS}bk.figure(losses, 'ranks')",
    "simplex": f"{_TABLE}order = bk.order(losses, rope=0.01)\nbk.figure(order, 'simplex')",
    "posterior": f"{_TABLE}order = bk.order(losses, rope=0.01)\nbk.figure(order, 'posterior')",
}
"""Example code by figure name."""
