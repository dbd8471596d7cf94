"""``bestofk diff``."""

import click


@click.command()
def diff() -> None: ...
