"""A toy task: squares of numbers."""

import time
from dataclasses import dataclass

from bestofk.run.task import ItemEvaluator, Task


@dataclass(frozen=True)
class Squared:
    key: str
    value: int | None
    seconds: float | None = 0.0


class Squaring(ItemEvaluator):
    def __init__(self, task):
        self.task = task

    def evaluate(self, items):
        for item in items:
            self.task.seen.append(item)
            if item == self.task.interrupts:
                raise KeyboardInterrupt
            time.sleep(self.task.nap)
            yield Squared(self.task.key(item), None if item < 0 else item**2, self.task.nap)


class Squares(Task):
    """Items are numbers; those with the same last digits share a key, negative ones fail."""

    unit = "squares"
    trusted = True

    def __init__(self, *, nap=0.0, interrupts=None, modulus=10**9):
        self.nap, self.interrupts, self.modulus = nap, interrupts, modulus
        self.seen = []

    def key(self, item):
        return f"{item % self.modulus}"

    def key_of(self, result):
        return result.key

    def evaluator(self):
        return Squaring(self)

    def lost(self, item, failure):
        return Squared(self.key(item), None)

    def find(self, store, items):
        results = store.get_payloads(list(items))
        return {key: Squared(key, int(data)) for key, data in results.items()}

    def keep(self, store, result):
        if result.value is not None:
            data = str(result.value).encode()
            store.put_payload(result.key, data, kind="toy")

    def label(self, item):
        return f"square of {item}"

    def failed(self, result):
        return result.value is None

    def seconds(self, result):
        return result.seconds
