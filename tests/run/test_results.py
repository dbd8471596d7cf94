"""The table of results behaves like the dictionary that it replaces."""

from dataclasses import replace

import numpy as np
import pytest

from bestofk.run import comparison_task
from bestofk.run.cells import CellResult, Failure
from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.experiment import AllCells
from bestofk.run.results import ResultTable, as_table
from bestofk.run.store.store import open_store


@pytest.fixture
def some(experiment, evaluated):
    """Results by place: with losses, failures, warnings and predictions; not of all places."""
    by_digest = {result.key.digest: result for result in evaluated()}
    found = {}
    for number, place in enumerate(experiment.cells()):
        result = by_digest[experiment.key(place).digest]
        if number % 5 == 1:
            why = Failure(kind="raised", reason=f"reason {number % 2}")
            result = CellResult(key=result.key, scores=(why,), n_train=7)
        elif number % 5 == 2:
            result = replace(result, warnings=("w",), predictions=b"p", size=None)
        if number % 7:
            found[place] = result
    return found


def test_a_table_holds_what_it_is_given_in_the_order_of_places(experiment, some):
    table = ResultTable(experiment.spec)
    for place in sorted(some, key=str):  # in another order
        table[place] = some[place]
    assert len(table) == len(some)
    assert list(table) == list(some)
    assert dict(table) == some
    absent = [place for place in experiment.cells() if place not in some]
    assert list(table.absent()) == absent
    assert absent[0] not in table
    assert [table.cell(index) for index in sorted(table.failures)] == [
        place for place, result in some.items() if result.failure is not None
    ]


def test_columns_have_the_numbers_of_the_cells(experiment, some):
    table = as_table(experiment.spec, some)
    assert as_table(experiment.spec, table) is table
    for dataset, splits in enumerate(experiment.splits):
        losses = table.column("loss", dataset)
        there = table.there(dataset)
        assert losses.shape == (len(splits), experiment.repetitions, len(experiment.learners))
        for number, (run, fold) in enumerate(splits.run_folds()):
            assert table.split_of(dataset, run) + fold == number
        for place, result in some.items():
            if place.dataset == dataset:
                at = (table.split_of(dataset, place.run) + place.fold, place.repetition,
                      place.learner)  # fmt: skip
                assert there[at]
                expected = np.nan if result.loss is None else result.loss
                np.testing.assert_array_equal(losses[at], expected)


@pytest.mark.parametrize("least", [0, 10**9])
@pytest.mark.parametrize("retried", [False, True])
def test_a_task_begins_with_what_a_store_holds(
    store_url, experiment, evaluated, monkeypatch, least, retried
):
    # read from end to end, or by digest: the same is found, and the same is missing
    monkeypatch.setattr(comparison_task, "MIN_CELLS_FOR_SCAN", least)
    results = evaluated()
    why = Failure(kind="killed", reason="it was killed.")
    results[3] = CellResult(key=results[3].key, scores=(why,))
    kept = results[: len(results) // 2]
    with open_store(store_url) as store:
        store.put(kept, experiment.spec.metrics)
        lookup = ComparisonTask(experiment).look_up(
            store,
            AllCells(experiment),
            is_stale=lambda result: retried and result.failure is not None,
        )
    stored = {result.key.digest: result for result in kept if not (retried and result.failure)}
    places = {place: experiment.key(place).digest for place in experiment.cells()}
    assert dict(lookup.results) == {
        place: stored[digest] for place, digest in places.items() if digest in stored
    }
    assert set(lookup.missing) == set(places.values()) - set(stored)
    assert [place for group in lookup.missing.values() for place in group] == sorted(
        (place for place, digest in places.items() if digest not in stored),
        key=lambda place: list(lookup.missing).index(places[place]),
    )
