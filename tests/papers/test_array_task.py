"""Pieces of a reproduction: equal arrays on every engine, and no repeated work."""

import os

import numpy as np
import pytest

from bestofk._base.errors import RunError
from bestofk.papers.array_task import ArrayPiece, obtain
from bestofk.papers.comparison import Request
from bestofk.run.progress import Progress


def pieces_of(arguments, name="doubled"):
    return [
        ArrayPiece(name=f"{name} {k}", argument=argument) for k, argument in enumerate(arguments)
    ]


class Counted(Progress):
    """What the work tells its display."""

    def __init__(self):
        self.done, self.total, self.items = 0, 0, 0

    def start(self, *, total, done, unit="fits", times=None):
        self.total, self.done = total, done

    def item(self, *, label, failed):
        self.items += 1


def doubled(number):
    return np.array([2 * number, number])


def test_what_is_kept_is_not_done_again(tmp_path):
    counted = Counted()
    request = Request(store=str(tmp_path / "kept.db"), progress=counted)
    obtain(pieces_of(range(3)), doubled, request=request)
    assert (counted.done, counted.items) == (0, 3)
    arrays = obtain(pieces_of(range(3)), doubled, request=request)
    assert [array.tolist() for array in arrays] == [[0, 0], [2, 1], [4, 2]]
    assert arrays[1].dtype == doubled(1).dtype
    assert (counted.done, counted.total, counted.items) == (3, 3, 3)
    obtain(pieces_of(range(4)), doubled, request=request)
    assert (counted.done, counted.total, counted.items) == (3, 4, 4)


def test_other_names_are_other_work(tmp_path):
    counted = Counted()
    request = Request(store=str(tmp_path / "kept.db"), progress=counted)
    for pieces in (pieces_of([0]), pieces_of([0], name="halved"), pieces_of([0, 0])[1:]):
        obtain(pieces, doubled, request=request)
        assert counted.done == 0
    assert counted.items == 3


def test_another_function_is_other_work(tmp_path):
    request = Request(store=str(tmp_path / "kept.db"))
    obtain(pieces_of([3]), doubled, request=request)
    (arrays,) = obtain(pieces_of([3]), lambda number: np.array([number]), request=request)
    assert arrays.tolist() == [3]


@pytest.mark.usefixtures("preloaded_workers")
def test_an_error_in_a_worker_is_raised_here():
    # math.sqrt of a negative number, which workers can import
    import math

    request = Request(engine="processes", jobs=1)
    with pytest.raises(RunError, match=r"ValueError: (math domain error|.*nonnegative)"):
        obtain(pieces_of([4.0, -1.0]), math.sqrt, request=request)


@pytest.mark.usefixtures("preloaded_workers")
def test_a_piece_that_kills_its_process_is_named():

    request = Request(engine="processes", jobs=1)
    with pytest.raises(RunError, match=r"doubled 0: its process ended with exit"):
        obtain(pieces_of([3]), os._exit, request=request)
