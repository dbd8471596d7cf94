"""Work in blocks: what is finished is kept in a store, the rest is spread over processes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.run.cells import CellKey, CellResult
from bestofk.run.store.store import Store, open_store

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of work whose result is one array: a pure function of these names.

    `work` and `settings` tell what is computed (with a version that changes with the code),
    `data` on what, `number` which piece.
    """

    work: str
    data: str
    settings: str
    number: int = 0

    @property
    def key(self) -> CellKey:
        """The name under which a store keeps the result."""
        return CellKey(
            dataset=_digest(self.data),
            learner=_digest(self.work),
            splits=_digest(self.settings),
            loss="block",
            run=self.number,
            fold=0,
            repetition=0,
        )


def obtain(
    blocks: Sequence[Block],
    function: Callable[[Any], Array],
    arguments: Sequence[Any],
    *,
    store: str | None = None,
    jobs: int = 1,
    say: Callable[[str], None] = lambda line: None,  # noqa: ARG005
) -> list[Array]:
    """The result of every block: from the store where it is held, else computed and kept.

    Parameters
    ----------
    blocks : sequence of Block
        Names of the work.
    function : callable
        ``function(argument)`` gives the array of a block; at the top level of a module, so that
        processes can import it.
    arguments : sequence
        One for each block.
    store : str or None
        See `bestofk.run.store.store.open_store`; None keeps nothing.
    jobs : int
        Processes; -1 for one a core. The results do not depend on it.
    say : callable
        Takes a line now and then.

    Examples
    --------
    >>> blocks = [Block(work="squares 1", data="none", settings="", number=k) for k in range(3)]
    >>> obtain(blocks, np.square, [np.arange(k) for k in range(3)])[2]
    array([0, 1])
    """
    results: dict[int, Array] = {}
    with open_store(store) as kept:
        held = kept.get([block.key for block in blocks])
        for place, block in enumerate(blocks):
            found = held.get(block.key.digest)
            if found is not None and found.predictions is not None:
                results[place] = _unpacked(found.predictions)
        missing = [place for place in range(len(blocks)) if place not in results]
        if results:
            say(f"{len(results)} of {len(blocks)} blocks were in the store")
        for done, (place, array) in enumerate(_computed(function, arguments, missing, jobs), 1):
            results[place] = array
            if store is not None:
                _keep(kept, blocks[place], array)
            say(f"{len(blocks) - len(missing) + done} of {len(blocks)} blocks")
    return [results[place] for place in range(len(blocks))]


def _computed(
    function: Callable[[Any], Array], arguments: Sequence[Any], places: list[int], jobs: int
) -> Iterator[tuple[int, Array]]:
    if jobs == 1 or len(places) < 2:
        for place in places:
            yield place, function(arguments[place])
        return
    from joblib import Parallel, delayed

    with _workers():
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_placed)(function, place, arguments[place]) for place in places
        )


def _placed(function: Callable[[Any], Array], place: int, argument: Any) -> tuple[int, Array]:
    return place, function(argument)


@contextmanager
def _workers() -> Iterator[None]:
    """Workers end with the call."""
    from joblib.externals.loky import get_reusable_executor

    try:
        yield
    finally:
        get_reusable_executor().shutdown(wait=True)


def _keep(store: Store, block: Block, array: Array) -> None:
    bytes_ = io.BytesIO()
    np.save(bytes_, array, allow_pickle=False)
    store.put([CellResult(key=block.key, loss=0.0, predictions=bytes_.getvalue())])


def _unpacked(held: bytes) -> Array:
    array: Array = np.load(io.BytesIO(held), allow_pickle=False)
    return array


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
