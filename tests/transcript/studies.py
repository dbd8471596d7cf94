"""Studies with failures, dropped learners or unfinished work."""

import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk.run.compare import budget_words
from bestofk.run.runner import interruption_message
from bestofk.run.store.database import cells
from bestofk.splits.plans import plan as make_plan

QUICK = {"progress": False, "execution": bk.Execution(engine="serial")}


def rows(n=60, seed=0):
    """Two classes that the first column tells apart, mostly."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.column_stack([y + rng.normal(0, 0.6, n), rng.normal(size=n)])
    return X, np.where(y == 1, "yes", "no")


class Fails(GaussianNB):
    """Raises in every fit."""

    def fit(self, X, y):
        raise RuntimeError("the licence has expired")


class Unlucky(GaussianNB):
    """Raises in the fits that see neither of the rows that it was told of."""

    def __init__(self, rows=()):
        super().__init__()
        self.rows = rows

    def fit(self, X, y):
        if not np.isin(X[:, 0], self.rows).any():
            raise RuntimeError("these rows bring bad luck")
        return super().fit(X, y)


def failing_in(folds, plan="4x5"):
    """A learner that fails in these (run, fold) alone."""
    X, y = rows()
    wanted = {(run, fold): test for run, fold, _, test in make_plan(plan).splits(X, y)}
    return FailsIn(marks=[X[wanted[place], 0].tolist() for place in folds])


class FailsIn(GaussianNB):
    """Raises where all of the rows of some test part are missing from the training rows."""

    def __init__(self, marks=()):
        super().__init__()
        self.marks = marks

    def fit(self, X, y):
        if any(not np.isin(X[:, 0], mark).any() for mark in self.marks):
            raise RuntimeError("these rows bring bad luck")
        return super().fit(X, y)


def studies():
    X, y = rows()
    yield "nothing failed", bk.compare(["max", "nmc", "nn"], X, y, cv="4x5", **QUICK)
    yield (
        "the panel, which has a preference of its own",
        bk.compare(data="iris", cv="kfold:5", **QUICK),
    )
    yield (
        "one learner failed",
        bk.compare({"max": "max", "nmc": "nmc", "broken": Fails()}, X, y, cv="4x5", **QUICK),
    )
    learners = {"max": "max", "nmc": "nmc", **{f"broken {k}": Fails() for k in range(5)}}
    yield "five learners failed", bk.compare(learners, X, y, cv="4x5", **QUICK)
    yield (
        "one learner is left",
        bk.compare({"max": "max", "broken": Fails()}, X, y, cv="4x5", **QUICK),
    )
    yield (
        "one fit failed, and with it a run",
        bk.compare({"max": "max", "nb": failing_in([(1, 2)])}, X, y, cv="4x5", **QUICK),
    )
    yield (
        "two fits failed, and with them two runs",
        bk.compare({"max": "max", "nb": failing_in([(1, 2), (3, 0)])}, X, y, cv="4x5", **QUICK),
    )
    yield (
        "a fit of the only run failed",
        bk.compare(
            {"max": "max", "nb": failing_in([(0, 3)], "kfold:12")}, X, y, cv="kfold:12", **QUICK
        ),
    )
    yield (
        "the control failed",
        bk.compare(
            {"max": "max", "nmc": "nmc", "broken": Fails()},
            X,
            y,
            cv="4x5",
            **QUICK,
            settings=bk.Settings(family="control", control="broken"),
        ),
    )
    yield (
        "five runs of two folds were asked for, and one was lost",
        bk.compare(
            {"max": "max", "nb": failing_in([(1, 0)], "5x2")},
            X,
            y,
            cv="5x2",
            test="5x2cv-f",
            **QUICK,
        ),
    )
    yield (
        "several data sets",
        bk.compare(["max", "nmc", "nn"], ["iris", "wine"], cv="kfold:5", **QUICK),
    )
    y = y.astype(object)
    y[0] = "maybe"
    yield "a class with one member", bk.compare(["max", "nmc"], X, y, cv="kfold:5", **QUICK)
    yield "one split", bk.compare(["max", "nmc"], "iris", cv="holdout:0.33", **QUICK)
    yield from unfinished()


def unfinished():
    """Studies of which a store holds a part."""
    X, y = rows()
    for gone, what in ((1, "one fit is to be made"), (12, "twelve fits are to be made")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.db"
            bk.compare(["max", "nmc"], X, y, cv="4x5", store=path, **QUICK)
            with sqlite3.connect(path) as database:
                where = f"rowid in (select rowid from {cells.name} order by run desc, fold desc)"
                database.execute(f"delete from {cells.name} where {where[:-1]} limit {gone})")
            database.close()
            study = bk.open_study(path).outcome
        yield f"recalled from a store, {what}", replace(study, store="study.db")


def sentences():
    """Single sentences about a run."""
    yield "the budget ended the run", budget_words(90, 40, 200)
    yield "interrupted with a store", interruption_message(40, 200, "fits", stored=True)
    yield "interrupted without a store", interruption_message(40, 200, "fits", stored=False)
