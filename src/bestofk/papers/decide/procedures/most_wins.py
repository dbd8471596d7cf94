"""Most wins: the learner with most significant wins over the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bestofk._base.formatting import capitalised, in_words
from bestofk.decide.decision import NO_LEARNER, Decision, Ruled
from bestofk.decide.pairs import decision_from, tested
from bestofk.decide.preference import Name
from bestofk.decide.problem import Problem
from bestofk.decide.settings import Settings
from bestofk.decide.statements.wording import called, mean_words, named


def decide_most_wins(problem: Problem, settings: Settings) -> Decision:
    """Count every learner's significant wins over the others.

    All pairs are tested two-sided; the learner with most wins is the best. Learners with equally
    many are in order of preference, and there is no best if several have the most wins.

    References
    ----------
    D. Ler, Fundamentals of algorithm selection, section 6.2.

    Examples
    --------
    >>> from bestofk import compare_scores
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.20])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> compare_scores(losses, rule="most-wins", test="5x2cv-f").recommended
    1
    """
    names = problem.names
    evidence, choice = tested(problem, settings)
    counts = evidence.beaten().sum(axis=-2)
    ranking = np.argsort(-counts, kind="stable")
    order = ranking.tolist()
    groups: dict[int, list[Name]] = {}
    for i in order:
        groups.setdefault(int(counts[i]), []).append(names[i])
    (top, winners), *below = groups.items()
    decision = decision_from(
        problem,
        settings,
        evidence,
        choice,
        Ruled(ranking[0] if len(winners) == 1 else np.array(NO_LEARNER), ranking),
        counts=dict(zip(names, counts.tolist(), strict=True)),
    )
    if (recommended := decision.recommended) is not None:
        compared = int(((evidence.first == order[0]) | (evidence.second == order[0])).sum())
        comparisons = "one comparison" if compared == 1 else f"{in_words(compared)} comparisons"
        reason = (
            f"Most wins chooses {called(recommended)}, with {_wins(top)} in {comparisons}. "
            f"{_smallest_mean(decision, recommended)}"
        )
    elif not top:
        reason = "Most wins finds no best: no learner has a significant win."
    else:
        reason = f"Most wins finds no single best: {named(winners)} have {_wins(top)} each."
    equal = [
        f"{named(members)} have {_wins(count)}{' each' if count else ''}"
        for count, members in below
        if len(members) > 1
    ]
    below_top = [f"Below, {'; '.join(equal)}."] if equal else []
    return replace(decision, reasons=(reason, *below_top))


def _wins(count: int) -> str:
    words = {0: "no significant win", 1: "one significant win"}
    return words.get(count, f"{in_words(count)} significant wins")


def _smallest_mean(tested: Decision, recommended: Name) -> str:
    smallest, means = tested.smallest_mean, tested.mean_losses
    has = mean_words(smallest, means, tested.metric)
    if recommended == smallest:
        return f"It {has}."
    return capitalised(f"{called(smallest)} {has}.")
