"""The paper's tests and problems, and the losses behind all its tables.

Weka shuffles the rows in every run, groups them by class and deals them to folds. Its learners get
the training rows by fold, and inside a fold by class (`shuffled_runs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk.data.schema import Codes, Encoded
from bestofk.papers.comparison import Request
from bestofk.papers.lab.calibration import calibrate
from bestofk.papers.lab.collect_outcomes import Outcomes, outcomes
from bestofk.papers.lab.problems.classes import BinaryAttributes
from bestofk.papers.lab.problems.generator import DataProblem
from bestofk.papers.lab.problems.networks import network
from bestofk.papers.lab.simulation import Simulation, simulate
from bestofk.papers.lab.simulation_task import SimulationTask
from bestofk.splits.plans import plan
from bestofk.stats.pairwise.calibration import Calibration


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShuffledRun:
    """The shuffled rows of one run on one data set, and the fold that tests each row."""

    encoded: Encoded
    folds: Codes

    def sizes(self) -> Codes:
        """Count the test rows of every fold."""
        return np.bincount(self.folds)


def shuffled_runs(
    problem: DataProblem, *, sets: int, splitting: str, seed: int
) -> Iterator[list[ShuffledRun]]:
    """Yield the runs of every data set, on the data and splits of `simulate` with this seed.

    `splitting` is a plan. A random split is a run of two folds, of which the first is tested.
    """
    task = SimulationTask(
        problem=problem, learners={}, plan=plan(splitting, random_state=0), seed=seed
    )
    for number in range(sets):
        encoded = task.encoded(number)
        splits = task.splits(number, 0, encoded)
        fold_of = ~splits.marks if splits.fold_of is None else splits.fold_of
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7, number)))
        yield [_shuffled(encoded, folds.astype(np.int64), rng) for folds in fold_of]


def _shuffled(encoded: Encoded, folds: Codes, rng: np.random.Generator) -> ShuffledRun:
    shuffled = rng.permutation(encoded.n)
    later_class = encoded.y != encoded.y[shuffled.argmin()]
    order = np.lexsort((shuffled, later_class, folds))
    rows = replace(encoded, values=np.ascontiguousarray(encoded.values[order]), y=encoded.y[order])
    return ShuffledRun(encoded=rows, folds=folds[order])


# Tests and problems


LEARNERS = ("naive-bayes", "c4.5")
ALPHAS = (0.01, 0.025, 0.05, 0.10)
ALPHA = 0.05
SETS = ("Set 1", "Set 2", "Set 3", "Set 4")
PRINTED_SETS = 1000
"""Data sets behind each printed figure."""
RUNS = 10
Splitting = Literal["splits", "first run", "runs", "halves"]
PLANS: dict[Splitting, str] = {
    "runs": "{runs}x10", "splits": "resample:{runs}:0.1", "halves": "5x2",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTest:
    """A test of the paper: its name in the paper, its name here, and the splits it needs."""

    row: str
    test: str
    splitting: Splitting


PANEL = (
    PanelTest(row="resampling", test="resampled-t", splitting="splits"),
    PanelTest(row="corrected resampling", test="corrected-resampled-t", splitting="splits"),
    PanelTest(row="k-fold cv", test="kfold-t", splitting="first run"),
    PanelTest(row="use all data", test="use-all-data", splitting="runs"),
    PanelTest(row="folds averaged var", test="folds-averaged-var", splitting="runs"),
    PanelTest(row="folds averaged T", test="folds-averaged-t", splitting="runs"),
    PanelTest(row="runs averaged var", test="runs-averaged-var", splitting="runs"),
    PanelTest(row="runs averaged T", test="runs-averaged-t", splitting="runs"),
    PanelTest(row="sorted runs", test="sorted-runs", splitting="runs"),
)
"""The tests that the paper continues with."""
NOT_CALIBRATED = (
    PanelTest(row="folds", test="folds", splitting="runs"),
    PanelTest(row="runs", test="runs", splitting="runs"),
    PanelTest(row="sorted runs averaged var", test="sorted-runs-averaged-var", splitting="runs"),
    PanelTest(row="sorted runs averaged T", test="sorted-runs-averaged-t", splitting="runs"),
)
"""The tests that the paper found impossible to calibrate."""
HALVES = PanelTest(row="5x2 cv", test="5x2cv-t", splitting="halves")
INFERRED = {"k-fold cv": 5.0, "use all data": 10.0, "runs averaged T": 9.0}
"""The df that the paper recommends for use all data, and others that agree better with the print
than the measured ones."""


def problem_of(set_name: str, *, class_probability: float = 0.5) -> DataProblem:
    """Return a problem: in Set 1, attributes and class are independent; others are networks."""
    if set_name == SETS[0]:
        return BinaryAttributes(class_probability=class_probability)
    return network(paper=int(set_name[-1]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnPanel:
    """Losses on the same data sets for each kind of splits."""

    by_splitting: dict[str, Simulation]

    def outcomes(self, test: PanelTest, *, df: float | None, alphas: Sequence[float]) -> Outcomes:
        """Return the verdicts of a test on every data set."""
        return outcomes(self.by_splitting[test.splitting], test.test, df=df, alpha=tuple(alphas))

    def rejected(
        self, test: PanelTest, *, df: float | None, alphas: Sequence[float] = (ALPHA,)
    ) -> npt.NDArray[np.bool_]:
        """Return whether a test rejects, shape (sets, repeats, alphas)."""
        return self.outcomes(test, df=df, alphas=alphas).rejected

    def calibration(self, test: PanelTest, alpha: float = ALPHA) -> Calibration:
        """Return the df with which a test keeps its level on these data sets."""
        return calibrate(test.test, simulation=self.by_splitting[test.splitting], alpha=alpha)

    def take(self, pair: tuple[int, int]) -> DrawnPanel:
        """Return the panel of two learners."""
        return DrawnPanel(by_splitting={
            splitting: replace(
                one, losses=one.losses[:, :, list(pair)],
                learners=tuple(one.learners[k] for k in pair),
            )
            for splitting, one in self.by_splitting.items()
        })  # fmt: skip

    def first_runs(self, runs: int) -> DrawnPanel:
        """Return the panel with only the first runs and splits."""
        whole, splits = self.by_splitting["runs"], self.by_splitting["splits"]
        design = splits.design.with_(
            folds=runs,
            n_train=None if splits.design.n_train is None else splits.design.n_train[:runs],
            n_test=None if splits.design.n_test is None else splits.design.n_test[:runs],
        )
        fewer = replace(splits, losses=splits.losses[..., :runs, :], design=design)
        return DrawnPanel(
            by_splitting={
                **self.by_splitting, "runs": whole.first_runs(runs), "splits": fewer
            }
        )  # fmt: skip


def draw(
    problem: DataProblem,
    request: Request,
    *,
    seed: int,
    runs: int = RUNS,
    repeats: int = 1,
    splittings: Sequence[Splitting] = ("runs", "splits"),
    learners: Any = LEARNERS,
) -> DrawnPanel:
    """Simulate losses of the learners on data sets of a problem, for each kind of splits."""
    simulations: dict[str, Simulation] = {}
    for splitting in splittings:
        simulations[splitting] = simulate(
            learners,
            problem,
            PLANS[splitting].format(runs=runs),
            sets=request.runs,
            repeats=repeats,
            random_state=seed,
            n_jobs=request.jobs,
            engine=request.engine,
            scheduler=request.scheduler,
            store=request.store,
            progress=request.progress,
        )
    if "runs" in simulations:
        simulations["first run"] = simulations["runs"].first_runs(1)
    return DrawnPanel(by_splitting=simulations)


def degrees(drawn: DrawnPanel, variant: str) -> dict[str, float | None]:
    """Return the df of every test of the panel by its row; None if no df keeps the level."""
    by_row: dict[str, float | None] = {}
    for test in PANEL:
        calibrated = drawn.calibration(test).df
        by_row[test.row] = None if calibrated is None else float(calibrated)
    return {**by_row, **INFERRED} if variant == "inferred" else by_row
