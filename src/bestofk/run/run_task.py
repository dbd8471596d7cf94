"""Run a task: read stored results, evaluate and store the rest, and report progress."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from bestofk._base.errors import Interrupted, StoreError
from bestofk.run.engine import Engine
from bestofk.run.progress import Progress
from bestofk.run.task import ItemT, ResultT, Task

if TYPE_CHECKING:
    from bestofk.run.shared_work import SharedWork
    from bestofk.run.store.store import Store


def run_task(
    task: Task[ItemT, ResultT],
    items: Sequence[ItemT],
    *,
    engine: Engine,
    store: Store | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    stop: Callable[[ItemT, ResultT], Exception | None] | None = None,
    retry_failed: bool = False,
) -> Mapping[ItemT, ResultT]:
    """Return the result of each item, read from the store or else evaluated and stored.

    - `task`: The task of the items.
    - `items`: Items with the same key share their result.
    - `engine`: Evaluates the items; results do not depend on it.
    - `store`: An open store; it receives each result as it arrives.
    - `progress`: Receives the progress of the run.
    - `deadline`: End of the run, on the clock of `time.monotonic`.
    - `stop`: ``stop(item, result)`` returns the error that ends the run, or None to continue.
    - `retry_failed`: Retry all stored failures. By default, retry only those that may pass now
      (`Task.may_pass_now`).
    - Returns: Results by item; with a deadline, some items may be missing.

    Raises
    ------
    Interrupted
        The user interrupted the run; the message says what is stored.
    """
    watcher = Progress() if progress is None else progress

    stale: dict[str, ResultT] = {}

    def must_retry(result: ResultT) -> bool:
        """Return whether to retry a stored failure, and remember it."""
        retry = task.failed(result) and (
            retry_failed or task.may_pass_now(result, timeout=engine.timeout)
        )
        if retry:
            stale[task.key_of(result)] = result
        return retry

    def is_stale(key: str, result: ResultT) -> bool:
        """Return whether a result is a remembered failure that no process has replaced yet."""
        return key in stale and stale[key] == result

    lookup = task.look_up(store, items, is_stale=must_retry)
    results, same = lookup.results, lookup.missing
    missing = {group[0]: key for key, group in same.items()}

    def settle(key: str, result: ResultT) -> None:
        for item in same[key]:
            results[item] = result
        label = task.label(same[key][0])
        watcher.took(label=label, seconds=task.seconds(result))
        watcher.item(label=label, failed=task.failed(result))

    def evaluate(missing: Sequence[ItemT], shared: SharedWork[ItemT, ResultT] | None) -> None:
        queue = missing
        if deadline is not None:
            queue = list(chain.from_iterable(task.rounds(missing)))
        claim = None
        if shared is not None:
            claim = partial(shared.claim_blocks, hurried=deadline is not None)
        run = engine.run(task, queue, deadline=deadline, claim=claim)
        try:
            for result in run:
                key = task.key_of(result)
                if store is not None:
                    task.keep(store, result)
                settle(key, result)
                error = None if stop is None else stop(same[key][0], result)
                if error is not None:
                    raise error
        finally:
            # end the workers now, not when the last reference to a traceback is gone
            run.close()

    with watcher:
        if type(watcher) is not Progress:
            watcher.expects(Counter(map(task.label, missing)))
        watcher.start(total=lookup.known + len(same), done=lookup.known, unit=task.unit)
        try:
            claims = None if store is None or not missing else store.claims()
            if store is None or claims is None:
                evaluate(list(missing), None)
            else:
                # results are stored before their claims are released
                with claims, _flushed(store):
                    from bestofk.run.shared_work import SharedWork

                    shared = SharedWork(task, store, claims, missing, settle, is_stale)
                    evaluate(list(missing), shared)
                    _share_the_rest(shared, evaluate, watcher, deadline)
        except KeyboardInterrupt:
            if store is not None:
                store.flush()
                # a result may be stored but not counted yet
                rest = {key: group[0] for key, group in same.items() if group[0] not in results}
                for key, result in task.find(store, rest).items():
                    if not is_stale(key, result):
                        results.update(dict.fromkeys(same[key], result))
            message = interruption_message(
                len(results), len(items), task.unit, stored=store is not None
            )
            raise Interrupted(message) from None
    return results


@contextmanager
def _flushed(store: Store) -> Iterator[None]:
    """Commit waiting results at the end, also after an error."""
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            store.flush()
        raise
    store.flush()


def _share_the_rest(
    shared: SharedWork[ItemT, ResultT],
    evaluate: Callable[[Sequence[ItemT], SharedWork[ItemT, ResultT]], None],
    watcher: Progress,
    deadline: float | None,
) -> None:
    """Wait for the results of other processes, and take over what they leave undone."""
    while shared.elsewhere:
        if deadline is not None and time.monotonic() >= deadline:
            shared.read_results()
            return
        abandoned = shared.take_over()
        if abandoned:
            evaluate(abandoned, shared)
        elif shared.elsewhere:
            others = f"{len(shared.elsewhere)} {shared.task.unit}"
            watcher.standing(text=f"waiting for another process that works on {others}")
            time.sleep(shared.poll_seconds)


def interruption_message(done: int, total: int, unit: str, *, stored: bool) -> str:
    """Say what an interrupted run has stored."""
    if not stored:
        return (
            f"interrupted after {done} of {total} {unit}; nothing is kept without a store: add one "
            "(--store study.db) to be able to resume."
        )
    return (
        f"interrupted; {done} of {total} {unit} are safe in the store: the same call resumes from "
        "there."
    )
