"""Decide from pairs whose p-values are known up to intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, number, pvalue_words, shortened
from bestofk._base.results import Presented, row_dicts
from bestofk.decide.from_pairs import StatedDecision, decide_from_pairs
from bestofk.decide.preference import Name, Preference
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.wording import MAX_NAMED
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS, adjust
from bestofk.stats.pairwise.result import Interval, PairwiseResult


def interval_words(p: Floats) -> str:
    """Return text such as ``p = 0.012``, or ``p from 0.0032 to 0.0050``."""
    low, high = (pvalue_words(float(end)) for end in p)
    if low == high:
        return low
    low, high = (
        end.removeprefix("p = ").replace("p <", "below").replace("p >", "above")
        for end in (low, high)
    )
    return f"p from {low} to {high}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestedIntervals(Presented):
    """One paired test on intervals for all pairs of learners.

    `pvalues` and `adjusted_pvalues` (pairs, 2) hold the smallest and largest p-value.
    """

    __test__ = False

    test: str
    pairs: tuple[tuple[str, str], ...]
    pvalues: Floats
    adjusted_pvalues: Floats
    estimates: Floats
    verdicts: tuple[str, ...]
    correction: str
    alpha: float
    metric: Metric = field(default_factory=Metric)
    notes: tuple[str, ...] = ()
    items: int | None = None
    """The number of items of a printed table, which does not say how they were answered."""
    interval: Callable[[float], Floats] | None = field(default=None, repr=False)
    """Returns the intervals (pairs, 2) of the differences at a level; None if there are none."""

    @property
    def pvalue(self) -> Floats:
        """The largest p-value of each pair."""
        return self.pvalues[:, 1]

    def _columns(self) -> dict[str, Any]:
        """Return one row per pair."""
        low, high = self.metric.interval(*self.estimates.T)
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            "difference_low": low,
            "difference_high": high,
            "pvalue_low": self.pvalues[:, 0],
            "pvalue_high": self.pvalues[:, 1],
            "adjusted_pvalue_low": self.adjusted_pvalues[:, 0],
            "adjusted_pvalue_high": self.adjusted_pvalues[:, 1],
            "verdict": self.verdicts,
        }

    def basis(self) -> str:
        """Return the test, what it was applied to, and the level."""
        source = "intervals of losses" if self.items is None else "all answers that fit the table"
        return f"{self.test} on {source}, alpha = {self.alpha:g}"

    def method(self) -> str:
        """Return the test, the level and the correction in a sentence."""
        return f"{self.basis()}, adjusted with {CORRECTIONS[self.correction].words}."

    def explain(self) -> str:
        """Describe every pair in a sentence."""
        lines = [self.method()]
        rows = zip(self.pairs, self.verdicts, self.pvalues, self.adjusted_pvalues, strict=True)
        lines += [
            f"{a} and {b}: {verdict} ({interval_words(p)}, adjusted {interval_words(q)})."
            for (a, b), verdict, p, q in rows
        ]
        return "\n".join([*lines, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs for strict JSON."""
        return {
            "test": self.test, "alpha": self.alpha, "correction": self.correction,
            "pairs": row_dicts(self._columns()),
        }  # fmt: skip


def judged_intervals(
    test: str,
    pairs: tuple[tuple[str, str], ...],
    pvalues: Floats,
    estimates: Floats,
    *,
    correction: str,
    alpha: float,
    metric: Metric,
    notes: tuple[str, ...] = (),
    items: int | None = None,
    interval: Callable[[float], Floats] | None = None,
) -> TestedIntervals:
    """Adjust both ends of the p-values (pairs, 2), and say which pairs are significant."""
    adjusted = adjust(pvalues.T, correction).T
    low, high = adjusted.T
    words = np.where(high <= alpha, "significant", "inconclusive")
    return TestedIntervals(
        test=test,
        pairs=pairs,
        pvalues=pvalues,
        adjusted_pvalues=adjusted,
        estimates=estimates,
        verdicts=tuple(np.where(low > alpha, "not significant", words).tolist()),
        correction=correction,
        alpha=alpha,
        metric=metric,
        notes=notes,
        items=items,
        interval=interval,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalDecision(StatedDecision):
    """The learners that may be the best if losses are known up to intervals.

    Attributes
    ----------
    decision : Decision
        The statement about the best. A learner is ruled out only if it is so for all losses inside
        the intervals.
    means : mapping of name to (float, float)
        Mean lower and upper end, in the metric of the table.
    tested : TestedIntervals
        The pairs, with intervals of p-values: the second view.
    """

    means: Mapping[str, tuple[float, float]]
    tested: TestedIntervals

    def _measured(self) -> dict[str, dict[str, float]]:
        """Return the ends of the means, if they are not numbers."""
        if all(low == high for low, high in self.means.values()):
            return {}
        return {end: {name: ends[k] for name, ends in self.means.items()}
                for k, end in enumerate(("low", "high"))}  # fmt: skip

    def _pair_columns(self) -> dict[str, Any]:
        """Return one row per pair, with intervals of p-values."""
        return self.tested._columns()

    def _cells(self) -> dict[str, dict[str, str]]:
        """Return the intervals of the means, by title and learner, for the printed table."""
        if all(low == high for low, high in self.means.values()):
            return {}
        texts = {name: " to ".join(map(number, ends)) for name, ends in self.means.items()}
        return {"from low to high": texts}

    def basis(self) -> str:
        """Return the items of a printed table, or the test on intervals."""
        if self.tested.items is not None:
            return f"{counted(self.tested.items, 'item')}, one printed score per model"
        return f"intervals of losses, compared by {self.tested.test}"

    def undecided(self) -> tuple[Name, ...]:
        """Return the candidates of which some losses inside the intervals rule out one."""
        allowed = self.decision.alpha / (len(self.means) - 1)
        names = {
            name
            for pair, (low, _) in zip(self.tested.pairs, self.tested.pvalues, strict=True)
            for name in pair
            if low <= allowed and set(pair) <= set(self.decision.candidates)
        }
        return tuple(name for name in self.decision.candidates if name in names)

    def _statements(self) -> tuple[Statement, ...]:
        """State the method, what would decide more, and the notes."""
        more = []
        if names := self.undecided():
            listed = shortened(list(map(str, names)), MAX_NAMED)
            more = [f"Narrower intervals may rule out some of {listed}."]
            if self.tested.items is not None:
                more = [
                    f"The answers to the {self.tested.items:,} items may rule out some of "
                    f"{listed}: 'bestofk evals' reads them."
                ]
        text = f"How sure: {self.tested.basis()}."
        return (
            Statement(kind="evidence", text=text, lead=text),
            *statements("note", [*more, *self.tested.notes]),
        )


def interval_decision(
    names: tuple[Name, ...], means: Floats, tested: TestedIntervals, preference: Preference
) -> IntervalDecision:
    """Return the decision from the tested pairs and the ends (2, learners) of the mean losses.

    The learners are in order of preference, and the pairs in the order of their names.
    """
    estimate = tested.estimates.mean(axis=1)

    def interval(_: PairwiseResult, level: float) -> Interval:
        assert tested.interval is not None
        return Interval(*tested.interval(level).T)

    decision = decide_from_pairs(
        names,
        means.mean(axis=0),
        PairwiseResult(
            test=tested.test,
            statistic=estimate,
            pvalue=tested.pvalue,
            df=None,
            estimate=estimate,
            alternative="two-sided",
            interval_rule=None if tested.interval is None else interval,
        ),
        alpha=tested.alpha,
        metric=tested.metric,
        design=tested.basis(),
        noun="learner" if tested.items is None else "model",
        preference=preference,
    )
    shown = np.sort(tested.metric.shown(means), axis=0).T.tolist()
    ends = {str(name): (low, high) for name, (low, high) in zip(names, shown, strict=True)}
    return IntervalDecision(decision=decision, means=ends, tested=tested)
