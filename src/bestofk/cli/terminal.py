"""A decision on a terminal: sentences, a table, and a small picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bestofk.pairwise.sentences import pvalue_words

if TYPE_CHECKING:
    from rich.console import Console

    from bestofk.ordering import Order

WIDTH = 28
"""Columns of the small picture."""
LONG_LINE = 200
"""Columns of a table in a file or a pipe."""
ROWS = 40
"""So many learners are shown; the JSON has all."""


def console() -> Console:
    """Standard output: wrapped at words on a terminal, plain long lines elsewhere."""
    from rich.console import Console

    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=LONG_LINE, soft_wrap=True)


def print_order(decision: Order, account: Sequence[str]) -> None:
    """The verdict in sentences, then every learner with its mean loss as a picture."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    lines = decision.explain().split("\n")
    out.print(Text(lines[0], style="bold"))
    for line in lines[1:]:
        out.print(Text(line))
    out.print()
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("learner", no_wrap=True)
    table.add_column("mean loss", justify="right")
    table.add_column("", no_wrap=True)
    table.add_column("against the best", no_wrap=True)
    verdicts = {standing.name: standing for standing in decision.standings}
    shown = decision.order if len(decision.order) > 1 else decision.prior
    means = np.array([decision.means[name] for name in shown])
    for place, name in enumerate(shown[:ROWS]):
        standing = verdicts.get(name)
        if name == decision.best:
            verdict = "best"
        elif standing is None:
            verdict = ""
        else:
            verdict = f"{standing.verdict}, {pvalue_words(standing.adjusted_pvalue)}"
        table.add_row(
            str(place + 1),
            Text(one_line(str(name))),
            f"{decision.means[name]:.4f}",
            Text(bar(decision.means[name], means)),
            verdict,
        )
    out.print(table)
    if len(shown) > ROWS:
        out.print(Text(f"... and {len(shown) - ROWS} more"))
    out.print()
    out.print(Text(" ".join(account), style="dim"))


def bar(value: float, values: np.ndarray) -> str:
    """`value` as a dot on a line from the smallest to the largest of `values`."""
    low, high = float(values.min()), float(values.max())
    place = 0 if high == low else round((value - low) / (high - low) * (WIDTH - 1))
    return "·" * place + "●" + "·" * (WIDTH - 1 - place)


def one_line(name: str, limit: int = 40) -> str:
    """A name that cannot break a table: no control characters, not too long."""
    clean = "".join(c if c.isprintable() else "�" for c in name)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
