"""One runner: find in the store, evaluate what is missing, keep it, and say how far it is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain

from bestofk._base.errors import Interrupted, StoreError
from bestofk.run.engines.engine import Engine
from bestofk.run.progress import Progress
from bestofk.run.shared_work import PAUSE, SharedWork
from bestofk.run.store.store import Store
from bestofk.run.task import ItemT, ResultT, Task


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
    cut: dict[ItemT, float] | None = None,
) -> Mapping[ItemT, ResultT]:
    """The result of every item: from the store where it has them, else evaluated and stored.

    Parameters
    ----------
    task : Task
        What the items are a function of.
    items : sequence
        Items with the same key share their result.
    engine : Engine
        Where they are evaluated; the results are the same everywhere.
    store : Store, optional
        An open store; it gets every result as it comes.
    progress : Progress, optional
        Hears how far the work is.
    deadline : float, optional
        On the clock of `time.monotonic`: what is not done by then is left undone.
    stop : callable, optional
        ``stop(item, result)`` gives the error that ends the run, or None to go on.
    retry_failed : bool
        Evaluate every item again that the store holds as failed; else only those that may pass
        now (`Task.may_pass_now`).
    cut : dict, optional
        Gets the items that were being evaluated at the deadline, and the seconds that each had
        taken.

    Returns
    -------
    mapping
        Results by item; with a deadline, perhaps not of all items.

    Raises
    ------
    Interrupted
        The user broke off; the message says what is safe.
    """
    watcher = Progress() if progress is None else progress

    stale: dict[str, ResultT] = {}

    def again(result: ResultT) -> bool:
        """Whether a stored result is made anew: a failure that may pass now."""
        anew = task.failed(result) and (
            retry_failed or task.may_pass_now(result, timeout=engine.timeout)
        )
        if anew:
            stale[task.key_of(result)] = result
        return anew

    def is_stale(key: str, result: ResultT) -> bool:
        """Whether it is the one that was there before, and nobody has made it anew yet."""
        return key in stale and stale[key] == result

    begun = task.begin(store, items, again=again)
    results, same = begun.results, begun.missing
    missing = {group[0]: key for key, group in same.items()}

    def settle(key: str, result: ResultT) -> None:
        for item in same[key]:
            results[item] = result
        label = task.label(same[key][0])
        watcher.took(label=label, seconds=task.seconds(result))
        watcher.item(label=label, failed=task.failed(result))

    def evaluate(wanted: Sequence[ItemT], shared: SharedWork[ItemT, ResultT] | None) -> None:
        given: Iterable[ItemT] = wanted
        if deadline is not None:
            # what is begun too late is cut, and costs nobody anything
            given = chain.from_iterable(task.rounds(wanted))
        claimed = None if shared is None else partial(shared.claimed, hurried=deadline is not None)
        run = engine.run(
            task, given, total=len(wanted), deadline=deadline, cut=cut, claimed=claimed
        )
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
            # workers end now, not when the last reference to a traceback goes
            run.close()

    with watcher:
        if type(watcher) is not Progress:
            watcher.expects(Counter(map(task.label, missing)))
        watcher.start(total=begun.known + len(same), done=begun.known, unit=task.unit)
        try:
            claims = None if store is None or not missing else store.claims()
            if store is None or claims is None:
                evaluate(list(missing), None)
            else:
                # what is done comes to the store before the claims on it go
                with claims, _flushed(store):
                    shared = SharedWork(task, store, claims, missing, settle, is_stale)
                    evaluate(list(missing), shared)
                    _share_the_rest(shared, evaluate, watcher, deadline)
        except KeyboardInterrupt:
            if store is not None:
                store.flush()
                # one may have been kept and not yet counted
                rest = {key: group[0] for key, group in same.items() if group[0] not in results}
                for key, result in task.find(store, rest).items():
                    if not is_stale(key, result):
                        results.update(dict.fromkeys(same[key], result))
            safe = what_is_safe(len(results), len(items), task.unit, stored=store is not None)
            raise Interrupted(safe) from None
    return results


@contextmanager
def _flushed(store: Store) -> Iterator[None]:
    """Commit what waits at the end, also at one that was not planned."""
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
    """Wait for what others work on, and take over what they leave undone."""
    while shared.elsewhere:
        if deadline is not None and time.monotonic() >= deadline:
            shared.look()
            return
        left = shared.given_up()
        if left:
            evaluate(left, shared)
        elif shared.elsewhere:
            watcher.waiting(count=len(shared.elsewhere))
            time.sleep(PAUSE)


def what_is_safe(done: int, total: int, unit: str, *, stored: bool) -> str:
    """What an interruption leaves."""
    if not stored:
        return (
            f"interrupted after {done} of {total} {unit}; nothing is kept without a store: add one "
            "(--store study.db) to be able to resume."
        )
    return (
        f"interrupted; {done} of {total} {unit} are safe in the store: the same call resumes from "
        "there."
    )
