"""The task of a simulation: draw and split data sets, fit learners, return their error rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.code_identity import Identity, identify
from bestofk._base.errors import RunError
from bestofk.data.schema import Encoded
from bestofk.learners.base import seed_names
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.generator import DataProblem, dataset_of
from bestofk.papers.whole_plans import (
    Wrong,
    predict_encoded_plan,
    predict_plan,
    wrong_by_split,
)
from bestofk.run.fingerprints import learner_fingerprint
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan
from bestofk.splits.splits import Splits

DATA, SPLITS, FITS = 1, 2, 3
"""Part of every seed: changing one of these numbers changes every simulation."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationTask:
    """Everything that determines the data sets of a simulation and their losses."""

    problem: DataProblem
    learners: Mapping[str, Any]
    plan: Plan
    seed: int

    @cached_property
    def _identities(self) -> dict[str, Identity]:
        return {name: learner_fingerprint(one) for name, one in self.learners.items()}

    @cached_property
    def inputs(self) -> str:
        """Everything that all losses depend on."""
        learners = "+".join(each.digest for each in self._identities.values())
        plan = f"{self.seed}:{self.plan.spec}:{self.plan.stratified}"
        code = identify(type(self.plan), type(self)).digest
        return f"{(self.problem.fingerprint, learners, plan, code)!r}"

    @property
    def unknown(self) -> str:
        """Return why a store cannot recognise these losses; empty if it can."""
        parts = {**self._identities, "the problem": self.problem.identity}
        reasons = (f"{name}: {one.unknown}" for name, one in parts.items() if one.unknown)
        return next(reasons, "")

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

    def losses(self, which: tuple[int, int]) -> Floats:
        """Return the (learners, losses) of one data set and one choice of its random splits.

        Full runs come first, then runs on subsets.
        """
        number, repeat = which
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
