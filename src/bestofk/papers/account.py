"""What a reproduction is asked, and what it gives: tables next to the print, and sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from bestofk.papers.comparison import ComparedNumbers, ComparedWords
from bestofk.papers.render import legend
from bestofk.presenting import Presented, without_effect


def _silent(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to obtain again.

    Parameters
    ----------
    tables : tuple of str
        Names of tables (``"1"``, ``"fig3"``), none for all.
    variant : str
        Which of the reproduction's variants.
    runs : int or None
        How often the experiment is repeated; None for the default of the reproduction.
    jobs : int
        Workers; -1 for one per core.
    engine, scheduler : str
        As for `compare`: ``"auto"``, ``"serial"``, ``"processes"``, ``"dask"`` or ``"ray"``, and
        the address of the cluster (whose workers need the data sets at the same paths).
    store : str or None
        Where finished work is kept (see `bestofk.run.store.store.open_store`).
    data : Path or None
        Folder of the data sets; None: the environment variable BESTOFK_DATA.
    seed : int
        Fixes all random choices.
    say : callable
        Takes lines that tell how far the work is.
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
        """Whether a table is asked for."""
        return not self.tables or table in self.tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(Presented):
    """What came of a reproduction.

    `sentences` stand before the tables; `details` holds figures for JSON that no table shows;
    `figures` maps titles to pictures as SVG.
    """

    title: str
    paper: str
    tables: tuple[ComparedNumbers | ComparedWords, ...]
    sentences: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)

    def _columns(self) -> dict[str, Any]:
        """One row per table."""
        return {
            "table": [table.table for table in self.tables],
            "summary": [table.summary() for table in self.tables],
        }

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The sentences, then one for each table; `names` and `alpha` have no effect."""
        without_effect(names, alpha)
        return "\n".join((*self.sentences, *(table.summary() for table in self.tables)))

    def to_text(self, width: int = 100) -> str:
        """All of it for a terminal."""
        parts = [self.title, *self.sentences, legend(), ""]
        return "\n".join([*parts, *(table.to_text(width) for table in self.tables)])

    def to_markdown(self) -> str:
        """All of it for the docs."""
        parts = [f"## {self.title}", "", self.paper, ""]
        for sentence in (*self.sentences, legend()):
            parts += [sentence, ""]
        return "\n".join([*parts, *(table.to_markdown() for table in self.tables)])

    def to_html(self) -> str:
        """All of it as one page."""
        said = "".join(f"<p>{escape(line)}</p>" for line in (*self.sentences, legend()))
        tables = "".join(table.to_html() for table in self.tables)
        pictures = "".join(
            f"<section><h3>{escape(title)}</h3>{svg}</section>"
            for title, svg in self.figures.items()
        )
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head><body>"
            f"<h2>{escape(self.title)}</h2><p>{escape(self.paper)}</p>{said}{tables}"
            f"{pictures}</body></html>\n"
        )

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        from bestofk.version import __version__

        return {
            "title": self.title,
            "paper": self.paper,
            "sentences": list(self.sentences),
            "tables": [table.to_dict() for table in self.tables],
            "details": self.details,
            "version": __version__,
        }


_STYLE = (
    "body{font-family:sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd}"
    "tbody th{text-align:left;font-weight:normal}"
    "td.outside{background:#fde2cf;font-weight:bold}"
)
