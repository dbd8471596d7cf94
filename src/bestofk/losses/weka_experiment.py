"""Results of Weka's Experimenter: which columns are what, and schemes named by their options."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from bestofk.tables.table import Table

_KEYS = ("key_dataset", "key_run", "key_scheme")
_LOSSES = ("percent_correct", "root_mean_squared_error")
"""What is compared where nothing is asked for: of classes, and of numbers."""


class WekaColumns(NamedTuple):
    """The table with a column of learners, and the columns to read it by."""

    table: Table
    algorithm: str
    loss: str | None
    metric: str | None


def weka_columns(
    table: Table, *, algorithm: str | None, loss: str | None, metric: str | None
) -> WekaColumns | None:
    """What the table of an experiment holds; None where it is no such table.

    An experiment has the columns Key_Dataset, Key_Run, Key_Scheme, Key_Scheme_options and, with
    cross-validation, Key_Fold. A scheme that was run with several options is several learners.
    """
    by_name = {name.lower(): name for name in table.columns}
    if not all(key in by_name for key in _KEYS):
        return None
    if loss is None and metric is not None and metric.lower() in by_name:
        loss, metric = by_name[metric.lower()], None
    if loss is None and metric is None:
        loss = next((by_name[name] for name in _LOSSES if name in by_name), None)
    if algorithm is not None:
        return WekaColumns(table, algorithm, loss, metric)
    name = "learner"
    while name in table:
        name += "_"
    made = Table.from_columns({name: _learners(table, by_name)}, source=table.source)
    said = "An experiment of Weka: learners are schemes"
    said += " with their options." if "key_scheme_options" in by_name else "."
    cells = {**table.cells, name: made.cells[name]}
    return WekaColumns(
        replace(table, cells=cells, account=(*table.account, said)), name, loss, metric
    )


def _learners(table: Table, by_name: dict[str, str]) -> list[str]:
    """For each row the scheme, with as much of its name and options as tells it from others."""
    schemes = [str(one).strip(" '\"") for one in table.text(by_name["key_scheme"])]
    options = [""] * len(schemes)
    if "key_scheme_options" in by_name:
        options = [
            " ".join(str(one or "").strip(" '\"").split())
            for one in table.text(by_name["key_scheme_options"])
        ]
    whole: dict[str, list[str]] = {}
    for scheme in dict.fromkeys(schemes):
        whole.setdefault(scheme.rpartition(".")[2], []).append(scheme)
    called = {
        scheme: short if len(full) == 1 else scheme
        for short, full in whole.items()
        for scheme in full
    }
    pairs = dict.fromkeys(zip(schemes, options, strict=True))
    several = {
        scheme for scheme in called if sum(one == scheme for one, _ in pairs) > 1
    }  # fmt: skip
    names = {
        (scheme, given): f"{called[scheme]} {given}".strip()
        if scheme in several
        else called[scheme]
        for scheme, given in pairs
    }
    return [names[pair] for pair in zip(schemes, options, strict=True)]
