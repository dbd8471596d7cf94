"""Results of planning: the differences that a design can show, and what settles each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import UnknownNameError
from bestofk._base.results import Presented, present

if TYPE_CHECKING:
    import pandas as pd

Name = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The number of runs, rows, data sets or instances that would show a difference.

    Attributes
    ----------
    unit : str
        ``"runs"``, ``"splits"``, ``"rows"``, ``"data sets"`` or ``"instances"``.
    now : int or None
        The current number; None if unknown.
    count : int or None
        The total number needed, everything else unchanged; None if no number is enough.
    times : float or None
        ``count / now``, also known if `now` is not.
    reason : str
        Why no number is enough; empty if one is.
    """

    unit: str
    now: int | None
    count: int | None
    times: float | None
    reason: str = ""

    @property
    def feasible(self) -> bool:
        """True if some number is enough."""
        return self.times is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPlan:
    """One pair of learners.

    Attributes
    ----------
    first, second : name
        The two learners.
    estimate : float or None
        Mean loss of `first` minus mean loss of `second`, as observed; None without data.
    difference : float or None
        The absolute difference to plan for: the requested one, else the observed one (for
        Wilcoxon's test the pseudomedian of the differences).
    power : float or None
        Probability that the current design shows `difference`, if it is the true one.
    smallest_difference : float or None
        The smallest difference that the current design shows with the requested power; None if
        it shows none.
    limit : float or None
        The smallest difference that any number of runs (or splits) of the same rows would show;
        None if more of them are impossible or have no such limit.
    settled : bool
        Whether the observed losses already show a difference.
    needed : tuple of Needed
        What would show `difference` with the requested power; empty if the pair is settled.
    """

    first: Name
    second: Name
    estimate: float | None
    difference: float | None
    power: float | None
    smallest_difference: float | None
    limit: float | None = None
    settled: bool = False
    needed: tuple[Needed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize(Presented):
    """The differences that a design can show, and the size that would settle the open pairs.

    Attributes
    ----------
    design : str
        The design in words.
    test : str
        The pairwise test.
    alpha, family, correction, comparisons
        Error allowed for the whole family, its pairs, its correction, and its number of
        comparisons.
    level : float
        The level that the correction leaves to one pair at first, both sides together.
    power : float
        The probability with which a difference is to be shown.
    difference : float or None
        The requested difference; None for the observed difference of each pair.
    smallest_difference : float or None
        The smallest difference that a typical pair (the median of the pairs) can show with that
        power; None if no difference can be shown.
    limit : float or None
        The same for any number of runs (or splits) of the same rows; None if there is no
        such limit.
    unit : str
        The repeated units: ``"runs"``, ``"splits"``, ``"data sets"`` or
        ``"instances"``.
    reason : str
        Why no difference can be shown; empty if one can.
    pairs : tuple of PairPlan
        One row per pair.
    assumptions : tuple of str
        What the numbers rest on.
    """

    design: str
    test: str
    alpha: float
    family: str
    correction: str
    comparisons: int
    level: float
    power: float
    difference: float | None
    smallest_difference: float | None
    limit: float | None
    unit: str
    reason: str
    pairs: tuple[PairPlan, ...]
    assumptions: tuple[str, ...] = ()

    def pair(self, a: Name, b: Name) -> PairPlan:
        """Return the row of two learners, in either order."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {a, b}:
                return pair
        known = {str(name) for pair in self.pairs for name in (pair.first, pair.second)}
        missing = next((name for name in (a, b) if str(name) not in known), f"{a} against {b}")
        raise UnknownNameError("learner in this plan", missing, sorted(known))

    def explain(self) -> str:
        """State the plan in sentences, one paragraph per topic; `to_frame` has the pairs."""
        from bestofk.decide.statements.power import plan_sentences

        return "\n".join(filter(None, plan_sentences(self)))

    def _screen(self) -> tuple[str, dict[str, dict[str, Any]], str]:
        from bestofk.decide.statements.power import open_pairs, plan_sentences

        head, rest = plan_sentences(self)
        pairs = open_pairs(self)
        return head, {"": pairs} if pairs["first"] else {}, rest

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair as a data frame; unknown or impossible values are missing."""
        import pandas as pd

        return pd.DataFrame([_flat(pair) for pair in self.pairs])

    def to_dict(self) -> dict[str, Any]:
        """Return the plan for strict JSON, without NaN and infinity."""
        from bestofk.version import __version__

        return {**Presented.to_dict(self), "explanation": self.explain(), "version": __version__}

    def __str__(self) -> str:
        text: str = present("screen", self)
        return text


def _flat(pair: PairPlan) -> dict[str, Any]:
    row = {name: getattr(pair, name) for name in PairPlan.__slots__ if name != "needed"}
    for needed in pair.needed:
        unit = needed.unit.replace(" ", "_")
        row[f"needed_{unit}"] = needed.count
        row[f"times_{unit}"] = needed.times
        row[f"reason_{unit}"] = needed.reason
    return row
