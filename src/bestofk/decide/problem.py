"""The input of a procedure: losses in order of preference, with their design."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints, finite_array, missing_word, refuse
from bestofk._base.errors import ArgumentError, DesignError, use
from bestofk._base.formatting import counted
from bestofk.data.frames import as_pandas
from bestofk.decide.missing_losses import MissingLosses, filled_with_worst
from bestofk.decide.preference import (
    NO_PREFERENCE,
    Name,
    Preference,
    PreferenceLike,
    arrange,
)
from bestofk.losses.losses import Metric
from bestofk.splits.design import Design

if TYPE_CHECKING:
    from bestofk.losses.losses import Losses


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a decision, for its statements.

    - `noun`: What is compared: ``"learner"`` or ``"model"``.
    - `design`: The design in words; empty: as the losses state it.
    - `details`: A phrase about a learner, such as its cost, that the verdict puts behind its name.
    - `test_reason`: Why this test was chosen, if the caller chose it.
    - `n_clusters`: Number of clusters, if clusters of items are the units of the test.
    - `clustered`: Whether these are clusters of several items, not single items.
    """

    noun: str = "learner"
    design: str = ""
    details: Mapping[Name, str] = field(default_factory=dict)
    test_reason: str = ""
    n_clusters: int | None = None
    clustered: bool = True


BOTH_PARTS = -1
"""Asks `Problem.sample` for all runs, then those on parts of the rows, in one axis."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """K learners with their losses, in order of preference (of their means, if none is stated).

    `values` is (K, runs, folds) for one data set and (K, data sets) for several; the instances
    of one test set count as folds of one run. All losses of B tables of the same design have a
    first axis of tables, each with its own order: `names` is then as listed, and `places` (B, K)
    has the learner at each position.
    """

    values: Floats
    names: tuple[Name, ...]
    design: Design
    n_datasets: int
    bare: bool
    """Given as an array: its shape is all that is known of the design."""
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Sentences about losses that do not count because some learner lacks them."""
    losses: Losses | None = None
    preference: Preference = NO_PREFERENCE
    metric: Metric = field(default_factory=Metric)
    subset_values: Floats | None = None
    """(K, subset runs, folds), if one data set has runs on parts of its rows."""
    fold_values: Floats | None = None
    """(K, data sets, runs, folds), if several data sets have the same folds."""
    subject: Subject = field(default_factory=Subject)
    missing: MissingLosses | None = None
    """The losses that some learners lack, if they were left out."""
    filled: Problem | None = None
    """The problem of all units, with the worst loss for each missing one."""
    places: Ints | None = None

    @property
    def situations(self) -> tuple[str, ...]:
        """The situations of this problem, the most particular first."""
        return self.design.situations(n_datasets=self.n_datasets)

    @property
    def fitted_once(self) -> bool:
        """True if models that were fitted once are compared, not learners."""
        return self.n_datasets == 1 and self.design.kind in ("test-set", "holdout")

    def describe(self, axes: int = 1) -> str:
        """Return the design in words, for a test of that many axes."""
        if self.subject.design:
            return self.subject.design
        if self.n_datasets > 1:
            words = f"{'folds' if axes == 3 else 'means'} on {self.n_datasets} data sets"
            if self.design.runs * self.design.folds > 1:
                words += f" ({self.design.describe()})"
            return words
        return self.design.describe()

    def sample(self, axes: int) -> Floats:
        """Return (K, n), (K, runs, folds) or (K, data sets, runs, folds), for that many axes."""
        if axes == 3:
            if self.fold_values is None:
                raise DesignError(
                    "The test needs the losses of the same folds of every data set; the losses are "
                    f"{self.describe()}."
                )
            return self.fold_values
        learners = self.values.shape[: -1 if self.n_datasets > 1 else -2]
        if axes == BOTH_PARTS:
            parts = (self.values, self.subset_values)
            flat = [part.reshape(*learners, -1) for part in parts if part is not None]
            return np.concatenate(flat, axis=-1)
        if self.values.ndim == len(learners) + axes:
            return self.values
        return self.values.reshape(*learners, -1) if axes == 1 else self.values[..., np.newaxis, :]

    def means(self) -> Floats:
        """Return the mean loss of every learner; NaN marks a run that a learner does not have."""
        losses = self.sample(1)
        mean: Floats = np.nanmean(losses, axis=-1) if np.isnan(losses).any() else losses.mean(-1)
        return mean

    def table(self, number: int) -> Problem:
        """Return the problem of one of many tables."""
        assert self.places is not None
        names = tuple(self.names[k] for k in self.places[number].tolist())
        return replace(self.tables(number), names=names, places=None, losses=None)

    def tables(self, numbers: Any) -> Problem:
        """Return some of many tables."""
        arrays = ("values", "subset_values", "fold_values", "places")
        some: dict[str, Any] = {
            name: one[numbers] for name in arrays if (one := getattr(self, name)) is not None
        }
        return replace(self, **some)


def refuse_wide_margin(problem: Problem, margin: float | None) -> None:
    """Raise an error for a margin that no difference of a metric between 0 and 1 can exceed."""
    if margin is None or margin < 1.0:
        return
    losses, metric = problem.losses, problem.metric
    of_errors = losses is not None and losses.loss_name == "zero-one"
    if metric.offset == 1.0 or of_errors or np.isin(problem.values, (0.0, 1.0)).all():
        raise refuse("margin", f"below 1, the largest possible difference in {metric.name}", margin)


def values_of(losses: Floats) -> Floats:
    """Return the values of a problem from complete losses of five axes, or of many tables."""
    per_fold: Floats = losses[..., 0] if losses.shape[-1] == 1 else losses.mean(axis=-1)
    several = losses.shape[-4] > 1
    return per_fold.mean(axis=(-2, -1)) if several else per_fold[..., 0, :, :]


def fold_values_of(losses: Floats) -> Floats | None:
    """Return the losses of all folds of several data sets from losses of five axes."""
    if losses.shape[1] == 1 or np.isnan(losses).any():
        return None
    folds: Floats = losses.mean(axis=4)
    return folds


def problem_from_array(values: Any, *, prefer: Any = None) -> Problem:
    """Return the problem of a bare (K, ...) array; learners are the integers 0..K-1."""
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
    fold_values = None
    if array.ndim == 5:
        n_datasets = array.shape[1]
        fold_values = fold_values_of(array)
        design = Design(
            kind="cv" if array.shape[3] > 1 else "scores",
            runs=array.shape[2],
            folds=array.shape[3],
            repetitions=array.shape[4],
        )
        array = values_of(array)
    else:
        runs, folds = (1, array.shape[1]) if array.ndim == 2 else array.shape[1:]
        array = array.reshape(len(array), runs, folds)
        kind = "cv" if folds > 1 else "scores"
        design = Design(kind=kind, runs=runs, folds=folds, assumed=True)
    positions, preference, notes = arrange(range(len(array)), prefer, _means(array))
    return Problem(
        values=np.ascontiguousarray(array[positions]),
        names=tuple(positions),
        design=design,
        n_datasets=n_datasets,
        fold_values=None if fold_values is None else fold_values[positions],
        bare=True,
        notes=notes,
        preference=preference,
    )


def _means(values: Floats) -> Floats:
    flat = values.reshape(len(values), -1)
    mean: Floats = np.nanmean(flat, axis=1) if np.isnan(flat).any() else flat.mean(axis=1)
    return mean


def problem_from_losses(
    losses: Losses, *, prefer: PreferenceLike = None, missing: str = "refuse"
) -> Problem:
    """Return the problem of a table of losses, in the order of preference."""
    missing = missing_word(missing)
    names = losses.algorithms
    if len(names) < 2:
        raise ArgumentError(
            f"losses must hold at least 2 learners to compare; got {len(names)} ({names[0]!r})."
        )
    design = losses.design
    values: Floats = losses.values
    dropped: tuple[str, ...] = ()
    missing_losses, complete = None, None
    fold_values = fold_values_of(values)
    if losses.complete or _unpaired(losses):
        array = values_of(values)
    elif len(losses.datasets) > 1 and _same_gaps(losses.missing):
        # only means are tested: data sets may have been run with different numbers of folds
        array = np.nanmean(values, axis=(2, 3, 4))
    else:
        if missing != "drop":
            raise DesignError(
                f"losses lack {int(losses.missing.sum())} of {losses.missing.size} cells, "
                f"{_first_missing(losses)} among them, and learners are compared on the same "
                "cells: ",
                use(missing="drop"),
                " leaves out what some learner lacks.",
            )
        per_fold, design, note = _drop_incomplete(losses)
        dropped = (note,)
        array = per_fold.mean(axis=(2, 3)) if per_fold.shape[1] > 1 else per_fold[:, 0]
        fold_values = per_fold if per_fold.shape[1] > 1 else None
        missing_losses, complete = _as_worst(losses)
    positions, preference, notes = arrange(names, prefer, _means(array))
    n_datasets = array.shape[1] if array.ndim == 2 else 1
    ordered = losses.reorder([names[k] for k in positions])
    same = np.may_share_memory(array, values)
    return Problem(
        # do not copy the ordered losses
        values=values_of(ordered.values) if same else np.ascontiguousarray(array[positions]),
        names=tuple(names[k] for k in positions),
        design=design,
        n_datasets=n_datasets,
        fold_values=None if fold_values is None else fold_values[positions],
        bare=False,
        notes=(*dropped, *notes),
        dropped=dropped,
        losses=ordered,
        preference=preference,
        metric=losses.metric,
        subset_values=_one_subset_part(ordered, design) if n_datasets == 1 else None,
        missing=missing_losses,
        filled=None if complete is None else problem_from_losses(complete, prefer=prefer),
    )


def _as_worst(losses: Losses) -> tuple[MissingLosses | None, Losses | None]:
    """Return the missing losses, and the table with the worst loss for each of them.

    Leave out data sets, runs and folds that no learner has. Return nothing if every learner lacks
    the same.
    """
    missing = losses.missing
    several = len(losses.datasets) > 1
    axis = 1 if several else 2 if losses.design.runs > 1 else 3
    others = tuple(i for i in range(1, 5) if i != axis)
    lacking = np.asarray(missing.any(axis=others))
    if (lacking == lacking[:1]).all():
        return None, None
    from bestofk.losses.losses import DIMS, Losses

    values = filled_with_worst(losses.values)
    absent = np.asarray(np.isnan(values).any(axis=(0, *others)))
    present = np.flatnonzero(~absent)
    if len(present) < 2 or np.isnan(values.take(present, axis)).any():
        return None, None
    design = losses.design
    if absent.any() and not several:
        present_cells = ~absent[:, np.newaxis] if axis == 2 else ~absent[np.newaxis]
        design = design.select(np.broadcast_to(present_cells, (design.runs, design.folds)))
    counts = lacking[:, present].sum(axis=1).tolist()
    names = losses.algorithms
    unit = {1: "data set", 2: "run", 3: "fold"}[axis]
    if design.kind == "test-set":
        unit = "instance"
    table = MissingLosses(
        counts={name: count for name, count in zip(names, counts, strict=True) if count},
        units=len(present),
        unit=unit,
    )
    subset_values = losses.subset_values
    if subset_values is not None and absent.any():
        return None, None
    complete = Losses(
        values.take(present, axis),
        dims=DIMS,
        algorithms=names,
        datasets=[losses.datasets[i] for i in present] if several else losses.datasets,
        design=design,
        loss_name=losses.loss_name,
        subset_values=subset_values,
    )
    return table, complete


def _unpaired(losses: Losses) -> bool:
    """Return whether learners may have different numbers of losses: runs of different seeds."""
    design = losses.design
    enough = (~losses.missing).sum(axis=(1, 2, 3, 4)).min() >= 2
    return design.kind == "seeds" and len(losses.datasets) == 1 and bool(enough)


def _one_subset_part(losses: Losses, design: Design) -> Floats | None:
    """Return (K, subset runs, folds) of one data set, the mean over the repetitions."""
    if losses.subset_values is None or not design.nested_runs:
        return None
    part: Floats = losses.subset_values[:, 0].mean(axis=3)
    return part


def _same_gaps(missing: Bools) -> bool:
    """Return whether every learner has the same cells, and some of every data set."""
    return bool((missing == missing[:1]).all() and not missing[0].all(axis=(1, 2, 3)).any())


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
                f"losses hold {counted(int(keep.sum()), 'data set')} that every learner has in "
                "full; at least 2 are needed."
            )
        note = _dropped(int((~keep).sum()), len(keep), "data set")
        return losses.values[:, keep].mean(axis=4), losses.design, note
    keep_fold: Bools = np.logical_not(missing.any(axis=(0, 1, 4)))
    if losses.design.runs > 1:
        complete = np.logical_and.reduce(keep_fold, axis=1)
        what, values = "run", losses.values[:, :, complete]
        mask = np.repeat(complete[:, np.newaxis], losses.design.folds, axis=1)
    else:
        complete, mask = keep_fold[0], keep_fold
        what, values = "fold", losses.values[:, :, :, complete]
    if complete.sum() < 2:
        raise DesignError(
            f"losses hold {counted(int(complete.sum()), what)} that every learner has in full; at "
            "least 2 are needed."
        )
    note = _dropped(int((~complete).sum()), len(complete), what)
    return values.mean(axis=4), losses.design.select(mask), note


def _dropped(dropped: int, total: int, what: str) -> str:
    verb, it = ("was", "it") if dropped == 1 else ("were", "them")
    return f"{dropped} of {total} {what}s {verb} left out because some learner lacks {it}."


_OF_ARRAYS = ("higher_is_better", "design")
"""Reading arguments that also apply to an array."""


def as_problem(
    losses: Any,
    *,
    prefer: PreferenceLike = None,
    missing: str = "refuse",
    arguments: MutableMapping[str, Any] | None = None,
) -> Problem:
    """Return the problem of a `Losses`, a file or data frame, or a bare (K, ...) array.

    Remove the arguments of `read_losses` from `arguments`; the rest belongs to the test.
    """
    from bestofk.losses import Losses

    reading = reading_arguments(arguments)
    losses = as_pandas(losses, "losses")
    missing = missing_word(missing)
    gaps = "refuse" if missing == "refuse" else "allow"
    if not isinstance(losses, Losses | Problem) and _is_table(losses):
        from bestofk.losses import read_losses

        losses = read_losses(losses, missing=gaps, **reading)
        reading = {}
    for name, value in reading.items():
        if isinstance(losses, Losses | Problem) or name not in _OF_ARRAYS:
            what = "losses" if isinstance(losses, Losses | Problem) else "an array"
            raise ArgumentError(
                f"{name} says how a file or a data frame is to be read; got {what} and "
                f"{name}={value!r}: leave {name} out."
            )
    if isinstance(losses, Problem):
        return losses
    if isinstance(losses, Losses):
        return problem_from_losses(losses, prefer=prefer, missing=missing)
    if reading:
        table = Losses(losses, missing=gaps, **reading)
        problem = problem_from_losses(table, prefer=prefer, missing=missing)
    else:
        problem = problem_from_array(losses, prefer=prefer)
    rows, columns = np.shape(losses)[:2]
    if np.ndim(losses) == 2 and columns > 1 and "design" not in reading:
        note = (
            f"The {rows} rows of the array are read as learners, and its {columns} columns as "
            "folds: transpose it if the columns are the learners."
        )
        problem = replace(problem, notes=(note, *problem.notes))
    return problem


def reading_arguments(arguments: MutableMapping[str, Any] | None) -> dict[str, Any]:
    """Remove the arguments of `read_losses` from those of the test, and return them."""
    if not arguments:
        return {}
    from bestofk.losses.reading import READING

    # a test may take the sizes of the splits, which are numbers; a column has a name
    names = [
        name
        for name in READING
        if name in arguments
        and (name not in ("n_train", "n_test") or isinstance(arguments[name], str))
    ]
    values = {name: arguments.pop(name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def is_named(losses: Any) -> bool:
    """Return whether losses have names of learners; a bare array has not."""
    return hasattr(losses, "algorithms") or _is_table(losses)


def _is_table(value: Any) -> bool:
    """Return whether it is a path or has columns."""
    return (
        isinstance(value, str | Mapping)
        or hasattr(value, "__fspath__")
        or hasattr(value, "columns")
    )
