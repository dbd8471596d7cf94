"""A simulation as a task: learners on many data sets that a problem draws."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from bestofk.code_identity.identity import Identity, identify
from bestofk.data.encoded import Encoded
from bestofk.lab.one_data_set import DATA, SPLITS, SetEvaluator, SetLosses, SplitSet
from bestofk.plans.design import Design
from bestofk.plans.plan import Plan
from bestofk.plans.splits import Splits
from bestofk.problems.column_blocks import ColumnBlocks
from bestofk.problems.generator import DataProblem
from bestofk.problems.given_rows import Degraded
from bestofk.run.cells import Failure
from bestofk.run.evaluation.models import is_trusted
from bestofk.run.experiment import Contender
from bestofk.run.metrics.loss_functions import Loss
from bestofk.run.store.payloads import Payload
from bestofk.run.store.store import Store
from bestofk.run.task import Task

KIND, PAYLOAD = "simulation", "losses"
"""What a store keeps of a data set: the bytes of (learners, losses) floats."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationTask(Task[SplitSet, SetLosses]):
    """What the data sets of a simulation and their losses are a function of.

    An item is one data set with one choice of random splits.
    """

    unit: ClassVar[str] = "data sets"

    problem: DataProblem
    contenders: tuple[Contender, ...]
    plan: Plan
    loss: Loss
    seed: int
    threads: int = 1

    @cached_property
    def trusted(self) -> bool:
        return all(is_trusted(contender.estimator) for contender in self.contenders)

    @cached_property
    def _way(self) -> Identity:
        """The code that draws, splits and judges."""
        return identify(type(self.plan), SetEvaluator, self.loss.of, self.loss.needs)

    @cached_property
    def _names(self) -> str:
        """Everything that all losses depend on."""
        learners = "+".join(contender.fingerprint for contender in self.contenders)
        plan = f"{self.seed}:{self.plan.spec}:{self.plan.stratified}"
        way = f"{self._way.digest} {self.threads}"
        return f"{(self.problem.fingerprint, learners, plan, self.loss.name, way)!r}"

    @property
    def unknown(self) -> str:
        """Why losses cannot be found again in a store, where they cannot."""
        reasons = (
            *(f"{one.name}: {one.unknown}" for one in self.contenders if one.unknown),
            *(f"the problem: {why}" for why in [self.problem.identity.unknown] if why),
            *(f"the loss: {why}" for why in [self._way.unknown] if why),
        )
        return next(iter(reasons), "")

    def key(self, item: SplitSet) -> str:
        text = f"simulation {self._names} {item.number} {item.repeat}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def key_of(self, result: SetLosses) -> str:
        return result.key

    def lost(self, item: SplitSet, failure: Failure) -> SetLosses:
        reason = f"data set {item.number + 1}: {failure.reason}"
        return SetLosses(key=self.key(item), losses=None, failure=replace(failure, reason=reason))

    def find(self, store: Store, items: Mapping[str, SplitSet]) -> dict[str, SetLosses]:
        found = store.get_payloads(list(items), name=PAYLOAD)
        return {
            key: SetLosses(
                key=key,
                losses=np.frombuffer(data, dtype="<f8").reshape(len(self.learners), -1),
            )
            for key, data in found.items()
        }

    def keep(self, store: Store, result: SetLosses) -> None:
        if result.losses is not None:
            data = result.losses.astype("<f8").tobytes()
            store.put_payloads([Payload(digest=result.key, name=PAYLOAD, kind=KIND, data=data)])

    def label(self, item: SplitSet) -> str:
        return f"{self._who} on data set {item.number + 1}"

    @cached_property
    def _who(self) -> str:
        return " and ".join(contender.name for contender in self.contenders)

    def failed(self, result: SetLosses) -> bool:
        return result.failure is not None

    def seconds(self, result: SetLosses) -> float | None:
        return result.seconds

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of those whose losses are simulated, most preferred first."""
        names = tuple(contender.name for contender in self.contenders)
        problem = self.problem
        if isinstance(problem, ColumnBlocks):
            return tuple(f"{names[0]} {place + 1}" for place in range(len(problem.errors)))
        if not isinstance(problem, Degraded):
            return names
        worse = [f"{names[0]}, degraded{f' {one + 1}' * (problem.copies > 1)}"
                 for one in range(problem.copies)]  # fmt: skip
        return (*worse[::-1], *names) if problem.best_last else (*names, *worse)

    def seen(self, encoded: Encoded) -> list[tuple[Contender, Encoded]]:
        """Who learns from what: all from the same data, or each from its own columns."""
        problem = self.problem
        if isinstance(problem, ColumnBlocks):
            (contender,) = self.contenders
            return [(contender, problem.block(encoded, place))
                    for place in range(len(problem.errors))]  # fmt: skip
        return [(contender, encoded) for contender in self.contenders]

    @property
    def by_instance(self) -> bool:
        """One test set: a loss for each of its instances, as `compare` has it."""
        return self.plan.kind == "holdout" and self.loss.name == "zero-one"

    def design(self, splits: Splits) -> Design:
        """How the losses of one data set come about."""
        if not self.by_instance:
            return splits.design
        return Design(kind="test-set", folds=int(splits.marks[0].sum()))

    def evaluator(self) -> SetEvaluator:
        return SetEvaluator(self)

    def rng(self, purpose: int, *numbers: int) -> np.random.Generator:
        """The stream of random numbers of one purpose and data set."""
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(purpose, *numbers))
        )

    def encoded(self, number: int) -> Encoded:
        """Data set `number`."""
        return self.problem.encoded(self.rng(DATA, number))

    def splits(self, number: int, repeat: int, encoded: Encoded) -> Splits:
        """Its splits, as `plan` makes them for another seed."""
        key = np.random.SeedSequence(self.seed, spawn_key=(SPLITS, number, repeat))
        seed = int(key.generate_state(1, np.uint64)[0])
        return replace(self.plan, seed=seed).materialise(encoded.n, encoded.y)
