"""What a budget should have been that ended before there was anything to decide from."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bestofk.run.cells import CellResult
from bestofk.run.experiment import Experiment, Place
from bestofk.wording import duration, shortened

MARGIN = 1.5
"""A fit may take so many times as long as those that were timed."""


def more_time(
    experiment: Experiment,
    results: Mapping[Place, CellResult],
    cut: Mapping[Place, float],
    budget: float,
) -> str:
    """That the budget was too short for one fold of all learners, and what would be enough.

    By what was measured: the same run would come as far again, and then need the time of the fits
    that are missing.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    results : mapping
        What is done.
    cut : mapping
        The cells that were being fitted when the time was up, and the seconds that they had taken.
    budget : float
        Seconds.
    """
    spent: dict[int, list[float]] = {}
    for place, result in results.items():
        seconds = (result.fit_time or 0.0) + (result.predict_time or 0.0)
        spent.setdefault(place.learner, []).append(seconds)
    so_far: dict[int, float] = {}
    for place, seconds in cut.items():
        so_far[place.learner] = max(seconds, so_far.get(place.learner, 0.0))
    need, unknown = budget, set[int]()
    for place in experiment.places():
        if place.run or place.fold or place in results:
            continue
        if place.learner in spent:
            need += MARGIN * max(spent[place.learner])
        else:
            unknown.add(place.learner)
            need += MARGIN * max(so_far.get(place.learner, 0.0), budget / 2)
    enough = math.ceil(need) + 1
    ended = f"The budget of {budget:g} s ended before all learners had finished one fold"
    if not unknown:
        return f"{ended}: {enough} s should be enough (--budget {enough})."
    names = shortened([experiment.contenders[one].name for one in sorted(unknown)], 3)
    longest = max((so_far.get(one, 0.0) for one in unknown), default=0.0)
    after = f" after {duration(longest)}" if longest else ""
    return (
        f"{ended}: {names} had not finished a fit{after}. Try {enough} s (--budget {enough}), or "
        "leave the budget out to let every fit finish."
    )
