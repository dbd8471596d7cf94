"""What a run says while it runs: a bar on a terminal or in a notebook, lines in a pipe or log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from bestofk._base.formatting import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

LINE_EVERY = 10.0
"""Seconds between two lines in a log."""
PIPE_LINE_EVERY = 30.0
"""The same where nobody asked for a log."""
EVIDENCE = 3.0
"""Seconds of work from which the time left is estimated."""
STARTING = "starting: packages are imported, workers begin"
"""What is happening until the first fit is there."""
SHOWN_EVERY = 0.25
"""Seconds between two states of a bar in a notebook."""


class TimeLeft:
    """The time left, by what the fits of each learner took on each data set.

    Learners differ a thousandfold, so the rate of all together says nothing while the slow ones
    have not begun. Nothing is said until every learner with work left has shown what a fit takes.

    Examples
    --------
    >>> left = TimeLeft({"quick": 10, "slow": 10})
    >>> left.done("quick", 0.1); left.seconds(elapsed=5.0) is None
    True
    >>> left.done("slow", 9.9); round(left.seconds(elapsed=10.0))
    90
    """

    def __init__(self, waiting: Mapping[str, int]) -> None:
        self.waiting = dict(waiting)
        self.count: dict[str, int] = {}
        self.spent: dict[str, float] = {}
        self.first: dict[str, float] = {}

    def done(self, label: str, seconds: float | None) -> None:
        """One more fit is there, and took `seconds`; None where that says nothing."""
        self.waiting[label] = self.waiting.get(label, 0) - 1
        if seconds is not None:
            self.first.setdefault(label, seconds)
            self.count[label] = self.count.get(label, 0) + 1
            self.spent[label] = self.spent.get(label, 0.0) + seconds

    def seconds(self, *, elapsed: float) -> float | None:
        """An estimate after `elapsed` seconds; None while there is too little to go by."""
        total = sum(self.spent.values())
        if elapsed < EVIDENCE or total <= 0:
            return None
        left = 0.0
        for label, fits in self.waiting.items():
            if fits > 0:
                if label not in self.count:
                    return None
                left += fits * self._each(label)
        # workers at once, and what is done between the fits
        return left * elapsed / total

    def _each(self, label: str) -> float:
        """What a fit takes; the first one, which pays for imports, counts only while alone."""
        others = self.count[label] - 1
        if others < 1:
            return self.spent[label]
        return (self.spent[label] - self.first[label]) / others


def _wait(seconds: float) -> str:
    """A time to wait, as people say it."""
    if seconds < 90:
        return f"{max(seconds, 1.0):.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Progress:
    """Says nothing; the base of those that do."""

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        """`done` of `total` items, which are called `unit`, are there already."""

    def expects(self, waiting: Mapping[str, int]) -> None:
        """So many items are to be done, by label; told before `start`."""

    def took(self, *, label: str, seconds: float | None) -> None:
        """What an item took by itself; told before its `item`."""

    def item(self, *, label: str, failed: bool) -> None:
        """One more item is done: the one that `label` describes."""

    def waiting(self, *, count: int) -> None:
        """All that is left, `count` items, is being worked on by other processes."""

    def found(self, *, count: int) -> None:
        """So many items more are there already."""

    def standing(self, *, words: str) -> None:
        """Who is out of a race, and what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """The run is over, or broke off."""


class _Estimated(Progress):
    """One that says how long it will take."""

    time_left: TimeLeft | None = None
    begin = 0.0

    def expects(self, waiting: Mapping[str, int]) -> None:
        self.time_left = TimeLeft(waiting)

    def took(self, *, label: str, seconds: float | None) -> None:
        if self.time_left is not None:
            self.time_left.done(label, seconds)

    def left(self, now: float) -> str:
        """``about 2 min left``; empty while nothing is known."""
        if self.time_left is None:
            return ""
        seconds = self.time_left.seconds(elapsed=now - self.begin)
        return "" if seconds is None else f"about {_wait(seconds)} left"


class Lines(_Estimated):
    """A line now and then, for logs."""

    def __init__(self, stream: TextIO, every: float = LINE_EVERY) -> None:
        self.stream, self.every = stream, every
        self.total = self.done = self.failed = self.old = 0
        self.unit = "fits"
        self.waited = False
        self.begin = self.last = time.monotonic()

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.total, self.done, self.old, self.unit = total, done, done, unit
        self.begin = self.last = time.monotonic()
        if done:
            self._say(f"{done} of {total} {unit} are in the store already")

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            rate = (self.done - self.old) / (now - self.begin)
            left = self.left(now)
            self._say(
                f"{self.done} of {self.total} {self.unit}, {_rate(rate)} per second, "
                f"{f'{left}, ' if left else ''}{self.failed} failed, now {label}"
            )

    def waiting(self, *, count: int) -> None:
        now = time.monotonic()
        if not self.waited or now - self.last >= LINE_EVERY:
            self.last, self.waited = now, True
            self._say(waiting_words(count, self.unit))

    def found(self, *, count: int) -> None:
        self.done += count
        self.old += count

    def standing(self, *, words: str) -> None:
        now = time.monotonic()
        if self.every > LINE_EVERY and now - self.last < self.every:
            return  # nobody asked for lines
        self.last = now
        self._say(f"{self.done} of {self.total} {self.unit}: {words}")

    def _say(self, line: str) -> None:
        self.stream.write(f"bestofk: {printable(' '.join(line.split()))}\n")
        self.stream.flush()


class Bar(_Estimated):
    """A live bar with the learner and data set at work, the rate, time left and failures."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress as RichProgress,
            TextColumn,
        )
        from rich.text import Text

        class WithStanding(RichProgress):
            """A bar with a line of its own for who is out of a race, and what is open."""

            def get_renderables(self) -> Iterable[RenderableType]:
                yield from super().get_renderables()
                for task in self.tasks:
                    if task.fields["standing"]:
                        yield Text(task.fields["standing"])

        self.failed = 0
        self.bar = WithStanding(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[failures]}"),
            TextColumn("{task.description}", markup=False),
            console=Console(file=stream),
            transient=True,
            refresh_per_second=5,
        )
        self.task: Any = None

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.begin, self.done, self.unit = time.monotonic(), 0, unit
        self.bar.start()
        self.task = self.bar.add_task(
            STARTING, total=total, completed=done, rate="", failures="", left="", standing=""
        )

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        spent = now - self.begin
        self.bar.update(
            self.task,
            advance=1,
            description=printable(label),
            rate=f"{_rate(self.done / spent)} {self.unit}/s" if spent > 0 else "",
            failures=f"{self.failed} failed" if self.failed else "",
            left=self.left(now),
        )

    def waiting(self, *, count: int) -> None:
        self.bar.update(self.task, description=waiting_words(count, self.unit))

    def found(self, *, count: int) -> None:
        self.bar.update(self.task, advance=count)

    def standing(self, *, words: str) -> None:
        self.bar.update(self.task, standing=printable(words))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.bar.stop()


def waiting_words(count: int, unit: str) -> str:
    """That other processes do what is left."""
    return f"waiting for another process that works on {count} {unit}"


class NotebookBar(_Estimated):
    """The same in a notebook: one line of HTML that is renewed in its place."""

    def __init__(self, display: Any = None) -> None:
        if display is None:
            from IPython import display as notebook

            display = notebook.display
        self.display = display
        self.handle: Any = None
        self.total = self.done = self.failed = self.old = 0
        self.unit, self.shown = "fits", 0.0

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:
        self.total, self.done, self.old, self.unit = total, done, done, unit
        self.begin = time.monotonic()
        self._show(STARTING)

    def item(self, *, label: str, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.shown < SHOWN_EVERY:
            return
        self.shown = now
        self._show(", ".join(part for part in (self.left(now), self._failures(), label) if part))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        took = f"in {_wait(time.monotonic() - self.begin)}"
        self._show(", ".join(part for part in (took, self._failures()) if part))

    def found(self, *, count: int) -> None:
        self.done += count

    def standing(self, *, words: str) -> None:
        self._show(words)

    def _failures(self) -> str:
        return f"{self.failed} failed" if self.failed else ""

    def _show(self, words: str) -> None:
        from html import escape

        state = (
            f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress> '
            f"{self.done} of {self.total} {self.unit} {escape(printable(words))}"
        )
        shown = {"text/html": state, "text/plain": f"{self.done} of {self.total} {self.unit}"}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def observer(progress: bool | str | Progress, stream: TextIO | None = None) -> Progress:
    """A bar on a terminal or in a notebook, lines elsewhere, or nothing.

    Lines come every half minute where nobody asked for them, and with ``"log"`` every ten seconds.
    """
    stream = sys.stderr if stream is None else stream
    if isinstance(progress, Progress):
        return progress
    if progress == "log":
        return Lines(stream)
    if not progress:
        return Progress()
    if in_notebook():
        return NotebookBar()
    return Bar(stream) if stream.isatty() else Lines(stream, PIPE_LINE_EVERY)


def _rate(each_second: float) -> str:
    """``1,254``, ``12.3`` or ``0.0123``."""
    return f"{each_second:,.0f}" if each_second >= 100 else f"{each_second:.3g}"
