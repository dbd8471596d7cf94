"""``bestofk order``: decide from a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.options import (
    check_report_path,
    command_line,
    decision_options,
    df_value,
    echo_json,
    read_table,
    report_option,
    table_options,
    warnings_as_lines,
)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@table_options
@click.option("--prior", metavar="NAMES", help="Learners, most preferred first: a,b,c.")
@click.option("--procedure", default="multitest", show_default=True, help="See: procedures.")
@click.option("--test", default="auto", show_default=True, help="See: tests.")
@click.option("--correction", metavar="NAME", help="holm (default), bonferroni, hochberg, ...")
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="Cells that some learner lacks: refuse, or drop them for all.",
)
@report_option
@decision_options
@click.option("--quiet", is_flag=True, help="Print the order only.")
def order(
    losses: str,
    prior: str | None,
    procedure: str,
    test: str,
    correction: str | None,
    missing: str,
    report_path: str | None,
    alpha: float,
    df: str | None,
    seed: int,
    as_json: bool,
    quiet: bool,
    higher_is_better: bool | None,
    **columns: Any,
) -> None:
    """Order the learners of LOSSES, find the best, and say why.

    LOSSES is a table (CSV, TSV, Parquet, JSONL, ARFF; one row a loss, or one column a learner)
    or the name of an embedded one (breast-cancer-10x10, digits-5x2).

    \b
    Examples:
      bestofk order breast-cancer-10x10
      bestofk order breast-cancer-10x10 --prior logistic-regression,decision-tree
      bestofk order breast-cancer-10x10 --report report.html
      bestofk order digits-5x2 --procedure most-wins --test 5x2cv-f
      bestofk order breast-cancer-10x10 --test use-all-data --df 10 --json
    """
    from bestofk.ordering.decide import order as decide

    check_report_path(report_path)
    with warnings_as_lines():
        table = read_table(losses, columns, higher_is_better)
        decision = decide(
            table,
            prior=None if prior is None else [name.strip() for name in prior.split(",")],
            procedure=procedure,
            test=test,
            df=df_value(df),
            alpha=alpha,
            correction=correction,
            missing=missing,
            random_state=seed,
        )
    if report_path is not None:
        decision.report(report_path, command=command_line())
    if as_json:
        more = {"report": report_path} if report_path else {}
        echo_json({**decision.as_json(), "account": list(table.account), **more})
    elif quiet:
        for name in decision.order:
            click.echo(str(name))
    else:
        from bestofk.cli.terminal import print_order

        print_order(decision, table.account)
        if report_path is not None:
            click.echo(f"The report is in {report_path}.")
