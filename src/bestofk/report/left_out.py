"""What was left out of a decision, in sentences."""

from __future__ import annotations

from bestofk.losses.losses import Losses
from bestofk.model_choice.model_choice import ModelChoice
from bestofk.ordering.result import Order
from bestofk.run.study import Study
from bestofk.stopping.race_result import Race
from bestofk.wording import counted


def left_out_of(
    order: Order | None, losses: Losses | None, study: Study | None, models: ModelChoice | None
) -> list[str]:
    """Failures first, then what was dropped, then what a reader must know besides."""
    said = [] if study is None else _failed(study)
    said += [] if order is None else list(order.notes)
    if study is not None and study.race is not None:
        said.append(_not_run(study.race))
    if models is not None:
        said += models.left_out
    if study is not None:
        said += [*study.dropped, *study.notes]
        said += [line for line in study.data_account if line.startswith(("Left out", "Ignored"))]
    if said:
        return said
    if losses is None:
        return ["Nothing is known to have been left out."]
    return [f"Nothing: all {losses.values.size} losses count."]


def _failed(study: Study) -> list[str]:
    said = []
    if study.left_out:
        given = len(study.left_out) + len(study.losses.algorithms)
        said.append(f"{len(study.left_out)} of {counted(given, 'learner')} failed.")
        said += [f"{name} was left out: {reason}" for name, reason in study.left_out.items()]
    if study.failures:
        fits = counted(len(study.failures), "fit")
        said.append(f"{fits} gave no loss; the table below says why.")
    return said


def _not_run(race: Race) -> str:
    """What a race did without."""
    rest = race.planned_fits - race.fits
    if not race.settled or race.settle == "limit" or rest <= 0:
        return race.state()
    verb = "was" if rest == 1 else "were"
    return f"{rest:,} of {counted(race.planned_fits, 'planned fit')} {verb} not needed."
