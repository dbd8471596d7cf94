"""Pieces of a reproduction as a task: each gives one array, which a store keeps."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from bestofk._base.code_identity.identity import identify
from bestofk._base.errors import RunError
from bestofk.papers.comparison import Request
from bestofk.run.cells import Failure
from bestofk.run.engines.engine import Engine
from bestofk.run.progress import Progress
from bestofk.run.run_task import run_task
from bestofk.run.store.payloads import Payload
from bestofk.run.store.store import Store, open_store
from bestofk.run.task import Block, BlockSizer, ItemEvaluator, Task, sendable_error

Array = npt.NDArray[Any]
ArgumentT = TypeVar("ArgumentT")

KIND, PAYLOAD = "reproduction", "array"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayPiece(Generic[ArgumentT]):
    """A piece of work whose result is one array: a pure function of its names.

    `work` and `settings` say what is computed, `data` on what, `number` which piece; `argument` is
    what the function gets. The code of the function is part of the names of its `ArrayTask`.
    """

    work: str
    data: str
    settings: str
    number: int = 0
    argument: ArgumentT = field(compare=False)

    def key(self, code: str) -> str:
        """The digest under which a store keeps what that code makes of it."""
        text = f"reproduction {(self.work, self.data, self.settings, code)!r} {self.number}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PieceResult:
    """The array of a piece, or what was raised instead."""

    key: str
    array: Array | None
    raised: Exception | None = None
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class ArrayTask(Task[ArrayPiece[ArgumentT], PieceResult]):
    """``function(argument)`` for every piece.

    The function stands at the top level of a module, so that other processes can import it.
    """

    unit: ClassVar[str] = "pieces"
    function: Callable[[ArgumentT], Array]

    @cached_property
    def code(self) -> str:
        """The identity of the function."""
        return identify(self.function).digest

    @property
    def trusted(self) -> bool:
        return True

    def key(self, item: ArrayPiece[ArgumentT]) -> str:
        return item.key(self.code)

    def key_of(self, result: PieceResult) -> str:
        return result.key

    def evaluator(self) -> ArrayEvaluator[ArgumentT]:
        return ArrayEvaluator(self.function, self.code)

    def lost(self, item: ArrayPiece[ArgumentT], failure: Failure) -> PieceResult:
        reason = f"{self.label(item)} (piece {item.number}): {failure.reason}"
        return PieceResult(key=self.key(item), array=None, raised=RunError(reason))

    def find(
        self, store: Store, items: Mapping[str, ArrayPiece[ArgumentT]]
    ) -> dict[str, PieceResult]:
        found = store.get_payloads(list(items), name=PAYLOAD)
        return {key: PieceResult(key=key, array=_unpacked(data)) for key, data in found.items()}

    def keep(self, store: Store, result: PieceResult) -> None:
        if result.array is not None:
            data = _packed(result.array)
            store.put_payloads([Payload(digest=result.key, name=PAYLOAD, kind=KIND, data=data)])

    def label(self, item: ArrayPiece[ArgumentT]) -> str:
        return f"{item.work} on {item.data}"

    def failed(self, result: PieceResult) -> bool:
        return result.raised is not None

    def seconds(self, result: PieceResult) -> float | None:
        return result.seconds

    def blocks(
        self,
        items: Iterable[ArrayPiece[ArgumentT]],
        sizer: BlockSizer,  # noqa: ARG002  (a piece is much work)
        *,
        hurried: bool = False,  # noqa: ARG002
    ) -> Iterator[Block[ArrayPiece[ArgumentT]]]:
        return (Block(items=(item,)) for item in items)


class ArrayEvaluator(ItemEvaluator[ArrayPiece[ArgumentT], PieceResult]):
    """Calls the function of a task, and records what it raises."""

    def __init__(self, function: Callable[[ArgumentT], Array], code: str) -> None:
        self.function, self.code = function, code

    def evaluate(self, items: Iterable[ArrayPiece[ArgumentT]]) -> Iterator[PieceResult]:
        """The result of every piece."""
        for item in items:
            key = item.key(self.code)
            begin = time.perf_counter()
            try:
                array = self.function(item.argument)
            except Exception as raised:
                yield PieceResult(key=key, array=None, raised=sendable_error(raised))
                continue
            yield PieceResult(key=key, array=array, seconds=time.perf_counter() - begin)


def obtain(
    pieces: Sequence[ArrayPiece[ArgumentT]],
    function: Callable[[ArgumentT], Array],
    *,
    request: Request | None = None,
    say: Callable[[str], None] | None = None,
) -> list[Array]:
    """The array of every piece: from the store where it is held, else computed and kept.

    Parameters
    ----------
    pieces : sequence of ArrayPiece
        What is to be computed, with its names.
    function : callable
        ``function(piece.argument)`` gives the array; at the top level of a module, so that other
        processes can import it.
    request : Request, optional
        Its `engine`, `jobs`, `scheduler` and `store` say where the work is done and kept; the
        arrays do not depend on them.
    say : callable, optional
        Takes a line now and then; by default that of the request.

    Examples
    --------
    >>> pieces = [
    ...     ArrayPiece(work="squares 1", data="none", settings="", number=k, argument=np.arange(k))
    ...     for k in range(3)
    ... ]
    >>> obtain(pieces, np.square)[2]
    array([0, 1])
    """
    asked = Request() if request is None else request
    engine = Engine(name=asked.engine, jobs=asked.jobs, scheduler=asked.scheduler)
    with open_store(asked.store) as kept:
        found = run_task(
            ArrayTask(function),
            pieces,
            engine=engine,
            store=None if asked.store is None else kept,
            progress=SaidProgress(asked.say if say is None else say),
            stop=lambda _, result: result.raised,
        )
    return [array for piece in pieces if (array := found[piece].array) is not None]


class SaidProgress(Progress):
    """Gives a line on every piece to a function."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say, self.done, self.total, self.unit = say, 0, 0, ""

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.total, self.done, self.unit = total, done, unit
        if done:
            self.say(f"{done} of {total} {unit} were in the store")

    def item(self, *, label: str, failed: bool) -> None:  # noqa: ARG002
        self.done += 1
        self.say(f"{self.done} of {self.total} {self.unit}")


def _packed(array: Array) -> bytes:
    data = io.BytesIO()
    np.save(data, array, allow_pickle=False)
    return data.getvalue()


def _unpacked(held: bytes) -> Array:
    array: Array = np.load(io.BytesIO(held), allow_pickle=False)
    return array
