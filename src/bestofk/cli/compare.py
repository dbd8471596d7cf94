"""``bestofk compare``: compare learners on data and decide."""

from __future__ import annotations

from typing import Any

import click

from bestofk._base.errors import TableError, use
from bestofk._base.files import check_source
from bestofk.cli.options import (
    budget_option,
    by_option,
    command_line,
    decision_options,
    output_options,
    pairs_option,
    preference,
    print_options,
    refuse,
    store_option,
    warnings_as_lines,
)
from bestofk.cli.outputs import planned_outputs
from bestofk.cli.say import printed_on_stderr, say, say_start
from bestofk.cli.scores import INTERVALS, by_intervals
from bestofk.cli.set_values import EXECUTION, SETTINGS, SettingsCommand, names_in, taken

PUBLISHED_LEARNERS = ("max", "nmc", "logistic", "c4.5", "nn")
"""The learners of the MultiTest paper."""
PUBLISHED_SPLITS = {"cv": "5x2", "stratify": False, "duplicates": "split"}
"""Its splits: plain random halves."""


@click.command(
    cls=SettingsCommand,
    places=(SETTINGS, EXECUTION),
    more={
        "task": "str",
        "sample_weight": "str",
        "stop": "str",
        "risk": "float",
        "interval": "str",
    },
)
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option("--target", metavar="COL", help="Column to predict.")
@click.option(
    "--learner", "learners", metavar="SPEC", multiple=True,
    help="A name (bestofk list learners), package.module:Class(param=value), ./models.py:name, or "
    "models.py for all in it. Repeatable.",
)  # fmt: skip
@click.option(
    "--cv", metavar="PLAN",
    help="5x2, 10x10, ... (bestofk list plans).  [default: 10x5+nested, fewer runs above 2,000 "
    "rows; 10x10 on several data sets]",
)  # fmt: skip
@click.option(
    "--scoring", metavar="NAMES", multiple=True,
    help="accuracy, roc_auc, ... (bestofk list metrics), or a cost matrix: costs.csv. Of several, "
    "the first decides.",
)  # fmt: skip
@click.option("--groups", metavar="COL", help="Keep rows with the same COL value in one fold.")
@by_option
@pairs_option(
    "--column", metavar="COL=KIND", help="What a column is: category, number or ignore. Repeatable."
)
@decision_options(
    "Names, most preferred first: a,b,c; or listed, fit_time, predict_time, size, complexity."
)
@budget_option
@store_option
@click.option("--dry-run", is_flag=True, help="Estimate fits, time and memory by one fit each.")
@click.option("--per-dataset", is_flag=True, help="Decide on each data set by itself.")
@click.option("--as-published", is_flag=True, help="Decide by MultiTest as its paper has it.")
@output_options
@print_options
def compare(
    data: tuple[str, ...],
    target: str | None,
    learners: tuple[str, ...],
    scoring: tuple[str, ...],
    as_published: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Compare learners on DATA: which to use, and how much worse than the best it can be.

    DATA is a file (CSV, TSV, Excel, Parquet, ARFF, JSONL), several of them, or the name of an
    embedded data set (iris, wine, breast-cancer, digits).

    \b
    Examples:
      bestofk compare iris
      bestofk compare wine --learner logistic --learner decision-tree --cv 5x2 --json
      bestofk compare wine --learner logistic --learner random-forest --cv 5x2 --report wine.html
      bestofk compare iris --learner logistic --learner 'sklearn.svm:SVC(C=10)'
      bestofk compare wine --groups ash --cv group-kfold:5 --prefer fit_time
      bestofk compare breast-cancer --set stop=settled
      bestofk compare iris wine breast-cancer --per-dataset --as-published
    """
    outputs = planned_outputs(options)
    say_start(quiet=outputs.quiet)
    # Checks that import neither pandas nor scikit-learn come first: a refusal should be quick.
    _check_data(data, target)
    from bestofk.learners.specification import check_specifications

    files = [one for one in learners if one.endswith(".py") and "=" not in one]
    named = [one for one in learners if one not in files]
    check_specifications(named)
    if options["cv"] is not None:
        from bestofk.splits.plans import plan

        plan(options["cv"])
    options["prefer"] = preference(options["prefer"])
    settings = taken(options, SETTINGS)
    if as_published:
        settings = _published(settings)
        if len(data) > 1 and not options["per_dataset"]:
            raise click.UsageError("--as-published decides on one data set: add --per-dataset.")
        given = {name: value for name, value in options.items() if value is not None}
        options = {**options, **PUBLISHED_SPLITS, **given}
        named = named if learners else list(PUBLISHED_LEARNERS)
    interval, by_interval = options.pop("interval", None), {}
    if interval is not None:
        refuse(INTERVALS, {name: options.get(name) for name in ("by", "per_dataset", "stop")})
        by_interval = settings
        settings = {k: by_interval.pop(k) for k in ("random_state",) if k in by_interval}
    stop = _stop_rule(options.pop("stop", None), options.pop("risk", None))
    from bestofk.decide.settings import Settings
    from bestofk.learners.specification import chosen_learners
    from bestofk.run.compare import compare as run_comparison
    from bestofk.run.engine import Execution

    made = Settings(**settings)
    execution = Execution(
        **taken(options, EXECUTION),
        progress="log" if verbose else not outputs.quiet,
        command=command_line(),
    )
    # Learners may print; keep that out of the answer.
    with warnings_as_lines(), printed_on_stderr():
        study = run_comparison(
            chosen_learners(named, files),
            list(data),
            target,
            scoring=_metrics(scoring),
            stop=stop,
            settings=made,
            execution=execution,
            **options,
        )
        if interval is not None and not execution.dry_run:
            missing = by_interval.pop("missing", "refuse")
            study = by_intervals(study.scores, by_interval, interval=interval, missing=missing)
    if execution.dry_run:
        say(study)
    else:
        outputs.show(study)


def _check_data(data: tuple[str, ...], target: str | None) -> None:
    """Raise an error if there is no such file or embedded data set."""
    for source in data:
        try:
            check_source(source, "file or embedded data set", "bestofk.data.embedded:DATASETS")
        except TableError as error:
            if source == data[0] or target is not None:
                raise
            # people name the column after the file
            advice = (" If it is the column to predict, pass ", use(target=source), ".")
            raise TableError(*error.args, *advice) from None


def _published(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the MultiTest paper; refuse others."""
    from bestofk.decide.multitest_order import AS_PUBLISHED

    for name in AS_PUBLISHED:
        if name in settings:
            raise click.UsageError(f"--as-published sets {name}; leave one of the two out.")
    return {"prefer": "complexity", **settings, **AS_PUBLISHED}


def _stop_rule(stop: str | None, risk: float | None) -> Any:
    """Return the rule of ``--set stop=settled``, or ``order`` to settle the whole order."""
    from bestofk.decide.stopping.rule import StopRule

    if stop is None:
        if risk is not None:
            raise click.UsageError("--set risk needs a rule: add --set stop=settled.")
        return None
    target = "best" if stop == "settled" else stop
    return StopRule(target=target, **({} if risk is None else {"risk": risk}))  # type: ignore[arg-type]


def _metrics(texts: tuple[str, ...]) -> Any:
    """Return the metrics; the name of a table is a cost matrix."""
    names = [name for text in texts for name in names_in(text)]
    metrics = [_cost_matrix(name) if name.endswith((".csv", ".tsv")) else name for name in names]
    return metrics[0] if len(metrics) == 1 else metrics or None


def _cost_matrix(path: str) -> Any:
    """Read a cost matrix: the first column names the truth, the other columns the predictions."""
    import pandas as pd

    from bestofk.data.tables import read_table

    table = read_table(path)
    truth, *predicted = table.columns
    names = [str(name) for name in table.text(truth)]
    return pd.DataFrame({name: table.numbers(name) for name in predicted}, index=names)
