"""What the user asked of the logs: which metric, filter and task, and what makes a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, Ints, one_of, refuse
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk._base.formatting import counted, shortened
from bestofk.evals.item_scores import ItemScores, item_scores
from bestofk.evals.rows import STATUSES, clean_name

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.losses.losses import Losses

Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfLogs:
    """The choices of the user; an empty tuple where there is none."""

    metric: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    cluster: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def wants_task(self, *names: str) -> bool:
        """Whether the task, under any of its names, was asked for."""
        return not self.task or any(name in self.task for name in names)


def names_asked(value: Names, where: str) -> tuple[str, ...]:
    """One name or several as a tuple.

    Examples
    --------
    >>> names_asked("acc", "metric"), names_asked(None, "metric"), names_asked(["a", "b"], "task")
    (('acc',), (), ('a', 'b'))
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    found = tuple(value) if isinstance(value, Sequence) else ()
    if not found or not all(isinstance(name, str) for name in found):
        raise refuse(where, "a name or a list of names", value)
    return found


def chosen(
    asked: Sequence[str],
    known: Iterable[str],
    *,
    what: str,
    where: str,
    default: Sequence[str] = (),
) -> str | None:
    """Which of the `known` names to take: the first that was asked for, or the only one.

    None where others were asked for. `default` are names that the harness itself puts first.

    Examples
    --------
    >>> chosen((), ["acc"], what="metric", where="arc")
    'acc'
    >>> chosen(("f1", "acc"), ["acc", "acc_norm"], what="metric", where="arc")
    'acc'
    """
    names = list(dict.fromkeys(known))
    if asked:
        return next((name for name in asked if name in names), None)
    for name in default:
        if name in names:
            return name
    if len(names) == 1:
        return names[0]
    if not names:
        raise ArgumentError(f"{where}: there is no {what} that is one number per sample.")
    raise ArgumentError(
        f"{where} has {len(names)} {what}s ({shortened(names, 12)}): name the one to compare by, "
        f"such as {what}={names[0]!r} (on the command line --{what} {names[0]})."
    )


def nothing_asked_for(
    asked: Sequence[str], known: Iterable[str], what: str, where: str
) -> UnknownNameError:
    """The sentence where nothing that was asked for is there."""
    return UnknownNameError(what, asked[0] if asked else "", dict.fromkeys(known), where)


# Runs of one model on one task: which are the same learner, and which of several counts.


_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRun:
    """One run of a model on a task, as a log states it.

    Parameters
    ----------
    model, task : str
        Who was asked what.
    time : str
        When, in a form that sorts.
    settings : mapping of str to str
        What makes another learner of the same model: prompts, solvers, temperatures.
    complete : bool
        The run came to its end.
    content : object
        What the reader needs to go on.
    where : str
        The file.
    """

    model: str
    task: str
    time: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    content: Any = None
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRun:
    """A run that counts, and the name of its learner."""

    learner: str
    run: EvalRun


def chosen_runs(runs: Sequence[EvalRun], note: Callable[[str], None]) -> list[ChosenRun]:
    """The latest complete run of every learner on every task.

    Runs of one model on one task whose settings differ are of different learners, and the settings
    that differ become part of their names.
    """
    told = _telling_settings(runs)
    by_cell: dict[tuple[str, str], list[EvalRun]] = defaultdict(list)
    for run in runs:
        by_cell[_label(run, told[run.model]), run.task].append(run)
    found = []
    passed: dict[str, list[str]] = defaultdict(list)
    for (learner, task), several in by_cell.items():
        best = max(several, key=lambda run: (run.complete, run.time, run.where))
        found.append(ChosenRun(learner=learner, run=best))
        if len(several) > 1:
            which = "latest complete" if best.complete else "latest"
            passed[learner].append(
                f"{task!r} ({counted(len(several), 'run')}, the {which} taken: {best.where})"
            )
    for learner, tasks in passed.items():
        shown = "; ".join(tasks[:3]) + (f"; and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        note(f"Several runs of model {learner!r}: {shown}.")
    for model, keys in told.items():
        if keys:
            note(
                f"Runs of {model!r} differ in {', '.join(sorted(keys))}: each setting is a "
                "model of its own."
            )
    return found


def _telling_settings(runs: Sequence[EvalRun]) -> dict[str, set[str]]:
    """By model: the settings in which runs on the same task differ."""
    told: dict[str, set[str]] = {run.model: set() for run in runs}
    by_cell: dict[tuple[str, str], list[EvalRun]] = defaultdict(list)
    for run in runs:
        by_cell[run.model, run.task].append(run)
    for (model, _), several in by_cell.items():
        for key in {key for run in several for key in run.settings}:
            if len({run.settings.get(key, "") for run in several}) > 1:
                told[model].add(key)
    return told


def _label(run: EvalRun, keys: set[str]) -> str:
    parts = []
    for key in sorted(keys):
        value = clean_name(run.settings.get(key) or "default")
        parts.append(f"{key}={value if len(value) <= _LONGEST else value[: _LONGEST - 3] + '...'}")
    return f"{run.model} ({', '.join(parts)})" if parts else run.model


# The value that every log becomes: learners, items, epochs, scores, costs and what was missing.


Codes = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
MEASURES = ("cost", "tokens", "latency")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evals:
    """What K models (prompts, agents) did on the items of some tasks, row by row.

    A row is one learner on one item in one epoch. Names stand once; rows hold their codes. Made by
    `read_evals`; every array is read-only.

    Parameters
    ----------
    learners, tasks : tuple of str
        The names.
    items : tuple of str
        The names of the items; an item of one task and its namesake of another are two items.
    clusters : tuple of str
        The names of the clusters; empty where none were asked for.
    item_task : ndarray of int
        For each item the code of its task.
    item_cluster : ndarray of int
        For each item the code of its cluster; where there are no clusters every item is its own,
        and the code is that of the item.
    learner, item, epoch : ndarray of int
        For each row the codes, and the epoch from 1. Epochs of two learners have nothing to do
        with each other: they are averaged per item (`by_item`), never paired.
    score : ndarray of float
        NaN where there is none. Rows of status ``"limit"`` may have one.
    cost, latency : ndarray of float
        In the currency of the log or of the prices, and in seconds; NaN where unknown.
    tokens_in, tokens_out : ndarray of float
        Tokens of the learner itself, never of a grader; NaN where unknown.
    status : ndarray of int
        Codes into `STATUSES`: scored, error, limit, unscored, missing.
    metric : str
        What the scores are.
    higher_is_better : bool
        Which way they point.
    account : tuple of str
        All that was taken, dropped and why, in sentences.

    Examples
    --------
    >>> from bestofk.evals import example_evals
    >>> evals = example_evals("inspect-sums")
    >>> evals
    Evals(3 models x 24 items of 1 task, 2 epochs, match)
    >>> evals.by_item().means().round(3).tolist()
    [0.917, 0.854, 0.458]
    """

    learners: tuple[str, ...]
    tasks: tuple[str, ...]
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    item_task: Codes
    item_cluster: Codes
    learner: Codes
    item: Codes
    epoch: Codes
    score: Floats
    cost: Floats
    latency: Floats
    tokens_in: Floats
    tokens_out: Floats
    status: npt.NDArray[np.int8]
    metric: str
    higher_is_better: bool
    account: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    """The part of the account about files that were not read."""
    cell: Ints = field(init=False)
    """For each row the number of its learner and item: learner * items + item."""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "cell", self.learner.astype(np.int64) * len(self.items) + self.item
        )
        for name in (
            "item_task", "item_cluster", "learner", "item", "epoch", "score", "cost", "latency",
            "tokens_in", "tokens_out", "status",
        ):  # fmt: skip
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        epochs = int(self.epoch.max(initial=1))
        return (
            f"Evals({counted(len(self.learners), 'model')} x {counted(len(self.items), 'item')} "
            f"of {counted(len(self.tasks), 'task')}, {counted(epochs, 'epoch')}, {self.metric})"
        )

    @property
    def task(self) -> Codes:
        """For each row the code of its task."""
        codes: Codes = self.item_task[self.item]
        return codes

    @property
    def cluster(self) -> Codes:
        """For each row the code of its cluster."""
        codes: Codes = self.item_cluster[self.item]
        return codes

    @property
    def statuses(self) -> npt.NDArray[np.str_]:
        """For each row its status as a word."""
        words: npt.NDArray[np.str_] = np.array(STATUSES)[self.status]
        return words

    def count(self, status: str | None = None) -> Ints:
        """(K,): how many rows each learner has, of one status or of all."""
        who = self.learner
        if status is not None:
            one_of(status, "status", STATUSES)
            who = who[self.status == STATUSES.index(status)]
        counts: Ints = np.bincount(who, minlength=len(self.learners))
        return counts

    def select(
        self,
        *,
        learners: str | Sequence[str] | None = None,
        tasks: str | Sequence[str] | None = None,
    ) -> Evals:
        """The rows of some learners and tasks, in the order in which they are named."""
        who = _places(learners, self.learners, "learner")
        what = _places(tasks, self.tasks, "task")
        new_learner = _inverse(who, len(self.learners))
        new_task = _inverse(what, len(self.tasks))
        kept = np.flatnonzero(new_task[self.item_task] >= 0)
        new_item = _inverse(kept, len(self.items))
        rows = (new_learner[self.learner] >= 0) & (new_item[self.item] >= 0)
        clusters, item_cluster = self.clusters, np.arange(len(kept))
        if clusters:
            seen, item_cluster = np.unique(self.item_cluster[kept], return_inverse=True)
            clusters = tuple(clusters[code] for code in seen)
        return replace(
            self,
            learners=tuple(self.learners[k] for k in who),
            tasks=tuple(self.tasks[k] for k in what),
            items=tuple(self.items[k] for k in kept),
            clusters=clusters,
            item_task=new_task[self.item_task[kept]],
            item_cluster=item_cluster.astype(np.int32),
            learner=new_learner[self.learner[rows]],
            item=new_item[self.item[rows]],
            **{
                name: getattr(self, name)[rows]
                for name in (
                    "epoch", "score", "cost", "latency", "tokens_in", "tokens_out", "status"
                )
            },
        )  # fmt: skip

    def by_item(
        self,
        *,
        missing: str = "drop",
        count_errors_as_wrong: bool = False,
        limits: str = "score",
    ) -> ItemScores:
        """Scores by learner and item, the mean over the epochs that have one.

        Parameters
        ----------
        missing : {"drop", "refuse", "allow"}
            ``"drop"``: the items for which every learner has a score. ``"refuse"``: stop where a
            score is missing. ``"allow"``: all items, NaN where a learner has none.
        count_errors_as_wrong : bool
            Samples that failed, or were stopped at a limit and not scored, get the worst score: 0
            (1 where lower is better), which needs scores between 0 and 1. Samples that ran and
            have no score stay without one.
        limits : {"score", "drop"}
            Samples that were stopped at a limit and scored all the same: take that score, as the
            harness does, or leave them out.
        """
        return item_scores(
            self,
            missing=missing,
            count_errors_as_wrong=count_errors_as_wrong,
            limits=limits,
        )

    def losses(
        self,
        *,
        by: str = "item",
        missing: str = "drop",
        count_errors_as_wrong: bool = False,
        limits: str = "score",
    ) -> Losses:
        """The table of losses: learners x items, epochs averaged; `bestofk.order` takes it.

        Parameters
        ----------
        by : {"item", "task"}
            ``"item"``: the items are the instances of one test set, whatever their tasks.
            ``"task"``: the tasks are the data sets, and the loss is the mean over the items of
            each: for claims beyond these tasks.
        missing, count_errors_as_wrong, limits
            As for `by_item`.
        """
        one_of(by, "by", ("item", "task"))
        return self.by_item(
            missing=missing, count_errors_as_wrong=count_errors_as_wrong, limits=limits
        ).losses(by=by)

    def costs(self, of: str = "cost") -> dict[str, float]:
        """Mean cost of a sample by learner, over the items that all learners ran.

        Parameters
        ----------
        of : {"cost", "tokens", "latency"}
            Money, tokens in and out, or seconds.

        Returns
        -------
        dict of str to float
            NaN for a learner of which nothing is known. Samples that failed cost too.
        """
        one_of(of, "of", MEASURES)
        values = self.tokens_in + self.tokens_out if of == "tokens" else getattr(self, of)
        finite = np.isfinite(values)
        if not finite.any():
            return dict.fromkeys(self.learners, float("nan"))
        ran = self.status != STATUSES.index("missing")
        k, n = len(self.learners), len(self.items)
        # each item counts once, whatever the number of its epochs
        cell = self.cell
        rows = ran & finite
        if not rows.all():
            there = np.bincount(cell[ran], minlength=k * n) > 0
            rows = _of_common_items(rows, there.reshape(k, n), self.item)
            cell, values = cell[rows], values[rows]
        total = np.bincount(cell, weights=values, minlength=k * n).reshape(k, n)
        count = np.bincount(cell, minlength=k * n).reshape(k, n)
        known: Mask = np.all(count > 0, axis=0)
        if not known.any():
            known = np.ones(n, dtype=bool)
        found = {}
        for row, name in enumerate(self.learners):
            has = known & (count[row] > 0)
            mean = (total[row, has] / count[row, has]).mean() if has.any() else np.nan
            found[name] = float(mean)
        return found

    def explain(self) -> str:
        """Return what was read, used and dropped, in sentences."""
        return " ".join(self.account)

    def to_dict(self) -> dict[str, Any]:
        """A summary for strict JSON: names, counts by status, means and costs by learner."""
        scores = self.by_item(missing="allow")
        costs = {of: self.costs(of) for of in MEASURES}
        return {
            "metric": self.metric,
            "higher_is_better": self.higher_is_better,
            "tasks": list(self.tasks),
            "items": len(self.items),
            "clusters": len(self.clusters) or None,
            "learners": [
                {
                    "learner": name,
                    "rows": int(self.count()[k]),
                    "items": int((scores.count[k] > 0).sum()),
                    "mean": _json_number(scores.means()[k]),
                    **{status: int(self.count(status)[k]) for status in STATUSES},
                    **{of: _json_number(costs[of][name]) for of in MEASURES},
                }
                for k, name in enumerate(self.learners)
            ],
            "account": list(self.account),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per learner, item and epoch; `read_evals` reads it back from a file."""
        import pandas as pd

        def named(codes: Any, names: tuple[str, ...]) -> Any:
            values = np.array([*names, ""], dtype=object)[:-1]
            return pd.Series(values[codes] if len(codes) else [], dtype=object)

        columns = {
            "learner": named(self.learner, self.learners),
            "task": named(self.task, self.tasks),
            "item": named(self.item, self.items),
            "epoch": self.epoch,
            "score": self.score,
            "cost": self.cost,
            "latency": self.latency,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "status": self.statuses.astype(object),
        }
        if self.clusters:
            columns["cluster"] = named(self.cluster, self.clusters)
        return pd.DataFrame(columns)


def _json_number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _places(names: str | Sequence[str] | None, known: tuple[str, ...], what: str) -> list[int]:
    from bestofk._base.errors import UnknownNameError

    if names is None:
        return list(range(len(known)))
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise UnknownNameError(what, name, known)
    if not wanted or len(set(wanted)) != len(wanted):
        raise ArgumentError(f"{what}s must be named once each; got {wanted!r:.80}.")
    return [known.index(name) for name in wanted]


def _of_common_items(rows: Mask, there: Mask, item: Codes) -> Mask:
    """The rows of items that all learners ran; all of them where there is no such item."""
    common: Mask = np.all(there, axis=0)
    return rows & common[item] if common.any() and not common.all() else rows


def _inverse(places: Any, size: int) -> Codes:
    codes = np.full(size, -1, dtype=np.int32)
    codes[np.asarray(places, dtype=np.int64)] = np.arange(len(places), dtype=np.int32)
    return codes
