"""The one way to standard output and standard error: names are data, and terminals are obedient.

Whatever a verb prints goes through `say` (or, styled, through `bestofk.cli.terminal.plain`), which
lets no control character pass. What the terminal's encoding cannot hold is written in other
characters, never raised.
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
"""Sentences are wrapped at this many columns, however wide the terminal is."""
ENTRY = " " * 6
"""What stands below the name of an entry is set in so far."""

_ASCII = {
    "·": ".", "●": "o", "○": "o", "…": "...", "µ": "u", "μ": "u", "×": "x", "±": "+-", "–": "-",
    "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "≤": "<=", "≥": ">=", "→": "->",
    "←": "<-", "─": "-", "━": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+",
    "┤": "+", "┬": "+", "┴": "+", "┼": "+", "█": "#", "▏": "|", "•": "*", "ß": "ss", "æ": "ae",
    "ø": "o", "ł": "l", "ı": "i", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip


def safe(text: str) -> str:
    r"""Text that makes a terminal do nothing but show it; lines stay lines.

    Examples
    --------
    >>> safe("a\x1b[2Jb\nc\u202e")
    'a�[2Jb\nc�'
    """
    return "\n".join(printable(line.replace("\t", " ")) for line in text.split("\n"))


def say(text: object = "", *, err: bool = False) -> None:
    """Print a line, or several."""
    click.echo(safe(str(text)), err=err)


def say_name(name: object) -> None:
    """Print a name on a line of its own, whatever it holds."""
    click.echo(printable(" ".join(str(name).splitlines())))


def say_entry(name: str, *facts: str, beside: Sequence[str] = ()) -> None:
    """Print one entry of a list: its name, what holds for it, and dimmed what stands `beside`."""
    click.echo(f"  {click.style(safe(name), bold=True)}")
    for fact in facts:
        click.echo(_set_in(fact))
    for fact in beside:
        if fact:
            click.echo(click.style(_set_in(fact), dim=True))


def _set_in(text: str) -> str:
    """A paragraph below a name; on a terminal, or where COLUMNS is exported, wrapped at words."""
    text = safe(text)
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return ENTRY + text
    width = max(min(shutil.get_terminal_size().columns, PROSE_WIDTH), 2 * len(ENTRY))
    return textwrap.fill(
        text, width=width, initial_indent=ENTRY, subsequent_indent=ENTRY,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def use_plain_characters() -> None:
    """Let standard output and error write what their encoding cannot hold in other characters."""
    codecs.register_error("bestofk", _otherwise)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # a stream that was redirected in the middle of a file cannot be told again
            with contextlib.suppress(OSError):
                reconfigure(errors="bestofk")


def holds_everything(stream: TextIO) -> bool:
    """Whether the stream's encoding holds every character."""
    return (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")


def _otherwise(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_other, error.object[error.start : error.end])), error.end


def _other(character: str) -> str:
    if character in _ASCII:
        return _ASCII[character]
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return bare if bare.isprintable() and bare else "?"
