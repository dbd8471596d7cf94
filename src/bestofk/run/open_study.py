"""Read a study from its store and decide as it was decided, or with other settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from warnings import warn

from bestofk._base.checks import refuse
from bestofk._base.errors import (
    ArgumentError,
    BestOfKError,
    BestOfKWarning,
    StoreError,
    use,
)
from bestofk.data.tables.limits import check_cells
from bestofk.decide.settings import Settings, StoredTest
from bestofk.decide.stopping.rule import StopRule
from bestofk.run.cells import CellResult
from bestofk.run.conclude import conclude
from bestofk.run.experiment import CellIndex
from bestofk.run.metrics import span_of
from bestofk.run.race import conclude_race, planned_race, race_cells
from bestofk.run.results import COLUMNS, ResultTable, read_cells
from bestofk.run.store.store import Store, open_store
from bestofk.run.store.stored_study import StoredDecision, StudySpec, nested_runs_of
from bestofk.run.study import Study
from bestofk.splits.design import Design

MAX_LISTED_STUDIES = 12
"""Most study numbers that an error lists."""
_BYTES_PER_STORED_CELL = 200
"""Approximate size of a result in a store."""


def open_study(
    store: str | os.PathLike[str] | Store,
    number: int | None = None,
    *,
    decision: int | Settings | None = None,
    **changes: Any,
) -> Study:
    """Open a study from its store, decided as it was when it was run.

    Run nothing, and change nothing in the store.

    Parameters
    ----------
    store : path, URL or Store
        The store that ``bk.compare(..., store=...)`` wrote.
    number : int, optional
        Which study; by default the only one (repetitions over other splits do not count).
    decision : int or Settings, optional
        The number of a recorded decision, 1 the first, -1 the last (the default); or settings for
        another one.
    **changes
        Options of `compare_scores` to change, such as ``alpha=0.01`` or ``prefer="fit_time"``.
        Options that do not fit the new procedure, test or family are left out.

    Returns
    -------
    Study

    Notes
    -----
    A store keeps only the name and a fingerprint of a test that you wrote yourself: pass the
    function again with ``test=``.

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
    opened = nullcontext(store) if isinstance(store, Store) else open_store(store, read_only=True)
    with opened as source:
        spec = source.study(only_study(source) if number is None else number).spec
        return decided_study(
            spec, study_results(source, spec), source.shown_url, decision=decision, **changes
        )


def only_study(store: Store) -> int:
    """Return the number of the only study."""
    studies = store.studies()
    if len(studies) == 1:
        return studies[0].id
    if not studies:
        raise StoreError(f"{store.shown_url}: the store has no studies.")
    numbers = ", ".join(str(study.id) for study in studies[:MAX_LISTED_STUDIES])
    raise ArgumentError(
        f"{store.shown_url} holds {len(studies)} studies: give ",
        use(number=...),
        f", one of {numbers}; 'bestofk show' describes them.",
    )


def stored_settings(record: StoredDecision) -> Settings:
    """Return the settings of a recorded decision."""
    with _damage_refused():
        return Settings.from_dict(record.options)


@contextmanager
def _damage_refused() -> Iterator[None]:
    """Raise StoreError if fields of a recorded decision have wrong types or values."""
    try:
        yield
    except BestOfKError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        raise StoreError(
            "The recorded decision is damaged; its fits are safe, and the command that computed "
            "them finds them."
        ) from None


def _settings(
    spec: StudySpec, decision: int | Settings | None, changes: Mapping[str, Any], where: str
) -> tuple[Settings, StoredDecision | None, bool]:
    """Return the settings, their record, and whether the study was decided by them before."""
    names = tuple(learner.name for learner in spec.learners)
    record = None
    if isinstance(decision, Settings):
        first = decision
    elif not spec.decisions:
        raise ArgumentError(
            f"{where} holds no decision about this study: pass decision=Settings()."
        )
    else:
        record = _record(spec.decisions, -1 if decision is None else decision)
        first = stored_settings(record)
    if isinstance(first.test, StoredTest):
        first = _with_callers_test(first, first.test, changes)
    settings = first.changed(**changes)
    settings.check_learners(names)
    recorded = settings == first and not isinstance(decision, Settings)
    # the notes of a recorded decision do not apply to another one
    return settings, record if recorded else None, recorded


def _record(decisions: Sequence[StoredDecision], number: int) -> StoredDecision:
    if isinstance(number, bool) or not isinstance(number, int):
        raise refuse("decision", "the number of a decision, or Settings", number)
    index = number - 1 if number > 0 else len(decisions) + number
    if number == 0 or not 0 <= index < len(decisions):
        raise refuse("decision", f"a number from 1 to {len(decisions)}, or -1", number)
    return decisions[index]


def _with_callers_test(
    settings: Settings, stored: StoredTest, changes: Mapping[str, Any]
) -> Settings:
    """Return the settings with the caller's test if the caller passed it again."""
    test = changes.get("test")
    if test is None and "procedure" not in changes:
        raise ArgumentError(
            f"The study was decided by {stored.name}, a test of yours, and a store keeps its name "
            "alone: give the function again with ",
            use(test=...),
            ", or name another test.",
        )
    if not callable(test):
        return settings
    passed = StoredTest.of(test)
    if passed.name != stored.name:
        return settings
    if passed.fingerprint != stored.fingerprint:
        warn(
            f"test: the source of {stored.name} has changed since the study was decided.",
            BestOfKWarning,
            stacklevel=4,
        )
    return replace(settings, test=test)


def _stored_race(spec: StudySpec, decision: int | Settings | None) -> dict[str, Any] | None:
    """Return the recorded stop rule; it applies to other decisions about the study too."""
    if isinstance(decision, Settings) or not spec.decisions:
        return None
    return _record(spec.decisions, -1 if decision is None else decision).race


def decided_study(
    spec: StudySpec,
    results: ResultTable,
    where: str,
    *,
    decision: int | Settings | None = None,
    **changes: Any,
) -> Study:
    """Return a study from its stored results, decided like `open_study`; `where` is its store."""
    settings, record, recorded = _settings(spec, decision, changes, where)
    race = _stored_race(spec, decision)
    command = spec.command if record is None else record.command
    # a command line belongs to recorded decisions only
    spec = replace(spec, command=command if recorded else ())
    if not results:
        raise StoreError(f"{where}: nothing of {spec.title!r} was evaluated yet.")
    if spec.kind == "holdout" and len(spec.datasets) == 1:
        raise StoreError(
            f"{where}: {spec.title!r} was tested on one test set, and a store keeps no true "
            "answers to test with: run the same comparison again with --report."
        )
    design = _design(spec)

    def whole_plan() -> Study:
        return conclude(
            spec,
            results,
            design=design,
            settings=settings,
            notes=_notes(spec, record, len(results)),
            store=where,
        )

    return _raced(spec, results, design, settings, race, whole_plan, where)


def study_results(store: Store, spec: StudySpec) -> ResultTable:
    """Return the stored results of a study."""
    check_cells(
        store.shown_url,
        file_size=_BYTES_PER_STORED_CELL * store.n_cells(),
        rows=spec.n_cells,
        columns=len(COLUMNS) + len(spec.metrics),
        bytes_per_cell=8,
    )
    table = ResultTable(spec)
    read_cells(store, spec, table)
    return table


def _raced(
    spec: StudySpec,
    results: Mapping[CellIndex, CellResult],
    design: Design,
    settings: Settings,
    race: Mapping[str, Any] | None,
    whole_plan: Callable[[], Study],
    where: str,
) -> Study:
    """Return the study as a race over the stored results if it can be one."""
    if race is None:
        return whole_plan()
    names = [learner.name for learner in spec.learners]
    with _damage_refused():
        rule = StopRule(**race)
    try:
        planned = planned_race(
            names, design, settings, rule, datasets=len(spec.datasets), span=span_of(spec.loss)
        )
    except ArgumentError:
        # other settings may not allow early stopping
        return whole_plan()

    def fetch(cells: Sequence[CellIndex]) -> Mapping[CellIndex, CellResult]:
        return {cell: results[cell] for cell in cells if cell in results}

    outcome = race_cells(planned, spec, settings, fetch)
    return conclude_race(outcome, spec, settings, whole_plan, store=where)


def _notes(spec: StudySpec, record: StoredDecision | None, done: int) -> tuple[str, ...]:
    if done == spec.n_cells:
        return ()
    if record is not None and record.fits == done:
        return record.notes
    missing = spec.n_cells - done
    are = "is" if missing == 1 else "are"
    return (f"The study is not finished: {missing} of {spec.n_cells} fits {are} still to be made.",)


def _design(spec: StudySpec) -> Design:
    """Return the design of the first data set's splits."""
    first = spec.datasets[0]
    return Design(
        kind=spec.kind,
        runs=first.runs,
        folds=first.folds,
        n_train=spec.n_train,
        n_test=spec.n_test,
        stratified=spec.stratified,
        nested_runs=nested_runs_of(spec.plan),
        groups=spec.groups,
    )
