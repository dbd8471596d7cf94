"""Decide whether the number of splits of a table shows its design, or ask for the design."""

from __future__ import annotations

from bestofk._base.errors import Part, use

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
