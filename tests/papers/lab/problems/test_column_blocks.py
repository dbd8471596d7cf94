"""Learners with their own columns: equal by construction, with known Bayes error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bestofk as bk
from bestofk.papers.lab import problem, simulate
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.truth import known_truth

SMALL = ColumnBlocks(learners=3, rows=40, attributes=2)


def best_rule(block) -> np.ndarray:
    """The majority of binary columns, the sign of the sum of normal ones; ties count a half."""
    values = block.values if block.cardinality[0] == 0 else block.values - 0.5
    total = values.sum(axis=1)
    wrong = (total > 0) != block.y
    return np.where(total == 0, 0.5, wrong)


@pytest.mark.parametrize("kind", ["gaussian", "binary"])
@pytest.mark.parametrize("attributes", [1, 4, 5])
def test_the_bayes_error_of_a_block_is_the_one_set(kind: str, attributes: int) -> None:
    errors = (0.1, 0.3, 0.5)
    generated = ColumnBlocks(kind=kind, attributes=attributes, rows=40_000, bayes_error=errors)
    data = generated.encoded(np.random.default_rng(0))
    for place, error in enumerate(errors):
        result = best_rule(generated.block(data, place)).mean()
        assert abs(result - error) < 5 * np.sqrt(error * (1 - error) / 40_000)


@pytest.mark.parametrize("learner", ["nmc", "nn", "c4.5", "naive-bayes", "logistic"])
@pytest.mark.parametrize("kind", ["gaussian", "binary"])
def test_losses_are_those_of_compare_on_the_block(learner: str, kind: str) -> None:
    """One path: each copy has the losses that `compare` gets on its columns alone."""
    from bestofk.papers.lab.problems.generator import dataset_of
    from bestofk.papers.lab.simulation import SimulationTask
    from bestofk.run.inputs import named_estimators
    from bestofk.splits.plans import plan as make_plan

    generated = replace(SMALL, kind=kind)
    result = simulate([learner], generated, "2x4", sets=1)
    assert result.learners == (f"{learner} 1", f"{learner} 2", f"{learner} 3")
    work = SimulationTask(
        problem=generated,
        learners=dict(list(named_estimators([learner, "max"]).items())[:1]),
        plan=make_plan("2x4"),
        seed=0,
    )
    for one in range(1):
        encoded = work.encoded(one)
        seed = work.splits(one, 0, encoded).seed
        for place in range(3):
            study = bk.compare(
                [learner, "max"],
                dataset_of(generated.block(encoded, place), "block"),
                cv=make_plan("2x4", random_state=seed),
                progress=False,
                n_jobs=1,
            )
            assert np.array_equal(study.scores.losses[0], result.losses[one, 0, place])


def test_learners_of_scikit_learn_see_their_block_only() -> None:
    tree = "sklearn.tree:DecisionTreeClassifier(max_depth=2)"
    strong = ColumnBlocks(rows=60, attributes=2, bayes_error=(0.5, 0.01))
    result = simulate([f"tree={tree}"], strong, "kfold:4", sets=3)
    useless, good = result.losses.mean(axis=(0, 1, 3, 4, 5, 6))
    assert good < 0.15 < 0.3 < useless
    contents = simulate([f"tree={tree}"], strong, "holdout:0.5", sets=2)
    assert contents.losses.shape == (2, 1, 2, 1, 1, 30, 1)


def test_plans_with_runs_on_parts_of_the_rows() -> None:
    """The losses of all runs are those without the parts; the parts are those of `compare`."""
    from bestofk.papers.lab.problems.generator import dataset_of
    from bestofk.splits.plans import plan as make_plan

    plan = "2x4+nested"
    learners = [
        "nmc",
        "naive-bayes",
        "tree=sklearn.tree:DecisionTreeClassifier(max_depth=2, random_state=0)",
    ]
    generated = problem("binary(rows=40, attributes=4)")
    result = simulate(learners, generated, plan, sets=2, n_jobs=1, engine="serial")
    parts = result.subset_losses
    assert parts is not None
    assert parts.shape == (2, 1, 3, 1, result.design.nested_runs, 2, 1)
    from bestofk.papers.lab.simulation import SimulationTask
    from bestofk.run.inputs import named_estimators

    work = SimulationTask(
        problem=generated,
        learners=named_estimators(learners),
        plan=make_plan(plan),
        seed=0,
    )
    for one in range(2):
        encoded = work.encoded(one)
        seed = work.splits(one, 0, encoded).seed
        study = bk.compare(
            learners,
            dataset_of(encoded, f"data set {one + 1}"),
            progress=False,
            n_jobs=1,
            cv=make_plan(plan, random_state=seed),
        )
        assert study.scores.subset_values is not None
        assert np.array_equal(study.scores.losses, result.losses[one, 0])
        assert np.array_equal(study.scores.subset_values, parts[one, 0])
        assert result.table(one).design == study.scores.design


def test_equal_blocks_make_equal_learners() -> None:
    result = simulate(["nn"], ColumnBlocks(learners=4, rows=50, attributes=2), "kfold:5", sets=300)
    means = result.losses.mean(axis=(1, 3, 4, 5, 6))
    # two-sided at five standard errors for each of the six pairs
    for i in range(4):
        for j in range(i):
            gap = means[:, i] - means[:, j]
            assert abs(gap.mean()) < 5 * gap.std(ddof=1) / np.sqrt(300)
    assert known_truth(result).means == (pytest.approx(float(result.losses.mean())),) * 4


def test_truth_of_unequal_blocks() -> None:
    generated = ColumnBlocks(rows=50, attributes=2, bayes_error=(0.3, 0.1, 0.3))
    means = known_truth(simulate(["nmc"], generated, "kfold:5", sets=3)).means
    assert means[0] == means[2] > means[1]
