import numpy as np
import pytest

from bestofk.papers.kept_work import Block, obtain

BLOCKS = [Block(work="doubled 1", data="d", settings="s", number=k) for k in range(4)]


def doubled(number):
    return np.array([2 * number, number])


def refused(number):
    raise AssertionError(f"block {number} was computed again")


def test_results_come_in_the_order_of_the_blocks():
    for jobs in (1, 2):
        found = obtain(BLOCKS, np.arange, range(4), jobs=jobs)
        assert [array.tolist() for array in found] == [[], [0], [0, 1], [0, 1, 2]]


def test_what_is_kept_is_not_done_again(tmp_path):
    store = str(tmp_path / "kept.db")
    obtain(BLOCKS[:3], doubled, range(3), store=store)
    lines = []
    found = obtain(BLOCKS[:3], refused, range(3), store=store, say=lines.append)
    assert [array.tolist() for array in found] == [[0, 0], [2, 1], [4, 2]]
    assert found[1].dtype == doubled(1).dtype
    assert lines == ["3 of 3 blocks were in the store"]
    with pytest.raises(AssertionError, match="block 3"):
        obtain(BLOCKS, refused, range(4), store=store)


def test_other_names_are_other_work(tmp_path):
    store = str(tmp_path / "kept.db")
    obtain(BLOCKS[:1], doubled, [0], store=store)
    for change in ({"work": "doubled 2"}, {"data": "e"}, {"settings": "t"}, {"number": 5}):
        names = {"work": "doubled 1", "data": "d", "settings": "s", "number": 0}
        with pytest.raises(AssertionError):
            obtain([Block(**{**names, **change})], refused, [0], store=store)
