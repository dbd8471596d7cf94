"""The task of a simulation: draw and split data sets, fit the learners, return their losses."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.code_identity import Identity, identify
from bestofk._base.errors import RunError
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Encoded
from bestofk.learners.base import seed_names
from bestofk.learners.preparation import is_trusted
from bestofk.papers.array_task import ArrayItem, KeptArrays
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.generator import DataProblem, dataset_of
from bestofk.papers.lab.problems.given_rows import Degraded
from bestofk.papers.whole_plans import (
    Wrong,
    predict_encoded_plan,
    predict_plan,
    wrong_by_split,
)
from bestofk.run.fit import Evaluator
from bestofk.run.live import Live, learner_fingerprint
from bestofk.run.metrics import Loss
from bestofk.run.process_state import caught_warnings
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan
from bestofk.splits.splits import Splits

DATA, SPLITS, SPOIL = 1, 2, 3
"""Part of every seed: changing one of these numbers changes every simulation."""
SEND_INTERVAL_SECONDS = 0.05
"""Time between two messages of a worker that runs built-in learners."""


@dataclass(frozen=True)
class SplitSet(ArrayItem):
    """The number of a data set and of one choice of its random splits."""

    number: int
    repeat: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationTask(KeptArrays[SplitSet]):
    """Everything that determines the data sets of a simulation and their losses.

    An item is one data set with one choice of random splits.
    """

    unit: ClassVar[str] = "data sets"
    kind: ClassVar[str] = "simulation"

    problem: DataProblem
    learners: Mapping[str, Any]
    plan: Plan
    loss: Loss
    seed: int
    threads: int = 1

    @cached_property
    def trusted(self) -> bool:
        return all(map(is_trusted, self.learners.values()))

    @cached_property
    def _code(self) -> Identity:
        """The code that draws, splits and scores."""
        return identify(type(self.plan), type(self), self.loss.each, self.loss.of, self.loss.needs)

    @cached_property
    def _identities(self) -> dict[str, Identity]:
        return {name: learner_fingerprint(one) for name, one in self.learners.items()}

    @cached_property
    def _inputs(self) -> str:
        """Everything that all losses depend on."""
        learners = "+".join(each.digest for each in self._identities.values())
        plan = f"{self.seed}:{self.plan.spec}:{self.plan.stratified}"
        code = f"{self._code.digest} {self.threads}"
        return f"{(self.problem.fingerprint, learners, plan, self.loss.name, code)!r}"

    @property
    def unknown(self) -> str:
        """Return why a store cannot recognise these losses; empty if it can."""
        reasons = (
            *(f"{name}: {each.unknown}" for name, each in self._identities.items()
              if each.unknown),
            *(f"the problem: {reason}" for reason in [self.problem.identity.unknown] if reason),
            *(f"the loss: {reason}" for reason in [self._code.unknown] if reason),
        )  # fmt: skip
        return next(iter(reasons), "")

    def key(self, item: SplitSet) -> str:
        text = f"simulation {self._inputs} {item.number} {item.repeat}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def label(self, item: SplitSet) -> str:
        names = " and ".join(self.learners)
        return f"{names} on data set {item.number + 1}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the learners whose losses are simulated, most preferred first."""
        names = tuple(self.learners)
        problem = self.problem
        if isinstance(problem, ColumnBlocks):
            return tuple(f"{names[0]} {block + 1}" for block in range(len(problem.errors)))
        if not isinstance(problem, Degraded):
            return names
        worse = [f"{names[0]}, degraded{f' {copy + 1}' * (problem.copies > 1)}"
                 for copy in range(problem.copies)]  # fmt: skip
        return (*worse[::-1], *names) if problem.best_last else (*names, *worse)

    def seen(self, encoded: Encoded) -> list[tuple[str, Encoded]]:
        """Return the name of each learner with the data it sees: all columns, or its own block."""
        problem = self.problem
        if isinstance(problem, ColumnBlocks):
            (learner,) = self.learners
            return [(learner, problem.block(encoded, block))
                    for block in range(len(problem.errors))]  # fmt: skip
        return [(learner, encoded) for learner in self.learners]

    @property
    def by_instance(self) -> bool:
        """True if there is one loss for each instance of one test set, as in `compare`."""
        return self.plan.kind == "holdout" and self.loss.name == "zero-one"

    def design(self, splits: Splits) -> Design:
        """Return the design of the losses on one data set."""
        if not self.by_instance:
            return splits.design
        return Design(kind="test-set", folds=int(splits.marks[0].sum()))

    def rng(self, purpose: int, *numbers: int) -> np.random.Generator:
        """Return the random number stream of one purpose and data set."""
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(purpose, *numbers))
        )

    def encoded(self, number: int) -> Encoded:
        """Draw data set `number`."""
        return self.problem.encoded(self.rng(DATA, number))

    def splits(self, number: int, repeat: int, encoded: Encoded) -> Splits:
        """Split data set `number`, as the plan does with another seed."""
        key = np.random.SeedSequence(self.seed, spawn_key=(SPLITS, number, repeat))
        seed = int(key.generate_state(1, np.uint64)[0])
        return replace(self.plan, seed=seed).materialise(encoded.n, encoded.y)

    @property
    def send_every(self) -> float:  # type: ignore[override]
        return SEND_INTERVAL_SECONDS if self.trusted else 0.0

    def _predicts_plan(self, name: str) -> bool:
        """Return whether a learner predicts all splits of a plan at once."""
        estimator = self.learners[name]
        plans = hasattr(estimator, "_predict_plan") and not seed_names(estimator)
        return plans and self.loss.name == "zero-one"

    def prepare(self) -> None:
        """Load the kernels of the learners."""
        with contextlib.suppress(Exception), caught_warnings():
            for name, encoded in self.seen(self.encoded(0)):
                if hasattr(self.learners[name], "fit_encoded"):
                    self.learners[name].load(encoded)

    def compute(self, item: SplitSet) -> Floats:
        """Return the losses of an item."""
        return self.losses(item.number, item.repeat)

    def losses(self, number: int, repeat: int) -> Floats:
        """Return the (learners, losses) of one data set: full runs, then runs on subsets."""
        encoded = self.encoded(number)
        splits = self.splits(number, repeat, encoded)
        seen = self.seen(encoded)
        if isinstance(self.problem, Degraded):
            return self._degraded(number, self._wrong(0, number, seen, splits), splits)
        width = int(splits.marks[0].sum()) if self.by_instance else len(splits)
        losses = np.empty((len(seen), width))
        others = []
        for index, (name, _) in enumerate(seen):
            if self.by_instance or self._predicts_plan(name):
                wrong = self._wrong(index, number, seen, splits)
                losses[index] = wrong[0] if self.by_instance else _rates(wrong)
            else:
                others.append(index)
        # all learners see the same rows, unless each has its own block of columns
        together = [[index] for index in others]
        if not isinstance(self.problem, ColumnBlocks):
            together = [others] if others else []
        for some in together:
            data = self._data(number, seen[some[0]][1])
            losses[some] = self._fitted(number, data, splits, [seen[index][0] for index in some])
        return losses

    def _data(self, number: int, rows: Encoded) -> DataSet:
        """Return data set `number`, or one block of its columns, as a table."""
        name = f"data set {number + 1}"
        if isinstance(self.problem, ColumnBlocks):
            return dataset_of(rows, name)
        return self.problem.draw(self.rng(DATA, number), name=name)

    def _fitted(self, number: int, data: DataSet, splits: Splits, names: list[str]) -> Floats:
        """Return losses of learners that are fitted split by split, as in `compare`."""
        learners = {name: self.learners[name] for name in names}
        live = Live.of(
            learners, [data], [splits], [self.loss], random_state=self.seed, stored=False
        )
        losses = np.empty((len(names), len(splits)))
        for cell in Evaluator(live).evaluate(live.record.cells()):
            if cell.failure is not None:
                raise RunError(
                    f"{names[cell.learner]} failed on data set {number + 1} (run "
                    f"{cell.run + 1}, fold {cell.fold + 1}): {cell.failure.explain()}"
                )
            losses[cell.learner, live.record.splits_before(cell.run) + cell.fold] = cell.loss
        return losses

    def _wrong(
        self, index: int, number: int, seen: list[tuple[str, Encoded]], splits: Splits
    ) -> list[Wrong]:
        """Return which test rows learner `index` gets wrong, split by split."""
        name, rows = seen[index]
        estimator = self.learners[name]
        if self._predicts_plan(name):
            return wrong_by_split(predict_encoded_plan(estimator, rows, splits), rows.y, splits)
        blocks = isinstance(self.problem, ColumnBlocks)
        numbers = (number, index) if blocks else (number,)
        seeds = self.rng(SPOIL, *numbers).integers(0, 2**31, len(splits)).tolist()
        try:
            predicted = predict_plan(estimator, self._data(number, rows), splits, seeds=seeds)
        except Exception as error:
            # a learner may raise anything
            raise RunError(f"{name} failed on data set {number + 1}: {error}") from None
        return wrong_by_split(predicted, rows.y, splits)

    def _degraded(self, number: int, wrong: list[Wrong], splits: Splits) -> Floats:
        """Return losses of one learner, and of copies whose right answers partly count as wrong."""
        problem = self.problem
        assert isinstance(problem, Degraded)
        rates = _rates(wrong)
        share = min(1.0, problem.by / max(1.0 - float(rates.mean()), 1e-12))
        tested = [splits.test(run, fold) for run, fold in splits.run_folds()]
        tables = [rates]
        for copy in range(problem.copies):
            spoilt = self.rng(SPOIL, number, 1 + copy).random(splits.n) < share
            worse = [one | spoilt[test] for one, test in zip(wrong, tested, strict=True)]
            tables.append(_rates(worse))
        return np.stack(tables[::-1] if problem.best_last else tables)


def _rates(wrong: list[Wrong]) -> Floats:
    """Return the error rate of every split."""
    return np.array([np.count_nonzero(one) / len(one) for one in wrong])
