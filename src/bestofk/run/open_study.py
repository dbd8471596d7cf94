"""A study from its store: what was run is read back, and decided about again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestofk.errors import StoreError
from bestofk.ordering.preference import PanelOrder, Prior
from bestofk.plans.design import Design
from bestofk.run.cells import CellResult
from bestofk.run.conclude import check_prior, conclude
from bestofk.run.contenders import is_panel
from bestofk.run.experiment import Place
from bestofk.run.store.store import Store
from bestofk.run.store.stored_study import StudySpec, subsets_of
from bestofk.run.study import Study


def recall(store: Store, number: int, *, prior: Prior = None, decision: dict[str, Any]) -> Study:
    """The study of that number, decided by the arguments of `bestofk.order` in `decision`."""
    spec = store.study(number).spec
    names = tuple(learner.name for learner in spec.learners)
    check_prior(prior, names)
    results = {
        Place(
            learner=learner,
            dataset=dataset,
            run=result.key.run,
            fold=result.key.fold,
            repetition=result.key.repetition,
        ): result
        for learner, dataset, result in store.cells_of(spec)
    }
    if not results:
        raise StoreError(f"{store.shown_url}: nothing of study {number} was evaluated yet.")
    if spec.kind == "holdout" and len(spec.datasets) == 1:
        raise StoreError(
            f"{store.shown_url}: study {number} is of one test set, and a store keeps no true "
            "answers to test with: run the same comparison again with --report."
        )
    # as the run itself met them: a store gives its cells in no certain order
    results = {place: results[place] for place in sorted(results, key=_turn)}
    notes: tuple[str, ...] = ()
    if len(results) < spec.n_cells:
        missing = spec.n_cells - len(results)
        are = "is" if missing == 1 else "are"
        notes = (f"The study is not finished: {missing} of {spec.n_cells} fits {are} still to be "
                 "made.",)  # fmt: skip
    return conclude(
        spec,
        results,
        design=_design(spec, results),
        prior=PanelOrder(names=names) if prior is None and is_panel(names) else prior,
        decision=decision,
        notes=notes,
        store=store.shown_url,
    )


def _turn(place: Place) -> tuple[int, ...]:
    return place.dataset, place.run, place.fold, place.repetition, place.learner


def _design(spec: StudySpec, results: Mapping[Place, CellResult]) -> Design:
    """The design of the first data set's splits, with the sizes that cells know."""
    first = spec.datasets[0]
    sizes: dict[str, tuple[int, ...] | None] = {}
    for name in ("n_train", "n_test"):
        known = {
            (place.run, place.fold): size
            for place, result in results.items()
            if place.dataset == 0 and (size := getattr(result, name)) is not None
        }
        folds = [(run, fold) for run in range(first.runs) for fold in range(first.folds)]
        whole = all(fold in known for fold in folds)
        sizes[name] = tuple(known[fold] for fold in folds) if whole else None
    return Design(
        kind=spec.kind,
        runs=first.runs,
        folds=first.folds,
        n_train=sizes["n_train"],
        n_test=sizes["n_test"],
        stratified=spec.stratified,
        subsets=subsets_of(spec.plan),
    )
