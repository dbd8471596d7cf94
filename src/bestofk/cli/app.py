"""The command `bestofk`: its verbs, its help texts, its errors and its exit codes."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from bestofk._base.errors import (
    Advice,
    BestOfKError,
    Interrupted,
    RunError,
    UnknownNameError,
)
from bestofk._base.synonyms import meant
from bestofk.cli.registry import COMMANDS, Command
from bestofk.cli.say import say, use_plain_characters, wrapped
from bestofk.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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
    """A group that imports a command only when it is called; `table` has its commands."""

    def __init__(self, *arguments: Any, table: Mapping[str, Command], **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.table:
            return None
        command = self.table[cmd_name].load()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        # without the commands of plugins, which would be imported
        listed = getattr(self.table, "shipped", None) or list(self.table.values())
        with formatter.section("Commands"):
            formatter.write_dl([(one.name, one.summary) for one in listed])
        if self.table is COMMANDS:
            formatter.write_paragraph()
            formatter.write("Reproduce the papers and study tests: bestofk papers --help\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that start with `incomplete`, without importing them."""
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(command.name, help=command.summary)
            for command in self.table.values()
            if command.name.startswith(incomplete)
        ]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.table:
            raise click.UsageError(_no_such_command(args, self.table))
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, "--version", prog_name="bestofk")
def bestofk() -> None:
    """Of these K models, which should I use, how do the others rank, and how sure can I be?

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


HABITS = {
    "order": "scores", "rank": "scores", "autorank": "scores", "predictions": "scores",
    "battles": "scores", "run": "compare", "benchmark": "compare", "fit": "compare",
    "evaluate": "compare", "train": "compare", "choose": "evals", "eval": "evals", "llm": "evals",
    "power": "size", "plan": "size", "sample-size": "size", "open": "show", "status": "show",
    "check": "gate", "release": "gate", "test": "papers test", "estimate": "papers estimate",
    "calibrate": "papers calibrate", "measure": "papers measure", "fetch": "papers fetch",
    "reproduce": "papers reproduce", "download": "papers fetch", "help": "--help",
    "version": "--version",
}  # fmt: skip
"""Words that people type for a command."""
OPTION_HABITS = {"--replicate": "papers measure replicability --data"}
"""Options of `compare` that are commands; the data follow."""


def _no_such_command(words: list[str], known: Mapping[str, Any]) -> str:
    """Return a sentence with the line that was meant."""
    from bestofk.cli.listings import LISTINGS

    typed, *rest = words
    line = ""
    if known is not COMMANDS:
        pass
    elif typed == "report":
        # people name the file after the store
        store, *pages = [word for word in rest if not word.startswith("-")] or ["STORE"]
        line = shlex.join(["show", store, "--report", *(pages[:1] or ["report.html"])])
    elif typed in HABITS:
        line = f"{HABITS[typed]} {shlex.join(rest)}".strip()
    elif typed in LISTINGS:
        line = shlex.join(["list", *words])
    if line:
        return f"There is no command {typed!r}: use 'bestofk {line}'."
    return str(UnknownNameError("command", typed, known))


def _no_such_option(error: click.NoSuchOption) -> str:
    """Return a sentence with the option that was meant."""
    from bestofk.cli.set_values import SettingsCommand, typed

    if error.ctx is None:
        return f"There is no option {error.option_name}. See 'bestofk --help'."
    command, words = error.ctx.command, list(error.ctx.find_root().obj or ())
    if error.option_name in OPTION_HABITS:
        data = next((word for word in words[2:3] if not word.startswith("-")), "FILE")
        line = f"{OPTION_HABITS[error.option_name]} {shlex.quote(data)}"
        return f"There is no option {error.option_name}: use 'bestofk {line}'."
    options = [
        text
        for parameter in command.get_params(error.ctx)
        for text in (*parameter.opts, *parameter.secondary_opts)
        if text.startswith("--")
    ]
    near = meant(error.option_name, options, most=1, cutoff=1.0)
    if near:  # without the imports of settings
        return f"There is no option {error.option_name}: use {near[0]}."
    settings = list(command.kinds()) if isinstance(command, SettingsCommand) else []
    after = words[words.index(error.option_name) + 1 :] if error.option_name in words else []
    value = after[0] if after and not after[0].startswith("--") else "..."
    name = error.option_name.lstrip("-").replace("-", "_")
    near = [text for text in [typed(Advice(name, value), command)] if text.startswith("--")]
    near = near or meant(error.option_name, options, most=2, cutoff=0.6)
    if not near:
        near = [
            shlex.join(["--set", f"{one}={value}"])
            for one in meant(name, settings, most=1, cutoff=0.6)
        ]
    advice = f": use {' or '.join(near)}" if near else ""
    see = "" if near else f" See '{error.ctx.command_path} --help'."
    return f"There is no option {error.option_name}{advice}.{see}"


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
        complain(_with_help(error, command))
        return EXIT_WRONG_CALL
    except click.ClickException as error:
        complain(error.format_message())
        return EXIT_WRONG_CALL
    except BestOfKError as error:
        complain(_advised(error, command))
        return EXIT_FAILED if isinstance(error, RunError) else EXIT_WRONG_CALL
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


def _with_help(error: click.UsageError, words: list[str]) -> str:
    """Return a message, with the help text to read unless the message has advice."""
    message = error.format_message()
    if "'bestofk " in message or ": use " in message or ": add " in message:
        return message
    verb = next((word for word in words[1:] if word in COMMANDS), "")
    path = f"bestofk {verb}".strip() if error.ctx is None else error.ctx.command_path
    return f"{message} See '{path} --help'."


def _advised(error: BestOfKError, words: list[str]) -> str:
    """Return a message with its advice as options of the typed command."""
    from bestofk.cli.set_values import shown_by

    return error.text(shown_by(words))


def complain(message: str) -> None:
    """Print one line on stderr, without passwords and control characters."""
    from bestofk.run.store.url import hide_passwords

    text = hide_passwords(" ".join(message.split()))
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]} ... {text[-MAX_MESSAGE // 2 :]}"
    say(wrapped(f"bestofk: {text}", sys.stderr), err=True)
