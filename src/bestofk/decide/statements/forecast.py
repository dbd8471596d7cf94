"""Statements about the expected loss, and about the next step for an open comparison."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from bestofk._base.errors import BestOfKError
from bestofk.decide.registry import decides_by
from bestofk.decide.statements import Statement
from bestofk.decide.statements.missing import verdict_depends
from bestofk.decide.statements.wording import called

if TYPE_CHECKING:
    from bestofk.decide.corrected_minimum import CorrectedMinimum
    from bestofk.decide.decision import Decision
    from bestofk.decide.preference import Name

MAX_NUMBERS = 200_000
"""Losses up to which the bootstrap is quick; with more, the choice hardly flatters a mean."""
MAX_PAIRS = 2
"""Open pairs that are tried for one that more data could settle."""


def expectation_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the loss to expect of the recommended learner, if it was chosen by its mean."""
    estimate = _expected(decision)
    if estimate is None:
        return ()
    metric = decision.metric
    # chance may put the corrected loss below the mean itself, which is never too large
    corrected = metric.shown(max(estimate.naive, estimate.corrected))
    # An interval covers too rarely if those of the differences do.
    has_interval = decision.evidence.interval_factor < inf
    within = estimate.interval_words() if has_interval else ""
    text = (
        f"Expect a {metric.mean} of about {estimate.words(corrected)} from {decision.recommended}"
        f"{within}, corrected for having chosen it by its mean."
    )
    numbers = {"mean": metric.shown(estimate.naive), "corrected": corrected}
    interval = estimate.shown_interval() if has_interval else None
    if interval is not None:
        numbers |= {"low": interval[0], "high": interval[1]}
    return (Statement(kind="expectation", text=text, numbers=numbers),)


def _expected(decision: Decision) -> CorrectedMinimum | None:
    from bestofk.decide.corrected_minimum import corrected_minimum

    problem = decision.problem
    by_mean = not decision.preference.stated or decides_by(decision.procedure) == "wins"
    if problem is None or not by_mean or decision.recommended != decision.smallest_mean:
        return None
    if problem.values.size > MAX_NUMBERS or problem.subject.n_clusters is not None:
        return None
    if verdict_depends(decision):
        return None
    if problem.design.kind == "seeds":
        # the runs share one test set: they do not show how the loss varies with other data
        return None
    try:
        return corrected_minimum(problem)
    except BestOfKError:
        # a design without units to draw has no such estimate
        return None


def next_statements(decision: Decision) -> tuple[Statement, ...]:
    """State what would settle the open pair that matters most.

    That pair is the recommended learner with the one that has the smallest mean, if these
    differ; otherwise with those that are nearest to being shown worse.
    """
    from bestofk.decide.power.sizes import plan_size
    from bestofk.decide.statements.power import settling_amount, settling_sentence

    best = decision.recommended
    if best is None or decision.problem is None or decision.test_choice is None:
        return ()
    if verdict_depends(decision):
        text = "Get the missing scores: more data of the same kind would not replace them."
        return (Statement(kind="next", text=text, short="get the missing scores"),)
    if not decision.decidable or decision.on_items:
        # the verdict says how many units are needed; models have a plan of their own
        return ()
    groups = decision.problem.design.groups is not None
    for rival in _rivals(decision)[:MAX_PAIRS]:
        try:
            plan = plan_size(decision, only=(best, rival))
            pair = plan.row(best, rival)
            text = settling_sentence(plan, pair, groups=groups)
        except BestOfKError:
            # nothing can be planned for this design
            return ()
        if text:
            lead = settling_amount(pair, groups=groups)
            short = f"{lead[:1].lower()}{lead[1:]} would settle {called(best)} vs {called(rival)}"
            return (
                Statement(kind="next", text=text, lead=lead, short=short, learners=(best, rival)),
            )
    return ()


def _rivals(decision: Decision) -> list[Name]:
    open_pairs = [one for one in decision.standings if one.verdict == "too close to call"]
    open_pairs.sort(key=lambda one: (one.adjusted_pvalue, one.pvalue))
    names = [one.name for one in open_pairs if one.difference != 0]
    if decision.smallest_mean in names:
        names.remove(decision.smallest_mean)
        names.insert(0, decision.smallest_mean)
    return names
