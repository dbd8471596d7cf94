"""Arrange an array of losses on all five axes, and check its missing cells and its design."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, missing_word, refuse
from bestofk._base.errors import ArgumentError, use
from bestofk.splits.design import KINDS, Design

DIMS = ("algorithm", "dataset", "run", "fold", "repetition")
INSTANCE = "instance"
Mask = npt.NDArray[np.bool_]

_GUESSES: dict[tuple[int, bool], tuple[str, ...]] = {
    (1, False): ("algorithm",),
    (2, False): ("algorithm", "fold"),
    (3, False): ("algorithm", "run", "fold"),
    (1, True): ("algorithm",),
    (2, True): ("algorithm", "dataset"),
    (3, True): ("algorithm", "dataset", "fold"),
    (5, False): DIMS,
    (5, True): DIMS,
}


def as_floats(values: Any) -> Floats:
    """Return `values` as float64 with at least one axis and one cell."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("values", "an array of numbers", values) from None
    if array.ndim < 1 or array.size == 0:
        raise ArgumentError(
            f"values must hold at least one loss of one learner; got shape {array.shape}."
        )
    return array


def as_mask(array: Floats, missing: Any) -> Mask:
    """Return which cells are declared missing."""
    if missing is None:
        return np.zeros(array.shape, dtype=np.bool_)
    if isinstance(missing, str):
        if missing_word(missing) == "refuse":
            return np.zeros(array.shape, dtype=bool)
        return np.isnan(array)
    mask = np.asarray(missing)
    if mask.dtype != np.bool_ or mask.shape != array.shape:
        raise ArgumentError(
            f"missing must be an array of bool of the shape {array.shape} of values; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    return mask


def known_dims(ndim: int, dims: Sequence[str] | None, *, named_datasets: bool) -> tuple[str, ...]:
    """Return what each axis is: as stated, or by the number of axes."""
    if dims is None:
        guess = _GUESSES.get((ndim, named_datasets))
        if guess is None:
            raise ArgumentError(
                f"dims must say what the {ndim} axes of values are, out of {', '.join(DIMS)}; "
                "got None."
            )
        return guess
    known = (dims,) if isinstance(dims, str) else tuple(dims)
    if "fold" not in known:
        known = tuple("fold" if name == INSTANCE else name for name in known)
    wrong = [name for name in known if name not in DIMS]
    if wrong or len(set(known)) != len(known) or "algorithm" not in known:
        raise refuse("dims", f"'algorithm' and others out of {', '.join(DIMS)}, each once", known)
    if len(known) != ndim:
        raise ArgumentError(
            f"dims must name each of the {ndim} axes of values; got {len(known)} names."
        )
    return known


def by_instances(dims: Sequence[str] | None) -> bool:
    """Return whether an axis holds the instances of one test set."""
    return dims is not None and INSTANCE in ((dims,) if isinstance(dims, str) else tuple(dims))


def spread(array: npt.NDArray[Any], known: tuple[str, ...]) -> npt.NDArray[Any]:
    """Return `array` with all five axes in order; absent axes have size 1."""
    order = sorted(range(len(known)), key=lambda axis: DIMS.index(known[axis]))
    turned = array.transpose(order)
    return turned.reshape(tuple(array.shape[known.index(n)] if n in known else 1 for n in DIMS))


def settle_design(
    array: Floats, absent: Mask, design: Design | str | None
) -> tuple[Floats, Mask, Design]:
    """Check or make the design of five axes; ``"5x2"`` splits one row of folds into runs."""
    k, d, runs, folds, repetitions = array.shape
    if design is None:
        kind = "cv" if folds > 1 else "scores"
        return array, absent, Design(kind=kind, runs=runs, folds=folds, repetitions=repetitions)
    if isinstance(design, Design):
        if (design.runs, design.folds, design.repetitions) != (runs, folds, repetitions):
            raise ArgumentError(
                f"design must have the {runs} runs, {folds} folds and {repetitions} repetitions "
                f"of values; got {design.runs}, {design.folds} and {design.repetitions}."
            )
        return array, absent, design
    if isinstance(design, str):
        grid = re.fullmatch(r"(\d+)x(\d+)", design)
        if grid:
            grid_shape = (int(grid[1]), int(grid[2]))
            if grid_shape != (runs, folds):
                if runs != 1 or grid_shape[0] * grid_shape[1] != folds:
                    raise ArgumentError(
                        f"design must fit the {runs} runs of {folds} folds of values; got "
                        f"{design!r}."
                    )
                shape = (k, d, *grid_shape, repetitions)
                array, absent = array.reshape(shape), absent.reshape(shape)
                runs, folds = grid_shape
            return (
                array,
                absent,
                Design(kind="cv", runs=runs, folds=folds, repetitions=repetitions),
            )
        if design in KINDS:
            if design in ("resample", "bootstrap", "test-set") and runs > 1:
                shape = (k, d, 1, runs * folds, repetitions)
                array, absent = array.reshape(shape), absent.reshape(shape)
                runs, folds = 1, runs * folds
            return (
                array,
                absent,
                Design(kind=design, runs=runs, folds=folds, repetitions=repetitions),
            )
    raise refuse(
        "design", f"a Design, a form such as '10x10', or one of {', '.join(KINDS)}", design
    )


def as_subset_values(losses: Any, array: Floats, design: Design) -> Floats | None:
    """Check the losses of the runs on parts of the rows against the design; read-only."""
    subsets = design.subsets
    if losses is None and subsets is None:
        return None
    if subsets is None:
        raise ArgumentError(
            "subset_values need a design with subsets (Design.subsets); got one without."
        )
    if losses is None:
        raise ArgumentError(f"A design with {subsets.describe()} needs subset_values; got None.")
    values = as_floats(losses)
    want = (*array.shape[:2], subsets.runs, subsets.folds, array.shape[4])
    if values.shape != want:
        raise ArgumentError(f"subset_values must have the shape {want}; got {values.shape}.")
    if not np.isfinite(values).all():
        raise ArgumentError("subset_values must be finite in every cell.")
    values.setflags(write=False)
    return values


def cell_words(at: npt.NDArray[Any], learners: Sequence[str], sets: Sequence[str]) -> str:
    """Describe a cell in words, counted from 1."""
    a, d, run, fold, repetition = (int(i) for i in at)
    return (
        f"{learners[a]!r} on {sets[d]!r} (run {run + 1}, fold {fold + 1}, "
        f"repetition {repetition + 1})"
    )


def refuse_bad_cells(
    array: Floats, absent: Mask, learners: Sequence[str], sets: Sequence[str]
) -> None:
    """Raise at the first cell that is neither finite nor declared missing."""
    bad = ~np.isfinite(array) & ~absent
    if not bad.any():
        if absent.all():
            raise ArgumentError("values must hold at least one loss; every cell is missing.")
        return
    at = np.argwhere(bad)[0]
    value = array[tuple(at)]
    where = cell_words(at, learners, sets)
    if np.isnan(value):
        raise ArgumentError(
            f"values must be numbers; got NaN for {where} ({int(bad.sum())} of {bad.size}): pass ",
            use(missing="allow"),
            " if that cell is missing, or ",
            use(missing="drop"),
            " to leave out what some learner lacks.",
        )
    raise ArgumentError(f"values must be finite; got {value} for {where}.")


def drop_incomplete(
    array: Floats, absent: Mask, sets: Sequence[str], design: Design
) -> tuple[Floats, Mask, tuple[str, ...], Design, str]:
    """Keep the data sets, or the runs or folds of one data set, that every learner completed."""
    k, n_sets, runs, _, _ = array.shape
    if n_sets > 1:
        # ignore cells that no learner has: data sets may have different numbers of folds
        lacked = np.logical_and(absent.any(axis=0), ~absent.all(axis=0))
        empty = absent.all(axis=(0, 2, 3, 4))
        whole: Mask = np.asarray(~(lacked.any(axis=(1, 2, 3)) | empty), dtype=np.bool_)
        what, axis = "data set", 1
        left = tuple(name for name, complete in zip(sets, whole, strict=True) if complete)
        settled = design
    else:
        left = tuple(sets)
        by_fold: Mask = np.asarray(~absent.any(axis=(0, 1, 4)), dtype=np.bool_)
        if runs > 1:
            whole, what, axis = np.asarray(by_fold.all(axis=1)), "run", 2
            settled = design.select(np.repeat(whole[:, np.newaxis], design.folds, axis=1))
        else:
            whole, what, axis = by_fold[0], "fold", 3
            settled = design.select(by_fold) if whole.any() else design
    if not whole.any():
        raise ArgumentError(
            use(missing="drop"),
            f" leaves nothing: there is no {what} that all {k} learners completed.",
        )
    if whole.all():
        return array, absent, tuple(sets), design, ""
    dropped = int((~whole).sum())
    verb, it = ("was", "it") if dropped == 1 else ("were", "them")
    note = f"{dropped} of {len(whole)} {what}s {verb} left out because some learner lacks {it}."
    take = np.flatnonzero(whole)
    return np.take(array, take, axis), np.take(absent, take, axis), left, settled, note


def flip(array: Floats, absent: Mask) -> tuple[Floats, str, str]:
    """Turn scores into losses; also return a sentence on it and the prefix of the loss name."""
    present = array[~absent]
    if present.min() >= 0.0 and present.max() <= 1.0:
        return 1.0 - array, "Every score became the loss 1 - score.", "1 - "
    return -array, "Every score became its negative.", "-"


def summary(learners: Sequence[str], sets: Sequence[str], design: Design, absent: Mask) -> str:
    """Describe learners, data sets and design in one sentence."""
    k, d = len(learners), len(sets)
    gap = int(absent.sum())
    end = f", {gap} of {absent.size} cells missing" if gap else ""
    return (
        f"Losses of {k} learner{'s' * (k != 1)} on {d} data set{'s' * (d != 1)}: "
        f"{design.describe()}{end}."
    )
