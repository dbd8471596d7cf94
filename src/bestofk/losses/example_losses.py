"""Tables of losses that come with the library, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bestofk.errors import UnknownNameError

if TYPE_CHECKING:
    from bestofk.losses.losses import Losses

EXAMPLES = {
    "breast-cancer-10x10": "error rates of six classifiers, 10 runs of stratified 10-fold "
    "cross-validation on the breast cancer data",
    "digits-5x2": "error rates of six classifiers, 5 runs of stratified 2-fold "
    "cross-validation on the digits data",
}
"""The names, and what each holds."""


def example_path(name: str) -> Path:
    """Where the file of an example is."""
    if name not in EXAMPLES:
        raise UnknownNameError("example table of losses", name, EXAMPLES)
    return Path(__file__).with_name("examples") / f"{name}.csv"


def example_losses(name: str) -> Losses:
    """An embedded table of losses.

    Parameters
    ----------
    name : str
        ``"breast-cancer-10x10"`` or ``"digits-5x2"``.

    Notes
    -----
    Made with scikit-learn's classifiers and data sets by ``studies/make_example_losses.py``.

    Examples
    --------
    >>> example_losses("digits-5x2")
    Losses(6 learners x 1 data set, 5 runs of 2-fold cross-validation, stratified)
    """
    from bestofk.losses.read_losses import read_losses

    return read_losses(example_path(name))
