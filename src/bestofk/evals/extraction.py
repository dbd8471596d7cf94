"""Apply the table of a format to documents: one engine for all formats."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted, shortened
from bestofk.evals.formats import Format, split_keys
from bestofk.evals.paths import Getter, Levels, each_row, getter, named_values, parse, step
from bestofk.evals.query import LogQuery, pick_metric
from bestofk.evals.rows import (
    AMOUNTS,
    GROUPS,
    NAN,
    STATUSES,
    EvalRows,
    amount,
    clean_name,
    number_of,
    value_at,
)
from bestofk.evals.sources import Source, file_names, is_copy

MAX_ITEM_LENGTH = 120
MAX_SETTING_LENGTH = 40
"""Characters of a setting in the name of a model; longer ones are numbered."""
_SHARED = {*GROUPS, "input", "question", "doc_hash"}
"""Keys of what several items may share."""
_SCORED, _ERROR, _LIMIT, _UNSCORED, _MISSING = range(len(STATUSES))


@dataclass(slots=True)
class _Block:
    """The rows of one file."""

    source: Source
    times: list[Any] = field(default_factory=list)
    """The time of the file, or of each row."""
    key: array[int] = field(default_factory=lambda: array("i"))
    item: array[int] = field(default_factory=lambda: array("i"))
    epoch: array[int] = field(default_factory=lambda: array("i"))
    status: array[int] = field(default_factory=lambda: array("b"))
    amounts: dict[str, array[float]] = field(
        default_factory=lambda: {name: array("d") for name in AMOUNTS}
    )
    scores: dict[str, tuple[array[int], array[float]]] = field(default_factory=dict)
    """The rows with a metric, and their values."""


class _ScorePaths(NamedTuple):
    """The parts of one or several paths, the name of the metric, and what to subtract."""

    parts: list[list[str]]
    name: str
    less: float


class FormatReader:
    """Read files of one format, then write their rows."""

    def __init__(self, entry: Format, query: LogQuery, rows: EvalRows) -> None:
        self.entry, self.query, self.rows = entry, query, rows
        self.blocks: list[_Block] = []
        self._copies: dict[str, dict[int, list[Source]]] = {}
        self.keys: dict[tuple[Any, ...], int] = {}
        """Models with their settings; a model is a name, or the file without one."""
        self.tasks_of_key: dict[tuple[int, str], None] = {}
        self.higher: dict[str, bool] = {}
        model = _texts(entry.model) if entry.model else None
        self._model, self._task = model, _texts(entry.task) if entry.task else None
        self._item = [_joined(path) for path in entry.item]
        self._variant = {name: getter(path) for name, path in entry.variant.items()}
        self._epoch = getter(entry.epoch)
        self._where = _condition(entry.where, all)
        self._error, self._limit = _condition(entry.error), _condition(entry.limit)
        self._cached = _condition(entry.cached)
        self._amounts = {
            name: _amount(getattr(entry, name), model) for name in AMOUNTS if getattr(entry, name)
        }
        self._scores = [_score_paths(path) for path in entry.score]
        self._cluster = [getter(path) for path in entry.cluster]
        self._group = getter(entry.group)
        self._shared: dict[str, dict[int, int]] = {}
        """Hashes of what items may share, by key and item."""
        self._timed_rows = bool(entry.time) and not entry.time[0].startswith("/")
        self._content, self._time = getter(entry.content), getter(entry.time)

    def read(self, source: Source, document: Any, path: str) -> None:
        """Read the rows of a file at a path, unless it is a copy of an earlier file."""
        entry, block = self.entry, _Block(source)
        match = re.search(entry.file, source.path.absolute().as_posix()) if entry.file else None
        named = {role: text for role, text in match.groupdict().items() if text} if match else {}
        model = named.get("model", "")
        if (model or entry.model) and not entry.time and is_copy(
            source, self._copies.setdefault(model, {})
        ):  # fmt: skip
            self.rows.note(f"{source.name} is a copy of another file and was skipped.")
            return
        for number, levels in enumerate(self._rows(document, path), start=1):
            if number == 1:
                block.times = [] if self._timed_rows else [self._when(levels, source)]
                self._note_directions(levels)
            if not self._where or self._where(levels):
                self._add(levels, named, block, f"{source.name}: row {number}")
        self.blocks.append(block)

    def _rows(self, document: Any, path: str) -> Iterator[Levels]:
        entry = self.entry
        if not entry.lists:
            for levels in each_row(document, path):
                if not isinstance(levels[-1][1], Mapping):
                    continue
                if entry.split:
                    levels = [*levels[:-1], (levels[-1][0], split_keys(levels[-1][1], entry.split))]
                yield levels
            return
        seen = set()
        for path, outcome in entry.lists.items():
            if path == "*":
                continue
            for levels in each_row(document, path):
                name = levels[-1][1]
                if isinstance(name, str) and name not in seen:
                    seen.add(name)
                    yield [levels[0], (None, {"item": name, "outcome": outcome})]

    def _add(self, levels: Levels, named: Mapping[str, str], block: _Block, where: str) -> None:
        entry, query, row = self.entry, self.query, levels[-1][1]
        task = named.get("task") or (self._task(levels) if self._task else None) or entry.called
        self.rows.seen_tasks.setdefault(task)
        if not query.wants_task(task):
            return
        name = named.get("item") or self._item_name(levels)
        if name is None:
            raise TableError(f"{where} has no {' or '.join(entry.item) or 'item'}.")
        model = named.get("model") or (self._model(levels) if self._model else None)
        variant = tuple(_setting(get(levels)) for get in self._variant.values())
        key = self.keys.setdefault((model or block.source, *variant), len(self.keys))
        self.tasks_of_key.setdefault((key, task))
        content = self._content(levels)
        at = len(block.key)
        block.item.append(
            self.rows.item(
                task, name, cluster=self._cluster_of(levels, name),
                content=None if content is None else _text(content)[:500],
                where=block.source.name,
            )
        )  # fmt: skip
        if query.cluster is None:
            self._note_shared(levels, block.item[-1])
        block.key.append(key)
        if self._timed_rows:
            block.times.append(self._when(levels, block.source))
        epoch = self._epoch(levels)
        number = number_of(epoch) if epoch is not None else None
        block.epoch.append(int(number) if number is not None and 0 <= number < 1 << 30 else -1)
        failed = bool(self._error and self._error(levels))
        status = _ERROR if failed else _SCORED
        if not failed and self._limit and self._limit(levels):
            status = _LIMIT
        outcome = row.get("outcome") if entry.lists else None
        if isinstance(outcome, str):
            status = STATUSES.index(outcome)
        block.status.append(status)
        cached = bool(self._cached and self._cached(levels))
        for role, values in block.amounts.items():
            get = self._amounts.get(role)
            value = NAN if get is None else get(levels)
            # 0 for a failed or cached call does not state its cost
            unknown = (failed or cached) and (not value or role == "latency")
            values.append(NAN if unknown else value)
        if entry.lists:
            named_scores = [(entry.metric, outcome)] if not isinstance(outcome, str) else []
        else:
            named_scores = [pair for paths in self._scores for pair in self._scores_at(row, paths)]
        for metric, outcome in named_scores:
            rows, values = block.scores.setdefault(metric, (array("i"), array("d")))
            rows.append(at)
            values.append(self._number(outcome, levels[-1][0]))

    def _scores_at(self, row: Any, paths: _ScorePaths) -> Iterator[tuple[str, Any]]:
        """Yield the metrics at a path, and their values."""
        metric, last = self.entry.metric, paths.parts[-1]
        if len(paths.parts) > 1:
            found = [step(row, parts) for parts in paths.parts]
            if all(value is not None for value in found):
                yield paths.name, min(map(self._number, found))
            return
        for name, holder, value in named_values(row, last):
            if metric:
                name = str(step(holder, parse(metric)) or name)
            yield name or paths.name, value - paths.less if paths.less and value else value

    def _number(self, value: Any, row: Any = "") -> float:
        words = self.entry.values
        if words and isinstance(value, str):
            word = value if value in words else f"{row}:{value}"
            if word in words:
                return float(words[word])
        number = number_of(value)
        return NAN if number is None else number

    def _item_name(self, levels: Levels) -> str | None:
        if self.entry.lists:
            return str(levels[-1][1]["item"])
        return next((name for get in self._item if (name := get(levels)) is not None), None)

    def _cluster_of(self, levels: Levels, item: str) -> Any:
        key = self.query.cluster
        if key is None:
            return self._group(levels)
        if key in self.entry.item_parts:
            match = re.search(self.entry.item_parts[key], item)
            return match[1] if match else None
        holders = [levels[-1][1], *(get(levels) for get in self._cluster)]
        values = (value_at(holder, key) for holder in holders)
        return next((value for value in values if value is not None), None)

    def _note_shared(self, levels: Levels, item: int) -> None:
        """Remember the document, or the text, of an item."""
        for holder in (levels[-1][1], *(get(levels) for get in self._cluster)):
            for key in _SHARED & holder.keys() if isinstance(holder, dict) else ():
                values, digest = self._shared.setdefault(key, {}), hash(_text(holder[key]))
                if values.setdefault(item, digest) != digest:
                    # a part of the answer
                    values[-1] = digest

    def _note_repeats(self) -> None:
        """Note what items share, the documents before the texts."""
        items = [name for _, name in self.rows.items]
        for key, pattern in self.entry.item_parts.items():
            parts = [re.search(pattern, name) for name in items]
            self.rows.note_repeats(key, [part[1] if part else None for part in parts])
        for key in sorted(self._shared, key=lambda key: key not in GROUPS):
            values = self._shared[key]
            if -1 not in values and len(values) == len(items):
                self.rows.note_repeats(key, values.values())

    def _note_directions(self, levels: Levels) -> None:
        if not self.entry.higher:
            return
        stated = getter(self.entry.higher)(levels)
        for name, value in stated.items() if isinstance(stated, dict) else ():
            for metric, higher in value.items() if isinstance(value, dict) else [(name, value)]:
                if isinstance(higher, bool):
                    self.higher[str(metric)] = higher

    def finish(self) -> None:
        """Name the models, choose the metrics, and write the rows."""
        blocks, rows = [block for block in self.blocks if len(block.key)], self.rows
        if not blocks:
            return
        learner_of = self._learners(blocks)
        if self.query.cluster is None:
            self._note_repeats()
        task_of = np.array(rows.item_task, dtype=np.int32)
        metric_of = self._metrics(blocks, task_of)
        # some tools count from 0; 0 leaves the counting to `rows`
        first = min((epoch for block in blocks for epoch in block.epoch if epoch >= 0), default=1)
        ranks = {
            time: at for at, time in enumerate(sorted({t for block in blocks for t in block.times}))
        }
        parts = []
        for block in blocks:
            item, key = np.array(block.item, np.int32), np.array(block.key, np.int32)
            score, has_score, keep = self._chosen_scores(block, task_of[item], metric_of)
            status = np.array(block.status, np.int8)
            epoch = np.array(block.epoch, np.int32)
            epoch = np.where(epoch < 0, 0, epoch + (first == 0)).astype(np.int32)
            lost = np.isin(status, (_ERROR, _MISSING))
            columns = {
                "learner": learner_of[key], "item": item, "epoch": epoch,
                "when": np.broadcast_to([ranks[time] for time in block.times], len(item)),
                "score": np.where(lost, NAN, score), "status": status,
                **{name: np.array(values) for name, values in block.amounts.items()},
            }  # fmt: skip
            parts.append({name: column[keep] for name, column in columns.items()})
            words = int((has_score & ~np.isfinite(score) & (status == _SCORED) & keep).sum())
            if words:
                rows.note(
                    f"{block.source.name}: {counted(words, 'score')} of other kinds than numbers "
                    "count as unscored, not as 0."
                )
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        if "*" in self.entry.lists:
            whole = self._with_absent(whole, float(self.entry.lists["*"]))
        if self.entry.time:
            latest = self._latest(whole)
            whole = {name: column[latest] for name, column in whole.items()}
        del whole["when"]
        rows.extend(
            whole.pop("learner"), whole.pop("item"), epoch=whole.pop("epoch"),
            score=whole.pop("score"), status=whole.pop("status"), **whole,
        )  # fmt: skip

    def _with_absent(self, columns: dict[str, Any], score: float) -> dict[str, Any]:
        """Add the items that only other models list."""
        items, learners = np.unique(columns["item"]), np.unique(columns["learner"])
        every = (learners[:, None].astype(np.int64) << 32 | items).ravel()
        absent = np.setdiff1d(every, columns["learner"].astype(np.int64) << 32 | columns["item"])
        more: dict[str, Any] = {
            name: np.full(len(absent), NAN if column.dtype.kind == "f" else 0, column.dtype)
            for name, column in columns.items()
        }
        more["learner"], more["item"] = (absent >> 32), (absent & 0xFFFFFFFF)
        more["score"] = np.full(len(absent), score)
        self.rows.note(
            f"{self.entry.called}: items that only other models list count as {score:g}; those "
            "that no model lists are unknown."
        )
        return {
            name: np.concatenate([column, more[name].astype(column.dtype)])
            for name, column in columns.items()
        }

    def _learners(self, blocks: Sequence[_Block]) -> Any:
        """Return the code of the learner of each key, and name those with different settings."""
        names = self._model_names(blocks)
        settings = list(self._variant)
        differing: dict[str, dict[int, None]] = {name: {} for name in names}
        first: dict[tuple[str, str], tuple[Any, ...]] = {}
        keys = list(self.keys)
        for key, task in self.tasks_of_key:
            before = first.setdefault((names[key], task), keys[key])
            for at in range(1, len(keys[key])):
                if before[at] != keys[key][at]:
                    differing[names[key]][at] = None
        stated = {block.source: block.source.model for block in blocks}
        model_of_key: dict[int, str | None] = {}
        for block in blocks:
            for key in dict.fromkeys(block.key):
                model_of_key.setdefault(key, stated[block.source])
        long: dict[str, dict[str, int]] = {}
        codes = []
        for key, (name, parts) in enumerate(zip(names, keys, strict=True)):
            ends = []
            for at in sorted(differing[name]):
                setting, value = settings[at - 1], parts[at] or "default"
                if len(value) > MAX_SETTING_LENGTH or not value.isprintable():
                    numbers = long.setdefault(setting, {})
                    ends.append(f"{setting} {numbers.setdefault(value, len(numbers) + 1)}")
                else:
                    ends.append(f"{setting}={value}")
            label = f"{name} ({', '.join(ends)})" if ends else name
            self.rows.model = model_of_key.get(key)
            codes.append(self.rows.learner(label, model=name))
        self.rows.model = None
        for name, places in differing.items():
            if places:
                called = ", ".join(sorted(settings[at - 1] for at in places))
                self.rows.note(f"Runs of {name!r} differ in {called}: each is a separate model.")
        return np.array(codes, dtype=np.int32)

    def _model_names(self, blocks: Sequence[_Block]) -> list[str]:
        unnamed = [block.source for block in blocks]
        by_file = dict(zip(unnamed, file_names(unnamed), strict=True))
        models = [key[0] for key in self.keys]
        return [by_file.get(model, "") if isinstance(model, Source) else model for model in models]

    def _metrics(self, blocks: Sequence[_Block], task_of: Any) -> dict[int, str]:
        """Return the metric of each task, by its code."""
        known: dict[int, dict[str, None]] = {}
        others: dict[int, dict[str, None]] = {}
        for block in blocks:
            item = np.array(block.item, np.int32)
            for name, (rows, values) in block.scores.items():
                tasks, numbers = task_of[item[np.array(rows)]], np.isfinite(np.array(values))
                for task in np.unique(tasks).tolist():
                    has = numbers[tasks == task].any()
                    (known if has else others).setdefault(task, {})[name] = None
        names = list(self.rows.tasks)
        metric_of = {}
        skipped = []
        for task in sorted({*known, *others}):
            metrics = list(known.get(task, ()))
            where = f"{self.entry.called}, task {names[task]!r}," if len(names) > 1 else (
                self.blocks[0].source.name)  # fmt: skip
            if not metrics:
                raise TableError(
                    f"{where} has no metric that is one number for each sample: "
                    f"{shortened(list(others[task]), 6)}."
                )
            metric = pick_metric(self.query.metric, metrics, where, self.entry.default)
            if metric is None:
                skipped.append(names[task])
                continue
            metric_of[task] = metric
            self.rows.metric(metric, self.higher.get(metric.partition(",")[0]))
            if len(metrics) > 1 and not self.query.metric:
                rest = [name for name in metrics if name != metric]
                self.rows.note(f"Compared by {metric!r}; other metrics: {shortened(rest, 6)}.")
        if skipped and not metric_of:
            everything = dict.fromkeys(name for each in known.values() for name in each)
            raise self.query.unknown_metric(everything, "the logs")
        for task in skipped:
            self.rows.note(
                f"Task {task!r} has none of {', '.join(self.query.metric)} and was skipped."
            )
        return metric_of

    def _chosen_scores(
        self, block: _Block, task: Any, metric_of: Mapping[int, str]
    ) -> tuple[Any, Any, Any]:
        """Return the scores, which rows have one, and the rows to keep.

        A row that has other metrics only is the answer to another question.
        """
        count = len(block.key)
        score = np.full(count, NAN)
        has_score, has_other = np.zeros(count, bool), np.zeros(count, bool)
        names = list(dict.fromkeys(metric_of.values()))
        chosen = np.full(int(task.max(initial=0)) + 1, -1)
        for code, metric in metric_of.items():
            if code < len(chosen):
                chosen[code] = names.index(metric)
        for metric, (at, values) in block.scores.items():
            index = np.array(at)
            has_other[index] = True
            if metric in names:
                own = chosen[task[index]] == names.index(metric)
                score[index[own]] = np.array(values)[own]
                has_score[index[own]] = True
        return score, has_score, has_score | ~has_other

    def _when(self, levels: Levels, source: Source) -> tuple[float, str, str]:
        """Return what sorts by time: a number or a text, then the name of the file."""
        time = self._time(levels)
        number = time if isinstance(time, int | float) else 0.0
        return number, _setting(time), source.name

    def _latest(self, columns: Mapping[str, Any]) -> Any:
        """Return the rows of the latest score of an item of a learner."""
        cell = columns["learner"].astype(np.int64) * len(self.rows.items) + columns["item"]
        when, span = columns["when"], int(columns["when"].max(initial=0)) + 1
        rank = when + np.isfinite(columns["score"]) * span
        _, code = np.unique(cell, return_inverse=True)
        best = np.full(int(code.max(initial=0)) + 1, -1, dtype=np.int64)
        np.maximum.at(best, code, rank)
        keep = best[code] % span == when
        if not keep.all():
            names = list(self.rows.learners)
            models = [repr(names[at]) for at in np.unique(columns["learner"][~keep])]
            self.rows.note(
                f"Several runs of {shortened(models, 4)}: of each item the latest score counts."
            )
        return keep


def _score_paths(text: str) -> _ScorePaths:
    text, _, less = text.partition(" - ")
    parts = [parse(part) for part in text.split(" & ")]
    keys = [part for part in parts[-1] if not re.fullmatch(r"-?\d+|\[\]", part)]
    return _ScorePaths(parts, keys[-1] if keys else "score", float(less or 0))


def _texts(paths: Sequence[str]) -> Callable[[Levels], str | None]:
    """Return the first value as a name."""
    get = getter(paths)

    def name(levels: Levels) -> str | None:
        value = get(levels)
        return value if type(value) is str and value else None if value in (None, "") else (
            clean_name(value))  # fmt: skip

    return name


def _joined(path: str) -> Callable[[Levels], str | None]:
    """Return the name of an item; a long text is shortened, with its digest."""
    parts = [getter(part.strip()) for part in path.split(" + ")]

    def name(levels: Levels) -> str | None:
        values = [get(levels) for get in parts]
        if values[0] is None:
            return None
        text = " ".join(_text(value) for value in values if value is not None)
        if len(text) <= MAX_ITEM_LENGTH:
            return text or None
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return f"{text[:MAX_ITEM_LENGTH]}... {digest}"

    return name


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True, default=str)
    return clean_name(value)


def _setting(value: Any) -> str:
    return "" if value in (None, "", {}, []) else _text(value)


def _condition(
    paths: Sequence[str], of: Callable[[Any], bool] = any
) -> Callable[[Levels], bool] | None:
    """Return a test for ``path``, which must be true, ``path=value`` or ``path!=value``."""
    if not paths:
        return None
    tests = []
    for text in paths:
        path, sign, value = re.fullmatch(r"(.*?)(?:(!?=)(.*))?", text).groups()  # type: ignore
        tests.append((getter(path), sign, value))

    def holds(levels: Levels) -> bool:
        return of(
            bool(get(levels)) if sign is None else (_setting(get(levels)) == value) == (sign == "=")
            for get, sign, value in tests
        )

    return holds


def _amount(paths: Sequence[str], model: Getter | None) -> Callable[[Levels], float]:
    """Return the first known sum of amounts."""
    sums = []
    for path in paths:
        path, _, divisor = path.partition(" / ")
        parts = [getter(part.strip(), model) for part in path.split(" + ")]
        sums.append((parts, float(divisor or 1)))

    def total(levels: Levels) -> float:
        for parts, divisor in sums:
            known = [value for get in parts if isfinite(value := amount(get(levels)))]
            if known:
                return sum(known) / divisor
        return NAN

    return total
