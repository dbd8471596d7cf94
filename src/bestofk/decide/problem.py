"""The input of a rule: losses in order of preference, with their design."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints, finite_array, missing_word, refuse
from bestofk._base.errors import ArgumentError, DesignError, use
from bestofk._base.formatting import counted
from bestofk.data.cells import as_pandas
from bestofk.decide.evidence import MissingLosses, filled_with_worst
from bestofk.decide.preference import (
    NO_PREFERENCE,
    Name,
    Preference,
    PreferenceLike,
    arrange,
)
from bestofk.losses.losses import Metric, cell_words
from bestofk.splits.design import Design

if TYPE_CHECKING:
    from bestofk.losses.losses import Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a decision, for its statements.

    - `noun`: What is compared: ``"learner"`` or ``"model"``.
    - `design`: The design in words; empty: as the losses state it.
    - `details`: A phrase about a learner, such as its cost, that the verdict puts behind its name.
    - `test_reason`: Why this test was chosen, if the caller chose it by its name.
    - `n_clusters`: Number of clusters, if clusters of items are the units of the test.
    - `clustered`: Whether these are clusters of several items, not single items.
    - `but`: What other metrics say about the recommended learner, in a phrase.
    - `lacking`: Which learners lack units, in a sentence.
    """

    noun: str = "learner"
    design: str = ""
    details: Mapping[Name, str] = field(default_factory=dict)
    test_reason: str = ""
    n_clusters: int | None = None
    clustered: bool = True
    but: str = ""
    lacking: str = ""


MAX_PAIRS = 5_000_000
"""Pairs of learners that a decision may compare; each needs about 100 bytes."""
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
    losses: Scores | None = None
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
    def zero_one(self) -> bool:
        """True if every loss is 0 or 1."""
        return bool(np.isin(self.values, (0.0, 1.0)).all())

    @property
    def fitted_once(self) -> bool:
        """True if models that were fitted once are compared, not learners."""
        return self.n_datasets == 1 and self.design.kind in ("test-set", "holdout")

    @property
    def n_units(self) -> int:
        """The number of data sets, instances, clusters or folds that a test counts."""
        if self.subject.n_clusters is not None:
            return self.subject.n_clusters
        return int(self.sample(1).shape[1])

    @property
    def unit(self) -> str:
        """The noun for one of them."""
        if self.n_datasets > 1:
            return "data set"
        if not self.design.on_test_set:
            return "run" if self.design.kind == "seeds" else "fold"
        if self.subject.n_clusters is not None and self.subject.clustered:
            return "cluster"
        return "item" if self.subject.noun == "model" else "test instance"

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
        """Return the mean loss of every learner."""
        return _means(self.sample(1))

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
    if metric.offset == 1.0 or of_errors or problem.zero_one:
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
    positions, preference, notes = arrange(
        range(len(array)), prefer, _means(array.reshape(len(array), -1))
    )
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


def _means(losses: Floats) -> Floats:
    """Return the means over the last axis; NaN marks a run that a learner does not have."""
    mean: Floats = np.nanmean(losses, axis=-1) if np.isnan(losses).any() else losses.mean(axis=-1)
    return mean


def problem_from_losses(
    losses: Scores, *, prefer: PreferenceLike = None, missing: str = "refuse"
) -> Problem:
    """Return the problem of a table of losses, in the order of preference."""
    names = losses.learners
    if len(names) < 2:
        raise ArgumentError(
            f"losses must hold at least 2 learners to compare; got {len(names)} ({names[0]!r})."
        )
    n_pairs = len(names) * (len(names) - 1) // 2
    if n_pairs > MAX_PAIRS:
        raise ArgumentError(
            f"{len(names)} learners have {n_pairs} pairs, more than the limit of {MAX_PAIRS}: "
            f"compare at most {isqrt(2 * MAX_PAIRS)} learners."
        )
    units = _Common(losses.losses, losses.design)
    same_gaps = not losses.complete and _same_gaps(losses)
    if not (losses.complete or same_gaps or _unpaired(losses)):
        if missing != "drop":
            first = cell_words(np.argwhere(losses.missing)[0], names, losses.datasets)
            raise DesignError(
                f"losses lack {int(losses.missing.sum())} of {losses.missing.size} cells, "
                f"{first} among them, and learners are compared on the same "
                "cells: ",
                use(missing="drop"),
                " leaves out what some learner lacks.",
            )
        units = _common_units(losses)
    values = units.values
    # data sets may have been run with different numbers of folds: only their means are tested
    array = np.nanmean(values, axis=(2, 3, 4)) if same_gaps else values_of(values)
    fold_values = fold_values_of(values)
    positions, preference, notes = arrange(names, prefer, _means(array.reshape(len(array), -1)))
    n_datasets = array.shape[1] if array.ndim == 2 else 1
    ordered = losses.select(learners=[names[k] for k in positions])
    same = np.may_share_memory(array, losses.losses)
    return Problem(
        # do not copy the ordered losses
        values=values_of(ordered.losses) if same else np.ascontiguousarray(array[positions]),
        names=tuple(names[k] for k in positions),
        design=units.design,
        n_datasets=n_datasets,
        fold_values=None if fold_values is None else fold_values[positions],
        bare=False,
        notes=notes,
        dropped=units.dropped,
        losses=ordered,
        preference=preference,
        metric=losses.metric,
        subset_values=_one_subset_part(ordered, units.design) if n_datasets == 1 else None,
        missing=units.missing,
        filled=None if units.filled is None else problem_from_losses(units.filled, prefer=prefer),
    )


class _Common(NamedTuple):
    """The losses of the units that every learner has, and the table with the worst in the gaps."""

    values: Floats
    design: Design
    dropped: tuple[str, ...] = ()
    missing: MissingLosses | None = None
    filled: Scores | None = None


def _common_units(losses: Scores) -> _Common:
    """Keep the data sets (or, of one data set, the runs or folds) that every learner has in full.

    The filled table has all units that some learner has. It is None if every learner lacks the
    same units.
    """
    from bestofk.losses.losses import DIMS, Scores

    axis = 1 if len(losses.datasets) > 1 else 2 if losses.design.runs > 1 else 3
    unit = {1: "data set", 2: "run", 3: "fold"}[axis]
    others = tuple(i for i in range(1, 5) if i != axis)
    lacking = np.asarray(losses.missing.any(axis=others))
    complete: Bools = np.asarray(~lacking.any(axis=0))
    count, total = int(complete.sum()), len(complete)
    if count < 2:
        raise DesignError(
            f"losses hold {counted(count, unit)} that every learner has in full; at least 2 are "
            "needed."
        )
    verb, it = ("was", "it") if total - count == 1 else ("were", "them")
    note = f"{total - count} of {total} {unit}s {verb} left out because some learner lacks {it}."
    common = _Common(
        losses.losses.compress(complete, axis), _design_of(losses, complete, axis), (note,)
    )
    worst = filled_with_worst(losses.losses)
    present: Bools = np.asarray(~np.isnan(worst).any(axis=(0, *others)))
    partly_nested = losses.subset_values is not None and not present.all()
    if (lacking == lacking[:1]).all() or present.sum() < 2 or partly_nested:
        return common
    counts = zip(losses.learners, lacking[:, present].sum(axis=1).tolist(), strict=True)
    names = losses.datasets
    return common._replace(
        missing=MissingLosses(
            counts={name: count for name, count in counts if count},
            units=int(present.sum()),
            unit="instance" if losses.design.kind == "test-set" else unit,
        ),
        filled=Scores(
            worst.compress(present, axis),
            dims=DIMS,
            learners=losses.learners,
            datasets=[names[i] for i in np.flatnonzero(present)] if axis == 1 else names,
            design=_design_of(losses, present, axis),
            loss_name=losses.loss_name,
            subset_values=losses.subset_values,
        ),
    )


def _design_of(losses: Scores, keep: Bools, axis: int) -> Design:
    """Return the design of some data sets, runs or folds."""
    design = losses.design
    if axis == 1 or keep.all():
        return design
    cells = keep[:, np.newaxis] if axis == 2 else keep[np.newaxis]
    return design.select(np.broadcast_to(cells, (design.runs, design.folds)))


def _unpaired(losses: Scores) -> bool:
    """Return whether learners may have different numbers of losses: runs of different seeds."""
    design = losses.design
    enough = (~losses.missing).sum(axis=(1, 2, 3, 4)).min() >= 2
    return design.kind == "seeds" and len(losses.datasets) == 1 and bool(enough)


def _one_subset_part(losses: Scores, design: Design) -> Floats | None:
    """Return (K, subset runs, folds) of one data set, the mean over the repetitions."""
    if losses.subset_values is None or not design.nested_runs:
        return None
    part: Floats = losses.subset_values[:, 0].mean(axis=3)
    return part


def _same_gaps(losses: Scores) -> bool:
    """Return whether every learner has the same cells of several data sets, and some of each."""
    missing = losses.missing
    same = (missing == missing[:1]).all() and not missing[0].all(axis=(1, 2, 3)).any()
    return len(losses.datasets) > 1 and bool(same)


_OF_ARRAYS = ("higher_is_better", "design")
"""Reading arguments that also apply to an array."""


def as_problem(
    losses: Any,
    *,
    prefer: PreferenceLike = None,
    missing: str = "refuse",
    reading: Mapping[str, Any] | None = None,
) -> Problem:
    """Return the problem of a `Scores`, a file or data frame, or a bare (K, ...) array.

    `reading` has arguments of `read_scores`; see `reading_arguments`.
    """
    from bestofk.losses import Scores

    reading = reading or {}
    losses = as_pandas(losses, "losses")
    missing = missing_word(missing)
    if not isinstance(losses, Scores) and _is_table(losses):
        from bestofk.losses import read_scores

        losses = read_scores(losses, missing="allow", **reading)
        reading = {}
    for name, value in reading.items():
        if isinstance(losses, Scores) or name not in _OF_ARRAYS:
            what = "losses" if isinstance(losses, Scores) else "an array"
            raise ArgumentError(
                f"{name} says how a file or a data frame is to be read; got {what} and "
                f"{name}={value!r}: leave {name} out."
            )
    if isinstance(losses, Scores):
        return problem_from_losses(losses, prefer=prefer, missing=missing)
    if reading:
        table = Scores(losses, missing="allow", **reading)
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


def reading_arguments(arguments: MutableMapping[str, Any]) -> dict[str, Any]:
    """Remove the arguments of `read_scores` from those of the test, and return those given."""
    from bestofk.losses.reading import READING

    values = {name: arguments.pop(name) for name in READING if name in arguments}
    return {name: value for name, value in values.items() if value is not None}


def is_named(losses: Any) -> bool:
    """Return whether losses have names of learners; a bare array has not."""
    return hasattr(losses, "learners") or _is_table(losses)


def _is_table(value: Any) -> bool:
    """Return whether it is a path, has columns, lists rows, or is a report of skore."""
    return (
        isinstance(value, str | Mapping)
        or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))
        or hasattr(value, "__fspath__")
        or hasattr(value, "columns")
        or hasattr(value, "metrics")
    )
