"""A toy task: squares of numbers."""

import time

from bestofk.run.cells import Failure
from bestofk.run.engine import Engine, Execution
from bestofk.run.runner import run
from bestofk.run.task import Task


class Square(int):
    """A number; after its evaluation, an equal one with its square."""

    value: int | None = None
    seconds = 0.0

    @property
    def failure(self):
        return Failure(kind="raised", reason="negative.") if self.value is None else None


def squared(item, value, seconds=0.0):
    made = Square(item)
    made.value, made.seconds = value, seconds
    return made


class Squares(Task):
    """Items are numbers; those with the same last digits share a key, negative ones fail."""

    unit = "squares"
    trusted = True

    def __init__(self, *, nap=0.0, interrupts=None, modulus=10**9):
        self.nap, self.interrupts, self.modulus = nap, interrupts, modulus
        self.seen = []

    def key(self, item):
        return f"{item % self.modulus}"

    def evaluate(self, items):
        for item in items:
            self.seen.append(item)
            if item == self.interrupts:
                raise KeyboardInterrupt
            time.sleep(self.nap)
            yield squared(item, None if item < 0 else item**2, self.nap)

    def lost(self, item, failure):
        return squared(item, None)

    def find(self, store, items):
        results = store.get_arrays(list(items))
        return {key: squared(items[key], int(data)) for key, data in results.items()}

    def keep(self, store, result):
        if result.value is not None:
            data = str(result.value).encode()
            store.put_array(self.key(result), data, kind="toy")

    def label(self, item):
        return f"square of {item}"


def run_squares(task, items, store=None, **options):
    """Return the squares that the store holds, and those that are computed in this process."""
    keys = {item: task.key(item) for item in items}
    found = {} if store is None else task.find(store, {key: item for item, key in keys.items()})
    results = {item: found[key] for item, key in keys.items() if key in found}
    missing = [item for item in items if item not in results]
    with Engine(Execution(engine="serial")) as engine:
        run(task, missing, results=results, engine=engine, store=store, **options)
    return {item: result.value for item, result in results.items()}
