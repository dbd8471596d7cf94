"""The cell: one learner, data set, run, fold and repetition, and what came of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

FailureKind = Literal[
    "raised", "timeout", "killed", "memory", "nan", "shape", "unknown-class", "cannot-score"
]
FAILURE_KINDS: tuple[str, ...] = get_args(FailureKind)


@dataclass(frozen=True, kw_only=True)
class CellKey:
    """The names that a cell is a pure function of.

    `dataset` and `learner` are fingerprints, `splits` is the fingerprint of the plan without its
    number of runs (the first runs of a longer plan are the same), `loss` the name of the loss.
    """

    dataset: str
    learner: str
    splits: str
    loss: str
    run: int
    fold: int
    repetition: int

    @cached_property
    def digest(self) -> str:
        """A short name of the cell: 32 hexadecimal digits."""
        parts = (self.dataset, self.learner, self.splits, self.loss)
        text = f"{parts!r} {self.run} {self.fold} {self.repetition}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def seed(self, random_state: int) -> int:
        """The learner's seed in this cell: 32 bits from the names alone.

        The loss is left out, so that two losses judge the same model.
        """
        names = f"{self.dataset}|{self.learner}|{self.splits}|{self.run}|{self.fold}"
        digest = hashlib.sha256(f"{names}|{self.repetition}".encode()).digest()
        entropy = [random_state, *np.frombuffer(digest, dtype="<u4").tolist()]
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a cell has no loss: a value, never a number."""

    kind: str
    """One of `FAILURE_KINDS`."""
    reason: str
    """One sentence."""

    def explain(self) -> str:
        """The reason with its kind."""
        return f"{self.kind}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """What came of one cell: a loss or a failure, and what it cost."""

    key: CellKey
    loss: float | None
    failure: Failure | None = None
    fit_time: float | None = None
    """Seconds of one fit; for cells of a whole-plan evaluation, of one fit made to measure it."""
    predict_time: float | None = None
    size: int | None = None
    """Bytes of the pickled model."""
    n_train: int | None = None
    n_test: int | None = None
    warnings: tuple[str, ...] = ()
    predictions: bytes | None = None
    """Predictions of the test rows, where they were asked for."""
    also: tuple[CellResult, ...] = ()
    """What the same model came to by other losses, each under its own key."""

    def __post_init__(self) -> None:
        if (self.loss is None) == (self.failure is None):
            raise ValueError("a cell has either a loss or a failure")
