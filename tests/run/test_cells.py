"""The table of cells behaves like the list of cells that it replaces."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bestofk.run import comparison_task
from bestofk.run.cells import CellTable, Failure
from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))
from made_cells import fields


@pytest.fixture
def some(live, evaluated):
    """Cells with losses, failures and predictions; not all."""
    by_key = {live.record.key(cell): cell for cell in evaluated()}
    found = []
    for number, place in enumerate(live.record.cells()):
        twin = by_key[live.record.key(place)]
        cell = replace(twin, learner=place.learner)
        if number % 5 == 1:
            why = Failure(kind="raised", reason=f"reason {number % 2}")
            cell = replace(place, scores=(why,))
        elif number % 5 == 2:
            cell = replace(cell, predictions=b"p", size=None)
        if number % 7:
            found.append(cell)
    return found


def test_a_table_holds_what_it_is_given_in_the_order_of_places(live, some):
    table = CellTable(live.record, sorted(some, key=str))  # in another order
    assert len(table) == len(some)
    assert fields(table) == fields(some)
    assert list(table) == some
    absent = [place for place in live.record.cells() if place not in some]
    assert list(table.absent()) == absent
    assert absent[0] not in table
    assert table.get(absent[0]) is None
    assert table.failures == [(cell, cell.failure) for cell in some if cell.failure is not None]


def test_columns_have_the_numbers_of_the_cells(live, some):
    table = CellTable(live.record, some)
    losses, record = table.column("loss"), live.record
    datasets, splits = len(live.datasets), len(live.splits[0])
    assert losses.shape == (datasets, splits, record.repetitions, len(record.learners))
    for number, (run, fold) in enumerate(live.splits[0].run_folds()):
        assert record.splits_before(run) + fold == number
    for cell in some:
        split = record.splits_before(cell.run) + cell.fold
        at = cell.dataset, split, cell.repetition, cell.learner
        assert table.there[at]
        expected = np.nan if cell.loss is None else cell.loss
        np.testing.assert_array_equal(losses[at], expected)


@pytest.mark.parametrize("least", [0, 10**9])
@pytest.mark.parametrize("retried", [False, True])
def test_a_task_begins_with_what_a_store_holds(
    store_url, live, evaluated, monkeypatch, least, retried
):
    # read from end to end, or by key: the same is found, and the same is missing
    monkeypatch.setattr(comparison_task, "MIN_CELLS_FOR_SCAN", least)
    cells, key = evaluated(), live.record.key
    cells[3] = replace(cells[3], scores=(Failure(kind="killed", reason="it was killed."),))
    kept = cells[: len(cells) // 2]
    with open_store(store_url) as store:
        store.put(live.record, kept)
        table, missing = ComparisonTask(live).look_up(
            store, None, is_stale=lambda cell: retried and cell.failure is not None
        )
    stored = {key(cell): cell for cell in kept if not (retried and cell.failure)}
    places = list(live.record.cells())
    assert fields(table) == fields(
        replace(stored[key(place)], learner=place.learner)
        for place in places
        if key(place) in stored
    )
    assert set(missing) == {key(place) for place in places} - set(stored)
    assert {place for group in missing.values() for place in group} == {
        place for place in places if key(place) not in stored
    }
