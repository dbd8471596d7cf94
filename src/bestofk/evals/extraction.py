"""Apply the table of a format to documents: one engine for all formats."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bestofk._base.errors import TableError
from bestofk._base.formatting import counted, shortened
from bestofk.evals.formats import Format, split_keys
from bestofk.evals.paths import (
    Getter,
    Levels,
    each_row,
    getter,
    is_constant,
    named_values,
    parse,
    step,
)
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
MAX_COMPARED = 10_000
"""Rows of a file whose documents and texts are compared."""
MAX_SETTING_LENGTH = 40
"""Characters of a setting in the name of a model; longer ones are numbered."""
_SHARED = {*GROUPS, "input", "question", "doc_hash"}
"""Keys of what several items may share."""
_SCORED, _ERROR, _LIMIT, _UNSCORED, _MISSING = range(len(STATUSES))


@dataclass(slots=True)
class _Block:
    """The rows of one file."""

    source: Source
    roles: Mapping[str, str]
    """What the path of the file says: model, task or item."""
    task: str | None = None
    """The task of all rows, if it is one."""
    fixed_key: int | None = None
    """The model of all rows, if it is one."""
    times: list[Any] = field(default_factory=list)
    """The time of the file, or of each row."""
    key: array[int] = field(default_factory=lambda: array("i"))
    item: array[int] = field(default_factory=lambda: array("i"))
    epoch: array[int] = field(default_factory=lambda: array("i"))
    status: array[int] = field(default_factory=lambda: array("b"))
    amounts: dict[str, array[float]] = field(default_factory=dict)
    scores: dict[str, tuple[array[int], array[float]]] = field(default_factory=dict)
    """The rows with a metric, and their values."""


class FormatReader:
    """Read files of one format, then write their rows."""

    def __init__(self, entry: Format, query: LogQuery, rows: EvalRows) -> None:
        if entry.lists:
            entry = replace(entry, item=("item",), score=(entry.metric,), metric="")
        self.entry, self.query, self.rows = entry, query, rows
        self.blocks: list[_Block] = []
        self._copies: dict[str, dict[int, list[Source]]] = {}
        self.keys: dict[tuple[Any, ...], int] = {}
        """Models with their settings; a model is a name, or the file without one."""
        self.tasks_of_key: dict[tuple[int, str], None] = {}
        self.higher: dict[str, bool] = {}
        self._model, self._task = _name(entry.model), _name(entry.task)
        self._items = [_item(path) for path in entry.item]
        self._variant = {name: getter(path) for name, path in entry.variant.items()}
        self._epoch = getter(entry.epoch)
        self._where = _condition(entry.where, all)
        self._error, self._limit = _condition(entry.error, any), _condition(entry.limit, any)
        self._cached = _condition(entry.cached, any)
        self._file_model: str | None = None
        model = (lambda _: self._file_model) if is_constant(entry.model) else self._model
        self._amounts = {
            role: _amount(paths, model) for role in AMOUNTS if (paths := getattr(entry, role))
        }
        self._scores = [_scores(path, entry.metric) for path in entry.score]
        self._values: dict[str | float, float] = {k: float(v) for k, v in entry.values.items()}
        numbers = [word for word in entry.values if re.fullmatch(r"-?\d+", word)]
        self._values |= {float(word): self._values[word] for word in numbers}
        self._clusters = [getter(path) for path in entry.cluster]
        self._group = getter(entry.group)
        self._shared: dict[str, dict[int, int]] = {}
        """Hashes of what items may share, by key and item."""
        self._content, self._time = getter(entry.content), getter(entry.time)
        self._timed_rows = not is_constant(entry.time)
        self._one_model = is_constant(entry.model) and all(map(is_constant, entry.variant.values()))

    def read(self, source: Source, document: Any, path: str) -> None:
        """Read the rows of a file at a path, unless it is a copy of an earlier file."""
        entry = self.entry
        match = re.search(entry.file, source.path.absolute().as_posix()) if entry.file else None
        block = _Block(source, match.groupdict() if match else {})
        block.amounts = {role: array("d") for role in self._amounts}
        model = block.roles.get("model") or ""
        if (model or entry.model) and not entry.time and is_copy(
            source, self._copies.setdefault(model, {})
        ):  # fmt: skip
            self.rows.note(f"{source.name} is a copy of another file and was skipped.")
            return
        for number, levels in enumerate(self._rows(document, path)):
            if not number and not self._begin(block, levels):
                return
            if self._where is None or self._where(levels):
                self._add(levels, block)
        self.blocks.append(block)

    def _rows(self, document: Any, path: str) -> Iterator[Levels]:
        entry = self.entry
        if not entry.lists:
            for levels in each_row(document, path):
                key, row = levels[-1]
                if entry.split:
                    row = split_keys(row, entry.split)
                if isinstance(row, dict):
                    yield [*levels[:-1], (key, row)] if entry.split else levels
            return
        seen = set()
        for path, outcome in entry.lists.items():
            for levels in each_row(document, path):
                name = levels[-1][1]
                if isinstance(name, str) and name not in seen:
                    seen.add(name)
                    role = "status" if isinstance(outcome, str) else entry.score[0]
                    yield [levels[0], (None, {"item": name, role: outcome})]

    def _begin(self, block: _Block, levels: Levels) -> bool:
        """Set what is the same in all rows; return whether to read them."""
        entry = self.entry
        self._file_model = self._model(levels)
        if not self._timed_rows:
            block.times = [self._when(levels, block.source)]
        block.task = block.roles.get("task")
        if block.task is None and is_constant(entry.task):
            block.task = self._task(levels) or entry.called
        if block.task is not None:
            self.rows.seen_tasks.setdefault(block.task)
            if not self.query.wants_task(block.task):
                return False
        if self._one_model and block.task is not None:
            block.fixed_key = self._key(levels, block, block.task)
        stated = getter(entry.higher)(levels) if entry.higher else None
        for name, value in stated.items() if isinstance(stated, dict) else ():
            for metric, higher in value.items() if isinstance(value, dict) else [(name, value)]:
                if isinstance(higher, bool):
                    self.higher[str(metric)] = higher
        return True

    def _key(self, levels: Levels, block: _Block, task: str) -> int:
        """Return the code of a model with its settings."""
        model = block.roles.get("model") or self._model(levels) or block.source
        settings = [_setting(get(levels)) for get in self._variant.values()]
        key = self.keys.setdefault((model, *settings), len(self.keys))
        self.tasks_of_key.setdefault((key, task))
        return key

    def _add(self, levels: Levels, block: _Block) -> None:
        row = levels[-1][1]
        task = block.task
        if task is None:
            task = self._task(levels) or self.entry.called
            self.rows.seen_tasks.setdefault(task)
            if not self.query.wants_task(task):
                return
        name = block.roles.get("item")
        for get in self._items:
            name = get(levels) if name is None else name
        if name is None:
            raise TableError(f"{block.source.name}: a row has no {' or '.join(self.entry.item)}.")
        key = block.fixed_key
        block.key.append(self._key(levels, block, task) if key is None else key)
        content = self._content(levels) if self.entry.content else None
        block.item.append(
            self.rows.item(
                task, name, cluster=self._cluster_of(levels, name),
                content=None if content is None else _text(content)[:500],
                where=block.source.name,
            )
        )  # fmt: skip
        if self.query.cluster is None and len(block.key) < MAX_COMPARED:
            self._note_shared(levels, block.item[-1])
        if self._timed_rows:
            block.times.append(self._when(levels, block.source))
        epoch = self._epoch(levels)
        number = epoch if type(epoch) is int else number_of(epoch)
        block.epoch.append(int(number) if number is not None and 0 <= number < 1 << 30 else -1)
        status = _SCORED
        if self._error is not None and self._error(levels):
            status = _ERROR
        elif self._limit is not None and self._limit(levels):
            status = _LIMIT
        elif self.entry.lists and "status" in row:
            status = STATUSES.index(row["status"])
        block.status.append(status)
        unsure = status == _ERROR or (self._cached is not None and self._cached(levels))
        for role, values in block.amounts.items():
            value = self._amounts[role](levels)
            # 0 for a failed or cached call does not state its cost
            values.append(NAN if unsure and (not value or role == "latency") else value)
        at = len(block.key) - 1
        for scores in self._scores:
            for metric, value in scores(row):
                known = block.scores.get(metric)
                if known is None:
                    known = block.scores[metric] = (array("i"), array("d"))
                known[0].append(at)
                known[1].append(self._number(value, levels[-1][0]))

    def _number(self, value: Any, row: Any) -> float:
        words = self._values
        if type(value) is float:
            return words.get(value, value)
        if words and isinstance(value, str):
            word = value if value in words else f"{row}:{value}"
            if word in words:
                return words[word]
        number = number_of(value)
        return NAN if number is None else number

    def _cluster_of(self, levels: Levels, item: str) -> Any:
        key = self.query.cluster
        if key is None:
            return self._group(levels)
        if key in self.entry.item_parts:
            match = re.search(self.entry.item_parts[key], item)
            return match[1] if match else None
        holders = [levels[-1][1], *(get(levels) for get in self._clusters)]
        values = (value_at(holder, key) for holder in holders)
        return next((value for value in values if value is not None), None)

    def _note_shared(self, levels: Levels, item: int) -> None:
        """Remember the document, or the text, of an item."""
        for holder in (levels[-1][1], *(get(levels) for get in self._clusters)):
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

    def finish(self) -> None:
        """Name the models, choose the metrics, and write the rows."""
        blocks, rows = [block for block in self.blocks if len(block.key)], self.rows
        if not blocks:
            return
        model_of = self._model_codes(blocks)
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
                "model": model_of[key], "item": item, "epoch": epoch,
                "when": np.broadcast_to([ranks[time] for time in block.times], len(item)),
                "score": np.where(lost, NAN, score), "status": status,
                **{role: np.array(values) for role, values in block.amounts.items()},
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
            whole.pop("model"), whole.pop("item"), epoch=whole.pop("epoch"),
            score=whole.pop("score"), status=whole.pop("status"), **whole,
        )  # fmt: skip

    def _with_absent(self, columns: dict[str, Any], score: float) -> dict[str, Any]:
        """Add the items that only other models list."""
        items, models = np.unique(columns["item"]), np.unique(columns["model"])
        every = (models[:, None].astype(np.int64) << 32 | items).ravel()
        absent = np.setdiff1d(every, columns["model"].astype(np.int64) << 32 | columns["item"])
        more: dict[str, Any] = {
            name: np.full(len(absent), NAN if column.dtype.kind == "f" else 0, column.dtype)
            for name, column in columns.items()
        }
        more["model"], more["item"] = (absent >> 32), (absent & 0xFFFFFFFF)
        more["score"] = np.full(len(absent), score)
        self.rows.note(
            f"{self.entry.called}: items that only other models list count as {score:g}; those "
            "that no model lists are unknown."
        )
        return {
            name: np.concatenate([column, more[name].astype(column.dtype)])
            for name, column in columns.items()
        }

    def _model_codes(self, blocks: Sequence[_Block]) -> Any:
        """Return the code of the model of each key, and name those with different settings."""
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
            self.rows.stated_model = model_of_key.get(key)
            codes.append(self.rows.model(label, bare=name))
        self.rows.stated_model = None
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
        """Return the rows of the latest score of an item of a model."""
        cell = columns["model"].astype(np.int64) * len(self.rows.items) + columns["item"]
        when, span = columns["when"], int(columns["when"].max(initial=0)) + 1
        rank = when + np.isfinite(columns["score"]) * span
        _, code = np.unique(cell, return_inverse=True)
        best = np.full(int(code.max(initial=0)) + 1, -1, dtype=np.int64)
        np.maximum.at(best, code, rank)
        keep = best[code] % span == when
        if not keep.all():
            names = list(self.rows.models)
            models = [repr(names[at]) for at in np.unique(columns["model"][~keep])]
            self.rows.note(
                f"Several runs of {shortened(models, 4)}: of each item the latest score counts."
            )
        return keep


def _name(paths: Sequence[str]) -> Callable[[Levels], str | None]:
    """Return a function that returns the first value as a name."""
    get = getter(paths)

    def name(levels: Levels) -> str | None:
        value = get(levels)
        if type(value) is str:
            return value or None
        return None if value is None else clean_name(value)

    return name


def _item(path: str) -> Callable[[Levels], str | None]:
    """Return a function that returns the name of an item; a long one is cut, with its digest."""
    parts = [getter(part) for part in path.split(" + ")]
    first, others = parts[0], parts[1:]

    def name(levels: Levels) -> str | None:
        value = first(levels)
        if value is None:
            return None
        text = _text(value)
        for get in others:
            value = get(levels)
            text += "" if value is None else f" {_text(value)}"
        if len(text) <= MAX_ITEM_LENGTH:
            return text or None
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return f"{text[:MAX_ITEM_LENGTH]}... {digest}"

    return name


def _scores(path: str, metric: str) -> Callable[[Any], Iterable[tuple[str, Any]]]:
    """Return a function that returns the metrics of a row, and their values."""
    path, _, less = path.partition(" - ")
    several = [parse(part) for part in path.split(" & ")]
    parts = several[-1]
    last = next((p for p in reversed(parts) if not re.fullmatch(r"-?\d+|\[\]", p)), "score")
    if len(several) > 1:

        def smallest(row: Any) -> list[tuple[str, Any]]:
            values = [step(row, each) for each in several]
            numbers = [number_of(value) or 0.0 for value in values]
            return [(last, min(numbers))] if None not in values else []

        return smallest
    named = parse(metric) if metric else []

    def scores(row: Any) -> Iterator[tuple[str, Any]]:
        for name, holder, value in named_values(row, parts):
            label = (str(step(holder, named) or name) if named else name) or last
            yield label, value - float(less) if less and value is not None else value

    if len(parts) == 1 and not named and not less and parts != ["[]"]:
        return lambda row: ((last, row[last]),) if last in row else ()
    if parts[1:] == ["[]"] and not named:
        key = parts[0]
        return lambda row: row[key].items() if isinstance(row.get(key), dict) else scores(row)
    return scores


_ENCODE = json.JSONEncoder(sort_keys=True, default=str).encode


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    return _ENCODE(value) if isinstance(value, dict | list) else clean_name(value)


def _setting(value: Any) -> str:
    return value if type(value) is str else "" if value in (None, "", {}, []) else _text(value)


def _condition(
    paths: Sequence[str], of: Callable[[Iterable[bool]], bool]
) -> Callable[[Levels], bool] | None:
    """Return a test for ``path``, which must be true, ``path=value`` or ``path!=value``."""
    tests = [_test(text) for text in paths]
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda levels: of([test(levels) for test in tests])


def _test(text: str) -> Callable[[Levels], bool]:
    path, sign, value = re.split(r"(!?=)", f"{text}=", maxsplit=1)
    get, value = getter(path), value.removesuffix("=")
    if "=" not in text:
        return lambda levels: bool(get(levels))
    equal = sign == "="
    return lambda levels: (_setting(get(levels)) == value) is equal


def _amount(paths: Sequence[str], model: Getter) -> Callable[[Levels], float]:
    """Return a function that returns the first known sum of amounts."""
    sums = []
    for path in paths:
        path, _, divisor = path.partition(" / ")
        sums.append(([getter(part, model) for part in path.split(" + ")], float(divisor or 1)))

    if len(sums) == 1 and len(sums[0][0]) == 1:
        only, divided_by = sums[0][0][0], sums[0][1]
        return lambda levels: amount(only(levels)) / divided_by

    def total(levels: Levels) -> float:
        for parts, divisor in sums:
            known = [value for get in parts if (value := amount(get(levels))) == value]
            if known:
                return sum(known) / divisor
        return NAN

    return total
