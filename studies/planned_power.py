"""Planned against simulated power, in the designs that `plan_size` knows.

    python studies/planned_power.py            the table of docs/use/how-many.md, in Markdown
    python studies/planned_power.py --smoke    few simulations, to see that it runs

Losses are drawn from the model that each test assumes: correlated by n_test / (n_train + n_test)
over folds and splits, normal and independent over data sets, right or wrong on the instances of a
test set. *Planned* is what `plan_size` says of a true difference before any loss is seen;
*simulated* is how often the test then rejects, with its Monte Carlo standard error. Differences
are those with which the plan promises .3, .5, .8 and .95. The last columns take the size that
`plan_size` asks for, to show half of the largest of them with power .8 (more runs: half way between
what the design shows with .8 and the limit of what any number of runs shows), and simulate that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import bestofk as bk
from bestofk import pairwise
from bestofk.checks import Floats
from bestofk.planning import PlanSize

PROMISED = (0.3, 0.5, 0.8, 0.95)
SIMULATIONS = 20_000
AT_A_TIME = 2_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """A design: how it is planned, and how its p-values are simulated."""

    name: str
    plan: Callable[..., PlanSize]
    pvalues: Callable[..., Floats]
    """(rng, how many, true difference, sizes) -> p-values."""


def folds(
    rng: np.random.Generator, many: int, difference: float, *, runs: int = 10, rows: int = 300
) -> Floats:
    """Runs of ten folds; `SD` at 300 rows, falling as one over the root of the rows."""
    d = _correlated(rng, (many, runs, 10), 0.1, difference, SD * np.sqrt(300 / rows))
    return pairwise.corrected_repeated_kfold_t(d, np.zeros((runs, 10))).pvalue


def splits(
    rng: np.random.Generator, many: int, difference: float, *, splits: int = 30, rows: int = 300
) -> Floats:
    """Random splits, a tenth tested."""
    d = _correlated(rng, (many, splits), 0.1, difference, SD * np.sqrt(300 / rows))
    zero = np.zeros(splits)
    return pairwise.corrected_resampled_t(d, zero, n_train=0.9, n_test=0.1).pvalue


def halvings(rng: np.random.Generator, many: int, difference: float, *, rows: int = 300) -> Floats:
    """Five halvings; two halves of different runs share half of their rows, of one run none."""
    sd = SD * np.sqrt(300 / rows)
    mean = difference + sd * np.sqrt(0.5) * rng.standard_normal((many, 1, 1))
    gap = sd * np.sqrt(0.5) * rng.standard_normal((many, 5, 1))
    d = np.concatenate([mean + gap, mean - gap], axis=2)
    return pairwise.five_by_two_f(d, np.zeros((5, 2))).pvalue


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
    # all sign flips up to 20 differences; beyond, random ones are quicker and near enough
    method = "exact" if data_sets <= 20 else "resample"
    zero = np.zeros(data_sets)
    return pairwise.permutation(d, zero, method=method, resamples=5000, random_state=0).pvalue


def one_test_set(
    rng: np.random.Generator, many: int, difference: float, *, instances: int = 200
) -> Floats:
    """Right and wrong: the two disagree on 15 percent of the instances."""
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
    """Differences with this spread among each other, any two of them correlated."""
    shared = rng.standard_normal((shape[0], *[1] * (len(shape) - 1)))
    common = np.sqrt(correlation / (1.0 - correlation)) * shared
    return difference + sd * (common + rng.standard_normal(shape))


SD, DISCORDANCE = 0.05, 0.15

CASES = (
    Case(
        name="10x10, corrected t",
        plan=lambda **k: bk.plan_size(design="10x10", rows=300, sd=SD, **k),
        pvalues=folds,
    ),
    Case(
        name="30 random splits, corrected t",
        plan=lambda **k: bk.plan_size(design="resample:30:0.1", rows=300, sd=SD, **k),
        pvalues=splits,
    ),
    Case(
        name="5x2, combined F",
        plan=lambda **k: bk.plan_size(design="5x2", rows=300, sd=SD, **k),
        pvalues=halvings,
    ),
    Case(
        name="15 data sets, Wilcoxon",
        plan=lambda **k: bk.plan_size(datasets=15, sd=SD, **k),
        pvalues=data_sets_wilcoxon,
    ),
    Case(
        name="15 data sets, paired t",
        plan=lambda **k: bk.plan_size(datasets=15, sd=SD, test="paired-t", **k),
        pvalues=data_sets_t,
    ),
    Case(
        name="15 data sets, permutation",
        plan=lambda **k: bk.plan_size(datasets=15, sd=SD, test="permutation", **k),
        pvalues=data_sets_permutation,
    ),
    Case(
        name="200 instances, McNemar",
        plan=lambda **k: bk.plan_size(instances=200, discordance=DISCORDANCE, **k),
        pvalues=one_test_set,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One difference in one design."""

    case: str
    learners: int
    size: str
    """Empty: as the design is."""
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
    """Every case, for two learners and for five (ten comparisons)."""
    return [row for case in CASES for K in learners for row in measure_case(case, K, simulations)]


def measure_case(case: Case, learners: int, simulations: int) -> Iterator[Measured]:
    """The four differences as the design is, then what would show smaller ones."""
    if case.pvalues is data_sets_permutation:
        simulations = max(simulations // 4, 50)
    shown = [case.plan(learners=learners, power=p).smallest_difference for p in PROMISED]
    for difference in shown:
        if difference is not None:
            plan = case.plan(learners=learners, difference=difference)
            assert plan.pairs[0].power is not None
            yield _simulated(case, plan, difference, {}, plan.pairs[0].power, simulations)
    if shown[-1] is None:
        return
    at_most = case.plan(learners=learners).limit
    wanted = [shown[-1] / 2]
    if at_most is not None and shown[2] is not None:
        wanted.append((at_most + shown[2]) / 2)
    for difference in wanted:
        plan = case.plan(learners=learners, difference=difference)
        # the first way that there is: more runs where they can show it, else more rows
        needed = next(way for way in plan.pairs[0].needed if way.count is not None)
        size = {needed.unit.replace(" ", "_"): needed.count or 0}
        yield _simulated(case, plan, difference, size, plan.power, simulations)


def _simulated(
    case: Case,
    plan: PlanSize,
    difference: float,
    size: dict[str, int],
    planned: float,
    simulations: int,
) -> Measured:
    learners = {1: 2, 10: 5}[plan.comparisons]
    rng = np.random.default_rng([learners, round(1e6 * difference), *case.name.encode()])
    rejected = 0
    for start in range(0, simulations, AT_A_TIME):
        many = min(AT_A_TIME, simulations - start)
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
    """The table of the page: one row per design and number of learners."""
    heads = [f"planned {100 * p:g} %" for p in PROMISED]
    lines = [
        f"| design and test | learners | {' | '.join(heads)} | planned 80 % at the size asked "
        "for |",
        "|---" * (len(heads) + 3) + "|",
    ]
    keys = dict.fromkeys((row.case, row.learners) for row in rows)
    for case, learners in keys:
        mine = [row for row in rows if (row.case, row.learners) == (case, learners)]
        cells = [_cell(row) for row in mine if not row.size]
        asked = "; ".join(f"{row.size}: {_cell(row)}" for row in mine if row.size)
        lines.append(f"| {case} | {learners} | {' | '.join(cells)} | {asked} |")
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
    print(markdown(measure(200 if "--smoke" in sys.argv else SIMULATIONS)))
