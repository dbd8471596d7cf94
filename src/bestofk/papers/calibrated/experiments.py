"""Rows in the order in which Weka's learners get them: shuffled anew in every run.

Weka shuffles the rows in every run, groups them by class and deals them to folds; training rows
then come by fold, inside a fold by class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk.data.schema import Codes, Encoded
from bestofk.lab.calibration import calibrate
from bestofk.lab.collect_outcomes import Outcomes, outcomes
from bestofk.lab.problems.classes import BinaryAttributes
from bestofk.lab.problems.generator import DataProblem
from bestofk.lab.problems.networks import network
from bestofk.lab.simulation import Simulation, SimulationTask, simulate
from bestofk.papers.comparison import Request
from bestofk.run.metrics import as_loss
from bestofk.splits.plans import plan
from bestofk.stats.pairwise.calibration import Calibration


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShuffledRun:
    """One run on one data set: its rows in a new order, and the fold that tests each."""

    encoded: Encoded
    folds: Codes

    def sizes(self) -> Codes:
        """Test rows of every fold."""
        return np.bincount(self.folds)


def shuffled_runs(
    problem: DataProblem, *, sets: int, runs: int, seed: int
) -> Iterator[list[ShuffledRun]]:
    """The runs of every data set that `simulate` has with this seed, on the same folds."""
    classes = problem.encoded(np.random.default_rng(0)).classes
    task = SimulationTask(
        problem=problem,
        learners=(),
        plan=plan(f"{runs}x10", random_state=0),
        loss=as_loss("zero-one", classes=classes),
        seed=seed,
    )
    for number in range(sets):
        encoded = task.encoded(number)
        fold_of = task.splits(number, 0, encoded).fold_of
        assert fold_of is not None
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7, number)))
        yield [_shuffled(encoded, folds.astype(np.int64), rng) for folds in fold_of]


def _shuffled(encoded: Encoded, folds: Codes, rng: np.random.Generator) -> ShuffledRun:
    shuffled = rng.permutation(encoded.n)
    later_class = encoded.y != encoded.y[shuffled.argmin()]
    order = np.lexsort((shuffled, later_class, folds))
    rows = replace(encoded, values=np.ascontiguousarray(encoded.values[order]), y=encoded.y[order])
    return ShuffledRun(encoded=rows, folds=folds[order])


# The paper's tests and problems, and the losses that all its tables are arithmetic on.


LEARNERS = ("naive-bayes", "c4.5")
ALPHAS = (0.01, 0.025, 0.05, 0.10)
ALPHA = 0.05
SETS = ("Set 1", "Set 2", "Set 3", "Set 4")
PRINTED_SETS = 1000
"""Data sets behind each printed figure."""
RUNS = 10
Way = Literal["splits", "first run", "runs", "halves"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTest:
    """A test of the paper: its name there, ours, and which losses it takes."""

    row: str
    test: str
    way: Way


PANEL = (
    PanelTest(row="resampling", test="resampled-t", way="splits"),
    PanelTest(row="corrected resampling", test="corrected-resampled-t", way="splits"),
    PanelTest(row="k-fold cv", test="kfold-t", way="first run"),
    PanelTest(row="use all data", test="use-all-data", way="runs"),
    PanelTest(row="folds averaged var", test="folds-averaged-var", way="runs"),
    PanelTest(row="folds averaged T", test="folds-averaged-t", way="runs"),
    PanelTest(row="runs averaged var", test="runs-averaged-var", way="runs"),
    PanelTest(row="runs averaged T", test="runs-averaged-t", way="runs"),
    PanelTest(row="sorted runs", test="sorted-runs", way="runs"),
)
"""Those that the paper goes on with."""
LEFT = (
    PanelTest(row="folds", test="folds", way="runs"),
    PanelTest(row="runs", test="runs", way="runs"),
    PanelTest(row="sorted runs averaged var", test="sorted-runs-averaged-var", way="runs"),
    PanelTest(row="sorted runs averaged T", test="sorted-runs-averaged-t", way="runs"),
)
"""Those that it finds not to be calibratable."""
HALVES = PanelTest(row="5x2 cv", test="5x2cv-t", way="halves")
INFERRED = {"k-fold cv": 5.0, "use all data": 10.0, "runs averaged T": 9.0}
"""The df that the paper recommends for use all data, and others with which the print agrees better
than with those that we measure."""


def problem_of(one: str, *, class_probability: float = 0.5) -> DataProblem:
    """Set 1: attributes and class have nothing to do with each other; others: networks."""
    if one == SETS[0]:
        return BinaryAttributes(class_probability=class_probability)
    return network(paper=int(one[-1]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnPanel:
    """Losses on the same data sets by each way of splitting them."""

    by_way: dict[str, Simulation]

    def outcomes(self, test: PanelTest, *, df: float | None, alphas: Sequence[float]) -> Outcomes:
        """The verdicts of a test on every data set."""
        return outcomes(self.by_way[test.way], test.test, df=df, alpha=tuple(alphas))

    def rejected(
        self, test: PanelTest, *, df: float | None, alphas: Sequence[float] = (ALPHA,)
    ) -> npt.NDArray[np.bool_]:
        """(sets, repeats, alphas)."""
        return self.outcomes(test, df=df, alphas=alphas).rejected

    def calibration(self, test: PanelTest) -> Calibration:
        """The df with which a test keeps its level on these data sets."""
        return calibrate(test.test, simulation=self.by_way[test.way], alpha=ALPHA)

    def first_runs(self, runs: int) -> DrawnPanel:
        """As if there had been no more runs, and no more splits."""
        whole, splits = self.by_way["runs"], self.by_way["splits"]
        kept = splits.design.with_(
            folds=runs,
            n_train=None if splits.design.n_train is None else splits.design.n_train[:runs],
            n_test=None if splits.design.n_test is None else splits.design.n_test[:runs],
        )
        fewer = replace(splits, losses=splits.losses[..., :runs, :], design=kept)
        return DrawnPanel(by_way={**self.by_way, "runs": whole.first_runs(runs), "splits": fewer})


def draw(
    problem: DataProblem,
    request: Request,
    *,
    seed: int,
    what: str,
    runs: int = RUNS,
    repeats: int = 1,
    ways: Sequence[Way] = ("runs", "splits"),
    learners: Any = LEARNERS,
) -> DrawnPanel:
    """Losses of the learners on data sets of a problem, by every way that is asked for."""
    plans = {"runs": f"{runs}x10", "splits": f"resample:{runs}:0.1", "halves": "5x2"}
    found: dict[str, Simulation] = {}
    for way in ways:
        request.say(f"{what}: {request.runs} data sets, plan {plans[way]}")
        found[way] = simulate(
            learners,
            problem,
            plans[way],
            sets=request.runs or PRINTED_SETS,
            repeats=repeats,
            random_state=seed,
            n_jobs=request.jobs,
            engine=request.engine,
            scheduler=request.scheduler,
            store=request.store,
        )
    if "runs" in found:
        found["first run"] = found["runs"].first_runs(1)
    return DrawnPanel(by_way=found)


def degrees(drawn: DrawnPanel, variant: str) -> dict[str, float | None]:
    """The df of every test of the panel by its row; None where none keeps the level."""
    found: dict[str, float | None] = {}
    for test in PANEL:
        calibrated = drawn.calibration(test).df
        found[test.row] = None if calibrated is None else float(calibrated)
    return {**found, **INFERRED} if variant == "inferred" else found
