"""Repeat a decision over other random splits of the same data, and count the outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted
from bestofk._base.results import Presented
from bestofk.splits.plans import Plan

if TYPE_CHECKING:
    from bestofk.run.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication(Presented):
    """The decisions on other random splits.

    - `times`: Repetitions over other random splits (and other seeds of the learners).
    - `same_best`, `same_order`: How many of them gave the same best learner, and the same whole
      order.
    - `bests`: How often each learner was the best; ``"none"`` if there was no best one.
    """

    times: int
    same_best: int
    same_order: int
    bests: Mapping[str, int]

    def _columns(self) -> dict[str, Any]:
        """One row per learner that was recommended."""
        return {"recommended": list(self.bests), "times": list(self.bests.values())}

    def explain(self) -> str:
        """Return the counts in a sentence."""
        others = ", ".join(f"{name} {count}" for name, count in self.bests.items())
        return (
            f"Repeated over {counted(self.times, 'other choice')} of random splits, the same "
            f"learner was recommended in {self.same_best} of {self.times} and the whole order was "
            f"the same in {self.same_order} of {self.times} (recommended: {others})"
            f"{self._advice()}."
        )

    def _advice(self) -> str:
        if self.times in (1, self.same_best):
            return ""
        if 2 * self.same_best < self.times:
            return ": other splits would often have decided otherwise, so do not rely on it"
        return ": chance in the splits has a part in this decision; more runs lessen it"


def other_seeds(random_state: int, times: int) -> list[int]:
    """Return the seeds of the repetitions; more repetitions begin with the same seeds."""
    return [
        int(np.random.SeedSequence(random_state, spawn_key=(5, number)).generate_state(1)[0])
        for number in range(times)
    ]


def check_replicable(plan: Plan) -> None:
    """Refuse a plan of fixed splits: there are no others to repeat the decision over."""
    if plan.is_random or (plan.source is None and plan.kind != "time"):
        return
    raise ArgumentError(
        "replicate repeats the decision over other random splits, and those of the plan are fixed: "
        "leave it out, or use a plan such as '10x10'."
    )


def replicated(study: Study, repeat: Callable[[int], Study | None], times: int) -> Study:
    """Return the study with the outcome of `times` repetitions.

    `repeat` runs one for a seed, and returns None if there is no time left.
    """
    if study.decision is None:
        return study
    bests: Counter[str] = Counter()
    same_best = same_order = done = 0
    for seed in other_seeds(study.random_state, times):
        other = repeat(seed)
        if other is None:
            break
        done += 1
        bests[other.recommended or "none"] += 1
        same_best += other.recommended == study.recommended
        same_order += other.ranking == study.ranking
    if not done:
        note = "There was no time to repeat it over other choices of random splits."
        return replace(study, notes=(*study.notes, note))
    replication = Replication(
        times=done,
        same_best=same_best,
        same_order=same_order,
        bests=dict(bests.most_common()),
    )
    return replace(study, replication=replication)
