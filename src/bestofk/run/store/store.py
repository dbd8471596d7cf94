"""The store of cells and payloads: what is done is kept, and is never done again.

Every store keeps the same promises. A cell is found by its key alone, comes back to the bit, and
is shared by all studies that need it. A result that was committed stays, whatever happens to the
process; at most half a second of results waits for its commit. Several processes may fill one
store at the same time. A failure gives way to what came later, a loss never changes.
Work that is no cell of a comparison (the lab's, the papers') is kept as payloads.
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
from bestofk.run.experiment import Experiment
from bestofk.run.store.payloads import Payload
from bestofk.run.store.stored_study import (
    CellGroup,
    StoredStudy,
    StudySpec,
    Tally,
    splits_of,
    study_of,
    tally,
)
from bestofk.run.store.url import parse_address

if TYPE_CHECKING:
    from typing import Self

    from bestofk.run.store.claims import Claims

BUSY_TIMEOUT = 30.0
"""Seconds to wait for another process that writes."""
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
    """Open a store, and create or migrate it where that is needed.

    Parameters
    ----------
    store : path, URL or None
        None: memory. A path or ``"sqlite:///x.db"``: an SQLite file.
        ``"postgresql+psycopg://user:password@host/database"``: tables in that database.
    create : bool
        Whether a store that is not there is made.
    read_only : bool
        Nothing is written: neither cells nor a migration; implies ``create=False``.
    busy_timeout : float
        Seconds to wait for a lock that another process holds.
    patience : float
        Seconds to wait for a server that was there and went away, as in a restart.

    Returns
    -------
    Store
        A context manager that writes what waits when it is left.

    Raises
    ------
    StoreError
        The file is foreign, damaged, of a later version, or cannot be read or written; a foreign
        or damaged file is not touched.
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
    """Cells and studies; see the module for what every store promises."""

    @property
    @abstractmethod
    def shown_url(self) -> str:
        """Where the store is, without its password."""

    @abstractmethod
    def get(
        self, keys: Sequence[CellKey], *, retry_failures: bool = False, predictions: bool = True
    ) -> dict[str, CellResult]:
        """What the store holds of `keys`, by their digests.

        With `retry_failures` the cells that failed are left out, as if they had never run;
        without `predictions` those are not fetched.
        """

    @abstractmethod
    def batches(self, digests: Sequence[str], *, predictions: bool) -> Iterator[CellBatch]:
        """The same in columns, some cells at a time; what is damaged is left out and told."""

    @abstractmethod
    def put(self, results: Iterable[CellResult]) -> None:
        """Keep `results`; they are committed within half a second."""

    @abstractmethod
    def get_payloads(self, digests: Sequence[str], *, name: str) -> dict[str, bytes]:
        """The data called `name` that the store holds under `digests`."""

    @abstractmethod
    def put_payloads(self, payloads: Iterable[Payload]) -> None:
        """Keep `payloads`; they are committed within half a second, and never change."""

    @abstractmethod
    def n_payloads(self) -> int:
        """Number of payloads."""

    @abstractmethod
    def flush(self) -> None:
        """Commit what waits."""

    @abstractmethod
    def close(self) -> None:
        """Commit what waits, and let go of the store."""

    def register(
        self, study: StudySpec | Experiment, *, title: str = "", command: Sequence[str] = ()
    ) -> int:
        """The number of the study; the same work keeps its number.

        `title` and `command` are for an experiment; a specification holds its own.
        """
        if isinstance(study, Experiment):
            study = study_of(study, title=title, command=command)
        return self._register(study)

    @abstractmethod
    def _register(self, spec: StudySpec) -> int:
        """The number of the study with that digest."""

    @abstractmethod
    def studies(self) -> tuple[StoredStudy, ...]:
        """All studies, in the order in which they came."""

    @abstractmethod
    def n_cells(self) -> int:
        """Number of cells of all studies."""

    @abstractmethod
    def _groups(self, spec: StudySpec) -> list[CellGroup]:
        """Cells of the names of a study, counted."""

    @abstractmethod
    def _candidates(self, spec: StudySpec) -> Iterator[CellResult]:
        """Cells of the names of a study, whatever their splits, without predictions."""

    @abstractmethod
    def _batches_of(self, spec: StudySpec) -> Iterator[CellBatch]:
        """The same in columns."""

    def claims(self) -> Claims | None:
        """Claims of this process on the work of others; None where no other can be."""
        return None

    def study(self, number: int) -> StoredStudy:
        """The study of that number."""
        for study in self.studies():
            if study.id == number:
                return study
        known = [str(study.id) for study in self.studies()]
        if not known:
            raise StoreError(f"{self.shown_url}: the store holds no studies.")
        raise UnknownNameError("study", str(number), known)

    def tally(self, spec: StudySpec) -> Tally:
        """How far a study has come."""
        return tally(spec, self._groups(spec))

    def cells_of(self, spec: StudySpec) -> Iterator[tuple[int, int, CellResult]]:
        """The cells of a study with the positions of their learner and data set.

        In no certain order; a cell that two names of the study share comes for both.
        """
        sets = splits_of(spec)
        learners: dict[str, list[int]] = {}
        for place, learner in enumerate(spec.learners):
            learners.setdefault(learner.fingerprint, []).append(place)
        for result in self._candidates(spec):
            key = result.key
            at = (key.dataset, key.splits, key.run)
            for dataset in (*sets.get((*at, None), ()), *sets.get((*at, key.fold), ())):
                for learner_place in learners.get(key.learner, ()):
                    yield learner_place, dataset, result

    def batches_of(self, spec: StudySpec) -> Iterator[tuple[CellBatch, list[tuple[int, int, int]]]]:
        """The same in columns: batches, with (row, data set, learner) of what is the study's."""
        sets = splits_of(spec)
        learners: dict[str, list[int]] = {}
        for place, learner in enumerate(spec.learners):
            learners.setdefault(learner.fingerprint, []).append(place)
        for batch in self._batches_of(spec):
            found: list[tuple[int, int, int]] = []
            names = zip(batch.dataset, batch.splits, batch.run, batch.fold, strict=True)
            for row, (name, splits, run, fold) in enumerate(names):
                places = sets.get((name, splits, run, None)) or sets.get((name, splits, run, fold))
                for place in places or ():
                    found.extend((row, place, each) for each in learners[batch.learner[row]])
            yield batch, found

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
            # What ended the work is what the user must hear of.
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown_url!r})"


def check_results(results: Iterable[CellResult]) -> list[CellResult]:
    """`results` as a list; a loss that is no number is refused at the door."""
    checked = list(results)
    for result in checked:
        if not isinstance(result, CellResult):
            raise refuse("results", "cells", result)
        loss: Any = result.loss
        if loss is not None and math.isnan(loss):
            raise refuse("the loss of a cell", "a number, or a failure in its place", loss)
    return checked
