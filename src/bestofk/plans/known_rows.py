"""What a plan knows of the rows that it splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.plans import remarks
from bestofk.plans.labels import Labelling, are_labels, column_of, is_categorical

QUANTILES = "quantiles"
MOST_PARTS = 10
"""Classes that numbers are cut into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRows:
    """What is known of the rows: how many, their classes (to stratify by) and their groups."""

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
    """The classes and groups of `n` rows; refuses what the plan cannot stratify by."""
    if n < 2:
        raise ArgumentError(f"A plan needs at least 2 rows to train and test on; got {n}.")
    classes, notes = None, []
    target = None if y is None else column_of(y, "y", n)
    if stratified == QUANTILES and target is not None:
        return _by_quantiles(n, target, groups, never_stratified=never_stratified)
    if stratified and target is None:
        what = "the labels y" if stratified is True else "the numbers y"
        raise ArgumentError(f"stratified={stratified!r} needs {what}; got none.")
    labelled = target is not None and (is_categorical(y) or are_labels(target))
    if stratified and not labelled:
        raise ArgumentError(
            "stratified=True needs class labels in y; got numbers with a fractional part or times."
        )
    if target is not None and labelled and stratified is not False:
        classes = Labelling.of(target, "y")
        notes += remarks.one_class(classes)
        if stratified is None and target.dtype.kind in "iuf" and not is_categorical(y):
            notes += remarks.many_classes(classes)
            classes = None if remarks.many_classes(classes) else classes
    return _known(n, classes, groups, notes, never_stratified=never_stratified)


def _by_quantiles(
    n: int, target: npt.NDArray[Any], groups: Any, *, never_stratified: bool
) -> KnownRows:
    """Numbers as classes of about the same size, the small ones first."""
    if target.dtype.kind not in "iufb" or not np.isfinite(target.astype(np.float64)).all():
        raise ArgumentError(
            f"stratified={QUANTILES!r} needs numbers in y; got labels or other values."
        )
    _, inverse, counts = np.unique(target, return_inverse=True, return_counts=True)
    # equal numbers stay together, at the middle of their ranks
    middle = np.cumsum(counts) - (counts + 1) / 2
    parts = max(1, min(MOST_PARTS, n // 2))
    part = (middle[inverse.reshape(-1)] * parts / n).astype(np.int64)
    classes = Labelling.of(part, "y")
    notes = [f"Stratified by y in {classes.count} parts of about as many rows."]
    return _known(n, classes, groups, notes, never_stratified=never_stratified)


def _known(
    n: int, classes: Labelling | None, groups: Any, notes: list[str], *, never_stratified: bool
) -> KnownRows:
    parts = None if groups is None else Labelling.of(column_of(groups, "groups", n), "groups")
    if parts is not None and parts.count < 2:
        raise ArgumentError(
            f"groups must name at least 2 groups, to train on and to test; "
            f"got only {parts.names[0]!r}."
        )
    if never_stratified:
        classes, notes = None, []
    return KnownRows(n=n, classes=classes, groups=parts, notes=tuple(notes))
