"""The registry of learners."""

import subprocess
import sys

import pytest

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.learners import LEARNERS, learner
from bestofk.learners.registry import panel
from bestofk.learners.specification import parse_learner

PAPERS = {"max", "nmc", "logistic", "c4.5", "nn", "naive-bayes", "tan", "voted-perceptron", "furia"}
PANEL = (
    "baseline", "logistic", "naive-bayes", "nearest-neighbour", "decision-tree", "random-forest",
)  # fmt: skip


def test_learners_of_the_papers_and_of_the_panel_are_registered() -> None:
    assert set(LEARNERS) >= PAPERS
    assert panel("classification") == PANEL
    for entry in LEARNERS.values():
        assert entry.summary
        assert entry.paper
        assert entry.complexity


@pytest.mark.parametrize("name", LEARNERS)
def test_each_learner_can_be_named_and_created(name) -> None:
    entry = LEARNERS[name]
    estimator = learner(name)
    assert isinstance(estimator, entry.load())
    assert {key: estimator.get_params()[key] for key in entry.settings} == dict(entry.settings)
    assert parse_learner(name)[0] == name


def test_unknown_names_and_parameters() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'logistic'"):
        learner("logistics")
    with pytest.raises(
        ArgumentError, match="parameters of learner 'nmc' must be among: scale; got 'scal'"
    ):
        learner("nmc", scal=1)
    with pytest.raises(ArgumentError, match="must be among: none; got 'a'"):
        learner("max", a=1)


def test_the_registry_imports_nothing_heavy() -> None:
    code = (
        "import sys, bestofk.learners.registry, bestofk.learners, bestofk.data; "
        "bestofk.learners.LEARNERS; "
        "print([m for m in ('sklearn', 'pandas', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
