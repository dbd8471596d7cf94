"""Runs on parts of the rows: halves of them, or those that two folds leave to train on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.plans.folds import FoldOf, deal, deal_groups
from bestofk.plans.labels import Labelling
from bestofk.plans.random_bits import HALVES, Indices, seed_within
from bestofk.plans.random_splits import split_at_random, split_groups_at_random

OUTSIDE = -1
"""The mark of a row that takes no part in a run on a half."""
TRAINS = 2
"""The mark of a row that trains in a nested run; the others test, and never train."""


def halves(
    n: int,
    classes: Labelling | None,
    groups: Labelling | None,
    *,
    halvings: int,
    folds: int,
    seed: int,
) -> FoldOf:
    """(2 halvings, n): the fold that tests each row of a half, `OUTSIDE` for the other half.

    The halves are drawn from all rows alike, whatever their class: the share of the classes is
    part of what varies from one data set to the next. The folds inside a half are stratified as
    those of the whole plan. Halving m depends on the seed and m alone.
    """
    units, unit = (n, "rows") if groups is None else (groups.count, "groups")
    if units < 2 * folds:
        raise ArgumentError(
            f"The folds of halves must be at most half of the {units} {unit}; got {folds}."
        )
    own = seed_within(seed, HALVES)
    if groups is None:
        first = split_at_random(Labelling.single(n), n_test=n // 2, splits=halvings, seed=own)
    else:
        first = split_groups_at_random(groups, None, n_test=n // 2, splits=halvings, seed=own)
    marks: FoldOf = np.full((2 * halvings, n), OUTSIDE, dtype=np.int32)
    for halving, inside in enumerate(first):
        for side, member in enumerate((inside, ~inside)):
            rows = np.flatnonzero(member)
            parts = _part(groups, rows)
            if parts is not None and parts.count < folds:
                raise ArgumentError(
                    f"The folds of halves must be at most as many as the {parts.count} groups of "
                    f"each half; got {folds}."
                )
            of = _part(classes, rows)
            again = seed_within(seed, HALVES, halving, side)
            marks[2 * halving + side, rows] = (
                deal(of or Labelling.single(len(rows)), runs=1, folds=folds, seed=again)
                if parts is None
                else deal_groups(parts, of, runs=1, folds=folds, seed=again)
            )[0]
    return marks


def nested(fold_of: npt.NDArray[np.int32], folds: int) -> FoldOf:
    """(runs * pairs of folds, n): 0 and 1 for the rows of the pair, `TRAINS` for all others."""
    first, second = np.triu_indices(folds, 1)
    without = np.repeat(fold_of, len(first), axis=0)
    pairs = [np.tile(fold, len(fold_of))[:, np.newaxis] for fold in (first, second)]
    marks: FoldOf = np.full(without.shape, TRAINS, dtype=np.int32)
    for number, fold in enumerate(pairs):
        marks[without == fold] = number
    return marks


def _part(labels: Labelling | None, rows: Indices) -> Labelling | None:
    return None if labels is None else Labelling.of(labels.codes[rows], "labels")
