"""lm-evaluation-harness: the samples that ``--log_samples`` writes, next to their results.

From 0.4.3 on ``results_TIME.json`` and ``samples_TASK_TIME.jsonl`` share a time; with
``--output_path x.json`` the results are ``x_TIME.json``. From 0.4.0 to 0.4.2 the results are
``results.json`` and the samples ``MODELARGS_TASK.jsonl`` with one array. There is one row per
document **and filter**; before 0.4.7 the filters follow each other without a label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted, joined, shortened
from bestofk.evals.evals import AskedOfLogs, EvalRun, chosen, chosen_runs, nothing_asked_for
from bestofk.evals.rows import EvalRows, number_of, value_at
from bestofk.evals.sources import Source, each_line

_STAMP = re.compile(r"_?(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")
_FIELDS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
     "doc_hash", "prompt_hash", "target_hash", "scores_per_repeat")
)  # fmt: skip
_WITH_FILTER = re.compile(r'"[\w@./-]+_stderr,[\w.-]+"\s*:')
_NO_METRICS = frozenset(("alias", "bypass", "name", "sample_len"))


def is_lm_harness(source: Source) -> bool:
    """Samples, or the results next to them."""
    keys = source.keys
    # a long prompt may fill the head before the answers come
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
    # results of many tasks may fill the head: their metrics are named with the filter
    return bool(known & set(keys)) or bool(_WITH_FILTER.search(source.text_head))


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What a file of results says of all its samples."""

    source: Source
    stamp: str
    content: Mapping[str, Any]

    def of(self, part: str, task: str) -> Any:
        """A part of the results, for one task."""
        return _mapping(self.content.get(part)).get(task)

    @property
    def model(self) -> str:
        """The model, or what was said of it."""
        name = self.content.get("model_name")
        if isinstance(name, str) and name.strip():
            return name
        config = _mapping(self.content.get("config"))
        told = config.get("model_args")
        if isinstance(told, Mapping):
            told = ",".join(f"{key}={value}" for key, value in told.items())
        found = re.search(r"(?:^|,)(?:peft|delta|pretrained|model|path|engine)=([^,]+)", str(told))
        return found[1] if found else str(told or config.get("model") or self.source.name)

    def settings(self, task: str) -> dict[str, str]:
        """What makes another learner of the same model."""
        config = _mapping(self.content.get("config"))
        told: dict[str, Any] = {
            "model_args": config.get("model_args"),
            "gen_kwargs": config.get("gen_kwargs"),
            "shots": self.of("n-shot", task),
            "chat_template": self.content.get("chat_template_sha"),
            "system_prompt": self.content.get("system_instruction_sha"),
            "multiturn": self.content.get("fewshot_as_multiturn"),
        }
        return {key: str(value)[:200] for key, value in told.items() if value not in (None, "", {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """A file of samples, its task, and the results that go with it."""

    source: Source
    task: str
    stamp: str
    results: Results | None
    seen: dict[str, Any] = field(default_factory=dict)


def read_lm_harness(sources: Sequence[Source], asked: AskedOfLogs, rows: EvalRows) -> None:
    """Write the rows of files of samples."""
    asked = _with_filters(asked)
    results = [_results(source) for source in sources if _looks_like_results(source)]
    files = [source for source in sources if not _looks_like_results(source)]
    if not files:
        raise TableError(
            f"{sources[0].name}: these are results of lm-evaluation-harness without samples; run "
            "it with --log_samples, and name the folder or the samples_*.jsonl files."
        )
    runs = []
    for source in files:
        one = _samples(source, results)
        if one.results is None:
            rows.note(
                f"{source.name}: no results file goes with it, so the name of its folder or file "
                "stands for the model."
            )
        runs.append(
            EvalRun(
                model=one.results.model if one.results else _model_by_place(one),
                task=one.task,
                time=one.stamp,
                settings=one.results.settings(one.task) if one.results else {},
                content=one,
                where=source.name,
            )
        )
    tasks = {run.task for run in runs}
    wanted = [run for run in runs if asked.wants_task(run.task, *_groups(run))]
    if not wanted:
        raise nothing_asked_for(asked.task, sorted(tasks), "task", "the logs")
    prompts = _Prompts()
    lacking: Counter[str] = Counter()
    for pick in chosen_runs(wanted, rows.note):
        learner = rows.learner(pick.learner, model=pick.run.model)
        if not _read_samples(pick.run.content, learner, asked, rows, prompts):
            lacking[pick.run.task] += 1
    for task in lacking:
        rows.note(f"Task {task!r} has none of {', '.join(asked.metric)} and was left out.")
    if lacking and not len(rows):
        names = {name for run in wanted for name in run.content.seen.get("metrics", ())}
        raise nothing_asked_for(asked.metric, sorted(names), "metric", "the logs")
    prompts.tell(rows)


def _with_filters(asked: AskedOfLogs) -> AskedOfLogs:
    """``acc,none``, as the results name it, is the metric and its filter."""
    pairs = [name.partition(",") for name in asked.metric]
    filters = [filter_ for _, _, filter_ in pairs if filter_]
    if not filters:
        return asked
    metrics = tuple(dict.fromkeys(metric for metric, _, _ in pairs))
    return replace(asked, metric=metrics, filter=tuple(dict.fromkeys((*asked.filter, *filters))))


def _groups(run: EvalRun) -> list[str]:
    """Groups of tasks that the task is part of; they exist in the results alone."""
    results = run.content.results
    if results is None:
        return []
    members = _mapping(results.content.get("group_subtasks"))
    found, grown = [run.task], True
    while grown:
        more = [
            name
            for name, tasks in members.items()
            if name not in found and isinstance(tasks, list) and any(t in found for t in tasks)
        ]
        found, grown = found + more, bool(more)
    return found[1:]


def _results(source: Source) -> Results:
    content = source.json()
    if not isinstance(content, dict):
        raise TableError(f"{source.name} must be a JSON object.")
    return Results(source=source, stamp=_stamp(source.stem), content=content)


def _stamp(stem: str) -> str:
    found = _STAMP.search(stem)
    return found[1] if found else ""


def _samples(source: Source, known: list[Results]) -> Samples:
    stem = source.stem
    stamp = _stamp(stem)
    results = _partner(source, stamp, known)
    if stamp and stem.startswith("samples_"):
        task = _STAMP.sub("", stem.removeprefix("samples_"))
    else:
        tasks = sorted(_mapping(results.content.get("configs")), key=len) if results else []
        # 0.4.0 to 0.4.2: MODELARGS_TASK
        task = next((name for name in reversed(tasks) if stem.endswith(f"_{name}")), stem)
    return Samples(source=source, task=task, stamp=stamp, results=results)


def _partner(source: Source, stamp: str, known: list[Results]) -> Results | None:
    """The results of the same time next to the samples, whether or not they were named."""
    here = [one for one in known if one.source.path.parent == source.path.parent]
    for one in here:
        if stamp and one.stamp == stamp:
            return one
    if not stamp:
        plain = [one for one in here if not one.stamp]
        fitting = [one for one in plain if source.stem.startswith(_old_name(one))]
        if fitting or len(plain) == 1:
            return (fitting or plain)[0]
    # the user named the samples only
    pattern = f"*_{stamp}.json*" if stamp else "*.json"
    for path in sorted(source.path.parent.glob(pattern)):
        other = Source(path, named=False, root=source.root)
        if _looks_like_results(other):
            known.append(_results(other))
            return known[-1]
    return None


def _old_name(results: Results) -> str:
    told = _mapping(results.content.get("config")).get("model_args")
    return re.sub("/|=", "__", str(told or "\0"))


def _model_by_place(one: Samples) -> str:
    folder = one.source.path.parent.name
    if one.stamp and folder:
        return folder.replace("__", "/")
    return one.source.stem


class _Prompts:
    """Whether the learners were asked with the same words."""

    def __init__(self) -> None:
        self.first: dict[int, Any] = {}
        self.differ: set[int] = set()

    def see(self, item: int, prompt_hash: Any) -> None:
        if prompt_hash is not None and self.first.setdefault(item, prompt_hash) != prompt_hash:
            self.differ.add(item)

    def tell(self, rows: EvalRows) -> None:
        if self.differ:
            rows.warn(
                f"The prompts of {counted(len(self.differ), 'item')} of {len(self.first)} differ "
                "between models (prompt_hash; chat templates do that): the questions are the "
                "same, the words around them are not."
            )


def _records(one: Samples, rows: EvalRows | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and content of each sample."""
    source = one.source
    if source.text_head.lstrip().startswith("["):
        values = source.json()
        for number, value in enumerate(values, start=1):
            yield f"{source.name}: sample {number}", value
        return
    for number, value in each_line(
        source.path, source.name, _say_nothing if rows is None else rows.note
    ):
        yield f"{source.name}: line {number}", value


def _say_nothing(_: str) -> None:
    """The second reading of a file has nothing new to say."""


def _read_samples(
    one: Samples, learner: int, asked: AskedOfLogs, rows: EvalRows, prompts: _Prompts
) -> bool:
    """Write the rows of one file; False where it has none of the metrics that were asked for."""
    task, results = one.task, one.results
    where = one.source.name
    blocks = _block_names(one)
    turn: Counter[Any] = Counter()
    metric: str | None = None
    wanted: str | None = None
    others: set[str] = set()
    for place, record in _records(one, rows):
        if not isinstance(record, dict) or "doc_id" not in record:
            raise TableError(f"{place} must be an object with doc_id.")
        doc_id = record["doc_id"]
        if isinstance(doc_id, list | dict):
            raise TableError(f"{place}: doc_id must be a number or a text.")
        if "filter" in record:
            filter_ = str(record["filter"])
        else:
            filter_ = blocks[min(turn[doc_id], len(blocks) - 1)]
            turn[doc_id] += 1
            if turn[doc_id] > len(blocks):
                raise TableError(
                    f"{place}: document {doc_id} comes {turn[doc_id]} times, and the results name "
                    f"{counted(len(blocks), 'filter')}."
                )
        if metric is None:
            metric = _metric(record, one, asked, place)
            if metric is None:
                return False
            known = blocks
            if "filter" in record and len(blocks) < 2:
                known = [filter_] if results else _labels(one)
            wanted = chosen(asked.filter, known, what="filter", where=f"{where} (task {task!r})")
            if wanted is None:
                if list(known) != ["none"]:
                    raise nothing_asked_for(asked.filter, known, "filter", where)
                wanted = known[0]
            direction = results.of("higher_is_better", task) if results else None
            stated = _mapping(direction).get(metric)
            rows.metric(metric, stated if isinstance(stated, bool) else None)
        if filter_ != wanted:
            others.add(filter_)
            continue
        code = rows.item(
            task,
            doc_id if type(doc_id) is str else str(doc_id),
            cluster=None if asked.cluster is None else _cluster(record, asked.cluster),
            fingerprint=record.get("doc_hash"),
            where=where,
        )
        prompts.see(code, record.get("prompt_hash"))
        _add(record, metric, learner, code, rows, place)
    if others:
        if not asked.filter:  # the results file names one of several
            chosen((), [str(wanted), *sorted(others)], what="filter", where=where)
        rows.note(
            f"Task {task!r}: filter {wanted!r} was taken; the rows of "
            f"{joined(sorted(map(repr, others)))} were left out."
        )
    if metric is None:
        rows.note(f"{where}: the file holds no samples.")
    return True


def _labels(one: Samples) -> list[str]:
    """The filters that label the rows of a file without results."""
    found = dict.fromkeys(
        str(record.get("filter"))
        for _, record in _records(one, None)
        if isinstance(record, Mapping)
    )
    return list(found)


def _block_names(one: Samples) -> list[str]:
    """The filters in the order of their blocks, or all that the results know."""
    config = one.results.of("configs", one.task) if one.results else None
    listed = _mapping(config).get("filter_list")
    if isinstance(listed, list) and listed:
        return [
            str(_mapping(entry).get("name", f"filter {at}")) for at, entry in enumerate(listed, 1)
        ]
    found = one.results.of("results", one.task) if one.results else None
    names = [key.partition(",")[2] for key in _mapping(found) if "," in key]
    return list(dict.fromkeys(name for name in names if name)) or ["none"]


def _metric(record: Mapping[str, Any], one: Samples, asked: AskedOfLogs, place: str) -> str | None:
    stated = record.get("metrics")
    names = (
        [str(name) for name in stated]
        if isinstance(stated, list)
        else [name for name in record if name not in _FIELDS]
    )
    names = [name for name in names if name in record and name not in _NO_METRICS]
    one.seen["metrics"] = names
    plain = [name for name in names if number_of(record[name]) is not None]
    lists = [name for name in names if isinstance(record[name], list | tuple | dict)]
    where = f"{one.source.name} (task {one.task!r})"
    if asked.metric:
        found = next((name for name in asked.metric if name in names), None)
        if found in lists:
            raise _several_numbers(place, str(found), plain)
        return found
    if not plain and lists:
        raise _several_numbers(place, lists[0], plain)
    return chosen((), plain or names, what="metric", where=where)


def _several_numbers(place: str, metric: str, plain: list[str]) -> TableError:
    offer = f"; these are: {shortened(plain, 8)}" if plain else ""
    return TableError(
        f"{place}: {metric!r} is a pair or a list for each sample (its total is no mean of "
        f"samples), so samples cannot be compared by it; choose a metric that is one number per "
        f"sample{offer}."
    )


def _add(
    record: Mapping[str, Any], metric: str, learner: int, item: int, rows: EvalRows, place: str
) -> None:
    repeats = _mapping(record.get("scores_per_repeat")).get(metric)
    if isinstance(repeats, list) and repeats:
        for epoch, value in enumerate(repeats, start=1):
            rows.add(learner, item, epoch=epoch, score=_score(value, metric, place))
        return
    if metric not in record:
        rows.add(learner, item, epoch=1, status="unscored")
        return
    rows.add(learner, item, epoch=1, score=_score(record[metric], metric, place))


def _score(value: Any, metric: str, place: str) -> float:
    if value is None:
        return float("nan")
    found = number_of(value)
    if found is not None:
        return found
    if isinstance(value, list | tuple | dict):
        raise _several_numbers(place, metric, [])
    return float("nan")


def _cluster(record: Mapping[str, Any], path: str) -> Any:
    found = value_at(record, path)
    return value_at(record.get("doc"), path) if found is None else found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
