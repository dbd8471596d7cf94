"""Every Eval Ever: instance-level JSONL, one line per model, sample and result.

Schema 0.2 and 0.3 (``instance_level_eval.schema.json``). A sample that counts for several results
of its run (metrics, splits, perturbations) occurs once for each, with another
``evaluation_result_id``. The aggregate file names the metric of that id. The converters of the
project also write ``metadata.filter`` and ``metadata.lm_eval_metrics`` (lm-evaluation-harness,
which has the filter in ``evaluation_name`` too, and a score of 0 if no metric is a number) and
``metadata.epoch`` (Inspect).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofk._base.errors import TableError
from bestofk.evals.query import LogQuery, pick_name, unknown_name
from bestofk.evals.rows import NAN, EvalRows, amount, mapping, number_of, value_at
from bestofk.evals.sources import Source, each_line, loads, without_copies

_SCORE, _CORRECT = "score", "is_correct"


def is_every_eval_ever(source: Source) -> bool:
    """Return whether the first line has the required keys, or the file is an aggregate."""
    keys = source.keys
    return {"evaluation_id", "model_id", "sample_id"} <= set(keys) or _aggregate(source)


def _aggregate(source: Source) -> bool:
    return {"evaluation_id", "evaluation_results"} <= set(source.keys)


@dataclass(slots=True)
class _Seen:
    """The names in the logs, used or not."""

    tasks: set[str] = field(default_factory=set)
    metrics: dict[str, None] = field(default_factory=dict)
    filters: dict[str, None] = field(default_factory=dict)
    metric_of: dict[str, str] = field(default_factory=dict)
    filter_of: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, None] = field(default_factory=dict)


def read_every_eval_ever(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of instance files; aggregates name metrics and their direction."""
    sources = without_copies(sources, rows.note)
    results = _Results([source for source in sources if _aggregate(source)])
    seen = _Seen()
    for source in sources:
        if _aggregate(source):
            continue
        for number, record in each_line(source.path, source.name, rows.note):
            location = f"{source.name}: line {number}"
            if not isinstance(record, dict) or not isinstance(record.get("evaluation"), Mapping):
                raise TableError(f"{location} must be an object with evaluation.")
            _read(record, results, query, rows, seen, location)
    if not len(rows):
        for what, names in (
            ("task", sorted(seen.tasks)), ("filter", seen.filters), ("metric", seen.metrics),
        ):  # fmt: skip
            requested = getattr(query, what)
            if requested and not set(requested) & set(names):
                raise unknown_name(requested, names, what, "the logs")
    if seen.skipped:
        rows.note(f"Skipped, because you named others: {', '.join(map(repr, seen.skipped))}.")


def _read(
    record: Mapping[str, Any],
    results: _Results,
    query: LogQuery,
    rows: EvalRows,
    seen: _Seen,
    location: str,
) -> None:
    metadata = mapping(record.get("metadata"))
    name = str(record.get("evaluation_name") or "evaluation")
    filter_ = metadata.get("filter")
    filter_ = filter_ if isinstance(filter_, str) and filter_ != "none" else ""
    task = name.removesuffix(f"/{filter_}") if filter_ else name
    seen.tasks |= {task, name}
    if not query.wants_task(task, name):
        return
    if filter_:
        seen.filters[filter_] = None
        if query.filter:
            if filter_ not in query.filter:
                seen.skipped[filter_] = None
                return
        elif seen.filter_of.setdefault(task, filter_) != filter_ and name not in query.task:
            both = [seen.filter_of[task], filter_]
            pick_name((), both, what="filter", where=f"{location} (task {task!r})")
    line_metric, lower = results.of(record, name)
    metric, score = _metric(record, metadata, line_metric, query, seen)
    if metric is None:
        seen.skipped[line_metric] = None
        return
    before = seen.metric_of.setdefault(task, metric)
    if before != metric:
        pick_name((), [before, metric], what="metric", where=f"{location} (task {task!r})")
    rows.metric(metric, True if metric == _CORRECT else None if lower is None else not lower)
    _add(record, metadata, score, task, query, rows, location)


def _metric(
    record: Mapping[str, Any],
    metadata: Mapping[str, Any],
    line_metric: str,
    query: LogQuery,
    seen: _Seen,
) -> tuple[str | None, float]:
    """Return the metric of the line and its score; None if the user named others."""
    result = record["evaluation"]
    text = metadata.get("lm_eval_metrics")
    several = mapping(loads(text, "lm_eval_metrics")) if isinstance(text, str) else {}
    seen.metrics |= dict.fromkeys(
        (line_metric, *several, *((_CORRECT,) if _CORRECT in result else ()))
    )
    score = number_of(result.get(_SCORE))
    if several and not any(number_of(value) is not None for value in several.values()):
        score = None  # the converter writes 0 if it found no number
    for name in query.metric or (line_metric,):
        if name in (line_metric, record.get("evaluation_result_id")):
            return name, NAN if score is None else score
        if name in several or (name == _CORRECT and _CORRECT in result):
            number = number_of(several[name] if name in several else result[_CORRECT])
            return name, NAN if number is None else number
    return None, NAN


def _add(
    record: Mapping[str, Any],
    metadata: Mapping[str, Any],
    score: float,
    task: str,
    query: LogQuery,
    rows: EvalRows,
    location: str,
) -> None:
    name = record.get("sample_id")
    if not isinstance(name, str | int):
        raise TableError(f"{location}: sample_id must be a text.")
    cluster = None
    if query.cluster is not None:
        cluster = value_at(metadata, query.cluster)
        cluster = value_at(record, query.cluster) if cluster is None else cluster
    item = rows.item(
        task, str(name), cluster=cluster,
        # sample_hash covers the whole prompt, which chat templates change
        fingerprint=metadata.get("doc_hash") or record.get("sample_hash"),
        where=location.partition(": line")[0],
    )  # fmt: skip
    usage, speed = mapping(record.get("token_usage")), mapping(record.get("performance"))
    failed = bool(record.get("error"))
    epoch = metadata.get("epoch")
    # in logs converted from Inspect, latency_ms is the time not spent on the sample
    generation = speed.get("generation_time_ms")
    rows.add(
        rows.learner(record.get("model_id") or "(no name)"),
        item,
        epoch=int(epoch) if isinstance(epoch, str) and epoch.isdecimal() and len(epoch) < 9 else 0,
        score=NAN if failed else score,
        status="error" if failed else "scored",
        latency=amount(speed.get("latency_ms") if generation is None else generation) / 1000,
        tokens_in=amount(usage.get("input_tokens")),
        tokens_out=amount(usage.get("output_tokens")),
    )


class _Results:
    """The metric of each result in the aggregate files, and whether lower is better."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._by_id: dict[tuple[str, str], tuple[str, bool | None]] = {}
        self._by_name: dict[tuple[str, str], bool] = {}
        for source in sources:
            whole = source.json()
            results = whole.get("evaluation_results") if isinstance(whole, Mapping) else None
            for result in results if isinstance(results, list) else ():
                self._add(str(whole.get("evaluation_id")), mapping(result))

    def _add(self, run: str, result: Mapping[str, Any]) -> None:
        config = mapping(result.get("metric_config"))
        lower = config.get("lower_is_better")
        lower = lower if isinstance(lower, bool) else None
        result_id = result.get("evaluation_result_id")
        if isinstance(result_id, str):
            name = config.get("metric_id") or config.get("metric_name") or result_id
            self._by_id[run, result_id] = (str(name), lower)
        if lower is not None:
            self._by_name[run, str(result.get("evaluation_name"))] = lower

    def of(self, record: Mapping[str, Any], name: str) -> tuple[str, bool | None]:
        """Return the metric of a line, and whether lower is better."""
        run, result_id = str(record.get("evaluation_id")), record.get("evaluation_result_id")
        lower = self._by_name.get((run, name))
        if isinstance(result_id, str) and result_id:
            return self._by_id.get((run, result_id), (result_id, lower))
        return _SCORE, lower
