"""Files that a decision is written to: report, figures and CSV."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

FIGURE_SUFFIXES = (".svg", ".pdf", ".png")

report_option = click.option(
    "--report", "report_path", metavar="F.html", help="Write a report: one self-contained file."
)


def file_options(command: Any) -> Any:
    """Add the options of `Outputs` to a command."""
    for option in (
        click.option("--csv", metavar="F.csv", help="Write the table of learners, all digits."),
        click.option(
            "--figure", "figures", metavar="[KIND=]FILE", multiple=True,
            help="Draw a figure: F.svg, F.pdf or F.png. KIND is forest (default), "
            "critical-difference, critical-difference-ranks, losses, matrix, ... Repeatable.",
        ),
        click.option(
            "--figure-width", metavar="INCHES", type=click.FloatRange(2.8, 55),
            help="Width of the figures, such as 3.3 for a column of a paper.",
        ),
        report_option,
    ):  # fmt: skip
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Paths to write to, checked before the first fit."""

    report: str | None = None
    figures: tuple[tuple[str | None, str], ...] = ()
    """Kind, or None for the default, and path."""
    figure_width: float | None = None
    csv: str | None = None

    def write(self, value: Any, command: Sequence[str], slices: Any = None) -> dict[str, Any]:
        """Write the files, and return their paths by option."""
        written: dict[str, Any] = {}
        if self.report is not None:
            value.report(self.report, command=command, slices=slices)
            written["report"] = self.report
        if self.figures:
            for kind, path in self.figures:
                value.plot(kind, path, width=self.figure_width)
            written["figures"] = [path for _, path in self.figures]
        if self.csv is not None:
            from bestofk.report.tables import table_of

            _write(self.csv, table_of(value).to_csv())
            written["csv"] = self.csv
        return written


def planned_outputs(options: dict[str, Any]) -> Outputs:
    """Remove the options of outputs from `options`; raise an error if a path cannot be written."""
    outputs = Outputs(
        report=options.pop("report_path"),
        figures=tuple(map(_kind_and_path, options.pop("figures"))),
        figure_width=options.pop("figure_width"),
        csv=options.pop("csv"),
    )
    check_report_path(outputs.report)
    check_path(outputs.csv, "--csv", (".csv",))
    for _, path in outputs.figures:
        check_path(path, "--figure", FIGURE_SUFFIXES)
        if not path.lower().endswith(".svg"):
            _require_matplotlib(path)
    paths = [outputs.report, outputs.csv, *(path for _, path in outputs.figures)]
    names = [Path(path).absolute() for path in paths if path is not None]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"Two outputs have the same path {str(name)!r}.")
    return outputs


def check_report_path(path: str | None, option: str = "--report") -> None:
    """Raise an error if a report cannot be written there."""
    if path is not None and Path(path).suffix.lower() in (".pdf", ".png", ".svg"):
        raise click.UsageError(
            f"{option} writes an HTML page: use {option} {Path(path).with_suffix('.html')}, or "
            f"--figure {path} for a figure."
        )
    check_path(path, option, (".html", ".htm"))


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
    if name is None:
        return None, path
    drawn = [one for one, entry in FIGURES.items() if "Decision" in entry.accepts]
    if name not in drawn:
        from bestofk._base.errors import UnknownNameError

        raise click.UsageError(f"--figure {text}: {UnknownNameError('figure', name, drawn)}")
    return name, path


def _require_matplotlib(path: str) -> None:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise click.UsageError(
            f"--figure {path} needs matplotlib: pip install 'bestofk[plot]', or use --figure "
            f"{Path(path).with_suffix('.svg')}."
        )


def _write(path: str, text: str) -> None:
    from bestofk._base.atomic_write import write_text

    write_text(path, text)
