"""The scores of one build, item by item, from logs, tables or arrays."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, finite_array
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.formatting import counted, printable, shortened
from bestofk.evals.evals import Evals
from bestofk.evals.reading import read_evals
from bestofk.evals.rows import STATUSES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BuildScores:
    """The scores of one metric, averaged over the runs of a build."""

    mean: Floats = field(repr=False)
    higher_is_better: bool
    noise: float | None = None
    """Variance of the score of an item between runs; None if the build was run once."""
    binary: bool = False
    """True if every single score is 0 or 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Build:
    """The scores of a build by metric."""

    name: str
    items: tuple[str, ...] = field(repr=False)
    clusters: Ints = field(repr=False)
    """Cluster code of each item."""
    scores: Mapping[str, BuildScores]
    runs: int
    """How often the item with the fewest runs was run."""
    failures: int = 0
    """Samples that failed, which count as wrong."""


def digest_of(scores: Mapping[str, Floats]) -> str:
    """Return a digest of scores, without the last digits."""
    parts = [np.round(scores[name], 12).astype("<f8").tobytes() for name in sorted(scores)]
    content = b"".join(parts)
    return hashlib.sha256(content).hexdigest()[:32]


def item_hashes(names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return a 64-bit hash of each item's name."""
    digests = b"".join(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in names
    )
    return np.frombuffer(digests, dtype="<u8")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """The scores of one metric in one source."""

    name: str
    items: Sequence[str]
    total: Floats
    """Sum of the scores of each item."""
    squares: Floats
    """Sum of their squares."""
    count: Ints
    clusters: Sequence[Any]
    metric: str
    higher_is_better: bool
    failures: int = 0


def read_build(
    source: Any,
    where: str,
    *,
    name: str | None,
    model: str | None,
    metric: str | Sequence[str] | None,
    reading: Mapping[str, Any],
) -> Build:
    """Return the scores of one build.

    - `source`: A path, logs, a data frame, scores by item, or one score per item; or a list of
      these. Sources with the same items are runs, others are parts of one run.
    - `where` {"new", "baseline"}: The argument, for messages.
    - `name`: The name of the build; by default that of the model.
    - `model`: Which model, if there are several.
    - `metric`: One or several metrics; None: the only one.
    - `reading`: Options of `read_evals`.
    """
    sources = source if _is_several(source) else [source]
    metrics = [metric] if metric is None or isinstance(metric, str) else [*metric]
    scores: dict[str, BuildScores] = {}
    known: list[str] = []
    for one in metrics or [None]:
        parts = [_part(each, where, model, one, reading) for each in sources]
        items = list(dict.fromkeys(item for part in parts for item in part.items))
        if scores and set(items) != set(known):
            raise ArgumentError(
                f"{where}: {parts[0].metric!r} and {next(iter(scores))!r} have different items: "
                "gate them one by one, with a ledger each."
            )
        known = known or items
        scores[parts[0].metric], runs = _joined(parts, known)
    labels = {item: label for p in parts for item, label in zip(p.items, p.clusters, strict=True)}
    return Build(
        name=" ".join(printable(name or parts[0].name).split()) or where,
        items=tuple(known),
        clusters=np.unique([str(labels[item]) for item in known], return_inverse=True)[1],
        scores=scores,
        runs=runs,
        failures=sum(part.failures for part in parts),
    )


def _is_several(source: Any) -> bool:
    """Return whether a source is a list of sources."""
    return (
        isinstance(source, list | tuple)
        and len(source) > 0
        and not all(np.isscalar(one) and not isinstance(one, str) for one in source)
    )


def _joined(parts: Sequence[_Part], items: Sequence[str]) -> tuple[BuildScores, int]:
    """Return the scores of all parts, and the fewest runs of an item."""
    position = {item: i for i, item in enumerate(items)}
    total, squares = np.zeros(len(items)), np.zeros(len(items))
    count = np.zeros(len(items), dtype=np.int64)
    for part in parts:
        at = np.array([position[item] for item in part.items])
        total[at] += part.total
        squares[at] += part.squares
        count[at] += part.count
    again = count > 1
    within = (squares - total**2 / count)[again].sum() / max((count[again] - 1).sum(), 1)
    scores = BuildScores(
        mean=total / count,
        higher_is_better=parts[0].higher_is_better,
        noise=max(float(within), 0.0) if again.any() else None,
        binary=bool(np.isclose(squares, total, rtol=0, atol=1e-9).all())
        and all(np.isin(part.total[part.count == 1], (0.0, 1.0)).all() for part in parts),
    )
    return scores, int(count.min())


def _part(
    source: Any, where: str, model: str | None, metric: str | None, reading: Mapping[str, Any]
) -> _Part:
    if isinstance(source, str | os.PathLike) or hasattr(source, "columns"):
        options = {**reading} if metric is None else {**reading, "metric": metric}
        if hasattr(source, "columns") and "model" not in {str(c).lower() for c in source.columns}:
            source, options["models"] = (), {where: source}
        source = read_evals(source, **options)
    if isinstance(source, Evals):
        return _from_evals(source, where, model)
    return _from_numbers(source, where, metric or "score", **reading)


def _from_numbers(
    source: Any, where: str, metric: str, *, cluster: Any = None, higher_is_better: bool = True
) -> _Part:
    """Return the part of a mapping from items to scores, or of one score per item."""
    scores = finite_array(list(source.values()) if isinstance(source, Mapping) else source, where)
    if scores.ndim != 1 or scores.size == 0:
        raise ArgumentError(
            f"{where} must hold one score per item; got an array of shape {scores.shape}."
        )
    items = source if isinstance(source, Mapping) else range(1, scores.size + 1)
    labels = np.arange(scores.size) if cluster is None else np.asarray(cluster)
    if labels.shape != scores.shape:
        raise ArgumentError(
            f"cluster must hold one label for each of the {scores.size} items of {where}; got "
            f"shape {labels.shape}."
        )
    return _Part(
        name=where, items=list(map(str, items)), total=scores, squares=np.square(scores),
        count=np.ones(scores.size, dtype=np.int64), clusters=labels.tolist(), metric=metric,
        higher_is_better=higher_is_better,
    )  # fmt: skip


def _from_evals(evals: Evals, where: str, model: str | None) -> _Part:
    """Return the scores of a model; samples that failed or have no score count as wrong."""
    if model is None and len(evals.models) > 1:
        first = evals.models[0]
        raise ArgumentError(
            f"{where} has {len(evals.models)} models ({shortened(list(evals.models), 6)}): "
            "name one with ",
            use(model=first) if where == "new" else use(baseline_model=first),
            ".",
        )
    if model is not None and model not in evals.models:
        raise UnknownNameError("model", model, evals.models)
    position = 0 if model is None else list(evals.models).index(model)
    ran = (evals.model == position) & (evals.status != STATUSES.index("missing"))
    scored = ran & np.isfinite(evals.score)
    failures = int(ran.sum() - scored.sum())
    values = evals.score
    if failures:
        known = evals.score[scored]
        if known.size and not (known.min() >= 0 and known.max() <= 1):
            raise ArgumentError(
                f"{counted(failures, 'sample')} of {evals.models[position]!r} failed or have no "
                f"score, and the worst possible {evals.metric!r} is unknown: score them first."
            )
        values = np.where(scored, values, 0.0 if evals.higher_is_better else 1.0)
    count = np.bincount(evals.item[ran], minlength=len(evals.items))
    total = np.bincount(evals.item[ran], weights=values[ran], minlength=len(evals.items))
    squares = np.bincount(evals.item[ran], weights=np.square(values[ran]), minlength=len(count))
    index = np.flatnonzero(count)
    if not len(index):
        raise ArgumentError(f"{where} has no scores of {evals.models[position]!r}.")
    tasks = [evals.tasks[evals.item_task[i]] for i in index]
    several = len(Counter(tasks)) > 1
    return _Part(
        name=evals.models[position],
        items=[
            f"{task} / {evals.items[i]}" if several else str(evals.items[i])
            for task, i in zip(tasks, index, strict=True)
        ],
        total=total[index].astype(np.float64),
        squares=np.asarray(squares[index], dtype=np.float64),
        count=count[index],
        clusters=(evals.item_cluster[index] if evals.clusters else index).tolist(),
        metric=evals.metric,
        higher_is_better=evals.higher_is_better,
        failures=failures,
    )
