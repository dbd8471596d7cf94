"""OpenAI evals: the JSONL that ``oaieval`` records.

The first line has the specification of the run: the model (``completion_fns``) and the eval. The
other lines are events. ``match`` events say whether an answer is ``correct``; ``metrics`` events
hold other numbers; the last line is a report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bestofk.evals.query import EvalRun, LogQuery, latest_runs, pick_name, unknown_name
from bestofk.evals.rows import NAN, EvalRows, mapping, number_of, value_at
from bestofk.evals.sources import Source, each_line


def is_openai_evals(source: Source) -> bool:
    """Return whether the first line is the specification of a run."""
    return {"completion_fns", "eval_name"} <= source.keys.get("spec", frozenset())


def read_openai_evals(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of the latest run of each model on each eval."""
    runs = []
    for source in sources:
        run = _run(source, rows)
        if query.wants_task(run.task, str(mapping(run.content).get("base_eval"))):
            runs.append(run)
        else:
            rows.tasks.setdefault(run.task, len(rows.tasks))
    by_file = {source.name: source for source in sources}
    for learner, run in latest_runs(runs, rows.note):
        _read(by_file[run.where], learner, run.task, query, rows)


def _run(source: Source, rows: EvalRows) -> EvalRun:
    spec: Mapping[str, Any] = {}
    complete = False
    for _, record in each_line(source.path, source.name, rows.note):
        spec = spec or mapping(mapping(record).get("spec"))
        complete = complete or "final_report" in mapping(record)
    models = spec.get("completion_fns")
    return EvalRun(
        model=", ".join(map(str, models)) if isinstance(models, list) and models else source.stem,
        task=str(spec.get("eval_name")),
        time=str(spec.get("created_at")),
        complete=complete,
        content=spec,
        where=source.name,
    )


def _read(source: Source, learner: str, task: str, query: LogQuery, rows: EvalRows) -> None:
    events = [
        record
        for _, record in each_line(source.path, source.name, rows.note)
        if isinstance(record, Mapping) and record.get("sample_id") is not None
    ]
    scores = [(event, _scores(event)) for event in events]
    known = dict.fromkeys(name for _, each in scores for name in each)
    if not known:
        rows.note(f"{source.name}: the file has no scores.")
        return
    metric = pick_name(
        query.metric, known, what="metric", where=source.name, default=("correct", "accuracy")
    )
    if metric is None:
        raise unknown_name(query.metric, known, "metric", source.name)
    rows.metric(metric, True if metric in ("correct", "accuracy") else None)
    code = rows.learner(learner)
    scored: set[str] = set()
    for event, each in scores:
        if metric in each:
            scored.add(str(event["sample_id"]))
            rows.add(code, _item(event, task, query, rows, source), score=each[metric])
    for event in events:
        name = str(event["sample_id"])
        if name not in scored:
            scored.add(name)
            status = "error" if event.get("type") == "error" else "unscored"
            rows.add(code, _item(event, task, query, rows, source), score=NAN, status=status)


def _item(
    event: Mapping[str, Any], task: str, query: LogQuery, rows: EvalRows, source: Source
) -> int:
    cluster = None if query.cluster is None else value_at(event.get("data"), query.cluster)
    return rows.item(task, str(event["sample_id"]), cluster=cluster, where=source.name)


def _scores(event: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of an event that scores an answer."""
    data = mapping(event.get("data"))
    if event.get("type") == "match":
        data = {"correct": data.get("correct")}
    elif event.get("type") != "metrics":
        return {}
    numbers = {name: number_of(value) for name, value in data.items()}
    return {name: number for name, number in numbers.items() if number is not None}
