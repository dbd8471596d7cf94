"""The splits of a plan for certain rows: folds, random splits, samples and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.plans import remarks
from bestofk.plans.design import Design
from bestofk.plans.folds import FoldOf, deal, deal_groups, distinct_partitions, expanding_windows
from bestofk.plans.known_rows import KnownRows
from bestofk.plans.labels import Labelling
from bestofk.plans.marked_rows import marked_rows
from bestofk.plans.own_splits import refuse_divided_groups
from bestofk.plans.random_splits import (
    draw_with_replacement,
    rows_to_test,
    split_at_random,
    split_groups_at_random,
)
from bestofk.plans.registry import PLANS
from bestofk.plans.splits import Splits
from bestofk.plans.subsets import halves, nested

if TYPE_CHECKING:
    from bestofk.plans.plan import Plan


def made_splits(plan: Plan, rows: KnownRows) -> Splits:
    """All the splits of a plan that makes its own, for these rows."""
    if plan.form:
        return _marked(plan, rows)
    makers = {"cv": _cross_validation, "loo": _leave_one_out, "bootstrap": _bootstrap,
              "time": _windows}  # fmt: skip
    return makers.get(plan.kind, _random_splits)(plan, rows)


def _value(
    plan: Plan,
    rows: KnownRows,
    marks: npt.NDArray[Any],
    notes: list[str],
    *,
    kind: str,
    runs: int,
    n_train: npt.NDArray[Any],
    n_test: npt.NDArray[Any],
    stratified: bool,
    subset_marks: npt.NDArray[np.int32] | None = None,
) -> Splits:
    design = Design(
        kind=kind,
        runs=runs,
        folds=n_test.size // runs,
        n_train=tuple(n_train.ravel().tolist()),
        n_test=tuple(n_test.ravel().tolist()),
        stratified=stratified,
        subsets=None if subset_marks is None else plan.subsets,
        groups=None if rows.groups is None else rows.groups.count,
    )
    return Splits.of(
        spec=plan.spec,
        seed=plan.seed,
        design=design,
        marks=marks,
        notes=(*rows.notes, *notes),
        subset_marks=subset_marks,
    )


def _cross_validation(plan: Plan, rows: KnownRows) -> Splits:
    assert plan.folds is not None
    runs, folds, n = plan.runs, plan.folds, rows.n
    units, unit = (n, "rows") if rows.groups is None else (rows.groups.count, "groups")
    if folds > units:
        raise ArgumentError(
            f"The folds of plan {plan.spec!r} must be at most as many as the {units} {unit}; "
            f"got {folds}."
        )
    notes: list[str] = []
    if rows.groups is None:
        fold_of = deal(rows.strata, runs=runs, folds=folds, seed=plan.seed)
        n_test = np.tile(n // folds + (np.arange(folds) < n % folds), (runs, 1))
        if rows.classes is not None:
            notes += remarks.fewer_than_folds(rows.classes, folds)
    else:
        fold_of = deal_groups(rows.groups, rows.classes, runs=runs, folds=folds, seed=plan.seed)
        n_test = np.stack([np.bincount(row, minlength=folds) for row in fold_of])
        notes += remarks.same_runs(runs, distinct_partitions(fold_of))
        if rows.classes is not None:
            notes += remarks.best_effort(rows.classes, rows.groups)
    return _value(
        plan,
        rows,
        fold_of,
        notes,
        kind="cv",
        runs=runs,
        n_train=n - n_test,
        n_test=n_test,
        stratified=rows.classes is not None,
        subset_marks=_subset_marks(plan, rows, fold_of),
    )


def _subset_marks(plan: Plan, rows: KnownRows, fold_of: FoldOf) -> FoldOf | None:
    """The folds of the runs on parts of the rows."""
    if plan.subsets is None:
        return None
    if plan.subsets.kind == "nested":
        assert plan.folds is not None
        return nested(fold_of, plan.folds)
    return halves(
        rows.n,
        rows.classes,
        rows.groups,
        halvings=plan.subsets.halvings,
        folds=plan.subsets.folds,
        seed=plan.seed,
    )


def _windows(plan: Plan, rows: KnownRows) -> Splits:
    """Windows in order of time; no group may be on both sides of one."""
    assert plan.folds is not None
    marks = expanding_windows(rows.n, plan.folds)
    if rows.groups is not None:
        refuse_divided_groups(
            [(np.flatnonzero(row > 0), np.flatnonzero(row < 0)) for row in marks], rows.groups
        )
    return _value(
        plan,
        rows,
        marks,
        ["The rows are taken to be in order of time, the oldest first."],
        kind="time",
        runs=1,
        n_train=(marks > 0).sum(axis=1),
        n_test=(marks < 0).sum(axis=1),
        stratified=False,
    )


def _marked(plan: Plan, rows: KnownRows) -> Splits:
    """The splits that the function of a registered plan marks."""
    marks = marked_rows(
        PLANS[plan.form],
        rows.n,
        seed=plan.seed,
        classes=None if rows.classes is None else rows.classes.codes,
        groups=None if rows.groups is None else rows.groups.codes,
        runs=plan.runs,
        folds=plan.folds,
        test_fraction=plan.test_fraction,
    )
    return _value(
        plan,
        rows,
        marks.marks,
        [],
        kind=plan.kind,
        runs=plan.runs,
        n_train=rows.n - marks.n_test,
        n_test=marks.n_test,
        stratified=False,
    )


def _leave_one_out(plan: Plan, rows: KnownRows) -> Splits:
    notes = []
    if rows.groups is None:
        kind, codes = "loo", np.arange(rows.n)
        n_test = np.ones(rows.n, dtype=np.int64)
    else:
        # Leaving out a group is k-fold cross-validation with the groups as folds.
        kind, codes, n_test = "cv", rows.groups.codes, rows.groups.sizes
        notes.append(f"Each of the {rows.groups.count} groups is left out as a whole.")
    return _value(
        plan,
        rows,
        codes.astype(np.int32)[None, :],
        notes,
        kind=kind,
        runs=1,
        n_train=rows.n - n_test,
        n_test=n_test,
        stratified=False,
    )


def _random_splits(plan: Plan, rows: KnownRows) -> Splits:
    assert plan.test_fraction is not None
    assert plan.folds is not None
    n_test = rows_to_test(rows.n, plan.test_fraction)
    if not 0 < n_test < rows.n:
        side = "test" if n_test == 0 else "train on"
        raise ArgumentError(
            f"The share tested by plan {plan.spec!r} must leave rows on both sides; "
            f"{plan.test_fraction:g} of {rows.n} rows leaves none to {side}."
        )
    notes: list[str] = []
    if rows.groups is None:
        tested = split_at_random(rows.strata, n_test=n_test, splits=plan.folds, seed=plan.seed)
    else:
        tested = split_groups_at_random(
            rows.groups, rows.classes, n_test=n_test, splits=plan.folds, seed=plan.seed
        )
        if rows.classes is not None:
            notes += remarks.best_effort(rows.classes, rows.groups)
    if rows.classes is not None:
        notes += remarks.untested_classes(rows.classes, tested)
    sizes = tested.sum(axis=1)
    return _value(
        plan,
        rows,
        tested,
        notes,
        kind=plan.kind,
        runs=1,
        n_train=rows.n - sizes,
        n_test=sizes,
        stratified=rows.classes is not None,
    )


def _bootstrap(plan: Plan, rows: KnownRows) -> Splits:
    assert plan.folds is not None
    notes: list[str] = []
    strata = rows.strata
    if rows.groups is not None:
        strata = Labelling.single(rows.groups.count)
        notes.append(
            f"Of the {rows.groups.count} groups as many are drawn whole, with replacement, so "
            "the number of rows that train varies."
        )
        if rows.classes is not None:
            notes.append("Bootstrap samples of groups are not stratified.")
    elif int(strata.sizes.max()) == 1:
        raise ArgumentError(
            "A stratified bootstrap needs a class of at least 2 rows, or no row is ever left "
            "out; use stratified=False."
        )
    drawn, again = draw_with_replacement(strata, samples=plan.folds, seed=plan.seed)
    if rows.groups is not None:
        drawn = drawn[:, rows.groups.codes]
    notes += remarks.drawn_again(again)
    stratified = rows.classes is not None and rows.groups is None
    if stratified and rows.classes is not None:
        notes += remarks.untested_classes(rows.classes, drawn == 0)
    return _value(
        plan,
        rows,
        drawn,
        notes,
        kind="bootstrap",
        runs=1,
        # a row drawn twice teaches no more than one: the distinct rows count
        n_train=(drawn > 0).sum(axis=1),
        n_test=(drawn == 0).sum(axis=1),
        stratified=stratified,
    )
