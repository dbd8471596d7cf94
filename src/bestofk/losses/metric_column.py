"""Which column of a long table holds the losses, and which metric they are of."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import TableError
from bestofk.losses.roles import Direction, direction_of, normal
from bestofk.tables.table import Table

_ASIDE = re.compile(
    r"(?:^|_)(?:time|std|stddev|stdev|rank|train|training|size|seconds|memory|ram|count|start|end)"
    r"(?:_|$)"
)


def listed(names: Iterable[str]) -> str:
    """Names in quotes, parted by commas."""
    return ", ".join(map(repr, names))


def metrics_by_dataset(table: Table, roles: dict[str, str]) -> dict[str, Direction]:
    """The direction of every metric where each data set has but one, and all are known."""
    if "dataset" not in roles:
        return {}
    metrics, sets = table.levels(roles["metric"]), table.levels(roles["dataset"])
    pairs = {*zip(sets.codes.tolist(), metrics.codes.tolist(), strict=True)}
    if len(metrics.names) < 2 or len(pairs) != len(sets.names):
        return {}
    found = {name: direction_of(name) for name in metrics.names}
    return {
        name: direction
        for name, direction in found.items()
        if direction in ("loss", "score") and None not in found.values()
    }


def all_as_losses(
    table: Table, column: str, directions: dict[str, Direction], values: Floats
) -> Floats:
    """The values with those of every score turned round: 1 - score within [0, 1], else -score."""
    levels = table.levels(column)
    values = values.copy()
    for code, name in enumerate(levels.names):
        if directions[name] == "score":
            own = values[levels.codes == code]
            known = own[~np.isnan(own)]
            inside = bool(len(known)) and known.min() >= 0.0 and known.max() <= 1.0
            values[levels.codes == code] = (1.0 if inside else 0.0) - own
    return values


def one_metric(table: Table, column: str, metric: str | None) -> tuple[np.ndarray | None, str]:
    levels = table.levels(column)
    if metric is not None:
        if metric not in levels.names:
            raise TableError(
                f"{table.source}: metric must be one of {listed(levels.names)} (column "
                f"{column!r}); got {metric!r}."
            )
        return levels.codes == levels.names.index(metric), metric
    if len(levels.names) > 1:
        row = int((levels.codes == 1).argmax())
        raise TableError(
            f"{table.place(row, column)} is another metric than the rows before: the column holds "
            f"{listed(levels.names[:6])}{', ...' if len(levels.names) > 6 else ''}; choose one "
            f"with metric={levels.names[0]!r}."
        )
    return None, levels.names[0] if levels.names else column


def value_column(table: Table, roles: dict[str, str]) -> str:
    """The column of the losses in a long table."""
    free = [column for column in table.columns if column not in roles.values()]
    named = [column for column in free if direction_of(column) is not None]
    tested = [column for column in named if not _ASIDE.search(normal(column))]
    candidates = tested or named
    if "metric" in roles:
        # one column names the metric, and a column of no metric of its own holds its values
        candidates = [c for c in candidates if direction_of(c) == "unknown"] or candidates
    exact = [column for column in candidates if normal(column) == "loss"]
    if len(exact) == 1:
        return exact[0]
    if not candidates:
        candidates = [
            column
            for column in free
            if table.is_numeric(column) and not _ASIDE.search(normal(column))
        ]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise TableError(
            f"{table.source}: no column holds the losses (columns: {listed(table.columns[:12])}): "
            "name it with loss=..."
        )
    raise TableError(
        f"{table.source}: the columns {listed(candidates)} could each hold the losses: name one "
        "with loss=..."
    )
