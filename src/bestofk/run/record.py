"""The record of a study: what a store can hold of it, and what determines its cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.run.cells import Cell
from bestofk.splits.design import Design


def now() -> str:
    """Return the time as text, for the reader only."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerRecord:
    """A learner of a study."""

    name: str
    fingerprint: str
    """The digest of its class and settings and, if there is a store, a dash and that of its code.
    Seeds depend on the first part alone, so that editing the code does not change them."""
    settings: str
    """The estimator as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRecord:
    """A data set of a study, with its splits."""

    name: str
    fingerprint: str
    rows: int
    columns: int
    splits: tuple[tuple[int, int | None, str], ...]
    """Run, fold and name; the fold is None if one name covers all folds of the run. A name holds
    the random state, the digest of the rows (longer plans begin with the same runs) and, if there
    is a store, that of how predictions are computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecision:
    """The settings of a decision about a study, and notes for the reader.

    - `options`: What `bestofk.decide.Settings.to_dict` wrote.
    - `created`: Time in UTC and ISO 8601, for the reader only.
    - `command`: Arguments of the command line, if there was one, with passwords hidden.
    - `fits`: Number of fits that the decision used, if some were missing.
    - `notes`: The reason, in sentences.
    - `race`: The rule for stopping before the end of the plan, if there was one.
    - `by_dataset`: If each data set was decided by itself, its preference by data set.
    """

    options: dict[str, Any]
    created: str = ""
    command: tuple[str, ...] = ()
    fits: int | None = None
    notes: tuple[str, ...] = ()
    race: dict[str, Any] | None = None
    by_dataset: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        command = tuple(self.command)
        if command:
            from bestofk.run.store.url import hide_passwords

            command = tuple(map(hide_passwords, command))
        object.__setattr__(self, "command", command)
        object.__setattr__(self, "notes", tuple(self.notes))


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """What a store can hold of a study, sufficient to find and name its cells.

    The cells are ordered by data set, run, fold, repetition and learner. Nested runs, of two folds
    each, follow the others.
    """

    title: str
    learners: tuple[LearnerRecord, ...]
    datasets: tuple[DataRecord, ...]
    plan: str
    design: Design
    """The design of the splits of the first data set; all have the same runs and folds."""
    metrics: tuple[str, ...]
    """The names of the metrics; the first one decides."""
    metric_keys: tuple[str, ...]
    """The names of their scores in a store, which cover their code."""
    repetitions: int
    random_state: int
    versions: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Notes on the learners and splits."""
    taken: tuple[str, ...] = ()
    """What is predicted, and what was assumed about columns and rows."""
    decisions: tuple[StoredDecision, ...] = ()
    """The decisions about the study, newest last."""
    preparation: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Preparation of the rows inside the folds, by data set and learner."""
    designs: tuple[Design, ...] = ()
    """The designs of the splits of all data sets, if there are several."""
    plain: dict[str, Any] = field(default_factory=dict)
    """Options of `Execution` that made the splits plain random ones, for the reader only."""
    number: int = 0
    """Its number in a store."""
    created: str = ""
    """Time in UTC and ISO 8601, for the reader only."""

    @property
    def command(self) -> tuple[str, ...]:
        """Arguments of the command line of the last decision, if there was one."""
        return self.decisions[-1].command if self.decisions else ()

    @property
    def metric(self) -> str:
        """The name of the metric that decides."""
        return self.metrics[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the learners."""
        return tuple(learner.name for learner in self.learners)

    def on(self, dataset: int) -> StudyRecord:
        """Return the record of one data set as that of a study of its own, without notes."""
        data = self.datasets[dataset]
        return replace(
            self, title=data.name, datasets=(data,), designs=(), notes=(), taken=(), decisions=(),
            design=self.designs[dataset] if self.designs else self.design,
            preparation={name: one for name, one in self.preparation.items() if name == data.name},
        )  # fmt: skip

    # cells and their positions

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """Numbers of data sets, splits, repetitions and learners."""
        return len(self.datasets), self.splits_before(None), self.repetitions, len(self.learners)

    def splits_before(self, run: int | None) -> int:
        """Return the number of splits of a data set before a run; None stands for the end."""
        design = self.design
        run = design.runs + design.nested_runs if run is None else run
        return design.folds * min(run, design.runs) + 2 * max(0, run - design.runs)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    def position(self, cell: Cell) -> int:
        """Return the position of a cell."""
        split = self.splits_before(cell.run) + cell.fold
        at: int = self._position(cell.dataset, split, cell.repetition, cell.learner)
        return at

    def _position(self, dataset: Any, split: Any, repetition: Any, learner: Any) -> Any:
        """Return the position of a cell, or those of several that are given as arrays."""
        _, splits, repetitions, learners = self.shape
        return ((dataset * splits + split) * repetitions + repetition) * learners + learner

    def positions(
        self, datasets: Any, runs: Any, folds: Any, repetitions: Any, learners: Any
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the positions of cells that are given as arrays, and which of them exist."""
        design = self.design
        nested = np.maximum(runs - design.runs, 0)
        splits = design.folds * np.minimum(runs, design.runs) + 2 * nested + folds
        planned = (runs >= 0) & (runs < design.runs + design.nested_runs) & (folds >= 0)
        planned &= folds < np.where(runs < design.runs, design.folds, 2)
        planned &= (repetitions >= 0) & (repetitions < self.repetitions)
        return self._position(datasets, splits, repetitions, learners), planned

    def cell_at(self, position: int) -> Cell:
        """Return the cell at a position."""
        _, splits, repetitions, learners = self.shape
        rest, learner = divmod(position, learners)
        rest, repetition = divmod(rest, repetitions)
        dataset, split = divmod(rest, splits)
        runs, folds = self.design.runs, self.design.folds
        if split < runs * folds:
            run, fold = divmod(split, folds)
        else:
            run, fold = divmod(split - runs * folds, 2)
            run += runs
        return Cell(learner=learner, dataset=dataset, run=run, fold=fold, repetition=repetition)

    def cells(self) -> Iterator[Cell]:
        """Yield every cell: all learners of a fold before the next fold."""
        return map(self.cell_at, range(self.n_cells))

    # what determines the result of a cell

    @cached_property
    def _split_names(self) -> dict[tuple[int, int, int | None], str]:
        return {
            (dataset, run, fold): name
            for dataset, data in enumerate(self.datasets)
            for run, fold, name in data.splits
        }

    def inputs(self, cell: Cell) -> tuple[str, str, str]:
        """Return the fingerprints of the data set and the learner, and the name of the split."""
        names, at = self._split_names, (cell.dataset, cell.run)
        return (
            self.datasets[cell.dataset].fingerprint,
            self.learners[cell.learner].fingerprint,
            names.get((*at, None)) or names.get((*at, cell.fold), ""),
        )

    def key(self, cell: Cell) -> str:
        """Return the digest of everything that a cell depends on, 32 hexadecimal digits.

        The metrics are not part of it: one fit has a score by each.
        """
        text = f"{self.inputs(cell)!r} {cell.run} {cell.fold} {cell.repetition}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def seed(self, cell: Cell) -> int:
        """Return the learner's seed in a cell, 32 bits that depend on the key without code."""
        dataset, learner, split = self.inputs(cell)
        rows = ":".join(split.split(":")[:2])
        names = f"{dataset}|{learner.partition('-')[0]}|{rows}|{cell.run}|{cell.fold}"
        digest = hashlib.sha256(f"{names}|{cell.repetition}".encode()).digest()
        entropy = [self.random_state, *np.frombuffer(digest, dtype="<u4").tolist()]
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])

    @property
    def digest(self) -> str:
        """Digest of the work, without title, versions and decisions."""
        work = asdict(replace(self, decisions=(), preparation={}, designs=()))
        work = {name: value for name, value in work.items() if name in _WORK}
        work["design"] = self.design.kind, self.design.runs, self.design.folds
        for learner in work["learners"]:
            del learner["settings"]  # the fingerprint covers them, without memory addresses
        return hashlib.sha256(_dump(work).encode()).hexdigest()[:32]

    # text

    def as_json(self) -> str:
        """Return the record as ASCII text for `from_json`, without its number and time."""
        values = asdict(self)
        del values["number"], values["created"]
        return _dump(values)

    @classmethod
    def from_json(cls, text: str) -> StudyRecord:
        """Return the record that `as_json` wrote; raise an error if it is damaged."""
        values = _read(json.loads(text))
        values["learners"] = tuple(LearnerRecord(**_read(one)) for one in values["learners"])
        values["datasets"] = tuple(DataRecord(**_read(one)) for one in values["datasets"])
        values["decisions"] = tuple(StoredDecision(**_read(one)) for one in values["decisions"])
        values["design"] = Design(**_read(values["design"]))
        values["designs"] = tuple(Design(**_read(one)) for one in values["designs"])
        return cls(**values)

    def merged_into(self, stored: StudyRecord) -> StudyRecord:
        """Return what a store keeps if the same work is registered again.

        The stored title and versions stay. New decisions come last and replace stored
        ones with the same settings.
        """
        settings = [(one.options, one.race, one.by_dataset) for one in self.decisions]
        earlier = [
            one
            for one in stored.decisions
            if (one.options, one.race, one.by_dataset) not in settings
        ]
        return replace(stored, decisions=(*earlier, *self.decisions))


_WORK = (
    "learners", "datasets", "plan", "metrics", "metric_keys", "repetitions", "random_state",
)  # fmt: skip
"""Fields that determine the cells."""


def _read(values: Any) -> dict[str, Any]:
    """Return the fields of a record, with tuples for the lists that JSON has instead."""
    return {name: _tuples(value) for name, value in values.items()}


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
