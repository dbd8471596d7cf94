"""``bestofk scores``: decide from a table of losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bestofk._base.errors import Advice
from bestofk._base.missing_files import check_source
from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import config_option
from bestofk.cli.options import (
    PREFER_NAMES,
    as_published_option,
    by_option,
    decision_arguments,
    decision_options,
    echo_decision,
    interval_option,
    is_typed,
    preference,
    published_settings,
    read_table,
    reading_options,
    refuse_options,
    table_options,
    typed,
    verbosity_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import Outputs, file_options, planned_outputs
from bestofk.cli.say import say

COMMON = (
    "truth", "metric", "higher_is_better", "design", "where", "missing", "prefer", "margin",
    "alpha", "test", "report_path", "figures", "csv", "as_json", "explain", "pairs",
    "quiet",
)  # fmt: skip
"""Options that most people need."""
ONLY_FOR_LOSSES = (
    "by", "procedure", "family", "control", "margin", "rope", "df", "as_published"
)  # fmt: skip
"""Options that apply neither to intervals of losses, printed tables nor battles."""
NOT_FOR_PRINTED_TABLES = (
    "test", "truth", "scoring", "groups", "folds", "interval", "design", "learners", "metric",
    "layout", "format_", "where", "missing", "figures", "pairs", "ranks",
)  # fmt: skip
NOT_FOR_BATTLES = ("prefer", "test", "correction", "interval")

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.decide.from_pairs import StatedDecision
    from bestofk.decide.slices import Slices


@click.command(cls=SectionedCommand, common=COMMON)
@table_options
@click.option(
    "--truth",
    metavar="COL",
    help="LOSSES holds predictions: COL holds the true values, every other column is a model.",
)
@click.option("--scoring", metavar="NAME", help="With --truth: the metric, such as roc_auc or f1.")
@click.option("--groups", metavar="COL", help="With --truth: rows with the same COL value depend.")
@click.option("--folds", metavar="COL", help="With --truth: COL holds the fold that tested a row.")
@click.option(
    "--items", type=click.IntRange(min=2), metavar="N",
    help="LOSSES is a printed table with one score per model: what can it show, if every model "
    "answered N items?",
)  # fmt: skip
@click.option(
    "--cluster", metavar="COL",
    help="For battles: rows with the same COL value, such as a prompt or judge, depend.",
)  # fmt: skip
@file_options
@as_published_option
@interval_option
@by_option
@decision_options(PREFER_NAMES)
@verbosity_options
@config_option
def scores(
    losses: str,
    prefer: str | None,
    missing: str,
    truth: str | None,
    scoring: str | None,
    groups: str | None,
    folds: str | None,
    items: int | None,
    cluster: str | None,
    as_published: bool,
    interval: str | None,
    by: str | None,
    as_json: bool,
    pairs: bool,
    explain: bool,
    ranks: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Say which learner of LOSSES to use, and how much worse than the best it can be.

    LOSSES is a table of losses or scores (CSV, TSV, Excel, Parquet, JSONL, ARFF; one row per
    loss, one column per learner, or scikit-learn's cv_results_) or the name of an embedded
    table (breast-cancer-10x10, digits-5x2). With --truth COL it holds predictions of models for
    one test set instead. A table with the columns low and high holds intervals of losses. A
    table with the columns model_a, model_b and winner holds battles between pairs of models.

    \b
    Examples:
      bestofk scores breast-cancer-10x10
      bestofk scores breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk scores breast-cancer-10x10 --report report.html --figure forest.svg
      bestofk scores digits-5x2 --procedure most-wins --test 5x2cv-f
      bestofk scores breast-cancer-10x10 --test use-all-data --df 10 --json
    """
    outputs = planned_outputs(options)
    slices = None
    reading = reading_options(options)
    arguments = decision_arguments(options)
    if as_published:
        arguments = published_settings(arguments)
    if cluster is not None and (items is not None or truth is not None):
        raise click.UsageError(_ONLY_BATTLES)
    if items is not None:
        printed = _decide_by_printed_scores(losses, items, prefer, reading, arguments)
        _echo_statement(printed, outputs, as_json=as_json, quiet=quiet)
        return
    with warnings_as_lines():
        if truth is None:
            if scoring is not None:
                raise click.UsageError(
                    "--scoring needs --truth, the column of true values; for a table of losses or "
                    "scores use --metric."
                )
            for name, column in (("groups", groups), ("folds", folds)):
                if column is not None:
                    raise click.UsageError(f"--{name} needs --truth, the column of true values.")
            # before numpy and pandas are imported
            check_source(losses, "file or embedded table", "bestofk.losses.reading:EXAMPLES")
            from bestofk.losses.columns import BattleColumnsError, IntervalColumnsError

            table: Any = losses
            try:
                table = read_table(losses, reading)
                has_intervals = interval is not None
            except IntervalColumnsError:
                has_intervals = True
            except BattleColumnsError:
                battles = _decide_by_battles(losses, cluster, missing, reading, arguments["alpha"])
                _echo_statement(
                    battles, outputs, as_json=as_json, quiet=quiet, pairs=pairs, ranks=ranks
                )
                return
            if cluster is not None:
                raise click.UsageError(_ONLY_BATTLES)
            if has_intervals:
                intervals = _decide_by_intervals(
                    table, interval, prefer, missing, reading, arguments
                )
                _echo_statement(intervals, outputs, as_json=as_json, quiet=quiet)
                return
            if verbose:
                say(" ".join(table.account), err=True)
            from bestofk.decide.compare_scores import compare_scores as decide

            settings: dict[str, Any] = {
                "prefer": preference(prefer, measured=False),
                "missing": missing,
            }
            decision = decide(table, **settings, **arguments)
            account = table.account
            if by is not None:
                from bestofk.decide.slices import order_by

                slices = order_by(losses, by, **reading, **settings, **arguments)
        else:
            decision, slices = _predictions(
                losses, truth, scoring, groups, folds, by, prefer, reading, arguments
            )
            account = ()
    from bestofk.cli.terminal import print_result

    echo_decision(
        decision,
        print_result,
        ranking=decision.ranking,
        outputs=outputs,
        as_json=as_json,
        pairs=pairs,
        explain=explain,
        ranks=ranks,
        quiet=quiet,
        more={"account": list(account)},
        slices=slices,
    )


_ONLY_BATTLES = (
    "--cluster is for battles, a table with the columns model_a, model_b and winner; for "
    "predictions (--truth) use --groups."
)


def _decide_by_battles(
    path: str,
    cluster: str | None,
    missing: str,
    reading: dict[str, Any],
    alpha: float,
) -> StatedDecision:
    """Return the order of models by their battles."""
    from bestofk.decide.battles import compare_battles

    refuse_options("battles", (*ONLY_FOR_LOSSES, *NOT_FOR_BATTLES))
    for name, value in reading.items():
        raise click.UsageError(f"{typed(Advice(name, value), 'scores')} does not apply to battles.")
    return compare_battles(path, cluster=cluster, alpha=alpha, missing=missing)


def _decide_by_intervals(
    table: Any,
    interval: str | None,
    prefer: str | None,
    missing: str,
    reading: dict[str, Any],
    arguments: dict[str, Any],
) -> StatedDecision:
    """Return the order of learners whose losses are intervals."""
    from bestofk.decide.registry import PROCEDURES

    refuse_options("intervals of losses", (*ONLY_FOR_LOSSES, "figures", "pairs", "ranks"))
    chosen = {name: arguments[name] for name in ("test", "correction") if is_typed(name)}
    procedure = next(entry for entry in PROCEDURES.values() if entry.takes == "intervals")
    decision: StatedDecision = procedure.load()(
        table,
        interval=interval,
        prefer=preference(prefer, measured=False),
        alpha=arguments["alpha"],
        higher_is_better=reading.get("higher_is_better"),
        missing=missing,
        **chosen,
    )
    return decision


def _decide_by_printed_scores(
    path: str,
    items: int,
    prefer: str | None,
    reading: dict[str, Any],
    arguments: dict[str, Any],
) -> StatedDecision:
    """Return what a table with one score per model can show."""
    from bestofk.decide.printed_table import order_printed

    refuse_options("a printed table (--items)", (*ONLY_FOR_LOSSES, *NOT_FOR_PRINTED_TABLES))
    chosen = {"correction": arguments["correction"]} if is_typed("correction") else {}
    return order_printed(
        path,
        items,
        prefer=preference(prefer, measured=False),
        alpha=arguments["alpha"],
        higher_is_better=reading.get("higher_is_better"),
        **chosen,
    )


def _echo_statement(
    decision: StatedDecision,
    outputs: Outputs,
    *,
    as_json: bool,
    quiet: bool,
    pairs: bool = False,
    ranks: bool = False,
) -> None:
    from bestofk.cli.terminal import print_result

    echo_decision(
        decision,
        print_result,
        ranking=decision.ranking,
        outputs=outputs,
        as_json=as_json,
        explain=False,
        quiet=quiet,
        pairs=pairs,
        ranks=ranks,
    )


def _predictions(
    path: str,
    truth: str,
    scoring: str | None,
    groups: str | None,
    folds: str | None,
    by: str | None,
    prefer: str | None,
    reading: dict[str, Any],
    arguments: dict[str, Any],
) -> tuple[Decision, Slices | None]:
    """Decide about a table of predictions, and by slice if `by` names a column."""
    from bestofk.decide.settings import Settings
    from bestofk.run.one_test_set import compare_predictions, order_predictions_by

    models = reading.pop("learners", None)
    for name, value in reading.items():
        raise click.UsageError(
            f"{typed(Advice(name, value), 'scores')} does not apply to predictions (--truth)."
        )
    options: dict[str, Any] = {
        "models": models,
        "scoring": scoring,
        "groups": groups,
        "folds": folds,
        "settings": Settings(prefer=preference(prefer, measured=False), **arguments),
    }
    if by is None:
        return compare_predictions(truth, path, **options), None
    return order_predictions_by(truth, path, by, **options)
