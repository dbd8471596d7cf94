"""What a plan knows of the rows that it splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestofk.errors import ArgumentError
from bestofk.plans import remarks
from bestofk.plans.labels import Labelling, are_labels, column_of, is_categorical


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
    n: int, y: Any, groups: Any, *, stratified: bool | None, leave_one_out: bool
) -> KnownRows:
    """The classes and groups of `n` rows; refuses what the plan cannot stratify by."""
    if n < 2:
        raise ArgumentError(f"A plan needs at least 2 rows to train and test on; got {n}.")
    classes, notes = None, []
    target = None if y is None else column_of(y, "y", n)
    if stratified and target is None:
        raise ArgumentError("stratified=True needs the labels y; got none.")
    labelled = target is not None and (is_categorical(y) or are_labels(target))
    if stratified and not labelled:
        raise ArgumentError(
            "stratified=True needs class labels in y; got numbers with a fractional part or times."
        )
    if target is not None and labelled and stratified is not False:
        classes = Labelling.of(target, "y")
        notes += remarks.one_class(classes)
        if stratified is None:
            notes += remarks.many_classes(classes, target.dtype.kind in "iuf")
    parts = None if groups is None else Labelling.of(column_of(groups, "groups", n), "groups")
    if parts is not None and parts.count < 2:
        raise ArgumentError(
            f"groups must name at least 2 groups, to train on and to test; "
            f"got only {parts.names[0]!r}."
        )
    if leave_one_out:
        classes, notes = None, []
    return KnownRows(n=n, classes=classes, groups=parts, notes=tuple(notes))
