"""Tasks whose items give one array each, kept in a store: the pieces of a reproduction."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.code_identity import identify
from bestofk._base.errors import BestOfKError, RunError
from bestofk.papers.comparison import Request
from bestofk.run.cells import Failure
from bestofk.run.engine import Engine, Execution
from bestofk.run.progress import Progress, observer
from bestofk.run.runner import opened, run
from bestofk.run.task import Task, describe_error

if TYPE_CHECKING:
    from bestofk.run.store.store import Store

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class ArrayPiece:
    """A piece of work that gives one array; after its evaluation, with the array or the error.

    `name` names the computation, its input and its settings, which determine the array. `argument`
    is passed to the function of the `ArrayTask`, whose code is part of the key.
    """

    name: str
    argument: Any = field(compare=False)
    label: str = field(default="", compare=False)
    """Description for the progress display; the name by default."""
    array: Array | None = field(default=None, compare=False, repr=False)
    raised: Exception | None = field(default=None, compare=False)
    seconds: float | None = field(default=None, compare=False)
    """Time taken; None for the first item of a process, which also loads its code."""

    @property
    def failure(self) -> Failure | None:
        """The error, as a failure."""
        if self.raised is None:
            return None
        return Failure(kind="raised", reason=describe_error(self.raised))


@dataclass(frozen=True, eq=False, kw_only=True)
class ArrayTask(Task):
    """Call ``function(argument)`` for every piece, and keep the arrays in a store.

    Other processes must be able to import the function, or to load its object.
    """

    function: Callable[[Any], Array]
    code: str
    """What the arrays depend on besides the names of the pieces."""
    kind: str = "reproduction"
    """The kind of the arrays in a store."""
    unit: str = "pieces"  # type: ignore[misc]
    trusted: bool = True
    _is_warm = False
    """Whether this process has evaluated an item."""

    def evaluate(self, items: Iterable[ArrayPiece]) -> Iterator[ArrayPiece]:
        for item in items:
            start = time.perf_counter()
            try:
                array = self.function(item.argument)
            except Exception as raised:
                known = isinstance(raised, BestOfKError)
                yield replace(item, raised=raised if known else RunError(describe_error(raised)))
                continue
            seconds = time.perf_counter() - start if self._is_warm else None
            vars(self)["_is_warm"] = True
            yield replace(item, array=array, seconds=seconds)

    def key(self, item: ArrayPiece) -> str:
        text = f"{self.kind} {(item.name, self.code)!r}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def label(self, item: ArrayPiece) -> str:
        return item.label or item.name

    def lost(self, item: ArrayPiece, failure: Failure) -> ArrayPiece:
        return replace(item, raised=RunError(f"{self.label(item)}: {failure.reason}"))

    def find(self, store: Store, items: Mapping[str, ArrayPiece]) -> dict[str, ArrayPiece]:
        arrays = store.get_arrays(list(items))
        return {key: replace(items[key], array=_unpack(data)) for key, data in arrays.items()}

    def keep(self, store: Store, result: ArrayPiece) -> None:
        if result.array is not None:
            store.put_array(self.key(result), _pack(result.array), kind=self.kind)

    def arrays(
        self,
        items: Sequence[ArrayPiece],
        *,
        engine: Engine,
        store: Any,
        progress: Progress,
    ) -> list[Array]:
        """Return the array of every item, from the store or computed and stored.

        The first exception of an item ends the work.
        """
        with opened(store) as kept:
            stored = {} if kept is None else self.find(kept, {self.key(one): one for one in items})
            results = {one: stored[key] for one in items if (key := self.key(one)) in stored}
            run(
                self,
                [one for one in items if one not in results],
                results=results,
                engine=engine,
                store=kept,
                progress=progress,
                stop=lambda result: result.raised,
            )
        return [array for item in items if (array := results[item].array) is not None]


def obtain(
    pieces: Sequence[ArrayPiece],
    function: Callable[[Any], Array],
    *,
    request: Request | None = None,
) -> list[Array]:
    """Return the array of every piece, from the store or computed and stored.

    - `pieces`: The work with its name.
    - `function`: ``function(piece.argument)`` returns the array; at the top level of a module, so
      that other processes can import it.
    - `request`: Its `engine`, `jobs`, `scheduler`, `store` and `progress` determine where the work
      is done, stored and shown; the arrays do not depend on them.

    Examples
    --------
    >>> pieces = [ArrayPiece(name=f"squares {k}", argument=np.arange(k)) for k in range(3)]
    >>> obtain(pieces, np.square)[2]
    array([0, 1])
    """
    request = Request() if request is None else request
    return ArrayTask(function=function, code=identify(function).digest).arrays(
        pieces,
        engine=Engine(
            Execution(engine=request.engine, n_jobs=request.jobs, scheduler=request.scheduler)
        ),
        store=request.store,
        progress=observer(request.progress),
    )


def _pack(array: Array) -> bytes:
    data = io.BytesIO()
    np.save(data, array, allow_pickle=False)
    return data.getvalue()


def _unpack(data: bytes) -> Array:
    array: Array = np.load(io.BytesIO(data), allow_pickle=False)
    return array
