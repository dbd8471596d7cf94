"""What a plan says about the rows it was made for: one sentence each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk.plans.labels import Labelling

_NAMED = 3
MOST_NUMBERS = 20
"""More different whole numbers than these, and than a fifth of the rows, are a quantity."""


def _of_classes(classes: Labelling, which: npt.NDArray[np.bool_]) -> str:
    """The classes in words, with their sizes: at most a few by name."""
    chosen = np.flatnonzero(which)
    named = [
        f"{classes.names[c]!r} ({int(classes.sizes[c])} row{'s' * (int(classes.sizes[c]) != 1)})"
        for c in chosen[:_NAMED]
    ]
    more = len(chosen) - len(named)
    listed = ", ".join(named) + (f" and {more} more" if more else "")
    return f"Class {listed}" if len(chosen) == 1 else f"Classes {listed}"


def one_class(classes: Labelling) -> list[str]:
    """Said when there is nothing to stratify."""
    if classes.count > 1:
        return []
    return [f"All rows are of class {classes.names[0]!r}: stratification changes nothing."]


def many_classes(classes: Labelling) -> list[str]:
    """Said of whole numbers that are taken for a quantity: nothing is stratified by them."""
    if classes.count <= max(MOST_NUMBERS, len(classes.codes) // 5):
        return []
    return [
        f"The {classes.count} different whole numbers in y are taken for a quantity, by which "
        "nothing is stratified; stratified=True takes them for class labels."
    ]


def fewer_than_folds(classes: Labelling, folds: int) -> list[str]:
    """Said of classes that cannot be in every fold."""
    few = classes.sizes < folds
    if not few.any():
        return []
    is_one = int(few.sum()) == 1
    each = "they are" if is_one else "the rows of each are"
    where = (
        f"{each} spread over that many folds, one per fold, and the other folds test none of them"
    )
    if classes.sizes[few].max() == 1:
        where = "one fold tests it" if is_one else "each is tested in one fold"
        where += ", and the other folds do not"
    sentence = (
        f"{_of_classes(classes, few)} {'has' if is_one else 'have'} fewer rows than the {folds} "
        f"folds: {where}."
    )
    return [sentence, *_never_trained(classes)]


def _never_trained(classes: Labelling) -> list[str]:
    single = classes.sizes == 1
    if not single.any():
        return []
    is_one = int(single.sum()) == 1
    return [
        f"{_of_classes(classes, single)} {'is' if is_one else 'are'} tested by learners that "
        f"never saw {'it' if is_one else 'them'}."
    ]


def untested_classes(classes: Labelling, tested: npt.NDArray[np.bool_]) -> list[str]:
    """Said of classes of which no split ever tests, or ever trains on, a row."""
    held = np.zeros(classes.count, dtype=bool)
    held[classes.codes[tested.any(axis=0)]] = True
    spared = np.zeros(classes.count, dtype=bool)
    spared[classes.codes[~tested.all(axis=0)]] = True
    out = []
    for missing, words in ((~held, "tested"), (~spared, "trained on")):
        if missing.any():
            verb = "is" if int(missing.sum()) == 1 else "are"
            out.append(f"{_of_classes(classes, missing)} {verb} never {words}.")
    return out


def best_effort(classes: Labelling, groups: Labelling) -> list[str]:
    """Said when groups stay whole and class shares are kept as far as that allows."""
    return [
        f"The {groups.count} groups stay whole, so the shares of the {classes.count} classes are "
        "kept only as far as that allows."
    ]


def same_runs(runs: int, distinct: int) -> list[str]:
    """Said when groups leave so little choice that runs repeat each other."""
    if distinct == runs:
        return []
    return [
        f"Only {distinct} of the {runs} runs differ: the groups leave no other way to fill the "
        "folds evenly."
    ]


def drawn_again(count: int) -> list[str]:
    """Said of bootstrap samples that left no row out."""
    if not count:
        return []
    times = "once" if count == 1 else f"{count} times"
    return [f"A sample that held every row, and so had none to test, was drawn again {times}."]
