"""Help texts whose options stand in sections."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from bestofk._base.errors import BestOfKError, Interrupted, RunError, StoreError
from bestofk.cli.say import say, use_plain_characters
from bestofk.version import __version__

INPUT = "What goes in"
SECTIONS = {
    INPUT: (),
    "How it is decided": (
        "prefer", "margin", "alpha", "procedure", "test", "correction", "family", "control", "rope",
        "guard", "df", "macro", "pass_at", "pass_all",
    ),
    "How it is run": (
        "cv", "stratify", "repetitions", "n_jobs", "threads", "engine", "scheduler", "timeout",
        "budget", "on_failure", "retry_failed", "store", "replicate", "seed",
    ),
    "Stopping early": ("stop", "stop_target", "settle", "risk", "max_runs"),
    "What comes out": ("report_path", "output", "as_json", "quiet", "help", "help_option"),
}  # fmt: skip
"""Title: the parameters below it, in this order; those that no section names go in the first."""


class SectionedCommand(click.Command):
    """A command with many options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, dict[str, tuple[str, str]]] = {title: {} for title in SECTIONS}
        for parameter in self.get_params(ctx):
            row = None
            if isinstance(parameter, click.Option):
                row = parameter.get_help_record(ctx)
            if row is not None and parameter.name is not None:
                rows[section_of(parameter.name)][parameter.name] = row
        for title, names in SECTIONS.items():
            found = rows[title]
            ordered = [found[name] for name in names or found if name in found]
            if ordered:
                with formatter.section(title):
                    formatter.write_dl(ordered)


def section_of(name: str) -> str:
    """The section of a parameter.

    Examples
    --------
    >>> section_of("alpha"), section_of("target")
    ('How it is decided', 'What goes in')
    """
    return next((title for title, names in SECTIONS.items() if name in names), INPUT)


# The command `bestofk`: verbs are imported only when they are called.


EXIT_DONE, EXIT_FAILED, EXIT_WRONG_CALL, EXIT_INTERRUPTED = 0, 1, 2, 130

VERBS = {
    "compare": ("bestofk.cli.compare:compare", "Run learners on data and decide: the main job."),
    "order": ("bestofk.cli.order:order", "Decide from a table of losses."),
    "evals": (
        "bestofk.cli.evals:evals",
        "Decide from logs of evaluations of language models.",
    ),
    "test": ("bestofk.cli.test:one_test", "Make one test on a table of losses."),
    "size": ("bestofk.cli.size:size", "Say what a design can show, and how large it must be."),
    "measure": ("bestofk.cli.measure:measure", "Measure what a test is worth."),
    "calibrate": (
        "bestofk.cli.calibrate:calibrate",
        "Find the df with which a test keeps its level on your data.",
    ),
    "tests": ("bestofk.cli.listings:tests", "List the tests and what they cover."),
    "procedures": ("bestofk.cli.listings:procedures", "List the procedures."),
    "plans": ("bestofk.cli.listings:plans", "List the resampling plans."),
    "learners": ("bestofk.cli.listings:learners", "List the built-in learners."),
    "losses": ("bestofk.cli.listings:losses", "List the losses and metrics."),
    "datasets": ("bestofk.cli.datasets:datasets", "List the embedded data sets."),
    "reproduce": (
        "bestofk.cli.reproduce:reproduce",
        "Compute the papers' tables again, next to the published ones.",
    ),
    "problems": ("bestofk.cli.listings:problems", "List the generators of problems."),
    "show": ("bestofk.cli.show:show", "Show what a store holds."),
    "report": ("bestofk.cli.report:report", "Write a report of what a store holds."),
}
"""Verb: (where its command is, one line of help)."""


class LazyGroup(click.Group):
    """A group that lists its verbs without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module, _, name = VERBS[cmd_name][0].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            from bestofk._base.errors import UnknownNameError

            raise click.UsageError(str(UnknownNameError("command", args[0], VERBS)))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="bestofk")
def bestofk() -> None:
    """Of these K learning algorithms, which should I use on my data, how do the others rank, and
    how sure can I be?

    \b
    Examples:
      bestofk compare iris
      bestofk order breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk evals inspect-sums --metric match --prefer tokens
    """


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; every error is one clear line on stderr and an exit code."""
    with _orderly_end() as signals:
        code = _run(arguments)
        if code == EXIT_INTERRUPTED and signals:
            code = 128 + signals[0]
        if arguments is None and _left_running():
            # a learner left threads behind, for which Python would wait for ever
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(code)
        return code


@contextmanager
def _orderly_end() -> Iterator[list[int]]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does; what ignores them keeps doing so.

    The list gets the signal that came.
    """
    before: dict[int, Any] = {}
    came: list[int] = []

    def end(number: int, frame: Any) -> None:  # noqa: ARG001
        for one in before:
            # nothing must interrupt what makes the end orderly
            signal.signal(one, signal.SIG_IGN)
        came.append(number)
        raise Interrupted(f"ended by {signal.Signals(number).name}.")

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield came
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _left_running() -> bool:
    """Whether threads run that Python waits for before it ends."""
    return any(
        not thread.daemon and thread is not threading.main_thread()
        for thread in threading.enumerate()
    )


def _run(arguments: list[str] | None) -> int:
    use_plain_characters()
    words = ["bestofk", *(sys.argv[1:] if arguments is None else arguments)]
    try:
        code = bestofk.main(args=arguments, prog_name="bestofk", standalone_mode=False, obj=words)
        sys.stdout.flush()
        return code if isinstance(code, int) else EXIT_DONE
    except click.exceptions.NoArgsIsHelpError as wrong:
        say(wrong.format_message(), err=True)
        return EXIT_WRONG_CALL
    except click.UsageError as wrong:
        where = wrong.ctx.command_path if wrong.ctx is not None else "bestofk"
        complain(f"{wrong.format_message()} See '{where} --help'.")
        return EXIT_WRONG_CALL
    except click.ClickException as wrong:
        complain(wrong.format_message())
        return EXIT_WRONG_CALL
    except (RunError, StoreError) as failed:
        _complain_of(failed, words)
        return EXIT_FAILED
    except BestOfKError as wrong:
        _complain_of(wrong, words)
        return EXIT_WRONG_CALL
    except (KeyboardInterrupt, click.Abort) as stop:
        # click wraps what interrupted it
        complain(str(stop.__cause__ or stop) or "interrupted.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`| head`): that is no failure of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except MemoryError:
        complain("there is not enough memory for this; nothing was written.")
        return EXIT_FAILED
    except OSError as failed:
        complain(f"{failed.strerror or failed}: {failed.filename or ''}".rstrip(": "))
        return EXIT_FAILED


def _complain_of(error: BestOfKError, words: list[str]) -> None:
    from bestofk.cli.options import in_options

    complain(in_options(error, words))


def complain(message: str) -> None:
    """One line on stderr, without passwords and without what a terminal would obey."""
    from bestofk.run.store.url import hide_passwords

    say(f"bestofk: {hide_passwords(' '.join(message.split()))}", err=True)
