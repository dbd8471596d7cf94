"""Exported tables are read by bestofk.read_scores."""

import csv
import struct

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, StoreError
from bestofk.run.cells import CellResult, Failure
from bestofk.run.export_study import export_study
from bestofk.run.store.store import open_store
from bestofk.run.store.stored_study import study_of


@pytest.fixture(params=["cells.csv", "cells.Parquet"])
def table(request, tmp_path):
    return tmp_path / request.param


@pytest.fixture
def memory():
    with open_store() as opened:
        yield opened


def grid(experiment, results):
    """Return the losses in the order of bk.Scores, from the cells."""
    by_digest = {result.key.digest: result.loss for result in results}
    sizes = (len(experiment.learners), len(experiment.datasets), experiment.splits[0].runs,
             experiment.splits[0].folds, experiment.repetitions)  # fmt: skip
    values = np.full(sizes, np.nan)
    for cell in experiment.cells():
        at = (cell.learner, cell.dataset, cell.run, cell.fold, cell.repetition)
        loss = by_digest.get(experiment.key(cell).digest)
        values[at] = np.nan if loss is None else loss
    return values


def test_an_exported_study_keeps_all_bits(store, experiment, evaluated, table):
    number = store.register(study_of(experiment))
    results = evaluated()
    store.put(results, experiment.spec.metrics)
    assert export_study(store, number, table) == experiment.n_cells
    losses = bk.read_scores(table)
    assert losses.learners == tuple(learner.name for learner in experiment.learners)
    assert losses.datasets == tuple(data.name for data in experiment.datasets)
    assert losses.loss_name == "zero-one"
    assert losses.values.tobytes() == grid(experiment, results).tobytes()
    design = experiment.splits[0].design
    assert (losses.design.kind, losses.design.stratified) == (design.kind, design.stratified)


def test_failed_and_absent_cells_stay_missing(store, experiment, evaluated, table):
    number = store.register(study_of(experiment))
    results = evaluated()
    reason = 'no, "really",\nnot; \u540d'
    for index in (3, 10):
        results[index] = CellResult(
            key=results[index].key, scores=(Failure(kind="raised", reason=reason),)
        )
    del results[7]
    store.put(results, experiment.spec.metrics)
    assert export_study(store, number, table) == experiment.n_cells
    losses = bk.read_scores(table, missing="allow")
    expected = grid(experiment, results)
    assert np.isnan(expected).any()
    assert np.array_equal(losses.values, expected, equal_nan=True)
    if table.suffix == ".csv":
        with table.open(newline="", encoding="utf-8") as file:
            failed = [row for row in csv.DictReader(file) if row["failure"]]
        assert {row["reason"] for row in failed} == {reason}
        assert all(row["loss"] == "" for row in failed)
        # a shared cell of two equal learners counts for both
        broken = {result.key.digest for result in results if result.failure is not None}
        digests = [experiment.key(cell).digest for cell in experiment.cells()]
        assert len(failed) == sum(digest in broken for digest in digests) >= 2
        assert all(int(row["n_train"]) > 0 for row in failed)


def test_a_table_has_times_and_sizes(store, experiment, evaluated, tmp_path):
    number = store.register(study_of(experiment))
    store.put(evaluated(), experiment.spec.metrics)
    export_study(store, number, tmp_path / "cells.csv")
    with (tmp_path / "cells.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]
    assert (first["run"], first["fold"], first["repetition"]) == ("1", "1", "1")
    assert (first["fit_time"], first["predict_time"], first["size"]) == ("0.25", "0.125", "100")
    splits = experiment.splits[0]
    assert int(first["n_train"]) == len(splits.train(0, 0))
    assert int(first["n_test"]) == len(splits.test(0, 0))


def test_floats_in_a_table(memory, experiment, evaluated, table):
    hard = [5e-324, 1.7976931348623157e308, 1 / 3, 0.1 + 0.2, -0.1, 1e-300]
    number = memory.register(study_of(experiment))
    memory.put(
        [
            CellResult(key=result.key, scores=(hard[index % len(hard)],))
            for index, result in enumerate(evaluated())
        ],
        experiment.spec.metrics,
    )
    export_study(memory, number, table)
    losses = bk.read_scores(table)
    values = losses.values.ravel()
    assert {struct.pack("<d", loss) for loss in values} == {struct.pack("<d", x) for x in hard}
    assert losses.design.n_train is None


def test_only_two_formats(memory, experiment, tmp_path):
    number = memory.register(study_of(experiment))
    with pytest.raises(ArgumentError, match=r"must be named \*.csv or \*.parquet; got"):
        export_study(memory, number, tmp_path / "cells.xlsx")
    assert list(tmp_path.glob("*.xlsx")) == []


def test_a_table_that_cannot_be_written_leaves_nothing(memory, experiment, tmp_path):
    number = memory.register(study_of(experiment))
    with pytest.raises(StoreError, match="the table cannot be written: No such file"):
        export_study(memory, number, tmp_path / "nowhere" / "cells.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(StoreError, match="the table cannot be written"):
        export_study(memory, number, tmp_path / "folder.csv")
    assert list(tmp_path.glob(".*")) == []


def test_characters_that_tables_cannot_contain_are_replaced(memory, experiment, evaluated, table):
    import dataclasses

    spec = study_of(experiment)
    learner = dataclasses.replace(spec.learners[1], name="half and \0 nothing")
    spec = dataclasses.replace(spec, learners=(spec.learners[0], learner))
    number = memory.register(spec)
    memory.put(evaluated(), experiment.spec.metrics)
    export_study(memory, number, table)
    assert bk.read_scores(table).learners[1] == "half and \ufffd nothing"
