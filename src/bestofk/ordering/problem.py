"""What a procedure is given: losses in prior order, and what tests may be asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.checks import Floats, finite_array, one_of
from bestofk.errors import ArgumentError, DesignError
from bestofk.ordering.graph import Bools
from bestofk.plans.design import Design

if TYPE_CHECKING:
    from bestofk.losses.losses import Losses

Name = int | str
Prior = Sequence[str] | Mapping[str, float] | None
BOTH_PARTS = -1
"""Asks `Problem.sample` for all runs, then those on parts of the rows, in one axis."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """K learners in prior order with their losses on the same splits.

    `values` is (K, runs, folds) for one data set and (K, data sets) for several; the instances
    of one test set count as folds of one run.
    """

    values: Floats
    names: tuple[Name, ...]
    design: Design
    n_datasets: int
    bare: bool
    """Given as an array: its shape is all that is known of the design."""
    notes: tuple[str, ...] = ()
    losses: Losses | None = None
    subset_values: Floats | None = None
    """(K, subset runs, folds), where one data set has runs on parts of its rows."""

    @property
    def situations(self) -> tuple[str, ...]:
        """The situations of this problem, the most particular first."""
        return self.design.situations(n_datasets=self.n_datasets)

    def describe(self) -> str:
        """The design in words."""
        if self.n_datasets > 1:
            words = f"mean losses on {self.n_datasets} data sets"
            if self.design.runs * self.design.folds > 1:
                words += f" ({self.design.describe()})"
            return words
        return self.design.describe()

    def sample(self, axes: int) -> Floats:
        """(K, n) or (K, runs, folds), as a test with that many trailing axes wants it."""
        if axes == BOTH_PARTS:
            parts = (self.values, self.subset_values)
            flat = [part.reshape(len(part), -1) for part in parts if part is not None]
            return np.concatenate(flat, axis=1)
        if self.values.ndim == 1 + axes:
            return self.values
        if axes == 1:
            return self.values.reshape(len(self.values), -1)
        return self.values[:, np.newaxis, :]

    def means(self) -> Floats:
        """Mean loss of every learner."""
        mean: Floats = self.sample(1).mean(axis=1)
        return mean


def problem_from_array(values: Any) -> Problem:
    """A bare (K, ...) array: learners are the integers 0..K-1, 0 the most preferred."""
    array = finite_array(values, "losses", min_ndim=2)
    if len(array) < 2:
        raise ArgumentError(
            f"losses must hold at least 2 learners on the first axis; got shape {array.shape}."
        )
    if array.ndim not in (2, 3, 5):
        raise ArgumentError(
            "losses must have the axes (learner, fold), (learner, run, fold) or (learner, "
            f"data set, run, fold, repetition); got shape {array.shape}."
        )
    n_datasets = 1
    if array.ndim == 5:
        n_datasets = array.shape[1]
        repetitions = array.shape[4]
        array = array.mean(axis=4)
        design = Design(
            kind="cv" if array.shape[3] > 1 else "scores",
            runs=array.shape[2],
            folds=array.shape[3],
            repetitions=repetitions,
        )
        array = array.mean(axis=(2, 3)) if n_datasets > 1 else array[:, 0]
    else:
        runs, folds = (1, array.shape[1]) if array.ndim == 2 else array.shape[1:]
        array = array.reshape(len(array), runs, folds)
        kind = "cv" if folds > 1 else "scores"
        design = Design(kind=kind, runs=runs, folds=folds)
    return Problem(
        values=array,
        names=tuple(range(len(array))),
        design=design,
        n_datasets=n_datasets,
        bare=True,
    )


def problem_from_losses(losses: Losses, *, prior: Prior = None, missing: str = "refuse") -> Problem:
    """A table of losses with its design, put into prior order."""
    one_of(missing, "missing", ("refuse", "drop"))
    names, notes = arrange(losses.algorithms, prior)
    if len(names) < 2:
        raise ArgumentError(
            f"losses must hold at least 2 learners to compare; got {len(names)} ({names[0]!r})."
        )
    losses = losses.reorder(names)
    design = losses.design
    values: Floats = losses.values
    if losses.complete:
        per_fold = values.mean(axis=4)
    else:
        if missing == "refuse":
            raise DesignError(
                f"losses lack {int(losses.missing.sum())} of {losses.missing.size} cells, "
                f"{_first_missing(losses)} among them: missing='drop' compares on what all "
                "learners have, and 'bootstrap-b' takes missing cells as intervals."
            )
        per_fold, design, note = _drop_incomplete(losses)
        notes += (note,)
    n_datasets = per_fold.shape[1]
    array = per_fold.mean(axis=(2, 3)) if n_datasets > 1 else per_fold[:, 0]
    return Problem(
        values=np.ascontiguousarray(array),
        names=tuple(names),
        design=design,
        n_datasets=n_datasets,
        bare=False,
        notes=notes,
        losses=losses,
        subset_values=_one_subset_part(losses, design) if n_datasets == 1 else None,
    )


def _one_subset_part(losses: Losses, design: Design) -> Floats | None:
    """(K, subset runs, folds) of one data set, mean over the repetitions."""
    if losses.subset_values is None or design.subsets is None:
        return None
    part: Floats = losses.subset_values[:, 0].mean(axis=3)
    return part


def arrange(names: Sequence[str], prior: Prior) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The learners in the order of the prior, and what is to be said of it.

    A prior may name some learners only: the others follow as they are listed.
    """
    if prior is None:
        return tuple(names), ()
    if isinstance(prior, str):
        raise ArgumentError(
            f"prior must be a list of learners, most preferred first; got the text {prior!r}."
        )
    if isinstance(prior, Mapping):
        prices = {name: _price(name, price) for name, price in prior.items()}
        absent = [name for name in names if name not in prices]
        if absent:
            raise ArgumentError(
                f"prior must give a price for every learner; got none for {absent[0]!r}."
            )
        wanted = sorted(prices, key=lambda name: (prices[name], _place(names, name)))
    else:
        wanted = [str(name) for name in prior]
    for place, name in enumerate(wanted):
        if name not in names:
            known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise ArgumentError(f"prior names {name!r}, which is none of the learners: {known}.")
        if name in wanted[:place]:
            raise ArgumentError(f"prior names {name!r} twice.")
    rest = tuple(name for name in names if name not in set(wanted))
    notes = (f"The prior leaves out {len(rest)} learners: they follow as listed.",) if rest else ()
    return (*wanted, *rest), notes


def _price(name: str, price: Any) -> float:
    try:
        number = float(price)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise ArgumentError(f"prior must give a number for {name!r}; got {price!r}.")
    return number


def _place(names: Sequence[str], name: str) -> int:
    return list(names).index(name) if name in names else len(names)


def _first_missing(losses: Losses) -> str:
    a, d, run, fold, repetition = (int(i) for i in np.argwhere(losses.missing)[0])
    where = f"{losses.algorithms[a]!r} on {losses.datasets[d]!r}"
    return f"{where} (run {run + 1}, fold {fold + 1}, repetition {repetition + 1})"


def _drop_incomplete(losses: Losses) -> tuple[Floats, Design, str]:
    """Keep the data sets (or, of one data set, the folds) that every learner has in full."""
    missing = losses.missing
    if len(losses.datasets) > 1:
        keep: Bools = np.logical_not(missing.any(axis=(0, 2, 3, 4)))
        if keep.sum() < 2:
            raise DesignError(
                f"losses hold {int(keep.sum())} data sets that every learner has in full; "
                "at least 2 are needed."
            )
        note = (
            f"{int((~keep).sum())} of {len(keep)} data sets were left out because some learner "
            "lacks them."
        )
        return losses.values[:, keep].mean(axis=4), losses.design, note
    keep_fold: Bools = np.logical_not(missing.any(axis=(0, 1, 4)))
    if losses.design.runs > 1:
        keep_run: Bools = np.logical_and.reduce(keep_fold, axis=1)
        values = losses.values[:, :, keep_run]
        n_kept, n_all, what = int(keep_run.sum()), len(keep_run), "runs"
        sizes = np.repeat(keep_run[:, np.newaxis], losses.design.folds, axis=1).ravel()
        changes: dict[str, Any] = {"runs": n_kept}
    else:
        values = losses.values[:, :, :, keep_fold[0]]
        n_kept, n_all, what = int(keep_fold.sum()), keep_fold.size, "folds"
        sizes = keep_fold.ravel()
        changes = {"folds": n_kept}
    if n_kept < 2:
        raise DesignError(
            f"losses hold {n_kept} {what} that every learner has in full; at least 2 are needed."
        )
    for name in ("n_train", "n_test"):
        known = getattr(losses.design, name)
        changes[name] = None if known is None else tuple(np.asarray(known)[sizes])
    note = f"{n_all - n_kept} of {n_all} {what} were left out because some learner lacks them."
    return values.mean(axis=4), losses.design.with_(**changes), note
