"""Compare recomputed tables with published ones, and present the result of a reproduction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, shortened
from bestofk._base.results import Presented, json_ready
from bestofk.papers.printed_figures import PrintedTable

if TYPE_CHECKING:
    from bestofk.report.figures.picture import Picture
    from bestofk.report.figures.style import Paper

Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.object_]
Verdict = Literal["agrees", "by construction", "differs", "not judged", "nothing printed"]
LEVEL = 0.0027
"""Probability that a number lies outside its limits by chance: that of three standard errors."""
_OUTSIDE = "!"
"""Marks a cell that differs by more than chance and rounding allow."""
_NOT_JUDGED = "?"
"""Marks a cell that is shown but not judged."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedTable(ABC):
    """A recomputed table next to the published one.

    - `table`: Heading of the table.
    - `rows`, `columns`: Names of rows and columns.
    - `ours`, `printed`: The cells of both.
    - `judged`: The cells that are counted (None: all that can be).
    - `unjudged_because`: The reason why some cells are not judged, such as ``"2 draws are too
      few"``.
    - `corner`: Heading of the column of row names.
    - `note`: Explanation below the table.
    - `by_construction`: Why the table agrees whatever the method does; empty if it need not.
    """

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    ours: npt.NDArray[Any]
    printed: npt.NDArray[Any]
    judged: Flags | None = None
    unjudged_because: str = ""
    corner: str = ""
    note: str = ""
    by_construction: str = ""

    @property
    @abstractmethod
    def both(self) -> Flags:
        """Mark the cells that have something on both sides."""

    @property
    def compared(self) -> Flags:
        """Mark the judged cells that have something on both sides."""
        return self.both if self.judged is None else self.both & self.judged

    @property
    @abstractmethod
    def within(self) -> Flags:
        """Mark the compared cells that agree."""

    @abstractmethod
    def summary(self) -> str:
        """State how many cells agree, and which differ most."""

    @abstractmethod
    def texts(self, row: int, column: int) -> tuple[str, str]:
        """Return our cell and the printed one as text; empty if there is nothing."""

    @property
    def verdict(self) -> Verdict:
        """Judge the table: few enough cells that differ?"""
        if not self.both.any():
            return "nothing printed"
        judged = int(self.compared.sum())
        if 2 * judged < int(self.both.sum()):
            return "not judged"
        differ = judged - int(self.within.sum())
        if differ > self._differ_by_chance(judged):
            return "differs"
        return "by construction" if self.by_construction else "agrees"

    def _differ_by_chance(self, judged: int) -> int:  # noqa: ARG002
        """Return how many of the judged cells may differ in a table that agrees."""
        return 0

    @property
    def _because(self) -> str:
        return f": {self.unjudged_because}" if self.unjudged_because else ""

    def _cell(self, row: int, column: int) -> str:
        """Return ``ours / printed``, with a mark if they differ too much or are not judged."""
        ours, printed = self.texts(row, column)
        if not printed:
            return ours
        if not ours:
            return f"- / {printed}"
        mark = "" if self.within[row, column] else f" {_OUTSIDE}"
        return f"{ours} / {printed}{mark if self.compared[row, column] else f' {_NOT_JUDGED}'}"

    def _lines(self) -> Iterator[list[str]]:
        """Yield the name and the cells of every row."""
        for row, name in enumerate(self.rows):
            yield [name, *(self._cell(row, column) for column in range(len(self.columns)))]

    def to_markdown(self) -> str:
        """Return heading, summary, table and note as Markdown."""

        def line(texts: Iterable[str]) -> str:
            return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"

        lines = [f"### {self.table}", "", self.summary(), ""]
        lines += [line([self.corner, *self.columns])]
        lines += [line(["---", *("---:" for _ in self.columns)])]
        lines += map(line, self._lines())
        return "\n".join([*lines, *(("", self.note) if self.note else ())]) + "\n"

    def to_text(self, width: int = 100) -> str:
        """Return the table as text for a terminal of that width, without colours."""
        from rich.console import Console
        from rich.table import Table

        shown = Table(box=None, pad_edge=False)
        shown.add_column(self.corner, no_wrap=True)
        for column in self.columns:
            shown.add_column(column, justify="right")
        for cells in self._lines():
            shown.add_row(*cells)
        console = Console(
            width=width, color_system=None, markup=False, highlight=False, emoji=False
        )
        with console.capture() as caught:
            console.print(shown)
        lines = [line.rstrip() for line in caught.get().splitlines()]
        note = f"\n{self.note}" if self.note else ""
        return "\n".join([self.table, *lines]) + f"\n{self.summary()}{note}\n"

    def to_dict(self) -> dict[str, Any]:
        """Return strict JSON; null if there is no number or nothing to compare."""
        within = self.within.astype(object)
        within[~self.compared] = None
        return {
            "table": self.table,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "ours": json_ready(self.ours),
            "printed": json_ready(self.printed),
            "within": within.tolist(),
            "verdict": self.verdict,
            "summary": self.summary(),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedNumbers(ComparedTable):
    """Recomputed numbers next to the published ones; NaN if there is no number.

    - `low`, `high`: Limits of our number if both sides measure the same: chance (in ours and in the
      print) and rounding. See `share_limits`, `mean_limits` and `rounding_limits`.
    - `level`: Probability that a cell lies outside its limits by chance.
    - `digits`: Digits after the decimal point.
    - `unit`: Unit of the numbers in the summary, such as ``"point"``.
    - `target`: A difference up to which two figures count as equal in practice, whatever chance
      allows.

    Examples
    --------
    >>> table = ComparedNumbers(table="Table 1", rows=("iris", "wine"), columns=("NN",),
    ...     ours=np.array([[6.4], [5.9]]), printed=np.array([[6.51], [5.4]]),
    ...     low=np.array([[6.2], [5.1]]), high=np.array([[6.8], [5.7]]), digits=2, target=1.0)
    >>> print(table.summary())
    Table 1: 1 of 2 within the limits of chance and rounding (tolerance 0.30 to 0.31), 2 of 2
    within 1 point; the largest difference is 0.50 (wine, NN).
    >>> table.within.tolist()
    [[True], [False]]
    """

    ours: Floats
    printed: Floats
    low: Floats
    high: Floats
    level: float = LEVEL
    digits: int = 2
    unit: str = "point"
    target: float | None = None

    @property
    def difference(self) -> Floats:
        """Our numbers minus the printed ones."""
        return self.ours - self.printed

    @property
    def both(self) -> Flags:
        """Mark the cells with a number on both sides."""
        return np.isfinite(self.ours) & np.isfinite(self.printed)

    @property
    def compared(self) -> Flags:
        """Mark the judged cells with a number on both sides."""
        limited = self.both & np.isfinite(self.low) & np.isfinite(self.high)
        return limited if self.judged is None else limited & self.judged

    @property
    def within(self) -> Flags:
        """Mark the cells whose difference chance and rounding allow."""
        # 1e-9 for the decimal fractions of the print
        slack = 1e-9 * (1 + self.high - self.low)
        inside = (self.ours >= self.low - slack) & (self.ours <= self.high + slack)
        return self.compared & inside

    def within_target(self) -> Flags:
        """Mark the cells whose difference is within the target."""
        if self.target is None:
            raise ArgumentError(f"{self.table} has no target.")
        return self.both & (np.abs(self.difference) <= self.target + 1e-9)

    def _differ_by_chance(self, judged: int) -> int:
        from scipy.stats import binom

        return int(binom.ppf(0.99, judged, self.level))

    def summary(self) -> str:
        """State how many cells agree, the tolerance, and the largest difference."""
        both, total = int(self.both.sum()), int(self.compared.sum())
        if not both:
            return f"{self.table}: there is nothing to compare."
        if total:
            counts = (
                f"{int(self.within.sum())} of {total} within the limits of chance and rounding "
                f"(tolerance {self._tolerance()})"
            )
        else:
            counts = f"not judged{self._because}"
        if self.target is not None:
            plural = "" if self.target == 1 else "s"
            close = int(self.within_target().sum())
            counts += f", {close} of {both} within {self.target:g} {self.unit}{plural}"
        if 0 < total < both:
            counts += f"; {both - total} not judged{self._because}"
        size = np.where(self.both, np.abs(self.difference), -1.0)
        row, column = np.unravel_index(int(np.argmax(size)), size.shape)
        cell = ", ".join(name for name in (self.rows[int(row)], self.columns[int(column)]) if name)
        largest = f"{size[row, column]:.{self.digits}f}"
        return f"{self.table}: {counts}; the largest difference is {largest} ({cell})."

    def _tolerance(self) -> str:
        """Return the range of the larger distances between the print and the limits."""
        size = np.maximum(self.high - self.printed, self.printed - self.low)[self.compared]
        # one more digit than the numbers, because rounding alone allows half of their last digit
        texts = [f"{value:.{self.digits + (value < 10.0**-self.digits)}f}" for value in
                 (size.min(), size.max())]  # fmt: skip
        return texts[0] if texts[0] == texts[1] else " to ".join(texts)

    def texts(self, row: int, column: int) -> tuple[str, str]:
        """Return our number and the printed one as text."""
        ours, printed = (
            f"{value:.{self.digits}f}" if np.isfinite(value) else ""
            for value in (self.ours[row, column], self.printed[row, column])
        )
        return ours, printed

    def to_dict(self) -> dict[str, Any]:
        """Return strict JSON; null if there is no number or nothing to compare."""
        added = {name: json_ready(getattr(self, name)) for name in ("low", "high", "difference")}
        return {**super(ComparedNumbers, self).to_dict(), **added, "target": self.target}


def beside(
    printed: PrintedTable, ours: Floats, limits: tuple[Floats, Floats], **facts: Any
) -> ComparedNumbers:
    """Put our numbers beside those of a printed table, whose rows and columns they have."""
    names = {"rows": printed.rows, "columns": printed.columns}
    return ComparedNumbers(
        ours=ours, printed=printed.values, low=limits[0], high=limits[1], **{**names, **facts}
    )


def unprinted(ours: Floats, **facts: Any) -> ComparedNumbers:
    """Show numbers of which the paper prints nothing."""
    nothing: Floats = np.full(ours.shape, np.nan)
    return ComparedNumbers(ours=ours, printed=nothing, low=nothing, high=nothing, **facts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedWords(ComparedTable):
    """Recomputed texts (such as chosen learners) next to the published ones.

    `agrees` marks the cells that agree, or may differ for a reason given in `note`. Cells that are
    not judged are shown but not counted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> table = ComparedWords(table="Table 2", rows=("iris", "vote"), columns=("MultiTest",),
    ...     ours=np.array([["NMC (87)"], ["LGC (51)"]], dtype=object),
    ...     printed=np.array([["NMC (88)"], ["NMC (53)"]], dtype=object),
    ...     agrees=np.array([[True], [False]]))
    >>> table.summary()
    'Table 2: 1 of 2 agree; not vote (MultiTest).'
    >>> replace(table, judged=np.array([[True], [False]])).summary()
    'Table 2: 1 of 1 agree.'
    """

    ours: Words
    printed: Words
    agrees: Flags

    @property
    def both(self) -> Flags:
        """Mark the cells with a text on both sides."""
        return np.asarray((self.ours != "") & (self.printed != ""), dtype=bool)

    @property
    def within(self) -> Flags:
        """Mark the compared cells that agree."""
        return self.compared & self.agrees

    def summary(self) -> str:
        """State how many cells agree, and which do not."""
        if not self.both.any():
            return f"{self.table}: there is nothing to compare."
        if not self.compared.any():
            return f"{self.table}: not judged{self._because}."
        counts = f"{self.table}: {int(self.within.sum())} of {int(self.compared.sum())} agree"
        if self.unjudged_because and (unjudged := int((self.both & ~self.compared).sum())):
            counts += f"; {unjudged} not judged{self._because}"
        different = [
            f"{self.rows[row]} ({self.columns[column]})"
            for row, column in np.argwhere(self.compared & ~self.within).tolist()
        ]
        return f"{counts}; not {shortened(different)}." if different else f"{counts}."

    def texts(self, row: int, column: int) -> tuple[str, str]:
        """Return our text and the printed one."""
        return str(self.ours[row, column]), str(self.printed[row, column])


def legend() -> str:
    """Explain the cells."""
    return (
        f"Each cell: ours / printed. {_OUTSIDE} marks a difference beyond the limits of chance and "
        f"rounding, {_NOT_JUDGED} a cell that is not judged."
    )


# Limits of our numbers, given the printed ones


def rounding_limits(printed: Floats, rounding: Floats | float) -> tuple[Floats, Floats]:
    """Return the limits of a number without chance, such as a value of a formula."""
    return printed - rounding, printed + rounding


def share_limits(
    printed: Floats,
    *,
    runs: int,
    printed_runs: int,
    rounding: Floats | float = 0.0,
    scale: float = 100.0,
    level: float = LEVEL,
) -> tuple[Floats, Floats]:
    """Return exact limits of our share of `runs`, given a printed share of `printed_runs`.

    Both shares times `scale` are counts of independent runs. The limits hold the counts of ours
    that Fisher's exact test (Fisher 1934; twice the smaller tail) does not reject at `level`. The
    printed count may be any that rounds to the printed share.

    Examples
    --------
    >>> low, high = share_limits(np.array([0.0, 5.0]), runs=100, printed_runs=1000, level=0.05)
    >>> low.tolist(), high.tolist()
    ([0.0, 1.0], [1.0, 10.0])
    """
    from scipy.stats import hypergeom

    known = np.isfinite(printed)
    share = np.where(known, printed, 0.0)
    least = np.ceil(np.clip((share - rounding) / scale, 0, 1) * printed_runs - 1e-6)
    most = np.floor(np.clip((share + rounding) / scale, 0, 1) * printed_runs + 1e-6)
    total = runs + printed_runs

    def lowest(count: Floats) -> Floats:
        """Return the smallest count of ours that is not significantly below a printed count."""
        below = np.full(count.shape, -1.0)  # rejected
        above = np.full(count.shape, float(runs))  # not rejected
        while (above - below > 1).any():
            middle = np.floor((below + above) / 2)
            tail = hypergeom.cdf(middle, total, middle + count, runs)
            active = above - below > 1
            accepted = tail > level / 2
            above = np.where(active & accepted, middle, above)
            below = np.where(active & ~accepted, middle, below)
        return above

    low, high = lowest(least), runs - lowest(printed_runs - most)
    return (
        np.where(known, low / runs * scale, np.nan),
        np.where(known, high / runs * scale, np.nan),
    )


def mean_limits(
    printed: Floats,
    spread: Floats,
    *,
    runs: int,
    printed_runs: int,
    rounding: Floats | float = 0.0,
    level: float = LEVEL,
) -> tuple[Floats, Floats]:
    """Return t limits of our mean of `runs`, given a printed mean of `printed_runs`.

    `spread` is the standard deviation between our runs. With one run the limits are infinite.

    Examples
    --------
    >>> low, high = mean_limits(np.array([10.0]), np.array([1.0]), runs=10, printed_runs=1,
    ...     level=0.05)
    >>> low.round(3).item(), high.round(3).item()
    (7.627, 12.373)
    """
    from scipy.stats import t

    if runs < 2:
        return np.full(printed.shape, -np.inf), np.full(printed.shape, np.inf)
    quantile = float(t.isf(level / 2, runs - 1))
    allowed = quantile * spread * np.sqrt(1 / runs + 1 / printed_runs) + rounding
    return printed - allowed, printed + allowed


# Requests and results


def _silent(line: str) -> None:
    """Ignore a progress line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The settings of a reproduction.

    - `tables`: Names of tables (``"1"``, ``"fig3"``); empty for all.
    - `variant`: One of the reproduction's variants.
    - `runs`: Repetitions of the experiment; None for the default of the reproduction.
    - `jobs`: Number of workers; -1 for one per core.
    - `engine`, `scheduler`: As for `compare`: ``"auto"``, ``"serial"``, ``"processes"`` or
      ``"dask"``, and the address of the cluster (whose workers need the data sets at the same
      paths).
    - `store`: The store of finished work (see `bestofk.run.store.store.open_store`).
    - `data`: Folder of the data sets; None for the environment variable BESTOFK_DATA.
    - `seed`: Fixes all random choices.
    - `say`: Called with progress lines.
    """

    tables: tuple[str, ...] = ()
    variant: str = ""
    runs: int | None = None
    jobs: int = 1
    engine: str = "auto"
    scheduler: str | None = None
    store: str | None = None
    data: Path | None = None
    seed: int = 0
    say: Callable[[str], None] = _silent

    def wants(self, table: str) -> bool:
        """Return whether a table is requested."""
        return not self.tables or table in self.tables


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionResult(Presented):
    """The tables, sentences and figures of a reproduction.

    `sentences` precede the tables. `details` contains numbers for JSON that no table shows.
    `figures` maps titles to SVG images: a wide one, and a narrow one for phones if it needs one.
    """

    title: str
    paper: str
    tables: tuple[ComparedTable, ...]
    sentences: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    explained: tuple[tuple[str | tuple[str, ...], str], ...] = ()
    """Pairs of the beginnings of tables' names and why they are known to differ."""

    def verdict(self) -> str:
        """State in how many tables of the paper ours agree, which differ and why.

        A printed table counts once, and agrees if none of its parts differs. Tables that agree by
        construction do not count.
        """
        by_name: dict[str, dict[Verdict, list[str]]] = {}
        for table in self.tables:
            name = table.table.partition(":")[0]
            parts = by_name.setdefault(name.partition(",")[0], {})
            parts.setdefault(table.verdict, []).append(name)
        differ = {name: parts["differs"] for name, parts in by_name.items() if "differs" in parts}
        agree = [
            name for name, parts in by_name.items() if "agrees" in parts and name not in differ
        ]
        made = [f"{table.table.partition(':')[0].partition(',')[0]} ({table.by_construction})"
                for table in self.tables if table.verdict == "by construction"]  # fmt: skip
        unjudged = [name for parts in by_name.values() for name in parts.get("not judged", [])]
        if differ:
            words = [f"Verdict: {len(agree)} of {len(agree) + len(differ)} judged tables agree."]
        elif agree:
            words = [f"Verdict: agrees in {counted(len(agree), 'judged table')}."]
        elif made:
            words = ["Verdict: no table was judged."]
        else:
            sentence = "Verdict: not judged" + (" (too few runs)" if unjudged else "")
            return f"{sentence}; no table of this size can agree or differ."
        for name, different in differ.items():
            reasons = dict.fromkeys(self._reason(part) for part in different)
            words.append(f"{name} differs: {'; '.join(reasons)}.")
        if made:
            words.append(f"Agrees by construction: {'; '.join(made)}.")
        if unjudged:
            words.append(f"Not judged: {'; '.join(unjudged)}.")
        return " ".join(words)

    def _reason(self, name: str) -> str:
        """Return why a table is known to differ."""
        reasons = (why for start, why in self.explained if name.startswith(start))
        return next(reasons, "unexplained")

    def _columns(self) -> dict[str, Any]:
        """Return one row per table."""
        return {
            "table": [table.table for table in self.tables],
            "verdict": [table.verdict for table in self.tables],
            "summary": [table.summary() for table in self.tables],
        }

    def explain(self) -> str:
        """Return the sentences, the table summaries and the verdict."""
        summaries = (table.summary() for table in self.tables)
        return "\n".join((*self.sentences, *summaries, self.verdict()))

    def to_text(self, width: int = 100) -> str:
        """Return everything as text for a terminal."""
        parts = [self.title, *self.sentences, legend(), ""]
        tables = [table.to_text(width) for table in self.tables]
        return "\n".join([*parts, *tables, self.verdict()])

    def to_markdown(self) -> str:
        """Return everything as Markdown."""
        parts = [f"## {self.title}", "", self.paper, ""]
        for sentence in (*self.sentences, self.verdict(), legend()):
            parts += [sentence, ""]
        return "\n".join([*parts, *(table.to_markdown() for table in self.tables)])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as strict JSON."""
        from bestofk.version import __version__

        return {
            "title": self.title,
            "paper": self.paper,
            "sentences": list(self.sentences),
            "verdict": self.verdict(),
            "tables": [table.to_dict() for table in self.tables],
            "details": self.details,
            "version": __version__,
        }


def figure_variants(layout: Callable[[Paper], Picture]) -> tuple[str, ...]:
    """Return a figure as SVG, and again for phones if it is wider than a phone."""
    from bestofk.report.page_figures import variants_of

    return tuple(str(svg) for svg, _ in variants_of(layout))
