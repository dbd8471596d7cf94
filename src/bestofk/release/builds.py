"""The scores of one build, item by item, from logs, tables, studies or arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, finite_array
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk._base.formatting import counted
from bestofk.evals.evals import Evals
from bestofk.evals.rows import STATUSES
from bestofk.losses.losses import Losses


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Build:
    """A build's scores; higher is better."""

    name: str
    items: tuple[str, ...] = field(repr=False)
    scores: Floats = field(repr=False)
    clusters: Ints = field(repr=False)
    """Cluster code of each item."""
    metric: str = "score"
    higher_is_better: bool = True
    failures: int = 0
    """Samples that failed, which count as wrong."""
    losses: Losses | None = None
    """The losses of a learner by fold or data set; None if the scores are of items."""

    @property
    def shown_mean(self) -> float:
        """The mean in the user's metric."""
        mean = float(self.scores.mean())
        return mean if self.higher_is_better else 0.0 - mean


def read_build(
    source: Any, *, name: str | None, model: str | None, reading: Mapping[str, Any]
) -> Build:
    """Return the scores of one build.

    Parameters
    ----------
    source : Build, Evals, Losses, study, mapping, sequence of numbers, or path
        Paths are evaluation logs or tables of items.
    name : str, optional
        The name of the build; by default that of the model.
    model : str, optional
        Which model, if there are several.
    reading : mapping
        What `read_evals` takes.
    """
    if isinstance(source, Build):
        return source
    if isinstance(source, str | os.PathLike) or _is_paths(source):
        from bestofk.evals.reading import read_evals

        source = read_evals(source, **reading)
    if isinstance(source, Evals):
        return _from_evals(source, name, model)
    losses = getattr(source, "losses", source)
    if isinstance(losses, Losses):
        return _from_losses(losses, name, model)
    if isinstance(source, Mapping):
        items = tuple(str(item) for item in source)
        scores = finite_array(list(source.values()), "new")
    else:
        scores = finite_array(source, "new")
        items = tuple(str(number) for number in range(1, scores.size + 1))
    if scores.ndim != 1:
        raise ArgumentError(
            f"new must hold one score per item; got an array of shape {scores.shape}."
        )
    return Build(name=name or "new", items=items, scores=scores, clusters=np.arange(scores.size))


def _is_paths(source: Any) -> bool:
    return (
        isinstance(source, Sequence)
        and len(source) > 0
        and all(isinstance(one, str | os.PathLike) for one in source)
    )


def _only(names: Sequence[str], model: str | None) -> int:
    """Return the position of the model."""
    if model is None:
        if len(names) > 1:
            raise ArgumentError(
                f"There are {len(names)} models ({', '.join(names[:6])}): name the one to test "
                "with ",
                use(model=names[0]),
                ".",
            )
        return 0
    if model not in names:
        raise UnknownNameError("model", model, names)
    return list(names).index(model)


def _from_evals(evals: Evals, name: str | None, model: str | None) -> Build:
    """Return the scores of a model; samples that failed or have no score count as wrong."""
    position = _only(evals.learners, model)
    known = evals.score[np.isfinite(evals.score)]
    in_unit = known.size == 0 or bool(known.min() >= 0 and known.max() <= 1)
    ran = (evals.learner == position) & (evals.status != STATUSES.index("missing"))
    scored = ran & np.isfinite(evals.score)
    failures = int(ran.sum() - scored.sum())
    if failures and not in_unit:
        raise ArgumentError(
            f"{counted(failures, 'sample')} of {evals.learners[position]!r} failed or have no "
            f"score, and the worst possible {evals.metric!r} is unknown: score them first."
        )
    worst = 0.0 if evals.higher_is_better else 1.0
    values = np.where(scored, evals.score, worst)[ran]
    count = np.bincount(evals.item[ran], minlength=len(evals.items))
    total = np.bincount(evals.item[ran], weights=values, minlength=len(evals.items))
    index = np.flatnonzero(count)
    mean = total[index] / count[index]
    clusters = evals.item_cluster[index] if evals.clusters else np.arange(len(index))
    return Build(
        name=name or evals.learners[position],
        items=tuple(f"{evals.tasks[evals.item_task[i]]}\t{evals.items[i]}" for i in index),
        scores=mean if evals.higher_is_better else -mean,
        clusters=np.unique(clusters, return_inverse=True)[1],
        metric=evals.metric,
        higher_is_better=evals.higher_is_better,
        failures=failures,
    )


def _from_losses(losses: Losses, name: str | None, model: str | None) -> Build:
    position = _only(losses.algorithms, model)
    one = losses.select(algorithms=[losses.algorithms[position]])
    values = one.values[0]
    if np.isnan(values).any():
        raise ArgumentError(
            f"{losses.algorithms[position]!r} lacks {counted(int(np.isnan(values).sum()), 'loss')}"
            ": the gate needs all of them."
        )
    by_item = one.design.kind == "test-set"
    shape = values.shape
    cells = [f"{one.datasets[d]}\t{r}\t{f}\t{e}" for d, r, f, e in np.ndindex(*shape)]
    return Build(
        name=name or str(losses.algorithms[position]),
        items=tuple(cells),
        scores=-values.reshape(-1),
        clusters=np.arange(values.size),
        metric=one.metric.name,
        higher_is_better=one.metric.higher_is_better,
        losses=None if by_item else one,
    )
