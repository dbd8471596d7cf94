"""Prices by model: of a million tokens, or of a sample if tokens are unknown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, refuse
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.files import read_file
from bestofk.evals.sources import loads

MILLION = 1e6
_AMOUNTS = {"input": "input", "output": "output", "cost": "sample"}
"""Fields of a price by their names in files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one model, in the currency of all prices.

    - `input`, `output`: For a million input tokens and a million output tokens; NaN if unknown.
    - `sample`: For one sample without token counts; NaN if unknown.
    """

    input: float = float("nan")
    output: float = float("nan")
    sample: float = float("nan")

    def of(self, tokens_in: Floats, tokens_out: Floats) -> Floats:
        """Return the cost of samples with these numbers of tokens."""
        by_tokens = (tokens_in * self.input + tokens_out * self.output) / MILLION
        cost: Floats = np.where(np.isfinite(by_tokens), by_tokens, self.sample)
        return cost


def read_prices(prices: Any) -> dict[str, Price]:
    """Read prices by model from a file or a mapping.

    - `prices`: A table with the column ``model`` and either ``input`` and ``output``, prices for a
      million tokens, or ``cost``, the price of a sample. Or a mapping of names to ``(input,
      output)``, to a price of a sample, or to a mapping with these keys; a JSON file may contain
      it.

    Examples
    --------
    >>> prices = read_prices({"small": (0.15, 0.6), "local": 0.002})
    >>> prices["small"].output, prices["local"].sample
    (0.6, 0.002)
    """
    if prices is None:
        return {}
    if isinstance(prices, str | os.PathLike):
        prices = _from_file(Path(prices))
    if not isinstance(prices, Mapping):
        raise refuse("prices", "a path or a mapping of models to prices", prices)
    return {str(name): _price(name, value) for name, value in prices.items()}


def _price(name: Any, value: Any) -> Price:
    where = f"the price of {str(name)!r}"
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise refuse(where, "a pair (input, output) for a million tokens", value)
        value = {"input": value[0], "output": value[1]}
    elif not isinstance(value, Mapping):
        value = {"cost": value}
    amounts = {
        field: _amount(value[key], where)
        for key, field in _AMOUNTS.items()
        if value.get(key) is not None
    }
    if not amounts:
        raise ArgumentError(
            f"{where} must have 'input' and 'output' (for a million tokens) or 'cost' (for a "
            f"sample); got {value!r:.80}."
        )
    return Price(**amounts)


def _amount(value: Any, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, bool) or not (np.isfinite(number) and number >= 0):
        raise refuse(where, "a number of at least 0", value)
    return number


def _from_file(path: Path) -> dict[str, Any]:
    """Return the prices of a table, or the mapping of a JSON file."""
    from bestofk.data.tables.reading import read_table

    if path.suffix.lower() == ".json" and path.is_file():
        value = loads(read_file(path), path.name)
        if isinstance(value, dict):
            return value
    table = read_table(path)
    columns = {name: table.numbers(name) for name in _AMOUNTS if name in table.columns}
    if "model" not in table.columns or not columns:
        raise TableError(
            f"{table.source}: prices need the column 'model' and the columns 'input' and 'output' "
            "(for a million tokens) or 'cost' (for a sample)."
        )
    prices: dict[str, Any] = {}
    for row, name in enumerate(table.text("model")):
        if name in prices:
            raise TableError(f"{table.location(row, 'model')} names {name!r} a second time.")
        amounts = {kind: float(values[row]) for kind, values in columns.items()}
        if name is not None:
            prices[name] = {kind: each for kind, each in amounts.items() if not np.isnan(each)}
    return prices
