"""``bestofk evals``: choose a language model from evaluation logs."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.missing_files import check_source
from bestofk.cli.app import SectionedCommand
from bestofk.cli.config import RepeatedArgument, config_option
from bestofk.cli.options import (
    by_option,
    decision_arguments,
    decision_options,
    echo_decision,
    option_group,
    preference,
    verbosity_options,
    warnings_as_lines,
)
from bestofk.cli.outputs import file_options, planned_outputs
from bestofk.cli.say import say

if TYPE_CHECKING:
    from bestofk.evals import Evals


log_reading_options = option_group(
    click.option(
        "--metric", multiple=True, metavar="NAME",
        help="The score to compare by; repeatable for tasks with different scores and with "
        "--by metric.",
    ),
    click.option(
        "--task", multiple=True, metavar="NAME", help="Use only this task; repeatable."
    ),
    click.option(
        "--filter", "filters", multiple=True, metavar="NAME",
        help="The filter of lm-evaluation-harness.",
    ),
    click.option(
        "--cluster", metavar="KEY",
        help="Key of the document or of the metadata, or column, that groups related items.",
    ),
    click.option(
        "--format", "format_", metavar="NAME",
        help="lm-eval, inspect, promptfoo, helm, every-eval-ever, swe-bench, evalplus, "
        "livebench, openai-evals, table. By default the content decides.",
    ),
    click.option(
        "--column", "columns", multiple=True, metavar="ROLE=NAME",
        help="For a table: the column of model, task, item, cluster, epoch, score, cost, latency "
        "or status. Dots lead into objects: score=scores.Factuality.",
    ),
    click.option(
        "--higher-is-better/--lower-is-better", default=None,
        help="Direction of the scores. By default as the log says.",
    ),
)  # fmt: skip
"""How to read evaluation logs; `log_arguments` returns their values."""
_log_options = option_group(
    log_reading_options,
    click.option(
        "--model", "models", multiple=True, metavar="NAME=FILE",
        help="The file or folder of one model; or NAME=MODEL to rename a model. Repeatable.",
    ),
    click.option(
        "--only", multiple=True, metavar="NAME",
        help="Use only this model or task; * stands for any characters. Repeatable.",
    ),
    click.option(
        "--exclude", multiple=True, metavar="NAME",
        help="Leave out this model or task, or column of a wide table. Repeatable.",
    ),
    click.option(
        "--prices", metavar="FILE",
        help="Table with the columns model, input, output (per million tokens), or model, cost "
        "(per sample).",
    ),
    click.option(
        "--truth", metavar="NAME",
        help="Human labels of some items, if the scores are a judge's: another metric or column, "
        "or a table.",
    ),
    click.option(
        "--count-errors-as-wrong", is_flag=True,
        help="Give failed samples the worst score. By default they are left out.",
    ),
    click.option(
        "--limits", type=click.Choice(["score", "drop"]), default="score", show_default=True,
        help="Samples that hit a limit and have a score: use the score, or drop them.",
    ),
    click.option(
        "--missing", type=click.Choice(["drop", "refuse"]), default="drop", show_default=True,
        help="Items without a score of some model: leave them out, or stop.",
    ),
    click.option(
        "--macro/--micro", default=False,
        help="Every task counts the same, or (default) every item does.",
    ),
    click.option(
        "--against", metavar="MODEL",
        help="Say for each other model whether it is within --margin of this one.",
    ),
    click.option(
        "--more", type=click.IntRange(min=1), metavar="N",
        help="State the chance that N more items decide.",
    ),
    click.option(
        "--difference", type=float, metavar="D",
        help="State how many items would show this difference.",
    ),
    click.option(
        "--pass-at", type=click.IntRange(min=1), metavar="K",
        help="Compare by pass@k: one of K answers is right.",
    ),
    click.option(
        "--pass-all", type=click.IntRange(min=1), metavar="K",
        help="Compare by pass^k: all of K answers are right.",
    ),
)  # fmt: skip


COMMON = (
    "metric", "task", "models", "only", "exclude", "cluster", "prices", "truth", "missing",
    "count_errors_as_wrong", "prefer", "margin", "alpha", "pass_at", "report_path", "figures",
    "csv", "as_json", "explain", "pairs", "quiet",
)  # fmt: skip
"""Options that most people need."""


@click.command(cls=SectionedCommand, common=COMMON)
@click.argument("paths", cls=RepeatedArgument, metavar="[PATH...]", nargs=-1)
@_log_options
@by_option
@file_options
@decision_options("cost, tokens, latency or p95_latency; or models, most preferred first: a,b,c.")
@verbosity_options
@config_option
def evals(
    paths: tuple[str, ...],
    metric: tuple[str, ...],
    task: tuple[str, ...],
    filters: tuple[str, ...],
    cluster: str | None,
    prices: str | None,
    truth: str | None,
    format_: str | None,
    columns: tuple[str, ...],
    higher_is_better: bool | None,
    models: tuple[str, ...],
    only: tuple[str, ...],
    exclude: tuple[str, ...],
    count_errors_as_wrong: bool,
    limits: str,
    missing: str,
    macro: bool,
    against: str | None,
    more: int | None,
    difference: float | None,
    pass_at: int | None,
    pass_all: int | None,
    prefer: str | None,
    as_json: bool,
    by: str | None,
    pairs: bool,
    explain: bool,
    ranks: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Say which model of the logs to use, and how much worse than the best it can be.

    PATH is a log, or a folder of logs, of lm-evaluation-harness, Inspect, promptfoo, HELM, Every
    Eval Ever, SWE-bench, EvalPlus, LiveBench or OpenAI evals, or a table with one row per model,
    item and epoch;
    or the name of embedded logs (inspect-sums). Without a column of models a file is one model, or
    has one column per model.

    With --prefer cost, bestofk recommends the cheapest model that may be the best. The costs come
    from the logs or from --prices; tokens and latency work alike. With a margin of 0.01 it also
    recommends a cheaper model that is shown to be at most 0.01 worse than the best. With --cluster,
    each cluster of items counts once, and cluster-t and cluster-sign-flip are tests to choose
    from.

    \b
    Examples:
      bestofk evals inspect-sums --metric match
      bestofk evals inspect-sums --metric match --prefer tokens
      bestofk evals inspect-sums --metric match --prefer tokens --margin 0.1
      bestofk evals inspect-sums --metric match --pass-at 2
      bestofk evals inspect-sums --metric match --cluster passage --json
    """
    outputs = planned_outputs(options)
    stated = _pairs(models, "--model", "NAME=FILE", "new=new.csv")
    if not paths and not stated:
        raise click.UsageError(
            "Name the logs: bestofk evals PATH, or bestofk evals --model NAME=FILE for each model."
        )
    for path in paths:
        check_source(path, "file or folder", "bestofk.evals.reading:EXAMPLE_EVALS")
    from bestofk.evals import read_evals
    from bestofk.evals.choosing import choose_by_metric, choose_by_slice, compare_evals
    from bestofk.evals.evals import is_measure

    with warnings_as_lines():
        reading = {
            "prices": prices, "models": stated, "only": only or None, "exclude": exclude or None,
            **log_arguments(
                metric=metric, task=task, filters=filters, cluster=None, format_=format_,
                columns=columns, higher_is_better=higher_is_better,
            ),
        }  # fmt: skip
        if by == "metric":
            if len(metric) < 2:
                raise click.UsageError(
                    "--by metric needs two or more metrics: --metric A --metric B --by metric."
                )
            reading["metric"] = metric[0]
        logs = read_evals(known_paths(paths), cluster=cluster, truth=truth, **reading)
        if verbose:
            say(" ".join(logs.account), err=True)
        _refuse_unknown_costs(prefer, logs)
        arguments: dict[str, Any] = {
            "prefer": prefer if is_measure(prefer) else preference(prefer, measured=False),
            "count_errors_as_wrong": count_errors_as_wrong, "limits": limits, "missing": missing,
            "macro": macro, "pass_at": pass_at, "pass_all": pass_all,
            **decision_arguments(options),
        }  # fmt: skip
        choice = compare_evals(logs, against=against, more=more, difference=difference, **arguments)
        slices = None
        if by == "metric":
            others = {
                name: read_evals(
                    known_paths(paths), cluster=cluster, **(reading | {"metric": name})
                )
                for name in metric[1:]
            }
            slices = choose_by_metric(choice, {metric[0]: logs, **others}, arguments)
        elif by is not None:
            groups = logs if by == "task" else read_evals(known_paths(paths), cluster=by, **reading)
            slices = choose_by_slice(choice, logs, groups, by, arguments)
    from bestofk.cli.terminal import print_result

    echo_decision(
        choice,
        print_result,
        ranking=choice.decision.ranking,
        outputs=outputs,
        as_json=as_json,
        pairs=pairs,
        explain=explain,
        ranks=ranks,
        quiet=quiet,
        more={"evals": logs.to_dict(), "account": [*choice.account, *choice.left_out]}
        if as_json
        else None,
        slices=slices,
    )


def known_paths(paths: tuple[str, ...]) -> list[Any]:
    """Return the paths, with those of embedded logs for their names."""
    from pathlib import Path

    from bestofk.evals.reading import EXAMPLE_EVALS, example_path

    return [
        example_path(path) if path in EXAMPLE_EVALS and not Path(path).exists() else path
        for path in paths
    ]


def log_arguments(
    *, metric: tuple[str, ...], task: tuple[str, ...], filters: tuple[str, ...],
    cluster: str | None, format_: str | None, columns: tuple[str, ...],
    higher_is_better: bool | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the arguments of `bestofk.read_evals` that were typed."""
    arguments = {
        "metric": metric, "task": task, "filter": filters, "cluster": cluster, "format": format_,
        "columns": _pairs(columns, "--column", "ROLE=NAME", "item=id"),
        "higher_is_better": higher_is_better,
    }  # fmt: skip
    return {name: value for name, value in arguments.items() if value not in (None, (), {})}


def _pairs(texts: tuple[str, ...], option: str, form: str, example: str) -> dict[str, str]:
    """Return the values of a repeated option by name."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.strip() or not value:
            raise click.UsageError(f"{option} must be {form}, such as {example}; got {text!r}.")
        if pairs.setdefault(name.strip(), value) != value:
            raise click.UsageError(f"{option} states {name.strip()!r} twice.")
    return pairs


def _refuse_unknown_costs(prefer: str | None, logs: Evals) -> None:
    """Raise an error unless the preferred cost is known for every model."""
    from bestofk.evals.evals import is_measure

    if prefer is None or not is_measure(prefer):
        return
    unknown = [name for name, cost in logs.costs(prefer).items() if not isfinite(cost)]
    if unknown:
        advice = "list the models instead, most preferred first"
        if prefer == "cost":
            advice = "add --prices FILE, or use --prefer tokens"
        raise click.UsageError(
            f"--prefer {prefer}: the logs have no {prefer} of {unknown[0]!r}; {advice}."
        )
