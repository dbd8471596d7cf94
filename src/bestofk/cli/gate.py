"""``bestofk gate``: decide whether a new build may be released."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from bestofk._base.errors import Advice
from bestofk.cli.evals import READ_EVALS, known_paths
from bestofk.cli.options import (
    direction_option,
    figure_width_option,
    json_option,
    option_group,
    pairs_option,
    report_option,
    warnings_as_lines,
)
from bestofk.cli.outputs import FIGURE_SUFFIXES, check_path, check_report_path, echo_json
from bestofk.cli.say import discard, say
from bestofk.cli.set_values import SettingsCommand, shown_by, taken
from bestofk.release import DEFAULT_LEDGER


class GateGroup(click.Group):
    """A group whose command ``check`` need not be typed."""

    default = "check"

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["check", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help")):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(cls=GateGroup, no_args_is_help=False)
def gate() -> None:
    """Fail the build if the new model is worse than the baseline.

    \b
      bestofk gate --rehearse OLD [OLD2]  # what the gate will catch on your items
      bestofk gate start OLD [OLD2]       # make a build the baseline, run once or several times
      bestofk gate NEW                    # test a new build
      bestofk gate accept NEW             # make a build the new baseline
      bestofk gate check --help           # all options

    The files are evaluation logs or tables with one row per item. The exit code is 0 if the build
    passes, 1 if it is worse, 3 if it is a suspect that should run again, 2 if the input cannot be
    used, and 4 if the ledger cannot.

    \b
    Examples:
      bestofk gate inspect-sums --metric match --model mockllm/medium --baseline inspect-sums --baseline-model mockllm/large
    """  # noqa: E501


_reading = option_group(
    click.option("--model", metavar="NAME", help="Which model of the logs, if there are several."),
    click.option("--metric", multiple=True, metavar="NAME", help="The score; repeatable."),
    pairs_option(
        "--column", metavar="ROLE=NAME",
        help="For a table: the column of model, task, item, cluster, epoch or score. Repeatable.",
    ),
    direction_option,
)  # fmt: skip
_ledger = click.option(
    "--ledger", metavar="FILE", default=DEFAULT_LEDGER, show_default=True,
    help="The record of the baseline and of all builds; commit it.",
)  # fmt: skip
_build = click.option("--build", metavar="NAME", help="Name of the build, such as a commit.")
_false_blocks = click.option(
    "--false-blocks", type=float, metavar="SHARE",
    help="Share of good builds that may be blocked; 0.01 for a new ledger.",
)  # fmt: skip


@gate.command(cls=SettingsCommand, places=(READ_EVALS,))
@click.argument("new", metavar="NEW", nargs=-1, required=True)
@click.option("--rehearse", is_flag=True,
              help="NEW are runs of the baseline: say what the gate will catch.")  # fmt: skip
@click.option("--baseline", metavar="FILE", multiple=True,
              help="Compare with this build, without a ledger; repeatable.")  # fmt: skip
@click.option("--baseline-model", metavar="NAME", help="Which model of the baseline.")
@_reading
@_false_blocks
@click.option("--rerun", metavar="CMD",
              help="Run a suspect again: a command that writes NEW once more.")  # fmt: skip
@click.option("--missing", type=click.Choice(["refuse", "drop", "wrong"]), default="refuse",
              show_default=True,
              help="Items that NEW lacks: stop, drop them, or count them as wrong.")  # fmt: skip
@_build
@_ledger
@click.option("--markdown", metavar="FILE", help="Write a comment for a pull request.")
@click.option("--junit", metavar="FILE", help="Write a JUnit file.")
@click.option("--figure", metavar="FILE", help="Draw the history: F.svg, F.png or F.pdf.")
@figure_width_option
@report_option
@json_option
@click.option("--explain", is_flag=True, help="Print the whole explanation.")
def check(
    new: tuple[str, ...],
    rehearse: bool,
    baseline: tuple[str, ...],
    baseline_model: str | None,
    model: str | None,
    false_blocks: float | None,
    rerun: str | None,
    missing: str,
    build: str | None,
    ledger: str,
    markdown: str | None,
    junit: str | None,
    figure: str | None,
    figure_width: float | None,
    report_path: str | None,
    as_json: bool,
    explain: bool,
    **options: Any,
) -> None:
    """Test a new build, and record the answer."""
    from bestofk._base.atomic_write import write_text
    from bestofk.cli.terminal import print_sentences
    from bestofk.release.gate import gate as run_gate, next_step, worse_words
    from bestofk.release.output import junit as junit_text, markdown as markdown_text

    reading = taken(options, READ_EVALS)
    if rehearse:
        _rehearse(new, as_json, model=model, false_blocks=false_blocks, **reading)
        return
    check_path(markdown, "--markdown", ())
    check_path(junit, "--junit", (".xml",))
    check_path(figure, "--figure", FIGURE_SUFFIXES)
    check_report_path(report_path)
    with warnings_as_lines():
        result = run_gate(
            known_paths(new), known_paths(baseline) or None, build=build, model=model,
            baseline_model=baseline_model, ledger=None if baseline else ledger,
            false_blocks=false_blocks, missing=missing, rerun=rerun, **reading,
        )  # fmt: skip
    if markdown is not None:
        write_text(markdown, markdown_text(result))
    if junit is not None:
        write_text(junit, junit_text(result))
    if figure is not None:
        result.plot(path=figure, width=figure_width)
    if report_path is not None:
        result.report(report_path, command=click.get_current_context().obj or ())
    try:
        if as_json:
            echo_json(result.to_dict())
        else:
            text = result.explain() if explain else "\n".join((result.headline, *result.notes))
            step = next_step(result, _source(new, model=model, **reading))
            worse = "" if explain or result.answer == "pass" else worse_words(result)
            print_sentences("\n".join(filter(None, (text, worse, step))))
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich exits
        # keep the exit code if the output is closed
        discard(sys.stdout)
    click.get_current_context().exit(result.exit_code)


def _rehearse(
    runs: tuple[str, ...], as_json: bool, *, false_blocks: float | None, **arguments: Any
) -> None:
    from bestofk.cli.terminal import console
    from bestofk.release.rehearsal import rehearse
    from bestofk.report.screen import write_presented

    share: dict[str, Any] = {} if false_blocks is None else {"false_blocks": false_blocks}
    with warnings_as_lines():
        rehearsal = rehearse(*known_paths(runs), **share, **arguments)
    if as_json:
        echo_json(rehearsal.to_dict())
    else:
        write_presented(console(), rehearsal)


def _source(new: tuple[str, ...], **options: Any) -> str:
    """Return the words of a command that name the build and say how to read it."""
    show = shown_by(["bestofk", "gate", "check"])
    texts = [show(Advice(name, value)) for name, value in options.items() if value is not None]
    return " ".join([shlex.join(new), *texts])


@gate.command(cls=SettingsCommand, places=(READ_EVALS,))
@click.argument("runs", metavar="RUN", nargs=-1, required=True)
@_reading
@_false_blocks
@_build
@_ledger
def start(
    runs: tuple[str, ...],
    model: str | None,
    false_blocks: float | None,
    build: str | None,
    ledger: str,
    **options: Any,
) -> None:
    """Start a ledger with a baseline.

    The baseline is one accepted build, run once or several times.
    """
    from bestofk.release.gate import start as start_ledger

    reading = taken(options, READ_EVALS)
    share: dict[str, Any] = {} if false_blocks is None else {"false_blocks": false_blocks}
    with warnings_as_lines():
        history = start_ledger(
            *known_paths(runs), ledger=ledger, build=build, model=model, **share, **reading
        )
    _say_baseline(history)
    _rehearse(runs, False, model=model, false_blocks=false_blocks, **reading)
    say(f"Commit {ledger}.")


@gate.command(cls=SettingsCommand, places=(READ_EVALS,))
@click.argument("runs", metavar="RUN", nargs=-1, required=True)
@_reading
@_build
@_ledger
@click.option("--reason", default="", metavar="TEXT", help="Why, for the record.")
def accept(
    runs: tuple[str, ...],
    model: str | None,
    build: str | None,
    ledger: str,
    reason: str,
    **options: Any,
) -> None:
    """Make a build the new baseline.

    Its scores do not matter. The ledger records it with the reason.
    """
    from bestofk.release.gate import accept as accept_build

    arguments = taken(options, READ_EVALS)
    arguments.pop("metric", None)  # those of the ledger
    with warnings_as_lines():
        history = accept_build(
            *known_paths(runs), ledger=ledger, build=build, model=model, reason=reason, **arguments
        )
    _say_baseline(history)


def _say_baseline(history: Any) -> None:
    baseline = history.baseline
    runs = f"the mean of {baseline['runs']} runs" if baseline["runs"] > 1 else "one run"
    say(f"The baseline is {baseline['build']} ({runs}, {history.size:,} items).")
