"""``bestofk papers reproduce``: reproduce the papers' tables next to the published numbers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.atomic_write import write_text
from bestofk.cli.options import json_option, warnings_as_lines
from bestofk.cli.outputs import check_path, echo_json
from bestofk.cli.say import say, wrapped
from bestofk.cli.set_values import SettingsCommand

if TYPE_CHECKING:
    from bestofk.papers.registry import Reproduction


@click.command("reproduce", cls=SettingsCommand, more={"engine": "str", "scheduler": "str"})
@click.argument("paper", metavar="[PAPER]", required=False)
@click.option("--table", "tables", multiple=True, metavar="N", help="Only this table; repeatable.")
@click.option("--variant", metavar="NAME", help="Variant of the experiment; see --list.")
@click.option("--runs", type=click.IntRange(min=1), help="Number of repetitions of the experiment.")
@click.option("--n-jobs", "jobs", type=int, default=1, show_default=True,
              help="Number of workers; -1 for all cores.")  # fmt: skip
@click.option("--store", metavar="URL", help="Save finished work here, and resume from it.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the data sets; by default BESTOFK_DATA.",
)
@click.option("--random-state", "seed", type=click.IntRange(min=0), metavar="N",
              help="Seed of random draws; see --list.")  # fmt: skip
@click.option(
    "--markdown", type=click.Path(path_type=Path, dir_okay=False), help="Write this file."
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the figures into this folder, as SVG.",
)
@json_option
@click.option("--list", "listing", is_flag=True, help="List the papers, tables and variants.")
def reproduce_command(
    paper: str | None,
    *,
    markdown: Path | None,
    figures: Path | None,
    as_json: bool,
    listing: bool,
    **options: Any,
) -> None:
    """Reproduce the tables of PAPER, and print the results next to the published numbers.

    Without --runs the experiment is small; --list shows its size. With --store an interrupted call
    resumes where it stopped.

    \b
    Examples:
      bestofk papers reproduce --list
      bestofk papers reproduce fundamentals
    """
    from bestofk.papers.registry import REPRODUCTIONS
    from bestofk.run.engine import Execution

    if listing:
        _list(as_json)
        return
    if paper is None:
        raise click.UsageError(f"Name a paper: {', '.join(REPRODUCTIONS)}; --list shows more.")
    entry = REPRODUCTIONS[paper]
    _check(entry, options["tables"], options["variant"], options["jobs"])
    # Check the engine before any data set is read.
    where = {"engine": "auto", "scheduler": None} | options
    Execution(engine=where["engine"], n_jobs=options["jobs"], scheduler=where["scheduler"])
    check_path(markdown, "--markdown", (".md",))
    with warnings_as_lines():
        account = entry.reproduce(**options, progress=sys.stderr.isatty())
    if markdown is not None:
        write_text(markdown, account.to_markdown())
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
        for title, svgs in account.figures.items():
            name = "-".join(re.findall(r"[^\W_]+", f"{paper} {title}".lower()))
            for svg, suffix in zip(svgs, ("", "-narrow"), strict=False):
                write_text(figures / f"{name}{suffix}.svg", svg)
    if as_json:
        echo_json(account.to_dict())
    else:
        width = click.get_current_context().terminal_width or _width()
        click.echo(account.to_text(width))


def _check(entry: Reproduction, tables: tuple[str, ...], variant: str | None, n_jobs: int) -> None:
    from bestofk._base.errors import UnknownNameError

    for table in tables:
        if table not in entry.tables:
            raise UnknownNameError(f"table of {entry.name}", table, entry.tables)
    variants = [name for name, _ in entry.variants]
    if variant is not None and variant not in variants:
        raise UnknownNameError(f"variant of {entry.name}", variant, variants)
    if n_jobs == 0 or n_jobs < -1:
        raise click.UsageError(f"--n-jobs must be at least 1, or -1 for all cores; got {n_jobs}.")


def _list(as_json: bool) -> None:
    from dataclasses import asdict

    from bestofk.papers.registry import REPRODUCTIONS

    if as_json:
        hidden = ("function", "explained")
        papers = [{name: value for name, value in asdict(entry).items() if name not in hidden}
                  for entry in REPRODUCTIONS.values()]  # fmt: skip
        echo_json({"papers": [{**paper, "variants": dict(paper["variants"])} for paper in papers]})
        return
    for entry in REPRODUCTIONS.values():
        facts = [
            entry.summary,
            f"tables: {', '.join(entry.tables)}",
            f"a run: {entry.runs_mean} ({entry.default_runs} without --runs)",
            f"random state: {entry.default_seed} without --random-state",
            *(f"--variant {name}: {meaning}" for name, meaning in entry.variants),
        ]
        if entry.data is not None:
            facts.append(f"data sets: bestofk papers fetch {entry.data}")
        click.echo(click.style(entry.name, bold=True))
        for fact in (*facts, entry.paper):
            say(wrapped(f"  {fact}", sys.stdout, indent=4))


def _width() -> int:
    from shutil import get_terminal_size

    return max(80, get_terminal_size((100, 24)).columns)
