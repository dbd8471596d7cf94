import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.losses import Scores
from bestofk.losses.losses import DIMS
from bestofk.splits.design import Design


def refusal(*args, **kwargs):
    with pytest.raises(ArgumentError) as caught:
        Scores(*args, **kwargs)
    return str(caught.value)


@pytest.fixture
def full():
    """3 learners x 2 data sets x 4 runs x 5 folds x 6 repetitions, every cell another number."""
    values = np.random.default_rng(3).permutation(3 * 2 * 4 * 5 * 6).reshape(3, 2, 4, 5, 6) / 1000
    return Scores(values, learners=["c", "a", "b"], datasets=["y", "x"])


@pytest.mark.parametrize(
    ("shape", "datasets", "expected", "kind"),
    [
        ((3,), None, (3, 1, 1, 1, 1), "scores"),
        ((3, 4), None, (3, 1, 1, 4, 1), "cv"),
        ((3, 4, 2), None, (3, 1, 4, 2, 1), "cv"),
        ((3, 4), "pqrs", (3, 4, 1, 1, 1), "scores"),
        ((3, 4, 2), "pqrs", (3, 4, 1, 2, 1), "cv"),
        ((2, 3, 4, 5, 6), None, (2, 3, 4, 5, 6), "cv"),
    ],
)
def test_axes_are_inferred_from_their_number(shape, datasets, expected, kind):
    given = np.arange(np.prod(shape), dtype=float).reshape(shape)
    losses = Scores(given, datasets=None if datasets is None else list(datasets))
    assert losses.losses.shape == expected
    assert losses.dims == DIMS
    assert losses.losses.ravel().tolist() == given.ravel().tolist()
    assert losses.design == Design(
        kind=kind, runs=expected[2], folds=expected[3], repetitions=expected[4]
    )


def test_named_axes_in_any_order():
    given = np.arange(24.0).reshape(2, 3, 4)
    losses = Scores(given, dims=("fold", "learner", "dataset"))
    assert losses.losses.shape == (3, 4, 1, 2, 1)
    assert losses.losses[2, 1, 0, 1, 0] == given[1, 2, 1]


def test_values_are_a_read_only_copy():
    values = np.array([[0.1, 0.2], [0.3, 0.4]])
    losses = Scores(values)
    values[:] = 9
    assert losses.losses.max() == 0.4
    with pytest.raises(ValueError, match="read-only"):
        losses.losses[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        losses.missing[0] = True
    with pytest.raises(FrozenInstanceError):
        losses.learners = ("x", "y")
    assert values.flags.writeable


@pytest.mark.parametrize(
    ("kwargs", "sentence"),
    [
        ({"values": np.ones((2, 2, 2, 2))}, "dims must say what the 4 axes of values are"),
        ({"values": np.ones((0, 3))}, "values must hold at least one loss of one learner; got sh"),
        ({"values": 3.0}, "values must hold at least one loss of one learner; got shape ()."),
        ({"values": [["a"]]}, "values must be an array of numbers; got [['a']]."),
        ({"dims": ("learner",)}, "dims must name each of the 2 axes of values; got 1 names."),
        ({"dims": ("run", "fold")}, "dims must be 'learner' and others out of learner, datas"),
        ({"dims": ("learner", "folds")}, "dims must be 'learner' and others"),
        ({"dims": ("learner", "learner")}, "dims must be 'learner' and others"),
        (
            {"learners": ["a"]},
            "learners must hold one name for each of the 2 learners of values; got 1.",
        ),
        (
            {"learners": ["a", "a"]},
            "learners must be distinct; got 'a' at positions 0 and 1.",
        ),
        (
            {"learners": ["a", " "]},
            "learners must not be empty; the name at position 1 is.",
        ),
        (
            {"learners": ["a", "b "]},
            "learners must be UTF-8 text without spaces around it; got 'b ' at position 1.",
        ),
        ({"learners": "ab"}, "learners must be a list of names; got the text 'ab'."),
        (
            {"datasets": ["x", "y"]},
            "datasets must hold one name for each of the 3 data sets of values; got 2.",
        ),
        ({"missing": "yes"}, "missing must be one of 'refuse', 'allow'; got 'yes'."),
        (
            {"missing": np.zeros((2, 2), dtype=bool)},
            "missing must be an array of bool of the shape (2, 3) of values; got bool of shape "
            "(2, 2).",
        ),
        ({"loss_name": ""}, "loss_name must not be empty; the name at position 0 is."),
        ({"higher_is_better": "yes"}, "higher_is_better must be True or False; got 'yes'."),
        ({"design": "6x1"}, "design must fit the 1 runs of 3 folds of values; got '6x1'."),
        ({"design": "folds"}, "design must be a Design, a form such as '10x10', 'kfold:10', "),
        ({"design": "kfold:5"}, "design must fit the 1 runs of 3 folds of values; got 'kfold:5'."),
        ({"design": "resample:3"}, "design must be a Design, a form such as '10x10', 'kfold:10', "),
        (
            {"design": Design(kind="cv", runs=2, folds=3)},
            "design must have the 1 runs, 3 folds and 1 repetitions of values; got 2, 3 and 1.",
        ),
    ],
)
def test_refusals(kwargs, sentence):
    kwargs = {"values": np.ones((2, 3)), **kwargs}
    assert refusal(kwargs.pop("values"), **kwargs).startswith(sentence)


def test_nan_and_infinity_name_their_cell():
    values = np.ones((2, 2, 3))
    values[1, 0, 2] = np.nan
    assert refusal(values, learners=["nn", "c4.5"], datasets=["iris", "wine"]) == (
        "values must be numbers; got NaN for 'c4.5' on 'iris' (run 1, fold 3, repetition 1) (1 "
        "of 12): pass missing='allow' if that cell is missing."
    )
    values[1, 0, 2] = -np.inf
    assert refusal(values, missing="allow", datasets=["iris", "wine"]) == (
        "values must be finite; got -inf for '1' on 'iris' (run 1, fold 3, repetition 1)."
    )
    assert refusal([np.nan, np.nan], missing="allow") == (
        "values must hold at least one loss; every cell is missing."
    )


def test_a_mask_declares_missing_cells_whatever_they_hold():
    mask = np.array([[False, True], [False, False]])
    losses = Scores([[0.1, np.inf], [0.5, 0.25]], missing=mask)
    assert not losses.complete
    assert losses.missing.ravel().tolist() == [False, True, False, False]
    assert np.isnan(losses.losses[0, 0, 0, 1, 0])
    assert "1 of 4 cells missing" in losses.account[-1]
    assert repr(losses).endswith("1 cells missing)")


def test_means_of_missing_cells_need_a_rule():
    values = np.array([[0.1, np.nan, 0.6], [0.5, 0.3, 0.1]])
    losses = Scores(values, learners=["nn", "c4.5"], missing="allow")
    with pytest.raises(ArgumentError) as caught:
        losses.means()
    assert str(caught.value) == (
        "1 of 6 cells are missing, including 'nn' on 'data' (run 1, fold 2, repetition 1): "
        "missing='allow' averages the cells that each learner has."
    )
    # by hand: (0.1 + 0.6) / 2, (0.5 + 0.3 + 0.1) / 3; no cell is NaN
    assert losses.means(missing="allow") == pytest.approx({"nn": 0.35, "c4.5": 0.3})
    by_set = Scores([[0.2, np.nan], [0.5, 0.3]], datasets=["x", "y"], missing="allow")
    np.testing.assert_array_equal(by_set.by_dataset(missing="allow"), by_set.losses[..., 0, 0, 0])


def test_means_by_learner_and_data_set(full):
    assert full.means() == pytest.approx(
        {name: full.losses[i].mean() for i, name in enumerate("cab")}
    )
    assert list(full.means()) == ["c", "a", "b"]
    assert full.by_dataset().shape == (3, 2)
    assert full.by_dataset()[2, 1] == pytest.approx(full.losses[2, 1].mean())


def test_select(full):
    part = full.select(learners=["b", "c"], datasets="x")
    assert part.learners == ("b", "c")
    assert part.datasets == ("x",)
    assert np.array_equal(part.losses[:, 0], full.losses[[2, 0], 1])
    assert part.design == full.design
    assert part.account[-1].startswith("Losses of 2 learners on 1 data set")
    turned = full.select(learners=["a", "b", "c"])
    assert np.array_equal(turned.losses, full.losses[[1, 2, 0]])
    assert turned.select(learners=full.learners) == full
    with pytest.raises(UnknownNameError, match="no learner 'd'"):
        full.select(learners=["d"])
    with pytest.raises(ArgumentError, match="got 'a' twice"):
        full.select(learners=["a", "a", "c"])
    with pytest.raises(ArgumentError, match="at least one data set"):
        full.select(datasets=[])


def test_scores_are_flipped_once():
    losses = Scores([[0.75, 1.0], [0.0, 0.5]], higher_is_better=True, loss_name="accuracy")
    assert losses.losses.ravel().tolist() == [0.25, 0.0, 1.0, 0.5]
    assert losses.loss_name == "1 - accuracy"
    assert losses.account[0] == "Every score became the loss 1 - score."
    losses = Scores([[75.0, 1.0], [0.0, -2.0]], higher_is_better=True, loss_name="reward")
    assert losses.losses.ravel().tolist() == [-75.0, -1.0, 0.0, 2.0]
    assert losses.loss_name == "-reward"
    assert losses.account[0] == "Every score became its negative."
    assert not np.signbit(losses.losses[1, 0, 0, 0, 0])


def test_flipping_leaves_missing_cells_out_of_the_range():
    losses = Scores([[0.75, np.nan]], higher_is_better=True, missing="allow")
    assert losses.losses[0, 0, 0, 0, 0] == 0.25


def test_a_design_by_its_form():
    losses = Scores(np.arange(20.0).reshape(2, 10), design="5x2")
    assert losses.losses.shape == (2, 1, 5, 2, 1)
    assert losses.losses[1, 0, 3, 1, 0] == 17.0
    assert losses.design == Design(kind="cv", runs=5, folds=2)
    splits = Scores(np.arange(12.0).reshape(2, 6, 1), design="resample")
    assert splits.design == Design(kind="resample", folds=6)
    assert splits.losses[1].ravel().tolist() == [6, 7, 8, 9, 10, 11]
    assert Scores(np.ones((2, 7)), design="test-set").design.kind == "test-set"


def test_equality_fingerprint_and_pickle(full):
    again = pickle.loads(pickle.dumps(full))
    assert again == full
    assert hash(again) == hash(full)
    assert again.fingerprint == full.fingerprint
    assert again.account == full.account
    assert not again.losses.flags.writeable
    others = [
        full.select(learners=["a", "b", "c"]),
        Scores(full.losses, learners=["c", "a", "z"], datasets=full.datasets),
        Scores(full.losses, learners=full.learners, datasets=["y", "z"]),
        Scores(full.losses + 1e-16, learners=full.learners, datasets=full.datasets),
        Scores(
            full.losses,
            learners=full.learners,
            datasets=full.datasets,
            design=full.design.with_(stratified=True),
        ),
        Scores(full.losses, learners=full.learners, datasets=full.datasets, loss_name="error"),
    ]
    assert all(other != full for other in others)
    assert len({other.fingerprint for other in [*others, full]}) == 7
    assert full != 3
    gap = np.array(full.losses)
    gap[0, 0, 0, 0, 0] = np.nan
    holed = Scores(gap, missing="allow")
    assert holed == Scores(gap, missing="allow")
    assert pickle.loads(pickle.dumps(holed)).fingerprint == holed.fingerprint


def test_instances_of_one_test_set_are_an_axis():
    losses = Scores(np.eye(2, 30), dims=("learner", "instance"))
    assert losses.design == Design(kind="test-set", folds=30)
    assert losses.losses.shape == (2, 1, 1, 30, 1)
    turned = Scores(np.eye(2, 30).T, dims=("instance", "learner"))
    assert np.array_equal(turned.losses, losses.losses)
    with pytest.raises(ArgumentError, match="each once"):
        Scores(np.ones((2, 3, 4)), dims=("learner", "instance", "fold"))
