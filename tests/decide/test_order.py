import json

import numpy as np
import pytest

import bestofk as bk
import bestofk.decide
from bestofk._base.errors import ArgumentError, DesignError

DIMS = ("learner", "dataset", "run", "fold", "repetition")


@pytest.mark.parametrize("prefer", [None, ["x", "y"]])
def test_json_is_strict(prefer):
    constant = np.broadcast_to(np.array([0.5, 0.25])[:, None], (2, 10))
    table = bk.Scores(constant, dims=("learner", "fold"), learners=["x", "y"])
    decision = bk.compare_scores(table, prefer=prefer)
    assert decision.to_dict()["pairs"] is None
    held = json.loads(json.dumps(decision.to_dict(pairs=True), allow_nan=False))
    row = held["pairs"][0]
    assert row["difference"] == (-0.25 if prefer is None else 0.25)
    assert held["recommended"] == "y"
    assert held["candidates"] == ["y"]
    assert held["metric"] == {"name": "loss", "higher_is_better": False}


def test_missing_cells_are_refused_or_dropped():
    values = np.random.default_rng(1).random((3, 8)) * 0.1
    values[0] += 1
    values[1, 3] = np.nan
    table = bk.Scores(
        values,
        dims=("learner", "dataset"),
        learners=["a", "b", "c"],
        missing="allow",
    )
    with pytest.raises(DesignError, match=r"lack 1 of 24 cells, 'b' on '3'"):
        bk.compare_scores(table)
    decision = bk.compare_scores(table, missing="drop", prefer="listed")
    assert "1 of 8 data sets was left out" in decision.explain()
    kept = np.delete(values, 3, axis=1)
    np.testing.assert_allclose(list(decision.decision.means.values()), kept.mean(axis=1))


def test_two_complete_parts_are_enough_and_one_is_not():
    rng = np.random.default_rng(4)
    for shape, axis, what in (((2, 4, 1, 1, 1), 1, "data sets"), ((2, 1, 4, 3, 1), 2, "runs"),
                              ((2, 1, 1, 4, 1), 3, "folds")):  # fmt: skip
        values = rng.random(shape)
        gone = np.moveaxis(values, axis, 0)
        gone[:2] = np.nan
        gone[0, 0] = 0.5
        table = bk.Scores(values, dims=DIMS, missing="allow")
        decision = bk.compare_scores(table, missing="drop", prefer="listed")
        assert f"2 of 4 {what} were left out" in decision.explain()
        kept = np.moveaxis(gone[2:], 0, axis).reshape(2, -1).mean(axis=1)
        np.testing.assert_allclose(list(decision.decision.means.values()), kept)
        gone[2, 1] = np.nan
        with pytest.raises(DesignError, match=f"losses hold 1 {what.rstrip('s')} that"):
            bk.compare_scores(bk.Scores(values, dims=DIMS, missing="allow"), missing="drop")


def test_data_sets_with_unequal_numbers_of_folds_are_compared_by_their_means():
    values = np.random.default_rng(3).random((3, 4, 1, 5, 1))
    values[:, 2, :, 3:] = np.nan
    table = bk.Scores(values, dims=DIMS, learners=list("abc"), missing="allow")
    decision = bk.compare_scores(table, prefer="listed")
    assert not decision.decision.notes
    by_set = [values[:, d, 0, : 3 if d == 2 else 5, 0].mean(axis=1) for d in range(4)]
    np.testing.assert_allclose(list(decision.decision.means.values()), np.mean(by_set, axis=0))


@pytest.mark.parametrize("prefer", [None, "listed", ["c"]])
def test_a_file_or_a_frame_will_do(tmp_path, cross_validated, prefer):
    table = cross_validated()
    table.to_frame().to_csv(tmp_path / "losses.csv", index=False)
    expected = bk.compare_scores(table, prefer=prefer)
    for same in (tmp_path / "losses.csv", str(tmp_path / "losses.csv"), table.to_frame()):
        found = bk.compare_scores(same, prefer=prefer)
        assert (found.decision.ranking, found.decision.by_preference) == (
            expected.decision.ranking,
            expected.decision.by_preference,
        )
        assert str(found.decision.preference) == str(expected.decision.preference)


def test_the_axes_of_a_bare_array_are_stated():
    scores = np.random.default_rng(0).random((6, 3))
    words = "The 6 rows of the array are read as learners, and its 3 columns as folds"
    assert words in bk.compare_scores(scores, higher_is_better=True).explain()
    assert words in bk.compare_scores(scores.tolist()).explain()
    assert words not in bk.compare_scores(scores, design="cv").explain()


@pytest.mark.parametrize("alpha", [0.95, 0.51])
def test_a_confidence_level_instead_of_alpha_is_refused(alpha):
    with pytest.raises(
        ArgumentError, match=rf"alpha must be at most 0\.5, such as .*; got {alpha}\.$"
    ):
        bk.compare_scores([[0.1, 0.2, 0.3], [0.2, 0.3, 0.5]], alpha=alpha)
    assert bestofk.decide.Settings(alpha=0.5).alpha == 0.5
