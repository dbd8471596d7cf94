"""HELM run directories, as its own runner writes them."""

import json
import shutil

import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError


@pytest.fixture
def run(golden, tmp_path):
    """A copy of a run, and its statistics to change."""
    folder = shutil.copytree(golden("helm/good"), tmp_path / "good")
    path = folder / "per_instance_stats.json"

    def change(how):
        content = how(json.loads(path.read_text()))
        path.write_text(json.dumps(content))
        return folder

    return change


def test_an_instance_comes_once_per_metric_of_the_run(golden):
    """Two metrics, two trials, a perturbation: 24 entries of three instances."""
    entries = json.loads((golden("helm/good") / "per_instance_stats.json").read_text())
    assert len(entries) == 24
    for metric in ("exact_match", "f1_score"):
        evals = bk.read_evals(golden("helm/good"), metric=metric)
        assert (len(evals.items), len(evals), evals.epoch.max()) == (3, 6, 2)
        assert evals.by_item().means() == pytest.approx([1 / 3])
    assert any("12 statistics of perturbed instances are not used" in s for s in evals.notes)


def test_tokens_and_seconds_are_not_metrics(golden):
    with pytest.raises(ArgumentError, match=r"exact_match") as error:
        bk.read_evals(golden("helm"))
    for name in (
        "num_prompt",
        "inference",
        "prompt_truncated",
        "finish_reason",
        "logprob",
        "max_prob",
    ):
        assert name not in str(error.value)
    evals = bk.read_evals(golden("helm"), metric="exact_match")
    assert evals.costs("tokens")["made/good"] > 100


def test_a_statistic_that_was_left_out_is_no_score(run):
    folder = run(lambda content: [
        entry | {"stats": [s for s in entry["stats"] if s["name"]["name"] != "exact_match"]}
        if entry["instance_id"] == "id60" else entry for entry in content
    ])  # fmt: skip
    evals = bk.read_evals(folder, metric="exact_match")
    assert len(evals.items) == 2


def test_two_values_of_one_statistic_are_refused(run):
    def again(content):
        other = json.dumps(content[2]).replace('"mean": 1.0', '"mean": 0.5')
        return [*content, json.loads(other)]

    folder = run(again)
    with pytest.raises(TableError, match="in the same trial"):
        bk.read_evals(folder, metric="exact_match")


def test_without_its_specification(run):
    folder = run(lambda content: content)
    (folder / "run_spec.json").unlink()
    with pytest.raises(TableError, match=r"run_spec\.json, which names the model"):
        bk.read_evals(folder)
