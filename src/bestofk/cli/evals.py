"""``bestofk evals``: decide from logs of evaluations of language models."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.formatting import shortened
from bestofk.cli.app import SectionedCommand
from bestofk.cli.options import (
    Command,
    check_report_path,
    command_line,
    decision_arguments,
    decision_options,
    echo_json,
    preference,
    report_option,
    warnings_as_lines,
)
from bestofk.cli.say import say, say_name

if TYPE_CHECKING:
    from bestofk.evals import Evals, ModelChoice

MEASURED = ("cost", "tokens", "latency")


def _log_options(command: Command) -> Command:
    """What to read, and how."""
    for option in reversed(
        (
            click.option(
                "--metric", multiple=True, metavar="NAME",
                help="The score to compare by; repeat it for tasks that have others.",
            ),
            click.option(
                "--task", multiple=True, metavar="NAME",
                help="Take this task only; may be repeated.",
            ),
            click.option(
                "--filter", "filters", multiple=True, metavar="NAME",
                help="The filter of lm-evaluation-harness.",
            ),
            click.option(
                "--cluster", metavar="KEY",
                help="What groups items that belong together: a key of the document or of the "
                "metadata, a column.",
            ),
            click.option(
                "--prices", metavar="FILE",
                help="Table with the columns model, input, output (for a million tokens), or "
                "model, cost (for a sample).",
            ),
            click.option(
                "--format", "format_", metavar="NAME",
                help="lm-eval, inspect, promptfoo, helm, every-eval-ever, swe-bench, evalplus, "
                "livebench, table. Found by the content by default.",
            ),
            click.option(
                "--column", "columns", multiple=True, metavar="ROLE=NAME",
                help="For a table: the column of model, task, item, cluster, epoch, score, "
                "cost, latency or status.",
            ),
            click.option(
                "--higher-is-better/--lower-is-better", default=None,
                help="Which way the scores point. As the log says by default.",
            ),
            click.option(
                "--count-errors-as-wrong", is_flag=True,
                help="Samples that failed get the worst score. They are left out by default.",
            ),
            click.option(
                "--limits", type=click.Choice(["score", "drop"]), default="score",
                show_default=True,
                help="Samples that hit a limit and were scored: take the score, or drop them.",
            ),
            click.option(
                "--missing", type=click.Choice(["drop", "refuse", "bounds"]), default="drop",
                show_default=True,
                help="Items that a model has no score for: leave them out, stop, or say also what "
                "they could change.",
            ),
            click.option(
                "--macro/--micro", default=False,
                help="Every task counts the same, or (default) every item does.",
            ),
            click.option(
                "--pass-at", type=click.IntRange(min=1), metavar="K",
                help="Compare by pass@k: one of K answers is right.",
            ),
            click.option(
                "--pass-all", type=click.IntRange(min=1), metavar="K",
                help="Compare by pass^k: all of K answers are right.",
            ),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@click.command(cls=SectionedCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@_log_options
@report_option
@decision_options
@click.option("--quiet", is_flag=True, help="Print the order only, best first.")
def evals(
    paths: tuple[str, ...],
    metric: tuple[str, ...],
    task: tuple[str, ...],
    filters: tuple[str, ...],
    cluster: str | None,
    prices: str | None,
    format_: str | None,
    columns: tuple[str, ...],
    higher_is_better: bool | None,
    count_errors_as_wrong: bool,
    limits: str,
    missing: str,
    macro: bool,
    pass_at: int | None,
    pass_all: int | None,
    prefer: str | None,
    report_path: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Say which model of the logs to use, how the others rank, and why.

    PATH is a log, or a folder of logs, of lm-evaluation-harness, Inspect, promptfoo, HELM, Every
    Eval Ever, SWE-bench, EvalPlus or LiveBench, or a table with one row per model, item and epoch;
    or the name of embedded logs (inspect-sums). With --prefer cost the cheapest model that is not
    significantly worse is recommended, by the costs in the logs or those of --prices; --prefer
    tokens and --prefer latency go by these. With --cluster whole clusters of items count as one
    each; --test takes cluster-sign-flip, obuchowski, durkalski and yang. With --margin 0.01 it is
    said whether the choice is shown not to be worse than the best by more than that.

    \b
    Examples:
      bestofk evals inspect-sums --metric match
      bestofk evals inspect-sums --metric match --prefer tokens
      bestofk evals inspect-sums --metric match --prefer tokens --margin 0.1
      bestofk evals inspect-sums --metric match --pass-at 2
      bestofk evals inspect-sums --metric match --cluster passage --json
    """
    from bestofk.evals import read_evals
    from bestofk.evals.choosing import choose_model

    check_report_path(report_path)
    asked = decision_arguments(options)
    with warnings_as_lines():
        found = read_evals(
            _known_paths(paths),
            metric=metric or None,
            task=task or None,
            filter=filters or None,
            cluster=cluster,
            prices=prices,
            format=format_,
            columns=_columns(columns),
            higher_is_better=higher_is_better,
        )
        _refuse_unknown_costs(prefer, found)
        choice = choose_model(
            found,
            prefer=prefer if prefer in MEASURED else preference(prefer, measured=False),
            count_errors_as_wrong=count_errors_as_wrong,
            limits=limits,
            missing=missing,
            macro=macro,
            pass_at=pass_at,
            pass_all=pass_all,
            **asked,
        )
    decision = choice.decision
    if report_path is not None:
        choice.report(report_path, command=command_line())
    if as_json:
        more: dict[str, Any] = {"report": report_path} if report_path else {}
        account = [*choice.account, *choice.left_out]
        echo_json({**choice.to_dict(), "evals": found.to_dict(), "account": account, **more})
    elif quiet:
        for name in decision.ranking:
            say_name(name)
    else:
        from bestofk.cli.terminal import print_decision, print_sentences

        print_decision(choice, _cost_column(choice))
        if lines := _cost_lines(choice):
            print_sentences("\n".join(lines))
        if report_path is not None:
            say(f"The report is in {report_path}.")


def _known_paths(paths: tuple[str, ...]) -> list[Any]:
    """The paths, with embedded logs by their names."""
    from pathlib import Path

    from bestofk.evals.reading import EXAMPLE_EVALS, example_path

    return [
        example_path(path) if path in EXAMPLE_EVALS and not Path(path).exists() else path
        for path in paths
    ]


def _columns(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        role, mark, name = text.partition("=")
        if not mark or not role or not name:
            raise click.UsageError(f"--column must be ROLE=NAME, such as item=id; got {text!r}.")
        found[role.strip()] = name
    return found


def _refuse_unknown_costs(prefer: str | None, found: Evals) -> None:
    """What is preferred by must be known of every model."""
    if prefer not in MEASURED:
        return
    costs = found.costs(prefer)
    unknown = [name for name, cost in costs.items() if not isfinite(cost)]
    if unknown:
        advice = {
            "cost": "--prices FILE gives prices by model, --prefer tokens goes by tokens",
            "tokens": "name the models instead, the most preferred first",
            "latency": "name the models instead, the most preferred first",
        }[prefer]
        raise click.UsageError(
            f"--prefer {prefer}: the logs do not say it for {unknown[0]!r}; {advice}."
        )


def _cost_column(choice: ModelChoice) -> dict[str, dict[str, str]]:
    """What each model costs by the measure that the verdict speaks of, under its title."""
    from bestofk.decide.statements.models import COST_TITLES, main_cost, shown_cost

    of = main_cost(choice.costs, choice.cost_of)
    if of is None:
        return {}
    cells = {name: f"{shown_cost(cost, of):.3g}" for name, cost in choice.costs[of].items()}
    return {COST_TITLES[of]: cells}


def _cost_lines(choice: ModelChoice) -> list[str]:
    """What a sample costs, by model, where it is known."""
    from bestofk.decide.statements.models import COST_TITLES, shown_cost

    lines = []
    for of, title in COST_TITLES.items():
        known = {name: cost for name, cost in choice.costs[of].items() if isfinite(cost)}
        if known:
            each = [f"{name} {shown_cost(cost, of):.3g}" for name, cost in known.items()]
            lines.append(f"Mean {title}: {shortened(each, 12)}.")
    return lines
