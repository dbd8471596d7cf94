"""Our values next to the published ones, cell by cell, with what chance allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.wording import shortened

Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell in words, for all forms of output."""

    ours: str
    printed: str
    difference: str
    within: bool | None
    """None where nothing is printed, nothing was obtained, or the two are not judged."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedNumbers:
    """Numbers obtained again, next to the published ones.

    Parameters
    ----------
    table : str
        Name of the table, for a heading.
    rows, columns : tuple of str
        Their names.
    ours, printed : array (rows, columns)
        NaN where there is none.
    allowed : array (rows, columns)
        The difference that chance (in ours and in the print) and rounding allow.
    digits : int
        Digits after the point.
    unit : str
        What the numbers are, for the sentence: ``"points"``.
    target : float, optional
        A difference below which two figures are taken as the same for the purpose, whatever
        chance allows.
    corner : str
        Heading of the column of row names.
    note : str
        What the reader must know to read the table.

    Examples
    --------
    >>> table = ComparedNumbers(table="Table 1", rows=("iris", "wine"), columns=("NN",),
    ...     ours=np.array([[6.4], [5.9]]), printed=np.array([[6.51], [5.4]]),
    ...     allowed=np.array([[0.3], [0.3]]), digits=2, target=1.0)
    >>> print(table.summary())
    Table 1: 1 of 2 within what chance and rounding allow, 2 of 2 within 1 point; the largest
    difference is 0.50 (wine, NN).
    >>> table.within.tolist()
    [[True], [False]]
    """

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    ours: Floats
    printed: Floats
    allowed: Floats
    digits: int = 2
    unit: str = "point"
    target: float | None = None
    corner: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        shape = len(self.rows), len(self.columns)
        for name in ("ours", "printed", "allowed"):
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if array.shape != shape:
                raise ArgumentError(
                    f"{name} must have the shape {shape} of rows and columns; got {array.shape}."
                )
            object.__setattr__(self, name, array)

    @property
    def difference(self) -> Floats:
        """Ours minus printed."""
        return self.ours - self.printed

    @property
    def compared(self) -> Flags:
        """Where there is something on both sides."""
        return np.isfinite(self.ours) & np.isfinite(self.printed)

    @property
    def within(self) -> Flags:
        """Where the difference is not above what chance and rounding allow."""
        # one part in 10^9 for the decimal fractions of the print
        return self.compared & (np.abs(self.difference) <= self.allowed * (1 + 1e-9) + 1e-9)

    def within_target(self) -> Flags:
        """Where the difference is not above the target."""
        if self.target is None:
            raise ArgumentError(f"{self.table} has no target.")
        return self.compared & (np.abs(self.difference) <= self.target + 1e-9)

    def summary(self) -> str:
        """One sentence: how many cells agree, and the largest difference."""
        total = int(self.compared.sum())
        if not total:
            return f"{self.table}: there is nothing to compare."
        words = f"{int(self.within.sum())} of {total} within what chance and rounding allow"
        if self.target is not None:
            plural = "" if self.target == 1 else "s"
            close = int(self.within_target().sum())
            words += f", {close} of {total} within {self.target:g} {self.unit}{plural}"
        size = np.where(self.compared, np.abs(self.difference), -1.0)
        row, column = np.unravel_index(int(np.argmax(size)), size.shape)
        at = ", ".join(word for word in (self.rows[int(row)], self.columns[int(column)]) if word)
        largest = f"{size[row, column]:.{self.digits}f}"
        return f"{self.table}: {words}; the largest difference is {largest} ({at})."

    def cell(self, row: int, column: int) -> Cell:
        """One cell in words."""
        ours, printed = float(self.ours[row, column]), float(self.printed[row, column])
        held = bool(self.compared[row, column])
        return Cell(
            ours=_shown(ours, self.digits),
            printed=_shown(printed, self.digits),
            difference=f"{ours - printed:+.{self.digits}f}" if held else "",
            within=bool(self.within[row, column]) if held else None,
        )

    def to_markdown(self) -> str:
        """The table for the docs."""
        from bestofk.papers.render import markdown_table

        return markdown_table(self)

    def to_html(self) -> str:
        """The table as a piece of HTML."""
        from bestofk.papers.render import html_table

        return html_table(self)

    def to_text(self, width: int = 100) -> str:
        """The table for a terminal."""
        from bestofk.papers.render import text_table

        return text_table(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON: null where there is no number, or nothing to compare."""
        return {
            "table": self.table,
            "rows": list(self.rows),
            "columns": list(self.columns),
            **{name: _plain(getattr(self, name)) for name in ("ours", "printed", "allowed")},
            "difference": _plain(self.difference),
            "within": _verdicts(self),
            "target": self.target,
            "summary": self.summary(),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedWords:
    """Words (names of what was chosen) obtained again, next to the published ones.

    `agrees` says which cells agree, or may differ for a reason that `note` gives; `judged` says
    which cells are compared at all (None: every one). Where nothing is judged there is nothing to
    agree: such cells are shown, and counted on neither side.

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

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    ours: Words
    printed: Words
    agrees: Flags
    judged: Flags | None = None
    corner: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        shape = len(self.rows), len(self.columns)
        for name in ("ours", "printed", "agrees", "judged"):
            array = getattr(self, name)
            if array is not None and np.shape(array) != shape:
                raise ArgumentError(
                    f"{name} must have the shape {shape} of rows and columns; "
                    f"got {np.shape(array)}."
                )

    @property
    def compared(self) -> Flags:
        """Where there is something on both sides, and it is judged."""
        both = np.asarray((self.ours != "") & (self.printed != ""), dtype=bool)
        return both if self.judged is None else both & self.judged

    @property
    def within(self) -> Flags:
        """Where the two are compared and agree."""
        return self.compared & self.agrees

    def summary(self) -> str:
        """One sentence: how many cells agree, and which do not."""
        if not self.compared.any():
            return f"{self.table}: there is nothing to compare."
        words = f"{self.table}: {int(self.within.sum())} of {int(self.compared.sum())} agree"
        rows, columns = np.nonzero(self.compared & ~self.within)
        missed = [
            f"{self.rows[row]} ({self.columns[column]})"
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
        return f"{words}; not {shortened(missed)}." if missed else f"{words}."

    def cell(self, row: int, column: int) -> Cell:
        """One cell in words."""
        held = bool(self.compared[row, column])
        within = bool(self.within[row, column])
        return Cell(
            ours=str(self.ours[row, column]),
            printed=str(self.printed[row, column]),
            difference="" if within or not held else "differs",
            within=within if held else None,
        )

    def to_markdown(self) -> str:
        """The table for the docs."""
        from bestofk.papers.render import markdown_table

        return markdown_table(self)

    def to_html(self) -> str:
        """The table as a piece of HTML."""
        from bestofk.papers.render import html_table

        return html_table(self)

    def to_text(self, width: int = 100) -> str:
        """The table for a terminal."""
        from bestofk.papers.render import text_table

        return text_table(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON; `within` is null where nothing is compared."""
        return {
            "table": self.table,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "ours": self.ours.tolist(),
            "printed": self.printed.tolist(),
            "within": _verdicts(self),
            "summary": self.summary(),
            "note": self.note,
        }


def chance(
    ours_se: Floats | float,
    printed_se: Floats | float,
    rounding: Floats | float,
    *,
    width: float = 3.0,
) -> Floats:
    """What two estimates of the same number may differ by: `width` standard errors, and rounding.

    Examples
    --------
    >>> float(chance(0.3, 0.4, 0.005))
    1.505
    """
    return np.asarray(width * np.hypot(ours_se, printed_se) + rounding, dtype=np.float64)


def _verdicts(table: ComparedNumbers | ComparedWords) -> list[list[bool | None]]:
    return [
        [good if compared else None for compared, good in zip(*row, strict=True)]
        for row in zip(table.compared.tolist(), table.within.tolist(), strict=True)
    ]


def _shown(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else ""


def _plain(values: Floats) -> list[list[float | None]]:
    return [
        [float(value) if np.isfinite(value) else None for value in row] for row in values.tolist()
    ]
