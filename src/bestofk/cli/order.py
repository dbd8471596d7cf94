"""``bestofk order``: decide from a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.options import (
    check_report_path,
    command_line,
    decision_arguments,
    decision_options,
    echo_json,
    preference,
    read_table,
    reading_options,
    report_option,
    table_options,
    warnings_as_lines,
)
from bestofk.cli.say import say, say_name


@click.command(cls=SectionedCommand, context_settings={"help_option_names": ["-h", "--help"]})
@table_options
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
    **options: Any,
) -> None:
    """Say which learner of LOSSES to use, how the others rank, and why.

    LOSSES is a table of losses or scores (CSV, TSV, Excel, Parquet, JSONL, ARFF; one row per
    loss, one column per learner, or scikit-learn's cv_results_) or the name of an embedded
    one (breast-cancer-10x10, digits-5x2).

    \b
    Examples:
      bestofk order breast-cancer-10x10
      bestofk order breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk order breast-cancer-10x10 --report report.html
      bestofk order digits-5x2 --procedure most-wins --test 5x2cv-f
      bestofk order breast-cancer-10x10 --test use-all-data --df 10 --json
    """
    from bestofk.decide.order import order as decide

    check_report_path(report_path)
    asked = decision_arguments(options)
    reading = reading_options(options)
    with warnings_as_lines():
        table = read_table(losses, reading, missing=missing)
        decision = decide(
            table, prefer=preference(prefer, measured=False), missing=missing, **asked
        )
    if report_path is not None:
        decision.report(report_path, command=command_line())
    if as_json:
        more: dict[str, Any] = {"report": report_path} if report_path else {}
        echo_json({**decision.to_dict(), "account": list(table.account), **more})
    elif quiet:
        for name in decision.ranking:
            say_name(name)
    else:
        from bestofk.cli.terminal import print_decision

        print_decision(decision)
        if report_path is not None:
            say(f"The report is in {report_path}.")
