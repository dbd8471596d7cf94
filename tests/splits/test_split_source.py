"""Splitters and pairs as plans: seeds, copies and early errors."""

import numpy as np
import pytest
from sklearn import model_selection as ms

from bestofk._base.errors import ArgumentError
from bestofk.splits import plan

N = 40


def prints(plan_):
    return plan_.materialise(N).fingerprint


def test_splitter_without_seed_uses_the_plan_seed_with_a_note():
    shuffled = ms.KFold(4, shuffle=True)
    first, again, other = (plan(shuffled, random_state=seed) for seed in (1, 1, 2))
    assert prints(first) == prints(again) != prints(other)
    assert "It has no seed; bestofk used 1." in first.materialise(N).notes
    assert shuffled.random_state is None


def test_a_generator_of_random_numbers_inside_a_splitter_is_not_used_up():
    plan_ = plan(ms.ShuffleSplit(3, test_size=0.2, random_state=np.random.RandomState(5)))
    assert prints(plan_) == prints(plan_)


class Odd:
    """A splitter that looks at the rows, and takes no groups from scikit-learn."""

    def split(self, X, y=None, groups=None):
        even = np.flatnonzero(np.asarray(X)[:, 0] % 2 == 0)
        yield even, np.setdiff1d(np.arange(len(X)), even)


def test_custom_splitter_receives_the_rows():
    rows = np.arange(N)[:, None]
    splits = plan(Odd()).materialise(N, X=rows)
    np.testing.assert_array_equal(splits.test(0, 0), np.arange(1, N, 2))
    assert splits.notes == ("The splits are those of Odd.",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (ms.KFold, r"write KFold\(\) instead of KFold"),
        (5, "write 'kfold:5'"),
        (3.5, "a scikit-learn splitter, or pairs"),
        (None, "a scikit-learn splitter, or pairs"),
    ],
)
def test_invalid_plans_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        plan(given)


def test_options_of_named_plans_do_not_apply():
    with pytest.raises(ArgumentError, match="stratified does not apply"):
        plan(ms.KFold(3), stratified=True)


def test_splitter_errors_become_one_sentence():
    with pytest.raises(ArgumentError, match=r"plan KFold\(.*cannot split these rows: Cannot have"):
        plan(ms.KFold(99)).materialise(N)
    with pytest.raises(ArgumentError, match=r"Pass groups=\.\.\."):
        plan(ms.GroupKFold(3)).materialise(N)
