"""Files that a result is written to, and what is printed of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

import click

from bestofk._base.errors import BestOfKError
from bestofk.cli.options import command_line
from bestofk.cli.say import encodes_all_characters, say, say_name
from bestofk.version import __version__

FIGURE_SUFFIXES = (".svg", ".pdf", ".png")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where to write a result, and how much of it to print; checked before the first fit."""

    report: str | None = None
    figures: tuple[tuple[str | None, str], ...] = ()
    """Kind, or None for the default, and path."""
    width: float | None = None
    csv: str | None = None
    as_json: bool = False
    explain: bool = False
    pairs: bool = False
    quiet: bool = False

    def write(self, value: Any, command: Sequence[str] = ()) -> dict[str, Any]:
        """Write the files, and return their paths by option."""
        written: dict[str, Any] = {}
        if self.report is not None:
            value.report(self.report, command=command or command_line())
            written["report"] = self.report
        if self.figures:
            for kind, path in self.figures:
                value.plot(kind, path, width=self.width)
            written["figures"] = [path for _, path in self.figures]
        if self.csv is not None:
            from bestofk._base.atomic_write import write_text

            write_text(self.csv, value.table.to_csv(index=False))
            written["csv"] = self.csv
        return written

    def show(self, value: Any, *, command: Sequence[str] = ()) -> None:
        """Write the files, and print the result as JSON, as names or as a screen.

        If a file cannot be written, the result is printed before the error. `command` holds the
        words that repeat the result if they are not those that were typed.
        """
        failure: Exception | None = None
        written: dict[str, Any] = {}
        try:
            written = self.write(value, command)
        except (BestOfKError, OSError) as error:
            failure = error
        if self.as_json:
            echo_json({**value.to_dict(pairs=self.pairs), **written})
        elif self.quiet:
            for name in value.order:
                say_name(name)
        else:
            from bestofk.cli.terminal import print_result

            print_result(value, explain=self.explain, pairs=self.pairs)
            for noun, name in (("report", "report"), ("figure", "figures"), ("table", "csv")):
                paths = written.get(name, ())
                for path in [paths] if isinstance(paths, str) else paths:
                    say(f"The {noun} is in {path}.")
        if failure is not None:
            raise failure


def planned_outputs(options: dict[str, Any]) -> Outputs:
    """Remove the options of outputs from `options`; raise an error if a path cannot be written."""
    outputs = Outputs(
        report=options.pop("report_path"),
        figures=tuple(map(_kind_and_path, options.pop("figures"))),
        width=options.pop("figure_width"),
        csv=options.pop("csv"),
        as_json=options.pop("as_json"),
        **{name: options.pop(name, False) for name in ("explain", "pairs", "quiet")},
    )
    check_report_path(outputs.report)
    check_path(outputs.csv, "--csv", (".csv",))
    for _, path in outputs.figures:
        check_path(path, "--figure", FIGURE_SUFFIXES)
        if not path.lower().endswith(".svg"):
            _require_matplotlib(path)
    if outputs.width is not None and not outputs.figures:
        raise click.UsageError("--figure-width needs a figure: add --figure F.svg.")
    paths = [outputs.report, outputs.csv, *(path for _, path in outputs.figures)]
    names = [Path(path).absolute() for path in paths if path is not None]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"Two outputs have the same path {str(name)!r}.")
    return outputs


def check_report_path(path: str | None) -> None:
    """Raise an error if a report cannot be written there."""
    if path is not None and Path(path).suffix.lower() in FIGURE_SUFFIXES:
        raise click.UsageError(
            f"--report writes an HTML page: use --report {Path(path).with_suffix('.html')}, or "
            f"--figure {path} for a figure."
        )
    check_path(path, "--report", (".html", ".htm"))


def check_path(path: str | os.PathLike[str] | None, option: str, suffixes: Sequence[str]) -> None:
    """Raise an error if the path has another suffix or cannot be written."""
    if path is None:
        return
    target = Path(path)
    if target.is_dir() or not target.name:
        example = f"file{suffixes[0]}" if suffixes else "a file"
        raise click.UsageError(f"{option} must name a file such as {example}; got {str(path)!r}.")
    is_device = target.exists() and not target.is_file()
    if suffixes and target.suffix.lower() not in suffixes and not is_device:
        listed = " or ".join(filter(None, [", ".join(suffixes[:-1]), suffixes[-1]]))
        raise click.UsageError(f"{option} must end in {listed}; got {str(path)!r}.")
    folder = target.parent
    if not folder.is_dir():
        raise click.UsageError(f"{option}: the folder {str(folder)!r} does not exist.")
    if not os.access(target if is_device else folder, os.W_OK):
        blocked = target if is_device else folder
        raise click.UsageError(f"{option}: there is no permission to write to {str(blocked)!r}.")


def _kind_and_path(text: str) -> tuple[str | None, str]:
    """Split ``KIND=FILE``; a file that has the name of a figure is that figure."""
    kind, equals, path = text.partition("=")
    if not equals or "/" in kind or "\\" in kind:
        kind, path = "", text
    from bestofk.report.figures.registry import FIGURES

    stem = Path(path).stem
    name = kind or (stem if stem in FIGURES else None)
    drawn = [one for one, entry in FIGURES.items() if "Decision" in entry.accepts]
    if name is not None and name not in drawn:
        from bestofk._base.errors import UnknownNameError

        raise click.UsageError(f"--figure {text}: {UnknownNameError('figure', name, drawn)}")
    return name, path


def _require_matplotlib(path: str) -> None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise click.UsageError(
            f"--figure {path} needs matplotlib: pip install matplotlib, or use --figure "
            f"{Path(path).with_suffix('.svg')}."
        )


def echo_explanation(result: Any, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Print a result as JSON with the entries of `more`, or its explanation."""
    from bestofk.cli.terminal import console
    from bestofk.report.screen import write_presented

    if as_json:
        echo_json({**result.to_dict(), **(more or {})})
    else:
        write_presented(console(), result)


def echo_json(value: dict[str, Any]) -> None:
    """Print one strict JSON object on stdout; it starts with the version and the command."""
    words = click.get_current_context().command_path.split()[1:]
    command = " ".join(word for word in words if word not in ("check", "json"))
    value = {"version": __version__, "command": command, **value}
    ascii_only = not encodes_all_characters(sys.stdout)
    text = dumps(value, allow_nan=False, ensure_ascii=ascii_only, indent=2)
    say("\n".join(map(_escaped, text.split("\n"))))


def _escaped(line: str) -> str:
    """Return a line of JSON with escapes for unprintable characters."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else dumps(c)[1:-1] for c in line)
