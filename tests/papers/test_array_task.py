"""Pieces of a reproduction: equal arrays on every engine, and no repeated work."""

import os
import time

import numpy as np
import pytest

from bestofk._base.code_identity import identify
from bestofk._base.errors import RunError
from bestofk.papers.array_task import ArrayPiece, ArrayTask, obtain
from bestofk.papers.comparison import Request
from bestofk.papers.intervals.experiments import SimulationPiece, run_piece
from bestofk.run.progress import Progress
from bestofk.run.store.store import open_store


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


@pytest.mark.usefixtures("preloaded_workers")
@pytest.mark.parametrize("how", [{"jobs": 1}, {"jobs": 2}, {"jobs": 2, "engine": "processes"}])
def test_results_come_in_the_order_of_the_pieces(how):
    arrays = obtain(pieces_of(range(4)), np.arange, request=Request(**how))
    assert [array.tolist() for array in arrays] == [[], [0], [0, 1], [0, 1, 2]]


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
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        obtain(pieces_of([4.0, -1.0]), math.sqrt, request=request)


@pytest.mark.usefixtures("preloaded_workers")
def test_a_piece_that_kills_its_process_is_named():

    request = Request(engine="processes", jobs=1)
    with pytest.raises(RunError, match=r"doubled 0: its process ended with exit"):
        obtain(pieces_of([3]), os._exit, request=request)


@pytest.mark.usefixtures("preloaded_workers")
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_piece_of_a_paper_is_the_same_on_every_engine(engine, tmp_path):
    if engine == "dask":
        pytest.importorskip("distributed", reason="Dask is not installed")
    pieces = [
        SimulationPiece(kind="plain", seed=3, draw=draw, step=4, simulations=2).named
        for draw in range(3)
    ]
    expected = obtain(pieces, run_piece, request=Request(engine="serial"))
    store = str(tmp_path / "kept.db")
    arrays = obtain(pieces, run_piece, request=Request(engine=engine, jobs=2, store=store))
    for argument, other in zip(expected, arrays, strict=True):
        assert argument.dtype == other.dtype
        assert np.array_equal(argument, other, equal_nan=True)
    with open_store(store) as opened:
        assert opened.n_payloads() == 3
        assert opened.n_cells() == 0


CHILD = """
import sys
from bestofk.papers.comparison import Request
from bestofk.papers.array_task import obtain
from bestofk.papers.intervals.experiments import SimulationPiece, run_piece
pieces = [
    SimulationPiece(kind="plain", seed=3, draw=draw, step=4, simulations=2).named
    for draw in range(10_000)
]
obtain(pieces, run_piece, request=Request(store=sys.argv[1], engine="serial", jobs=1))
"""


def test_a_killed_reproduction_resumes_where_it_stopped(tmp_path, fork_server):
    store = tmp_path / "kept.db"
    open_store(store).close()
    with fork_server.start(["-c", CHILD, store]) as child:
        stored, end = 0, time.monotonic() + 60
        while stored < 3 and time.monotonic() < end:
            time.sleep(0.02)
            with open_store(store, read_only=True) as opened:
                stored = opened.n_payloads()
        assert child.poll() is None, "it ended by itself"
        child.kill()
    with open_store(store) as opened:
        n = opened.n_payloads() + 2
        pieces = [
            SimulationPiece(kind="plain", seed=3, draw=draw, step=4, simulations=2).named
            for draw in range(n)
        ]
        task = ArrayTask(function=run_piece, code=identify(run_piece).digest)
        stored = set(opened.get_payloads([task.key(piece) for piece in pieces]))
    assert 3 <= len(stored) < n
    counted = Counted()
    arrays = obtain(pieces, run_piece, request=Request(store=str(store), progress=counted))
    assert (counted.done, counted.total, counted.items) == (len(stored), n, n - len(stored))
    expected = obtain(pieces, run_piece)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arrays, expected, strict=True))
