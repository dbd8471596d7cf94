"""Our figures next to those of other tools, on the same data: one PNG per pair of pictures.

    python benchmarks/compare_figures.py FOLDER

Needs autorank, baycomp and scikit-posthocs; arviz too, for its posterior and forest. What is not
installed is left out, and said. Left is theirs, right is ours.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.figure import Figure

import bestofk as bk
from bestofk.report.figures import picture_of, save_figure
from bestofk.stats import multiple, pairwise

NAMES = (
    "LogisticRegression", "GaussianNB", "DecisionTree", "RandomForest(n_estimators=100)",
    "RandomForest(n_estimators=500)", "GradientBoosting",
)  # fmt: skip
SETS = 24


def table_of_sets() -> bk.Losses:
    """Six learners on 24 data sets, with errors from 5 to 40 percent."""
    rng = np.random.default_rng(3)
    hard = rng.uniform(0.05, 0.4, SETS)
    gaps = np.array([[0.03], [0.05], [0.04], [0.005], [0.0], [0.002]])
    values = (hard + gaps + rng.normal(0, 0.02, (len(NAMES), SETS))).clip(0.001, 1)
    sets = [f"data set {k + 1}" for k in range(SETS)]
    return bk.Losses(values, dims=("algorithm", "dataset"), algorithms=NAMES, datasets=sets)


def table_of_folds() -> bk.Losses:
    """Six classifiers on one data set, ten runs of ten folds."""
    return bk.read_losses("breast-cancer-10x10")


def frame_of_sets() -> Any:
    import pandas as pd

    losses = table_of_sets()
    return pd.DataFrame(losses.by_dataset().T, columns=losses.algorithms)


def pair_of_folds() -> tuple[Any, Any]:
    by_fold = table_of_folds().by_fold()
    return by_fold[1].ravel(), by_fold[3].ravel()


def autorank_cd() -> Any:
    from autorank import autorank, plot_stats

    result = autorank(frame_of_sets(), order="ascending", force_mode="nonparametric")
    plot_stats(result, allow_insignificant=True)
    return pyplot.gcf()


def autorank_intervals() -> Any:
    from autorank import autorank, plot_stats

    result = autorank(frame_of_sets(), order="ascending", force_mode="parametric")
    plot_stats(result, allow_insignificant=True)
    return pyplot.gcf()


def posthocs_cd() -> Any:
    import scikit_posthocs as sp

    frame = frame_of_sets()
    found = sp.posthoc_nemenyi_friedman(frame)
    pyplot.figure(figsize=(7, 2.4))
    sp.critical_difference_diagram(frame.rank(axis=1).mean(), found)
    return pyplot.gcf()


def posthocs_matrix() -> Any:
    import scikit_posthocs as sp

    pyplot.figure(figsize=(6, 4.5))
    sp.sign_plot(sp.posthoc_nemenyi_friedman(frame_of_sets()))
    return pyplot.gcf()


def baycomp_simplex() -> Any:
    import baycomp

    values = table_of_sets().by_dataset()
    # scores, not losses: their left is "the first is better"
    posterior = baycomp.SignedRankTest(1 - values[0], 1 - values[4], rope=0.02)
    return posterior.plot(names=("LogReg", "RF500"))


def baycomp_density() -> Any:
    import baycomp

    a, b = pair_of_folds()
    return baycomp.CorrelatedTTest(1 - a, 1 - b, rope=0.01, runs=10).plot(names=("p1", "p2"))


def posterior_draws() -> dict[str, Any]:
    order = bk.order(table_of_folds(), rope=0.01)
    found = {}
    rng = np.random.default_rng(0)
    for name in order.by_preference:
        if name == order.recommended:
            continue
        row = order.evidence.row(name, order.recommended)
        pair = order.evidence.pair(row)
        sign = 1.0 if pair.a == name else -1.0
        found[str(name)] = sign * pair.estimate + pair.standard_error * rng.standard_t(99, 4000)
    return found


def arviz_forest() -> Any:
    import arviz as az

    az.plot_forest({k: v.reshape(4, -1) for k, v in posterior_draws().items()}, combined=True)
    return pyplot.gcf()


def arviz_posterior() -> Any:
    import arviz as az

    name, draws = next(iter(posterior_draws().items()))
    az.plot_posterior({name: draws.reshape(4, -1)}, rope=(-0.01, 0.01))
    return pyplot.gcf()


def ours(kind: str, value: Callable[[], Any], **options: Any) -> Callable[[], Any]:
    return lambda: picture_of(value(), kind, **options)


def nemenyi() -> Any:
    return multiple.nemenyi(table_of_sets().by_dataset())


def signed_rank() -> Any:
    values = table_of_sets().by_dataset()
    return pairwise.signed_rank_bayes(values[0], values[4], rope=0.02)


def correlated() -> Any:
    return pairwise.correlated_t(*pair_of_folds(), rope=0.01, rho=0.1)


PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "critical-difference, autorank": (
        autorank_cd, ours("critical-difference", nemenyi, names=NAMES)),
    "critical-difference, scikit-posthocs": (
        posthocs_cd, ours("critical-difference", nemenyi, names=NAMES)),
    "matrix, scikit-posthocs": (posthocs_matrix, ours("matrix", nemenyi, names=NAMES)),
    "intervals, autorank": (autorank_intervals, ours("forest", lambda: bk.order(table_of_sets()))),
    "simplex, baycomp": (baycomp_simplex, ours("simplex", signed_rank, names=("LogReg", "RF500"))),
    "posterior, baycomp": (baycomp_density, ours("posterior", correlated)),
    "posterior, arviz": (
        arviz_posterior, ours("posterior", lambda: bk.order(table_of_folds(), rope=0.01))),
    "forest, arviz": (arviz_forest, ours("forest", lambda: bk.order(table_of_folds()))),
}  # fmt: skip
"""Figure and tool: theirs and ours."""


def _image(drawn: Any) -> Any:
    held = BytesIO()
    drawn.savefig(held, format="png", dpi=150, bbox_inches="tight", facecolor="white")
    held.seek(0)
    return pyplot.imread(held)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (theirs, drawn) in PAIRS.items():
        pyplot.close("all")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                left = _image(theirs())
        except ImportError as error:
            print(f"{name}: left out, {error}")
            continue
        path = folder / f"{name.replace(', ', '-')}.png"
        picture = drawn()
        save_figure(picture, path)
        right = pyplot.imread(path)
        inches = max(left.shape[1] / 150, 2), max(left.shape[0] / 150, 1)
        wide = inches[0] + picture.width / 72 + 0.4
        tall = max(inches[1], picture.height / 72) + 0.3
        sheet = Figure(figsize=(wide, tall), dpi=150, facecolor="white")
        for image, start, size in (
            (left, 0.1, inches),
            (right, inches[0] + 0.3, (picture.width / 72, picture.height / 72)),
        ):
            box = (start / wide, 1 - (size[1] + 0.1) / tall, size[0] / wide, size[1] / tall)
            ax = sheet.add_axes(box)
            ax.imshow(image)
            ax.set_axis_off()
        sheet.savefig(path)
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "figures"))
