"""Draw every figure from embedded data into docs/figures, or for looking at 2 to 60 learners.

python docs/make_figures.py                 # one SVG per figure
python docs/make_figures.py --look FOLDER   # PNG files for 2, 5, 20 and 60 learners
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import bestofk as bk
from bestofk import multiple
from bestofk.ordering import roc_hull
from bestofk.report.figures import Rates, picture_of, save_figure, svg

HERE = Path(__file__).parent / "figures"
PANEL = ("max", "nmc", "logistic", "c4.5", "nn", "naive-bayes")


def pages() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Figure: value and options, from runs that take seconds."""
    study = bk.compare(
        list(PANEL), data=[bk.load("wine")], plan="10x10", prior="listed", progress=False, n_jobs=1
    )
    sets = [bk.load(name) for name in ("iris", "wine", "breast-cancer", "digits")]
    several = bk.compare(list(PANEL), data=sets, plan="kfold:5", progress=False, n_jobs=1)
    blocks = several.losses.values[..., 0].reshape(len(PANEL), -1)
    named = {"names": several.losses.algorithms}
    return {
        "graph": (study, {}),
        "forest": (study, {}),
        "steps": (study, {}),
        "densities": (study, {}),
        "losses": (study, {}),
        "matrix": (study, {}),
        "critical-difference": (multiple.nemenyi(blocks), named),
        "letters": (multiple.posthoc(blocks, "wilcoxon"), named),
        "underlines": (multiple.newman_keuls(blocks), named),
        "intervals": (repeated(6, list(PANEL)), {}),
        "rates": (rates(4, ["use-all-data", "sorted-runs", "5x2cv-t", "kfold-t"]), {}),
        "roc": (scores(5, list(PANEL[1:])), {}),
        "alpha": (study, {}),
        "prior": (study, {"learner": "naive-bayes"}),
    }


def repeated(n: int, names: list[str]) -> Any:
    """Bootstrap-B of stochastic learners of which some are steadier than others."""
    rng = np.random.default_rng(n)
    mean = 0.2 + 0.05 * np.linspace(-1, 1, n)[:, None, None, None]
    width = np.linspace(0.001, 0.03, n)[rng.permutation(n)][:, None, None, None]
    losses = mean + 0.02 * rng.standard_normal((1, 12, 5, 1))
    losses = losses + width * rng.standard_normal((n, 12, 5, 20))
    return multiple.bootstrap_b(losses, names=names)


def rates(n: int, names: list[str]) -> Rates:
    """Curves of the shape that a calibration has, with the bands of 1,000 replications."""
    rng = np.random.default_rng(n)
    x = np.array([1.0, 2, 5, 10, 20, 50, 100])
    rate = 0.02 + 0.09 * rng.random((n, 1)) * (1 - np.exp(-x / (5 + 20 * rng.random((n, 1)))))
    half = 1.96 * np.sqrt(rate * (1 - rate) / 1000)
    note = "An example with made-up rates."
    return Rates(
        x=x, rate=rate, low=rate - half, high=rate + half, names=names, nominal=0.05, note=note
    )


def scores(n: int, names: list[str]) -> Any:
    """Classifiers whose curves cross."""
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.4
    strength = 1.1 + 0.5 * rng.random((n, 1))
    noise = rng.standard_normal((n, 300)) * np.where(truth, 1.0, 0.4 + 1.2 * rng.random((n, 1)))
    return roc_hull(np.round(strength * truth + noise, 1), truth, names=names)


def sized(n: int) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Figure: value and options, for n learners with awkward names."""
    names = [
        "GradientBoosting(" + ", ".join(f"parameter_{k}={k}" for k in range(12)) + ")",
        "<b>bold & brash</b> $x^2$",
        "שכן קרוב",
        *(f"random_forest(n_estimators={k}00, max_depth={k % 5 + 2})" for k in range(n)),
    ][:n]
    rng = np.random.default_rng(n)
    mean = 0.15 + 0.25 * rng.random((n, 1, 1))
    values = mean + 0.02 * rng.standard_normal((1, 5, 4)) + 0.03 * rng.standard_normal((n, 5, 4))
    losses = bk.Losses(values, dims=("algorithm", "run", "fold"), algorithms=names)
    order = bk.order(losses, prior="listed")
    flat, named = values.reshape(n, -1), {"names": names}
    kinds = ("graph", "forest", "steps", "densities", "losses", "matrix", "alpha", "prior")
    return {
        **{kind: (order, {}) for kind in kinds},
        "critical-difference": (multiple.nemenyi(flat), named),
        "letters": (multiple.posthoc(flat, "t"), named),
        "underlines": (multiple.newman_keuls(flat), named),
        "intervals": (repeated(n, names), {}),
        "rates": (rates(n, names), {}),
        "roc": (scores(n, names), {}),
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--look", metavar="FOLDER", type=Path)
    parser.add_argument("--only", metavar="FIGURE", action="append")
    given = parser.parse_args()
    if given.look is None:
        HERE.mkdir(exist_ok=True)
        for kind, (value, options) in pages().items():
            picture = picture_of(value, kind, **options)
            (HERE / f"{kind}.svg").write_text(svg(picture, themed=False) + "\n", encoding="utf-8")
        return
    given.look.mkdir(parents=True, exist_ok=True)
    for n in (2, 5, 20, 60):
        for kind, (value, options) in sized(n).items():
            if not given.only or kind in given.only:
                picture = picture_of(value, kind, **options)
                save_figure(picture, given.look / f"{kind}-{n:02d}.png")


if __name__ == "__main__":
    main()
