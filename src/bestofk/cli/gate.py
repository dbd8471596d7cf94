"""``bestofk gate``: decide whether a new build may be released."""

from __future__ import annotations

import shlex
from typing import Any

import click

from bestofk.cli.evals import known_paths, log_arguments, log_reading_options
from bestofk.cli.options import echo_json, option_group, warnings_as_lines
from bestofk.cli.outputs import FIGURE_SUFFIXES, check_path
from bestofk.cli.say import say
from bestofk.release import DEFAULT_LEDGER


class GateGroup(click.Group):
    """A group whose command ``check`` need not be typed."""

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
    """Fail the build if the new model is worse than the anchor.

    \b
      bestofk gate NEW --baseline FILE   # test the first build; the ledger remembers the anchor
      bestofk gate NEW                   # test a later build
      bestofk gate NEW --margin 0.02     # pass only if it is shown to lose less than 0.02
      bestofk gate accept NEW            # make a build the anchor, and record it
      bestofk gate merge FILE            # join the ledgers of two branches
      bestofk gate check --help          # all options

    NEW and FILE are evaluation logs or tables with one row per item. The exit code is 0 if the
    build passes, 1 if it is worse, 3 if that is undecided, and 2 if the input cannot be used.

    \b
    Examples:
      bestofk gate inspect-sums --metric match --model mockllm/medium --no-ledger --baseline inspect-sums --baseline-model mockllm/large
    """  # noqa: E501


_reading = option_group(
    click.option("--model", metavar="NAME", help="Which model of NEW, if there are several."),
    log_reading_options,
)
_ledger = click.option(
    "--ledger", metavar="FILE", default=DEFAULT_LEDGER, show_default=True,
    help="The record of all builds; commit it.",
)  # fmt: skip
_build = click.option("--build", metavar="NAME", help="Name of the build, such as a commit.")


@gate.command()
@click.argument("new", metavar="NEW", nargs=-1, required=True)
@click.option("--baseline", metavar="FILE", multiple=True,
              help="The released build; only the first run needs it. Repeatable.")  # fmt: skip
@click.option("--baseline-model", metavar="NAME", help="Which model of the baseline.")
@_reading
@click.option("--margin", type=float, metavar="D",
              help="A loss that does not matter; the build must lose less.")  # fmt: skip
@click.option("--alpha", type=float,
              help="Chance of ever blocking a good build; 0.05 for a new ledger.")  # fmt: skip
@click.option("--undecided", type=click.Choice(["pass", "fail"]), default="fail",
              show_default=True, help="With --margin: what an undecided build does.")  # fmt: skip
@click.option("--missing", type=click.Choice(["refuse", "drop", "wrong"]), default="refuse",
              show_default=True,
              help="Items that NEW lacks: stop, drop them, or count them as wrong.")  # fmt: skip
@_build
@_ledger
@click.option("--no-ledger", is_flag=True, help="Test this build on its own, and record nothing.")
@click.option("--method", type=click.Choice(["latest"]),
              help="Adopt the newest version of the method, and record it.")  # fmt: skip
@click.option("--markdown", metavar="FILE", help="Write a comment for a pull request.")
@click.option("--junit", metavar="FILE", help="Write a JUnit file.")
@click.option("--figure", metavar="FILE", help="Draw the history: F.svg, F.png or F.pdf.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--explain", is_flag=True, help="Print the evidence and the state of the ledger.")
def check(
    new: tuple[str, ...],
    baseline: tuple[str, ...],
    baseline_model: str | None,
    model: str | None,
    margin: float | None,
    alpha: float | None,
    undecided: str,
    missing: str,
    build: str | None,
    ledger: str,
    no_ledger: bool,
    method: str | None,
    markdown: str | None,
    junit: str | None,
    figure: str | None,
    as_json: bool,
    explain: bool,
    **reading: Any,
) -> None:
    """Test a build against the anchor, and record it in the ledger."""
    from bestofk._base.atomic_write import write_text
    from bestofk.cli.terminal import print_sentences
    from bestofk.release.gate import gate as run_gate
    from bestofk.release.output import junit as junit_text, markdown as markdown_text

    check_path(markdown, "--markdown", ())
    check_path(junit, "--junit", (".xml",))
    check_path(figure, "--figure", FIGURE_SUFFIXES)
    with warnings_as_lines():
        result = run_gate(
            known_paths(new), known_paths(baseline) or None, margin=margin,
            alpha=alpha, undecided=undecided, build=build,
            model=model, baseline_model=baseline_model, ledger=None if no_ledger else ledger,
            method=method, missing=missing, **log_arguments(**reading),
        )  # fmt: skip
    if markdown is not None:
        write_text(markdown, markdown_text(result))
    if junit is not None:
        write_text(junit, junit_text(result))
    if figure is not None:
        from bestofk.report.figures.output import save_figure
        from bestofk.report.figures.registry import picture_of

        save_figure(picture_of(result, "gate"), figure)
    if as_json:
        echo_json(result.to_dict())
    else:
        text = result.explain() if explain else "\n".join((result.headline(), *result.notes))
        step = result.next_step(_source(new, model=model, **reading))
        print_sentences("\n".join(filter(None, (text, step))))
    click.get_current_context().exit(result.exit_code)


def _source(new: tuple[str, ...], **options: Any) -> str:
    """Return the words of a command that name the build and say how to read it."""
    words = list(new)
    for name, value in options.items():
        if name == "higher_is_better":
            words += (
                [] if value is None else ["--higher-is-better" if value else "--lower-is-better"]
            )
            continue
        option = {"filters": "--filter", "columns": "--column"}.get(name, f"--{name.rstrip('_')}")
        for one in value if isinstance(value, tuple) else (value,):
            words += [] if one is None else [option, one]
    return shlex.join(words)


@gate.command()
@click.argument("new", metavar="NEW", nargs=-1, required=True)
@_reading
@_build
@_ledger
@click.option("--reason", default="", metavar="TEXT", help="Why, for the record.")
def accept(
    new: tuple[str, ...],
    model: str | None,
    build: str | None,
    ledger: str,
    reason: str,
    **reading: Any,
) -> None:
    """Make a build the anchor, whatever its scores, and record it in the ledger."""
    from bestofk.release.gate import accept as accept_build

    with warnings_as_lines():
        history = accept_build(
            known_paths(new),
            ledger=ledger,
            build=build,
            model=model,
            reason=reason,
            **log_arguments(**reading),
        )
    say(f"{history.lines[-1]['build']} is the anchor from now on.")


@gate.command()
@click.argument("ledger", metavar="FILE", default=DEFAULT_LEDGER)
@click.argument("other", metavar="[OTHER]", required=False)
def merge(ledger: str, other: str | None) -> None:
    """Join the ledgers of two branches: both sides of a git conflict in FILE, or FILE and OTHER."""
    from bestofk.release.ledger import locked, merged, write_ledger

    with locked(ledger):
        history = merged(ledger, other)
        write_ledger(history, ledger)
    say(f"{ledger} has {len(history.builds)} builds of both branches.")
