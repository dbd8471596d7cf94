"""The design of an experiment: how its splits were made, without the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from bestofk._base.checks import one_of, probability, whole
from bestofk._base.errors import ArgumentError, Part, use

Kind = Literal[
    "cv", "resample", "holdout", "loo", "bootstrap", "time", "splits", "test-set", "test-set-auc",
    "test-set-metric", "seeds", "scores",
]  # fmt: skip
KINDS: tuple[str, ...] = get_args(Kind)
_LEFT_OUT = float(np.exp(-1.0))
"""The expected share of the rows that a bootstrap sample of many rows leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The design that produced the losses.

    Parameters
    ----------
    kind : str
        ``"cv"`` (runs of folds), ``"resample"`` (random splits), ``"holdout"`` (one split),
        ``"loo"``, ``"bootstrap"``, ``"time"`` (time windows, each predicted by models trained on
        earlier rows), ``"splits"`` (your own splits without any of these structures),
        ``"test-set"`` (one loss per instance of one test set), ``"test-set-auc"`` and
        ``"test-set-metric"`` (components of the AUC, or of another metric that is not a mean over
        the instances; see `bestofk.stats.pairwise.one_test_set`), ``"seeds"`` (training runs with
        different seeds, all on one test set) or ``"scores"`` (finished numbers of unknown
        origin).
    runs, folds, repetitions : int
        The sizes of the axes *run*, *fold* and *repetition*. `folds` also counts the splits of
        ``"resample"`` and ``"bootstrap"``, the windows of ``"time"``, the instances of
        ``"test-set"`` and the training runs of ``"seeds"`` (all in one run).
    n_train, n_test : tuple of int or None
        Number of distinct training and test rows of each fold, in the order (run, fold); None if
        unknown. A bootstrap sample holds fewer distinct rows than were drawn: the overlap of two
        samples depends on the rows that they hold, not on how often they hold them.
    test_fraction : float or None
        The share of the rows that each random split tests, if the numbers of rows are unknown.
    stratified : bool or None
        Whether the folds preserve the class shares; None if unknown.
    planned_folds : int or None
        The planned number of folds of a run, if only `folds` of them are left (see `select`);
        None if all of them are present.
    nested_runs : int
        The number of additional runs in which one model leaves a pair of folds out, and is tested
        on each: one for every pair i < j of folds of every run. Tests use them to estimate how much
        a mean loss would vary with other data. They do not enter any reported mean.
    groups : int or None
        The number of groups of rows, each entirely on one side of every split; None if the rows
        are independent. If the sizes of the groups differ, it is the number of equal groups that
        show as much. Tests use groups as units: they have at most ``groups - 1`` degrees of
        freedom.
    assumed : bool
        Whether only the number of folds suggests this design. No test is then chosen automatically,
        unless this number is almost always one run of cross-validation. Not compared.

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
    nested_runs: int = 0
    groups: int | None = None
    test_fraction: float | None = None
    assumed: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", KINDS)
        whole(self.nested_runs, "nested_runs", at_least=0)
        if self.groups is not None:
            whole(self.groups, "groups", at_least=1)
        for name in ("runs", "folds", "repetitions"):
            whole(getattr(self, name), name, at_least=1)
        if self.test_fraction is not None:
            probability(self.test_fraction, "test_fraction")
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
                    f"{self.runs * self.folds} folds; got {len(sizes)} sizes, "
                    f"the smallest {min(sizes)}."
                )
            object.__setattr__(self, name, sizes)

    def situations(self, *, n_datasets: int) -> tuple[str, ...]:
        """Return the situations that tests can be designed for, the most specific first.

        See `bestofk.stats.pairwise.entry`.
        """
        if n_datasets > 1:
            folds = self.kind in ("cv", "resample", "bootstrap") and self.runs * self.folds > 2
            return ("datasets", "dataset-folds") if folds else ("datasets",)
        if self.nested_runs:
            return ("nested", *self.with_(nested_runs=0).situations(n_datasets=1))
        if self.on_test_set or (self.kind == "seeds" and self.folds > 1):
            return (self.kind,)
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
    def on_test_set(self) -> bool:
        """True if the folds are the instances (or groups of instances) of one test set."""
        return self.kind.startswith("test-set")

    @property
    def _folds_of_a_run(self) -> int:
        return self.folds if self.planned_folds is None else self.planned_folds

    def test_share(self) -> float | None:
        """Return mean n_test / mean n_train, or the ratio that the design implies; else None.

        The ratio is 1 / (k - 1) for k folds of unknown size, that of `test_fraction` for random
        splits, and the expected one for bootstrap samples.

        For time windows, use the largest n_train, which is that of the last window.

        Dropping a fold does not change how many rows the others trained and tested on.

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
        if self.test_fraction is not None:
            return self.test_fraction / (1.0 - self.test_fraction)
        if self.kind in ("cv", "loo") and self._folds_of_a_run > 1:
            return 1.0 / (self._folds_of_a_run - 1)
        if self.kind == "bootstrap":
            return _LEFT_OUT / (1.0 - _LEFT_OUT)
        return None

    def select(self, which: Any) -> Design:
        """Return the design of the folds that are left when others are dropped.

        Parameters
        ----------
        which : array_like of bool, shape (runs, folds)
            The folds to keep: whole runs, the same folds of every run, or both.

        Returns
        -------
        Design
            With the sizes of those folds. `planned_folds` remembers how many folds a run had, so
            that `test_share` does not change.
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
                "which must keep at least one fold, and the same folds in every run that it keeps."
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
        """Describe the design in words."""
        text = {
            "cv": f"{self._folds_of_a_run}-fold cross-validation",
            "resample": f"{self.runs * self.folds} random splits",
            "holdout": "one random split",
            "loo": f"leave-one-out over {self._folds_of_a_run} rows",
            "bootstrap": f"{self.runs * self.folds} bootstrap samples",
            "time": f"{self.runs * self.folds} time windows, each predicted by models trained on "
            "earlier rows",
            "splits": f"{self.runs * self.folds} splits of your own",
            **dict.fromkeys(
                ("test-set", "test-set-auc", "test-set-metric"),
                f"one test set of {self.folds} {'groups' if self.groups else 'instances'}",
            ),
            "seeds": f"{self.folds} training runs of each learner on one test set",
            "scores": "one score each"
            if self.runs * self.folds == 1
            else f"{self.runs * self.folds} scores each, of unknown origin",
        }[self.kind]
        if self.kind == "cv":
            text = f"{self.runs} runs of {text}" if self.runs > 1 else f"one run of {text}"
        if self.folds < self._folds_of_a_run:
            plural = "s" if self.folds > 1 else ""
            each = " of each" if self.runs > 1 else ""
            text = f"{text}, with {self.folds} fold{plural}{each} left"
        if self.stratified:
            text = f"{text}, stratified"
        if self.groups is not None and not self.on_test_set:
            text = f"{text}, groups kept whole (worth {self.groups} of equal size)"
        if self.repetitions > 1:
            text = f"{text}, {self.repetitions} repetitions of each"
        if self.nested_runs:
            pairs = f"{self.nested_runs} pairs of folds left out together"
            text = f"{text}, with nested cross-validation ({pairs})"
        return text

    def with_(self, **changes: Any) -> Design:
        """Return a copy with the given changes."""
        return replace(self, **changes)


# The design of a table that states only the number of its splits

CERTAIN_FOLDS = frozenset({2, 3, 4, 5, 6, 7, 8, 10})
"""Numbers of splits that are almost always one run of cross-validation."""
_USUAL_FOLDS = (10, 5, 3, 2, 4)
"""Folds of a run in repeated cross-validation, the most common first."""
_MOST_RUNS = 20
_EXAMPLE_SHARE = 0.2


def is_certain(splits: int) -> bool:
    """Return whether this number of splits is almost always one run of cross-validation.

    Examples
    --------
    >>> is_certain(5), is_certain(10), is_certain(50), is_certain(9)
    (True, True, False, False)
    """
    return splits in CERTAIN_FOLDS


def design_advice(splits: int) -> tuple[Part, ...]:
    """Return the designs that this number of splits may have, as advice of an error.

    Examples
    --------
    >>> "".join(map(str, design_advice(50)))[:70]
    "design='5x10' (5 runs of 10 folds), design='10x5' (10 runs of 5 folds)"
    """
    parts: list[Part] = []
    repeated = [
        (splits // folds, folds)
        for folds in _USUAL_FOLDS
        if not is_certain(splits) and splits % folds == 0 and 1 < splits // folds <= _MOST_RUNS
    ]
    for runs, folds in repeated[:3]:
        parts += [use(design=f"{runs}x{folds}"), f" ({runs} runs of {folds} folds), "]
    return (
        *parts,
        use(design=f"kfold:{splits}"),
        f" (one run of {splits} folds) or ",
        use(design=f"resample:{splits}:{_EXAMPLE_SHARE}"),
        f" (random splits that test a share of {_EXAMPLE_SHARE} of the rows)",
    )


def unclear_design(source: str, splits: int, *more: Part) -> tuple[Part, ...]:
    """Return the parts of an error about splits that may have several designs.

    `more` names further readings of the numbers.
    """
    return (
        f"{source}: {splits} splits may come from several designs, which need different tests: "
        "pass ",
        *design_advice(splits),
        *more,
        ".",
    )
