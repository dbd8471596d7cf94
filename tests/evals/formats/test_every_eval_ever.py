"""Every Eval Ever: its schema, and logs that its converters write."""

import json

import pytest

import bestofk as bk


def line(sample="0", score=1.0, **more):
    return {"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m",
            "evaluation_name": "t", "sample_id": sample, "interaction_type": "single_turn",
            "input": {"raw": "q", "reference": []}, "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score > 0}, **more}  # fmt: skip


def test_converted_logs_say_what_the_logs_say(golden):
    """The first metric of the harness, which is the score that the converter takes."""
    for how in ({"task": "sums_mc"}, {"task": "sums_gen", "filter": "strict-match"}):
        one = bk.read_evals(golden("every-eval-ever"), **how)
        metric = "acc" if how["task"] == "sums_mc" else "exact_match"
        other = bk.read_evals(golden("lm-eval"), metric=metric, **how)
        assert one.learners == other.learners
        assert one.items == other.items
        assert one.score.tolist() == other.score.tolist()
        assert one.higher_is_better


def test_a_filter_in_the_name_of_the_task_must_be_chosen(golden):
    with pytest.raises(bk.ArgumentError, match=r"strict-match and flexible-extract.*filter='"):
        bk.read_evals(golden("every-eval-ever"), task="sums_gen")
    named = bk.read_evals(golden("every-eval-ever"), task="sums_gen/strict-match")
    assert len(named) == 8
    with pytest.raises(bk.UnknownNameError, match="no filter 'strict'"):
        bk.read_evals(golden("every-eval-ever"), task="sums_gen", filter="strict")


def test_results_of_one_sample_are_metrics_and_no_epochs(lines):
    scores = {"exact_match:test": 1.0, "f1:test": 0.5}
    rows = [line(one, scores[name], evaluation_result_id=name) for one in "01" for name in scores]
    path = lines("x_samples.jsonl", rows)
    with pytest.raises(bk.ArgumentError, match="exact_match:test and f1:test"):
        bk.read_evals(path)
    evals = bk.read_evals(path, metric="f1:test")
    assert (evals.score.tolist(), evals.epoch.tolist()) == ([0.5, 0.5], [1, 1])


def test_the_aggregate_names_the_metric_and_its_direction(lines, document):
    document("x.json", {"schema_version": "0.3.0", "evaluation_id": "e", "evaluation_results": [
        {"evaluation_name": "t", "evaluation_result_id": "r1",
         "metric_config": {"metric_id": "wer", "lower_is_better": True}},
    ]})  # fmt: skip
    path = lines("x_samples.jsonl", [line(evaluation_result_id="r1")])
    evals = bk.read_evals(path.parent)
    assert (evals.metric, evals.higher_is_better) == ("wer", False)


def test_a_score_of_0_where_the_converter_found_no_number(lines):
    told = {"lm_eval_metrics": json.dumps({"f1": [0, 1]})}
    evals = bk.read_evals(lines("x.jsonl", [line(score=0.0, metadata=told)]))
    assert evals.statuses.tolist() == ["unscored"]


def test_epochs_of_inspect(lines):
    rows = [line(score=float(e == "2"), metadata={"epoch": e}) for e in ("2", "1")]
    evals = bk.read_evals(lines("x.jsonl", rows))
    assert (evals.epoch.tolist(), evals.score.tolist()) == ([2, 1], [1.0, 0.0])


def test_content_that_differs_stops_and_a_chat_template_does_not(lines):
    def both(**changed):
        hashes = {"sample_hash": "a", "metadata": {"doc_hash": "d"}}
        return [line(**hashes), line(model_id="n", **hashes | changed)]

    assert len(bk.read_evals(lines("x.jsonl", both(sample_hash="b")))) == 2
    with pytest.raises(bk.TableError, match="the two runs cannot be paired"):
        bk.read_evals(lines("y.jsonl", both(metadata={"doc_hash": "other"})))
    plain = [line(sample_hash="a"), line(model_id="n", sample_hash="b")]
    with pytest.raises(bk.TableError, match="the two runs cannot be paired"):
        bk.read_evals(lines("z.jsonl", plain))


def test_schema_0_2(golden):
    evals = bk.read_evals(golden("every-eval-ever-0.2"), cluster="subject")
    assert evals.by_item().means() == pytest.approx([2 / 3, 1.0])
    assert evals.costs("latency")["org/a"] == 0.5


def test_a_bad_line_is_named(lines):
    broken = [line(metadata={"lm_eval_metrics": "{"})]
    for rows in ([line(), {"evaluation_id": 1}], [line(sample=["x"])], broken):
        with pytest.raises(bk.TableError):
            bk.read_evals(lines("x.jsonl", rows), format="every-eval-ever")
