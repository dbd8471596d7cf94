"""Apply the table of a format to documents: one engine for all formats."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from typing import Any

import numpy as np

from bestofk._base.errors import TableError, UnknownNameError
from bestofk._base.formatting import counted, shortened
from bestofk.evals.formats import Format, split_keys
from bestofk.evals.paths import Batch, Levels, each_row, named_values, parse, step, value_at
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
)
from bestofk.evals.sources import Source, file_names, is_copy

MAX_ITEM_LENGTH = 120
MAX_COMPARED = 10_000
"""Items whose documents and texts are compared."""
COMPARED_FILES = 3
"""Files in which these are compared."""
ROWS_AT_ONCE = 4096
"""Rows of a file whose columns are taken together."""
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
    count: int = 0
    parts: list[dict[str, Any]] = field(default_factory=list)
    """The columns of each batch."""
    scores: dict[str, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    """The rows with a metric, and their values, of each batch."""
    compared: set[int] = field(default_factory=set)

    def column(self, name: str) -> Any:
        return np.concatenate([part[name] for part in self.parts])


class FormatReader:
    """Read files of one format, then write the rows of one metric after another."""

    def __init__(self, entry: Format, query: LogQuery, rows: EvalRows) -> None:
        if entry.lists:
            entry = replace(entry, item=("item",), score=(entry.metric,), metric="")
        self.entry, self.query, self.rows = entry, query, rows
        self.blocks: list[_Block] = []
        self._copies: dict[str, dict[int, list[Source]]] = {}
        self.keys: dict[tuple[Any, ...], int] = {}
        """Models with their settings; a model is a name, or the file without one."""
        self.tasks_of_key: dict[tuple[int, str], None] = {}
        self.times: dict[tuple[float, str, str], int] = {}
        """Key to sort by time: a number or a text, then the name of the file."""
        self.higher: dict[str, bool] = {}
        self._scores = [_scores(path, entry.metric) for path in entry.score]
        self._values: dict[str | float, float] = {k: float(v) for k, v in entry.values.items()}
        numbers = [word for word in entry.values if re.fullmatch(r"-?\d+", word)]
        self._values |= {float(word): self._values[word] for word in numbers}
        self._shared: dict[str, dict[int, int]] = {}
        """Hashes of what items may share, by key and item."""
        self._compared: Counter[int] = Counter()

    def read(self, source: Source, document: Any, path: str) -> None:
        """Read the rows of a file at a path, unless it is a copy of an earlier file."""
        entry = self.entry
        match = re.search(entry.file, source.path.absolute().as_posix()) if entry.file else None
        block = _Block(source, match.groupdict() if match else {})
        model = block.roles.get("model") or ""
        if (model or entry.model) and not entry.time and is_copy(
            source, self._copies.setdefault(model, {})
        ):  # fmt: skip
            self.rows.note(f"{source.name} is a copy of another file and was skipped.")
            return
        levels = self._rows(document, path)
        while part := list(islice(levels, ROWS_AT_ONCE)):
            self._add(Batch(part), block)
        if block.count:
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

    def _add(self, batch: Batch, block: _Block) -> None:
        """Add the columns of some rows to those of their file."""
        entry, rows = self.entry, self.rows
        if entry.higher:
            self._set_directions(batch.column(entry.higher)[0])
        stated = block.roles.get("task")
        task = [stated or name or entry.called for name in batch.first(entry.task, _name)]
        rows.seen_tasks.update(dict.fromkeys(task))
        wanted = {name: self.query.wants_task(name) for name in dict.fromkeys(task)}
        keep = [wanted[name] for name in task]
        for condition in entry.where:
            keep = [a and b for a, b in zip(keep, _holds(batch, condition), strict=True)]
        if not all(keep):
            batch = Batch([*compress(batch.levels, keep)])
            task = [*compress(task, keep)]
        if not len(batch):
            return
        batch.models = batch.first(entry.model, _name)
        names = self._items(batch, block)
        items = np.empty(len(batch), np.int32)
        for each in dict.fromkeys(task):
            at = [k for k, one in enumerate(task) if one == each] if len(wanted) > 1 else range(
                len(task))  # fmt: skip
            items[at] = rows.items_of(each, [names[k] for k in at])
        self._set_groups(batch, items.tolist(), names, block)
        columns = {
            "item": items,
            "key": self._key_codes(batch, block, task),
            "when": self._time_codes(batch, block.source),
            "epoch": np.array(batch.first(entry.epoch, _epoch), np.int32),
            **self._amounts(batch),
        }
        found = [one for scores in self._scores for one in scores(batch).items()]
        if entry.repeats:
            columns, found = _with_repeats(columns, found)
        for metric, (at, values) in found:
            known = block.scores.setdefault(metric, ([], []))
            known[0].append(np.array(at, np.int32) + block.count)
            known[1].append(np.array(self._numbers(batch, at, values)))
        block.parts.append(columns)
        block.count += len(columns["item"])

    def _key_codes(self, batch: Batch, block: _Block, task: Sequence[str]) -> Any:
        """Return the code of the model of each row, with its settings."""
        stated = block.roles.get("model")
        columns = [task, [stated or name or block.source for name in batch.models]]
        columns += [
            batch.first([paths] if isinstance(paths, str) else paths, _setting)
            for paths in self.entry.variant.values()
        ]
        if all(column.count(column[0]) == len(batch) for column in columns):
            # one key for all rows
            columns = [column[:1] for column in columns]
        keys = [*zip(*columns, strict=True)]
        codes = {}
        for key in dict.fromkeys(keys):
            codes[key] = self.keys.setdefault(key[1:], len(self.keys))
            self.tasks_of_key.setdefault((codes[key], key[0]))
        return np.resize(np.array([codes[key] for key in keys], np.int32), len(batch))

    def _set_directions(self, stated: Any) -> None:
        for name, value in stated.items() if isinstance(stated, dict) else ():
            for metric, higher in value.items() if isinstance(value, dict) else [(name, value)]:
                if isinstance(higher, bool):
                    self.higher[str(metric)] = higher

    def _items(self, batch: Batch, block: _Block) -> list[str]:
        """Return the name of the item of each row."""
        stated = block.roles.get("item")
        names: list[str | None] = [stated] * len(batch)
        for path in self.entry.item:
            if None in names:
                others = _item_names(batch, path)
                names = [a if a is not None else b for a, b in zip(names, others, strict=True)]
        found = [name for name in names if name is not None]
        if len(found) < len(names):
            raise TableError(f"{block.source.name}: a row has no {' or '.join(self.entry.item)}.")
        return found

    def _set_groups(
        self, batch: Batch, items: Sequence[int], names: Sequence[str], block: _Block
    ) -> None:
        """Set the clusters of items, check their contents, and remember what they may share."""
        entry, key, where = self.entry, self.query.cluster, block.source.name
        holders = [batch.rows, *(batch.column(path) for path in entry.cluster)]
        clusters: Sequence[Any] = ()
        if key is None:
            clusters = batch.first(entry.group) if entry.group else ()
            self._note_shared(holders, items, block)
        elif key in entry.item_parts:
            parts = (re.search(entry.item_parts[key], name) for name in names)
            clusters = [part[1] if part else None for part in parts]
        else:
            found = (
                (value_at(holder, key) for holder in each) for each in zip(*holders, strict=True)
            )
            clusters = [next((v for v in values if v is not None), None) for values in found]
        if clusters:
            self.rows.set_clusters(items, clusters, where)
        if entry.content:
            texts = batch.first(entry.content, _content)
            self.rows.check_contents(items, texts, where)

    def _note_shared(
        self, holders: Sequence[Sequence[Any]], items: Sequence[int], block: _Block
    ) -> None:
        """Remember the document, or the text, of an item in its first files."""
        if len(self.rows.items) > MAX_COMPARED:
            return
        at = {item: row for row, item in enumerate(items) if item not in block.compared}
        block.compared.update(at)
        self._compared.update(at.keys())
        at = {item: row for item, row in at.items() if self._compared[item] <= COMPARED_FILES}
        for column in holders if at else ():
            for key in _SHARED & column[0].keys() if isinstance(column[0], dict) else ():
                values = self._shared.setdefault(key, {})
                for item, row in at.items():
                    holder = column[row]
                    if isinstance(holder, dict) and key in holder:
                        digest = hash(_text(holder[key]))
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

    def _time_codes(self, batch: Batch, source: Source) -> Any:
        """Return the code of the time of each row."""

        def code(value: Any) -> int:
            number = value if isinstance(value, int | float) else 0.0
            return self.times.setdefault((number, _setting(value), source.name), len(self.times))

        return np.array(batch.first(self.entry.time or ["/"], code), np.int32)

    def _amounts(self, batch: Batch) -> dict[str, Any]:
        """Return the status, and what each row cost."""
        entry = self.entry
        status = np.full(len(batch), _SCORED, np.int8)
        if entry.lists:
            words = batch.column("status")
            status[:] = [STATUSES.index(word) if word else _SCORED for word in words]
        status[_any_holds(batch, entry.limit)] = _LIMIT
        status[_any_holds(batch, entry.error)] = _ERROR
        unsure = (status == _ERROR) | _any_holds(batch, entry.cached)
        columns = {"status": status}
        for role in AMOUNTS:
            if paths := getattr(entry, role):
                values = _amounts(batch, paths)
                # 0 for a failed or cached call does not state its cost
                unstated = unsure & ((values == 0.0) | (role == "latency"))
                columns[role] = np.where(unstated, NAN, values)
        return columns

    def _numbers(self, batch: Batch, at: Sequence[int], values: Sequence[Any]) -> list[float]:
        words = self._values
        if not words:
            return [NAN if (v := number_of(value)) is None else v for value in values]
        numbers = []
        for row, value in zip(at, values, strict=True):
            number = words.get(value) if isinstance(value, str | float | int) else None
            if number is None and isinstance(value, str):
                number = words.get(f"{batch.levels[row][-1][0]}:{value}")
            number = number_of(value) if number is None else number
            numbers.append(NAN if number is None else number)
        return numbers

    def finish(self, rows: EvalRows, metrics: Sequence[str]) -> None:
        """Name the models, choose the metrics, and write their rows.

        - `rows`: A copy of the rows that the files were read with.
        - `metrics`: The metrics to choose from; empty for the tool's own.
        """
        blocks, self.rows = self.blocks, rows
        if not blocks:
            return
        model_of = self._model_codes(blocks)
        if self.query.cluster is None:
            self._note_repeats()
        task_of = np.array(rows.item_task, dtype=np.int32)
        metric_of = self._metrics(blocks, task_of, metrics)
        times = list(self.times)
        rank = np.argsort(sorted(range(len(times)), key=times.__getitem__))
        parts = []
        for block in blocks:
            columns = {name: block.column(name) for name in block.parts[0]}
            task, status = task_of[columns["item"]], columns["status"]
            score, has_score, keep = self._chosen_scores(block, task, metric_of)
            lost = np.isin(status, (_ERROR, _MISSING))
            columns["model"] = model_of[columns.pop("key")]
            columns["when"] = rank[columns["when"]]
            columns["score"] = np.where(lost, NAN, score)
            parts.append({name: column[keep] for name, column in columns.items()})
            words = int((has_score & ~np.isfinite(score) & (status == _SCORED) & keep).sum())
            if words:
                rows.note(
                    f"{block.source.name}: {counted(words, 'score')} of other kinds than numbers "
                    "count as unscored, not as 0."
                )
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        # some tools count from 0; 0 leaves the counting to `rows`
        epoch = whole["epoch"]
        whole["epoch"] = np.where(epoch < 0, 0, epoch + (0 in epoch)).astype(np.int32)
        if "*" in self.entry.lists:
            whole = self._with_absent(whole, float(self.entry.lists["*"]))
        if self.entry.time:
            latest = self._latest(whole)
            whole = {name: column[latest] for name, column in whole.items()}
        del whole["when"]
        rows.note(
            f"{self.entry.called}: {counted(len(whole['score']), 'row')} from "
            f"{counted(len(blocks), 'file')}."
        )
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
        settings = list(self.entry.variant)
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
            for key in np.unique(block.column("key")).tolist():
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

    def _metrics(
        self, blocks: Sequence[_Block], task_of: Any, requested: Sequence[str]
    ) -> dict[int, str]:
        """Return the metric of each task, by its code."""
        known: dict[int, dict[str, None]] = {}
        others: dict[int, dict[str, None]] = {}
        for block in blocks:
            item = block.column("item")
            for name, (rows, values) in block.scores.items():
                tasks = task_of[item[np.concatenate(rows)]]
                numbers = np.isfinite(np.concatenate(values))
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
            metric = pick_metric(requested, metrics, where, self.entry.default)
            rest = [name for name in metrics if name != metric]
            self.rows.other_metrics.update(dict.fromkeys(rest))
            if metric is None:
                skipped.append(names[task])
                continue
            metric_of[task] = metric
            self.rows.metric(metric, self.higher.get(metric.partition(",")[0]))
            if rest and not requested:
                self.rows.note(f"Compared by {metric!r}; other metrics: {shortened(rest, 6)}.")
        if skipped and not metric_of:
            everything = dict.fromkeys(name for each in known.values() for name in each)
            raise UnknownNameError("metric", requested[0], everything, "the logs")
        for task in skipped:
            self.rows.note(f"Task {task!r} has none of {', '.join(requested)} and was skipped.")
        return metric_of

    def _chosen_scores(
        self, block: _Block, task: Any, metric_of: Mapping[int, str]
    ) -> tuple[Any, Any, Any]:
        """Return the scores, which rows have one, and the rows to keep.

        A row that has other metrics only is the answer to another question.
        """
        count = block.count
        score = np.full(count, NAN)
        has_score, has_other = np.zeros(count, bool), np.zeros(count, bool)
        names = list(dict.fromkeys(metric_of.values()))
        chosen = np.full(int(task.max(initial=0)) + 1, -1)
        for code, metric in metric_of.items():
            if code < len(chosen):
                chosen[code] = names.index(metric)
        for metric, (at, values) in block.scores.items():
            index = np.concatenate(at)
            has_other[index] = True
            if metric in names:
                own = chosen[task[index]] == names.index(metric)
                score[index[own]] = np.concatenate(values)[own]
                has_score[index[own]] = True
        return score, has_score, has_score | ~has_other

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


def _name(value: Any) -> str | None:
    """Return a value as a name; None if it is empty."""
    if type(value) is str:
        return value or None
    return None if value is None else clean_name(value)


def _item_names(batch: Batch, path: str) -> list[str | None]:
    """Return the names of items; a long one is cut, with its digest."""
    first, *others = (batch.column(part) for part in path.split(" + "))
    names: list[str | None] = [None if value is None else _text(value) for value in first]
    for column in others:
        names = [
            name if name is None or value is None else f"{name} {_text(value)}"
            for name, value in zip(names, column, strict=True)
        ]
    return [_cut(name) if name and len(name) > MAX_ITEM_LENGTH else name or None for name in names]


def _cut(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{text[:MAX_ITEM_LENGTH]}... {digest}"


def _epoch(value: Any) -> int:
    """Return the number of an epoch, or -1 without one."""
    number = value if type(value) is int else number_of(value)
    return int(number) if number is not None and 0 <= number < 1 << 30 else -1


_Scores = Callable[[Batch], dict[str, tuple[list[int], list[Any]]]]


def _scores(path: str, metric: str) -> _Scores:
    """Return a function that returns the rows with each metric, and their values."""
    path, _, less = path.partition(" - ")
    several = [parse(part) for part in path.split(" & ")]
    parts = several[-1]
    last = next((p for p in reversed(parts) if not re.fullmatch(r"-?\d+|\[\]", p)), "score")
    named = parse(metric) if metric else []

    def smallest(batch: Batch) -> dict[str, tuple[list[int], list[Any]]]:
        columns = [batch.column(part) for part in path.split(" & ")]
        known = [at for at, values in enumerate(zip(*columns, strict=True)) if None not in values]
        numbers = [min(number_of(column[at]) or 0.0 for column in columns) for at in known]
        return {last: (known, numbers)}

    def scores(batch: Batch) -> dict[str, tuple[list[int], list[Any]]]:
        found: dict[str, tuple[list[int], list[Any]]] = {}
        for row, name, holder, value in named_values(batch.rows, parts):
            label = (str(step(holder, named) or name) if named else name) or last
            known = found.get(label)
            if known is None:
                known = found[label] = ([], [])
            known[0].append(row)
            known[1].append(value - float(less) if less and value is not None else value)
        return found

    return smallest if len(several) > 1 else scores


def _content(value: Any) -> str | None:
    return None if value is None else _text(value)[:500]


_ENCODE = json.JSONEncoder(sort_keys=True, default=str).encode


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    return _ENCODE(value) if isinstance(value, dict | list) else clean_name(value)


def _setting(value: Any) -> str:
    return value if type(value) is str else "" if value in (None, "", {}, []) else _text(value)


def _holds(batch: Batch, condition: str) -> list[bool]:
    """Return whether ``path`` is true, or ``path=value`` or ``path!=value`` holds."""
    path, sign, value = re.split(r"(!?=)", f"{condition}=", maxsplit=1)
    if "=" not in condition:
        return [bool(each) for each in batch.column(path)]
    value, equal = value.removesuffix("="), sign == "="
    return [(_setting(each) == value) is equal for each in batch.column(path)]


def _any_holds(batch: Batch, conditions: Sequence[str]) -> Any:
    """Return the rows for which one of the conditions holds."""
    rows = np.zeros(len(batch), bool)
    for condition in conditions:
        rows |= np.array(_holds(batch, condition), bool)
    return rows


def _amounts(batch: Batch, paths: Sequence[str]) -> Any:
    """Return the first known sum of amounts of each row."""
    found = np.full(len(batch), NAN)
    for path in paths:
        path, _, divisor = path.partition(" / ")
        total, known = np.zeros(len(batch)), np.zeros(len(batch), bool)
        for part in path.split(" + "):
            column = batch.column(part)
            if column.count(None) == len(column):
                continue
            values = np.array([*map(amount, column)], float)
            has = np.isfinite(values)
            total[has] += values[has]
            known |= has
        known &= np.isnan(found)
        found[known] = total[known] / float(divisor or 1)
    return found


def _with_repeats(
    columns: dict[str, Any], scores: list[tuple[str, tuple[Any, Any]]]
) -> tuple[dict[str, Any], list[tuple[str, tuple[Any, Any]]]]:
    """Return a row for each score of the lists of scores, which are epochs."""
    count = np.ones(len(columns["item"]), int)
    for _, (at, values) in scores:
        sizes = [len(value) if type(value) is list else 1 for value in values]
        np.maximum.at(count, at, sizes)
    start = np.cumsum(count) - count
    row = np.repeat(np.arange(len(count)), count)
    columns = {name: column[row] for name, column in columns.items()}
    number = np.arange(len(row)) - start[row] + 1
    columns["epoch"] = np.where(count[row] > 1, number, columns["epoch"]).astype(np.int32)
    found: list[tuple[str, tuple[Any, Any]]] = []
    for metric, (at, values) in scores:
        lists = [value if type(value) is list else (value,) for value in values]
        rows = [first + k for first, each in zip(start[at], lists, strict=True)
                for k in range(len(each))]  # fmt: skip
        found.append((metric, (rows, [*chain.from_iterable(lists)])))
    return columns, found
