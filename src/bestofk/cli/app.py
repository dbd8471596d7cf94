"""The command `bestofk`: its verbs, its help texts, its errors and its exit codes."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.errors import BestOfKError, Interrupted, RunError, StoreError, UnknownNameError
from bestofk._base.synonyms import meant
from bestofk.cli.registry import BUILT_IN, COMMANDS
from bestofk.cli.say import say, use_plain_characters, wrapped
from bestofk.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INPUT = "Input"
SECTIONS = {
    INPUT: (),
    "Decision": (
        "prefer", "margin", "alpha", "procedure", "test", "correction", "family", "control", "rope",
        "as_published", "df", "macro", "pass_at", "pass_all",
    ),
    "Run": (
        "cv", "stratify", "repetitions", "n_jobs", "threads", "engine", "scheduler", "timeout",
        "budget", "on_failure", "retry_failed", "store", "random_state",
    ),
    "Stopping early": ("stop", "stop_target", "risk"),
    "Output": (
        "report_path", "figures", "csv", "output", "as_json", "explain", "pairs",
        "ranks", "quiet", "verbose", "config", "help_all", "help",
    ),
}  # fmt: skip
"""Parameters of each section of a help text, in order; the first has all others."""


class SectionedCommand(click.Command):
    """A command whose help text has sections of options.

    If `common` names parameters, ``--help`` shows only those, and ``--help-all`` shows all.
    """

    def __init__(self, *arguments: Any, common: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.common = tuple(common)
        if common:
            self.params.append(
                click.Option(
                    ["--help-all"], is_flag=True, is_eager=True, expose_value=False,
                    callback=_show_all_help, help="Show all options and exit.",
                )
            )  # fmt: skip

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.common and not ctx.meta.get(HELP_ALL):
            self._format_common(ctx, formatter)
            return
        for title, options in self.sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl([row for o in options if (row := o.get_help_record(ctx))])

    def _format_common(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = {option.name: option for option in self._options(ctx)}
        shown = [options[name] for name in (*self.common, "help_all") if name in options]
        with formatter.section("Options"):
            formatter.write_dl([row for o in shown if (row := o.get_help_record(ctx))])
        rest = len(options) - len(shown) - 1
        formatter.write_paragraph()
        formatter.write(f"{rest} more options: {ctx.command_path} --help-all\n")

    def sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Return the options by title of their section, in order."""
        options: dict[str, dict[str, click.Option]] = {title: {} for title in SECTIONS}
        for option in self._options(ctx):
            # click names its own help option differently from version to version
            name = "help" if "--help" in option.opts else str(option.name)
            options[section_of(name)][name] = option
        ordered = {
            title: [
                options[title][name] for name in names or options[title] if name in options[title]
            ]
            for title, names in SECTIONS.items()
        }
        return {title: section for title, section in ordered.items() if section}

    def _options(self, ctx: click.Context) -> list[click.Option]:
        parameters = self.get_params(ctx)
        return [one for one in parameters if isinstance(one, click.Option) and not one.hidden]


HELP_ALL = "bestofk.help_all"
"""Key of the context that is true while a help text with all options is written."""


def _show_all_help(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        say(ctx.get_help())
        ctx.exit()


def section_of(name: str) -> str:
    """Return the section of a parameter.

    Examples
    --------
    >>> section_of("alpha"), section_of("target")
    ('Decision', 'Input')
    """
    return next((title for title, names in SECTIONS.items() if name in names), INPUT)


MAX_MESSAGE = 1800
"""Characters of an error message; names in a file may be very long."""
EXIT_DONE = 0
EXIT_WRONG_CALL = 2
EXIT_FAILED = 4
EXIT_INTERRUPTED = 130


class MissingCommand(click.UsageError):
    """A group was called without a command; the message is its help text."""


class HelpfulGroup(click.Group):
    """A group that shows its help text as an error if it is called without a command.

    click does this since version 8.2.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            raise MissingCommand(ctx.get_help(), ctx=ctx)
        return super().parse_args(ctx, args)


class LazyGroup(HelpfulGroup):
    """A group that imports a verb only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = COMMANDS[cmd_name].load()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.summary) for command in BUILT_IN])
        formatter.write_paragraph()
        formatter.write("Commands of the papers and of plugins: bestofk list commands\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the verbs that start with `incomplete`, without importing them."""
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(command.name, help=command.summary)
            for command in COMMANDS.values()
            if command.name.startswith(incomplete)
        ]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(_no_such_verb(args[0]))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="bestofk")
def bestofk() -> None:
    """Of these K learning algorithms, which should I use on my data, how do the others rank, and
    how sure can I be?

    \b
    Examples:
      bestofk compare iris
      bestofk scores breast-cancer-10x10 --prefer logistic-regression,decision-tree
      bestofk evals inspect-sums --metric match --prefer tokens
    """


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; an error prints one line on stderr and sets the exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, io.StringIO())
    with _interrupt_on_signals() as signals:
        code = _run(arguments)
        if code == EXIT_INTERRUPTED and signals:
            code = 128 + signals[0]
        if arguments is None and _has_running_threads():
            # Python would wait forever for threads that a learner left running.
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(code)
        return code


@contextmanager
def _interrupt_on_signals() -> Iterator[list[int]]:
    """Let SIGTERM and SIGHUP interrupt the work as Ctrl-C does, unless they are ignored.

    Yield a list that receives the signal.
    """
    handlers: dict[int, Any] = {}
    received: list[int] = []

    def interrupt(number: int, frame: Any) -> None:  # noqa: ARG001
        for handled in handlers:
            # No second signal may interrupt the cleanup.
            signal.signal(handled, signal.SIG_IGN)
        received.append(number)
        raise Interrupted(f"ended by {signal.Signals(number).name}.")

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                handlers[number] = signal.signal(number, interrupt)
    try:
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _has_running_threads() -> bool:
    """Return whether there are threads that Python waits for before it exits."""
    return any(
        not thread.daemon and thread is not threading.main_thread()
        for thread in threading.enumerate()
    )


def _no_such_verb(typed: str) -> str:
    """Return a sentence with the verb that was meant."""
    from bestofk.cli.listings import LISTINGS

    if typed in LISTINGS:
        return f"There is no command {typed!r}: use 'bestofk list {typed}'."
    return str(UnknownNameError("command", typed, COMMANDS))


def _no_such_option(error: click.NoSuchOption) -> str:
    """Return a sentence with the option that was meant."""
    options: list[str] = []
    if error.ctx is not None:
        options = [
            text
            for parameter in error.ctx.command.get_params(error.ctx)
            for text in (*parameter.opts, *parameter.secondary_opts)
            if text.startswith("--")
        ]
    near = meant(error.option_name, options, most=2, cutoff=0.6)
    advice = f": use {' or '.join(near)}" if near else ""
    path = "bestofk" if error.ctx is None else error.ctx.command_path
    full = "--help-all" if "--help-all" in options else "--help"
    return f"There is no option {error.option_name}{advice}. See '{path} {full}'."


def _run(arguments: list[str] | None) -> int:
    use_plain_characters()
    command = ["bestofk", *(sys.argv[1:] if arguments is None else arguments)]
    try:
        code = bestofk.main(args=arguments, prog_name="bestofk", standalone_mode=False, obj=command)
        sys.stdout.flush()
        return code if isinstance(code, int) else EXIT_DONE
    except MissingCommand as error:
        say(error.format_message(), err=True)
        return EXIT_WRONG_CALL
    except click.NoSuchOption as error:
        complain(_no_such_option(error))
        return EXIT_WRONG_CALL
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx is not None else "bestofk"
        complain(f"{error.format_message()} See '{path} --help'.")
        return EXIT_WRONG_CALL
    except click.ClickException as error:
        complain(error.format_message())
        return EXIT_WRONG_CALL
    except BestOfKError as error:
        complain(_with_options(error, command))
        return EXIT_FAILED if isinstance(error, RunError | StoreError) else EXIT_WRONG_CALL
    except (KeyboardInterrupt, click.Abort) as error:
        # click wraps the exception that interrupted it, before 8.1.4 only as its context.
        wrapped = error.__context__ if isinstance(error, click.Abort) else None
        complain(str(error.__cause__ or wrapped or error) or "interrupted.")
        return EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader closed the pipe, as `| head` does; click exits with code 1, the gate's answer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except MemoryError:
        complain("not enough memory; nothing was written.")
        return EXIT_FAILED
    except OSError as error:
        parts = [str(error.strerror or error), *([str(error.filename)] if error.filename else [])]
        complain(": ".join(parts))
        return EXIT_FAILED
    except Exception as error:
        if "BESTOFK_TRACEBACK" in os.environ:
            raise
        complain(
            f"unexpected error, {type(error).__name__}: {error}. This is a defect of bestofk: "
            "please report it with the output of the same command after "
            "'export BESTOFK_TRACEBACK=1'."
        )
        return EXIT_FAILED


def _with_options(error: BestOfKError, command: list[str]) -> str:
    from bestofk.cli.options import with_options

    return with_options(error, command)


def complain(message: str) -> None:
    """Print one line on stderr, without passwords and control characters."""
    from bestofk.run.store.url import hide_passwords

    text = hide_passwords(" ".join(message.split()))
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]} ... {text[-MAX_MESSAGE // 2 :]}"
    say(wrapped(f"bestofk: {text}", sys.stderr), err=True)
