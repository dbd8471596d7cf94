"""Measure by how many seconds runs exceed their budget.

    python studies/time_limits.py

Run learners that are fast, slow, hang, or cannot be pickled, in a watched fork and in workers, with
and without a store. Print the seconds after the budget and the result of each run. Measure before
and after each run by which factor the other programs of the machine slow a calculation down. Fail
if a run ends more than a second late, multiplied by the larger factor, or has finished a round but
reaches no decision. The small form is tests/run/test_time_limits.py.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

LATE = 1.0
"""Seconds after its budget within which a run must end if it has the machine for itself."""
CALCULATION = 0.3
"""Seconds of processor time of the calculation that measures how busy the machine is."""


class Napping(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict at random after a nap."""

    def __init__(self, nap: float = 0.0, random_state: int | None = None) -> None:
        self.nap = nap
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Napping:  # noqa: ARG002
        log = os.environ.get("NAPS")
        if log:
            with Path(log).open("a") as file:
                file.write("fit\n")
        self.classes_ = np.unique(y)
        time.sleep(self.nap)
        return self

    def predict(self, X: Any) -> Any:
        rng = np.random.default_rng(self.random_state)
        return self.classes_[rng.integers(len(self.classes_), size=len(X))]


class Unpicklable(Napping):
    """Hold a lock, which cannot be pickled."""

    def __init__(self, nap: float = 0.0, random_state: int | None = None) -> None:
        super().__init__(nap, random_state)
        self.lock = threading.Lock()


class Spinning(Napping):
    """Hang in a busy loop."""

    def fit(self, X: Any, y: Any) -> Napping:
        end = time.monotonic() + self.nap
        while time.monotonic() < end:
            pass
        return super().fit(X, y)


@dataclass(frozen=True)
class Setting:
    """A run with too little time."""

    learner: str
    engine: str
    stored: bool

    def __str__(self) -> str:
        return f"{self.learner}, {self.engine}, {'store' if self.stored else 'memory'}"


@dataclass(frozen=True)
class Outcome:
    """Result of a run."""

    setting: Setting
    late: float
    """Seconds after the budget."""
    rounds: int
    """Folds that all learners finished."""
    decided: bool
    message: str


def settings() -> Iterator[Setting]:
    """Yield all settings."""
    learners = ("quick", "slow", "hangs", "unpicklable")
    for learner, engine in itertools.product(learners, ("serial", "processes")):
        yield Setting(learner, engine, stored=False)
    for learner in learners:
        yield Setting(learner, "auto", stored=True)


def run(setting: Setting, *, budget: float, slow: float, plan: str) -> Outcome:
    """Run more work than the budget allows."""
    import bestofk as bk

    odd = {
        "quick": Napping(nap=0.0),
        "slow": Napping(nap=slow),
        "hangs": Spinning(nap=600.0),
        "unpicklable": Unpicklable(nap=slow),
    }[setting.learner]
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 3)), np.tile(["a", "b"], 30)
    message, study = "", None
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/study.db" if setting.stored else None
        begin = time.monotonic()
        try:
            study = bk.compare(
                {"odd": odd, "plain": Napping(nap=0.001)},
                X,
                y,
                cv=plan,
                budget=budget,
                n_jobs=2,
                store=store,
                progress=False,
                execution=bk.Execution(engine=setting.engine),
            )
        except bk.BestOfKError as refused:
            message = str(refused)
        late = time.monotonic() - begin - budget
    rounds = 0 if study is None else study.scores.design.runs * study.scores.design.folds
    decided = study is not None and study.decision is not None
    return Outcome(setting=setting, late=late, rounds=rounds, decided=decided, message=message)


def slowdown() -> float:
    """Return the ratio of elapsed time to processor time of a calculation."""
    begin, end = time.perf_counter(), time.process_time() + CALCULATION
    while time.process_time() < end:
        pass
    return (time.perf_counter() - begin) / CALCULATION


def main() -> None:
    for setting in settings():
        before = slowdown()
        outcome = run(setting, budget=8.0, slow=0.5, plan="2000x5")
        factor = max(1.0, before, slowdown())
        print(
            f"{setting}: {outcome.late:+.2f} s (machine slower by {factor:.1f}), "
            f"{outcome.rounds} folds, {'decided' if outcome.decided else outcome.message}",
            flush=True,
        )
        assert outcome.late < LATE * factor, setting
        assert outcome.decided == (outcome.rounds > 0), setting
        assert outcome.decided or "The budget of" in outcome.message, setting


if __name__ == "__main__":
    main()
