"""Figs. 1 to 4 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestofk._base.checks import Floats
from bestofk.losses.losses import Scores
from bestofk.papers.comparison import ComparedTable, Request, figure_variants, unprinted
from bestofk.papers.figures.rate_curves import Rates, layout_rates
from bestofk.papers.figures.repetition_points import layout_repetitions
from bestofk.papers.intervals.experiments import OUTCOMES, STEPS, Verdicts, measured
from bestofk.papers.intervals.tables import outcome_shares, printed_column
from bestofk.papers.printed_figures import printed_table
from bestofk.papers.stats.interval_bootstrap import repetition_intervals
from bestofk.papers.stats.interval_tests import interval_test

TRAPPED, TRAP_COST = 2, 0.2
"""Of ten repetitions of the second learner, how many are trapped, and how much that costs."""
GRID = 200
"""Points of a density."""
OUTCOME_NAMES = {"ok": ("left", "power"), "err": ("right", "Type I error")}
"""By outcome: the side of Figs. 2 and 3, and the name of its axis."""


def stochastic_pair(seed: int) -> Scores:
    """Return 10 folds x 10 repetitions of two learners as in Fig. 1: the means are equal.

    The paper draws the first as squares and the second as diamonds. The second is better by 0.04,
    except for two repetitions of every fold that are trapped in a local minimum.
    """
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.15, 0.25, (1, 10, 1)) + rng.normal(0, 0.012, (2, 10, 10))
    base[0] += TRAP_COST * TRAPPED / 10
    base[1, :, :TRAPPED] += TRAP_COST
    return Scores(
        base, dims=("learner", "fold", "repetition"), learners=("steady", "trapped"),
        loss_name="error",
    )  # fmt: skip


def first_figure(seed: int) -> tuple[list[ComparedTable], dict[str, tuple[str, ...]]]:
    """Draw Fig. 1, and test means and interquartile ranges of the same repetitions."""
    losses = stochastic_pair(seed)
    folds = losses.losses[:, 0, 0]
    ends = repetition_intervals(folds, "interquartile")
    means = np.stack([folds.mean(axis=-1)] * 2)
    ours = []
    for low, high in (means, ends):
        test = interval_test(np.stack([low[0], high[0]]), np.stack([low[1], high[1]]))
        ours.append([*low.mean(axis=-1), *high.mean(axis=-1), *test.pvalues[0]])
    table = unprinted(
        np.array(ours),
        table="Fig. 1: two stochastic learners",
        rows=("mean error", "interquartile range"),
        columns=("steady, low", "trapped, low", "steady, high", "trapped, high", "p, low",
                 "p, high"),
        digits=3,
        note="Wilcoxon's test over 10 folds. The paper draws its points and prints no numbers; "
        "ours are simulated.",
    )  # fmt: skip
    pictures = figure_variants(lambda paper: layout_repetitions(losses, paper=paper))
    return [table], {"Fig. 1": pictures}


def rate_figures(
    number: str, table: str, verdicts: dict[str, Verdicts], tests: Sequence[str], *, exchanged: bool
) -> dict[str, tuple[str, ...]]:
    """Draw Fig. 2 or 3: our shares by dp, next to the published ones of Table 2 or 4."""
    names = [*tests, *(f"{test}, published" for test in tests)]
    figures = {}
    for outcome, (half, y_name) in OUTCOME_NAMES.items():
        ours = [outcome_shares(verdicts[test]).mean(axis=0)[:, OUTCOMES.index(outcome)]
                for test in tests]  # fmt: skip
        printed = [
            printed_column(table, test, outcome, exchanged=exchanged) / 1000 for test in tests
        ]
        rate = np.stack([*ours, *printed])
        nominal = 0.05 if outcome == "err" else None
        figures[f"Fig. {number}, {half}"] = _curves(Rates(
            x=STEPS, rate=rate, low=rate, high=rate, names=names, x_name="dp", y_name=y_name,
            nominal=nominal,
        ))  # fmt: skip
    return figures


def fourth_figure(request: Request) -> tuple[list[ComparedTable], dict[str, tuple[str, ...]]]:
    """Draw Fig. 4: densities of the AUC of FURIA and C4.5 over data sets, and of the difference."""
    pair = ("FURIA", "C4.5")
    published = printed_table("intervals", "6", "AUC")
    rows = [k for k, name in enumerate(published.rows) if name != "Avg"]
    columns = [published.columns.index(name) for name in pair]
    by_source = {
        "": 1 - measured(request, learners=pair)[0].mean(axis=(2, 3)),
        ", published": published.values[np.ix_(rows, columns)].T,
    }
    samples = {
        f"{name}{source}": values
        for source, auc in by_source.items()
        for name, values in zip((*pair, "difference"), (*auc, auc[0] - auc[1]), strict=True)
    }
    modes: dict[str, float] = {}
    figures: dict[str, tuple[str, ...]] = {}
    for title, differences in (("AUC", False), ("difference", True)):
        chosen = {k: v for k, v in samples.items() if k.startswith("difference") == differences}
        spread = np.concatenate([*chosen.values()])
        grid = np.linspace(spread.min() - 0.1, spread.max() + 0.1, GRID)
        density = np.stack([_density(values, grid) for values in chosen.values()])
        modes |= dict(zip(chosen, grid[density.argmax(axis=1)].tolist(), strict=True))
        figures[f"Fig. 4, {title}"] = _curves(Rates(
            x=grid, rate=density, low=density, high=density, names=list(chosen), noun="sample",
            x_name="AUC" if not differences else "AUC of FURIA minus AUC of C4.5",
            y_name="density",
        ))  # fmt: skip
    table = unprinted(
        np.array([[len(v), v.mean(), modes[name]] for name, v in samples.items()]),
        table="Fig. 4: AUC of FURIA and C4.5",
        rows=tuple(samples),
        columns=("data sets", "mean", "mode of the density"),
        note="Published: the rows of Table 6 that the scan preserves. The paper says that both "
        "modes are equal and that the mode of the difference is 0.",
    )
    return [table], figures


def _curves(rates: Rates) -> tuple[str, ...]:
    return figure_variants(lambda paper: layout_rates(rates, paper=paper))


def _density(values: Floats, grid: Floats) -> Floats:
    from scipy.stats import gaussian_kde

    return np.asarray(gaussian_kde(values)(grid), dtype=np.float64)
