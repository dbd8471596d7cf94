"""The task of a simulation: draw and split data sets, fit learners, return their error rates."""

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
from bestofk.data.schema import Encoded
from bestofk.learners.base import seed_names
from bestofk.learners.preparation import is_trusted
from bestofk.papers.array_task import ArrayItem, KeptArrays
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.generator import DataProblem, dataset_of
from bestofk.papers.whole_plans import (
    Wrong,
    predict_encoded_plan,
    predict_plan,
    wrong_by_split,
)
from bestofk.run.live import learner_fingerprint
from bestofk.run.process_state import caught_warnings
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan
from bestofk.splits.splits import Splits

DATA, SPLITS, FITS = 1, 2, 3
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
    seed: int
    threads: int = 1

    @cached_property
    def trusted(self) -> bool:
        return all(map(is_trusted, self.learners.values()))

    @cached_property
    def _code(self) -> Identity:
        """The code that draws and splits."""
        return identify(type(self.plan), type(self))

    @cached_property
    def _identities(self) -> dict[str, Identity]:
        return {name: learner_fingerprint(one) for name, one in self.learners.items()}

    @cached_property
    def _inputs(self) -> str:
        """Everything that all losses depend on."""
        learners = "+".join(each.digest for each in self._identities.values())
        plan = f"{self.seed}:{self.plan.spec}:{self.plan.stratified}"
        code = f"{self._code.digest} {self.threads}"
        return f"{(self.problem.fingerprint, learners, plan, code)!r}"

    @property
    def unknown(self) -> str:
        """Return why a store cannot recognise these losses; empty if it can."""
        parts = {**self._identities, "the problem": self.problem.identity}
        reasons = (f"{name}: {one.unknown}" for name, one in parts.items() if one.unknown)
        return next(reasons, "")

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
        if isinstance(self.problem, ColumnBlocks):
            return tuple(f"{names[0]} {block + 1}" for block in range(len(self.problem.errors)))
        return names

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
        return self.plan.kind == "holdout"

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
        wrong = (self._wrong(index, number, name, rows, splits)
                 for index, (name, rows) in enumerate(self.seen(encoded)))  # fmt: skip
        if self.by_instance:
            return np.stack([one[0].astype(np.float64) for one in wrong])
        return np.array([[np.count_nonzero(one) / len(one) for one in each] for each in wrong])

    def _wrong(
        self, index: int, number: int, name: str, rows: Encoded, splits: Splits
    ) -> list[Wrong]:
        """Return which test rows learner `index` gets wrong, split by split."""
        estimator = self.learners[name]
        if hasattr(estimator, "_predict_plan") and not seed_names(estimator):
            return wrong_by_split(predict_encoded_plan(estimator, rows, splits), rows.y, splits)
        blocks = isinstance(self.problem, ColumnBlocks)
        numbers = (number, index) if blocks else (number,)
        seeds = self.rng(FITS, *numbers).integers(0, 2**31, len(splits)).tolist()
        data = dataset_of(rows, name) if blocks else self.problem.draw(self.rng(DATA, number))
        try:
            predicted = predict_plan(estimator, data, splits, seeds=seeds)
        except Exception as error:
            # a learner may raise anything
            raise RunError(f"{name} failed on data set {number + 1}: {error}") from None
        return wrong_by_split(predicted, rows.y, splits)
