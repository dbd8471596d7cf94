"""LiveBench judgments, as its own code writes them."""

import pytest

import bestofk as bk


def test_a_score_of_0_that_is_no_wrong_answer(golden):
    evals = bk.read_evals(golden("livebench"))
    frame = evals.to_frame().set_index(["learner", "item"])
    assert (frame["score"] == 0).sum() == 2
    assert frame.loc[("model-a", "q2"), "status"] == "error"  # the judge failed
    assert frame.loc[("model-b", "q3"), "status"] == "error"  # the provider failed
    assert frame.loc[("model-b", "q2"), "status"] == "limit"  # no tokens were left
    assert frame.loc[("model-b", "q2"), "score"] == 0
    assert frame.loc[("model-b", "q0"), "status"] == "scored"


def test_the_latest_judgment_counts(lines):
    rows = [
        {"question_id": "q", "task": "t", "model": "m", "score": score, "tstamp": time,
         "category": "c"}
        for score, time in ((0.5, 3), (1.0, 9), (0.25, 5))
    ]  # fmt: skip
    evals = bk.read_evals(lines("ground_truth_judgment.jsonl", rows))
    assert evals.score.tolist() == [1.0]
    assert any("2 judgments superseded by a later one" in s for s in evals.account)


def test_tasks_and_categories(golden):
    assert len(bk.read_evals(golden("livebench"), task="math")) == 8
    assert len(bk.read_evals(golden("livebench"), task="math_comp")) == 6
    with pytest.raises(bk.UnknownNameError, match="no task 'coding'"):
        bk.read_evals(golden("livebench"), task="coding")
