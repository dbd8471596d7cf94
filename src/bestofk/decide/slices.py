"""Verdicts by slice of the data, with one family of comparisons over all slices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import ArgumentError, BestOfKError, DesignError, UnknownNameError
from bestofk._base.formatting import counted, joined, pvalue_words, rounded, shortened
from bestofk._base.results import Presented
from bestofk.decide.decision import Decision
from bestofk.decide.order import order
from bestofk.decide.preference import Name
from bestofk.decide.statements.wording import called
from bestofk.stats.adjust import CORRECTIONS, adjust

MAX_SLICES = 200
MAX_LEFT_OUT = 5
"""Most slices without a test that the explanation lists."""
STEP_DOWN = "holm"
"""The correction over all slices."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """One slice of the data.

    Attributes
    ----------
    name : str
        The value of the column.
    means : mapping
        Mean by learner, in the user's metric.
    best : name
        The learner with the best mean in this slice.
    claims : tuple of (better, worse, adjusted p-value)
        What is shown in this slice, with the correction over all slices.
    """

    name: str
    means: Mapping[Name, float]
    best: Name
    claims: tuple[tuple[Name, Name, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices(Presented):
    """Verdicts by slice.

    Attributes
    ----------
    by : str
        The column.
    recommended : name or None
        The learner that the whole table recommends.
    slices : tuple of Slice
        Those in which another learner is shown to be better than the recommended one first, then
        by how far it is behind the best mean.
    comparisons : int
        The number of comparisons in all slices; the chance of any false claim about them is at
        most alpha if the assumptions of the tests hold.
    left_out : mapping of str to str
        Slices that cannot be tested, and why.
    cautions : mapping of str to str
        Sentences about the tests, by the slices that they are about.
    """

    by: str
    recommended: Name | None
    slices: tuple[Slice, ...]
    comparisons: int
    alpha: float
    metric: str
    noun: str
    left_out: Mapping[str, str]
    cautions: Mapping[str, str] = field(default_factory=dict)

    def worse(self, one: Slice) -> list[tuple[Name, float]]:
        """Return the learners that are shown to be better than the recommended one in a slice."""
        return [(better, p) for better, worse, p in one.claims if worse == self.recommended]

    def recommended_mean(self, one: Slice) -> float | None:
        """Return the mean of the recommended learner in a slice, if it has one."""
        return None if self.recommended is None else one.means.get(self.recommended)

    def _columns(self) -> dict[str, Any]:
        return {
            self.by: [one.name for one in self.slices],
            "best": [one.best for one in self.slices],
            "mean_best": [one.means[one.best] for one in self.slices],
            "mean_recommended": [self.recommended_mean(one) for one in self.slices],
            "verdict": [self.verdict(one) for one in self.slices],
        }

    def verdict(self, one: Slice) -> str:
        """Return how the recommended learner compares in a slice, in words."""
        if worse := self.worse(one):
            p = pvalue_words(min(p for _, p in worse))
            return f"{joined([called(name) for name, _ in worse])} significantly better ({p})"
        beaten = [called(worse) for better, worse, _ in one.claims if better == self.recommended]
        shown = f"significantly better than {joined(beaten)}" if beaten else ""
        if one.best == self.recommended:
            best = f"{called(one.best)} has the best mean"
            return f"{best}; {shown}" if shown else best
        best = f"{called(one.best)} has the best mean; not significant"
        return f"{shown}; {best}" if shown else best

    def headline(self) -> str:
        """Return in which slices another learner is shown to be better, in a sentence."""
        bad = [one for one in self.slices if self.worse(one)]
        chosen = "No learner" if self.recommended is None else called(self.recommended)
        total = counted(len(self.slices), "slice")
        family = (
            f"one family of {counted(self.comparisons, 'comparison')}, alpha = {self.alpha:g} with "
            f"{CORRECTIONS[STEP_DOWN].words}"
        )
        if bad:
            names = joined([one.name for one in bad[:5]])
            more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
            return (
                f"Slices by {self.by}: in {len(bad)} of {total} another {self.noun} is "
                f"significantly better than {chosen}: {names}{more} ({family})."
            )
        return (
            f"Slices by {self.by}: in none of {total} is another {self.noun} shown to be "
            f"better than {chosen} ({family})."
        )

    def caution_sentences(self) -> list[str]:
        """Return the cautions, and the slices that cannot be tested."""
        cautions = [f"Caution about {names}: {text}" for names, text in self.cautions.items()]
        left_out = [f"{name}: left out. {reason}" for name, reason in self.left_out.items()]
        more = len(left_out) - MAX_LEFT_OUT
        if more > 1:
            left_out[MAX_LEFT_OUT:] = [f"{more} more slices are left out for such reasons."]
        return cautions + left_out

    def explain(self) -> str:
        """Return the verdicts in sentences."""
        lines = [self.headline()]
        means = [self.recommended_mean(one) for one in self.slices]
        texts = iter(rounded([mean for mean in means if mean is not None]))
        for one, mean in zip(self.slices, means, strict=True):
            shown = "" if mean is None else f" ({self.metric} {next(texts)})"
            lines.append(f"{one.name}{shown}: {self.verdict(one)}.")
        return "\n".join([*lines, *self.caution_sentences()])


def order_by(source: Any, by: str, **arguments: Any) -> Slices:
    """Decide about a table of losses in every slice, with one family over all slices.

    Parameters
    ----------
    source : path or data frame
        A table with one row per loss and a column of slices.
    by : str
        That column.
    **arguments
        As for `bestofk.order`.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = [(name, item, item % 2, int(rng.random() < (0.9 if name == "a" else 0.2 + item % 2)))
    ...         for item in range(120) for name in ("a", "b")]
    >>> frame = pd.DataFrame(rows, columns=["model", "item", "part", "accuracy"])
    >>> slices = order_by(frame, "part")
    >>> {one.name: slices.verdict(one) for one in slices.slices}["0"]
    'a has the best mean; significantly better than b'
    """
    from bestofk.decide.interval_table import table_of

    cells = table_of(source)
    if cells is None:
        raise ArgumentError("source must be a path or a data frame.")
    if by not in cells.columns:
        raise UnknownNameError("column", by, list(cells.columns))
    where = arguments.pop("where", {})

    def decide(name: str | None = None) -> Decision:
        chosen = where if name is None else {**where, by: name}
        reading: dict[str, Any] = {"where": chosen} if chosen else {}
        return order(source, **arguments, **reading)

    return order_slices(decide(), cells.levels(by).names, decide, by=by)


def _cautions(decisions: Mapping[str, Decision]) -> dict[str, str]:
    """Return one caution for each test, by the slices that have one."""
    cautioned: dict[str, list[str]] = {}
    for name, decision in decisions.items():
        if decision.caution:
            cautioned.setdefault(decision.test, []).append(name)
    return {shortened(names, 3): decisions[names[0]].caution for names in cautioned.values()}


def slice_names(cells: Iterable[Any]) -> npt.NDArray[np.object_]:
    """Return the name of the slice of each row.

    Examples
    --------
    >>> slice_names([1.0, 2.0, "a"]).tolist()
    ['1', '2', 'a']
    """
    return np.array([f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells],
                    dtype=object)  # fmt: skip


def check_slices(names: Sequence[str], by: str) -> None:
    """Refuse a column with too few or too many different values."""
    if not 2 <= len(names) <= MAX_SLICES:
        raise DesignError(
            f"by needs a column with 2 to {MAX_SLICES} different values; {by!r} has {len(names)}."
        )


def order_slices(
    whole: Decision,
    names: tuple[str, ...],
    decide: Callable[[str], Decision],
    *,
    by: str,
) -> Slices:
    """Decide in every slice, and adjust the p-values of all pairs in all slices together.

    - `whole`: The decision from all data.
    - `names`: The slices.
    - `decide`: Returns the decision of a slice.
    - `by`: The column of the slices.
    """
    alpha = whole.alpha
    check_slices(names, by)
    decisions: dict[str, Decision] = {}
    left_out: dict[str, str] = {}
    for name in names:
        try:
            decisions[name] = decide(name)
        except BestOfKError as error:
            left_out[name] = str(error)
    if not decisions:
        raise DesignError(f"No slice of {by!r} can be tested: {next(iter(left_out.values()))}")
    pvalues = np.concatenate([one.evidence.pvalue for one in decisions.values()])
    adjusted = np.asarray(adjust(pvalues, STEP_DOWN)) if len(pvalues) else pvalues
    slices, start = [], 0
    for name, decision in decisions.items():
        evidence = decision.evidence
        part = adjusted[start : start + len(evidence)]
        start += len(evidence)
        claims = []
        for row in np.flatnonzero((part <= alpha) & (evidence.direction != 0)).tolist():
            pair = evidence.names[evidence.first[row]], evidence.names[evidence.second[row]]
            better, worse = pair if evidence.direction[row] < 0 else pair[::-1]
            claims.append((better, worse, float(part[row])))
        slices.append(
            Slice(
                name=name,
                means=decision.means,
                best=decision.smallest_mean,
                claims=tuple(claims),
            )
        )
    result = Slices(
        by=by,
        recommended=whole.recommended,
        slices=(),
        comparisons=len(pvalues),
        alpha=alpha,
        metric=whole.metric.mean,
        noun=whole.noun,
        left_out=left_out,
        cautions=_cautions(decisions),
    )

    def behind(one: Slice) -> float:
        losses = decisions[one.name].mean_losses
        recommended = losses.get(whole.recommended) if whole.recommended is not None else None
        return 0.0 if recommended is None else recommended - losses[one.best]

    ordered = sorted(slices, key=lambda one: (not result.worse(one), -behind(one)))
    return replace(result, slices=tuple(ordered))
