"""Make the splits of a plan for given rows: folds, random splits, samples and time windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import ArgumentError, use
from bestofk.splits.design import Design
from bestofk.splits.folds import (
    FoldOf,
    Labelling,
    are_labels,
    column_of,
    deal,
    deal_groups,
    distinct_partitions,
    draw_with_replacement,
    equal_groups,
    expanding_windows,
    is_categorical,
    marked_rows,
    nested,
    rows_to_test,
    split_at_random,
    split_groups_at_random,
)
from bestofk.splits.registry import PLANS
from bestofk.splits.splits import Splits

if TYPE_CHECKING:
    from bestofk.splits.plans import Plan

QUANTILES = "quantiles"
MAX_QUANTILES = 10
"""Number of classes that a numeric target is cut into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRows:
    """The number of rows, their classes (to stratify by) and their groups."""

    n: int
    classes: Labelling | None
    groups: Labelling | None
    notes: tuple[str, ...]

    @property
    def strata(self) -> Labelling:
        return self.classes if self.classes is not None else Labelling.single(self.n)


def known_rows(
    n: int, y: Any, groups: Any, *, stratified: bool | str | None, never_stratified: bool
) -> KnownRows:
    """Return the classes and groups of `n` rows, or raise if `y` cannot be stratified."""
    if n < 2:
        raise ArgumentError(f"A plan needs at least 2 rows; got {n}.")
    classes, notes = None, []
    target = None if y is None else column_of(y, "y", n)
    if stratified == QUANTILES and target is not None:
        return _by_quantiles(n, target, groups, never_stratified=never_stratified)
    if stratified and target is None:
        what = "the labels y" if stratified is True else "the numbers y"
        raise ArgumentError(use(stratified=stratified), f" needs {what}; got None.")
    labelled = target is not None and (is_categorical(y) or are_labels(target))
    if stratified and not labelled:
        raise ArgumentError(
            use(stratified=True),
            " needs class labels in y; got numbers with a fractional part or times.",
        )
    if target is not None and labelled and stratified is not False:
        classes = Labelling.of(target, "y")
        notes += _note_one_class(classes)
        if stratified is None and target.dtype.kind in "iuf" and not is_categorical(y):
            notes += _note_many_classes(classes)
            classes = None if _note_many_classes(classes) else classes
    return _known(n, classes, groups, notes, never_stratified=never_stratified)


def _by_quantiles(
    n: int, target: npt.NDArray[Any], groups: Any, *, never_stratified: bool
) -> KnownRows:
    """Cut a numeric target into classes of about the same size, in ascending order."""
    if target.dtype.kind not in "iufb" or not np.isfinite(target.astype(np.float64)).all():
        raise ArgumentError(
            use(stratified=QUANTILES), " needs numbers in y; got labels or other values."
        )
    _, inverse, counts = np.unique(target, return_inverse=True, return_counts=True)
    # equal numbers share the middle of their ranks
    middle = np.cumsum(counts) - (counts + 1) / 2
    parts = max(1, min(MAX_QUANTILES, n // 2))
    part = (middle[inverse.reshape(-1)] * parts / n).astype(np.int64)
    classes = Labelling.of(part, "y")
    notes = [f"Stratified by y in {classes.count} parts of about equal size."]
    return _known(n, classes, groups, notes, never_stratified=never_stratified)


def _known(
    n: int, classes: Labelling | None, groups: Any, notes: list[str], *, never_stratified: bool
) -> KnownRows:
    parts = None if groups is None else Labelling.of(column_of(groups, "groups", n), "groups")
    if parts is not None and parts.count < 2:
        raise ArgumentError(
            f"groups must name at least 2 groups, one to train on and one to test; got only "
            f"{parts.names[0]!r}."
        )
    if never_stratified:
        classes, notes = None, []
    return KnownRows(n=n, classes=classes, groups=parts, notes=tuple(notes))


def make_splits(plan: Plan, rows: KnownRows) -> Splits:
    """Make all splits of a plan that does not use your own splits."""
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
        groups=None if rows.groups is None else equal_groups(rows.groups.sizes),
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
            f"Plan {plan.spec!r} must have at most as many folds as there are {unit} ({units}); "
            f"got {folds}."
        )
    notes: list[str] = []
    if rows.groups is None:
        fold_of = deal(rows.strata, runs=runs, folds=folds, seed=plan.seed)
        n_test = np.tile(n // folds + (np.arange(folds) < n % folds), (runs, 1))
        if rows.classes is not None:
            notes += _note_fewer_than_folds(rows.classes, folds)
    else:
        fold_of = deal_groups(rows.groups, rows.classes, runs=runs, folds=folds, seed=plan.seed)
        n_test = np.stack([np.bincount(row, minlength=folds) for row in fold_of])
        notes += _note_same_runs(runs, distinct_partitions(fold_of))
        if rows.classes is not None:
            notes += _note_best_effort(rows.classes, rows.groups)
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
        subset_marks=_subset_marks(plan, fold_of),
    )


def _subset_marks(plan: Plan, fold_of: FoldOf) -> FoldOf | None:
    """Return the folds of the runs on parts of the rows."""
    if plan.subsets is None:
        return None
    assert plan.folds is not None
    return nested(fold_of, plan.folds)


def _windows(plan: Plan, rows: KnownRows) -> Splits:
    """Make time windows; no group may be on both sides of one."""
    assert plan.folds is not None
    marks = expanding_windows(rows.n, plan.folds)
    if rows.groups is not None:
        from bestofk.splits.user_splits import refuse_divided_groups

        refuse_divided_groups(
            [(np.flatnonzero(row > 0), np.flatnonzero(row < 0)) for row in marks], rows.groups
        )
    return _value(
        plan,
        rows,
        marks,
        ["The rows are assumed to be in order of time, the oldest first."],
        kind="time",
        runs=1,
        n_train=(marks > 0).sum(axis=1),
        n_test=(marks < 0).sum(axis=1),
        stratified=False,
    )


def _marked(plan: Plan, rows: KnownRows) -> Splits:
    """Make the splits of a registered plan with its own function."""
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
    splits = _value(
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
    if rows.groups is not None:
        # a function of another package may ignore groups
        from bestofk.splits.user_splits import refuse_divided_groups

        refuse_divided_groups([(train, test) for _, _, train, test in splits], rows.groups)
    return splits


def _leave_one_out(plan: Plan, rows: KnownRows) -> Splits:
    notes = []
    if rows.groups is None:
        kind, codes = "loo", np.arange(rows.n)
        n_test = np.ones(rows.n, dtype=np.int64)
    else:
        # leaving out a group is k-fold cross-validation with the groups as folds
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
            f"Plan {plan.spec!r} must leave rows on both sides of the split; "
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
            notes += _note_best_effort(rows.classes, rows.groups)
    if rows.classes is not None:
        notes += _note_untested_classes(rows.classes, tested)
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
            f"Each sample draws {rows.groups.count} whole groups with replacement, so the number "
            "of training rows varies."
        )
        if rows.classes is not None:
            notes.append("Bootstrap samples of groups are not stratified.")
    elif int(strata.sizes.max()) == 1:
        raise ArgumentError(
            "A stratified bootstrap needs a class of at least 2 rows; otherwise no row is ever "
            "left out. Use ",
            use(stratified=False),
            ".",
        )
    drawn, again = draw_with_replacement(strata, samples=plan.folds, seed=plan.seed)
    if rows.groups is not None:
        drawn = drawn[:, rows.groups.codes]
    notes += _note_drawn_again(again)
    stratified = rows.classes is not None and rows.groups is None
    if stratified and rows.classes is not None:
        notes += _note_untested_classes(rows.classes, drawn == 0)
    return _value(
        plan,
        rows,
        drawn,
        notes,
        kind="bootstrap",
        runs=1,
        # repeated rows add no information: only distinct rows count
        n_train=(drawn > 0).sum(axis=1),
        n_test=(drawn == 0).sum(axis=1),
        stratified=stratified,
    )


# Notes on the splits, one sentence each


_MAX_NAMED = 3
MAX_NUMERIC_CLASSES = 20
"""More distinct integers than this, and than a fifth of the rows, are a quantity."""


def _of_classes(classes: Labelling, which: npt.NDArray[np.bool_]) -> str:
    """List a few classes with their sizes."""
    chosen = np.flatnonzero(which)
    named = [
        f"{classes.names[c]!r} ({int(classes.sizes[c])} row{'s' * (int(classes.sizes[c]) != 1)})"
        for c in chosen[:_MAX_NAMED]
    ]
    more = len(chosen) - len(named)
    listed = ", ".join(named) + (f" and {more} more" if more else "")
    return f"Class {listed}" if len(chosen) == 1 else f"Classes {listed}"


def _note_one_class(classes: Labelling) -> list[str]:
    """Note that there is only one class."""
    if classes.count > 1:
        return []
    return [f"All rows are of class {classes.names[0]!r}: stratification has no effect."]


def _note_many_classes(classes: Labelling) -> list[str]:
    """Note that integers with many distinct values are not stratified."""
    if classes.count <= max(MAX_NUMERIC_CLASSES, len(classes.codes) // 5):
        return []
    return [
        f"y has {classes.count} distinct integers, which are treated as a quantity, so the splits "
        "are not stratified; stratify by labels to treat them as classes."
    ]


def _note_fewer_than_folds(classes: Labelling, folds: int) -> list[str]:
    """Note which classes have fewer rows than there are folds."""
    few = classes.sizes < folds
    if not few.any():
        return []
    is_one = int(few.sum()) == 1
    sentence = (
        f"{_of_classes(classes, few)} {'has' if is_one else 'have'} fewer rows than the {folds} "
        f"folds, so some folds test {'no row of it' if is_one else 'none of their rows'}."
    )
    return [sentence, *_never_trained(classes)]


def _never_trained(classes: Labelling) -> list[str]:
    single = classes.sizes == 1
    if not single.any():
        return []
    is_one = int(single.sum()) == 1
    return [
        f"{_of_classes(classes, single)} {'is' if is_one else 'are'} predicted by models trained "
        f"without {'it' if is_one else 'them'}."
    ]


def _note_untested_classes(classes: Labelling, tested: npt.NDArray[np.bool_]) -> list[str]:
    """Note which classes no split tests, or no split trains on."""
    tested_classes = np.zeros(classes.count, dtype=bool)
    tested_classes[classes.codes[tested.any(axis=0)]] = True
    trained_classes = np.zeros(classes.count, dtype=bool)
    trained_classes[classes.codes[~tested.all(axis=0)]] = True
    notes = []
    for missing, participle in ((~tested_classes, "tested"), (~trained_classes, "trained on")):
        if missing.any():
            verb = "is" if int(missing.sum()) == 1 else "are"
            notes.append(f"{_of_classes(classes, missing)} {verb} never {participle}.")
    return notes


def _note_best_effort(classes: Labelling, groups: Labelling) -> list[str]:
    """Note that keeping groups together limits stratification."""
    return [
        f"The {groups.count} groups stay together, so the splits preserve the shares of the "
        f"{classes.count} classes only approximately."
    ]


def _note_same_runs(runs: int, distinct: int) -> list[str]:
    """Note that some runs are identical because of the groups."""
    if distinct == runs:
        return []
    return [
        f"Only {distinct} of the {runs} runs differ: the groups allow no other even division into "
        "folds."
    ]


def _note_drawn_again(count: int) -> list[str]:
    """Note that bootstrap samples without test rows were redrawn."""
    if not count:
        return []
    times = "once" if count == 1 else f"{count} times"
    return [f"Samples that held every row, and so left none to test, were redrawn {times}."]
