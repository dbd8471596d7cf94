"""Scores by item: epochs are averaged, never paired; errors, limits, NaN and wrong are distinct."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError


def table(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text)
    return bk.read_evals(path)


FOUR = """model,item,epoch,score,status
a,1,1,1,scored
a,1,2,0,scored
a,2,1,,error
a,2,2,1,scored
a,3,1,,limit
a,4,1,,unscored
b,1,1,1,scored
b,2,1,0,scored
b,3,1,0,scored
b,4,1,0,scored
"""


def test_four_things_that_are_not_one(tmp_path):
    evals = table(tmp_path, FOUR)
    scores = evals.by_item()
    assert scores.items == ("1", "2")
    assert scores.mean.tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert scores.count.tolist() == [[2, 1], [1, 1]]
    assert scores.variance[0, 0] == 0.5
    assert any("2 of 4 items" in s and "a 2 and b 4" in s for s in scores.notes)
    assert any("1 error (a 1), 1 limit (a 1) and 1 unscored (a 1)" in s for s in scores.notes)
    counted = evals.by_item(count_errors_as_wrong=True)
    # the failed epoch of item 2 and the limit of item 3 are wrong; item 4 still has no score
    assert counted.items == ("1", "2", "3")
    assert counted.mean[0].tolist() == [0.5, 0.5, 0.0]
    every = evals.by_item(missing="allow")
    assert np.isnan(every.mean[0]).tolist() == [False, False, True, True]


def test_a_limit_that_was_scored_counts(tmp_path):
    evals = table(tmp_path, "model,item,score,status\na,1,1,limit\na,2,0,scored\nb,1,1,\nb,2,1,\n")
    assert evals.by_item().means().tolist() == [0.5, 1.0]
    assert any("hit a limit but" in s for s in evals.by_item().notes)


def test_wrong_needs_a_scale(tmp_path):
    evals = table(tmp_path, "model,item,score,status\na,1,7,scored\na,2,,error\nb,1,1,\nb,2,1,\n")
    with pytest.raises(ArgumentError, match="goes from 1 to 7"):
        evals.by_item(count_errors_as_wrong=True)


def test_no_common_item_is_said(tmp_path):
    evals = table(tmp_path, "model,item,score\na,1,1\nb,2,1\n")
    with pytest.raises(TableError, match="no item for which all 2 models have a score"):
        evals.to_scores()
    evals = table(tmp_path, "model,item,score,status\na,1,1,\nb,1,,error\n")
    with pytest.raises(TableError, match="a 1 and b 0"):
        evals.to_scores()


@settings(max_examples=30)
@given(data=st.data())
def test_epochs_are_never_paired(data, tmp_path_factory):
    """Any order of the epochs of one learner gives the same table of losses."""
    scores = data.draw(st.lists(st.sampled_from([0, 1]), min_size=12, max_size=12))
    order = data.draw(st.permutations(range(3)))
    cells = list(itertools.product("ab", range(2), range(3)))

    def losses(epoch_of):
        path = tmp_path_factory.mktemp("e") / "x.csv"
        rows = [
            f"{m},{i},{epoch_of(m, e) + 1},{s}" for (m, i, e), s in zip(cells, scores, strict=True)
        ]
        path.write_text("model,item,epoch,score\n" + "\n".join(rows) + "\n")
        return bk.read_evals(path).to_scores()

    plain = losses(lambda _, e: e)
    assert plain == losses(lambda m, e: order[e] if m == "a" else e)
    expected = 1 - np.array(scores, dtype=float).reshape(2, 2, 3).mean(axis=2)
    assert plain.losses[:, 0, 0, :, 0] == pytest.approx(expected)


def test_tasks_are_strata(tmp_path):
    evals = table(
        tmp_path,
        "model,task,item,score\na,x,1,1\na,x,2,0\na,y,1,1\nb,x,1,1\nb,x,2,1\nb,y,1,0\n",
    )
    scores = evals.by_item()
    assert scores.tasks == ("x", "y")
    assert scores.items == ("1", "2", "1")
    assert scores.by_task().tolist() == [[0.5, 1.0], [1.0, 0.0]]
    losses = evals.to_scores(by="task")
    assert losses.datasets == ("x", "y")
    assert losses.by_dataset().tolist() == [[0.5, 0.0], [0.0, 1.0]]
