"""Every Eval Ever: instance-level JSONL, one line per model and sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bestofk.errors import TableError
from bestofk.evals.asked import AskedOfLogs, chosen, nothing_asked_for
from bestofk.evals.json_text import each_line
from bestofk.evals.rows import NAN, EvalRows
from bestofk.evals.score_values import amount, number_of, value_at
from bestofk.evals.sources import Source


def is_every_eval_ever(source: Source) -> bool:
    """The first line has the keys that the schema requires; or the file is an aggregate of it."""
    keys = source.keys
    return {"evaluation_id", "model_id", "sample_id"} <= set(keys) or _aggregate(source)


def _aggregate(source: Source) -> bool:
    return {"evaluation_id", "evaluation_results"} <= set(source.keys)


def read_every_eval_ever(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of instance files; aggregates tell which way a score points."""
    lower = _lower_is_better([source for source in sources if _aggregate(source)])
    tasks: set[str] = set()
    metric: str | None = None
    for source in sources:
        if _aggregate(source):
            continue
        for number, record in each_line(source.path, source.name, rows.note):
            place = f"{source.name}: line {number}"
            if not isinstance(record, dict) or not isinstance(record.get("evaluation"), Mapping):
                raise TableError(f"{place} must be an object with evaluation.")
            task = str(record.get("evaluation_name") or "evaluation")
            tasks.add(task)
            if not asked.wants_task(task):
                continue
            result = record["evaluation"]
            if metric is None:
                known = [name for name in ("score", "is_correct") if name in result]
                metric = chosen(asked.metric, known, what="metric", where=place, default=("score",))
                if metric is None:
                    raise nothing_asked_for(asked.metric, known, "metric", place)
            direction = lower.get((str(record.get("evaluation_id")), task))
            rows.metric(
                metric,
                True if metric == "is_correct" else None if direction is None else not direction,
            )
            _add(record, result, metric, task, asked, rows, place)
    if asked.task and not len(rows):
        raise nothing_asked_for(asked.task, sorted(tasks), "task", "the logs")


def _add(
    record: Mapping[str, Any],
    result: Mapping[str, Any],
    metric: str,
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
        cluster = value_at(record.get("metadata"), asked.cluster)
        cluster = value_at(record, asked.cluster) if cluster is None else cluster
    item = rows.item(
        task, str(name), cluster=cluster, fingerprint=record.get("sample_hash"),
        where=place.partition(": line")[0],
    )  # fmt: skip
    usage, speed = _mapping(record.get("token_usage")), _mapping(record.get("performance"))
    failed = bool(record.get("error"))
    score = number_of(result.get(metric))
    rows.add(
        rows.learner(record.get("model_id") or "(no name)"),
        item,
        score=NAN if failed or score is None else score,
        status="error" if failed else "scored",
        latency=amount(speed.get("latency_ms")) / 1000,
        tokens_in=amount(usage.get("input_tokens")),
        tokens_out=amount(usage.get("output_tokens")),
    )


def _lower_is_better(sources: Sequence[Source]) -> dict[tuple[str, str], bool]:
    found: dict[tuple[str, str], bool] = {}
    for source in sources:
        whole = source.json()
        results = whole.get("evaluation_results") if isinstance(whole, Mapping) else None
        for one in results if isinstance(results, list) else ():
            config = _mapping(_mapping(one).get("metric_config"))
            if isinstance(config.get("lower_is_better"), bool):
                key = (str(whole.get("evaluation_id")), str(one.get("evaluation_name")))
                found[key] = config["lower_is_better"]
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
