"""A toy task: squares of numbers."""

import time
from dataclasses import dataclass

from bestofk.run.task import Task


@dataclass(frozen=True)
class Squared:
    item: int
    value: int | None
    seconds: float | None = 0.0


class Squares(Task):
    """Items are numbers; those with the same last digits share a key, negative ones fail."""

    unit = "squares"
    trusted = True

    def __init__(self, *, nap=0.0, interrupts=None, modulus=10**9):
        self.nap, self.interrupts, self.modulus = nap, interrupts, modulus
        self.seen = []

    def key(self, item):
        return f"{item % self.modulus}"

    def item_of(self, result):
        return result.item

    def evaluate(self, items, *, apart=False):
        for item in items:
            self.seen.append(item)
            if item == self.interrupts:
                raise KeyboardInterrupt
            time.sleep(self.nap)
            yield Squared(item, None if item < 0 else item**2, self.nap)

    def lost(self, item, failure):
        return Squared(item, None)

    def find(self, store, items):
        results = store.get_payloads(list(items))
        return {key: Squared(items[key], int(data)) for key, data in results.items()}

    def keep(self, store, result):
        if result.value is not None:
            data = str(result.value).encode()
            store.put_payload(self.key(result.item), data, kind="toy")

    def label(self, item):
        return f"square of {item}"

    def failed(self, result):
        return result.value is None

    def seconds(self, result):
        return result.seconds
