"""Read LLM evaluation logs of any tool into one value."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, refuse
from bestofk._base.errors import BestOfKError, BestOfKWarning, TableError, UnknownNameError, use
from bestofk._base.files import SUFFIXES, no_such_file
from bestofk._base.formatting import counted, joined, shortened
from bestofk.data.cells import as_pandas
from bestofk.evals.containers import open_container
from bestofk.evals.evals import Evals
from bestofk.evals.extraction import FormatReader
from bestofk.evals.formats import Format, known_formats, peeked
from bestofk.evals.prices import Price, read_prices
from bestofk.evals.query import LogQuery, Names, as_names, higher_by_name, is_rating
from bestofk.evals.rows import EvalRows, model_name, only_means
from bestofk.evals.sources import Source, find_sources
from bestofk.evals.tables import read_frames, read_tables
from bestofk.losses.columns import EVAL_ROLES, normal

COLUMNS = (
    "model", "item", "score", "status", "cost", "latency", "tokens_in", "tokens_out"
)  # fmt: skip
_TOTALS = ("total", "overall", "average", "avg", "mean", "all", "sum")
"""Names of items that may be sums or means of the others."""
Paths = Any
"""A path, paths, or a data frame."""


def read_evals(
    paths: Paths = (),
    *,
    models: Mapping[str, Any] | None = None,
    only: Names = None,
    exclude: Names = None,
    metric: Names = None,
    task: Names = None,
    cluster: str | None = None,
    prices: Any = None,
    truth: str | None = None,
    formats: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
) -> Evals:
    """Read LLM evaluation logs.

    Parameters
    ----------
    paths : path, sequence of paths or data frame
        Files, and folders to search for files. bestofk recognises the logs of many tools by their
        content (``formats.toml``), and reads any table with one row per model, item and epoch. A
        table without a column of models is one model with the name of the file, or has one column
        per model.
    models : mapping, optional
        The file, folder or data frame (pandas, polars, Arrow) of each model, by the name that you
        choose; or the name of a model in the logs, to rename it.
    only, exclude : str or sequence of str, optional
        Models and tasks to use or to leave out; ``*`` stands for any characters.
    metric : str or sequence of str, optional
        The score to compare by. If you name several, each task uses the first that it has. None:
        the only one, or the one that the tool itself puts first; if there are several, the error
        lists them.
    task : str or sequence of str, optional
        The tasks to read, ``*`` as above; None: all.
    cluster : str, optional
        What groups items (a passage, a repository, a template): a key of the document, of the
        metadata or of the variables, with dots for nested keys; a column of a table; for SWE-bench
        ``"repo"``.
    prices : path or mapping, optional
        Prices by model, for a million tokens in and out or for a sample; see
        `bestofk.evals.prices.read_prices`. They apply if the log states no cost.
    truth : str, optional
        Human labels of some answers: another metric of the logs, such as the column
        ``"human_score"``, or the path of a table of labels. The scores are then those of a judge,
        and `compare_evals` corrects them.
    formats : path, optional
        A TOML file with more formats, which come before those of bestofk.
    columns : mapping, optional
        For tables: the column of a role (model, task, item, cluster, epoch, score, cost, latency,
        status, tokens_in, tokens_out). bestofk finds the other columns by their names.
    higher_is_better : bool, optional
        Whether higher scores are better. None: as the log says, else by the name of the metric,
        else True if the scores are between 0 and 1; `notes` says which.

    Returns
    -------
    Evals
        Rows of models, items and epochs, and notes on what was read, used and skipped.

    Raises
    ------
    TableError
        If a file cannot be read; the message names the file and the problem.

    Notes
    -----
    If a model has several runs of an item, the latest counts. bestofk pairs items by task and
    name. If the logs have the content of the items and it differs between two models, reading
    stops. Errors, samples that hit a limit, samples without a score and wrong answers are four
    different cases; see `Evals.by_item`.

    Examples
    --------
    >>> import bestofk as bk
    >>> from bestofk.evals.reading import example_path, example_prices
    >>> evals = bk.read_evals(
    ...     example_path("inspect-sums"), metric="match", cluster="passage",
    ...     prices=example_prices("inspect-sums"),
    ... )
    >>> evals
    Evals(3 models x 24 items of 1 task, 2 epochs, match)
    >>> len(evals.clusters)
    8
    >>> bk.compare_scores(evals.to_scores(), prefer=evals.costs()).recommended
    'mockllm/medium'
    """
    metrics = as_names(metric, "metric") or None
    logs = Logs(
        paths, models=models, only=only, exclude=exclude, task=task, cluster=cluster,
        formats=formats, columns=columns,
    )  # fmt: skip
    return logs.read(metrics, prices=prices, truth=truth, higher_is_better=higher_is_better)


class Logs:
    """Logs whose files were parsed, to read one metric after another.

    The arguments are those of `read_evals`; `names` are only, exclude and task.

    Examples
    --------
    >>> logs = Logs(example_path("inspect-sums"))
    >>> evals = logs.read("match")
    >>> evals.other_metrics
    ('includes',)
    """

    def __init__(
        self,
        paths: Paths = (),
        *,
        models: Mapping[str, Any] | None = None,
        cluster: str | None = None,
        formats: str | os.PathLike[str] | None = None,
        columns: Mapping[str, str] | None = None,
        **names: Names,
    ) -> None:
        files, self._renamed, self._frames = _inputs_by_model(models)
        paths = as_pandas(paths, "paths")
        if hasattr(paths, "iloc"):
            self._frames, paths = {"": paths, **self._frames}, ()
        chosen: Any = {name: as_names(value, name) for name, value in names.items()}
        self._query = LogQuery(**chosen, cluster=cluster, columns=dict(columns or {}))
        self._rows = EvalRows()
        self._readers: dict[str, FormatReader] = {}
        self._tables: list[Source] = []
        self._unknown: list[Source] = []
        if files or not self._frames or len(paths):
            with _without_collection():
                self._parse(find_sources(paths, files), known_formats(formats))

    def _parse(self, sources: Sequence[Source], known: Mapping[str, Format]) -> None:
        """Parse each file by the first format that it matches, and find the tables."""
        query, rows, readers = self._query, self._rows, self._readers
        errors: list[BestOfKError] = []
        for source in sources:
            try:
                entry, path, document = _recognised(source, known, query, rows)
            except BestOfKError as error:
                if source.named:
                    raise
                errors.append(error)
                rows.note(str(error))
                continue
            if entry is not None and entry.companion:
                errors.append(TableError(f"{source.name}: {entry.companion}"))
            elif entry is not None:
                reader = readers.setdefault(entry.name, FormatReader(entry, query, rows))
                reader.read(source, document, path)
            elif source.is_table and (source.named or source.size):
                self._tables.append(source)
            elif source.named:
                raise _unknown_format(source)
            else:
                self._unknown.append(source)
        if readers:
            # other files of a folder of logs are not tables of scores
            self._unknown += [source for source in self._tables if not source.named]
            self._tables = [source for source in self._tables if source.named]
        if len(readers) > 1:
            called = joined([reader.entry.called for reader in readers.values()])
            sentence = f"The files are logs of {called}: bestofk reads their tasks together."
            rows.note(sentence)
            warnings.warn(sentence, BestOfKWarning, stacklevel=2)
        if not readers and not self._tables:
            raise errors[0] if errors else _unknown_format(self._unknown[0])

    def read(
        self,
        metric: Names = None,
        *,
        prices: Any = None,
        truth: str | None = None,
        higher_is_better: bool | None = None,
        as_before: Evals | None = None,
    ) -> Evals:
        """Return the logs with one metric; the arguments are those of `read_evals`.

        With `as_before`, a metric whose direction is unknown has that of these logs if its scores
        have the same scale; higher ratings count as better.
        """
        price_list = read_prices(prices)
        query, rows = replace(self._query, metric=as_names(metric, "metric")), self._rows.copy()
        read_frames(self._frames, query, rows)
        for reader in self._readers.values():
            reader.finish(rows, query.metric)
        read_tables(self._tables, query, rows)
        if self._unknown:
            rows.note(
                f"Skipped, because the format is unknown: {counted(len(self._unknown), 'file')} "
                f"({shortened([source.name for source in self._unknown], 4)}).",
                shown=True,
            )
        rows.rename(self._renamed)
        if len(rows):
            rows.select(query)
        evals = _as_evals(rows, query, price_list, higher_is_better, as_before)
        return evals if truth is None else self._with_labels(evals, truth)

    def _with_labels(self, evals: Evals, truth: str) -> Evals:
        """Read the human labels as another metric of the logs, or from a table of their own."""
        from bestofk.evals.judge import with_truth

        if truth == evals.metric:
            raise TableError(
                f"The labels and the scores of the judge are both {truth!r}: name the judge's "
                "with ",
                use(metric=...),
                ".",
            )
        labels = self
        if Path(truth).is_file():
            labels, metric = Logs(truth, task=self._query.task or None), None
        else:
            labels, metric = copy(self), truth
            columns = {r: name for r, name in self._query.columns.items() if r != "score"}
            labels._query = replace(self._query, columns=columns)
        return with_truth(evals, labels.read(metric, higher_is_better=evals.higher_is_better))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the garbage collector, which would search the values of a document for cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _recognised(
    source: Source, known: Mapping[str, Format], query: LogQuery, rows: EvalRows
) -> tuple[Format | None, str, Any]:
    """Return the format of a file, the path of its rows and its document."""
    try:
        document, first = peeked(source.document(rows.note) or ())
    except UnicodeDecodeError:
        return None, "", None
    container = open_container(source, document, query, rows.note)
    if container is not None:
        document = first = container
    for entry in known.values():
        path = entry.rows_path(source, document, first)
        if path is not None:
            return entry, path, document
    return None, "", None


def _inputs_by_model(models: Any) -> tuple[dict[str, Any], dict[str, str], dict[str, Any]]:
    """Return the files, the names in the logs and the data frames, by the user's names."""
    if models is not None and not isinstance(models, Mapping):
        raise refuse("models", "a mapping of names to files, or to models of the logs", models)
    files: dict[str, Any] = {}
    names: dict[str, str] = {}
    frames: dict[str, Any] = {}
    for name, value in (models or {}).items():
        value, key = as_pandas(value, "models"), model_name(name)
        if hasattr(value, "iloc"):
            frames[key] = value
            continue
        if not isinstance(value, str | os.PathLike):
            raise refuse("models", "a mapping of names to files, or to models of the logs", models)
        path = Path(value)
        is_file = isinstance(value, os.PathLike) or path.exists()
        in_folder = path.parent.exists() and path.name != str(value)
        if not is_file and (path.suffix in SUFFIXES or in_folder):
            raise TableError(no_such_file(path, "file or folder"))
        (files if is_file else names)[key] = os.fspath(value)
    return files, names, frames


def _no_samples(query: LogQuery, rows: EvalRows) -> BestOfKError:
    if query.exclude and (query.excluded or rows.models):
        return TableError("No samples are left: everything is excluded.")
    if query.task and not rows.seen_tasks:
        return TableError(
            "The table has no column of tasks: omit the task, or name the column with ",
            use(columns={"task": "NAME"}),
            ".",
        )
    if query.task:
        return UnknownNameError("task", query.task[0], rows.seen_tasks, "the logs")
    return TableError("The logs have no samples; run the tool so that it logs samples.")


def _unknown_format(source: Source) -> TableError:
    if not source.size:
        return TableError(f"{source.name}: the file is empty.")
    return TableError(
        f"{source.name} is neither a known log nor a table: state the paths of its scores with ",
        use(formats="my.toml"),
        ".",
    )


def _as_evals(
    rows: EvalRows,
    query: LogQuery,
    price_list: dict[str, Price],
    higher_is_better: bool | None,
    as_before: Evals | None,
) -> Evals:
    epoch, keep = rows.settle_epochs()
    columns: dict[str, Any] = {name: rows.column(name) for name in COLUMNS}
    if not keep.all():
        columns = {name: column[keep] for name, column in columns.items()}
        epoch = epoch[keep]
    clusters = tuple(dict.fromkeys(rows.cluster_of.values()))
    item_cluster = np.arange(len(rows.items), dtype=np.int32)
    if clusters:
        code_of = {name: code for code, name in enumerate(clusters)}
        known = [rows.cluster_of.get(item, "") for item in range(len(rows.items))]
        item_cluster = np.array([code_of.get(name, -1) for name in known], dtype=np.int32)
    evals = Evals(
        models=tuple(rows.models),
        tasks=tuple(rows.tasks),
        items=tuple(name for _, name in rows.items),
        clusters=clusters,
        item_task=np.array(rows.item_task, dtype=np.int32),
        item_cluster=item_cluster,
        epoch=epoch,
        **columns,
        metric=" / ".join(rows.metrics) or "score",
        higher_is_better=True,
    ).without_unused()
    if not len(evals):
        raise _no_samples(query, rows)
    direction, is_assumed = _direction(rows, evals, higher_is_better, as_before)
    _check_scores(evals, direction, rows)
    if price_list:
        evals = replace(evals, cost=_with_prices(rows, price_list, evals))
    if query.cluster is not None or clusters:
        evals = _with_all_clusters(evals, query.cluster or "group", rows)
    models = [repr(name) for name in evals.models]
    rows.note(f"{counted(len(models), 'model')}: {shortened(models, 12)}.")
    return replace(
        evals,
        higher_is_better=direction,
        notes=tuple(rows.notes),
        assumptions=tuple(rows.assumptions),
        currency="" if price_list else rows.currency,
        repeated=None if clusters else rows.repeated,
        other_metrics=tuple(rows.other_metrics),
        is_assumed=is_assumed,
    )


def _check_scores(evals: Evals, higher_is_better: bool, rows: EvalRows) -> None:
    """Raise if the numbers are not scores of items on one scale; note a -1."""
    score, model = evals.score, evals.model
    if only_means(score, model) and np.nanmax(score) > np.nanmin(score):
        raise TableError(
            f"{evals.metric!r} is one number for each model, not a score of single items: choose "
            "a score that varies with ",
            use(metric=...),
            ".",
        )
    for item in [k for k, name in enumerate(evals.items) if name.lower() in _TOTALS]:
        _refuse_total(evals, item)
    negative = score[score < 0.0]
    if len(negative) and (negative == -1.0).all():
        rows.note(
            f"{counted(len(negative), 'score')} of {evals.metric!r} are -1 and count as such; "
            "empty the cells of failed answers.",
            shown=True,
        )
    if not higher_is_better or len(negative) or not (score > 1.0).any():
        # seconds or other losses differ by any factor
        return
    high = np.zeros(len(evals.models))
    np.fmax.at(high, model, score)
    percentages = [
        evals.models[code]
        for code in np.flatnonzero((high > 10.0) & (high <= 100.0))
        if np.median(score[(model == code) & (score > 0.0)]) > 1.0
    ]
    fractions = (high > 0.0) & (high <= 1.0)
    if fractions.any() and percentages:
        raise TableError(
            f"The scores of {percentages[0]!r} look like percentages and those of "
            f"{evals.models[fractions.argmax()]!r} do not: divide the former by 100."
        )


def _refuse_total(evals: Evals, item: int) -> None:
    """Raise if an item has the sum or the mean of the other scores of each model."""
    total = evals.item == item
    others = evals.item_task[evals.item] == evals.item_task[item]
    for model in np.unique(evals.model[total]):
        own = evals.model == model
        known = evals.score[own & others & ~total]
        ends = np.array([np.nansum(known), np.nansum(known) / max(len(known), 1)])
        if len(known) < 2 or not np.isclose(ends, evals.score[own & total][0], rtol=0.01).any():
            return
    raise TableError(
        f"Item {evals.items[item]!r} has the sum or the mean of the other scores: remove its rows."
    )


def _with_all_clusters(evals: Evals, key: str, rows: EvalRows) -> Evals:
    """Put each item without a cluster into a new one."""
    if not evals.clusters:
        raise TableError(
            f"No sample has {key!r}: cluster must be a key of the document, of the metadata or of "
            "the variables, or a column."
        )
    alone = np.flatnonzero(evals.item_cluster < 0)
    clusters = (*evals.clusters, *(f"only {evals.items[code]}" for code in alone))
    if len(alone):
        rows.note(f"{counted(len(alone), 'item')} without {key!r}: each is a separate cluster.")
    rows.note(f"{counted(len(clusters), 'cluster')} of items by {key!r}.")
    item_cluster = evals.item_cluster.copy()
    item_cluster[alone] = np.arange(len(evals.clusters), len(clusters))
    return replace(evals, clusters=clusters, item_cluster=item_cluster)


def _direction(
    rows: EvalRows, evals: Evals, higher_is_better: bool | None, as_before: Evals | None
) -> tuple[bool, bool]:
    """Return whether higher scores are better, and whether only their scale says so."""
    if higher_is_better is not None:
        direction = "higher" if higher_is_better else "lower"
        rows.note(f"Metric {evals.metric!r}: {direction} is better (your choice).")
        return bool(higher_is_better), False
    is_assumed, directions, phrases = False, dict[bool, str](), []
    for metric, stated in rows.metrics.items():
        reason = "as the log says"
        if stated is None:
            by_name = None if metric == rows.unnamed_metric else higher_by_name(metric)
            stated, reason = by_name is not False, "assumed" if by_name is None else "by its name"
            if by_name is None and metric in rows.metrics_of_tables:
                is_assumed, stated = True, _higher_by_scale(metric, rows, evals.score, as_before)
        phrases.append(f"{metric!r}: {'higher' if stated else 'lower'} is better ({reason})")
        directions.setdefault(stated, metric)
    if len(directions) > 1:
        raise TableError(
            f"Higher is better for {directions[True]!r} and lower for {directions[False]!r}, so "
            "they cannot be one score; choose ",
            use(metric=...),
            " or ",
            use(task=...),
        )
    rows.note(f"Metric {'; '.join(phrases)}.")
    return next(iter(directions), True), is_assumed


def _higher_by_scale(metric: str, rows: EvalRows, score: Floats, as_before: Evals | None) -> bool:
    """Return whether higher scores are better, of which only the scale says so."""
    low, high = (f.reduce(score, initial=np.nan) for f in (np.fmin, np.fmax))
    if not (low < 0.0 or high > 1.0):
        graded = ((score > 0.0) & (score < 1.0)).any()
        if metric != rows.unnamed_metric and (graded or normal(metric) not in EVAL_ROLES["score"]):
            rows.note(
                f"Higher {metric!r} counts as better, because its values are between 0 and 1.",
                shown=True,
            )
        return True
    if as_before is not None:
        before = as_before.score
        if np.nanmin(before) <= low and high <= np.nanmax(before):
            return as_before.higher_is_better
        if is_rating(score[np.isfinite(score)]):
            return True
    raise TableError(
        f"Cannot tell whether higher or lower {metric!r} is better: pass ",
        use(higher_is_better=True),
        " or ",
        use(higher_is_better=False),
        ".",
    )


def _with_prices(rows: EvalRows, price_list: dict[str, Price], evals: Evals) -> Floats:
    """Return the costs, with those that the log does not state from the prices."""
    cost = evals.cost.copy()
    # a cost of 0 for tokens that were used is not a statement
    tokens = np.nan_to_num(evals.tokens_in) + np.nan_to_num(evals.tokens_out)
    unstated = ~np.isfinite(cost) | ((cost == 0.0) & (tokens > 0))
    groups: dict[str, list[str]] = {"priced": [], "logged": [], "unknown": []}
    used = set()
    for code, name in enumerate(evals.models):
        names = (name, rows.bare_names.get(name, name))
        key = next((key for key in names if key in price_list), None)
        samples = evals.model == code
        if key is not None:
            used.add(key)
            some = samples & unstated
            groups["priced" if some.any() else "logged"].append(name)
            cost[some] = price_list[key].of(evals.tokens_in[some], evals.tokens_out[some])
        if not np.isfinite(cost[samples]).any():
            groups["unknown"].append(name)
    groups["unused"] = [name for name in price_list if name not in used]
    for group, sentence in {
        "priced": "Costs from your prices",
        "logged": "Costs from the log, which take precedence over your prices",
        "unknown": "Models without a known cost",
        "unused": "Prices of models that are not in the logs",
    }.items():
        if groups[group]:
            rows.note(f"{sentence}: {shortened(groups[group], 12)}.")
    return cost


EXAMPLE_EVALS = {
    "inspect-sums": "three mock models on 24 sums in eight passages, two epochs, by Inspect",
}
"""The example logs that come with the library, and their contents."""


def example_path(name: str) -> Path:
    """Return the folder of an example."""
    if name not in EXAMPLE_EVALS:
        raise UnknownNameError("example of logs", name, EXAMPLE_EVALS)
    return Path(__file__).with_name("examples") / name


def example_prices(name: str) -> Path:
    """Return the price file of an example."""
    return example_path(name).with_name(f"{name}-prices.csv")


def example_evals(name: str) -> Evals:
    """Read the logs of an example that comes with the library.

    Parameters
    ----------
    name : str
        ``"inspect-sums"``.

    Notes
    -----
    ``studies/make_example_evals.py`` wrote them by running Inspect with mock models.

    Examples
    --------
    >>> example_evals("inspect-sums").models
    ('mockllm/large', 'mockllm/medium', 'mockllm/small')
    """
    return read_evals(example_path(name), metric="match", prices=example_prices(name))
