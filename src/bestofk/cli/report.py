"""``bestofk report``: a report of what a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestofk.cli.options import (
    check_report_path,
    command_line,
    decision_of,
    decision_options,
    echo_json,
    preference,
    warnings_as_lines,
)
from bestofk.cli.say import say

if TYPE_CHECKING:
    from bestofk.run.store.store import Store

MOST_NAMES = 12


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("store", metavar="STORE")
@click.option("--study", type=int, metavar="N", help="Which study, where the store holds several.")
@click.option("--output", metavar="FILE", default="report.html", show_default=True)
@click.option("--title", metavar="TEXT", help="The heading; by default what was compared.")
@decision_options
def report(
    store: str,
    study: int | None,
    output: str,
    title: str | None,
    prefer: str | None,
    as_json: bool,
    **decision: Any,
) -> None:
    """Decide about a study of STORE, and write a report of it: one HTML file.

    STORE is a file (study.db) or a URL (postgresql+psycopg://user@host/database). Nothing is run
    and nothing in the store is changed. The decision is made anew: give the options of compare.

    \b
    Examples:
      bestofk report study.db
      bestofk report study.db --output iris.html --alpha 0.01 --prefer fit_time
    """
    from bestofk.run.open_study import recall
    from bestofk.run.store.store import open_store

    check_report_path(output, "--output")
    with warnings_as_lines(), open_store(store, read_only=True) as opened:
        found = recall(
            opened,
            _only_study(opened) if study is None else study,
            prior=preference(prefer),
            decision=decision_of(decision),
        )
    # the command that ran the study repeats it; without one, this repeats the report
    ran = found.spec.command if found.spec is not None else ()
    path = found.report(output, title=title, command=ran or command_line())
    if as_json:
        echo_json({**found.as_json(), "report": str(path)})
        return
    say(found.explain().split("\n")[0])
    say(f"The report is in {path}.")


def _only_study(store: Store) -> int:
    studies = store.studies()
    if len(studies) == 1:
        return studies[0].id
    if not studies:
        raise click.UsageError(
            "the store holds no study yet: bestofk compare ... --store makes one."
        )
    numbers = ", ".join(str(each.id) for each in studies[:MOST_NAMES])
    raise click.UsageError(
        f"the store holds {len(studies)} studies: give --study N, one of {numbers} "
        "('bestofk show' tells them apart)."
    )
