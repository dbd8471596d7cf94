"""Stores of cells and payloads, so that nothing is computed twice.

Every store keeps the same promises. A cell is found by its key alone, keeps all its bits, and is
shared by all studies that need it. A committed result survives the end of the process, and results
wait at most half a second for their commit. Several processes can fill one store at the same time.
A later result replaces a failure, but a loss never changes. Results other than cells (of
simulations and reproductions) are stored as payloads.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from bestofk._base.checks import positive, refuse
from bestofk._base.errors import StoreError, UnknownNameError
from bestofk.run.cells import CellBatch, CellKey, CellResult
from bestofk.run.store.stored_study import (
    CellGroup,
    StoredStudy,
    StudySpec,
    Tally,
    splits_of,
    tally,
)
from bestofk.run.store.url import parse_address

if TYPE_CHECKING:
    from typing import Self

    from bestofk.run.store.claims import Claims
    from bestofk.run.store.payloads import Payload

BUSY_TIMEOUT = 30.0
"""Seconds to wait for a lock of another process."""
PATIENCE = 60.0
"""Seconds to wait for a server that went away."""


def open_store(
    store: str | os.PathLike[str] | None = None,
    *,
    create: bool = True,
    read_only: bool = False,
    busy_timeout: float = BUSY_TIMEOUT,
    patience: float = PATIENCE,
) -> Store:
    """Open a store, or create it.

    - `store`: None means memory. A path or ``"sqlite:///x.db"`` names an SQLite file.
      ``"postgresql+psycopg://user:password@host/database"`` names a PostgreSQL database.
    - `create`: Whether to create a store that does not exist.
    - `read_only`: Open for reading only; implies ``create=False``.
    - `busy_timeout`: Seconds to wait for a lock of another process.
    - `patience`: Seconds to wait for a server that goes away after the store was opened, as in a
      restart.

    - Returns: A context manager that writes waiting results at the end.

    Raises
    ------
    StoreError
        The file is foreign, damaged, of another schema version, or cannot be read or written. A
        foreign or damaged file is not changed.
    MissingExtraError
        The driver of the server is not installed.

    Examples
    --------
    >>> from bestofk.run.cells import CellBatch, CellKey, CellResult
    >>> key = CellKey(
    ...     dataset="d0", learner="a1", splits="0:s", loss="zero-one", run=0, fold=3, repetition=0
    ... )
    >>> with open_store() as store:
    ...     store.put([CellResult(key=key, loss=0.25)])
    ...     store.get([key])[key.digest].loss
    0.25
    """
    address = parse_address(store)
    positive(busy_timeout, "busy_timeout")
    if not isinstance(patience, int | float) or not patience >= 0:
        raise refuse("patience", "a number of seconds, at least 0", patience)
    if address.kind == "memory":
        from bestofk.run.store.memory import MemoryStore

        return MemoryStore()
    from bestofk.run.store.database_store import open_database

    return open_database(
        address,
        create=create and not read_only,
        read_only=read_only,
        busy_timeout=float(busy_timeout),
        patience=float(patience),
    )


class Store(ABC):
    """Cells, payloads and studies; see the module for the promises of every store."""

    @property
    @abstractmethod
    def shown_url(self) -> str:
        """The address of the store without its password."""

    @abstractmethod
    def get(self, keys: Sequence[CellKey], *, predictions: bool = True) -> dict[str, CellResult]:
        """Return the stored results of `keys` by digest, with or without their predictions."""

    @abstractmethod
    def batches(self, digests: Sequence[str], *, predictions: bool) -> Iterator[CellBatch]:
        """Yield stored cells in columns; damaged cells are omitted with a warning."""

    @abstractmethod
    def put(self, results: Iterable[CellResult]) -> None:
        """Store `results`; they are committed within half a second."""

    @abstractmethod
    def get_payloads(self, digests: Sequence[str], *, name: str) -> dict[str, bytes]:
        """Return the data called `name` by digest."""

    @abstractmethod
    def put_payloads(self, payloads: Iterable[Payload]) -> None:
        """Store `payloads`; they are committed within half a second and never change."""

    @abstractmethod
    def n_payloads(self) -> int:
        """Return the number of payloads."""

    @abstractmethod
    def flush(self) -> None:
        """Commit all waiting results."""

    @abstractmethod
    def close(self) -> None:
        """Commit all waiting results and close the store."""

    @abstractmethod
    def register(self, spec: StudySpec) -> int:
        """Store a study, or merge it with a study of the same work, and return its number."""

    @abstractmethod
    def studies(self) -> tuple[StoredStudy, ...]:
        """Return all studies, oldest first."""

    @abstractmethod
    def n_cells(self) -> int:
        """Return the number of cells of all studies."""

    @abstractmethod
    def _groups(self, spec: StudySpec) -> list[CellGroup]:
        """Count the cells of a study's learners and data sets."""

    @abstractmethod
    def _batches_of(self, spec: StudySpec) -> Iterator[CellBatch]:
        """Yield the cells of a study's learners and data sets in columns, for all splits."""

    def claims(self) -> Claims | None:
        """Return the claims of this process; None if no other process can use the store."""
        return None

    def study(self, number: int) -> StoredStudy:
        """Return a study by its number."""
        for study in self.studies():
            if study.id == number:
                return study
        known = [str(study.id) for study in self.studies()]
        if not known:
            raise StoreError(f"{self.shown_url}: the store has no studies.")
        raise UnknownNameError("study", str(number), known)

    def tally(self, spec: StudySpec) -> Tally:
        """Count the finished and failed cells of a study."""
        return tally(spec, self._groups(spec))

    def batches_of(self, spec: StudySpec) -> Iterator[tuple[CellBatch, list[tuple[int, int, int]]]]:
        """Yield batches of cells, with (row, data set, learner) indices for the study's cells."""
        datasets, learners = splits_of(spec), _learner_indices(spec)
        for batch in self._batches_of(spec):
            indices: list[tuple[int, int, int]] = []
            names = zip(
                batch.dataset, batch.splits, batch.run, batch.fold, batch.learner, strict=True
            )
            for row, (name, splits, run, fold, learner) in enumerate(names):
                whole_run = datasets.get((name, splits, run, None))
                for dataset in whole_run or datasets.get((name, splits, run, fold)) or ():
                    for each in learners[learner]:  # faster than a generator
                        indices.append((row, dataset, each))  # noqa: PERF401
            yield batch, indices

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except StoreError:
            # do not hide the error that ended the work
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown_url!r})"


def _learner_indices(spec: StudySpec) -> dict[str, list[int]]:
    """Return the indices of the learners of a study by fingerprint."""
    indices: dict[str, list[int]] = {}
    for index, learner in enumerate(spec.learners):
        indices.setdefault(learner.fingerprint, []).append(index)
    return indices


def check_results(results: Iterable[CellResult]) -> list[CellResult]:
    """Return `results` as a list; refuse values that are not cells and losses that are NaN."""
    checked = list(results)
    for result in checked:
        if not isinstance(result, CellResult):
            raise refuse("results", "cells", result)
        loss: Any = result.loss
        if loss is not None and math.isnan(loss):
            raise refuse("the loss of a cell", "a number, or a failure in its place", loss)
    return checked
