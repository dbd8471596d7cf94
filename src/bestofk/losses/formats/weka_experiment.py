"""Results of Weka's Experimenter: which columns are what, and schemes named by their options."""

from __future__ import annotations

import re
from typing import Any

from bestofk.losses.formats.tool_columns import (
    AskedOfTable,
    ToolColumns,
    noted,
    with_column,
)
from bestofk.tables.table import Table

_KEYS = ("key_dataset", "key_run", "key_scheme")
_LOSSES = ("percent_correct", "root_mean_squared_error")
"""What is compared where nothing is asked for: of classes, and of numbers."""

_HIGHER = re.compile(r"_correct|kappa|ir_|f_measure|area_under|true_|num_true", re.IGNORECASE)
_LOWER = re.compile(r"_incorrect|_unclassified|error|false_|num_false|_time_", re.IGNORECASE)
"""Which way Weka's own measures point."""


def is_weka(table: Table) -> bool:
    """The keys that every experiment has."""
    names = {name.lower() for name in table.columns}
    return all(key in names for key in _KEYS)


def weka_columns(table: Table, asked: AskedOfTable) -> ToolColumns:
    """Which columns to read an experiment by.

    An experiment has the columns Key_Dataset, Key_Run, Key_Scheme, Key_Scheme_options and, with
    cross-validation, Key_Fold. A scheme that was run with several options is several learners.
    """
    by_name = {name.lower(): name for name in table.columns}
    loss, metric = asked.loss, asked.metric
    if loss is None and metric is not None and metric.lower() in by_name:
        loss, metric = by_name[metric.lower()], None
    if loss is None and metric is None:
        loss = next((by_name[name] for name in _LOSSES if name in by_name), None)
    roles = {} if loss is None else {"loss": loss}
    higher = None
    if loss is not None and (_LOWER.search(loss) or _HIGHER.search(loss)):
        higher = _LOWER.search(loss) is None
    told: dict[str, Any] = {
        "metric": metric, "higher_is_better": higher, "said_by": f"{loss!r} of Weka",
    }  # fmt: skip
    if asked.algorithm is not None:
        return ToolColumns(table=table, roles=roles, **told)
    table, roles["algorithm"] = with_column(table, "learner", _learners(table, by_name))
    said = "An experiment of Weka: learners are schemes"
    said += " with their options." if "key_scheme_options" in by_name else "."
    return ToolColumns(table=noted(table, said), roles=roles, **told)


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
