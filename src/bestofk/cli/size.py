"""``bestofk size``: which differences a design can show, and how large it must be."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.files import check_source
from bestofk.cli.options import (
    alpha_option,
    direction_option,
    json_option,
    pairs_option,
    refuse,
    warnings_as_lines,
)
from bestofk.cli.outputs import echo_explanation
from bestofk.cli.set_values import READ_SCORES, SettingsCommand, taken

SAMPLE_SIZE = "bestofk:sample_size"


@click.command(cls=SettingsCommand, places=(READ_SCORES, SAMPLE_SIZE))
@click.argument("table", metavar="[TABLE]", required=False)
@click.option("--design", metavar="PLAN", help="Without TABLE: 10x10, 5x2, resample:30:0.1, ...")
@click.option("--datasets", type=int, metavar="N", help="Without TABLE: number of data sets.")
@click.option("--instances", type=int, metavar="N", help="Without TABLE: size of one test set.")
@click.option(
    "--learners", type=int, metavar="K", help="Without TABLE: number of learners.  [default: 2]"
)
@click.option("--sd", type=float, help="Spread of a difference over folds, data sets, ...")
@click.option(
    "--discordance", type=float,
    help="Share of instances on which only one of two learners is wrong.",
)  # fmt: skip
@click.option("--rows", type=int, metavar="N", help="Rows of the data set, if TABLE does not say.")
@click.option(
    "--difference", type=float, metavar="D",
    help="Difference to plan for, instead of the observed one.",
)  # fmt: skip
@click.option("--power", type=float, help="Chance of showing it.  [default: 0.8]")
@alpha_option
@direction_option
@pairs_option("--column", metavar="ROLE=COL", help="Columns of TABLE, as for scores. Repeatable.")
@json_option
def size(table: str | None, as_json: bool, **options: Any) -> None:
    """Find out which differences a study can show, and how large it must be to show smaller ones.

    With TABLE (a table of losses, or the name of an embedded one), say how many more runs, rows,
    data sets or instances would settle the open pairs. Without TABLE, the options describe a
    planned study.

    \b
    Examples:
      bestofk size breast-cancer-10x10
      bestofk size breast-cancer-10x10 --difference 0.02 --power 0.9
      bestofk size digits-5x2 --set test=5x2cv-f --json
      bestofk size --design 10x10 --rows 300 --sd 0.05 --learners 5
      bestofk size --datasets 15 --sd 0.03 --difference 0.02
      bestofk size --instances 200 --discordance 0.1 --difference 0.05
    """
    planned = taken(options, SAMPLE_SIZE)
    reading = taken(options, READ_SCORES)
    if table is None and not {"design", "datasets", "instances"} & {*planned}:
        raise click.UsageError(
            "Name a table, or describe a study: use --design 10x10, --datasets 15 or "
            "--instances 200."
        )
    if table is not None:
        _refuse_plan(table)
        check_source(table, "file or embedded table", "bestofk.losses.reading:EXAMPLES")
    from bestofk.decide.power import sample_size
    from bestofk.losses import read_scores

    with warnings_as_lines():
        losses = None
        if table is None:
            of_table = {name: planned.get(name) for name in ("test_options", "control")}
            refuse("a planned study: name a table", {**of_table, **reading})
        else:
            losses = read_scores(table, missing="allow", **reading)
        plan = sample_size(losses, **planned)
    account = [] if losses is None else list(losses.account)
    echo_explanation(plan, as_json=as_json, more={"account": account})


def _refuse_plan(table: str) -> None:
    """Raise an error if the table is the name of a plan."""
    from pathlib import Path

    from bestofk._base.errors import BestOfKError
    from bestofk.splits.plans import plan

    if Path(table).exists() or "." in table or "/" in table:
        return
    try:
        plan(table)
    except BestOfKError:
        return
    raise click.UsageError(
        f"{table} is a plan: use 'bestofk size --design {table} --rows 1000 --sd 0.05'."
    )
