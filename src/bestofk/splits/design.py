"""The shape of a resampling plan, without its rows: what a test must know of the losses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import factorial
from typing import Any, Literal, get_args

import numpy as np

from bestofk._base.checks import one_of, whole
from bestofk._base.errors import ArgumentError

Kind = Literal[
    "cv", "resample", "holdout", "loo", "bootstrap", "time", "splits", "test-set", "scores"
]
KINDS: tuple[str, ...] = get_args(Kind)
SUBSETS = ("halves", "nested")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsets:
    """Runs of cross-validation on parts of the rows, next to those on all of them.

    They say how much a mean loss would vary with other data; no mean is taken over them.

    Parameters
    ----------
    kind : {"halves", "nested"}
        ``"halves"``: the rows are halved at random, and each half is cross-validated on its own;
        runs 2 m and 2 m + 1 are the two sides of halving m. ``"nested"``: one run for every pair
        i < j of folds of every run, both left out together; it tests fold i, then fold j, by one
        model that saw neither.
    runs, folds : int
        How many such runs there are, and folds that each tests.

    Examples
    --------
    >>> Subsets(kind="halves", runs=20, folds=5).describe()
    '10 halvings of the rows, each half with 5-fold cross-validation of its own'
    """

    kind: str
    runs: int
    folds: int

    def __post_init__(self) -> None:
        one_of(self.kind, "kind of subsets", SUBSETS)
        whole(self.runs, "runs of subsets", at_least=2 if self.kind == "halves" else 1)
        whole(self.folds, "folds of subsets", at_least=1)
        if self.kind == "nested" and self.folds != 2:
            raise ArgumentError(f"folds of nested runs must be 2, the pair; got {self.folds}.")
        if self.kind == "halves" and self.runs % 2:
            raise ArgumentError(f"runs of halves must be even, two a halving; got {self.runs}.")

    @property
    def halvings(self) -> int:
        """Pairs of halves; 0 for nested runs."""
        return self.runs // 2 if self.kind == "halves" else 0

    def describe(self) -> str:
        """The runs on parts of the rows in words."""
        if self.kind == "nested":
            return f"nested cross-validation ({self.runs} pairs of folds left out together)"
        many = f"{self.halvings} halvings" if self.halvings > 1 else "one halving"
        return f"{many} of the rows, each half with {self.folds}-fold cross-validation of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How the losses came about.

    Parameters
    ----------
    kind : str
        ``"cv"`` (runs of folds), ``"resample"`` (random splits), ``"holdout"`` (one split),
        ``"loo"``, ``"bootstrap"``, ``"time"`` (windows in order of time, each tested by what came
        before it), ``"splits"`` (splits of your own without any of these structures),
        ``"test-set"`` (one loss per instance of one test set) or ``"scores"`` (finished numbers,
        origin not stated).
    runs, folds, repetitions : int
        The sizes of the axes *run*, *fold* and *repetition*. Splits of ``"resample"`` and
        ``"bootstrap"`` and windows of ``"time"`` are counted by `folds` (one run), instances of
        ``"test-set"`` too.
    n_train, n_test : tuple of int or None
        Distinct rows in the training and in the test part, by fold, in the order (run, fold);
        None where they are not known. Of a bootstrap sample that is fewer than were drawn: how
        much two samples share hangs on the rows they hold, not on how often.
    stratified : bool or None
        Whether the class shares were kept; None where that is not known.
    planned_folds : int or None
        Folds of a run as planned, where only `folds` of them are left (see `select`); None where
        all of them are there.
    subsets : Subsets or None
        Runs on parts of the rows, which tests of unstable learners need.
    groups : int or None
        How many groups of rows there are, none of which is on both sides of a split; None where
        every row stands for itself. Tests take the groups as units: no more degrees of freedom
        than one less than there are.

    Examples
    --------
    >>> Design(kind="cv", runs=10, folds=10).describe()
    '10 runs of 10-fold cross-validation'
    >>> Design(kind="cv", runs=5, folds=2).situations(n_datasets=1)
    ('5x2', 'repeated-kfold')
    """

    kind: str = "scores"
    runs: int = 1
    folds: int = 1
    repetitions: int = 1
    n_train: tuple[int, ...] | None = None
    n_test: tuple[int, ...] | None = None
    stratified: bool | None = None
    planned_folds: int | None = None
    subsets: Subsets | None = None
    groups: int | None = None

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", KINDS)
        if self.groups is not None:
            whole(self.groups, "groups", at_least=1)
        for name in ("runs", "folds", "repetitions"):
            whole(getattr(self, name), name, at_least=1)
        if self.planned_folds is not None:
            whole(self.planned_folds, "planned_folds", at_least=self.folds)
        for name in ("n_train", "n_test"):
            sizes = getattr(self, name)
            if sizes is None:
                continue
            sizes = tuple(int(n) for n in np.atleast_1d(np.asarray(sizes)).ravel())
            if len(sizes) == 1:
                sizes *= self.runs * self.folds
            if len(sizes) != self.runs * self.folds or min(sizes) < 1:
                raise ArgumentError(
                    f"{name} must hold one size of at least 1 for each of the "
                    f"{self.runs * self.folds} folds; got {len(sizes)} from {min(sizes)}."
                )
            object.__setattr__(self, name, sizes)

    def situations(self, *, n_datasets: int) -> tuple[str, ...]:
        """What tests can be made for, the most particular first (see pairwise.registry)."""
        if n_datasets > 1:
            return ("datasets",)
        if self.subsets is not None:
            return (self.subsets.kind, *self.with_(subsets=None).situations(n_datasets=1))
        if self.kind == "test-set":
            return ("test-set",)
        if self.kind in ("resample", "bootstrap", "time") and self.runs * self.folds > 1:
            return (self.kind,)
        if self.kind == "loo" and self.folds > 1:
            return ("kfold", "loo")
        if self.kind == "cv":
            if self.runs == 5 and self.folds == self._folds_of_a_run == 2:
                return ("5x2", "repeated-kfold")
            if self.runs > 1 and self.folds > 1:
                return ("repeated-kfold",)
            if self.folds > 1:
                return ("kfold",)
        return ()

    @property
    def _folds_of_a_run(self) -> int:
        return self.folds if self.planned_folds is None else self.planned_folds

    def test_share(self) -> float | None:
        """Mean n_test / mean n_train; 1 / (k - 1) for k folds of unknown size; else None.

        Of windows in time the largest n_train counts: that of the last one, by all rows before it.

        A fold that is dropped does not change how many rows the others trained and tested on.

        Examples
        --------
        >>> nine_of_ten = Design(kind="cv", folds=10).select([[True] * 9 + [False]])
        >>> nine_of_ten.folds, round(nine_of_ten.test_share(), 4)
        (9, 0.1111)
        """
        if self.n_train is not None and self.n_test is not None:
            if self.kind == "time":
                return float(np.mean(self.n_test) / np.max(self.n_train))
            return float(np.sum(self.n_test) / np.sum(self.n_train))
        if self.kind in ("cv", "loo") and self._folds_of_a_run > 1:
            return 1.0 / (self._folds_of_a_run - 1)
        return None

    def select(self, which: Any) -> Design:
        """The design of the folds that are left when others are dropped.

        Parameters
        ----------
        which : array_like of bool, shape (runs, folds)
            The folds to keep: whole runs, the same folds of every run, or both.

        Returns
        -------
        Design
            With the sizes of those folds; `planned_folds` remembers how many a run had, so that
            `test_share` stays what it was.
        """
        mask = np.asarray(which, dtype=bool)
        if mask.shape != (self.runs, self.folds):
            raise ArgumentError(
                f"which must have the shape {(self.runs, self.folds)} of runs and folds; "
                f"got {mask.shape}."
            )
        runs, folds = mask.any(axis=1), mask.any(axis=0)
        if not mask.any() or (mask != np.logical_and.outer(runs, folds)).any():
            raise ArgumentError(
                "which must keep at least one fold, and the same folds of every run that it "
                "keeps; got something else."
            )
        changes: dict[str, Any] = {"runs": int(runs.sum()), "folds": int(folds.sum())}
        if changes["folds"] < self.folds and self.kind in ("cv", "loo"):
            changes["planned_folds"] = self._folds_of_a_run
        for name in ("n_train", "n_test"):
            known = getattr(self, name)
            if known is not None:
                changes[name] = tuple(np.asarray(known)[mask.ravel()])
        return self.with_(**changes)

    def describe(self) -> str:
        """The design in words."""
        text = {
            "cv": f"{self._folds_of_a_run}-fold cross-validation",
            "resample": f"{self.runs * self.folds} random splits",
            "holdout": "one random split",
            "loo": f"leave-one-out over {self._folds_of_a_run} rows",
            "bootstrap": f"{self.runs * self.folds} bootstrap samples",
            "time": f"{self.runs * self.folds} windows in order of time, each tested by what came "
            "before it",
            "splits": f"{self.runs * self.folds} splits of your own",
            "test-set": f"one test set of {self.folds} {'groups' if self.groups else 'instances'}",
            "scores": "one score each"
            if self.runs * self.folds == 1
            else f"{self.runs * self.folds} scores each, origin not stated",
        }[self.kind]
        if self.kind == "cv":
            text = f"{self.runs} runs of {text}" if self.runs > 1 else f"one run of {text}"
        if self.folds < self._folds_of_a_run:
            plural = "s" if self.folds > 1 else ""
            each = " of each" if self.runs > 1 else ""
            text = f"{text}, with {self.folds} fold{plural}{each} left"
        if self.stratified:
            text = f"{text}, stratified"
        if self.groups is not None and self.kind != "test-set":
            text = f"{text}, {self.groups} groups kept whole"
        if self.repetitions > 1:
            text = f"{text}, {self.repetitions} repetitions of each"
        if self.subsets is not None:
            text = f"{text}, with {self.subsets.describe()}"
        return text

    def with_(self, **changes: Any) -> Design:
        """The same design but for the changes."""
        return replace(self, **changes)


# How many ways there are to split rows into folds.


def number_of_kfold_splits(n: int, k: int, *, ordered: bool = True) -> int:
    """Number of ways to split `n` rows into `k` folds whose sizes differ by at most one.

    Parameters
    ----------
    n, k : int
        Rows and folds, 2 <= k <= n.
    ordered : bool
        True (as printed by Ler) counts the same folds in another order as another split; only
        folds of the same size change places, since the folds of m + 1 rows come first. False
        counts every partition once.

    Returns
    -------
    int
        Exact, however large.

    Notes
    -----
    With m = floor(n / k), p = n mod k and q = k - p (the text prints q = k - i), there are p
    folds of m + 1 rows and q of m rows, and the number is::

        prod_{i=1..p} C(n - (m+1)(i-1), m+1)  *  prod_{j=1..q} C(n - (m+1)p - m(j-1), m)

    which telescopes to n! / ((m+1)!^p m!^q). Unordered it is divided by p! q!.

    References
    ----------
    .. [1] D. Ler, "Algorithm selection fundamentals", section 5.3, after R. Kohavi, "A study of
       cross-validation and bootstrap for accuracy estimation and model selection", IJCAI 1995.

    Examples
    --------
    >>> number_of_kfold_splits(4, 2), number_of_kfold_splits(4, 2, ordered=False)
    (6, 3)
    >>> number_of_kfold_splits(5, 2)
    10
    """
    n = whole(n, "n", at_least=2)
    k = whole(k, "k", at_least=2)
    if k > n:
        raise ArgumentError(f"k must be at most the number of rows n = {n}; got {k}.")
    m, p = divmod(n, k)
    q = k - p
    count = factorial(n)
    for size, times in ((m + 1, p), (m, q)):
        # pow of two int arguments, the exponent not negative: an exact int.
        count //= int(pow(factorial(size), times))
    return count if ordered else count // (factorial(p) * factorial(q))
