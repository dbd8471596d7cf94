"""``bestofk size``: what a design can show, and how large it must be to show more."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.errors import Advice
from bestofk.cli.app import SectionedCommand
from bestofk.cli.options import (
    column_options,
    df_value,
    echo_json,
    missing_option,
    read_table,
    reading_options,
    typed,
    warnings_as_lines,
)


@click.command(cls=SectionedCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("losses", metavar="[LOSSES]", required=False)
@click.option("--design", metavar="PLAN", help="Without LOSSES: 10x10, 5x2, resample:30:0.1, ...")
@click.option("--datasets", type=int, metavar="N", help="Without LOSSES: so many data sets.")
@click.option("--instances", type=int, metavar="N", help="Without LOSSES: one test set of N.")
@click.option("--learners", type=int, metavar="K", help="Without LOSSES: how many; 2 by default.")
@click.option("--sd", type=float, help="Spread of a difference over folds, data sets, ...")
@click.option("--discordance", type=float, help="How often just one of two learners is wrong.")
@click.option(
    "--error-rates", type=(float, float), metavar="A B", help="The same, if they err independently."
)
@click.option("--rows", type=int, metavar="N", help="Rows of the data set, if LOSSES do not tell.")
@click.option("--difference", type=float, metavar="D", help="Plan for it, not for the observed.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Chance to show it.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Error allowed.")
@click.option("--test", default="auto", show_default=True, help="See: tests.")
@click.option("--df", metavar="N|calibrated|FILE", help="Degrees of freedom of the test.")
@click.option(
    "--family",
    type=click.Choice(["all", "preference", "control"]),
    default="all",
    show_default=True,
    help="All pairs; all pairs, one-sided; one learner against the others.",
)
@click.option("--control", metavar="NAME", help="That learner, for --family control.")
@click.option("--correction", metavar="NAME", help="holm (default), bonferroni, none, ...")
@missing_option
@column_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def size(
    losses: str | None,
    as_json: bool,
    df: str | None,
    **given: Any,
) -> None:
    """Say what a study can show, and how large it must be to show more.

    With LOSSES (a table, or the name of an embedded one) the spread of every pair is known: how
    many more runs, rows, data sets or instances would settle the pairs that are open? Without
    LOSSES the options describe the study that is planned.

    \b
    Examples:
      bestofk size breast-cancer-10x10
      bestofk size breast-cancer-10x10 --difference 0.02 --power 0.9
      bestofk size digits-5x2 --test 5x2cv-f --json
      bestofk size --design 10x10 --rows 300 --sd 0.05 --learners 5
      bestofk size --datasets 15 --sd 0.03 --difference 0.02
      bestofk size --instances 200 --discordance 0.1 --difference 0.05
    """
    from bestofk.decide.power import plan_size

    own = {name: given.pop(name) for name in ("design", "learners")}
    reading = reading_options(given)
    given |= own
    with warnings_as_lines():
        table = None
        if losses is None:
            needs = {"df": df, "control": given["control"], **reading}
            for name, value in needs.items():
                if value is not None:
                    raise click.UsageError(
                        f"{typed(Advice(name, value), 'size')} needs LOSSES; got none."
                    )
        else:
            table = read_table(losses, reading, missing=given["missing"])
        plan = plan_size(table, df=df_value(df), **given)
    if as_json:
        echo_json({**plan.to_dict(), "account": [] if table is None else list(table.account)})
    else:
        from bestofk.cli.terminal import print_sentences

        print_sentences(plan.explain())
