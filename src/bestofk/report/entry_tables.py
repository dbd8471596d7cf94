"""What is registered, as Markdown tables for the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bestofk.checks import one_of

Columns = dict[str, Callable[[Any], str]]


class MarkdownTable(str):
    """Markdown that a notebook shows as what it stands for."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def entry_table(kind: str) -> MarkdownTable:
    """All entries of a registry, one row each.

    Parameters
    ----------
    kind : {"pairwise", "multiple", "procedures", "plans", "learners", "corrections"}

    Returns
    -------
    MarkdownTable
        A table in Markdown, with the entries of other packages that are installed.

    Examples
    --------
    >>> [line for line in entry_table("pairwise").splitlines() if "| mcnemar" in line][0][:60]
    '| mcnemar | mcnemar | test-set | two-sided, greater, less | '
    """
    one_of(kind, "kind", tuple(_COLUMNS))
    columns = _COLUMNS[kind]
    lines = [_line(columns), _line("---" for _ in columns)]
    lines += [
        _line(column(entry) for column in columns.values()) for entry in _registry(kind).values()
    ]
    return MarkdownTable("\n".join(lines) + "\n")


def _registry(kind: str) -> Any:
    from bestofk.adjust import CORRECTIONS
    from bestofk.learners.registry import LEARNERS
    from bestofk.multiple.registry import MULTIPLE_TESTS
    from bestofk.ordering.registry import PROCEDURES
    from bestofk.pairwise.registry import PAIRWISE_TESTS
    from bestofk.plans.registry import PLANS

    return {
        "pairwise": PAIRWISE_TESTS,
        "multiple": MULTIPLE_TESTS,
        "procedures": PROCEDURES,
        "plans": PLANS,
        "learners": LEARNERS,
        "corrections": CORRECTIONS,
    }[kind]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _assumptions(entry: Any) -> str:
    words = {
        "test": entry.name,
        "n": "n",
        "units": "data sets or instances",
        "design": "as designed",
        "subsets": " on parts of the rows",
        "df": "df",
    }
    claims = (one.claim.format(**words) for one in entry.assumptions)
    return " ".join(dict.fromkeys(claims)) or "not stated"


def _automatic(entry: Any) -> str:
    return ", ".join(
        f"{one.situation}{' (fallback)' if one.fallback else ''}" for one in entry.automatic
    )


_NAMES: Columns = {"name": lambda e: e.name, "family": lambda e: e.family}
_TEST: Columns = {
    **_NAMES,
    "covers": lambda e: ", ".join(e.covers),
    "sides": lambda e: ", ".join(e.sides),
    "assumes": _assumptions,
    "interval": lambda e: e.interval or "none",
    "speed": lambda e: e.speed,
}
_PAPER: Columns = {"source": lambda e: e.paper}
_COLUMNS: dict[str, Columns] = {
    "pairwise": {**_TEST, "automatic for": _automatic, **_PAPER},
    "multiple": {**_TEST, **_PAPER},
    "procedures": {**_NAMES, "what it does": lambda e: e.summary, **_PAPER},
    "plans": {
        "name": lambda e: e.name,
        "written": lambda e: f"`{e.pattern}`",
        "what it does": lambda e: e.summary,
        **_PAPER,
    },
    "learners": {"name": lambda e: e.name, "what it is": lambda e: e.summary, **_PAPER},
    "corrections": {**_NAMES, "holds": lambda e: e.guarantee or "nothing", **_PAPER},
}
