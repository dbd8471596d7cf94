"""``bestofk report``: write a report of a stored study."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import config_option
from bestofk.cli.options import (
    PREFER_COSTS,
    changed_options,
    check_store,
    command_line,
    decision_options,
    echo_json,
    warnings_as_lines,
)
from bestofk.cli.outputs import check_report_path
from bestofk.cli.say import say


@click.command(cls=SectionedCommand)
@click.argument("store", metavar="STORE")
@click.option("--study", type=int, metavar="N", help="Which study, if the store has several.")
@click.option("--decision", "which", type=int, metavar="N",
              help="Which decision about it, counted from 1; by default the last.")  # fmt: skip
@click.option("--output", metavar="F.html", default="report.html", show_default=True,
              help="Where to write it.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="Heading of the report.")
@decision_options(PREFER_COSTS)
@config_option
def report(
    store: str,
    study: int | None,
    which: int | None,
    output: str,
    title: str | None,
    prefer: str | None,
    as_json: bool,
    **decision: Any,
) -> None:
    """Write a report of a study in STORE, with its stored decision, as one HTML file.

    STORE is a file (study.db) or a URL (postgresql+psycopg://user@host/database). The command runs
    no fits and does not change the store. Options that you type change the decision; --prefer none
    removes the preference.

    \b
    Examples:
      bestofk report study.db
      bestofk report study.db --output iris.html --alpha 0.01 --prefer fit_time
    """
    from bestofk.cli.terminal import print_sentences
    from bestofk.run.open_study import open_study

    check_report_path(output, "--output")
    check_store(store)
    changes = changed_options(decision, prefer)
    with warnings_as_lines():
        opened = open_study(store, study, decision=which, **changes)
    # The stored command repeats an unchanged study; this command repeats the report.
    stored = opened.record.command if not changes else ()
    path = opened.report(output, title=title, command=stored or command_line())
    if as_json:
        echo_json({**opened.to_dict(), "report": str(path)})
        return
    print_sentences(opened.headline())
    say(f"The report is in {path}.")


for _option in report.params:
    # Options that are not typed keep their stored values.
    if isinstance(_option, click.Option) and _option.name in (
        "procedure",
        "test",
        "alpha",
        "random_state",
    ):
        _option.show_default = False
