"""Scores by model and item: epochs averaged, with notes on what does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints, one_of, whole
from bestofk._base.errors import ArgumentError, TableError, use
from bestofk._base.formatting import counted, joined, shortened
from bestofk.data.tables.limits import check_cells
from bestofk.evals.rows import ROWS_AT_ONCE, STATUSES

if TYPE_CHECKING:
    from bestofk.evals.evals import Evals
    from bestofk.losses.losses import Scores

Codes = npt.NDArray[np.int32]
_CODE = {status: code for code, status in enumerate(STATUSES)}

_BYTES_PER_SCORE = 20
"""Size of a score in a log, at least."""
_BYTES_PER_CELL = 50
"""Memory of a model and an item in the tables of scores."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemScores:
    """One score for each model and item, with everything that a test needs.

    Parameters
    ----------
    models, tasks, items, clusters : tuple of str
        The names; `clusters` is empty if there are none.
    task, cluster : ndarray of int
        (n,): the codes of the task and of the cluster of each item. Without clusters every item
        is a cluster.
    mean : ndarray of float
        (K, n): the mean over the epochs of an item; NaN only if `missing` was ``"allow"``.
    count : ndarray of int
        (K, n): the number of epochs with a score.
    variance : ndarray of float
        (K, n): the variance between the epochs of an item, with divisor count - 1; NaN for fewer
        than two.
    metric : str
        The name of the score.
    higher_is_better : bool
        Whether higher scores are better.
    notes : tuple of str
        What was skipped and why, and how many items each model has.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    task: Codes
    cluster: Codes
    mean: Floats
    count: Ints
    variance: Floats
    metric: str
    higher_is_better: bool
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """The notes about samples that do not count."""
    truth: Floats | None = None
    """(K, n): the human labels of an item; NaN if there are none."""

    def __post_init__(self) -> None:
        for name in ("task", "cluster", "mean", "count", "variance"):
            getattr(self, name).setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"ItemScores({counted(len(self.models), 'model')} x "
            f"{counted(len(self.items), 'item')} of {counted(len(self.tasks), 'task')}, "
            f"{self.metric})"
        )

    def means(self) -> Floats:
        """Return the mean over the items that a model has (K,)."""
        return _known_means(self.mean)

    def by_task(self) -> Floats:
        """Return the mean over the items of each task that a model has (K, tasks)."""
        parts = [_known_means(self.mean[:, self.task == code]) for code in range(len(self.tasks))]
        return np.stack(parts, axis=1)

    def share_by_task(self) -> Floats:
        """Return the share of the items of each task that a model has (K, tasks)."""
        has = np.isfinite(self.mean)
        shares = [has[:, self.task == code].mean(axis=1) for code in range(len(self.tasks))]
        return np.stack(shares, axis=1)

    def only_items(self, keep: Bools) -> ItemScores:
        """Return the scores of the marked items."""
        index = np.flatnonzero(keep)
        tasks, task = dense_names(self.task[index], self.tasks)
        clusters, cluster = self.clusters, np.arange(len(index), dtype=np.int32)
        if clusters:
            clusters, cluster = dense_names(self.cluster[index], self.clusters)
        return replace(
            self,
            tasks=tasks,
            task=task,
            clusters=clusters,
            cluster=cluster,
            items=tuple(self.items[i] for i in index),
            mean=np.ascontiguousarray(self.mean[:, index]),
            count=np.ascontiguousarray(self.count[:, index]),
            variance=np.ascontiguousarray(self.variance[:, index]),
            truth=None if self.truth is None else self.truth[:, index],
        )

    def pass_at(self, k: int) -> ItemScores:
        """Return pass@k: the chance that at least one of k answers to an item is right."""
        return _passed(self, k, every=False)

    def pass_all(self, k: int) -> ItemScores:
        """Return pass^k: the chance that all of k answers to an item are right."""
        return _passed(self, k, every=True)

    def losses(self, *, by: str = "item", order: Sequence[int] | None = None) -> Scores:
        """Return the table of losses, of the models in this order; see `Evals.to_scores`."""
        from bestofk.losses.losses import Fresh, Scores

        one_of(by, "by", ("item", "task"))
        order = range(len(self.models)) if order is None else order
        # a new array, which the table keeps
        values = (self.mean if by == "item" else self.by_task())[list(order)]
        missing = "allow" if np.isnan(values).any() else "refuse"
        dims: tuple[str, ...] = ("learner", "dataset")
        datasets: Sequence[str] = self.tasks
        if by == "item":
            values, dims = values[:, np.newaxis], (*dims, "instance")
            datasets = self.tasks if len(self.tasks) == 1 else [f"{len(self.tasks)} tasks"]
        return Scores(
            Fresh(values),
            dims=dims,
            learners=[self.models[k] for k in order],
            datasets=datasets,
            missing=missing,
            higher_is_better=self.higher_is_better,
            loss_name=self.metric,
            account=self.notes,
        )


def _known_means(scores: Floats) -> Floats:
    """Return the mean of the known scores of each model; NaN without any."""
    has = np.isfinite(scores)
    total = np.where(has, scores, 0.0).sum(axis=1)
    means: Floats = np.divide(
        total, has.sum(axis=1), out=np.full(len(total), np.nan), where=has.any(axis=1)
    )
    return means


def item_scores(evals: Evals, *, missing: str, count_errors_as_wrong: bool) -> ItemScores:
    """Return the scores of `Evals.by_item`."""
    one_of(missing, "missing", ("drop", "allow"))
    k, n = _grid(evals)
    notes: list[str] = []
    score, counts = _counted_scores(evals, count_errors_as_wrong=count_errors_as_wrong, notes=notes)
    _note_dropped(evals, counts, notes)
    variance: Floats = np.broadcast_to(np.nan, k * n)
    if evals.epoch.max(initial=1) <= 1:
        # each model has each item once
        mean = score if len(score) == k * n and counts.all() else np.full(k * n, np.nan)
        for start in range(0, len(evals), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            cell = evals.model[part].astype(np.int64) * n + evals.item[part]
            if mean is score:
                if (cell == np.arange(start, start + len(cell))).all():
                    # no copy as long as the rows are in the order of the cells
                    continue
                mean = np.full(k * n, np.nan)
                mean[:start] = score[:start]
            mean[cell] = np.where(counts[part], score[part], np.nan)
        has = np.isfinite(mean)
        # a constant takes no memory
        count = np.broadcast_to(np.int64(1), k * n) if has.all() else has.astype(np.int64)
    else:
        cell = cells_of(evals)
        if not counts.all():
            cell, score = cell[counts], score[counts]
        count = np.bincount(cell, minlength=k * n)
        mean = np.bincount(cell, weights=score, minlength=k * n)
        mean = np.divide(mean, count, out=np.full(k * n, np.nan), where=count > 0)
        deviation = mean[cell]
        np.square(np.subtract(score, deviation, out=deviation), out=deviation)
        squares = np.bincount(cell, weights=deviation, minlength=k * n)
        variance = np.divide(squares, count - 1, out=np.full(k * n, np.nan), where=count > 1)
    shape = (k, n)
    scores = ItemScores(
        models=evals.models,
        tasks=evals.tasks,
        items=evals.items,
        clusters=evals.clusters,
        task=evals.item_task,
        cluster=evals.item_cluster,
        mean=mean.reshape(shape),
        count=count.reshape(shape),
        variance=variance.reshape(shape),
        metric=evals.metric,
        higher_is_better=evals.higher_is_better,
        truth=evals.truth,
    )
    keep = np.ones(n, dtype=bool)
    if missing == "drop":
        keep = _common_items(evals, scores.count, notes)
    if not (keep.all() and np.bincount(scores.task, minlength=len(scores.tasks)).all()):
        scores = scores.only_items(keep)
    epochs, left_out = scores.count, tuple(notes)
    if epochs.max(initial=1) > 1:
        notes.append(
            f"Epochs are averaged per item ({_range_phrase(epochs[epochs > 0])} each), never "
            "paired between models."
        )
    return replace(scores, notes=(*evals.notes, *notes), left_out=left_out)


def cells_of(evals: Evals) -> Ints:
    """Return model * items + item of each row."""
    cells = evals.model.astype(np.int64)
    cells *= len(evals.items)
    cells += evals.item
    return cells


def _grid(evals: Evals) -> tuple[int, int]:
    """Return the numbers of models and items; raise if their table would be far too large."""
    k, n = len(evals.models), len(evals.items)
    check_cells(
        "the logs", file_size=_BYTES_PER_SCORE * len(evals.score), rows=k, columns=n,
        bytes_per_cell=_BYTES_PER_CELL,
    )  # fmt: skip
    return k, n


def _counted_scores(
    evals: Evals, *, count_errors_as_wrong: bool, notes: list[str]
) -> tuple[Floats, Bools]:
    """Return the scores of all rows, and which of them count.

    A sample that hit a limit and was scored counts with that score, as in the harness.
    """
    score = evals.score
    limit = evals.status == _CODE["limit"]
    counts = np.isfinite(score) & ((evals.status == _CODE["scored"]) | limit)
    if count_errors_as_wrong:
        failed = (evals.status == _CODE["error"]) | (limit & ~counts)
        score = _with_worst_scores(evals, failed, counts, notes)
        counts = counts | failed
    return score, counts


def missing_scores(
    evals: Evals, *, count_errors_as_wrong: bool = False
) -> tuple[Floats, Floats, Ints]:
    """Return the means of all items with the worst and with the best missing scores.

    The worst score is 0 (or 1, if lower is better) for scores between 0 and 1, else the worst that
    occurs. A sample that failed or hit a limit has the worst score in both.

    - `worst`, `best` (K, n): The means.
    - `missing` (K, n): The number of missing scores.
    """
    score, counts = _counted_scores(evals, count_errors_as_wrong=count_errors_as_wrong, notes=[])
    known = score[counts]
    ends = float(known.min(initial=0.0)), float(known.max(initial=1.0))
    lowest, highest = ends if evals.higher_is_better else ends[::-1]
    (k, n), cell = _grid(evals), cells_of(evals)
    count = np.bincount(cell[counts], minlength=k * n)
    total = np.bincount(cell[counts], weights=known, minlength=k * n)
    missing = np.bincount(cell[~counts], minlength=k * n)
    # an item that a model never ran has one missing score
    missing[(count == 0) & (missing == 0)] = 1
    lost = np.isin(evals.status, (_CODE["error"], _CODE["limit"])) & ~counts
    failed = np.bincount(cell[lost], minlength=k * n)
    worst = (total + lowest * missing) / (count + missing)
    best = (total + lowest * failed + highest * (missing - failed)) / (count + missing)
    return worst.reshape(k, n), best.reshape(k, n), missing.reshape(k, n)


def dense_names(codes: Any, names: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """Return the names that occur, and the codes into these; -1 stays."""
    used, dense = np.unique(codes, return_inverse=True)
    known = used[used >= 0].tolist()
    return tuple(names[code] for code in known), (dense - (len(used) - len(known))).astype(np.int32)


def _with_worst_scores(evals: Evals, failed: Bools, counts: Bools, notes: list[str]) -> Floats:
    known = evals.score[counts]
    if known.size and (known.min() < 0.0 or known.max() > 1.0):
        raise ArgumentError(
            use(count_errors_as_wrong=True),
            f" needs scores between 0 and 1, but {evals.metric!r} goes from {known.min():g} to "
            f"{known.max():g}; omit it.",
        )
    worst = 0.0 if evals.higher_is_better else 1.0
    if failed.any():
        notes.append(
            f"{counted(int(failed.sum()), 'sample')} that failed or hit a limit without a score "
            f"{'counts' if failed.sum() == 1 else 'count'} as wrong ({worst:g}), as you requested."
        )
    return np.where(failed, worst, evals.score)


def _note_dropped(evals: Evals, counts: Any, notes: list[str]) -> None:
    """Note the rows without a usable score, by status and model."""
    parts = []
    for status, code in _CODE.items():
        rows = (evals.status == code) & ~counts
        if not rows.any():
            continue
        by_model = np.bincount(evals.model[rows], minlength=len(evals.models))
        models = [f"{evals.models[k]} {by_model[k]}" for k in np.flatnonzero(by_model)]
        parts.append(f"{int(rows.sum())} {status} ({shortened(models, 6)})")
    if parts:
        notes.append(f"Skipped, because they have no score: {joined(parts)}.")
    limit = (evals.status == _CODE["limit"]) & counts & np.isfinite(evals.score)
    if limit.any():
        notes.append(
            f"{counted(int(limit.sum()), 'sample')} hit a limit but "
            f"{'has' if limit.sum() == 1 else 'have'} a score, which counts."
        )


def _common_items(evals: Evals, count: Ints, notes: list[str]) -> npt.NDArray[np.bool_]:
    """Return the items that every model has, and note the others."""
    has = count > 0
    keep: npt.NDArray[np.bool_] = np.all(has, axis=0)
    if keep.all():
        return keep
    totals = dict(zip(evals.models, has.sum(axis=1).tolist(), strict=True))
    counts = [f"{name} {total}" for name, total in totals.items()]
    if not keep.any():
        raise TableError(
            f"There is no item for which all {len(evals.models)} models have a score "
            f"({shortened(counts, 6)}, of {len(evals.items)}): choose models or tasks, or name "
            "the column of the items in your tables with ",
            use(columns={"item": "NAME"}),
            ".",
        )
    notes.append(
        f"{int(keep.sum())} of {len(evals.items)} items have a score of every model and are "
        f"compared (by model: {shortened(counts, 12)})."
    )
    return keep


def pass_at(n: Any, c: Any, k: int) -> Floats:
    """Return the chance that at least one of k answers is right: 1 - C(n - c, k) / C(n, k).

    - `n`, `c`: The numbers of answers (at least k) and of right answers.
    - `k`: The number of answers drawn without replacement.

    References
    ----------
    M. Chen et al. (2021). Evaluating large language models trained on code. arXiv:2107.03374

    Examples
    --------
    >>> float(pass_at(5, 2, 3)), float(pass_at(5, 2, 1))
    (0.9, 0.4)
    """
    return np.asarray(1.0 - pass_all(n, np.asarray(n) - c, k))


def pass_all(n: Any, c: Any, k: int) -> Floats:
    """Return the chance that all of k answers are right: C(c, k) / C(n, k).

    - `n`, `c`, `k`: As for `pass_at`.

    References
    ----------
    S. Yao et al. (2024). tau-bench: a benchmark for tool-agent-user interaction in real-world
    domains. arXiv:2406.12045

    Examples
    --------
    >>> round(float(pass_all(5, 4, 2)), 3), float(pass_all(5, 1, 2))
    (0.6, 0.0)
    """
    n, c = np.asarray(n), np.asarray(c)
    share = np.ones(np.broadcast_shapes(c.shape, n.shape))
    for drawn in range(k):
        share = share * np.maximum(c - drawn, 0) / (n - drawn)
    return np.asarray(share)


def _passed(scores: ItemScores, k: int, *, every: bool) -> ItemScores:
    """Return the scores of `ItemScores.pass_at` and `ItemScores.pass_all`."""
    k = whole(k, "k", at_least=1)
    name = f"pass^{k}" if every else f"pass@{k}"
    if not (scores.higher_is_better and is_binary(scores)):
        raise ArgumentError(
            f"{name} needs answers that are right (1) or wrong (0); {scores.metric!r} has others."
        )
    enough = np.all(scores.count >= k, axis=0)
    if not enough.any():
        raise ArgumentError(
            f"{name} needs {counted(k, 'epoch')} of every model on an item; the largest k that "
            f"these logs allow is {int(scores.count.min(axis=0).max())}."
        )
    part = scores.only_items(enough)
    epochs = _range_phrase(part.count)
    notes = [
        f"{name} of every item, from {scores.metric} in {epochs} epoch{'s' * (epochs != '1')}."
    ]
    if lost := int((~enough).sum()):
        notes.append(
            f"{counted(lost, 'item')} with fewer than {k} epochs of some model "
            f"{'was' if lost == 1 else 'were'} skipped."
        )
    right = np.rint(part.mean * part.count).astype(np.int64)
    mean = (pass_all if every else pass_at)(part.count, right, k)
    return replace(
        part,
        mean=mean,
        # one number per item, whatever its number of epochs
        count=np.ones_like(part.count),
        variance=np.full(mean.shape, np.nan),
        metric=name,
        notes=(*scores.notes, *notes),
        left_out=(*scores.left_out, *notes),
    )


def is_binary(scores: ItemScores) -> bool:
    """Return whether all answers are right (1) or wrong (0)."""
    n, has = np.maximum(scores.count, 1), scores.count > 0
    mean = np.where(has, scores.mean, 0.0)
    # only such answers have the variance p (1 - p) n / (n - 1)
    squares = np.where(scores.count > 1, scores.variance, 0.0) * (n - 1)
    return bool((np.abs(squares - mean * (1.0 - mean) * n) <= 1e-9 * n).all())


def _range_phrase(counts: Ints) -> str:
    smallest, largest = int(counts.min()), int(counts.max())
    return f"{largest}" if smallest == largest else f"{smallest} to {largest}"
