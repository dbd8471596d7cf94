"""One runner: find in the store, evaluate what is missing, keep it, and say how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from bestofk.errors import Interrupted
from bestofk.run.engines.engine import Engine
from bestofk.run.progress import Progress
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
) -> dict[ItemT, ResultT]:
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
    dict
        Results by item; with a deadline, perhaps not of all items.

    Raises
    ------
    Interrupted
        The user broke off; the message says what is safe.
    """
    watcher = Progress() if progress is None else progress
    same: dict[str, list[ItemT]] = {}
    for item in items:
        same.setdefault(task.key(item), []).append(item)
    results: dict[ItemT, ResultT] = {}
    if store is not None:
        for key, result in task.find(store, {key: group[0] for key, group in same.items()}).items():
            if task.failed(result) and (
                retry_failed or task.may_pass_now(result, timeout=engine.timeout)
            ):
                continue
            results.update(dict.fromkeys(same[key], result))
    missing = [group[0] for group in same.values() if group[0] not in results]
    wanted: Iterable[ItemT] = missing
    if deadline is not None:
        # what is begun too late is cut, and costs nobody anything
        wanted = chain.from_iterable(task.rounds(missing))
    with watcher:
        watcher.start(total=len(same), done=len(same) - len(missing), unit=task.unit)
        run = engine.run(task, wanted, total=len(missing), deadline=deadline, cut=cut)
        try:
            for result in run:
                group = same[task.key_of(result)]
                results.update(dict.fromkeys(group, result))
                if store is not None:
                    task.keep(store, result)
                watcher.item(label=task.label(group[0]), failed=task.failed(result))
                error = None if stop is None else stop(group[0], result)
                if error is not None:
                    raise error
        except KeyboardInterrupt:
            if store is not None:
                store.flush()
            safe = what_is_safe(len(results), len(items), task.unit, stored=store is not None)
            raise Interrupted(safe) from None
        finally:
            # workers end now, not when the last reference to a traceback goes
            run.close()
    return results


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
