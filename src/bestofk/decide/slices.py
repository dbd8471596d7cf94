"""Statements by slice of the data, which hold together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import BestOfKError, DesignError, UnknownNameError, argument
from bestofk._base.formatting import counted, shortened
from bestofk.data.tables.reading import read_table
from bestofk.decide.compare_scores import compare_scores
from bestofk.decide.decision import RULED_OUT, Decision, Standing
from bestofk.decide.preference import Name
from bestofk.decide.result import Result, decision_of
from bestofk.decide.statements.wording import at_most_text, called, level_words, named

MAX_SLICES = 200
MAX_LEFT_OUT = 5
"""Most slices without a test that the explanation lists."""
MAX_NAMED = 5
"""Most slices that the first sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """One slice of the data: the value of the column, and the decision about its rows."""

    name: str
    decision: Decision

    def standing(self, name: Name | None) -> Standing | None:
        """Return the row of a learner, if it was compared in this slice."""
        return next((row for row in self.decision.standings if row.name == name), None)

    @property
    def ruled_out(self) -> tuple[Name, ...]:
        """The learners that are ruled out, or worse than the one of another rule."""
        rows = self.decision.standings
        return tuple(row.name for row in rows if row.verdict in (RULED_OUT, "worse"))

    def explain(self) -> str:
        """Return the statement about the slice, in short."""
        best = self.decision.recommended
        row = self.standing(best)
        if best is None or row is None:
            return f"{self.name}: {self.decision.headline}"
        at_most = at_most_text(self.decision, row.at_most)
        parts = [f"use {called(best)}{f', at most {at_most} worse than the best' * bool(at_most)}"]
        may_be = [name for name in self.decision.candidates if name != best]
        for title, names in (("may be the best", may_be), ("ruled out", self.ruled_out)):
            if names:
                parts.append(f"{title}: {named(names)}")
        return f"{self.name}: {'; '.join(parts)}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slices:
    """Statements by slice.

    Attributes
    ----------
    by : str
        The column.
    recommended : name or None
        The learner that the whole table recommends.
    slices : tuple of Slice
        Those in which the recommended learner is ruled out first, then by how far its mean is
        behind. Each decision has the level alpha divided by the number of slices.
    alpha : float
        Chance that any of the statements is wrong, if the assumptions of the tests hold.
    left_out : mapping of str to str
        Slices that cannot be tested, and why.
    cautions : mapping of str to str
        Sentences about the tests, by the slices that they are about.
    """

    by: str
    recommended: Name | None
    slices: tuple[Slice, ...]
    alpha: float
    left_out: Mapping[str, str]
    cautions: Mapping[str, str] = field(default_factory=dict)

    def _columns(self) -> dict[str, Any]:
        decisions = [one.decision for one in self.slices]
        rows = [one.standing(one.decision.recommended) for one in self.slices]
        return {
            self.by: [one.name for one in self.slices],
            "recommended": [one.recommended for one in decisions],
            "at_most": [None if row is None else row.at_most for row in rows],
            "candidates": [", ".join(map(called, one.candidates)) for one in decisions],
            "ruled_out": [", ".join(map(called, one.ruled_out)) for one in self.slices],
        }

    @property
    def headline(self) -> str:
        """Return in which slices the recommended learner is ruled out, in a sentence."""
        total = counted(len(self.slices), "slice")
        hold = f"{level_words(self.alpha)} confidence for all slices at once"
        if self.recommended is None:
            return f"Slices by {self.by}: {total} ({hold})."
        out = [one.name for one in self.slices if self.recommended in one.ruled_out]
        names = f": {shortened(out, MAX_NAMED)}" if out else ""
        return (
            f"Slices by {self.by}: {called(self.recommended)} is ruled out in "
            f"{len(out) or 'none'} of {total}{names} ({hold})."
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
        """Return the statement of each slice."""
        lines = [one.explain() for one in self.slices]
        return "\n".join([self.headline, *lines, *self.caution_sentences()])


def order_by(source: Any, by: str, **arguments: Any) -> Result:
    """Decide about a table of losses in every slice, with statements that hold together.

    Parameters
    ----------
    source : path or data frame
        A table with one row per loss and a column of slices.
    by : str
        That column.
    **arguments
        As for `bestofk.compare_scores`.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = [(name, item, item % 2, int(rng.random() < (0.9 if name == "a" else 0.2 + item % 2)))
    ...         for item in range(120) for name in ("a", "b")]
    >>> frame = pd.DataFrame(rows, columns=["model", "item", "part", "accuracy"])
    >>> result = order_by(frame, "part")
    >>> {name: part.candidates for name, part in result.by_slice.items()}
    {'1': ('b',), '0': ('a',)}
    """
    cells = read_table(source)
    if by not in cells.columns:
        raise UnknownNameError("column", by, list(cells.columns))
    where = arguments.pop("where", {})

    def decide(name: str, alpha: float) -> Decision:
        part = compare_scores(source, **(arguments | {"alpha": alpha}), where={**where, by: name})
        return decision_of(part)

    whole = compare_scores(source, **arguments, **({"where": where} if where else {}))
    slices = order_slices(decision_of(whole), cells.levels(by).names, decide, by=by)
    return Result(whole.outcome, slices)


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
            argument("by"),
            f" needs a column with 2 to {MAX_SLICES} different values; {by!r} has {len(names)}.",
        )


def order_slices(
    whole: Decision, names: tuple[str, ...], decide: Callable[[str, float], Decision], *, by: str
) -> Slices:
    """Decide in every slice, each at alpha divided by the number of slices.

    - `whole`: The decision from all data.
    - `names`: The slices.
    - `decide`: Returns the decision of a slice at a level alpha.
    - `by`: The column of the slices.
    """
    check_slices(names, by)
    decisions: dict[str, Decision] = {}
    left_out: dict[str, str] = {}
    cautioned: dict[str, list[str]] = {}
    for name in names:
        try:
            decision = decisions[name] = decide(name, whole.alpha / len(names))
        except BestOfKError as error:
            left_out[name] = str(error)
            continue
        if decision.caution:
            cautioned.setdefault(decision.test, []).append(name)
    if not decisions:
        raise DesignError(f"No slice of {by!r} can be tested: {next(iter(left_out.values()))}")

    def behind(one: Slice) -> tuple[bool, float]:
        row = one.standing(whole.recommended)
        if row is None:
            return True, 0.0
        return row.name not in one.ruled_out, -row.difference

    slices = (Slice(name=name, decision=decision) for name, decision in decisions.items())
    return Slices(
        by=by,
        recommended=whole.recommended,
        slices=tuple(sorted(slices, key=behind)),
        alpha=whole.alpha,
        left_out=left_out,
        # one caution for each test
        cautions={shortened(names, 3): decisions[names[0]].caution for names in cautioned.values()},
    )
