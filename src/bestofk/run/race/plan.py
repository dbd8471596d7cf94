"""The stop rule and test of a race; refuse tests and plans that cannot stop early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bestofk._base.errors import ArgumentError, Part, use
from bestofk._base.formatting import joined
from bestofk.decide.evidence import Family
from bestofk.decide.order import Foreseen, foresee
from bestofk.decide.registry import decides_by
from bestofk.decide.settings import Settings
from bestofk.decide.stopping import PlannedNested, PlannedT, StopRule
from bestofk.decide.stopping.planned_units import MAX_UNITS, PlannedUnits
from bestofk.decide.stopping.verdicts import PlannedTest
from bestofk.run.experiment import CellIndex
from bestofk.splits.design import Design
from bestofk.stats.pairwise.calibration import Calibration
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

PLAN = "10x10"
"""The plan to use if a race cannot use another."""
_BY_RUNS = ("plain", "corrected", "nested")
"""Tests of which the runs on one data set can be bounded."""
_BY_DATASETS = ("ranks", "signs")
"""Tests of which the data sets can be bounded."""
_WILCOXON: tuple[Part, ...] = (": give ", use(test="wilcoxon"), ", or leave stop out.")
_SETTLED = use(stop="settled")
_SPLITS = ("resample", "bootstrap")
"""Designs without runs: every split is a unit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRace:
    """A rule, and the test of the plan that it curtails.

    - `test`: The planned test of runs or data sets. The step of the losses is known only after the
      first run.
    - `design`: The design of all splits.
    - `foreseen`: The test and the family of the plan.
    """

    rule: StopRule
    test: PlannedTest
    design: Design
    foreseen: Foreseen

    @property
    def unit(self) -> str:
        """The unit of the race."""
        return "data set" if isinstance(self.test, PlannedUnits) else "run"

    @property
    def fits_per_unit(self) -> int:
        """Fits of one learner in a run or on a data set, for one repetition."""
        return self.test.folds * len(self.cells(0, 0))

    @property
    def _pairs(self) -> int:
        """Pairs of folds that are left out together in every run."""
        return self.design.nested_runs // self.design.runs

    def unit_of(self, cell: CellIndex) -> int:
        """Return the run (or data set) of the race that a cell belongs to."""
        if isinstance(self.test, PlannedUnits):
            return cell.dataset
        if self.design.kind in _SPLITS:
            return cell.fold + cell.run * self.design.folds
        if cell.run >= self.design.runs:
            return (cell.run - self.design.runs) // self._pairs
        return cell.run

    def cells(self, unit: int, fold: int) -> tuple[tuple[int, int, int], ...]:
        """Data set, run and fold of all that makes up one loss of a unit."""
        if isinstance(self.test, PlannedUnits):
            return tuple(
                (unit, run, fold)
                for run in range(self.design.runs)
                for fold in range(self.design.folds)
            )
        if self.design.kind in _SPLITS:
            return ((0, *divmod(unit, self.design.folds)),)
        if fold >= self.design.folds:
            pair, of_pair = divmod(fold - self.design.folds, 2)
            return ((0, self.design.runs + unit * self._pairs + pair, of_pair),)
        return ((0, unit, fold),)

    def to_dict(self) -> dict[str, Any]:
        """Return what a store keeps of it, the fields of the rule."""
        return asdict(self.rule)


def planned_race(
    names: Sequence[str],
    design: Design,
    settings: Settings,
    rule: StopRule,
    *,
    datasets: int = 1,
    span: float | None = None,
) -> PlannedRace:
    """Return the race of these learners, or refuse it.

    Several data sets are run completely, one after the other.
    """
    if decides_by(settings.procedure) not in ("best", "steps"):
        raise ArgumentError(
            _SETTLED, f" does not work with {settings.procedure!r}, which needs the whole plan: ",
            "leave stop out.",
        )  # fmt: skip
    for name in ("margin", "rope"):
        if getattr(settings, name) is not None:
            raise ArgumentError(f"{name} needs all runs of the plan: leave it out, or stop.")
    if datasets > 1:
        if design.nested_runs:
            raise _parts_needed(settings)
        return _over_datasets(names, design, settings, rule, datasets, span)
    if (design.runs * design.folds if design.kind in _SPLITS else design.runs) < 2:
        raise ArgumentError(
            _SETTLED, " stops between runs, and the plan has only one: ", *_instead(settings)
        )
    planned = design.with_(repetitions=1)
    if callable(settings.test) or isinstance(settings.df, Calibration) or _cannot(settings.test):
        raise _uncovered(settings.test_name, settings)
    foreseen = foresee(settings, names, planned)
    choice = foreseen.choice
    entry = None if choice is None else choice.entry
    if choice is None or entry is None or entry.curtailed not in _BY_RUNS:
        raise _uncovered(settings.test_name if choice is None else choice.name, settings)
    if design.nested_runs and entry.curtailed != "nested":
        raise _parts_needed(settings)
    arguments = choice.arguments
    df = arguments.get("df")
    if entry.curtailed == "nested":
        K = planned.folds
        models = planned.runs * K * (K + 1) // 2
        degrees = min(models, arguments.get("rows", models)) - 1 if df is None else df
        nested = PlannedNested(
            runs=planned.runs, folds=K * K, df=float(degrees), span=span, step=None
        )
        return PlannedRace(rule=rule, test=nested, design=design, foreseen=foreseen)
    share = None
    if entry.curtailed == "corrected":
        share = arguments.get("test_share")
        share = arguments["n_test"] / arguments["n_train"] if share is None else share
    if design.kind in _SPLITS:
        units, folds = planned.runs * planned.folds, 1
    else:
        units, folds = planned.runs, planned.folds
    test = PlannedT(
        runs=units,
        folds=folds,
        df=float(units * folds - 1 if df is None else df),
        test_share=share,
        span=span,
        step=None,
        units=arguments.get("units") if df is None else None,
    )
    return PlannedRace(rule=rule, test=test, design=design, foreseen=foreseen)


def _over_datasets(
    names: Sequence[str],
    design: Design,
    settings: Settings,
    rule: StopRule,
    datasets: int,
    span: float | None,
) -> PlannedRace:
    """Return the race over data sets, which predicts nothing and takes no risk."""
    if datasets > MAX_UNITS:
        raise ArgumentError(
            _SETTLED,
            f" is for up to {MAX_UNITS} data sets; got {datasets}: leave stop out.",
        )
    by_units = [entry.name for entry in PAIRWISE_TESTS.values() if entry.curtailed in _BY_DATASETS]
    covered = f" over data sets is for the tests {' and '.join(by_units)}"
    if callable(settings.test):
        raise ArgumentError(_SETTLED, covered, *_WILCOXON)
    foreseen = foresee(settings, names, design, datasets=datasets)
    choice = foreseen.choice
    assert foreseen.family is not None
    assert choice is not None
    entry = choice.entry
    if entry is None or entry.curtailed not in _BY_DATASETS:
        raise ArgumentError(_SETTLED, f"{covered}, not for {choice.name}", *_WILCOXON)
    needed = _datasets_needed(foreseen.family)
    if datasets < needed:
        raise ArgumentError(
            _SETTLED,
            f"{covered}, which can show no difference between {len(names)} learners on "
            f"{datasets} data sets (at least {needed} are needed): leave stop out.",
        )
    test = PlannedUnits(kind=entry.curtailed, runs=datasets, span=span)  # type: ignore[arg-type]
    return PlannedRace(rule=replace(rule, risk=0.0), test=test, design=design, foreseen=foreseen)


def _datasets_needed(family: Family) -> int:
    """Return the number of unanimous data sets that a claim needs after the correction."""
    needed = 1
    while needed < MAX_UNITS and family.smallest_adjusted(0.5 ** (needed - 1)) > family.alpha:
        needed += 1
    return needed


def _cannot(test: Any) -> bool:
    if not isinstance(test, str) or test not in PAIRWISE_TESTS:
        return False
    return PAIRWISE_TESTS[test].curtailed not in _BY_RUNS


def _uncovered(test: str, settings: Settings) -> ArgumentError:
    return ArgumentError(
        _SETTLED,
        f" does not know what the rest of a plan can change for the test {test!r}: ",
        *_instead(settings),
    )


def _parts_needed(settings: Settings) -> ArgumentError:
    return ArgumentError(
        _SETTLED,
        " is for plans without runs on parts of the rows, which are needed in full: ",
        *_instead(settings),
    )


def _instead(settings: Settings) -> tuple[Part, ...]:
    """Return the plan and test to use instead."""
    named = [
        name
        for name, given in (("test", settings.test != "auto"), ("df", settings.df is not None))
        if given
    ]
    without = f" and leave {joined(named)} out" if named else ""
    return "give ", use(cv=PLAN), f"{without}, or leave stop out."
