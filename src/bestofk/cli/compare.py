"""``bestofk compare``: run learners on data, decide, and say why."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any

import click

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

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
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
@click.option("--plan", help="See: bestofk plans. 10x5+nested on one data set, else 10x10.")
@click.option("--repetitions", type=click.IntRange(min=1, max=10_000), default=1, show_default=True,
              help="The same folds again with another learner seed.")  # fmt: skip
@click.option("--loss", help="zero-one (default for labels), squared, log-loss, auc, ...")
@jobs_option
@click.option(
    "--engine",
    default="auto",
    show_default=True,
    help="auto, serial, threads, processes, dask or ray.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of a Dask or Ray cluster.")
@click.option("--timeout", metavar="TIME", help="Stop a fit that takes longer: 30, 30s, 2m.")
@click.option("--budget", metavar="TIME", help="Decide from what is done by then: 90, 10m, 2h.")
@click.option(
    "--on-failure",
    type=click.Choice(["record", "stop"]),
    default="record",
    show_default=True,
    help="A learner that fails: leave it out and say so, or stop.",
)
@click.option("--store", metavar="URL", help="Keep fits in a file or database; resume from it.")
@click.option("--replicate", metavar="N", type=click.IntRange(min=0, max=10_000), default=0,
              help="Repeat the decision over N other choices of splits.")  # fmt: skip
@click.option("--nominal", metavar="COLS", help="Columns that are labels: a,b.")
@click.option("--numeric", metavar="COLS", help="Columns that are numbers: a,b.")
@click.option("--ignore", metavar="COLS", help="Columns to leave out: a,b.")
@click.option("--regression", is_flag=True, help="The target is a number to predict.")
@report_option
@decision_options
@click.option("--quiet", is_flag=True, help="No progress; print the order only.")
def compare(
    data: tuple[str, ...],
    target: str | None,
    learners: tuple[str, ...],
    learner_files: tuple[str, ...],
    plan: str | None,
    repetitions: int,
    loss: str | None,
    prefer: str | None,
    n_jobs: int,
    engine: str,
    scheduler: str | None,
    timeout: str | None,
    budget: str | None,
    on_failure: str,
    store: str | None,
    replicate: int,
    nominal: str | None,
    numeric: str | None,
    ignore: str | None,
    regression: bool,
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
      bestofk compare wine --learner nmc --learner nn --plan 5x2 --json
      bestofk compare wine --learner max --learner nmc --plan 5x2 --report wine.html
      bestofk compare iris --learner nn --learner 'sklearn.svm:SVC(C=10)' --prefer fit_time
    """
    from bestofk.learners.learners_file import chosen_learners
    from bestofk.run.compare import compare as run_comparison
    from bestofk.run.sources import dataset_of

    options: dict[str, Any] = {
        "target": target,
        "nominal": _names(nominal),
        "numeric": _names(numeric),
        "ignore": _names(ignore),
    }
    if regression:
        options["task"] = "regression"
    check_report_path(report_path)
    # what learners print must not mix with the answer
    with warnings_as_lines(), contextlib.redirect_stdout(sys.stderr):
        datasets = [dataset_of(source, **options) for source in data]
        study = run_comparison(
            chosen_learners(learners, learner_files),
            data=datasets,
            plan=plan,
            repetitions=repetitions,
            loss=loss,
            prior=preference(prefer),
            **decision_arguments(decision),
            store=store,
            n_jobs=n_jobs,
            engine=engine,
            scheduler=scheduler,
            timeout=_seconds(timeout, "--timeout"),
            budget=_seconds(budget, "--budget"),
            on_failure=on_failure,
            replicate=replicate,
            progress=not quiet,
            command=command_line(),
        )
    if report_path is not None:
        study.report(report_path, command=command_line())
    if as_json:
        echo_json({**study.to_dict(), **({"report": report_path} if report_path else {})})
    elif quiet:
        for name in study.order:
            say_name(name)
    else:
        from bestofk.cli.terminal import print_study

        print_study(study, [sentence for one in datasets for sentence in one.account])
        if report_path is not None:
            say(f"The report is in {report_path}.")


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
