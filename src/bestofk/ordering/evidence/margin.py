"""Not worse by more than a margin: what may be said when some difference does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.checks import Bools, Floats, positive
from bestofk.ordering.evidence.choose_test import Choice
from bestofk.ordering.evidence.evidence import Evidence, Name
from bestofk.ordering.evidence.gather import compare_in
from bestofk.ordering.evidence.problem import Problem
from bestofk.presenting import Presented, open_level, renamed
from bestofk.wording import pvalue_words

NOT_WORSE = "not worse by more than the margin"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginVerdict(Presented):
    """How one learner stands to the recommended one, given a margin.

    Attributes
    ----------
    verdict : str
        ``"better"``, ``"not worse by more than the margin"`` (shown), ``"worse"`` or ``"open"``.
    pvalue, adjusted_pvalue : float
        Of H0: it is worse than the recommended one by the margin or more.
    """

    verdict: str
    pvalue: float
    adjusted_pvalue: float

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The verdict in a sentence; `names` may hold the two learners, its own first."""
        open_level(alpha)
        called = renamed(names, ("it", "the recommended learner"))
        one, other = called["it"], called["the recommended learner"]
        said = {
            "better": f"{one} is shown to be better than {other}",
            NOT_WORSE: f"{one} is shown not to be worse than {other} by more than the margin",
            "worse": f"{one} is shown to be worse than {other}",
            "open": f"whether {one} is worse than {other} by more than the margin is open",
        }[self.verdict]
        p = pvalue_words(self.adjusted_pvalue)
        if names is None or self.verdict == "open":
            said = f"{said[:1].upper()}{said[1:]}"
        return f"{said} ({p} against the margin)."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margins:
    """Every ordered pair of learners against the margin.

    `pvalue[i, j]` is of H0: the loss of i is at least that of j plus the margin. Of the two
    hypotheses about a pair at most one is true, so that at most K (K - 1) / 2 of the K (K - 1)
    are: the adjusted p-values step down from that number (Holm 1979, with the logic of Shaffer
    1986), and hold the chance that any of these statements is false at alpha.
    """

    margin: float
    pvalue: Floats
    adjusted_pvalue: Floats
    alpha: float

    @property
    def shown(self) -> Bools:
        """(K, K): i is shown not to be worse than j by more than the margin."""
        return np.asarray(self.adjusted_pvalue <= self.alpha)

    def verdicts(self, evidence: Evidence, recommended: Name) -> dict[Name, MarginVerdict]:
        """How every other learner stands to the recommended one."""
        names = evidence.names
        at = names.index(recommended)
        claims = set(evidence.claims())
        found = {}
        for i, name in enumerate(names):
            if i == at:
                continue
            if (name, recommended) in claims:
                verdict = "better"
            elif self.adjusted_pvalue[i, at] <= self.alpha:
                verdict = NOT_WORSE
            elif (recommended, name) in claims:
                verdict = "worse"
            else:
                verdict = "open"
            found[name] = MarginVerdict(
                verdict=verdict,
                pvalue=float(self.pvalue[i, at]),
                adjusted_pvalue=float(self.adjusted_pvalue[i, at]),
            )
        return found


def against_margin(problem: Problem, choice: Choice, margin: Any, *, alpha: float) -> Margins:
    """Test for every ordered pair that the first is worse than the second by the margin."""
    margin = positive(margin, "margin")
    pvalue, adjusted = margin_pvalues(choice, problem.sample(choice.axes)[np.newaxis], margin)
    return Margins(margin=margin, pvalue=pvalue[0], adjusted_pvalue=adjusted[0], alpha=alpha)


def margin_pvalues(choice: Choice, values: Floats, margin: float) -> tuple[Floats, Floats]:
    """P-values (B, K, K) of H0: the loss of i is at least that of j plus the margin; adjusted.

    `values` are the losses of B tables, (B, K, ...).
    """
    B, K = values.shape[:2]
    pvalue = np.ones((B, K, K))
    for i in range(K):
        others = np.delete(np.arange(K), i)
        pvalue[:, i, others] = _worse_by(choice, values[:, i : i + 1], values[:, others], margin)
    apart = ~np.eye(K, dtype=bool)
    adjusted = np.ones((B, K, K))
    adjusted[:, apart] = _step_down(pvalue[:, apart], K * (K - 1) // 2)
    return pvalue, adjusted


def _worse_by(choice: Choice, a: Floats, b: Floats, margin: float) -> Floats:
    """P-values of H0: the loss of `a` is at least that of each of `b` plus the margin."""
    if choice.entry is None or not choice.entry.zero_one:
        return np.asarray(compare_in(choice, a - margin, b, "less").pvalue, dtype=float)
    # losses of 0 or 1 cannot be shifted: Tango's score, whose interval the test has
    from bestofk.pairwise.units.mcnemar import pvalue_of_margin

    return pvalue_of_margin(a, b, margin)


def _step_down(pvalues: Floats, most_true: int) -> Floats:
    order = np.argsort(pvalues, axis=-1, kind="stable")
    left = np.minimum(np.arange(pvalues.shape[-1], 0, -1.0), most_true)
    steps = np.maximum.accumulate(np.take_along_axis(pvalues, order, axis=-1) * left, axis=-1)
    adjusted = np.empty_like(pvalues)
    np.put_along_axis(adjusted, order, np.minimum(steps, 1.0), axis=-1)
    return adjusted
