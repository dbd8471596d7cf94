"""What other metrics say of the same models: their means, and whether they decide otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bestofk.errors import BestOfKError
from bestofk.losses.losses import Losses
from bestofk.losses.metric import Metric
from bestofk.ordering.decision import Decision
from bestofk.ordering.order import decide
from bestofk.presenting import Presented, without_effect
from bestofk.wording import number, shortened

MOST_NAMED = 5
"""So many learners without a value are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMetric(Presented):
    """A metric that did not decide.

    Attributes
    ----------
    loss : str
        The name of the loss, as it was asked for.
    name : str
        What the numbers are called.
    higher_is_better : bool
    means : mapping of name to float
        The mean of every learner that has one, in the user's metric.
    recommended : str or None
        Who would be recommended by it; None where nothing could be decided.
    agrees : bool or None
        Whether that is who is recommended; None where nothing could be decided.
    undecided : str
        Why not.
    """

    loss: str
    name: str
    higher_is_better: bool
    means: Mapping[str, float]
    recommended: str | None = None
    agrees: bool | None = None
    undecided: str = ""
    instead_of: str = ""
    """Who is recommended by the metric that decides."""
    lacking: tuple[str, ...] = ()
    """Learners that were compared and have no value."""

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What it would decide, in a sentence; `names` and `alpha` have no effect on it."""
        without_effect(names, alpha)
        by = f"By {self.name} ({'larger' if self.higher_is_better else 'smaller'} is better)"
        without = ""
        if self.lacking:
            have = "has" if len(self.lacking) == 1 else "have"
            without = f"; {shortened(list(self.lacking), MOST_NAMED)} {have} no value"
        if self.recommended is None:
            return f"{by} nothing can be decided: {self.undecided.rstrip('.')}{without}."
        if self.agrees:
            return f"{by} {self.recommended} would be recommended as well{without}."
        means = ""
        if self.instead_of in self.means:
            ours, other = (number(self.means[one]) for one in (self.recommended, self.instead_of))
            means = f" (mean {ours} against {other} of {self.instead_of})"
        return f"{by} {self.recommended} would be recommended instead{means}{without}."


def other_metric(
    loss: str,
    losses: Losses | None,
    decision: Decision,
    costs: Mapping[str, Any],
    recommended: str | None,
    metric: Metric,
    lacking: Sequence[str] = (),
) -> OtherMetric:
    """The same decision by another metric; margins are in units of the first and left out."""
    held: dict[str, Any] = {
        "loss": loss, "name": metric.name, "higher_is_better": metric.higher_is_better,
        "means": {}, "instead_of": recommended or "", "lacking": tuple(lacking),
    }  # fmt: skip
    if losses is None:
        return OtherMetric(**held, undecided="no learner has a value in every fold.")
    held["means"] = {name: float(metric.shown(mean)) for name, mean in losses.means().items()}
    if len(losses.algorithms) < 2:
        return OtherMetric(**held, undecided="fewer than two learners have values.")
    try:
        asked = decision.changed(margin=None, rope=None)
        found = decide(losses, asked.settled(losses.algorithms, costs)).recommended
    except BestOfKError as refusal:
        return OtherMetric(**held, undecided=str(refusal))
    if found is None:
        return OtherMetric(**held, undecided="no learner comes out first.")
    return OtherMetric(**held, recommended=str(found), agrees=str(found) == recommended)
