"""A study from its store: what was run is read back, and decided about as it was then."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any
from warnings import warn

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, BestOfKWarning, StoreError
from bestofk.decide.preference import PanelOrder
from bestofk.decide.settings import Settings, StoredTest
from bestofk.run.cells import CellResult
from bestofk.run.conclude import ByOtherLoss, conclude
from bestofk.run.experiment import CellIndex
from bestofk.run.inputs import is_panel
from bestofk.run.metrics import span_of
from bestofk.run.race.conclude import conclude_race
from bestofk.run.race.plan import planned_race, rule_from
from bestofk.run.race.run import hold_race
from bestofk.run.replicate import Replication
from bestofk.run.results import ResultTable
from bestofk.run.store.store import Store, open_store
from bestofk.run.store.stored_study import StoredDecision, StudySpec, subsets_of
from bestofk.run.study import Study
from bestofk.splits.design import Design

MOST_NUMBERS = 12


def open_study(
    store: str | os.PathLike[str] | Store,
    number: int | None = None,
    *,
    decision: int | Settings | None = None,
    **changes: Any,
) -> Study:
    """A study from its store, decided as it was when it was run.

    Nothing is run, and nothing in the store is changed.

    Parameters
    ----------
    store : path, URL or Store
        What ``bk.compare(..., store=...)`` filled.
    number : int, optional
        Which study; by default the only one (repetitions over other splits do not count).
    decision : int or Decision, optional
        Which of the decisions that were made about it, 1 the first, -1 the last (the default); or
        another one altogether.
    **changes
        Options of `bestofk.order` to change, such as ``alpha=0.01`` or ``prefer="fit_time"``. What
        was asked of the old procedure, test or family and does not fit the new one is left out.

    Returns
    -------
    Study

    Notes
    -----
    A store keeps a test that you wrote yourself by its name and a fingerprint of its source alone:
    give it again with ``test=``. Stores of earlier versions keep no decisions: their studies
    are decided by the defaults.

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
    with opened as found:
        spec = found.study(only_study(found) if number is None else number).spec
        asked, record, made_before = _asked(spec, decision, changes, found.shown_url)
        command = spec.command if record is None else record.command
        # another decision was made by no command
        spec = replace(spec, command=command if made_before else ())
        return _reopened(found, spec, asked, record, _race_of(spec, decision))


def only_study(store: Store) -> int:
    """The number of the only study that repeats no other."""
    studies = [each for each in store.studies() if not each.spec.replicates]
    if len(studies) == 1:
        return studies[0].id
    if not studies:
        raise StoreError(f"{store.shown_url}: the store holds no studies.")
    numbers = ", ".join(str(each.id) for each in studies[:MOST_NUMBERS])
    raise ArgumentError(
        f"{store.shown_url} holds {len(studies)} studies: give its number (on the command line "
        f"--study), one of {numbers}; 'bestofk show' describes them."
    )


def decision_of(record: StoredDecision) -> Settings:
    """What was asked of a decision that a store keeps."""
    return Settings.from_dict(record.options)


def _asked(
    spec: StudySpec, decision: int | Settings | None, changes: Mapping[str, Any], where: str
) -> tuple[Settings, StoredDecision | None, bool]:
    """The decision to make, the record of it, and whether it was made when the study was run."""
    names = tuple(learner.name for learner in spec.learners)
    record = None
    if isinstance(decision, Settings):
        first = decision
    elif spec.decisions:
        record = _record(spec.decisions, -1 if decision is None else decision)
        first = decision_of(record)
    elif decision is None:
        # an older bestofk kept none
        prefer = PanelOrder(names=names) if is_panel(names) else None
        first = Settings(prefer=prefer, random_state=spec.random_state)
    else:
        raise ArgumentError(f"decision: {where} keeps none of this study; leave it out.")
    if isinstance(first.test, StoredTest):
        first = _with_test_again(first, first.test, changes)
    asked = first.changed(**changes)
    asked.check_learners(names)
    made_before = asked == first and not isinstance(decision, Settings)
    # what was said of an earlier decision is not about another one
    return asked, record if made_before else None, made_before


def _record(decisions: Sequence[StoredDecision], which: int) -> StoredDecision:
    if isinstance(which, bool) or not isinstance(which, int):
        raise refuse("decision", "the number of a decision, or a Decision", which)
    at = which - 1 if which > 0 else len(decisions) + which
    if which == 0 or not 0 <= at < len(decisions):
        raise refuse("decision", f"a number from 1 to {len(decisions)}, or -1", which)
    return decisions[at]


def _with_test_again(decision: Settings, held: StoredTest, changes: Mapping[str, Any]) -> Settings:
    """Return the settings with the caller's test if the caller passed it again."""
    test = changes.get("test")
    if test is None and "procedure" not in changes:
        raise ArgumentError(
            f"The study was decided by {held.name}, a test of yours, and a store keeps its name "
            "alone: give the function again with test=, or name another test."
        )
    if not callable(test):
        return decision
    given = StoredTest.of(test)
    if given.name != held.name:
        return decision
    if given.fingerprint != held.fingerprint:
        warn(
            f"test: the source of {held.name} has changed since the study was decided.",
            BestOfKWarning,
            stacklevel=4,
        )
    return replace(decision, test=test)


def _race_of(spec: StudySpec, decision: int | Settings | None) -> dict[str, Any] | None:
    """When the decision was to stop; another one about the same study stops likewise."""
    if isinstance(decision, Settings) or not spec.decisions:
        return None
    return _record(spec.decisions, -1 if decision is None else decision).race


def _reopened(
    store: Store,
    spec: StudySpec,
    decision: Settings,
    record: StoredDecision | None,
    race: Mapping[str, Any] | None,
) -> Study:
    where = store.shown_url
    results = _cells(store, spec)
    if not results:
        raise StoreError(f"{where}: nothing of {spec.title!r} was evaluated yet.")
    if spec.kind == "holdout" and len(spec.datasets) == 1:
        raise StoreError(
            f"{where}: {spec.title!r} was tested on one test set, and a store keeps no true "
            "answers to test with: run the same comparison again with --report."
        )
    design = _design(spec, results)

    def ordinary() -> Study:
        return conclude(
            spec,
            results,
            design=design,
            decision=decision,
            notes=_notes(spec, record, len(results)),
            others={
                loss: ByOtherLoss(results=_cells(store, spec.by_loss(loss))) for loss in spec.also
            },
            store=where,
        )

    study = _raced(spec, results, design, decision, race, ordinary, where)
    if record is None or record.replication is None:
        return study
    return replace(study, replication=Replication(**record.replication))


def _cells(store: Store, spec: StudySpec) -> ResultTable:
    """The cells of a study."""
    table = ResultTable.of_study(spec)
    for batch, found in store.batches_of(spec):
        table.add_found(batch, found)
    return table


def _raced(
    spec: StudySpec,
    results: Mapping[CellIndex, CellResult],
    design: Design,
    decision: Settings,
    race: Mapping[str, Any] | None,
    ordinary: Callable[[], Study],
    where: str,
) -> Study:
    """The study as a race over what the store holds, where it was one; else the ordinary one."""
    if race is None:
        return ordinary()
    names = [learner.name for learner in spec.learners]
    try:
        planned = planned_race(
            names, design, decision, rule_from(race), runs=min(race["runs"], design.runs),
            datasets=len(spec.datasets), span=span_of(spec.loss),
        )  # fmt: skip
    except ArgumentError:
        # another decision, that cannot be curtailed
        return ordinary()

    def fetch(cells: Sequence[CellIndex]) -> Mapping[CellIndex, CellResult]:
        return {cell: results[cell] for cell in cells if cell in results}

    held = hold_race(planned, spec, decision, fetch)
    return conclude_race(held, spec, decision, ordinary, store=where)


def _notes(spec: StudySpec, record: StoredDecision | None, done: int) -> tuple[str, ...]:
    if done == spec.n_cells:
        return ()
    if record is not None and record.fits == done:
        return record.notes
    missing = spec.n_cells - done
    are = "is" if missing == 1 else "are"
    return (f"The study is not finished: {missing} of {spec.n_cells} fits {are} still to be made.",)


def _design(spec: StudySpec, results: Mapping[CellIndex, CellResult]) -> Design:
    """The design of the first data set's splits, with the sizes that are known."""
    first = spec.datasets[0]
    return Design(
        kind=spec.kind,
        runs=first.runs,
        folds=first.folds,
        n_train=spec.n_train or _sizes(spec, results, "n_train"),
        n_test=spec.n_test or _sizes(spec, results, "n_test"),
        stratified=spec.stratified,
        subsets=subsets_of(spec.plan),
        groups=spec.groups,
    )


def _sizes(
    spec: StudySpec, results: Mapping[CellIndex, CellResult], name: str
) -> tuple[int, ...] | None:
    """The sizes of the parts by what the cells know, for stores that do not keep them."""
    first = spec.datasets[0]
    known = {
        (cell.run, cell.fold): size
        for cell, result in results.items()
        if cell.dataset == 0 and (size := getattr(result, name)) is not None
    }
    folds = [(run, fold) for run in range(first.runs) for fold in range(first.folds)]
    return tuple(known[fold] for fold in folds) if all(fold in known for fold in folds) else None
