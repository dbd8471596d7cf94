"""``bestofk compare``: compare learners on data and decide."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any

import click
from click.core import ParameterSource

from bestofk._base.errors import TableError, use
from bestofk._base.missing_files import check_source
from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import RepeatedArgument, config_option
from bestofk.cli.options import (
    PREFER_COSTS,
    as_published_option,
    by_option,
    command_line,
    decision_arguments,
    decision_options,
    echo_decision,
    echo_explanation,
    jobs_option,
    names_in,
    pairs_in,
    preference,
    progress_of,
    published_settings,
    refuse_options,
    scheduler_option,
    verbosity_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import file_options, planned_outputs
from bestofk.cli.say import say_start

_STOP_OPTIONS = {"stop_target": "--stop-target", "risk": "--risk"}
PUBLISHED_LEARNERS = ("max", "nmc", "logistic", "c4.5", "nn")
"""The learners of the MultiTest paper."""
_SECONDS_BY_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


COMMON = (
    "target", "learners", "cv", "scoring", "groups", "prefer", "margin", "alpha", "budget",
    "store", "report_path", "figures", "as_json", "explain", "pairs",
    "quiet",
)  # fmt: skip
"""Options that most people need."""

NOT_FOR_SCORES = (
    "prefer", "test", "family", "control", "margin", "rope", "df", "scoring", "cost",
    "stop", "store", "repetitions", "report_path", "csv", "budget",
    "by", "figures",
)  # fmt: skip
"""Options that do not apply to a procedure that decides from scores of test rows."""


@click.command(cls=SectionedCommand, common=COMMON)
@click.argument("data", cls=RepeatedArgument, metavar="DATA...", nargs=-1, required=True)
@click.option("--target", metavar="COL", help="Column to predict.")
@click.option(
    "--learner",
    "learners",
    metavar="SPEC",
    multiple=True,
    help="A name (bestofk list learners), name=SPEC, package.module:Class(param=value) or "
    "./models.py:name. Repeatable.",
)
@click.option(
    "--learners",
    "learner_files",
    metavar="FILE.py",
    multiple=True,
    help="Run this Python file and use its mapping or list named learners.",
)
@click.option(
    "--cv",
    metavar="PLAN",
    help="5x2, 10x10, ... (bestofk list plans).  [default: 10x5+nested on one data set, 5x5 "
    "above 2,000 rows, 3x5 above 20,000; 10x10 on several]",
)
@click.option("--groups", metavar="COL", help="Keep rows with the same COL value in one fold.")
@click.option(
    "--sample-weight", metavar="COL", help="Weight of each row, in fits and in the metric."
)
@click.option(
    "--stratify",
    type=click.Choice(["labels", "quantiles", "no"]),
    help="Spread classes (default) or quantiles of the target evenly over the folds, or neither.",
)
@click.option("--repetitions", type=click.IntRange(min=1, max=10_000), default=1, show_default=True,
              help="Repeat the same folds with other learner seeds.")  # fmt: skip
@click.option(
    "--scoring",
    metavar="NAMES",
    multiple=True,
    help="accuracy, roc_auc, ... (bestofk list metrics). Of several, the first decides.",
)
@click.option("--cost", metavar="FILE", help="Decide by this cost matrix; rows are the truth.")
@jobs_option
@click.option("--threads", type=click.IntRange(min=1, max=1024), default=1, show_default=True,
              help="Threads of BLAS and OpenMP in one fit, on any engine.")  # fmt: skip
@click.option(
    "--engine",
    default="auto",
    show_default=True,
    help="auto, serial, processes or dask.",
)
@scheduler_option
@click.option("--timeout", metavar="TIME", help="Stop a fit that takes longer: 30, 30s, 2m.")
@click.option(
    "--budget",
    metavar="TIME",
    help="Stop after this time and decide from what has finished: 90, 10m, 2h.",
)
@click.option(
    "--stop",
    type=click.Choice(["settled"]),
    help="Stop learners, and the comparison, as soon as the decision is settled.",
)
@click.option(
    "--stop-target",
    type=click.Choice(["best", "order"]),
    default="best",
    show_default=True,
    help="With --stop: settle the recommendation, or the whole order.",
)
@click.option("--risk", type=float, default=None, show_default="0.05; over data sets none",
              help="With --stop: chance that the plan would decide differently.")  # fmt: skip
@click.option(
    "--on-failure",
    type=click.Choice(["record", "stop"]),
    default="record",
    show_default=True,
    help="If a learner fails: leave it out with a note, or stop.",
)
@click.option("--retry-failed", is_flag=True, help="Repeat fits that the store records as failed.")
@click.option("--store", metavar="URL", help="Save fits in a file or database, and resume from it.")
@click.option(
    "--column",
    "columns",
    metavar="COL=KIND",
    multiple=True,
    callback=pairs_in,
    help="What a column is: category, number or ignore. Repeatable.",
)
@click.option("--task", type=click.Choice(["auto", "classification", "regression"]),
              default="auto", show_default=True,
              help="Predict labels or numbers. Auto decides and says which.")  # fmt: skip
@file_options
@by_option
@as_published_option
@decision_options(PREFER_COSTS.replace("size.", "size, complexity."))
@verbosity_options
@config_option
def compare(
    data: tuple[str, ...],
    target: str | None,
    learners: tuple[str, ...],
    learner_files: tuple[str, ...],
    cv: str | None,
    groups: str | None,
    sample_weight: str | None,
    stratify: str | None,
    repetitions: int,
    scoring: tuple[str, ...],
    cost: str | None,
    prefer: str | None,
    n_jobs: int,
    threads: int,
    engine: str,
    scheduler: str | None,
    timeout: str | None,
    budget: str | None,
    stop: str | None,
    stop_target: str,
    risk: float | None,
    on_failure: str,
    retry_failed: bool,
    store: str | None,
    columns: dict[str, str],
    task: str,
    by: str | None,
    as_published: bool,
    as_json: bool,
    pairs: bool,
    explain: bool,
    ranks: bool,
    quiet: bool,
    verbose: bool,
    **decision: Any,
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
      bestofk compare breast-cancer --stop settled
      bestofk compare iris --as-published
      bestofk compare breast-cancer --learner logistic --learner naive-bayes --procedure roc-hull
    """
    say_start(quiet=quiet)
    outputs = planned_outputs(decision)
    # Checks that import neither pandas nor scikit-learn come first: a refusal should be quick.
    _check_data(data, target)
    from bestofk.learners.specification import check_specifications

    check_specifications(learners)
    options: dict[str, Any] = {
        "target": target,
        "columns": columns,
        "groups": groups,
        "sample_weight": sample_weight,
        "by": by,
    }
    arguments = decision_arguments(decision)
    if as_published:
        arguments = published_settings(arguments)
        cv, prefer = cv or "5x2", prefer or "complexity"
        if not learners and not learner_files:
            learners = PUBLISHED_LEARNERS
    plan = _plan(cv, stratify, decision["random_state"])
    rule = _stop_rule(stop, target=stop_target, risk=risk)
    fit_seconds, seconds = _seconds(timeout, "--timeout"), _seconds(budget, "--budget")
    from bestofk._base.registry import resolve
    from bestofk.decide.registry import PROCEDURES

    procedure = PROCEDURES[arguments["procedure"]]
    if procedure.takes != "scores":
        from bestofk.decide.settings import Settings

        settings = Settings(prefer=preference(prefer), **arguments)
    from bestofk.cli.terminal import print_result
    from bestofk.learners.specification import chosen_learners
    from bestofk.run.compare import compare as run_comparison
    from bestofk.run.engine import Execution
    from bestofk.run.inputs import as_datasets

    # Learners may print; keep that out of the answer.
    if procedure.takes == "scores":
        refuse_options(f"the procedure {procedure.name}", NOT_FOR_SCORES)
        with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
            selected = resolve(procedure.on_data)(
                chosen_learners(learners, learner_files),
                as_datasets(list(data), task=task, **options),
                procedure=procedure.name,
                cv=cv or "kfold:10",
                alpha=arguments["alpha"],
                correction=arguments["correction"] or "holm",
                random_state=arguments["random_state"],
            )
        echo_explanation(selected, as_json=as_json)
        return
    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        study = run_comparison(
            chosen_learners(learners, learner_files),
            list(data),
            **options,
            cv=plan,
            scoring=_metrics(scoring, cost),
            stop=rule,
            settings=settings,
            execution=Execution(
                n_jobs=n_jobs,
                threads=threads,
                engine=engine,
                scheduler=scheduler,
                timeout=fit_seconds,
                budget=seconds,
                store=store,
                progress=progress_of(quiet=quiet, verbose=verbose),
                on_failure=on_failure,
                retry_failed=retry_failed,
                repetitions=repetitions,
                task=task,
                command=command_line(),
            ),
        )
    echo_decision(
        study,
        print_result,
        ranking=study.ranking,
        outputs=outputs,
        as_json=as_json,
        pairs=pairs,
        explain=explain,
        ranks=ranks,
        quiet=quiet,
        slices=study.slices,
    )


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


def _stop_rule(stop: str | None, *, risk: float | None, **options: Any) -> Any:
    """Return the rule that the options describe."""
    from bestofk.decide.stopping.rule import StopRule

    if risk is not None:
        options["risk"] = risk
    if stop is not None:
        return StopRule(**options)
    context = click.get_current_context()
    for name, option in _STOP_OPTIONS.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{option} applies to a comparison that stops early: add --stop settled."
            )
    return None


def _plan(plan: str | None, stratify: str | None, random_state: int) -> Any:
    """Return the plan; None if --cv is not set."""
    if plan is None and stratify is None:
        return None
    if plan is None:
        raise click.UsageError("--stratify needs a plan: add --cv 10x10.")
    from bestofk.splits.plans import plan as make_plan

    if stratify is None:
        return make_plan(plan, random_state=random_state)
    stratified = {"labels": True, "no": False}.get(stratify, stratify)
    return make_plan(plan, stratified=stratified, random_state=random_state)


def _metrics(texts: tuple[str, ...], cost: str | None) -> Any:
    """Return the metrics; a cost matrix comes first, because the first metric decides."""
    metrics: list[Any] = [] if cost is None else [_cost_matrix(cost)]
    metrics += [name for text in texts for name in names_in(text)]
    return metrics[0] if len(metrics) == 1 else metrics or None


def _cost_matrix(path: str) -> Any:
    """Read a cost matrix: the first column names the truth, the other columns the predictions."""
    import pandas as pd

    from bestofk.data.tables import read_table

    table = read_table(path)
    truth, *predicted = table.columns
    names = [str(name) for name in table.text(truth)]
    return pd.DataFrame({name: table.numbers(name) for name in predicted}, index=names)


def _seconds(text: str | None, option: str) -> float | None:
    """Return ``90``, ``90s``, ``10m``, ``2h`` or ``1d`` in seconds."""
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if match is None or float(match[1]) == 0:
        raise click.UsageError(f"{option} must be a time such as 90, 30s, 10m or 2h; got {text!r}.")
    return float(match[1]) * _SECONDS_BY_UNIT[match[2]]
