"""Prices by model: of a million tokens, or of a sample if tokens are unknown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, refuse
from bestofk._base.errors import ArgumentError, TableError

MILLION = 1e6
_MODEL = ("model", "learner", "name", "id", "model_name", "model_id")
_INPUT = ("input", "input_price", "price_input", "prompt", "input_per_million", "price_in")
_OUTPUT = ("output", "output_price", "price_output", "completion", "output_per_million",
           "price_out")  # fmt: skip
_SAMPLE = ("cost", "price", "cost_per_item", "cost_per_sample", "per_item", "per_sample")


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

    - `prices`: A table (CSV, TSV, JSONL, JSON, Parquet) with the column ``model`` and either
      ``input`` and ``output``, prices for a million tokens, or ``cost``, the price of a sample. Or
      a mapping of names to ``(input, output)``, to a price of a sample, or to a mapping with these
      keys. A JSON file may contain such a mapping.

    Examples
    --------
    >>> prices = read_prices({"small": (0.15, 0.6), "local": 0.002})
    >>> prices["small"].output, prices["local"].sample
    (0.6, 0.002)
    """
    if prices is None:
        return {}
    if isinstance(prices, Mapping):
        return {str(name): _price(name, value) for name, value in prices.items()}
    if not isinstance(prices, str | os.PathLike):
        raise refuse("prices", "a path or a mapping of models to prices", prices)
    return _from_file(prices)


def _price(name: Any, value: Any) -> Price:
    where = f"the price of {str(name)!r}"
    if isinstance(value, Price):
        return value
    if isinstance(value, Mapping):
        plain = {_plain(key): each for key, each in value.items()}
        amounts = {
            part: _amount(next((plain[key] for key in keys if key in plain), None), where)
            for part, keys in (("input", _INPUT), ("output", _OUTPUT), ("sample", _SAMPLE))
        }
        if not any(np.isfinite(each) for each in amounts.values()):
            raise ArgumentError(
                f"{where} must have 'input' and 'output' (for a million tokens) or 'cost' (for a "
                f"sample); got {value!r:.80}."
            )
        return Price(**amounts)
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise refuse(where, "a pair (input, output) for a million tokens", value)
        return Price(input=_amount(value[0], where), output=_amount(value[1], where))
    return Price(sample=_amount(value, where))


def _plain(name: Any) -> str:
    return str(name).strip().lower().replace(" ", "_")


def _amount(value: Any, where: str) -> float:
    if value is None or value == "":
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if isinstance(value, bool) or not (np.isfinite(number) and number >= 0):
        raise refuse(where, "a number of at least 0", value)
    return number


def _from_file(path: str | os.PathLike[str]) -> dict[str, Price]:
    from pathlib import Path

    from bestofk.data.tables.reading import read_table
    from bestofk.evals.sources import loads

    file = Path(path)
    if file.suffix.lower() == ".json" and file.is_file():
        text = file.read_text(encoding="utf-8-sig", errors="replace")
        value = loads(text, file.name)
        if isinstance(value, dict) and not all(isinstance(each, list) for each in value.values()):
            return {str(name): _price(name, each) for name, each in value.items()}
    table = read_table(file)
    plain = {_plain(column): column for column in table.columns}
    roles = {
        role: next((plain[name] for name in names if name in plain), None)
        for role, names in (
            ("model", _MODEL), ("input", _INPUT), ("output", _OUTPUT), ("cost", _SAMPLE)
        )
    }  # fmt: skip
    model = roles.pop("model")
    if model is None or not any(roles.values()):
        raise TableError(
            f"{table.source}: prices need the column 'model' and the columns 'input' and 'output' "
            "(for a million tokens) or 'cost' (for a sample); got "
            f"{', '.join(map(repr, table.columns[:12]))}."
        )
    names = table.text(model)
    columns = {role: table.numbers(column) for role, column in roles.items() if column is not None}
    prices: dict[str, Price] = {}
    for row, name in enumerate(names):
        if name is None:
            continue
        if name in prices:
            raise TableError(f"{table.location(row, model)} names {name!r} a second time.")
        amounts = {role: values[row] for role, values in columns.items()}
        prices[str(name)] = _price(
            name, {role: float(each) for role, each in amounts.items() if not np.isnan(each)}
        )
    return prices
