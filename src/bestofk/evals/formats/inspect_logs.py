"""Inspect: ``.eval`` archives and ``.json`` logs.

An archive holds ``header.json`` (the run without its samples), ``summaries.json`` (a line or two
of every sample) and the samples. A run that crashed has neither, but ``_journal/start.json`` and
``_journal/summaries/N.json``. Samples are opened only for what the summaries lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted
from bestofk.evals.evals import AskedOfLogs, EvalRun, chosen, chosen_runs, nothing_asked_for
from bestofk.evals.rows import NAN, EvalRows, amount, inspect_number, value_at
from bestofk.evals.sources import JsonParts, Source, ZipMembers, loads

_START = "_journal/start.json"
_SUMMARY = re.compile(r"_journal/summaries/(\d{1,9})\.json")
_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d{1,9})(?:\.json|/sample\.json)", re.DOTALL)
_GENERATE = ("temperature", "top_p", "top_k", "max_tokens", "reasoning_effort",
             "reasoning_tokens", "system_message", "seed", "num_choices", "best_of",
             "frequency_penalty", "presence_penalty", "stop_seqs")  # fmt: skip


def is_inspect(source: Source) -> bool:
    """An archive with a header or a journal, or a JSON log."""
    if source.members:
        return "header.json" in source.members or _START in source.members
    keys = source.keys
    return "eval" in keys and "status" in keys and "task" in keys["eval"]


def read_inspect(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of logs."""
    runs = [_run(source, rows) for source in sources]
    wanted = [run for run in runs if asked.wants_task(run.task, run.task.split("/")[-1])]
    if not wanted:
        raise nothing_asked_for(asked.task, sorted({r.task for r in runs}), "task", "the logs")
    contents = _Inputs()
    for one in chosen_runs(wanted, rows.note):
        learner = rows.learner(one.learner, model=one.run.model)
        _read_run(one.run, learner, asked, rows, contents)
    contents.tell(rows)


def _run(source: Source, rows: EvalRows) -> EvalRun:
    """The header of a log as a run."""
    header = _header(source)
    spec = header.get("eval")
    if not isinstance(spec, Mapping) or not all(
        isinstance(spec.get(key), str) and spec[key] for key in ("model", "task")
    ):
        raise TableError(f"{source.name}: the log names no model and no task.")
    status = str(header.get("status") or "started")
    if status != "success":
        rows.note(
            f"{source.name}: the run did not come to its end (status {status!r}); what it wrote "
            "was read."
        )
    return EvalRun(
        model=spec["model"],
        task=spec["task"],
        time=str(spec.get("created") or ""),
        settings=_settings(spec),
        complete=status == "success",
        content=(source, header),
        where=source.name,
    )


def _header(source: Source) -> dict[str, Any]:
    if source.head[:2] == b"PK":
        with ZipMembers(source.path) as archive:
            name = "header.json" if "header.json" in archive else _START
            if name not in archive:
                raise TableError(f"{source.name}: the archive is no log of Inspect.")
            header = loads(archive.text(name), f"{source.name}: {name}")
    else:
        header = {}
        for path, value in JsonParts(source.text(), ("samples",), source.name):
            if path[-1] == "[]" and "eval" in header:
                break
            if path[0] != "samples":
                header[path[0]] = value
    if not isinstance(header, dict):
        raise TableError(f"{source.name}: the header must be an object.")
    return header


def _settings(spec: Mapping[str, Any]) -> dict[str, str]:
    """What makes another learner of the same model."""
    found: dict[str, Any] = {"solver": spec.get("solver")}
    for name, part in (
        ("solver", spec.get("solver_args_passed") or spec.get("solver_args")),
        ("task", spec.get("task_args_passed") or spec.get("task_args")),
        ("model", spec.get("model_args")),
    ):
        if isinstance(part, Mapping):
            found |= {f"{name}.{key}": value for key, value in part.items()}
    generate = spec.get("model_generate_config")
    if isinstance(generate, Mapping):
        found |= {key: generate.get(key) for key in _GENERATE}
    return {key: str(value)[:200] for key, value in found.items() if value not in (None, {}, [])}


class _Inputs:
    """Whether the same sample had the same input in every log."""

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.differ: set[int] = set()

    def see(self, item: int, value: Any) -> None:
        if isinstance(value, str):
            print_ = hash(value[:500])
            if self.first.setdefault(item, print_) != print_:
                self.differ.add(item)

    def tell(self, rows: EvalRows) -> None:
        if self.differ:
            rows.warn(
                f"The inputs of {counted(len(self.differ), 'sample')} of {len(self.first)} differ "
                "between logs under the same id: check that they are the same questions (a "
                "shuffled data set without ids, another version)."
            )


def _read_run(
    run: EvalRun, learner: int, asked: AskedOfLogs, rows: EvalRows, inputs: _Inputs
) -> None:
    source, header = run.content
    spec = header["eval"]
    metric: tuple[str, str] | None = None
    waiting: list[Mapping[str, Any]] = []
    done: set[tuple[str, int]] = set()

    def write(sample: Mapping[str, Any]) -> None:
        name, epoch = _id(sample, source)
        item = rows.item(
            run.task,
            name,
            cluster=None if asked.cluster is None else _cluster(sample, asked.cluster),
            where=source.name,
        )
        inputs.see(item, sample.get("input"))
        done.add((name, epoch))
        _add(sample, metric, learner, item, epoch, spec["model"], rows, source.name)

    for sample in _samples(source, asked):
        if metric is None:
            metric = _metric(sample, asked, source, run.task)
            if metric is None:
                waiting.append(sample)
                continue
            rows.metric("/".join(part for part in metric if part))
        if waiting:
            for one in waiting:
                write(one)
            waiting.clear()
        write(sample)
    names = {name for sample in waiting for name in _mapping(sample.get("scores"))}
    if names and asked.metric:
        raise nothing_asked_for(asked.metric, sorted(names), "metric", source.name)
    for one in waiting:
        write(one)
    _add_missing(spec, done, run, learner, rows)
    if not done:
        rows.note(f"{source.name}: the log holds no samples.")


def _add_missing(
    spec: Mapping[str, Any],
    done: set[tuple[str, int]],
    run: EvalRun,
    learner: int,
    rows: EvalRows,
) -> None:
    """Rows of the samples that were planned and are not in the log."""
    planned = _mapping(spec.get("dataset")).get("sample_ids")
    epochs = _mapping(spec.get("config")).get("epochs") or 1
    if not isinstance(planned, list) or not isinstance(epochs, int) or epochs > 10_000:
        return
    absent = 0
    for sample_id in planned:
        for epoch in range(1, epochs + 1):
            if (str(sample_id), epoch) not in done:
                absent += 1
                rows.add(learner, rows.item(run.task, str(sample_id)), epoch=epoch,
                         status="missing")  # fmt: skip
    if absent:
        rows.note(f"{run.where}: {counted(absent, 'sample')} planned and not in the log.")


def _samples(source: Source, asked: AskedOfLogs) -> Iterator[Mapping[str, Any]]:
    if source.head[:2] == b"PK":
        with ZipMembers(source.path) as archive:
            yield from _archived(archive, source, asked)
        return
    for path, value in JsonParts(source.text(), ("samples",), source.name):
        if path == ("samples", "[]"):
            if not isinstance(value, dict):
                raise TableError(f"{source.name}: a sample must be an object.")
            yield value


def _archived(
    archive: ZipMembers, source: Source, asked: AskedOfLogs
) -> Iterator[Mapping[str, Any]]:
    """Summaries, and the samples themselves where a summary lacks what is needed."""
    places = {}
    for name in archive.names:
        found = _SAMPLE.fullmatch(name)
        if found:
            places[found[1], int(found[2])] = name
    seen = set()
    for summary in _summaries(archive, source):
        key = _id(summary, source)
        if key in seen:
            continue
        seen.add(key)
        place = places.get(key)
        if place is not None and _lacks(summary, asked):
            yield _sample(archive, place, source)
        else:
            yield summary
    for key, place in places.items():
        if key not in seen:
            yield _sample(archive, place, source)


def _sample(archive: ZipMembers, place: str, source: Source) -> Mapping[str, Any]:
    value = loads(archive.text(place), f"{source.name}: {place!r:.120}")
    if not isinstance(value, dict):
        raise TableError(f"{source.name}: {place!r:.120} must be an object.")
    beside = f"{place.removesuffix('sample.json')}metadata.json"
    if place.endswith("/sample.json") and beside in archive and not value.get("metadata"):
        value["metadata"] = loads(archive.text(beside), f"{source.name}: {beside!r:.120}")
    return value


def _lacks(summary: Mapping[str, Any], asked: AskedOfLogs) -> bool:
    if "model_usage" not in summary and "working_time" not in summary:
        return True
    if not summary.get("scores") and not summary.get("error"):
        return True
    return asked.cluster is not None and _cluster(summary, asked.cluster) is None


def _summaries(archive: ZipMembers, source: Source) -> list[Any]:
    names = ["summaries.json"]
    if names[0] not in archive:
        journal = [(int(m[1]), m[0]) for m in map(_SUMMARY.fullmatch, archive.names) if m]
        names = [name for _, name in sorted(journal)]
    found: list[Any] = []
    for name in names:
        value = loads(archive.text(name), f"{source.name}: {name}")
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise TableError(f"{source.name}: {name} must be an array of summaries.")
        found += value
    return found


def _id(sample: Mapping[str, Any], source: Source) -> tuple[str, int]:
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    if not isinstance(name, str | int) or not isinstance(epoch, int) or not 0 < epoch < 1 << 31:
        raise TableError(f"{source.name}: a sample must have an id and an epoch from 1.")
    return str(name), epoch


def _metric(
    sample: Mapping[str, Any], asked: AskedOfLogs, source: Source, task: str
) -> tuple[str, str] | None:
    """Scorer and key within it; None where the sample does not tell."""
    scores = sample.get("scores")
    if not isinstance(scores, Mapping) or not scores:
        return None
    known: dict[str, tuple[str, str]] = {}
    several = False
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            several = True
            known |= {f"{scorer}/{key}": (scorer, str(key)) for key in value}
        elif isinstance(value, list):
            several = True
            known |= {f"{scorer}/{at}": (scorer, str(at)) for at in range(len(value))}
        else:
            known[scorer] = (scorer, "")
    if asked.metric:
        name = chosen(asked.metric, known, what="metric", where=source.name)
        return None if name is None else known[name]
    what = "metric" if not several else "value of a score that is a dictionary or a list"
    if several and len(known) > 1:
        names = list(known)
        raise TableError(
            f"{source.name} (task {task!r}): a score is a dictionary or a list; name the part to "
            f"compare by, such as metric={names[0]!r} (on the command line --metric {names[0]}); "
            f"there are {', '.join(names[:12])}."
        )
    name = chosen((), known, what=what, where=f"{source.name} (task {task!r})")
    return None if name is None else known[name]


def _value(sample: Mapping[str, Any], metric: tuple[str, str]) -> tuple[bool, float]:
    """Whether there is a score of the metric, and the number, NaN where it is none."""
    scorer, part = metric
    score = _mapping(sample.get("scores")).get(scorer)
    if score is None:
        return False, NAN
    value = score.get("value") if isinstance(score, dict) else score
    if part:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list):
            value = value[int(part)] if part.isdigit() and int(part) < len(value) else None
        else:
            value = None
    number = inspect_number(value)
    return True, NAN if number is None or not isfinite(number) else number


def _add(
    sample: Mapping[str, Any],
    metric: tuple[str, str] | None,
    learner: int,
    item: int,
    epoch: int,
    model: str,
    rows: EvalRows,
    where: str,
) -> None:
    usage = _mapping(_mapping(sample.get("model_usage")).get(model))
    there, score = _value(sample, metric) if metric is not None else (False, NAN)
    if sample.get("error"):
        status, score = "error", NAN
    elif sample.get("limit"):
        status = "limit"
    elif score == score:
        status = "scored"
    else:
        status = "unscored"
        if there:
            rows.count(
                f"{where}: {{n}} scores are no numbers (neither C, P, I, N, yes or no, nor a "
                "number) and count as unscored, not as 0."
            )
    time = amount(sample.get("working_time"))
    rows.add(
        learner,
        item,
        epoch=epoch,
        score=score,
        status=status,
        cost=amount(usage.get("total_cost")),
        latency=time if time == time else amount(sample.get("total_time")),
        tokens_in=_tokens_read(usage),
        tokens_out=amount(usage.get("output_tokens")),
    )


def _tokens_read(usage: Mapping[str, Any]) -> float:
    """All tokens that went in: Inspect counts those of the cache apart."""
    total = amount(usage.get("input_tokens"))
    for key in ("input_tokens_cache_read", "input_tokens_cache_write"):
        if usage.get(key):
            total = amount(usage[key]) + (total if total == total else 0.0)
    return total


def _cluster(sample: Mapping[str, Any], path: str) -> Any:
    found = value_at(sample.get("metadata"), path)
    return value_at(sample, path) if found is None else found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
