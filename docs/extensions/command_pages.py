"""The pages of the command-line reference, made by walking the commands."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

FOLDER = Path("commands")
SHORT = ("list", "show", "size")
"""Commands with few options, which share the page *other*."""


def commands() -> dict[str, Any]:
    """``compare``, ``measure type1``, ...: the command of that name."""
    import click

    from bestofk.cli.app import bestofk

    found: dict[str, Any] = {}

    def walk(group: Any, words: tuple[str, ...]) -> None:
        context = click.Context(group, info_name=words[-1] if words else "bestofk")
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is None or command.hidden:
                continue
            found[" ".join((*words, name))] = command
            if isinstance(command, click.Group):
                walk(command, (*words, name))

    walk(bestofk, ())
    return found


def page_of(name: str) -> str:
    """Return the name of the page of a command; those of a group are on its page."""
    if name in SHORT:
        return "other"
    return "papers measure" if name.startswith("papers measure") else name.split()[0]


def command_text(name: str, command: Any) -> str:
    """The purpose, examples, arguments and options of one command."""
    import click

    context = click.Context(command, info_name=f"bestofk {name}")
    usage = " ".join(["bestofk", name, *command.collect_usage_pieces(context)])
    level = "#" if page_of(name) == name else "##"
    lines = [f"{level} {name}", "", "```text", usage, "```", ""]
    lines += [*_help(command.help or ""), ""]
    if hasattr(command, "sections"):
        sections = command.sections(context)
    else:
        shown = [one for one in command.get_params(context) if isinstance(one, click.Option)]
        sections = {"Options": [one for one in shown if not one.hidden]}
    for title, options in sections.items():
        lines += [f"{level}# {title}", ""]
        for option in options:
            record = option.get_help_record(context)
            if record is None:
                continue
            names, words = record
            anchor = max(option.opts, key=len).strip("-")
            lines += [f"({_anchor(name, anchor)})=", "", f"`{names}`"]
            lines += [f": {_sentence(words)}", ""]
    return "\n".join(lines)


def _anchor(name: str, option: str) -> str:
    return f"command-{name.replace(' ', '-')}-{option}"


def _sentence(words: str) -> str:
    """Help text for Markdown: what looks like code is code."""
    words = " ".join(words.split()) or "(no description)"
    words = re.sub(r"([\\*_<>\[\]|$])", r"\\\1", words)
    return re.sub(r"(?<![\w`])(--[\w-]+)", r"`\1`", words)


def _help(text: str) -> list[str]:
    r"""The help of a command: paragraphs are prose, what follows a ``\b`` stands as it is."""
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        kept = block.lstrip().startswith("\b")
        rows = [row for row in block.replace("\b", "").splitlines() if row.strip()]
        if not kept:
            lines += [_sentence(" ".join(rows)), ""]
            continue
        if rows and rows[0].rstrip().endswith(":"):
            lines += [f"**{rows[0].strip().rstrip(':')}**", ""]
            rows = rows[1:]
        rows = inspect.cleandoc("\n".join(["", *rows])).splitlines()
        typed = all(row.startswith(("bestofk ", " ", "#")) for row in rows)
        prompt = [f"$ {row}" if row.startswith("bestofk ") else row for row in rows]
        lines += ["```console" if typed else "```text", *(prompt if typed else rows), "```", ""]
    return lines


def index_page(found: dict[str, Any]) -> str:
    """The page that lists all commands."""
    lines = [
        "# Command line", "",
        "Every command with all its options, made from the program itself. On a terminal, "
        "`bestofk COMMAND --help` says the same, and "
        "`--json` gives the answer to a program.", "",
        "| command | what it does |", "| --- | --- |",
    ]  # fmt: skip
    for name, command in found.items():
        place = f"{_stem(page_of(name))}.md" + ("" if page_of(name) == name else f"#{_stem(name)}")
        lines.append(f"| [{name}]({place}) | {command.get_short_help_str(200)} |")
    pages = dict.fromkeys(map(page_of, found))
    for part in ("command-line", "exit-codes"):
        lines += ["", f"```{{include}} ../use/{part}.md", ":heading-offset: 1", "```", ""]
    lines += ["```{toctree}", ":hidden:", "", *map(_stem, pages), "```", ""]
    return "\n".join(lines)


def _stem(name: str) -> str:
    return name.replace(" ", "-")


def all_pages() -> dict[Path, str]:
    """Path below the documentation: text, of every page made here."""
    found = commands()
    pages: dict[Path, str] = {FOLDER / "index.md": index_page(found)}
    for name, one in found.items():
        page = FOLDER / f"{_stem(page_of(name))}.md"
        title = "# Other commands\n" if name in SHORT else ""
        pages[page] = pages.get(page, title) + "\n" + command_text(name, one)
    return pages
