"""Scores by learner and item: epochs averaged, items that all have, counts of what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints, one_of, whole
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.formatting import counted, joined, shortened
from bestofk.evals.rows import STATUSES

if TYPE_CHECKING:
    from bestofk.evals.evals import Evals
    from bestofk.losses.losses import Losses

Codes = npt.NDArray[np.int32]
MISSING = ("drop", "refuse", "allow")
_CODE = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemScores:
    """One score for each learner and item, with all that a test of them needs.

    Parameters
    ----------
    learners, tasks, items, clusters : tuple of str
        The names; `clusters` is empty where there are none.
    task, cluster : ndarray of int
        (n,): for each item the code of its task, and of its cluster (its own number where there
        are none).
    mean : ndarray of float
        (K, n): the mean over the epochs of an item; NaN only where `missing` was ``"allow"``.
    count : ndarray of int
        (K, n): how many epochs have a score.
    variance : ndarray of float
        (K, n): the variance between the epochs of an item, with divisor count - 1; NaN below two.
    metric : str
        What the scores are.
    higher_is_better : bool
        Which way they point.
    account : tuple of str
        What was left out and why, and how many items each learner has.
    """

    learners: tuple[str, ...]
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
    account: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """The part of the account about samples that do not count."""

    def __post_init__(self) -> None:
        for name in ("task", "cluster", "mean", "count", "variance"):
            getattr(self, name).setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"ItemScores({counted(len(self.learners), 'learner')} x "
            f"{counted(len(self.items), 'item')} of {counted(len(self.tasks), 'task')}, "
            f"{self.metric})"
        )

    def means(self) -> Floats:
        """(K,): the mean over the items that a learner has."""
        has = np.isfinite(self.mean)
        total = np.where(has, self.mean, 0.0).sum(axis=1)
        means: Floats = np.divide(
            total, has.sum(axis=1), out=np.full(len(total), np.nan), where=has.any(axis=1)
        )
        return means

    def by_task(self) -> Floats:
        """(K, tasks): the mean over the items of each task that a learner has."""
        found = np.full((len(self.learners), len(self.tasks)), np.nan)
        for code in range(len(self.tasks)):
            part = self.mean[:, self.task == code]
            has = np.isfinite(part)
            total = np.where(has, part, 0.0).sum(axis=1)
            np.divide(total, has.sum(axis=1), out=found[:, code], where=has.any(axis=1))
        return found

    def pass_at(self, k: int) -> ItemScores:
        """Pass@k: the chance that at least one of k answers to an item is right."""
        return passed_items(self, k, every=False)

    def pass_all(self, k: int) -> ItemScores:
        """Pass^k: the chance that all of k answers to an item are right."""
        return passed_items(self, k, every=True)

    def losses(self, *, by: str = "item") -> Losses:
        """As a table of losses; see `Evals.losses`."""
        from bestofk.losses.losses import Losses

        one_of(by, "by", ("item", "task"))
        values = self.mean if by == "item" else self.by_task()
        missing = "allow" if np.isnan(values).any() else "refuse"
        if by == "task":
            return Losses(
                values,
                dims=("algorithm", "dataset"),
                algorithms=self.learners,
                datasets=self.tasks,
                missing=missing,
                higher_is_better=self.higher_is_better,
                loss_name=self.metric,
                account=self.account,
            )
        name = self.tasks[0] if len(self.tasks) == 1 else f"{len(self.tasks)} tasks"
        return Losses(
            values[:, np.newaxis],
            dims=("algorithm", "dataset", "instance"),
            algorithms=self.learners,
            datasets=[name],
            missing=missing,
            higher_is_better=self.higher_is_better,
            loss_name=self.metric,
            account=self.account,
        )


def item_scores(
    evals: Evals, *, missing: str, count_errors_as_wrong: bool, limits: str
) -> ItemScores:
    """The value of `Evals.by_item`."""
    one_of(missing, "missing", MISSING)
    k, n = len(evals.learners), len(evals.items)
    account: list[str] = []
    score, counts = counted_scores(
        evals, count_errors_as_wrong=count_errors_as_wrong, limits=limits, account=account
    )
    _tell_dropped(evals, counts, account)
    cell = evals.cell
    if not counts.all():
        cell, score = cell[counts], score[counts]
    count = np.bincount(cell, minlength=k * n)
    total = np.bincount(cell, weights=score, minlength=k * n)
    mean = np.divide(total, count, out=np.full(k * n, np.nan), where=count > 0)
    apart = mean[cell]
    np.square(np.subtract(score, apart, out=apart), out=apart)
    squares = np.bincount(cell, weights=apart, minlength=k * n)
    variance = np.divide(squares, count - 1, out=np.full(k * n, np.nan), where=count > 1)
    count, mean, variance = (each.reshape(k, n) for each in (count, mean, variance))
    keep = np.ones(n, dtype=bool)
    if missing != "allow":
        keep = _kept(evals, count, account)
    if missing == "refuse" and account and (not keep.all() or _some_left_out(evals, counts)):
        raise TableError(
            f"{account[-1]} With missing='drop' the items that all models have are compared, "
            "with missing='bounds' it is also said what the others could change."
        )
    at = np.flatnonzero(keep)
    tasks, task = dense_names(evals.item_task[at], evals.tasks)
    clusters, cluster = evals.clusters, np.arange(len(at), dtype=np.int32)
    if clusters:
        clusters, cluster = dense_names(evals.item_cluster[at], evals.clusters)
    epochs = count[:, at]
    if epochs.max(initial=1) > 1:
        least, most = int(epochs[epochs > 0].min()), int(epochs.max())
        account.append(
            f"Epochs are averaged per item ({least if least == most else f'{least} to {most}'} "
            "each), never paired between models."
        )
    return ItemScores(
        learners=evals.learners,
        tasks=tasks,
        items=tuple(evals.items[i] for i in at),
        clusters=clusters,
        task=task,
        cluster=cluster,
        mean=np.ascontiguousarray(mean[:, at]),
        count=np.ascontiguousarray(epochs),
        variance=np.ascontiguousarray(variance[:, at]),
        metric=evals.metric,
        higher_is_better=evals.higher_is_better,
        account=(*evals.account, *account),
        left_out=tuple(account),
    )


def counted_scores(
    evals: Evals, *, count_errors_as_wrong: bool, limits: str, account: list[str]
) -> tuple[Floats, Bools]:
    """The scores of all rows, and which of them count."""
    one_of(limits, "limits", ("score", "drop"))
    score = evals.score
    counts = np.isfinite(score) & (evals.status == _CODE["scored"])
    limit = evals.status == _CODE["limit"]
    if limits == "score":
        counts |= limit & np.isfinite(score)
    if count_errors_as_wrong:
        failed = (evals.status == _CODE["error"]) | (limit & ~counts)
        score = _with_wrong(evals, failed, counts, account)
        counts = counts | failed
    return score, counts


def score_ranges(
    evals: Evals, *, count_errors_as_wrong: bool = False, limits: str = "score"
) -> tuple[Floats, Floats, Ints]:
    """Between which the mean of every item lies, whatever the scores are that are missing.

    Returns
    -------
    low, high : ndarray of shape (K, n)
        Every sample without a score is 0, or 1; an item that a learner never ran is one such.
    missing : ndarray of shape (K,)
        How many there are.
    """
    k, n = len(evals.learners), len(evals.items)
    score, counts = counted_scores(
        evals, count_errors_as_wrong=count_errors_as_wrong, limits=limits, account=[]
    )
    known = score[counts]
    if known.size and (known.min() < 0.0 or known.max() > 1.0):
        raise ArgumentError(
            "missing='bounds' needs scores between 0 and 1, so that it is known what the missing "
            f"ones could be; {evals.metric!r} goes from {known.min():g} to {known.max():g}."
        )
    cell = evals.cell
    count = np.bincount(cell[counts], minlength=k * n)
    total = np.bincount(cell[counts], weights=known, minlength=k * n)
    lacking = np.bincount(cell[~counts], minlength=k * n)
    lacking[(count == 0) & (lacking == 0)] = 1
    every = count + lacking
    low, high = total / every, (total + lacking) / every
    return low.reshape(k, n), high.reshape(k, n), lacking.reshape(k, n).sum(axis=1)


def _some_left_out(evals: Evals, counts: Bools) -> bool:
    return bool((~counts & (evals.status != _CODE["missing"])).any())


def dense_names(codes: Any, names: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """The names that occur, and the codes into these."""
    seen, dense = np.unique(codes, return_inverse=True)
    return tuple(names[code] for code in seen), dense.astype(np.int32)


def _with_wrong(evals: Evals, failed: Any, counts: Any, account: list[str]) -> Floats:
    known = evals.score[counts]
    if known.size and (known.min() < 0.0 or known.max() > 1.0):
        raise ArgumentError(
            f"count_errors_as_wrong needs scores between 0 and 1, so that it is known what wrong "
            f"is; {evals.metric!r} goes from {known.min():g} to {known.max():g}."
        )
    worst = 0.0 if evals.higher_is_better else 1.0
    if failed.any():
        account.append(
            f"{counted(int(failed.sum()), 'sample')} that failed or hit a limit without a score "
            f"{'counts' if failed.sum() == 1 else 'count'} as wrong ({worst:g}), as you say."
        )
    return np.where(failed, worst, evals.score)


def _tell_dropped(evals: Evals, counts: Any, account: list[str]) -> None:
    """A sentence on the rows without a usable score, by status and learner."""
    parts = []
    for status, code in _CODE.items():
        rows = (evals.status == code) & ~counts
        if not rows.any():
            continue
        by = np.bincount(evals.learner[rows], minlength=len(evals.learners))
        who = [f"{evals.learners[k]} {by[k]}" for k in np.flatnonzero(by)]
        parts.append(f"{int(rows.sum())} {status} ({shortened(who, 6)})")
    if parts:
        account.append(f"Left out, having no score: {joined(parts)}.")
    limit = (evals.status == _CODE["limit"]) & counts & np.isfinite(evals.score)
    if limit.any():
        account.append(
            f"{counted(int(limit.sum()), 'sample')} hit a limit and "
            f"{'was' if limit.sum() == 1 else 'were'} scored all the same: that score counts."
        )


def _kept(evals: Evals, count: Ints, account: list[str]) -> npt.NDArray[np.bool_]:
    """The items that every learner has, and a sentence on the others."""
    has = count > 0
    keep: npt.NDArray[np.bool_] = np.all(has, axis=0)
    if keep.all():
        return keep
    each = [f"{name} {int(row.sum())}" for name, row in zip(evals.learners, has, strict=True)]
    if not keep.any():
        empty = [name for name, row in zip(evals.learners, has, strict=True) if not row.any()]
        why = (
            f"model {empty[0]!r} has no score at all"
            if empty
            else "the models were run on different tasks or items"
        )
        raise TableError(
            f"There is no item for which all {len(evals.learners)} models have a score "
            f"({shortened(each, 6)}, of {len(evals.items)}): {why}; choose models or tasks."
        )
    account.append(
        f"{int(keep.sum())} of {len(evals.items)} items have a score of every model and are "
        f"compared (by model: {shortened(each, 12)})."
    )
    return keep


# Pass@k and pass^k: from right or wrong in n epochs to one score per item.


def pass_at(n: Any, c: Any, k: int) -> Floats:
    """The chance that at least one of k answers is right: 1 - C(n - c, k) / C(n, k).

    Parameters
    ----------
    n, c : array_like of int
        Answers and right ones among them; n is at least k.
    k : int
        How many are drawn, without putting any back.

    References
    ----------
    M. Chen et al. (2021). Evaluating large language models trained on code. arXiv:2107.03374

    Examples
    --------
    >>> float(pass_at(5, 2, 3)), float(pass_at(5, 2, 1))
    (0.9, 0.4)
    """
    n, c = np.asarray(n), np.asarray(c)
    return np.asarray(1.0 - _all_of(n - c, n, k))


def pass_all(n: Any, c: Any, k: int) -> Floats:
    """The chance that all of k answers are right: C(c, k) / C(n, k).

    Parameters
    ----------
    n, c, k
        As for `pass_at`.

    References
    ----------
    S. Yao et al. (2024). tau-bench: a benchmark for tool-agent-user interaction in real-world
    domains. arXiv:2406.12045

    Examples
    --------
    >>> round(float(pass_all(5, 4, 2)), 3), float(pass_all(5, 1, 2))
    (0.6, 0.0)
    """
    return _all_of(np.asarray(c), np.asarray(n), k)


def _all_of(c: Any, n: Any, k: int) -> Floats:
    """C(c, k) / C(n, k), factor by factor."""
    k = whole(k, "k", at_least=1)
    if np.any(n < k):
        raise ArgumentError(f"k must be at most the number of answers, {int(np.min(n))}; got {k}.")
    share = np.ones(np.broadcast_shapes(np.shape(c), np.shape(n)))
    for drawn in range(k):
        share = share * np.maximum(c - drawn, 0) / (n - drawn)
    return np.asarray(share)


def passed_items(scores: ItemScores, k: int, *, every: bool) -> ItemScores:
    """The value of `ItemScores.pass_at` and `ItemScores.pass_all`."""
    k = whole(k, "k", at_least=1)
    name = f"pass^{k}" if every else f"pass@{k}"
    _refuse_other_scores(scores, name)
    enough = np.all(scores.count >= k, axis=0)
    if not enough.any():
        least = int(np.where(scores.count.min(axis=0) > 0, scores.count.min(axis=0), 0).max())
        raise ArgumentError(
            f"{name} needs {counted(k, 'epoch')} of every model on an item; these logs have "
            f"{least}: the largest k that they allow is {least}."
        )
    said = [f"{name} of every item, from {scores.metric} in {_epochs(scores, enough)}."]
    if not enough.all():
        lost = int((~enough).sum())
        said.append(
            f"{counted(lost, 'item')} with fewer than {k} epochs of some model "
            f"{'was' if lost == 1 else 'were'} left out."
        )
    at = np.flatnonzero(enough)
    count = scores.count[:, at]
    right = np.rint(scores.mean[:, at] * count).astype(np.int64)
    mean = (pass_all if every else pass_at)(count, right, k)
    tasks, task = dense_names(scores.task[at], scores.tasks)
    clusters, cluster = scores.clusters, np.arange(len(at), dtype=np.int32)
    if clusters:
        clusters, cluster = dense_names(scores.cluster[at], scores.clusters)
    return replace(
        scores,
        tasks=tasks,
        task=task,
        clusters=clusters,
        cluster=cluster,
        items=tuple(scores.items[i] for i in at),
        mean=mean,
        # one number per item, whatever the epochs that it was found from
        count=np.ones_like(count),
        variance=np.full(mean.shape, np.nan),
        metric=name,
        account=(*scores.account, *said),
        left_out=(*scores.left_out, *said),
    )


def _epochs(scores: ItemScores, enough: Any) -> str:
    counts = scores.count[:, enough]
    least, most = int(counts.min()), int(counts.max())
    return counted(most, "epoch") if least == most else f"{least} to {most} epochs"


def _refuse_other_scores(scores: ItemScores, name: str) -> None:
    """Only right and wrong can be counted."""
    has = scores.count > 0
    n = np.maximum(scores.count, 1)
    right = np.where(has, scores.mean, 0.0) * n
    whole_numbers = np.abs(right - np.rint(right)) <= 1e-9 * n
    inside = (right >= -1e-9) & (right <= n + 1e-9)
    # answers that are right or wrong vary by c (n - c) / n (n - 1), and no others do
    expected = right * (n - right) / (n * np.maximum(n - 1, 1))
    several = scores.count > 1
    as_binary = ~several | (np.abs(np.where(several, scores.variance, 0.0) - expected) <= 1e-9)
    if not scores.higher_is_better or not np.all(~has | (whole_numbers & inside & as_binary)):
        raise ArgumentError(
            f"{name} needs answers that are right (1) or wrong (0); {scores.metric!r} has others."
        )
