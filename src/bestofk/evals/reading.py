"""Logs of evaluations, whatever harness wrote them, as one value."""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.errors import BestOfKWarning, TableError, UnknownNameError
from bestofk._base.formatting import counted, joined, shortened
from bestofk._base.registry import resolve
from bestofk.evals.evals import AskedOfLogs, Evals, Names, names_asked
from bestofk.evals.prices import read_prices
from bestofk.evals.registry import EVAL_FORMATS, EvalFormat, in_turn
from bestofk.evals.rows import EvalRows
from bestofk.evals.sources import Source, find_sources

if TYPE_CHECKING:
    from bestofk.evals.evals import Evals

COLUMNS = (
    "learner", "item", "score", "status", "cost", "latency", "tokens_in", "tokens_out"
)  # fmt: skip
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def read_evals(
    paths: Paths,
    *,
    metric: Names = None,
    task: Names = None,
    filter: Names = None,
    cluster: str | None = None,
    prices: Any = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
) -> Evals:
    """Read the logs of evaluations of language models into one value.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, and folders that are searched for files. The format is found by the content:
        lm-evaluation-harness, Inspect, promptfoo, HELM, Every Eval Ever, SWE-bench, EvalPlus,
        LiveBench, or any table with one row per learner, item and epoch.
    metric : str or sequence of str, optional
        The score to compare by; of several, each task gives the first that it has. None: the only
        one, or the one that the harness itself puts first; where there are several, the error
        names them. For scores of Inspect that are dictionaries or lists: ``"scorer/key"``.
    task : str or sequence of str, optional
        The tasks to take; all when None.
    filter : str or sequence of str, optional
        The filter of lm-evaluation-harness, such as ``"strict-match"``, chosen like `metric`.
    cluster : str, optional
        What groups items that belong together (a passage, a repository, a template): a key of the
        document, of the metadata or of the variables, with dots for keys below; a column of a
        table; for SWE-bench ``"repo"``.
    prices : path or mapping, optional
        By model: prices for a million tokens in and out, or for a sample; see
        `bestofk.evals.prices.read_prices`. They count where the log states no cost.
    format : str, optional
        The name of a format in `EVAL_FORMATS`, for all files.
    columns : mapping, optional
        For tables: the column by role, out of model, task, item, cluster, epoch, score, cost,
        latency, status, tokens_in and tokens_out; those left out are found by their names.
    higher_is_better : bool, optional
        Which way the scores point. None: as the log says, else by the name of the metric, else
        higher is better; the account says which.

    Returns
    -------
    Evals
        Rows of learners, items and epochs, and an account of all that was taken, dropped and why.

    Raises
    ------
    TableError
        With one sentence: the file, and what is wrong with it.

    Notes
    -----
    Of several runs of a learner on a task the latest complete one counts. Items are paired by
    their task and name; where a log has hashes of their content and these differ between two
    learners, reading stops. Errors, samples that were stopped at a limit, samples without a score
    and wrong answers are four things; see `Evals.by_item`.

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
    >>> bk.order(evals.losses(), prefer=evals.costs()).best
    'mockllm/medium'
    """
    asked = AskedOfLogs(
        metric=names_asked(metric, "metric"),
        task=names_asked(task, "task"),
        filter=names_asked(filter, "filter"),
        cluster=cluster,
        columns={
            "learner" if role == "model" else role: column
            for role, column in (columns or {}).items()
        },
    )
    price_list = read_prices(prices)
    rows = EvalRows()
    for entry, sources in _by_format(find_sources(paths), format, rows).items():
        before = len(rows)
        resolve(EVAL_FORMATS[entry].function)(sources, asked, rows)
        rows.note(
            f"{EVAL_FORMATS[entry].called}: {counted(len(rows) - before, 'row')} from "
            f"{counted(len(sources), 'file')}."
        )
    if not len(rows):
        raise TableError(_nothing(asked, rows))
    evals = _as_evals(rows, asked, price_list, higher_is_better)
    for sentence in rows.warnings:
        warnings.warn(sentence, BestOfKWarning, stacklevel=2)
    return evals


def _nothing(asked: AskedOfLogs, rows: EvalRows) -> str:
    if asked.task:
        known = f": there are {shortened(list(rows.tasks), 12)}" if rows.tasks else ""
        return f"The logs hold no sample of task {joined(list(map(repr, asked.task)))}{known}."
    return "The logs hold no samples (were they written with the samples?)."


def _by_format(
    sources: Sequence[Source], format: str | None, rows: EvalRows
) -> dict[str, list[Source]]:
    """The files by the format that claims them; those that none claims are told."""
    found: dict[str, list[Source]] = defaultdict(list)
    if format is not None:
        entry = EVAL_FORMATS[format]
        claims = resolve(entry.recognise)
        for source in sources:
            if source.named or claims(source):
                found[entry.name].append(source)
        if not found:
            raise TableError(
                f"No file looks like {entry.called} ({entry.summary}); name the files themselves."
            )
        return found
    formats = [(entry, resolve(entry.recognise)) for entry in in_turn()]
    unknown: list[Source] = []
    tables: list[tuple[EvalFormat, Source]] = []
    for source in sources:
        claimed = next((entry for entry, claims in formats if claims(source)), None)
        if claimed is None:
            if source.named:
                raise TableError(_not_known(source))
            unknown.append(source)
        elif claimed.any_table and not source.named:
            tables.append((claimed, source))
        else:
            found[claimed.name].append(source)
    if not found:
        for entry, source in tables:
            found[entry.name].append(source)
    else:
        unknown += [source for _, source in tables]
    if not found:
        called = [entry.called for entry, _ in formats if not entry.any_table]
        raise TableError(
            f"None of {counted(len(sources), 'file')} ({shortened([s.name for s in sources], 4)}) "
            f"is a log of {', '.join(called)} or a table with one row per model and item."
        )
    if len(found) > 1:
        each = [
            f"{EVAL_FORMATS[name].called} ({counted(len(found[name]), 'file')})" for name in found
        ]
        rows.warn(
            f"The files are of {len(found)} formats, whose tasks are read together: "
            f"{joined(each)}; format=... takes one of them."
        )
    if unknown:
        unused = (
            f"Not used, being of no known format: {counted(len(unknown), 'file')} "
            f"({shortened([source.name for source in unknown], 4)})."
        )
        rows.note(unused)
        rows.unused.append(unused)
    return found


def _not_known(source: Source) -> str:
    if source.head[:4] == b"PK\x03\x04" and not source.members:
        return (
            f"{source.name}: the zip archive is damaged or cut off: its table of contents, at its "
            "end, cannot be read."
        )
    if not source.size:
        return f"{source.name}: the file is empty."
    if source.head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return f"{source.name} is UTF-16 text: save it as UTF-8."
    if source.is_binary:
        return f"{source.name} holds NUL characters: it is no text, or it is damaged."
    names = ", ".join(EVAL_FORMATS)
    return (
        f"{source.name}: the content is of no known format; pass format=... (on the command line "
        f"--format), one of {names}; tables with one row per fold or data set are for "
        "'bestofk order' "
        "(bestofk.read_losses)."
    )


def _as_evals(
    rows: EvalRows,
    asked: AskedOfLogs,
    price_list: dict[str, Any],
    higher_is_better: bool | None,
) -> Evals:
    epoch, keep = rows.settle_epochs()
    rows.tell_counts()
    metric, direction = _metric(rows, higher_is_better)
    of = {name: rows.column(name) for name in COLUMNS}
    if not keep.all():
        of = {name: column[keep] for name, column in of.items()}
        epoch = epoch[keep]
    learner, tokens_in, tokens_out = of["learner"], of["tokens_in"], of["tokens_out"]
    cost = of["cost"].copy() if price_list else of["cost"]
    _set_prices(rows, price_list, learner, cost, tokens_in, tokens_out)
    item_cluster = np.array(rows.item_cluster, dtype=np.int32)
    clusters = tuple(rows.clusters)
    if asked.cluster is not None:
        clusters = _cluster_all(rows, asked.cluster, item_cluster)
    else:
        item_cluster, clusters = np.arange(len(rows.items), dtype=np.int32), ()
    rows.tell_learners()
    return Evals(
        learners=tuple(rows.learners),
        tasks=tuple(rows.tasks),
        items=tuple(name for _, name in rows.items),
        clusters=clusters,
        item_task=np.array(rows.item_task, dtype=np.int32),
        item_cluster=item_cluster,
        learner=learner,
        item=of["item"],
        epoch=epoch,
        score=of["score"],
        cost=cost,
        latency=of["latency"],
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        status=of["status"],
        metric=metric,
        higher_is_better=direction,
        account=tuple(rows.account),
        unused=tuple(rows.unused),
    )


def _cluster_all(rows: EvalRows, asked: str, item_cluster: Any) -> tuple[str, ...]:
    """The names of the clusters; an item without one is its own."""
    names = list(rows.clusters)
    if not names:
        raise TableError(
            f"No sample has {asked!r}, which was to group the items: cluster must be a key of the "
            "document, of the metadata or of the variables, or a column."
        )
    alone = np.flatnonzero(item_cluster < 0)
    if len(alone):
        taken = set(names)
        items = list(rows.items)
        for code in alone:
            name = f"only {items[code][1]}"
            while name in taken:
                name += "'"
            taken.add(name)
            item_cluster[code] = len(names)
            names.append(name)
        rows.note(f"{counted(len(alone), 'item')} without {asked!r}: each is a cluster of its own.")
    rows.note(f"{counted(len(names), 'cluster')} of items by {asked!r}.")
    return tuple(names)


def _metric(rows: EvalRows, given: bool | None) -> tuple[str, bool]:
    from bestofk.losses.columns import direction_of

    name = " / ".join(rows.metrics) or "score"
    if given is not None:
        rows.note(f"Metric {name!r}: {'higher' if given else 'lower'} is better, as you say.")
        return name, bool(given)
    directions: dict[bool, str] = {}
    why = []
    for one, stated in rows.metrics.items():
        if stated is None:
            by_name = direction_of(one.split("/")[-1])
            known = by_name in ("loss", "score")
            stated = by_name != "loss"
            said = "by its name" if known else "nothing says otherwise"
        else:
            said = "as the log says"
        why.append(f"{one!r}: {'higher' if stated else 'lower'} is better ({said})")
        directions.setdefault(stated, one)
    if len(directions) > 1:
        raise TableError(
            f"Higher is better for {directions[True]!r} and lower for {directions[False]!r}: they "
            "cannot be one score; choose metric=... or task=..."
        )
    rows.note(f"Metric {'; '.join(why)}.")
    return name, next(iter(directions), True)


def _set_prices(
    rows: EvalRows,
    price_list: dict[str, Any],
    learner: Any,
    cost: Any,
    tokens_in: Any,
    tokens_out: Any,
) -> None:
    """Fill in the costs that the log does not state."""
    if not price_list:
        return
    used, priced, logged = set(), [], []
    for name, code in rows.learners.items():
        key = next((one for one in (name, rows.models.get(name, name)) if one in price_list), None)
        if key is None:
            continue
        used.add(key)
        tokens = np.nan_to_num(tokens_in) + np.nan_to_num(tokens_out)
        stated = np.isfinite(cost) & ~((cost == 0.0) & (tokens > 0))
        open_ = (learner == code) & ~stated
        if open_.any():
            cost[open_] = price_list[key].of(tokens_in[open_], tokens_out[open_])
            priced.append(name)
        else:
            logged.append(name)
    if priced:
        rows.note(f"Costs from your prices: {shortened(priced, 12)}.")
    if logged:
        rows.note(
            f"Costs as the log states them, which go before your prices: {shortened(logged, 12)}."
        )
    without = [
        name for name, code in rows.learners.items() if not np.isfinite(cost[learner == code]).any()
    ]
    if without:
        rows.note(f"No cost is known for {shortened(without, 12)}.")
    unused = [name for name in price_list if name not in used]
    if unused:
        rows.note(f"Prices of models that are not in the logs: {shortened(unused, 6)}.")


# Small sets of logs that come with the library, to try things on.


EXAMPLE_EVALS = {
    "inspect-sums": "three mock models on 24 sums in eight passages, two epochs, by Inspect",
}
"""The names, and what each holds."""


def example_path(name: str) -> Path:
    """The folder of an example."""
    if name not in EXAMPLE_EVALS:
        raise UnknownNameError("example of logs", name, EXAMPLE_EVALS)
    return Path(__file__).with_name("examples") / name


def example_prices(name: str) -> Path:
    """The file of prices that goes with an example."""
    return example_path(name).with_name(f"{name}-prices.csv")


def example_evals(name: str) -> Evals:
    """An embedded set of logs.

    Parameters
    ----------
    name : str
        ``"inspect-sums"``.

    Notes
    -----
    Made by running Inspect with mock models: ``studies/make_example_evals.py``.

    Examples
    --------
    >>> example_evals("inspect-sums").learners
    ('mockllm/large', 'mockllm/medium', 'mockllm/small')
    """
    return read_evals(example_path(name), metric="match", prices=example_prices(name))
