"""Compare planned with simulated power, in the designs that `sample_size` supports.

    python studies/planned_power.py            print the table of studies/results/planned_power.md
    python studies/planned_power.py --smoke    use few simulations

Draw losses from the model that each test assumes: correlated by n_test / (n_train + n_test) over
folds and splits, normal and independent over data sets, right or wrong on the instances of a test
set. *Planned* is the power that `sample_size` predicts for a true difference before any loss is
seen; *simulated* is the rejection rate of the test, with its Monte Carlo standard error. The
differences are those with planned power .3, .5, .8 and .95. The last column simulates the size
that `sample_size` recommends to show half of the largest difference with power .8 (for more runs:
half way between the difference that the design shows with .8 and the limit for any number of runs).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import bestofk as bk
from bestofk._base.checks import Floats
from bestofk.decide.power import SampleSize
from bestofk.stats import pairwise
from bestofk.stats.pairwise.skew_corrected import unit_widening

PLANNED = (0.3, 0.5, 0.8, 0.95)
SIMULATIONS = 20_000
BATCH = 2_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """A design with functions that plan it and simulate its p-values."""

    name: str
    plan: Callable[..., SampleSize]
    pvalues: Callable[..., Floats]
    """(rng, number, true difference, sizes) -> p-values."""


def folds(
    rng: np.random.Generator, many: int, difference: float, *, runs: int = 10, rows: int = 300
) -> Floats:
    """Simulate runs of ten folds; the standard deviation falls with the root of the rows."""
    d = _correlated(rng, (many, runs, 10), 0.1, difference, SD * np.sqrt(300 / rows))
    return pairwise.corrected_repeated_kfold_t(d, np.zeros((runs, 10))).pvalue


def splits(
    rng: np.random.Generator, many: int, difference: float, *, splits: int = 30, rows: int = 300
) -> Floats:
    """Simulate random splits with a tenth of the rows as test rows."""
    d = _correlated(rng, (many, splits), 0.1, difference, SD * np.sqrt(300 / rows))
    zero = np.zeros(splits)
    return pairwise.corrected_resampled_t(d, zero, n_train=0.9, n_test=0.1).pvalue


def halvings(rng: np.random.Generator, many: int, difference: float, *, rows: int = 300) -> Floats:
    """Simulate five halvings; halves of different runs share half of their rows."""
    sd = SD * np.sqrt(300 / rows)
    mean = difference + sd * np.sqrt(0.5) * rng.standard_normal((many, 1, 1))
    gap = sd * np.sqrt(0.5) * rng.standard_normal((many, 5, 1))
    d = np.concatenate([mean + gap, mean - gap], axis=2)
    return pairwise.five_by_two_f(d, np.zeros((5, 2))).pvalue


def nested(rng: np.random.Generator, many: int, difference: float, *, rows: int = 300) -> Floats:
    """Simulate 10x5+nested with learners whose loss on a row does not depend on the training."""
    losses = rng.normal(difference, SD * np.sqrt(60), (many, rows))
    outer, inner = [], []
    usable = rows - rows % 5
    for _ in range(10):
        means = losses[:, rng.permutation(rows)[:usable].reshape(5, -1)].mean(axis=2)
        outer.append(means)
        inner += [means[:, [i, j]] for i in range(5) for j in range(i + 1, 5)]
    d = np.concatenate([*outer, *inner], axis=1)
    return pairwise.nested_cv_t(d, 0 * d, runs=10, folds=5, rows=rows).pvalue


def data_sets_skew_corrected(
    rng: np.random.Generator, many: int, difference: float, *, data_sets: int = 15
) -> Floats:
    d = rng.normal(difference, SD, (many, data_sets))
    widened = unit_widening(data_sets)
    return pairwise.skew_corrected_t(d, np.zeros(data_sets), widened=widened).pvalue


def data_sets_wilcoxon(
    rng: np.random.Generator, many: int, difference: float, *, data_sets: int = 15
) -> Floats:
    d = rng.normal(difference, SD, (many, data_sets))
    return pairwise.wilcoxon(d, np.zeros(data_sets)).pvalue


def data_sets_t(
    rng: np.random.Generator, many: int, difference: float, *, data_sets: int = 15
) -> Floats:
    d = rng.normal(difference, SD, (many, data_sets))
    return pairwise.kfold_t(d, np.zeros(data_sets)).pvalue


def data_sets_permutation(
    rng: np.random.Generator, many: int, difference: float, *, data_sets: int = 15
) -> Floats:
    d = rng.normal(difference, SD, (many, data_sets))
    return _sign_flips(rng, d)


def _sign_flips(rng: np.random.Generator, d: Floats) -> Floats:
    """Return p-values of the permutation test; of many differences by random sign flips."""
    n = d.shape[1]
    if n <= 20:
        return np.asarray(pairwise.permutation(d, np.zeros(n)).pvalue)
    signs = rng.choice([-1.0, 1.0], (n, 2000))
    as_large = np.abs(d @ signs) >= np.abs(d.sum(axis=1, keepdims=True)) * (1.0 - 1e-12)
    return (1.0 + as_large.sum(axis=1)) / 2001.0


def one_test_set(
    rng: np.random.Generator, many: int, difference: float, *, instances: int = 200
) -> Floats:
    """Simulate one test set; the learners disagree on 15 percent of the instances."""
    chances = [(DISCORDANCE + difference) / 2, (DISCORDANCE - difference) / 2, 1 - DISCORDANCE]
    d = rng.choice(np.array([1.0, -1.0, 0.0]), size=(many, instances), p=chances)
    return pairwise.mcnemar(d > 0, d < 0, exact="auto").pvalue


def _correlated(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    correlation: float,
    difference: float,
    sd: float,
) -> Floats:
    """Draw differences with this standard deviation and pairwise correlation."""
    shared = rng.standard_normal((shape[0], *[1] * (len(shape) - 1)))
    common = np.sqrt(correlation / (1.0 - correlation)) * shared
    return difference + sd * (common + rng.standard_normal(shape))


SD, DISCORDANCE = 0.05, 0.15

CASES = (
    Case(
        name="10x10, corrected t",
        plan=lambda **k: bk.sample_size(design="10x10", rows=300, sd=SD, **k),
        pvalues=folds,
    ),
    Case(
        name="30 random splits, corrected t",
        plan=lambda **k: bk.sample_size(design="resample:30:0.1", rows=300, sd=SD, **k),
        pvalues=splits,
    ),
    Case(
        name="5x2, combined F",
        plan=lambda **k: bk.sample_size(design="5x2", rows=300, sd=SD, **k),
        pvalues=halvings,
    ),
    Case(
        name="10x5+nested, nested t",
        plan=lambda **k: bk.sample_size(design="10x5+nested", rows=300, sd=SD, **k),
        pvalues=nested,
    ),
    Case(
        name="15 data sets, skewness-corrected t",
        plan=lambda **k: bk.sample_size(datasets=15, sd=SD, **k),
        pvalues=data_sets_skew_corrected,
    ),
    Case(
        name="15 data sets, Wilcoxon",
        plan=lambda **k: bk.sample_size(datasets=15, sd=SD, test="wilcoxon", **k),
        pvalues=data_sets_wilcoxon,
    ),
    Case(
        name="15 data sets, paired t",
        plan=lambda **k: bk.sample_size(datasets=15, sd=SD, test="paired-t", **k),
        pvalues=data_sets_t,
    ),
    Case(
        name="15 data sets, permutation",
        plan=lambda **k: bk.sample_size(datasets=15, sd=SD, test="permutation", **k),
        pvalues=data_sets_permutation,
    ),
    Case(
        name="200 instances, McNemar",
        plan=lambda **k: bk.sample_size(instances=200, discordance=DISCORDANCE, **k),
        pvalues=one_test_set,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Planned and simulated power of one difference in one design."""

    case: str
    learners: int
    size: str
    """Changed size; empty for the original design."""
    difference: float
    planned: float
    simulated: float
    simulations: int

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the simulated power."""
        p = min(max(self.simulated, 1 / self.simulations), 1 - 1 / self.simulations)
        return float(np.sqrt(p * (1 - p) / self.simulations))

    @property
    def gap(self) -> float:
        return abs(self.planned - self.simulated)


def measure(simulations: int = SIMULATIONS, learners: tuple[int, ...] = (2, 5)) -> list[Measured]:
    """Measure every case for two learners and for five."""
    return [row for case in CASES for K in learners for row in measure_case(case, K, simulations)]


def measure_case(case: Case, learners: int, simulations: int) -> Iterator[Measured]:
    """Yield the four differences in the original design, then larger designs."""
    if case.pvalues is data_sets_permutation:
        simulations = max(simulations // 4, 50)
    shown = [case.plan(learners=learners, power=p).smallest_difference for p in PLANNED]
    for difference in shown:
        if difference is not None:
            plan = case.plan(learners=learners, difference=difference)
            assert plan.pairs[0].power is not None
            yield _simulated(case, plan, difference, {}, plan.pairs[0].power, simulations)
    if shown[-1] is None:
        return
    at_most = case.plan(learners=learners).limit
    targets = [shown[-1] / 2]
    if at_most is not None and shown[2] is not None:
        targets.append((at_most + shown[2]) / 2)
    for difference in targets:
        plan = case.plan(learners=learners, difference=difference)
        # more runs if they can show the difference, else more rows
        needed = next(option for option in plan.pairs[0].needed if option.count is not None)
        size = {needed.unit.replace(" ", "_"): needed.count or 0}
        yield _simulated(case, plan, difference, size, plan.power, simulations)


def _simulated(
    case: Case,
    plan: SampleSize,
    difference: float,
    size: dict[str, int],
    planned: float,
    simulations: int,
) -> Measured:
    learners = plan.comparisons + 1
    if case.pvalues is nested:
        simulations = max(simulations // 10, 50)
    rng = np.random.default_rng([learners, round(1e6 * difference), *case.name.encode()])
    rejected = 0
    for start in range(0, simulations, BATCH):
        many = min(BATCH, simulations - start)
        rejected += int((case.pvalues(rng, many, difference, **size) <= plan.level).sum())
    return Measured(
        case=case.name,
        learners=learners,
        size=", ".join(f"{n} {unit.replace('_', ' ')}" for unit, n in size.items()),
        difference=difference,
        planned=planned,
        simulated=rejected / simulations,
        simulations=simulations,
    )


def markdown(rows: list[Measured]) -> str:
    """Return the table of the page: one row per design and number of learners."""
    heads = [f"planned {100 * p:g} %" for p in PLANNED]
    lines = [
        f"| design and test | learners | {' | '.join(heads)} | planned 80 % at the size asked "
        "for |",
        "|---" * (len(heads) + 3) + "|",
    ]
    keys = dict.fromkeys((row.case, row.learners) for row in rows)
    for case, learners in keys:
        mine = [row for row in rows if (row.case, row.learners) == (case, learners)]
        cells = [_cell(row) for row in mine if not row.size]
        resized = "; ".join(f"{row.size}: {_cell(row)}" for row in mine if row.size)
        lines.append(f"| {case} | {learners} | {' | '.join(cells)} | {resized} |")
    worst = max(rows, key=lambda row: row.gap)
    lines += [
        "",
        f"The largest gap is {100 * worst.gap:.1f} points ({worst.case}, {worst.learners} "
        f"learners, {worst.size or 'as it is'}).",
    ]
    return "\n".join(lines)


def _cell(row: Measured) -> str:
    return f"{100 * row.simulated:.1f} ± {100 * row.error:.1f}"


if __name__ == "__main__":
    number = 200 if "--smoke" in sys.argv else SIMULATIONS
    print(markdown(measure(number)))
