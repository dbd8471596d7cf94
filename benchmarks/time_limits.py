"""Limits of time and budgets are kept: by whom, over how many settings, by how much.

``python benchmarks/time_limits.py`` runs learners that are quick, slow, that hang, and that cannot
be pickled, in this process's watched fork and in workers, with and without a store, and prints by
how many seconds each run exceeded its budget, and what came of it. It fails where the end comes
more than a second late, or where one round was done and there is no decision.
The small form is tests/run/test_time_limits.py.
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
"""Seconds that a run may end after its budget."""


class Napping(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts at random after a nap."""

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


class Held(Napping):
    """Cannot be pickled."""

    def __init__(self, nap: float = 0.0, random_state: int | None = None) -> None:
        super().__init__(nap, random_state)
        self.lock = threading.Lock()


class Spinning(Napping):
    """Hangs without ever giving way."""

    def fit(self, X: Any, y: Any) -> Napping:
        end = time.monotonic() + self.nap
        while time.monotonic() < end:
            pass
        return super().fit(X, y)


@dataclass(frozen=True)
class Setting:
    """One way to run with too little time."""

    learner: str
    engine: str
    stored: bool

    def __str__(self) -> str:
        return f"{self.learner}, {self.engine}, {'store' if self.stored else 'memory'}"


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    setting: Setting
    late: float
    """Seconds after the budget."""
    rounds: int
    """Folds that all learners finished."""
    decided: bool
    said: str


def settings() -> Iterator[Setting]:
    """Twelve of them, and some more."""
    learners = ("quick", "slow", "hangs", "unpicklable")
    for learner, engine in itertools.product(learners, ("serial", "processes")):
        yield Setting(learner, engine, stored=False)
    for learner in learners:
        yield Setting(learner, "auto", stored=True)


def run(setting: Setting, *, budget: float, slow: float, plan: str) -> Outcome:
    """A run of more work than the budget allows."""
    import bestofk as bk

    odd = {
        "quick": Napping(nap=0.0),
        "slow": Napping(nap=slow),
        "hangs": Spinning(nap=600.0),
        "unpicklable": Held(nap=slow),
    }[setting.learner]
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 3)), np.tile(["a", "b"], 30)
    said, study = "", None
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
            said = str(refused)
        late = time.monotonic() - begin - budget
    rounds = 0 if study is None else study.losses.design.runs * study.losses.design.folds
    decided = study is not None and study.decision is not None
    return Outcome(setting=setting, late=late, rounds=rounds, decided=decided, said=said)


def main() -> None:
    for setting in settings():
        found = run(setting, budget=8.0, slow=0.5, plan="2000x5")
        print(
            f"{setting}: {found.late:+.2f} s, {found.rounds} folds, "
            f"{'decided' if found.decided else found.said}",
            flush=True,
        )
        assert found.late < LATE, setting
        assert found.decided == (found.rounds > 0), setting
        assert found.decided or "--budget" in found.said, setting


if __name__ == "__main__":
    main()
