"""LLM evaluation logs as one value: models, items, epochs, scores, costs and statuses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints, one_of
from bestofk._base.errors import UnknownNameError
from bestofk._base.formatting import counted
from bestofk._base.results import listed
from bestofk.evals.item_scores import ItemScores, cells_of, dense_names, item_scores
from bestofk.evals.rows import ROWS_AT_ONCE, STATUSES

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.evals.noise import Noise
    from bestofk.losses.losses import Scores

Codes = npt.NDArray[np.int32]
Names = str | Iterable[str] | None
MEASURES = ("cost", "tokens", "latency")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)_latency")


def is_measure(prefer: Any) -> bool:
    """Return whether a preference names a measure of the logs.

    Examples
    --------
    >>> is_measure("tokens"), is_measure("p95_latency"), is_measure("p0_latency"), is_measure(["a"])
    (True, True, False, False)
    """
    return isinstance(prefer, str) and (prefer in MEASURES or _percentile(prefer) is not None)


def _percentile(of: str) -> float | None:
    """Return the share that a measure such as ``p95_latency`` names; None for other measures."""
    match = _PERCENTILE.fullmatch(of)
    return float(match[1]) / 100.0 if match and float(match[1]) > 0.0 else None


_ROW_COLUMNS = ("epoch", "score", "cost", "latency", "tokens_in", "tokens_out", "status")


def _marked(wanted: Names, known: Sequence[str], kind: str) -> Bools:
    """Return which of the known names are wanted."""
    if wanted is None:
        return np.ones(len(known), dtype=bool)
    names = {wanted} if isinstance(wanted, str) else set(wanted)
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise UnknownNameError(kind, unknown, known, "the logs")
    return np.array([name in names for name in known], dtype=bool)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evals:
    """The results of K models (prompts, agents) on the items of some tasks, row by row.

    A row is one model on one item in one epoch. Rows hold codes into the tuples of names.
    `read_evals` returns it; every array is read-only.

    Attributes
    ----------
    models, tasks, items : tuple of str
        The names. Items of different tasks are different even if their names agree.
    metric : str
        The name of the score.
    notes : tuple of str
        What was read, used and skipped, and why, in sentences.

    Examples
    --------
    >>> from bestofk.evals import example_evals
    >>> evals = example_evals("inspect-sums")
    >>> evals
    Evals(3 models x 24 items of 1 task, 2 epochs, match)
    >>> evals.by_item().means().round(3).tolist()
    [0.917, 0.854, 0.458]
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    items: tuple[str, ...]
    clusters: tuple[str, ...]
    """The names of the clusters; empty if none were requested."""
    item_task: Codes
    """The code of the task of each item."""
    item_cluster: Codes
    """The code of the cluster of each item. Without clusters it is the code of the item."""
    model: Codes
    item: Codes
    epoch: Codes
    """The epoch of each row from 1. Epochs of two models are unrelated, so they are averaged per
    item (`by_item`), never paired."""
    score: Floats
    """NaN if there is none. Rows of status ``"limit"`` may have one."""
    cost: Floats
    """In the currency of the log or of the prices; NaN if unknown."""
    latency: Floats
    """In seconds; NaN if unknown."""
    tokens_in: Floats
    """Tokens of the model itself, never of a grader; NaN if unknown."""
    tokens_out: Floats
    status: npt.NDArray[np.int8]
    """Codes into `STATUSES`: scored, error, limit, unscored, missing."""
    metric: str
    higher_is_better: bool
    notes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    """The notes that everybody should see, which are about assumptions and skipped files."""
    truth: Floats | None = None
    """Human labels of models x items, averaged over epochs; NaN if there are none."""
    truth_name: str = ""
    currency: str = ""
    """The currency of the costs, if the log states it."""
    repeated: tuple[str, int] | None = None
    """A key that items share, such as the text of a question, and the number of its values."""
    other_metrics: tuple[str, ...] = ()
    """The other metrics of the logs, which `compare_evals` reads if it is given the logs."""
    is_assumed: bool = False
    """Whether only the scale of the scores says which direction is better."""

    def __post_init__(self) -> None:
        for name in ("item_task", "item_cluster", "model", "item", *_ROW_COLUMNS):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.score)

    def __dir__(self) -> list[str]:
        return listed(self, "models tasks items metric notes costs to_frame to_scores select")

    def __repr__(self) -> str:
        epochs = int(self.epoch.max(initial=1))
        return (
            f"Evals({counted(len(self.models), 'model')} x {counted(len(self.items), 'item')} "
            f"of {counted(len(self.tasks), 'task')}, {counted(epochs, 'epoch')}, {self.metric})"
        )

    def count(self, status: str | None = None) -> Ints:
        """Return the number of rows of each model, of one status or of all."""
        if status is not None:
            one_of(status, "status", STATUSES)
        counts: Ints = np.zeros(len(self.models), dtype=np.int64)
        for start in range(0, len(self), ROWS_AT_ONCE):
            model = self.model[start : start + ROWS_AT_ONCE]
            if status is not None:
                rows = self.status[start : start + ROWS_AT_ONCE] == STATUSES.index(status)
                model = model[rows]
            counts += np.bincount(model, minlength=len(self.models))
        return counts

    def select(self, *, models: Names = None, tasks: Names = None, items: Names = None) -> Evals:
        """Return the rows of some models, tasks and items, by their names."""
        keep = _marked(tasks, self.tasks, "task")[self.item_task]
        return self._kept(
            _marked(models, self.models, "model"), keep & _marked(items, self.items, "item")
        )

    def without_unused(self) -> Evals:
        """Return the logs without the models, items, tasks and clusters that have no rows."""
        models, items = np.zeros(len(self.models), bool), np.zeros(len(self.items), bool)
        models[self.model] = items[self.item] = True
        return self if models.all() and items.all() else self._kept(models, items)

    def _kept(self, models: Bools, items: Bools) -> Evals:
        """Return the rows of the marked models and items."""
        rows = models[self.model] & items[self.item]
        index, of_model = np.flatnonzero(items), np.flatnonzero(models)
        tasks, item_task = dense_names(self.item_task[index], self.tasks)
        clusters, item_cluster = self.clusters, np.arange(len(index), dtype=np.int32)
        if clusters:
            clusters, item_cluster = dense_names(self.item_cluster[index], self.clusters)
        return replace(
            self,
            models=tuple(self.models[k] for k in of_model),
            tasks=tasks,
            items=tuple(self.items[i] for i in index),
            clusters=clusters,
            item_task=item_task,
            item_cluster=item_cluster,
            model=(np.cumsum(models, dtype=np.int32) - 1)[self.model[rows]],
            item=(np.cumsum(items, dtype=np.int32) - 1)[self.item[rows]],
            truth=None if self.truth is None else self.truth[np.ix_(of_model, index)],
            **{name: getattr(self, name)[rows] for name in _ROW_COLUMNS},
        )

    def by_item(
        self,
        *,
        missing: str = "drop",
        count_errors_as_wrong: bool = False,
    ) -> ItemScores:
        """Return scores by model and item, each the mean over the epochs that have a score.

        Parameters
        ----------
        missing : {"drop", "allow"}
            ``"drop"``: the items for which every model has a score. ``"allow"``: all items, NaN
            if a model has no score.
        count_errors_as_wrong : bool
            Give the worst score to samples that failed, or hit a limit and were not scored: 0 (1
            if lower is better). This needs scores between 0 and 1. Samples that ran and have no
            score stay without one.
        """
        return item_scores(self, missing=missing, count_errors_as_wrong=count_errors_as_wrong)

    def to_scores(
        self,
        *,
        by: str = "item",
        missing: str = "drop",
        count_errors_as_wrong: bool = False,
    ) -> Scores:
        """Return the table of losses for `bestofk.compare_scores`: models x items, epochs
        averaged.

        Parameters
        ----------
        by : {"item", "task"}
            ``"item"``: the items are the instances of one test set, whatever their tasks.
            ``"task"``: the tasks are the data sets, and the loss is the mean over the items of
            each. Use it for claims beyond these tasks.
        missing, count_errors_as_wrong
            As for `by_item`.
        """
        one_of(by, "by", ("item", "task"))
        scores = self.by_item(missing=missing, count_errors_as_wrong=count_errors_as_wrong)
        return scores.losses(by=by)

    def costs(self, of: str = "cost") -> dict[str, float]:
        """Return the mean cost of a sample by model, over the items that all models ran.

        Parameters
        ----------
        of : {"cost", "tokens", "latency", "pNN_latency"}
            Money, tokens in and out, or seconds; or a percentile of the seconds, such as
            ``"p95_latency"``.

        Returns
        -------
        dict of str to float
            NaN for a model without known costs. Failed samples cost too.
        """
        share = _percentile(of)
        if share is None:
            one_of(of, "of", MEASURES)
        measure = "latency" if share is not None else of
        tokens = measure == "tokens"
        values = self.tokens_in + self.tokens_out if tokens else getattr(self, measure)
        rows = np.isfinite(values) & (self.status != STATUSES.index("missing"))
        if not rows.any():
            return dict.fromkeys(self.models, float("nan"))
        k, n = len(self.models), len(self.items)
        cell = cells_of(self)
        if not rows.all():
            cell, values = cell[rows], values[rows]
        count = np.bincount(cell, minlength=k * n).reshape(k, n)
        common: Bools = np.all(count > 0, axis=0)
        if not common.any():
            common = np.ones(n, dtype=bool)
        if share is not None:
            model, item = np.divmod(cell, n)
            samples = [values[(model == row) & common[item]] for row in range(k)]
        else:
            # each item counts once, whatever the number of its epochs
            total = np.bincount(cell, weights=values, minlength=k * n).reshape(k, n)
            of_items = [common & (count[row] > 0) for row in range(k)]
            samples = [total[row, at] / count[row, at] for row, at in enumerate(of_items)]
        return {
            name: float("nan") if not len(each)
            else float(np.mean(each) if share is None else np.quantile(each, share))
            for name, each in zip(self.models, samples, strict=True)
        }  # fmt: skip

    def noise(self) -> Noise:
        """Return how much the scores vary between the runs (epochs) of an item."""
        from bestofk.evals.noise import noise_of

        return noise_of(self.by_item(missing="allow"))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model, item and epoch; `read_evals` reads it back from a file."""
        import pandas as pd

        def named(codes: Any, names: tuple[str, ...]) -> Any:
            # with a last name that no code has, so that there is one
            return pd.Series(np.array([*names, ""], dtype=object)[codes], dtype=object)

        columns = {
            "model": named(self.model, self.models),
            "task": named(self.item_task[self.item], self.tasks),
            "item": named(self.item, self.items),
            "epoch": self.epoch,
            "score": self.score,
            "cost": self.cost,
            "latency": self.latency,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "status": np.array(STATUSES, dtype=object)[self.status],
        }
        if self.clusters:
            columns["cluster"] = named(self.item_cluster[self.item], self.clusters)
        return pd.DataFrame(columns)


def never_run(evals: Evals) -> Bools:
    """Return (models, items): the model was not run on the item."""
    k, n = len(evals.models), len(evals.items)
    ran = evals.status != STATUSES.index("missing")
    count = np.bincount(cells_of(evals)[ran], minlength=k * n)
    return np.asarray(count == 0).reshape(k, n)
