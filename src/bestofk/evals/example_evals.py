"""Small sets of logs that come with the library, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bestofk.errors import UnknownNameError

if TYPE_CHECKING:
    from bestofk.evals.evals import Evals

EXAMPLE_EVALS = {
    "inspect-sums": "three mock models on 24 sums in eight passages, two epochs, by Inspect",
}
"""The names, and what each holds."""


def example_path(name: str) -> Path:
    """The folder of an example."""
    if name not in EXAMPLE_EVALS:
        raise UnknownNameError("example of logs", name, EXAMPLE_EVALS)
    return Path(__file__).with_name("examples") / name


def example_prices(name: str) -> Path:
    """The file of prices that goes with an example."""
    return example_path(name).with_name(f"{name}-prices.csv")


def example_evals(name: str) -> Evals:
    """An embedded set of logs.

    Parameters
    ----------
    name : str
        ``"inspect-sums"``.

    Notes
    -----
    Made by running Inspect with mock models: ``studies/make_example_evals.py``.

    Examples
    --------
    >>> example_evals("inspect-sums").learners
    ('mockllm/large', 'mockllm/medium', 'mockllm/small')
    """
    from bestofk.evals.read_evals import read_evals

    return read_evals(example_path(name), metric="match", prices=example_prices(name))
