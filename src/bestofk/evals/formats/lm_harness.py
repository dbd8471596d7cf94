"""lm-evaluation-harness: the samples that ``--log_samples`` writes next to the results.

Since 0.4.3, ``results_TIME.json`` and ``samples_TASK_TIME.jsonl`` share a time; with
``--output_path x.json`` the results are in ``x_TIME.json``. From 0.4.0 to 0.4.2, the results are in
``results.json`` and the samples in ``MODELARGS_TASK.jsonl``, as one array. There is one row per
document **and filter**; before 0.4.7 the filters follow each other without a label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted, joined, shortened
from bestofk.evals.query import EvalRun, LogQuery, latest_runs, pick_name, unknown_name
from bestofk.evals.rows import ContentCheck, EvalRows, mapping, number_of, value_at
from bestofk.evals.sources import Source, each_line

_STAMP = re.compile(r"_?(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")
_FIELDS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
     "doc_hash", "prompt_hash", "target_hash", "scores_per_repeat")
)  # fmt: skip
_WITH_FILTER = re.compile(r'"[\w@./-]+_stderr,[\w.-]+"\s*:')
_NOT_METRICS = frozenset(("alias", "bypass", "name", "sample_len"))


def is_lm_harness(source: Source) -> bool:
    """Return whether the file has samples, or the results next to them."""
    keys = source.keys
    # a long prompt may fill the head before the answers
    if "doc_id" in keys and {"doc", "target", "arguments", "resps"} & set(keys):
        return True
    return _looks_like_results(source)


def _looks_like_results(source: Source) -> bool:
    keys = source.keys
    if "results" not in keys or not source.text_head.lstrip().startswith("{"):
        return False
    known = {"configs", "versions", "n-shot", "group_subtasks", "higher_is_better", "model_name"}
    if "evalId" in keys or source.text_head.count('"doc_id"'):
        return False
    # results of many tasks may fill the head; the names of their metrics contain the filter
    return bool(known & set(keys)) or bool(_WITH_FILTER.search(source.text_head))


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A results file."""

    source: Source
    stamp: str
    content: Mapping[str, Any]

    def of(self, part: str, task: str) -> Any:
        """Return a part of the results, for one task."""
        return mapping(self.content.get(part)).get(task)

    @property
    def model(self) -> str:
        """The name of the model, or its arguments."""
        name = self.content.get("model_name")
        if isinstance(name, str) and name.strip():
            return name
        config = mapping(self.content.get("config"))
        args = config.get("model_args")
        if isinstance(args, Mapping):
            args = ",".join(f"{key}={value}" for key, value in args.items())
        match = re.search(r"(?:^|,)(?:peft|delta|pretrained|model|path|engine)=([^,]+)", str(args))
        return match[1] if match else str(args or config.get("model") or self.source.name)

    def settings(self, task: str) -> dict[str, str]:
        """Return the settings that make another learner of the same model."""
        config = mapping(self.content.get("config"))
        settings: dict[str, Any] = {
            "model_args": config.get("model_args"),
            "gen_kwargs": config.get("gen_kwargs"),
            "shots": self.of("n-shot", task),
            "chat_template": self.content.get("chat_template_sha"),
            "system_prompt": self.content.get("system_instruction_sha"),
            "multiturn": self.content.get("fewshot_as_multiturn"),
        }
        return {
            key: str(value)[:200] for key, value in settings.items() if value not in (None, "", {})
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """A file of samples, its task, and its results."""

    source: Source
    task: str
    stamp: str
    results: Results | None
    metrics: list[str] = field(default_factory=list)
    """The metrics of its first sample."""


def read_lm_harness(sources: Sequence[Source], query: LogQuery, rows: EvalRows) -> None:
    """Write the rows of sample files."""
    query = _with_filters(query)
    results = [_results(source) for source in sources if _looks_like_results(source)]
    files = [source for source in sources if not _looks_like_results(source)]
    if not files:
        raise TableError(
            f"{sources[0].name}: lm-evaluation-harness wrote these results without samples; run it "
            "with --log_samples, and name the folder or the samples_*.jsonl files."
        )
    runs = []
    for source in files:
        samples = _samples(source, results)
        partner = samples.results
        if partner is None:
            rows.note(
                f"{source.name}: there is no results file, so the name of the folder or file is "
                "used as the name of the model."
            )
        runs.append(
            EvalRun(
                model=partner.model if partner else _model_by_path(samples),
                task=samples.task,
                time=samples.stamp,
                settings=partner.settings(samples.task) if partner else {},
                content=samples,
                where=source.name,
            )
        )
    selected = [run for run in runs if query.wants_task(run.task, *_groups(run))]
    if not selected:
        raise unknown_name(query.task, sorted({run.task for run in runs}), "task", "the logs")
    prompts = ContentCheck()
    skipped: dict[str, None] = {}
    for name, run in latest_runs(selected, rows.note):
        learner = rows.learner(name, model=run.model)
        if not _read_samples(run.content, learner, query, rows, prompts):
            skipped[run.task] = None
    for task in skipped:
        rows.note(f"Task {task!r} has none of {', '.join(query.metric)} and was skipped.")
    if skipped and not len(rows):
        names = {name for run in selected for name in run.content.metrics}
        raise unknown_name(query.metric, sorted(names), "metric", "the logs")
    if prompts.differing:
        rows.warn(
            f"The prompts of {counted(len(prompts.differing), 'item')} of {len(prompts.first)} "
            "differ between models (prompt_hash), for example by a chat template; the questions "
            "are the same."
        )


def _with_filters(query: LogQuery) -> LogQuery:
    """Split ``acc,none``, as the results name it, into the metric and its filter."""
    pairs = [name.partition(",") for name in query.metric]
    filters = [filter_ for _, _, filter_ in pairs if filter_]
    if not filters:
        return query
    metrics = tuple(dict.fromkeys(metric for metric, _, _ in pairs))
    return replace(query, metric=metrics, filter=tuple(dict.fromkeys((*query.filter, *filters))))


def _groups(run: EvalRun) -> list[str]:
    """Return the groups of tasks that contain the task, according to the results."""
    results = run.content.results
    if results is None:
        return []
    members = mapping(results.content.get("group_subtasks"))
    names, grew = [run.task], True
    while grew:
        more = [
            name
            for name, tasks in members.items()
            if name not in names and isinstance(tasks, list) and any(t in names for t in tasks)
        ]
        names, grew = names + more, bool(more)
    return names[1:]


def _results(source: Source) -> Results:
    content = source.json()
    if not isinstance(content, dict):
        raise TableError(f"{source.name} must be a JSON object.")
    return Results(source=source, stamp=_stamp(source.stem), content=content)


def _stamp(stem: str) -> str:
    match = _STAMP.search(stem)
    return match[1] if match else ""


def _samples(source: Source, known: list[Results]) -> Samples:
    stem = source.stem
    stamp = _stamp(stem)
    results = _partner(source, stamp, known)
    if stamp and stem.startswith("samples_"):
        task = _STAMP.sub("", stem.removeprefix("samples_"))
    else:
        tasks = sorted(mapping(results.content.get("configs")), key=len) if results else []
        # 0.4.0 to 0.4.2: MODELARGS_TASK
        task = next((name for name in reversed(tasks) if stem.endswith(f"_{name}")), stem)
    return Samples(source=source, task=task, stamp=stamp, results=results)


def _partner(source: Source, stamp: str, known: list[Results]) -> Results | None:
    """Return the results of the same time next to the samples, even if not named."""
    nearby = [results for results in known if results.source.path.parent == source.path.parent]
    for results in nearby:
        if stamp and results.stamp == stamp:
            return results
    if not stamp:
        unstamped = [results for results in nearby if not results.stamp]
        matches = [
            results for results in unstamped if source.stem.startswith(_model_args_name(results))
        ]
        if matches or len(unstamped) == 1:
            return (matches or unstamped)[0]
    # the user named only the samples
    pattern = f"*_{stamp}.json*" if stamp else "*.json"
    for path in sorted(source.path.parent.glob(pattern)):
        other = Source(path, named=False, root=source.root)
        if _looks_like_results(other):
            known.append(_results(other))
            return known[-1]
    return None


def _model_args_name(results: Results) -> str:
    """Return MODELARGS in the file names of 0.4.0 to 0.4.2."""
    args = mapping(results.content.get("config")).get("model_args")
    return re.sub("/|=", "__", str(args or "\0"))


def _model_by_path(samples: Samples) -> str:
    folder = samples.source.path.parent.name
    if samples.stamp and folder:
        return folder.replace("__", "/")
    return samples.source.stem


def _records(
    source: Source, note: Callable[[str], None]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the location and the content of each sample."""
    if source.text_head.lstrip().startswith("["):
        for number, value in enumerate(source.json(), start=1):
            yield f"{source.name}: sample {number}", value
        return
    for number, value in each_line(source.path, source.name, note):
        yield f"{source.name}: line {number}", value


def _read_samples(
    samples: Samples, learner: int, query: LogQuery, rows: EvalRows, prompts: ContentCheck
) -> bool:
    """Write the rows of one file; return False if it has none of the requested metrics."""
    task, results = samples.task, samples.results
    where = samples.source.name
    filters = _filters(samples)
    occurrences: Counter[Any] = Counter()
    metric: str | None = None
    selected: str | None = None
    others: set[str] = set()
    for location, record in _records(samples.source, rows.note):
        if not isinstance(record, dict) or "doc_id" not in record:
            raise TableError(f"{location} must be an object with doc_id.")
        doc_id = record["doc_id"]
        if isinstance(doc_id, list | dict):
            raise TableError(f"{location}: doc_id must be a number or a text.")
        if "filter" in record:
            filter_ = str(record["filter"])
        else:
            filter_ = filters[min(occurrences[doc_id], len(filters) - 1)]
            occurrences[doc_id] += 1
            if occurrences[doc_id] > len(filters):
                raise TableError(
                    f"{location}: document {doc_id} occurs {occurrences[doc_id]} times, but the "
                    f"results name {counted(len(filters), 'filter')}."
                )
        if metric is None:
            metric = _metric(record, samples, query, location)
            if metric is None:
                return False
            known = filters
            if "filter" in record and len(filters) < 2:
                known = [filter_] if results else _labels(samples)
            selected = pick_name(
                query.filter, known, what="filter", where=f"{where} (task {task!r})"
            )
            if selected is None:
                if list(known) != ["none"]:
                    raise unknown_name(query.filter, known, "filter", where)
                selected = known[0]
            direction = results.of("higher_is_better", task) if results else None
            stated = mapping(direction).get(metric)
            rows.metric(metric, stated if isinstance(stated, bool) else None)
        if filter_ != selected:
            others.add(filter_)
            continue
        code = rows.item(
            task,
            doc_id if type(doc_id) is str else str(doc_id),
            cluster=None if query.cluster is None else _cluster(record, query.cluster),
            fingerprint=record.get("doc_hash"),
            where=where,
        )
        prompts.add(code, record.get("prompt_hash"))
        _add(record, metric, learner, code, rows, location)
    if others:
        if not query.filter:  # the results file names one of several
            pick_name((), [str(selected), *sorted(others)], what="filter", where=where)
        rows.note(
            f"Task {task!r}: filter {selected!r} was used; the rows of "
            f"{joined(sorted(map(repr, others)))} were skipped."
        )
    if metric is None:
        rows.note(f"{where}: the file has no samples.")
    return True


def _labels(samples: Samples) -> list[str]:
    """Return the filters that label the rows of a file without results."""
    records = _records(samples.source, lambda _: None)
    labels = (str(record.get("filter")) for _, record in records if isinstance(record, Mapping))
    return list(dict.fromkeys(labels))


def _filters(samples: Samples) -> list[str]:
    """Return the filters in the order of their rows, or all that the results name."""
    if samples.results is None:
        return ["none"]
    config = samples.results.of("configs", samples.task)
    listed = mapping(config).get("filter_list")
    if isinstance(listed, list) and listed:
        return [
            str(mapping(entry).get("name", f"filter {number}"))
            for number, entry in enumerate(listed, 1)
        ]
    results = mapping(samples.results.of("results", samples.task))
    names = [key.partition(",")[2] for key in results if "," in key]
    return list(dict.fromkeys(name for name in names if name)) or ["none"]


def _metric(
    record: Mapping[str, Any], samples: Samples, query: LogQuery, location: str
) -> str | None:
    stated = record.get("metrics")
    names = (
        [str(name) for name in stated]
        if isinstance(stated, list)
        else [name for name in record if name not in _FIELDS]
    )
    names = [name for name in names if name in record and name not in _NOT_METRICS]
    samples.metrics[:] = names
    plain = [name for name in names if number_of(record[name]) is not None]
    lists = [name for name in names if isinstance(record[name], list | tuple | dict)]
    where = f"{samples.source.name} (task {samples.task!r})"
    if query.metric:
        metric = next((name for name in query.metric if name in names), None)
        if metric in lists:
            raise _several_numbers(location, str(metric), plain)
        return metric
    if not plain and lists:
        raise _several_numbers(location, lists[0], plain)
    return pick_name((), plain or names, what="metric", where=where)


def _several_numbers(location: str, metric: str, plain: list[str]) -> TableError:
    offer = f"; these are: {shortened(plain, 8)}" if plain else ""
    return TableError(
        f"{location}: {metric!r} is a pair or a list for each sample; choose a metric that is one "
        f"number per sample{offer}."
    )


def _add(
    record: Mapping[str, Any], metric: str, learner: int, item: int, rows: EvalRows, location: str
) -> None:
    repeats = mapping(record.get("scores_per_repeat")).get(metric)
    if isinstance(repeats, list) and repeats:
        for epoch, value in enumerate(repeats, start=1):
            rows.add(learner, item, epoch=epoch, score=_score(value, metric, location))
        return
    if metric not in record:
        rows.add(learner, item, epoch=1, status="unscored")
        return
    rows.add(learner, item, epoch=1, score=_score(record[metric], metric, location))


def _score(value: Any, metric: str, location: str) -> float:
    if value is None:
        return float("nan")
    number = number_of(value)
    if number is not None:
        return number
    if isinstance(value, list | tuple | dict):
        raise _several_numbers(location, metric, [])
    return float("nan")


def _cluster(record: Mapping[str, Any], path: str) -> Any:
    value = value_at(record, path)
    return value_at(record.get("doc"), path) if value is None else value
