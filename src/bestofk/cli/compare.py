"""``bestofk compare``: run learners on data, decide, and say why."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any

import click
from click.core import ParameterSource

from bestofk.cli.app import SectionedCommand
from bestofk.cli.options import (
    check_report_path,
    command_line,
    decision_arguments,
    decision_options,
    echo_json,
    jobs_option,
    preference,
    report_option,
    warnings_as_lines,
)
from bestofk.cli.say import say, say_name

_STOP_OPTIONS = {"stop_target": "--stop-target", "settle": "--settle", "risk": "--risk",
                 "max_runs": "--max-runs"}  # fmt: skip
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@click.command(cls=SectionedCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("data", metavar="DATA...", nargs=-1, required=True)
@click.option("--target", metavar="COL", help="Column to predict.")
@click.option(
    "--learner",
    "learners",
    metavar="SPEC",
    multiple=True,
    help="A name of: bestofk learners; name=spec; package.module:Class(param=value); or "
    "./models.py:name. Repeat it.",
)
@click.option(
    "--learners",
    "learner_files",
    metavar="FILE.py",
    multiple=True,
    help="Run this Python file and take its mapping or list called learners.",
)
@click.option("--cv", help="See: bestofk plans. 10x5+nested on one data set, else 10x10.")
@click.option("--groups", metavar="COL", help="Rows alike in COL (patient, day) are never divided.")
@click.option("--weight", metavar="COL", help="How much each row counts, in fits and in the loss.")
@click.option(
    "--stratify",
    type=click.Choice(["labels", "quantiles", "no"]),
    help="Spread classes evenly over the folds (default), or parts of the numbers, or neither.",
)
@click.option("--repetitions", type=click.IntRange(min=1, max=10_000), default=1, show_default=True,
              help="The same folds again with another learner seed.")  # fmt: skip
@click.option(
    "--scoring",
    metavar="NAMES",
    multiple=True,
    help="See: bestofk losses. accuracy,log-loss: the first decides, all are reported.",
)
@click.option("--cost", metavar="FILE", help="A matrix of costs that decides; rows are the truth.")
@jobs_option
@click.option("--threads", type=click.IntRange(min=1, max=1024), default=1, show_default=True,
              help="Threads of BLAS and OpenMP in one fit, whichever the engine.")  # fmt: skip
@click.option(
    "--engine",
    default="auto",
    show_default=True,
    help="auto, serial, threads, processes or dask.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler.")
@click.option("--timeout", metavar="TIME", help="Stop a fit that takes longer: 30, 30s, 2m.")
@click.option("--budget", metavar="TIME", help="Decide from what is done by then: 90, 10m, 2h.")
@click.option(
    "--stop",
    type=click.Choice(["settled"]),
    help="Stop learners, and the comparison, when the verdict of the plan is settled.",
)
@click.option(
    "--stop-target",
    type=click.Choice(["best", "order"]),
    default="best",
    show_default=True,
    help="With --stop: settle who is recommended, or the whole order.",
)
@click.option(
    "--settle",
    type=click.Choice(["plan", "limit"]),
    default="plan",
    show_default=True,
    help="With --stop: as the plan decides, or as endless runs would, adding runs if unclear.",
)
@click.option("--risk", type=float, default=None, show_default="0.05; over data sets none",
              help="With --stop: chance that the plan would decide otherwise.")  # fmt: skip
@click.option("--max-runs", metavar="N", type=click.IntRange(min=2, max=10_000), default=30,
              show_default=True, help="With --settle limit: no more runs than these.")  # fmt: skip
@click.option(
    "--on-failure",
    type=click.Choice(["record", "stop"]),
    default="record",
    show_default=True,
    help="A learner that fails: leave it out and say so, or stop.",
)
@click.option(
    "--retry-failed", is_flag=True, help="Run every fit again that the store holds as failed."
)
@click.option("--store", metavar="URL", help="Keep fits in a file or database; resume from it.")
@click.option("--replicate", metavar="N", type=click.IntRange(min=0, max=10_000), default=0,
              help="Repeat the decision over N other choices of splits.")  # fmt: skip
@click.option("--nominal", metavar="COLS", help="Columns that are labels: a,b.")
@click.option("--numeric", metavar="COLS", help="Columns that are numbers: a,b.")
@click.option("--ignore", metavar="COLS", help="Columns to leave out: a,b.")
@click.option(
    "--prepare",
    type=click.Choice(["auto", "none"]),
    default="auto",
    show_default=True,
    help="Inside the folds, make columns and missing cells fit for learners that need it; or "
    "refuse.",
)
@click.option("--task", type=click.Choice(["auto", "classification", "regression"]),
              default="auto", show_default=True,
              help="The target is a label, or a number to predict. Auto says which.")  # fmt: skip
@report_option
@decision_options
@click.option("--quiet", is_flag=True, help="No progress; print the order only.")
def compare(
    data: tuple[str, ...],
    target: str | None,
    learners: tuple[str, ...],
    learner_files: tuple[str, ...],
    cv: str | None,
    groups: str | None,
    weight: str | None,
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
    settle: str,
    risk: float | None,
    max_runs: int,
    on_failure: str,
    retry_failed: bool,
    store: str | None,
    replicate: int,
    nominal: str | None,
    numeric: str | None,
    ignore: str | None,
    task: str,
    prepare: str,
    report_path: str | None,
    as_json: bool,
    quiet: bool,
    **decision: Any,
) -> None:
    """Run learners on DATA, say which one to use, how the others rank, and why.

    DATA is a file (CSV, TSV, Parquet, ARFF, JSONL), several of them, or the name of an embedded
    data set (iris, wine, breast-cancer, digits).

    \b
    Examples:
      bestofk compare iris
      bestofk compare wine --learner nmc --learner nn --cv 5x2 --json
      bestofk compare wine --learner max --learner nmc --cv 5x2 --report wine.html
      bestofk compare iris --learner nn --learner 'sklearn.svm:SVC(C=10)' --prefer fit_time
      bestofk compare wine --learner nmc --learner nn --groups ash --cv group-kfold:5
      bestofk compare breast-cancer --stop settled
    """
    from bestofk.decide.settings import Settings
    from bestofk.learners.specification import chosen_learners
    from bestofk.run.compare import compare as run_comparison
    from bestofk.run.execution import Execution
    from bestofk.run.inputs import dataset_of

    options: dict[str, Any] = {
        "target": target,
        "nominal": _names(nominal),
        "numeric": _names(numeric),
        "ignore": _names(ignore),
        "groups": groups,
        "sample_weight": weight,
        "folds": _column_of_folds(cv),
    }
    if task != "auto":
        options["task"] = task
    check_report_path(report_path)
    # what learners print must not mix with the answer
    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        datasets = [dataset_of(source, **options) for source in data]
        study = run_comparison(
            chosen_learners(learners, learner_files),
            datasets,
            cv=_plan(cv, stratify, decision["seed"]),
            scoring=_losses(scoring, cost),
            stop=_stop_rule(stop, target=stop_target, settle=settle, risk=risk, max_runs=max_runs),
            settings=Settings(prefer=preference(prefer), **decision_arguments(decision)),
            execution=Execution(
                n_jobs=n_jobs,
                threads=threads,
                engine=engine,
                scheduler=scheduler,
                timeout=_seconds(timeout, "--timeout"),
                budget=_seconds(budget, "--budget"),
                store=store,
                progress=not quiet,
                on_failure=on_failure,
                retry_failed=retry_failed,
                repetitions=repetitions,
                replicate=replicate,
                prepare=prepare,
                command=command_line(),
            ),
        )
    if report_path is not None:
        study.report(report_path, command=command_line())
    if as_json:
        echo_json({**study.to_dict(), **({"report": report_path} if report_path else {})})
    elif quiet:
        for name in study.ranking:
            say_name(name)
    else:
        from bestofk.cli.terminal import print_study

        print_study(study)
        if report_path is not None:
            say(f"The report is in {report_path}.")


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
                f"{option} applies to a comparison that stops: add --stop settled."
            )
    return None


def _column_of_folds(plan: str | None) -> str | None:
    from bestofk.splits.plans import specify

    return None if plan is None else specify(plan, {}).column or None


def _plan(plan: str | None, stratify: str | None, seed: int) -> Any:
    """The plan, or its name where nothing is said of its strata."""
    if stratify is None:
        return plan
    if plan is None:
        raise click.UsageError("--stratify needs a plan: add --cv 10x10.")
    from bestofk.splits.plans import plan as make_plan

    wanted = {"labels": True, "no": False}.get(stratify, stratify)
    return make_plan(plan, stratified=wanted, random_state=seed)


def _losses(given: tuple[str, ...], cost: str | None) -> Any:
    """The losses of the options; a matrix of costs decides."""
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    found: list[Any] = [*([] if cost is None else [_costs(cost)]), *names]
    return None if not found else found[0] if len(found) == 1 else found


def _costs(path: str) -> Any:
    """A file of costs as a data frame: the first column names the truth, the others predictions."""
    import pandas as pd

    from bestofk.data.tables import read_table

    table = read_table(path)
    truth, *predicted = table.columns
    names = [str(name) for name in table.text(truth)]
    return pd.DataFrame({name: table.numbers(name) for name in predicted}, index=names)


def _names(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _seconds(text: str | None, option: str) -> float | None:
    """``90``, ``90s``, ``10m``, ``2h`` or ``1d`` as seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if found is None or float(found[1]) == 0:
        raise click.UsageError(f"{option} must be a time such as 90, 30s, 10m or 2h; got {text!r}.")
    return float(found[1]) * _UNITS[found[2]]
