"""Exported tables are read by bestofk.read_scores."""

import csv
import struct
from dataclasses import replace

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, StoreError
from bestofk.run.cells import Failure
from bestofk.run.export_study import export_study
from bestofk.run.store.store import open_store


@pytest.fixture(params=["cells.csv", "cells.Parquet"])
def table(request, tmp_path):
    return tmp_path / request.param


@pytest.fixture
def memory():
    with open_store() as opened:
        yield opened


def grid(live, results):
    """Return the losses in the order of bk.Scores, from the cells."""
    by_key = {live.record.key(cell): cell.loss for cell in results}
    sizes = (len(live.learners), len(live.datasets), live.splits[0].runs,
             live.splits[0].folds, live.record.repetitions)  # fmt: skip
    values = np.full(sizes, np.nan)
    for cell in live.record.cells():
        at = (cell.learner, cell.dataset, cell.run, cell.fold, cell.repetition)
        loss = by_key.get(live.record.key(cell))
        values[at] = np.nan if loss is None else loss
    return values


def test_an_exported_study_keeps_all_bits(store, live, evaluated, table):
    number = store.register(live.record)
    results = evaluated()
    store.put(live.record, results)
    assert export_study(store, number, table) == live.record.n_cells
    losses = bk.read_scores(table)
    assert losses.learners == live.record.names
    assert losses.datasets == tuple(data.name for data in live.datasets)
    assert losses.loss_name == "zero-one"
    assert losses.values.tobytes() == grid(live, results).tobytes()
    design = live.splits[0].design
    assert (losses.design.kind, losses.design.stratified) == (design.kind, design.stratified)


def test_failed_and_absent_cells_stay_missing(store, live, evaluated, table):
    number = store.register(live.record)
    results = evaluated()
    reason = 'no, "really",\nnot; \u540d'
    for index in (3, 10):
        results[index] = replace(
            results[index], scores=(Failure(kind="raised", reason=reason),), n_train=None
        )
    del results[7]
    store.put(live.record, results)
    assert export_study(store, number, table) == live.record.n_cells
    losses = bk.read_scores(table, missing="allow")
    expected = grid(live, results)
    assert np.isnan(expected).any()
    assert np.array_equal(losses.values, expected, equal_nan=True)
    if table.suffix == ".csv":
        with table.open(newline="", encoding="utf-8") as file:
            failed = [row for row in csv.DictReader(file) if row["failure"]]
        assert {row["reason"] for row in failed} == {reason}
        assert all(row["loss"] == "" for row in failed)
        # a shared cell of two equal learners counts for both
        broken = {live.record.key(result) for result in results if result.failure is not None}
        digests = [live.record.key(cell) for cell in live.record.cells()]
        assert len(failed) == sum(digest in broken for digest in digests) >= 2
        assert all(int(row["n_train"]) > 0 for row in failed)


def test_a_table_has_times_and_sizes(store, live, evaluated, tmp_path):
    number = store.register(live.record)
    store.put(live.record, evaluated())
    export_study(store, number, tmp_path / "cells.csv")
    with (tmp_path / "cells.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]
    assert (first["run"], first["fold"], first["repetition"]) == ("1", "1", "1")
    assert (first["fit_time"], first["predict_time"], first["size"]) == ("0.25", "0.125", "100")
    splits = live.splits[0]
    assert int(first["n_train"]) == len(splits.train(0, 0))
    assert int(first["n_test"]) == len(splits.test(0, 0))


def test_floats_in_a_table(memory, live, evaluated, table):
    hard = [5e-324, 1.7976931348623157e308, 1 / 3, 0.1 + 0.2, -0.1, 1e-300]
    number = memory.register(live.record)
    memory.put(
        live.record,
        [
            replace(cell, scores=(hard[index % len(hard)],), n_train=None)
            for index, cell in enumerate(evaluated())
        ],
    )
    export_study(memory, number, table)
    losses = bk.read_scores(table)
    values = losses.values.ravel()
    assert {struct.pack("<d", loss) for loss in values} == {struct.pack("<d", x) for x in hard}
    assert losses.design.n_train is None


def test_only_two_formats(memory, live, tmp_path):
    number = memory.register(live.record)
    with pytest.raises(ArgumentError, match=r"must be named \*.csv or \*.parquet; got"):
        export_study(memory, number, tmp_path / "cells.xlsx")
    assert list(tmp_path.glob("*.xlsx")) == []


def test_a_table_that_cannot_be_written_leaves_nothing(memory, live, tmp_path):
    number = memory.register(live.record)
    with pytest.raises(StoreError, match="the table cannot be written: No such file"):
        export_study(memory, number, tmp_path / "nowhere" / "cells.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(StoreError, match="the table cannot be written"):
        export_study(memory, number, tmp_path / "folder.csv")
    assert list(tmp_path.glob(".*")) == []


def test_characters_that_tables_cannot_contain_are_replaced(memory, live, evaluated, table):
    learners = live.record.learners
    strange = replace(learners[1], name="half and \0 nothing")
    number = memory.register(replace(live.record, learners=(learners[0], strange)))
    memory.put(live.record, evaluated())
    export_study(memory, number, table)
    assert bk.read_scores(table).learners[1] == "half and \ufffd nothing"
