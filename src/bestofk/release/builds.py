"""The scores of one build, item by item, from logs, tables, studies or arrays."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, finite_array
from bestofk._base.errors import ArgumentError, Part, UnknownNameError, use
from bestofk._base.formatting import counted, shortened
from bestofk.evals.evals import Evals
from bestofk.evals.reading import read_evals
from bestofk.evals.rows import STATUSES
from bestofk.losses.losses import Losses, Metric
from bestofk.run.open_study import store_and_number, study_at

_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Build:
    """A build's scores in the user's metric."""

    name: str
    items: tuple[str, ...] = field(repr=False)
    scores: Floats = field(repr=False)
    clusters: Ints = field(repr=False)
    """Cluster code of each item."""
    metric: Metric
    failures: int = 0
    """Samples that failed, which count as wrong."""
    losses: Losses | None = None
    """The losses of a learner by fold; None if the scores are of items."""

    @property
    def unit(self) -> str:
        """The noun for one score."""
        return "item" if self.losses is None else "fold"


def digest_of(scores: Floats) -> str:
    """Return a digest of scores, without the last digits."""
    return hashlib.sha256(np.round(scores, 12).astype("<f8").tobytes()).hexdigest()[:32]


def item_hashes(names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return a 64-bit hash of each item's name."""
    digests = b"".join(
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in names
    )
    return np.frombuffer(digests, dtype="<u8")


def read_build(
    source: Any, where: str, *, name: str | None, model: str | None, reading: Mapping[str, Any]
) -> Build:
    """Return the scores of one build.

    - `source`: Paths are evaluation logs, tables of items, or stores of studies.
    - `where` {"new", "baseline"}: The argument, for messages.
    - `name`: The name of the build; by default that of the model.
    - `model`: Which model, if there are several.
    - `reading`: Options of `read_evals`.
    """
    options = dict(reading)
    if isinstance(source, str | os.PathLike) or _is_paths(source):
        address = _store_address(source)
        if address is not None:
            source = study_at(address)
        else:
            source, options = read_evals(source, **options), {}
    is_study = isinstance(source, Losses | Evals) or isinstance(
        getattr(source, "losses", None), Losses
    )
    for option in options:
        if is_study or option not in ("metric", "cluster", "higher_is_better"):
            kind = "a study or logs that were read before" if is_study else "an array"
            raise ArgumentError(f"{option} does not apply to {kind}: leave it out.")
    if isinstance(source, Evals):
        return _from_evals(source, where, name, model)
    if is_study:
        return _from_losses(source, where, name, model)
    return _from_numbers(source, where, name, **options)


def _is_paths(source: Any) -> bool:
    return (
        isinstance(source, Sequence)
        and len(source) > 0
        and all(isinstance(one, str | os.PathLike) for one in source)
    )


def _store_address(source: Any) -> str | None:
    """Return the address of a store of studies, such as ``study.db:2``; None for other paths."""
    paths = [source] if isinstance(source, str | os.PathLike) else source
    address = os.fspath(paths[0])
    path = Path(store_and_number(address)[0])
    if len(paths) > 1:
        return None
    if not path.is_file():
        return address if "://" in address else None
    with path.open("rb") as file:
        return address if file.read(len(_SQLITE)) == _SQLITE else None


def _position(names: Sequence[str], model: str | None, where: str) -> int:
    """Return the position of the model."""
    if model is None and len(names) > 1:
        first = names[0]
        if where != "new":
            advice: tuple[Part, ...] = (use(baseline_model=first), ".")
        else:
            advice = (use(model=first), ", and give the one to compare it with as ",
                      use(baseline="FILE"), ".")  # fmt: skip
        raise ArgumentError(
            f"{where} has {len(names)} models ({shortened(list(names), 6)}): name one with ",
            *advice,
        )
    if model is not None and model not in names:
        raise UnknownNameError("model", model, names)
    return 0 if model is None else list(names).index(model)


def _from_numbers(
    source: Any, where: str, name: str | None, *, metric: str = "score", cluster: Any = None,
    higher_is_better: bool = True,
) -> Build:  # fmt: skip
    """Return a build of a mapping from items to scores, or of one score per item."""
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
    return Build(
        name=name or where, items=tuple(map(str, items)), scores=scores,
        clusters=np.unique(labels, return_inverse=True)[1],
        metric=_metric(metric, higher_is_better),
    )  # fmt: skip


def _from_evals(evals: Evals, where: str, name: str | None, model: str | None) -> Build:
    """Return the scores of a model; samples that failed or have no score count as wrong."""
    position = _position(evals.learners, model, where)
    ran = (evals.learner == position) & (evals.status != STATUSES.index("missing"))
    scored = ran & np.isfinite(evals.score)
    failures = int(ran.sum() - scored.sum())
    values = evals.score
    if failures:
        worst = worst_score(evals.score[scored], evals.higher_is_better)
        if worst is None:
            raise ArgumentError(
                f"{counted(failures, 'sample')} of {evals.learners[position]!r} failed or have no "
                f"score, and the worst possible {evals.metric!r} is unknown: score them first."
            )
        values = np.where(scored, values, worst)
    count = np.bincount(evals.item[ran], minlength=len(evals.items))
    total = np.bincount(evals.item[ran], weights=values[ran], minlength=len(evals.items))
    index = np.flatnonzero(count)
    clusters = evals.item_cluster[index] if evals.clusters else np.arange(len(index))
    return Build(
        name=name or evals.learners[position],
        items=tuple(f"{evals.tasks[evals.item_task[i]]}\t{evals.items[i]}" for i in index),
        scores=total[index] / count[index],
        clusters=np.unique(clusters, return_inverse=True)[1],
        metric=_metric(evals.metric, evals.higher_is_better),
        failures=failures,
    )


def _metric(name: str, higher_is_better: bool) -> Metric:
    return Metric(
        name=name, higher_is_better=higher_is_better, offset=1.0 if higher_is_better else 0.0
    )


def worst_score(scores: Floats, higher_is_better: bool) -> float | None:
    """Return the worst possible score if all scores are from 0 to 1; None otherwise."""
    if scores.size and not (scores.min() >= 0 and scores.max() <= 1):
        return None
    return 0.0 if higher_is_better else 1.0


def _from_losses(source: Any, where: str, name: str | None, model: str | None) -> Build:
    """Return the scores of a learner by fold, or by instance of one test set."""
    losses: Losses = getattr(source, "losses", source)
    position = _position(losses.learners, model, where)
    learner = losses.learners[position]
    one = losses.select(learners=[learner])
    absent = int(np.isnan(one.values).sum())
    if absent:
        raise ArgumentError(
            f"{learner!r} lacks {counted(absent, 'fit')}: the gate needs all of them."
        )
    parts = [("", one.values[0])]
    if one.subset_values is not None:
        parts.append(("part ", one.subset_values[0]))
    splits = _splits(source, one)
    items = [
        f"{one.datasets[d]}\t{splits}\t{part}{r} {f} {e}"
        for part, values in parts
        for d, r, f, e in np.ndindex(*values.shape)
    ]
    scores = np.concatenate([np.ravel(one.metric.shown(values)) for _, values in parts])
    return Build(
        name=name or str(learner), items=tuple(items), scores=scores,
        clusters=np.arange(scores.size), metric=one.metric,
        losses=None if one.design.kind == "test-set" else one,
    )  # fmt: skip


def _splits(source: Any, losses: Losses) -> str:
    """Return text that identifies the data and the splits, as far as they are known."""
    spec = getattr(source, "spec", None)
    known = [losses.design.describe()]
    if spec is not None:
        known += [f"{data.fingerprint} {data.splits}" for data in spec.datasets]
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]
