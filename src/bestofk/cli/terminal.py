"""Print results on standard output."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from bestofk.cli.options import typed_advice
from bestofk.report.screen import write_prose, write_screen

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 200
"""Width of tables in a file or a pipe."""


def console() -> Console:
    """Return standard output: wrapped lines on a terminal, long lines in files and pipes.

    If COLUMNS is set, wrap lines in files and pipes too.
    """
    from rich.console import Console

    out = Console(highlight=False)
    if out.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return out
    return Console(highlight=False, width=PIPE_WIDTH, soft_wrap=True)


def print_sentences(text: str) -> None:
    """Print an explanation, one paragraph per line."""
    out = console()
    for line in text.split("\n"):
        write_prose(out, line)


def print_result(result: Any, *, explain: bool = False, pairs: bool = False) -> None:
    """Print the screen of a result; see `write_screen`."""
    write_screen(console(), result, explain=explain, pairs=pairs, ranks=pairs, show=typed_advice)
