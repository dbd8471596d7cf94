"""LiveBench: ``ground_truth_judgment.jsonl``, one line per model and question.

``gen_ground_truth_judgment.py`` writes a score of 0 for what was never judged: ``eval_status``
tells an error (``api_error``, ``eval_error``, ``run_error``, ``eval_timeout``, ...) and a limit
(``token_exhaustion``, ``run_limits_exceeded``) from a wrong answer. Its script keeps the last line
of a model and question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.evals import AskedOfLogs, chosen, nothing_asked_for
from bestofk.evals.rows import NAN, EvalRows, number_of, value_at
from bestofk.evals.sources import Source, each_line

_ERRORS = {"api_error", "eval_error", "run_error", "run_no_trajectory", "eval_timeout"}
_LIMITS = {"token_exhaustion", "run_limits_exceeded"}


def is_livebench(source: Source) -> bool:
    """The first line is a judgment."""
    keys = set(source.keys)
    return {"question_id", "model", "score"} <= keys and bool(keys & {"tstamp", "category"})


def read_livebench(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of judgments; of several of one model and question the latest counts."""
    if chosen(asked.metric, ["score"], what="metric", where=sources[0].name) is None:
        raise nothing_asked_for(asked.metric, ["score"], "metric", sources[0].name)
    rows.metric("score", True)
    latest: dict[tuple[int, int], tuple[float, float, str]] = {}
    again = 0
    tasks: set[str] = set()
    for source in sources:
        for number, record in each_line(source.path, source.name, rows.note):
            place = f"{source.name}: line {number}"
            if not isinstance(record, Mapping) or not {"question_id", "model"} <= set(record):
                raise TableError(f"{place} must be an object with question_id and model.")
            task = str(record.get("task") or record.get("category") or "LiveBench")
            category = str(record.get("category") or "")
            tasks.add(task)
            if not asked.wants_task(task, category):
                continue
            item = rows.item(
                task,
                str(record["question_id"]),
                cluster=None if asked.cluster is None else value_at(record, asked.cluster),
                where=source.name,
            )
            score = number_of(record.get("score"))
            cell = (rows.learner(record["model"]), item)
            time = number_of(record.get("tstamp")) or 0.0
            again += cell in latest
            if cell not in latest or time >= latest[cell][0]:
                status = _status(record)
                known = score is not None and status != "error"
                latest[cell] = (time, score if known and score is not None else NAN, status)
    if asked.task and not latest:
        raise nothing_asked_for(asked.task, sorted(tasks), "task", "the logs")
    for (learner, item), (_, score, status) in latest.items():
        rows.add(learner, item, epoch=1, score=score, status=status)
    if again:
        rows.note(
            f"{counted(again, 'judgment')} of a model and question judged again: the latest counts."
        )


def _status(record: Mapping[str, Any]) -> str:
    told = record.get("eval_status")
    if told in _LIMITS:
        return "limit"
    if told in _ERRORS or (record.get("error") and told is None):
        return "error"
    return "scored"
