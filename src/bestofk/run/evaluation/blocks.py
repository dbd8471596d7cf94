"""Blocks of cells: what a worker gets at once, so that work is shared and little is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

from bestofk.run.evaluation.evaluate import ALL_FOLDS
from bestofk.run.evaluation.whole_plans import takes_whole_plans
from bestofk.run.experiment import Experiment, Place
from bestofk.run.task import Block

WHOLE_PLAN_RUNS = 25
"""Runs that a learner evaluates at once at the most, so that results are stored as they come."""
WHOLE_PLAN_ROWS = 250_000
"""Rows times splits that it evaluates at once at the most, so that there is work for all cores.

Not where most of the work is what the splits share: that would be done again in every block."""


def blocks_of(
    experiment: Experiment, places: Iterable[Place], *, hurried: bool = False
) -> Iterator[Block[Place]]:
    """The blocks of the given places (in the order of `Experiment.places`), round by round.

    A block is either one fold of one data set for several learners (or two that share a model), or
    some runs of one learner that evaluates whole plans. Places are taken one fold at a time, so
    that a caller may stop giving them. If it is `hurried`, every learner of a fold comes in a
    block of its own, and whole plans are evaluated run by run, but for the first run: a fold that
    all learners have finished comes as soon as it can.
    """
    runs_at_once = 1 if hurried else WHOLE_PLAN_RUNS
    wholes: dict[tuple[int, int], list[Place]] = {}

    @cache
    def whole_plans(dataset: int, learner: int) -> bool:
        return takes_whole_plans(experiment, dataset, learner)

    @cache
    def most_places(dataset: int, learner: int) -> int:
        splits, runs = experiment.splits[dataset], runs_at_once
        if not getattr(experiment.contenders[learner].estimator, "_splits_share_most", False):
            runs = min(runs, max(1, WHOLE_PLAN_ROWS // (splits.n * splits.folds)))
        return runs * splits.folds * experiment.repetitions

    def together(place: Place) -> tuple[int, int, int]:
        shares = experiment.splits[place.dataset].shares_models(place.run)
        return place.dataset, place.run, ALL_FOLDS if shares else place.fold

    for (dataset, _, which), group in groupby(places, key=together):
        fold: list[Place] = []
        # folds that share a model follow each other, as they are evaluated
        members = list(group)
        if which == ALL_FOLDS:
            members.sort(key=_model)
        for place in members:
            if whole_plans(dataset, place.learner) and not (hurried and place.run == 0):
                wholes.setdefault((dataset, place.learner), []).append(place)
            else:
                fold.append(place)
        for at in [at for at, waiting in wholes.items() if at[0] != dataset]:
            yield Block(items=tuple(wholes.pop(at)), as_one=True)
        for at, waiting in wholes.items():
            if len(waiting) >= most_places(*at):
                yield Block(items=tuple(waiting), as_one=True)
                wholes[at] = []
        if fold and not hurried:
            yield Block(items=tuple(fold))
        elif fold:
            for _, own in groupby(fold, key=lambda place: (place.repetition, place.learner)):
                yield Block(items=tuple(own), apart=True)
    for waiting in wholes.values():
        if waiting:
            yield Block(items=tuple(waiting), as_one=True)


def _model(place: Place) -> tuple[int, int, int]:
    return place.repetition, place.learner, place.fold
