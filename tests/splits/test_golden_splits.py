"""Golden splits: a seed must give the same splits on every machine and with every numpy.

If one of these tests fails, every published seed changes its meaning. Do not update the numbers.
The grouped folds changed once, when groups began to be dealt in random order: folds that are
balanced by the size of their groups hide a part of the variance.
"""

import numpy as np
import pytest

from bestofk.splits import plan
from bestofk.splits.folds import raw_keys

Y = list("aabbbcabbacab")
GROUPS = [0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 6]


def test_stream():
    assert raw_keys(0, 1, 0, 3).tolist() == GOLDEN["stream"]
    np.testing.assert_array_equal(raw_keys(3, 2, 5, 4, skip=3), raw_keys(3, 2, 5, 7)[3:])


@pytest.mark.parametrize(
    ("name", "spec", "y", "groups"),
    [
        ("plain folds", "2x3", None, None),
        ("stratified folds", "2x3", Y, None),
        ("grouped folds", "2x3", None, GROUPS),
        ("stratified grouped folds", "2x3", Y, GROUPS),
        ("random splits", "resample:2:0.3", None, None),
        ("stratified random splits", "resample:2:0.3", Y, None),
        ("grouped random splits", "resample:2:0.3", Y, GROUPS),
        ("bootstrap", "bootstrap:2", None, None),
        ("stratified bootstrap", "bootstrap:2", Y, None),
    ],
)
def test_marks(name, spec, y, groups):
    splits = plan(spec, random_state=2003).materialise(13, y, groups)
    assert splits.marks.astype(int).tolist() == GOLDEN[name]


def test_fingerprint():
    splits = plan("2x3", random_state=2003).materialise(13, Y)
    assert splits.fingerprint == GOLDEN["fingerprint"]


def test_rows_of_half_a_split():
    _, _, train, test = next(plan("5x2", random_state=0).splits(range(9)))
    assert [train.tolist(), test.tolist()] == GOLDEN["first half"]


GOLDEN = {
    "stream": [17438012079374151748, 7595620719061514866, 12251222808787884046],
    "plain folds": [
        [2, 2, 0, 1, 1, 1, 0, 0, 0, 2, 1, 2, 0],
        [2, 2, 0, 0, 1, 1, 0, 0, 2, 1, 2, 0, 1],
    ],
    "stratified folds": [
        [2, 1, 0, 2, 1, 1, 0, 0, 2, 2, 0, 0, 1],
        [1, 1, 0, 1, 1, 2, 2, 0, 2, 0, 0, 0, 2],
    ],
    "grouped folds": [
        [2, 2, 1, 1, 1, 0, 0, 1, 2, 2, 0, 0, 0],
        [2, 2, 0, 0, 0, 1, 1, 0, 2, 2, 1, 1, 1],
    ],
    "stratified grouped folds": [
        [1, 1, 0, 0, 0, 0, 0, 1, 2, 2, 1, 2, 2],
        [1, 1, 1, 1, 1, 2, 2, 0, 2, 2, 1, 0, 0],
    ],
    "random splits": [
        [0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0],
        [1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0],
    ],
    "stratified random splits": [
        [0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0],
        [1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0],
    ],
    "grouped random splits": [
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0],
    ],
    "bootstrap": [[0, 2, 1, 1, 1, 0, 1, 1, 1, 1, 0, 2, 2], [2, 1, 0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 1]],
    "stratified bootstrap": [
        [3, 1, 2, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1],
        [2, 0, 3, 0, 0, 1, 0, 0, 2, 1, 1, 2, 1],
    ],
    "fingerprint": "1ab72de850704418cb3ed3f42ff63bc601cdf63dc77af687e7d64d33e020b614",
    "first half": [[1, 2, 4, 5], [0, 3, 6, 7, 8]],
}
