"""``bestofk size``: which differences a design can show, and how large it must be."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.errors import Advice
from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import config_option
from bestofk.cli.options import (
    column_options,
    df_option,
    df_value,
    echo_explanation,
    json_option,
    missing_option,
    read_table,
    reading_options,
    typed,
    warnings_as_lines,
)

COMMON = (
    "difference", "power", "alpha", "design", "rows", "datasets", "instances", "learners", "sd",
    "discordance", "error_rates", "test", "metric", "higher_is_better", "as_json",
)  # fmt: skip
"""Options that most people need."""


@click.command(cls=SectionedCommand, common=COMMON)
@click.argument("losses", metavar="[LOSSES]", required=False)
@click.option("--design", metavar="PLAN", help="Without LOSSES: 10x10, 5x2, resample:30:0.1, ...")
@click.option("--datasets", type=int, metavar="N", help="Without LOSSES: number of data sets.")
@click.option("--instances", type=int, metavar="N", help="Without LOSSES: size of one test set.")
@click.option(
    "--learners", type=int, metavar="K", help="Without LOSSES: number of learners; 2 by default."
)
@click.option("--sd", type=float, help="Spread of a difference over folds, data sets, ...")
@click.option(
    "--discordance",
    type=float,
    help="Share of instances on which only one of two learners is wrong.",
)
@click.option(
    "--error-rates",
    type=(float, float),
    metavar="A B",
    help="Instead: two independent error rates.",
)
@click.option("--rows", type=int, metavar="N", help="Rows of the data set, if LOSSES does not say.")
@click.option(
    "--difference",
    type=float,
    metavar="D",
    help="Difference to plan for, instead of the observed one.",
)
@click.option("--power", type=float, default=0.8, show_default=True, help="Chance of showing it.")
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="Accepted chance of any false claim.",
)
@click.option(
    "--test", default="auto", show_default=True, metavar="NAME", help="See: bestofk list tests."
)
@df_option
@click.option(
    "--family",
    type=click.Choice(["all", "preference", "control"]),
    help="All pairs; all pairs, one-sided; one learner against the others.",
)
@click.option("--control", metavar="NAME", help="That learner, for --family control.")
@click.option("--correction", metavar="NAME", help="holm (default), bonferroni, none, ...")
@missing_option
@column_options
@json_option
@config_option
def size(losses: str | None, as_json: bool, df: str | None, **options: Any) -> None:
    """Find out which differences a study can show, and how large it must be to show smaller ones.

    With LOSSES (a table, or the name of an embedded one), say how many more runs, rows, data sets
    or instances would settle the open pairs. Without LOSSES, the options describe a planned study.

    \b
    Examples:
      bestofk size breast-cancer-10x10
      bestofk size breast-cancer-10x10 --difference 0.02 --power 0.9
      bestofk size digits-5x2 --test 5x2cv-f --json
      bestofk size --design 10x10 --rows 300 --sd 0.05 --learners 5
      bestofk size --datasets 15 --sd 0.03 --difference 0.02
      bestofk size --instances 200 --discordance 0.1 --difference 0.05
    """
    from bestofk.decide.power import sample_size

    # Here these two describe the planned study, not the table.
    planned = {name: options.pop(name) for name in ("design", "learners")}
    reading = reading_options(options)
    with warnings_as_lines():
        table = None
        if losses is None:
            for name, value in {"df": df, "control": options["control"], **reading}.items():
                if value is not None:
                    raise click.UsageError(
                        f"{typed(Advice(name, value), 'size')} needs LOSSES; got none."
                    )
        else:
            table = read_table(losses, reading)
        plan = sample_size(table, df=df_value(df), **planned, **options)
    account = [] if table is None else list(table.account)
    echo_explanation(plan, as_json=as_json, more={"account": account})
