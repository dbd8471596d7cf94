"""Most wins: the learner with most significant wins over the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk.checks import RandomState
from bestofk.errors import ArgumentError
from bestofk.ordering.margin import against_margin
from bestofk.ordering.multitest import multitest
from bestofk.ordering.preference import Name, Prior
from bestofk.ordering.result import Order
from bestofk.ordering.sentences import listing
from bestofk.ordering.understood import as_ordered


def most_wins(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "holm",
    family: str = "all",
    control: Any = None,
    margin: float | None = None,
    rope: float | None = None,
    minus_losses: bool = False,
    prior: Prior = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Order:
    """Count every learner's significant wins over the others.

    All pairs are tested two-sided; the learner with most wins is the best. Learners with equally
    many are tied: the order puts them in prior order, and there is no best when the top is tied.

    Parameters
    ----------
    losses, test, alpha, correction, family, control, margin, rope, prior, df, missing, \
    random_state, **test_arguments
        As for `multitest`.
    minus_losses : bool
        Count wins minus losses.

    Returns
    -------
    Order
        With `counts`.

    References
    ----------
    D. Ler, Fundamentals of algorithm selection, section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.20])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> dict(most_wins(losses, test="5x2cv-f").counts)
    {0: 0, 1: 2, 2: 1}
    """
    problem = as_ordered(losses, prior=prior, missing=missing)
    if family == "prior":
        raise ArgumentError(
            "family='prior' tests one direction of each pair, and wins need both: take "
            "family='all'."
        )
    tested = multitest(
        problem, test=test, alpha=alpha, correction=correction, family=family, control=control,
        rope=rope, df=df, random_state=random_state, **test_arguments,
    )  # fmt: skip
    evidence, names = tested.evidence, problem.names
    claimed = np.flatnonzero(evidence.better)
    first_better = evidence.better[claimed] < 0
    first, second = evidence.first[claimed], evidence.second[claimed]
    counts = np.bincount(np.where(first_better, first, second), minlength=len(names))
    if minus_losses:
        losers = np.where(first_better, second, first)
        counts = counts - np.bincount(losers, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    tied = np.flatnonzero(counts == counts[order[0]])
    top = _wins(int(counts[order[0]]), minus_losses)
    recommended: Name | None = names[int(tied[0])] if len(tied) == 1 else None
    if recommended is None:
        who = listing(str(names[i]) for i in tied.tolist())
        reason = f"Most wins finds no single best: {who} have {top} each."
    else:
        others = "the other learner" if len(names) == 2 else f"the {len(names) - 1} others"
        reason = f"Most wins chooses {recommended}, with {top} over {others}."
    ties = _equal_counts(
        counts[order].tolist(), [str(names[i]) for i in order.tolist()], minus_losses
    )
    margins = {}
    if margin is not None and recommended is not None and tested.choice is not None:
        against = against_margin(problem, tested.choice, margin, alpha=alpha)
        margins = against.verdicts(evidence, recommended)
    return replace(
        tested,
        procedure="most-wins",
        recommended=recommended,
        order=tuple(names[i] for i in order.tolist()),
        reasons=(reason, *ties),
        counts={name: int(count) for name, count in zip(names, counts, strict=True)},
        margin=margin,
        margins=margins,
    )


def _wins(count: int, minus_losses: bool) -> str:
    if minus_losses:
        return f"{count} significant wins minus losses"
    words = {0: "no significant wins", 1: "one significant win"}
    return words.get(count, f"{count} significant wins")


def _equal_counts(counts: list[int], names: list[str], minus_losses: bool) -> tuple[str, ...]:
    groups: dict[int, list[str]] = {}
    for count, name in zip(counts, names, strict=True):
        groups.setdefault(count, []).append(name)
    equal = [
        f"{listing(members)} ({_wins(count, minus_losses)} each)"
        for count, members in list(groups.items())[1:]
        if len(members) > 1
    ]
    return (f"Equal counts below: {'; '.join(equal)}.",) if equal else ()
