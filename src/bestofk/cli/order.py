"""``bestofk order``: decide from a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.options import (
    as_published_option,
    check_report_path,
    decision_arguments,
    decision_options,
    echo_decision,
    preference,
    published_settings,
    quiet_option,
    read_table,
    reading_options,
    report_option,
    table_options,
    warnings_as_lines,
)


@click.command(cls=SectionedCommand)
@table_options
@report_option
@as_published_option
@decision_options
@quiet_option
def order(
    losses: str,
    prefer: str | None,
    missing: str,
    report_path: str | None,
    as_published: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Decide which learner of LOSSES to use, how the others rank, and why.

    LOSSES is a table of losses or scores (CSV, TSV, Excel, Parquet, JSONL, ARFF; one row per
    loss, one column per learner, or scikit-learn's cv_results_) or the name of an embedded
    table (breast-cancer-10x10, digits-5x2).

    \b
    Examples:
      bestofk order breast-cancer-10x10
      bestofk order breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk order breast-cancer-10x10 --report report.html
      bestofk order digits-5x2 --procedure most-wins --test 5x2cv-f
      bestofk order breast-cancer-10x10 --test use-all-data --df 10 --json
    """
    from bestofk.cli.terminal import print_decision
    from bestofk.decide.order import order as decide

    check_report_path(report_path)
    arguments = decision_arguments(options)
    if as_published:
        arguments = published_settings(arguments)
    reading = reading_options(options)
    with warnings_as_lines():
        table = read_table(losses, reading, missing=missing)
        decision = decide(
            table,
            prefer=preference(prefer, measured=False),
            missing=missing,
            **arguments,
        )
    echo_decision(
        decision,
        print_decision,
        ranking=decision.ranking,
        report_path=report_path,
        as_json=as_json,
        quiet=quiet,
        more={"account": list(table.account)},
    )
