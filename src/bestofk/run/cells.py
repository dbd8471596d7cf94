"""Keys, results and failures of cells; a cell is one fit and its score."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from bestofk._base.formatting import without_controls

FailureKind = Literal[
    "raised",
    "timeout",
    "killed",
    "memory",
    "missing",
    "nan",
    "shape",
    "unknown-class",
    "cannot-score",
]
FAILURE_KINDS: tuple[str, ...] = get_args(FailureKind)


@dataclass(frozen=True, kw_only=True)
class CellKey:
    """The key of a cell: everything that its result depends on.

    `dataset` and `learner` are fingerprints. `splits` holds the seed, the fingerprint of the rows
    (longer plans begin with the same runs) and that of the way of evaluation. The metrics are not
    part of it: one fit has a score by each.
    """

    dataset: str
    learner: str
    splits: str
    run: int
    fold: int
    repetition: int

    @cached_property
    def digest(self) -> str:
        """The cell's identifier of 32 hexadecimal digits."""
        names = (self.dataset, self.learner, self.splits)
        text = f"{names!r} {self.run} {self.fold} {self.repetition}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def seed(self, random_state: int) -> int:
        """Return the learner's seed in this cell, 32 bits that depend only on the key.

        Code is excluded, so that editing a learner does not change its seed.
        """
        learner = self.learner.partition("-")[0]
        rows = ":".join(self.splits.split(":")[:2])
        names = f"{self.dataset}|{learner}|{rows}|{self.run}|{self.fold}"
        digest = hashlib.sha256(f"{names}|{self.repetition}".encode()).digest()
        entropy = [random_state, *np.frombuffer(digest, dtype="<u4").tolist()]
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The reason why a cell has no score."""

    kind: str
    """One of `FAILURE_KINDS`."""
    reason: str
    """One sentence."""
    detail: str = ""
    """The time limit in seconds of a timeout, or the name of the missing package."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", without_controls(self.reason))

    def explain(self) -> str:
        """Return the reason with its kind."""
        return f"{self.kind}: {self.reason}"

    def may_pass_now(self, *, timeout: float | None = None) -> bool:
        """Return whether the cell is worth another try, if a fit may take `timeout` seconds now.

        Retry a cell whose process was killed or ran out of memory, a timeout if more time is
        allowed now, and a missing package that is installed now. Errors and invalid predictions
        of a learner would repeat.

        Examples
        --------
        >>> slow = Failure(kind="timeout", reason="took longer than 2 s.", detail="2.0")
        >>> slow.may_pass_now(timeout=2.0), slow.may_pass_now(timeout=60.0), slow.may_pass_now()
        (False, True, True)
        """
        if self.kind == "timeout":
            return timeout is None or not self.detail or timeout > float(self.detail)
        if self.kind == "missing":
            return not self.detail or _is_installed(self.detail)
        return self.kind in ("killed", "memory")


def missing(raised: ImportError) -> str:
    """Return the name of the package that a cell lacks, if it is known."""
    return (raised.name or "").partition(".")[0]


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        # loaded without a spec, or the name is invalid
        return True


Score = float | Failure
"""The value of a metric, as a loss, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """The result of one cell: a score by every metric of the study, with times and sizes."""

    key: CellKey
    scores: tuple[Score, ...]
    """In the order of the metrics; the first one decides."""
    fit_time: float | None = None
    """Seconds of one fit; for cells of a whole-plan evaluation, of one fit made to measure it."""
    predict_time: float | None = None
    size: int | None = None
    """Bytes of the pickled model."""
    n_train: int | None = None
    n_test: int | None = None
    warnings: tuple[str, ...] = ()
    predictions: bytes | None = None
    """Predictions of the test rows, if requested."""

    @property
    def loss(self) -> float | None:
        """The loss by the deciding metric; None if that failed."""
        first = self.scores[0]
        return None if isinstance(first, Failure) else first

    @property
    def failure(self) -> Failure | None:
        """Why there is no loss by the deciding metric."""
        first = self.scores[0]
        return first if isinstance(first, Failure) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBatch:
    """Many stored cells, column by column; None if a cell lacks a number."""

    digest: Sequence[str]
    dataset: Sequence[str]
    learner: Sequence[str]
    splits: Sequence[str]
    run: Sequence[int]
    fold: Sequence[int]
    repetition: Sequence[int]
    fit_time: Sequence[float | None]
    predict_time: Sequence[float | None]
    size: Sequence[int | None]
    n_train: Sequence[int | None]
    n_test: Sequence[int | None]
    scores: Sequence[Sequence[Score]]
    """By metric, and then by cell."""
    warnings: Mapping[int, tuple[str, ...]]
    """By the position of the cell, like the next field."""
    predictions: Mapping[int, bytes]

    def result(self, row: int, key: CellKey) -> CellResult:
        """Return the result of one of the cells."""
        return CellResult(
            key=key,
            scores=tuple([column[row] for column in self.scores]),
            fit_time=self.fit_time[row],
            predict_time=self.predict_time[row],
            size=self.size[row],
            n_train=self.n_train[row],
            n_test=self.n_test[row],
            warnings=self.warnings.get(row, ()),
            predictions=self.predictions.get(row),
        )
