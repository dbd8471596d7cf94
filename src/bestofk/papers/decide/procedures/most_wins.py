"""Most wins: the learner with most significant wins over the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Ints
from bestofk._base.formatting import capitalised, in_words
from bestofk.decide.decision import NO_LEARNER, Decision, Ruled
from bestofk.decide.evidence import Evidence
from bestofk.decide.order import order_by_procedure
from bestofk.decide.order_tables import DecidedTables, ruled_groups
from bestofk.decide.pairs import tested
from bestofk.decide.preference import Name
from bestofk.decide.problem import Problem
from bestofk.decide.settings import Settings
from bestofk.decide.statements.wording import called, mean_words, named


def most_wins(losses: Any, *, minus_losses: bool = False, **options: Any) -> Decision:
    """Count every learner's significant wins over the others.

    All pairs are tested two-sided; the learner with most wins is the best. Learners with equally
    many are in order of preference, and there is no best if several have the most wins.

    Parameters
    ----------
    losses, **options
        As for `multitest`.
    minus_losses : bool
        Count wins minus losses.

    Returns
    -------
    Decision
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
    decision = order_by_procedure("most-wins", losses, **options)
    return _by_wins(decision, minus_losses=True) if minus_losses else decision


def decide_most_wins(problem: Problem, settings: Settings) -> Decision:
    """Return the decision by most wins about one table."""
    return _by_wins(tested(problem, settings), minus_losses=False)


def _by_wins(tested: Decision, *, minus_losses: bool) -> Decision:
    evidence, names = tested.evidence, tested.by_preference
    claimed = np.flatnonzero(evidence.better)
    counts, order, best = _counted(evidence.shown(), minus_losses)
    tied = np.flatnonzero(counts == counts[order[0]])
    recommended: Name | None = None if best == NO_LEARNER else names[int(best)]
    top = int(counts[order[0]])
    if recommended is not None:
        compared = int(((evidence.first == tied[0]) | (evidence.second == tied[0])).sum())
        comparisons = "one comparison" if compared == 1 else f"{in_words(compared)} comparisons"
        reason = (
            f"Most wins chooses {called(recommended)}, with {_wins(top, minus_losses)} in "
            f"{comparisons}. {_smallest_mean(tested, recommended)}"
        )
    elif not len(claimed):
        reason = "Most wins finds no best: no learner has a significant win."
    else:
        who = named(names[i] for i in tied.tolist())
        reason = f"Most wins finds no single best: {who} have {_wins(top, minus_losses)} each."
    ties = _equal_counts(counts[order].tolist(), [names[i] for i in order.tolist()], minus_losses)
    return replace(
        tested,
        recommended=recommended,
        ranking=tuple(names[i] for i in order.tolist()),
        reasons=(reason, *ties),
        counts={name: int(count) for name, count in zip(names, counts, strict=True)},
    )


def most_wins_many(stack: Problem, settings: Settings) -> Iterator[DecidedTables]:
    """Return the decisions by most wins on every table of a stack."""

    def rule(evidence: Evidence, *_: Any) -> Ruled:
        counted = _counted(evidence.shown(), minus_losses=False)
        return Ruled(counted[2], counted[1])

    return ruled_groups(stack, settings, rule)


def _counted(claims: Bools, minus_losses: bool) -> tuple[Ints, Ints, Ints]:
    """Return the wins (..., K), the order by wins (..., K), and the single winner, if any."""
    counts = claims.sum(axis=-1)
    if minus_losses:
        counts = counts - claims.sum(axis=-2)
    order = np.argsort(-counts, axis=-1, kind="stable")
    top = np.take_along_axis(counts, order, axis=-1)
    return counts, order, np.where(top[..., 0] > top[..., 1], order[..., 0], NO_LEARNER)


def _wins(count: int, minus_losses: bool) -> str:
    if minus_losses:
        return f"a score of {count} (significant wins minus losses)"
    words = {0: "no significant win", 1: "one significant win"}
    return words.get(count, f"{in_words(count)} significant wins")


def _smallest_mean(tested: Decision, recommended: Name) -> str:
    smallest, means = tested.smallest_mean, tested.mean_losses
    has = mean_words(smallest, means, tested.metric)
    if recommended == smallest:
        return f"It {has}."
    return capitalised(f"{called(smallest)} {has}.")


def _equal_counts(counts: list[int], names: list[Name], minus_losses: bool) -> tuple[str, ...]:
    groups: dict[int, list[Name]] = {}
    for count, name in zip(counts, names, strict=True):
        groups.setdefault(count, []).append(name)
    each = {count: " each" if count or minus_losses else "" for count in groups}
    equal = [
        f"{named(members)} have {_wins(count, minus_losses)}{each[count]}"
        for count, members in list(groups.items())[1:]
        if len(members) > 1
    ]
    return (f"Below, {'; '.join(equal)}.",) if equal else ()
