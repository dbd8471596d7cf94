"""Every Eval Ever: instance-level JSONL, one line per model, sample and result.

Schema 0.2 and 0.3 (``instance_level_eval.schema.json``). A sample that counts for several results
of its run (metrics, splits, perturbations) comes once for each, told apart by
``evaluation_result_id``; the aggregate file names the metric of that id. The converters of the
project write more: ``metadata.filter`` and ``metadata.lm_eval_metrics`` (lm-evaluation-harness,
which has the filter in ``evaluation_name`` too, and a score of 0 where no metric is a number) and
``metadata.epoch`` (Inspect).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofk._base.errors import TableError
from bestofk.evals.evals import AskedOfLogs, chosen, nothing_asked_for
from bestofk.evals.rows import NAN, EvalRows, amount, number_of, value_at
from bestofk.evals.sources import Source, each_line, loads, without_copies

_SCORE, _CORRECT = "score", "is_correct"


def is_every_eval_ever(source: Source) -> bool:
    """The first line has the keys that the schema requires; or the file is an aggregate of it."""
    keys = source.keys
    return {"evaluation_id", "model_id", "sample_id"} <= set(keys) or _aggregate(source)


def _aggregate(source: Source) -> bool:
    return {"evaluation_id", "evaluation_results"} <= set(source.keys)


@dataclass(slots=True)
class _Seen:
    """What the logs hold besides what is taken."""

    tasks: set[str] = field(default_factory=set)
    metrics: dict[str, None] = field(default_factory=dict)
    filters: dict[str, None] = field(default_factory=dict)
    metric_of: dict[str, str] = field(default_factory=dict)
    filter_of: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, None] = field(default_factory=dict)


def read_every_eval_ever(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of instance files; aggregates name metrics and say which way they point."""
    sources = without_copies(sources, rows.note)
    results = _Results([source for source in sources if _aggregate(source)])
    seen = _Seen()
    for source in sources:
        if _aggregate(source):
            continue
        for number, record in each_line(source.path, source.name, rows.note):
            place = f"{source.name}: line {number}"
            if not isinstance(record, dict) or not isinstance(record.get("evaluation"), Mapping):
                raise TableError(f"{place} must be an object with evaluation.")
            _read(record, results, asked, rows, seen, place)
    if not len(rows):
        for what, names in (
            ("task", sorted(seen.tasks)), ("filter", seen.filters), ("metric", seen.metrics),
        ):  # fmt: skip
            wanted = getattr(asked, what)
            if wanted and not set(wanted) & set(names):
                raise nothing_asked_for(wanted, names, what, "the logs")
    if seen.skipped:
        rows.note(f"Left out, since others were asked for: {', '.join(map(repr, seen.skipped))}.")


def _read(
    record: Mapping[str, Any],
    results: _Results,
    asked: AskedOfLogs,
    rows: EvalRows,
    seen: _Seen,
    place: str,
) -> None:
    metadata = _mapping(record.get("metadata"))
    name = str(record.get("evaluation_name") or "evaluation")
    filter_ = metadata.get("filter")
    filter_ = filter_ if isinstance(filter_, str) and filter_ != "none" else ""
    task = name.removesuffix(f"/{filter_}") if filter_ else name
    seen.tasks |= {task, name}
    if not asked.wants_task(task, name):
        return
    if filter_:
        seen.filters[filter_] = None
        if asked.filter:
            if filter_ not in asked.filter:
                seen.skipped[filter_] = None
                return
        elif seen.filter_of.setdefault(task, filter_) != filter_ and name not in asked.task:
            both = [seen.filter_of[task], filter_]
            chosen((), both, what="filter", where=f"{place} (task {task!r})")
    own, lower = results.of(record, name)
    metric, score = _metric(record, metadata, own, asked, seen)
    if metric is None:
        seen.skipped[own] = None
        return
    before = seen.metric_of.setdefault(task, metric)
    if before != metric:
        chosen((), [before, metric], what="metric", where=f"{place} (task {task!r})")
    rows.metric(metric, True if metric == _CORRECT else None if lower is None else not lower)
    _add(record, metadata, score, task, asked, rows, place)


def _metric(
    record: Mapping[str, Any],
    metadata: Mapping[str, Any],
    own: str,
    asked: AskedOfLogs,
    seen: _Seen,
) -> tuple[str | None, float]:
    """Which metric the line gives, and its score; None where others were asked for."""
    result = record["evaluation"]
    told = metadata.get("lm_eval_metrics")
    several = _mapping(loads(told, "lm_eval_metrics")) if isinstance(told, str) else {}
    seen.metrics |= dict.fromkeys((own, *several, *((_CORRECT,) if _CORRECT in result else ())))
    score = number_of(result.get(_SCORE))
    if several and not any(number_of(one) is not None for one in several.values()):
        score = None  # the converter writes 0 where it found no number
    found = NAN if score is None else score
    if not asked.metric:
        return own, found
    for name in asked.metric:
        if name in (own, record.get("evaluation_result_id")):
            return name, found
        if name in several:
            one = number_of(several[name])
            return name, NAN if one is None else one
        if name == _CORRECT and _CORRECT in result:
            right = number_of(result[_CORRECT])
            return name, NAN if right is None else right
    return None, NAN


def _add(
    record: Mapping[str, Any],
    metadata: Mapping[str, Any],
    score: float,
    task: str,
    asked: AskedOfLogs,
    rows: EvalRows,
    place: str,
) -> None:
    name = record.get("sample_id")
    if not isinstance(name, str | int):
        raise TableError(f"{place}: sample_id must be a text.")
    cluster = None
    if asked.cluster is not None:
        cluster = value_at(metadata, asked.cluster)
        cluster = value_at(record, asked.cluster) if cluster is None else cluster
    item = rows.item(
        task, str(name), cluster=cluster,
        # sample_hash is of the whole prompt, which chat templates change
        fingerprint=metadata.get("doc_hash") or record.get("sample_hash"),
        where=place.partition(": line")[0],
    )  # fmt: skip
    usage, speed = _mapping(record.get("token_usage")), _mapping(record.get("performance"))
    failed = bool(record.get("error"))
    epoch = metadata.get("epoch")
    # of Inspect, latency_ms is the time that was not spent on the sample
    spent = speed.get("generation_time_ms")
    rows.add(
        rows.learner(record.get("model_id") or "(no name)"),
        item,
        epoch=int(epoch) if isinstance(epoch, str) and epoch.isdecimal() and len(epoch) < 9 else 0,
        score=NAN if failed else score,
        status="error" if failed else "scored",
        latency=amount(speed.get("latency_ms") if spent is None else spent) / 1000,
        tokens_in=amount(usage.get("input_tokens")),
        tokens_out=amount(usage.get("output_tokens")),
    )


class _Results:
    """The results of aggregate files: the metric of each, and whether lower is better."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._by_id: dict[tuple[str, str], tuple[str, bool | None]] = {}
        self._by_name: dict[tuple[str, str], bool] = {}
        for source in sources:
            whole = source.json()
            results = whole.get("evaluation_results") if isinstance(whole, Mapping) else None
            for one in results if isinstance(results, list) else ():
                self._add(str(whole.get("evaluation_id")), _mapping(one))

    def _add(self, run: str, one: Mapping[str, Any]) -> None:
        config = _mapping(one.get("metric_config"))
        lower = config.get("lower_is_better")
        lower = lower if isinstance(lower, bool) else None
        result = one.get("evaluation_result_id")
        if isinstance(result, str):
            name = config.get("metric_id") or config.get("metric_name") or result
            self._by_id[run, result] = (str(name), lower)
        if lower is not None:
            self._by_name[run, str(one.get("evaluation_name"))] = lower

    def of(self, record: Mapping[str, Any], name: str) -> tuple[str, bool | None]:
        """The metric of a line, and whether lower is better."""
        run, result = str(record.get("evaluation_id")), record.get("evaluation_result_id")
        if isinstance(result, str) and result:
            found = self._by_id.get((run, result))
            if found is not None:
                return found
            return result, self._by_name.get((run, name))
        return _SCORE, self._by_name.get((run, name))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
