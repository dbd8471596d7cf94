"""Inspect: ``.eval`` archives and ``.json`` logs.

An archive contains ``header.json`` (the run without its samples), ``summaries.json`` (a short
summary of every sample) and the samples. A crashed run has ``_journal/start.json`` and
``_journal/summaries/N.json`` instead. bestofk opens a sample only if its summary lacks something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from bestofk._base.errors import TableError, use
from bestofk._base.formatting import counted
from bestofk.data.tables.limits import check_expansion
from bestofk.evals.query import EvalRun, LogQuery, latest_runs, pick_name, unknown_name
from bestofk.evals.rows import (
    BYTES_PER_ROW,
    NAN,
    ContentCheck,
    EvalRows,
    amount,
    mapping,
    number_of,
    value_at,
)
from bestofk.evals.sources import JsonParts, Source, ZipMembers

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_START = "_journal/start.json"
_SUMMARY = re.compile(r"_journal/summaries/(\d{1,9})\.json")
_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d{1,9})(?:\.json|/sample\.json)", re.DOTALL)
_GENERATE = ("temperature", "top_p", "top_k", "max_tokens", "reasoning_effort",
             "reasoning_tokens", "system_message", "seed", "num_choices", "best_of",
             "frequency_penalty", "presence_penalty", "stop_seqs")  # fmt: skip


def inspect_number(value: Any) -> float | None:
    """Return an Inspect score as a number: C is 1, P is 0.5, I and N are 0; else as `number_of`.

    Examples
    --------
    >>> inspect_number("C"), inspect_number("N"), inspect_number("maybe")
    (1.0, 0.0, None)
    """
    if isinstance(value, str) and value in _GRADES:
        return _GRADES[value]
    return number_of(value)


def is_inspect(source: Source) -> bool:
    """Return whether the file is an archive with a header or a journal, or a JSON log."""
    if source.members:
        return "header.json" in source.members or _START in source.members
    keys = source.keys
    return "eval" in keys and "status" in keys and "task" in keys["eval"]


def read_inspect(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of logs."""
    runs = [_run(source, rows) for source in sources]
    selected = [run for run in runs if query.wants_task(run.task, run.task.split("/")[-1])]
    if not selected:
        raise unknown_name(query.task, sorted({r.task for r in runs}), "task", "the logs")
    inputs = ContentCheck()
    for name, run in latest_runs(selected, rows.note):
        _read_run(run, rows.learner(name, model=run.model), query, rows, inputs)
    if inputs.differing:
        rows.warn(
            f"The inputs of {counted(len(inputs.differing), 'sample')} of {len(inputs.first)} "
            "differ between logs under the same id: check that they are the same questions (a "
            "shuffled data set without ids, or another version)."
        )


def _run(source: Source, rows: EvalRows) -> EvalRun:
    """Return the run that the header of a log describes."""
    header = _header(source)
    spec = header.get("eval")
    if not isinstance(spec, Mapping) or not all(
        isinstance(spec.get(key), str) and spec[key] for key in ("model", "task")
    ):
        raise TableError(f"{source.name}: the log must name a model and a task.")
    status = str(header.get("status") or "started")
    if status != "success":
        rows.note(
            f"{source.name}: the run did not finish (status {status!r}); bestofk read what it "
            "wrote."
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
                raise TableError(f"{source.name}: the archive is not an Inspect log.")
            header = archive.json(name)
    else:
        header = {}
        for path, value in _parts(source):
            if path[-1] == "[]" and "eval" in header:
                break
            if path[0] != "samples":
                header[path[0]] = value
    if not isinstance(header, dict):
        raise TableError(f"{source.name}: the header must be an object.")
    return header


def _settings(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that make another learner of the same model."""
    settings: dict[str, Any] = {"solver": spec.get("solver")}
    for name, part in (
        ("solver", spec.get("solver_args_passed") or spec.get("solver_args")),
        ("task", spec.get("task_args_passed") or spec.get("task_args")),
        ("model", spec.get("model_args")),
    ):
        if isinstance(part, Mapping):
            settings |= {f"{name}.{key}": value for key, value in part.items()}
    generate = spec.get("model_generate_config")
    if isinstance(generate, Mapping):
        settings |= {key: generate.get(key) for key in _GENERATE}
    return {key: str(value)[:200] for key, value in settings.items() if value not in (None, {}, [])}


def _read_run(
    run: EvalRun, learner: int, query: LogQuery, rows: EvalRows, inputs: ContentCheck
) -> None:
    source, header = run.content
    spec = header["eval"]
    metric: tuple[str, str] | None = None
    unscored: list[Mapping[str, Any]] = []  # samples before the first with scores
    done: set[tuple[str, int]] = set()

    def write(sample: Mapping[str, Any]) -> None:
        name, epoch = _id(sample, source)
        item = rows.item(
            run.task,
            name,
            cluster=None if query.cluster is None else _cluster(sample, query.cluster),
            where=source.name,
        )
        text = sample.get("input")
        if isinstance(text, str):
            inputs.add(item, hash(text[:500]))
        done.add((name, epoch))
        _add(sample, metric, learner, item, epoch, spec["model"], rows, source.name)

    for sample in _samples(source, query):
        if metric is None:
            metric = _metric(sample, query, source, run.task)
            if metric is None:
                unscored.append(sample)
                continue
            rows.metric("/".join(part for part in metric if part))
            for earlier in unscored:
                write(earlier)
            unscored.clear()
        write(sample)
    names = {name for sample in unscored for name in mapping(sample.get("scores"))}
    if names and query.metric:
        raise unknown_name(query.metric, sorted(names), "metric", source.name)
    for sample in unscored:
        write(sample)
    _add_missing(spec, done, run, learner, rows, file_size=source.size)
    if not done:
        rows.note(f"{source.name}: the log has no samples.")


def _add_missing(
    spec: Mapping[str, Any],
    done: set[tuple[str, int]],
    run: EvalRun,
    learner: int,
    rows: EvalRows,
    *,
    file_size: int,
) -> None:
    """Add rows for the planned samples that are not in the log."""
    planned = mapping(spec.get("dataset")).get("sample_ids")
    epochs = mapping(spec.get("config")).get("epochs") or 1
    if not isinstance(planned, list) or not isinstance(epochs, int) or epochs > 10_000:
        return
    n_planned = len(planned) * max(epochs, 0)
    check_expansion(
        run.where,
        file_size=file_size,
        needed=n_planned * BYTES_PER_ROW,
        what=f"plans {n_planned} samples",
    )
    absent = 0
    for sample_id in planned:
        for epoch in range(1, epochs + 1):
            if (str(sample_id), epoch) not in done:
                absent += 1
                rows.add(learner, rows.item(run.task, str(sample_id)), epoch=epoch,
                         status="missing")  # fmt: skip
    if absent:
        rows.note(f"{run.where}: {counted(absent, 'sample')} planned but not in the log.")


def _samples(source: Source, query: LogQuery) -> Iterator[Mapping[str, Any]]:
    if source.head[:2] == b"PK":
        with ZipMembers(source.path) as archive:
            yield from _archived(archive, source, query)
        return
    for path, value in _parts(source):
        if path == ("samples", "[]"):
            if not isinstance(value, dict):
                raise TableError(f"{source.name}: a sample must be an object.")
            yield value


def _archived(archive: ZipMembers, source: Source, query: LogQuery) -> Iterator[Mapping[str, Any]]:
    """Yield the summaries, or the samples themselves if a summary lacks something."""
    members = {}
    for name in archive.names:
        match = _SAMPLE.fullmatch(name)
        if match:
            members[match[1], int(match[2])] = name
    seen = set()
    for summary in _summaries(archive, source):
        key = _id(summary, source)
        if key in seen:
            continue
        seen.add(key)
        member = members.get(key)
        if member is not None and _is_incomplete(summary, query):
            yield _sample(archive, member, source)
        else:
            yield summary
    for key, member in members.items():
        if key not in seen:
            yield _sample(archive, member, source)


def _sample(archive: ZipMembers, member: str, source: Source) -> Mapping[str, Any]:
    sample = archive.json(member)
    if not isinstance(sample, dict):
        raise TableError(f"{source.name}: {member!r:.120} must be an object.")
    metadata = f"{member.removesuffix('sample.json')}metadata.json"
    if member.endswith("/sample.json") and metadata in archive and not sample.get("metadata"):
        sample["metadata"] = archive.json(metadata)
    return sample


def _is_incomplete(summary: Mapping[str, Any], query: LogQuery) -> bool:
    if "model_usage" not in summary and "working_time" not in summary:
        return True
    if not summary.get("scores") and not summary.get("error"):
        return True
    return query.cluster is not None and _cluster(summary, query.cluster) is None


def _parts(source: Source) -> JsonParts:
    return JsonParts(source.text(), ("samples",), source.name, file_size=source.size)


def _summaries(archive: ZipMembers, source: Source) -> Iterator[dict[str, Any]]:
    names = ["summaries.json"]
    if names[0] not in archive:
        journal = [(int(m[1]), m[0]) for m in map(_SUMMARY.fullmatch, archive.names) if m]
        names = [name for _, name in sorted(journal)]
    for name in names:
        for summary in archive.elements(name):
            if not isinstance(summary, dict):
                raise TableError(f"{source.name}: {name} must be an array of summaries.")
            yield summary


def _id(sample: Mapping[str, Any], source: Source) -> tuple[str, int]:
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    if not isinstance(name, str | int) or not isinstance(epoch, int) or not 0 < epoch < 1 << 31:
        raise TableError(f"{source.name}: a sample must have an id and a positive epoch.")
    return str(name), epoch


def _metric(
    sample: Mapping[str, Any], query: LogQuery, source: Source, task: str
) -> tuple[str, str] | None:
    """Return the scorer and the key within its score; None if the sample has no such score."""
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
            known |= {f"{scorer}/{index}": (scorer, str(index)) for index in range(len(value))}
        else:
            known[scorer] = (scorer, "")
    if query.metric:
        name = pick_name(query.metric, known, what="metric", where=source.name)
        return None if name is None else known[name]
    if several and len(known) > 1:
        names = list(known)
        raise TableError(
            f"{source.name} (task {task!r}): a score is a dictionary or a list; name the part to "
            "compare by, such as ",
            use(metric=names[0]),
            f"; the parts are {', '.join(names[:12])}.",
        )
    name = pick_name((), known, what="metric", where=f"{source.name} (task {task!r})")
    return None if name is None else known[name]


def _value(sample: Mapping[str, Any], metric: tuple[str, str]) -> tuple[bool, float]:
    """Return whether the sample has the metric, and its number, NaN for anything else."""
    scorer, part = metric
    score = mapping(sample.get("scores")).get(scorer)
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
    usage = mapping(mapping(sample.get("model_usage")).get(model))
    has_score, score = _value(sample, metric) if metric is not None else (False, NAN)
    if sample.get("error"):
        status, score = "error", NAN
    elif sample.get("limit"):
        status = "limit"
    elif score == score:
        status = "scored"
    else:
        status = "unscored"
        if has_score:
            rows.count(
                f"{where}: {{n}} scores are not numbers (nor C, P, I, N, yes or no) and count as "
                "unscored, not as 0."
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
    """Return all input tokens; Inspect counts cached tokens separately."""
    total = amount(usage.get("input_tokens"))
    for key in ("input_tokens_cache_read", "input_tokens_cache_write"):
        if usage.get(key):
            total = amount(usage[key]) + (total if total == total else 0.0)
    return total


def _cluster(sample: Mapping[str, Any], path: str) -> Any:
    value = value_at(sample.get("metadata"), path)
    return value_at(sample, path) if value is None else value
