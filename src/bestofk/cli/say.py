"""Print text without control characters, on terminals of any encoding.

All output goes through `say` or, with styles, through `bestofk.report.screen.plain`, because names
of learners and data sets may contain control characters. Characters that the encoding of the
terminal lacks are replaced.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TextIO

import click

from bestofk._base.formatting import NO_BREAK, PROSE_WIDTH, printable, safe, unbroken

_ASCII = {
    "·": ".", "●": "o", "○": "o", "…": "...", "µ": "u", "μ": "u", "×": "x", "±": "+-", "–": "-",
    "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "≤": "<=", "≥": ">=", "→": "->",
    "←": "<-", "─": "-", "━": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+",
    "┤": "+", "┬": "+", "┴": "+", "┼": "+", "█": "#", "▏": "|", "•": "*", "ß": "ss", "æ": "ae",
    "ø": "o", "ł": "l", "ı": "i", "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip


def say(text: object = "", *, err: bool = False) -> None:
    """Print one or more lines."""
    click.echo(safe(str(text)), err=err)


def discard(stream: TextIO) -> None:
    """Send everything else that is written to a stream, which is closed or full, to nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def printed_on_stderr() -> Iterator[None]:
    """Send to stderr what is printed, also by C code and by other processes."""
    sys.stdout.flush()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # stdout or stderr is closed
            kept = os.dup(1)
            stack.callback(os.close, kept)
            os.dup2(2, 1)
            stack.callback(os.dup2, kept, 1)
            stack.callback(_flush_c_output)
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield


def _flush_c_output() -> None:
    import ctypes

    with contextlib.suppress(OSError, TypeError):  # Windows has no name for the C library
        ctypes.CDLL(None).fflush(None)


def say_start(*, quiet: bool) -> None:
    """Show on a terminal that imports take a second; the next line overwrites this one."""
    if sys.stderr.isatty() and not quiet:
        click.echo("starting ...\r", nl=False, err=True)


def say_name(name: object) -> None:
    """Print a name on one line."""
    click.echo(printable(" ".join(str(name).splitlines())))


def say_entry(name: str, summary: str, width: int = 0) -> None:
    """Print an entry of a list on one line; a terminal cuts a long summary."""
    text = safe(summary)
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        left = shutil.get_terminal_size().columns - width - 4
        text = text if len(text) <= left else f"{text[: max(left - 1, 0)]}…"
    click.echo(f"  {click.style(safe(name).ljust(width), bold=True)}  {text}")


def say_heading(text: str) -> None:
    """Print a line in bold."""
    click.echo(click.style(safe(text), bold=True))


def say_facts(facts: Mapping[str, str]) -> None:
    """Print labels and texts in two columns."""
    width = max(map(len, facts))
    for label, text in facts.items():
        click.echo(wrapped(f"  {label:<{width}}  {safe(text)}", sys.stdout, indent=width + 4))


def wrapped(text: str, stream: TextIO, indent: int = 0) -> str:
    """Wrap a paragraph on a terminal or if COLUMNS is set; never inside a word or a command.

    The text starts as it is; later lines are indented by `indent` columns.
    """
    if not (stream.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return text
    width = max(min(shutil.get_terminal_size().columns, PROSE_WIDTH), 2 * indent, 20)
    lines = wrap(
        unbroken(text), width, subsequent_indent=" " * indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return "\n".join(lines).replace(NO_BREAK, " ")


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
