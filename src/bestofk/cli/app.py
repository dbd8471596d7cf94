"""The command `bestofk`: its verbs, its help texts, its errors and its exit codes."""

from __future__ import annotations

import io
import os
import shlex
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import NoArgsIsHelpError

from bestofk._base.errors import Advice, BestOfKError, Interrupted, RunError, UnknownNameError
from bestofk._base.synonyms import meant
from bestofk.cli.registry import COMMANDS, Command
from bestofk.cli.say import discard, say, use_plain_characters, wrapped
from bestofk.run.store.url import hide_passwords
from bestofk.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MAX_MESSAGE = 1800
"""Characters of an error message; names in a file may be very long."""
EXIT_DONE = 0
EXIT_WRONG_CALL = 2
EXIT_FAILED = 4
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
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
    """Run the command line; an error prints one line on stderr and sets the exit code.

    This is the only way out. The codes 1 and 3 are answers of the gate, and nothing else has them.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, io.StringIO())
    command = ["bestofk", *(sys.argv[1:] if arguments is None else arguments)]
    try:
        use_plain_characters()
        result = bestofk.main(
            args=arguments, prog_name="bestofk", standalone_mode=False, obj=command
        )
        sys.stdout.flush()
        code = result if isinstance(result, int) else EXIT_DONE
    except BaseException as error:
        code = _ended_by(error, command)
    if arguments is None and _has_running_threads():
        # Python would wait forever for threads that a learner left running.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    return code


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
    elif typed in ("report", "plot"):
        # people name the file after the store
        store, *pages = [word for word in rest if not word.startswith("-")] or ["STORE"]
        option, page = ("--report", "report.html") if typed == "report" else ("--figure", "f.svg")
        line = shlex.join(["show", store, option, *(pages[:1] or [page])])
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


def _ended_by(error: BaseException, command: list[str]) -> int:
    """Say what ended the command, and return the exit code."""
    if isinstance(error, BrokenPipeError | SystemExit):
        # The reader closed the pipe, as `| head` does; click and rich make it a SystemExit.
        discard(sys.stdout)
        return EXIT_DONE
    code = EXIT_FAILED
    try:
        code, message = _code_and_message(error, command)
        if isinstance(error, NoArgsIsHelpError):
            say(message, err=True)
        else:
            complain(message)
    except BaseException:
        # stderr is closed or full, or the error has no message
        discard(sys.stderr)
    return code


def _code_and_message(error: BaseException, command: list[str]) -> tuple[int, str]:
    """Return the exit code of an error, and its sentence."""
    if isinstance(error, click.NoSuchOption):
        return EXIT_WRONG_CALL, _no_such_option(error)
    if isinstance(error, click.UsageError) and not isinstance(error, NoArgsIsHelpError):
        return EXIT_WRONG_CALL, _with_help(error, command)
    if isinstance(error, click.ClickException):
        return EXIT_WRONG_CALL, error.format_message()
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):
        return EXIT_FAILED, "not enough memory; nothing was written."
    if isinstance(error, BestOfKError):
        code = EXIT_FAILED if isinstance(error, RunError) else EXIT_WRONG_CALL
        return code, _advised(error, command)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        # click wraps the exception that interrupted it, before 8.1.4 only as its context.
        chain = (error, error.__cause__, error.__context__)
        messages = [str(one) for one in chain if isinstance(one, Interrupted)]
        return EXIT_INTERRUPTED, (*messages, "interrupted.")[0]
    if isinstance(error, OSError):
        parts = [str(error.strerror or error), *([str(error.filename)] if error.filename else [])]
        return EXIT_FAILED, ": ".join(parts)
    if "BESTOFK_TRACEBACK" in os.environ:
        traceback.print_exception(error)
    return EXIT_FAILED, (
        f"unexpected error, {type(error).__name__}: {error}. This is a defect of bestofk: please "
        "report it with the output of the same command after 'export BESTOFK_TRACEBACK=1'."
    )


def _with_help(error: click.UsageError, words: list[str]) -> str:
    """Return a message, with the help text to read unless the message has advice."""
    message = error.format_message().replace("a valid float", "a number such as 0.05")
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
    text = hide_passwords(" ".join(message.split()))
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]} ... {text[-MAX_MESSAGE // 2 :]}"
    say(wrapped(f"bestofk: {text}", sys.stderr), err=True)
