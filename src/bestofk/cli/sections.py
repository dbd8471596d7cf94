"""Help texts whose options stand in sections."""

from __future__ import annotations

import click

INPUT = "What goes in"
SECTIONS = {
    INPUT: (),
    "How it is decided": (
        "prefer", "margin", "alpha", "procedure", "test", "correction", "family", "control", "rope",
        "guard", "df", "macro", "pass_at", "pass_all",
    ),
    "How it is run": (
        "plan", "stratify", "repetitions", "n_jobs", "threads", "engine", "scheduler", "timeout",
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
