"""``bestofk order``: decide from a table of losses."""

from __future__ import annotations

from typing import Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import config_option
from bestofk.cli.options import (
    PREFER_NAMES,
    decision_arguments,
    decision_options,
    echo_decision,
    preference,
    read_table,
    reading_options,
    table_options,
    verbosity_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import file_options, planned_outputs
from bestofk.cli.say import say

COMMON = (
    "metric", "higher_is_better", "design", "where", "missing", "prefer", "margin", "alpha", "test",
    "report_path", "figures", "latex", "csv", "as_json", "explain", "quiet",
)  # fmt: skip
"""Options that most people need."""


@click.command(cls=SectionedCommand, common=COMMON)
@table_options
@file_options
@decision_options(PREFER_NAMES)
@verbosity_options
@config_option
def order(
    losses: str,
    prefer: str | None,
    missing: str,
    as_json: bool,
    explain: bool,
    quiet: bool,
    verbose: bool,
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
      bestofk order breast-cancer-10x10 --report report.html --figure forest.svg
      bestofk order digits-5x2 --procedure most-wins --test 5x2cv-f
      bestofk order breast-cancer-10x10 --test use-all-data --df 10 --json
    """
    outputs = planned_outputs(options)
    reading = reading_options(options)
    with warnings_as_lines():
        table = read_table(losses, reading, missing=missing)
        from bestofk.cli.terminal import print_decision
        from bestofk.decide.order import order as decide

        if verbose:
            say(" ".join(table.account), err=True)
        decision = decide(
            table,
            prefer=preference(prefer, measured=False),
            missing=missing,
            **decision_arguments(options),
        )
    echo_decision(
        decision,
        print_decision,
        ranking=decision.ranking,
        outputs=outputs,
        as_json=as_json,
        explain=explain,
        quiet=quiet,
        more={"account": list(table.account)},
    )
