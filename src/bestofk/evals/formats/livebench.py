"""LiveBench: ``ground_truth_judgment.jsonl``, one line per model and question.

``gen_ground_truth_judgment.py`` writes a score of 0 for answers that were never judged.
``eval_status`` distinguishes an error (``api_error``, ``eval_error``, ``run_error``,
``eval_timeout``, ...) and a limit (``token_exhaustion``, ``run_limits_exceeded``) from a wrong
answer. The script keeps the last line of a model and question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.query import LogQuery, pick_name, unknown_name
from bestofk.evals.rows import NAN, EvalRows, number_of, value_at
from bestofk.evals.sources import Source, each_line

_ERRORS = {"api_error", "eval_error", "run_error", "run_no_trajectory", "eval_timeout"}
_LIMITS = {"token_exhaustion", "run_limits_exceeded"}


def is_livebench(source: Source) -> bool:
    """Return whether the first line is a judgment."""
    keys = set(source.keys)
    return {"question_id", "model", "score"} <= keys and bool(keys & {"tstamp", "category"})


def read_livebench(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of judgments; the latest of a model and question counts."""
    if pick_name(query.metric, ["score"], what="metric", where=sources[0].name) is None:
        raise unknown_name(query.metric, ["score"], "metric", sources[0].name)
    rows.metric("score", True)
    latest: dict[tuple[int, int], tuple[float, float, str]] = {}
    superseded = 0
    tasks: set[str] = set()
    for source in sources:
        for number, record in each_line(source.path, source.name, rows.note):
            location = f"{source.name}: line {number}"
            if not isinstance(record, Mapping) or not {"question_id", "model"} <= set(record):
                raise TableError(f"{location} must be an object with question_id and model.")
            task = str(record.get("task") or record.get("category") or "LiveBench")
            category = str(record.get("category") or "")
            tasks.add(task)
            if not query.wants_task(task, category):
                continue
            item = rows.item(
                task,
                str(record["question_id"]),
                cluster=None if query.cluster is None else value_at(record, query.cluster),
                where=source.name,
            )
            score = number_of(record.get("score"))
            cell = (rows.learner(record["model"]), item)
            time = number_of(record.get("tstamp")) or 0.0
            superseded += cell in latest
            if cell not in latest or time >= latest[cell][0]:
                status = _status(record)
                if score is None or status == "error":
                    score = NAN
                latest[cell] = (time, score, status)
    if query.task and not latest:
        raise unknown_name(query.task, sorted(tasks), "task", "the logs")
    for (learner, item), (_, score, status) in latest.items():
        rows.add(learner, item, epoch=1, score=score, status=status)
    if superseded:
        rows.note(
            f"{counted(superseded, 'judgment')} superseded by a later one of the same model and "
            "question."
        )


def _status(record: Mapping[str, Any]) -> str:
    status = record.get("eval_status")
    if isinstance(status, list | dict):
        return "error"
    if status in _LIMITS:
        return "limit"
    if status in _ERRORS or (record.get("error") and status is None):
        return "error"
    return "scored"
