"""``bestofk report``: a report of what a store holds."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import (
    changed_options,
    check_report_path,
    command_line,
    decision_options,
    echo_json,
    warnings_as_lines,
)
from bestofk.cli.say import say


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("store", metavar="STORE")
@click.option("--study", type=int, metavar="N", help="Which study, where the store holds several.")
@click.option("--decision", "which", type=int, metavar="N",
              help="Which decision about it, 1 the first; by default the last.")  # fmt: skip
@click.option("--output", metavar="FILE", default="report.html", show_default=True)
@click.option("--title", metavar="TEXT", help="The heading; by default what was compared.")
@decision_options
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
    """Write a report of a study of STORE, decided as it was when it was run: one HTML file.

    STORE is a file (study.db) or a URL (postgresql+psycopg://user@host/database). Nothing is run
    and nothing in the store is changed. An option that you give changes that one option of the
    decision; --prefer none takes the preference away.

    \b
    Examples:
      bestofk report study.db
      bestofk report study.db --output iris.html --alpha 0.01 --prefer fit_time
    """
    from bestofk.cli.terminal import print_sentences
    from bestofk.run.open_study import open_study

    check_report_path(output, "--output")
    changes = changed_options(decision, prefer)
    with warnings_as_lines():
        found = open_study(store, study, decision=which, **changes)
    # the command that ran the study repeats it; otherwise this repeats the report
    ran = found.spec.command if found.spec is not None and not changes else ()
    path = found.report(output, title=title, command=ran or command_line())
    if as_json:
        echo_json({**found.to_dict(), "report": str(path)})
        return
    print_sentences(found.headline())
    say(f"The report is in {path}.")


for _option in report.params:
    # what is not typed is as it was when the study was run
    if isinstance(_option, click.Option) and _option.name in ("procedure", "test", "alpha", "seed"):
        _option.show_default = False
