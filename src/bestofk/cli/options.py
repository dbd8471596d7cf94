"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from bestofk._base.errors import Advice, BestOfKWarning
from bestofk.cli.set_values import names_in, seconds, typed

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


def option_group(*decorators: Decorator) -> Decorator:
    """Return one decorator for several options, which appear in this order."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def pairs_in(_: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the names and values in ``NAME=VALUE``."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            some = f": use --set only={text}" if option.metavar == "NAME=FILE" else ""
            raise click.UsageError(
                f"{option.opts[0]} must be {option.metavar}; got {text!r}{some}."
            )
        if values.setdefault(name, value) != value:
            raise click.UsageError(f"{option.opts[0]} states {name!r} twice.")
    return values


def pairs_option(name: str, *, metavar: str, help: str) -> Decorator:
    """Return a repeatable option of the form ``NAME=VALUE``."""
    return click.option(
        name, f"{name.lstrip('-')}s", metavar=metavar, multiple=True, callback=pairs_in, help=help
    )


def _time(_: click.Context, option: click.Parameter, text: str | None) -> float | None:
    return None if text is None else seconds(text, option.opts[0])


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
report_option = click.option(
    "--report", "report_path", metavar="F.html", help="Write a report: one self-contained file."
)
seed_option = click.option(
    "--random-state", type=click.IntRange(min=0), metavar="N",
    help="Seed of random draws.  [default: 0]",
)  # fmt: skip
alpha_option = click.option(
    "--alpha", type=float, help="Chance that the statement is wrong.  [default: 0.05]"
)
direction_option = click.option(
    "--higher-is-better/--lower-is-better", default=None,
    help="The numbers are scores or losses. By default their name decides.",
)  # fmt: skip
by_option = click.option(
    "--by", metavar="COL", help="Also decide in every slice: rows with the same value of COL."
)
budget_option = click.option(
    "--budget", metavar="TIME", callback=_time,
    help="Stop after this time and decide from what has finished: 90, 10m, 2h.",
)  # fmt: skip
store_option = click.option(
    "--store", metavar="URL", help="Save fits in a file or database, and resume from it."
)


def decision_options(prefer: str) -> Decorator:
    """Return the options of a decision; `prefer` is the help of the preference."""
    return option_group(
        click.option("--prefer", metavar="NAMES", help=prefer),
        click.option(
            "--margin", type=float, metavar="D",
            help="A difference that does not matter: a preferred one may be this much worse.",
        ),
        alpha_option,
        seed_option,
    )  # fmt: skip


figure_width_option = click.option(
    "--figure-width",
    metavar="INCHES",
    type=click.FloatRange(2.8, 55),
    help="Width of the figures, such as 3.3 for a column of a paper.",
)
output_options = option_group(
    report_option,
    click.option(
        "--figure", "figures", metavar="[KIND=]FILE", multiple=True,
        help="Draw a figure: F.svg, F.pdf or F.png. Repeatable.",
    ),
    figure_width_option,
    click.option("--csv", metavar="F.csv", help="Write the table of learners, all digits."),
    json_option,
)  # fmt: skip
"""The files that a decision is written to, and JSON."""
print_options = option_group(
    click.option("--explain", is_flag=True, help="Print the whole explanation."),
    click.option("--pairs", is_flag=True, help="Also print every pair, and the ranks."),
    click.option("-q", "--quiet", is_flag=True, help="Print only the ranking, best first."),
    click.option("-v", "--verbose", is_flag=True, help="Print on stderr what is read and done."),
)
"""How much to print."""


def preference(text: str | None, *, measured: bool = True) -> Any:
    """Return ``--prefer`` as a list of names, ``"listed"`` or a measured cost."""
    from bestofk.decide.preference import LISTED, MEASURED

    if text is None or text == LISTED or (measured and text in MEASURED):
        return text
    return names_in(text)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings of bestofk as plain lines on stderr."""
    import warnings

    from bestofk.cli.app import complain

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BestOfKWarning)
        yield
    for warning in caught:
        if isinstance(warning.message, BestOfKWarning):
            complain(f"note: {warning.message.text(typed_advice)}")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def command_line() -> tuple[str, ...]:
    """Return the typed words, with options from a configuration file as if they were typed."""
    context = click.get_current_context(silent=True)
    return () if context is None else tuple(context.find_root().obj or ())


def typed_advice(advice: Advice) -> str:
    """Return advice as an option of the current command."""
    context = click.get_current_context(silent=True)
    return typed(advice, None if context is None else context.command)


def refuse(subject: str, options: dict[str, Any]) -> None:
    """Raise an error if an option that does not apply to the subject was set."""
    for name, value in options.items():
        if value not in (None, (), {}, False):
            text = typed_advice(Advice(name, value))
            raise click.UsageError(f"{text} does not apply to {subject}.")
