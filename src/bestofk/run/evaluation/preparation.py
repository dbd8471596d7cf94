"""What is done to the rows of a comparison inside its folds: told before, amended by the fits."""

from __future__ import annotations

from typing import Any

from bestofk.learners.preparation.account import Preparation
from bestofk.learners.preparation.otherwise import MARK
from bestofk.learners.preparation.ready_learner import ready_learner
from bestofk.run.evaluation.result_table import ResultTable
from bestofk.run.experiment import Experiment, UnavailableEstimator
from bestofk.run.store.stored_study import StudySpec

ByLearner = dict[str, dict[str, Preparation]]


def preparation_of(experiment: Experiment) -> dict[str, dict[str, dict[str, Any]]]:
    """By data set and learner, as a store keeps it; learners that cannot be prepared are absent."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for data in experiment.datasets:
        by_learner = found.setdefault(data.name, {})
        for contender in experiment.contenders:
            if isinstance(contender.estimator, UnavailableEstimator):
                continue
            try:
                done = ready_learner(contender.estimator, data).done
            except Exception:
                # any class may raise anything; its fits say why
                continue
            by_learner[contender.name] = done.to_dict()
    return found


def amended(spec: StudySpec, results: ResultTable) -> ByLearner:
    """The same as values, with what the fits themselves say where they were made otherwise."""
    found = {
        data: {learner: Preparation.from_dict(done) for learner, done in by_learner.items()}
        for data, by_learner in spec.preparation.items()
    }
    for place, warned in results.warned():
        said = next((line for line in warned if line.startswith(MARK)), None)
        if said is not None:
            data, learner = spec.datasets[place.dataset].name, spec.learners[place.learner].name
            found.setdefault(data, {})[learner] = Preparation(form=said.removeprefix(MARK))
    return found
