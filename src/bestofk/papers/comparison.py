"""Compare recomputed tables with published ones, and present the result of a reproduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, shortened
from bestofk._base.results import Presented, json_ready
from bestofk.papers.printed_figures import PrintedTable

if TYPE_CHECKING:
    from bestofk.report.figures.picture import Picture
    from bestofk.report.figures.style import Paper
    from bestofk.run.progress import Progress

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
class ComparedTable:
    """A recomputed table of numbers or texts next to the published one.

    - `table`: Heading of the table.
    - `rows`, `columns`: Names of rows and columns.
    - `ours`, `printed`: The cells of both; NaN or an empty text if there is nothing.
    - `low`, `high`: Limits of our number if both sides measure the same: chance (in ours and in the
      print) and rounding. See `share_limits`, `mean_limits` and `rounding_limits`.
    - `agrees`: For texts: the cells that agree, or may differ for a reason given in `note`.
    - `judged`: The cells that are counted (None: all that can be).
    - `unjudged_because`: The reason why some cells are not judged, such as ``"2 draws are too
      few"``.
    - `corner`: Heading of the column of row names.
    - `note`: Explanation below the table.
    - `by_construction`: Why the table agrees whatever the method does; empty if it need not.
    - `level`: Probability that a number lies outside its limits by chance.
    - `digits`: Digits after the decimal point.
    - `unit`: Unit of the numbers in the summary, such as ``"point"``.
    - `target`: A difference up to which two figures count as equal in practice, whatever chance
      allows.

    Examples
    --------
    >>> table = ComparedTable(table="Table 1", rows=("iris", "wine"), columns=("NN",),
    ...     ours=np.array([[6.4], [5.9]]), printed=np.array([[6.51], [5.4]]),
    ...     low=np.array([[6.2], [5.1]]), high=np.array([[6.8], [5.7]]), target=1.0)
    >>> print(table.summary())
    Table 1: 1 of 2 within the limits of chance and rounding (tolerance 0.30 to 0.31), 2 of 2
    within 1 point; the largest difference is 0.50 (wine, NN).
    >>> table = ComparedTable(table="Table 2", rows=("iris", "vote"), columns=("MultiTest",),
    ...     ours=np.array([["NMC (87)"], ["LGC (51)"]], dtype=object),
    ...     printed=np.array([["NMC (88)"], ["NMC (53)"]], dtype=object),
    ...     agrees=np.array([[True], [False]]))
    >>> table.summary()
    'Table 2: 1 of 2 agree; not vote (MultiTest).'
    """

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    ours: npt.NDArray[Any]
    printed: npt.NDArray[Any]
    low: Floats = field(default_factory=lambda: np.array(np.nan))
    high: Floats = field(default_factory=lambda: np.array(np.nan))
    agrees: Flags | None = None
    judged: Flags | None = None
    unjudged_because: str = ""
    corner: str = ""
    note: str = ""
    by_construction: str = ""
    level: float = LEVEL
    digits: int = 2
    unit: str = "point"
    target: float | None = None

    @property
    def both(self) -> Flags:
        """Mark the cells that have something on both sides."""
        if self.agrees is None:
            return np.asarray(np.isfinite(self.ours) & np.isfinite(self.printed))
        return np.asarray((self.ours != "") & (self.printed != ""), dtype=bool)

    @property
    def compared(self) -> Flags:
        """Mark the judged cells that have something on both sides."""
        compared = self.both
        if self.agrees is None:
            compared = compared & np.isfinite(self.low) & np.isfinite(self.high)
        return compared if self.judged is None else compared & self.judged

    @property
    def within(self) -> Flags:
        """Mark the compared cells that agree, or whose difference chance and rounding allow."""
        if self.agrees is not None:
            return self.compared & self.agrees
        # 1e-9 for the decimal fractions of the print
        slack = 1e-9 * (1 + self.high - self.low)
        inside = (self.ours >= self.low - slack) & (self.ours <= self.high + slack)
        return self.compared & inside

    @property
    def verdict(self) -> Verdict:
        """Judge the table: do no more cells differ than chance explains?"""
        if not self.both.any():
            return "nothing printed"
        judged, allowed = int(self.compared.sum()), 0
        if 2 * judged < int(self.both.sum()):
            return "not judged"
        if self.agrees is None:
            from scipy.stats import binom

            allowed = int(binom.ppf(0.99, judged, self.level))
        if judged - int(self.within.sum()) > allowed:
            return "differs"
        return "by construction" if self.by_construction else "agrees"

    def summary(self) -> str:
        """State how many cells agree, and which differ, or differ most."""
        both, total = int(self.both.sum()), int(self.compared.sum())
        if not both:
            return f"{self.table}: ours only, nothing is printed."
        words, numeric = [], self.agrees is None
        because = f": {self.unjudged_because}" if self.unjudged_because else ""
        counts = f"not judged{because}"
        if total:
            how, tolerance = "agree", self._tolerance() if numeric else ""
            if tolerance:
                how = f"within the limits of chance and rounding (tolerance {tolerance})"
            counts = f"{int(self.within.sum())} of {total} {how}"
        if self.target is not None:
            close = self.both & (np.abs(self.ours - self.printed) <= self.target + 1e-9)
            plural = "" if self.target == 1 else "s"
            counts += f", {int(close.sum())} of {both} within {self.target:g} {self.unit}{plural}"
        words.append(counts)
        if 0 < total < both and (numeric or because):
            words.append(f"{both - total} not judged{because}")
        if numeric:
            size = np.where(self.both, np.abs(self.ours - self.printed), -1.0)
            row, column = (int(at) for at in np.unravel_index(int(np.argmax(size)), size.shape))
            cell = ", ".join(name for name in (self.rows[row], self.columns[column]) if name)
            if size[row, column] > 0:
                largest = f"{size[row, column]:.{self.digits}f}"
                words.append(f"the largest difference is {largest} ({cell})")
        elif differ := np.argwhere(self.compared & ~self.within).tolist():
            names = [f"{self.rows[row]} ({self.columns[column]})" for row, column in differ]
            words.append(f"not {shortened(names)}")
        return f"{self.table}: {'; '.join(words)}."

    def _tolerance(self) -> str:
        """Return the range of the larger distances between the print and the limits, if any."""
        size = np.maximum(self.high - self.printed, self.printed - self.low)[self.compared]
        if not size.any():
            return ""
        # one more digit than the numbers, because rounding alone allows half of their last digit
        texts = [f"{value:.{self.digits + (value < 10.0**-self.digits)}f}" for value in
                 (size.min(), size.max())]  # fmt: skip
        return texts[0] if texts[0] == texts[1] else " to ".join(texts)

    def _text(self, value: Any) -> str:
        if self.agrees is not None:
            return str(value)
        return f"{value:.{self.digits}f}" if np.isfinite(value) else ""

    def _cells(self) -> list[list[str]]:
        """Return ``ours / printed``, with a mark if they differ too much or are not judged."""
        within, compared = self.within, self.compared

        def cell(row: int, column: int) -> str:
            ours = self._text(self.ours[row, column])
            printed = self._text(self.printed[row, column])
            if not printed:
                return ours
            if not ours:
                return f"- / {printed}"
            mark = "" if within[row, column] else f" {_OUTSIDE}"
            return f"{ours} / {printed}{mark if compared[row, column] else f' {_NOT_JUDGED}'}"

        at = range(len(self.columns))
        return [[cell(row, column) for column in at] for row in range(len(self.rows))]

    def to_markdown(self) -> str:
        """Return heading, summary, table and note as Markdown."""
        cells = [[name, *cells] for name, cells in zip(self.rows, self._cells(), strict=True)]
        texts = [[self.corner, *self.columns], ["---", *("---:" for _ in self.columns)], *cells]
        lines = [
            "| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in texts
        ]
        note = ("", self.note) if self.note else ()
        return "\n".join([f"### {self.table}", "", self.summary(), "", *lines, *note]) + "\n"

    def to_text(self, width: int = 100) -> str:
        """Return the table as text for a terminal of that width."""
        import pandas as pd

        frame = pd.DataFrame(self._cells(), index=list(self.rows), columns=list(self.columns))
        frame.columns.name = self.corner
        note = (self.note,) if self.note else ()
        lines = [self.table, frame.to_string(line_width=width), self.summary(), *note]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return strict JSON; null if there is no number or nothing to compare."""
        within = self.within.astype(object)
        within[~self.compared] = None
        facts = {
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
        if self.agrees is None:
            facts |= {"low": json_ready(self.low), "high": json_ready(self.high)}
        return facts


def beside(
    printed: PrintedTable, ours: Floats, limits: tuple[Floats, Floats], **facts: Any
) -> ComparedTable:
    """Put our numbers beside those of a printed table, whose rows and columns they have."""
    names = {"rows": printed.rows, "columns": printed.columns}
    return ComparedTable(
        ours=ours, printed=printed.values, low=limits[0], high=limits[1], **{**names, **facts}
    )


def unprinted(ours: npt.NDArray[Any], **facts: Any) -> ComparedTable:
    """Show numbers or texts of which the paper prints nothing."""
    if ours.dtype == object:
        nothing = np.full(ours.shape, "", dtype=object)
        return ComparedTable(ours=ours, printed=nothing, agrees=ours == ours, **facts)
    return ComparedTable(ours=ours, printed=np.full(ours.shape, np.nan), **facts)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The settings of a reproduction.

    - `tables`: Names of tables (``"1"``, ``"fig3"``); empty for all.
    - `variant`: One of the reproduction's variants.
    - `runs`: Repetitions of the experiment.
    - `jobs`: Number of workers; -1 for one per core.
    - `engine`, `scheduler`: As for `compare`: ``"auto"``, ``"serial"``, ``"processes"`` or
      ``"dask"``, and the address of the cluster (whose workers need the data sets at the same
      paths).
    - `store`: The store of finished work (see `bestofk.run.store.store.open_store`).
    - `data`: Folder of the data sets; None for the environment variable BESTOFK_DATA.
    - `seed`: Fixes all random choices.
    - `progress`: As for `compare`.
    """

    tables: tuple[str, ...] = ()
    variant: str = ""
    runs: int = 1
    jobs: int = 1
    engine: str = "auto"
    scheduler: str | None = None
    store: str | None = None
    data: Path | None = None
    seed: int = 0
    progress: bool | str | Progress = False

    def wants(self, table: str) -> bool:
        """Return whether a table is requested."""
        return not self.tables or table in self.tables


@dataclass(slots=True, kw_only=True)
class ReproductionResult(Presented):
    """The tables, sentences and figures of a reproduction.

    `sentences` precede the tables. `details` contains numbers for JSON that no table shows.
    `figures` maps titles to SVG images: a wide one, and a narrow one for phones if it needs one.
    The registry adds `title`, `paper` and `explained`.
    """

    title: str = ""
    paper: str = ""
    tables: list[ComparedTable] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    explained: tuple[tuple[str | tuple[str, ...], str], ...] = ()
    """Pairs of the beginnings of tables' names and why they are known to differ."""

    def add(
        self,
        tables: Sequence[ComparedTable] = (),
        figures: Mapping[str, tuple[str, ...]] | None = None,
        sentences: Sequence[str] = (),
    ) -> None:
        """Add tables, figures and sentences."""
        self.tables += tables
        self.figures |= figures or {}
        self.sentences += sentences

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
