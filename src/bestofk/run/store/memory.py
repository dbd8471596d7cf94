"""A store in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bestofk._base.errors import StoreError
from bestofk.run.cells import CellBatch, CellKey, CellResult, supersedes
from bestofk.run.store.store import Store, check_results
from bestofk.run.store.stored_study import CellGroup, StoredStudy, StudySpec, now

if TYPE_CHECKING:
    from bestofk.run.store.payloads import Payload


class MemoryStore(Store):
    """A store that lasts as long as its process."""

    def __init__(self) -> None:
        self._results: dict[str, CellResult] = {}
        self._payloads: dict[tuple[str, str], Payload] = {}
        self._studies: list[StoredStudy] = []
        self._closed = False
        self._lock = threading.Lock()

    @property
    def shown_url(self) -> str:
        return "memory"

    def get(
        self,
        keys: Sequence[CellKey],
        *,
        predictions: bool = True,  # noqa: ARG002  (they are in memory anyway)
    ) -> dict[str, CellResult]:
        self._check()
        digests = (key.digest for key in keys)
        return {digest: self._results[digest] for digest in digests if digest in self._results}

    def batches(self, digests: Sequence[str], *, predictions: bool) -> Iterator[CellBatch]:  # noqa: ARG002
        self._check()
        yield CellBatch.of([self._results[each] for each in digests if each in self._results])

    def put(self, results: Iterable[CellResult]) -> None:
        self._check()
        with self._lock:
            for result in check_results(results):
                known = self._results.get(result.key.digest)
                if known is None or supersedes(result, known):
                    self._results[result.key.digest] = result

    def get_payloads(self, digests: Sequence[str], *, name: str) -> dict[str, bytes]:
        self._check()
        return {
            digest: self._payloads[digest, name].data
            for digest in digests
            if (digest, name) in self._payloads
        }

    def put_payloads(self, payloads: Iterable[Payload]) -> None:
        self._check()
        with self._lock:
            for payload in payloads:
                self._payloads.setdefault(payload.key, payload)

    def n_payloads(self) -> int:
        self._check()
        return len(self._payloads)

    def flush(self) -> None:
        self._check()

    def close(self) -> None:
        self._closed = True

    def register(self, spec: StudySpec) -> int:
        self._check()
        with self._lock:
            for index, study in enumerate(self._studies):
                if study.spec.digest == spec.digest:
                    merged = spec.merged_into(study.spec)
                    self._studies[index] = replace(study, spec=merged)
                    return study.id
            number = len(self._studies) + 1
            self._studies.append(StoredStudy(id=number, created=now(), spec=spec))
            return number

    def studies(self) -> tuple[StoredStudy, ...]:
        self._check()
        return tuple(self._studies)

    def n_cells(self) -> int:
        self._check()
        return len(self._results)

    def _groups(self, spec: StudySpec) -> list[CellGroup]:
        by_fold = any(fold is not None for data in spec.datasets for _, fold, _ in data.splits)
        return [
            CellGroup(
                dataset=result.key.dataset,
                learner=result.key.learner,
                splits=result.key.splits,
                run=result.key.run,
                fold=result.key.fold if by_fold else None,
                kind=None if result.failure is None else result.failure.kind,
                reason=None if result.failure is None else result.failure.reason,
                count=1,
                seconds=(result.fit_time or 0.0) + (result.predict_time or 0.0),
            )
            for result in self._cells_of(spec)
        ]

    def _cells_of(self, spec: StudySpec) -> Iterator[CellResult]:
        self._check()
        datasets = {data.fingerprint for data in spec.datasets}
        learners = {learner.fingerprint for learner in spec.learners}
        for result in list(self._results.values()):
            key = result.key
            if (
                key.dataset in datasets
                and key.learner in learners
                and key.loss == spec.loss
                and key.repetition < spec.repetitions
            ):
                yield result

    def _batches_of(self, spec: StudySpec) -> Iterator[CellBatch]:
        yield CellBatch.of(list(self._cells_of(spec)))

    def _check(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")
