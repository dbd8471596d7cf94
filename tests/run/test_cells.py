"""A task begins with the cells that a store holds."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bestofk.run.cells import Failure
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))
from made_cells import fields


@pytest.mark.parametrize("retried", [False, True])
def test_a_task_begins_with_what_a_store_holds(store_url, live, evaluated, retried):
    cells, key = evaluated(), live.record.key
    cells[3] = replace(cells[3], scores=(Failure(kind="killed", reason="it was killed."),))
    kept = cells[: len(cells) // 2]
    with open_store(store_url) as store:
        store.put(live.record, kept)
        table, stale = live.stored(store, retry=lambda failure: retried)
    stored = {key(cell): cell for cell in kept if not (retried and cell.failure)}
    places = list(live.record.cells())
    assert fields(table) == fields(
        replace(stored[key(place)], learner=place.learner)
        for place in places
        if key(place) in stored
    )
    assert list(table.absent()) == [place for place in places if key(place) not in stored]
    assert stale == ({key(cells[3])} if retried else set())
