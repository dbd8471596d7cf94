"""One progress for all rounds of a race, and who is out."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from bestofk.run.progress import Progress


class RaceProgress(Progress):
    """Passes what the rounds say on to one observer that hears of all of them as one run."""

    def __init__(self, inner: Progress, total: int) -> None:
        self.inner, self.total, self.begun = inner, total, False

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:  # noqa: ARG002
        if not self.begun:
            self.begun = True
            self.inner.__enter__()
            self.inner.start(total=self.total, done=done, unit=unit)
        elif done:
            self.inner.found(count=done)

    def item(self, *, label: str, failed: bool) -> None:
        self.inner.item(label=label, failed=failed)

    def waiting(self, *, count: int) -> None:
        self.inner.waiting(count=count)

    def standing(self, *, words: str) -> None:
        self.inner.standing(words=words)

    def close(self) -> None:
        """The race is over, or broke off."""
        if self.begun:
            self.inner.__exit__(None, None, None)

    def __enter__(self) -> Self:
        # a round begins, not the race
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """A round is over."""
