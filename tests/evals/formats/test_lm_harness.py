"""Samples of lm-evaluation-harness, and the details that other readers get wrong."""

import json
import re
import shutil

import pytest

import bestofk as bk


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
                evals = bk.read_evals(results.parent, task=task, metric=metric, filter=filter_)
                assert evals.by_item().means() == pytest.approx([mean])
                assert evals.higher_is_better
                seen += 1
    assert seen == 8


VERSIONS = [f"lm-eval-0.4.{k}" for k in (0, 1, 2, 3, 4, 5, 7, 9)]
"""Up to 0.4.2 one array per task next to results.json; then a folder per model, with filters that
have no label before 0.4.7; 0.4.9 with --output_path x.json, where times alone link."""


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
                evals = bk.read_evals(golden(version), task=task, metric=metric, filter=filter_)
                assert evals.learners == ("org/a", "org/b")
                means = dict(
                    zip(evals.learners, evals.by_item(missing="allow").means(), strict=True)
                )
                assert means[who] == pytest.approx(mean)
                seen += 1
    assert seen == 8


@pytest.mark.parametrize("version", VERSIONS)
def test_older_versions_must_choose_a_filter_too(version, golden):
    with pytest.raises(bk.ArgumentError, match="strict-match and flexible-extract"):
        bk.read_evals(golden(version), task="sums_gen")


def test_two_filters_must_be_chosen(golden):
    with pytest.raises(bk.ArgumentError, match=r"strict-match and flexible-extract.*filter='"):
        bk.read_evals(golden("lm-eval"), task="sums_gen")
    evals = bk.read_evals(golden("lm-eval"), task="sums_gen", filter="strict-match")
    assert len(evals) == 8
    assert any("'flexible-extract' were skipped" in s for s in evals.account)
    with pytest.raises(bk.UnknownNameError, match="no filter 'strict'"):
        bk.read_evals(golden("lm-eval"), task="sums_gen", filter="strict")


def test_filters_without_a_results_file_must_be_chosen_too(golden, lines):
    (path,) = golden("lm-eval/org__a").glob("samples_sums_gen*")
    alone = lines("m/samples_sums_gen_2025-01-01T00-00-00.0.jsonl", samples_of(path))
    with pytest.raises(bk.ArgumentError, match="2 filters"):
        bk.read_evals(alone)
    evals = bk.read_evals(alone, filter="flexible-extract")
    assert evals.learners == ("m",)
    assert any("there is no results file" in s for s in evals.account)


def test_before_0_4_7_filters_are_blocks_in_the_order_of_the_configuration(golden, tmp_path):
    """No labels: the same rows without `filter` and `metrics` mean the same."""
    for path in golden("lm-eval/org__a").iterdir():
        shutil.copy(path, tmp_path)
    (path,) = tmp_path.glob("samples_sums_gen*")
    rows = samples_of(path)
    expected = {}
    for name in ("strict-match", "flexible-extract"):
        for turn, row in enumerate(row for row in rows if row["filter"] == name):
            row["exact_match"] = float(turn % 2 == (name == "strict-match"))
        expected[name] = [r["exact_match"] for r in rows if r["filter"] == name]
    for row in rows:
        del row["filter"], row["metrics"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, scores in expected.items():
        evals = bk.read_evals(tmp_path, task="sums_gen", filter=name)
        assert evals.score.tolist() == scores
        assert evals.metric == "exact_match"


def test_0_4_0_one_array_next_to_results_json(golden, tmp_path):
    (path,) = golden("lm-eval/org__a").glob("samples_sums_mc*")
    rows = samples_of(path)
    for row in rows:
        for key in ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash"):
            del row[key]
    (results,) = golden("lm-eval/org__a").glob("results*")
    told = json.loads(results.read_text(encoding="utf-8"))
    for key in ("model_name", "higher_is_better", "model_source"):
        told.pop(key, None)
    told["config"]["model_args"] = "pretrained=org/a,dtype=float"
    (tmp_path / "results.json").write_text(json.dumps(told), encoding="utf-8")
    name = re.sub("/|=", "__", "pretrained=org/a,dtype=float") + "_sums_mc.jsonl"
    (tmp_path / name).write_text(json.dumps(rows, indent=2), encoding="utf-8")
    for where in (tmp_path, tmp_path / name):
        evals = bk.read_evals(where, metric="acc")
        assert (evals.learners, evals.tasks, len(evals)) == (("org/a",), ("sums_mc",), 4)
        assert any("'acc': higher is better (by its name)" in s for s in evals.account)


def test_an_output_path_ending_in_json_links_by_the_time_alone(golden, tmp_path):
    """0.4.9 and later: no folder of the model; two models in one folder."""
    for folder in golden("lm-eval").iterdir():
        for path in folder.iterdir():
            shutil.copy(path, tmp_path / path.name.replace("results_", "mine_"))
    evals = bk.read_evals(tmp_path, metric="acc")
    assert evals.learners == ("org/a", "org/b")


def test_a_doc_hash_that_differs_stops(lm_eval):
    lm_eval("a", [{"doc_id": 0, "acc": 1.0, "doc_hash": "x"}])
    path = lm_eval("b", [{"doc_id": 0, "acc": 1.0, "doc_hash": "y"}])
    with pytest.raises(bk.TableError, match="the two runs cannot be paired") as error:
        bk.read_evals(path.parents[1])
    assert "a/samples_arc" in str(error.value)
    assert "b/samples_arc" in str(error.value)


def test_a_prompt_hash_that_differs_warns(lm_eval):
    lm_eval("a", [{"doc_id": 0, "acc": 1.0, "doc_hash": "x"}])
    path = lm_eval("b", [{"doc_id": 0, "acc": 1.0, "doc_hash": "x"}])
    path.write_text(path.read_text().replace('"prompt_hash": "p"', '"prompt_hash": "q"'))
    with pytest.warns(bk.BestOfKWarning, match="prompts of 1 item of 1 differ"):
        bk.read_evals(path.parents[1], metric="acc")


@pytest.mark.parametrize("value", [[1, 2], (0.5, 3), {"a": 1}])
def test_pairs_and_lists_are_refused(value, lm_eval):
    path = lm_eval("a", [{"doc_id": 0, "f1": value}])
    for metric in (None, "f1"):
        with pytest.raises(bk.TableError, match="'f1' is a pair or a list for each sample"):
            bk.read_evals(path, metric=metric)
    path = lm_eval("a", [{"doc_id": 0, "f1": 1.0}, {"doc_id": 1, "f1": value}], task="late")
    with pytest.raises(bk.TableError, match="line 2: 'f1' is a pair or a list"):
        bk.read_evals(path)
    path = lm_eval("a", [{"doc_id": 0, "f1": value, "acc": 1}], task="two")
    assert bk.read_evals(path).metric == "acc"


@pytest.mark.parametrize(
    ("written", "score"),
    [("True", 1.0), ("False", 0.0), ("1.0", 1.0), (True, 1.0), (0, 0.0), ("0.25", 0.25)],
)
def test_booleans_and_numbers_as_text(written, score, lm_eval):
    path = lm_eval("a", [{"doc_id": 0, "acc": written}])
    assert bk.read_evals(path).score.tolist() == [score]


def test_nan_is_unscored(lm_eval):
    path = lm_eval("a", [{"doc_id": 0, "acc": 1.0}, {"doc_id": 1, "acc": float("nan")},
                         {"doc_id": 2, "acc": None}])  # fmt: skip
    assert bk.read_evals(path).statuses.tolist() == ["scored", "unscored", "unscored"]


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
    assert len(evals.learners) == 2
    assert all("dtype=" in name for name in evals.learners)


def test_repeats_are_epochs(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 0.5}])
    row = samples_of(path)[0] | {"scores_per_repeat": {"acc": [1, 0, 1, 0]}}
    path.write_text(json.dumps(row) + "\n")
    evals = bk.read_evals(path)
    assert (evals.epoch.tolist(), evals.score.tolist()) == ([1, 2, 3, 4], [1, 0, 1, 0])


def test_a_document_twice_is_refused_or_kept_once(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}, {"doc_id": 0, "acc": 1.0}])
    evals = bk.read_evals(path)
    assert len(evals) == 1
    assert any("occurred twice" in s for s in evals.account)
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}, {"doc_id": 0, "acc": 0.0}])
    with pytest.raises(bk.TableError, match="occurs twice for model 'm' in one epoch"):
        bk.read_evals(path)


def test_a_last_line_that_is_cut_off_is_told(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}, {"doc_id": 1, "acc": 1.0}])
    path.write_bytes(path.read_bytes()[:-20])
    evals = bk.read_evals(path)
    assert len(evals) == 1
    assert any("the last line is truncated" in s for s in evals.account)
    path.write_bytes(b"{broken\n" + path.read_bytes())
    with pytest.raises(bk.TableError, match="line 1"):
        bk.read_evals(path, format="lm-eval")


def test_results_without_samples(golden):
    (path,) = golden("lm-eval/org__a").glob("results*")
    with pytest.raises(bk.TableError, match="run it with --log_samples"):
        bk.read_evals(path)


def test_a_group_is_a_task_of_its_members(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}], task="mmlu_law",
                   group_subtasks={"mmlu": ["mmlu_other"], "mmlu_other": ["mmlu_law"]})  # fmt: skip
    assert len(bk.read_evals(path, task="mmlu")) == 1


def test_clusters_by_a_key_of_the_document(golden):
    evals = bk.read_evals(golden("lm-eval"), metric="acc", cluster="passage")
    assert evals.clusters == ("p0", "p1")
    assert evals.item_cluster.tolist() == [0, 0, 1, 1]


def test_a_metric_as_the_results_name_it(golden):
    one = bk.read_evals(golden("lm-eval"), metric="exact_match,strict-match")
    other = bk.read_evals(golden("lm-eval"), metric="exact_match", filter="strict-match")
    assert one.to_frame().equals(other.to_frame())
