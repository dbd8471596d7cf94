"""Keys, results and failures of cells; a cell is one fit and its score."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

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
    (longer plans begin with the same runs) and that of the way of evaluation. `loss` is the name
    of the loss.
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
        """The cell's identifier of 32 hexadecimal digits."""
        parts = (self.dataset, self.learner, self.splits, self.loss)
        text = f"{parts!r} {self.run} {self.fold} {self.repetition}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def seed(self, random_state: int) -> int:
        """Return the learner's seed in this cell, 32 bits that depend only on the key.

        The loss is excluded, so that two losses score the same model. Code is excluded too, so
        that editing a learner does not change its seed.
        """
        learner = self.learner.partition("-")[0]
        rows = ":".join(self.splits.split(":")[:2])
        names = f"{self.dataset}|{learner}|{rows}|{self.run}|{self.fold}"
        digest = hashlib.sha256(f"{names}|{self.repetition}".encode()).digest()
        entropy = [random_state, *np.frombuffer(digest, dtype="<u4").tolist()]
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The reason why a cell has no loss."""

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

    @property
    def code(self) -> str:
        """The kind with its detail, as a store keeps it; see `from_code`."""
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    @classmethod
    def from_code(cls, code: str, reason: str) -> Failure:
        """Return the failure that a store keeps under `code`."""
        kind, _, detail = code.partition(":")
        return cls(kind=kind, reason=reason, detail=detail)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """The result of one cell: a loss or a failure, with times and sizes."""

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
    """Predictions of the test rows, if requested."""
    also: tuple[CellResult, ...] = ()
    """Results of the same model under other losses, each with its own key."""

    def __post_init__(self) -> None:
        if (self.loss is None) == (self.failure is None):
            raise ValueError("a cell has either a loss or a failure")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellBatch:
    """Many cells, column by column; None if a cell lacks a number."""

    digest: Sequence[str]
    dataset: Sequence[str]
    learner: Sequence[str]
    splits: Sequence[str]
    run: Sequence[int]
    fold: Sequence[int]
    repetition: Sequence[int]
    loss: Sequence[float | None]
    fit_time: Sequence[float | None]
    predict_time: Sequence[float | None]
    size: Sequence[int | None]
    n_train: Sequence[int | None]
    n_test: Sequence[int | None]
    failures: Mapping[int, Failure] = field(default_factory=dict)
    """By the position of the cell, like the next two fields."""
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    predictions: Mapping[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[CellResult]) -> CellBatch:
        """Return the columns of results."""
        keys = ("digest", "dataset", "learner", "splits", "run", "fold", "repetition")
        numbers = ("loss", "fit_time", "predict_time", "size", "n_train", "n_test")
        columns = {name: [getattr(result.key, name) for result in results] for name in keys}
        columns |= {name: [getattr(result, name) for result in results] for name in numbers}
        return cls(
            **columns,
            failures={n: r.failure for n, r in enumerate(results) if r.failure is not None},
            warnings={n: r.warnings for n, r in enumerate(results) if r.warnings},
            predictions={
                n: r.predictions for n, r in enumerate(results) if r.predictions is not None
            },
        )

    def key(self, row: int, loss: str) -> CellKey:
        """Return the key of one of the cells."""
        return CellKey(
            dataset=self.dataset[row],
            learner=self.learner[row],
            splits=self.splits[row],
            loss=loss,
            run=self.run[row],
            fold=self.fold[row],
            repetition=self.repetition[row],
        )

    def result(self, row: int, key: CellKey) -> CellResult:
        """Return the result of one of the cells."""
        return CellResult(
            key=key,
            loss=self.loss[row],
            failure=self.failures.get(row),
            fit_time=self.fit_time[row],
            predict_time=self.predict_time[row],
            size=self.size[row],
            n_train=self.n_train[row],
            n_test=self.n_test[row],
            warnings=self.warnings.get(row, ()),
            predictions=self.predictions.get(row),
        )


class Digests:
    """The digests of many cells; shared parts of the keys are hashed once.

    Examples
    --------
    >>> key = CellKey(dataset="d", learner="l", splits="s", loss="x", run=1, fold=2, repetition=0)
    >>> Digests("x").of("d", "l", "s", 1, 2, 0) == key.digest
    True
    """

    def __init__(self, loss: str) -> None:
        self._loss = loss
        self._prefixes: dict[tuple[str, str, str], Any] = {}

    def of(
        self, dataset: str, learner: str, splits: str, run: int, fold: int, repetition: int
    ) -> str:
        """Return the same digest as `CellKey.digest`."""
        names = (dataset, learner, splits)
        prefix = self._prefixes.get(names)
        if prefix is None:
            prefix = hashlib.sha256(f"{(*names, self._loss)!r} ".encode())
            self._prefixes[names] = prefix
        hasher = prefix.copy()
        hasher.update(f"{run} {fold} {repetition}".encode())
        digest: str = hasher.hexdigest()[:32]
        return digest


def supersedes(new: CellResult, old: CellResult) -> bool:
    """Return whether `new` replaces the stored result of its cell.

    A later result replaces a failure. A loss is replaced only to add missing predictions.
    """
    if old.failure is not None:
        return True
    return new.failure is None and new.predictions is not None and old.predictions is None
