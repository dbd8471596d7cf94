"""Blocks of cells: what a worker gets at once, so that work is shared and little is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial
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
    experiment: Experiment, places: Iterable[Place], *, hurried: bool = False, workers: int = 1
) -> Iterator[Block[Place]]:
    """The blocks of the given places (in the order of `Experiment.places`), round by round.

    A block is either one fold of one data set for several learners (or two that share a model), or
    some runs of one learner that evaluates whole plans. Places are taken one fold at a time, so
    that a caller may stop giving them. If it is `hurried`, every learner of a fold comes in a
    block of its own, and whole plans are evaluated run by run, but for the first run: a fold that
    all learners have finished comes as soon as it can. For several `workers` whole plans come in
    ever smaller parts, the half of what is left, so that all have work until the end.
    """
    plans = _WholePlans(experiment, runs_at_once=1 if hurried else WHOLE_PLAN_RUNS, workers=workers)

    def together(place: Place) -> tuple[int, int, int]:
        shares = experiment.splits[place.dataset].shares_models(place.run)
        return place.dataset, place.run, ALL_FOLDS if shares else place.fold

    for (dataset, _, which), group in groupby(places, key=together):
        fold: list[Place] = []
        # folds that share a model follow each other, as they are evaluated
        members = list(group)
        if which == ALL_FOLDS:
            members.sort(key=_model)
        yield from plans.rest(but_of=dataset)
        for place in members:
            if plans.take(dataset, place.learner) and not (hurried and place.run == 0):
                plans.add(place)
            else:
                fold.append(place)
        yield from plans.ready()
        if fold and not hurried:
            yield Block(items=tuple(fold))
        elif fold:
            for _, own in groupby(fold, key=lambda place: (place.repetition, place.learner)):
                yield Block(items=tuple(own), apart=True)
    yield from plans.rest()


class _WholePlans:
    """Places that wait until there are enough of them for a block of runs of one learner."""

    def __init__(self, experiment: Experiment, *, runs_at_once: int, workers: int) -> None:
        self.experiment, self.runs_at_once, self.workers = experiment, runs_at_once, workers
        self.waiting: dict[tuple[int, int], list[Place]] = {}
        self.begun: set[tuple[int, int]] = set()
        self.late: list[Block[Place]] = []
        self.take = cache(partial(takes_whole_plans, experiment))
        self.most = cache(self._most)

    def add(self, place: Place) -> None:
        """Have a place wait."""
        self.waiting.setdefault((place.dataset, place.learner), []).append(place)

    def ready(self) -> Iterator[Block[Place]]:
        """The blocks that are full.

        Where several work, a learner whose splits share most comes as one long block, for which
        all of its runs are needed: the smaller blocks at the end wait for it.
        """
        full = [at for at, held in self.waiting.items() if len(held) >= self.most(*at, held[0].run)]
        long = [at for at in full if self._shares_most(at)]
        awaited = self.workers > 1 and any(map(self._shares_most, self.waiting.keys() - long))
        for at in long:
            yield self._block(at)
        if not awaited:
            yield from self._held_back()
        for at in full:
            if at in long:
                continue
            block = self._block(at)
            if awaited and at in self.begun:
                self.late.append(block)
            else:
                yield block
            self.begun.add(at)

    def rest(self, *, but_of: int | None = None) -> Iterator[Block[Place]]:
        """What still waits, but of one data set."""
        left = [at for at in self.waiting if at[0] != but_of]
        left.sort(key=self._shares_most, reverse=True)
        if left:
            for at in left:
                if self._shares_most(at):
                    yield self._block(at)
            yield from self._held_back()
        for at in left:
            if at in self.waiting:
                yield self._block(at)

    def _held_back(self) -> list[Block[Place]]:
        held, self.late = self.late, []
        return held

    def _block(self, at: tuple[int, int]) -> Block[Place]:
        return Block(items=tuple(self.waiting.pop(at)), as_one=True)

    def _shares_most(self, at: tuple[int, int]) -> bool:
        estimator = self.experiment.contenders[at[1]].estimator
        return bool(getattr(estimator, "_splits_share_most", False))

    def _most(self, dataset: int, learner: int, first_run: int) -> int:
        """Places of a block that begins with a run."""
        splits = self.experiment.splits[dataset]
        left = max(1, splits.runs + splits.subset_runs - first_run)
        runs = min(self.runs_at_once, left)
        if not self._shares_most((dataset, learner)):
            runs = min(runs, max(1, WHOLE_PLAN_ROWS // (splits.n * splits.folds)))
            if self.workers > 1:
                runs = min(runs, (left + 1) // 2)
        return runs * splits.folds * self.experiment.repetitions


def _model(place: Place) -> tuple[int, int, int]:
    return place.repetition, place.learner, place.fold
