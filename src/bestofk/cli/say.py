"""Print text without control characters, on terminals of any encoding.

All output goes through `say` or, with styles, through `bestofk.cli.terminal.plain`, because names
of learners and data sets may contain control characters. Characters that the encoding of the
terminal lacks are replaced.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TextIO

import click

from bestofk._base.formatting import printable

PROSE_WIDTH = 100
"""Width at which sentences are wrapped on wide terminals."""
ENTRY_INDENT = " " * 6
"""Indentation of the facts below the name of an entry."""

_ASCII = {
    "·": ".", "●": "o", "○": "o", "…": "...", "µ": "u", "μ": "u", "×": "x", "±": "+-", "–": "-",
    "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "≤": "<=", "≥": ">=", "→": "->",
    "←": "<-", "─": "-", "━": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+",
    "┤": "+", "┬": "+", "┴": "+", "┼": "+", "█": "#", "▏": "|", "•": "*", "ß": "ss", "æ": "ae",
    "ø": "o", "ł": "l", "ı": "i", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip


def safe(text: str) -> str:
    r"""Return text without control characters; line ends stay.

    Examples
    --------
    >>> safe("a\x1b[2Jb\nc\u202e")
    'a�[2Jb\nc�'
    """
    return "\n".join(printable(line.replace("\t", " ")) for line in text.split("\n"))


def say(text: object = "", *, err: bool = False) -> None:
    """Print one or more lines."""
    click.echo(safe(str(text)), err=err)


def say_name(name: object) -> None:
    """Print a name on one line."""
    click.echo(printable(" ".join(str(name).splitlines())))


def say_entry(name: str, *facts: str, details: Sequence[str] = ()) -> None:
    """Print an entry of a list: its name, its facts, and its details dimmed."""
    click.echo(f"  {click.style(safe(name), bold=True)}")
    for fact in facts:
        click.echo(_indented(fact))
    for detail in details:
        if detail:
            click.echo(click.style(_indented(detail), dim=True))


def _indented(text: str) -> str:
    """Return an indented paragraph, wrapped on a terminal or if COLUMNS is set."""
    text = safe(text)
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return ENTRY_INDENT + text
    width = max(min(shutil.get_terminal_size().columns, PROSE_WIDTH), 2 * len(ENTRY_INDENT))
    return textwrap.fill(
        text, width=width, initial_indent=ENTRY_INDENT, subsequent_indent=ENTRY_INDENT,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def use_plain_characters() -> None:
    """Replace characters that the encoding of stdout or stderr lacks."""
    codecs.register_error("bestofk", _replace)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A stream that is redirected into the middle of a file cannot be reconfigured.
            with contextlib.suppress(OSError):
                reconfigure(errors="bestofk")


def encodes_all_characters(stream: TextIO) -> bool:
    """Return whether the encoding of the stream has every character."""
    return (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(character: str) -> str:
    if character in _ASCII:
        return _ASCII[character]
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return bare if bare.isprintable() and bare else "?"
