"""``bestofk scores``: decide from a table of losses, predictions, battles or printed scores."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.files import check_source
from bestofk.cli.options import (
    by_option,
    decision_options,
    direction_option,
    option_group,
    output_options,
    pairs_option,
    preference,
    print_options,
    refuse,
    warnings_as_lines,
)
from bestofk.cli.outputs import planned_outputs
from bestofk.cli.say import say
from bestofk.cli.set_values import READ_SCORES, SETTINGS, SettingsCommand, taken

table_options = option_group(
    click.argument("table", metavar="TABLE"),
    direction_option,
    pairs_option(
        "--column", metavar="ROLE=COL",
        help="Column of the learner, dataset, run, fold, repetition, instance, score, metric or "
        "time; with --truth of the groups or fold; of battles the cluster. Repeatable.",
    ),
    click.option("--metric", metavar="NAME", help="Which metric, if the table has several."),
    click.option(
        "--design", metavar="DESIGN",
        help="How the numbers were measured: kfold:10, 10x10, resample:30:0.2, time, seeds, "
        "test-set, ...",
    ),
)  # fmt: skip
"""A table of losses, and how to read it."""
OF_PAIRS = ("prefer", "alpha", "correction")
"""Settings that apply to intervals of losses and to printed tables."""
INTERVALS = "intervals of losses"


@click.command(
    cls=SettingsCommand,
    places=(SETTINGS, READ_SCORES),
    more={"interval": "str"},
)
@table_options
@click.option(
    "--truth", metavar="COL",
    help="TABLE holds predictions: COL holds the true values, every other column is a model.",
)  # fmt: skip
@click.option(
    "--items", type=click.IntRange(min=2), metavar="N",
    help="TABLE is printed, with one score per model: what can it show, if every model answered "
    "N items?",
)  # fmt: skip
@by_option
@decision_options("Names, most preferred first: a,b,c; or listed.")
@output_options
@print_options
def scores(
    table: str,
    truth: str | None,
    items: int | None,
    by: str | None,
    verbose: bool,
    **options: Any,
) -> None:
    """Say which learner of TABLE to use, and how much worse than the best it can be.

    TABLE is a table of losses or scores (CSV, TSV, Excel, Parquet, JSONL, ARFF; one row per
    loss, one column per learner, or scikit-learn's cv_results_) or the name of an embedded
    table (breast-cancer-10x10, digits-5x2). With --truth COL it holds predictions of models for
    one test set. With the columns model_a, model_b and winner it holds battles between pairs of
    models, and with low and high intervals of losses.

    \b
    Examples:
      bestofk scores breast-cancer-10x10
      bestofk scores breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk scores breast-cancer-10x10 --report report.html --figure forest.svg
      bestofk scores digits-5x2 --set test=5x2cv-f --pairs
    """
    outputs = planned_outputs(options)
    check_source(table, "file or embedded table", "bestofk.losses.reading:EXAMPLES")
    interval = options.pop("interval", None)
    options["prefer"] = preference(options["prefer"], measured=False)
    missing = options.pop("missing", "refuse")
    settings = taken(options, SETTINGS)
    reading = taken(options, READ_SCORES)
    with warnings_as_lines():
        if items is not None:
            decision = _printed(table, items, settings, {**reading, "truth": truth, "by": by})
        elif truth is not None:
            decision = _predictions(table, truth, settings, {**reading, "by": by})
        else:
            from bestofk.losses import read_scores
            from bestofk.losses.reading import kind_of, open_source

            source = open_source(table, reading.get("format"))
            kind = "intervals" if interval is not None else kind_of(source, reading)
            if kind == "battles":
                decision = _battles(table, missing, settings, {**reading, "by": by})
            elif kind == "intervals":
                direction = reading.pop("higher_is_better", None)
                losses: Any = table
                if interval is not None:
                    losses = read_scores(
                        table, missing="allow", higher_is_better=direction, **reading
                    )
                    reading = {}
                refuse(INTERVALS, reading)
                decision = by_intervals(
                    losses, settings, interval=interval, missing=missing, higher_is_better=direction
                )
            else:
                from bestofk.decide.compare_scores import compare_scores

                losses = read_scores(source, missing="allow", **reading)
                if verbose:
                    say(" ".join(losses.account), err=True)
                arguments = {"missing": missing, **settings}
                if by is None:
                    decision = compare_scores(losses, **arguments)
                else:
                    from bestofk.decide.slices import order_by

                    decision = order_by(table, by, **reading, **arguments)
    outputs.show(decision)


def _predictions(path: str, truth: str, settings: dict[str, Any], reading: dict[str, Any]) -> Any:
    """Decide about a table of predictions."""
    from bestofk.decide.settings import Settings
    from bestofk.run.one_test_set import compare_predictions

    roles = reading.pop("columns", {})
    arguments: dict[str, Any] = {
        "models": reading.pop("learners", None),
        "scoring": reading.pop("metric", None),
        "groups": roles.pop("groups", None) or roles.pop("group", None),
        "folds": roles.pop("fold", None) or roles.pop("folds", None),
        "settings": Settings(**settings),
    }
    refuse("predictions (--truth)", {**reading, "columns": roles})
    return compare_predictions(truth, path, **arguments)


def _battles(path: str, missing: str, settings: dict[str, Any], reading: dict[str, Any]) -> Any:
    """Return the order of models by their battles."""
    from bestofk.decide.battles import compare_battles

    roles = reading.pop("columns", {})
    alpha = {"alpha": settings.pop("alpha")} if "alpha" in settings else {}
    cluster = roles.pop("cluster", None)
    refuse("battles", {**settings, **reading, "columns": roles})
    return compare_battles(path, cluster=cluster, missing=missing, **alpha)


def by_intervals(losses: Any, settings: dict[str, Any], **options: Any) -> Any:
    """Return the order of learners whose losses are intervals."""
    from bestofk.decide.registry import RULES

    chosen = {name: settings.pop(name) for name in (*OF_PAIRS, "test") if name in settings}
    refuse(INTERVALS, settings)
    rule = next(entry for entry in RULES.values() if entry.takes == "intervals")
    return rule.load()(losses, **options, **chosen)


def _printed(path: str, items: int, settings: dict[str, Any], reading: dict[str, Any]) -> Any:
    """Return what a table with one score per model can show."""
    from bestofk.decide.printed_table import order_printed

    direction = reading.pop("higher_is_better", None)
    chosen = {name: settings.pop(name) for name in OF_PAIRS if name in settings}
    refuse("a printed table (--items)", {**settings, **reading})
    return order_printed(path, items, higher_is_better=direction, **chosen)
