"""``bestofk order``: decide from a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import (
    check_report_path,
    command_line,
    decision_arguments,
    decision_options,
    echo_json,
    preference,
    read_table,
    report_option,
    table_options,
    warnings_as_lines,
)
from bestofk.cli.say import say, say_name


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@table_options
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="Cells that some learner lacks: refuse, or drop them for all.",
)
@report_option
@decision_options
@click.option("--quiet", is_flag=True, help="Print the order only, best first.")
def order(
    losses: str,
    prefer: str | None,
    missing: str,
    report_path: str | None,
    as_json: bool,
    quiet: bool,
    higher_is_better: bool | None,
    **options: Any,
) -> None:
    """Say which learner of LOSSES to use, how the others rank, and why.

    LOSSES is a table (CSV, TSV, Parquet, JSONL, ARFF; one row per loss, or one column per
    learner) or the name of an embedded one (breast-cancer-10x10, digits-5x2).

    \b
    Examples:
      bestofk order breast-cancer-10x10
      bestofk order breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk order breast-cancer-10x10 --report report.html
      bestofk order digits-5x2 --procedure most-wins --test 5x2cv-f
      bestofk order breast-cancer-10x10 --test use-all-data --df 10 --json
    """
    from bestofk.ordering.order import order as decide

    check_report_path(report_path)
    asked = decision_arguments(options)
    with warnings_as_lines():
        table = read_table(losses, options, higher_is_better)
        decision = decide(table, prior=preference(prefer, measured=False), missing=missing, **asked)
    if report_path is not None:
        decision.report(report_path, command=command_line())
    if as_json:
        from bestofk.planning.expectation import expectation_to_dict

        more: dict[str, Any] = {"expected": expectation_to_dict(decision)}
        if report_path:
            more["report"] = report_path
        echo_json({**decision.to_dict(), "account": list(table.account), **more})
    elif quiet:
        for name in decision.order:
            say_name(name)
    else:
        from bestofk.cli.terminal import print_order

        print_order(decision, table.account)
        if report_path is not None:
            say(f"The report is in {report_path}.")
