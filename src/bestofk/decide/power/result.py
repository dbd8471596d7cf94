"""What a plan says: the differences that a design can show, and what would settle each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import UnknownNameError
from bestofk._base.results import Presented

if TYPE_CHECKING:
    import pandas as pd

Name = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed(Presented):
    """How many runs, rows, data sets or instances would show a difference.

    Attributes
    ----------
    unit : str
        ``"runs"``, ``"splits"``, ``"rows"``, ``"data sets"`` or ``"instances"``.
    now : int or None
        How many there are; None where that is not known.
    count : int or None
        How many in all would do, everything else as it is; None where no number does.
    times : float or None
        ``count / now``, also where `now` is not known.
    reason : str
        Why no number does; empty where one does.
    """

    unit: str
    now: int | None
    count: int | None
    times: float | None
    reason: str = ""

    @property
    def feasible(self) -> bool:
        """Whether some number does."""
        return self.times is not None

    def explain(self) -> str:
        """The number in a sentence."""
        from bestofk.decide.statements.power import needed_sentence

        return needed_sentence(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPlan(Presented):
    """One pair of learners.

    Attributes
    ----------
    first, second : name
        The two learners.
    estimate : float or None
        Mean loss of `first` minus mean loss of `second`, as observed; None without data.
    standard_error : float or None
        Of the estimate, as the test takes it; None where it is not known without a difference.
    difference : float or None
        The difference that is planned for, without its sign: the one that was asked for, else
        the observed one (for Wilcoxon's test the pseudomedian of the differences).
    power : float or None
        The probability that the design as it is shows `difference`, if it is the true one.
    smallest_difference : float or None
        What the design as it is shows with the power asked for; None where it shows nothing.
    limit : float or None
        What any number of runs (or splits) of the same rows would show; None where more of them
        are no option, or have no such limit.
    settled : bool
        Whether the observed losses show a difference already.
    needed : tuple of Needed
        What would show `difference` with the power asked for; empty where the pair is settled.
    """

    first: Name
    second: Name
    estimate: float | None
    standard_error: float | None
    difference: float | None
    power: float | None
    smallest_difference: float | None
    limit: float | None = None
    settled: bool = False
    needed: tuple[Needed, ...] = ()

    def _columns(self) -> dict[str, Any]:
        """One row."""
        return {name: [cell] for name, cell in _flat(self).items()}

    def explain(self) -> str:
        """The pair in sentences."""
        from bestofk.decide.statements.power import pair_plan_sentences

        return pair_plan_sentences(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSize(Presented):
    """What a design can show, and what would settle the open pairs.

    Attributes
    ----------
    design : str
        The design in words.
    test : str
        The pairwise test.
    alpha, family, correction, comparisons
        Error allowed for the whole family, which pairs it holds, how it is corrected, and how
        many comparisons it makes.
    level : float
        The level that the correction leaves to one pair at first, both sides together.
    power : float
        The probability with which a difference is to be shown.
    difference : float or None
        The difference that was asked for; None: each pair's observed one.
    smallest_difference : float or None
        The smallest difference that a typical pair (the median of the pairs) can show with that
        power; None where none can.
    limit : float or None
        The same for any number of runs (or splits) of the same rows; None where there is no
        such limit.
    unit : str
        What the design has several of: ``"runs"``, ``"splits"``, ``"data sets"`` or
        ``"instances"``.
    reason : str
        Why no difference can be shown; empty where one can.
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

    def row(self, a: Name, b: Name) -> PairPlan:
        """The row of two learners, in either order."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {a, b}:
                return pair
        known = {str(name) for pair in self.pairs for name in (pair.first, pair.second)}
        missing = next((name for name in (a, b) if str(name) not in known), f"{a} against {b}")
        raise UnknownNameError("learner in this plan", missing, sorted(known))

    def pair(self, a: Name, b: Name) -> str:
        """What would settle `a` against `b`, in a sentence.

        Empty where the pair is settled, where no difference was observed, and where nothing
        would do but more than a thousand times what there is.
        """
        from bestofk.decide.statements.power import settling_sentence

        return settling_sentence(self, self.row(a, b))

    def explain(self) -> str:
        """The plan in sentences, one paragraph per matter."""
        from bestofk.decide.statements.power import explain_plan

        return explain_plan(self)

    def to_frame(self) -> pd.DataFrame:
        """One row per pair, as a data frame; what is not known or not possible is missing."""
        import pandas as pd

        return pd.DataFrame([_flat(pair) for pair in self.pairs])

    def to_dict(self) -> dict[str, Any]:
        """The plan for strict JSON: no NaN, no infinity."""
        from bestofk.version import __version__

        return {**Presented.to_dict(self), "explanation": self.explain(), "version": __version__}

    def __str__(self) -> str:
        return self.explain()


def _flat(pair: PairPlan) -> dict[str, Any]:
    row = {name: getattr(pair, name) for name in PairPlan.__slots__ if name != "needed"}
    for needed in pair.needed:
        unit = needed.unit.replace(" ", "_")
        row[f"needed_{unit}"] = needed.count
        row[f"times_{unit}"] = needed.times
        row[f"reason_{unit}"] = needed.reason
    return row
