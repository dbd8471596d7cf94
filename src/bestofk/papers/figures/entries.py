"""Entries of the figures that only the lab and the papers draw."""

from __future__ import annotations

from typing import Any

from bestofk.report.figures.comparisons import losses_of
from bestofk.report.figures.examples import DATASETS
from bestofk.report.figures.registry import FigureEntry


def _has_repetitions(value: Any) -> bool:
    losses = losses_of(value)
    return losses is not None and losses.values.shape[-1] > 1


FIGURES = (
    FigureEntry(
        name="underlines",
        module="bestofk.papers.figures.underlines",
        accepts=("NewmanKeulsResult",),
        summary="learners by mean loss, with a line under those not shown to differ",
        code=f"{DATASETS}from bestofk.papers.stats import newman_keuls\n"
        "result = newman_keuls(losses.by_dataset())\n"
        "bk.figure(result, 'underlines', names=losses.learners)",
    ),
    FigureEntry(
        name="intervals",
        module="bestofk.papers.figures.interval_bars",
        accepts=("BootstrapBResult",),
        summary="Bootstrap-B: intervals against the mean of all learners, and p-value intervals",
        code="""
import numpy as np
import bestofk as bk
from bestofk.papers.stats import bootstrap_b

rng = np.random.default_rng(1)
shift = np.array([0, 0.035, 0.05, 0.1])[:, None, None, None]
table = rng.uniform(0.1, 0.3, (1, 14, 1, 1)) + shift + rng.normal(0, 0.05, (4, 14, 5, 15))
result = bootstrap_b(table, interval="interquartile", names=["A", "B", "C", "D"])
bk.figure(result, 'intervals')""",
    ),
    FigureEntry(
        name="repetitions",
        module="bestofk.papers.figures.repetition_points",
        accepts=("Scores", "Study"),
        shows=_has_repetitions,
        summary="two stochastic learners: repetitions by split, their means and their intervals",
        code="""
import numpy as np
import bestofk as bk

rng = np.random.default_rng(1)
trapped = rng.random((1, 10, 10)) < [[[0.0]], [[0.2]]]
errors = rng.normal(0.2, 0.01, (2, 10, 10)) + 0.04 * ([[[1]], [[0]]] + 5 * trapped)
losses = bk.Scores(errors, dims=("learner", "fold", "repetition"), learners=["steady", "bold"])
bk.figure(losses, 'repetitions')""",
    ),
    FigureEntry(
        name="rates",
        module="bestofk.papers.figures.rate_curves",
        accepts=("Rates",),
        summary="Type I error, power or replicability, with Monte Carlo bands",
        code="""
import bestofk as bk
from bestofk.papers.figures.rate_curves import Rates

rates = Rates(x=[2, 5, 10, 20], rate=[[0.02, 0.04, 0.05, 0.06]], low=[[0.01, 0.03, 0.04, 0.05]],
              high=[[0.03, 0.05, 0.06, 0.07]], names=["use-all-data"], nominal=0.05)
bk.figure(rates, 'rates')""",
    ),
    FigureEntry(
        name="roc",
        module="bestofk.papers.figures.roc_curves",
        accepts=("RocHull",),
        summary="ROC curves, their convex hull and its slopes",
        code="""
import numpy as np
import bestofk as bk
from bestofk.papers.decide import roc_hull

rng = np.random.default_rng(0)
truth = rng.random(300) < 0.4
scores = np.stack([truth * 1.2 + rng.normal(0, 1, 300),
                   truth * (rng.random(300) < 0.6) * 3 + rng.normal(0, 0.6, 300),
                   truth * 0.6 + rng.normal(0, 1, 300)])
hull = roc_hull(scores, truth, names=["steady", "bold", "weak"])
bk.figure(hull, 'roc')""",
    ),
)
