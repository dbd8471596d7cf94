"""Read a study from its store and decide as it was decided, or with other settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, StoreError
from bestofk.data.tables.limits import check_cells
from bestofk.decide.preference import preference_from_json
from bestofk.decide.result import Result
from bestofk.decide.settings import Settings, StoredTest, check_learners, with_changes
from bestofk.decide.stopping.rule import StopRule
from bestofk.run.cells import NUMBERS, CellTable
from bestofk.run.metrics import span_of
from bestofk.run.race import RaceOutcome, planned_race, race_cells
from bestofk.run.record import StoredDecision, StudyRecord
from bestofk.run.store.store import Store, open_store
from bestofk.run.study import Study, conclude

_BYTES_PER_STORED_CELL = 200
"""Approximate size of a result in a store."""


def open_study(
    store: str | os.PathLike[str],
    number: int | None = None,
    *,
    decision: int | Settings | None = None,
    **changes: Any,
) -> Result:
    """Open a study from its store, decided as it was when it was run.

    Run nothing, and change nothing in the store.

    Parameters
    ----------
    store : path or URL
        The store that ``bk.compare(..., store=...)`` wrote.
    number : int, optional
        Which study; by default the only one.
    decision : int or Settings, optional
        The number of a recorded decision, 1 the first, -1 the last (the default); or settings for
        another one.
    **changes
        Options of `compare_scores` to change, such as ``alpha=0.01`` or ``prefer="fit_time"``.
        Options that do not fit the new rule, test or family are left out.

    Returns
    -------
    Result

    Notes
    -----
    A store keeps only the name of a test that you wrote yourself: pass the function again with
    ``test=``.

    Examples
    --------
    >>> import tempfile, bestofk as bk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/study.db"
    ...     study = bk.compare(["max", "nmc"], "iris", cv="5x2", store=store,
    ...                        prefer="listed", progress=False)
    ...     again = bk.open_study(store)
    ...     strict = bk.open_study(store, alpha=0.001)
    >>> again.explain() == study.explain(), strict.settings.alpha
    (True, 0.001)
    """
    with open_store(store, read_only=True) as source:
        record = source.study(number)
        cells = stored_cells(source, record)
        return Result(decided_study(cells, source.shown_url, decision=decision, **changes))


def _recorded(decisions: Sequence[StoredDecision], number: int) -> StoredDecision:
    if isinstance(number, bool) or not isinstance(number, int):
        raise refuse("decision", "the number of a decision, or Settings", number)
    index = number - 1 if number > 0 else len(decisions) + number
    if number == 0 or not 0 <= index < len(decisions):
        raise refuse("decision", f"a number from 1 to {len(decisions)}, or -1", number)
    return decisions[index]


def decided_study(
    table: CellTable, where: str, *, decision: int | Settings | None = None, **changes: Any
) -> Study:
    """Return a study from its stored cells, decided like `open_study`; `where` is its store."""
    record = table.record
    stored: StoredDecision | None = None
    if isinstance(decision, Settings):
        first = decision
    elif not record.decisions:
        raise ArgumentError(
            f"{where} holds no decision about this study: pass decision=Settings()."
        )
    else:
        stored = _recorded(record.decisions, -1 if decision is None else decision)
        first = Settings.from_dict(stored.options)
    test = changes.get("test")
    if callable(test) and StoredTest.of(test) == first.test:
        first = replace(first, test=test)
    settings = with_changes(first, **changes)
    check_learners(settings, record.names)
    # the stop rule of a recorded decision applies to others, too; its notes and command do not
    race = None if stored is None else stored.race
    by_dataset = {
        name: settings
        if "prefer" in changes
        else replace(settings, prefer=preference_from_json(prefer))
        for name, prefer in (stored.by_dataset if stored else {}).items()
    }
    if settings != first:
        stored = None
    record = replace(record, decisions=() if stored is None else (stored,))
    if not len(table):
        raise StoreError(f"{where}: nothing of {record.title!r} was evaluated yet.")
    if record.design.kind == "holdout" and (by_dataset or len(record.datasets) == 1):
        raise StoreError(
            f"{where}: {record.title!r} was tested on one test set, and a store keeps no true "
            "answers to test with: run the same comparison again with --report."
        )
    table = table.of(record)
    outcome = None if race is None else _raced(table, settings, race)
    stopped = outcome is not None and not outcome.whole
    notes = () if stopped else _notes(record, stored, len(table))
    return conclude(
        table, settings, outcome=outcome, by_dataset=by_dataset, notes=notes, store=where
    )


def stored_cells(store: Store, record: StudyRecord) -> CellTable:
    """Return the stored cells of a study."""
    check_cells(
        store.shown_url,
        file_size=_BYTES_PER_STORED_CELL * store.n_cells(),
        rows=record.n_cells,
        columns=len(NUMBERS) + len(record.metric_keys),
        bytes_per_cell=8,
    )
    table = CellTable(record)
    table.read(store)
    return table


def _raced(table: CellTable, settings: Settings, race: Mapping[str, Any]) -> RaceOutcome | None:
    """Return the outcome of a race over the stored cells; None if they cannot be one."""
    record = table.record
    try:
        planned = planned_race(
            record.names, record.design, settings, StopRule(**race), datasets=len(record.datasets),
            span=span_of(record.metric),
        )  # fmt: skip
    except ArgumentError:
        # other settings may not allow early stopping
        return None
    return race_cells(planned, record, settings, lambda cells: filter(None, map(table.get, cells)))


def _notes(record: StudyRecord, stored: StoredDecision | None, done: int) -> tuple[str, ...]:
    if done == record.n_cells:
        return ()
    if stored is not None and stored.fits == done:
        return stored.notes
    missing = record.n_cells - done
    are = "is" if missing == 1 else "are"
    return (
        f"The study is not finished: {missing} of {record.n_cells} fits {are} still to be made.",
    )
