"""A study whose cells tests make up, without a fit."""

from dataclasses import astuple

from bestofk.run.cells import Cell
from bestofk.run.record import DataRecord, LearnerRecord, StudyRecord
from bestofk.splits.design import Design


def made_record(*metrics, learner="a1b2", dataset="d" * 64):
    """Return the record of a study of one learner by these metrics."""
    return StudyRecord(
        title="made up",
        learners=(LearnerRecord(name="a", fingerprint=learner, settings=""),),
        datasets=(DataRecord(name="d", fingerprint=dataset, rows=90, columns=2, splits=()),),
        plan="",
        design=Design(kind="cv", runs=10_000, folds=10),
        metrics=metrics,
        metric_keys=metrics,
        repetitions=1,
        random_state=5,
    )


RECORD = made_record("zero-one")


def make_cell(number, *scores, **more):
    """Return a cell by its number: `make_cell(7, 0.25)`, or with a `Failure` in its place."""
    run, fold = divmod(number, 10)
    return Cell(learner=0, dataset=0, run=run, fold=fold, scores=scores or (0.25,), **more)


def found(store, cells, record=RECORD, **options):
    """Return all fields of those of the cells that the store has, in order."""
    by_key = {record.key(cell): cell for cell in cells}
    return fields(store.find(record, by_key, **options).values())


def fields(cells):
    """Return all fields of cells, in order; equal cells may differ in their results."""
    return sorted(map(astuple, cells), key=lambda values: values[:5])
