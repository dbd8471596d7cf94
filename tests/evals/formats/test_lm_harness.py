"""Samples of lm-evaluation-harness, and the details that other readers get wrong."""

import json
import re

import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError


def samples_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_means_are_those_that_the_harness_printed(golden):
    """lm_eval's own results file states the mean of every metric and filter."""
    seen = 0
    for results in golden("lm-eval").rglob("results_*.json"):
        told = json.loads(results.read_text(encoding="utf-8"))["results"]
        for task, metrics in told.items():
            for key, mean in metrics.items():
                metric, _, filter_ = key.partition(",")
                if not filter_ or metric.endswith("_stderr"):
                    continue
                evals = bk.read_evals(results.parent, task=task, metric=key)
                assert evals.by_item().means() == pytest.approx([mean])
                assert evals.higher_is_better
                seen += 1
    assert seen == 8


VERSIONS = ["lm-eval-0.4.7", "lm-eval-0.4.9"]
"""0.4.9 with --output_path x.json, where times alone link."""


@pytest.mark.parametrize("version", VERSIONS)
def test_older_versions_print_the_same_means(version, golden):
    """Each task, metric and filter that the results file of that version states."""
    seen = 0
    for results in [p for p in golden(version).rglob("*.json") if "samples" not in p.name]:
        told = json.loads(results.read_text(encoding="utf-8"))
        who = re.search(r"org/\w", str(told["config"]["model_args"]))[0]
        for task, metrics in told["results"].items():
            for key, mean in metrics.items():
                metric, _, filter_ = key.partition(",")
                if not filter_ or metric.endswith("_stderr"):
                    continue
                evals = bk.read_evals(golden(version), task=task, metric=key)
                assert evals.models == ("org/a", "org/b")
                means = dict(zip(evals.models, evals.by_item(missing="allow").means(), strict=True))
                assert means[who] == pytest.approx(mean)
                seen += 1
    assert seen == 8


def test_two_filters_must_be_chosen(golden):
    with pytest.raises(ArgumentError, match=r"exact_match,strict-match and exact_match,flexible"):
        bk.read_evals(golden("lm-eval"), task="sums_gen", metric="exact_match")
    evals = bk.read_evals(golden("lm-eval"), metric="exact_match,strict-match")
    assert len(evals) == 8
    assert "Task 'sums_mc' has none of exact_match,strict-match and was skipped." in evals.notes
    with pytest.raises(UnknownNameError, match="did you mean 'exact_match,strict-match'"):
        bk.read_evals(golden("lm-eval"), task="sums_gen", metric="exact_match,strict")


def test_without_a_results_file_the_folder_names_the_model(golden, lines):
    (path,) = golden("lm-eval/org__a").glob("samples_sums_gen*")
    alone = lines("m/samples_sums_gen_2025-01-01T00-00-00.0.jsonl", samples_of(path))
    evals = bk.read_evals(alone, metric="exact_match,flexible-extract")
    assert evals.models == ("m",)
    assert any("there is no results file" in s for s in evals.notes)


def test_samples_before_0_4_7_are_refused(golden, tmp_path):
    """They have no labels of filters."""
    (path,) = golden("lm-eval/org__a").glob("samples_sums_gen*")
    rows = samples_of(path)
    for row in rows:
        del row["filter"], row["metrics"]
    old = tmp_path / path.name
    old.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(TableError, match=r"since 0\.4\.7"):
        bk.read_evals(old)


def test_a_doc_hash_that_differs_stops(lm_eval):
    lm_eval("a", [{"doc_id": 0, "acc": 1.0, "doc_hash": "x"}])
    path = lm_eval("b", [{"doc_id": 0, "acc": 1.0, "doc_hash": "y"}])
    with pytest.raises(TableError, match="the two runs cannot be paired") as error:
        bk.read_evals(path.parents[1])
    assert "a/samples_arc" in str(error.value)
    assert "b/samples_arc" in str(error.value)


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}])
def test_pairs_and_lists_are_refused(value, lm_eval):
    path = lm_eval("a", [{"doc_id": 0, "f1": value}])
    with pytest.raises(TableError, match="no metric that is one number for each sample: f1"):
        bk.read_evals(path)
    path = lm_eval("a", [{"doc_id": 0, "f1": value, "acc": 1}], task="two")
    assert bk.read_evals(path).metric == "acc"


def test_a_direction_of_null_goes_by_the_name(lm_eval):
    path = lm_eval("a", [{"doc_id": 0, "perplexity": 3.0}], better=None)
    evals = bk.read_evals(path)
    assert not evals.higher_is_better
    assert bk.read_evals(path, higher_is_better=True).higher_is_better


def test_names_that_collide_are_told_apart_by_their_arguments(lm_eval):
    for turn, dtype in enumerate(("float16", "bfloat16")):
        path = lm_eval(
            "m", [{"doc_id": 0, "acc": turn}], time=f"2025-01-0{turn + 1}T00-00-00.0",
            config={"model": "hf", "model_args": f"pretrained=m,dtype={dtype}"},
        )  # fmt: skip
    evals = bk.read_evals(path.parent)
    assert len(evals.models) == 2
    assert all("dtype=" in name for name in evals.models)


def test_repeats_are_epochs(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 0.5}])
    row = samples_of(path)[0] | {"scores_per_repeat": {"acc": [1, 0, 1, 0]}}
    path.write_text(json.dumps(row) + "\n")
    evals = bk.read_evals(path)
    assert (evals.epoch.tolist(), evals.score.tolist()) == ([1, 2, 3, 4], [1, 0, 1, 0])


def test_a_last_line_that_is_cut_off_is_told(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}, {"doc_id": 1, "acc": 1.0}])
    path.write_bytes(path.read_bytes()[:-20])
    evals = bk.read_evals(path)
    assert len(evals) == 1
    assert any("the last line is truncated" in s for s in evals.notes)
