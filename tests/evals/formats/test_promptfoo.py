"""promptfoo output, and the details that other readers get wrong."""

import json

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import UnknownNameError


def result(**more):
    return {
        "provider": {"id": "p", "label": ""}, "prompt": {"raw": "x", "label": "x"},
        "vars": {"a": 1}, "testIdx": 0, "promptIdx": 0, "success": True, "score": 1,
        "namedScores": {}, "latencyMs": 1000, "cost": 0.5, "failureReason": 0,
        "testCase": {"vars": {"a": 1}, "assert": [{"type": "equals", "value": "x"}]}, **more,
    }  # fmt: skip


def output(*results, **more):
    return {"evalId": "e", "results": {"version": 3, "timestamp": "2025-01-01", "prompts": [],
                                       "results": list(results), "stats": {}}, **more}  # fmt: skip


def test_json_and_jsonl_of_one_run_say_the_same(golden):
    one = bk.read_evals(golden("promptfoo/out.json"))
    other = bk.read_evals(golden("promptfoo/out.jsonl"))
    order = ["model", "item", "epoch"]
    assert (
        one.to_frame()
        .sort_values(order, ignore_index=True)
        .equals(other.to_frame().sort_values(order, ignore_index=True))
    )
    # promptfoo printed: 12 passed, 8 failed, 4 errors
    assert (one.score == 1).sum() == 12
    assert (one.score == 0).sum() == 8
    assert one.count("error").sum() == 4
    assert one.epoch.max() == 2


@pytest.mark.parametrize("name", ["0.123.1/out.json", "0.123.1/out.jsonl"])
def test_the_counts_are_those_that_promptfoo_states(name, golden):
    folder = golden(f"promptfoo-{name.partition('/')[0]}")
    summary = json.loads((folder / "out.json").read_text(encoding="utf-8"))["results"]
    told = summary["stats"]
    evals = bk.read_evals(golden(f"promptfoo-{name}"))
    failed = int(evals.count("error").sum())
    assert (evals.score == 1).sum() == told["successes"] == 6
    assert (evals.score == 0).sum() == told["failures"]
    assert failed == told["errors"]
    assert np.nansum(evals.tokens_in) == told["tokenUsage"]["prompt"]
    assert np.nansum(evals.tokens_out) == told["tokenUsage"]["completion"]
    assert (len(evals.models), len(evals.items), evals.epoch.max()) == (2, 3, 2)


def test_version_4_stands_around_the_summary(golden, document):
    """What `toResultsFile` of promptfoo writes (models/eval): no release writes it by --output."""
    told = json.loads(golden("promptfoo-0.123.1/out.json").read_text(encoding="utf-8"))
    path = document("shared.json", {
        "version": 4, "createdAt": "2026-11-16T23:41:00.000Z", "results": told["results"],
        "config": told["config"], "author": None, "prompts": told["results"]["prompts"],
        "datasetId": None,
    })  # fmt: skip
    ours, theirs = (bk.read_evals(one) for one in (path, golden("promptfoo-0.123.1/out.json")))
    assert ours.to_frame().equals(theirs.to_frame())


def test_an_error_is_not_a_wrong_answer(document):
    path = document("o.json", output(
        result(success=False, score=0, failureReason=2, error="timeout"),
        result(success=False, score=0, failureReason=1, vars={"a": 2}),
    ))  # fmt: skip
    evals = bk.read_evals(path)
    assert evals.to_frame()["status"].tolist() == ["error", "scored"]


def test_items_go_by_their_content_and_not_by_their_number(document):
    first = document("a.json", output(result(), result(vars={"a": 2}, testIdx=1, success=False)))
    # another provider with the tests in another order
    second = document("b.json", output(
        result(provider={"id": "q"}, vars={"a": 2}, testIdx=0, success=False),
        result(provider={"id": "q"}, vars={"a": 1}, testIdx=1),
    ))  # fmt: skip
    evals = bk.read_evals([first, second])
    scores = evals.by_item()
    assert scores.mean[0].tolist() == scores.mean[1].tolist()


def test_other_assertions_are_another_item(document):
    case = {"vars": {"a": 1}, "assert": [{"type": "equals", "value": "y"}]}
    path = document("a.json", output(result(), result(testCase=case)))
    assert len(bk.read_evals(path).items) == 2


def test_cached_rows_have_a_cost_and_no_latency(document):
    path = document("a.json", output(
        result(response={"cached": True}, cost=0.25, latencyMs=3), result(vars={"a": 2}, cost=0.75),
        result(vars={"a": 3}, response={"cached": True}, cost=0),
    ))  # fmt: skip
    evals = bk.read_evals(path)
    assert (evals.costs("cost"), evals.costs("latency")) == ({"p": 0.5}, {"p": 1.0})


def test_named_scores_and_score(document):
    path = document("a.json", output(result(score=0.5), result(vars={"a": 2}, score=0.25,
                                     namedScores={"tone": 0.75})))  # fmt: skip
    assert bk.read_evals(path, metric="score").score.tolist() == [0.5, 0.25]
    named = bk.read_evals(path, metric="tone")
    assert named.score.tolist() == [0.75]
    with pytest.raises(UnknownNameError, match=r"no metric 'tune'.*'tone'"):
        bk.read_evals(path, metric="tune")


def test_prompts_make_learners_where_there_are_several(document):
    long = "x" * 500
    path = document("a.json", output(result(), result(prompt={"raw": long, "label": long})))
    evals = bk.read_evals(path)
    assert len(evals.models) == 2
    assert max(map(len, evals.models)) < 60
