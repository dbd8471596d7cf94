"""``bestofk order``: decide from a table of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import config_option
from bestofk.cli.options import (
    PREFER_NAMES,
    as_published_option,
    decision_arguments,
    decision_options,
    echo_decision,
    preference,
    published_settings,
    read_table,
    reading_options,
    table_options,
    verbosity_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import file_options, planned_outputs
from bestofk.cli.say import say

COMMON = (
    "truth", "metric", "higher_is_better", "design", "where", "missing", "prefer", "margin",
    "alpha", "test", "report_path", "figures", "latex", "csv", "as_json", "explain", "ranks",
    "quiet",
)  # fmt: skip
"""Options that most people need."""

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


@click.command(cls=SectionedCommand, common=COMMON)
@table_options
@click.option(
    "--truth",
    metavar="COL",
    help="LOSSES holds predictions: COL holds the true values, every other column is a model.",
)
@click.option("--scoring", metavar="NAME", help="With --truth: the metric, such as roc_auc or f1.")
@click.option("--groups", metavar="COL", help="With --truth: rows with the same COL value depend.")
@file_options
@as_published_option
@decision_options(PREFER_NAMES)
@verbosity_options
@config_option
def order(
    losses: str,
    prefer: str | None,
    missing: str,
    truth: str | None,
    scoring: str | None,
    groups: str | None,
    as_published: bool,
    as_json: bool,
    explain: bool,
    ranks: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Decide which learner of LOSSES to use, how the others rank, and why.

    LOSSES is a table of losses or scores (CSV, TSV, Excel, Parquet, JSONL, ARFF; one row per
    loss, one column per learner, or scikit-learn's cv_results_) or the name of an embedded
    table (breast-cancer-10x10, digits-5x2). With --truth COL it holds predictions of models for
    one test set instead.

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
    arguments = decision_arguments(options)
    if as_published:
        arguments = published_settings(arguments)
    with warnings_as_lines():
        if truth is None:
            if scoring is not None:
                raise click.UsageError(
                    "--scoring needs --truth, the column of true values; for a table of losses or "
                    "scores use --metric."
                )
            if groups is not None:
                raise click.UsageError("--groups needs --truth, the column of true values.")
            table = read_table(losses, reading, missing=missing)
            if verbose:
                say(" ".join(table.account), err=True)
            from bestofk.decide.order import order as decide

            decision = decide(
                table, prefer=preference(prefer, measured=False), missing=missing, **arguments
            )
            account = table.account
        else:
            decision = _predictions(losses, truth, scoring, groups, prefer, reading, arguments)
            account = ()
    from bestofk.cli.terminal import print_decision

    echo_decision(
        decision,
        print_decision,
        ranking=decision.ranking,
        outputs=outputs,
        as_json=as_json,
        explain=explain,
        ranks=ranks,
        quiet=quiet,
        more={"account": list(account)},
    )


def _predictions(
    path: str,
    truth: str,
    scoring: str | None,
    groups: str | None,
    prefer: str | None,
    reading: dict[str, Any],
    arguments: dict[str, Any],
) -> Decision:
    """Decide about a table of predictions."""
    from bestofk.decide.settings import Settings
    from bestofk.run.one_test_set import order_predictions

    models = reading.pop("learners", None)
    for name in reading:
        raise click.UsageError(
            f"--{name.replace('_', '-')} does not apply to predictions (--truth)."
        )
    return order_predictions(
        truth,
        path,
        models=models,
        scoring=scoring,
        groups=groups,
        settings=Settings(prefer=preference(prefer, measured=False), **arguments),
    )
