"""The commands of the papers: one group on the command line."""

from bestofk.cli.registry import Command

COMMANDS = (
    Command(
        name="papers",
        function="bestofk.papers.commands.group:papers",
        summary="Reproduce the papers, run their tests, measure error rates.",
    ),
)
