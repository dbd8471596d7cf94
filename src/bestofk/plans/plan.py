"""`plan`: from a specification and a seed to the rows that train and test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import RandomState, refuse, whole
from bestofk.errors import ArgumentError
from bestofk.plans import remarks
from bestofk.plans.design import Design, Subsets
from bestofk.plans.folds import FoldOf, deal, deal_groups, distinct_partitions
from bestofk.plans.known_rows import KnownRows, known_rows
from bestofk.plans.labels import Labelling
from bestofk.plans.marked_rows import marked_rows
from bestofk.plans.random_bits import seed_of
from bestofk.plans.random_splits import (
    draw_with_replacement,
    rows_to_test,
    split_at_random,
    split_groups_at_random,
)
from bestofk.plans.registry import PLANS
from bestofk.plans.specification import Specification, specify
from bestofk.plans.splits import Split, Splits
from bestofk.plans.subsets import halves, nested
from bestofk.presenting import without_effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A resampling plan: runs of folds, random splits or samples, fixed by its seed.

    Made by `plan`. It holds no rows; `splits` and `materialise` make it for given ones.
    """

    kind: str
    runs: int
    folds: int | None
    test_fraction: float | None
    stratified: bool | None
    seed: int
    subsets: Subsets | None = None
    form: str = ""
    """The name of a registered plan that marks the rows by a function of its own."""

    @property
    def spec(self) -> str:
        """The specification in its one spelling, which `plan` takes back."""
        return str(
            Specification(
                kind=self.kind,
                runs=self.runs,
                folds=self.folds,
                test_fraction=self.test_fraction,
                subsets=self.subsets,
                form=self.form,
            )
        )

    def __str__(self) -> str:
        return self.spec

    def splits(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """(run, fold, train, test) for the rows of X, one after the other.

        Parameters
        ----------
        X : array, data frame, sparse matrix or sequence
            Only its number of rows matters.
        y : array of shape (n,), optional
            The target: labels to stratify by (text, booleans, whole numbers, categories), or a
            quantity (numbers with a fractional part), by which nothing is stratified.
        groups : array of shape (n,), optional
            Rows of one group are never on both sides of a split.

        Returns
        -------
        iterator of (int, int, ndarray, ndarray)
            Run, fold, and the ascending int64 row numbers that train and that test. A bootstrap
            sample repeats the rows that it drew repeatedly.
        """
        return iter(self.materialise(_number_of_rows(X), y, groups))

    def materialise(self, n: int, y: Any = None, groups: Any = None) -> Splits:
        """All the splits for `n` rows as one value; see `splits` for `y` and `groups`."""
        rows = known_rows(
            whole(n, "the number of rows", at_least=0),
            y,
            groups,
            stratified=self.stratified,
            leave_one_out=self.kind == "loo",
        )
        if self.form:
            return self._marked(rows)
        if self.kind == "cv":
            return self._cross_validation(rows)
        if self.kind == "loo":
            return self._leave_one_out(rows)
        if self.kind == "bootstrap":
            return self._bootstrap(rows)
        return self._random_splits(rows)

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The plan in a sentence; `names` and `alpha` have no effect."""
        without_effect(names, alpha)
        strata = {
            None: "stratified where y holds class labels",
            True: "stratified",
            False: "not stratified",
        }[self.stratified]
        if self.kind == "loo":
            return "The plan 'loo': every row is tested once by what all the others teach."
        design = Design(kind=self.kind, runs=self.runs, folds=self.folds or 1, subsets=self.subsets)
        tested = (
            "" if self.test_fraction is None else f", {self.test_fraction:g} of the rows tested"
        )
        return f"The plan {self.spec!r}: {design.describe()}{tested}, {strata}, seed {self.seed}."

    def _value(
        self,
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
            subsets=None if subset_marks is None else self.subsets,
        )
        return Splits.of(
            spec=self.spec,
            seed=self.seed,
            design=design,
            marks=marks,
            notes=(*rows.notes, *notes),
            subset_marks=subset_marks,
        )

    def _cross_validation(self, rows: KnownRows) -> Splits:
        assert self.folds is not None
        runs, folds, n = self.runs, self.folds, rows.n
        units, unit = (n, "rows") if rows.groups is None else (rows.groups.count, "groups")
        if folds > units:
            raise ArgumentError(
                f"The folds of plan {self.spec!r} must be at most as many as the {units} {unit}; "
                f"got {folds}."
            )
        notes: list[str] = []
        if rows.groups is None:
            fold_of = deal(rows.strata, runs=runs, folds=folds, seed=self.seed)
            n_test = np.tile(n // folds + (np.arange(folds) < n % folds), (runs, 1))
            if rows.classes is not None:
                notes += remarks.fewer_than_folds(rows.classes, folds)
        else:
            fold_of = deal_groups(rows.groups, rows.classes, runs=runs, folds=folds, seed=self.seed)
            n_test = np.stack([np.bincount(row, minlength=folds) for row in fold_of])
            notes += remarks.same_runs(runs, distinct_partitions(fold_of))
            if rows.classes is not None:
                notes += remarks.best_effort(rows.classes, rows.groups)
        return self._value(
            rows,
            fold_of,
            notes,
            kind="cv",
            runs=runs,
            n_train=n - n_test,
            n_test=n_test,
            stratified=rows.classes is not None,
            subset_marks=self._subset_marks(rows, fold_of),
        )

    def _subset_marks(self, rows: KnownRows, fold_of: FoldOf) -> FoldOf | None:
        """The folds of the runs on parts of the rows."""
        if self.subsets is None:
            return None
        if self.subsets.kind == "nested":
            assert self.folds is not None
            return nested(fold_of, self.folds)
        return halves(
            rows.n,
            rows.classes,
            rows.groups,
            halvings=self.subsets.halvings,
            folds=self.subsets.folds,
            seed=self.seed,
        )

    def _marked(self, rows: KnownRows) -> Splits:
        """The splits that the function of a registered plan marks."""
        marks = marked_rows(
            PLANS[self.form],
            rows.n,
            seed=self.seed,
            classes=None if rows.classes is None else rows.classes.codes,
            groups=None if rows.groups is None else rows.groups.codes,
            runs=self.runs,
            folds=self.folds,
            test_fraction=self.test_fraction,
        )
        return self._value(
            rows,
            marks.marks,
            [],
            kind=self.kind,
            runs=self.runs,
            n_train=rows.n - marks.n_test,
            n_test=marks.n_test,
            stratified=False,
        )

    def _leave_one_out(self, rows: KnownRows) -> Splits:
        notes = []
        if rows.groups is None:
            kind, codes = "loo", np.arange(rows.n)
            n_test = np.ones(rows.n, dtype=np.int64)
        else:
            # Leaving out a group is k-fold cross-validation with the groups as folds.
            kind, codes, n_test = "cv", rows.groups.codes, rows.groups.sizes
            notes.append(f"Each of the {rows.groups.count} groups is left out as a whole.")
        return self._value(
            rows,
            codes.astype(np.int32)[None, :],
            notes,
            kind=kind,
            runs=1,
            n_train=rows.n - n_test,
            n_test=n_test,
            stratified=False,
        )

    def _random_splits(self, rows: KnownRows) -> Splits:
        assert self.test_fraction is not None
        assert self.folds is not None
        n_test = rows_to_test(rows.n, self.test_fraction)
        if not 0 < n_test < rows.n:
            side = "test" if n_test == 0 else "train on"
            raise ArgumentError(
                f"The share tested by plan {self.spec!r} must leave rows on both sides; "
                f"{self.test_fraction:g} of {rows.n} rows leaves none to {side}."
            )
        notes: list[str] = []
        if rows.groups is None:
            tested = split_at_random(rows.strata, n_test=n_test, splits=self.folds, seed=self.seed)
        else:
            tested = split_groups_at_random(
                rows.groups, rows.classes, n_test=n_test, splits=self.folds, seed=self.seed
            )
            if rows.classes is not None:
                notes += remarks.best_effort(rows.classes, rows.groups)
        if rows.classes is not None:
            notes += remarks.untested_classes(rows.classes, tested)
        sizes = tested.sum(axis=1)
        return self._value(
            rows,
            tested,
            notes,
            kind=self.kind,
            runs=1,
            n_train=rows.n - sizes,
            n_test=sizes,
            stratified=rows.classes is not None,
        )

    def _bootstrap(self, rows: KnownRows) -> Splits:
        assert self.folds is not None
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
        drawn, again = draw_with_replacement(strata, samples=self.folds, seed=self.seed)
        if rows.groups is not None:
            drawn = drawn[:, rows.groups.codes]
        notes += remarks.drawn_again(again)
        stratified = rows.classes is not None and rows.groups is None
        if stratified and rows.classes is not None:
            notes += remarks.untested_classes(rows.classes, drawn == 0)
        return self._value(
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


def _number_of_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise refuse("X", "something with rows (an array, a data frame, a list)", X) from None


def plan(
    spec: str | Plan,
    *,
    runs: int | None = None,
    folds: int | None = None,
    splits: int | None = None,
    samples: int | None = None,
    test_fraction: float | None = None,
    stratified: bool | None = None,
    random_state: RandomState = 0,
) -> Plan:
    """Which rows train and which test: a resampling plan from its specification.

    Parameters
    ----------
    spec : str or Plan
        ``"10x10"`` (runs x folds), ``"5x2"``, ``"kfold:10"``, ``"holdout:0.33"`` (the share of the
        rows that is tested), ``"resample:30:0.1"`` (30 random splits), ``"loo"``,
        ``"bootstrap:200"``; or a name alone with its numbers by keyword. After runs of folds,
        ``"+halves:10x5"`` adds ten random halvings of the rows, each half with a 5-fold
        cross-validation of its own, and ``"+nested"`` leaves every pair of folds out together: runs
        on parts of the rows, from which tests of unstable learners take the variance of a mean. A
        Plan comes back as it is.
    runs, folds, splits, samples, test_fraction
        The numbers of the keyword form: ``plan("kfold", folds=10)`` (and ``runs``),
        ``plan("resample", splits=30, test_fraction=0.1)``, ``plan("bootstrap", samples=200)``.
    stratified : bool, optional
        None: stratified when the y given later holds class labels (text, booleans, whole numbers,
        categories), else not. True: labels are required. False: never. Leave-one-out is never
        stratified.
    random_state : int, numpy Generator or None
        The seed. It fixes the splits on every machine and with every version of numpy. A
        Generator gives a seed; None takes a fresh one; `seed` of the result holds it.

    Returns
    -------
    Plan
        Its `splits(X, y)` gives (run, fold, train, test); `materialise(n, y)` all of them.

    Notes
    -----
    Run r depends on the seed and r alone: ``"10x10"`` is the first ten runs of ``"20x10"``,
    ``"kfold:10"`` the first run of both, ``"holdout:0.1"`` the first split of
    ``"resample:30:0.1"``. Of y only the grouping into classes matters, not their names.

    Stratified folds: the classes stand one after the other, shuffled, and position p goes to
    fold p mod k, so that class counts per fold differ by at most one, and fold sizes too.
    Stratified random splits share out the test rows by largest remainder. A stratified bootstrap
    draws every class from its own rows. Groups stay whole, and class shares are then kept as far
    as that allows.

    References
    ----------
    .. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model
       selection", IJCAI 1995.
    .. [2] T. G. Dietterich, "Approximate statistical tests for comparing supervised classification
       learning algorithms", Neural Computation 10, 1998. doi:10.1162/089976698300017197

    Examples
    --------
    >>> from bestofk.plans import plan
    >>> y = ["a", "b", "a", "b", "a", "b"]
    >>> for run, fold, train, test in plan("kfold:3", random_state=1).splits(y, y):
    ...     print(run, fold, train, test)
    0 0 [1 2 4 5] [0 3]
    0 1 [0 1 2 3] [4 5]
    0 2 [0 3 4 5] [1 2]
    """
    if isinstance(spec, Plan):
        return spec
    if stratified is not None and not isinstance(stratified, bool | np.bool_):
        raise refuse("stratified", "True, False or None", stratified)
    given = {
        "runs": runs,
        "folds": folds,
        "splits": splits,
        "samples": samples,
        "test_fraction": test_fraction,
    }
    understood = specify(spec, given)
    return Plan(
        kind=understood.kind,
        runs=understood.runs,
        folds=understood.folds,
        test_fraction=understood.test_fraction,
        stratified=None if stratified is None else bool(stratified),
        seed=seed_of(random_state),
        subsets=understood.subsets,
        form=understood.form,
    )
