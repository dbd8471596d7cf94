"""The commands of the papers, which the command line finds by their entries here."""

from bestofk.cli.registry import Command

COMMANDS = (
    Command(
        name="test",
        function="bestofk.papers.commands.test:one_test",
        summary="Run one test on a table of losses.",
    ),
    Command(
        name="estimate",
        function="bestofk.papers.commands.estimate:estimate",
        summary="Estimate the error rate of one learner.",
    ),
    Command(
        name="calibrate",
        function="bestofk.papers.commands.measure:calibrate",
        summary="Calibrate a test on your own data.",
    ),
    Command(
        name="measure",
        function="bestofk.papers.commands.measure:measure",
        summary="Measure the error rate and the power of a test.",
    ),
    Command(
        name="reproduce",
        function="bestofk.papers.commands.reproduce:reproduce",
        summary="Reproduce the papers' tables next to the published numbers.",
    ),
    Command(
        name="fetch",
        function="bestofk.papers.commands.fetch:fetch",
        summary="Download the data sets of the papers.",
    ),
)
