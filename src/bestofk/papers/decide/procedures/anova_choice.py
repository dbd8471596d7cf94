"""Choose a learner by one test of all means: ANOVA or Newman-Keuls."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Ints
from bestofk._base.errors import DesignError
from bestofk._base.formatting import in_words, number, pvalue_words
from bestofk.decide.decision import NO_LEARNER, Decision, Ruled
from bestofk.decide.order_tables import DecidedTables
from bestofk.decide.pairs import no_pairs
from bestofk.decide.preference import Name
from bestofk.decide.problem import Problem
from bestofk.decide.settings import Settings
from bestofk.decide.statements.wording import called, mean_words, named
from bestofk.papers.stats.analysis_of_variance import anova
from bestofk.papers.stats.range_tests import underline_ends


def decide_anova(problem: Problem, settings: Settings) -> Decision:
    """Take the most preferred learner if ANOVA sees no difference between any of them.

    The order is then that of the preference. When H0: mu_1 = ... = mu_K is rejected some means
    differ, but ANOVA cannot say which: no best is found.

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61, section 4.2.

    Examples
    --------
    >>> from bestofk import compare_scores
    >>> losses = [[0.21, 0.19, 0.20], [0.20, 0.22, 0.18]]
    >>> compare_scores(losses, rule="anova-choice", prefer="listed").recommended
    0
    """
    result, name = anova(_samples(problem)), problem.names[0]
    p = pvalue_words(float(result.pvalue), settings.alpha)
    statistic = f"F = {number(float(result.statistic))}, {p}"
    if float(result.pvalue) <= settings.alpha:
        reason = (
            f"The ANOVA choice finds no best: the means differ ({statistic}), and ANOVA cannot say "
            "which."
        )
        return _choice(problem, settings, "anova", (), reason)
    which = "the most preferred"
    if not problem.preference.stated:
        which = f"which {mean_words(name, _by_name(problem), problem.metric)}"
    reason = (
        f"The ANOVA choice takes {called(name)}, {which}: the {in_words(len(problem.names))} "
        f"means are not shown to differ ({statistic})."
    )
    return _choice(problem, settings, "anova", problem.names, reason)


def decide_newman_keuls(problem: Problem, settings: Settings) -> Decision:
    """Take the most preferred of those that Newman-Keuls does not tell from the first.

    With G the underline that holds the learner of smallest mean (or that learner alone) and s
    the most preferred of G, s is the best unless another underline holds both s and a learner
    preferred to s: then no best is found.

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61, section 4.2.

    Examples
    --------
    >>> from bestofk import compare_scores
    >>> losses = [[0.41, 0.39, 0.40], [0.20, 0.22, 0.18], [0.19, 0.22, 0.18]]
    >>> compare_scores(losses, rule="newman-keuls-choice", prefer="listed").recommended
    1
    """
    names = problem.names
    order, ends = underline_ends(_samples(problem), settings.alpha)
    chosen, rival = map(int, _lines(order, ends))
    first, group = int(order[0]), order[: max(1, ends[0])].tolist()
    smallest = mean_words(names[first], _by_name(problem), problem.metric)
    if len(group) == 1:
        relation = f"and differs from {'the other' if len(names) == 2 else 'all others'}"
    else:
        others = named(names[i] for i in sorted(group) if i != first)
        relation = f"and cannot be distinguished from {others}"
    if rival != NO_LEARNER:
        than = "it" if chosen == first else "both" if len(group) == 2 else "all of them"
        reason = (
            f"The Newman-Keuls choice finds no best: {called(names[first])} {smallest} {relation}, "
            f"but {called(names[chosen])} cannot be distinguished from {called(names[rival])} "
            f"either, which is preferred to {than}."
        )
        return _choice(problem, settings, "newman-keuls", (), reason)
    who = "it" if chosen == first else called(names[first])
    of_group = ", the most preferred of its group"
    if len(group) == 1 or chosen == first or not problem.preference.stated:
        of_group = ""
    reason = (
        f"The Newman-Keuls choice takes {called(names[chosen])}{of_group}: {who} {smallest} "
        f"{relation}."
    )
    return _choice(problem, settings, "newman-keuls", (names[chosen],), reason)


def anova_choice_many(stack: Problem, settings: Settings) -> list[DecidedTables]:
    """Return the ANOVA choice on every table of a stack."""
    differ = np.asarray(anova(_samples(stack)).pvalue) <= settings.alpha
    order = np.where(differ[:, np.newaxis], NO_LEARNER, np.arange(len(stack.names)))
    return [DecidedTables(np.arange(len(order)), "anova", Ruled(order[:, 0], order))]


def newman_keuls_choice_many(stack: Problem, settings: Settings) -> list[DecidedTables]:
    """Return the Newman-Keuls choice on every table of a stack."""
    chosen, rival = _lines(*underline_ends(_samples(stack), settings.alpha))
    best = np.where(rival == NO_LEARNER, chosen, NO_LEARNER)
    ruled = Ruled(best, best[:, np.newaxis])
    return [DecidedTables(np.arange(len(best)), "newman-keuls", ruled)]


def _lines(order: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Choose from the order of the means (..., K) and the end of the underline of each.

    Return the most preferred learner on the line of the smallest mean, and its rival: the most
    preferred learner on the first other line that holds the chosen one and a learner preferred to
    it; `NO_LEARNER` if there is no such line.
    """
    K = order.shape[-1]
    at = np.arange(K)
    chosen = np.where(at < np.maximum(ends[..., :1], 1), order, K).min(axis=-1)
    position = np.argmax(order == chosen[..., np.newaxis], axis=-1)
    rival = np.full(chosen.shape, NO_LEARNER)
    for start in range(1, K):
        end = ends[..., start]
        on_line = (at >= start) & (at < end[..., np.newaxis])
        first = np.where(on_line, order, K).min(axis=-1)
        blocks = (rival == NO_LEARNER) & (start <= position) & (position < end) & (first < chosen)
        rival = np.where(blocks, first, rival)
    return chosen, rival


def _by_name(problem: Problem) -> dict[Name, float]:
    return dict(zip(problem.names, problem.means().tolist(), strict=True))


def _samples(problem: Problem) -> Any:
    samples = problem.sample(1)
    if samples.shape[-1] < 2:
        raise DesignError(
            f"There is nothing to test: the losses are {problem.describe()}, one number per "
            "learner. Give losses by fold, by data set or by test instance."
        )
    return samples


def _choice(
    problem: Problem, settings: Settings, test: str, ranking: tuple[Name, ...], reason: str
) -> Decision:
    """Return the decision for the first of `ranking`, or for none."""
    return Decision(
        rule=settings.rule,
        recommended=ranking[0] if ranking else None,
        ranking=ranking,
        by_preference=problem.names,
        mean_losses=_by_name(problem),
        evidence=no_pairs(problem, alpha=settings.alpha),
        test=test,
        test_reason="belongs to the procedure",
        alpha=settings.alpha,
        correction="none",
        design=problem.describe(),
        reasons=(reason,),
        preference=problem.preference,
        notes=problem.notes,
        problem=problem,
        settings=settings,
    )
