"""--as-published sets what the MultiTest paper sets, and refuses to be contradicted."""

import json

import pytest
from click.testing import CliRunner

import bestofk as bk
from bestofk.cli.app import bestofk
from bestofk.decide.multitest_order import AS_PUBLISHED


def run(*words):
    return CliRunner().invoke(bestofk, list(words))


def test_order_equals_the_settings_in_python():
    done = run("scores", "digits-5x2", "--as-published", "--prefer", "listed", "--json")
    found = json.loads(done.stdout)
    expected = bk.compare_scores(bk.read_scores("digits-5x2"), prefer="listed", **AS_PUBLISHED)
    assert found["recommended"] == expected.recommended
    assert found["procedure"] == "multitest"
    assert found["ranking"] == list(expected.ranking)
    assert (found["test"], found["correction"]) == ("5x2cv-t", "bonferroni")


def test_compare_uses_the_papers_learners_plan_and_preference():
    found = json.loads(run("compare", "iris", "--as-published", "--json").stdout)
    assert set(found["ranking"]) == {"max", "nmc", "logistic", "c4.5", "nn"}
    assert found["test"] == "5x2cv-t"


@pytest.mark.parametrize(
    "other", [("--test", "kfold-t"), ("--correction", "holm"), ("--family", "all")]
)
def test_contradictions_are_refused(other):
    done = run("scores", "digits-5x2", "--as-published", *other)
    assert done.exit_code == 2
    assert f"--as-published sets {other[0]}" in done.output
